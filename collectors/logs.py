"""Raw logs of engines, kernels, gateways and the cluster, from files, folders or standard input."""

from dataclasses import dataclass

from triage.sdk import Recording, Request, Source, SourceState, read_logs


@dataclass(frozen=True)
class LogsCollector:
    """Reads the logs that are named for the service (``logs`` in triage.toml, ``--logs`` on the command line)."""

    name: str = "logs"
    sees: str = "what engines, kernels, gateways and the cluster wrote: errors, Xids, restarts, refused and lost requests"

    def wanted(self, request: Request) -> str:
        """Empty if some log is named."""
        return "" if request.service.logs else "no logs are named; give --logs FILE or FOLDER, or logs in triage.toml"

    def collect(self, request: Request) -> Recording:
        """Reads the files. A log that cannot be read is named in the sources and does not keep the others from being read."""
        request.progress("reading", 0.0)
        alone = not request.service.prometheus and not request.service.endpoints
        reading = read_logs(
            request.service.logs,
            request.window,
            request.service.name,
            alone=alone,
            signatures=request.signatures,
            dialects=request.dialects if alone else (),
        )
        return Recording(
            request.service.name,
            request.window,
            series=reading.series,
            events=reading.events,
            facts=reading.facts,
            sources=reading.sources or (Source("logs", SourceState.ABSENT, "the named folders hold no log files"),),
            step=request.step,
        )


collector = LogsCollector()

"""Deploys, configuration changes, scalings and rollbacks, from a file with one JSON object a line."""

from dataclasses import dataclass

from triage.sdk import Recording, Request, read_changes


@dataclass(frozen=True)
class ChangesCollector:
    """Reads the file of changes that is named for the service (``changes`` in triage.toml, ``--changes`` on the command line)."""

    name: str = "changes"
    sees: str = "what people and machines changed: deploys, configuration, scalings, restarts, rollbacks"

    def wanted(self, request: Request) -> str:
        """Empty if a file of changes is named."""
        return "" if request.service.changes else "no file of changes is named; give --changes FILE, or changes in triage.toml"

    def collect(self, request: Request) -> Recording:
        """Reads the file. A line that is no change is named in the source."""
        assert request.service.changes is not None, "asked without a file"
        events, source = read_changes(request.service.changes, request.window)
        return Recording(request.service.name, request.window, events=events, sources=(source,), step=request.step)


collector = ChangesCollector()

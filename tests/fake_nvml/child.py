"""Runs the collector in a process of its own, in which the stand-in library is the one that the loader finds.

Time is simulated: a wait for the next beat returns at once and moves the clock on. So is the question whether process ids are the
machine's own, which they are not where tests run in a container. The answer is JSON on standard output.
"""

import json
import sys
from pathlib import Path
from threading import Event as StopSignal

from triage.model.recording import Window
from triage.model.service import Service
from triage.plugins import load_collector
from triage.sdk import Recording, Request

START = 1_700_000_000.0


class SimulatedTime(StopSignal):
    """A stop signal whose waits take no time but move a clock on."""

    def __init__(self) -> None:
        super().__init__()
        self.now = START

    def wait(self, timeout: float | None = None) -> bool:
        self.now += timeout or 0.0
        return self.is_set()

    def clock(self) -> float:
        return self.now


def as_json(recording: Recording) -> str:
    """What tests look at."""
    return json.dumps(
        {
            "series": {f"{s.signal} {s.subject.id}": [list(s.times - START), list(s.values)] for s in recording.series},
            "order": [[s.signal, str(s.subject)] for s in recording.series],
            "metrics": {s.signal: s.origin.metric for s in recording.series},
            "facts": {f"{fact.key} {fact.subject.id}": fact.value for fact in recording.facts},
            "events": [[e.time - START, e.kind, e.name, e.subject.id if e.subject else "", e.text] for e in recording.events],
            "links": {str(subject): [str(place) for place in places] for subject, places in recording.links.items()},
            "state": recording.sources[0].state,
            "reason": recording.sources[0].reason,
        }
    )


def proc_tree(folder: Path, namespace: str) -> Path:
    """This machine's /proc with a process id namespace of that name."""
    for process in Path("/proc").glob("[0-9]*"):
        (folder / process.name).symlink_to(process)
    (folder / "self/ns").mkdir(parents=True)
    (folder / "self/ns/pid").symlink_to(namespace)
    return folder


def main(path: str, seconds: str, timeout: str, folder: str, namespace: str) -> None:
    """Samples for so many simulated seconds."""
    time = SimulatedTime()
    collector = load_collector(Path(path))
    vars(sys.modules[type(collector).__module__])["_PROC"] = proc_tree(Path(folder), namespace)
    request = Request(
        service=Service(name="demo"),
        window=Window(START, START + float(seconds), START),
        step=1.0,
        timeout=float(timeout),
        dialects=(),
        clock=time.clock,
        environ={"NODE_NAME": "box"},
        stop=time,
    )
    sys.stdout.write(as_json(collector.collect(request)))


if __name__ == "__main__":
    main(*sys.argv[1:])

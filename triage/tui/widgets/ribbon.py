"""The states of a service that is watched, look by look, under the time."""

from textual.content import Content
from textual.widget import Widget

from triage.memory.memory import states
from triage.model.diagnosis import Status
from triage.model.units import clock, duration
from triage.tui.snapshot import Snapshot
from triage.tui.words import STATUSES, STYLES, fitted, in_runs, text

_BLOCKS = {Status.HEALTHY: "▁", Status.DEGRADED: "▄", Status.INCIDENT: "█", Status.INCONCLUSIVE: "?"}
"""The worse the higher, so that it is read without colours."""


class Ribbon(Widget):
    """One line; only where more than one look is taken."""

    ALLOW_SELECT = False

    def __init__(self) -> None:
        super().__init__()
        self._newest: Snapshot | None = None

    def show(self, newest: Snapshot) -> None:
        """Show the states of the looks so far."""
        if newest is not self._newest:
            self._newest = newest
            self.display = newest.memory is not None
            self.refresh()

    def render(self) -> Content:
        """The line, in the columns of the time above it."""
        newest = self._newest
        if newest is None or newest.memory is None or newest.end <= newest.begin:
            return Content("")
        if newest.spoken:
            return Content(f" {said(newest)}")
        first, last = clock(newest.begin, newest.near), clock(newest.end, newest.near)
        room = max(self.size.width - len(first) - len(last) - 4, 10)
        name = fitted(text((" state", "dim")), len(first) + 2)
        cells = (
            (_BLOCKS[one], STYLES[STATUSES[one][1]]) if one else (" ", "")
            for one in states(newest.memory.runs, newest.begin, newest.end, room)
        )
        return Content.assemble(name, *in_runs(cells))


def said(snapshot: Snapshot) -> str:
    """The states in words."""
    assert snapshot.memory is not None
    runs = snapshot.memory.runs[-4:]
    return "states: " + ", ".join(
        f"{run.status.value} from {clock(run.start, snapshot.near)} ({duration(run.end - run.start)})" for run in runs
    )

"""The states of a service that is watched, look by look, under the time."""

from bisect import bisect_right

from textual.content import Content
from textual.widget import Widget

from triage.memory.memory import Memory
from triage.model.diagnosis import Status
from triage.model.units import clock, duration
from triage.tui.snapshot import Snapshot
from triage.tui.words import STATUSES, STYLES

_BLOCKS = {Status.HEALTHY: "▁", Status.DEGRADED: "▄", Status.INCIDENT: "█", Status.INCONCLUSIVE: "?"}
"""The worse the higher, so that it is read without colours."""

_WORST = (Status.INCIDENT, Status.DEGRADED, Status.INCONCLUSIVE, Status.HEALTHY)


class Ribbon(Widget):
    """One line; only where more than one look is taken."""

    ALLOW_SELECT = False

    def __init__(self) -> None:
        super().__init__()
        self._newest: Snapshot | None = None

    def show(self, newest: Snapshot) -> None:
        """Show the states of the looks so far."""
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
        name = f" {'state':{len(first)}} "
        cells = (
            (_BLOCKS[one], STYLES[STATUSES[one][1]]) if one else (" ", "")
            for one in states(newest.memory, newest.begin, newest.end, room)
        )
        return Content.assemble((name, STYLES["dim"]), *cells)


def said(snapshot: Snapshot) -> str:
    """The states in words."""
    assert snapshot.memory is not None
    runs = snapshot.memory.runs[-4:]
    return "states: " + ", ".join(
        f"{run.status.value} from {clock(run.start, snapshot.near)} ({duration(run.end - run.start)})" for run in runs
    )


def states(memory: Memory, begin: float, end: float, cells: int) -> list[Status | None]:
    """The worst state that looks told in each cell; None before the first look. A state holds until the next look.

    :param begin: of the first cell, Unix seconds; ``end`` is that of the last one
    """
    starts = [run.start for run in memory.runs]
    width = (end - begin) / cells
    found: list[Status | None] = []
    for cell in range(cells):
        low, high = begin + cell * width, begin + (cell + 1) * width
        first, last = bisect_right(starts, low) - 1, bisect_right(starts, high)
        here = {run.status for run in memory.runs[max(first, 0) : last]}
        found.append(next((status for status in _WORST if status in here), None))
    return found

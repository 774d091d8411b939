"""What became different at a service over time: a line for its state, and one for each finding and promise that came or went."""

from collections.abc import Iterator, Mapping, Sequence

from triage.classes import dataclass
from triage.memory.life import Turn
from triage.memory.memory import CAUSE, STATE, Memory, Run, Transition, states
from triage.memory.words import name
from triage.model.diagnosis import Severity, Status
from triage.model.units import clock

BLOCKS = {Status.HEALTHY: "▁", Status.DEGRADED: "▄", Status.INCIDENT: "█", Status.INCONCLUSIVE: "?", None: " "}
LEGEND = "▁ healthy  ▄ degraded, warning  █ incident, critical  ? nobody can say"

_MARKS: Mapping[Severity, str] = {"critical": "█", "warning": "▄", "info": "▁"}
_CELLS = 60
_MOST = 12
_LABEL = 34
_ENDS = frozenset({Turn.CLEARED, Turn.LOST})


@dataclass(frozen=True, slots=True)
class Stretch:
    """A time over which something was there.

    :param start: Unix seconds; ``end`` as well
    """

    what: str
    start: float
    end: float
    severity: Severity


def ribbon(runs: Sequence[Run], begin: float, end: float, cells: int) -> str:
    """The states of looks, a character for each part of the time."""
    return "".join(BLOCKS[one] for one in states(runs, begin, end, cells))


def timeline(runs: Sequence[Run], turns: Sequence[Transition], memory: Memory, since: float, looked: float) -> Iterator[str]:
    """Lines, one below the other on the same time; none where there was but one look.

    :param since: begin of what is asked for, Unix seconds
    :param looked: the last look, Unix seconds
    """
    begin = max(since, runs[0].start) if runs else since
    if looked <= begin:
        return
    ends = clock(begin, looked), clock(looked, looked)
    yield f"{'':{_LABEL}}  {ends[0]}{ends[1]:>{_CELLS - len(ends[0])}}"
    yield f"{'state':{_LABEL}}  {ribbon(runs, begin, looked, _CELLS)}"
    rows = _rows(stretches(turns, memory, begin, looked))
    for what, found in list(rows.items())[:_MOST]:
        yield f"{_short(what):{_LABEL}}  {_bar(found, begin, looked)}".rstrip()
    if len(rows) > _MOST:
        yield f"and {len(rows) - _MOST} more; the table has all"
    yield LEGEND


def stretches(turns: Sequence[Transition], memory: Memory, begin: float, end: float) -> list[Stretch]:
    """When each finding and promise was there, in order of their beginnings.

    :param turns: what became different between both moments, in order of time
    :param memory: after the last look
    """
    found: list[Stretch] = []
    going: dict[str, float] = {}
    for one in turns:
        if one.key in (STATE, CAUSE):
            continue
        start = going.get(one.key, begin if one.since is None else one.since)
        if one.turn in _ENDS:
            going.pop(one.key, None)
            found.append(Stretch(name(one), start, one.time if one.until is None else one.until, one.severity))
        else:
            going[one.key] = start
    for key, life in memory.up():
        start = going.get(key, begin if life.since is None else life.since)
        what = name(Transition(life.told, Turn.NEW, key, life.title))
        found.append(Stretch(what, start, end if life.gone is None else life.gone, life.severity))
    return sorted((one for one in found if one.end >= begin), key=lambda one: (one.start, one.what))


def _rows(found: Sequence[Stretch]) -> dict[str, list[Stretch]]:
    """What was there, each with all its times."""
    rows: dict[str, list[Stretch]] = {}
    for one in found:
        rows.setdefault(one.what, []).append(one)
    return rows


def _bar(found: Sequence[Stretch], begin: float, end: float) -> str:
    """The times at which something was there, a character for each part of the time."""
    cells = [" "] * _CELLS
    width = (end - begin) / _CELLS
    for one in found:
        first, last = (min(max(int((moment - begin) / width), 0), _CELLS - 1) for moment in (one.start, one.end))
        for cell in range(first, last + 1):
            cells[cell] = _MARKS[one.severity]
    return "".join(cells)


def _short(text: str) -> str:
    return text if len(text) <= _LABEL else f"{text[: _LABEL - 1]}…"

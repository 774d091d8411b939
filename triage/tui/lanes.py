"""What happened, as lanes of ticks below the curve of the trouble: changes, restarts, Xids, log lines of each source."""

from collections import Counter
from collections.abc import Sequence

from textual.content import Content

from triage.classes import dataclass
from triage.model.recording import CHANGE_KINDS, Event
from triage.model.units import clock
from triage.render.spark import bounds, is_drawn
from triage.tui.snapshot import Snapshot
from triage.tui.words import counted, fitted, lines, text

_GROUPS = ("changes", "restarts", "Xids", "logs", "unread")
_LABEL = 22
_LEAST_TRACK = 20
_TICKS = ((1, "╵"), (2, "│"), (10, "┃"))
"""From so many events in a cell on it has this tick."""

_BLOCKS = "▁▂▃▄▅▆▇█"


@dataclass(frozen=True)
class Lane:
    """What one source told of one sort.

    :param group: one of changes, restarts, Xids, logs, unread
    :param times: Unix seconds, ascending
    :param own: those of them that are looked at
    """

    group: str
    source: str
    times: tuple[float, ...]
    own: tuple[float, ...] = ()

    @property
    def label(self) -> str:
        """Its name; a file without what compression added."""
        group = "changes made" if self.group == "changes" else self.group
        return f"{group} {self.source.removesuffix('.gz')}".strip()


def group_of(event: Event) -> str:
    """The sort of an event; empty for what was only worked out of others."""
    if event.kind == "restart":
        return "restarts"
    if event.kind in CHANGE_KINDS:
        return "changes"
    return {"xid": "Xids", "log": "logs", "residue": "unread"}.get(event.kind, "")


def lanes_of(snapshot: Snapshot, own: Sequence[Event], most: int) -> tuple[Lane, ...]:
    """The lanes of a snapshot: those that are looked at first, then changes, restarts, Xids, and logs by their number.

    :param own: events that are looked at
    :param most: so many lanes; what does not fit is told in a last one together
    """
    times: dict[tuple[str, str], list[float]] = {}
    looked: dict[tuple[str, str], list[float]] = {}
    chosen = {id(event) for event in own}
    for event in snapshot.events:
        group = group_of(event) or ("logs" if id(event) in chosen else "")
        if group and snapshot.begin <= event.time <= snapshot.end:
            key = (group, event.source if group in ("logs", "unread") else "")
            times.setdefault(key, []).append(event.time)
            if id(event) in chosen:
                looked.setdefault(key, []).append(event.time)
    made = [Lane(*key, tuple(sorted(found)), tuple(looked.get(key, ()))) for key, found in times.items()]
    made.sort(key=lambda lane: (not lane.own, _GROUPS.index(lane.group), -len(lane.times), lane.source))
    if len(made) <= most:
        return tuple(made)
    rest = made[most - 1 :]
    together = tuple(sorted(time for lane in rest for time in lane.times))
    return (*made[: most - 1], Lane("", f"{len(rest)} more sources", together))


def drawn_lanes(snapshot: Snapshot, own: Sequence[Event], width: int, most: int, moment: float | None = None) -> Content:
    """The curve of the trouble with the lanes below it, on one axis of time.

    :param moment: a moment that is pointed at, Unix seconds
    """
    shown = lanes_of(snapshot, own, most)
    room = width - _LABEL - 7
    if not shown or snapshot.end <= snapshot.begin or room < _LEAST_TRACK:
        return Content("")
    if snapshot.spoken:
        return lines(*(_said(lane, snapshot) for lane in shown))
    at = _Axis(snapshot.begin, snapshot.end, room)
    marked = None if moment is None else at.cell(moment)
    onset = at.cell(snapshot.onset) if snapshot.onset is not None else None
    start = at.cell(snapshot.diagnosis.window.start)
    rows = [_row("trouble", _curve(snapshot, at, marked), "")]
    rows += [_row(lane.label, _track(lane, at, (onset, start, marked)), str(len(lane.times))) for lane in shown]
    return lines(*rows, _axis(snapshot, at))


@dataclass(frozen=True)
class _Axis:
    """Time in cells."""

    begin: float
    end: float
    room: int

    def cell(self, moment: float) -> int:
        """The cell of a moment."""
        return min(max(int((moment - self.begin) / (self.end - self.begin) * self.room), 0), self.room - 1)


def _row(label: str, track: Content, count: str) -> Content:
    """A label, of a long one the end, in which names differ; a track, a number."""
    shown = label if len(label) < _LABEL else f"…{label[2 - _LABEL :]}"
    return Content.assemble(fitted(text((shown, "dim")), _LABEL - 1), " ", track, text((f" {count:>6}", "dim")))


def _track(lane: Lane, at: _Axis, moments: tuple[int | None, int | None, int | None]) -> Content:
    """The ticks of a lane: those that are looked at stand out; the onset and the window's start go through all lanes."""
    counts = Counter(at.cell(time) for time in lane.times)
    own = {at.cell(time) for time in lane.own}
    onset, start, marked = moments
    parts: list[tuple[str, str]] = []
    for cell in range(at.room):
        if counts[cell]:
            tick = next(sign for least, sign in reversed(_TICKS) if counts[cell] >= least)
            parts.append((tick, "new" if cell == marked else "bad" if cell in own else "window"))
        elif cell == marked:
            parts.append(("┆", "new"))
        elif cell == onset:
            parts.append(("▏", "onset"))
        else:
            parts.append(("┊" if cell == start else "·", "dim"))
    return text(*parts)


def _curve(snapshot: Snapshot, at: _Axis, marked: int | None) -> Content:
    """The first broken promise over the same time; a rule where nothing was measured."""
    spark = snapshot.curve
    if spark is None or spark.end <= spark.start or not spark.values:
        return text(("─" * at.room, "dim"))
    low, high = bounds(spark.values)
    parts: list[tuple[str, str]] = []
    for cell in range(at.room):
        moment = at.begin + (at.end - at.begin) * (cell + 0.5) / at.room
        place = int((moment - spark.start) / (spark.end - spark.start) * len(spark.values))
        value = spark.values[place] if 0 <= place < len(spark.values) else None
        level = int((value - low) / (high - low) * len(_BLOCKS)) if is_drawn(value) and high > low else 0
        sign = _BLOCKS[min(level, len(_BLOCKS) - 1)] if is_drawn(value) else "·"
        parts.append((sign, "new" if cell == marked else "before" if moment < snapshot.diagnosis.window.start else "window"))
    return text(*parts)


def _axis(snapshot: Snapshot, at: _Axis) -> Content:
    """The times of both ends, and of the onset between them."""
    first, last = clock(snapshot.begin, snapshot.near), clock(snapshot.end, snapshot.near)
    words = list(f"{first:{at.room}}")
    words[-len(last) :] = last
    if snapshot.onset is not None:
        told = f"▏onset {clock(snapshot.onset, snapshot.near)}"
        place = at.cell(snapshot.onset)
        if not "".join(words[max(place - 1, 0) : place + len(told) + 1]).strip() and place + len(told) <= at.room:
            words[place : place + len(told)] = told
    return _row("", text(("".join(words)[: at.room], "dim")), "")


def _said(lane: Lane, snapshot: Snapshot) -> Content:
    """A lane in a sentence."""
    first, last = clock(lane.times[0], snapshot.near), clock(lane.times[-1], snapshot.near)
    when = f"at {first}" if first == last else f"{first} to {last}"
    return text(f"{lane.label}: {counted(len(lane.times), 'event')}, {when}")

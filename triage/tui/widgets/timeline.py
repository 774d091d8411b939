"""The time at the foot of every screen: the curve of the trouble over all that is known, and the moment that is looked at."""

from textual import events
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from triage.model.diagnosis import Spark
from triage.model.units import clock
from triage.render.spark import bounds, is_drawn, pooled
from triage.tui.curves import events_of, of_events
from triage.tui.messages import MomentChosen
from triage.tui.snapshot import Snapshot
from triage.tui.words import STYLES, in_runs, text

_BLOCKS = "▁▂▃▄▅▆▇█"
_STEPS = 60
"""Steps from one end to the other."""


class Timeline(Widget):
    """One line with the curve and, on tall screens, one below it with the moments."""

    ALLOW_SELECT = False
    moment: reactive[float | None] = reactive(None)
    """The moment that is looked at, Unix seconds; None: the end."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's word
        super().__init__(id=id)
        self._newest: Snapshot | None = None

    def show(self, newest: Snapshot, moment: float | None) -> None:
        """Show the time of the newest snapshot, with the moment looked at."""
        self.moment = moment
        if newest is not self._newest:
            self._newest = newest
            self.refresh()

    def on_click(self, event: events.Click) -> None:
        """Look at the moment under the pointer; at a sign, at the moment that it stands for."""
        newest = self._newest
        if newest is None or newest.end <= newest.begin:
            return
        left, room = _track_of(newest, self.size.width)
        if left <= event.x < left + room:
            self.post_message(MomentChosen(_moment_at(newest, event.x - left, room)))

    def render(self) -> Content:
        """The lines."""
        newest = self._newest
        if newest is None or newest.end <= newest.begin:
            return Content("")
        if newest.spoken:
            return Content(f" {_said(newest, self.moment)}")
        first, last = clock(newest.begin, newest.near), clock(newest.end, newest.near)
        left, room = _track_of(newest, self.size.width)
        alone = self.size.height < 2
        track = _track(newest, self.moment, room, signs=alone)
        line = Content.assemble((f" {first} ", STYLES["dim"]), track, (f" {last} ", STYLES["dim"]))
        if alone:
            return line
        return Content("\n").join([line, Content(" " * left).append(_moments(newest, self.moment, room))])


def _track_of(snapshot: Snapshot, width: int) -> tuple[int, int]:
    """First cell and number of cells of the curve."""
    first, last = clock(snapshot.begin, snapshot.near), clock(snapshot.end, snapshot.near)
    return len(first) + 2, max(width - len(first) - len(last) - 4, 10)


def _moment_at(snapshot: Snapshot, cell: int, room: int) -> float | None:
    """The moment of a cell; None at the end. A cell that holds a moment worth a look means that moment."""
    here = [moment for moment in moments_of(snapshot) if _place(snapshot, moment, room) == cell]
    share = (cell + 0.5) / room
    return inside(snapshot, here[0] if here else snapshot.begin + share * (snapshot.end - snapshot.begin))


def _said(snapshot: Snapshot, moment: float | None) -> str:
    """The time in words."""
    onset = f", onset {clock(snapshot.onset, snapshot.near)}" if snapshot.onset is not None else ""
    now = "the end" if moment is None else clock(moment, snapshot.near)
    return f"{clock(snapshot.begin, snapshot.near)} to {clock(snapshot.end, snapshot.near)}{onset}; looking at {now}"


def _place(snapshot: Snapshot, moment: float, room: int) -> int:
    """The cell of a moment."""
    share = (moment - snapshot.begin) / (snapshot.end - snapshot.begin)
    return min(max(int(share * room), 0), room - 1)


def _track(snapshot: Snapshot, moment: float | None, room: int, *, signs: bool) -> Content:
    """The curve, cell by cell: before the window, in it, and the cursor.

    :param signs: whether the moments are signs in the curve
    """
    start = _place(snapshot, snapshot.diagnosis.window.start, room)
    drawn = [(level, STYLES["before" if index < start else "window"]) for index, level in enumerate(_levels(snapshot, room))]
    if signs:
        for index, sign in _signs(snapshot, room).items():
            drawn[index] = sign
    if moment is not None:
        drawn[_place(snapshot, moment, room)] = ("┃", f"{STYLES['new']} reverse")
    return Content.assemble(*in_runs(drawn))


def _of_events(snapshot: Snapshot) -> Spark | None:
    """Without any measured curve: how many events the first finding speaks of, over time."""
    first = snapshot.first_finding
    spoken_of = (events_of(evidence, snapshot) for evidence in (first.evidence if first is not None else ()))
    curves = (of_events(events, snapshot) for events in spoken_of if events)
    curve = next((curve for curve in curves if curve is not None), None)
    if curve is None:
        return None
    half = (curve.times[-1] - curve.times[0]) / max(len(curve.times) - 1, 1) / 2.0
    return Spark(start=curve.times[0] - half, end=curve.times[-1] + half, values=curve.values)


def _signs(snapshot: Snapshot, room: int) -> dict[int, tuple[str, str]]:
    """Signs by their cells: the window's start, changes, the onset."""
    signs = {_place(snapshot, snapshot.diagnosis.window.start, room): ("┊", STYLES["edge"])}
    for mark in snapshot.marks:
        if snapshot.begin <= mark.time <= snapshot.end:
            signs[_place(snapshot, mark.time, room)] = ("◆", STYLES["warn"])
    if snapshot.onset is not None and snapshot.onset >= snapshot.begin:
        signs[_place(snapshot, snapshot.onset, room)] = ("▲", STYLES["onset"])
    return signs


def _levels(snapshot: Snapshot, room: int) -> list[str]:
    """One block for each cell; a dot where nothing is known."""
    spark = snapshot.curve or _of_events(snapshot)
    if spark is None or spark.end <= spark.start:
        return ["─"] * room
    step = (snapshot.end - snapshot.begin) / room
    values: list[float | None] = []
    for index in range(room):
        share = (snapshot.begin + step * (index + 0.5) - spark.start) / (spark.end - spark.start)
        place = int(share * len(spark.values))
        values.append(spark.values[place] if 0 <= place < len(spark.values) else None)
    low, high = bounds(pooled(spark.values, len(spark.values)))
    span = high - low
    return [
        "·"
        if not is_drawn(value)
        else _BLOCKS[min(int((value - low) / span * len(_BLOCKS)), len(_BLOCKS) - 1) if span > 0 else 0]
        for value in values
    ]


def _moments(snapshot: Snapshot, moment: float | None, room: int) -> Content:
    """Signs below the curve: the window's start, changes, the onset, and the moment looked at."""
    signs = _signs(snapshot, room)
    if moment is not None:
        signs[_place(snapshot, moment, room)] = ("┃", STYLES["new"])
    line = Content.assemble(*(signs.get(index, (" ", "")) for index in range(room)))
    return _labelled(line, snapshot, moment, room)


def _labelled(line: Content, snapshot: Snapshot, moment: float | None, room: int) -> Content:
    """The line with words where there is room behind its signs."""
    words: list[tuple[float, str]] = []
    if moment is not None:
        words.append((moment, clock(moment, snapshot.near)))
    if snapshot.onset is not None:
        words.append((snapshot.onset, f"onset {clock(snapshot.onset, snapshot.near)}"))
    words += [(mark.time, mark.label) for mark in snapshot.marks if snapshot.begin <= mark.time <= snapshot.end]
    for time, word in words:
        place = _place(snapshot, time, room) + 1
        label = f" {word}"
        if place + len(label) <= room and not line.plain[place : place + len(label) + 1].strip():
            line = Content.assemble(line[:place], text((label, "dim")), line[place + len(label) :])
    return line


def moments_of(snapshot: Snapshot) -> list[float]:
    """Moments worth jumping to, in order: the window's start, changes, onsets, the end."""
    times = [snapshot.diagnosis.window.start, snapshot.end, *(mark.time for mark in snapshot.marks)]
    times += [finding.onset for finding in snapshot.diagnosis.findings if finding.onset is not None]
    times += [symptom.onset for symptom in snapshot.diagnosis.symptoms if symptom.onset is not None]
    return sorted({time for time in times if snapshot.begin < time <= snapshot.end})


def stepped(snapshot: Snapshot, moment: float | None, steps: int) -> float | None:
    """The moment so many steps away; None at the end."""
    step = (snapshot.end - snapshot.begin) / _STEPS
    wanted = (snapshot.end if moment is None else moment) + steps * step
    return inside(snapshot, wanted)


def jumped(snapshot: Snapshot, moment: float | None, direction: int) -> float | None:
    """The next moment worth a look in a direction; None at the end."""
    now = snapshot.end if moment is None else moment
    ahead = [time for time in moments_of(snapshot) if (time - now) * direction > 0.5]
    if not ahead:
        return moment
    return inside(snapshot, ahead[0] if direction > 0 else ahead[-1])


def inside(snapshot: Snapshot, wanted: float) -> float | None:
    """A moment within what is known, with something before it; None for the end."""
    if wanted >= snapshot.end - 0.5:
        return None
    return max(wanted, snapshot.begin + (snapshot.end - snapshot.begin) / _STEPS)

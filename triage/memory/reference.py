"""What is usual while a service is watched: it follows the present while all is well, and stands still from the first trouble."""

from dataclasses import replace

from triage.classes import dataclass
from triage.memory.life import Life
from triage.memory.looks import Look
from triage.memory.memory import Memory, broken, found
from triage.model.diagnosis import Status
from triage.model.recording import Window


@dataclass(frozen=True, slots=True)
class Pace:
    """How a service is watched.

    :param shortest: least length of the window and of its baseline, seconds; ``longest`` is the window's greatest
    :param keep: seconds of history before the window's end
    :param sampled: the sources know only the present, so that the window grows with what was sampled
    """

    shortest: float
    longest: float
    keep: float
    sampled: bool


@dataclass(frozen=True, slots=True)
class Reference:
    """Which span is usual, and from where on is judged. All times are Unix seconds.

    :param begin: from where on there is anything to compare with
    :param usual_end: where what is usual ends, since trouble came; None: it follows the present
    :param window_start: begin of the window while a promise is broken: the whole trouble is judged, with what set it off
    :param recovered: when the last trouble ended, until what came after it is long enough to be what is usual
    :param well: the last look that could tell that users are well: what came after it is not taken for usual
    :param floor: when the trouble before had ended, of a relapse: its window begins no earlier
    """

    begin: float
    usual_end: float | None = None
    window_start: float | None = None
    recovered: float | None = None
    well: float | None = None
    floor: float = 0.0

    @property
    def oldest(self) -> float | None:
        """What must not be forgotten yet; None if nothing is held."""
        return self.begin if self.usual_end is not None else None


def window_at(reference: Reference, latest: Window, pace: Pace) -> Window:
    """The window to judge at a look.

    :param latest: the window of what the look brought
    """
    end = latest.end
    rolled = _rolled(max(reference.begin, end - pace.keep), end, pace) if pace.sampled else latest.start
    start = rolled if reference.window_start is None else reference.window_start
    if reference.recovered is not None and reference.window_start is None:
        start = min(max(start, reference.recovered), max(end - pace.shortest, reference.recovered))
    if reference.usual_end is None:
        begin = min(max(reference.begin, end - pace.keep if pace.sampled else latest.baseline_start), start)
        well = reference.well
        return Window(start, end, begin, well if well is not None and begin + 4.0 * pace.shortest <= well < start else None)
    usual_end = min(reference.usual_end, start)
    begin = min(max(reference.begin, usual_end - pace.keep), usual_end)
    return Window(start, end, begin, None if usual_end >= start else usual_end)


def _rolled(begin: float, end: float, pace: Pace) -> float:
    """Begin of the window while nothing is wrong: the last quarter of what was sampled is judged, the rest is its baseline.

    As long as that would be a few seconds there is no baseline: chance makes differences of any size between so short spans.
    """
    sampled = max(end - begin, 0.0)
    if sampled < 2.0 * pace.shortest:
        return begin
    return end - min(max(sampled / 4.0, pace.shortest), pace.longest)


def after_look(reference: Reference, memory: Memory, window: Window, pace: Pace, look: Look) -> Reference:
    """What is usual after a look.

    :param memory: after the look
    :param window: that was judged
    """
    suffered, there = broken(memory), found(memory)
    if suffered:
        onset = _onset([*suffered, *there], window, reference)
        start = onset if reference.window_start is None else min(reference.window_start, onset)
        return replace(
            reference,
            usual_end=_least(reference.usual_end, start),
            window_start=start,
            recovered=None,
            floor=reference.recovered or reference.floor,
        )
    fresh = [life for life in there if life.since is not None and life.since > reference.begin]
    if fresh and reference.window_start is None:
        return replace(reference, usual_end=_least(reference.usual_end, _onset(fresh, window, reference)))
    over = _ended(look, window)
    if over is not None and reference.usual_end is None:
        return replace(reference, usual_end=max(window.start, reference.begin), recovered=over)
    return _calm(reference, memory, pace)


def _ended(look: Look, window: Window) -> float | None:
    """When trouble ended that was over before anybody watched: all that is left of it is that the window tells of it."""
    if look.status not in (Status.DEGRADED, Status.INCIDENT) or any(one.severity != "info" for one in look.there.values()):
        return None
    return max((end for end in look.gone.values() if end is not None and end > window.start), default=None)


def _onset(lives: list[Life], window: Window, reference: Reference) -> float:
    """When trouble began: no later than the window of the first look that told of it, after the last one was over."""
    told = [life.since for life in lives if life.since is not None and life.since > reference.begin]
    return max(min([window.start, *told]), reference.recovered or reference.floor, reference.begin)


def _least(known: float | None, told: float) -> float:
    return told if known is None else min(known, told)


def _calm(reference: Reference, memory: Memory, pace: Pace) -> Reference:
    """What is usual after a look without trouble: what came before the trouble, until enough has come after it."""
    assert memory.time is not None
    if reference.usual_end is None:
        well = memory.time if memory.status is not Status.INCONCLUSIVE else reference.well
        return replace(reference, well=well)
    ended = [life.gone for life in memory.lives.values() if life.is_over and life.gone is not None]
    recovered = reference.recovered or max((time for time in ended if time > reference.usual_end), default=memory.time)
    left = replace(reference, window_start=None, recovered=recovered)
    wanted = min(max(reference.usual_end - reference.begin, 4.0 * pace.shortest), pace.keep / 2.0)
    if memory.time - recovered < wanted:
        return left
    return Reference(recovered, well=memory.time if memory.status is not Status.INCONCLUSIVE else reference.well)

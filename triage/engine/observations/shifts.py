"""Shifts against the own past: a signal of anybody that left its usual level, and since when."""

from collections.abc import Iterable, Iterator

import numpy as np

from triage.classes import dataclass
from triage.engine.frame import Frame
from triage.engine.observations.comparing import BEYOND, PER, SPENT, floor_of
from triage.engine.observations.curves import Bools, Curves, curves_of, mean_of, median_of
from triage.engine.observations.limits import at_limits
from triage.engine.observations.runs import Places, change_between, ended_at, longest_runs
from triage.engine.observations.salience import must_be_explained
from triage.engine.observations.telling import direction_of, shift, size_of, size_of_one
from triage.engine.observations.twins import among_twins
from triage.model.observation import Judged, Observation, Seen
from triage.model.recording import Floats, Subject
from triage.model.vocabulary import Kind, Scope

_LEAST_SAMPLES = 4
"""With fewer known cells than this nobody can tell a level from a blip."""

_FEW_EVENTS = 5.0
"""So few events in a span tell no rate."""

_PART_OF_WINDOW = 3
"""Without a past the first third of the window stands for it."""

_MOST_OF_THEM = 0.6
"""If this share of the subjects has it, it is told of all of them at once."""


def shifts(frame: Frame) -> Seen:
    """Every signal of every subject against its past, its twins and its limit."""
    odd: list[Observation] = []
    judged: set[Judged] = set()
    for curves in curves_of(frame):
        for seen in (_against_past(curves, frame), among_twins(curves, frame)):
            odd += seen.odd
            judged |= seen.judged
    return Seen(tuple(odd), frozenset(judged)) + at_limits(frame)


@dataclass(frozen=True)
class Usual:
    """What some curves are held against.

    :param level: shape (K,)
    :param low: how low it went, shape (K,); ``high`` likewise
    :param noise: scatter of a moment's mean, shape (K,)
    """

    level: Floats
    low: Floats
    high: Floats
    noise: Floats


@dataclass(frozen=True, slots=True)
class Left:
    """A span in which a curve was beyond its usual level.

    :param level: the usual one
    :param start: index of its first cell; ``stop`` is the one after the last
    """

    up: bool
    level: float
    start: int
    stop: int


def _against_past(curves: Curves, frame: Frame) -> Seen:
    """Levels that were left in the window."""
    first = frame.grid.first
    count = curves.smooth.shape[1]
    until = frame.grid.usual if frame.grid.usual >= _LEAST_SAMPLES else first + max((count - first) // _PART_OF_WINDOW, 1)
    smooth = _at_equal_work(curves, until)
    told = (~np.isnan(curves.values[:, :until])).sum(axis=1) >= _LEAST_SAMPLES
    told &= (~np.isnan(smooth[:, first:])).sum(axis=1) >= _LEAST_SAMPLES
    before, window = _reach(curves.smooth[:, :until]), _reach(smooth[:, first:])
    found: dict[int, list[Left]] = {}
    for up in (True, False):
        rows = np.flatnonzero(told & _may_have_left(before, window, curves, up=up))
        usual, own = _usual(curves, rows, until), smooth[rows]
        runs = longest_runs(_left(rows, own, usual, curves, up=up), ~np.isnan(own), first)
        for place in np.flatnonzero(runs.length >= max(2, curves.width // 2)).tolist():
            left = Left(up, float(usual.level[place]), int(runs.start[place]), int(runs.stop[place]))
            found.setdefault(int(rows[place]), []).append(left)
    odd = list(_told(found, curves, smooth, frame))
    both = zip(curves.signals, curves.subjects, told.tolist(), strict=True)
    judged: frozenset[Judged] = frozenset(("shift", signal.name, one.scope, "past") for signal, one, is_told in both if is_told)
    return Seen(tuple(odd), judged)


def _usual(curves: Curves, rows: Places, until: int) -> Usual:
    """Levels of the time before of some curves: the median of moments, how far they went, and how they scatter."""
    values, moments = curves.values[rows, :until], curves.smooth[rows, :until]
    level = median_of(moments, 1)[:, 0]
    low, high = np.fmin.reduce(moments, axis=1), np.fmax.reduce(moments, axis=1)
    apart = median_of(np.abs(values - median_of(values, 1)), 1)[:, 0]
    scatter = np.maximum(np.nanstd(moments, axis=1), 1.4826 * apart / np.sqrt(curves.width))
    return Usual(level, low, high, scatter)


def _at_equal_work(curves: Curves, until: int) -> Floats:
    """Smoothed curves, divided by how much more work there was than usual, where a signal grows with its work."""
    grown = [(work, rows) for signal, rows in curves.parts for work in PER.get(signal.name, ())]
    smooth = curves.smooth.copy() if grown else curves.smooth
    for work, part in grown:
        amounts = [(row, curves.work.get((work.signal, curves.subjects[row]))) for row in range(part.start, part.stop)]
        told = [(row, amount) for row, amount in amounts if amount is not None and not np.isnan(amount[:until]).all()]
        if told:
            amount = np.array([amount for _, amount in told])
            more = amount / np.maximum(median_of(amount[:, :until], 1), 1.0)
            smooth[[row for row, _ in told]] /= np.maximum(np.where(np.isnan(more), 1.0, more), 1.0) ** work.exponent
    return smooth


def _reach(rows: Floats) -> tuple[Floats, Floats]:
    """How low and how high curves went, shape (R,) each."""
    return np.fmin.reduce(rows, axis=1), np.fmax.reduce(rows, axis=1)


def _may_have_left(before: tuple[Floats, Floats], window: tuple[Floats, Floats], curves: Curves, *, up: bool) -> Bools:
    """Which curves went further than ever before, and so far that it counts even against the other end of what was usual.

    The others need no closer look: the usual level is no further off.
    """
    floor, least, counter, bounded = curves.counting
    (low, high), (lowest, highest) = before, window
    value, usual = (highest, low) if up else (lowest, high)
    apart = value - usual if up else usual - value
    beyond = highest > high if up else lowest < low
    far = apart > np.where(counter, 0.0, floor)
    return np.asarray(beyond & far & (size_of(value, usual, floor, bounded, up=up) >= least))


def _left(rows: Places, smooth: Floats, usual: Usual, curves: Curves, *, up: bool) -> Bools:
    """Where the usual level was left in a direction: by a ratio that counts, beyond scatter and beyond how far it ever went.

    :param smooth: curves of the rows, shape (K, N)
    :returns: shape (K, N)
    """
    floor, least, counter, bounded = curves.counting[:, rows, None]
    level, low, high, noise = (column[:, None] for column in (usual.level, usual.low, usual.high, usual.noise))
    size = size_of(smooth, level, floor, bounded, up=up)
    apart = smooth - level if up else level - smooth
    beyond = smooth > high + noise if up else smooth < low - noise
    needed = np.maximum(BEYOND * noise, np.where(counter, 0.0, floor))
    return np.asarray((size >= least) & (apart > needed) & beyond)


@dataclass(frozen=True, slots=True)
class Level:
    """A curve that left its usual level, on enough to speak of it.

    :param inside: its cells of the window
    :param support: independent samples that it rests on
    """

    row: int
    left: Left
    inside: slice
    support: float


def _told(found: dict[int, list[Left]], curves: Curves, smooth: Floats, frame: Frame) -> Iterator[Observation]:
    """Shifts as observations, each told at the level at which it stands out."""
    every = [
        level
        for row, several in sorted(found.items())
        for left in several
        if (level := _level(row, left, curves, frame)) is not None
    ]
    return (_one(level, curves, smooth, frame) for level in _at_their_level(every, curves))


def _level(row: int, left: Left, curves: Curves, frame: Frame) -> Level | None:
    """A shift; None if it rests on too little."""
    inside = slice(max(left.start, frame.grid.first), left.stop)
    support = _support(row, inside, curves, frame, left.level)
    least = _FEW_EVENTS if curves.signals[row].kind in (Kind.RATE, Kind.DISTRIBUTION) else _LEAST_SAMPLES - 1
    if support < least or np.count_nonzero(~np.isnan(curves.values[row, inside])) < 2:
        return None
    return Level(row, left, inside, support)


def _one(told: Level, curves: Curves, smooth: Floats, frame: Frame) -> Observation:
    """One shift."""
    row, left, inside, support = told.row, told.left, told.inside, told.support
    signal, measured = curves.signals[row], curves.values[row]
    up, level, start, stop = left.up, left.level, left.start, left.stop
    value = mean_of(smooth[row, inside])
    half = (level + value) / 2.0
    onset = change_between(measured, half, (start, stop), curves.width, frame.grid, up=up)
    end = ended_at(measured, half, (start, stop), curves.width, frame.grid, up=up)
    size = size_of_one(value, level, floor_of(signal), bounded=signal.bounded, up=up)
    lasted = (stop - inside.start) * frame.grid.step
    return shift(
        frame,
        signal,
        curves.subjects[row],
        against="past",
        up=up,
        size=size,
        value=value,
        usual=level,
        onset=onset,
        end=end,
        support=int(support),
        salient=must_be_explained(signal, "past", direction_of(signal, up=up), size, lasted, int(support), frame),
        attrs={},
    )


def _support(row: int, span: slice, curves: Curves, frame: Frame, level: float) -> float:
    """Independent samples that a level in a span rests on: events of a counter, observations of a distribution, or cells."""
    signal, values = curves.signals[row], curves.values[row][span]
    known = values[~np.isnan(values)]
    if signal.kind is Kind.RATE and signal.unit not in SPENT:
        return float(max(known.sum(), level * len(known)) * frame.grid.step)
    if signal.kind is Kind.DISTRIBUTION:
        return float(np.nansum(curves.samples[row][span]) / curves.width)
    return float(min(len(known), _samples(frame, signal.name, curves.subjects[row], span)))


def _samples(frame: Frame, name: str, subject: Subject, span: slice) -> float:
    """Samples of a series in a span of cells: one that is read seldom is held over many cells. No limit for what is derived."""
    times = frame.recording.times_of(name, subject)
    if times is None:
        return np.inf
    start, end = frame.grid.times[span.start] - frame.grid.step, frame.grid.times[span.stop - 1]
    return float(np.searchsorted(times, end, side="right") - np.searchsorted(times, start, side="right"))


def _at_their_level(every: Iterable[Level], curves: Curves) -> Iterator[Level]:
    """Each signal's shifts: once for all if most have it or only the whole shows it, else of each that has it."""
    grouped: dict[tuple[str, bool], list[Level]] = {}
    for one in every:
        grouped.setdefault((curves.signals[one.row].name, one.left.up), []).append(one)
    rows_of = {signal.name: rows for signal, rows in curves.parts}
    for (of, _), several in grouped.items():
        members = int(curves.members[rows_of[of]].max())
        whole = [one for one in several if curves.subjects[one.row].scope is Scope.SERVICE and members > 1]
        parts = [one for one in several if one not in whole]
        if whole and (not parts or len(parts) >= _MOST_OF_THEM * members):
            yield whole[0]
        else:
            yield from parts

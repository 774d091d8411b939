"""Shifts against twins: one of several that do the same work and does not fare as the others do."""

from collections.abc import Iterator, Sequence

import numpy as np

from triage.classes import dataclass
from triage.engine.derived.fleet import version_of
from triage.engine.frame import Frame
from triage.engine.observations.comparing import BEYOND, PER, floor_of, least_size_of
from triage.engine.observations.curves import Curves, mean_of, median_of
from triage.engine.observations.kinds import Places, places_by_kind
from triage.engine.observations.runs import change_between, longest_runs
from triage.engine.observations.salience import must_be_explained
from triage.engine.observations.telling import direction_of, shift, size_of
from triage.model.observation import Judged, Observation, Seen
from triage.model.recording import Floats, Subject
from triage.model.vocabulary import Scope, Signal

_LEAST_TWINS = 2
"""Of two that differ nobody can say which one is odd."""

_LEAST_CELLS = 4
"""With fewer known cells a level is a blip (as ``_LEAST_SAMPLES`` of shifts)."""

_MANY = 4
"""Of more twins than this one that stands apart hardly moves the median, so that it need not be left out."""

_TWINS = frozenset({Scope.REPLICA, Scope.GPU, Scope.NODE})


@dataclass(frozen=True)
class Group:
    """Twins in one signal.

    :param rows: their rows in the curves, shape (S,)
    """

    signal: Signal
    rows: Places


def among_twins(curves: Curves, frame: Frame) -> Seen:
    """Members of a group that stand apart from the others for a time in the window."""
    odd: list[Observation] = []
    judged: set[Judged] = set()
    by_number: dict[int, list[Group]] = {}
    for group in _groups(curves, frame):
        by_number.setdefault(len(group.rows), []).append(group)
    for groups in by_number.values():
        told, found = _compared(groups, curves, frame)
        odd += found
        both = zip(groups, told, strict=True)
        judged |= {("shift", group.signal.name, group.signal.scope, "twins") for group, is_told in both if is_told}
    return Seen(tuple(odd), frozenset(judged))


def _groups(curves: Curves, frame: Frame) -> Iterator[Group]:
    """Rows that can be compared with each other; what all of them together are is none."""
    for signal, part in curves.parts:
        for places in places_by_kind(frame, signal.scope, curves.subjects[part]) if signal.scope in _TWINS else ():
            if len(places) > _LEAST_TWINS:
                yield Group(signal, places + part.start)


def _compared(groups: Sequence[Group], curves: Curves, frame: Frame) -> tuple[list[bool], list[Observation]]:
    """Groups of equally many members: which of them could be judged, and what was found."""
    first = frame.grid.first
    smooth = [_at_equal_work(group, curves) for group in groups]
    told = [_are_known(rows[:, first:]) for rows in smooth]
    some = [
        (group, rows, *_others(rows))
        for group, rows, is_told in zip(groups, smooth, told, strict=True)
        if is_told and _may_differ(group.signal, rows[:, first:])
    ]
    return told, [one for up in (True, False) for each in some for one in _apart(*each, curves, frame, up=up)]


def _are_known(window: Floats) -> bool:
    """Whether enough is known of enough members."""
    there = (~np.isnan(window)).sum(axis=1) >= _LEAST_CELLS
    return int(there.sum()) > _LEAST_TWINS


def _may_differ(signal: Signal, window: Floats) -> bool:
    """Whether the greatest and the least of all members are far enough apart in any cell; if not, nobody is from the median."""
    highest, lowest = np.fmax.reduce(window, axis=0), np.fmin.reduce(window, axis=0)
    floor = np.array(floor_of(signal))
    size = size_of(highest, lowest, floor, np.array(signal.bounded), up=True)
    return bool(((highest - lowest > floor) & (size >= least_size_of(signal))).any())


def _apart(
    group: Group, smooth: Floats, usual: Floats, noise: Floats, curves: Curves, frame: Frame, *, up: bool
) -> Iterator[Observation]:
    """Members of a group that stand apart from the others in one direction.

    :param smooth: shape (S, N)
    :param usual: median of the others, shape (S, N), or (1, N) where it is the same for all; ``noise`` likewise
    """
    first, floor, least = frame.grid.first, floor_of(group.signal), least_size_of(group.signal)
    apart = smooth - usual if up else usual - smooth
    beyond = apart > np.maximum(BEYOND * noise, floor)
    far = np.flatnonzero(beyond[:, first:].any(axis=1))
    own, twins = smooth[far], np.broadcast_to(usual, smooth.shape)[far]
    size = size_of(own, twins, np.array(floor), np.array(group.signal.bounded), up=up)
    known = ~np.isnan(own) & ~np.isnan(twins)
    runs = longest_runs((size >= least) & beyond[far] & known, known, first)
    for place in np.flatnonzero(runs.length >= max(2, curves.width)).tolist():
        span = int(runs.start[place]), int(runs.stop[place])
        yield _one(group, int(group.rows[far[place]]), span, own[place], twins[place], curves, frame, up=up)


def _others(smooth: Floats) -> tuple[Floats, Floats]:
    """For each member the median of the others, and how they scatter, shapes (S, N); (1, N) where they are the same for all."""
    number = len(smooth)
    if number > _MANY:
        middle = median_of(smooth, 0)
        return middle, 1.4826 * median_of(np.abs(smooth - middle), 0)
    usual, noise = np.empty_like(smooth), np.empty_like(smooth)
    for member in range(number):
        others = np.delete(smooth, member, axis=0)
        middle = median_of(others, 0)
        enough = (~np.isnan(others)).sum(axis=0) >= _LEAST_TWINS
        usual[member] = np.where(enough, middle[0], np.nan)
        noise[member] = 1.4826 * median_of(np.abs(others - middle), 0)[0]
    return usual, noise


def _at_equal_work(group: Group, curves: Curves) -> Floats:
    """Smoothed curves of a group, each divided by how much more work it had than its twins, shape (S, N)."""
    smooth = curves.smooth[group.rows]
    for work in PER.get(group.signal.name, ()):
        others = [curves.work.get((work.signal, curves.subjects[row])) for row in group.rows.tolist()]
        amount = np.array([other for other in others if other is not None])
        if len(amount) == len(others):
            more = amount / np.maximum(median_of(amount, 0), 1.0)
            smooth /= np.maximum(np.where(np.isnan(more), 1.0, more), 1.0) ** work.exponent
    return smooth


def _one(
    group: Group, row: int, run: tuple[int, int], own: Floats, twins: Floats, curves: Curves, frame: Frame, *, up: bool
) -> Observation:
    """One that stands apart."""
    signal, subject = group.signal, curves.subjects[row]
    inside = slice(max(run[0], frame.grid.first), run[1])
    value, usual = mean_of(own[inside]), mean_of(twins[inside])
    size = float(size_of(np.array(value), np.array(usual), np.array(floor_of(signal)), np.array(signal.bounded), up=up))
    known = np.flatnonzero(~np.isnan(own) & ~np.isnan(twins))
    always = run[0] <= known[0] + curves.width
    onset = None if always else change_between(curves.values[row], (value + usual) / 2.0, run, curves.width, frame.grid, up=up)
    over = run[1] <= known[-1]
    support = int((~np.isnan(curves.values[row, inside])).sum())
    lasted = (inside.stop - inside.start) * frame.grid.step
    return shift(
        frame,
        signal,
        subject,
        against="twins",
        up=up,
        size=size,
        value=value,
        usual=usual,
        onset=onset,
        end=float(frame.grid.times[run[1] - 1]) if over else None,
        support=support,
        salient=must_be_explained(signal, "twins", direction_of(signal, up=up), size, lasted, support, frame),
        attrs=_about(frame, subject, [curves.subjects[other] for other in group.rows.tolist() if other != row]),
    )


def _about(frame: Frame, subject: Subject, twins: Sequence[Subject]) -> dict[str, str]:
    """How many twins there are, and whether they run the same version."""
    attrs = {"twins": str(len(twins))}
    if subject.scope is Scope.REPLICA and (own := version_of(frame, subject)) is not None:
        others = [version_of(frame, twin) for twin in twins]
        attrs["version"] = "same" if own in others else "other"
    return attrs

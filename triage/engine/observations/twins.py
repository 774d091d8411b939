"""Shifts against twins: one of several that do the same work and does not fare as the others do."""

from collections.abc import Iterator, Sequence

import numpy as np

from triage.classes import dataclass
from triage.engine.derived.fleet import own_fact, role_of, version_of
from triage.engine.frame import Frame
from triage.engine.observations.comparing import BEYOND, PER, floor_of, least_size_of
from triage.engine.observations.curves import Bools, Curves, mean_of, median_of
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

    :param rows: their rows in the curves
    """

    signal: Signal
    rows: tuple[int, ...]


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


def kind_of(frame: Frame, subject: Subject) -> tuple[str, str]:
    """What twins have in common: their part of the work and the kind of their cards."""
    return frame.remembered(("twin", subject), lambda: _kind(frame, subject))


def _kind(frame: Frame, subject: Subject) -> tuple[str, str]:
    """The kind of a subject worked out."""
    cards = [subject] if subject.scope is Scope.GPU else frame.related(subject, Scope.GPU)
    models = {str(model) for card in cards if (model := own_fact(frame, card, "gpu_model")) is not None}
    return role_of(frame, subject) if subject.scope is Scope.REPLICA else "", " ".join(sorted(models))


def _groups(curves: Curves, frame: Frame) -> Iterator[Group]:
    """Rows that can be compared with each other; what all of them together are is none."""
    grouped: dict[tuple[str, tuple[str, str]], list[int]] = {}
    kinds: dict[Subject, tuple[str, str]] = frame.remembered("kinds of twins", dict)
    for signal, part in curves.parts:
        for row, subject in enumerate(curves.subjects[part], part.start) if signal.scope in _TWINS else ():
            if subject.scope is signal.scope:
                if (kind := kinds.get(subject)) is None:
                    kind = kinds[subject] = kind_of(frame, subject)
                grouped.setdefault((signal.name, kind), []).append(row)
    for rows in grouped.values():
        if len(rows) > _LEAST_TWINS:
            yield Group(curves.signals[rows[0]], tuple(rows))


def _compared(groups: Sequence[Group], curves: Curves, frame: Frame) -> tuple[list[bool], list[Observation]]:
    """Groups of equally many members: which of them could be judged, and what was found."""
    first = frame.grid.first
    rows = np.array([group.rows for group in groups])
    smooth = _at_equal_work(groups, curves)
    floor = np.array([floor_of(group.signal) for group in groups])[:, None, None]
    there = (~np.isnan(smooth[:, :, first:])).sum(axis=2) >= _LEAST_CELLS
    told = (there.sum(axis=1) > _LEAST_TWINS).tolist()
    apart_at_all = np.fmax.reduce(smooth, axis=1) - np.fmin.reduce(smooth, axis=1) > floor[:, 0]
    some = np.flatnonzero(apart_at_all[:, first:].any(axis=1) & np.array(told))
    if not len(some):
        return told, []
    groups, rows, smooth, floor = [groups[number] for number in some.tolist()], rows[some], smooth[some], floor[some]
    bounded = np.array([group.signal.bounded for group in groups])[:, None, None]
    least = np.array([least_size_of(group.signal) for group in groups])[:, None, None]
    usual, noise = _others(smooth)
    known = ~np.isnan(smooth) & ~np.isnan(usual)
    found: list[Observation] = []
    for up in (True, False):
        size = size_of(smooth, usual, floor, bounded, up=up)
        apart = smooth - usual if up else usual - smooth
        with np.errstate(invalid="ignore"):
            holds: Bools = (size >= least) & (apart > np.maximum(BEYOND * noise, floor)) & known
        flat = known.reshape(-1, known.shape[2])
        runs = longest_runs(holds.reshape(flat.shape), flat, first)
        for place in np.flatnonzero(runs.length >= max(2, curves.width)).tolist():
            group, member = divmod(place, rows.shape[1])
            span = int(runs.start[place]), int(runs.stop[place])
            row, own, twins = int(rows[group, member]), smooth[group, member], usual[group, member]
            found.append(_one(groups[group], row, span, own, twins, curves, frame, up=up))
    return told, found


def _others(smooth: Floats) -> tuple[Floats, Floats]:
    """For each member the median of the others, and how they scatter, shapes (G, S, N)."""
    number = smooth.shape[1]
    if number > _MANY:
        middle = median_of(smooth, 1)
        apart = 1.4826 * median_of(np.abs(smooth - middle), 1)
        return np.broadcast_to(middle, smooth.shape), np.broadcast_to(apart, smooth.shape)
    usual, noise = np.empty_like(smooth), np.empty_like(smooth)
    for member in range(number):
        others = np.delete(smooth, member, axis=1)
        middle = median_of(others, 1)
        enough = (~np.isnan(others)).sum(axis=1) >= _LEAST_TWINS
        usual[:, member] = np.where(enough, middle[:, 0], np.nan)
        noise[:, member] = 1.4826 * median_of(np.abs(others - middle), 1)[:, 0]
    return usual, noise


def _at_equal_work(groups: Sequence[Group], curves: Curves) -> Floats:
    """Smoothed curves of groups, each divided by how much more work it had than its twins, shape (G, S, N)."""
    smooth = np.stack([curves.smooth[list(group.rows)] for group in groups])
    for number, group in enumerate(groups):
        for work in PER.get(group.signal.name, ()):
            others = [curves.work.get((work.signal, curves.subjects[row])) for row in group.rows]
            amount = np.array([other for other in others if other is not None])
            if len(amount) < len(others):
                continue
            more = amount / np.maximum(median_of(amount, 0), 1.0)
            smooth[number] /= np.maximum(np.where(np.isnan(more), 1.0, more), 1.0) ** work.exponent
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
        attrs=_about(frame, subject, [curves.subjects[other] for other in group.rows if other != row]),
    )


def _about(frame: Frame, subject: Subject, twins: Sequence[Subject]) -> dict[str, str]:
    """How many twins there are, and whether they run the same version."""
    attrs = {"twins": str(len(twins))}
    if subject.scope is Scope.REPLICA and (own := version_of(frame, subject)) is not None:
        others = [version_of(frame, twin) for twin in twins]
        attrs["version"] = "same" if own in others else "other"
    return attrs

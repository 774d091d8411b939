"""Shifts against a limit: what is at the most that it can be, or far below what it should be."""

from collections.abc import Iterator, Sequence

import numpy as np

from triage.engine.derived.arithmetic import quotient
from triage.engine.frame import Frame
from triage.engine.observations.comparing import LIMITS, WHILE, Limit
from triage.engine.observations.curves import mean_of, moment
from triage.engine.observations.runs import longest_runs
from triage.engine.observations.salience import must_be_explained
from triage.engine.observations.telling import shift
from triage.model.observation import Judged, Observation, Seen
from triage.model.recording import Floats, Subject
from triage.model.vocabulary import catalogue

_LEAST_CELLS = 4
"""With fewer known cells a level is a blip (as ``_LEAST_SAMPLES`` of shifts)."""


def at_limits(frame: Frame) -> Seen:
    """Whatever has a limit and is at it for a moment or longer."""
    odd: list[Observation] = []
    judged: set[Judged] = set()
    for limit in LIMITS:
        subjects = [one for one in frame.subjects_of(limit.part) if all(_known(frame, name, one) for name in _needs(limit))]
        if subjects:
            odd += _at_one(limit, subjects, _shares(limit, subjects, frame), frame, judged)
    return Seen(tuple(odd), frozenset(judged))


def _needs(limit: Limit) -> list[str]:
    """The signals without which nobody can tell how near a signal is to its limit."""
    condition = WHILE.get(limit.part)
    return [limit.part, *([limit.whole] if limit.whole else []), *([condition.signal] if condition is not None else [])]


def _known(frame: Frame, signal: str, subject: Subject) -> bool:
    return subject in frame.of(signal) or frame.cells(signal, subject) is not None


def _shares(limit: Limit, subjects: Sequence[Subject], frame: Frame) -> Floats:
    """A signal of some subjects as a share of its limit, shape (S, N), NaN where it tells nothing."""
    part, *others = (np.array([frame.cells(name, one) for one in subjects]) for name in _needs(limit))
    share = quotient(part, others[0]) if limit.whole else part
    assert share is not None  # both are there
    condition = WHILE.get(limit.part)
    with np.errstate(invalid="ignore"):
        return share if condition is None else np.where(others[-1] > condition.above, share, np.nan)


def _at_one(
    limit: Limit, subjects: Sequence[Subject], shares: Floats, frame: Frame, judged: set[Judged]
) -> Iterator[Observation]:
    """Who is at one limit for long enough, at its longest.

    :param shares: shape (S, N)
    :param judged: gets of whom enough is known to tell
    """
    known = ~np.isnan(shares)
    told = known[:, frame.grid.window].sum(axis=1) >= _LEAST_CELLS
    judged |= {("shift", limit.part, subject.scope, "limit") for subject, is_told in zip(subjects, told, strict=True) if is_told}
    with np.errstate(invalid="ignore"):
        holds = (shares < limit.near) if limit.below else (shares >= limit.near)
    runs = longest_runs(holds, known, frame.grid.first)
    for row in np.flatnonzero(told & (runs.length >= max(2, moment(frame) // 2))).tolist():
        run = int(runs.start[row]), int(runs.stop[row]), int(runs.length[row])
        yield _found(limit, subjects[row], shares[row], run, frame)


def _found(limit: Limit, subject: Subject, share: Floats, run: tuple[int, int, int], frame: Frame) -> Observation:
    """One that is at its limit.

    :param run: the first cell of that time, the one after the last, and how many of them are known
    """
    start, stop, length = run
    inside = slice(max(start, frame.grid.first), stop)
    signal = catalogue()[limit.part]
    value = mean_of(share[inside])
    whole = frame.cells(limit.whole, subject) if limit.whole else None
    most = 1.0 if whole is None else mean_of(whole[inside])
    places = np.flatnonzero(~np.isnan(share))
    times = frame.grid.times
    earlier = places[places < start]
    return shift(
        frame,
        signal,
        subject,
        against="limit",
        up=not limit.below,
        size=value,
        value=value * most,
        usual=most,
        onset=(float(times[earlier[-1]]), float(times[start])) if len(earlier) else None,
        end=float(times[stop - 1]) if stop <= places[-1] else None,
        support=length,
        salient=must_be_explained(signal, "limit", "worse", value, (stop - inside.start) * frame.grid.step, length, frame),
        attrs={"share": f"{value:.3g}"},
    )

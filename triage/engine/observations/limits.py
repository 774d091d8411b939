"""Shifts against a limit: what is at the most that it can be, or far below what it should be."""

from collections.abc import Iterator

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
        for subject in frame.subjects_of(limit.part):
            share = _share(limit, subject, frame)
            if share is not None and (~np.isnan(share[frame.grid.window])).sum() >= _LEAST_CELLS:
                judged.add(("shift", limit.part, subject.scope, "limit"))
                odd += _found(limit, subject, share, frame)
    return Seen(tuple(odd), frozenset(judged))


def _share(limit: Limit, subject: Subject, frame: Frame) -> Floats | None:
    """A signal as a share of its limit, shape (N,); None if one of them is unknown."""
    part = frame.cells(limit.part, subject)
    share = quotient(part, frame.cells(limit.whole, subject)) if limit.whole else part
    condition = WHILE.get(limit.part)
    if share is None or condition is None:
        return share
    other = frame.cells(condition.signal, subject)
    with np.errstate(invalid="ignore"):
        return None if other is None else np.where(other > condition.above, share, np.nan)


def _found(limit: Limit, subject: Subject, share: Floats, frame: Frame) -> Iterator[Observation]:
    """The longest time at the limit, if it is long enough."""
    known = ~np.isnan(share)
    with np.errstate(invalid="ignore"):
        holds = (share < limit.near) if limit.below else (share >= limit.near)
    runs = longest_runs(holds[None], known[None], frame.grid.first)
    start, stop, length = (int(part[0]) for part in (runs.start, runs.stop, runs.length))
    if length < max(2, moment(frame) // 2):
        return
    inside = slice(max(start, frame.grid.first), stop)
    signal = catalogue()[limit.part]
    value = mean_of(share[inside])
    whole = frame.cells(limit.whole, subject) if limit.whole else None
    most = 1.0 if whole is None else mean_of(whole[inside])
    places = np.flatnonzero(known)
    times = frame.grid.times
    earlier = places[places < start]
    yield shift(
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

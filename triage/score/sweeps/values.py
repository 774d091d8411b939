"""The same fault, less grave: values between what they were and what they usually are."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from triage.model.recording import Floats, Histogram, Recording, Series
from triage.model.vocabulary import Kind, catalogue
from triage.score.sweeps.trial import Trial
from triage.score.sweeps.under import UnderChange

SHARES = (0.25, 0.5)
"""By how much of the way values go back to what they were before the window."""

_STILL_ILL = 0.25
"""A fault that is weaker by no more than this is still one; at half its size it may be none."""


_LONGER = 2
"""Chosen: what rests more than twice as long in a row as it ever did before the window does not rest by chance."""

_NOTHING = 0.01
"""Chosen: so small a share of the usual is nothing: a card that its process has left keeps some memory for the driver."""

Bools = npt.NDArray[np.bool_]
Places = npt.NDArray[np.int64]


def weaken(case: UnderChange) -> Iterator[Trial]:
    """All values of the window moved towards what was usual before."""
    if case.recording.window.baseline_start >= case.recording.window.start:
        return
    for share in SHARES:
        changed = weakened(case.recording, share)
        yield case.harmless("weaken", f"{share:.0%}", changed, may_be_well=share > _STILL_ILL)


def weakened(recording: Recording, share: float) -> Recording:
    """A recording whose window is nearer to what was before it.

    States are left as they are: there is no half of them. What stands still, of which nothing is left at a moment, is a state,
    too: an engine that makes a quarter of its tokens does not hang a little less, it is slow, and that is another fault.

    :param share: 0 changes nothing, 1 leaves nothing of the fault
    """
    start = recording.window.start
    return replace(
        recording,
        series=tuple(_series(one, start, share) for one in recording.series),
        histograms=tuple(_histogram(one, start, share) for one in recording.histograms),
    )


def _series(one: Series, start: float, share: float) -> Series:
    before = one.times < start
    if catalogue()[one.signal].kind is Kind.STATE or not before.any() or before.all():
        return one
    usual = float(np.nanmedian(one.values[before])) if np.isfinite(one.values[before]).any() else np.nan
    if not np.isfinite(usual):
        return one
    kept = before | _stands_still(one.values, before)
    return replace(one, values=np.where(kept, one.values, one.values + share * (usual - one.values)))


def _histogram(one: Histogram, start: float, share: float) -> Histogram:
    """Of a distribution so many observations are as they usually were."""
    before = one.times < start
    if not before.any() or before.all():
        return one
    rates, sums = one.rates[before].mean(axis=0), float(one.sums[before].mean())
    kept = before | _stands_still(one.rates.sum(axis=1), before)
    return replace(
        one,
        rates=np.where(kept[:, None], one.rates, (1 - share) * one.rates + share * rates),
        sums=np.where(kept, one.sums, (1 - share) * one.sums + share * sums),
    )


def _stands_still(values: Floats, before: Bools) -> Bools:
    """At which moments nothing to speak of is left for far longer than ever before the window, shape (T,)."""
    resting = np.abs(values) <= _NOTHING * abs(np.nanmedian(values[before]))
    lengths = _lengths(resting)
    return np.asarray(resting & (lengths > _LONGER * lengths[before].max()))


def _lengths(holds: Bools) -> Places:
    """How many moments in a row something holds around each at which it does, else 0, shape (T,)."""
    run = np.cumsum(np.diff(holds, prepend=holds[:1]))
    return np.asarray(np.bincount(run, weights=holds)[run], dtype=np.int64)

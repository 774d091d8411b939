"""What a server would answer, worked out of the samples that were recorded: so no query is shown that gives another value.

Prometheus' functions as its documentation and ``promql/functions.go`` have them: a range holds both of its ends, a rate is
extrapolated to the ends of its range where samples lie near them.
"""

from collections.abc import Callable, Sequence

import numpy as np

from triage.engine.quantiles import quantile
from triage.model.recording import Floats, Histogram, Series

_NEAR = 1.1
"""Samples within this many of their usual distances of an end of a range are taken to reach it."""

_LOOKBACK = 300.0
"""Seconds for which a server takes the last sample for the value of now."""

_NONE = np.nan


def _inside(times: Floats, width: float, moments: Floats) -> tuple["np.ndarray[tuple[int], np.dtype[np.int64]]", ...]:
    """First and last index (exclusive) of the samples in the range before each moment."""
    low = np.searchsorted(times, moments - width - 1e-6, side="left")
    high = np.searchsorted(times, moments + 1e-6, side="right")
    return low, high


def averages(one: Series, width: float, moments: Floats) -> Floats:
    """``avg_over_time`` at some moments, shape (M,)."""
    low, high = _inside(one.times, width, moments)
    sums = np.concatenate(([0.0], np.cumsum(one.values)))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(high > low, (sums[high] - sums[low]) / (high - low), _NONE)


def lasts(one: Series, width: float, moments: Floats) -> Floats:
    """``last_over_time`` at some moments, shape (M,)."""
    low, high = _inside(one.times, width, moments)
    return np.where(high > low, one.values[np.maximum(high - 1, 0)], _NONE)


def over(one: Series, width: float, end: float, function: Callable[[Floats], float | None]) -> float | None:
    """A function over the samples of a range."""
    low, high = _inside(one.times, width, np.array([end]))
    samples = one.values[int(low[0]) : int(high[0])]
    return function(samples) if len(samples) else None


def rates(times: Floats, growth: Floats, width: float, moments: Floats) -> Floats:
    """``rate`` at some moments, shape (M, …).

    :param growth: rates per second since the sample before, shape (T, …)
    """
    before = times[0] - (float(np.median(np.diff(times))) if len(times) > 1 else width)
    at = np.concatenate(([before], times))
    shape = (-1,) + (1,) * (growth.ndim - 1)
    grown = np.cumsum(np.nan_to_num(growth) * np.diff(at).reshape(shape), axis=0)
    totals = np.concatenate((np.zeros((1, *growth.shape[1:])), grown))
    low, high = _inside(at, width, moments)
    count = high - low
    first, last = at[np.minimum(low, len(at) - 1)], at[np.maximum(high - 1, 0)]
    with np.errstate(invalid="ignore", divide="ignore"):
        sampled = np.where(count >= 2, last - first, _NONE)
        usual = sampled / (count - 1)
        to_start, to_end = first - (moments - width), moments - last
        left = np.where(to_start >= _NEAR * usual, usual / 2.0, to_start)
        right = np.where(to_end >= _NEAR * usual, usual / 2.0, to_end)
        factor = (sampled + left + right) / sampled / width
    inside = totals[np.maximum(high - 1, 0)] - totals[np.minimum(low, len(at) - 1)]
    return np.asarray(inside * factor.reshape(shape))


def totals_at(one: Series, moments: Floats) -> Floats:
    """A running total that was 0 before it appeared, as its last sample shows it."""
    if not len(one.times):
        return np.zeros(len(moments))
    before = np.concatenate(([one.times[0] - _LOOKBACK], one.times[:-1]))
    usual = float(np.median(np.diff(one.times))) if len(one.times) > 1 else 0.0
    before[0] = one.times[0] - usual
    counted = np.concatenate(([0.0], np.cumsum(np.nan_to_num(one.values) * (one.times - before))))
    return counted[np.searchsorted(one.times, moments + 1e-6, side="right")]


def observed_mean(some: Sequence[Histogram], width: float, moments: Floats) -> Floats:
    """Mean of what was observed in the range before each moment."""
    sums = np.nansum([rates(one.times, one.sums, width, moments) for one in some], axis=0)
    counts = np.nansum([rates(one.times, one.rates.sum(axis=1), width, moments) for one in some], axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(counts > 0, sums / counts, _NONE)


def observed_quantile(some: Sequence[Histogram], share: float, width: float, end: float) -> float | None:
    """``histogram_quantile`` over the buckets of several, which they must share."""
    if any(len(one.bounds) != len(some[0].bounds) or (one.bounds != some[0].bounds).any() for one in some):
        return None
    counts = np.nansum([rates(one.times, one.rates, width, np.array([end]))[0] for one in some], axis=0)
    found = quantile(counts, some[0].bounds, share) if np.isfinite(counts).all() else None
    return None if found is None else found.estimate


def moments_of(end: float, length: float, step: float) -> Floats:
    """The moments of a subquery: the whole steps since 1970 in a range."""
    last = np.floor((end + 1e-6) / step)
    first = np.ceil((end - length - 1e-6) / step)
    return np.arange(first, last + 1) * step

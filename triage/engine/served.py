"""What a server would answer, worked out of the samples that were recorded: so no query is shown that gives another value.

Prometheus' functions as its documentation and ``promql/functions.go`` have them: a range holds both of its ends, a rate is
extrapolated to the ends of its range where samples lie near them.
"""

from collections.abc import Callable, Sequence

import numpy as np

from triage.engine.quantiles import quantile
from triage.engine.statistics import together
from triage.model.arrays import median, usual_step
from triage.model.recording import Floats, Histogram, Series
from triage.model.vocabulary import Combine

Bounds = tuple[Floats, Floats]
"""The least and the most that a server would answer; NaN where it answers nothing."""

_NEAR = 1.1
"""Samples within this many of their usual distances of an end of a range are taken to reach it."""

_SHOWN = 240.0
"""A server still shows what was sampled within five minutes; less, to be sure."""

_UNSURE = 0.02
"""Chosen: the part of a value by which a server's answer may be unknown and is still taken for known: hardly seen."""

_IRREGULAR = 0.1
"""Chosen: the part by which distances of samples differ that come at one interval: scrapes are late by little."""

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


def rates(times: Floats, growth: Floats, width: float, moments: Floats) -> Bounds:
    """``rate`` at some moments: the least and the most that it can be, shape (M, …) each.

    A server takes a total to have begun where a line through its samples is 0, if that is nearer than it would extrapolate
    otherwise; how far it then goes differs between versions. What stood there before the recording is not known, so the two are
    apart where a total is small beside what it grew by, where it begins inside the range, and most where its samples then come so
    irregularly that nobody knows how long the first rate held.

    :param growth: rates per second since the sample before, shape (T, …)
    """
    apart = np.diff(times)
    usual = median(apart) if len(apart) else width
    ends = (float(apart.min()), float(apart.max())) if len(apart) else ()
    firsts = {usual, *(one for one in ends if abs(one - usual) > _IRREGULAR * usual)}
    found = [_rates(times, growth, times[0] - first, width, moments) for first in sorted(firsts)]
    if len(found) == 1:
        return found[0]
    return np.min([least for least, _ in found], axis=0), np.max([most for _, most in found], axis=0)


def _rates(times: Floats, growth: Floats, before: float, width: float, moments: Floats) -> Bounds:
    """The same of what was first sampled at a moment."""
    at = np.concatenate(([before], times))
    shape = (-1,) + (1,) * (growth.ndim - 1)
    grown = np.cumsum(np.nan_to_num(growth) * np.diff(at).reshape(shape), axis=0)
    totals = np.concatenate((np.zeros((1, *growth.shape[1:])), grown))
    low, high = _inside(at, width, moments)
    count = high - low
    began, ended = np.minimum(low, len(at) - 1), np.maximum(high - 1, 0)
    first, last = at[began], at[ended]
    inside = totals[ended] - totals[began]
    with np.errstate(invalid="ignore", divide="ignore"):
        sampled = np.where(count >= 2, last - first, _NONE)
        usual = sampled / (count - 1)
        to_start, to_end = first - (moments - width), moments - last
        reach = _NEAR * usual
        right = np.where(to_end >= reach, usual / 2.0, to_end)
        to_zero = np.where(inside > 0, sampled.reshape(shape) * totals[began] / inside, np.inf)
        farthest, nearest = np.where(to_start >= reach, reach, to_start), np.where(to_start >= reach, usual / 2.0, to_start)
        left = [np.minimum(to_zero, nearest.reshape(shape))]
        left.append(np.where(to_zero >= reach.reshape(shape), left[0], farthest.reshape(shape)))
        both = [inside * (((sampled + right).reshape(shape) + each) / sampled.reshape(shape) / width) for each in left]
    return np.asarray(both[0]), np.asarray(both[1])


def sure(least: float, most: float) -> float | None:
    """What lies between two bounds, if they are about the same; None where a server's answer cannot be told."""
    if not (np.isfinite(least) and np.isfinite(most)) or most - least > _UNSURE * max(abs(least), abs(most)):
        return None
    return (least + most) / 2.0


def grown(some: Sequence[Series], width: float, moments: Floats) -> Bounds:
    """What running totals show at some moments less what they showed some seconds before, shape (M,)."""
    each = [_grown(one, width, moments) for one in some]
    return _added([(np.where(np.isnan(one), -np.inf, one), np.where(np.isnan(one), np.inf, one)) for one in each])


def _grown(one: Series, width: float, moments: Floats) -> Floats:
    """The same of one; NaN where nobody knows: where its last sample is too old, or it began with what nobody saw it count."""
    first = one.times[0] - (usual_step(one.times) if len(one.times) > 1 else 0.0)
    before = np.concatenate(([first], one.times[:-1]))
    counted = np.concatenate(([0.0], np.cumsum(np.nan_to_num(one.values) * (one.times - before))))
    now, then = (counted[np.searchsorted(one.times, at + 1e-6, side="right")] for at in (moments, moments - width))
    began_inside = (moments - width < first) & (moments >= first)
    unknown = (moments - one.times[-1] > _SHOWN) | (began_inside & (one.origin.born != one.times[0]))
    return np.where(unknown, _NONE, now - then)


def growth(some: Sequence[Series], width: float, moments: Floats, how: Combine) -> Bounds:
    """``rate`` of several running totals put together, at some moments, shape (M,)."""
    found = [rates(one.times, one.values, width, moments) for one in some]
    return together([least for least, _ in found], how), together([most for _, most in found], how)


def observed_count(some: Sequence[Histogram], width: float, moments: Floats) -> Bounds:
    """``rate`` of how many were observed, shape (M,)."""
    return _added([rates(one.times, one.rates.sum(axis=1), width, moments) for one in some])


def observed_mean(some: Sequence[Histogram], width: float, moments: Floats) -> Bounds:
    """Mean of what was observed in the range before each moment."""
    sums = _added([rates(one.times, one.sums, width, moments) for one in some])
    return ratio(sums, observed_count(some, width, moments))


def ratio(above: Bounds, below: Bounds) -> Bounds:
    """One by the other, neither below zero; NaN where there is nothing to divide by."""
    with np.errstate(invalid="ignore", divide="ignore"):
        least = np.where(below[1] > 0, above[0] / below[1], _NONE)
        return least, np.where(below[0] > 0, above[1] / below[0], np.where(np.isnan(least), _NONE, np.inf))


def observed_quantile(some: Sequence[Histogram], share: float, width: float, end: float) -> float | None:
    """``histogram_quantile`` over the buckets of several, which they must share; None if it cannot be told."""
    bounds = some[0].bounds
    if any(len(one.bounds) != len(bounds) or (one.bounds != bounds).any() for one in some):
        return None
    at = np.array([end])
    found = [
        quantile(np.diff(np.maximum.accumulate(cumulative[0]), prepend=0.0), bounds, share)
        for cumulative in _added([rates(one.times, one.rates.cumsum(axis=1), width, at) for one in some])
    ]
    if found[0] is None or found[1] is None:
        return None
    return sure(*sorted(one.estimate for one in found if one is not None))


def _added(bounds: Sequence[Bounds]) -> Bounds:
    """Sums of the least and of the most of several."""
    return np.nansum([low for low, _ in bounds], axis=0), np.nansum([high for _, high in bounds], axis=0)


def moments_of(end: float, length: float, step: float) -> Floats:
    """The moments of a subquery: the whole steps since 1970 in a range."""
    last = np.floor((end + 1e-6) / step)
    first = np.ceil((end - length - 1e-6) / step)
    return np.arange(first, last + 1) * step

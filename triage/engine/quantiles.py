"""Quantiles of histograms that carry the bounds of their bucket, so that a coarse bucket never reads as a precise value."""

from typing import NamedTuple

import numpy as np

from triage.model.recording import Floats, Histogram


class Interval(NamedTuple):
    """A value that is known to lie between two bounds.

    :param estimate: the value as Prometheus' ``histogram_quantile`` would give it (linear within the bucket)
    :param low: lower bound of its bucket
    :param high: upper bound of its bucket, inf for the last one
    """

    estimate: float
    low: float
    high: float


def observations(histogram: Histogram, start: float, end: float) -> Floats:
    """Observations in each bucket between two moments, shape (B,).

    A rate holds from the sample before to its own; samples that reach into the span count for the part inside.
    """
    times = histogram.times
    if not len(times):
        return np.zeros(len(histogram.bounds))
    usual = float(np.median(np.diff(times))) if len(times) > 1 else end - start
    before = np.concatenate(([times[0] - usual], times[:-1]))
    length = np.minimum(times, end) - np.maximum(before, start)
    weights = np.clip(length, 0.0, None)
    return np.asarray(np.nansum(histogram.rates * weights[:, None], axis=0))


def quantile(counts: Floats, bounds: Floats, q: float) -> Interval | None:
    """The q-quantile of bucketed observations; None without observations or without any finite bucket.

    The first bucket is taken to begin at 0 if its bound is positive, as Prometheus does. A quantile in the last bucket is only
    known to be at least the last finite bound.

    :param counts: observations by bucket (not cumulative), shape (B,)
    :param bounds: upper bounds, ascending, the last one inf, shape (B,)
    :param q: between 0 and 1
    """
    total = float(counts.sum())
    if total <= 0 or len(bounds) < 2:
        return None
    rank = q * total
    cumulative = np.cumsum(counts)
    index = int(np.searchsorted(cumulative, rank - 1e-9 * total))
    index = min(index, len(bounds) - 1)
    low = float(bounds[index - 1]) if index else min(0.0, float(bounds[0]))
    high = float(bounds[index])
    if np.isinf(high):
        return Interval(low, low, high)
    inside = float(counts[index])
    before = float(cumulative[index]) - inside
    estimate = low + (high - low) * ((rank - before) / inside if inside > 0 else 1.0)
    return Interval(estimate, low, high)


def merged_counts(histograms: list[Histogram], start: float, end: float) -> tuple[Floats, Floats] | None:
    """Observations of several histograms in one set of buckets; None if there are none.

    Histograms with other bounds are laid into the buckets that all of them have.
    """
    usable = [h for h in histograms if len(h.bounds)]
    if not usable:
        return None
    shared = usable[0].bounds
    for histogram in usable[1:]:
        shared = np.intersect1d(shared, histogram.bounds)
    total = np.zeros(len(shared))
    for histogram in usable:
        place = np.searchsorted(shared, histogram.bounds)
        np.add.at(total, place, observations(histogram, start, end))
    return total, shared

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
    return observed(histogram.times, histogram.rates, start, end)


def observed(times: Floats, rates: Floats, start: float, end: float) -> Floats:
    """The same of one or several histograms that were read at the same moments, shape (…, B).

    :param rates: shape (…, T, B)
    """
    if not len(times):
        return np.zeros((*rates.shape[:-2], rates.shape[-1]))
    usual = float(np.median(np.diff(times))) if len(times) > 1 else end - start
    before = np.concatenate(([times[0] - usual], times[:-1]))
    length = np.minimum(times, end) - np.maximum(before, start)
    weights = np.clip(length, 0.0, None)
    return np.asarray(np.nansum(rates * weights[:, None], axis=-2))


def quantile(counts: Floats, bounds: Floats, q: float) -> Interval | None:
    """The q-quantile of bucketed observations; None without observations or without any finite bucket.

    :param counts: observations by bucket (not cumulative), shape (B,)
    :param bounds: upper bounds, ascending, the last one inf, shape (B,)
    :param q: between 0 and 1
    """
    estimate, low, high = quantiles(counts[None, :], bounds, q)[:, 0].tolist()
    return None if np.isnan(estimate) else Interval(estimate, low, high)


def quantiles(counts: Floats, bounds: Floats, q: float) -> Floats:
    """The q-quantiles of several bucketed observations: estimates, lower and upper bounds, shape (3, R); NaN where there is none.

    The first bucket is taken to begin at 0 if its bound is positive, as Prometheus does. A quantile in the last bucket is only
    known to be at least the last finite bound.

    :param counts: shape (R, B)
    """
    if not len(counts) or len(bounds) < 2:
        return np.full((3, len(counts)), np.nan)
    total = counts.sum(axis=1)
    rank = q * total
    cumulative = np.cumsum(counts, axis=1)
    index = (cumulative < (rank - 1e-9 * total)[:, None]).sum(axis=1).clip(0, len(bounds) - 1)
    rows = np.arange(len(counts))
    low = np.where(index > 0, bounds[index - 1], min(0.0, float(bounds[0])))
    high, inside = bounds[index], counts[rows, index]
    before = cumulative[rows, index] - inside
    last = np.isinf(high)
    with np.errstate(invalid="ignore", divide="ignore"):
        part = np.where(inside > 0, (rank - before) / inside, 1.0)
        estimate = np.where(last, low, low + (np.where(last, 0.0, high) - low) * part)
    return np.where(total > 0, np.stack((estimate, low, high)), np.nan)


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

"""Quantiles of histograms that carry the bounds of their bucket, so that a coarse bucket never reads as a precise value."""

from collections.abc import Iterator, Sequence
from math import isnan
from typing import NamedTuple

import numpy as np

from triage.engine.frame import Interpolation
from triage.model.arrays import usual_step
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
    usual = usual_step(times) if len(times) > 1 else end - start
    before = np.concatenate(([times[0] - usual], times[:-1]))
    length = np.minimum(times, end) - np.maximum(before, start)
    weights = np.clip(length, 0.0, None)
    amounts = rates * weights[:, None]
    total = amounts.sum(axis=-2)
    return np.asarray(np.nansum(amounts, axis=-2) if np.isnan(total).any() else total)


def observed_until(times: Floats, rates: Floats, edges: Floats, first: float) -> Floats:
    """Observations until each of some moments, of several histograms that were read at the same ones, shape (K, B, edges).

    :param rates: shape (K, T, B); each holds from the sample before to its own
    :param first: seconds for which the first one holds
    """
    corners = np.concatenate(([times[0] - first], times))
    known = np.zeros((len(rates), len(corners), rates.shape[2]))
    np.cumsum(np.nan_to_num(rates) * np.diff(corners)[:, None], axis=1, out=known[:, 1:])
    return Interpolation(edges, corners).of(known).transpose(0, 2, 1)


def quantile(counts: Floats, bounds: Floats, q: float) -> Interval | None:
    """The q-quantile of bucketed observations; None without observations or without any finite bucket.

    :param counts: observations by bucket (not cumulative), shape (B,)
    :param bounds: upper bounds, ascending, the last one inf, shape (B,)
    :param q: between 0 and 1
    """
    estimate, low, high = quantiles(counts[None, :], bounds, q)[:, 0].tolist()
    return None if isnan(estimate) else Interval(estimate, low, high)


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
    shared = shared_bounds(usable)
    total = np.zeros(len(shared))
    for several in side_by_side(usable):
        for counts in observed(several[0].times, stacked(several), start, end):
            add_to(total, shared, counts, several[0].bounds)
    return total, shared


def shared_bounds(histograms: Sequence[Histogram]) -> Floats:
    """The bounds that all of some histograms have, ascending."""
    shared = histograms[0].bounds
    for histogram in histograms[1:]:
        if not _is_same(shared, histogram.bounds):
            shared = np.intersect1d(shared, histogram.bounds)
    return shared


def add_to(total: Floats, shared: Floats, counts: Floats, bounds: Floats) -> None:
    """Adds counts by bucket to those by the buckets that several have, first axis by bucket.

    :param shared: bounds of ``total``, all of them among ``bounds``
    """
    if len(bounds) == len(shared):
        total += counts
    else:
        np.add.at(total, np.searchsorted(shared, bounds), counts)


def stacked(histograms: Sequence[Histogram]) -> Floats:
    """Rates of histograms that were read at the same moments in the same buckets, shape (K, T, B)."""
    return np.stack([one.rates for one in histograms])


_TOGETHER = 64
"""Histograms that are worked with in one go: more of them need more memory and are no faster."""


def side_by_side(histograms: Sequence[Histogram]) -> Iterator[Sequence[Histogram]]:
    """Histograms in their order, those in a row together that were read at the same moments in the same buckets."""
    several: list[Histogram] = []
    for one in histograms:
        if several and (len(several) == _TOGETHER or not _are_alike(several[0], one)):
            yield several
            several = []
        several.append(one)
    if several:
        yield several


def _are_alike(one: Histogram, other: Histogram) -> bool:
    """Whether two histograms were read at the same moments in the same buckets."""
    return _is_same(one.times, other.times) and _is_same(one.bounds, other.bounds)


def _is_same(one: Floats, other: Floats) -> bool:
    return one is other or (len(one) == len(other) and bool((one == other).all()))

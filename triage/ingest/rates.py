"""Arithmetic on samples: counters to rates, cumulative buckets to observations, several series to one."""

from collections.abc import Sequence

import numpy as np

from triage.model.recording import Floats
from triage.model.vocabulary import Combine

_REDUCE = {Combine.SUM: np.nansum, Combine.MEAN: np.nanmean, Combine.MAX: np.nanmax, Combine.MIN: np.nanmin}


def to_rates(times: Floats, totals: Floats) -> tuple[Floats, Floats]:
    """Mean rates per second between samples of a running total, at the later sample's time.

    A total that falls was reset by a restart: what it shows then was counted since.

    :param times: ascending, shape (T,)
    :param totals: shape (T,) or (..., T)
    :returns: times of shape (T-1,), rates of shape (..., T-1)
    """
    step = np.diff(times)
    growth = np.diff(totals, axis=-1)
    growth = np.where(growth < 0, totals[..., 1:], growth)
    return times[1:], growth / step


def sample_step(times: Floats) -> float:
    """Usual distance of samples in seconds; 0 if there is but one."""
    return float(np.median(np.diff(times))) if len(times) > 1 else 0.0


def combined(
    parts: Sequence[tuple[Floats, Floats]], how: Combine, *, rates: bool, patience: float
) -> tuple[Floats, Floats]:
    """Several series of one subject as one.

    At each time at which any of them has a sample, each gives its nearest sample that covers that time: a rate the next one
    (it holds for the time before its sample), anything else the last one. A sample further away than ``patience`` seconds
    says nothing.

    :param parts: times and values of each, shape (T,)
    :returns: times and values, shape (U,)
    """
    if len(parts) == 1:
        return parts[0]
    first = parts[0][0]
    if all(len(times) == len(first) and (times == first).all() for times, _ in parts[1:]):
        return first, _REDUCE[how](np.stack([values for _, values in parts]), axis=0)
    union = np.unique(np.concatenate([times for times, _ in parts]))
    rows = np.stack([_at(union, times, values, rates, patience) for times, values in parts])
    covered = ~np.isnan(rows).all(axis=0)
    return union[covered], _REDUCE[how](rows[:, covered], axis=0)


def _at(when: Floats, times: Floats, values: Floats, rates: bool, patience: float) -> Floats:
    """Values that hold at given times, NaN where no sample is near enough."""
    if not len(times):
        return np.full(len(when), np.nan)
    index = np.searchsorted(times, when, side="left" if rates else "right") - (0 if rates else 1)
    inside = (index >= 0) & (index < len(times))
    index = index.clip(0, len(times) - 1)
    near = np.abs(times[index] - when) <= patience
    return np.where(inside & near, values[index], np.nan)


def bucket_rates(cumulative: Floats) -> Floats:
    """Observations in each bucket from cumulative buckets.

    Scrapes are not atomic, so a lower bucket can be ahead of a higher one by a few observations: negative differences become 0.

    :param cumulative: rates by upper bound, ascending, shape (B, T)
    :returns: shape (T, B)
    """
    return np.diff(cumulative, axis=0, prepend=0.0).clip(min=0.0).T

"""Arithmetic on samples: counters to rates, cumulative buckets to observations, several series to one."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from triage.model.arrays import distinct
from triage.model.recording import Floats
from triage.model.vocabulary import Combine

Samples = tuple[Floats, Floats]
"""Times and values, shape (T,) each."""

STALENESS_STEPS = 2.5
"""A sample speaks for this many scrape intervals: one missed scrape is bridged, two are a gap."""


_TORN = 2
"""Chosen: scrapes for which buckets that were read one after the other can disagree."""


def to_rates(times: Floats, totals: Floats) -> Samples:
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


def goes_backwards(times: Floats, totals: Floats, step: float) -> bool:
    """Whether a running total falls time and again, and not to a fraction of what it was, as a restart would make it.

    Several processes that answer scrapes in turn do that, and so does a gauge that is taken for a counter. A process that dies
    again and again leaves gaps.

    :param step: usual distance of samples, seconds
    """
    falls = (totals[1:] < totals[:-1]) & (np.diff(times) < 1.5 * step)
    if np.count_nonzero(falls) < 3:
        return False
    small = np.count_nonzero(falls & (totals[1:] > 0.75 * totals[:-1]))
    return bool(small >= 3 and small > 0.05 * len(falls))


def since_absence(times: Floats, totals: Floats, company: Floats) -> Samples:
    """A running total that is also known to have been 0 just before it began, or began anew, in the company of others.

    A child of a counter is made when it first counts, so its first sample would be lost as a starting point; and where it is
    made again after a restart, long after its siblings, its growth would be spread over the time without it.

    :param company: times at which the same target was scraped, ascending; the series' own among them
    """
    before = np.searchsorted(company, times) - 1
    seen = np.where(before >= 0, company[before.clip(0)], -np.inf)
    anew = np.concatenate(([True], np.diff(totals) < 0))
    index = np.flatnonzero(anew & (seen > np.concatenate(([-np.inf], times[:-1]))))
    return np.insert(times, index, seen[index]), np.insert(totals, index, 0.0)


def sample_step(times: Floats) -> float:
    """Usual distance of samples in seconds; 0 if there is but one."""
    if len(times) < 2:
        return 0.0
    gaps = np.sort(np.diff(times))  # a median by NumPy's own takes four times as long, and this is asked of every series
    half = len(gaps) // 2
    return float(gaps[half]) if len(gaps) % 2 else float((gaps[half - 1] + gaps[half]) / 2.0)


def combined(parts: Sequence[Samples], how: Combine, *, rates: bool, staleness: float, scrapes: Sequence[Floats] = ()) -> Samples:
    """Several series of one subject as one, at each time at which any of them has a sample.

    A rate holds for the whole time since the sample before it, the first one of a series for one usual step. So rates times the
    seconds for which any part is known add up to what was counted, gaps or not. Anything else holds from its sample on for
    ``patience`` seconds at most, and then says nothing.

    :param parts: times and values of each, shape (T,)
    :param scrapes: for each part the times at which its target was scraped, where they are known: what is not rates is not held
        beyond a scrape that no longer shows it
    :returns: times and values, shape (U,)
    """
    if len(parts) == 1:
        return parts[0]
    first = parts[0][0]
    if all(len(times) == len(first) and (times == first).all() for times, _ in parts[1:]):
        return first, _reduced(np.stack([values for _, values in parts]), how)
    union, rows = _aligned(parts, rates=rates, staleness=staleness, scrapes=scrapes)
    covered = ~np.isnan(rows).all(axis=0)
    return union[covered], _reduced(rows[:, covered], how)


def greatest(parts: Sequence[Samples], staleness: float, scrapes: Sequence[Floats]) -> tuple[Floats, npt.NDArray[np.intp]]:
    """Which of several series has the greatest value, at each time at which any of them has a sample.

    :param patience: seconds for which a sample speaks
    :param scrapes: for each part the times at which its target was scraped
    :returns: times and indices into ``parts``, shape (U,)
    """
    union, rows = _aligned(parts, rates=False, staleness=staleness, scrapes=scrapes)
    return union, np.argmax(np.where(np.isnan(rows), -np.inf, rows), axis=0)


def _aligned(parts: Sequence[Samples], *, rates: bool, staleness: float, scrapes: Sequence[Floats]) -> Samples:
    """All times of the parts, and their values then, shape (parts, U); NaN where a part says nothing."""
    union = distinct(np.concatenate([times for times, _ in parts]))
    if rates:
        rows, spans = np.stack([_rates_at(union, times, values, staleness) for times, values in parts], axis=1)
        return union, rows * (spans / spans.max(axis=0))
    known = scrapes or [times for times, _ in parts]
    return union, np.stack([_values_at(union, *part, staleness, seen) for part, seen in zip(parts, known, strict=True)])


def _rates_at(when: Floats, times: Floats, values: Floats, staleness: float) -> Floats:
    """Rates at given times, and the seconds since the time before for which they hold, shape (2, U); NaN and 0 where none does.

    Each sample's rate holds since the one before it, the first one's for a step.
    """
    if not len(times):
        return np.stack((np.full(len(when), np.nan), np.zeros(len(when))))
    index = np.searchsorted(times, when, side="left")
    inside = index < len(times)
    index = index.clip(0, len(times) - 1)
    step = min(sample_step(times) or staleness / STALENESS_STEPS, staleness)
    since = np.concatenate(([times[0] - step], times[:-1]))[index]
    holds = inside & (when > since)
    spans = when - np.maximum(since, np.concatenate(([-np.inf], when[:-1])))
    return np.stack((np.where(holds, values[index], np.nan), np.where(holds, spans, 0.0)))


def _values_at(when: Floats, times: Floats, values: Floats, staleness: float, scrapes: Floats) -> Floats:
    """Values that hold at given times: each from its sample on, until a scrape does not show it any more."""
    if not len(times):
        return np.full(len(when), np.nan)
    index = np.searchsorted(times, when, side="right") - 1
    inside = index >= 0
    index = index.clip(0)
    scraped = scrapes[(np.searchsorted(scrapes, when, side="right") - 1).clip(0)]
    holds = (when - times[index] <= staleness) & (scraped <= times[index])
    return np.where(inside & holds, values[index], np.nan)


def _reduced(rows: Floats, how: Combine) -> Floats:
    """Rows of shape (K, T) as one of shape (T,), skipping what is unknown; each column knows something."""
    match how:
        case Combine.SUM:
            return np.asarray(np.nansum(rows, axis=0))
        case Combine.MEAN:
            return np.asarray(np.nanmean(rows, axis=0))
        case Combine.MAX:
            return np.asarray(np.nanmax(rows, axis=0))
        case Combine.MIN:
            return np.asarray(np.nanmin(rows, axis=0))


def within_buckets(times: Floats, cumulative: Floats) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Observations in each bucket from cumulative buckets of several subjects, and of which of them a bucket lacks some.

    Those have to be put right, by :func:`bucket_rates`.

    :param times: shape (T,)
    :param cumulative: rates by upper bound, ascending, shape (S, B, T)
    :returns: shapes (S, T, B) and (S,)
    """
    seconds = _seconds(times)
    counts = np.diff(cumulative, axis=1, prepend=0.0) * seconds
    return (counts / seconds).transpose(0, 2, 1), np.asarray((counts < 0).any(axis=(1, 2)))


def _seconds(times: Floats) -> Floats:
    """Seconds since the sample before; of the first one the usual distance."""
    return np.diff(times, prepend=times[:1] - (sample_step(times) or 1.0))


def bucket_rates(times: Floats, cumulative: Floats) -> Floats:
    """Observations in each bucket from cumulative buckets.

    Scrapes are not atomic: a bucket can be an observation ahead of a higher one, or behind it, and no longer is a scrape or two
    later. What a bucket lacks then was counted too early, or is counted too late: it is moved, and nothing counts twice. What a
    bucket lacks besides (one that not all replicas have) is nothing.

    :param times: shape (T,)
    :param cumulative: rates by upper bound, ascending, shape (B, T)
    :returns: shape (T, B)
    """
    seconds = _seconds(times)
    counts = np.diff(cumulative, axis=0, prepend=0.0) * seconds
    if (counts < 0).any():
        for apart in range(1, _TORN + 1):
            _move(counts[:, apart:], counts[:, :-apart])
        for apart in range(1, _TORN + 1):
            _move(counts[:, :-apart], counts[:, apart:])
        counts = np.diff(np.maximum.accumulate(np.cumsum(counts, axis=0), axis=0), axis=0, prepend=0.0).clip(min=0.0)
    return np.asarray((counts / seconds).T)


def _move(to: Floats, out_of: Floats) -> None:
    """Makes up for what is below zero out of what is counted elsewhere, as far as that goes."""
    moved = np.minimum(-to, out_of).clip(min=0.0)
    to += moved
    out_of -= moved

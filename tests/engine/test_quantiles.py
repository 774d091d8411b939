"""Quantiles of histograms: Prometheus' value, and the bounds of what is really known."""

from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.making import BEGIN, ORIGIN, who
from triage.engine.quantiles import Interval, merged_counts, observations, quantile
from triage.model.recording import Floats, Histogram

BOUNDS = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0)


def by_prometheus(cumulative: list[float], bounds: list[float], q: float) -> float:
    """What histogram_quantile does with cumulative buckets (promql/quantile.go, bucketQuantile), written down again."""
    rank = q * cumulative[-1]
    b = next(i for i, total in enumerate(cumulative) if total >= rank)
    if b == len(bounds) - 1:
        return bounds[-2]
    if b == 0 and bounds[0] <= 0:
        return bounds[0]
    start, count = 0.0, cumulative[b]
    if b > 0:
        start, count, rank = bounds[b - 1], count - cumulative[b - 1], rank - cumulative[b - 1]
    return start + (bounds[b] - start) * (rank / count)


COUNTS = st.lists(st.integers(0, 1000), min_size=len(BOUNDS) + 1, max_size=len(BOUNDS) + 1).filter(lambda counts: sum(counts) > 0)


@given(COUNTS, st.floats(0.01, 1.0))
def test_the_estimate_is_that_of_prometheus(counts: list[int], q: float) -> None:
    """A person who checks a number by hand with histogram_quantile gets the same."""
    found = quantile(np.array(counts, dtype=float), np.array([*BOUNDS, inf]), q)
    assert found is not None
    expected = by_prometheus(np.cumsum(counts).tolist(), [*BOUNDS, inf], q)
    assert found.estimate == pytest.approx(expected, rel=1e-6)


@given(st.lists(st.floats(0.001, 20), min_size=1, max_size=300), st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_the_bounds_hold_the_true_quantile(values: list[float], q: float) -> None:
    """Whatever was observed, the exact quantile lies in the interval; beyond the last bound it is at least that bound."""
    edges = np.array([*BOUNDS, inf])
    counts = np.histogram(values, np.concatenate(([-inf], np.nextafter(edges[:-1], inf), [inf])))[0].astype(float)
    found = quantile(counts, edges, q)
    assert found is not None
    exact = float(np.sort(values)[max(0, int(np.ceil(q * len(values) - 1e-9)) - 1)])
    assert found.low <= exact <= found.high
    assert found.low <= found.estimate <= found.high


@given(COUNTS, st.floats(0.01, 0.98))
def test_a_higher_quantile_is_never_lower(counts: list[int], q: float) -> None:
    """p95 is at least p50."""
    cells, edges = np.array(counts, dtype=float), np.array([*BOUNDS, inf])
    low, high = quantile(cells, edges, q), quantile(cells, edges, q + 0.02)
    assert low is not None
    assert high is not None
    assert low.estimate <= high.estimate + 1e-9


def test_the_last_bucket_says_at_least() -> None:
    """All answers slower than the last bound: the quantile is at least that bound and may be anything above."""
    assert quantile(np.array([0.0, 0.0, 5.0]), np.array([1.0, 2.0, inf]), 0.95) == Interval(2.0, 2.0, inf)


@pytest.mark.parametrize(
    ("counts", "bounds"),
    [([0.0, 0.0], [1.0, inf]), ([5.0], [inf]), ([], [])],
    ids=["nothing seen", "sum and count only", "no buckets"],
)
def test_without_observations_or_buckets_there_is_no_quantile(counts: list[float], bounds: list[float]) -> None:
    """A summary without buckets has a mean and no p95."""
    assert quantile(np.array(counts), np.array(bounds), 0.95) is None


def test_negative_bounds_begin_where_they_are() -> None:
    """The first bucket is taken to begin at 0 only if its bound is positive."""
    found = quantile(np.array([4.0, 0.0]), np.array([-1.0, inf]), 0.5)
    assert found is not None
    assert (found.low, found.high) == (-1.0, -1.0)


def histogram(bounds: tuple[float, ...], rates: list[list[float]], times: list[float] | None = None) -> Histogram:
    """A distribution with a sample every 15 s, or at these seconds after the beginning."""
    at = BEGIN + np.array(times or [15.0 * (i + 1) for i in range(len(rates))])
    return Histogram(
        "latency.ttft", who("replica/a"), at, np.array([*bounds, inf]), np.array(rates), np.zeros(len(rates)), ORIGIN
    )


def test_observations_are_counted_in_the_part_that_reaches_into_the_span() -> None:
    """A rate holds from the sample before to its own: half of a scrape interval in the span counts half."""
    told = histogram((1.0,), [[2.0, 0.0], [4.0, 1.0]])
    assert observations(told, BEGIN, BEGIN + 30).tolist() == [90.0, 15.0]
    assert observations(told, BEGIN + 7.5, BEGIN + 22.5).tolist() == [45.0, 7.5]
    assert observations(told, BEGIN + 30, BEGIN + 60).tolist() == [0.0, 0.0]


@given(st.lists(st.floats(0, 100), min_size=2, max_size=20), st.floats(0, 1))
def test_two_halves_of_a_span_have_the_observations_of_the_whole(rates: list[float], part: float) -> None:
    """Observations are conserved wherever a span is cut."""
    told = histogram((1.0,), [[rate, rate / 2] for rate in rates])
    end = 15.0 * len(rates)
    cut = BEGIN + part * end
    both: Floats = observations(told, BEGIN, cut) + observations(told, cut, BEGIN + end)
    assert both == pytest.approx(observations(told, BEGIN, BEGIN + end))


def test_histograms_with_other_bounds_share_those_that_all_have() -> None:
    """Two versions of an engine with other buckets: the merged quantile is coarser, never wrong."""
    fine = histogram((0.5, 1.0, 2.0), [[1.0, 1.0, 1.0, 1.0]])
    coarse = histogram((1.0, 4.0), [[2.0, 2.0, 2.0]])
    merged = merged_counts([fine, coarse], BEGIN, BEGIN + 15)
    assert merged is not None
    counts, bounds = merged
    assert bounds.tolist() == [1.0, inf]
    assert counts.tolist() == [60.0, 90.0]
    assert merged_counts([], BEGIN, BEGIN + 15) is None


def test_no_common_bound_leaves_no_quantile() -> None:
    """Nothing is known then but how many there were."""
    merged = merged_counts([histogram((1.0,), [[1.0, 0.0]]), histogram((3.0,), [[0.0, 1.0]])], BEGIN, BEGIN + 15)
    assert merged is not None
    assert merged[1].tolist() == [inf]
    assert quantile(*merged, 0.95) is None

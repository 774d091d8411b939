"""What a server would answer is never taken for known where it is not: held against Prometheus' own arithmetic on raw totals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.engine import served
from triage.ingest.metrics.rates import to_rates
from triage.model.recording import Floats

STEP = 30.0


def rate(times: Floats, totals: Floats, width: float, end: float, *, zero_first: bool) -> float:
    """``rate`` as ``promql/functions.go`` has it, of what is scraped; NaN of fewer than two samples.

    :param zero_first: the order of versions before 2.53: the distance to 0 is taken before it is asked how near the begin is
    """
    inside = (times >= end - width) & (times <= end)
    times, totals = times[inside], totals[inside]
    if len(times) < 2:
        return float("nan")
    growth = np.diff(totals)
    grown = float(np.where(growth < 0, totals[1:], growth).sum())
    sampled = float(times[-1] - times[0])
    usual = sampled / (len(times) - 1)
    to_start, to_end, reach = float(times[0] - (end - width)), float(end - times[-1]), 1.1 * usual
    to_zero = sampled * float(totals[0]) / grown if grown > 0 else np.inf
    if zero_first:
        to_start = min(to_start, to_zero)
        left = to_start if to_start < reach else usual / 2
    else:
        left = min(to_start if to_start < reach else usual / 2, to_zero)
    right = to_end if to_end < reach else usual / 2
    return grown * (sampled + left + right) / sampled / width


@given(
    first=st.integers(0, 2000),
    growth=st.lists(st.integers(0, 40), min_size=2, max_size=30),
    skipped=st.lists(st.booleans(), min_size=31, max_size=31),
    begin=st.integers(0, 20),
    width=st.integers(3, 20),
    aside=st.floats(0.5, 29.5),
    zero_first=st.booleans(),
)
def test_a_rate_lies_between_its_bounds(
    first: int, growth: list[int], skipped: list[bool], begin: int, width: int, aside: float, zero_first: bool
) -> None:
    """Whatever a total began with, wherever its series begins, whichever version of the server is asked.

    :param skipped: scrapes that are lost, once a series has shown its interval
    """
    every = STEP * np.arange(len(growth) + 1.0) + 1000.0
    kept = np.array([place < 4 or not skipped[place] for place in range(len(every))])
    times, totals = every[kept], (first + np.cumsum([0, *growth]))[kept].astype(float)
    end = float(every[0]) + STEP * (begin + width) + aside
    true = rate(times, totals, width * STEP, end, zero_first=zero_first)
    if len(times) < 3:
        return
    seen, rates = to_rates(times, totals)
    (least,), (most,) = served.rates(seen, rates, width * STEP, np.array([end]))
    if not np.isnan(true):
        assert least - 1e-9 <= true <= most + 1e-9


def test_a_total_that_stood_high_is_known() -> None:
    """What grew by little beside what it is, and was there all the time, leaves no doubt."""
    times = STEP * np.arange(1, 200.0)
    least, most = served.rates(times, np.full(len(times), 2.0), 300.0, np.array([3600.0]))
    assert least == pytest.approx(most)
    assert served.sure(float(least[0]), float(most[0])) == pytest.approx(2.0)


def test_what_begins_inside_the_range_cannot_be_told() -> None:
    """A quarter of the range is not there: how far a server reaches depends on where the total stood, and on the server."""
    times = STEP * np.arange(1, 10.0) + 1000.0
    least, most = served.rates(times, np.full(len(times), 2.0), 360.0, np.array([float(times[-1])]))
    assert served.sure(float(least[0]), float(most[0])) is None

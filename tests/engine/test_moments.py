"""Peak and trough: the worst five minutes of a span."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.fleets import BASELINE, WINDOW, frame_of, replica
from triage.engine.queries import Reckoning, reckoned
from triage.engine.statistics import of_cells, statistic
from triage.model.vocabulary import Combine

STEP = 30.0
ROW = st.lists(st.floats(0.0, 1e6), min_size=3, max_size=80)


def test_trouble_in_a_part_of_the_span_counts_in_full() -> None:
    """Ten cells of 30 s are five minutes, so a plateau of ten cells is the peak whatever is around it."""
    cells = np.array([1.0] * 30 + [9.0] * 10 + [0.5] * 10)
    assert of_cells(cells, "peak", STEP) == pytest.approx(9.0)
    assert of_cells(cells, "trough", STEP) == pytest.approx(0.5)


def test_one_sample_is_no_peak() -> None:
    """A single high cell is a tenth of its five minutes."""
    cells = np.array([0.0] * 39 + [10.0])
    assert of_cells(cells, "peak", STEP) == pytest.approx(1.0)


def test_five_minutes_that_are_mostly_unknown_are_not_looked_at() -> None:
    """Four known cells of ten are too few to be the worst five minutes."""
    cells = np.array([1.0] * 20 + [np.nan] * 12 + [9.0] * 4 + [np.nan] * 12 + [1.0] * 20)
    peak = of_cells(cells, "peak", STEP)
    assert peak is not None
    assert peak < 5.0


@given(ROW)
def test_extremes_lie_between_least_and_greatest(values: list[float]) -> None:
    """A mean over some minutes cannot leave the range of its values, and no trough is above a peak."""
    cells = np.array(values)
    low, high = of_cells(cells, "trough", STEP), of_cells(cells, "peak", STEP)
    assert low is not None
    assert high is not None
    assert cells.min() - 1e-6 <= low <= high <= cells.max() + 1e-6


def test_the_peak_of_a_distribution_weighs_each_observation() -> None:
    """A constant mean has itself as peak."""
    frame = frame_of({}, means={"latency.itl": {"a": 0.04}})
    value = statistic(frame, "latency.itl", [replica("a")], "peak", slice(BASELINE, BASELINE + WINDOW), Combine.SUM)
    assert value is not None
    assert value.estimate == pytest.approx(0.04)


def test_an_unknown_signal_has_no_query() -> None:
    """Where the source speaks no PromQL there is nothing to ask."""
    assert reckoned(frame_of({"queue.waiting": {"a": 1.0}}), "queue.waiting", [replica("a")], "peak") == Reckoning()

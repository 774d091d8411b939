"""Statistics over a span: what they are, of which cells, and when there are none."""

from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.making import Buckets, Shift, frame_of, who
from triage.engine.quantiles import Interval
from triage.engine.statistics import exact, of_cells, statistic, together
from triage.model.recording import Floats
from triage.model.rule import Stat
from triage.model.vocabulary import Combine

nan = np.nan
A, B = who("replica/a"), who("replica/b")


def array(*values: float) -> Floats:
    """Cells."""
    return np.array(values, dtype=float)


@pytest.mark.parametrize(
    ("stat", "value"),
    [
        ("mean", 3),
        ("min", 1),
        ("max", 7),
        ("last", 2),
        ("first", 1),
        ("sum", 180),
        ("median", 2),
        ("p50", 2),
        ("changes", 3),
        ("slope", 90 / 1968.75),
    ],
)
def test_each_statistic_of_known_cells(stat: Stat, value: float) -> None:
    """Unknown cells are left out; a sum is multiplied with the length of a cell; a slope is per second."""
    assert of_cells(array(1, nan, 2, 7, 2), stat, 15) == pytest.approx(value)


@given(st.lists(st.floats(-1e6, 1e6) | st.just(nan), min_size=1, max_size=60), st.sampled_from(sorted(get_args(Stat))))
def test_a_statistic_is_unknown_or_a_number(values: list[float], stat: Stat) -> None:
    """Nothing known gives no number, and what is given is finite."""
    found = of_cells(array(*values), stat, 15)
    if np.isnan(values).all():
        assert found is None
    assert found is None or np.isfinite(found)


def test_too_few_known_cells_say_nothing() -> None:
    """One cell of twenty is not the window."""
    assert of_cells(array(5, *[nan] * 19), "mean", 15) is None
    assert of_cells(array(5, 5, *[nan] * 18), "mean", 15) == 5


def test_equal_means_are_no_change() -> None:
    """Three and four samples of 0.1 differ in the last bit of their means."""
    assert of_cells(array(0.1, 0.1 + 2**-56, 0.1, 0.2), "changes", 15) == 1


def test_a_slope_needs_three_points() -> None:
    """Two points are always on a line."""
    assert of_cells(array(1, 2, nan, nan), "slope", 15) is None
    assert of_cells(array(0, nan, 30, 45), "slope", 15) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("across", "row"),
    [(Combine.SUM, [5, 2, nan]), (Combine.MEAN, [2.5, 2, nan]), (Combine.MAX, [4, 2, nan]), (Combine.MIN, [1, 2, nan])],
)
def test_subjects_are_put_together_over_those_that_are_known(across: Combine, row: list[float]) -> None:
    """A missing replica is left out of a cell; where none is known the cell is unknown."""
    found = together([array(1, nan, nan), array(4, 2, nan)], across)
    assert found.tolist() == pytest.approx(row, nan_ok=True)


def test_a_span_is_what_is_looked_at() -> None:
    """Before the window and in it are two values."""
    frame = frame_of({"kv.usage": Shift(0.2, 0.8)})
    assert statistic(frame, "kv.usage", [A], "mean", frame.grid.baseline, Combine.MAX) == pytest.approx(exact(0.2))
    assert statistic(frame, "kv.usage", [A], "mean", frame.grid.window, Combine.MAX) == pytest.approx(exact(0.8))
    assert statistic(frame, "kv.usage", [B], "mean", frame.grid.window, Combine.MAX) is None


def test_the_increase_of_a_counter() -> None:
    """A rate of 0.5 a second over ten minutes is 300 requests."""
    frame = frame_of({"finished": 0.5})
    assert statistic(frame, "finished", [A], "sum", frame.grid.window, Combine.SUM) == pytest.approx(exact(300))


SLOW = {"latency.ttft@replica/a": Buckets((1, 2), (1, 0, 0)), "latency.ttft@replica/b": Buckets((1, 2), (0, 3, 0))}


def test_a_quantile_of_several_subjects_is_one_over_all_observations() -> None:
    """A quarter of the requests are fast: the median is slow, and carries the bounds of its bucket."""
    frame = frame_of(histograms=SLOW)
    found = statistic(frame, "latency.ttft", [A, B], "p50", frame.grid.window, Combine.SUM)
    assert found is not None
    assert (found.low, found.high) == (1, 2)
    assert found.estimate == pytest.approx(1 + 1 / 3)


def test_a_mean_of_a_distribution_is_exact() -> None:
    """It comes from sum and count, not from buckets, and weighs subjects by their observations."""
    frame = frame_of(histograms=SLOW)
    found = statistic(frame, "latency.ttft", [A, B], "mean", frame.grid.window, Combine.SUM)
    assert found == pytest.approx(exact((1 * 0.5 + 3 * 1.5) / 4))


def test_other_statistics_of_a_distribution_are_those_of_its_mean_over_time() -> None:
    """The greatest mean of a cell, the number of observations."""
    frame = frame_of(histograms={"latency.ttft": Buckets((1, 2), (0, 1, 0), (1, 0, 0))})
    everything = slice(0, len(frame.grid.times))
    assert statistic(frame, "latency.ttft", [A], "max", everything, Combine.SUM) == pytest.approx(exact(1.5))
    assert statistic(frame, "latency.ttft", [A], "min", everything, Combine.SUM) == pytest.approx(exact(0.5))
    assert statistic(frame, "latency.ttft", [A], "sum", frame.grid.window, Combine.SUM) == pytest.approx(exact(600))


def test_no_observations_are_no_latency() -> None:
    """An idle engine has no p95 and no mean: unknown, not 0."""
    frame = frame_of(histograms={"latency.ttft": Buckets((1, 2), (0, 0, 0))})
    for stat in ("p95", "mean", "max", "last"):
        assert statistic(frame, "latency.ttft", [A], stat, frame.grid.window, Combine.SUM) is None


@pytest.mark.parametrize("stat", ["max", "min", "peak", "trough"])
def test_what_was_seen_once_was_so(stat: Stat) -> None:
    """One look is enough for an extreme, and for nothing else; what is left of the time before the span is no look."""
    cells = np.full(100, np.nan)
    cells[40:42] = 7.0
    assert of_cells(cells, stat, 15, at_once=True) == pytest.approx(7.0)
    assert of_cells(cells, stat, 15) is None
    assert of_cells(np.roll(cells, -40), stat, 15, at_once=True) is None


@given(st.lists(st.floats(0, 100), min_size=30, max_size=80))
def test_the_peak_lies_between_mean_and_maximum(values: list[float]) -> None:
    """The highest five minutes are at least as high as all of them, and no higher than the highest moment."""
    row = array(*values)
    peak, trough = of_cells(row, "peak", 15), of_cells(row, "trough", 15)
    assert peak is not None
    assert trough is not None
    assert row.min() - 1e-9 <= trough <= peak <= row.max() + 1e-9


def test_intervals_are_named() -> None:
    """An exact value has no doubt."""
    assert exact(2.0) == Interval(2.0, 2.0, 2.0)

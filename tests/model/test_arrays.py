"""What is worked out here is what NumPy works out, to the last bit."""

import warnings

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from triage.model.arrays import distinct, median, median_of_known, quantile_of, six_digits, usual_step
from triage.model.recording import Floats

SOME = arrays(np.float64, st.integers(0, 9), elements=st.floats(width=64) | st.sampled_from([0.0, 1.0, 3.0]))
KNOWN = arrays(np.float64, st.integers(0, 9), elements=st.floats(allow_nan=False) | st.sampled_from([0.0, 1.0, 3.0]))


def same(one: float, other: object) -> bool:
    """Whether two values are the same, NaN included."""
    return np.array_equal(np.float64(one), np.float64(other), equal_nan=True)  # type: ignore[arg-type]


@given(SOME)
def test_medians(values: Floats) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert same(median(values), np.median(values))
        assert same(median(values.tolist()), np.median(values))
        assert same(median_of_known(values), np.nanmedian(values))
        assert same(usual_step(values), np.median(np.diff(values)))


@given(KNOWN)
def test_distinct_numbers(values: Floats) -> None:
    assert distinct(values).tolist() == np.unique(values).tolist()


NUMBERS = st.floats(-1e300, 1e300) | st.sampled_from([0.0, 1.0, 3.0])
ROWS = arrays(
    np.float64,
    st.tuples(st.integers(1, 3), st.integers(1, 9)),
    elements=st.floats(-1e300, 1e300) | st.sampled_from([0.0, 1.0, 3.0]),
)


@given(ROWS, st.floats(0.0, 1.0) | st.sampled_from([0.0, 0.25, 0.5, 0.75, 0.95, 1.0]))
def test_quantiles_are_numpy_s(rows: Floats, share: float) -> None:
    """Of all rows at once and of each."""
    with np.errstate(over="ignore", invalid="ignore"):
        assert np.array_equal(quantile_of(rows, share), np.quantile(rows, share, axis=1), equal_nan=True)
        assert np.array_equal(quantile_of(rows[0], share), np.quantile(rows[0], share), equal_nan=True)


TOLD = st.integers(-9_999_999, 9_999_999).map(float)
"""Whole numbers, some of them with seven digits: halfway between two of six."""


@given(
    arrays(
        np.float64,
        st.integers(0, 9),
        elements=st.floats(width=64)
        | st.floats(-1e7, 1e7)
        | TOLD
        | st.tuples(TOLD, st.integers(-12, 12)).map(lambda both: both[0] * 10.0 ** both[1]),
    )
)
def test_six_digits(values: Floats) -> None:
    told = np.array([float(f"{value:.6g}") for value in values.tolist()])
    found = six_digits(values)
    assert np.array_equal(found, told, equal_nan=True)
    assert np.array_equal(np.signbit(found), np.signbit(told))

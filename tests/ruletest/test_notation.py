"""Values in promtool's notation."""

from math import inf, isnan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.ruletest.notation import MOST, values_of


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1 2.5 -3", [1.0, 2.5, -3.0]),
        ("0+10x3", [0.0, 10.0, 20.0, 30.0]),
        ("4-2x2", [4.0, 2.0, 0.0]),
        ("-2+1x2", [-2.0, -1.0, 0.0]),
        ("7x2", [7.0, 7.0, 7.0]),
        ("1 _ 2 _x2 3", [1.0, None, 2.0, None, None, 3.0]),
        ("1 stale 2", [1.0, None, 2.0]),
        ("1e3-1e2x1", [1000.0, 900.0]),
        ("Inf -Inf", [inf, -inf]),
    ],
)
def test_each_form(text: str, values: list[float | None]) -> None:
    """As promtool reads them: the first value and then as many more."""
    assert values_of(text) == values


def test_nan_is_a_number_that_is_none() -> None:
    """It is a sample, and not a missing one."""
    (value,) = values_of("NaN")
    assert value is not None
    assert isnan(value)


@pytest.mark.parametrize("text", ["", "  ", "a", "1+2", "1x", "x3", "1+x3", "__", "_x", "0+1x99999999", "1x2x3", "stalex2"])
def test_what_is_none(text: str) -> None:
    """It is said, and a few characters never stand for gigabytes."""
    with pytest.raises(ValueError, match=r"value|how often"):
        values_of(text)


@given(st.floats(-1e6, 1e6), st.floats(0, 1e6), st.integers(0, 200))
def test_a_line_is_straight(first: float, step: float, count: int) -> None:
    """As many values as are asked for, each the same step from the one before."""
    for sign in "+-":
        values = values_of(f"{first!r}{sign}{step!r}x{count}")
        assert len(values) == count + 1
        by = step if sign == "+" else -step
        assert values == [first + by * number for number in range(count + 1)]


@given(st.text(alphabet="0123456789+-x_. eEstalInfNN", max_size=40))
def test_any_text_is_values_or_an_error(text: str) -> None:
    """Nothing else comes of it, and it is bounded."""
    try:
        assert 0 < len(values_of(text)) <= MOST
    except ValueError:
        return

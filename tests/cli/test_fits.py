"""What people type for numbers of tokens and requests."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.cli.fits import count
from triage.errors import UsageError


@given(st.integers(1, 100_000), st.sampled_from([("", 1), ("k", 1024), ("K", 1024), ("m", 1024**2)]))
def test_a_count_with_a_unit(number: int, unit: tuple[str, int]) -> None:
    """One k is 1024, as the lengths of contexts are meant."""
    assert count("--context", f" {number}{unit[0]} ") == number * unit[1]


@pytest.mark.parametrize("text", ["", "0", "-1", "1.5", "k", "1kk", "1e3", "nan", "٣", "1" * 30])
def test_what_is_no_count_is_refused(text: str) -> None:
    """With the flag and what to write."""
    with pytest.raises(UsageError, match="--context"):
        count("--context", text)

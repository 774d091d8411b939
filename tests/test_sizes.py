"""Sizes as people type them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.errors import UsageError
from triage.sizes import size


@pytest.mark.parametrize(
    ("text", "told"),
    [("0", 0), ("500MB", 500_000_000), ("2GiB", 2 * 2**30), ("1.5 k", 1500), ("10b", 10), (" 1tib ", 2**40), ("0.5MiB", 2**19)],
)
def test_a_size_is_a_number_with_a_unit(text: str, told: int) -> None:
    assert size(text) == told


@pytest.mark.parametrize("text", ["", "much", "-1MB", "500", "1e9MB", "5 mega", "１MB", "MB", "1.MB"])
def test_what_is_no_size_is_refused(text: str) -> None:
    """With what to write instead."""
    with pytest.raises(UsageError) as caught:
        size(text)
    assert caught.value.hint.startswith("write ")


@given(st.integers(0, 10**9), st.sampled_from(["B", "kB", "MB", "GB", "KiB", "MiB", "GiB"]))
def test_sizes_count_in_thousands_or_in_1024(number: int, unit: str) -> None:
    base = 1024 if "i" in unit else 1000
    power = "bkmg".index(unit[0].lower()) if unit != "B" else 0
    assert size(f"{number}{unit}") == number * base**power

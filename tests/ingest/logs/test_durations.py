"""Durations as programs write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.ingest.logs.durations import age_of, clock, longest_in, span


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("12.5ms", 0.0125),
        ("300 us", 3e-4),
        ("7ns", 7e-9),
        ("1m28s", 88.0),
        ("1h2m5.5s", 3725.5),
        ("3d4h", 273_600.0),
        ("20 seconds", 20.0),
        ("4", 4.0),
        ("", None),
        ("soon", None),
        ("-3s", None),
        ("1.2.3s", None),
    ],
)
def test_a_span(text: str, seconds: float | None) -> None:
    """A number with a unit, parts from days to seconds, or a bare number, which counts seconds; nothing else."""
    assert span(text) == (None if seconds is None else pytest.approx(seconds))


def test_a_bare_number_counts_what_its_name_says() -> None:
    """``duration_ms: 250``."""
    assert span("250", 1e-3) == pytest.approx(0.25)


@pytest.mark.parametrize(("word", "seconds"), [(b"2m10s", 130.0), (b"5d", 432_000.0), (b"12", None), (b"<unknown>", None)])
def test_an_age_has_a_unit(word: bytes, seconds: float | None) -> None:
    """A bare number in a table is no age."""
    assert age_of(word) == seconds


@pytest.mark.parametrize(("text", "seconds"), [("1:05", 65.0), ("2:00:01", 7201.0), ("", 0.0)])
def test_the_clock_of_a_progress_bar(text: str, seconds: float) -> None:
    """Minutes and seconds, with hours before them once there are any."""
    assert clock(text) == seconds


def test_a_progress_bar_tells_how_long_it_took() -> None:
    """What tqdm draws: how long it has taken, before how long it may take."""
    assert longest_in(b"capture: 100%|####| 67/67 [01:05<00:00,  2.35it/s]") == 65.0


@given(st.integers(0, 10**6), st.sampled_from(["s", "sec", "seconds", "SECONDS"]))
def test_the_longest_in_a_line_is_that_of_the_span(count: int, unit: str) -> None:
    """Both read the same units alike."""
    line = f"gave up after {count} {unit}".encode()
    assert longest_in(line) == span(f"{count} {unit.lower()}")

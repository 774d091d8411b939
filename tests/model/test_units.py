"""Humane units: values as people read them, at every size."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.model.units import clock, compared, duration, interval, number, promql_duration, quantity

UNITS = ["seconds", "bytes", "bytes/s", "ratio", "hertz", "watts", "joules", "flop/s", "celsius", "requests", "requests/s", ""]
SIZES = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
FINITE = st.floats(allow_nan=False, allow_infinity=False)


def value_of(text: str) -> float:
    """What a number as printed says."""
    parts = re.fullmatch(r"(-?\d+(?:\.\d+)?)(?:×10\^(-?\d+)|([kMGT]?))", text)
    assert parts, text
    return float(parts[1]) * (10.0 ** int(parts[2]) if parts[2] else SIZES[parts[3]])


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.0003, "seconds", "300 µs"),
        (0.41, "seconds", "410 ms"),
        (0.9996, "seconds", "1 s"),
        (8.2, "seconds", "8.2 s"),
        (119.96, "seconds", "2 min"),
        (5400.0, "seconds", "90 min"),
        (36000.0, "seconds", "10 h"),
        (1e6, "seconds", "11.6 d"),
        (512.0, "bytes", "512 B"),
        (85899345920.0, "bytes", "80 GiB"),
        (1048575.9, "bytes", "1 MiB"),
        (1073741824.0, "bytes", "1 GiB"),
        (1073741824.0, "bytes/s", "1 GiB/s"),
        (3.1, "requests/s", "3.1 requests/s"),
        (1.0, "requests/s", "1 request/s"),
        (0.02, "requests/s", "1.2 requests/min"),
        (0.0001, "requests/s", "0.36 requests/h"),
        (12345.0, "tokens/s", "12.3k tokens/s"),
        (0.996, "ratio", "99.6 %"),
        (0.0002, "ratio", "0.02 %"),
        (1.98e9, "hertz", "1.98 GHz"),
        (700.0, "watts", "700 W"),
        (87.0, "celsius", "87 °C"),
        (3.12e14, "flop/s", "312 TFLOP/s"),
        (8192.0, "tokens", "8192 tokens"),
        (1.0, "replicas", "1 replica"),
        (1772366400.0, "timestamp", "2026-03-01 12:00:00 UTC"),
        (-0.0, "seconds", "0 s"),
        (float("nan"), "seconds", "no data"),
        (None, "ratio", "no data"),
    ],
)
def test_values_read_as_a_person_writes_them(value: float | None, unit: str, text: str) -> None:
    """Each unit has the prefix or the next unit in which the number is short."""
    assert quantity(value, unit) == text


@given(FINITE)
def test_a_number_keeps_three_digits_of_its_value(value: float) -> None:
    """What is printed is within half a percent of what was measured, whatever its size, and never an exponent or minus zero."""
    text = number(value)
    assert "e" not in text
    assert text != "-0"
    if 1e-300 < abs(value) < 1e300:
        assert value_of(text) == pytest.approx(value, rel=0.0051)


@given(FINITE, st.sampled_from(UNITS))
def test_no_quantity_shows_an_exponent_or_minus_zero(value: float, unit: str) -> None:
    """Units do not bring back the notation that numbers avoid."""
    first = quantity(value, unit).split(" ")[0]
    assert not re.search(r"e[+-]|^-0$|nan", first)


@given(st.integers(-9999, 9999))
def test_small_whole_numbers_are_exact(value: int) -> None:
    """8192 tokens are not 8190 tokens."""
    assert number(float(value)) == str(value)


@given(st.floats(1e-3, 1e9), st.floats(1.02, 100.0))
def test_a_longer_time_never_reads_shorter(seconds: float, factor: float) -> None:
    """Rounding and the change of unit keep the order."""
    sizes = {"µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}

    def read(value: float) -> float:
        text, unit = quantity(value, "seconds").split(" ")
        return value_of(text) * sizes[unit]

    assert read(seconds) <= read(seconds * factor)


@given(st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_unlike_ratios_read_unlike(value: float, threshold: float) -> None:
    """A value above its threshold must not be shown as equal to it."""
    first, second = compared(value, threshold, "ratio")
    if abs(value - threshold) > 1e-6 * max(value, threshold, 1e-3):
        assert first != second


def test_a_value_and_its_threshold_share_the_unit() -> None:
    """Three a second beside three a minute would be hard to compare; a tiny time beside a long one would be too."""
    assert compared(3.1, 0.05, "requests/s") == ("3.1 requests/s", "0.05 requests/s")
    assert compared(0.9996, 1.0, "ratio") == ("99.96 %", "100 %")
    assert compared(1.5, 0.4, "seconds") == ("1.5 s", "400 ms")
    assert compared(150.0, 3.0, "seconds") == ("150 s", "3 s")
    assert compared(0.0, 3.0, "seconds") == ("0 s", "3 s")
    assert compared(0.0, 0.02, "requests/s") == ("0 requests/min", "1.2 requests/min")
    assert compared(5400.0, 3.0, "seconds") == ("90 min", "3 s")
    assert compared(0.0003, 10.0, "seconds") == ("300 µs", "10 s")


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (0.3, 0.5, "300–500 ms"),
        (0.9, 1.5, "0.9–1.5 s"),
        (0.0, 0.3, "0–300 ms"),
        (40.0, 160.0, "40–160 s"),
        (60.0, 300.0, "1–5 min"),
        (10.0, None, "≥ 10 s"),
        (10.0, float("inf"), "≥ 10 s"),
        (None, 0.005, "≤ 5 ms"),
        (2.0, 2.0, "2 s"),
        (-1.0, 2.0, "-1 to 2 s"),
        (None, None, "no data"),
    ],
)
def test_intervals_say_what_is_known(low: float | None, high: float | None, text: str) -> None:
    """A value known by its bucket only is shown as the bucket."""
    assert interval(low, high, "seconds") == text


def test_moments_are_utc_with_the_date_where_it_differs() -> None:
    """A time of another day, or without a known day, carries its date."""
    noon = 1772366400.0
    assert clock(noon + 190.9, noon) == "12:03:10"
    assert clock(noon - 86400, noon) == "2026-02-28 12:00:00"
    assert clock(noon) == "2026-03-01 12:00:00"


@given(st.one_of(st.none(), st.floats()))
def test_no_moment_breaks_the_clock(moment: float | None) -> None:
    """A time that no calendar knows is said to be unknown."""
    assert clock(moment)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(45, "45 s"), (1800, "30 min"), (5400, "1 h 30 min"), (86400, "1 d"), (90061, "1 d 1 h"), (0.25, "250 ms"), (-60, "-1 min")],
)
def test_durations_have_two_units_at_most(seconds: float, text: str) -> None:
    """A length of time reads as people say it."""
    assert duration(seconds) == text


@given(st.floats())
def test_no_duration_breaks(seconds: float) -> None:
    """Any float is some length of time, if only an unknown one."""
    assert duration(seconds)


@pytest.mark.parametrize(("seconds", "text"), [(600, "10m"), (90, "90s"), (22.5, "22500ms"), (3600, "60m"), (0, "1ms")])
def test_durations_in_promql(seconds: float, text: str) -> None:
    """In minutes where they are whole; a range of nothing is an error to every server."""
    assert promql_duration(seconds) == text


@given(st.floats(0.001, 1e7))
def test_a_duration_in_promql_is_exact_to_the_millisecond(seconds: float) -> None:
    """And it is a whole number of one unit, as PromQL wants it."""
    parts = re.fullmatch(r"(\d+)(ms|s|m)", promql_duration(seconds))
    assert parts
    assert int(parts[1]) > 0
    assert abs(int(parts[1]) * {"ms": 0.001, "s": 1.0, "m": 60.0}[parts[2]] - seconds) <= 0.0005 + 1e-9

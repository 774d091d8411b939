"""Durations and moments as people type them."""

import math
from contextlib import suppress
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.errors import UsageError
from triage.timespan import duration, moment, seconds

NOW = 1_800_000_000.0


@pytest.mark.parametrize(
    ("text", "expected"),
    [("90s", 90), ("30m", 1800), ("2h", 7200), ("1d", 86400), ("1w", 604800), ("1h30m", 5400), ("0.5h", 1800), (" 5m ", 300)],
)
def test_a_duration_is_a_number_with_a_unit(text: str, expected: float) -> None:
    """Numbers with units add up to seconds."""
    assert expected == duration(text)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("30", "no unit"),
        ("", "not a duration"),
        ("5 m", "not a duration"),
        ("-5m", "not a duration"),
        ("0s", "empty"),
        ("٣m", "not a"),
    ],
)
def test_a_bad_duration_is_refused_with_a_hint(text: str, word: str) -> None:
    """What is no duration says so, and shows how to write one."""
    with pytest.raises(UsageError, match=word) as caught:
        duration(text)
    assert caught.value.hint


def test_seconds_take_a_plain_number_or_a_unit() -> None:
    """A flag that counts seconds needs no unit, and takes one."""
    assert (seconds("30"), seconds("2m")) == (30.0, 120.0)


@given(st.datetimes(min_value=datetime(1980, 1, 1), max_value=datetime(2200, 1, 1)))  # noqa: DTZ001
def test_rfc3339_and_unix_seconds_agree(naive: datetime) -> None:
    """A moment written as RFC 3339 and as Unix seconds is the same moment."""
    when = naive.replace(tzinfo=UTC, microsecond=0)
    assert moment(when.isoformat(), NOW) == moment(str(int(when.timestamp())), NOW) == when.timestamp()


def test_offsets_and_the_letter_z_are_understood() -> None:
    """Z means UTC, and an offset is taken off."""
    assert moment("2026-05-01T12:00:00Z", NOW) == moment("2026-05-01T14:00:00+02:00", NOW)


def test_ago_counts_back_from_now() -> None:
    """Relative moments count from the time that the caller gives."""
    assert (moment("10m ago", NOW), moment("now", NOW)) == (NOW - 600, NOW)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("2026-05-01T12:00:00", "no time zone"),
        ("yesterday", "not a time"),
        ("1777636800000", "too far"),
        ("10 ago", "no unit"),
        ("2026-13-01T12:00:00Z", "not a time"),
        ("", "not a time"),
    ],
)
def test_a_bad_moment_is_refused_with_a_hint(text: str, word: str) -> None:
    """What is no moment says so, and shows how to write one."""
    with pytest.raises(UsageError, match=word) as caught:
        moment(text, NOW)
    assert caught.value.hint


@given(st.text(max_size=40))
def test_any_text_is_either_read_or_refused(text: str) -> None:
    """Hostile text never brings anything but a usage error."""
    for reader in (duration, seconds, lambda t: moment(t, NOW)):
        with suppress(UsageError):
            assert math.isfinite(reader(text))

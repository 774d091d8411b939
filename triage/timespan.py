"""Reads the durations and moments that people type: ``30m``, ``2h``, ``10m ago``, RFC 3339, Unix seconds."""

import re
from datetime import datetime

from triage.errors import UsageError

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
_PART = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)([smhdw])", re.ASCII)
_DURATION = re.compile(rf"(?:{_PART.pattern})+", re.ASCII)
_NUMBER = re.compile(r"\d{1,18}(?:\.\d{1,9})?", re.ASCII)
_LATEST = 1e11
"""Unix seconds beyond the year 5000 are milliseconds by mistake."""


def duration(text: str) -> float:
    """Seconds of ``90s``, ``30m``, ``2h``, ``1d``, ``1h30m``.

    :raises UsageError: no such duration, or none at all
    """
    given = text.strip()
    if _NUMBER.fullmatch(given):
        raise UsageError(f"the duration {given!r} has no unit", f"write {given}s, {given}m or {given}h")
    if not _DURATION.fullmatch(given):
        raise UsageError(f"{given!r} is not a duration", "write a number with a unit: 90s, 30m, 2h, 1d, 1h30m")
    seconds = sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(given))
    if seconds <= 0:
        raise UsageError(f"the duration {given!r} is empty", "write something longer than nothing: 90s, 30m, 2h")
    return seconds


def seconds(text: str) -> float:
    """Seconds of a flag that counts in seconds: a plain number, or a duration with a unit.

    :raises UsageError: neither
    """
    given = text.strip()
    return duration(f"{given}s" if _NUMBER.fullmatch(given) else given)


def moment(text: str, now: float) -> float:
    """Unix seconds of ``2026-05-01T12:00:00Z``, ``1777636800``, ``10m ago`` or ``now``.

    :param now: what ``ago`` and ``now`` are counted from, Unix seconds
    :raises UsageError: no such moment, or one without a time zone
    """
    given = text.strip()
    if given == "now":
        return now
    if given.endswith(" ago"):
        return now - duration(given.removesuffix(" ago"))
    if _NUMBER.fullmatch(given):
        return _unix(given)
    return _rfc3339(given)


def _unix(given: str) -> float:
    """Unix seconds as a number."""
    value = float(given)
    if value > _LATEST:
        raise UsageError(f"{given} is too far in the future to be Unix seconds", "divide by 1000 if it counts milliseconds")
    return value


def _rfc3339(given: str) -> float:
    """Unix seconds of a date with time and time zone."""
    try:
        when = datetime.fromisoformat(given)
    except ValueError:
        raise UsageError(
            f"{given!r} is not a time", "write 2026-05-01T12:00:00Z (RFC 3339), Unix seconds, or how long ago: '10m ago'"
        ) from None
    if when.tzinfo is None:
        raise UsageError(
            f"the time {given!r} has no time zone", f"write {when.isoformat()}Z for UTC, or an offset such as +02:00"
        )
    return when.timestamp()

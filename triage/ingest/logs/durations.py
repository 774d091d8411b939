"""Durations as programs write them: ``12.5ms``, ``1h2m5s``, ``20 seconds``, ``3d4h``, ``elapsed_s=4``, ``1:05``."""

from triage.patterns import Pattern

_SPELLINGS = {
    1e-9: "ns nanos nanosecond nanoseconds",
    1e-6: "us µs μs usec usecs micros microsecond microseconds",
    1e-3: "ms msec msecs millis millisecond milliseconds",
    1.0: "s sec secs second seconds",
    60.0: "m min mins minute minutes",
    3600.0: "h hour hours",
    86400.0: "d day days",
}
_UNITS = {word: seconds for seconds, words in _SPELLINGS.items() for word in words.split()}

_SPAN = Pattern(rf"^([\d.]+) ?({'|'.join(_UNITS)})?$")
_PARTS = Pattern(r"^(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:([\d.]+)s)?$")
_IN_LINE = Pattern(
    rb"(?i)\b(?:(\d+)h)?(\d+)m(\d+(?:\.\d+)?)s\b"
    rb"|\b(\d+(?:\.\d+)?) ?(ms|msecs?|milliseconds?|us|microseconds?|s|secs?|seconds?|min|mins|minutes?|h|hours?)\b"
    rb"|\w*(?:seconds|_secs?|_s)[\"']?[=:] ?(\d+(?:\.\d+)?)|\((ms|s)\)[=:](\d+(?:\.\d+)?)"
    rb"|\[((?:\d+:)?\d+:\d\d)<"
)
"""``1m30.5s``; ``20 seconds`` in any unit; ``elapsed_s=4``; ``Timeout(ms)=600000``; ``[01:05<00:00`` of a progress bar."""


def unit(word: str) -> float:
    """Seconds of a unit.

    :raises KeyError: no such unit
    """
    return _UNITS[word.lower()]


def number(text: str) -> float | None:
    """A number that is not negative and no nonsense; None for any other text."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0.0 <= value < 1e18 else None


def span(text: str, bare: float | None = 1.0) -> float | None:
    """Seconds of ``12.5ms``, ``1m28s``, ``1h2m5s``; None if it is no span of time.

    :param bare: seconds that a number without a unit counts; None if such a number is no span
    """
    found = _SPAN.search(text)
    if found is not None:
        value, size = number(found.group(1)), _UNITS[found.group(2)] if found.group(2) else bare
        return None if value is None or size is None else value * size
    parts = _PARTS.search(text) if text else None
    if parts is None:
        return None
    days, hours, minutes, seconds = (number(part or "0") or 0.0 for part in parts.groups())
    return days * 86400.0 + hours * 3600.0 + minutes * 60.0 + seconds


def age_of(word: bytes) -> float | None:
    """Seconds of an age in a table, ``2m10s`` or ``3d4h``; None for any other word."""
    return span(word.decode("utf-8", "replace"), bare=None)


def longest_in(line: bytes) -> float | None:
    """The longest duration that a line names, in seconds."""
    found = [
        3600.0 * float(hours or 0) + 60.0 * float(minutes) + float(rest) if minutes
        else float(count) * unit(word.decode()) if count
        else float(plain) if plain
        else clock(bar.decode()) if bar
        else float(told) * unit(its.decode())
        for hours, minutes, rest, count, word, plain, its, told, bar in _IN_LINE.findall(line)
    ]  # fmt: skip
    return max(found) if found else None


def clock(text: str) -> float:
    """Seconds of a progress bar's ``M:SS`` or ``H:MM:SS``; none of an empty text."""
    return float(sum(int(part) * 60**power for power, part in enumerate(reversed(text.split(":"))) if part))

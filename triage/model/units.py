"""Humane values at the edge: base units inside, units a person thinks in on the page.

Everything here is a pure function of its arguments: no locale, no clock. Numbers carry three significant digits; a whole
number below ten thousand is left as it is, since 8192 tokens are not 8190.
"""

import math
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from decimal import Decimal

Scale = tuple[float, str]
"""What one of the unit shown is in base units, and the unit's name."""

NO_DATA = "no data"

_SECONDS = ((172800, 86400.0, "d"), (7200, 3600.0, "h"), (120, 60.0, "min"), (1, 1.0, "s"), (1e-3, 1e-3, "ms"), (0, 1e-6, "µs"))
_DECIMAL = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
_BINARY = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_COUNT = ((1e12, 1e12, "T"), (1e9, 1e9, "G"), (1e6, 1e6, "M"), (1e4, 1e3, "k"))
_PER = ((0.1, 1.0, "s"), (0.1 / 60, 1 / 60, "min"), (0, 1 / 3600, "h"))
_READABLE = 200
"""Up to this size both ends of an interval are shown in the unit of the lower one: 40–160 s rather than 0.667–2.67 min."""
_ALIKE = frozenset({"series"})
"""Nouns that read the same for one and for many."""


def number(value: float, digits: int = 3) -> str:
    """A number as a person writes it: ``0.0123``, ``8.2``, ``8192``, ``12.3k``, ``4.5M``.

    Powers of ten appear only from 10^15 on and below 10^-4.
    """
    if math.isnan(value):
        return "unknown"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if value == int(value) and abs(value) < 10_000:
        return str(int(value))
    size = abs(_rounded(value, digits))
    if size >= 1e15 or size < 1e-4:
        mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
        return f"{_plain(float(mantissa), digits)}×10^{int(exponent)}"
    unit, suffix = next(((unit, suffix) for least, unit, suffix in _COUNT if size >= least), (1.0, ""))
    return _plain(value / unit, digits) + suffix


def quantity(value: float | None, unit: str, digits: int = 3, like: float | None = None) -> str:
    """A value in base units as a person reads it, with its unit.

    :param like: a value beside which it stands, so that both are in the same unit where that suits
    :param unit: ``seconds``, ``bytes``, ``ratio``, ``hertz`` … of the vocabulary, ``/s`` at the end for a rate, or any noun
    """
    if value is None or math.isnan(value):
        return NO_DATA
    if unit == "timestamp":
        return f"{clock(value)} UTC"
    base, name = _scale(value if like is None else _shared(value, like, unit), unit, digits)
    text = number(value / base, digits)
    return f"{text} {_inflected(text, name)}".rstrip()


def alike(value: float | None, unit: str, like: float) -> str:
    """A value in exactly the unit in which another one is read, so that a row of values can be compared at a glance."""
    if value is None or math.isnan(value) or unit == "timestamp":
        return quantity(value, unit)
    base, name = _scale(like, unit, 3)
    text = number(round(value / base, 4))
    return f"{text} {_inflected(text, name)}".rstrip()


def interval(low: float | None, high: float | None, unit: str) -> str:
    """A value of which only bounds are known: ``0.3–0.5 s``, ``≥ 10 s``, ``≤ 5 ms``."""
    if high is None or math.isinf(high):
        return NO_DATA if low is None else f"≥ {quantity(low, unit)}"
    if low is None or math.isinf(low):
        return f"≤ {quantity(high, unit)}"
    if low == high or unit == "timestamp":
        return quantity(high, unit)
    base, name = _scale(low if low > 0 and high / _scale(low, unit, 3)[0] < _READABLE else high, unit, 3)
    dash = " to " if low < 0 else "–"
    return f"{number(low / base)}{dash}{number(high / base)} {name}".rstrip()


def compared(value: float | None, threshold: float | None, unit: str) -> tuple[str, str]:
    """A value and its threshold, with as many digits as it takes for unlike ones to read unlike: ``99.96 %`` beside ``100 %``.

    Seven digits are the most; what differs less is the same to a reader.
    """
    texts = ("", "")
    for digits in range(3, 8):
        texts = quantity(value, unit, digits, like=threshold), quantity(threshold, unit, digits, like=value)
        if texts[0] != texts[1] or value == threshold:
            break
    return texts


def clock(moment: float | None, near: float | None = None) -> str:
    """Time of day in UTC, with the date where it is not the day of ``near``.

    :param moment: Unix seconds
    :param near: Unix seconds of a moment whose date the reader knows; None: always say the date
    """
    when = _datetime(moment)
    if when is None:
        return "an unknown time"
    known = _datetime(near)
    today = known is not None and known.date() == when.date()
    return when.time().isoformat() if today else when.replace(tzinfo=None).isoformat(" ")


def duration(seconds: float) -> str:
    """A length of time in at most two units: ``45 s``, ``30 min``, ``1 h 30 min``, ``2 d 4 h``."""
    if not math.isfinite(seconds) or abs(seconds) < 1 or abs(seconds) >= 1e12:
        return quantity(seconds, "seconds")
    left = round(abs(seconds))
    parts: list[tuple[int, str]] = []
    for size, name in ((86400, "d"), (3600, "h"), (60, "min"), (1, "s")):
        count, left = divmod(left, size)
        if count or parts:
            parts.append((count, name))
    return ("-" if seconds < 0 else "") + " ".join(f"{count} {name}" for count, name in parts[:2] if count)


def promql_duration(seconds: float) -> str:
    """A length of time as PromQL writes it, exact to the millisecond and never zero: ``5m``, ``90s``, ``22500ms``."""
    milliseconds = max(1, round(seconds * 1000))
    for size, unit in ((60_000, "m"), (1000, "s")):
        if milliseconds % size == 0:
            return f"{milliseconds // size}{unit}"
    return f"{milliseconds}ms"


def _datetime(moment: float | None) -> datetime | None:
    """The moment in UTC, cut to whole seconds; None if it is no date that a calendar knows."""
    if moment is None or not -6e10 < moment < 2.5e11:
        return None
    return datetime.fromtimestamp(math.floor(moment), UTC)


def _rounded(value: float, digits: int) -> float:
    """The value with so many significant digits."""
    return float(f"{value:.{digits - 1}e}")


def _plain(value: float, digits: int) -> str:
    """So many significant digits in fixed notation, without trailing zeros."""
    text = format(Decimal(f"{value:.{digits - 1}e}"), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _scale(value: float, unit: str, digits: int) -> Scale:
    """The unit in which a value of this size is best read."""
    size = abs(_rounded(value, digits)) if math.isfinite(value) else 1.0
    if unit in _POWERS_OF_1024:
        return _SCALES[unit](abs(value) if math.isfinite(value) else 1.0, digits)
    if unit in _SCALES:
        return _SCALES[unit](size, digits)
    if not unit.endswith("/s"):
        return 1.0, unit
    base, per = _reached(size or 1.0, _PER)
    return base, f"{unit.removesuffix('/s')}/{per}"


def _shared(value: float, like: float, unit: str) -> float:
    """The one of two values whose unit suits the first beside the other: the finer unit, unless a number would be long in it.

    Rates are never mixed: three a second beside three a minute is hard to compare.
    """
    if not value or not math.isfinite(like):
        return like if math.isfinite(like) else value
    bases = {one: _scale(one, unit, 3)[0] for one in (value, like) if one}
    if unit.endswith("/s"):
        return max(bases, key=lambda one: bases[one])
    finer = min(bases, key=lambda one: bases[one])
    return finer if max(abs(value), abs(like)) / bases[finer] < 1000 else value


def _reached(size: float, steps: Iterable[tuple[float, float, str]]) -> Scale:
    """The first step that the size reaches."""
    return next((base, name) for least, base, name in steps if size >= least)


def _bytes(size: float, _digits: int) -> Scale:
    """Powers of 1024."""
    power = 0
    while power < len(_BINARY) - 1 and round(size / 1024**power) >= 1024:
        power += 1
    return float(1024**power), _BINARY[power]


def _prefixed(unit: str) -> Callable[[float, int], Scale]:
    """Decimal prefixes: W, kW, MHz, TFLOP."""
    return lambda size, _digits: next(((base, prefix + unit) for base, prefix in _DECIMAL if size >= base), (1.0, unit))


def _fixed(base: float, name: str) -> Callable[[float, int], Scale]:
    """Always the same unit."""
    return lambda _size, _digits: (base, name)


def _inflected(text: str, name: str) -> str:
    """The noun for one or for many: ``1 request/s``, ``2 requests/s``."""
    noun, slash, per = name.partition("/")
    return noun[:-1] + slash + per if text == "1" and noun.endswith("s") and len(noun) > 2 and noun not in _ALIKE else name


_POWERS_OF_1024 = ("bytes", "bytes/s")
"""Their unit is chosen before anything is rounded: in three decimal digits 1 GiB would be less than 1024 MiB."""

_SCALES: dict[str, Callable[[float, int], Scale]] = {
    "seconds": lambda size, _digits: _reached(size or 1.0, _SECONDS),
    "seconds/s": _fixed(1.0, "s/s"),
    "bytes": _bytes,
    "bytes/s": lambda size, digits: (_bytes(size, digits)[0], _bytes(size, digits)[1] + "/s"),
    "ratio": _fixed(0.01, "%"),
    "hertz": _prefixed("Hz"),
    "watts": _prefixed("W"),
    "joules": _prefixed("J"),
    "joules/s": _prefixed("W"),
    "flop": _prefixed("FLOP"),
    "flop/s": _prefixed("FLOP/s"),
    "celsius": _fixed(1.0, "°C"),
}

"""Values of a series in promtool's notation: ``0+10x30``, ``1 2 3``, ``_x5``, ``stale``."""

from math import inf, nan

from triage.patterns import Pattern

_NUMBER = r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?|[-+]?[iI]nf|NaN"
_ITEM = Pattern(
    rf"^(?:(_)(?:x(\d{{1,9}}))?|(stale)|({_NUMBER})(?:([-+])((?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?))?(?:x(\d{{1,9}}))?)$"
)

MOST = 100_000
"""Values of one series; a day at one a second."""


def values_of(text: str) -> list[float | None]:
    """The values that a text stands for, None where there is no sample.

    ``a+bxn`` is ``a`` and then ``n`` further values, each ``b`` more than the one before (``a-bxn`` less, ``axn`` the same);
    ``_`` is no sample, ``_xn`` are ``n``; ``stale`` is no sample from here on until the next number.

    :raises ValueError: it is of another form, or there are too many
    """
    found: list[float | None] = []
    for item in text.split():
        found.extend(_item(item, room=MOST - len(found)))
    if not found:
        raise ValueError("there are no values")
    return found


def _item(item: str, room: int) -> list[float | None]:
    """The values of one word."""
    match = _ITEM.search(item)
    if match is None:
        raise ValueError(f"{item!r} is no value: write 3, 0+10x30, 5x4, _, _x4 or stale")
    missing, gaps, stale, first, sign, step, times = match.groups()
    count = int(gaps or 1) if missing else int(times or 0) + 1
    if count > room:
        raise ValueError(f"{item!r} makes more than {MOST} values")
    if missing or stale:
        return [None] * count
    if step and times is None:
        raise ValueError(f"{item!r} does not say how often: write {item}x10")
    begin, by = _number(first), float(step or 0.0) * (-1.0 if sign == "-" else 1.0)
    return [begin + by * number for number in range(count)]


def _number(text: str) -> float:
    """A number as Prometheus writes it."""
    word = text.lstrip("+-").lower()
    if word == "inf":
        return -inf if text.startswith("-") else inf
    return nan if word == "nan" else float(text)

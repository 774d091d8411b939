"""Curves one line high: blocks for values, marks for the window's start and the onset, and gaps that stay gaps."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple, TypeGuard

from triage.model.diagnosis import Spark

Role = Literal["before", "window", "gap", "edge", "onset"]

_BLOCKS = "▁▂▃▄▅▆▇█"
_LETTERS = "_.,-~=*#"
_FLAT = 0.01
"""A curve that moves by less than this share of its size is drawn flat: its wiggles mean nothing."""


_GREATEST = 1e150
"""What is greater is a broken reading, and its square overflows."""


class Signs(NamedTuple):
    """The characters of a curve: levels from low to high, a gap, the window's start, the onset."""

    levels: str
    gap: str
    edge: str
    onset: str


class Piece(NamedTuple):
    """A run of characters that mean the same."""

    text: str
    role: Role


def signs(*, utf8: bool) -> Signs:
    """The characters to draw with on this terminal."""
    return Signs(_BLOCKS, "·", "│", "▼") if utf8 else Signs(_LETTERS, "?", "|", "!")


def spark(curve: Spark, width: int, *, utf8: bool, threshold: float | None = None) -> tuple[Piece, ...]:
    """The curve in at most ``width`` characters, marks included.

    The threshold belongs to the scale, so that a curve far below it looks low. Several values in one character are averaged; a
    character without any measured value is a gap.
    """
    bins = max(1, min(len(curve.values), width - 2))
    values = pooled(curve.values, bins)
    drawn = signs(utf8=utf8)
    low, high = bounds(values, threshold)
    characters = [drawn.gap if value is None else _level(value, low, high, drawn.levels) for value in values]
    edge = _bin(curve.window, curve, bins) if 0 < curve.window < len(curve.values) else 0
    onset = _bin(curve.onset, curve, bins) if curve.onset is not None and 0 <= curve.onset < len(curve.values) else None
    return tuple(_merged(_pieces(characters, drawn, edge, onset)))


def pooled(values: Sequence[float | None], bins: int) -> list[float | None]:
    """The values as so many means of neighbours, None where a bin holds no value; fewer values than bins stay as they are."""
    bins = min(bins, len(values))
    first = [-(-number * len(values) // bins) for number in range(bins + 1)] if bins else []
    pools = (list(filter(is_drawn, values[begin:end])) for begin, end in pairwise(first))
    return [sum(pool) / len(pool) if pool else None for pool in pools]


def bounds(values: Sequence[float | None], *others: float | None) -> tuple[float, float]:
    """Least and greatest of the finite values and of what else must be seen beside them; 0 and 0 if there is nothing."""
    known = [value for value in (*values, *others) if is_drawn(value)]
    return (min(known), max(known)) if known else (0.0, 0.0)


def is_drawn(value: float | None) -> TypeGuard[float]:
    """A value that arithmetic can place on a scale."""
    return value is not None and abs(value) < _GREATEST


def _bin(index: int, curve: Spark, bins: int) -> int:
    """The character in which a value of the curve falls."""
    return index * bins // len(curve.values)


def _level(value: float, low: float, high: float, levels: str) -> str:
    """The block for a value: the lowest for zero that stays zero, the middle one for a curve that does not move."""
    span = high - low
    if not span > _FLAT * max(abs(low), abs(high)):
        return levels[0] if value == 0 else levels[len(levels) // 2 - 1]
    return levels[min(len(levels) - 1, int((value - low) / span * len(levels)))]


def _pieces(characters: Sequence[str], drawn: Signs, edge: int, onset: int | None) -> Iterator[Piece]:
    """One piece for each character, marks put between."""
    for index, character in enumerate(characters):
        if index == edge and edge:
            yield Piece(drawn.edge, "edge")
        if index == onset:
            yield Piece(drawn.onset, "onset")
        if character == drawn.gap:
            yield Piece(character, "gap")
        else:
            yield Piece(character, "before" if index < edge else "window")


def _merged(pieces: Iterator[Piece]) -> Iterator[Piece]:
    """Neighbours of the same meaning joined."""
    last: Piece | None = None
    for piece in pieces:
        if last is not None and piece.role == last.role:
            last = Piece(last.text + piece.text, last.role)
            continue
        if last is not None:
            yield last
        last = piece
    if last is not None:
        yield last

"""Where lines of Chinese may end: between any two characters, but not before a comma or after an opening bracket."""

import re
from collections.abc import Iterator
from functools import cache

from rich.cells import cell_len

_WIDE = r"\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6"
_HAS_WIDE = re.compile(f"[{_WIDE}]")


@cache
def _piece() -> re.Pattern[str]:
    """A character or a Latin word, with the brackets before it and the punctuation and spaces after it; made for who needs it."""
    return re.compile(rf"[（“《「【]*(?:[{_WIDE}“”]|[^\s{_WIDE}“”]+)[，。；：、）”！？》」】]*\s*|\s+")


def is_wide(text: str) -> bool:
    """Whether a text has characters that take two cells, so that words alone do not tell where lines end."""
    return _HAS_WIDE.search(text) is not None


def line_breaks(text: str, width: int) -> list[int]:
    """Where new lines begin, as places in the text.

    :param width: cells of a line
    """
    breaks: list[int] = []
    used = 0
    for start, piece in _pieces(text, width):
        size = cell_len(piece.rstrip())
        if used and used + size > width:
            breaks.append(start)
            used = 0
        used += cell_len(piece)
    return breaks


def _pieces(text: str, width: int) -> Iterator[tuple[int, str]]:
    """What stays together, with its place; what is longer than a line is cut."""
    for found in _piece().finditer(text):
        start, piece = found.start(), found[0]
        while cell_len(piece.rstrip()) > width:
            most = next(n for n in range(len(piece), 0, -1) if cell_len(piece[:n]) <= max(width, 2))
            yield start, piece[:most]
            start, piece = start + most, piece[most:]
        yield start, piece

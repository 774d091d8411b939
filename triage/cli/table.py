"""Plain tables and paragraphs, the same for terminals and pipes."""

import textwrap
from collections.abc import Sequence

_WIDTH = 100


def wrapped(head: str, text: str) -> list[str]:
    """A paragraph in lines of a readable width; later lines stand under its head's end."""
    indent = " " * min(len(head), 12)
    return textwrap.wrap(
        text, _WIDTH, initial_indent=head, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def aligned(rows: Sequence[Sequence[str]], gap: int = 2) -> str:
    """Rows as lines with columns of equal width; the last column is as wide as it needs.

    :param rows: cells, at least one row
    """
    widths = [max(len(row[index]) for row in rows) + gap for index in range(len(rows[0]) - 1)]
    return "".join("".join([*map(str.ljust, row[:-1], widths), row[-1]]).rstrip() + "\n" for row in rows)

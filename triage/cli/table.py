"""Plain tables for terminals and pipes."""

from collections.abc import Sequence


def aligned(rows: Sequence[Sequence[str]], gap: int = 2) -> str:
    """Rows as lines with columns of equal width; the last column is as wide as it needs.

    :param rows: cells, at least one row
    """
    widths = [max(len(row[index]) for row in rows) + gap for index in range(len(rows[0]) - 1)]
    return "".join("".join([*map(str.ljust, row[:-1], widths), row[-1]]).rstrip() + "\n" for row in rows)

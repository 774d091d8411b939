"""Tables with a heading, as commands print them: a table is known by the columns that it has, in whatever order."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

import re2

from triage.ingest.logs.redaction import redacted_bytes
from triage.ingest.logs.shown.form import Shown, Take
from triage.patterns import Pattern

Row = Mapping[str, str]
"""Cells of a row by their column's heading; what is empty is missing."""

_GAP = Pattern(rb" {2,}|\t+")
_BELOW = Pattern(rb"^[ =+|-]*$|^ +\(")
"""A ruler, or a second line of headings, as they may stand between heading and rows."""

MAX_CELL = 500


class Table(NamedTuple):
    """A table that is read.

    :param columns: headings without which it is another table
    :param row: reads a row
    :param sign: a column, and RE2 of what all its cells look like: what looks otherwise is no row
    :param spaced: columns stand below their headings, two blanks apart; else cells are words, the last takes the rest
    :param also: the words of a row may mean something besides
    """

    columns: frozenset[str]
    row: Callable[[Shown, Row], None]
    sign: tuple[str, str]
    spaced: bool = True
    also: bool = False


def table_of(line: bytes, tables: Iterable[Table]) -> Table | None:
    """The first of some tables whose heading a line may be; None if it is none's."""
    told = _headings(line)
    return next((one for one in tables if one.columns <= told), None)


class Rows:
    """Reads the rows of a table below its heading, up to the first line that is none."""

    def __init__(self, shown: Shown, table: Table, heading: bytes) -> None:
        self._shown = shown
        self._table = table
        self._heading = heading.strip()
        self._is_new = True
        self._sign = re2.compile(table.sign[1])
        self._columns = list(_spaced(heading) if table.spaced else ((name, 0) for name in _words(heading)))

    def feed(self, line: bytes, *, stamped: bool) -> Take:
        """Takes a row; the heading may come again, as watching commands print it."""
        if stamped or not line.strip():
            return Take.OVER
        if line.strip() == self._heading or (self._is_new and _BELOW.search(line) is not None):
            return Take.WHOLE
        self._is_new = False
        cells = self._below(line) if self._table.spaced else self._in_order(line)
        if cells is None or self._sign.search(cells.get(self._table.sign[0], "")) is None:
            return Take.OVER
        self._table.row(self._shown, cells)
        return Take.ALSO if self._table.also else Take.WHOLE

    def _below(self, line: bytes) -> Row | None:
        """Cells in the order of the headings if there is one for each, else by the heading above which they begin."""
        told = list(_spaced(line))
        if len(told) == len(self._columns):
            return {name: text for (name, _), (text, _) in zip(self._columns, told, strict=True)}
        cells: dict[str, str] = {}
        for text, at in told:
            name = next((name for name, begin in reversed(self._columns) if begin <= at), "")
            cells[name] = f"{cells[name]}  {text}" if name in cells else text
        return cells if self._columns[0][0] in cells else None

    def _in_order(self, line: bytes) -> Row | None:
        """Cells by their order; one that ends in a colon is a name before all columns (``Mem:`` of ``free``)."""
        names = [name for name, _ in self._columns]
        words = redacted_bytes(line, 4000).split()
        if words[0].endswith(":") and len(words) >= 2:
            return {"": words[0], **dict(zip(names, words[1:], strict=False))}
        if len(words) < len(names):
            return None
        rest = " ".join(words[len(names) - 1 :])
        return dict(zip(names, [*words[: len(names) - 1], rest], strict=True))

    def finish(self) -> None:
        """Nothing waits."""


def _spaced(line: bytes) -> Iterator[tuple[str, int]]:
    """Cells that are two blanks apart, and where they begin."""
    at = 0
    for cell in _GAP.split(line.strip()):
        at = line.index(cell, at)
        yield redacted_bytes(cell, MAX_CELL), at
        at += len(cell)


def _words(line: bytes) -> list[str]:
    """Headings of one word each; the last one of ``df`` has two."""
    return redacted_bytes(line.replace(b"Mounted on", b"Mounted_on"), 4000).split()


def _headings(line: bytes) -> frozenset[str]:
    """All headings that a line may hold: words, and those of several words that gaps set apart."""
    return frozenset((*_words(line), *(name for name, _ in _spaced(line)))) if line.strip() else frozenset()

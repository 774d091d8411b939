"""Tables of figures that people draw: a run in each row, or a version in each column."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import NamedTuple

from triage.classes import dataclass
from triage.patterns import Pattern

_RULE = Pattern(r"^[\s|:+=\x{2500}-\x{257F}-]*$")
_CELL = Pattern(r"^[~*`\s]*([0-9][0-9,]*(?:\.[0-9]+)?)\s*([A-Za-z\x{b5}][\w/]*)?(?:\s*(?:\x{b1}|\+/-).*)?[*`\s]*$")
_NAMED = Pattern(r"^(.*?)\s*[(\[]([\w./%]{1,20})[)\]]$")
_OF_VERSIONS = Pattern(r"(?i)^(?:\w+ )?(?:version|image|build|release|tag|commit|revision)$")
_MAX_CELLS = 40


class Row(NamedTuple):
    """Figures of one run.

    :param version: what was run; empty if the table does not say
    :param labels: what else tells the run from others, by the heading of its column
    :param numbers: name, value and unit of each number
    """

    version: str
    labels: Mapping[str, str]
    numbers: Sequence[tuple[str, str, str]]


@dataclass
class DrawnTable:
    """Reads one table after the other, line by line.

    :param measures: whether a name and a unit are those of something that is measured
    :param version_in: the version that a text names; empty for none
    """

    measures: Callable[[str, str], bool]
    version_in: Callable[[str], str]
    _heads: list[str] = field(default_factory=list)
    _versions: list[str] = field(default_factory=list)
    _columns: dict[str, list[tuple[str, str, str]]] = field(default_factory=dict)

    def feed(self, text: str) -> tuple[list[Row], bool]:
        """Takes a line: the runs that it completes, and whether it is one of a table."""
        if _RULE.search(text) is not None:
            return [], True
        cells = _cells(text)
        ended = self.close() if len(cells) < 2 or len(cells) != len(self._heads) else []
        if len(cells) < 2:
            return ended, False
        if not self._heads:
            self._head(cells)
            return ended, bool(self._heads)
        return self._column_wise(cells) if self._versions else self._row_wise(cells), True

    def close(self) -> list[Row]:
        """The table has ended: the runs of its columns."""
        ended = [Row(version, {}, numbers) for version, numbers in self._columns.items() if numbers]
        self._heads, self._versions, self._columns = [], [], {}
        return ended

    def _head(self, cells: list[str]) -> None:
        versions = [self.version_in(cell) for cell in cells]
        told = [one for one in versions if one]
        if len(told) >= 2 and len(set(told)) == len(told):
            self._heads, self._versions = cells, versions
        elif any(self.measures(name, its or "ms") for name, its in map(_named, cells)) and not any(map(_CELL.search, cells)):
            self._heads = cells

    def _row_wise(self, cells: list[str]) -> list[Row]:
        version, labels, numbers = "", {}, []
        for head, cell in zip(self._heads, cells, strict=True):
            name, its = _named(head)
            found = _CELL.search(cell)
            if found is not None and self.measures(name, its or found.group(2) or ""):
                numbers.append((name, found.group(1).replace(",", ""), its or found.group(2) or ""))
            elif _OF_VERSIONS.search(head) is not None or (not version and self.version_in(cell)):
                version = self.version_in(cell) or cell
            else:
                labels[head.lower()] = cell
        return [Row(version, labels, numbers)] if numbers else []

    def _column_wise(self, cells: list[str]) -> list[Row]:
        name, its = _named(cells[0])
        for version, cell in zip(self._versions[1:], cells[1:], strict=True):
            found = _CELL.search(cell)
            if version and found is not None and self.measures(name, its or found.group(2) or ""):
                number = (name, found.group(1).replace(",", ""), its or found.group(2) or "")
                self._columns.setdefault(version, []).append(number)
        return []


def _cells(text: str) -> list[str]:
    """What stands between bars."""
    for bar in "\u2502\u2503":
        text = text.replace(bar, "|")
    if "|" not in text:
        return []
    return [cell.strip() for cell in text.strip().strip("|").split("|")][:_MAX_CELLS]


def _named(head: str) -> tuple[str, str]:
    """A name and the unit that stands behind it in brackets."""
    bare = head.strip("*` ")
    found = _NAMED.search(bare)
    return (found.group(1), found.group(2)) if found is not None else (bare, "")

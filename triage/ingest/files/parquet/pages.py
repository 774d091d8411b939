"""What footer and pages of a Parquet file say of themselves, so that one that claims little and holds much is refused unread.

A footer tells how large each column is; the pages' own headers are what a reader goes by. Here they are held against each other.
The form is public: parquet-format, ``parquet.thrift`` (``FileMetaData``, ``PageHeader``), in the compact protocol of Thrift. The
footer is read here, too, since Arrow 26 ends the whole process where what a damaged one says of a column is not in accord.
"""

from collections.abc import Iterator, Sequence
from mmap import ACCESS_READ, mmap
from pathlib import Path

from triage.classes import dataclass

_MAGIC = b"PAR1"
_GROUPS, _COLUMNS, _ROWS, _COLUMN = 4, 1, 3, 3
"""Fields of a footer: its row groups; of a row group its columns and rows; of a column what is said of it."""

_PATH, _VALUES, _SIZE, _STORED, _DATA, _WORDS = 3, 5, 6, 7, 9, 11
"""Of a column: its name in parts, its number of values, its bytes unpacked and packed, where pages and their dictionary begin."""

_DICTIONARY = 2
_UNPACKED, _PACKED, _TYPE = 2, 3, 1
_COUNTED = (5, 7, 8)
"""Fields of a page's header: its sizes, its type, and the structures whose first field counts its values."""

_DEEPEST = 12
_MOST = 2**20
"""Values of one structure that are read: a row group has some hundreds in the footer."""

_LONGEST = 2**16
"""A header is some dozens of bytes; one with statistics of long texts a few thousand."""


class PageError(ValueError):
    """Pages are not what the footer says."""


@dataclass(frozen=True, slots=True)
class Column:
    """What the footer says of one column of a row group.

    :param values: how many values it holds, those that are null among them
    :param unpacked: bytes that it takes when it is unpacked
    :param begin: where its first page begins
    :param end: where its last page ends
    """

    name: str
    values: int
    unpacked: int
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class Group:
    """What the footer says of one row group."""

    rows: int
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """What one page says of itself.

    :param values: how many values it holds, those that are null among them
    :param unpacked: bytes that it takes when it is unpacked
    """

    is_dictionary: bool
    values: int
    unpacked: int


def row_groups(path: Path) -> list[Group]:
    """The row groups that the footer of a file tells of.

    :raises PageError: it has no footer, or not of this form
    """
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as data:
        begin = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
        if begin < len(_MAGIC) or data[-4:] != _MAGIC:
            raise PageError("it has no footer")
        told = _Compact(data[begin:-8]).structure().get(_GROUPS, [])
    return [_group(group) for group in _listed(told)]


def _group(told: object) -> Group:
    """One row group of a footer."""
    fields = _fields(told)
    columns = tuple(_column(_fields(_fields(one).get(_COLUMN))) for one in _listed(fields.get(_COLUMNS)))
    return Group(_number(fields, _ROWS), columns)


def _column(told: dict[int, object]) -> Column:
    """One column of a row group."""
    parts = [part for part in _listed(told.get(_PATH)) if isinstance(part, bytes)]
    first = _number(told, _DATA)
    begin = min(first, _number(told, _WORDS)) if _WORDS in told else first
    name = b".".join(parts).decode(errors="replace")
    return Column(name, _number(told, _VALUES), _number(told, _SIZE), begin, begin + _number(told, _STORED))


def _fields(told: object) -> dict[int, object]:
    if not isinstance(told, dict):
        raise PageError("its footer lacks a structure")
    return told


def _listed(told: object) -> list[object]:
    if not isinstance(told, list):
        raise PageError("its footer lacks a list")
    return told


def _number(told: dict[int, object], field: int) -> int:
    number = told.get(field)
    if not isinstance(number, int) or number < 0:
        raise PageError("its footer lacks a size")
    return number


def check_pages(path: Path, groups: Sequence[Group], no_dictionary: str) -> None:
    """Refuse a file whose pages hold more than its footer says.

    :param no_dictionary: a column that must spell out each value: of a long text in a dictionary a few bits make a copy
    :raises PageError: they do, or a header cannot be read
    """
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as data:
        for column in (column for group in groups for column in group.columns):
            _check(column, list(_pages(data, column)), is_spelt_out=column.name.startswith(no_dictionary))


def _check(column: Column, pages: list[Page], *, is_spelt_out: bool) -> None:
    values = sum(page.values for page in pages if not page.is_dictionary)
    if values != column.values:
        raise PageError(f"{column.name} announces {column.values} values and has {values}")
    if sum(page.unpacked for page in pages) > column.unpacked:
        raise PageError(f"{column.name} unpacks to more than it announces")
    if is_spelt_out and any(page.is_dictionary for page in pages):
        raise PageError(f"{column.name} has a dictionary")


def _pages(data: mmap, column: Column) -> Iterator[Page]:
    """The pages of a column of one row group."""
    at, end = column.begin, column.end
    if end > len(data):
        raise PageError(f"{column.name} lies outside the file")
    while at < end:
        reader = _Compact(data[at : min(end, at + _LONGEST)])
        header = reader.structure()
        packed, unpacked = header.get(_PACKED), header.get(_UNPACKED)
        counted = next((header[field] for field in _COUNTED if field in header), None)
        values = counted.get(1) if isinstance(counted, dict) else None
        if not (isinstance(packed, int) and isinstance(unpacked, int) and isinstance(values, int)):
            raise PageError(f"{column.name} has a page without a size")
        if min(packed, unpacked, values) < 0:
            raise PageError(f"{column.name} has a page of negative size")
        yield Page(header.get(_TYPE) == _DICTIONARY, values, unpacked)
        at += reader.at + packed


class _Compact:
    """Reads one structure of Thrift's compact protocol. Of numbers with a point nothing is asked, so they are passed over."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._left = _MOST
        self.at = 0

    def structure(self, depth: int = 0) -> dict[int, object]:
        """Its fields by number."""
        fields: dict[int, object] = {}
        number = 0
        while (head := self._byte()) != 0:
            number = number + (head >> 4) if head >> 4 else self._integer()
            fields[number] = self._value(head & 0x0F, depth)
        return fields

    def _value(self, kind: int, depth: int) -> object:
        self._left -= 1
        if depth > _DEEPEST or self._left < 0:
            raise PageError("a header is nested too deeply, or has too many values")
        match kind:
            case 1 | 2:
                return kind == 1
            case 3:
                return self._byte()
            case 4 | 5 | 6:
                return self._integer()
            case 7:
                self._take(8)
            case 8:
                return self._take(self._varint())
            case 9 | 10:
                return self._list(depth + 1)
            case 12:
                return self.structure(depth + 1)
            case _:
                raise PageError("a header has a field of an unknown kind")
        return None

    def _list(self, depth: int) -> list[object]:
        head = self._byte()
        count, kind = head >> 4, head & 0x0F
        if count == 15:
            count = self._varint()
        if kind <= 2:  # of truths each takes a byte here, unlike in a structure
            kind = 3
        return [self._value(kind, depth) for _ in range(count)]

    def _integer(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)

    def _varint(self) -> int:
        value = 0
        for shift in range(0, 64, 7):
            byte = self._byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
        raise PageError("a header has too long a number")

    def _byte(self) -> int:
        if self.at >= len(self._data):
            raise PageError("a header is cut short")
        self.at += 1
        return self._data[self.at - 1]

    def _take(self, count: int) -> bytes:
        if count > len(self._data) - self.at:
            raise PageError("a header is cut short")
        self.at += count
        return self._data[self.at - count : self.at]

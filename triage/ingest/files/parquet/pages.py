"""What the pages of a Parquet file say of themselves, so that a small file that claims little and holds much is refused unread.

A footer tells how large each column is; the pages' own headers are what a reader goes by. Here they are held against each other.
The form is public: parquet-format, ``parquet.thrift`` (``PageHeader``), in the compact protocol of Thrift.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyarrow.parquet import ColumnChunkMetaData, FileMetaData

_DICTIONARY = 2
_UNPACKED, _PACKED, _TYPE = 2, 3, 1
_COUNTED = (5, 7, 8)
"""Fields of a page's header: its sizes, its type, and the structures whose first field counts its values."""

_DEEPEST = 8
_LONGEST = 2**16
"""A header is some dozens of bytes; one with statistics of long texts a few thousand."""


class PageError(ValueError):
    """Pages are not what the footer says."""


@dataclass(frozen=True, slots=True)
class Page:
    """What one page says of itself.

    :param values: how many values it holds, those that are null among them
    :param unpacked: bytes that it takes when it is unpacked
    """

    is_dictionary: bool
    values: int
    unpacked: int


def check_pages(path: Path, metadata: "FileMetaData", no_dictionary: str) -> None:
    """Refuse a file whose pages hold more than its footer says.

    :param no_dictionary: a column that must spell out each value: of a long text in a dictionary a few bits make a copy
    :raises PageError: they do, or a header cannot be read
    """
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as data:
        for group in range(metadata.num_row_groups):
            row_group = metadata.row_group(group)
            for number in range(row_group.num_columns):
                column = row_group.column(number)
                _check(column, list(_pages(data, column)), is_spelt_out=column.path_in_schema.startswith(no_dictionary))


def _check(column: "ColumnChunkMetaData", pages: list[Page], *, is_spelt_out: bool) -> None:
    values = sum(page.values for page in pages if not page.is_dictionary)
    if values != column.num_values:
        raise PageError(f"{column.path_in_schema} announces {column.num_values} values and has {values}")
    if sum(page.unpacked for page in pages) > column.total_uncompressed_size:
        raise PageError(f"{column.path_in_schema} unpacks to more than it announces")
    if is_spelt_out and any(page.is_dictionary for page in pages):
        raise PageError(f"{column.path_in_schema} has a dictionary")


def _pages(data: mmap, column: "ColumnChunkMetaData") -> Iterator[Page]:
    """The pages of a column of one row group."""
    first = column.data_page_offset
    at = min(first, column.dictionary_page_offset) if column.has_dictionary_page else first
    end = at + column.total_compressed_size
    if at < 0 or end > len(data):
        raise PageError(f"{column.path_in_schema} lies outside the file")
    while at < end:
        reader = _Compact(data[at : min(end, at + _LONGEST)])
        header = reader.structure()
        packed, unpacked = header.get(_PACKED), header.get(_UNPACKED)
        counted = next((header[field] for field in _COUNTED if field in header), None)
        values = counted.get(1) if isinstance(counted, dict) else None
        if not (isinstance(packed, int) and isinstance(unpacked, int) and isinstance(values, int)):
            raise PageError(f"{column.path_in_schema} has a page without a size")
        if min(packed, unpacked, values) < 0:
            raise PageError(f"{column.path_in_schema} has a page of negative size")
        yield Page(header.get(_TYPE) == _DICTIONARY, values, unpacked)
        at += reader.at + packed


class _Compact:
    """Reads one structure of Thrift's compact protocol; texts and lists are passed over."""

    def __init__(self, data: bytes) -> None:
        self._data = data
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
        if depth > _DEEPEST:
            raise PageError("a page's header is nested too deeply")
        match kind:
            case 1 | 2:
                return kind == 1
            case 3:
                return self._byte()
            case 4 | 5 | 6:
                return self._integer()
            case 7:
                self._pass(8)
            case 8:
                self._pass(self._varint())
            case 12:
                return self.structure(depth + 1)
            case _:
                raise PageError("a page's header has a field of an unknown kind")
        return None

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
        raise PageError("a page's header has too long a number")

    def _byte(self) -> int:
        if self.at >= len(self._data):
            raise PageError("a page's header is cut short")
        self.at += 1
        return self._data[self.at - 1]

    def _pass(self, count: int) -> None:
        if count > len(self._data) - self.at:
            raise PageError("a page's header is cut short")
        self.at += count

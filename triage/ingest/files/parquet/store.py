"""The numbers of a recording's file, read when they are asked for."""

from collections import deque
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt

from triage.ingest.files.parquet.pages import Group
from triage.ingest.files.parquet.refusals import damaged, unreadable
from triage.model.recording import Floats, Ints

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

_AT_ONCE = 16_000_000
"""A file of no more numbers than this (128 MiB) is read and checked whole; of a larger one a row group when it is asked for."""

_KEPT_GROUPS = 4
"""Row groups of a large file that are kept for the next question."""


class Store:
    """The numbers of a file, a row group at once. Those of a small file are kept; of a larger one while somebody holds them.

    :param lengths: how many numbers each row has, shape (R,)
    :param gaps: rows of which a number may be unknown, shape (R,)
    :raises DataError: a row group has not as many numbers as its rows must have
    """

    def __init__(
        self, path: Path, file: "ParquetFile", groups: Sequence[Group], lengths: Ints, gaps: npt.NDArray[np.bool_]
    ) -> None:
        self._path, self._file, self._lengths, self._gaps = path, file, lengths, gaps
        self.ends = np.cumsum([group.rows for group in groups], dtype=np.int64)
        self._starts = np.concatenate(([0], np.cumsum(lengths)))
        self._lock = Lock()
        self._numbers: WeakValueDictionary[int, Floats] = WeakValueDictionary()
        self._selectors: dict[int, pa.ListArray] = {}
        wanted = np.diff(np.concatenate(([0], np.cumsum(np.maximum(lengths, 1))))[np.concatenate(([0], self.ends))])
        told = [group.columns[-1].values for group in groups]  # an empty list counts as one
        if not np.array_equal(wanted, told):
            raise damaged(path, "its rows have not as many numbers as they have times")
        self._kept: deque[Floats] = deque(maxlen=_KEPT_GROUPS)
        if self._starts[-1] <= _AT_ONCE:
            self._kept = deque(self._group(number) for number in range(len(groups)))
            for number in range(len(groups)):
                self._selectors_of(number)
            file.close()

    def rows(self, first: int, count: int) -> Floats:
        """Numbers of some rows of one row group and of equal length, shape (count, T)."""
        group = int(np.searchsorted(self.ends, first, side="right"))
        begin = self.ends[group - 1] if group else 0
        start, end = self._starts[[first, first + count]] - self._starts[begin]
        return self._group(group)[start:end].reshape(count, -1) if end > start else np.empty((count, 0))

    def selectors(self, rows: Ints) -> list[list[str]]:
        """Selectors of the series that some rows of one row group are made of."""
        if not len(rows):
            return []
        group = int(np.searchsorted(self.ends, rows[0], side="right"))
        places = rows - (self.ends[group - 1] if group else 0)
        first, last = int(places.min()), int(places.max())
        told: list[list[str]] = self._selectors_of(group).slice(first, last - first + 1).to_pylist()
        return [told[place - first] for place in places.tolist()]

    def _group(self, group: int) -> Floats:
        """All numbers of a row group, one row after the other."""
        with self._lock:
            found = self._numbers.get(group)
            if found is None:
                found = self._numbers[group] = self._sound(group, self._column(group, "values"))
                self._kept.append(found)
            return found

    def _selectors_of(self, group: int) -> "pa.ListArray":
        with self._lock:
            if group not in self._selectors:
                self._selectors[group] = self._column(group, "selectors")
            return self._selectors[group]

    def _column(self, group: int, name: str) -> "pa.ListArray":
        """A column of a row group.

        :raises DataError: it is damaged
        """
        import pyarrow as pa

        try:
            column = one_chunk(self._file.read_row_group(group, columns=[name]).column(0))
            column.validate(full=True)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise unreadable(self._path, error) from error
        return column

    def _sound(self, group: int, column: "pa.ListArray") -> Floats:
        """The numbers of a row group, if they are as they must be.

        :raises DataError: a row has more or fewer than its times, or one is not finite
        """
        rows = slice(int(self.ends[group - 1]) if group else 0, int(self.ends[group]))
        numbers, lengths = numbers_of(column)
        if not np.array_equal(lengths, self._lengths[rows]):
            raise damaged(self._path, "its rows have not as many numbers as they have times")
        if not np.isfinite(numbers).all():
            gaps = np.repeat(self._gaps[rows], self._lengths[rows])
            if not (np.isfinite(numbers) | (np.isnan(numbers) & gaps)).all():
                raise damaged(self._path, "it holds a time or value that is not finite")
        return numbers


def one_chunk(column: "pa.ChunkedArray") -> "pa.Array":
    """A column in one piece, as it mostly is: to put pieces together copies them."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def numbers_of(lists: "pa.ListArray") -> tuple[Floats, Ints]:
    """All numbers of some lists one after the other, and how many each list has.

    PyArrow's own ``flatten`` loads all of its functions that compute, which takes as long as to read five million numbers.
    """
    ends = lists.offsets.to_numpy()
    numbers: Floats = lists.values.slice(ends[0], ends[-1] - ends[0]).to_numpy(zero_copy_only=False)
    return numbers, np.diff(ends)

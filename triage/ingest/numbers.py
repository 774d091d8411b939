"""Reads numbers out of text, all of them at once."""

from array import array
from collections.abc import Iterable

import numpy as np

from triage.model.recording import Floats, Ints

_MANY = 1 << 20
"""Bytes of numbers from which on it pays to have PyArrow read them, which takes as long to load as 300,000 numbers to read."""


def columns(text: bytes, rows: int) -> tuple[Floats, Floats] | None:
    """Both columns of a text of two numbers a line with a space between them; None if a line is anything else.

    :param rows: how many lines it must have
    """
    if blanks(text, rows) is None:
        return None
    if len(text) >= _MANY and (read := _read_by_arrow(text, "a", "b")) is not None:
        return read[0], read[1]
    numbers = _read(text.split())
    return None if numbers is None else (numbers[::2], numbers[1::2])


def second_column(text: bytes) -> Floats | None:
    """The second of two columns of which :func:`blanks` says that they are there; None if one in it is no number."""
    if len(text) >= _MANY and (read := _read_by_arrow(text, "b")) is not None:
        return read[0]
    return _read(text.split()[1::2])


def blanks(text: bytes, rows: int) -> Ints | None:
    """Where the space and the end of each line stand, by turns; None if a line is not two words with a space between them.

    :param rows: how many lines it must have
    """
    marks = np.frombuffer(text, np.uint8)
    blank = np.flatnonzero(marks <= ord(" "))
    if len(blank) != 2 * rows or not rows:
        return None
    apart = bool((marks[blank[::2]] == ord(" ")).all() and (marks[blank[1::2]] == ord("\n")).all())
    return None if not apart or blank[0] == 0 or (np.diff(blank) == 1).any() else blank


def _read(words: Iterable[bytes]) -> Floats | None:
    """Words as numbers; None if one is none."""
    try:
        return np.frombuffer(array("d", map(float, words)))
    except ValueError:
        return None


def _read_by_arrow(text: bytes, *wanted: str) -> list[Floats] | None:
    """Columns ``a`` and ``b``; None if a number is not as most are written: Python reads all that Arrow reads, and more."""
    import pyarrow as pa
    from pyarrow import csv

    try:
        table = csv.read_csv(
            pa.BufferReader(text),
            csv.ReadOptions(use_threads=False, column_names=["a", "b"]),
            csv.ParseOptions(delimiter=" ", quote_char=False),
            csv.ConvertOptions(
                column_types={"a": pa.float64(), "b": pa.float64()}, null_values=["+Inf"], include_columns=list(wanted)
            ),
        )
    except pa.ArrowException:
        return None
    return [table.column(name).to_numpy() for name in wanted]

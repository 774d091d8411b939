"""Reads numbers out of text, all of them at once."""

import sys
from array import array
from collections.abc import Sequence

import numpy as np

from triage.model.recording import Floats

_MANY = 1 << 20
"""Bytes of numbers from which on it pays to have PyArrow read them, which takes as long to load as 300,000 numbers to read."""

_SOME = 1 << 14
"""The same where it is loaded already."""


def columns(text: bytes, rows: int) -> tuple[Floats, Floats] | None:
    """Both columns of a text of two numbers a line with a space between them; None if a line is anything else.

    :param rows: how many lines it must have
    """
    marks = np.frombuffer(text, np.uint8)
    blank = np.flatnonzero(marks <= ord(" "))
    if len(blank) != 2 * rows or not rows:
        return None
    apart = bool((marks[blank[::2]] == ord(" ")).all() and (marks[blank[1::2]] == ord("\n")).all())
    if not apart or blank[0] == 0 or (np.diff(blank) == 1).any():
        return None
    if _is_long(text) and (read := _read_by_arrow(text, ("a", "b"))) is not None:
        return read[0], read[1]
    return _by_turns(text, rows)


def indented_columns(text: bytes, rows: int) -> tuple[Floats, Floats] | None:
    """The same of lines that each begin with a line feed and have a space before each number; there is no other blank.

    It takes half the time: nothing but the numbers and how many there are has to be looked at.
    """
    if _is_long(text) and (read := _read_by_arrow(text, ("", "a", "b"))) is not None:
        return (read[0], read[1]) if len(read[0]) == rows == text.count(b"\n") else None
    return _by_turns(text, rows) if text.count(b"\n ") == rows == text.count(b"\n") else None


def _is_long(text: bytes) -> bool:
    """Whether it pays to have PyArrow read a text."""
    return len(text) >= (_SOME if "pyarrow.csv" in sys.modules else _MANY)


def _by_turns(text: bytes, rows: int) -> tuple[Floats, Floats] | None:
    """Numbers of both columns as they follow each other; None if one is none, or if there are not as many as there must be."""
    try:
        numbers = np.frombuffer(array("d", map(float, text.split())))
    except ValueError:
        return None
    return (numbers[::2], numbers[1::2]) if len(numbers) == 2 * rows else None


def _read_by_arrow(text: bytes, names: Sequence[str]) -> list[Floats] | None:
    """Columns ``a`` and ``b``; None if a number is not as most are written: Python reads all that Arrow reads, and more."""
    import pyarrow as pa
    from pyarrow import csv

    wanted = {"a": pa.float64(), "b": pa.float64()}
    try:
        table = csv.read_csv(
            pa.BufferReader(text),
            csv.ReadOptions(use_threads=False, column_names=list(names)),
            csv.ParseOptions(delimiter=" ", quote_char=False),
            csv.ConvertOptions(column_types=wanted, null_values=["+Inf"], include_columns=list(wanted)),
        )
    except pa.ArrowException:
        return None
    return [table.column(name).to_numpy() for name in wanted]

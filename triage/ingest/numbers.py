"""Reads numbers out of text, all of them at once."""

from array import array

import numpy as np

from triage.model.recording import Floats

_MANY = 1 << 20
"""Bytes of numbers from which on it pays to have PyArrow read them, which takes as long to load as 300,000 numbers to read."""


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
    if len(text) >= _MANY and (read := _read_by_arrow(text)) is not None:
        return read
    try:
        numbers = np.frombuffer(array("d", map(float, text.split()))).reshape(-1, 2)
    except ValueError:
        return None
    return numbers[:, 0], numbers[:, 1]


def _read_by_arrow(text: bytes) -> tuple[Floats, Floats] | None:
    """Both columns; None if a number is not as most are written: Python reads all that Arrow reads, and more."""
    import pyarrow as pa
    from pyarrow import csv

    try:
        table = csv.read_csv(
            pa.BufferReader(text),
            csv.ReadOptions(use_threads=False, column_names=["a", "b"]),
            csv.ParseOptions(delimiter=" ", quote_char=False),
            csv.ConvertOptions(column_types={"a": pa.float64(), "b": pa.float64()}, null_values=["+Inf"]),
        )
    except pa.ArrowException:
        return None
    return table.column("a").to_numpy(), table.column("b").to_numpy()

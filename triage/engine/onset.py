"""When something began."""

import numpy as np
import numpy.typing as npt

_STEADY = 0.6
"""A condition counts as holding over a span if it holds in this share of the known cells; noise breaks single ones."""

_MOMENT = 3
"""Cells that make a moment: one cell alone can be a blip."""


def onset_index(holds: npt.NDArray[np.bool_], is_known: npt.NDArray[np.bool_], first: int) -> int | None:
    """Index of the cell at which a condition began to hold for good, as seen from the window.

    It may lie before the window if the condition held from there on. None if it never holds in the window.

    :param holds: whether the condition holds in each cell, shape (N,)
    :param is_known: whether the cell is known, shape (N,)
    :param first: index of the window's first cell
    """
    cells = np.flatnonzero(is_known)
    if not len(cells):
        return None
    true = holds[cells].astype(float)
    if not true[cells >= first].any():
        return None
    total = np.concatenate(([0.0], np.cumsum(true)))
    start = int(np.searchsorted(cells, first))
    for position in range(len(cells)):
        if not true[position]:
            continue
        end = min(position + _MOMENT, len(cells))
        if (total[end] - total[position]) / (end - position) < _STEADY:
            continue
        if position < start and (total[start] - total[position]) / (start - position) < _STEADY:
            continue
        return int(cells[position])
    return int(cells[np.flatnonzero((cells >= first) & (true > 0))[0]])


def longest_run(holds: npt.NDArray[np.bool_], is_known: npt.NDArray[np.bool_]) -> tuple[int, int]:
    """The longest row of known cells in which a condition holds: start and length. An unknown cell neither breaks nor adds."""
    best_start = best = start = length = 0
    if not np.logical_and(holds, is_known).any():
        return best_start, best
    for index in np.flatnonzero(is_known):
        if holds[index]:
            start = int(index) if length == 0 else start
            length += 1
            if length > best:
                best_start, best = start, length
        else:
            length = 0
    return best_start, best

"""When something that lasts began and ended."""

import numpy as np
import numpy.typing as npt

from triage.classes import dataclass
from triage.engine.frame import Grid
from triage.model.recording import Floats

Bools = npt.NDArray[np.bool_]
Places = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Runs:
    """The longest row of cells in which something holds, of each of many curves.

    :param start: index of its first cell, shape (R,)
    :param stop: index after its last one, shape (R,)
    :param length: how many known cells of the window are in it, shape (R,)
    """

    start: Places
    stop: Places
    length: Places


def longest_runs(holds: Bools, known: Bools, first: int) -> Runs:
    """The longest row in each curve, counted in the known cells of the window. An unknown cell neither breaks nor adds.

    :param holds: shape (R, N)
    :param known: shape (R, N)
    :param first: index of the window's first cell; a row that begins before it counts from there
    """
    some = np.flatnonzero((holds & known)[:, first:].any(axis=1))
    start, stop, length = (np.zeros(len(holds), dtype=np.int64) for _ in range(3))
    if len(some):
        start[some], stop[some], length[some] = _longest(holds[some], known[some], first)
    return Runs(start, stop, length)


def _longest(holds: Bools, known: Bools, first: int) -> tuple[Places, Places, Places]:
    """Start, stop and length of the longest row in each of the curves that have any."""
    index = np.arange(holds.shape[1])
    last_known = np.maximum.accumulate(np.where(known, index, -1), axis=1)
    carried = np.take_along_axis(holds & known, last_known.clip(0), axis=1) & (last_known >= 0)
    broken = np.maximum.accumulate(np.where(carried, -1, index), axis=1)
    inside = np.cumsum(known & (index >= first), axis=1)
    before = np.concatenate((np.zeros((len(holds), 1), dtype=inside.dtype), inside), axis=1)
    length = np.where(carried, inside - np.take_along_axis(before, broken + 1, axis=1), 0)
    length[:, :first] = 0
    stop = length.argmax(axis=1)
    rows = np.arange(len(holds))
    return broken[rows, stop] + 1, stop + 1, length[rows, stop]


def change_between(values: Floats, half: float, run: tuple[int, int], width: int, grid: Grid, *, up: bool) -> tuple[float, float]:
    """Between which two moments a curve crossed half of the way to its new level.

    :param values: as measured, shape (N,), NaN where unknown
    :param half: the value half of the way
    :param run: first cell in which the smoothed curve was beyond, and the one after the last
    :param width: cells over which it was smoothed: it may have begun so much earlier
    """
    earliest = max(run[0] - width + 1, 0)
    index = np.arange(earliest, min(run[0] + 1, len(values)))
    known = index[~np.isnan(values[index])]
    beyond = values[known] > half if up else values[known] < half
    later = np.cumsum(beyond[::-1])[::-1] / np.arange(len(beyond), 0, -1) if len(beyond) else beyond
    starts = known[beyond & (later > 0.5)] if len(beyond) else known
    begun = int(starts[0]) if len(starts) else run[0]
    earlier = np.flatnonzero(~np.isnan(values[:begun]))
    last = int(earlier[-1]) if len(earlier) else max(begun - 1, 0)
    return float(grid.times[last] - (grid.step if last == begun else 0.0)), float(grid.times[begun])


def ended_at(values: Floats, half: float, run: tuple[int, int], width: int, grid: Grid, *, up: bool) -> float | None:
    """When a curve went back for good; None if it had not by the end of what is known."""
    known = np.flatnonzero(~np.isnan(values))
    if not len(known) or run[1] > known[-1]:
        return None
    index = np.arange(max(run[0], run[1] - width), run[1])
    beyond = index[values[index] > half] if up else index[values[index] < half]
    return float(grid.times[beyond[-1] if len(beyond) else run[1] - 1])

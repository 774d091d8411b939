"""When something that lasts began and ended."""

from math import isnan

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
    begun, known, beyond = -1, 0, 0
    for place, value in reversed([*enumerate(values[earliest : run[0] + 1].tolist(), earliest)]):
        if not isnan(value):
            known += 1
            if value > half if up else value < half:
                beyond += 1
                if beyond / known > 0.5:
                    begun = place
    begun = run[0] if begun < 0 else begun
    last = _last_known(values, begun)
    last = max(begun - 1, 0) if last is None else last
    return float(grid.times[last] - (grid.step if last == begun else 0.0)), float(grid.times[begun])


def ended_at(values: Floats, half: float, run: tuple[int, int], width: int, grid: Grid, *, up: bool) -> float | None:
    """When a curve went back for good; None if it had not by the end of what is known."""
    last = _last_known(values, len(values))
    if last is None or run[1] > last:
        return None
    begin = max(run[0], run[1] - width)
    beyond = [value > half if up else value < half for value in values[begin : run[1]].tolist()]
    place = run[1] - 1 - beyond[::-1].index(True) if True in beyond else run[1] - 1
    return float(grid.times[place])


def _last_known(values: Floats, end: int) -> int | None:
    """The last known cell before one; None if there is none."""
    return next((place for place in range(end - 1, -1, -1) if values[place] == values[place]), None)

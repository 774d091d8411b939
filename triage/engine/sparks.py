"""Small curves beside the evidence."""

from collections.abc import Sequence
from math import isnan

import numpy as np

from triage.engine.frame import Grid
from triage.model.arrays import six_digits
from triage.model.diagnosis import Spark
from triage.model.recording import Floats

POINTS = 60
"""Points of a curve: more do not fit on a line."""


def spark_of(cells: Floats | None, grid: Grid, since: float | None, stat: str = "mean") -> Spark | None:
    """The curve of a signal over baseline and window, with the place where the trouble began; None without values.

    :param stat: the statistic that it stands beside: of a highest or lowest value each point is the highest or lowest
    """
    if cells is None or np.isnan(cells).all():
        return None
    firsts, starts = grid.groups(POINTS)
    place = None if since is None else max(int(starts.searchsorted(since)) - 1, 0)
    return Spark(
        start=float(starts[0]),
        end=float(grid.times[-1]),
        window=int(firsts.searchsorted(grid.first, side="right")) - 1,
        onset=place,
    ).told_by(lambda: {"values": _extremes(cells, firsts, stat) if stat in _EXTREMES else _means(cells, firsts)})


_EXTREMES = {"peak": np.fmax, "max": np.fmax, "trough": np.fmin, "min": np.fmin}


def _extremes(cells: Floats, firsts: "np.ndarray[tuple[int], np.dtype[np.int64]]", stat: str) -> tuple[float | None, ...]:
    """The highest or lowest of the known cells of each group, None where none is known."""
    found = _EXTREMES[stat].reduceat(cells, firsts).tolist()
    return _rounded([None if isnan(value) else value for value in found])


def _means(cells: Floats, firsts: "np.ndarray[tuple[int], np.dtype[np.int64]]") -> tuple[float | None, ...]:
    """Means of the known cells of each group, None where none is known.

    :param firsts: index of each group's first cell
    """
    known = ~np.isnan(cells)
    sums = np.add.reduceat(np.where(known, cells, 0.0), firsts).tolist()
    counts = np.add.reduceat(known, firsts, dtype=np.int64).tolist()
    return _rounded([total / count if count else None for total, count in zip(sums, counts, strict=True)])


def _rounded(values: Sequence[float | None]) -> tuple[float | None, ...]:
    """Six digits of each, so that the last bits of a processor do not show."""
    digits = iter(six_digits(np.array([value for value in values if value is not None])).tolist())
    return tuple([None if value is None else next(digits) for value in values])

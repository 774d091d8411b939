"""Small curves beside the evidence."""

import numpy as np

from triage.engine.frame import Grid
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
    count = min(POINTS, len(cells))
    firsts = np.arange(count) * len(cells) // count
    starts = grid.times[firsts] - grid.step
    place = None if since is None else max(int(np.searchsorted(starts, since)) - 1, 0)
    return Spark(
        start=float(starts[0]),
        end=float(grid.times[-1]),
        values=_extremes(cells, firsts, stat) if stat in _EXTREMES else _means(cells, firsts),
        window=int(np.searchsorted(firsts, grid.first, side="right")) - 1,
        onset=place,
    )


_EXTREMES = {"peak": np.fmax, "max": np.fmax, "trough": np.fmin, "min": np.fmin}


def _extremes(cells: Floats, firsts: "np.ndarray[tuple[int], np.dtype[np.int64]]", stat: str) -> tuple[float | None, ...]:
    """The highest or lowest of the known cells of each group, None where none is known."""
    found = _EXTREMES[stat].reduceat(cells, firsts).tolist()
    return tuple([None if np.isnan(value) else float(f"{value:.6g}") for value in found])


def _means(cells: Floats, firsts: "np.ndarray[tuple[int], np.dtype[np.int64]]") -> tuple[float | None, ...]:
    """Means of the known cells of each group, None where none is known.

    They are rounded so that the last bits of a processor do not show.

    :param firsts: index of each group's first cell
    """
    known = ~np.isnan(cells)
    sums = np.add.reduceat(np.where(known, cells, 0.0), firsts).tolist()
    counts = np.add.reduceat(known, firsts, dtype=np.int64).tolist()
    return tuple([float(f"{total / count:.6g}") if count else None for total, count in zip(sums, counts, strict=True)])

"""Small curves beside the evidence."""

import numpy as np

from triage.engine.frame import Grid
from triage.model.diagnosis import Spark
from triage.model.recording import Floats

POINTS = 60
"""Points of a curve: more do not fit on a line."""


def spark_of(cells: Floats | None, grid: Grid, since: float | None) -> Spark | None:
    """The curve of a signal over baseline and window, with the place where the trouble began; None without values."""
    if cells is None or np.isnan(cells).all():
        return None
    groups = np.array_split(np.arange(len(cells)), min(POINTS, len(cells)))
    values = tuple(_mean(cells[group]) for group in groups)
    starts = [float(grid.times[group[0]]) - grid.step for group in groups]
    place = None if since is None else max((i for i, start in enumerate(starts) if start < since), default=0)
    window = next((i for i, group in enumerate(groups) if group[-1] >= grid.first), 0)
    return Spark(start=starts[0], end=float(grid.times[-1]), values=values, window=window, onset=place)


def _mean(cells: Floats) -> float | None:
    """Mean of the known cells, rounded so that the last bits of a processor do not show; None if none is known."""
    known = cells[~np.isnan(cells)]
    return float(f"{known.mean():.6g}") if len(known) else None

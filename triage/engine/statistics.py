"""Statistics of a signal over a span of the grid: numbers, or intervals where only bounds are known."""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from triage.engine.frame import Frame
from triage.engine.quantiles import Interval, merged_counts, quantile
from triage.model.recording import Floats, Subject
from triage.model.rule import Stat
from triage.model.vocabulary import Combine, Kind, catalogue

QUANTILES: dict[str, float] = {"p50": 0.5, "median": 0.5, "p95": 0.95, "p99": 0.99}

MOMENT = 300.0
"""Seconds over which ``peak`` and ``trough`` are means, if that is no more than a third of the span."""

_SAME = 1e-9
"""Means of equal samples differ in their last bits by how many samples there are; that is no change."""

_LEAST_KNOWN = 0.1
"""With less than this share of its cells known a span says nothing about a signal."""


def exact(value: float) -> Interval:
    """A value without doubt."""
    return Interval(value, value, value)


def known(cells: Floats) -> Floats | None:
    """The known values of a span; None if too few are."""
    values = cells[~np.isnan(cells)]
    return values if len(values) and len(values) >= _LEAST_KNOWN * len(cells) else None


def of_cells(cells: Floats, stat: Stat, step: float) -> float | None:
    """One statistic of cells; None if too few are known.

    :param cells: base units, shape (T,), NaN where unknown
    :param step: seconds a cell
    """
    values = known(cells)
    if values is None:
        return None
    if stat == "slope":
        return _slope(cells, step)
    if stat == "sum":
        return float(values.sum() * step)
    if stat in ("peak", "trough"):
        return _extreme(cells, ~np.isnan(cells), stat, step)
    plain = _PLAIN.get(stat)
    return float(plain(values)) if plain is not None else float(np.quantile(values, QUANTILES[stat]))


_PLAIN: dict[str, Callable[[Floats], np.floating | float | int]] = {
    "mean": np.mean,
    "min": np.min,
    "max": np.max,
    "last": lambda values: values[-1],
    "first": lambda values: values[0],
    "changes": lambda values: int(np.count_nonzero(np.abs(np.diff(values)) > _SAME * np.abs(values[1:]))),
    "spread": np.std,
}
"""Statistics of known values that need nothing else."""


def _slope(cells: Floats, step: float) -> float | None:
    """Change per second of the least-squares line through the known cells; None with fewer than three."""
    index = np.flatnonzero(~np.isnan(cells))
    if len(index) < 3:
        return None
    return float(np.polyfit(index * step, cells[index], 1)[0])


def _extreme(totals: Floats, counts: Floats | npt.NDArray[np.bool_], stat: Stat, step: float) -> float | None:
    """The highest or lowest mean of five minutes in a row; None if less than half of any five minutes is known.

    :param totals: what is added up in each cell, shape (N,)
    :param counts: by how many it is divided, shape (N,)
    """
    width = max(1, round(min(MOMENT, len(totals) * step / 3.0) / step))
    there = np.isfinite(totals) & (counts > 0)
    ones = np.ones(width)
    total, count, cells = (
        np.convolve(np.where(there, row, 0.0), ones, "valid") for row in (totals, counts, np.ones_like(totals))
    )
    enough = cells >= width / 2.0
    if not enough.any():
        return None
    means = total[enough] / count[enough]
    return float(means.max() if stat == "peak" else means.min())


def statistic(
    frame: Frame, signal: str, subjects: Sequence[Subject], stat: Stat, span: slice, across: Combine
) -> Interval | None:
    """A signal's statistic over a span, of several subjects as one; None if it is unknown. Asked again it is remembered.

    Quantiles and means of a distribution are taken over the observations of all the subjects together. Other values are first
    put together over the subjects that are known in each cell; sums of states and gauges count only what is there.
    """
    key = ("statistic", signal, tuple(subjects), stat, span.start, span.stop, across)
    return frame.remembered(key, lambda: _statistic(frame, signal, subjects, stat, span, across))


def _statistic(
    frame: Frame, signal: str, subjects: Sequence[Subject], stat: Stat, span: slice, across: Combine
) -> Interval | None:
    """A statistic worked out."""
    if catalogue()[signal].kind is Kind.DISTRIBUTION:
        return _of_distribution(frame, signal, subjects, stat, span)
    rows = [cells for subject in subjects if (cells := frame.cells(signal, subject)) is not None]
    if not rows:
        return None
    value = of_cells(together(rows, across)[span], stat, frame.grid.step)
    return None if value is None else exact(value)


def together(rows: Sequence[Floats], across: Combine) -> Floats:
    """Several subjects' cells as one row, NaN where none is known."""
    if len(rows) == 1:
        return rows[0]
    matrix = np.stack(rows)
    unknown = np.isnan(matrix).all(axis=0)
    filled = matrix[:, ~unknown]
    out = np.full(matrix.shape[1], np.nan)
    match across:
        case Combine.SUM:
            out[~unknown] = np.nansum(filled, axis=0)
        case Combine.MEAN:
            out[~unknown] = np.nanmean(filled, axis=0)
        case Combine.MAX:
            out[~unknown] = np.nanmax(filled, axis=0)
        case Combine.MIN:
            out[~unknown] = np.nanmin(filled, axis=0)
    return out


def _of_distribution(frame: Frame, signal: str, subjects: Sequence[Subject], stat: Stat, span: slice) -> Interval | None:
    """Statistic of the observations that fall into a span."""
    histograms = [h for subject in subjects if (h := frame.histogram(signal, subject)) is not None]
    times = frame.grid.times[span]
    if not histograms or not len(times):
        return None
    start, end = float(times[0]) - frame.grid.step, float(times[-1])
    merged = merged_counts(histograms, start, end)
    if merged is None:
        return None
    counts, bounds = merged
    if stat in QUANTILES:
        return quantile(counts, bounds, QUANTILES[stat])
    if stat == "sum":
        return exact(float(counts.sum()))
    if stat == "mean":
        mean = _mean(frame, signal, subjects, span)
        return None if mean is None else exact(mean)
    value = _over_moments(frame, signal, subjects, stat, span)
    return None if value is None else exact(value)


def _over_moments(frame: Frame, signal: str, subjects: Sequence[Subject], stat: Stat, span: slice) -> float | None:
    """Statistic of a distribution's mean over time; in ``peak`` and ``trough`` each observation counts the same."""
    totals = _sums_and_counts(frame, signal, subjects)
    if totals is None:
        return None
    if stat in ("peak", "trough"):
        return _extreme(totals[0][span], np.nan_to_num(totals[1][span]), stat, frame.grid.step)
    cells = mean_cells(frame, signal, subjects)
    return None if cells is None else of_cells(cells[span], stat, frame.grid.step)


def _mean(frame: Frame, signal: str, subjects: Sequence[Subject], span: slice) -> float | None:
    """Mean of all observations in a span; None without observations or without sums."""
    totals = _sums_and_counts(frame, signal, subjects)
    if totals is None:
        return None
    sums, counts = totals[0][span], totals[1][span]
    both = ~np.isnan(sums) & ~np.isnan(counts)
    count = float(counts[both].sum())
    return float(sums[both].sum()) / count if count > 0 else None


def mean_cells(frame: Frame, signal: str, subjects: Sequence[Subject]) -> Floats | None:
    """Mean of a distribution in each cell over several subjects; None if nobody has it."""
    totals = _sums_and_counts(frame, signal, subjects)
    if totals is None:
        return None
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(totals[1] > 0, totals[0] / totals[1], np.nan)


def _sums_and_counts(frame: Frame, signal: str, subjects: Sequence[Subject]) -> tuple[Floats, Floats] | None:
    """Sum and count per second of a distribution in each cell."""
    rows = [pair for subject in subjects if (pair := frame.sum_and_count(signal, subject)) is not None]
    if not rows:
        return None
    return together([s for s, _ in rows], Combine.SUM), together([c for _, c in rows], Combine.SUM)


def cells_of(frame: Frame, signal: str, subjects: Sequence[Subject], across: Combine) -> Floats | None:
    """A signal over time, several subjects as one (of a distribution the mean in each cell); None if nobody has it."""
    return frame.remembered(("cells", signal, tuple(subjects), across), lambda: _cells_of(frame, signal, subjects, across))


def _cells_of(frame: Frame, signal: str, subjects: Sequence[Subject], across: Combine) -> Floats | None:
    """A signal over time worked out."""
    if catalogue()[signal].kind is Kind.DISTRIBUTION:
        return mean_cells(frame, signal, subjects)
    rows = [cells for subject in subjects if (cells := frame.cells(signal, subject)) is not None]
    return together(rows, across) if rows else None

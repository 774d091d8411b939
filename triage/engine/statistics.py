"""Statistics of a signal over a span of the grid: numbers, or intervals where only bounds are known."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isnan

import numpy as np
import numpy.typing as npt

from triage.classes import dataclass
from triage.engine.frame import Frame
from triage.engine.quantiles import (
    Interval,
    add_to,
    merged_counts,
    observed,
    observed_until,
    quantile,
    quantiles,
    shared_bounds,
    side_by_side,
    stacked,
)
from triage.model.arrays import quantile_of, usual_step
from triage.model.recording import Floats, Histogram, Subject
from triage.model.rule import Stat
from triage.model.vocabulary import Combine, Kind, catalogue

Bools = npt.NDArray[np.bool_]
Places = npt.NDArray[np.int64]

QUANTILES: dict[str, float] = {"p50": 0.5, "median": 0.5, "p95": 0.95, "p99": 0.99}

MOMENT = 300.0
"""Seconds over which ``peak`` and ``trough`` are means, if that is no more than a third of the span."""

_MINUTE = 60.0
"""Seconds of requests from which each point of a quantile's curve is made."""

_SAME = 1e-9
"""Means of equal samples differ in their last bits by how many samples there are; that is no change."""

_LEAST_KNOWN = 0.1
"""With less than this share of its cells known a span says nothing about a signal."""

_EXTREMES = frozenset({"max", "min", "peak", "trough"})
"""Statistics of which one look is enough: what was seen once was so, however little else was seen."""


AMOUNTS = frozenset({"seconds", "bytes", "joules", "ratio", "cores", "flop"})
"""Units of what is measured rather than counted: their sums need not be whole."""


def exact(value: float) -> Interval:
    """A value without doubt."""
    return Interval(value, value, value)


def known(cells: Floats) -> Floats | None:
    """The known values of a span; None if too few are."""
    values = cells[~np.isnan(cells)]
    return values if len(values) and len(values) >= _LEAST_KNOWN * len(cells) else None


def enough_known(told: Bools) -> Bools:
    """Of which rows enough is known to say anything, shape (S,).

    :param told: which cells are known, shape (S, T)
    """
    number = told.sum(axis=1)
    return np.asarray((number > 0) & (number >= _LEAST_KNOWN * told.shape[1]))


def is_seen_at_once(frame: Frame, stat: Stat, span: slice) -> bool:
    """Whether one look is enough for a statistic of a span; of what is usual it is not."""
    return stat in _EXTREMES and span.start >= frame.grid.first


def of_cells(cells: Floats, stat: Stat, step: float, *, at_once: bool = False) -> float | None:
    """One statistic of cells; None if too few are known.

    :param cells: base units, shape (T,), NaN where unknown
    :param step: seconds a cell
    :param at_once: one look is enough, unless it is what was left of the time before the span
    """
    value = float(of_rows(cells[None, :], stat, step, at_once=at_once)[0])
    return None if isnan(value) else value


def of_rows(rows: Floats, stat: Stat, step: float, *, at_once: bool = False) -> Floats:
    """One statistic of each row, shape (S,); NaN where too few cells are known.

    :param rows: base units, shape (S, T), NaN where unknown
    :param step: seconds a cell
    :param at_once: one look is enough, unless it is what was left of the time before the span
    """
    cells = ~np.isnan(rows)
    if rows.size and cells.all():
        return _of_known(np.ascontiguousarray(rows), cells[0], stat, step)
    out = np.full(len(rows), np.nan)
    for places, told in _with_the_same_gaps(cells):
        if told.any() and (np.count_nonzero(told) >= _LEAST_KNOWN * len(told) or (at_once and not told[0])):
            some = np.ascontiguousarray(rows[places])
            out[places] = _of_known(some if told.all() else np.ascontiguousarray(some[:, told]), told, stat, step)
    return out


def _with_the_same_gaps(told: Bools) -> Iterator[tuple[Places | slice, Bools]]:
    """Rows that are known in the same cells: their places, and which cells these are."""
    if not len(told):
        return
    if (told == told[0]).all():
        yield slice(None), told[0]
        return
    alike: dict[bytes, list[int]] = {}
    for row, packed in enumerate(np.packbits(told, axis=1)):
        alike.setdefault(packed.tobytes(), []).append(row)
    for rows in alike.values():
        yield np.array(rows), told[rows[0]]


def _of_known(values: Floats, told: Bools, stat: Stat, step: float) -> Floats:
    """One statistic of rows of known values, shape (S,).

    :param values: shape (S, number of cells that are known)
    :param told: which cells of the span these are, shape (T,)
    """
    if stat == "slope":
        return _slopes(values, np.flatnonzero(told).astype(float) * step)
    if stat == "sum":
        return np.asarray(values.sum(axis=1) * step)
    if stat in ("peak", "trough"):
        if values.shape[1] == len(told):
            return _extremes(values, np.broadcast_to(told, values.shape), stat, step)
        cells = np.zeros((len(values), len(told)))
        cells[:, told] = values
        return _extremes(cells, np.broadcast_to(told, cells.shape), stat, step)
    plain = _PLAIN.get(stat)
    return np.asarray(plain(values) if plain is not None else quantile_of(values, QUANTILES[stat]), dtype=float)


_PLAIN: dict[str, Callable[[Floats], npt.NDArray[np.floating | np.int64]]] = {
    "mean": lambda values: np.add.reduce(values, axis=1) / values.shape[1],  # as NumPy's own, which takes twice as long
    "min": lambda values: values.min(axis=1),
    "max": lambda values: values.max(axis=1),
    "last": lambda values: values[:, -1],
    "first": lambda values: values[:, 0],
    "changes": lambda values: np.count_nonzero(np.abs(np.diff(values)) > _SAME * np.abs(values[:, 1:]), axis=1),
    "spread": lambda values: values.std(axis=1),
}
"""Statistics of known values that need nothing else."""


def _slopes(values: Floats, times: Floats) -> Floats:
    """Change per second of the least-squares line through each row; NaN with fewer than three values."""
    if len(times) < 3:
        return np.full(len(values), np.nan)
    return np.array([float(np.polyfit(times, row, 1)[0]) for row in values])


def moment_cells(cells: int, step: float) -> int:
    """Cells that make the moment of ``peak`` and ``trough`` in a span of so many."""
    return max(1, round(min(MOMENT, cells * step / 3.0) / step))


def moment_of(span: slice, step: float) -> float:
    """Seconds that make the moment of ``peak`` and ``trough`` in a span of cells."""
    return moment_cells(span.stop - span.start, step) * step


def _extremes(totals: Floats, counts: Floats | Bools, stat: Stat, step: float) -> Floats:
    """The highest or lowest mean of five minutes in a row, of each row; NaN if less than half of any five minutes is known.

    Where less is known in all, it is the mean of that.

    :param totals: what is added up in each cell, shape (S, T)
    :param counts: by how many it is divided, shape (S, T)
    """
    width = moment_cells(totals.shape[1], step)
    if counts.dtype == np.bool_ and counts.all() and np.isfinite(totals).all():
        means = _moving(totals, width) / width
        return np.asarray(means.max(axis=1) if stat == "peak" else means.min(axis=1))
    there = np.isfinite(totals) & (counts > 0)
    enough = np.minimum(width / 2.0, there.sum(axis=1, keepdims=True))
    total, count, cells = (_moving(np.where(there, rows, 0.0), width) for rows in (totals, counts, np.ones(totals.shape)))
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.where((count > 0) & (cells >= enough), total / count, np.nan)
    return np.asarray(np.fmax.reduce(means, axis=1) if stat == "peak" else np.fmin.reduce(means, axis=1))


def _moving(rows: Floats, width: int) -> Floats:
    """Sums of ``width`` cells in a row, in order of time, shape (S, T - width + 1)."""
    count = rows.shape[1] - width + 1
    sums = rows[:, :count].copy()
    for later in range(1, width):
        sums += rows[:, later : later + count]
    return sums


@dataclass(frozen=True, slots=True)
class Column:
    """One statistic of a signal of all subjects that have it; NaN where it is unknown.

    :param place: which row is whose; the subjects are in order
    :param bounds: estimates, lower and upper bounds, shape (3, S)
    """

    place: Mapping[Subject, int]
    bounds: Floats

    def of(self, subject: Subject) -> Interval | None:
        """The value of one of the subjects; None if it is unknown."""
        estimate, low, high = self.bounds[:, self.place[subject]].tolist()
        return None if isnan(estimate) else Interval(estimate, low, high)


def column(frame: Frame, signal: str, stat: Stat, span: slice) -> Column:
    """A signal's statistic over a span, of each subject that has it by itself. Asked again it is remembered."""
    return frame.remembered(("column", signal, stat, span.start, span.stop), lambda: _column(frame, signal, stat, span))


def _column(frame: Frame, signal: str, stat: Stat, span: slice) -> Column:
    """The statistics worked out."""
    if catalogue()[signal].kind is Kind.DISTRIBUTION:
        return _column_of_distributions(frame, signal, stat, span)
    block = frame.block(signal)
    values = of_rows(block.cells[:, span], stat, frame.grid.step, at_once=is_seen_at_once(frame, stat, span))
    return Column(block.place, np.array((values, values, values)))


def _column_of_distributions(frame: Frame, signal: str, stat: Stat, span: slice) -> Column:
    """Statistics of the observations of each subject that fall into a span."""
    sums, counts = frame.totals(signal)
    bounds = np.full((3, len(sums.subjects)), np.nan)
    for places, observed_, edges in _observed_by_each(frame, signal, span):
        bounds[:, places] = quantiles(observed_, edges, QUANTILES[stat]) if stat in QUANTILES else observed_.sum(axis=1)
    if stat not in QUANTILES and stat != "sum":
        seen = ~np.isnan(bounds[0])
        bounds[:] = np.where(seen, _over_moments(sums.cells, counts.cells, stat, span, frame.grid.step), np.nan)
    return Column(sums.place, bounds)


def _observed_by_each(frame: Frame, signal: str, span: slice) -> Sequence[tuple[Places, Floats, Floats]]:
    """Observations by bucket of each subject in a span: places, counts of shape (K, B) and bounds of those that are alike."""
    key = ("observed", signal, span.start, span.stop)
    return frame.remembered(key, lambda: tuple(_observed(frame, signal, span)))


_TOGETHER = 64
"""Histograms that are counted in one go: more of them need more memory and are no faster."""


def _observed(frame: Frame, signal: str, span: slice) -> Iterator[tuple[Places, Floats, Floats]]:
    times = frame.grid.times[span]
    alike: dict[tuple[bytes, bytes, bool, int], list[tuple[int, Histogram]]] = {}
    for row, subject in enumerate(frame.totals(signal)[0].subjects if len(times) else ()):
        one = frame.histograms(signal)[subject]
        if len(one.bounds):
            lot = row // _TOGETHER if one.rates.flags.c_contiguous else row
            alike.setdefault((one.times.tobytes(), one.bounds.tobytes(), one.rates.flags.c_contiguous, lot), []).append(
                (row, one)
            )
    for several in alike.values():
        first = several[0][1]
        rates = np.stack([one.rates for _, one in several]) if len(several) > 1 else first.rates[None, ...]
        counts = observed(first.times, rates, float(times[0]) - frame.grid.step, float(times[-1]))
        yield np.array([row for row, _ in several]), counts, first.bounds


def statistic(
    frame: Frame, signal: str, subjects: Sequence[Subject], stat: Stat, span: slice, across: Combine
) -> Interval | None:
    """A signal's statistic over a span, of several subjects as one; None if it is unknown. Asked again it is remembered.

    Quantiles and means of a distribution are taken over the observations of all the subjects together. Other values are first
    put together over the subjects that are known in each cell; sums of states and gauges count only what is there.
    """
    if len(subjects) == 1 and subjects[0] in (alone := column(frame, signal, stat, span)).place:
        return alone.of(subjects[0])
    key = ("statistic", signal, tuple(subjects), stat, span.start, span.stop, across)
    return frame.remembered(key, lambda: _statistic(frame, signal, subjects, stat, span, across))


def _statistic(
    frame: Frame, signal: str, subjects: Sequence[Subject], stat: Stat, span: slice, across: Combine
) -> Interval | None:
    """A statistic worked out."""
    if catalogue()[signal].kind is Kind.DISTRIBUTION:
        return _of_distribution(frame, signal, subjects, stat, span)
    cells = cells_of(frame, signal, subjects, across)
    value = None if cells is None else of_cells(cells[span], stat, frame.grid.step, at_once=is_seen_at_once(frame, stat, span))
    return None if value is None else exact(value)


def together(rows: Sequence[Floats], across: Combine) -> Floats:
    """Several subjects' cells, shape (…, N), as one, NaN where none is known."""
    if len(rows) == 1:
        return rows[0]
    matrix = np.array(rows)
    gaps = np.isnan(matrix)
    if not gaps.any():
        return np.asarray(_WHOLE[across](np.asfortranarray(matrix)))  # laid out as what is left of gaps: sums end the same
    unknown = gaps.all(axis=0)
    filled = matrix[:, ~unknown]
    out = np.full(matrix.shape[1:], np.nan)
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


_WHOLE: dict[Combine, Callable[[Floats], Floats]] = {
    Combine.SUM: lambda rows: rows.sum(axis=0),
    Combine.MEAN: lambda rows: rows.mean(axis=0),
    Combine.MAX: lambda rows: rows.max(axis=0),
    Combine.MIN: lambda rows: rows.min(axis=0),
}
"""The same of rows that are known throughout."""


def together_by(cells: Floats, groups: Sequence[Sequence[int]], across: Combine) -> Floats:
    """Cells of several subjects as one row for each group, NaN where none is known, shape (G, N).

    :param cells: shape (S, N)
    :param groups: rows of each group
    """
    out = np.full((len(groups), cells.shape[1]), np.nan)
    sizes: dict[int, list[int]] = {}
    for place, rows in enumerate(groups):
        sizes.setdefault(len(rows), []).append(place)
    for places in sizes.values():
        several = np.ascontiguousarray(cells[np.array([groups[place] for place in places])].transpose(0, 2, 1))
        told = ~np.isnan(several).all(axis=2)
        combined = np.full(told.shape, np.nan)
        combined[told] = _COMBINED[across](several[told])
        out[places] = combined
    return out


_COMBINED: dict[Combine, Callable[[Floats], Floats]] = {
    Combine.SUM: lambda rows: np.nansum(rows, axis=1),
    Combine.MEAN: lambda rows: np.nanmean(rows, axis=1),
    Combine.MAX: lambda rows: np.nanmax(rows, axis=1),
    Combine.MIN: lambda rows: np.nanmin(rows, axis=1),
}
"""Several values as one of those that are known; there is one in every row."""


def _of_distribution(frame: Frame, signal: str, subjects: Sequence[Subject], stat: Stat, span: slice) -> Interval | None:
    """Statistic of the observations that fall into a span."""
    histograms = [h for subject in subjects if (h := frame.histogram(signal, subject)) is not None]
    times = frame.grid.times[span]
    if not histograms or not len(times):
        return None
    start, end = float(times[0]) - frame.grid.step, float(times[-1])
    key = ("merged", signal, tuple(subjects), span.start, span.stop)
    merged = frame.remembered(key, lambda: merged_counts(histograms, start, end))
    if merged is None:
        return None
    counts, bounds = merged
    if stat in QUANTILES:
        return quantile(counts, bounds, QUANTILES[stat])
    if stat == "sum":
        return exact(float(counts.sum()))
    totals = _sums_and_counts(frame, signal, subjects)
    if totals is None:
        return None
    value = float(_over_moments(totals[0][None, :], totals[1][None, :], stat, span, frame.grid.step)[0])
    return None if isnan(value) else exact(value)


def _over_moments(sums: Floats, counts: Floats, stat: Stat, span: slice, step: float) -> Floats:
    """Statistic of distributions' means over time, shape (S,); in mean, peak and trough each observation counts the same.

    :param sums: of values per second, shape (S, N)
    :param counts: of observations per second, shape (S, N)
    """
    if stat == "mean":
        return _means(sums[:, span], counts[:, span])
    if stat in ("peak", "trough"):
        return _extremes(sums[:, span], np.nan_to_num(counts[:, span]), stat, step)
    with np.errstate(invalid="ignore", divide="ignore"):
        return of_rows(np.where(counts > 0, sums / counts, np.nan)[:, span], stat, step)


def _means(sums: Floats, counts: Floats) -> Floats:
    """Means of all observations, shape (S,); NaN without observations or without sums."""
    out = np.full(len(sums), np.nan)
    for places, told in _with_the_same_gaps(~np.isnan(sums) & ~np.isnan(counts)):
        total, number = (np.ascontiguousarray(rows[places][:, told]).sum(axis=1) for rows in (sums, counts))
        with np.errstate(invalid="ignore", divide="ignore"):
            out[places] = np.where(number > 0, total / number, np.nan)
    return out


def mean_cells(frame: Frame, signal: str, subjects: Sequence[Subject]) -> Floats | None:
    """Mean of a distribution in each cell over several subjects; None if nobody has it."""
    totals = _sums_and_counts(frame, signal, subjects)
    if totals is None:
        return None
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(totals[1] > 0, totals[0] / totals[1], np.nan)


def curve_cells(
    frame: Frame, signal: str, subjects: Sequence[Subject], stat: Stat | str, span: slice, across: Combine
) -> Floats | None:
    """What a statistic is taken of, over time: of a peak the means of its moment, of a quantile that of the minute before.

    :param span: cells of the statistic, by which the length of a moment goes
    """
    cells = cells_of(frame, signal, subjects, across)
    if cells is None:
        return None
    if stat in ("peak", "trough"):
        return _moments(frame, signal, subjects, cells, moment_cells(span.stop - span.start, frame.grid.step))
    if stat in QUANTILES and catalogue()[signal].kind is Kind.DISTRIBUTION:
        return frame.remembered(
            ("quantiles", signal, tuple(subjects), stat), lambda: _quantile_cells(frame, signal, subjects, QUANTILES[stat])
        )
    return cells


def _moments(frame: Frame, signal: str, subjects: Sequence[Subject], cells: Floats, width: int) -> Floats:
    """Means over a moment that ends in each cell; NaN where less than half of it is known."""
    totals = _sums_and_counts(frame, signal, subjects) if catalogue()[signal].kind is Kind.DISTRIBUTION else None
    over, by = (cells, np.ones(len(cells))) if totals is None else totals
    there = np.isfinite(over) & (by > 0)
    sums, counts, known = (
        np.convolve(np.where(there, row, 0.0), np.ones(width))[: len(cells)] for row in (over, by, np.ones(len(cells)))
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where((known >= width / 2.0) & (counts > 0), sums / counts, np.nan)


def _quantile_cells(frame: Frame, signal: str, subjects: Sequence[Subject], share: float) -> Floats | None:
    """A quantile of what was observed in the minute before each cell's end; NaN where nothing was."""
    held = [h for subject in subjects if (h := frame.histogram(signal, subject)) is not None and len(h.bounds)]
    if not held:
        return None
    bounds = shared_bounds(held)
    edges = np.concatenate(([frame.grid.times[0] - frame.grid.step], frame.grid.times))
    counted = np.zeros((len(bounds), len(edges)))
    for several in side_by_side(held):
        times = several[0].times
        usual = usual_step(times) if len(times) > 1 else frame.grid.step
        for one in observed_until(times, stacked(several), edges, usual):
            add_to(counted, bounds, one, several[0].bounds)
    width = max(1, round(_MINUTE / frame.grid.step))
    ends = np.arange(1, len(edges))
    inside = (counted[:, ends] - counted[:, np.maximum(ends - width, 0)]).T
    return np.asarray(quantiles(np.ascontiguousarray(inside), bounds, share)[0])


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

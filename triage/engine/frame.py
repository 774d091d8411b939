"""A recording on one grid of time, so that signals of different sources can be put together."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from math import ceil
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from triage.classes import dataclass
from triage.model.observation import Seen
from triage.model.recording import Floats, Histogram, HistogramPanel, Origin, Panel, Recording, Subject, Window
from triage.model.vocabulary import Kind, Scope, catalogue

Known = TypeVar("Known")
Bools = npt.NDArray[np.bool_]
Places = npt.NDArray[np.int64]
Packed = npt.NDArray[np.uint8]
"""Eight to a byte, row by row."""

MOST_CELLS = 100
"""Cells in the window: finer tells nothing more at a glance, and noise of single scrapes is smoothed away."""

_LEAST_BASELINE = 3
"""With fewer cells than this before the window nothing is known of what is usual."""

_PATIENCE_CELLS = 2.5
"""A value holds for two and a half intervals of its source: one scrape that is lost, and one that is late."""

_LEAST_SECONDS = 1e-6
"""Keeps an interval of zero from dividing."""

_SLOWEST = 120.0
"""A source that speaks less often than this is taken at its word for no longer than one that does."""

_PIECE = 1024
"""Rows that go onto the grid at once: of some hundred samples each, they fit into the caches."""

_SMALL = 64
"""Series of a panel that are copied beside those of others; of more the calls that this saves do not count."""

_FEW_ORIGINS = 16
"""Of more subjects than these origins are read all at once."""

_NICE_STEPS = (1, 2, 4, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1800, 3600)


@dataclass(frozen=True)
class Block:
    """One signal of all its subjects, side by side.

    :param subjects: sorted
    :param place: which row is whose
    :param cells: NaN where unknown, shape (S, N)
    """

    subjects: tuple[Subject, ...]
    place: Mapping[Subject, int]
    cells: Floats

    @cached_property
    def is_one_value(self) -> bool:
        """Whether all cells of all subjects are known and the same: nobody stands out in them."""
        return _is_one_value(self.cells)


@dataclass(frozen=True)
class Grid:
    """Cells of equal length; cell i ends at ``times[i]``.

    :param times: Unix seconds, shape (N,), the last one is the window's end
    :param step: length of a cell, seconds
    :param first: index of the window's first cell
    :param usual: number of cells that tell what is usual; those between them and the window, if there are any, are neither
    """

    times: Floats
    step: float
    first: int
    usual: int

    @cached_property
    def window(self) -> slice:
        """Cells of the window."""
        return slice(self.first, len(self.times))

    @cached_property
    def baseline(self) -> slice:
        """Cells that tell what is usual."""
        return slice(0, self.usual)

    def groups(self, most: int) -> tuple[Places, Floats]:
        """All cells in so many groups at most: index of each group's first cell, and when it begins."""
        if most not in self._groups:
            count = min(most, len(self.times))
            firsts = np.arange(count) * len(self.times) // count
            self._groups[most] = firsts, self.times[firsts] - self.step
        return self._groups[most]

    @cached_property
    def _groups(self) -> dict[int, tuple[Places, Floats]]:
        """Groups that somebody asked for, by their greatest number."""
        return {}


def grid_of(recording: Recording) -> Grid:
    """The grid of a recording: as fine as its samples, but no finer than :data:`MOST_CELLS` cells a window."""
    window = recording.window
    wanted = max(recording.step, (window.end - window.start) / MOST_CELLS)
    step = float(next((nice for nice in _NICE_STEPS if nice >= wanted * 0.99), ceil(wanted)))
    before = int((window.start - max(window.baseline_start, _earliest(recording) - step)) / step + 1e-6)
    before = before if before >= _LEAST_BASELINE else 0
    inside = max(1, ceil((window.end - window.start) / step - 1e-6))
    count = before + inside
    times = window.end - step * np.arange(count - 1, -1, -1, dtype=float)
    return Grid(times, step, before, _usual_cells(window, times, before))


def _usual_cells(window: Window, times: Floats, before: int) -> int:
    """How many of the cells before the window tell what is usual: none if they are too few."""
    usual = min(before, int(np.searchsorted(times, window.usual_end + 1e-6, side="right")))
    return usual if usual >= _LEAST_BASELINE else 0


def _earliest(recording: Recording) -> float:
    """Time of the first sample, no later than the window's start: before it there is nothing to compare with."""
    firsts = [float(times[0]) for times in _all_times(recording) if len(times)]
    return min([*firsts, recording.window.start])


def _usual_step(times: Floats) -> float:
    """Median distance of samples, seconds; 0 if there is but one."""
    if len(times) < 2:
        return 0.0
    steps = np.sort(times[1:] - times[:-1])
    middle = len(steps) // 2
    return float(steps[middle] if len(steps) % 2 else (steps[middle - 1] + steps[middle]) / 2.0)


def _all_times(recording: Recording) -> Iterator[Floats]:
    """Times of every series and distribution."""
    yield from (panel.times for panels in recording.panels.values() for panel in panels)
    yield from (panel.times for panels in recording.histogram_panels.values() for panel in panels)


def running(amounts: Floats) -> Floats:
    """Running totals from nought on, shape (R, T + 1)."""
    totals = np.zeros((len(amounts), amounts.shape[1] + 1))
    np.cumsum(amounts, axis=1, out=totals[:, 1:])
    return totals


def _is_one_value(rows: Floats) -> bool:
    """Whether all numbers are the same and known; most rows show at their ends that they are not."""
    if not rows.size or not (rows[0] == rows[-1, -1]).all():
        return False
    return not any(rows.strides) or bool((rows == rows[0, 0]).all())


class Interpolation:
    """Values at some places, linear between those where they are known (as :func:`numpy.interp`).

    :param at: ascending, as ``known_at`` is, shape (K,)
    """

    def __init__(self, at: Floats, known_at: Floats) -> None:
        left = np.searchsorted(known_at, at, side="right") - 1
        self._nearest = left.clip(0)
        self._inside = slice(*np.searchsorted(left, [0, len(known_at) - 1]).tolist())
        self._begin, self._end = left[self._inside], left[self._inside] + 1
        self._apart = known_at[self._end] - known_at[self._begin]
        self._beyond = at[self._inside] - known_at[self._begin]

    def of(self, rows: Floats) -> Floats:
        """Each row's values, shape (R, number of places, ...).

        :param rows: shape (R, K, ...)
        """
        out = rows.take(self._nearest, axis=1)
        shape = (-1, *(1 for _ in rows.shape[2:]))
        slope = rows.take(self._end, axis=1) - out[:, self._inside]
        slope /= self._apart.reshape(shape)
        slope *= self._beyond.reshape(shape)
        out[:, self._inside] += slope
        return out


@dataclass(frozen=True)
class Spreading:
    """How rates that were read at some moments are spread over the cells.

    :param lengths: for how many seconds each holds, shape (T,)
    :param totals: running totals at the edges of the cells, of those at the corners of the times in which rates hold
    :param corners: of a running total the place at each corner
    :param seconds: of each cell in which a rate holds, shape (1, N)
    """

    lengths: Floats
    totals: Interpolation
    corners: Places
    seconds: Floats

    @classmethod
    def over(cls, start: Floats, times: Floats, edges: Floats) -> "Spreading":
        """That of rates that hold from some moments to others."""
        lengths = times - start
        totals = Interpolation(edges, np.stack((start, times), axis=1).ravel())
        corners = np.arange(1, 2 * len(times) + 1) // 2  # a total is the same from a sample to where the next one begins
        return cls(lengths, totals, corners, _between(totals, corners, lengths[None, :]))

    def of(self, rates: Floats) -> Floats:
        """The cells of some rates, shape (R, N)."""
        amount = _between(self.totals, self.corners, rates * self.lengths)
        cells = np.full(amount.shape, np.nan)
        np.divide(amount, self.seconds, out=cells, where=self.seconds > _LEAST_SECONDS)
        return cells


def _between(totals: Interpolation, corners: Places, amounts: Floats) -> Floats:
    """What of some amounts lies in each cell, shape (R, N)."""
    at_edges = totals.of(running(amounts).take(corners, axis=1))
    return at_edges[:, 1:] - at_edges[:, :-1]


def news(values: Floats, kind: Kind) -> Bools:
    """Which samples tell something new: a rate that is not nought, any other value that is not the one before.

    :param values: NaN where a sample does not tell, shape (..., T)
    :returns: shape (..., T - 1)
    """
    before, now = values[..., :-1], values[..., 1:]
    if kind is Kind.RATE:
        return np.asarray((now != 0) & ~np.isnan(now))
    return np.asarray((now != before) & ~np.isnan(now) & ~np.isnan(before))


class Origins(Mapping[tuple[str, Subject], Origin]):
    """Where each series and distribution came from; one is looked up when somebody asks for it."""

    def __init__(self, recording: Recording) -> None:
        self._panels: dict[str, Sequence[Panel] | Sequence[HistogramPanel]] = {**recording.panels, **recording.histogram_panels}
        self._placed: dict[str, dict[Subject, tuple[Panel | HistogramPanel, int]]] = {}
        self._told: dict[tuple[str, Subject], Origin] = {}
        self._read: set[str] = set()

    def _of(self, signal: str) -> Mapping[Subject, tuple[Panel | HistogramPanel, int]]:
        """Panel and row of each subject."""
        if signal not in self._placed:
            placed = self._placed[signal] = {}
            for panel in self._panels.get(signal, ()):
                placed.update((subject, (panel, row)) for row, subject in enumerate(panel.subjects))
        return self._placed[signal]

    def of(self, signal: str, subjects: Sequence[Subject]) -> list[Origin]:
        """Where a signal of those of some subjects that have it came from; those of many are read panel by panel."""
        if len(subjects) > _FEW_ORIGINS and signal not in self._read:
            self._read.add(signal)
            for panel in self._panels.get(signal, ()):
                keys = ((signal, subject) for subject in panel.subjects)
                self._told.update(zip(keys, panel.origins(slice(None)), strict=True))
        return [origin for subject in subjects if (origin := self.get((signal, subject))) is not None]

    def dialect_of(self, signal: str, subject: Subject) -> str:
        """Who told a signal of a subject, which is known without a look at its selector; empty if nobody did."""
        placed = self._of(signal).get(subject)
        return placed[0].dialect if placed is not None else ""

    def __getitem__(self, key: tuple[str, Subject]) -> Origin:
        if key not in self._told:
            panel, row = self._of(key[0])[key[1]]
            (self._told[key],) = panel.origins(slice(row, row + 1))
        return self._told[key]

    def __contains__(self, key: object) -> bool:
        return isinstance(key, tuple) and key[1] in self._of(key[0])

    def __iter__(self) -> Iterator[tuple[str, Subject]]:
        return ((signal, subject) for signal in self._panels for subject in self._of(signal))

    def __len__(self) -> int:
        return sum(len(self._of(signal)) for signal in self._panels)


class Frame:
    """All signals of a recording on its grid.

    :param recording: what it was made of
    :param grid: the cells

    ``origins`` tells where each series came from; ``rejected`` which signals cannot be believed, and why: broken readings,
    and what contradicts physics.
    """

    def __init__(self, recording: Recording, grid: Grid | None = None) -> None:
        self.recording = recording
        self.grid = grid or grid_of(recording)
        self._edges = np.concatenate(([self.grid.times[0] - self.grid.step], self.grid.times))
        self._spreadings: dict[bytes, Spreading] = {}
        self._staleness = max(_PATIENCE_CELLS * recording.step, self.grid.step)
        self._cells: dict[str, dict[Subject, Floats]] = {}
        self._histograms: dict[str, dict[Subject, Histogram]] = {}
        self._blocks: dict[str, Block] = {}
        self._places: dict[tuple[Subject, ...], Mapping[Subject, int]] = {}
        self._remembered: dict[Hashable, Any] = {}
        self._totals: dict[str, tuple[Block, Block]] = {}
        self._derived: set[tuple[str, Subject]] = set()
        self.origins = Origins(recording)
        self.rejected: dict[str, str] = dict(recording.rejected)
        self.seen = Seen()
        """What is odd; empty until the observers have looked."""
        self._news: dict[Panel, Packed] = {}
        self._with_gaps: set[str] = set()
        whole: dict[str, Floats] = {}
        for panel, cells in self._panels_on_grid([panel for panels in recording.panels.values() for panel in panels]):
            self._cells.setdefault(panel.signal, {}).update(zip(panel.subjects, cells, strict=True))
            whole[panel.signal] = cells
        self._cells = {signal: self._cells.get(signal, {}) for signal in recording.panels}
        for signal, panels in recording.panels.items():
            subjects = tuple(self._cells[signal])
            if not self._are_in_order(subjects):
                self._cells[signal] = dict(sorted(self._cells[signal].items()))
            elif len(panels) == 1:
                self._blocks[signal] = Block(subjects, self._placed(subjects), whole[signal])

    def _are_in_order(self, subjects: tuple[Subject, ...]) -> bool:
        """Whether subjects are sorted; many signals have the same ones."""
        return subjects in self._places or all(one < other for one, other in pairwise(subjects))

    def _panels_on_grid(self, panels: Sequence[Panel]) -> Iterator[tuple[Panel, Floats]]:
        """Panels with their cells, shape (S, N); small ones that were read at the same moments go onto the grid together.

        What is :func:`news` in them, and who has gaps, is noted beside.
        """
        together: dict[tuple[bytes, Kind, int], list[Panel]] = {}
        for place, panel in enumerate(panels):
            alone = place if len(panel.subjects) > _SMALL else -1
            together.setdefault((panel.times.tobytes(), catalogue()[panel.signal].kind, alone), []).append(panel)
        placed: dict[int, Floats] = {}
        for (_, kind, _), several in together.items():
            values = several[0].values if len(several) == 1 else np.concatenate([panel.values for panel in several])
            cells, told, gaps = self._lot_on_grid(several[0].times, values, kind)
            begin = 0
            for panel in several:
                rows = slice(begin, begin + len(panel.subjects))
                begin = rows.stop
                placed[id(panel)], self._news[panel] = cells[rows], told[rows]
                if gaps[rows].any():
                    self._with_gaps.add(panel.signal)
        return ((panel, placed[id(panel)]) for panel in panels)

    def _lot_on_grid(self, times: Floats, values: Floats, kind: Kind) -> tuple[Floats, Packed, Bools]:
        """Series that were read at the same moments on the grid, what is :func:`news` in them, and which of them have gaps.

        Where all say the same, they are one row that is seen many times; others go there some at a time, as many as caches hold.
        """
        if _is_one_value(values):
            cells, told, gaps = self._piece_on_grid(times, values[:1], kind)
            many = len(values)
            return np.broadcast_to(cells, (many, cells.shape[1])), np.broadcast_to(told, (many, told.shape[1])), gaps.repeat(many)
        cells, gaps = np.empty((len(values), len(self.grid.times))), np.empty(len(values), dtype=bool)
        told = np.empty((len(values), -(-max(len(times) - 1, 0) // 8)), dtype=np.uint8)
        for row in range(0, len(values), _PIECE):
            piece = slice(row, row + _PIECE)
            cells[piece], told[piece], gaps[piece] = self._piece_on_grid(times, values[piece], kind)
        return cells, told, gaps

    def _piece_on_grid(self, times: Floats, values: Floats, kind: Kind) -> tuple[Floats, Packed, Bools]:
        """The same of so many that they are worked out at once."""
        gaps = np.asarray(np.isnan(values).any(axis=1))
        return self._values_on_grid(times, values, gaps, kind), np.packbits(news(values, kind), axis=1), gaps

    def _values_on_grid(self, times: Floats, values: Floats, gaps: Bools, kind: Kind) -> Floats:
        """Series that were read at the same moments on the grid, shape (S, N); those with gaps one by one.

        :param gaps: which of them do not always tell, shape (S,)
        """
        if not gaps.any():
            return self._rows_on_grid(times, values, kind)
        block = np.empty((len(values), len(self.grid.times)))
        block[~gaps] = self._rows_on_grid(times, values[~gaps], kind)
        for row in np.flatnonzero(gaps).tolist():
            block[row] = self._rows_on_grid(times, values[[row]], kind)[0]
        return block

    def spoken(self, signal: str, subject: Subject) -> Floats | None:
        """When a source told a value of a measured signal; None if it never was measured.

        No number is read for it but of series that do not always tell.
        """
        if (histogram := self.histogram(signal, subject)) is not None:
            return histogram.times
        if signal not in self._with_gaps:
            return self.recording.times_of(signal, subject)
        series = self.recording.series_of(signal, subject)
        return None if series is None else series.times[~np.isnan(series.values)]

    def news_of(self, panel: Panel) -> Bools:
        """Which samples of a panel of the recording are :func:`news`, shape (S, T - 1).

        That was noted when its numbers were read, since a large recording lets them go.
        """
        return np.unpackbits(self._news[panel], axis=1, count=max(len(panel.times) - 1, 0)).view(bool)

    def _side_by_side(self, samples: Sequence[tuple[Floats, Floats]], kind: Kind) -> Floats:
        """Series on the grid, shape (S, N); those that were read at the same moments go there together.

        :param samples: times and values of each
        """
        together: dict[bytes, list[int]] = {}
        for row, (times, values) in enumerate(samples):
            together.setdefault(b"%d" % row if np.isnan(values).any() else times.tobytes(), []).append(row)
        block = np.empty((len(samples), len(self.grid.times)))
        for rows in together.values():
            block[rows] = self._rows_on_grid(samples[rows[0]][0], np.array([samples[row][1] for row in rows]), kind)
        return block

    def _measured_histograms(self, signal: str) -> dict[Subject, Histogram]:
        """A distribution by subject, without where it came from; one without a single sample is as good as never measured."""
        if signal not in self.recording.histogram_panels:
            return {}
        measured = [one for panel in self.recording.histogram_panels[signal] for one in panel.rows(traced=False)]
        held = {one.subject: one for one in sorted(measured, key=lambda one: one.subject)}
        return {subject: one for subject, one in held.items() if len(one.times)}

    def on_grid(self, times: Floats, values: Floats, kind: Kind) -> Floats:
        """Samples as cells: a rate's time-weighted mean, a state's last value, else the mean; NaN where nothing speaks.

        :param times: ascending, shape (T,)
        :param values: NaN where a sample does not tell, shape (T,)
        :returns: shape (N,)
        """
        return np.asarray(self._rows_on_grid(times, values[None, :], kind)[0])

    def _rows_on_grid(self, times: Floats, rows: Floats, kind: Kind) -> Floats:
        """Samples of several series that were read at the same moments as cells, shape (R, N).

        :param rows: shape (R, T); a single one may have gaps
        """
        told = ~np.isnan(rows).any(axis=0)
        if not told.all():
            times, rows = times[told], rows.compress(told, axis=1)
        if not len(times):
            return np.full((len(rows), len(self.grid.times)), np.nan)
        if kind is Kind.RATE:
            return self._spread(times, rows)
        held = self._held(times, rows)
        if kind is Kind.STATE:
            return held
        ends = np.searchsorted(times, self._edges, side="right")
        low, high = ends[:-1], ends[1:]
        padded = np.hstack((rows, np.zeros((len(rows), 1))))
        sums = np.add.reduceat(padded, np.append(low, high[-1]), axis=1)[:, :-1]
        np.divide(sums, high - low, out=held, where=high > low)
        return held

    def _staleness_with(self, times: Floats) -> float:
        """Seconds for which a sample speaks: sources that are read more seldom than others speak for longer."""
        return max(self._staleness, _PATIENCE_CELLS * min(_usual_step(times), _SLOWEST))

    def _spread(self, times: Floats, rates: Floats) -> Floats:
        """Rates as cells. A rate holds from the sample before it to its own, but no longer than the patience.

        What was counted stays what it was: the cells' rates times their length add up to it.

        :param rates: shape (R, T)
        """
        key = times.tobytes()
        if (spreading := self._spreadings.get(key)) is None:
            usual = _usual_step(times) or self.grid.step
            before = np.concatenate(([times[0] - usual], times[:-1]))
            start = np.maximum(before, times - self._staleness_with(times))
            spreading = self._spreadings[key] = Spreading.over(start, times, self._edges)
        return spreading.of(rates)

    def _held(self, times: Floats, rows: Floats) -> Floats:
        """The last value before each cell's end, if it is near enough, shape (R, N)."""
        ends = self.grid.times
        index = np.searchsorted(times, ends, side="right") - 1
        near = ends - times[index.clip(0)] <= self._staleness_with(times)
        held = rows.take(index.clip(0), axis=1)
        held[:, (index < 0) | ~near] = np.nan
        return held

    def put(self, signal: str, subject: Subject, cells: Floats) -> None:
        """Adds a derived signal of one subject, unless all of it is unknown."""
        self.put_all(signal, {subject: cells})

    def put_all(self, signal: str, rows: Mapping[Subject, Floats]) -> None:
        """Adds a derived signal of those subjects of whom not all of it is unknown."""
        known = {subject: cells for subject, cells in rows.items() if cells[-1] == cells[-1] or not np.isnan(cells).all()}
        if not known:
            return
        self._changed(signal)
        self._cells.setdefault(signal, {}).update(known)
        for subject in known:
            self._derived.add((signal, subject))

    def remembered(self, key: Hashable, work_out: Callable[[], Known]) -> Known:
        """What was worked out of the signals before; it is forgotten when a signal is added or taken away.

        :param key: what it is and of what, its name first: no two callers may have the same
        """
        found: Known
        try:
            found = self._remembered[key]
        except KeyError:
            found = self._remembered[key] = work_out()
        return found

    def forget(self, signal: str, subject: Subject, since: float, until: float) -> None:
        """Makes a signal of a subject unknown from one moment to another: who told it is not to be believed there.

        What is left without any value is as good as never measured, so that another way to the same value is taken.
        """
        cells = self._cells.get(signal, {}).pop(subject, None)
        if cells is not None:
            left = np.where((self.grid.times > since) & (self.grid.times <= until), np.nan, cells)
            if not np.isnan(left).all():
                self._cells[signal][subject] = left
        histogram = self.histogram(signal, subject)
        if histogram is not None:
            left = (histogram.times <= since) | (histogram.times > until)
            of_signal = self._histograms[signal]
            del of_signal[subject]
            if left.any():
                of_signal[subject] = replace(
                    histogram, times=histogram.times[left], rates=histogram.rates[left], sums=histogram.sums[left]
                )
        self._totals.pop(signal, None)
        self._changed(signal)

    def _changed(self, signal: str) -> None:
        """Forgets what was worked out of a signal, and whatever may follow from it."""
        self._blocks.pop(signal, None)
        self._remembered.clear()

    def measured(self, signal: str, subject: Subject) -> Floats | None:
        """One signal of one subject if a source brought it; None if it was derived or never measured."""
        return None if (signal, subject) in self._derived else self.cells(signal, subject)

    def has(self, signal: str) -> bool:
        """Whether any subject has the signal."""
        return bool(self._cells.get(signal) or self.histograms(signal))

    def places(self, signal: str) -> Mapping[Subject, int]:
        """Which row of the signal is whose, in :meth:`block` or of a distribution in :meth:`totals`."""
        return self.totals(signal)[0].place if self.histograms(signal) else self.block(signal).place

    def tells(self, signal: str, subject: Subject) -> bool:
        """Whether a subject itself has the signal."""
        return subject in self._cells.get(signal, ()) or subject in self.histograms(signal)

    def cells(self, signal: str, subject: Subject) -> Floats | None:
        """One signal of one subject, shape (N,), NaN where unknown; None if it was never measured.

        What is told of several engines behind one target holds for each, unless it is an amount, which they share.
        """
        having = self._cells.get(signal, {})
        whole = None if subject in having else self.recording.whole_of(subject)
        return having.get(subject) if whole is None or catalogue()[signal].kind is Kind.RATE else having.get(whole)

    def of(self, signal: str) -> Mapping[Subject, Floats]:
        """A signal of every subject that has it."""
        return self._cells.get(signal, {})

    def block(self, signal: str) -> Block:
        """A signal of every subject that has it as one matrix; asked again it is the same until the signal changes."""
        if (block := self._blocks.get(signal)) is None:
            block = self._blocks[signal] = self._block(signal)
        return block

    def _block(self, signal: str) -> Block:
        having = self._cells.get(signal, {})
        subjects = tuple(sorted(having))
        cells = np.array([having[subject] for subject in subjects]) if subjects else np.empty((0, len(self.grid.times)))
        having.update(zip(subjects, cells, strict=True))
        return Block(subjects, self._placed(subjects), cells)

    def _placed(self, subjects: tuple[Subject, ...]) -> Mapping[Subject, int]:
        """Which row is whose; many signals have the same subjects."""
        if (place := self._places.get(subjects)) is None:
            place = self._places[subjects] = {subject: row for row, subject in enumerate(subjects)}
        return place

    def histogram(self, signal: str, subject: Subject) -> Histogram | None:
        """A distribution of one subject; None if it was never measured."""
        return self.histograms(signal).get(subject)

    def histograms(self, signal: str) -> Mapping[Subject, Histogram]:
        """A distribution of every subject that has it, read when its signal is first asked for."""
        if (held := self._histograms.get(signal)) is None:
            held = self._histograms[signal] = self._measured_histograms(signal)
        return held

    def subjects_of(self, signal: str) -> list[Subject]:
        """Who has the signal, sorted; asked again it is remembered."""
        return self.remembered(("subjects", signal), lambda: self._having(signal))

    def _having(self, signal: str) -> list[Subject]:
        held, having = self.histograms(signal), self._cells.get(signal)
        if held:
            return sorted({*(having or ()), *held})
        return list(self.block(signal).subjects) if having else []

    def sum_and_count(self, signal: str, subject: Subject) -> tuple[Floats, Floats] | None:
        """Sum of values and number of observations per second of a distribution in each cell; None if it was never measured."""
        if self.histogram(signal, subject) is None:
            return None
        sums, counts = self.totals(signal)
        return self.row(sums.cells, sums.place, subject), self.row(counts.cells, sums.place, subject)

    def row(self, rows: Floats, place: Mapping[Subject, int], subject: Subject) -> Floats:
        """What is a subject's of the rows of many."""
        return np.asarray(rows[place[subject]])

    def totals(self, signal: str) -> tuple[Block, Block]:
        """Sums and numbers of observations per second of a distribution of all its subjects; asked again they are remembered."""
        if signal not in self._totals:
            self._totals[signal] = self._totals_of(self.histograms(signal))
        return self._totals[signal]

    def _totals_of(self, whose: Mapping[Subject, Histogram]) -> tuple[Block, Block]:
        subjects = tuple(sorted(whose))
        place = {subject: row for row, subject in enumerate(subjects)}
        several = [whose[subject] for subject in subjects]
        sums, counts = ([(one.times, one.sums) for one in several], [(one.times, one.rates.sum(axis=1)) for one in several])
        both = self._side_by_side([*sums, *counts], Kind.RATE)
        return Block(subjects, place, both[: len(several)]), Block(subjects, place, both[len(several) :])

    def related(self, subject: Subject, scope: Scope) -> list[Subject]:
        """Subjects of a scope that a subject belongs to or that belong to it; all of the scope for the service itself."""
        whole = self.recording.whole_of(subject)
        if subject.scope is scope:
            return [subject, *([whole] if whole else []), *self.recording.engines_of(subject)]
        if whole and scope is Scope.GPU:
            return self.related(whole, scope)
        if scope is Scope.SERVICE:
            return [Subject(scope, self.recording.service)]
        everything = self.recording.subjects[scope]
        if subject.scope is Scope.SERVICE or Scope.CLIENT in (subject.scope, scope) or Scope.GATEWAY in (subject.scope, scope):
            return everything
        up = [target for target in self.recording.links.get(subject, ()) if target.scope is scope]
        down = [one for one in self.recording.parts_of(subject) if one.scope is scope]
        return sorted({*up, *down}) or self._only(everything, subject)

    def _only(self, everything: list[Subject], subject: Subject) -> list[Subject]:
        """With no links at all, and but one subject of a scope, that one is meant (one host, one card)."""
        if len(everything) != 1:
            return []
        linked = any(subject.scope in (one.scope, *(t.scope for t in targets)) for one, targets in self.recording.links.items())
        return [] if linked else everything

"""All signals as one matrix, so that hundreds of subjects are compared at once."""

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from triage.classes import dataclass
from triage.engine.frame import Frame
from triage.engine.observations.comparing import PER, WHILE, is_compared
from triage.engine.statistics import MOMENT
from triage.model.recording import Floats, Subject
from triage.model.vocabulary import Combine, Kind, Scope, Signal, catalogue

Bools = npt.NDArray[np.bool_]
Place = tuple[str, Subject]
"""A signal's name and whose it is."""

_MOST_ROWS = 1024
"""Rows that are compared in one go: more need more memory and are no faster."""

_PARTS = 4.0
"""A moment is no longer than this part of the window."""


@dataclass(frozen=True)
class Curves:
    """Signals of subjects over time, and each of them a moment long smoothed. The rows of one signal stand together.

    :param parts: each signal once, with its rows
    :param signals: shape (R,)
    :param subjects: shape (R,); the service where all subjects of a signal are put together
    :param members: of such a row how many subjects it is made of, else 1; shape (R,)
    :param values: as measured, NaN where unknown, shape (R, N)
    :param smooth: means over a moment that ends in the cell, shape (R, N)
    :param samples: independent samples in that moment: observations of a distribution, else known cells; shape (R, N)
    :param width: cells of a moment
    :param work: smoothed curves of what other signals grow with, shape (N,), by signal and subject
    """

    parts: Sequence[tuple[Signal, slice]]
    signals: Sequence[Signal]
    subjects: Sequence[Subject]
    members: npt.NDArray[np.int64]
    values: Floats
    smooth: Floats
    samples: Floats
    width: int
    work: Mapping[Place, Floats]

    def of_each(self, what: Callable[[Signal], float]) -> Floats:
        """A number of each row's signal, shape (R,)."""
        return np.repeat([float(what(signal)) for signal, _ in self.parts], [rows.stop - rows.start for _, rows in self.parts])


def moment(frame: Frame) -> int:
    """Cells of a moment: five minutes, or a part of a short window."""
    grid = frame.grid
    seconds = min(MOMENT, (len(grid.times) - grid.first) * grid.step / _PARTS)
    return max(1, round(seconds / grid.step))


def curves_of(frame: Frame) -> Iterator[Curves]:
    """Every signal that can be compared, some hundred rows at a time."""
    work = _work(frame)
    batch: list[Block] = []
    rows = 0
    for signal in catalogue().values():
        if is_compared(signal) and frame.has(signal.name) and signal.name not in frame.rejected:
            block = _with_all(block_of(frame, signal, frame.subjects_of(signal.name)), frame)
            batch.append(block)
            rows += len(block.subjects)
        if rows >= _MOST_ROWS:
            yield _together(batch, frame, work)
            batch, rows = [], 0
    if batch:
        yield _together(batch, frame, work)


def _work(frame: Frame) -> dict[Place, Floats]:
    """Smoothed curves of what other signals grow with."""
    names = sorted({work.signal for works in PER.values() for work in works} - frame.rejected.keys())
    known = [name for name in names if frame.has(name)]
    if not known:
        return {}
    blocks = [_with_all(block_of(frame, catalogue()[name], frame.subjects_of(name)), frame) for name in known]
    curves = _together(blocks, frame, {})
    keys = zip(curves.signals, curves.subjects, strict=True)
    return {(signal.name, subject): curves.smooth[row] for row, (signal, subject) in enumerate(keys)}


@dataclass(frozen=True, slots=True)
class Block:
    """One signal of several subjects: what is summed up in each cell, and by what it is divided; both 0 where nothing is told.

    :param members: how many subjects each row is made of, shape (K,)
    :param amount: shape (K, N)
    :param weight: shape (K, N)
    """

    signal: Signal
    subjects: tuple[Subject, ...]
    members: tuple[int, ...]
    amount: Floats
    weight: Floats


def block_of(frame: Frame, signal: Signal, subjects: Sequence[Subject]) -> Block:
    """A signal of subjects that have it, while it tells something."""
    ones = (1,) * len(subjects)
    if signal.kind is Kind.DISTRIBUTION:
        pairs = [pair for subject in subjects if (pair := frame.sum_and_count(signal.name, subject)) is not None]
        sums, counts = (np.array([pair[part] for pair in pairs]) for part in (0, 1))
        told = ~np.isnan(sums) & (counts > 0)
        return Block(signal, tuple(subjects), ones, np.where(told, sums, 0.0), np.where(told, counts, 0.0))
    cells = _cells_of(frame, signal.name, subjects)
    told = ~np.isnan(cells)
    known = told.copy()
    if signal.kind is Kind.RATE and signal.worse == "up":
        for row in np.flatnonzero(~told[:, 0] & told.any(axis=1)).tolist():
            known[row] |= _unborn(frame, signal, subjects[row], told[row])
    if (condition := WHILE.get(signal.name)) is not None:
        for row, subject in enumerate(subjects):
            other = frame.cells(condition.signal, subject)
            with np.errstate(invalid="ignore"):
                known[row] &= (other > condition.above) if other is not None else condition.else_always
    return Block(signal, tuple(subjects), ones, np.where(known & told, cells, 0.0), known.astype(float))


def _cells_of(frame: Frame, signal: str, subjects: Sequence[Subject]) -> Floats:
    """Cells of subjects that have a signal, shape (K, N)."""
    block = frame.block(signal)
    return block.cells if block.subjects == tuple(subjects) else block.cells[[block.place[subject] for subject in subjects]]


def _unborn(frame: Frame, signal: Signal, subject: Subject, known: Bools) -> Bools:
    """Cells before a counter of troubles was born: many programs count a trouble from its first time on, so it was none before.

    Only while other counters of the same program are there.
    """
    origin = frame.origins.get((signal.name, subject))
    if origin is None or known[0] or not known.any():
        return np.zeros(len(known), dtype=bool)
    others = _spoken(frame).get((subject, origin.dialect))
    before = np.arange(len(known)) < known.argmax()
    return before & others if others is not None else np.zeros(len(known), dtype=bool)


def _spoken(frame: Frame) -> dict[tuple[Subject, str], Bools]:
    """By subject and dialect the cells in which any counter was told; asked again it is remembered."""
    return frame.remembered("spoken", lambda: _cells_of_counters(frame))


def _cells_of_counters(frame: Frame) -> dict[tuple[Subject, str], Bools]:
    spoken: dict[tuple[Subject, str], Bools] = {}
    for (name, subject), origin in frame.origins.items():
        cells = frame.measured(name, subject)
        if cells is not None and catalogue()[name].kind is Kind.RATE:
            row = spoken.setdefault((subject, origin.dialect), np.zeros(len(cells), dtype=bool))
            row |= ~np.isnan(cells)
    return spoken


def _with_all(block: Block, frame: Frame) -> Block:
    """The block with a row for all subjects together at its end, where there are several."""
    if len(block.subjects) < 2:
        return block
    amount, weight = block.amount, block.weight
    there = weight > 0
    if block.signal.kind is Kind.DISTRIBUTION or block.signal.combine is Combine.MEAN:
        whole, divisor = amount.sum(axis=0), weight.sum(axis=0)
    else:
        divisor = there.any(axis=0).astype(float)
        match block.signal.combine:
            case Combine.MAX:
                whole = np.where(there, amount, -np.inf).max(axis=0)
            case Combine.MIN:
                whole = np.where(there, amount, np.inf).min(axis=0)
            case _:
                whole = amount.sum(axis=0)
        whole = np.where(divisor > 0, whole, 0.0)
    return Block(
        block.signal,
        (*block.subjects, Subject(Scope.SERVICE, frame.recording.service)),
        (*block.members, len(block.subjects)),
        np.vstack((amount, whole)),
        np.vstack((weight, divisor)),
    )


def _together(blocks: Sequence[Block], frame: Frame, work: Mapping[Place, Floats]) -> Curves:
    """Blocks as curves."""
    amount, weight = (np.concatenate(part) for part in ([one.amount for one in blocks], [one.weight for one in blocks]))
    width = moment(frame)
    total = _rolled(amount, width)
    count = _rolled(weight if (weight != 1).any() else weight[:1], width)  # known throughout: each row the same
    ends = np.cumsum([len(block.subjects) for block in blocks]).tolist()
    parts = [(block.signal, slice(end - len(block.subjects), end)) for block, end in zip(blocks, ends, strict=True)]
    count = np.broadcast_to(count, total.shape)
    there = samples = count  # of all but distributions a cell weighs 1 or 0
    if any(block.signal.kind is Kind.DISTRIBUTION for block in blocks):
        counted = np.zeros((len(amount), 1), dtype=bool)
        for signal, rows in parts:
            counted[rows] = signal.kind is Kind.DISTRIBUTION
        there = _rolled((weight > 0).astype(float), width)
        samples = np.where(counted, count * frame.grid.step, there)
    with np.errstate(invalid="ignore", divide="ignore"):
        values = amount / weight  # NaN where nothing is told: 0 / 0
    return Curves(
        parts=parts,
        signals=[block.signal for block in blocks for _ in block.subjects],
        subjects=[subject for block in blocks for subject in block.subjects],
        members=np.array([number for block in blocks for number in block.members]),
        values=values,
        smooth=np.divide(total, count, out=np.full(total.shape, np.nan), where=there > 0),
        samples=samples,
        width=width,
        work=work,
    )


def _rolled(matrix: Floats, width: int) -> Floats:
    """Sum of the last ``width`` cells, shape (R, N)."""
    total = np.cumsum(matrix, axis=1)
    out = total.copy()
    out[:, width:] -= total[:, :-width]
    return out


def median_of(matrix: Floats, axis: int) -> Floats:
    """Median of what is known along an axis, which stays with length 1; NaN where nothing is."""
    ordered = np.sort(matrix, axis=axis)
    count = (~np.isnan(matrix)).sum(axis=axis, keepdims=True)
    low, high = np.maximum((count - 1) // 2, 0), np.minimum(count // 2, matrix.shape[axis] - 1)
    middle = (np.take_along_axis(ordered, low, axis) + np.take_along_axis(ordered, high, axis)) / 2.0
    return np.where(count > 0, middle, np.nan)


def mean_of(values: Floats) -> float:
    """Mean of what is known, NaN where nothing is."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else np.nan

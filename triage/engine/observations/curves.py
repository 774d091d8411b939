"""All signals as one matrix, so that hundreds of subjects are compared at once."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import cast

import numpy as np
import numpy.typing as npt

from triage.classes import dataclass
from triage.engine.frame import Block as Cells
from triage.engine.frame import Frame
from triage.engine.observations.comparing import PER, WHILE, While, is_compared
from triage.engine.observations.kinds import places_by_kind
from triage.engine.statistics import MOMENT
from triage.model.recording import Floats, Subject
from triage.model.vocabulary import Combine, Kind, Scope, Signal, catalogue

Bools = npt.NDArray[np.bool_]
Place = tuple[str, Subject]
"""A signal's name and whose it is."""

_MOST_ROWS = 1024
"""Rows that are compared in one go: more need more memory and are no faster."""

_FEW = 3
"""Twins of which one can be odd."""

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
            batch += _with_all(block_of(frame, signal, _to_compare(frame, signal)), frame)
            rows = sum(len(block.subjects) for block in batch)
        if rows >= _MOST_ROWS:
            yield _together(batch, frame, work)
            batch, rows = [], 0
    if batch:
        yield _together(batch, frame, work)


def _to_compare(frame: Frame, signal: Signal) -> Sequence[Subject]:
    """Who has a signal; if it never was anything but one value, a few of each kind: they tell what all would."""
    subjects = frame.subjects_of(signal.name)
    is_plain = signal.kind is not Kind.DISTRIBUTION and signal.name not in PER and signal.name not in WHILE
    if not is_plain or len(subjects) <= _FEW or not frame.block(signal.name).is_one_value:
        return subjects
    kinds = [places_by_kind(frame, scope, subjects) for scope in sorted({subject.scope for subject in subjects})]
    return [subjects[place] for place in sorted(place for kind in kinds for some in kind for place in some[:_FEW].tolist())]


def _work(frame: Frame) -> dict[Place, Floats]:
    """Smoothed curves of what other signals grow with."""
    names = sorted({work.signal for works in PER.values() for work in works} - frame.rejected.keys())
    known = [name for name in names if frame.has(name)]
    if not known:
        return {}
    blocks = [_with_all(block_of(frame, catalogue()[name], frame.subjects_of(name)), frame) for name in known]
    curves = _together([block for several in blocks for block in several], frame, {})
    keys = zip(curves.signals, curves.subjects, strict=True)
    return {(signal.name, subject): curves.smooth[row] for row, (signal, subject) in enumerate(keys)}


@dataclass(frozen=True, slots=True)
class Block:
    """One signal of several subjects: what is summed up in each cell, and by what it is divided; both 0 where nothing is told.

    :param members: how many subjects each row is made of, shape (K,)
    :param amount: shape (K, N)
    :param weight: whether anything is told, of a distribution how many observations per second; shape (K, N)
    """

    signal: Signal
    subjects: tuple[Subject, ...]
    members: tuple[int, ...]
    amount: Floats
    weight: Floats | Bools


def block_of(frame: Frame, signal: Signal, subjects: Sequence[Subject]) -> Block:
    """A signal of subjects that have it, while it tells something."""
    ones = (1,) * len(subjects)
    if signal.kind is Kind.DISTRIBUTION:
        sums, counts = (_rows_of(part, subjects) for part in frame.totals(signal.name))
        told = ~np.isnan(sums) & (counts > 0)
        return Block(signal, tuple(subjects), ones, np.where(told, sums, 0.0), np.where(told, counts, 0.0))
    cells = _rows_of(frame.block(signal.name), subjects)
    told = ~np.isnan(cells)
    known = told
    if signal.kind is Kind.RATE and signal.worse == "up":
        late = np.flatnonzero(~told[:, 0] & told.any(axis=1)).tolist()
        known = told.copy() if late else told
        for row in late:
            known[row] |= _unborn(frame, signal, subjects[row], told[row])
    if (condition := WHILE.get(signal.name)) is not None:
        known = known & _while(frame, condition, subjects, cells.shape)
    both = known & told
    return Block(signal, tuple(subjects), ones, cells if both.all() else np.where(both, cells, 0.0), known)


def _while(frame: Frame, condition: While, subjects: Sequence[Subject], shape: tuple[int, ...]) -> Bools:
    """In which cells the other signal of each subject is above a value, shape (K, N)."""
    holds = np.full(shape, condition.else_always)
    having = [row for row, subject in enumerate(subjects) if frame.cells(condition.signal, subject) is not None]
    if having:
        others = [frame.cells(condition.signal, subjects[row]) for row in having]
        with np.errstate(invalid="ignore"):
            holds[having] = np.array(others) > condition.above
    return holds


def _rows_of(block: Cells, subjects: Sequence[Subject]) -> Floats:
    """Cells of subjects that have a signal, shape (K, N)."""
    return block.cells if block.subjects == tuple(subjects) else block.cells[[block.place[subject] for subject in subjects]]


def _unborn(frame: Frame, signal: Signal, subject: Subject, known: Bools) -> Bools:
    """Cells before a counter of troubles was born: many programs count a trouble from its first time on, so it was none before.

    Only while other counters of the same program are there.
    """
    dialect = frame.origins.dialect_of(signal.name, subject)
    if not dialect or known[0] or not known.any():
        return np.zeros(len(known), dtype=bool)
    others = _spoken(frame).get((subject, dialect))
    before = np.arange(len(known)) < known.argmax()
    return before & others if others is not None else np.zeros(len(known), dtype=bool)


def _spoken(frame: Frame) -> dict[tuple[Subject, str], Bools]:
    """By subject and dialect the cells in which any counter was told; asked again it is remembered."""
    return frame.remembered("spoken", lambda: _cells_of_counters(frame))


def _cells_of_counters(frame: Frame) -> dict[tuple[Subject, str], Bools]:
    spoken: dict[tuple[Subject, str], Bools] = {}
    for name, subject in frame.origins:
        cells = frame.measured(name, subject) if catalogue()[name].kind is Kind.RATE else None
        if cells is not None:
            key = subject, frame.origins.dialect_of(name, subject)
            row = spoken.setdefault(key, np.zeros(len(cells), dtype=bool))
            row |= ~np.isnan(cells)
    return spoken


def _with_all(block: Block, frame: Frame) -> list[Block]:
    """The block, and one of a single row for all subjects together, where there are several."""
    if len(block.subjects) < 2:
        return [block]
    amount, weight = block.amount, block.weight
    there = weight > 0
    if block.signal.kind is Kind.DISTRIBUTION or block.signal.combine is Combine.MEAN:
        whole, divisor = amount.sum(axis=0), weight.sum(axis=0, dtype=float)
    else:
        divisor = there.any(axis=0)
        match block.signal.combine:
            case Combine.MAX:
                whole = np.where(there, amount, -np.inf).max(axis=0)
            case Combine.MIN:
                whole = np.where(there, amount, np.inf).min(axis=0)
            case _:
                whole = amount.sum(axis=0)
        whole = np.where(divisor, whole, 0.0)
    everybody = (Subject(Scope.SERVICE, frame.recording.service),)
    return [block, Block(block.signal, everybody, (len(block.subjects),), whole[None], divisor[None])]


def _together(blocks: Sequence[Block], frame: Frame, work: Mapping[Place, Floats]) -> Curves:
    """Blocks as curves; those of one signal follow each other."""
    amount = np.concatenate([one.amount for one in blocks])
    weight = cast(Floats, np.concatenate([one.weight for one in blocks]))
    width = moment(frame)
    is_whole = bool((weight == 1).all())  # known throughout: each row the same
    total = _rolled(amount, width)
    count = np.broadcast_to(_rolled(weight[:1] if is_whole else weight, width), total.shape)
    parts: dict[str, tuple[Signal, slice]] = {}
    end = 0
    for block in blocks:
        begin, end = end, end + len(block.subjects)
        _, before = parts.get(block.signal.name, (block.signal, slice(begin, begin)))
        parts[block.signal.name] = block.signal, slice(before.start, end)
    there = samples = count  # of all but distributions a cell weighs 1 or 0
    if any(block.signal.kind is Kind.DISTRIBUTION for block in blocks):
        counted = np.zeros((len(amount), 1), dtype=bool)
        for signal, rows in parts.values():
            counted[rows] = signal.kind is Kind.DISTRIBUTION
        there = _rolled(weight > 0, width)
        samples = np.where(counted, count * frame.grid.step, there)
    with np.errstate(invalid="ignore", divide="ignore"):
        values = amount if is_whole else amount / weight  # NaN where nothing is told: 0 / 0
    return Curves(
        parts=list(parts.values()),
        signals=[block.signal for block in blocks for _ in block.subjects],
        subjects=[subject for block in blocks for subject in block.subjects],
        members=np.array([number for block in blocks for number in block.members]),
        values=values,
        smooth=total / count if is_whole else np.divide(total, count, out=np.full(total.shape, np.nan), where=there > 0),
        samples=samples,
        width=width,
        work=work,
    )


def _rolled(matrix: Floats | Bools, width: int) -> Floats:
    """Sum of the last ``width`` cells, shape (R, N)."""
    total = np.cumsum(matrix, axis=1, dtype=float)
    out = np.empty_like(total)
    out[:, :width] = total[:, :width]
    np.subtract(total[:, width:], total[:, :-width], out=out[:, width:])
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

"""All signals as one matrix, so that hundreds of subjects are compared at once."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property

import numpy as np
import numpy.typing as npt

from triage.classes import dataclass
from triage.engine.frame import Block as Cells
from triage.engine.frame import Frame
from triage.engine.observations.comparing import PER, WHILE, While, floor_of, is_compared, least_size_of
from triage.engine.observations.kinds import places_by_kind
from triage.engine.statistics import MOMENT
from triage.model.recording import Floats, Subject
from triage.model.vocabulary import Combine, Kind, Scope, Signal, catalogue

Bools = npt.NDArray[np.bool_]
Place = tuple[str, Subject]
"""A signal's name and whose it is."""

Whose = tuple[Signal, Sequence[Subject]]
"""A signal, and subjects that have it."""

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

    @cached_property
    def counting(self) -> Floats:
        """Of each row's signal the difference and the ratio that count, whether it counts events, and whether it fills up.

        Shape (4, R).
        """
        told = [_counting(signal.name) for signal, _ in self.parts]
        return np.repeat(np.array(told).T, [rows.stop - rows.start for _, rows in self.parts], axis=1)


@cache
def _counting(name: str) -> tuple[float, float, float, float]:
    """The same of one signal."""
    signal = catalogue()[name]
    return floor_of(signal), least_size_of(signal), float(signal.kind is Kind.RATE), float(signal.bounded)


def moment(frame: Frame) -> int:
    """Cells of a moment: five minutes, or a part of a short window."""
    grid = frame.grid
    seconds = min(MOMENT, (len(grid.times) - grid.first) * grid.step / _PARTS)
    return max(1, round(seconds / grid.step))


def curves_of(frame: Frame) -> Iterator[Curves]:
    """Every signal that can be compared, some hundred rows at a time."""
    work = _work(frame)
    batch: list[Whose] = []
    rows = 0
    for signal in _compared():
        if frame.has(signal.name) and signal.name not in frame.rejected:
            subjects = _to_compare(frame, signal)
            batch.append((signal, subjects))
            rows += len(subjects)
        if rows >= _MOST_ROWS:
            yield _smoothed(block_of(frame, batch, whole=True), frame, work)
            batch, rows = [], 0
    if batch:
        yield _smoothed(block_of(frame, batch, whole=True), frame, work)


@cache
def _compared() -> Sequence[Signal]:
    """The signals of which more or less can be odd."""
    return [signal for signal in catalogue().values() if is_compared(signal)]


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
    whose = [(catalogue()[name], frame.subjects_of(name)) for name in known]
    curves = _smoothed(block_of(frame, whose, whole=True), frame, {})
    keys = zip(curves.signals, curves.subjects, strict=True)
    return {(signal.name, subject): curves.smooth[row] for row, (signal, subject) in enumerate(keys)}


@dataclass(frozen=True, slots=True)
class Block:
    """Signals of their subjects: what is summed up in each cell, and by what it is divided; both 0 where nothing is told.

    :param parts: each signal with its rows; of several subjects all together may have a row behind theirs
    :param subjects: whose each row is; the service's is that of all together
    :param members: how many subjects each row is made of
    :param amount: shape (R, N)
    :param weight: 1 where anything is told, of a distribution how many observations per second; shape (R, N)
    """

    parts: Sequence[tuple[Signal, slice]]
    subjects: Sequence[Subject]
    members: Sequence[int]
    amount: Floats
    weight: Floats


def block_of(frame: Frame, whose: Sequence[Whose], *, whole: bool = False) -> Block:
    """Signals of subjects that have them, while they tell something.

    :param whole: with a row of all subjects of a signal together, where there are several
    """
    everybody = Subject(Scope.SERVICE, frame.recording.service)
    parts: list[tuple[Signal, slice]] = []
    subjects: list[Subject] = []
    members: list[int] = []
    for signal, several in whose:
        begin, number = len(subjects), len(several)
        subjects += several
        members += [1] * number
        if whole and number > 1:
            subjects.append(everybody)
            members.append(number)
        parts.append((signal, slice(begin, len(subjects))))
    amount = np.full((len(subjects), len(frame.grid.times)), np.nan)
    for (signal, several), (_, rows) in zip(whose, parts, strict=True):
        held = frame.totals(signal.name)[0] if signal.kind is Kind.DISTRIBUTION else frame.block(signal.name)
        amount[rows.start : rows.start + len(several)] = _rows_of(held, several)
    weight = _weights(frame, amount, whose, parts)
    np.copyto(amount, 0.0, where=(weight == 0) | np.isnan(amount))
    _put_together([(signal, rows.start, members[rows.stop - 1]) for signal, rows in parts], amount, weight)
    return Block(parts, subjects, members, amount, weight)


def _weights(frame: Frame, amount: Floats, whose: Sequence[Whose], parts: Sequence[tuple[Signal, slice]]) -> Floats:
    """By what is divided what is summed up in each cell, 0 where nothing is told, shape (R, N).

    :param amount: NaN where nothing is told, shape (R, N)
    """
    told = ~np.isnan(amount)
    weight = told.astype(float)
    late = ~told[:, 0] & told.any(axis=1)
    for (signal, several), (_, rows) in zip(whose, parts, strict=True):
        own = slice(rows.start, rows.start + len(several))
        if signal.kind is Kind.DISTRIBUTION:
            counts = _rows_of(frame.totals(signal.name)[1], several)
            weight[own] = np.where(told[own] & (counts > 0), counts, 0.0)
        elif signal.kind is Kind.RATE and signal.worse == "up":
            for place in np.flatnonzero(late[own]).tolist():
                row = own.start + place
                weight[row][_unborn(frame, signal, several[place], told[row])] = 1.0
        if (condition := WHILE.get(signal.name)) is not None:
            weight[own][~_while(frame, condition, several, told[own].shape)] = 0.0
    return weight


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


def _put_together(parts: Sequence[tuple[Signal, int, int]], amount: Floats, weight: Floats) -> None:
    """Fills in the rows of all subjects together; those of signals that as many subjects have, and in one way, at once.

    :param parts: signals with their first row, and of how many subjects the row of all is made; 1: there is none
    """
    alike: dict[tuple[int, Combine], list[int]] = {}
    for signal, begin, number in parts:
        if number > 1:
            how = Combine.MEAN if signal.kind is Kind.DISTRIBUTION else signal.combine
            alike.setdefault((number, how), []).append(begin)
    for (number, how), begins in alike.items():
        ends = np.array(begins) + number
        rows = np.array(begins)[:, None] + np.arange(number)
        several, by = (
            each[begins[0] : begins[0] + number][None] if len(begins) == 1 else each[rows] for each in (amount, weight)
        )
        amount[ends], weight[ends] = _as_one(several, by, how)


def _as_one(amount: Floats, weight: Floats, how: Combine) -> tuple[Floats, Floats]:
    """What several rows are together, and by what it is divided, shape (P, N) each.

    :param amount: shape (P, K, N); ``weight`` likewise
    """
    if how is Combine.MEAN:
        return amount.sum(axis=1), weight.sum(axis=1)
    there = weight > 0
    anybody = there.any(axis=1)
    match how:
        case Combine.MAX:
            whole = np.where(there, amount, -np.inf).max(axis=1)
        case Combine.MIN:
            whole = np.where(there, amount, np.inf).min(axis=1)
        case _:
            whole = amount.sum(axis=1)
    return np.where(anybody, whole, 0.0), anybody.astype(float)


def _smoothed(block: Block, frame: Frame, work: Mapping[Place, Floats]) -> Curves:
    """A block as curves."""
    amount, weight = block.amount, block.weight
    width = moment(frame)
    is_whole = bool((weight == 1).all())  # known throughout: each row the same
    total = _rolled(amount, width)
    count = np.broadcast_to(_rolled(weight[:1] if is_whole else weight, width), total.shape)
    there = samples = count  # of all but distributions a cell weighs 1 or 0
    if any(signal.kind is Kind.DISTRIBUTION for signal, _ in block.parts):
        counted = np.zeros((len(amount), 1), dtype=bool)
        for signal, rows in block.parts:
            counted[rows] = signal.kind is Kind.DISTRIBUTION
        there = _rolled(weight > 0, width)
        samples = np.where(counted, count * frame.grid.step, there)
    with np.errstate(invalid="ignore", divide="ignore"):
        values = amount if is_whole else amount / weight  # NaN where nothing is told: 0 / 0
    return Curves(
        parts=block.parts,
        signals=[signal for signal, rows in block.parts for _ in range(rows.start, rows.stop)],
        subjects=block.subjects,
        members=np.array(block.members),
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

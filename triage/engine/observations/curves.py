"""All signals as one matrix, so that hundreds of subjects are compared at once."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import numpy.typing as npt

from triage.engine.frame import Frame
from triage.engine.observations.comparing import WHILE, is_compared
from triage.engine.statistics import MOMENT
from triage.model.recording import Floats, Subject
from triage.model.vocabulary import Combine, Kind, Scope, Signal, catalogue

Bools = npt.NDArray[np.bool_]

_MOST_ROWS = 1024
"""Rows that are compared in one go: more need more memory and are no faster."""

_PARTS = 4.0
"""A moment is no longer than this part of the window."""


@dataclass(frozen=True)
class Curves:
    """Signals of subjects over time, and each of them a moment long smoothed. The rows of one signal stand together.

    :param signals: shape (R,)
    :param subjects: shape (R,); the service where all subjects of a signal are put together
    :param members: of such a row how many subjects it is made of, else 1; shape (R,)
    :param values: as measured, NaN where unknown, shape (R, N)
    :param smooth: means over a moment that ends in the cell, shape (R, N)
    :param samples: independent samples in that moment: observations of a distribution, else known cells; shape (R, N)
    :param width: cells of a moment
    """

    signals: Sequence[Signal]
    subjects: Sequence[Subject]
    members: npt.NDArray[np.int64]
    values: Floats
    smooth: Floats
    samples: Floats
    width: int


def moment(frame: Frame) -> int:
    """Cells of a moment: five minutes, or a part of a short window."""
    grid = frame.grid
    seconds = min(MOMENT, (len(grid.times) - grid.first) * grid.step / _PARTS)
    return max(1, round(seconds / grid.step))


def curves_of(frame: Frame) -> Iterator[Curves]:
    """Every signal that can be compared, some hundred rows at a time."""
    batch: list[_Row] = []
    for signal in catalogue().values():
        if is_compared(signal) and frame.has(signal.name) and signal.name not in frame.rejected:
            batch += _rows(frame, signal)
        if len(batch) >= _MOST_ROWS:
            yield _together(batch, frame)
            batch = []
    if batch:
        yield _together(batch, frame)


@dataclass(frozen=True, slots=True)
class _Row:
    """One row: what is summed up, and by what it is divided."""

    signal: Signal
    subject: Subject
    members: int
    amount: Floats
    weight: Floats


def _rows(frame: Frame, signal: Signal) -> list[_Row]:
    """A signal of each subject, and of all together where there are several."""
    own = [
        _Row(signal, subject, 1, *pair)
        for subject in frame.subjects_of(signal.name)
        if (pair := measured(frame, signal, subject)) is not None
    ]
    return [*own, _of_all(frame, signal, own)] if len(own) > 1 else own


def measured(frame: Frame, signal: Signal, subject: Subject) -> tuple[Floats, Floats] | None:
    """What is summed up in each cell and by what it is divided, both 0 where a signal tells nothing; None if nobody has it."""
    if signal.kind is Kind.DISTRIBUTION:
        pair = frame.sum_and_count(signal.name, subject)
        if pair is None:
            return None
        known = ~np.isnan(pair[0]) & (pair[1] > 0)
        return np.where(known, pair[0], 0.0), np.where(known, pair[1], 0.0)
    cells = frame.cells(signal.name, subject)
    if cells is None:
        return None
    known = ~np.isnan(cells)
    if signal.kind is Kind.RATE and signal.worse == "up":
        known |= _unborn(frame, signal, subject, known)
    condition = WHILE.get(signal.name)
    if condition is not None:
        other = frame.cells(condition.signal, subject)
        with np.errstate(invalid="ignore"):
            known &= (other > condition.above) if other is not None else condition.signal == "prefix.queries"
    return np.where(known, np.nan_to_num(cells), 0.0), known.astype(float)


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
    key = "spoken"
    if key not in frame.known:
        spoken: dict[tuple[Subject, str], Bools] = {}
        for (name, subject), origin in frame.origins.items():
            cells = frame.measured(name, subject)
            if cells is not None and catalogue()[name].kind is Kind.RATE:
                row = spoken.setdefault((subject, origin.dialect), np.zeros(len(cells), dtype=bool))
                row |= ~np.isnan(cells)
        frame.known[key] = spoken
    return cast("dict[tuple[Subject, str], Bools]", frame.known[key])


def _of_all(frame: Frame, signal: Signal, rows: Sequence[_Row]) -> _Row:
    """All subjects of a signal as one."""
    amounts, weights = np.stack([row.amount for row in rows]), np.stack([row.weight for row in rows])
    subject = Subject(Scope.SERVICE, frame.recording.service)
    if signal.kind is Kind.DISTRIBUTION or signal.combine is Combine.MEAN:
        return _Row(signal, subject, len(rows), amounts.sum(axis=0), weights.sum(axis=0))
    known = weights > 0
    match signal.combine:
        case Combine.MAX:
            amount = np.where(known, amounts, -np.inf).max(axis=0)
        case Combine.MIN:
            amount = np.where(known, amounts, np.inf).min(axis=0)
        case _:
            amount = amounts.sum(axis=0)
    there = known.any(axis=0)
    return _Row(signal, subject, len(rows), np.where(there, amount, 0.0), there.astype(float))


def _together(rows: Sequence[_Row], frame: Frame) -> Curves:
    """Rows as matrices."""
    amount, weight = np.stack([row.amount for row in rows]), np.stack([row.weight for row in rows])
    width = moment(frame)
    total, count, there = (_rolled(matrix, width) for matrix in (amount, weight, (weight > 0).astype(float)))
    counted = np.array([row.signal.kind is Kind.DISTRIBUTION for row in rows])[:, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        values, smooth = amount / weight, total / count
    return Curves(
        signals=[row.signal for row in rows],
        subjects=[row.subject for row in rows],
        members=np.array([row.members for row in rows]),
        values=np.where(weight > 0, values, np.nan),
        smooth=np.where(there > 0, smooth, np.nan),
        samples=np.where(counted, count * frame.grid.step, there),
        width=width,
    )


def _rolled(matrix: Floats, width: int) -> Floats:
    """Sum of the last ``width`` cells, shape (R, N)."""
    total = np.cumsum(matrix, axis=1)
    out = total.copy()
    out[:, width:] -= total[:, :-width]
    return np.maximum(out, 0.0) if (matrix >= 0).all() else out


def median_of(matrix: Floats, axis: int) -> Floats:
    """Median of what is known along an axis, which stays with length 1; NaN where nothing is."""
    ordered = np.sort(matrix, axis=axis)
    count = (~np.isnan(matrix)).sum(axis=axis, keepdims=True)
    low, high = np.maximum((count - 1) // 2, 0), np.minimum(count // 2, matrix.shape[axis] - 1)
    middle = (np.take_along_axis(ordered, low, axis) + np.take_along_axis(ordered, high, axis)) / 2.0
    return np.where(count > 0, middle, np.nan)

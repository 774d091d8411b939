"""Arithmetic on cells: ratios of rates, quotients of gauges, sums over subjects. What is unknown stays unknown."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from triage.engine.frame import Frame
from triage.engine.statistics import together
from triage.model.recording import Floats, Subject
from triage.model.vocabulary import Combine

Counts = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

SMOOTHING = 60.0
"""Ratios of two rates are taken over at least this many seconds: in one scrape interval there may be few events or none."""

_LEAST_EVENTS = 1e-9
"""Below this a rate is zero but for rounding."""


def rolled(cells: Floats, width: int) -> Floats:
    """Sum of the known cells among the last ``width`` ones; NaN where none of them is known.

    :param cells: shape (…, N)
    """
    is_known = ~np.isnan(cells)
    if is_known.all():
        return _added(cells, width)
    return np.where(_added(is_known, width) > 0, _added(np.where(is_known, cells, 0.0), width), np.nan)


def _added(amounts: Floats | Bools, width: int) -> Floats:
    """Sum of the last ``width`` cells, shape (…, N)."""
    total = amounts.cumsum(axis=-1, dtype=float)
    out = total.copy()
    out[..., width:] -= total[..., :-width]
    return out


def rolled_mean(cells: Floats, width: int) -> Floats:
    """Mean of the known cells among the last ``width`` ones; NaN where none of them is known."""
    return rolled(cells, width) / rolled(np.where(np.isnan(cells), np.nan, 1.0), width)


def near(marked: Bools, reach: int) -> Bools:
    """Cells that are marked, and those within so many cells before or after one that is.

    :param marked: shape (…, N)
    """
    before = _added(marked[..., ::-1], reach + 1)[..., ::-1]
    return np.asarray((_added(marked, reach + 1) > 0) | (before > 0))


def ratio(part: Floats | None, whole: Floats | None, frame: Frame) -> Floats | None:
    """A part of a whole, both rates, over the last minute or more; NaN where the whole is nothing."""
    if part is None or whole is None:
        return None
    width = max(1, round(SMOOTHING / frame.grid.step))
    unknown = np.isnan(part) | np.isnan(whole)
    if unknown.any():
        part, whole = np.where(unknown, 0.0, part), np.where(unknown, 0.0, whole)
    above, below = _added(part, width), _added(whole, width)  # of no known cells the sum is nought
    return np.asarray(np.divide(above, below, out=np.full(above.shape, np.nan), where=below > _LEAST_EVENTS))


def share(part: Floats | None, whole: Floats | None, frame: Frame) -> Floats | None:
    """A ratio that cannot exceed 1; counters that are read one after the other can make it a little greater."""
    value = ratio(part, whole, frame)
    return None if value is None else np.clip(value, 0.0, 1.0)


def quotient(above: Floats | None, below: Floats | None) -> Floats | None:
    """One gauge divided by another; NaN where the divisor is 0."""
    if above is None or below is None:
        return None
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(below > 0, above / below, np.nan)


def total(frame: Frame, *signals: str) -> Floats | None:
    """Sum of signals over all their subjects, counting what is known; None if none was measured. It is remembered."""
    return frame.remembered(("total", signals), lambda: _total(frame, signals))


def _total(frame: Frame, signals: tuple[str, ...]) -> Floats | None:
    rows = [cells for signal in signals for cells in frame.of(signal).values()]
    return together(rows, Combine.SUM) if rows else None


def own_total(frame: Frame, subject: Subject, *signals: str) -> Floats | None:
    """Sum of signals of one subject, counting what is known; None if none was measured."""
    rows = [cells for signal in signals if (cells := frame.cells(signal, subject)) is not None]
    return together(rows, Combine.SUM) if rows else None


def known_to(frame: Frame, signal: str) -> Counts:
    """Of how many subjects a signal is known in each cell, shape (N,). Asked again it is remembered."""
    return frame.remembered(("known to", signal), lambda: (~np.isnan(frame.block(signal).cells)).sum(axis=0))


def first_measured(*candidates: Floats | None) -> Floats | None:
    """The first of several ways to the same value that was measured at all."""
    return next((cells for cells in candidates if cells is not None), None)


def mean_latency(frame: Frame, signal: str, subject: Subject) -> Floats | None:
    """Mean of a distribution over the last minute or more; of all subjects it is worked out at once."""
    if frame.histogram(signal, subject) is None:
        return None
    place, rows = frame.remembered(("mean latencies", signal), lambda: _mean_latencies(frame, signal))
    return frame.row(rows, place, subject)


def _mean_latencies(frame: Frame, signal: str) -> tuple[Mapping[Subject, int], Floats]:
    sums, counts = frame.totals(signal)
    rows = ratio(sums.cells, counts.cells, frame)
    assert rows is not None  # both are there
    return sums.place, rows


def constant(frame: Frame, value: float | None) -> Floats | None:
    """One value in every cell; None if there is none."""
    return None if value is None else np.full(len(frame.grid.times), float(value))

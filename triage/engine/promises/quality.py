"""Whether answers are any good, where somebody measures it."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from triage.engine.derived.arithmetic import total
from triage.engine.frame import Frame
from triage.engine.promises.entries import Entry, began, ended, is_stale, now, open_vital, service_of
from triage.engine.queries import reckoned
from triage.engine.sparks import spark_of
from triage.engine.statistics import MOMENT, of_cells, together
from triage.model.diagnosis import Promised, Vital
from triage.model.recording import Floats, Subject
from triage.model.units import quantity
from triage.model.vocabulary import Combine

_POINTS = 0.05
"""A golden set of a few hundred questions tells five points apart (two standard deviations of a share of 0.8 with 250 tries)."""

_WELL = 0.95
"""With so many right answers nothing can be much worse than it was."""

_BAD = 0.2
"""From so many points below on it is an incident: each fifth answer is worse than it should be."""


def quality(frame: Frame) -> Iterator[Entry]:
    """Scores of quality probes, of the service and of the replicas that fare worse; answers that hold no numbers."""
    whole = total(frame, "quality.score")
    if whole is not None and frame.subjects_of("quality.score"):
        yield _judged(frame, "quality.score", tuple(frame.subjects_of("quality.score")), service_of(frame))
    replicas = frame.subjects_of("quality.replica")
    best = max((_mean(frame, one) or 0.0 for one in replicas), default=0.0)
    for one in replicas:
        score = _mean(frame, one)
        if score is not None and score < best - _POINTS:
            entry = _judged(frame, "quality.replica", (one,), str(one), best)
            yield Entry(entry.vital.model_copy(update={"harm": entry.vital.harm / len(replicas)}), entry.signal, entry.subjects)
    spoilt = total(frame, "output.corrupted")
    if spoilt is not None and np.nansum(spoilt[frame.grid.window]) > 0:
        yield _spoilt(frame, spoilt)


def _mean(frame: Frame, one: Subject) -> float | None:
    cells = frame.cells("quality.replica", one)
    return None if cells is None else of_cells(cells[frame.grid.window], "mean", frame.grid.step)


def _judged(frame: Frame, signal: str, subjects: tuple[Subject, ...], of: str, other: float | None = None) -> Entry:
    """A score against the past, or against the best of the others."""
    cells = together([row for one in subjects if (row := frame.cells(signal, one)) is not None], Combine.MEAN)
    worst = of_cells(cells[frame.grid.window], "trough", frame.grid.step)
    before = of_cells(cells[frame.grid.baseline], "mean", frame.grid.step) if frame.grid.usual else None
    usual = before if before is not None else other
    title = "quality of answers"
    if worst is None or is_stale(frame, (signal,)):
        return Entry(open_vital(frame, "quality", title, "nobody measured it lately", unit="ratio"), signal, subjects)
    if usual is None and worst < _WELL:
        vital = open_vital(frame, "quality", title, "there is nothing to hold the score against", unit="ratio", value=worst)
        return Entry(vital, signal, subjects)
    usual = _WELL if usual is None else usual
    limit = usual - _POINTS
    bad = worst < limit
    lost: Floats = usual - cells
    since = began(lost, frame, _POINTS) if bad else None
    by_hand = partial(reckoned, frame, signal, subjects, "trough", across=Combine.MEAN)
    vital = Vital(
        name="quality",
        title=title,
        subject=of,
        state=Promised.BROKEN if bad else Promised.KEPT,
        value=worst,
        unit="ratio",
        limit=limit,
        limit_of="five points below " + ("the past" if before is not None else "the other replicas"),
        baseline=before,
        since=since,
        until=ended(lost, frame, _POINTS, now(frame, (signal,))) if bad else None,
        harm=(usual - worst) / _BAD if bad else 0.0,
        reason=f"in the worst {quantity(MOMENT, 'seconds')} the score is {quantity(worst, 'ratio')}" if bad else "",
        spark=spark_of(cells, frame.grid, since),
    )
    return Entry(vital.reckoned_by(by_hand), signal, subjects, "trough")


def _spoilt(frame: Frame, spoilt: Floats) -> Entry:
    """Answers whose numbers were none: every one of them is wrong."""
    count = float(np.nansum(spoilt[frame.grid.window])) * frame.grid.step
    since = began(spoilt, frame, 0.0)
    by_hand = partial(reckoned, frame, "output.corrupted", frame.subjects_of("output.corrupted"), "sum", across=Combine.SUM)
    vital = Vital(
        name="corrupted",
        title="answers that hold no numbers",
        subject=service_of(frame),
        state=Promised.BROKEN,
        value=count,
        unit="requests",
        limit=0.0,
        limit_of="none is ever right",
        since=since,
        harm=1.0,
        reason=f"{count:.0f} requests got logits that are no numbers",
        spark=spark_of(spoilt, frame.grid, since),
    )
    return Entry(vital.reckoned_by(by_hand), "output.corrupted", tuple(frame.subjects_of("output.corrupted")))

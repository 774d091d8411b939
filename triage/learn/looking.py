"""What is looked at in a recording without judging: signals of subjects before and in the window, changes."""

from collections.abc import Iterator
from typing import NamedTuple

from triage.engine.frame import Frame
from triage.engine.quantiles import Interval
from triage.engine.sparks import spark_of
from triage.engine.statistics import cells_of, statistic
from triage.learn.cases import Case
from triage.model.diagnosis import Spark
from triage.model.recording import CHANGE_KINDS, Event, Subject
from triage.model.rule import Stat
from triage.model.vocabulary import Kind, catalogue

MOVED = 1.2
"""A signal rises or falls if it changes by more than this factor, as in most rules."""

_RATES_BY_NAME = frozenset({"ratio", "cores"})
"""Units that are per second by themselves: a share of time, and CPU seconds a second."""


class Row(NamedTuple):
    """A signal of one subject: before and in the window."""

    subject: Subject
    before: Interval | None
    window: Interval | None

    @property
    def moved(self) -> float:
        """By what factor it changed, up or down; infinite if it came up from zero or is gone, 0 without a before."""
        if self.before is None:
            return 0.0
        if self.window is None:
            return float("inf")
        low, high = sorted((abs(self.before.estimate), abs(self.window.estimate)))
        if low == 0:
            return float("inf") if high else 1.0
        return high / low

    @property
    def course(self) -> str:
        """How it moved: ``rises``, ``falls``, ``steady``, ``no data``."""
        if self.window is None:
            return "no data"
        if self.before is None or self.moved <= MOVED:
            return "steady"
        return "rises" if self.window.estimate > self.before.estimate else "falls"


def subjects_like(frame: Frame, signal: str, subject: str) -> list[Subject]:
    """The subjects of a signal; of these only the one that is called so, if one is named."""
    return [one for one in frame.subjects_of(signal) if subject in ("", str(one), one.id)]


def rows_of(case: Case, signal: str, stat: Stat = "mean", subject: str = "") -> list[Row]:
    """The signal of every subject that has it, whoever moved most first."""
    frame = case.frame
    across = catalogue()[signal].combine
    spans = (frame.grid.baseline, frame.grid.window)
    rows = [
        Row(one, *(statistic(frame, signal, [one], stat, span, across) for span in spans))
        for one in subjects_like(frame, signal, subject)
    ]
    return sorted(rows, key=lambda row: (-row.moved, row.subject))


def curve_of(case: Case, signal: str, subject: Subject) -> Spark | None:
    """The values over baseline and window."""
    frame = case.frame
    return spark_of(cells_of(frame, signal, [subject], catalogue()[signal].combine), frame.grid, None)


def unit_of(signal: str, stat: Stat) -> str:
    """Unit of a statistic: what is counted comes as a rate per second."""
    entry = catalogue()[signal]
    if stat == "changes":
        return "changes"
    is_rate = entry.kind is Kind.RATE and stat != "sum" and entry.unit not in _RATES_BY_NAME
    return f"{entry.unit}/s" if is_rate or stat == "slope" else entry.unit


def changes_of(case: Case) -> Iterator[Event]:
    """The changes to the service, in the order in which they were made."""
    return (event for event in case.recording.events if event.kind in CHANGE_KINDS)

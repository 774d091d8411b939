"""Entries of the ledger, the spans in which a promise is judged, and how much harm a broken one does."""

from collections.abc import Sequence
from math import sqrt
from typing import Any

import numpy as np

from triage.classes import dataclass
from triage.engine.frame import Frame
from triage.engine.onset import onset_index
from triage.engine.statistics import MOMENT
from triage.model.arrays import median, median_of_known, quantile_of
from triage.model.diagnosis import Promised, Vital
from triage.model.recording import Floats, Subject
from triage.model.rule import Stat
from triage.model.vocabulary import Scope

_SCRAPES_NOW = 4
_LEAST_NOW = 30.0
"""Now is the last four scrapes of a source and at least half a minute: fewer requests say nothing about a quantile."""

_SLOWEST = 120.0
"""A source that speaks less often is taken for one of two minutes (as ``_SLOWEST`` of triage/engine/frame.py)."""

_BURN_OVER_WINDOW = 6.0
BURN_OF_MOMENT = 14.4
"""Times the allowed failures at which somebody is called out of bed, over long and over short spans.

Google, The Site Reliability Workbook, chapter 5 (alerting on SLOs): 14.4 for short windows, 6 for long ones, 1 is a ticket.
"""


@dataclass(frozen=True)
class Span:
    """A part of the window in which a promise is judged.

    :param words: which part it is
    :param burn: times the allowed share at which it is an incident
    :param doubt: standard deviations that the share of the bad ones must lie beyond what is allowed: more where one of many
        moments is picked for being the worst
    """

    cells: slice
    words: str
    burn: float
    doubt: float


@dataclass(frozen=True)
class Entry:
    """A line of the ledger with what it rests on.

    :param signal: what was measured; empty if several things were
    :param subjects: whose values were put together
    """

    vital: Vital
    signal: str = ""
    subjects: tuple[Subject, ...] = ()
    stat: Stat = "mean"

    @property
    def measured(self) -> tuple[str, str]:
        """Signal and statistic that the value is; the promise's own name where it was worked out of several things."""
        is_its_own = self.signal != "" and self.stat != "mean"
        return (self.signal, self.stat) if is_its_own else (self.vital.name, "")

    @property
    def is_part(self) -> bool:
        """Whether it is about a part of the service."""
        return not self.vital.subject.startswith(f"{Scope.SERVICE.value}/")


def service_of(frame: Frame) -> str:
    """The service as a subject of a vital."""
    return str(Subject(Scope.SERVICE, frame.recording.service))


def interval_of(frame: Frame, signals: Sequence[str]) -> float:
    """Seconds between two scrapes of the slowest of the sources of some signals; the recording's step if nobody knows."""
    return min(max([*(_pace(frame, name)[0] for name in signals), frame.recording.step]), _SLOWEST)


def _pace(frame: Frame, signal: str) -> tuple[float, float]:
    """Seconds between the last scrapes of the slowest source of a signal, and the time of its last sample until the window's end.

    Asked again they are remembered; 0 and -inf where there are none.
    """
    return frame.remembered(("pace", signal), lambda: _pace_of(frame, signal))


def _pace_of(frame: Frame, signal: str) -> tuple[float, float]:
    end = frame.recording.window.end
    every = [panel.times for panel in frame.recording.panels.get(signal, ()) if len(panel.subjects)]
    times = {some.tobytes(): some for some in [*every, *(one.times for one in frame.histograms(signal).values())]}.values()
    usual = [median(np.diff(some[-20:])) for some in times if len(some) > 2]
    last = [float(some[index - 1]) for some in times if (index := int(np.searchsorted(some, end, side="right")))]
    return max(usual, default=0.0), max(last, default=-np.inf)


def last_seen(frame: Frame, signals: Sequence[str]) -> float | None:
    """Time of the last sample of some signals until the window's end; None if there is none."""
    last = max(_pace(frame, name)[1] for name in signals)
    return last if np.isfinite(last) else None


def is_stale(frame: Frame, signals: Sequence[str]) -> bool:
    """Whether the last values of some signals are older than a few scrapes of their source: nothing rests on them."""
    seen = last_seen(frame, signals)
    allowed = max(_SCRAPES_NOW * interval_of(frame, signals), frame.grid.step)
    return seen is not None and frame.recording.window.end - seen > allowed + frame.grid.step


def now(frame: Frame, signals: Sequence[str]) -> slice:
    """The cells of the last few scrapes of some signals, no more than half of the window."""
    inside = len(frame.grid.times) - frame.grid.first
    wanted = max(_SCRAPES_NOW * interval_of(frame, signals), _LEAST_NOW)
    count = max(1, min(round(wanted / frame.grid.step), inside // 2))
    return slice(len(frame.grid.times) - count, len(frame.grid.times))


def spans(frame: Frame, signals: Sequence[str]) -> list[Span]:
    """The window, each five minutes of it (if it is at least twice as long), and now."""
    grid = frame.grid
    found = [Span(grid.window, "over the window", _BURN_OVER_WINDOW, 2.0)]
    width = max(1, round(MOMENT / grid.step))
    if len(grid.times) - grid.first >= 2 * width:
        starts = range(grid.first, len(grid.times) - width + 1, max(1, width // 4))
        found += [Span(slice(at, at + width), "in the worst five minutes", BURN_OF_MOMENT, 3.0) for at in starts]
    return [*found, Span(now(frame, signals), "now", BURN_OF_MOMENT, 3.0)]


def surely_above(part: float, whole: float, allowed: float, doubt: float) -> bool:
    """Whether a share lies beyond what is allowed, chance excluded (lower bound of Wilson's interval).

    :param doubt: standard deviations
    """
    if whole <= 0 or part <= 0:
        return False
    share, square = min(part / whole, 1.0), doubt * doubt
    middle = share + square / (2 * whole)
    width = doubt * sqrt(share * (1 - share) / whole + square / (4 * whole * whole))
    return (middle - width) / (1 + square / whole) > allowed


UNMEASURED = "nobody measures it"
"""Why a promise is open of which no source tells anything."""

UNCOUNTED = "nobody counts it"
"""Why a promise about a share of requests is open of which no source counts any."""


def open_vital(frame: Frame, name: str, title: str, reason: str, **told: Any) -> Vital:
    """A promise of the service of which nobody can say what became."""
    return Vital(name=name, title=title, subject=service_of(frame), state=Promised.OPEN, reason=reason, **told)


def began(cells: Floats | None, frame: Frame, limit: float) -> float | None:
    """When a signal crossed a limit for good, or half of the way from its usual level to its level in the window.

    None if before all data, or if nobody can say.
    """
    if cells is None:
        return None
    first = frame.grid.first
    before, inside = cells[frame.grid.baseline], cells[first:]
    if np.isnan(inside).all():
        return None
    edge = limit
    if not np.isnan(before).all():
        low, high = median_of_known(before), float(quantile_of(inside[~np.isnan(inside)], 0.75))
        edge = (low + high) / 2.0 if high > low else limit
    with np.errstate(invalid="ignore"):
        index = onset_index(cells > edge, ~np.isnan(cells), first)
    return None if index is None or index == 0 else float(frame.grid.times[index])


def ended(cells: Floats | None, frame: Frame, limit: float, lately: slice) -> float | None:
    """When a signal went back below a limit for good; None if it is still beyond, or if nothing is known of now.

    :param lately: the cells that are now
    """
    if cells is None or np.isnan(cells[lately]).all():
        return None
    with np.errstate(invalid="ignore"):
        beyond = np.flatnonzero(cells[frame.grid.first :] > limit)
    if not len(beyond):
        return None
    last = frame.grid.first + int(beyond[-1])
    return float(frame.grid.times[last]) if last < lately.start else None

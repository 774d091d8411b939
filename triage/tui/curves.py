"""Curves of evidence as plain data, ready to be drawn, from the few points that a diagnosis keeps."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import isfinite

import numpy as np

from triage.classes import dataclass
from triage.model.diagnosis import Evidence, Span
from triage.model.recording import CHANGE_KINDS, Event
from triage.model.units import clock, duration, quantity
from triage.tui.snapshot import Mark, Snapshot

_BINS = 60
"""Points of a curve of events: how many fell into each part of the time."""

_GREATEST = 1e150
"""What is greater is a broken reading that no scale can show."""


@dataclass(frozen=True)
class Curve:
    """One thing over time, ready to be drawn.

    :param times: middles of the cells, Unix seconds, ascending
    :param values: base units, None where nothing was measured; as many as times
    :param threshold: what the value is held against, if that is a number
    :param baseline: what is usual
    :param onset: when the trouble began, Unix seconds
    :param window: when the window that is judged begins
    :param marks: changes that fall into the time
    """

    times: tuple[float, ...]
    values: tuple[float | None, ...]
    unit: str
    threshold: float | None = None
    baseline: float | None = None
    onset: float | None = None
    window: float | None = None
    marks: tuple[Mark, ...] = ()

    @property
    def known(self) -> list[float]:
        """Values that a scale can show."""
        return [value for value in self.values if value is not None]


def coarse(evidence: Evidence, snapshot: Snapshot) -> Curve | None:
    """The curve that the diagnosis kept; None if there is nothing to draw. Events are no curve."""
    if evidence.spark is None or not evidence.spark.values:
        return None
    spark = evidence.spark
    step = (spark.end - spark.start) / len(spark.values)
    times = tuple(spark.start + step * (index + 0.5) for index in range(len(spark.values)))
    return curve_of(evidence, snapshot.diagnosis.window, snapshot.marks, times, spark.values)


def events_of(evidence: Evidence, snapshot: Snapshot) -> list[Event]:
    """The events that a piece of evidence speaks of, in order of time."""
    kind = evidence.signal.removeprefix("event:")
    names = {name for name in evidence.stat.split(", ") if name}
    return [event for event in snapshot.events if _is_of(event, kind) and (not names or event.name in names)]


def description(curve: Curve, near: float) -> str:
    """The curve in a sentence, for those who do not see it.

    :param near: Unix seconds of a moment whose date the reader knows
    """
    known = curve.known
    if not known:
        return "No data in this time."
    said = [
        f"From {quantity(min(known), curve.unit)} to {quantity(max(known), curve.unit)}",
        f"between {clock(curve.times[0], near)} and {clock(curve.times[-1], near)} UTC",
        f"last {quantity(known[-1], curve.unit)}",
        *_levels(curve),
    ]
    if curve.onset is not None:
        said.append(f"onset at {clock(curve.onset, near)}")
    said += [f"{mark.label} at {clock(mark.time, near)}" for mark in curve.marks[:3]]
    missing = len(curve.values) - len(known)
    if missing:
        said.append(f"{missing} of {len(curve.values)} values missing")
    return ", ".join(said) + "."


def numbers(curve: Curve, near: float) -> list[tuple[str, str]]:
    """What there is to say of the values in figures: before the window and in it."""
    start = curve.window if curve.window is not None else curve.times[0]
    before = [v for t, v in zip(curve.times, curve.values, strict=True) if v is not None and t < start]
    inside = [v for t, v in zip(curve.times, curve.values, strict=True) if v is not None and t >= start]
    rows = [("before", _summary(before, curve.unit)), ("window", _summary(inside, curve.unit))]
    if curve.onset is not None:
        ago = duration(max(curve.times[-1] - curve.onset, 0.0))
        rows.append(("onset", f"{clock(curve.onset, near)} UTC, {ago} before the end"))
    return rows


def _summary(values: Sequence[float], unit: str) -> str:
    """Mean, range and number of some values."""
    if not values:
        return "no data"
    mean = sum(values) / len(values)
    low, high = min(values), max(values)
    span = f"{quantity(low, unit, like=mean)} to {quantity(high, unit, like=mean)}"
    return f"mean {quantity(mean, unit)}, {span}, {len(values)} values"


def _levels(curve: Curve) -> Iterator[str]:
    """Baseline and threshold in words."""
    for label, value in (("baseline", curve.baseline), ("threshold", curve.threshold)):
        if value is not None:
            yield f"{label} {quantity(value, curve.unit)}"


def curve_of(
    evidence: Evidence, span: Span, marks: Sequence[Mark], times: tuple[float, ...], values: Sequence[float | None]
) -> Curve:
    """A curve with the levels and moments of its evidence."""
    first, last = times[0], times[-1]
    window = span.start if first < span.start < last else None
    onset = evidence.since if evidence.since is not None and first <= evidence.since <= last else None
    return Curve(
        times=times,
        values=tuple(_drawable(value) for value in values),
        unit=evidence.unit,
        threshold=_drawable(evidence.threshold),
        baseline=_drawable(evidence.baseline),
        onset=onset,
        window=window,
        marks=tuple(mark for mark in marks if first <= mark.time <= last),
    )


def _drawable(value: float | None) -> float | None:
    """The value, if a scale can show it."""
    return value if value is not None and isfinite(value) and abs(value) < _GREATEST else None


def of_events(events: Sequence[Event], snapshot: Snapshot) -> Curve | None:
    """How many events fell into each part of the time, where nothing was measured that could tell the story in one line."""
    begin, end = snapshot.begin, snapshot.diagnosis.window.end
    inside = [event for event in events if begin <= event.time <= end]
    if not inside or end <= begin:
        return None
    counts, edges = np.histogram([event.time for event in inside], bins=_BINS, range=(begin, end))
    times = tuple(float(time) for time in (edges[:-1] + edges[1:]) / 2.0)
    start = snapshot.diagnosis.window.start
    return Curve(
        times=times,
        values=tuple(float(count) for count in counts),
        unit="events",
        onset=inside[0].time,
        window=start if times[0] < start < times[-1] else None,
        marks=tuple(mark for mark in snapshot.marks if begin <= mark.time <= end),
    )


def _is_of(event: Event, kind: str) -> bool:
    """Whether an event is of a kind, or a change where any change is meant."""
    return event.kind == kind or (kind == "change" and event.kind in CHANGE_KINDS)


def trimmed(curve: Curve, most: int) -> Curve:
    """The curve with at most so many points, neighbours averaged, for a narrow screen."""
    if len(curve.times) <= most:
        return curve
    groups = [list(group) for group in np.array_split(np.arange(len(curve.times)), most)]
    times = tuple(sum(curve.times[i] for i in group) / len(group) for group in groups)
    return replace(curve, times=times, values=tuple(_mean([curve.values[i] for i in group]) for group in groups))


def _mean(values: Sequence[float | None]) -> float | None:
    """Mean of what is known."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None

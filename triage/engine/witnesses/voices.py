"""Voices: what one source says of one subject, and when it spoke."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from triage.engine.frame import Frame
from triage.model.arrays import distinct
from triage.model.recording import LOG, Floats, HistogramPanel, Panel, Series, Subject
from triage.model.vocabulary import Scope

AnyPanel = Panel | HistogramPanel

SCRAPER = "prometheus"
"""Dialect of what the monitoring says of its own scrapes: it speaks although the target does not."""

LEAST_SAMPLES = 8
"""A voice of fewer samples has no interval of its own."""

_MISSED = 3.5
"""A voice is silent if it misses three samples in a row; one or two are lost now and then."""

_LEAST_HOLE = 15.0
"""Chosen: seconds of the shortest silence. A source that is scraped every 15 s, as is usual, would not show less either; who
samples every second on a busy machine is late by some."""


def silent_after(step: float) -> float:
    """Seconds without a sample after which a source of some interval is silent."""
    return max(_MISSED * step, _LEAST_HOLE)


Place = tuple[Panel, int]
"""A series: its panel and row."""


@dataclass(frozen=True)
class Voice:
    """What one source says of one subject.

    :param dialect: name of the source's dialect
    :param places: where its series lie
    :param names: signals of its series and distributions
    :param times: when it spoke, Unix seconds, ascending, shape (T,)
    :param step: usual distance of its samples, seconds; 0 if it spoke but once
    """

    dialect: str
    subject: Subject
    places: Sequence[Place]
    names: Sequence[str]
    times: Floats
    step: float

    @cached_property
    def series(self) -> tuple[Series, ...]:
        """All that it tells but its distributions, in the order of their signals."""
        return tuple(panel.row(row) for panel, row in self.places)

    @property
    def is_scraper(self) -> bool:
        """Whether it is the monitoring that speaks of the subject, and not the subject."""
        return self.dialect == SCRAPER

    def spoke(self, since: float, until: float) -> bool:
        """Whether it spoke between two moments."""
        return bool(np.searchsorted(self.times, until, side="left") > np.searchsorted(self.times, since, side="right"))

    def spoke_throughout(self, since: float, until: float) -> bool:
        """Whether it went on all the time between two moments."""
        inside = self.times[(self.times > since) & (self.times < until)]
        corners = np.concatenate(([since], inside, [until]))
        return bool(len(inside)) and float(np.diff(corners).max()) <= silent_after(self.step)


@dataclass(frozen=True)
class Hole:
    """A time in which somebody who spoke before is silent.

    :param since: its last word
    :param until: its next word; the end of the data if there is none
    :param ends: whether it spoke again
    """

    since: float
    until: float
    ends: bool

    @property
    def seconds(self) -> float:
        """How long it is."""
        return self.until - self.since


class Voices:
    """All voices of a recording's metrics. What was read out of log lines has its own pace and is none."""

    def __init__(self, frame: Frame) -> None:
        recording = frame.recording
        self.panels = [_heard(one) for name in sorted(recording.panels) for one in recording.panels[name] if _is_heard(one)]
        distributions: list[HistogramPanel] = [
            one for name in sorted(recording.histogram_panels) for one in recording.histogram_panels[name]
        ]
        told: dict[tuple[str, Subject], tuple[list[Place], list[AnyPanel]]] = {}
        for panel in self.panels:
            for row, subject in enumerate(panel.subjects):
                places, panels = told.setdefault((panel.dialect, subject), ([], []))
                places.append((panel, row))
                panels.append(panel)
        for each in distributions:
            for subject in each.subjects if _is_heard(each) else ():
                if subject.scope is not Scope.CLIENT:
                    told.setdefault((each.dialect, subject), ([], []))[1].append(each)
        self._moments: dict[bytes, int] = {}
        every: list[AnyPanel] = [*self.panels, *distributions]
        self._read = {id(one): self._moments.setdefault(one.times.tobytes(), len(self._moments)) for one in every}
        paces: dict[frozenset[int], tuple[Floats, float]] = {}
        self.all = [self._voice(*key, *told[key], paces) for key in sorted(told)]

    def _voice(
        self,
        dialect: str,
        subject: Subject,
        places: Sequence[Place],
        panels: Sequence[AnyPanel],
        paces: dict[frozenset[int], tuple[Floats, float]],
    ) -> Voice:
        """One voice; its samples are those of all its series.

        :param paces: times and steps of voices before it: most have the same
        """
        key = frozenset([self._read[id(panel)] for panel in panels])
        if key not in paces:
            rows = [panel.times for panel in panels]
            steps = [_middle(np.diff(row)) for row in rows if len(row) >= LEAST_SAMPLES]
            paces[key] = _united(rows), min(steps, default=0.0)
        return Voice(dialect, subject, places, [panel.signal for panel in panels], *paces[key])

    @cached_property
    def end(self) -> float:
        """When anybody last spoke."""
        return max((float(voice.times[-1]) for voice in self.all), default=0.0)

    @cached_property
    def by_subject(self) -> dict[Subject, list[Voice]]:
        """Voices by whom they speak of."""
        grouped: dict[Subject, list[Voice]] = {}
        for voice in self.all:
            grouped.setdefault(voice.subject, []).append(voice)
        return grouped

    @cached_property
    def by_dialect(self) -> dict[str, list[Voice]]:
        """Voices by source."""
        grouped: dict[str, list[Voice]] = {}
        for voice in self.all:
            grouped.setdefault(voice.dialect, []).append(voice)
        return grouped

    @cached_property
    def of_replicas(self) -> frozenset[str]:
        """Sources that speak of replicas."""
        return frozenset(voice.dialect for voice in self.all if voice.subject.scope is Scope.REPLICA)

    def holes_of(self, voice: Voice) -> list[Hole]:
        """Times in which a voice is silent, its end included where others speak longer."""
        if len(voice.times) < LEAST_SAMPLES or voice.step <= 0:
            return []
        return list(_holes(voice.times, silent_after(voice.step), self.end))


def _is_heard(panel: AnyPanel) -> bool:
    """Whether somebody measured it: lines of logs have their own pace."""
    return panel.dialect != LOG and bool(len(panel.times))


def _heard(panel: Panel) -> Panel:
    """What is told of others than clients."""
    rows = [row for row, subject in enumerate(panel.subjects) if subject.scope is not Scope.CLIENT]
    return panel if len(rows) == len(panel.subjects) else panel.taken(rows)


def _middle(steps: Floats) -> float:
    """The upper median: of hundreds of series numpy's own costs more than all the rest."""
    return float(np.partition(steps, len(steps) // 2)[len(steps) // 2])


def _united(rows: Iterable[Floats]) -> Floats:
    """All times of several series; most of them have the same."""
    apart = {(len(row), float(row[0]), float(row[-1])): row for row in rows}
    only = list(apart.values())
    return only[0] if len(only) == 1 else distinct(np.concatenate(only))


def _holes(times: Floats, staleness: float, end: float) -> Iterator[Hole]:
    """Times without samples that are longer than somebody's patience."""
    for index in np.flatnonzero(np.diff(times) > staleness):
        yield Hole(float(times[index]), float(times[index + 1]), ends=True)
    if end - times[-1] > staleness:
        yield Hole(float(times[-1]), end, ends=False)


def common_holes(voices: Voices, end: float) -> list[Hole]:
    """Times in which nobody at all speaks, although two sources or more have an interval of their own."""
    heard = [voice for voice in voices.all if len(voice.times) >= LEAST_SAMPLES and voice.step > 0]
    if len({voice.dialect for voice in heard}) < 2:
        return []
    times = distinct(np.concatenate([voice.times for voice in heard]))
    return list(_holes(times, silent_after(min(voice.step for voice in heard)), end))

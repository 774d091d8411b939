"""Voices: what one source says of one subject, and when it spoke."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from triage.engine.frame import Frame
from triage.model.recording import LOG, Floats, Histogram, Series, Subject
from triage.model.vocabulary import Scope

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


@dataclass(frozen=True)
class Voice:
    """What one source says of one subject.

    :param dialect: name of the source's dialect
    :param times: when it spoke, Unix seconds, ascending, shape (T,)
    :param step: usual distance of its samples, seconds; 0 if it spoke but once
    """

    dialect: str
    subject: Subject
    series: tuple[Series, ...]
    histograms: tuple[Histogram, ...]
    times: Floats
    step: float

    @property
    def is_scraper(self) -> bool:
        """Whether it is the monitoring that speaks of the subject, and not the subject."""
        return self.dialect == SCRAPER

    @property
    def signals(self) -> Iterator[str]:
        """Names of all that it tells."""
        yield from (one.signal for one in self.series)
        yield from (one.signal for one in self.histograms)

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
        series: dict[tuple[str, Subject], list[Series]] = {}
        histograms: dict[tuple[str, Subject], list[Histogram]] = {}
        for one in frame.recording.series:
            if one.origin.dialect != LOG and one.subject.scope is not Scope.CLIENT and len(one.times):
                series.setdefault((one.origin.dialect, one.subject), []).append(one)
        for each in frame.recording.histograms:
            if each.origin.dialect != LOG and each.subject.scope is not Scope.CLIENT and len(each.times):
                histograms.setdefault((each.origin.dialect, each.subject), []).append(each)
        self.all = [_voice(*key, series.get(key, ()), histograms.get(key, ())) for key in sorted({*series, *histograms})]

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


def _voice(dialect: str, subject: Subject, series: Sequence[Series], histograms: Sequence[Histogram]) -> Voice:
    """One voice; its samples are those of all its series."""
    rows = [one.times for one in series] + [one.times for one in histograms]
    times = _united(rows)
    steps = [_middle(np.diff(row)) for row in rows if len(row) >= LEAST_SAMPLES]
    return Voice(dialect, subject, tuple(series), tuple(histograms), times, min(steps, default=0.0))


def _middle(steps: Floats) -> float:
    """The upper median: of hundreds of series numpy's own costs more than all the rest."""
    return float(np.partition(steps, len(steps) // 2)[len(steps) // 2])


def _united(rows: Iterable[Floats]) -> Floats:
    """All times of several series; most of them have the same."""
    distinct = {(len(row), float(row[0]), float(row[-1])): row for row in rows}
    only = list(distinct.values())
    return only[0] if len(only) == 1 else np.unique(np.concatenate(only))


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
    times = np.unique(np.concatenate([voice.times for voice in heard]))
    return list(_holes(times, silent_after(min(voice.step for voice in heard)), end))

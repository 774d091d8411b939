"""Voices: what one source says of one subject, and when it spoke."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from operator import itemgetter

import numpy as np

from triage.classes import dataclass
from triage.engine.frame import Frame
from triage.model.arrays import distinct
from triage.model.recording import LOG, Chosen, Floats, HistogramPanel, Panel, Series, Subject
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


@dataclass(frozen=True, eq=False)
class Lot:
    """What one source says of the same subjects in the same order, panel by panel.

    :param subjects: shape (S,)
    :param panels: with their places among all panels
    """

    dialect: str
    subjects: Sequence[Subject]
    panels: list[tuple[int, AnyPanel]]

    @cached_property
    def moments(self) -> frozenset[bytes]:
        """When its panels were read."""
        return frozenset(panel.times.tobytes() for _, panel in self.panels)


Place = tuple[Lot, int]
"""Of a lot the row that is somebody's."""


@dataclass(frozen=True)
class Voice:
    """What one source says of one subject.

    :param dialect: name of the source's dialect
    :param places: where its series and distributions lie
    :param times: when it spoke, Unix seconds, ascending, shape (T,)
    :param step: usual distance of its samples, seconds; 0 if it spoke but once
    """

    dialect: str
    subject: Subject
    places: Sequence[Place]
    times: Floats
    step: float

    @cached_property
    def series(self) -> tuple[Series, ...]:
        """All that it tells but its distributions, in the order of their signals."""
        held = [(number, panel, row) for lot, row in self.places for number, panel in lot.panels]
        return tuple(panel.row(row) for _, panel, row in sorted(held, key=itemgetter(0)) if isinstance(panel, Panel))

    @cached_property
    def names(self) -> frozenset[str]:
        """Signals of its series and distributions."""
        return frozenset(panel.signal for lot, _ in self.places for _, panel in lot.panels)

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
        self.panels = [one for name in sorted(recording.panels) for one in recording.panels[name] if _is_heard(one)]
        self.news_of = frame.news_of
        distributions = [one for name in sorted(recording.histogram_panels) for one in recording.histogram_panels[name]]
        lots: dict[tuple[str, int], Lot] = {}
        known: dict[tuple[Subject, ...], int] = {}
        every: list[AnyPanel] = [*self.panels, *filter(_is_heard, distributions)]
        for number, panel in enumerate(every):
            subjects = known.setdefault(tuple(panel.subjects), len(known))
            lots.setdefault((panel.dialect, subjects), Lot(panel.dialect, panel.subjects, [])).panels.append((number, panel))
        told: dict[tuple[str, Subject], list[Place]] = {}
        for lot in lots.values():
            for row, subject in enumerate(lot.subjects):
                if subject.scope is not Scope.CLIENT:
                    told.setdefault((lot.dialect, subject), []).append((lot, row))
        self._holes: dict[tuple[int, float], list[Hole]] = {}
        paces: dict[frozenset[bytes], tuple[Floats, float]] = {}
        self.all = [Voice(*key, told[key], *_pace(told[key], paces)) for key in sorted(told)]

    def heard_of(self, panel: Panel) -> Chosen:
        """Rows of a panel that are of others than clients."""
        rows = [row for row, subject in enumerate(panel.subjects) if subject.scope is not Scope.CLIENT]
        return slice(None) if len(rows) == len(panel.subjects) else np.array(rows, dtype=np.int64)

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
        """Times in which a voice is silent, its end included where others speak longer; most voices spoke at the same times."""
        if len(voice.times) < LEAST_SAMPLES or voice.step <= 0:
            return []
        key = id(voice.times), voice.step
        if (known := self._holes.get(key)) is None:
            known = self._holes[key] = list(_holes(voice.times, silent_after(voice.step), self.end))
        return known


def _is_heard(panel: AnyPanel) -> bool:
    """Whether somebody measured it: lines of logs have their own pace."""
    return panel.dialect != LOG and bool(len(panel.times))


def _pace(places: Sequence[Place], paces: dict[frozenset[bytes], tuple[Floats, float]]) -> tuple[Floats, float]:
    """When somebody spoke, and the usual distance of samples.

    :param paces: the same of those before, by the moments of their panels: most have the same
    """
    key = frozenset[bytes]().union(*(lot.moments for lot, _ in places))
    if key not in paces:
        rows = [panel.times for _, panel in sorted((pair for lot, _ in places for pair in lot.panels), key=itemgetter(0))]
        steps = [_middle(np.diff(row)) for row in rows if len(row) >= LEAST_SAMPLES]
        paces[key] = _united(rows), min(steps, default=0.0)
    return paces[key]


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
    times = distinct(np.concatenate(list({id(voice.times): voice.times for voice in heard}.values())))
    return list(_holes(times, silent_after(min(voice.step for voice in heard)), end))

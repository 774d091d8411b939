"""A recording: series, events and facts of one window, immutable. Collectors make it, replay reads it."""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from enum import StrEnum
from functools import cached_property, partial
from typing import Generic, NamedTuple, Protocol, TypeVar, cast, overload

import numpy as np
import numpy.typing as npt

from triage.classes import dataclass
from triage.model.vocabulary import Scope

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Chosen = Ints | slice
"""Which rows."""


LOG = "log"
"""Dialect of series that were read out of log lines."""

CHANGE_KINDS = frozenset(
    {"deploy", "config", "scale", "rollback", "restart", "drain", "change", "rollout", "upgrade", "failover"}
)
"""Kinds of events that somebody or something caused on purpose."""


_SAME_ONSET = 15.0
"""Chosen: seconds by which two looks may date the same onset apart: cells of the grid lie elsewhere in each."""


class Subject(NamedTuple):
    """What a series, an event or a fact is about: a replica, a card, a node, the service."""

    scope: Scope
    id: str

    def __str__(self) -> str:
        return f"{self.scope}/{self.id}"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a series came from, enough to look at it again by hand.

    :param dialect: name of the dialect that understood it
    :param metric: the source's own name
    :param selector: PromQL selector of the very series, or empty where there is none
    :param counter: the source is a cumulative counter, so a query must take its rate
    :param scale: factor from the source's unit to the base unit
    :param offset: added after scaling
    :param more: selectors of the series of other names that are put together with it; of a mean that two counters make its count
    :param combine: how several series make one value: ``sum``, ``mean``, ``max``, ``min``
    :param copies: labels in which copies of one series differ, of which the greatest counts
    :param flag: PromQL that makes 1 or 0 of a sample ``{}``; empty if its value counts
    :param plain: a query can say all that was done with the samples
    :param born: when a running total last appeared that was counted from 0, since its target shows that it was not there before,
        Unix seconds; 0 if none did
    :param fell: when a running total last fell (its process began anew), Unix seconds; 0 if none did
    :param shown_at: URL of the exposition that it was read from, where no server that speaks PromQL was asked
    :param series: how many series of the source it is made of
    """

    dialect: str
    metric: str
    selector: str = ""
    counter: bool = False
    scale: float = 1.0
    offset: float = 0.0
    more: tuple[str, ...] = ()
    combine: str = "sum"
    copies: tuple[str, ...] = ()
    flag: str = ""
    plain: bool = True
    born: float = 0.0
    fell: float = 0.0
    shown_at: str = ""
    series: int = 1


@dataclass(frozen=True, slots=True)
class Series:
    """One signal of one subject over time.

    :param times: Unix seconds, strictly ascending, shape (T,)
    :param values: base units, shape (T,); of a rate the mean per second since the sample before
    """

    signal: str
    subject: Subject
    times: Floats
    values: Floats
    origin: Origin


@dataclass(frozen=True, slots=True)
class Histogram:
    """One distribution of one subject over time, as observations per second in each bucket.

    :param times: Unix seconds, strictly ascending, shape (T,)
    :param bounds: upper bounds of the buckets in base units, ascending, the last one +inf, shape (B,);
        a source that gives only sum and count has the single bound +inf
    :param rates: observations per second since the sample before, by bucket (not cumulative), shape (T, B)
    :param sums: sum of the observed values per second since the sample before, shape (T,)
    """

    signal: str
    subject: Subject
    times: Floats
    bounds: Floats
    rates: Floats
    sums: Floats
    origin: Origin


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """One signal of several subjects that one source read at the same moments, side by side; each row is a series.

    Values that lie in a file are read when they are asked for, and let go when nobody holds them.

    :param dialect: who told all of it
    :param subjects: whose each row is, length S
    :param times: Unix seconds, strictly ascending, shape (T,)
    :param read: gives the values of some rows, base units, shape (rows, T)
    :param origins: tells where some rows come from
    :param made: its series, if they were there first
    """

    signal: str
    dialect: str
    subjects: Sequence[Subject]
    times: Floats
    read: Callable[[Chosen], Floats]
    origins: Callable[[Chosen], Sequence[Origin]]
    made: Sequence[Series] = ()

    @property
    def values(self) -> Floats:
        """All values, shape (S, T)."""
        return self.read(slice(None))

    def rows(self) -> Sequence[Series]:
        """All its series."""
        if self.made:
            return self.made
        told = zip(self.subjects, self.values, self.origins(slice(None)), strict=True)
        return [Series(self.signal, subject, self.times, values, origin) for subject, values, origin in told]

    def row(self, index: int) -> Series:
        """One of its series."""
        if self.made:
            return self.made[index]
        (values,), (origin,) = self.read(_only(index)), self.origins(_only(index))
        return Series(self.signal, self.subjects[index], self.times, values, origin)

    def taken(self, rows: Sequence[int]) -> "Panel":
        """Some of its rows, in the order given."""
        return Panel(
            self.signal,
            self.dialect,
            tuple(self.subjects[row] for row in rows),
            self.times,
            partial(_read_of, self.read, np.array(rows)),
            partial(_read_of, self.origins, np.array(rows)),
            tuple(self.made[row] for row in rows) if self.made else (),
        )


@dataclass(frozen=True, slots=True, eq=False)
class HistogramPanel:
    """One distribution of several subjects that one source read at the same moments in the same buckets, side by side.

    :param dialect: who told all of it
    :param subjects: whose each row is, length S
    :param times: Unix seconds, strictly ascending, shape (T,)
    :param bounds: upper bounds of the buckets, shape (B,)
    :param read: gives of some rows observations per second by bucket, shape (rows, T, B), and sums per second, shape (rows, T)
    :param origins: tells where some rows come from
    :param made: its distributions, if they were there first
    """

    signal: str
    dialect: str
    subjects: Sequence[Subject]
    times: Floats
    bounds: Floats
    read: Callable[[Chosen], tuple[Floats, Floats]]
    origins: Callable[[Chosen], Sequence[Origin]]
    made: Sequence[Histogram] = ()

    @property
    def values(self) -> tuple[Floats, Floats]:
        """Observations per second by bucket, shape (S, T, B), and sums per second, shape (S, T)."""
        return self.read(slice(None))

    def rows(self, *, traced: bool = True) -> Sequence[Histogram]:
        """All its distributions.

        :param traced: with where each came from, which may have to be looked up; without it only the dialect is told
        """
        if self.made:
            return self.made
        origins = self.origins(slice(None)) if traced else [Origin(self.dialect, "")] * len(self.subjects)
        told = zip(self.subjects, *self.values, origins, strict=True)
        return [
            Histogram(self.signal, subject, self.times, self.bounds, rates, sums, origin) for subject, rates, sums, origin in told
        ]

    def row(self, index: int) -> Histogram:
        """One of its distributions."""
        if self.made:
            return self.made[index]
        (rates, sums), (origin,) = self.read(_only(index)), self.origins(_only(index))
        return Histogram(self.signal, self.subjects[index], self.times, self.bounds, rates[0], sums[0], origin)

    def taken(self, rows: Sequence[int]) -> "HistogramPanel":
        """Some of its rows, in the order given."""
        return HistogramPanel(
            self.signal,
            self.dialect,
            tuple(self.subjects[row] for row in rows),
            self.times,
            self.bounds,
            partial(_read_of, self.read, np.array(rows)),
            partial(_read_of, self.origins, np.array(rows)),
            tuple(self.made[row] for row in rows) if self.made else (),
        )


Read = TypeVar("Read")


def _only(index: int) -> slice:
    return slice(index, index + 1)


def _read_of(read: Callable[[Chosen], Read], rows: Ints, some: Chosen) -> Read:
    """Reads some of some rows."""
    return read(rows[some])


Track = TypeVar("Track", Series, Histogram)
Told_co = TypeVar("Told_co", covariant=True)


class _Rows(Protocol[Told_co]):
    """What :class:`SideBySide` asks of a panel."""

    @property
    def signal(self) -> str: ...

    @property
    def subjects(self) -> Sequence[Subject]: ...

    def row(self, index: int) -> Told_co: ...

    def rows(self) -> Sequence[Told_co]: ...

    def taken(self, rows: Sequence[int]) -> "_Rows[Told_co]": ...


class SideBySide(Sequence[Track], Generic[Track]):
    """Series, or distributions, that lie in panels. One is made when somebody asks for it.

    All are made when somebody goes through them, and then they are kept with their numbers. Who asks panels needs neither.

    :param order: places in the rows of all panels, one panel after the other; None: as they are
    """

    def __init__(self, panels: Iterable[_Rows[Track]], order: Ints | None = None) -> None:
        self.panels: tuple[_Rows[Track], ...] = tuple(panels)
        self._ends = np.cumsum([len(panel.subjects) for panel in self.panels], dtype=np.int64)
        self._order = np.arange(self._ends[-1] if len(self._ends) else 0) if order is None else order

    def __len__(self) -> int:
        return len(self._order)

    def __iter__(self) -> Iterator[Track]:
        return iter(self._made)

    @cached_property
    def _made(self) -> list[Track]:
        rows = [row for panel in self.panels for row in panel.rows()]
        return [rows[place] for place in self._order.tolist()]

    @overload
    def __getitem__(self, index: int) -> Track: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Track, ...]: ...

    def __getitem__(self, index: int | slice) -> Track | tuple[Track, ...]:
        if isinstance(index, slice):
            return tuple(self._made[index])
        place = int(self._order[index])
        number = int(np.searchsorted(self._ends, place, side="right"))
        return self.panels[number].row(place - int(self._ends[number - 1] if number else 0))

    def without(self, subjects: Container[Subject]) -> "SideBySide[Track]":
        """Those of other subjects, panel by panel."""
        left = [[row for row, one in enumerate(panel.subjects) if one not in subjects] for panel in self.panels]
        both = zip(self.panels, left, strict=True)
        return SideBySide(panel if len(rows) == len(panel.subjects) else panel.taken(rows) for panel, rows in both if rows)

    def sorted(self) -> "SideBySide[Track]":
        """The same by signal and subject."""
        subjects = [subject for panel in self.panels for subject in panel.subjects]
        rank = {subject: place for place, subject in enumerate(sorted(set(subjects)))}
        signals = {signal: place for place, signal in enumerate(sorted({panel.signal for panel in self.panels}))}
        by_signal = np.repeat([signals[panel.signal] for panel in self.panels], [len(panel.subjects) for panel in self.panels])
        by_subject = np.array([rank[subject] for subject in subjects])
        return SideBySide(self.panels, self._order[np.lexsort((by_subject[self._order], by_signal[self._order]))])


def gathered(panels: Sequence[Panel], series: Sequence[Series]) -> SideBySide[Series]:
    """Series that lie in panels, and others, by signal and subject."""
    return SideBySide(sorted((*panels, *_panels(in_order(series))), key=_first_of)).sorted()


def gathered_histograms(panels: Sequence[HistogramPanel], histograms: Sequence[Histogram]) -> SideBySide[Histogram]:
    """Distributions that lie in panels, and others, by signal and subject."""
    return SideBySide(sorted((*panels, *_histogram_panels(in_order(histograms))), key=_first_of)).sorted()


def _first_of(panel: _Rows[Told_co]) -> tuple[str, Subject]:
    return panel.signal, panel.subjects[0]


def in_order(tracks: Sequence[Track]) -> Sequence[Track]:
    """Series or distributions by signal and subject."""
    return tracks.sorted() if isinstance(tracks, SideBySide) else sorted(tracks, key=lambda one: (one.signal, one.subject))


def without(tracks: Sequence[Track], subjects: Container[Subject]) -> Sequence[Track]:
    """Series or distributions of other subjects than these."""
    return tracks.without(subjects) if isinstance(tracks, SideBySide) else [one for one in tracks if one.subject not in subjects]


def _panels(series: Sequence[Series]) -> Iterator[Panel]:
    """Series side by side: those of one signal and source that were read at the same moments."""
    for (signal, dialect, *_), rows in _alike(series).items():
        subjects = tuple(one.subject for one in rows)
        yield Panel(signal, dialect, subjects, rows[0].times, partial(_stacked, rows), partial(_origins, rows), rows)


def _histogram_panels(histograms: Sequence[Histogram]) -> Iterator[HistogramPanel]:
    """Distributions side by side: those of one signal, source and buckets that were read at the same moments."""
    for (signal, dialect, *_), rows in _alike(histograms).items():
        subjects, read, origin = tuple(one.subject for one in rows), partial(_both_stacked, rows), partial(_origins, rows)
        yield HistogramPanel(signal, dialect, subjects, rows[0].times, rows[0].bounds, read, origin, rows)


def _alike(tracks: Sequence[Track]) -> dict[tuple[str, str, bytes, bytes], list[Track]]:
    """Those that lie side by side."""
    grouped: dict[tuple[str, str, bytes, bytes], list[Track]] = {}
    for one in tracks:
        bounds = one.bounds.tobytes() if isinstance(one, Histogram) else b""
        grouped.setdefault((one.signal, one.origin.dialect, one.times.tobytes(), bounds), []).append(one)
    return grouped


def _stacked(rows: Sequence[Series], some: Chosen) -> Floats:
    return np.array([one.values for one in rows])[some]


def _both_stacked(rows: Sequence[Histogram], some: Chosen) -> tuple[Floats, Floats]:
    return np.array([one.rates for one in rows])[some], np.array([one.sums for one in rows])[some]


def _origins(rows: Sequence[Series] | Sequence[Histogram], some: Chosen) -> Sequence[Origin]:
    places = range(len(rows))[some] if isinstance(some, slice) else some.tolist()
    return [rows[place].origin for place in places]


@dataclass(frozen=True, slots=True)
class Event:
    """Something at one moment.

    :param time: Unix seconds
    :param kind: ``deploy``, ``config``, ``scale``, ``rollback``, ``restart``, ``drain`` … of a change,
        ``log`` for a matched log line, ``xid`` for a kernel report of a GPU
    :param name: what exactly: the signature's id, the Xid code, the version
    :param subject: what it happened to, if that is known
    :param attrs: further values, as text
    :param text: the line or note as it was written, cleaned of secrets and control characters
    :param source: name of the log file or emitter
    """

    time: float
    kind: str
    name: str
    subject: Subject | None = None
    attrs: Mapping[str, str] = field(default_factory=dict)
    text: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that holds for the window: engine arguments, model, card kind, image of a replica."""

    subject: Subject
    key: str
    value: str | float
    origin: str = ""


class SourceState(StrEnum):
    """What became of a source of data."""

    OK = "ok"
    PARTIAL = "partial"
    FAILED = "failed"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Source:
    """What one source brought, and if it brought nothing, why.

    :param name: ``prometheus``, ``nvml``, ``log:kernel``, ``changes`` …; a log's name carries its emitter kind
    :param reason: why it failed or what is missing, one sentence; empty if all is well
    :param files: names of the files that were read, of a log
    :param lines: how many lines they hold
    """

    name: str
    state: SourceState
    reason: str = ""
    files: tuple[str, ...] = ()
    lines: int = 0


@dataclass(frozen=True, slots=True)
class Window:
    """The span to judge and the span before it that tells what is usual, in Unix seconds.

    :param baseline_end: where what is usual ends earlier than the window begins, since trouble came between; None: at the window
    """

    start: float
    end: float
    baseline_start: float
    baseline_end: float | None = None

    @property
    def usual_end(self) -> float:
        """Where the span ends that tells what is usual."""
        return self.start if self.baseline_end is None else min(self.baseline_end, self.start)


@dataclass(frozen=True)
class Recording:
    """Everything known of one service over one window.

    :param links: the subjects that a subject belongs to (a GPU to its replica and node, a replica to its node; of several engines
        behind one target each is a replica that belongs to the target's, which holds what is told of all of them)
    :param routes: gateway -> the replicas that it says it sends to
    :param strangers: services and pods that the data knows and that are none of this service's, sorted
    :param objectives: what the service promises (``ttft_p95_s``, ``error_ratio`` …)
    :param sources: what each source brought
    :param problems: what was strange about the data, one sentence each (values out of range, skewed clocks)
    :param rejected: signals whose readings were broken (out of their unit's range), with the reason
    :param unanswered: signals of which a source was asked in vain, or not asked to the end, with the reason: of them nothing, or
        not all, is known
    :param step: usual distance between two samples, seconds
    :param begun: when trouble began that earlier looks found and that still goes on, Unix seconds: kinds of failure by their id,
        promises by name and subject (``ttft_p95_s service/llm``)
    """

    service: str
    window: Window
    series: Sequence[Series] = ()
    histograms: Sequence[Histogram] = ()
    events: Sequence[Event] = ()
    facts: Sequence[Fact] = ()
    links: Mapping[Subject, tuple[Subject, ...]] = field(default_factory=dict)
    routes: Mapping[Subject, tuple[Subject, ...]] = field(default_factory=dict)
    strangers: Sequence[str] = ()
    objectives: Mapping[str, float] = field(default_factory=dict)
    sources: Sequence[Source] = ()
    problems: Sequence[str] = ()
    rejected: Mapping[str, str] = field(default_factory=dict)
    unanswered: Mapping[str, str] = field(default_factory=dict)
    step: float = 15.0
    begun: Mapping[str, float] = field(default_factory=dict)

    def onset(self, trouble: str, told: float | None) -> float | None:
        """When trouble began: as an earlier look said, unless this one knows better that it was earlier.

        :param trouble: key of ``begun``
        :param told: what this look says, Unix seconds
        """
        before = self.begun.get(trouble)
        if before is None or told is None:
            return told if before is None else before
        return told if told < before - max(_SAME_ONSET, 2.0 * self.step) else before

    @cached_property
    def panels(self) -> Mapping[str, Sequence[Panel]]:
        """Series side by side, by signal."""
        if isinstance(self.series, SideBySide):
            return _by_signal(cast("Sequence[Panel]", self.series.panels))
        return _by_signal(_panels(self.series))

    @cached_property
    def histogram_panels(self) -> Mapping[str, Sequence[HistogramPanel]]:
        """Distributions side by side, by signal."""
        if isinstance(self.histograms, SideBySide):
            return _by_signal(cast("Sequence[HistogramPanel]", self.histograms.panels))
        return _by_signal(_histogram_panels(self.histograms))

    @cached_property
    def by_signal(self) -> Mapping[str, list[Series]]:
        """Series grouped by signal; those that lie in panels are made when their signal is asked for, by subject."""
        if isinstance(self.series, SideBySide):
            return _MadeBySignal(self.panels)
        grouped: dict[str, list[Series]] = {}
        for series in self.series:
            grouped.setdefault(series.signal, []).append(series)
        return grouped

    @cached_property
    def _placed(self) -> dict[str, dict[Subject, tuple[Panel, int]]]:
        """Panel and row of each subject, by signal; those of a signal are put in place when it is asked for."""
        return {}

    def series_of(self, signal: str, subject: Subject) -> Series | None:
        """The first series of a signal of one subject; None if there is none."""
        place = self._place_of(signal, subject)
        return place[0].row(place[1]) if place is not None else None

    def times_of(self, signal: str, subject: Subject) -> Floats | None:
        """When that series was read; None if there is none. No series is made for that."""
        place = self._place_of(signal, subject)
        return place[0].times if place is not None else None

    def _place_of(self, signal: str, subject: Subject) -> tuple[Panel, int] | None:
        if signal not in self._placed:
            places = self._placed[signal] = {}
            for panel in self.panels.get(signal, ()):
                for row, one in enumerate(panel.subjects):
                    places.setdefault(one, (panel, row))
        return self._placed[signal].get(subject)

    @cached_property
    def _events_by_kind(self) -> dict[str, list[Event]]:
        grouped: dict[str, list[Event]] = {}
        for event in self.events:
            grouped.setdefault(event.kind, []).append(event)
        return grouped

    def events_of(self, kind: str) -> list[Event]:
        """The events of one kind, in the order of the recording."""
        return self._events_by_kind.get(kind, [])

    def event_names(self, kind: str) -> frozenset[str]:
        """The names of the events of one kind; ``change`` is any change."""
        return self._event_names.get(kind, frozenset())

    @cached_property
    def _event_names(self) -> dict[str, frozenset[str]]:
        told = {kind: frozenset(event.name for event in events) for kind, events in self._events_by_kind.items()}
        return told | {"change": frozenset().union(*(told.get(kind, ()) for kind in CHANGE_KINDS))}

    @cached_property
    def subjects(self) -> dict[Scope, list[Subject]]:
        """All subjects of series, histograms and links, sorted, by scope; of a replica of several engines these alone."""
        found = set(self.links)
        found.update(*(panel.subjects for panels in self.panels.values() for panel in panels))
        found.update(*(panel.subjects for panels in self.histogram_panels.values() for panel in panels))
        for targets in self.links.values():
            found.update(targets)
        grouped: dict[Scope, list[Subject]] = {scope: [] for scope in Scope}
        for subject in sorted(found - self._wholes.keys()):
            grouped[subject.scope].append(subject)
        return grouped

    @cached_property
    def _wholes(self) -> dict[Subject, list[Subject]]:
        """Replica of several engines -> its engines."""
        wholes: dict[Subject, list[Subject]] = {}
        for engine in sorted(self.links):
            if (whole := self.whole_of(engine)) is not None:
                wholes.setdefault(whole, []).append(engine)
        return wholes

    def whole_of(self, subject: Subject) -> Subject | None:
        """The replica that an engine is one of several of; None if it stands for itself."""
        return self._whole.get(subject)

    @cached_property
    def _whole(self) -> dict[Subject, Subject]:
        """The replica of each engine that is one of several of it."""
        pairs = ((one, target) for one, targets in self.links.items() for target in reversed(targets))
        return {one: target for one, target in pairs if target.scope is one.scope}

    def engines_of(self, replica: Subject) -> list[Subject]:
        """The engines behind one target, sorted; none if it has but one."""
        return self._wholes.get(replica, [])

    @cached_property
    def _carried(self) -> dict[Subject, list[Subject]]:
        """The other way round of the links."""
        carried: dict[Subject, list[Subject]] = {}
        for subject in sorted(self.links):
            for target in self.links[subject]:
                carried.setdefault(target, []).append(subject)
        return carried

    def parts_of(self, subject: Subject) -> list[Subject]:
        """What belongs to a subject, sorted; of a replica of several engines these alone."""
        return [one for one in self._carried.get(subject, ()) if one not in self._wholes]

    def node_of(self, subject: Subject) -> Subject | None:
        """The node that a replica or a card is on; None if nobody says or several are said."""
        if subject.scope is Scope.NODE:
            return subject
        nodes = [target for target in self.links.get(subject, ()) if target.scope is Scope.NODE]
        return nodes[0] if len(nodes) == 1 else None

    def cards_of(self, subject: Subject) -> list[Subject]:
        """The cards of a replica or a node, sorted."""
        return [one for one in self._carried.get(subject, ()) if one.scope is Scope.GPU]

    def replicas_of(self, subject: Subject) -> list[Subject]:
        """The replicas on a node, of a card, or behind a gateway, sorted; of a gateway that does not say all there are."""
        if subject.scope is Scope.GATEWAY:
            return list(self.routes.get(subject, self.subjects[Scope.REPLICA]))
        told = {*self._carried.get(subject, ()), *self.links.get(subject, ())}
        return sorted(one for one in told if one.scope is Scope.REPLICA)

    def is_stranger(self, name: str) -> bool:
        """Whether a name is known to be another service's or another service's pod's."""
        return name in self._strangers

    @cached_property
    def _strangers(self) -> frozenset[str]:
        return frozenset(self.strangers)

    def trait(self, key: str, subject: Subject) -> str | float | None:
        """A fact of a subject itself or of its node (``zone``, ``pool``), never the service's; None if nobody tells."""
        for one in (subject, self.node_of(subject)):
            if one is not None and (one, key) in self._own_facts:
                return self._own_facts[one, key]
        return None

    @cached_property
    def _own_facts(self) -> dict[tuple[Subject, str], str | float]:
        found: dict[tuple[Subject, str], str | float] = {}
        for fact in self.facts:
            found.setdefault((fact.subject, fact.key), fact.value)
        return found

    @cached_property
    def facts_of(self) -> dict[Subject, dict[str, str | float]]:
        """What is known of each subject; the first source that says it counts."""
        grouped: dict[Subject, dict[str, str | float]] = {}
        for fact in self.facts:
            grouped.setdefault(fact.subject, {}).setdefault(fact.key, fact.value)
        return grouped

    def fact(self, key: str, subject: Subject | None = None) -> str | float | None:
        """The value of a fact, of this subject if it has its own, else of the service; None if nobody knows."""
        own = self.facts_of.get(subject, {}) if subject is not None else {}
        if key in own:
            return own[key]
        told = [facts[key] for facts in self._facts_of_services if key in facts]
        return told[-1] if told else None

    @cached_property
    def _facts_of_services(self) -> list[dict[str, str | float]]:
        return [facts for one, facts in self.facts_of.items() if one.scope is Scope.SERVICE]


def told_of(panels: Iterable[Panel]) -> list[tuple[Sequence[Subject], float, float]]:
    """Whom panels speak of, from when until when; those of the very same subjects are taken as one, since there are many."""
    found: dict[int, tuple[Sequence[Subject], float, float]] = {}
    for panel in panels:
        if len(panel.times):
            _, since, until = found.get(id(panel.subjects), (panel.subjects, float("inf"), float("-inf")))
            span = min(since, float(panel.times[0])), max(until, float(panel.times[-1]))
            found[id(panel.subjects)] = panel.subjects, *span
    return list(found.values())


Either = TypeVar("Either", Panel, HistogramPanel)


def _by_signal(panels: Iterable[Either]) -> dict[str, list[Either]]:
    grouped: dict[str, list[Either]] = {}
    for panel in panels:
        grouped.setdefault(panel.signal, []).append(panel)
    return grouped


class _MadeBySignal(Mapping[str, list[Series]]):
    """Series by signal, made of their panels when somebody asks."""

    def __init__(self, panels: Mapping[str, Sequence[Panel]]) -> None:
        self._panels = panels
        self._made: dict[str, list[Series]] = {}

    def __getitem__(self, signal: str) -> list[Series]:
        if signal not in self._made:
            rows = (row for panel in self._panels[signal] for row in panel.rows())
            self._made[signal] = sorted(rows, key=lambda one: one.subject)
        return self._made[signal]

    def __iter__(self) -> Iterator[str]:
        return iter(self._panels)

    def __len__(self) -> int:
        return len(self._panels)


def merged(parts: Iterable[Recording]) -> Recording:
    """One recording of the parts that several collectors brought of one service and window.

    The first part names service, window and objectives; where two parts know the same series, the first one's stays.
    What was read out of log lines stands behind what was measured. A gateway's log tells of the same requests as its metrics,
    under another name: it counts only where no metrics bring the signal, or where their monitoring stood still and the log went
    on. So does an engine's that nobody else knows.
    """
    parts = _once_each(list(parts))
    first = parts[0]
    links: dict[Subject, tuple[Subject, ...]] = {}
    routes: dict[Subject, tuple[Subject, ...]] = {}
    facts: dict[tuple[Subject, str], Fact] = {}
    for part in parts:
        for subject, targets in part.links.items():
            links[subject] = tuple(sorted({*links.get(subject, ()), *targets}))
        for gateway, replicas in part.routes.items():
            routes[gateway] = tuple(sorted({*routes.get(gateway, ()), *replicas}))
        for fact in part.facts:
            facts.setdefault((fact.subject, fact.key), fact)
    return Recording(
        service=first.service,
        window=first.window,
        series=_each_once([part.series for part in parts if part.series], first.window),
        histograms=_each_timed_once([part.histograms for part in parts if part.histograms]),
        events=_on_cards(
            sorted((e for p in parts for e in p.events), key=lambda e: (e.time, e.kind, e.name, e.text)), facts, links
        ),
        facts=tuple(facts.values()),
        links=links,
        routes=routes,
        strangers=tuple(sorted({name for part in parts for name in part.strangers})),
        objectives=first.objectives,
        sources=tuple(s for p in parts for s in p.sources),
        rejected={signal: why for p in reversed(parts) for signal, why in p.rejected.items()},
        unanswered={signal: why for p in reversed(parts) for signal, why in p.unanswered.items()},
        problems=tuple(dict.fromkeys(text for p in parts for text in p.problems)),
        step=_step(parts),
    )


def _each_once(told: Sequence[Sequence[Series]], window: Window) -> Sequence[Series]:
    """The series of several parts, each once."""
    if _is_measured_once(told):
        return told[0]
    every = [one for some in told for one in some]
    torn = _torn([one for one in every if one.subject.scope is Scope.GATEWAY], window)
    measured = {one.signal for one in every if one.origin.dialect != LOG} - torn
    if _ASKED in measured:
        measured.add(_ANSWERED)
    series: dict[tuple[str, Subject], Series] = {}
    for one in sorted(every, key=lambda one: one.origin.dialect == LOG):
        if one.subject.scope is not Scope.GATEWAY or one.signal not in (measured if one.origin.dialect == LOG else torn):
            series.setdefault((one.signal, one.subject), one)
    return tuple(series.values())


_ASKED, _ANSWERED = "gateway.requests", "gateway.2xx"
"""Both are counted by the same view or not at all: a log may tell of a sample of the requests."""

_HOLE = 0.25
"""Chosen: share of the window in which a view that tells nothing has missed a part of what happened."""


def _torn(series: Sequence[Series], window: Window) -> set[str]:
    """Signals of gateways of which all metrics have a hole in the window while a log has none."""
    holes: dict[tuple[str, bool], list[bool]] = {}
    for one in series:
        holes.setdefault((one.signal, one.origin.dialect == LOG), []).append(_has_hole(one, window))
    return {
        signal for signal, is_log in holes if is_log and not all(holes[signal, True]) and all(holes.get((signal, False), [False]))
    }


def _has_hole(one: Series, window: Window) -> bool:
    """Whether a series tells nothing for a good part of the window."""
    inside = one.times[(one.times >= window.start) & (one.times <= window.end)]
    gaps = np.diff(np.concatenate(([window.start], inside, [window.end])))
    return bool(gaps.max() > _HOLE * (window.end - window.start))


def _each_timed_once(told: Sequence[Sequence[Histogram]]) -> Sequence[Histogram]:
    """The distributions of several parts, each once."""
    if _is_measured_once(told):
        return told[0]
    histograms: dict[tuple[str, Subject], Histogram] = {}
    for one in _timed_once([one for some in told for one in some]):
        histograms.setdefault((one.signal, one.subject), one)
    return tuple(histograms.values())


def _is_measured_once(told: Sequence[Sequence[Track]]) -> bool:
    """Whether one part has all of it, measured and side by side: then nothing is told twice."""
    return len(told) == 1 and isinstance(told[0], SideBySide) and LOG not in _dialects(told[0])


def _dialects(tracks: Sequence[Track]) -> set[str]:
    """Who told series or distributions."""
    if not isinstance(tracks, SideBySide):
        return {one.origin.dialect for one in tracks}
    return {panel.dialect for panel in cast("Sequence[Panel | HistogramPanel]", tracks.panels)}


def _heads(tracks: Sequence[Track]) -> Iterator[tuple[str, str, Subject]]:
    """Dialect, signal and subject of each series or distribution; one that lies in a panel need not be made for that."""
    if not isinstance(tracks, SideBySide):
        return ((one.origin.dialect, one.signal, one.subject) for one in tracks)
    panels = cast("Sequence[Panel | HistogramPanel]", tracks.panels)
    return ((panel.dialect, panel.signal, subject) for panel in panels for subject in panel.subjects)


def _step(parts: Sequence[Recording]) -> float:
    """Usual distance of samples: that of the slowest source that measures; what is read out of log lines has none of its own."""
    told = [part for part in parts if part.series or part.histograms]
    measuring = [part for part in told if _measures(part)]
    return max((part.step for part in measuring or told), default=parts[0].step)


def _measures(part: Recording) -> bool:
    """Whether a part holds more than what was read out of log lines."""
    return bool((_dialects(part.series) | _dialects(part.histograms)) - {LOG})


_WHOLE_REQUESTS = frozenset({"client.latency", "gateway.latency", "latency.e2e"})
"""The views of how long whole requests take."""


def _timed_once(histograms: Sequence[Histogram]) -> list[Histogram]:
    """Distributions, without durations of access lines where metrics time requests from any view: they are the same ones."""
    measured = {one.signal for one in histograms if one.origin.dialect != LOG}
    return [one for one in histograms if one.origin.dialect != LOG or not measured & {one.signal, *_WHOLE_REQUESTS}]


def _once_each(parts: list[Recording]) -> list[Recording]:
    """The parts without a second account of an engine that metrics know under another name.

    A file called ``sglang-0.log`` says little of whose it is. The only such log is that of the only measured engine; of several
    nobody can say, and then its load must not be added to theirs. A name like theirs but for its end, or that begins with the
    service's, is a pod of its own.
    """
    if not any(LOG in _dialects(part.series) for part in parts):
        return parts
    service = parts[0].service
    told = [head for part in parts for head in _heads(part.series) if head[2].scope is Scope.REPLICA]
    measured = {subject for dialect, _, subject in told if dialect != LOG}
    placed = {one for part in parts for one in part.links}
    logs = {subject for dialect, _, subject in told if dialect == LOG} - measured - placed
    kin = {one.id.rpartition("-")[0] for one in measured}
    unmatched = {one for one in logs if not one.id.startswith(service) and one.id.rpartition("-")[0] not in kin - {""}}
    if not measured or not unmatched:
        return parts
    if len(measured) == len(unmatched) == 1:
        (same,), (logged,) = measured, unmatched
        return [_renamed(part, logged, same) for part in parts]
    known = {signal for _, signal, subject in told if subject in measured}
    return [
        replace(part, series=tuple(one for one in part.series if one.subject not in unmatched or one.signal not in known))
        for part in parts
    ]


def _renamed(part: Recording, old: Subject, new: Subject) -> Recording:
    """A part in which all that is said of one subject is said of another."""
    return replace(
        part,
        series=tuple(replace(one, subject=new) if one.subject == old else one for one in part.series),
        histograms=tuple(replace(one, subject=new) if one.subject == old else one for one in part.histograms),
        events=tuple(replace(one, subject=new) if one.subject == old else one for one in part.events),
        facts=tuple(replace(one, subject=new) if one.subject == old else one for one in part.facts),
    )


_BUS_FACT = "pci_bus_id"
_ECHO = 120.0
"""An exporter repeats a kernel's report of the same card within this many seconds: a scrape or two, and clocks that differ."""


def _on_cards(
    events: Iterable[Event], facts: Mapping[tuple[Subject, str], Fact], links: Mapping[Subject, tuple[Subject, ...]]
) -> list[Event]:
    """Events of a node that name a card by its PCI address (a kernel's Xid) as events of that card, if one card alone has it.

    What an exporter says of the same card is left out, then: the kernel's line tells more.
    """
    cards = [(card, pci_address(str(fact.value))) for (card, key), fact in facts.items() if key == _BUS_FACT]
    placed = [_on_card(event, cards, links) if event.attrs.get("pci") else event for event in events]
    told = [event for event in placed if event.kind == "xid" and not _is_exporters(event)]
    return [event for event in placed if not _is_exporters(event) or not any(_is_echo(event, first) for first in told)]


def _on_card(
    event: Event, cards: Sequence[tuple[Subject, tuple[int, ...] | None]], links: Mapping[Subject, tuple[Subject, ...]]
) -> Event:
    """An event that names a PCI address as one of the card that has it on that node."""
    address = pci_address(event.attrs["pci"])
    if address is None or event.subject is None or event.subject.scope is not Scope.NODE:
        return event
    here = [card for card, its in cards if its == address and event.subject in links.get(card, ())]
    return replace(event, subject=here[0]) if len(here) == 1 else event


def pci_address(text: str) -> tuple[int, ...] | None:
    """Domain, bus and device of a PCI address, however it is written (``PCI:0000:52``, ``00000000:52:00.0``).

    None if it is none.
    """
    parts = text.removeprefix("PCI:").partition(".")[0].split(":")
    try:
        numbers = [int(part, 16) for part in parts]
    except ValueError:
        return None
    return (*numbers, 0)[:3] if len(numbers) in (2, 3) else None


def _is_exporters(event: Event) -> bool:
    return event.kind == "xid" and event.attrs.get("emitter") == "exporter"


def _is_echo(event: Event, first: Event) -> bool:
    """Whether an exporter's Xid repeats what somebody else said of the same card."""
    return (event.subject, event.name) == (first.subject, first.name) and abs(event.time - first.time) <= _ECHO

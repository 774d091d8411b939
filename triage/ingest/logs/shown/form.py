"""What a reader of a form is, and what it brings: samples, facts, events of the cluster, and remarks in plain words."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from enum import Enum
from typing import NamedTuple, Protocol

import numpy as np

from triage.classes import dataclass
from triage.ingest.logs.changes import KubeEvent
from triage.ingest.logs.context import Owned
from triage.ingest.logs.redaction import redacted
from triage.model.recording import Event, Fact, Floats, Histogram, Origin, Series, Subject, Window
from triage.model.vocabulary import Scope

MAX_SERIES = 2000
"""Series of one text that are kept: hosts of sixteen cards show thirty values each."""

MAX_SAMPLES = 5000
"""Samples of one series that are kept: a loop of one second for more than an hour."""

MAX_EXPOSED = 32 << 20
"""Bytes of expositions of one text that are kept."""

MAX_FACTS = 2000
MAX_REMARKS = 500
"""Remarks, events and statements of one text that are kept."""


ONE_LINE = rb"^[\[{].*\"(?:apiVersion|alertname|object|ExitCode|tp_size|tensor_parallel_size|mean_ttft_ms)\""
"""What a line has that is a whole document of a known form."""


class Take(Enum):
    """What became of a line."""

    OVER = "it is none of the form, which has ended"
    WHOLE = "the form has read it"
    ALSO = "the form has read it, and its words may mean something besides"


class Remark(NamedTuple):
    """What a form shows that is not as it should be, as a program would have written it into its log.

    :param subject: whom it is about; None for whoever the text is about
    :param time: Unix seconds
    :param emitter: kind of emitter that would have written it
    """

    text: str
    subject: Subject | None
    time: float
    emitter: str


class Happened(NamedTuple):
    """An event of the cluster or of a container.

    :param serves: what is run in the container, from which one may see that it serves a model; empty for others
    """

    event: KubeEvent
    serves: str = ""


class Exposed(NamedTuple):
    """Metrics that somebody copied.

    :param data: lines of an exposition
    :param engine: whom they are of, as far as anybody can tell
    :param time: Unix seconds
    :param heading: what the line before them said alone (``== 8001``), by which several engines are told apart
    """

    data: bytes
    engine: str
    time: float
    heading: str = ""


@dataclass(frozen=True, eq=False)
class Spread:
    """How long requests took, by quantiles that somebody computed.

    :param bounds: values at quantiles, ascending, base units, shape (B,)
    :param shares: share of the requests between a bound and the one before, and beyond the last, shape (B + 1,)
    """

    signal: str
    bounds: Floats
    shares: Floats
    mean: float


class Form(Protocol):
    """Reads one form, line by line, from the line with which it begins."""

    def feed(self, line: bytes, *, stamped: bool) -> Take:
        """Takes the next line.

        :param stamped: the line begins with a stamp
        """

    def finish(self) -> None:
        """Nothing more comes."""


@dataclass
class Shown:
    """What the forms of one text brought; all of it is bounded.

    :param home: whom the text is about
    :param service: the service that is diagnosed
    :param owned: whose a pod is
    :param contained: whose a container is, by its name and by what is run in it
    :param workload: whose a workload is
    :param window: what is looked at
    :param source: name of the file
    :param time: Unix time of what is read now: a form shows one moment
    :param host: the machine at whose prompt a command was typed, if there was one
    """

    home: Subject
    service: Subject
    owned: Callable[[str], Owned]
    contained: Callable[[str, str], Owned]
    workload: Callable[[str], Owned]
    window: Window
    source: str
    time: float = 0.0
    host: str = ""
    inside: Subject | None = None
    """The pod or container of ours in which the last command was typed; None if it was typed in none."""

    heading: str = ""
    """The name that the last line held alone, between signs: of whom the next form is, where one text shows several."""

    cards: dict[str, str] = field(default_factory=dict)
    """Ids of cards by their number on the machine, where an output told both."""

    remarks: list[Remark | Happened] = field(default_factory=list)
    """What is to be understood as lines are; the reader takes it out."""

    exposures: list[Exposed] = field(default_factory=list)
    """Metrics that stood in the text."""

    rejected: list[tuple[bytes, float]] = field(default_factory=list)
    """Lines that no form was made of, with their time: they are to be read as any others."""

    _samples: dict[tuple[str, Subject], dict[float, float]] = field(default_factory=dict)
    _totals: dict[tuple[str, Subject], tuple[float, float]] = field(default_factory=dict)
    _facts: dict[tuple[Subject, str], str | float] = field(default_factory=dict)
    _states: list[Event] = field(default_factory=list)
    _spreads: list[Histogram] = field(default_factory=list)
    _serves: dict[str, str] = field(default_factory=dict)
    _told: set[tuple[str, str, Subject]] = field(default_factory=set)
    _said: int = 0

    # ------------------------------------------------------------ whom it is about

    @property
    def node(self) -> Subject:
        """The machine that the text is about."""
        if self.home.scope is Scope.NODE and not self.host:
            return self.home
        return Subject(Scope.NODE, self.host or "host")

    def card(self, number: str, name: str = "") -> Subject:
        """A card by its number on the machine, or by its UUID or place on the bus, if that is told."""
        if name:
            self.cards[number] = name
        known = name or self.cards.get(number, "")
        return Subject(Scope.GPU, known or f"{self.node.id}/{number}")

    def pod(self, name: str) -> Subject | None:
        """A pod or container of ours; None if it is somebody else's."""
        owned = self.owned(name)
        return None if owned.stranger else owned.subject

    def of_container(self, name: str, serves: str = "") -> Subject | None:
        """A container of ours; None if it is somebody else's.

        :param serves: its image and command, if this output tells them: another one may have
        """
        told = self._serves.setdefault(name, serves) if len(self._serves) < MAX_FACTS else serves
        owned = self.contained(name, serves or told)
        return None if owned.stranger else owned.subject

    def enters(self, name: str) -> None:
        """Takes where a command is run, by the name of the pod or container; that of a machine is none."""
        owned = self.pod(name) if name else None
        self.inside = owned if owned is not None and owned.scope is Scope.REPLICA else None

    def is_ours(self, workload: str) -> bool:
        """Whether a workload is the service's."""
        return bool(workload) and not self.workload(workload).stranger

    @property
    def engine(self) -> Subject:
        """The engine that the text is about, or the service where none is named."""
        return self.home if self.home.scope is Scope.REPLICA else self.service

    # ------------------------------------------------------------ what it brings

    def sample(self, signal: str, subject: Subject, value: float | None, time: float | None = None) -> None:
        """Keeps a value, base units; what is no value is left out."""
        at = self.time if time is None else time
        if value is None or not self.window.baseline_start <= at <= self.window.end:
            return
        known = self._samples.get((signal, subject))
        if known is None:
            if len(self._samples) >= MAX_SERIES:
                return
            known = self._samples[signal, subject] = {}
        if len(known) < MAX_SAMPLES or at in known:
            known[at] = value

    def total(self, signal: str, subject: Subject, value: float) -> bool:
        """Keeps a running total as the rate since the last look; one that is nought has been nought all along.

        :returns: whether this is the first look
        """
        before = self._totals.get((signal, subject))
        if before is not None or len(self._totals) < MAX_SERIES:
            self._totals[signal, subject] = (self.time, value)
        if not value:
            self.sample(signal, subject, 0.0)
        elif before is not None and self.time > before[0] and value >= before[1]:
            self.sample(signal, subject, (value - before[1]) / (self.time - before[0]))
        return before is None

    def last(self, signal: str, subject: Subject) -> float | None:
        """The value of now, if there is one."""
        return self._samples.get((signal, subject), {}).get(self.time)

    def least(self, free: str, whole: str, subject: Subject, amount: float, of: float) -> None:
        """Keeps what is free of the fullest of several that one subject has, and how large that is."""
        least, its = self.last(free, subject), self.last(whole, subject)
        if least is None or not its or amount / of < least / its:
            self.sample(free, subject, amount)
            self.sample(whole, subject, of)

    def fact(self, subject: Subject, key: str, value: str | float) -> None:
        """Keeps what holds for the window."""
        told = redacted(value, 200) if isinstance(value, str) else value
        if told != "" and len(self._facts) < MAX_FACTS:
            self._facts[subject, key] = told

    def exposed(self, data: bytes) -> None:
        """Keeps metrics as they stand."""
        if sum(len(one.data) for one in self.exposures) + len(data) <= MAX_EXPOSED:
            self.exposures.append(Exposed(data, self.engine.id, self.time, self.heading))

    def unread(self, lines: Sequence[bytes]) -> None:
        """Gives lines back that looked like a form and are none that is known."""
        self.rejected.extend((line, self.time) for line in lines)

    def remark(self, text: str, subject: Subject | None = None, emitter: str = "other") -> None:
        """Says what is not as it should be.

        :param emitter: kind of emitter that would have written it; ``other`` if many could
        """
        self._keep(Remark(redacted(text), subject, self.time, emitter))

    def kube(self, event: KubeEvent) -> None:
        """Keeps an event of the cluster."""
        self._keep(Happened(event))

    def container(self, event: KubeEvent, serves: str) -> None:
        """Keeps an event of a container.

        :param serves: its image and command
        """
        self.of_container(event.object_name, serves)
        self._keep(Happened(event, serves or "?"))

    def _keep(self, one: Remark | Happened) -> None:
        if self._said < MAX_REMARKS:
            self._said += 1
            self.remarks.append(one)

    def state(
        self, path: str, value: str, subject: Subject, emitter: str, time: float | None = None, marks: Mapping[str, str] = {}
    ) -> None:
        """Says what state a component is in, by the path of headings under which its program reports it.

        :param marks: further attributes of the event
        """
        at = self.time if time is None else time
        if (path, value, subject) in self._told:
            return
        self._told.add((path, value, subject))
        if len(self._states) >= MAX_REMARKS or not self.window.baseline_start <= at <= self.window.end:
            return
        attrs = {"what": path.rpartition("/")[2], "value": redacted(value, 120), "emitter": emitter, "path": path, **marks}
        text = f"{path}: {redacted(value, 120)} ({subject.scope.value} {subject.id})"
        self._states.append(Event(at, "said", "state", subject, attrs, text, self.source))

    def spread(self, one: Spread, subject: Subject, rate: float) -> None:
        """Keeps how long requests took.

        :param rate: requests per second
        """
        if len(self._spreads) >= MAX_SERIES:
            return
        rates = (one.shares * rate)[np.newaxis, :]
        at, sums = np.array([min(self.time, self.window.end)]), np.array([one.mean * rate])
        bounds = np.append(one.bounds, np.inf)
        self._spreads.append(Histogram(one.signal, subject, at, bounds, rates, sums, Origin("log", self.source)))

    # ------------------------------------------------------------ results

    def series(self) -> Iterator[Series]:
        """All samples."""
        for (signal, subject), values in self._samples.items():
            times = sorted(values)
            told = np.array([values[time] for time in times])
            yield Series(signal, subject, np.array(times), told, Origin("log", self.source))

    def histograms(self) -> Iterator[Histogram]:
        """All spreads; those of one subject by their moments."""
        together: dict[tuple[str, Subject], list[Histogram]] = {}
        for one in self._spreads:
            together.setdefault((one.signal, one.subject), []).append(one)
        yield from (_in_time(several) for several in together.values())

    def facts(self) -> Iterator[Fact]:
        """All facts."""
        for (subject, key), value in self._facts.items():
            yield Fact(subject, key, value, f"log {self.source}")

    def states(self) -> Iterator[Event]:
        """All states."""
        yield from self._states


def _in_time(several: Sequence[Histogram]) -> Histogram:
    """Spreads of one subject at different moments as one over time, with the bounds of them all."""
    if len(several) == 1:
        return several[0]
    bounds = np.unique(np.concatenate([one.bounds for one in several]))
    by_time = {float(one.times[0]): one for one in several}
    times = np.array(sorted(by_time))
    rates, sums = np.zeros((len(times), len(bounds))), np.zeros(len(times))
    for row, time in enumerate(times.tolist()):
        one = by_time[time]
        rates[row, np.searchsorted(bounds, one.bounds)] = one.rates[0]
        sums[row] = one.sums[0]
    first = several[0]
    return Histogram(first.signal, first.subject, times, bounds, rates, sums, first.origin)

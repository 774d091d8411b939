"""Reads the lines of one emitter: what each of them becomes."""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from math import inf

from triage.classes import dataclass
from triage.ingest.logs.access_log import AccessLine, Alike, parse_access, parse_call
from triage.ingest.logs.access_summary import AccessSummary
from triage.ingest.logs.capped_counts import CappedCounts
from triage.ingest.logs.changes import KubeEvent, kube_event_of_line, kube_events_of
from triage.ingest.logs.context import Context, Owned
from triage.ingest.logs.emitters import Emitter
from triage.ingest.logs.engine_facts import begins
from triage.ingest.logs.engine_load import LoadSeries
from triage.ingest.logs.engine_log import EngineLog
from triage.ingest.logs.forms import record_of
from triage.ingest.logs.given_up import GivenUp
from triage.ingest.logs.joining import Joiner, Trace
from triage.ingest.logs.keeping import Kept, Key
from triage.ingest.logs.kernel import xid_event, xid_of
from triage.ingest.logs.kube_tables import KubeTables
from triage.ingest.logs.meaning import Line, Meaning
from triage.ingest.logs.measured_runs import MeasuredRuns
from triage.ingest.logs.quality_log import QualityLog
from triage.ingest.logs.redaction import redacted, without_prompt
from triage.ingest.logs.shown import Exposed, Happened, Remark, Shown, ShownForms, Take
from triage.ingest.logs.signatures import Match
from triage.ingest.logs.timestamps import Clock
from triage.ingest.logs.volume import Volume
from triage.model.recording import Event, Fact, Histogram, Series, Subject
from triage.model.vocabulary import Scope
from triage.patterns import Pattern

_REQUEST_MARKS = (b" HTTP/", b"text_generation_router", b"log_server_r", b"[GIN]")

_RAY_REQUEST = b" -- "
"""Stands in Ray Serve between the id of a request and what was asked for."""

_NAMES_POD = Pattern(r"\bpod[ :=]+\"?(?:[a-z0-9.-]+/)?([a-z0-9][a-z0-9.-]*-[a-z0-9.-]*[a-z0-9])\b")

_OF_THE_CLUSTER = frozenset({"kube-events", "kubelet", "runtime", "other"})
"""Emitters whose own words an event of the cluster may be."""

_CALLERS = frozenset({"client", "other"})
"""Emitters whose lines may tell of requests that they sent: an application, an agent, a load test."""

_TALKATIVE = frozenset({"engine", "gateway", "kernel", "kubelet", "kube-events", "journal", "dns", "etcd", "prometheus", "ray"})
"""Programs that write many lines of their own; what somebody measured stands in other texts, or among an engine's."""

_WORD = Pattern(rb"[A-Za-z]{3}")

_UNNAMED = frozenset({"", "UAEX"})
"""Flags that leave open why a request failed: Envoy's of a refused caller also stands where nobody answered who may call."""

_CUT = 60.0
"""Chosen: seconds from the window's begin within which the first line of a log stands that was cut there: of a quiet log the
first one stands anywhere."""


@dataclass
class Outside:
    """Lines with a stamp that lies outside baseline and window."""

    before: int = 0
    after: int = 0
    first: float = 0.0
    last: float = 0.0

    def count(self, time: float, *, before: bool) -> None:
        """Counts a line."""
        if not self.before + self.after:
            self.first = self.last = time
        self.first, self.last = min(self.first, time), max(self.last, time)
        if before:
            self.before += 1
        else:
            self.after += 1


class Reader:
    """Reads the lines of one emitter.

    :param name: of the file, for the source of events
    :param clock: reads the stamps of lines
    :param first: stamp of the first line that has one; None if none of the first lines has
    :param stranger: the emitter is neither ours nor carries us
    """

    def __init__(self, name: str, emitter: Emitter, clock: Clock, context: Context, first: float | None, owned: Owned) -> None:
        self.emitter = emitter
        self.name = name
        self.owned = owned
        self.problems: list[str] = []
        self.facts: list[Fact] = []
        self.outside = Outside()
        self.lines = 0
        self._clock = clock
        self._context = context
        self._window = context.window
        self._wordless = 0
        self._now = first
        self._begun = inf
        self._timed = first is not None
        self._kept = Kept(context.window)
        self._meaning = self._meaning_of(emitter.kind, name.partition(".")[0] if emitter.kind == "other" else "")
        self._meanings = {emitter.kind: self._meaning}
        self._extra: list[Event] = []
        self._joiner = Joiner()
        service = Subject(Scope.SERVICE, context.service)
        self._shown = Shown(
            emitter.subject, service, context.of_pod, context.of_container, context.of_workload, context.window, name
        )
        self._forms = ShownForms(self._shown, clock, within=emitter.kind != "kube-events")
        self._tables = KubeTables(context.window.end)
        self._volume = Volume(emitter, context.window, name)
        self._access = AccessSummary(_asks(emitter, name), context.window, name)
        self._alike = Alike()
        self._load = LoadSeries(emitter.subject, context.window, name)
        self._engine = EngineLog(emitter.subject, context.window, name)
        self._quality = QualityLog(context.window, context.service, context.subjects, name)
        self._capped = CappedCounts(emitter.subject, context.window, name)
        self._given_up = GivenUp(emitter.subject, context.window, name)
        self.measured = MeasuredRuns(name)
        self._take: Callable[[bytes, float], None] = {
            "engine": self._take_engine,
            "gateway": self._take_gateway,
            "ray": self._take_ray,
            "kube-events": self._take_kube,
        }.get(emitter.kind, self._take_other)

    @property
    def is_timed(self) -> bool:
        """Whether some line had a stamp that could be read."""
        return self._timed

    @property
    def is_of_numbers(self) -> bool:
        """Whether most lines hold no word: rows of a table whose columns only its heading explains."""
        return self._wordless > 2 and 2 * self._wordless > self.lines

    @property
    def brought(self) -> bool:
        """Whether anything was made of the lines."""
        parts = (self.events(), self.all_facts(), self.series(), self.histograms())
        return self._forms.lines > 0 or any(True for part in parts for _ in part)

    def feed(self, line: bytes, stamp: bytes = b"") -> None:
        """Takes a line.

        :param stamp: the stamp that a wrapper gave it; its own counts if the wrapper gave none
        """
        self.lines += 1
        if self._forms.keeps and self._forms.feed(line, self._moment, stamped=False) is Take.WHOLE:
            return
        time = self._clock.read(stamp) if stamp else None
        if time is None:
            time = self._clock.read(line)
        if time is not None:
            self._now, self._timed = time, True
            self._volume.count(time)
            self._place(time)
        now = self._moment
        if self.emitter.kind not in _TALKATIVE:
            self.measured.feed(line, now)
        took = self._forms.feed(line, now, stamped=time is not None and not stamp)
        self._hear()
        if took is not Take.WHOLE:
            self._take(line, now)

    @property
    def _moment(self) -> float:
        """The time of the last stamp, else of the window's end."""
        return self._now if self._now is not None else self._window.end

    def feed_alike(self, line: bytes) -> bool:
        """Takes a line as it stands in the file, if it is a request like one before: nearly all of an engine's are."""
        request = self._alike.read(line)
        if request is None:
            return False
        self.lines += 1
        self._take_request(request, self._moment)
        return True

    def _place(self, time: float) -> None:
        """Counts what lies outside of what is looked at."""
        self._begun = min(self._begun, time)
        if not self._window.baseline_start <= time <= self._window.end:
            self.outside.count(time, before=time < self._window.baseline_start)

    @property
    def _is_cut(self) -> bool:
        """Whether the log begins where the window does, so that it holds nothing of what the emitter says on other days."""
        return self._window.start <= self._begun <= self._window.start + _CUT

    # ------------------------------------------------------------ by kind of emitter

    def _take_engine(self, line: bytes, time: float) -> None:
        if self._load.feed(line, time if self._timed else None):
            self._volume.count_load(time)
            self._engine.served(time)
            return
        if any(mark in line for mark in _REQUEST_MARKS):
            request = parse_access(line)
            if request is not None:
                self._take_request(request, time)
                if self._alike.read(line) is None and self._clock.read(line) is None:
                    self._alike.keep(line, request)
                return
        self._capped.feed(line, time)
        self.measured.feed(line, time)
        line = without_prompt(line)
        if self._timed:
            self._given_up.feed(line, time)
        if self._joiner.is_open and begins(line):
            self._flush()
        self._engine.feed(line, time)
        self._say(line, time)

    def _take_request(self, request: AccessLine, time: float) -> None:
        self._access.add(request, time if self._timed else None)
        if 200 <= request.status < 300 and not request.is_probe:
            self._engine.served(time)

    def _take_gateway(self, line: bytes, time: float) -> None:
        self._capped.feed(line, time)
        request = parse_access(line)
        if request is None:
            self._say(without_prompt(line), time)
        else:
            self._take_asked(request, time)

    def _take_asked(self, request: AccessLine, time: float) -> None:
        """Takes a request that its writer sent on, or sent itself; the words of a failure that has no name of its own count."""
        self._access.add(request, time if self._timed else None)
        if request.failed and request.why and request.flags in _UNNAMED:
            level = "" if 400 <= request.status < 500 else "ERROR "
            self._mean(f"{level}{request.status} {request.path}: {request.why}".encode(), time)

    def _take_ray(self, line: bytes, time: float) -> None:
        """Ray Serve's proxies and replicas log requests, too: they are the door of what Ray serves."""
        request = parse_access(line) if _RAY_REQUEST in line else None
        if request is None:
            self._take_other(line, time)
        else:
            self._access.add(request, time if self._timed else None)

    def _take_kube(self, line: bytes, time: float) -> None:
        shown = self._tables.feed(line)
        if shown is not None:
            for one in shown:
                self.take_kube(one, time)
            return
        event = kube_event_of_line(line, self._clock, self._window.end)
        if event is not None:
            self.take_kube(event, time)
        else:
            self._say(line, time)

    def _take_other(self, line: bytes, time: float) -> None:
        if b"Xid (" in line:
            found = xid_of(line)
            if found is not None:
                key = Key("xid", found.code, self.emitter.subject, (found.pci,))
                self._kept.add(
                    key,
                    time,
                    partial(
                        xid_event,
                        key,
                        time,
                        found.rest,
                        line,
                        self.emitter.kind,
                        self.name,
                        self._context.signatures.xids.get(found.code),
                    ),
                )
                return
        self._capped.feed(line, time)
        call = parse_call(line) if self.emitter.kind in _CALLERS else None
        if call is not None:
            self._take_asked(call, time)
            return
        if self.emitter.kind in _CALLERS:
            self._given_up.feed_asker(line, time)
        self._wordless += _WORD.search(line) is None
        if self.emitter.kind in {"quality", "other"} and self._timed:
            self._quality.feed(line, time)
        self._say(line, time)

    # ------------------------------------------------------------ what commands showed

    def _meaning_of(self, kind: str, topic: str = "") -> Meaning:
        """What understands the lines of a kind of emitter."""
        context = self._context
        return Meaning(
            kind, context.window, self.name, context.signatures, context.of_pod, context.of_node, context.subjects, topic=topic
        )

    def _hear(self) -> None:
        """Takes what the forms remarked as if their programs had written it into a log."""
        if not self._shown.remarks and not self._shown.rejected:
            return
        waiting, self._shown.remarks = self._shown.remarks, []
        rejected, self._shown.rejected = self._shown.rejected, []
        for line, time in rejected:
            self._take(line, time)
        for one in waiting:
            if isinstance(one, Happened):
                self.take_kube(one.event, self._window.end, self._owner_of(one.event, one.serves))
            else:
                self._heard(one)

    def _heard(self, remark: Remark) -> None:
        if remark.emitter not in self._meanings:
            self._meanings[remark.emitter] = self._meaning_of(remark.emitter)
        about = self.owned if remark.subject is None else Owned(remark.subject, "")
        self._meanings[remark.emitter].read(self._line(remark.text.encode(), remark.time, about))

    # ------------------------------------------------------------ what lines say

    def _say(self, line: bytes, time: float) -> None:
        """Takes a line that is neither load nor a request: alone, or as a part of a traceback."""
        if self._joiner.wants(line):
            inside, ended = self._joiner.feed(line, record_of(line), time)
            for trace in ended:
                self._mean_trace(trace)
            if inside:
                return
        self._joiner.pass_by(line)
        if self.emitter.kind == "engine":
            self._engine.read_failure(line, time)
        self._mean(line, time)

    def _flush(self) -> None:
        """Ends the tracebacks that are still open."""
        for trace in self._joiner.finish():
            self._mean_trace(trace)

    def _mean_trace(self, trace: Trace) -> None:
        self._engine.raised(trace)
        lines = [self._line(line, trace.time) for line in trace.lines]
        self._saw(self._meaning.read_trace(trace, lines), trace.time, trace.lines[-1])

    def _mean(self, raw: bytes, time: float) -> None:
        """What a line means."""
        line = self._line(raw, time)
        self._saw(self._meaning.read(line), time, raw)

    def _line(self, raw: bytes, time: float, owned: Owned | None = None) -> Line:
        about = owned or self.owned
        phase = self._engine.phase if self.emitter.kind == "engine" else ""
        return Line(raw, time, about, phase, _marks(about) if owned is not None or about.stranger else {})

    def _saw(self, matches: Iterable[Match], time: float, line: bytes) -> None:
        if self.emitter.kind == "engine":
            for match in matches:
                self._engine.saw(match, time, line)

    def take_kube(self, event: KubeEvent, fallback: float, owner: Owned | None = None) -> None:
        """Takes an event of the cluster: itself, and what its words mean.

        :param owner: whose it is, where its object does not say so by its name
        """
        time = event.time if event.time is not None else fallback
        if event.time is not None:
            self._timed = True
            self._place(event.time)
        owned = owner or self._owner_of(event)
        attrs = {
            "message": event.message, "type": event.type, "object": event.object_name, "object_kind": event.object_kind,
            "namespace": event.namespace,
        } | _marks(owned)  # fmt: skip
        text = f"{f'{event.object_kind} {event.object_name}'.rstrip()}: {event.message}"
        kept = {key: value for key, value in attrs.items() if value}
        made = Event(time, "kube", event.reason, owned.subject, kept, redacted(text), self.name)
        self._kept.add(Key("kube", event.reason, owned.subject, (event.object_name,)), time, lambda: made, event.count)
        line = f"{event.type} {event.reason} {event.namespace}/{event.object_kind}/{event.object_name} {event.message}"
        kind = self.emitter.kind if self.emitter.kind in _OF_THE_CLUSTER and event.object_kind != "container" else "kube-events"
        if kind not in self._meanings:
            self._meanings[kind] = self._meaning_of(kind)
        self._meanings[kind].read(self._line(line.encode(), time, owned)._replace(said=max(event.count, 1)))

    def take_document(self, data: bytes) -> None:
        """Takes a whole document: events of the cluster, or objects that tools print."""
        try:
            value = json.loads(data)
        except (ValueError, RecursionError):
            value = None
        events = [] if value is None else list(kube_events_of(value))
        for event in events:
            self.take_kube(event, self._window.end)
        known = 0 if value is None else self._forms.read_value(value, self._window.end)
        self._hear()
        self.lines += (len(events) + known) or bool(data.strip())

    def _owner_of(self, event: KubeEvent, serves: str = "") -> Owned:
        if not event.object_name:
            return Owned(Subject(Scope.SERVICE, self._context.service), self._context.service)
        if event.object_kind == "node":
            return self._victim_of(event) or self._context.of_node(event.object_name)
        if event.object_kind == "pod":
            return self._context.of_pod(event.object_name)
        if event.object_kind == "container":
            return self._context.of_container(event.object_name, serves)
        return self._context.of_workload(event.object_name)

    def _victim_of(self, event: KubeEvent) -> Owned | None:
        """The pod of somebody else that an event of a node names: what happened to it did not happen to the node."""
        found = _NAMES_POD.search(event.message)
        named = self._context.of_pod(found.group(1)) if found is not None else None
        return named if named is not None and named.stranger else None

    # ------------------------------------------------------------ results

    def close(self) -> None:
        """Nothing more comes."""
        self._flush()
        self._forms.finish()
        self._hear()
        for event in self._tables.finish():
            self.take_kube(event, self._window.end)
        if self.emitter.kind == "engine":
            ending = self._engine.ending
            self._extra, self.facts = self._engine.finish()
            stopped = self._volume.stopped(ending)
            self._extra.extend([stopped] if stopped is not None else [])

    def all_facts(self) -> Iterator[Fact]:
        """What the emitter says of itself and of cards; a stranger's are nobody's business."""
        if not self.owned.stranger:
            yield from self.facts
            yield from self._shown.facts()

    def events(self) -> Iterator[Event]:
        """All events, those of one sort bounded in number."""
        marks = {} if self._timed else {"untimed": "yes"}
        meant = [one for each in self._meanings.values() for one in each.events(cut=self._is_cut, begun=self._begun)]
        for event in (*self._kept.events(), *meant):
            yield replace(event, attrs={**event.attrs, **marks}) if marks else event
        whose = _marks(self.owned) if self.owned.stranger else {}
        counted = (*self._capped.events(), *self._given_up.events())
        for event in (*self._extra, *counted, *self._access.events(), *self._quality.events(), *self._shown.states()):
            yield replace(event, attrs={**event.attrs, **whose}) if whose else event

    def series(self) -> Iterator[Series]:
        """All series; a stranger's are nobody's business."""
        if self.owned.stranger:
            return
        yield from self._load.series()
        yield from self._access.series(self._volume.latest)
        yield from self._quality.series()
        yield from self._volume.series()
        yield from self._shown.series()

    def exposed(self) -> list[Exposed]:
        """Metrics that were copied into the text; a stranger's are nobody's business."""
        return [] if self.owned.stranger else self._shown.exposures

    def histograms(self) -> Iterator[Histogram]:
        """How long requests took; a stranger's are nobody's business."""
        if not self.owned.stranger:
            yield from self._access.histograms()
            yield from self._shown.histograms()


def _asks(emitter: Emitter, name: str) -> Subject:
    """Whose requests the lines of an emitter tell of: its own, those at Ray's door, or those that a program sends.

    :param name: of the file
    """
    if emitter.kind == "ray":
        return Subject(Scope.GATEWAY, name)
    return Subject(Scope.CLIENT, name.partition(".")[0]) if emitter.kind == "other" else emitter.subject


def _marks(owned: Owned) -> dict[str, str]:
    """Attributes that say whose an event is."""
    marks = {"service": owned.service} if owned.service else {}
    return marks | ({"stranger": "yes"} if owned.stranger else {})

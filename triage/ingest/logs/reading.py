"""Reads logs: splits each file by who wrote its lines, reads each writer's, and puts together what they brought."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace
from datetime import UTC, datetime
from itertools import chain, islice
from pathlib import Path

from triage.classes import dataclass
from triage.ingest.logs.context import MODEL_SERVER, Context, Owned
from triage.ingest.logs.emitters import Emitter, Subjects, emitter_of, emitter_within, is_engines
from triage.ingest.logs.files import Lines, Log, ahead, logs_of
from triage.ingest.logs.forms import NOBODY, Origin, unwrap
from triage.ingest.logs.kube_tables import PLACED
from triage.ingest.logs.loading import Signatures, load_signatures
from triage.ingest.logs.measured_runs import slower_runs
from triage.ingest.logs.reader import Outside, Reader
from triage.ingest.logs.redaction import redacted, without_escapes
from triage.ingest.logs.shown import Exposed
from triage.ingest.logs.timestamps import Clock, boot_time
from triage.model.recording import Event, Fact, Histogram, Recording, Series, Source, SourceState, Subject, Window
from triage.model.vocabulary import Scope
from triage.patterns import Pattern

MAX_DOCUMENT = 64 << 20
"""Bytes of a single JSON document (``kubectl get events -o json``) that are read."""

MAX_STREAMS = 64
"""Writers of one file that are told apart; the lines of further ones count as the file's own."""

_HEAD_LINES = 200
_HEAD_BYTES = 256 * 1024


@dataclass(frozen=True)
class LogReading:
    """What logs brought.

    :param events: matched lines, Xids, cluster events, summaries of access lines, by time
    :param series: load of engines, rates of access lines, volume of logs; ``Origin.dialect`` is ``log``
    :param histograms: how long requests took, as access lines tell
    :param facts: arguments and start-up facts of replicas, as they were last before the window's end
    :param exposed: metrics that were copied into them
    :param sources: one per kind of emitter, named ``log:<kind>``
    """

    events: tuple[Event, ...] = ()
    series: tuple[Series, ...] = ()
    histograms: tuple[Histogram, ...] = ()
    facts: tuple[Fact, ...] = ()
    exposed: tuple[Exposed, ...] = ()
    sources: tuple[Source, ...] = ()

    def as_part_of(self, blank: Recording) -> Recording:
        """A recording of what was read, of the service and window of another."""
        return replace(
            blank,
            events=self.events,
            series=self.series,
            histograms=self.histograms,
            facts=self.facts,
            sources=self.sources,
            links=_placed(self.events),
        )


_ASSIGNED = Pattern(r"\bassigned (?:(?:\S+/)?\S+ )?to ([\w.-]+)")


_PLACING = ("Scheduled", "Binding", PLACED)


def _placed(events: Iterable[Event]) -> dict[Subject, tuple[Subject, ...]]:
    """The nodes that the scheduler gave to replicas, or on which a list of pods shows them."""
    placed: dict[Subject, set[Subject]] = {}
    for event in events:
        if event.kind != "kube" or event.subject is None or event.subject.scope is not Scope.REPLICA:
            continue
        found = _ASSIGNED.search(event.attrs.get("message", "")) if event.name in _PLACING else None
        if found is not None:
            placed.setdefault(event.subject, set()).add(Subject(Scope.NODE, found.group(1)))
    return {pod: tuple(sorted(nodes)) for pod, nodes in placed.items()}


def read_logs(
    paths: Sequence[Path],
    window: Window,
    service: str,
    subjects: Subjects = lambda _: None,
    *,
    utc_offset: float = 0.0,
    alone: bool = False,
    signatures: Signatures | None = None,
) -> LogReading:
    """Reads logs.

    :param paths: files, or folders of ``*.log`` (also ``.txt``, ``.jsonl``, rotated, gzipped); ``-`` is standard input
    :param window: lines from its baseline's begin to its end count; start-up facts count from before, too
    :param service: the service that is diagnosed; its pods are told by this name
    :param subjects: maps the name of a replica, node or gateway to its subject, if that is known
    :param utc_offset: seconds that stamps without a zone are ahead of UTC
    :param alone: no replica of the service is known from anywhere else, so the one workload in them that serves a model is ours
    :param signatures: what lines mean; the shipped ones if not given
    """
    logs, sources = logs_of(paths)
    context = Context(window, service, subjects, utc_offset, frozenset(log.stem for log in logs), signatures or load_signatures())
    pods = _pods_in(logs)
    context = context.naming(pods)
    if alone:
        context = context.adopting(pods)
    files = [_File(log, context) for log in logs]
    for file in files:
        file.read()
    readers = [reader for file in files for reader in file.readers]
    events = [event for reader in readers for event in reader.events()]
    measured = (run for reader in readers if not reader.owned.stranger for run in reader.measured.close())
    events.extend(slower_runs(measured, Subject(Scope.SERVICE, service), window))
    return LogReading(
        events=tuple(sorted(events, key=lambda one: (one.time, one.kind, one.name, str(one.subject), one.text))),
        series=tuple(one for reader in readers for one in reader.series()),
        histograms=tuple(one for reader in readers for one in reader.histograms()),
        facts=tuple(fact for reader in readers for fact in reader.all_facts()),
        exposed=tuple(one for reader in readers for one in reader.exposed()),
        sources=(*sources, *_sources_of(files)),
    )


_POD = Pattern(rb"(?:\bpod/|^Name: +|\bpod=\"[^\"/]{0,63}/)([a-z0-9][a-z0-9.-]*)")
_LISTED = Pattern(rb"^(?:[a-z0-9-]+ +)?([a-z0-9][a-z0-9.-]*-[a-z0-9.-]*[a-z0-9]) +\d{1,3}/\d{1,3} +[A-Z][A-Za-z:]+ ")
"""A row of a list of pods."""


def _pods_in(logs: Sequence[Log]) -> dict[str, bool]:
    """The pods that the first lines of logs speak of, and whether something shows that they serve a model."""
    pods: dict[str, bool] = {}
    for log in logs:
        named = ""
        for raw in ahead(log, _HEAD_LINES):
            line = without_escapes(raw)
            found = _POD.search(line) or _LISTED.search(line)
            named = unwrap(line).origin.pod or (found.group(1).decode() if found is not None else named)
            if named:
                pods[named] = pods.get(named, False) or MODEL_SERVER.search(line) is not None or is_engines(line)
    return pods


# ---------------------------------------------------------------- one file


@dataclass
class _Stream:
    """The lines of one writer in a file; the first ones wait until it is known who that is.

    :param whole: lines are read with what syslog wrote before them, which is a part of the form of a node's own programs
    """

    origin: Origin
    whole: bool = False
    head: list[tuple[bytes, bytes]] = field(default_factory=list)
    size: int = 0
    reader: Reader | None = None


class _File:
    """Reads the files of one log from the first to the last line."""

    def __init__(self, log: Log, context: Context) -> None:
        self.log = log
        self.name = log.files[0].name if str(log.files[0]) != "-" else "stdin"
        self.readers: list[Reader] = []
        self.problems: list[str] = []
        self._context = context
        self._streams: dict[Origin, _Stream] = {}
        self._boot: float | None = None
        self._bare: Reader | None = None
        """Who reads the lines that nothing was written around."""

    def read(self) -> None:
        """Reads all lines."""
        lines = Lines(self.log)
        stream = iter(lines)
        head = list(islice(stream, _HEAD_LINES))
        self._boot = self._boot_time(head)
        if _is_document(head):
            self._read_document(head, stream)
        else:
            for line in chain(head, stream):
                if line:
                    self._feed(line)
        for one in list(self._streams.values()):
            self._settle(one)
        if not self._streams and not self.readers:
            self._settle(_Stream(NOBODY))
        for reader in self.readers:
            reader.close()
        self.problems.extend(self._problems(lines))

    def _problems(self, lines: Lines) -> Iterator[str]:
        yield from lines.problems
        if not any(reader.lines for reader in self.readers):
            yield f"{self.name} is empty"
        elif all(reader.is_of_numbers and not reader.brought for reader in self.readers):
            yield f"{self.name} is a table of numbers in no form that is known, so nothing was read in it"
        elif not any(reader.is_timed or reader.brought for reader in self.readers):
            yield f"{self.name} is in no form that is known, so nothing was read in it"
        elif not any(reader.is_timed for reader in self.readers):
            yield f"{self.name} has no time stamps that can be read, so its events count as of the window's end"

    def _boot_time(self, head: list[bytes]) -> float | None:
        """When the machine started, if the log's stamps count from there."""
        clock = self._clock()
        if any(clock.read(line) is not None for line in head) or not clock.counts_from_boot:
            return None
        again = () if self.name == "stdin" else Lines(self.log)
        return next((boot for boot in map(boot_time, chain(head, again)) if boot is not None), None)

    def _clock(self) -> Clock:
        return Clock(self._context.window, self._context.utc_offset, self._boot)

    def _feed(self, raw: bytes) -> None:
        if raw[:6] == b"INFO: " and self._bare is not None and self._bare.feed_alike(raw):
            return
        line = without_escapes(raw)
        body, stamp, origin = unwrap(line)
        stream = self._streams.get(origin)
        if stream is None:
            if len(self._streams) >= MAX_STREAMS:
                origin = NOBODY
            whole = bool(origin.ident) and emitter_within(origin.ident) != "engine"
            stream = self._streams.setdefault(origin, _Stream(origin, whole))
        body = line if stream.whole else body
        if stream.reader is not None:
            stream.reader.feed(body, stamp)
            return
        stream.head.append((body, stamp))
        stream.size += len(body)
        if len(stream.head) >= _HEAD_LINES or stream.size >= _HEAD_BYTES:
            self._settle(stream)

    def _settle(self, stream: _Stream) -> Reader:
        """Decides who wrote a stream, and reads what has waited."""
        if stream.reader is not None:
            return stream.reader
        clock = self._clock()
        times = (clock.read(stamp) if stamp else clock.read(line) for line, stamp in stream.head)
        first = next((time for time in times if time is not None), None)
        emitter, owned = self._whose(stream)
        stream.reader = Reader(self.name, emitter, clock, self._context, first, owned)
        self.readers.append(stream.reader)
        if stream.origin == NOBODY and not stream.whole:
            self._bare = stream.reader
        for line, stamp in stream.head:
            stream.reader.feed(line, stamp)
        stream.head.clear()
        return stream.reader

    def _whose(self, stream: _Stream) -> tuple[Emitter, Owned]:
        """Who wrote a stream, and whose that is."""
        context, origin = self._context, stream.origin
        told = emitter_of(self.log.stem, (line for line, _ in stream.head), context.of_log, context.service, origin)
        if told.kind == "engine" and origin.pod:
            owned = context.of_pod(origin.pod)
        elif told.subject.scope is Scope.REPLICA and context.of_log(told.subject.id) is None:
            owned = Owned(told.subject, context.service)
        else:
            owned = Owned(told.subject, "")
        return replace(told, subject=owned.subject), owned

    def _read_document(self, head: list[bytes], rest: Iterator[bytes]) -> None:
        """A whole JSON document: what a tool printed, or an API answered."""
        self.problems = []
        stream = self._streams.setdefault(NOBODY, _Stream(NOBODY, head=[(line, b"") for line in head]))
        emitter, owned = self._whose(stream)
        stream.head.clear()
        reader = stream.reader = Reader(self.name, emitter, self._clock(), self._context, None, owned)
        self.readers.append(reader)
        reader.take_document(b"\n".join(_bounded(chain(head, rest))))


def _is_document(head: list[bytes]) -> bool:
    """Whether a file is one JSON document over many lines, rather than one object a line."""
    first = next((line.strip() for line in head if line.strip()), b"")
    return first in {b"{", b"["} or first.startswith(b'{"apiVersion"')


def _bounded(lines: Iterable[bytes]) -> Iterator[bytes]:
    size = 0
    for line in lines:
        size += len(line) + 1
        if size > MAX_DOCUMENT:
            return
        yield line


# ---------------------------------------------------------------- what became of the files


def _sources_of(files: Iterable[_File]) -> list[Source]:
    """One source per kind of emitter."""
    problems: dict[str, list[str]] = {}
    inside: dict[str, bool] = {}
    notes: dict[str, list[str]] = {}
    read: dict[str, dict[str, int]] = {}
    for file in files:
        for number, reader in enumerate(file.readers):
            name = f"log:{reader.emitter.kind}"
            problems.setdefault(name, []).extend(file.problems if number == 0 else [])
            inside[name] = inside.get(name, False) or reader.lines > reader.outside.before + reader.outside.after
            notes.setdefault(name, []).extend(_outside(file.name, reader))
            counts = read.setdefault(name, {})
            counts[file.name] = counts.get(file.name, 0) + reader.lines
    return [
        Source(
            name,
            SourceState.PARTIAL if found or not inside[name] else SourceState.OK,
            "; ".join(redacted(one, 200) for one in (*found, *notes[name])[:5]),
            tuple(read[name]),
            sum(read[name].values()),
        )
        for name, found in sorted(problems.items())
    ]


def _outside(name: str, reader: Reader) -> Iterator[str]:
    """What is said of lines that lie outside baseline and window, with the flag that takes them in."""
    outside: Outside = reader.outside
    some = f"of {reader.lines} lines of {name} lie"
    if outside.before:
        yield f"{outside.before} {some} before what is looked at; --from {_moment(outside.first)} takes them in"
    if outside.after:
        yield f"{outside.after} {some} after the window; --to {_moment(outside.last + 1.0)} takes them in"


def _moment(time: float) -> str:
    try:
        return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, ValueError, OSError):
        return f"{time:.0f}"

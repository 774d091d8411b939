"""Raw logs as events, series and facts.

One file per emitter, streamed line by line; what is kept is bounded however long a log is. A line that a signature knows becomes
an event; the load that engines write becomes series; access lines become rates and summaries; start-up lines become facts.
"""

import gzip
import json
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
import re2

from triage.ingest.access_log import parse_access
from triage.ingest.access_summary import AccessSummary
from triage.ingest.changes import KubeEvent, kube_event_of_line, kube_events_of_document, workload_of
from triage.ingest.emitters import Emitter, Subjects, emitter_of
from triage.ingest.engine_log import EngineLog, LoadSeries
from triage.ingest.quality_log import QualityLog
from triage.ingest.redaction import clean, clean_bytes, without_escapes, without_prompt
from triage.ingest.signatures import Match, signature_book, xid_codes
from triage.ingest.timestamps import Clock, boot_time
from triage.model.recording import Event, Fact, Origin, Series, Source, SourceState, Subject, Window
from triage.model.vocabulary import Scope

MAX_LINE = 16 * 1024
"""Bytes of a line that are looked at; the rest is skipped."""

MAX_BYTES = 2 << 30
"""Bytes of a file, after decompression, that are read."""

MAX_DOCUMENT = 64 << 20
"""Bytes of a single JSON document (``kubectl get events -o json``) that are read."""

KEEP = 50
"""Events that are kept per signature, subject and period: the first ones and the last."""

MAX_SORTS = 5000
"""Sorts of events that are kept per log; a log that names more pods than this is made up."""

VOLUME_GRID = 60.0
"""Distance of the samples of log volume, seconds: engines write their load every 10 s, so an empty minute is silence."""

SILENCE = 60.0
"""Shortest silence, in seconds, that can mean that a log has stopped: six of the intervals at which engines write their load."""

SILENCE_GAPS = 5.0
"""… and it must be longer than so many of the pauses that nine in ten stay below; a quiet engine pauses long."""

_MIN_LINES = 6
_MAX_GAPS = 10_000
_HEAD_LINES = 200
_FILE = re2.compile(r"(?i)\.(?:log|txt|out|jsonl?|events)(?:\.(\d+))?(?:\.gz)?$")
_REQUEST_MARKS = (b" HTTP/", b"text_generation_router", b"log_server_r")
_PREVIOUS = re2.compile(r"(?i)[-_.]prev(?:ious)?$")
_XID = re2.compile(rb"NVRM: Xid \((?:PCI:)?([0-9a-fA-F:.]+)\): (\d{1,4}),? ?(.*)$")
_XID_PROCESS = re2.compile(rb"^pid=(?:'?<?([\w-]+)>?'?)(?:, name=([^,]*))?,? ?(.*)$")
_XID_PARENT = re2.compile(rb"caused by previous Xid (\d+)")
_CRI = re2.compile(rb"^\S+T\S+(?:Z|[+-]\d\d:\d\d) std(?:out|err) [FP] ")
_COMPOSE = re2.compile(rb"^[\w.-]{1,60} +\| ")


@dataclass(frozen=True)
class LogReading:
    """What logs brought.

    :param events: matched lines, Xids, cluster events, summaries of access lines, by time
    :param series: load of engines, rates of access lines, volume of logs; ``Origin.dialect`` is ``log``
    :param facts: arguments and start-up facts of replicas, as they were last before the window's end
    :param sources: one per kind of emitter, named ``log:<kind>``
    """

    events: tuple[Event, ...] = ()
    series: tuple[Series, ...] = ()
    facts: tuple[Fact, ...] = ()
    sources: tuple[Source, ...] = ()


def read_logs(
    paths: Sequence[Path], window: Window, service: str, subjects: Subjects = lambda _: None, *, utc_offset: float = 0.0
) -> LogReading:
    """Reads logs.

    :param paths: files, or folders of ``*.log`` (also ``.txt``, ``.jsonl``, rotated, gzipped); ``-`` is standard input
    :param window: lines from its baseline's begin to its end count; start-up facts count from before, too
    :param service: the service that is diagnosed; its pods are told by this name
    :param subjects: maps the name of a replica, node or gateway to its subject, if that is known
    :param utc_offset: seconds that stamps without a zone are ahead of UTC
    """
    logs, sources = _logs_of(paths)
    context = _Context(window, service, subjects, utc_offset, frozenset(log.stem for log in logs))
    readers = [_read_log(log, context) for log in logs]
    events = [event for reader in readers for event in reader.events()]
    return LogReading(
        events=tuple(sorted(events, key=lambda one: (one.time, one.kind, one.name, str(one.subject), one.text))),
        series=tuple(one for reader in readers for one in reader.series()),
        facts=tuple(fact for reader in readers for fact in reader.facts),
        sources=(*sources, *_sources_of(readers)),
    )


# ---------------------------------------------------------------- files


@dataclass(frozen=True)
class _Log:
    """All files of one emitter, oldest first."""

    stem: str
    files: tuple[Path, ...]


def _logs_of(paths: Sequence[Path]) -> tuple[list[_Log], list[Source]]:
    """The logs in some paths, and a word on each path that is none."""
    found: dict[str, list[tuple[int, Path]]] = {}
    problems: list[Source] = []
    for path in paths:
        if str(path) == "-":
            found.setdefault("stdin", []).append((0, path))
        elif path.is_dir():
            for file in sorted(path.iterdir()):
                # a link in a folder that somebody handed over may point at anything on this machine
                if _FILE.search(file.name) and file.is_file() and not file.is_symlink():
                    _sort_in(found, file)
        elif path.is_file():
            _sort_in(found, path)
        else:
            problems.append(Source("log", SourceState.FAILED, f"{path} does not exist"))
    return [_Log(stem, tuple(path for _, path in sorted(files, reverse=True))) for stem, files in sorted(found.items())], problems


def _sort_in(found: dict[str, list[tuple[int, Path]]], file: Path) -> None:
    """Puts a file with the others of its emitter; a rotated one (``.log.1``) is older."""
    suffix = _FILE.search(file.name)
    stem = file.name[: suffix.start()] if suffix is not None else file.name
    age = int(suffix.group(1) or 0) if suffix is not None else 0
    if _PREVIOUS.search(stem):
        stem, age = _PREVIOUS.sub("", stem), age + 1
    found.setdefault(stem, []).append((age, file))


def _opened(path: Path) -> BinaryIO:
    if str(path) == "-":
        return sys.stdin.buffer
    with path.open("rb") as stream:
        packed = stream.read(2) == b"\x1f\x8b"
    return gzip.open(path, "rb") if packed else path.open("rb")  # type: ignore[return-value]


@dataclass
class _Lines:
    """The lines of a log's files, each cut to a bounded length; what went wrong is in ``problems``."""

    log: _Log
    problems: list[str] = field(default_factory=list)

    def __iter__(self) -> Iterator[bytes]:
        for path in self.log.files:
            try:
                with _opened(path) as stream:
                    yield from self._of(stream, path)
            except (OSError, EOFError, zlib.error) as error:
                self.problems.append(f"{path.name} cannot be read to its end: {error}")

    def _of(self, stream: BinaryIO, path: Path) -> Iterator[bytes]:
        read, whole = 0, True
        while read < MAX_BYTES:
            piece = stream.readline(MAX_LINE)
            if not piece:
                return
            read += len(piece)
            if whole:
                yield piece.rstrip(b"\r\n")
            whole = piece.endswith(b"\n")
        self.problems.append(f"only the first {MAX_BYTES >> 20} MiB of {path.name} were read")


def _unwrapped(line: bytes) -> bytes:
    """The program's own line out of what the container runtime wrote around it."""
    if line.startswith(b'{"log":'):
        try:
            record = json.loads(line)
            return f"{record.get('time', '')} {record['log']}".strip().encode()
        except (ValueError, KeyError, AttributeError, RecursionError):
            return line
    found = _CRI.search(line)
    if found is not None:
        rest = line[found.end() :]
        return rest if _starts_with_stamp(rest) else line[: line.index(b" ") + 1] + rest
    found = _COMPOSE.search(line)
    return line[found.end() :] if found is not None else line


def _starts_with_stamp(line: bytes) -> bool:
    return line[:1].isdigit() or line[:1] == b"["


# ---------------------------------------------------------------- one log


@dataclass(frozen=True)
class _Context:
    """What is known around a log."""

    window: Window
    service: str
    subjects: Subjects
    utc_offset: float
    stems: frozenset[str]

    def of_pod(self, name: str) -> Subject:
        """The replica that a pod is, or the service that a pod of somebody else belongs to."""
        known = self.subjects(name)
        if known is not None:
            return known
        ours = name.startswith(f"{self.service}-") or name == self.service or f"engine-{name}" in self.stems
        return Subject(Scope.REPLICA, name) if ours else Subject(Scope.SERVICE, workload_of(name))

    def of_node(self, name: str) -> Subject:
        return self.subjects(name) or Subject(Scope.NODE, name)


def _read_log(log: _Log, context: _Context) -> "_Reader":
    """Reads one emitter's log from its first to its last line."""
    lines = _Lines(log)
    stream = iter(lines)
    head = list(islice(stream, _HEAD_LINES))
    emitter = emitter_of(log.stem, head, context.subjects, context.service)
    clock = Clock(context.window, context.utc_offset)
    first = next((stamp for stamp in map(clock.read, head) if stamp is not None), None)
    if first is None and clock.counts_from_boot:
        clock.boot = next((boot for boot in map(boot_time, chain(head, _Lines(log))) if boot is not None), None)
        first = next((stamp for stamp in map(clock.read, head) if stamp is not None), None)
    wrapped = any(_unwrapped(line) != line for line in head)
    reader = _Reader(log, emitter, clock, context, first, wrapped=wrapped)
    if emitter.kind == "kube-events" and _is_document(head):
        reader.feed_document(b"\n".join(_bounded(chain(head, stream))))
    else:
        for line in chain(head, stream):
            reader.feed(line)
    reader.close(lines.problems)
    return reader


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


class _Reader:
    """Reads the lines of one emitter.

    :param first: stamp of the first line that has one; None if none of the first lines has
    :param wrapped: a container runtime wrote something around each line
    """

    def __init__(
        self, log: _Log, emitter: Emitter, clock: Clock, context: _Context, first: float | None, *, wrapped: bool
    ) -> None:
        self.emitter = emitter
        self.name = log.files[0].name if str(log.files[0]) != "-" else "stdin"
        self.problems: list[str] = []
        self.facts: list[Fact] = []
        self._clock = clock
        self._context = context
        self._window = context.window
        self._now = first
        self._timed = first is not None
        self._wrapped = wrapped
        self._lines = 0
        self._book = signature_book()
        self._kept = _Kept(context.window)
        self._extra: list[Event] = []
        self._volume = _Volume(emitter, context.window, self.name)
        self._access = AccessSummary(emitter.subject, context.window, self.name)
        self._load = LoadSeries(emitter.subject, context.window, self.name)
        self._engine = EngineLog(emitter.subject, context.window, self.name)
        self._quality = QualityLog(context.window, context.service, context.subjects, self.name)
        self._take: Callable[[bytes, float], None] = {
            "engine": self._take_engine,
            "gateway": self._take_gateway,
            "kube-events": self._take_kube,
        }.get(emitter.kind, self._take_other)

    def feed(self, raw: bytes) -> None:
        """Takes a line."""
        if not raw:
            return
        self._lines += 1
        line = without_escapes(raw)
        if self._wrapped:
            line = _unwrapped(line)
        stamp = self._clock.read(line)
        if stamp is not None:
            self._now, self._timed = stamp, True
            self._volume.count(stamp)
        self._take(line, self._now if self._now is not None else self._window.end)

    def feed_document(self, data: bytes) -> None:
        """Takes a whole JSON document of cluster events."""
        for event in kube_events_of_document(data):
            self._lines += 1
            self._timed = self._timed or event.time is not None
            self._add_kube(event, self._window.end)

    # ------------------------------------------------------------ by kind of emitter

    def _take_engine(self, line: bytes, time: float) -> None:
        if self._load.feed(line, time if self._timed else None):
            self._volume.count_load(time)
            self._engine.served(time)
            return
        if any(mark in line for mark in _REQUEST_MARKS):
            request = parse_access(line)
            if request is not None:
                self._access.add(request, time if self._timed else None)
                if 200 <= request.status < 300 and not request.is_probe:
                    self._engine.served(time)
                return
        line = without_prompt(line)
        self._engine.feed(line, time)
        self._match(line, time)

    def _take_gateway(self, line: bytes, time: float) -> None:
        request = parse_access(line)
        if request is not None:
            self._access.add(request, time if self._timed else None)
        else:
            self._match(without_prompt(line), time)

    def _take_kube(self, line: bytes, time: float) -> None:
        event = kube_event_of_line(line, self._clock, self._window.end)
        if event is not None:
            self._add_kube(event, time)

    def _take_other(self, line: bytes, time: float) -> None:
        if b"Xid (" in line:
            found = _XID.search(line)
            if found is not None:
                self._add_xid(found.groups(), line, time)
                return
        if self.emitter.kind in {"quality", "other"} and self._timed:
            self._quality.feed(line, time)
        self._match(line, time)

    # ------------------------------------------------------------ events

    def _match(self, line: bytes, time: float, subject: Subject | None = None, attrs: Mapping[str, str] | None = None) -> None:
        """Makes an event of each signature that the line has."""
        for match in self._book.match(line, self.emitter.kind):
            if self.emitter.kind == "engine":
                self._engine.saw(match, time, line)
            about = subject or self._subject_of(match)
            apart = tuple(match.groups.get(name, "") for name in match.signature.apart_by)
            more = dict(attrs or {})
            if self.emitter.kind == "engine" and self._engine.phase:
                more["phase"] = self._engine.phase
            key = _Key("log", match.signature.id, about, apart)
            self._keep(key, time, partial(_log_event, match, time, line, about, more, self.emitter.kind, self.name))

    def _subject_of(self, match: Match) -> Subject:
        if "pod" in match.groups:
            return self._context.of_pod(clean(match.groups["pod"], 253))
        if "node" in match.groups:
            return self._context.of_node(clean(match.groups["node"], 253))
        return self.emitter.subject

    def _add_xid(self, groups: tuple[bytes, bytes, bytes], line: bytes, time: float) -> None:
        """A kernel report of a GPU."""
        pci, code = clean_bytes(groups[0], 40), clean_bytes(groups[1], 10)
        key = _Key("xid", code, self.emitter.subject, (pci,))
        self._keep(key, time, partial(_xid_event, key, time, groups[2], line, self.emitter.kind, self.name))

    def _add_kube(self, event: KubeEvent, fallback: float) -> None:
        """An event of the cluster, and what its words mean."""
        time = event.time if event.time is not None else fallback
        subject, owner = self._about(event)
        attrs = {
            "message": event.message, "type": event.type, "object": event.object_name, "object_kind": event.object_kind,
            "namespace": event.namespace, "service": owner,
        }  # fmt: skip
        text = f"{event.object_kind} {event.object_name}: {event.message}"
        kept = {key: value for key, value in attrs.items() if value}
        made = Event(time, "kube", event.reason, subject, kept, clean(text), self.name)
        self._keep(_Key("kube", event.reason, subject, (event.object_name,)), time, lambda: made, event.count)
        line = f"{event.type} {event.reason} {event.namespace}/{event.object_kind}/{event.object_name} {event.message}"
        self._match(line.encode(), time, subject, {"service": owner} if owner else None)

    def _about(self, event: KubeEvent) -> tuple[Subject, str]:
        """Whom a cluster event is about, and the service that it belongs to (empty for nodes)."""
        if event.object_kind == "node":
            return self._context.of_node(event.object_name), ""
        if event.object_kind == "pod":
            subject = self._context.of_pod(event.object_name)
            ours = subject.scope is Scope.REPLICA
            return subject, self._context.service if ours else subject.id
        ours = event.object_name == self._context.service or workload_of(event.object_name) == self._context.service
        owner = self._context.service if ours else event.object_name
        return Subject(Scope.SERVICE, owner), owner

    def _keep(self, key: "_Key", time: float, make: Callable[[], Event], count: int = 1) -> None:
        self._kept.add(key, time, make, count)

    # ------------------------------------------------------------ results

    def close(self, problems: Iterable[str]) -> None:
        """Nothing more comes."""
        self.problems.extend(problems)
        if not self._lines:
            self.problems.append(f"{self.name} is empty")
        elif not self._timed:
            self.problems.append(f"{self.name} has no time stamps that can be read, so its events count as of the window's end")
        if self.emitter.kind == "engine":
            ending = self._engine.ending
            self._extra, self.facts = self._engine.finish()
            stopped = self._volume.stopped(ending)
            self._extra.extend([stopped] if stopped is not None else [])

    def events(self) -> Iterator[Event]:
        """All events, those of one sort bounded in number."""
        untimed = {} if self._timed else {"untimed": "yes"}
        for event in self._kept.events():
            yield replace(event, attrs={**event.attrs, **untimed}) if untimed else event
        yield from self._extra
        yield from self._access.events()
        yield from self._quality.events()

    def series(self) -> Iterator[Series]:
        """All series."""
        yield from self._load.series()
        yield from self._access.series()
        yield from self._quality.series()
        yield from self._volume.series()


def _log_event(
    match: Match, time: float, line: bytes, subject: Subject, more: Mapping[str, str], emitter: str, source: str
) -> Event:
    """The event of a line with a signature."""
    signature = match.signature
    groups = {name: clean(value, 200) for name, value in match.groups.items()}
    about = {"role": signature.role, "kinds": " ".join(signature.kinds), "severity": signature.severity, "emitter": emitter}
    return Event(time, "log", signature.id, subject, {**groups, **more, **about}, clean_bytes(line), source)


def _xid_event(key: "_Key", time: float, rest: bytes, line: bytes, emitter: str, source: str) -> Event:
    """The event of an Xid line."""
    attrs = {"pci": key.apart[0], "emitter": emitter} | _xid_details(rest)
    meaning = xid_codes().get(key.name)
    if meaning is not None:
        attrs |= {"class": meaning.fault_class, "meaning": meaning.name, "scope": meaning.scope, "role": meaning.role}
        attrs |= {"kinds": " ".join(meaning.kinds), "action": meaning.action}
    if "parent" in attrs:
        attrs["role"] = "consequence"
    return Event(time, "xid", key.name, key.subject, attrs, clean_bytes(line), source)


def _xid_details(rest: bytes) -> dict[str, str]:
    """Process, Xid before it and wording of the rest of an Xid line."""
    details: dict[str, str] = {}
    process = _XID_PROCESS.search(rest)
    if process is not None:
        pid, name, rest = process.groups()
        details["pid"] = clean_bytes(pid, 20)
        if name:
            details["process"] = clean_bytes(name, 60)
    parent = _XID_PARENT.search(rest)
    if parent is not None:
        details["parent"] = parent.group(1).decode()
    if b"UNRECOGNIZED_CLIENT" in rest:
        details["unrecognized_client"] = "yes"
    if b"Nonfatal" in rest or b"Non-fatal" in rest:
        details["fatal"] = "no"
    elif b"Fatal" in rest or b"fatal" in rest:
        details["fatal"] = "yes"
    if rest.strip():
        details["detail"] = clean_bytes(rest, 200)
    return details


# ---------------------------------------------------------------- keeping little


class _Key(NamedTuple):
    """What events of one sort have in common.

    :param apart: values that make sorts of their own (the card of an Xid, the object of a cluster event)
    """

    kind: str
    name: str
    subject: Subject | None
    apart: tuple[str, ...] = ()


@dataclass
class _Group:
    """Events of one sort: the first ones, how many lines each of them stands for, how to make the last, how many there were."""

    first: list[Event] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    last: Callable[[], Event] | None = None
    count: int = 0


class _Kept:
    """Keeps a bounded number of events per sort and period (baseline and window)."""

    def __init__(self, window: Window) -> None:
        self._window = window
        self._groups: dict[tuple[_Key, bool], _Group] = {}

    def add(self, key: _Key, time: float, make: Callable[[], Event], count: int = 1) -> None:
        """Takes an event, which is made only if it is kept; one from outside baseline and window is dropped."""
        if not self._window.baseline_start <= time <= self._window.end:
            return
        group = self._groups.get((key, time >= self._window.start))
        if group is None:
            if len(self._groups) >= MAX_SORTS:
                return
            group = self._groups[key, time >= self._window.start] = _Group()
        group.count += max(count, 1)
        if len(group.first) < KEEP - 1:
            group.first.append(make())
            group.counts.append(max(count, 1))
        else:
            group.last = make

    def events(self) -> Iterator[Event]:
        """What was kept; attribute ``count`` is how many lines an event stands for: the last one for all that were not kept."""
        for group in self._groups.values():
            for event, count in zip(group.first, group.counts, strict=True):
                yield replace(event, attrs={**event.attrs, "count": str(count)})
            if group.last is not None:
                last = group.last()
                yield replace(last, attrs={**last.attrs, "count": str(group.count - sum(group.counts))})


_VOLUME_SIGNALS = {"engine": "log.lines", "gateway": "gateway.log_lines"}


class _Volume:
    """How many lines an emitter writes, minute by minute, and whether it fell silent."""

    def __init__(self, emitter: Emitter, window: Window, source: str) -> None:
        self._emitter = emitter
        self._window = window
        self._source = source
        self._bins: Counter[int] = Counter()
        self._latest = 0.0
        self._latest_load = 0.0
        self._gaps: list[float] = []

    def count(self, time: float) -> None:
        """Counts a line with a stamp."""
        if not self._window.baseline_start <= time <= self._window.end:
            return
        self._bins[int(time // VOLUME_GRID)] += 1
        self._latest = max(self._latest, time)

    def count_load(self, time: float) -> None:
        """Counts a line of load, which comes at regular intervals."""
        if not self._window.baseline_start <= time <= self._window.end:
            return
        if self._latest_load and time > self._latest_load and len(self._gaps) < _MAX_GAPS:
            self._gaps.append(time - self._latest_load)
        self._latest_load = max(self._latest_load, time)

    def series(self) -> Iterator[Series]:
        """Lines per second from the first line to the window's end; a log that ends early goes on with zeros."""
        signal = _VOLUME_SIGNALS.get(self._emitter.kind)
        if signal is None or not self._bins:
            return
        numbers = np.arange(min(self._bins), int(self._window.end // VOLUME_GRID) + 1)
        ends = np.minimum((numbers + 1) * VOLUME_GRID, self._window.end)
        lengths = ends - numbers * VOLUME_GRID
        keep = lengths > 0.5 * VOLUME_GRID
        values = np.array([self._bins[int(number)] for number in numbers]) / np.maximum(lengths, 1.0)
        yield Series(signal, self._emitter.subject, ends[keep], values[keep], Origin("log", self._source))

    def stopped(self, ending: str) -> Event | None:
        """``log-stopped`` if an engine wrote its load at regular intervals, and then nothing more until the window's end.

        :param ending: what the engine said at last
        """
        if len(self._gaps) < _MIN_LINES:
            return None
        gaps = sorted(self._gaps)
        usual = gaps[int(0.9 * (len(gaps) - 1))]
        silent = self._window.end - self._latest
        wrote_load_to_the_last = self._latest - self._latest_load <= max(3.0 * usual, 0.5 * SILENCE)
        if not wrote_load_to_the_last or silent < max(SILENCE, SILENCE_GAPS * usual, 1.5 * gaps[-1]):
            return None
        attrs = {
            "seconds": f"{silent:.0f}",
            "usual_gap": f"{usual:.0f}",
            "after": ending,
            "role": "info",
            "kinds": "log-gap engine-dead",
        }
        text = f"{self._source} has no line in the last {silent:.0f} s of the window, after one every {usual:.0f} s or less"
        return Event(self._latest, "log", "log-stopped", self._emitter.subject, attrs | {"emitter": "engine"}, text, self._source)


def _sources_of(readers: Iterable[_Reader]) -> list[Source]:
    """One source per kind of emitter."""
    problems: dict[str, list[str]] = {}
    for reader in readers:
        problems.setdefault(f"log:{reader.emitter.kind}", []).extend(reader.problems)
    return [
        Source(name, SourceState.PARTIAL if found else SourceState.OK, "; ".join(clean(one, 200) for one in found[:5]))
        for name, found in sorted(problems.items())
    ]

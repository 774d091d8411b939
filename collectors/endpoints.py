"""The expositions of engines, read from the engines themselves where no Prometheus does it."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field, replace
from functools import partial
from http import HTTPStatus
from math import inf
from pathlib import Path
from time import monotonic

import numpy as np

from triage.sdk import (
    RawSeries,
    Recording,
    Request,
    Scope,
    Series,
    Source,
    SourceState,
    Subject,
    TriageError,
    beats,
    http,
    in_background,
    openmetrics,
    translate,
)
from triage.sdk.parts import GENERIC, Index, engines, index_names, is_engine_name, processes

MAX_BYTES = 64 << 20
"""Largest answer that is read, unpacked: a hundred times what a busy engine shows."""

LEAST_STEP = 1.0
"""Seconds between two scrapes of one endpoint at least: the exposition is made by the process that serves the users."""

UNSPOKEN = "endpoint"
"""Job of an endpoint whose metrics no dialect knows."""

_VARIABLE = "TRIAGE_ENDPOINT_"
_SWITCHED_OFF = "switch them on, or name the right path"
_ACCEPT = "text/plain;version=0.0.4, application/openmetrics-text;version=1.0.0;q=0.5, */*;q=0.1"
_HEADERS = {"Accept": _ACCEPT, "Connection": "close"}
_PROC = Path("/proc")
_SILENT = frozenset({http.Failure.SILENT, http.Failure.LATE})
"""An engine that answers so all the time is down."""

_Labels = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class _Scrape:
    """What one scrape brought.

    :param path: where it was found
    """

    exposition: openmetrics.Exposition
    seconds: float
    path: str


@dataclass
class _Target:
    """One endpoint and everything that its scrapes brought.

    :param client: how it is asked
    :param headers: what is sent along, credentials among it
    :param found: nobody named it
    :param guessed: it may be anything; it is kept only if it turns out to be an engine
    :param local: it is on this machine
    :param paths: where to look, the next one if there is no exposition
    """

    address: engines.Address
    instance: str
    client: http.Client
    headers: Mapping[str, str]
    local: bool
    paths: tuple[str, ...]
    found: bool = False
    guessed: bool = False
    job: str = UNSPOKEN
    pending: "Future[_Scrape] | None" = None
    begun: float = 0.0
    restarts: int = 0
    failures: Counter[tuple[str, str]] = field(default_factory=Counter)
    scrapes: int = 0
    silences: int = 0
    about: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    columns: dict[tuple[str, _Labels], list[tuple[float, float]]] = field(default_factory=dict)

    def start(self, now: float, timeout: float) -> None:
        """Begins a scrape, unless the one before it is still under way."""
        if self.pending is None:
            self.begun = now
            self.pending = in_background(partial(self._scraped, timeout))

    def harvest(self, *, final: bool = False) -> None:
        """Takes what a scrape brought, if it has come back; a last one that has not is a failure."""
        if self.pending is None or not (self.pending.done() or final):
            return
        try:
            scraped = self.pending.result(timeout=0)
        except TimeoutError:
            self._fail("gave no whole answer until the window ended")
        except http.AskError as error:
            self._fail(error.reason, error.hint)
            self.silences += error.kind in _SILENT
        else:
            self._take(scraped)
        self.pending = None

    def _scraped(self, timeout: float) -> _Scrape:
        """Reads the exposition at the first of the paths that has one.

        :param timeout: seconds for the whole scrape
        :raises http.AskError: there is none, or it cannot be read
        """
        begun = monotonic()
        for path in self.paths:
            try:
                return self._read(path, begun, begun + timeout)
            except http.AskError as error:
                if error.kind is not http.Failure.ELSEWHERE or path == self.paths[-1]:
                    raise
        raise AssertionError("an endpoint has a path")

    def _read(self, path: str, begun: float, end: float) -> _Scrape:
        """The exposition at one path."""
        left = max(0.001, end - monotonic())
        answer = self.client.ask(self.address.url(path), left, headers=self.headers, packed=not self.local)
        return _Scrape(_exposition(answer), monotonic() - begun, path)

    def _fail(self, reason: str, hint: str = "") -> None:
        self.scrapes += 1
        self.failures[reason, hint] += 1
        self._note("up", 0.0)

    def _take(self, scraped: _Scrape) -> None:
        self.scrapes += 1
        self.paths = (scraped.path,)
        self._note("up", 1.0)
        self._note("scrape_duration_seconds", scraped.seconds)
        self._note("scrape_samples_scraped", float(len(scraped.exposition.series)))
        self.restarts += self._restarted(scraped.exposition)
        for one in scraped.exposition.series:
            if len(one.values):
                key = (one.name, tuple(sorted(one.labels.items())))
                self.columns.setdefault(key, []).append((self.begun, float(one.values[-1])))

    def _note(self, name: str, value: float) -> None:
        self.about.setdefault(name, []).append((self.begun, value))

    def _restarted(self, exposition: openmetrics.Exposition) -> bool:
        """Whether the process is a new one: it says so, or most of its counters fell."""
        fell, moved = 0, 0
        for one in exposition.series:
            before = self.columns.get((one.name, tuple(sorted(one.labels.items()))))
            if before is None or not len(one.values):
                continue
            if one.name == "process_start_time_seconds":
                return bool(one.values[-1] > before[-1][1] + 1.0)
            if one.name.endswith(("_total", "_count")) and before[-1][1] > 0:
                moved += 1
                fell += bool(one.values[-1] < before[-1][1])
        return fell > moved / 2

    def series(self, more: Mapping[str, str]) -> list[RawSeries]:
        """All samples, with the labels that a scrape adds; labels of the engine that have the same names are set aside."""
        added = {**more, "job": self.job, "instance": self.instance}
        made = [_raw(name, added, samples) for name, samples in sorted(self.about.items())]
        for (name, labels), samples in sorted(self.columns.items()):
            own = {f"exported_{label}" if label in added else label: value for label, value in labels}
            made.append(_raw(name, {**own, **added}, samples))
        shown_at = self.address.url(self.paths[0])
        return [replace(one, added=frozenset(added), shown_at=shown_at) for one in made]

    @property
    def is_down(self) -> bool:
        """Whether an engine that the user named answered nothing at all: then it is down, and not only without metrics."""
        return not self.found and self.scrapes > 0 and self.silences == self.scrapes

    def names(self) -> set[str]:
        """Names of all metrics that were seen."""
        return {name for name, _ in self.columns}

    def troubles(self) -> list[str]:
        """What went wrong, one sentence each."""
        found = [
            f"{reason} ({count} of {self.scrapes} scrapes){f'; {hint}' if hint else ''}"
            for (reason, hint), count in sorted(self.failures.items())
        ]
        if self.restarts:
            found.append(f"restarted while it was watched ({self.restarts} times)")
        if self.scrapes > sum(self.failures.values()) and not self.columns:
            found.append("answers, but shows no metric at all")
        elif self.columns and self.job == UNSPOKEN:
            found.append("shows metrics that no dialect knows")
        return [f"{self.instance} {text}" for text in found]


def _raw(name: str, labels: Mapping[str, str], samples: Sequence[tuple[float, float]]) -> RawSeries:
    times, values = np.array(samples, dtype=float).T
    later = np.concatenate(([True], np.diff(times) > 0))
    return RawSeries(name, labels, times[later], values[later])


def _exposition(answer: http.Answer) -> openmetrics.Exposition:
    """The exposition in an answer.

    :raises http.AskError: it is something else
    """
    start = answer.body[:64].lstrip()
    if answer.status != HTTPStatus.OK or start.startswith(b"<"):
        raise http.refusal(answer.status, answer.path, answer.body, wanted="metrics", variable=_VARIABLE, hint=_SWITCHED_OFF)
    if start.startswith((b"[", b"{")):
        raise http.AskError(http.Failure.ELSEWHERE, "answers with JSON instead of metrics in text", _SWITCHED_OFF)
    try:
        return openmetrics.parse(answer.body, default_time=0.0)
    except TriageError as error:
        reason = f"answers with something else than metrics: {error.message}"
        raise http.AskError(http.Failure.ELSEWHERE, reason, _SWITCHED_OFF) from error


def _own_names() -> set[str]:
    """Names and addresses of this machine."""
    import psutil

    addresses = {address.address.partition("%")[0] for link in psutil.net_if_addrs().values() for address in link}
    return addresses | {engines.this_node({})}


def _named(request: Request) -> list[_Target]:
    """The endpoints that the user named.

    :raises TriageError: the environment's credentials cannot be used
    """
    access, own = http.access_of(_VARIABLE, request.environ), _own_names()
    client, headers = http.Client(access, MAX_BYTES), {**_HEADERS, **access.headers}
    usual = tuple(engine.path for engine in engines.ENGINES if engine.name == request.service.facts.get("engine"))
    targets: dict[str, _Target] = {}
    for text in dict.fromkeys(request.service.endpoints):
        address = engines.parse_address(text)
        paths = (address.path,) if address.path else usual or engines.TEXT_PATHS
        instance = address.instance + (address.path if address.instance in targets else "")
        targets[instance] = _Target(address, instance, client, headers, engines.is_local(address.host, own), paths)
    return list(targets.values())


def _found(request: Request) -> tuple[list[_Target], list[str]]:
    """Engines that listen here or did at an earlier look, and notes on those that cannot be asked without being named.

    Of an engine's many sockets only the one that its command line (or habit) names is asked; the others are its own business.
    One that answered before is asked again though nobody listens any more: that it refuses is an answer.
    """
    node = engines.this_node(request.environ)
    targets: dict[int, _Target] = {}
    notes = []
    for one in processes.engine_processes(_PROC):
        listener = next((listener for listener in one.listeners if listener.port == one.usual), None)
        if listener is None:
            ports = ", ".join(str(listener.port) for listener in one.listeners)
            notes.append(f"{one.engine.name} (process {one.process.pid}) listens at {ports}: name its endpoint")
        else:
            targets[one.usual] = _local(listener, node, (one.engine.path,))
    usual = {engine.port for engine in engines.ENGINES}
    for listener in sorted(processes.listeners(_PROC).values(), key=lambda listener: (listener.port, listener.host)):
        if listener.port in usual and listener.port not in targets:
            targets[listener.port] = replace(_local(listener, node, engines.TEXT_PATHS), guessed=True)
    for port in _earlier_ports(request.earlier, node) - targets.keys():
        targets[port] = replace(_local(processes.Listener("localhost", port), node, engines.TEXT_PATHS), found=False)
    return [targets[port] for port in sorted(targets)], notes


def _earlier_ports(earlier: Recording | None, node: str) -> set[int]:
    """Ports of this machine at which engines answered at earlier looks."""
    known = earlier.subjects[Scope.REPLICA] if earlier is not None else []
    named = (one.id.rpartition(":") for one in known)
    return {int(port) for name, _, port in named if name == node and port.isascii() and port.isdigit()}


def _local(listener: processes.Listener, node: str, paths: tuple[str, ...]) -> _Target:
    """A target on this machine that nobody named. It gets no credentials, for anybody may listen at a port, and no proxy."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(listener.host, listener.host)  # noqa: S104 - compared with
    address = engines.Address("http", host, listener.port)
    client = http.Client(http.Access(_VARIABLE), MAX_BYTES)
    return _Target(address, f"{node}:{listener.port}", client, _HEADERS, local=True, paths=paths, found=True)


class Endpoints:
    """Scrapes engines as Prometheus would."""

    name = "endpoints"
    sees = "what engines show at their own metrics endpoints, named with --endpoint or found on this machine"

    def wanted(self, request: Request) -> str:
        """If endpoints are named, or may be found on this machine; and only if the window lies ahead."""
        service = request.service
        if service.endpoints:
            service = service.model_copy(update={"endpoints": (), "prometheus": None})
        return engines.why_not_here(service, request.window.end, request.clock(), _own_names())

    def collect(self, request: Request) -> Recording:
        """Scrapes every endpoint until the window ends."""
        targets, notes = (_named(request), []) if request.service.endpoints else _found(request)
        return self._recording(self._sampled(targets, notes, request), notes, request)

    def _recording(self, targets: Sequence[_Target], notes: Sequence[str], request: Request) -> Recording:
        """What all scrapes until now have brought, of those targets that turned out to be engines."""
        targets = [target for target in targets if target.columns or not target.guessed]
        if not targets:
            nobody = "no engine that shows metrics was found on this machine: name its address with --endpoint"
            return _empty(request, Source(self.name, SourceState.ABSENT, "; ".join([*notes, nobody])))
        service = request.service
        more = {**service.labels, "service": service.labels.get("service", service.name)}
        series = [one for target in targets for one in target.series(more)]
        recording = translate(series, request.dialects, service, request.window, request.signatures)
        down = {target.instance for target in targets if target.is_down}
        return replace(
            recording,
            series=[_of_engine(one, down) for one in recording.series],
            links={**recording.links, **_links(recording, targets, engines.this_node(request.environ))},
            sources=(self._source(targets, notes),),
            step=max(request.step, LEAST_STEP),
        )

    def _sampled(self, targets: list[_Target], notes: Sequence[str], request: Request) -> list[_Target]:
        """The targets after all scrapes, without those that turned out to be something else than an engine."""
        step = max(request.step, LEAST_STEP)
        index = index_names(request.dialects)
        for now, done in beats(request.window.end, step, request.clock, request.stop):
            request.progress(f"scraping {len(targets)} endpoint{'s' * (len(targets) != 1)}", done)
            for target in targets:
                target.start(now, request.timeout)
            self._harvest(targets, index, min(request.timeout, 0.9 * step))
            targets = [target for target in targets if target.pending or not target.guessed or target.job != UNSPOKEN]
            if not targets:
                break
            if any(target.scrapes > 1 for target in targets):
                request.so_far(partial(self._recording, targets, notes, request))
        if request.stop.is_set():
            request.progress("reading what was scraped", 1.0)
            self._harvest(targets, index, 0.0, late=request.clock() - step)
        else:
            self._harvest(targets, index, request.timeout, late=inf)
        return targets

    def _harvest(self, targets: Sequence[_Target], index: Index, timeout: float, late: float = -inf) -> None:
        """Waits for scrapes under way, not longer than the timeout, and takes what they brought.

        :param late: Unix seconds; of scrapes that began before it no answer is awaited any more
        """
        wait([target.pending for target in targets if target.pending], timeout=timeout)
        for target in targets:
            target.harvest(final=target.begun < late)
            target.job = _language(target.names(), index, engines_only=target.guessed)

    def _source(self, targets: Sequence[_Target], notes: Sequence[str]) -> Source:
        """What became of the endpoints, and which were found if none was named."""
        troubles = [text for target in targets for text in target.troubles()] + list(notes)
        found = [f"{target.job} at {target.instance}" for target in targets if target.found]
        reason = "; ".join(troubles + ([f"found here: {', '.join(found)}"] if found else []))
        if not any(target.columns for target in targets):
            return Source(self.name, SourceState.FAILED, reason)
        return Source(self.name, SourceState.PARTIAL if troubles else SourceState.OK, reason)


def _language(names: Iterable[str], index: Index, *, engines_only: bool) -> str:
    """The dialect that most of the metrics speak which only one dialect knows; ``UNSPOKEN`` if there are none."""
    votes: Counter[str] = Counter()
    for name in names:
        speakers = {use.dialect.name for use in index.get(name, ())}
        if len(speakers) == 1 and (is_engine_name(index, name) if engines_only else not GENERIC.match(name)):
            votes.update(speakers)
    return min(votes, key=lambda name: (-votes[name], name)) if votes else UNSPOKEN


def _of_engine(one: Series, down: Collection[str]) -> Series:
    """The scrapes of an endpoint that is down as those of an engine: that it is one is the user's word, since it says nothing."""
    name = one.subject.id.removeprefix(f"{UNSPOKEN}/")
    is_it = one.signal == "target.up" and one.subject.scope is Scope.TARGET and name in down
    return replace(one, subject=Subject(Scope.REPLICA, name)) if is_it else one


def _links(recording: Recording, targets: Iterable[_Target], node: str) -> dict[Subject, tuple[Subject, ...]]:
    """Replicas on this machine with their node."""
    here = {target.instance for target in targets if target.local}
    return {one: (Subject(Scope.NODE, node),) for one in recording.subjects[Scope.REPLICA] if one.id in here}


def _empty(request: Request, source: Source) -> Recording:
    return Recording(request.service.name, request.window, sources=(source,), step=request.step)


collector = Endpoints()

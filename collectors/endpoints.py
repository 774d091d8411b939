"""The expositions of engines, read from the engines themselves where no Prometheus does it."""

import ssl
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection, RemoteDisconnected
from pathlib import Path
from socket import gaierror
from time import monotonic
from urllib.parse import urljoin, urlsplit

import numpy as np
import psutil

from triage.sdk import (
    GENERIC,
    Index,
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
    engines,
    in_background,
    index_names,
    is_engine_name,
    openmetrics,
    processes,
    translate,
)

MAX_BYTES = 64 << 20
"""Largest answer that is read, unpacked: a hundred times what a busy engine shows."""

LEAST_STEP = 1.0
"""Seconds between two scrapes of one endpoint at least: the exposition is made by the process that serves the users."""

UNSPOKEN = "endpoint"
"""Job of an endpoint whose metrics no dialect knows."""

_MAX_REDIRECTS = 3
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_CHUNK = 1 << 16
_ACCEPT = "text/plain;version=0.0.4, application/openmetrics-text;version=1.0.0;q=0.5, */*;q=0.1"
_PROC = Path("/proc")

_Labels = tuple[tuple[str, str], ...]


class ScrapeError(Exception):
    """Why a scrape brought nothing, as the end of a sentence that begins with the endpoint."""


class SilentError(ScrapeError):
    """Nobody answers at that address: nothing listens, the connection is closed, or no answer comes."""


class NoExpositionError(ScrapeError):
    """Something is there, but no exposition: another path may have it."""


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

    :param found: nobody named it
    :param guessed: it may be anything; it is kept only if it turns out to be an engine
    :param local: it is on this machine
    :param paths: where to look, the next one if there is no exposition
    """

    address: engines.Address
    instance: str
    token: str
    local: bool
    paths: tuple[str, ...]
    found: bool = False
    guessed: bool = False
    job: str = UNSPOKEN
    pending: "Future[_Scrape] | None" = None
    begun: float = 0.0
    restarts: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    scrapes: int = 0
    silences: int = 0
    about: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    columns: dict[tuple[str, _Labels], list[tuple[float, float]]] = field(default_factory=dict)

    def start(self, now: float, timeout: float) -> None:
        """Begins a scrape, unless the one before it is still under way."""
        if self.pending is None:
            self.begun = now
            self.pending = in_background(partial(scrape, self.address, self.paths, self.token, timeout, packed=not self.local))

    def harvest(self, *, final: bool = False) -> None:
        """Takes what a scrape brought, if it has come back; a last one that has not is a failure."""
        if self.pending is None or not (self.pending.done() or final):
            return
        try:
            scraped = self.pending.result(timeout=0)
        except TimeoutError:
            self._fail("gave no whole answer until the window ended")
        except ScrapeError as error:
            self._fail(str(error))
            self.silences += isinstance(error, SilentError)
        else:
            self._take(scraped)
        self.pending = None

    def _fail(self, reason: str) -> None:
        self.scrapes += 1
        self.failures[reason] += 1
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
        return made

    @property
    def is_down(self) -> bool:
        """Whether an engine that the user named answered nothing at all: then it is down, and not only without metrics."""
        return not self.found and self.scrapes > 0 and self.silences == self.scrapes

    def names(self) -> set[str]:
        """Names of all metrics that were seen."""
        return {name for name, _ in self.columns}

    def troubles(self) -> list[str]:
        """What went wrong, one sentence each."""
        found = [f"{reason} ({count} of {self.scrapes} scrapes)" for reason, count in sorted(self.failures.items())]
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


def scrape(address: engines.Address, paths: Sequence[str], token: str, timeout: float, *, packed: bool) -> _Scrape:
    """Reads the exposition at the first of the paths that has one.

    :param timeout: seconds for the whole scrape
    :param packed: whether to ask for gzip; on one machine it would only cost the engine time
    :raises ScrapeError: there is none, or it cannot be read
    """
    begun = monotonic()
    for path in paths:
        try:
            data = fetch(address, path, token, begun + timeout, packed=packed)
            return _Scrape(_exposition(data), monotonic() - begun, path)
        except NoExpositionError:
            if path == paths[-1]:
                raise
        except TimeoutError as error:
            raise SilentError(f"gave no whole answer within {timeout:g} s") from error
        except (ConnectionError, RemoteDisconnected) as error:
            raise SilentError(_reason(error)) from error
        except (OSError, HTTPException, ValueError) as error:
            raise ScrapeError(_reason(error)) from error
    raise ScrapeError("has no path to look at")


def _exposition(data: bytes) -> openmetrics.Exposition:
    """The exposition in an answer.

    :raises NoExpositionError: it is something else
    """
    start = data[:64].lstrip()
    if start.startswith(b"<"):
        raise NoExpositionError("answers with a web page instead of metrics")
    if start.startswith((b"[", b"{")):
        raise NoExpositionError("answers with JSON instead of metrics in text")
    try:
        return openmetrics.parse(data, default_time=0.0)
    except TriageError as error:
        raise NoExpositionError(f"answers something else than metrics: {error.message}") from error


def fetch(address: engines.Address, path: str, token: str, deadline: float, *, packed: bool) -> bytes:
    """The body of an answer. Redirects are followed only where they stay on the same server.

    :param deadline: by the monotonic clock
    :raises ScrapeError: the status, the size or the end of the answer is not as it should be
    :raises OSError: no connection, or no answer in time
    """
    for _ in range(_MAX_REDIRECTS + 1):
        with closing(_connection(address, deadline)) as connection:
            connection.request("GET", path, headers=_headers(token, packed=packed))
            sock = connection.sock
            with connection.getresponse() as response:
                if response.status not in _REDIRECTS:
                    _check_status(response.status, path, token)
                    return _body(response, sock, deadline)
                path = _redirected(address, path, response.getheader("Location", ""))
    raise ScrapeError("redirects in a circle")


def _connection(address: engines.Address, deadline: float) -> HTTPConnection:
    """A connection that no proxy and no stored password has a part in."""
    left = max(0.001, deadline - monotonic())
    if address.scheme == "https":
        return HTTPSConnection(address.host, address.port, timeout=left, context=ssl.create_default_context())
    return HTTPConnection(address.host, address.port, timeout=left)


def _headers(token: str, *, packed: bool) -> dict[str, str]:
    headers = {
        "Accept": _ACCEPT,
        "Accept-Encoding": "gzip" if packed else "identity",
        "Connection": "close",
        "User-Agent": "triage",
    }
    return {**headers, "Authorization": f"Bearer {token}"} if token else headers


def _check_status(status: int, path: str, token: str) -> None:
    """Refuses every status but 200, with what to do about it."""
    match status:
        case 200:
            return
        case 401 | 403:
            what = "refuses the token in TRIAGE_ENDPOINT_TOKEN" if token else "asks for credentials: set TRIAGE_ENDPOINT_TOKEN"
            raise ScrapeError(f"{what} (status {status})")
        case 404 | 405 | 501:
            raise NoExpositionError(
                f"shows no metrics at {path.partition('?')[0]} (status {status}): switch them on, or name the right path"
            )
        case _:
            raise ScrapeError(f"answers with status {status}")


def _redirected(address: engines.Address, path: str, location: str) -> str:
    """The path of a redirect.

    :raises ScrapeError: it leads to another server
    """
    try:
        target = urlsplit(urljoin(address.url(path), location))
        there = (target.scheme, target.hostname, target.port or (443 if target.scheme == "https" else 80))
    except ValueError:
        there = ("", None, 0)
    if there != (address.scheme, address.host.lower(), address.port) or not location.isascii() or not location.isprintable():
        raise ScrapeError("redirects to another server, which is not followed: name that one if it is the engine")
    return (target.path or "/") + (f"?{target.query}" if target.query else "")


def _body(response: HTTPResponse, sock: object, deadline: float) -> bytes:
    """The whole body, unpacked, within limits of time and size.

    :raises ScrapeError: too large, or cut short
    :raises TimeoutError: too slow
    """
    packed = response.getheader("Content-Encoding", "").strip().lower() in {"gzip", "x-gzip", "deflate"}
    unpack = zlib.decompressobj(wbits=47) if packed else None
    length = response.getheader("Content-Length", "")
    received, size, parts = 0, 0, list[bytes]()
    while True:
        left = deadline - monotonic()
        if left <= 0:
            raise TimeoutError
        if hasattr(sock, "settimeout"):
            sock.settimeout(left)
        data = response.read1(_CHUNK)
        if not data:
            break
        received += len(data)
        parts.append(_unpacked(unpack, data, MAX_BYTES - size + 1) if unpack else data)
        size += len(parts[-1])
        if size > MAX_BYTES:
            raise ScrapeError(f"answers with more than {MAX_BYTES >> 20} MiB")
    if (length.isdigit() and received < int(length)) or (unpack and not unpack.eof):
        raise ScrapeError("broke off in the middle of its answer")
    return b"".join(parts)


def _unpacked(unpack: "zlib._Decompress", data: bytes, most: int) -> bytes:
    try:
        return unpack.decompress(data, most)
    except zlib.error as error:
        raise ScrapeError("answers with damaged gzip") from error


def _reason(error: Exception) -> str:
    """Why a connection brought nothing; what the other side wrote is not repeated."""
    match error:
        case ConnectionRefusedError():
            return "refuses the connection: nothing listens there"
        case gaierror():
            return "has a name that is not known here"
        case ssl.SSLCertVerificationError():
            return f"shows a certificate that is not trusted ({error.verify_message}): set SSL_CERT_FILE to its authority"
        case ssl.SSLError():
            return "does not speak TLS: is it http instead of https?"
        case ConnectionResetError() | BrokenPipeError():
            return "closed the connection"
        case OSError() if error.strerror:
            return f"cannot be reached: {error.strerror}"
        case HTTPException():
            return "does not speak HTTP, or broke off in the middle of its answer"
        case _:
            return f"cannot be read: {type(error).__name__}"


def _own_names() -> set[str]:
    """Names and addresses of this machine."""
    addresses = {address.address.partition("%")[0] for link in psutil.net_if_addrs().values() for address in link}
    return addresses | {engines.this_node({})}


def _token(request: Request) -> str:
    """The token for endpoints that the user named.

    :raises TriageError: it cannot be sent
    """
    token = request.environ.get("TRIAGE_ENDPOINT_TOKEN", "").strip()
    if token and not (token.isascii() and token.isprintable() and " " not in token):
        raise TriageError("TRIAGE_ENDPOINT_TOKEN holds characters that cannot stand in a header", "set it to the bare token")
    return token


def _named(request: Request) -> list[_Target]:
    """The endpoints that the user named."""
    token, own = _token(request), _own_names()
    usual = tuple(engine.path for engine in engines.ENGINES if engine.name == request.service.facts.get("engine"))
    targets: dict[str, _Target] = {}
    for text in dict.fromkeys(request.service.endpoints):
        address = engines.parse_address(text)
        paths = (address.path,) if address.path else usual or engines.TEXT_PATHS
        instance = address.instance + (address.path if address.instance in targets else "")
        targets[instance] = _Target(address, instance, token, engines.is_local(address.host, own), paths)
    return list(targets.values())


def _found(request: Request) -> tuple[list[_Target], list[str]]:
    """Engines that listen here, and notes on those that cannot be asked without being named.

    Of an engine's many sockets only the one that its command line (or habit) names is asked; the others are its own business.
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
    return [targets[port] for port in sorted(targets)], notes


def _local(listener: processes.Listener, node: str, paths: tuple[str, ...]) -> _Target:
    """A target on this machine that nobody named. It gets no token: anybody may listen at a port."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(listener.host, listener.host)  # noqa: S104 - compared with
    address = engines.Address("http", host, listener.port)
    return _Target(address, f"{node}:{listener.port}", "", local=True, paths=paths, found=True)


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
        targets = self._sampled(targets, request)
        if not targets:
            notes.append("no engine that shows metrics was found on this machine: name its address with --endpoint")
            return _empty(request, Source(self.name, SourceState.ABSENT, "; ".join(notes)))
        service = request.service
        more = {**service.labels, "service": service.labels.get("service", service.name)}
        series = [one for target in targets for one in target.series(more)]
        recording = translate(series, request.dialects, service, request.window)
        down = {target.instance for target in targets if target.is_down}
        return replace(
            recording,
            series=[_of_engine(one, down) for one in recording.series],
            links={**recording.links, **_links(recording, targets, engines.this_node(request.environ))},
            sources=(self._source(targets, notes),),
            step=max(request.step, LEAST_STEP),
        )

    def _sampled(self, targets: list[_Target], request: Request) -> list[_Target]:
        """The targets after all scrapes, without those that turned out to be no engine."""
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
        self._harvest(targets, index, 0.0 if request.stop.is_set() else request.timeout, final=True)
        return [target for target in targets if target.columns or not target.guessed]

    def _harvest(self, targets: Sequence[_Target], index: Index, timeout: float, *, final: bool = False) -> None:
        """Waits for scrapes under way, not longer than the timeout, and takes what they brought."""
        wait([target.pending for target in targets if target.pending], timeout=timeout)
        for target in targets:
            target.harvest(final=final)
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

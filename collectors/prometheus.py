"""Any server that speaks the Prometheus API: Prometheus itself, VictoriaMetrics, Thanos, Mimir, and what is hosted of them."""

import socket
import ssl
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any, TypeVar
from urllib.parse import SplitResult, urlencode, urljoin, urlsplit

import requests
from prometheus_api_client import PrometheusConnect
from requests.utils import should_bypass_proxies
from urllib3.exceptions import HTTPError
from urllib3.util.retry import Retry

from triage.sdk import (
    Query,
    RawSeries,
    Recording,
    Request,
    Source,
    SourceState,
    Survey,
    TriageError,
    Window,
    in_background,
    prometheus_api,
    read_matrix,
    scrape_interval,
    translate,
    unique,
)

WORKERS = 8
"""Queries that are asked at the same time; Prometheus itself runs 20 at most (``--query.max-concurrency``)."""

MAX_BYTES = 32 << 20
"""Largest answer that is read, unpacked."""

MAX_SERIES = 20_000
"""Most series of one answer that are looked at."""

USUAL_INTERVAL = 30.0
"""Scrape interval of what nobody scrapes (pushed metrics): kubelet and DCGM exporters are scraped this often."""

_CONNECT = 5.0
_LONGEST_URL = 2000
_MOST_TIMEOUTS = 3
_SKEW = 5.0
_NOW = 60.0
_INTERVAL_SPAN = 3600.0
_MAX_REDIRECTS = 3


_VARIABLE = prometheus_api.VARIABLE
AskError = prometheus_api.AskError
clean = prometheus_api.clean


class _Answer(requests.Response):
    """A good answer, already parsed."""

    def __init__(self, body: Mapping[str, Any]) -> None:
        super().__init__()
        self.status_code = 200
        self.body = body

    def json(self, **_: Any) -> Any:
        """The parsed body."""
        return self.body


class _Session(requests.Session):
    """Asks within limits of time and size, tells what is wrong in plain words, and gives credentials to one server only.

    :param timeout: seconds for one whole answer
    :param warnings: what the server had to say beside its answers
    :param asked: questions so far
    :param received: bytes of the answers so far, unpacked
    :param date: when the last answer was sent, by the sender's clock, Unix seconds; 0 if it did not say
    """

    def __init__(self, timeout: float) -> None:
        super().__init__()
        self.trust_env = False
        self.max_redirects = _MAX_REDIRECTS
        self.timeout = timeout
        self.warnings: dict[str, None] = {}
        self.asked = 0
        self.received = 0
        self.date = 0.0

    def request(self, method: str | bytes, url: str | bytes, *args: Any, **kwargs: Any) -> requests.Response:
        """The parsed answer of the API.

        :raises AskError: there is none
        """
        self.asked += 1
        kwargs |= {"stream": True, "timeout": (min(_CONNECT, self.timeout), self.timeout)}
        form = urlencode(kwargs.get("params") or {}, doseq=True)
        if len(form) > _LONGEST_URL:
            kwargs |= {"params": None, "data": form, "headers": {**(kwargs.get("headers") or {}), **_FORM}}
            method = "POST"
        end = monotonic() + self.timeout
        try:
            with super().request(method, url, *args, **kwargs) as response:
                body = self._body(response, end)
        except (requests.RequestException, HTTPError, OSError) as error:
            if (left := getattr(error, "response", None)) is not None:
                left.close()
            raise _failure(error, str(url), self.timeout) from None
        self.received += len(body)
        self.date = _moment(response.headers.get("Date", ""))
        answer = _Answer(prometheus_api.read_answer(response.status_code, urlsplit(str(response.url)).path, body))
        for warning in answer.body.get("warnings") or ():
            if not str(warning).startswith("PromQL info"):
                self.warnings[clean(str(warning))] = None
        return answer

    def _body(self, response: requests.Response, end: float) -> bytes:
        """The whole body, if it is not too large and does not take too long."""
        body = bytearray()
        for chunk in response.iter_content(1 << 16):
            body += chunk
            if len(body) > MAX_BYTES:
                raise AskError(f"gave an answer of more than {MAX_BYTES >> 20} MiB", "ask for less time (--since, --baseline)")
            if monotonic() > end:
                raise _late(self.timeout)
        return bytes(body)

    def get_redirect_target(self, resp: requests.Response) -> str | None:
        """Where the server sends us, if it is the same server.

        :raises AskError: it is another one, which must not get the credentials
        """
        target = super().get_redirect_target(resp)
        if target is None:
            return None
        here, there = urlsplit(resp.url), urlsplit(urljoin(resp.url, target))
        if _same_server(here, there):
            return target
        resp.close()
        name = f"{there.scheme}://{there.hostname}"
        raise AskError(
            f"sends on to {clean(name)}",
            "if that is the right server, give its address; if it is a login page, give a token",
            lost=True,
        )


def _moment(date: str) -> float:
    """Unix seconds of a date in a header; 0 if it is none."""
    try:
        return parsedate_to_datetime(date).timestamp()
    except ValueError:
        return 0.0


_FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def _same_server(here: SplitResult, there: SplitResult) -> bool:
    """Whether a redirect stays on the server; from http to https is no other one, and back it is."""
    if here.hostname != there.hostname or (here.scheme == "https" and there.scheme != "https"):
        return False
    ports = {"http": 80, "https": 443}
    moved = here.scheme != there.scheme
    return moved or (here.port or ports.get(here.scheme)) == (there.port or ports.get(there.scheme))


def _late(timeout: float) -> AskError:
    return AskError(f"gave no whole answer within {timeout:g} s", "give it longer (--timeout)", late=True)


def _failure(error: BaseException, url: str, timeout: float) -> AskError:
    """What became of a connection, in plain words; texts of exceptions are left out, because they can hold credentials."""
    causes = list(_causes(error))
    for kind, tell in _FAILURES:
        cause = next((cause for cause in causes if isinstance(cause, kind)), None)
        if isinstance(cause, AskError):
            return cause
        if cause is not None:
            reason, hint = tell
            certificate = clean(getattr(cause, "verify_message", ""))
            host = clean(urlsplit(url).hostname or "")
            return AskError(reason.format(certificate=certificate, host=host), hint, lost=True)
    late = any(isinstance(cause, requests.Timeout | TimeoutError) or "timed out" in str(cause).lower() for cause in causes)
    return _late(timeout) if late else AskError("broke the connection off", "is it an HTTP server, does it still run?", lost=True)


_FAILURES: tuple[tuple[type[BaseException], tuple[str, str]], ...] = (
    (AskError, ("", "")),
    (
        ssl.SSLCertVerificationError,
        ("has a certificate that does not verify ({certificate})", f"name the file of your CA in {_VARIABLE}CA"),
    ),
    (requests.exceptions.ProxyError, ("cannot be reached through the proxy", "look at HTTPS_PROXY and NO_PROXY")),
    (ssl.SSLError, ("does not speak TLS as asked", "is it http:// instead of https://, or does it want a client certificate?")),
    (socket.gaierror, ("cannot be found: no address is known for {host}", "check the name")),
    (requests.ConnectTimeout, ("does not take connections within the time-out", "check address and firewall")),
    (ConnectionRefusedError, ("refuses connections", "is the server running, is the port right?")),
    (requests.TooManyRedirects, ("sends from page to page", "give the address of the API itself")),
)
"""What led to a failure, the most telling first, and how it is told."""


def _causes(error: BaseException) -> Iterator[BaseException]:
    """An exception and everything that led to it."""
    waiting, seen = [error], set[int]()
    while waiting:
        one = waiting.pop(0)
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        inner = (one.__cause__, one.__context__, getattr(one, "reason", None), *one.args)
        waiting += [cause for cause in inner if isinstance(cause, BaseException)]


@dataclass
class _Server:
    """One server, as it is asked here.

    :param name: its address without credentials, for messages
    :param troubles: reason -> metrics and signals that stay unknown for it
    :param halted: nothing more is to be asked
    """

    request: Request
    name: str
    session: _Session
    api: Any
    troubles: dict[str, list[str]] = field(default_factory=dict)
    halted: bool = False
    late: int = 0

    def time(self) -> float:
        """The server's clock, Unix seconds."""
        return _told(lambda: _scalar(self.api.custom_query("time()", params=self._limits())))

    def metrics(self, window: Window) -> list[str]:
        """Names of all metrics that have samples near the window."""
        span = {"start": f"{window.baseline_start:.3f}", "end": f"{window.end:.3f}"}
        return _told(lambda: [str(name) for name in self.api.get_label_values("__name__", params=span)])

    def series(self, selectors: Sequence[str], window: Window) -> list[dict[str, str]]:
        """Label sets of series that have samples near the window."""
        start, end = (datetime.fromtimestamp(moment, UTC) for moment in (window.baseline_start, window.end))
        params = {"match[]": list(selectors), "limit": str(MAX_SERIES + 1)}
        found = _told(lambda: [_labels(one) for one in self.api.get_series(start, end, params=params)])
        if len(found) > MAX_SERIES:
            self.note(f"has more than {MAX_SERIES} series that may be the service's; not all were looked at")
        return found[:MAX_SERIES]

    def intervals(self, selector: str, window: Window) -> dict[str, float]:
        """Scrape intervals by job, from the times of the samples themselves, seconds."""
        span = round(min(_INTERVAL_SPAN, max(window.end - window.baseline_start, 300.0)))
        params = {"time": f"{window.end:.3f}", **self._limits()}
        found: dict[str, float] = {}
        for one in _told(lambda: list(self.api.custom_query(f"{selector}[{span}s]", params=params))):
            job = one.get("metric", {}).get("job", "")
            found[job] = max(found.get(job, 0.0), scrape_interval([float(time) for time, _ in one.get("values", ())]))
        return {job: interval for job, interval in found.items() if interval > 0}

    def values(self, query: Query) -> list[RawSeries]:
        """The answer to one query."""
        epoch = datetime.fromtimestamp(0, UTC)
        params = {**query.grid.parameters(), "nocache": "1", **self._limits()}
        result = _told(lambda: list(self.api.custom_query_range(query.text, epoch, epoch, params["step"], params=params)))
        if len(result) > MAX_SERIES:
            raise AskError(f"has {len(result)} series of it where {MAX_SERIES} are read at most", _NARROW)
        return _told(lambda: read_matrix(query.metric, result, rate=query.rate))

    def _limits(self) -> dict[str, str]:
        """Asks the server to give up when we do."""
        return {"timeout": f"{max(1, round(self.request.timeout))}s"}

    def note(self, reason: str, metric: str = "") -> None:
        """Keeps what went wrong."""
        self.troubles.setdefault(reason, []).extend([metric] if metric else [])

    def all_values(self, queries: Sequence[Query]) -> list[RawSeries]:
        """The answers to many queries, some at a time; what fails is noted.

        :raises AskError: not one was answered
        """
        waiting: SimpleQueue[Query] = SimpleQueue()
        for query in queries:
            waiting.put(query)
        answers: dict[str, list[RawSeries]] = {}
        failures: list[AskError] = []

        def work() -> None:
            while not self.halted:
                try:
                    query = waiting.get_nowait()
                except Empty:
                    return
                try:
                    answers[query.text] = self.values(query)
                except AskError as error:
                    failures.append(error)
                    self._failed(error, f"{query.metric} ({', '.join(query.signals[:3])})")
                done = len(answers) + len(failures)
                self.request.progress(f"{done} of {len(queries)} queries", 0.2 + 0.8 * done / len(queries))

        self._wait([in_background(work) for _ in range(min(WORKERS, len(queries)))])
        if failures and not answers:
            raise failures[0]
        missing = len(queries) - len(answers) - len(failures)
        if missing:
            self.note(f"was not asked {missing} of {len(queries)} queries")
        return [series for query in queries for series in answers.get(query.text, ())]

    def _wait(self, workers: "Sequence[Future[None]]") -> None:
        """Until all are done or the user has had enough; one that is stuck in a query is left behind then."""
        while wait(workers, timeout=0.05).not_done:
            if self.request.stop.is_set():
                self.halted = True
                self.note("was not asked to the end: it was stopped")
                break
        for worker in workers:
            if worker.done():
                worker.result()

    def _failed(self, error: AskError, metric: str) -> None:
        """Keeps the reason, and stops asking if more of the same is to be expected."""
        self.note(error.reason, metric)
        self.late += error.late
        self.halted = self.halted or error.lost or self.late >= _MOST_TIMEOUTS

    def source(self, brought: bool) -> Source:
        """What became of this server."""
        told = [f"{self.name} {reason}{_listed(metrics)}" for reason, metrics in sorted(self.troubles.items())]
        told += [f"{self.name} warns: {warning}" for warning in sorted(self.session.warnings)[:3]]
        if not brought:
            told.insert(0, f"{self.name} has no values of {self.request.service.name} in the window")
        state = SourceState.ABSENT if not brought else SourceState.PARTIAL if told else SourceState.OK
        return Source(collector.name, state, "; ".join(told))


_NARROW = "narrow the service with labels in triage.toml"
_T = TypeVar("_T")


def _told(ask: Callable[[], _T]) -> _T:
    """The result of a question.

    :raises AskError: it failed, or the answer has not the form that the API documents
    """
    try:
        return ask()
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, TriageError):
        raise AskError("gives an answer that is not in the form of the Prometheus API") from None


def _scalar(result: Sequence[Any]) -> float:
    """A single number: Prometheus answers ``[time, "number"]``, VictoriaMetrics a vector of one."""
    return float(result[0]["value"][1] if isinstance(result[0], dict) else result[1])


def _labels(one: Mapping[str, Any]) -> dict[str, str]:
    return {str(label): str(value) for label, value in one.items()}


def _listed(metrics: Sequence[str]) -> str:
    """Some metrics by name."""
    shown = ", ".join(sorted(metrics)[:5])
    return f": {shown}{f' and {len(metrics) - 5} more' if len(metrics) > 5 else ''} stay unknown" if metrics else ""


def _connect(request: Request) -> _Server:
    """The server that the service names, and how to be let in.

    :raises TriageError: the address or the credentials cannot be used
    """
    given, environ = request.service.prometheus or "", request.environ
    base = prometheus_api.address(given).geturl()
    session = _Session(request.timeout)
    authorities = (f"{_VARIABLE}CA", "REQUESTS_CA_BUNDLE", "SSL_CERT_FILE")
    session.verify = next(filter(None, (_file(environ, variable) for variable in authorities)), True)
    certificate, key = _file(environ, f"{_VARIABLE}CERT"), _file(environ, f"{_VARIABLE}KEY")
    session.cert = (certificate, key) if certificate and key else certificate or None
    session.proxies.update(_proxies(base, environ))
    access = {"headers": prometheus_api.headers(environ), "auth": prometheus_api.credentials(given, environ)}
    api = PrometheusConnect(base, retry=_RETRY, session=session, timeout=request.timeout, **access)
    return _Server(request, clean(base), session, api)


_RETRY = Retry(
    total=1, connect=0, read=0, other=0, redirect=0, status=1, status_forcelist=(429, 503), allowed_methods=None,
    backoff_factor=0.5, raise_on_status=False, respect_retry_after_header=False,
)  # fmt: skip
"""One more try where a busy server asks for it."""


def _file(environ: Mapping[str, str], variable: str) -> str:
    """Path of a file that a variable names, or an empty string.

    :raises TriageError: there is no such file
    """
    path = environ.get(variable, "")
    if path and not Path(path).exists():
        raise TriageError(f"{variable} names {path}, which does not exist", "correct or unset it")
    return path


def _proxies(base: str, environ: Mapping[str, str]) -> dict[str, str]:
    """Proxies that the environment asks for."""
    told = {name.lower(): value for name, value in sorted(environ.items()) if name.lower().endswith("_proxy") and value}
    if should_bypass_proxies(base, told.get("no_proxy", "")):
        return {}
    scheme = urlsplit(base).scheme
    proxy = told.get(f"{scheme}_proxy") or told.get("all_proxy")
    return {scheme: proxy} if proxy else {}


class PrometheusCollector:
    """Survey first, then values: finds out what the server has of the service, and asks for that alone."""

    name = "prometheus"
    sees = "all metrics that a Prometheus has of the service: engines, gateways, cards, nodes, pods, roll-outs"

    def wanted(self, request: Request) -> str:
        """Empty if a server is named."""
        return "" if request.service.prometheus else "no Prometheus is named (--prometheus URL, or prometheus in triage.toml)"

    def collect(self, request: Request) -> Recording:
        """What the server has of the service.

        :raises TriageError: it cannot be asked, or nothing was answered
        """
        server = _connect(request)
        try:
            return _collected(server)
        except AskError as error:
            raise TriageError(f"{server.name} {error.reason}", error.hint) from None
        finally:
            server.session.close()


def _collected(server: _Server) -> Recording:
    """The recording of one server."""
    request = server.request
    request.progress(f"asking {server.name}", 0.0)
    ahead = _skew(server)
    shift = ahead if request.clock() - request.window.end < _NOW else 0.0
    window = Window(request.window.start + shift, request.window.end + shift, request.window.baseline_start + shift)
    survey = _surveyed(server, window)
    if not survey.found:
        source = Source(collector.name, SourceState.ABSENT, f"{server.name} {survey.absence()}")
        return Recording(request.service.name, request.window, sources=(source,), step=request.step)
    series = server.all_values(_planned(server, survey, window))
    moved = [replace(one, times=one.times - shift) for one in unique(series)]
    recording = translate(moved, request.dialects, request.service, request.window)
    problems = [*recording.problems, *survey.problems]
    if ahead:
        problems.append(
            f"the clock of {server.name} is {abs(ahead):.0f} s {'ahead of' if ahead > 0 else 'behind'} this machine's"
        )
    source = server.source(brought=bool(recording.series or recording.histograms))
    return replace(recording, sources=(source,), problems=tuple(problems))


def _skew(server: _Server) -> float:
    """Seconds by which the server's clock is ahead of ours; 0 if the difference is small or may come of a slow answer.

    A server that evaluates queries in the past on purpose (VictoriaMetrics by 30 s) still dates its answers rightly.
    """
    before = server.request.clock()
    theirs = server.time()
    after = server.request.clock()
    middle, doubt = (before + after) / 2, _SKEW + (after - before) / 2
    ahead = [moment - middle for moment in (theirs, server.session.date) if moment]
    return ahead[0] if all(abs(difference) > doubt for difference in ahead) else 0.0


def _surveyed(server: _Server, window: Window) -> Survey:
    """What the server has of the service."""
    server.request.progress("finding the service", 0.05)
    survey = Survey(server.request.service, server.request.dialects, server.metrics(window))
    for number, step in enumerate(survey.steps):
        selectors = step()
        if selectors and not server.request.stop.is_set():
            survey.add(server.series(selectors, window))
        server.request.progress("finding the service", 0.1 + 0.02 * number)
    return survey


def _planned(server: _Server, survey: Survey, window: Window) -> list[Query]:
    """The queries, with the scrape intervals that the targets really have."""
    targets = survey.samples_of_targets()
    intervals = server.intervals(targets, window) if targets else {}
    return survey.plan(window, intervals, max(intervals.values(), default=USUAL_INTERVAL))


collector = PrometheusCollector()

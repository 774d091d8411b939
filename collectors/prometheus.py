"""Any server that speaks the Prometheus API: Prometheus itself, VictoriaMetrics, Thanos, Mimir, and what is hosted of them."""

import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import partial
from http import HTTPStatus
from io import BytesIO
from queue import Empty, SimpleQueue
from time import monotonic, sleep
from typing import Any, TypeVar

from prometheus_api_client import PrometheusConnect
from requests import PreparedRequest, Response, Session
from requests.adapters import HTTPAdapter
from urllib3 import HTTPResponse

from triage.sdk import (
    RawSeries,
    Recording,
    Request,
    Source,
    SourceState,
    TriageError,
    Window,
    http,
    in_background,
    translate,
)
from triage.sdk.parts import Query, Survey, prometheus_api, read_matrix, scrape_interval, unique

WORKERS = 8
"""Queries that are asked at the same time; Prometheus itself runs 20 at most (``--query.max-concurrency``)."""

MAX_BYTES = 32 << 20
"""Largest answer that is read, unpacked."""

MAX_SERIES = 20_000
"""Most series of one answer that are looked at."""

USUAL_INTERVAL = 30.0
"""Scrape interval of what nobody scrapes (pushed metrics): kubelet and DCGM exporters are scraped this often."""

_LONGEST_FORM = 2000
_MOST_TIMEOUTS = 3
_SKEW = 5.0
_NOW = 60.0
_INTERVAL_SPAN = 3600.0
_BUSY = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE})
_PAUSE = 0.5
_SUCCESS = re.compile(rb'\s*{\s*"status"\s*:\s*"success"')

_LOST = frozenset(
    {http.Failure.SILENT, http.Failure.UNREACHABLE, http.Failure.BROKEN, http.Failure.DENIED, http.Failure.ELSEWHERE}
)
"""After such a failure no other question will be answered either."""


class _Wire(HTTPAdapter):
    """How the questions of the API's client travel: by the HTTP client of all collectors. A bad answer raises.

    :param timeout: seconds for one whole answer
    :param warnings: what the server had to say beside its answers
    :param date: when the last answer was sent, by the sender's clock, Unix seconds; 0 if it did not say
    """

    def __init__(self, client: http.Client, timeout: float) -> None:
        super().__init__()
        self.client = client
        self.timeout = timeout
        self.warnings: dict[str, None] = {}
        self.date = 0.0

    def send(self, request: PreparedRequest, *_: Any, **__: Any) -> Response:
        """The answer of the API, whose whole body is here already.

        :raises http.AskError: there is none, or it is none of the API's
        """
        answer = self._asked(request)
        self.date = _moment(answer.headers.get("date", ""))
        if answer.status != HTTPStatus.OK or not _SUCCESS.match(answer.body) or b'"warnings"' in answer.body:
            good = prometheus_api.read_answer(answer.status, answer.path, answer.body)
            told = [http.quoted(str(warning)) for warning in good.get("warnings") or ()]
            self.warnings |= {warning: None for warning in told if not warning.startswith("PromQL info")}
        raw = HTTPResponse(BytesIO(answer.body), status=answer.status, preload_content=False)
        return self.build_response(request, raw)

    def _asked(self, request: PreparedRequest) -> http.Answer:
        """The answer of the server; of a busy one after a pause. A question too long for an address goes into the body."""
        url, headers, method, body = str(request.url), dict(request.headers), str(request.method), None
        address, _, form = url.partition("?")
        if len(form) > _LONGEST_FORM:
            url, method, body = address, "POST", form.encode()
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        end = monotonic() + self.timeout
        ask = partial(self.client.ask, url, method=method, headers=headers, body=body)
        answer = ask(self.timeout)
        if answer.status in _BUSY and (left := end - monotonic() - _PAUSE) > 0:
            sleep(_PAUSE)
            answer = ask(left)
        return answer

    def close(self) -> None:
        """Lets go of the connections."""
        super().close()
        self.client.close()


def _moment(date: str) -> float:
    """Unix seconds of a date in a header; 0 if it is none."""
    try:
        return parsedate_to_datetime(date).timestamp()
    except ValueError:
        return 0.0


@dataclass
class _Server:
    """One server, as it is asked here.

    :param name: its address without credentials, for messages
    :param troubles: reason -> metrics and signals that stay unknown for it
    :param halted: nothing more is to be asked
    """

    request: Request
    name: str
    wire: _Wire
    api: PrometheusConnect
    troubles: dict[str, list[str]] = field(default_factory=dict)
    halted: bool = False
    late: int = 0

    def time(self) -> float:
        """The server's clock, Unix seconds."""
        return _told(lambda: _scalar(self.api.custom_query("time()", params=self._limits())))

    def metrics(self, window: Window) -> list[str]:
        """Names of all metrics that have samples near the window."""
        span = {"start": f"{window.baseline_start:.3f}", "end": f"{window.end:.3f}"}
        return _told(lambda: [str(name) for name in self.api.all_metrics(params=span)])

    def series(self, selectors: Sequence[str], window: Window) -> list[dict[str, str]]:
        """Label sets of series that have samples near the window."""
        start, end = _date(window.baseline_start), _date(window.end)
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
        grid, params = query.grid, {"nocache": "1", **self._limits()}
        start, end, step = _date(grid.start), _date(grid.end), str(grid.step)
        result = _told(lambda: list(self.api.custom_query_range(query.text, start, end, step, params=params)))
        if len(result) > MAX_SERIES:
            raise http.AskError(
                http.Failure.LARGE, f"has {len(result)} series of it where {MAX_SERIES} are read at most", _NARROW
            )
        return _told(lambda: read_matrix(query.metric, result, rate=query.rate))

    def _limits(self) -> dict[str, str]:
        """Asks the server to give up when we do."""
        return {"timeout": f"{max(1, round(self.request.timeout))}s"}

    def note(self, reason: str, metric: str = "") -> None:
        """Keeps what went wrong."""
        self.troubles.setdefault(reason, []).extend([metric] if metric else [])

    def all_values(self, queries: Sequence[Query]) -> list[RawSeries]:
        """The answers to many queries, some at a time; what fails is noted.

        :raises http.AskError: not one was answered
        """
        waiting: SimpleQueue[Query] = SimpleQueue()
        for query in queries:
            waiting.put(query)
        answers: dict[str, list[RawSeries]] = {}
        failures: list[http.AskError] = []

        def work() -> None:
            while not self.halted:
                try:
                    query = waiting.get_nowait()
                except Empty:
                    return
                try:
                    answers[query.text] = self.values(query)
                except http.AskError as error:
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

    def _failed(self, error: http.AskError, metric: str) -> None:
        """Keeps the reason, and stops asking if more of the same is to be expected."""
        self.note(error.reason, metric)
        self.late += error.kind is http.Failure.LATE
        self.halted = self.halted or error.kind in _LOST or self.late >= _MOST_TIMEOUTS

    def source(self, brought: bool) -> Source:
        """What became of this server."""
        told = [f"{self.name} {reason}{_listed(metrics)}" for reason, metrics in sorted(self.troubles.items())]
        told += [f"{self.name} warns: {warning}" for warning in sorted(self.wire.warnings)[:3]]
        if not brought:
            told.insert(0, f"{self.name} has no values of {self.request.service.name} in the window")
        state = SourceState.ABSENT if not brought else SourceState.PARTIAL if told else SourceState.OK
        return Source(collector.name, state, "; ".join(told))


_NARROW = "narrow the service with labels in triage.toml"
_T = TypeVar("_T")


def _told(ask: Callable[[], _T]) -> _T:
    """The result of a question.

    :raises http.AskError: it failed, or the answer has not the form that the API documents
    """
    try:
        return ask()
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, TriageError):
        raise http.AskError(http.Failure.ERROR, "gives an answer that is not in the form of the Prometheus API") from None


def _date(moment: float) -> datetime:
    """A moment (Unix seconds) as the API's client takes it."""
    return datetime.fromtimestamp(moment, UTC)


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
    given = request.service.prometheus or ""
    base = prometheus_api.address(given).geturl()
    access = http.access_of(prometheus_api.VARIABLE, request.environ, given)
    wire = _Wire(http.Client(access, MAX_BYTES), request.timeout)
    session = Session()
    session.trust_env = False
    session.mount(f"{base}/", wire)
    return _Server(request, http.quoted(base), wire, PrometheusConnect(base, headers=dict(access.headers), session=session))


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
        except http.AskError as error:
            raise TriageError(f"{server.name} {error.reason}", error.hint) from None
        finally:
            server.wire.close()


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
    recording = translate(moved, request.dialects, request.service, request.window, request.signatures)
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
    ahead = [moment - middle for moment in (theirs, server.wire.date) if moment]
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

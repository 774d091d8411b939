"""Any server that speaks the Prometheus API: Prometheus itself, VictoriaMetrics, Thanos, Mimir, and what is hosted of them."""

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import partial
from http import HTTPStatus
from typing import Any, TypeVar

from prometheus_api_client import PrometheusConnect
from requests import PreparedRequest, Response, Session
from requests.adapters import HTTPAdapter

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
from triage.sdk.parts import (
    Census,
    Known,
    Query,
    Question,
    Survey,
    census,
    is_much,
    prometheus_api,
    questions,
    read_matrix,
    scrape_interval,
    unique,
)

WORKERS = 8
"""Queries that are asked at the same time; Prometheus itself runs 20 at most (``--query.max-concurrency``)."""

MAX_BYTES = 32 << 20
"""Largest answer that is read, unpacked."""

MAX_SERIES = 60_000
"""Most series of one answer that are looked at: buckets of two thousand replicas."""

USUAL_INTERVAL = 30.0
"""Scrape interval of what nobody scrapes (pushed metrics): kubelet and DCGM exporters are scraped this often."""

_LONGEST_FORM = 2000
_SKEW = 5.0
_NOW = 60.0
_INTERVAL_SPAN = 3600.0
_NARROW = "narrow the service with labels in triage.toml"
_T = TypeVar("_T")


class _Answered(Response):
    """A good answer of the API, which was read already."""

    def __init__(self, answer: dict[str, Any]) -> None:
        super().__init__()
        self.status_code = int(HTTPStatus.OK)
        self._answer = answer

    def json(self, **_: Any) -> Any:
        """The parsed answer."""
        return self._answer


class _Wire(HTTPAdapter):
    """How the questions of the API's client travel: by the HTTP client of all collectors. A bad answer raises.

    :param timeout: seconds for one whole answer
    :param pace: how hard the server may be asked
    :param known: what answers said before
    :param warnings: what the server had to say beside its answers
    :param date: when the last answer was sent, by the sender's clock, Unix seconds; 0 if it did not say
    """

    def __init__(self, client: http.Client, timeout: float, pace: http.Pace, known: Known) -> None:
        super().__init__()
        self.client = client
        self.known = known
        self.reader = ThreadPoolExecutor(1)  # threads take turns at reading anyway, and each would hold memory of its own
        self.timeout = timeout
        self.pace = pace
        self.warnings: dict[str, None] = {}
        self.date = 0.0

    def send(self, request: PreparedRequest, *_: Any, **__: Any) -> Response:
        """The answer of the API, whose whole body is here already.

        :raises http.AskError: there is none, or it is none of the API's
        """
        wish = 0.0
        with self.pace.turn():
            try:
                answer = self._asked(request)
                self.date = _moment(answer.headers.get("date", ""))
                wish = http.retry_after(answer.headers.get("retry-after", ""), self.date)
                read = self.reader.submit(prometheus_api.read_answer, answer.status, answer.path, answer.body, self.known)
                good = read.result()
            except http.AskError as error:
                self._failed(error, wish)
                raise
        self.pace.went_well()
        told = [http.quoted(str(warning)) for warning in good.get("warnings") or ()]
        self.warnings |= {warning: None for warning in told if not warning.startswith("PromQL info")}
        return _Answered(good)

    def _failed(self, error: http.AskError, wish: float) -> None:
        """Slows down, unless the server is well and finds fault with this one question."""
        if error.kind in _REFUSED and not error.is_busy:
            self.pace.went_well()
        else:
            self.pace.went_wrong(wish)

    def _asked(self, request: PreparedRequest) -> http.Answer:
        """The answer of the server. A question too long for an address goes into the body."""
        url, headers, method, body = str(request.url), dict(request.headers), str(request.method), None
        address, _, form = url.partition("?")
        if len(form) > _LONGEST_FORM:
            url, method, body = address, "POST", form.encode()
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        return self.client.ask(url, self.timeout, method=method, headers=headers, body=body)

    def close(self) -> None:
        """Lets go of the connections."""
        super().close()
        self.reader.shutdown(wait=False)
        self.client.close()


_REFUSED = frozenset({http.Failure.ERROR, http.Failure.LARGE})
"""The server answers; only this is nothing that it will, or nothing that is read."""

_HOPELESS = frozenset({http.Failure.LATE, http.Failure.UNREACHABLE})
"""A server of which this is the first that is seen will not answer a second time either, and one would wait as long again."""


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
    :param lost: signal -> which metric of it was asked for in vain, and why
    :param known: what answers said before
    """

    request: Request
    name: str
    wire: _Wire
    api: PrometheusConnect
    known: Known
    troubles: dict[str, list[str]] = field(default_factory=dict)
    lost: dict[str, str] = field(default_factory=dict)

    @property
    def halted(self) -> bool:
        """Whether nothing more is to be asked."""
        return self.request.stop.is_set() or self.wire.pace.is_hopeless

    def _told(self, ask: Callable[[], _T]) -> _T:
        """The result of a question, which is asked once more if another answer may be better than the first.

        :raises http.AskError: it failed, or the answer has not the form that the API documents
        """
        try:
            return _in_form(ask)
        except http.AskError as error:
            if self.halted or not self._may_pass(error):
                raise
        return _in_form(ask)

    def _may_pass(self, error: http.AskError) -> bool:
        """Whether the same question may fare better: the server is busy, or was there a moment ago."""
        if error.kind is http.Failure.ERROR:
            return error.is_busy
        return self.wire.pace.heard or error.kind not in _HOPELESS

    def time(self) -> float:
        """The server's clock, Unix seconds."""
        return self._told(lambda: _scalar(self.api.custom_query("time()", params=self._limits())))

    def metrics(self, window: Window) -> list[str]:
        """Names of all metrics that have samples near the window."""
        span = {"start": f"{window.baseline_start:.3f}", "end": f"{window.end:.3f}"}
        return self._told(lambda: [str(name) for name in self.api.all_metrics(params=span)])

    def series(self, selectors: Sequence[str], window: Window) -> list[dict[str, str]]:
        """Label sets of series that have samples near the window."""
        start, end = _date(window.baseline_start), _date(window.end)
        params = {"match[]": list(selectors), "limit": str(MAX_SERIES + 1)}
        found = self._told(lambda: [_labels(one) for one in self.api.get_series(start, end, params=params)])
        if len(found) > MAX_SERIES:
            self.note(f"has more than {MAX_SERIES} series that may be the service's; not all were looked at")
        return found[:MAX_SERIES]

    def intervals(self, selector: str, window: Window) -> dict[str, float]:
        """Scrape intervals by job, from the times of the samples themselves, seconds."""
        span = round(min(_INTERVAL_SPAN, max(window.end - window.baseline_start, 300.0)))
        params = {"time": f"{window.end:.3f}", **self._limits()}
        found: dict[str, float] = {}
        query = f"{selector}[{span}s]"
        for one in self._told(lambda: read_matrix("up", list(self.api.custom_query(query, params=params)), rate=False)):
            job = one.labels.get("job", "")
            found[job] = max(found.get(job, 0.0), scrape_interval(one.times))
        return {job: interval for job, interval in found.items() if interval > 0}

    def counted(self, queries: Sequence[Query], window: Window) -> list[Query]:
        """The queries with the number of series that each has, if all together may be much; a guess stays where nobody tells."""
        if not is_much(queries, window):
            return list(queries)
        found: list[Query] = []
        for one in census(queries):
            try:
                found += self._told(partial(self._count, one, window.end))
            except http.AskError:
                found += [query for group in one.groups for query in group]
        return found

    def _count(self, one: Census, time: float) -> list[Query]:
        """The answer to a question for numbers of series."""
        return one.read(list(self.api.custom_query(one.text, params={"time": f"{time:.3f}", **self._limits()})))

    def values(self, question: Question) -> list[RawSeries]:
        """The answer to one question."""
        result = _in_form(lambda: self._result(question))
        if len(result) > MAX_SERIES:
            raise http.AskError(
                http.Failure.LARGE, f"has {len(result)} series of it where {MAX_SERIES} are read at most", _NARROW
            )
        return _in_form(lambda: question.read(result, self.known))

    def _result(self, question: Question) -> list[Any]:
        """``data.result`` of the answer."""
        params = {"nocache": "1", **self._limits()}
        if question.raw:
            return list(self.api.custom_query(question.text, params={"time": f"{question.end:.3f}", **params}))
        grid = question.moments
        return list(self.api.custom_query_range(question.text, _date(grid.start), _date(grid.end), str(grid.step), params=params))

    def _limits(self) -> dict[str, str]:
        """Asks the server to give up when we do."""
        return {"timeout": f"{max(1, round(self.request.timeout))}s"}

    def note(self, reason: str, metric: str = "") -> None:
        """Keeps what went wrong."""
        self.troubles.setdefault(reason, []).extend([metric] if metric else [])

    def lose(self, reason: str, queries: Iterable[Query]) -> None:
        """Keeps what stays unknown, and why."""
        for query in queries:
            metric = f"{query.metric} ({', '.join(query.signals[:3])})" if query.signals else query.metric
            if metric not in self.troubles.get(reason, ()):
                self.note(reason, metric)
            self.lost |= {signal: f"{query.metric}: {self.name} {reason}" for signal in query.signals if signal not in self.lost}

    def all_values(self, asked: Sequence[Question]) -> list[RawSeries]:
        """The answers to many questions, some at a time; what fails is noted.

        :raises http.AskError: not one was answered
        """
        answers: dict[Question, list[RawSeries]] = {}
        failures: dict[Question, http.AskError] = {}
        waiting, under_way = deque(asked), set[Question]()

        def work() -> None:
            while waiting and not self.halted:
                try:
                    question = waiting.popleft()
                except IndexError:
                    return
                under_way.add(question)
                try:
                    answers[question] = self.values(question)
                except http.AskError as error:
                    waiting.extendleft(self._instead(question, error, failures))
                under_way.discard(question)
                done = len(answers) / (len(answers) + len(waiting) + len(under_way) or 1)
                self.request.progress(f"{len(answers)} answers, {len(waiting)} questions to go", 0.2 + 0.8 * done)

        self._wait([in_background(work) for _ in range(min(WORKERS, len(asked)))])
        if failures and not answers:
            raise next(iter(failures.values()))
        if missing := [*waiting, *under_way]:
            self.lose(self._why_ended(failures), [query for question in missing for query in question.queries])
        told = sorted(answers.items(), key=lambda one: (one[0].text, one[0].moments.start))
        return [series for _, answer in told for series in answer]

    def _instead(self, question: Question, error: http.AskError, failures: dict[Question, http.AskError]) -> list[Question]:
        """What to ask where a question failed: the same once more, or in smaller parts; if there are none it is lost."""
        tried = question in failures
        failures[question] = error
        outgrown = question.is_large and error.kind in {http.Failure.LATE, http.Failure.LARGE}
        if self._may_pass(error) and not tried and not outgrown:
            return [question]
        smaller = question.smaller(in_time=outgrown)
        if not smaller:
            self.lose(error.reason, question.queries)
        return smaller

    def _why_ended(self, failures: Mapping[Question, http.AskError]) -> str:
        """Why some questions were not asked, or not to the end."""
        if self.request.stop.is_set():
            return "was not asked to the end (it was stopped, or time was up)"
        last = list(failures.values())[-1].reason if failures else "does not answer"
        return f"{last} time and again and was not asked on"

    def _wait(self, workers: "Sequence[Future[None]]") -> None:
        """Until all are done or the user has had enough; one that is stuck in a question is left behind then."""
        while wait(workers, timeout=0.05).not_done:
            if self.request.stop.is_set():
                break
        for worker in workers:
            if worker.done():
                worker.result()

    def source(self, brought: bool) -> Source:
        """What became of this server."""
        told = [f"{self.name} {reason}{_listed(metrics)}" for reason, metrics in sorted(self.troubles.items())]
        told += [f"{self.name} warns: {warning}" for warning in sorted(self.wire.warnings)[:3]]
        if not brought:
            told.insert(0, f"{self.name} has no values of {self.request.service.name} in the window")
        state = SourceState.ABSENT if not brought else SourceState.PARTIAL if told else SourceState.OK
        return Source(collector.name, state, "; ".join(told))


def _in_form(ask: Callable[[], _T]) -> _T:
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
    known = Known()
    wire = _Wire(http.Client(access, MAX_BYTES), request.timeout, http.Pace(WORKERS, request.stop), known)
    session = Session()
    session.trust_env = False
    session.mount(f"{base}/", wire)
    api = PrometheusConnect(base, headers=dict(access.headers), session=session)
    return _Server(request, http.quoted(base), wire, api, known)


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
    series = server.all_values(questions(server.counted(_planned(server, survey, window), window), window))
    request.progress("reading what was answered", 1.0)
    moved = [replace(one, times=one.times - shift) if shift else one for one in unique(series)]
    recording = translate(moved, request.dialects, request.service, request.window, request.signatures)
    problems = [*recording.problems, *survey.problems]
    if ahead:
        problems.append(
            f"the clock of {server.name} is {abs(ahead):.0f} s {'ahead of' if ahead > 0 else 'behind'} this machine's"
        )
    source = server.source(brought=bool(recording.series or recording.histograms))
    return replace(recording, sources=(source,), problems=tuple(problems), unanswered=dict(sorted(server.lost.items())))


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
            try:
                survey.add(server.series(selectors, window))
            except http.AskError as error:
                if not number:
                    raise
                _unfound(server, survey, error)
        server.request.progress("finding the service", 0.1 + 0.02 * number)
    return survey


def _unfound(server: _Server, survey: Survey, error: http.AskError) -> None:
    """What is around the service could not be looked for: whatever might have been found is lost."""
    server.note(f"{error.reason}: what is around {server.request.service.name} was not all found")
    around = {use.entry.signal for uses in survey.known.uses.values() for use in uses if use.entry.signal}
    server.lost |= dict.fromkeys(sorted(around - server.lost.keys()), f"{server.name} {error.reason}")


def _planned(server: _Server, survey: Survey, window: Window) -> list[Query]:
    """The queries, with the scrape intervals that the targets really have."""
    targets = survey.samples_of_targets()
    intervals = server.intervals(targets, window) if targets else {}
    return survey.plan(window, intervals, max(intervals.values(), default=USUAL_INTERVAL))


collector = PrometheusCollector()

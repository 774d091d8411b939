"""The Prometheus collector before real servers: what it brings, what it asks, who is let in, and what it says when it fails."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event as StopSignal
from time import time
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest

from tests.servers import (
    INCIDENTS,
    Ask,
    Front,
    Reply,
    Stored,
    free_port,
    prometheus,
    prometheus_with,
    recorded,
    self_signed,
    serving,
    victoria_metrics_with,
)
from triage.bundle import bundled
from triage.engine.quantiles import observations, quantile
from triage.errors import TriageError
from triage.ingest.files.incident import read_incident
from triage.ingest.http.pace import MOST_IN_A_ROW
from triage.ingest.metrics.dialects import load_dialects
from triage.model.recording import Histogram, Recording, Series, SourceState, Window
from triage.model.service import Service
from triage.plugins import load_collector
from triage.sdk import Request

pytestmark = pytest.mark.slow

COLLECTOR = load_collector(bundled("collectors") / "prometheus.py")
DIALECTS = load_dialects()
CASES = ("retry-storm-a032", "kv-exhaustion")
"""A simulated fleet with gateway, cluster, cards and clients, scraped every 15 to 30 s; a real vLLM, scraped every 2 s."""

TOKEN = "s3cr3t-t0ken-of-a-tenant"


@pytest.fixture(scope="module")
def prometheus_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stored]:
    """A Prometheus with the recorded cases in it."""
    with prometheus_with(metrics_of_all(), tmp_path_factory.mktemp("prometheus")) as stored:
        yield stored


@pytest.fixture(scope="module")
def victoria_metrics_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stored]:
    """A VictoriaMetrics with the recorded cases in it."""
    with victoria_metrics_with(metrics_of_all(), tmp_path_factory.mktemp("victoria-metrics")) as stored:
        yield stored


@pytest.fixture(scope="module")
def replayed() -> Recording:
    """The first case as replay reads it from the folder."""
    return read_incident(INCIDENTS / CASES[0])


@pytest.fixture(scope="module", params=CASES)
def either(request: pytest.FixtureRequest) -> Recording:
    """Each case as replay reads it from the folder."""
    return read_incident(INCIDENTS / str(request.param))


def metrics_of_all() -> bytes:
    """The metrics of all cases; they lie in different weeks."""
    return b"".join(recorded(case).replace(b"# EOF\n", b"") for case in CASES) + b"# EOF\n"


@pytest.fixture
def front(prometheus_store: Stored) -> Iterator[Front]:
    """A front before Prometheus."""
    with serving(Front(prometheus_store.address)) as one:
        yield one


def asked(address: str, replayed: Recording, moved: float = 0.0, **more: Any) -> Request:
    """A request for the recorded case's service and window."""
    window = Window(*(moment - moved for moment in (replayed.window.start, replayed.window.end, replayed.window.baseline_start)))
    service = Service(name=replayed.service, prometheus=address, objectives=dict(replayed.objectives))
    return replace(Request(service, window, 15.0, 10.0, DIALECTS, time), **more)


def metric_signals(recording: Recording) -> dict[tuple[str, str], Series]:
    """Series by signal and subject, without what only logs can tell."""
    return {(one.signal, str(one.subject)): one for one in recording.series if not one.origin.dialect.startswith("log")}


def mean(series: Series, window: Window) -> float:
    """Mean over the window, of a rate over the baseline, too: it is taken over some scrapes, so it reaches across the border."""
    start = window.baseline_start if series.origin.counter else window.start
    inside = series.values[(series.times > start) & (series.times <= window.end)]
    return float(inside.mean()) if len(inside) else float("nan")


def counts(histogram: Histogram, window: Window) -> Any:
    """Observations in each bucket over baseline and window."""
    return observations(histogram, window.baseline_start, window.end)


def collect(request: Request) -> Recording:
    """What the collector brings."""
    assert COLLECTOR.wanted(request) == ""
    return COLLECTOR.collect(request)


def failure(request: Request) -> str:
    """What the collector says when it fails as a whole."""
    with pytest.raises(TriageError) as caught:
        COLLECTOR.collect(request)
    return f"{caught.value.message}; {caught.value.hint}"


# The same by both roads


@pytest.fixture(params=["prometheus_store", "victoria_metrics_store"])
def store(request: pytest.FixtureRequest) -> Stored:
    """Each kind of server."""
    stored: Stored = request.getfixturevalue(request.param)
    return stored


def test_a_server_brings_what_a_replay_of_the_same_samples_brings(store: Stored, either: Recording) -> None:
    """The same signals of the same subjects, with the same means: within 5 %, bursts of a short recording within 20 %."""
    live = collect(asked(store.address, either, store.moved))
    assert [(one.name, one.state, one.reason) for one in live.sources] == [("prometheus", SourceState.OK, "")]
    assert live.problems == ()
    expected, found = metric_signals(either), metric_signals(live)
    assert sorted(found) == sorted(expected)
    pairs = {key: (mean(expected[key], either.window), mean(found[key], live.window)) for key in expected}
    close = {key: np.isclose(*pair, rtol=0.05, atol=1e-3, equal_nan=True) for key, pair in pairs.items()}
    assert sum(close.values()) >= 0.95 * len(close), [key for key in close if not close[key]]
    assert {key: pair for key, pair in pairs.items() if not np.isclose(*pair, rtol=0.2, atol=1e-3, equal_nan=True)} == {}


def test_thinned_samples_are_of_the_same_signals(store: Stored, replayed: Recording, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a large service is asked for: names and totals stay as they are by either server."""
    monkeypatch.setattr("triage.ingest.prometheus.questions.MOST_RAW", 1000)
    live = collect(asked(store.address, replayed, store.moved))
    assert [(one.state, one.reason) for one in live.sources] == [(SourceState.OK, "")]
    expected, found = metric_signals(replayed), metric_signals(live)
    assert sorted(found) == sorted(expected)
    pairs = [(mean(expected[key], replayed.window), mean(found[key], live.window)) for key in expected]
    close = [np.isclose(*pair, rtol=0.1, atol=1e-2, equal_nan=True) for pair in pairs]
    assert sum(close) >= 0.9 * len(close)
    there, here = ({(one.signal, one.subject): one for one in some.histograms} for some in (replayed, live))
    assert sorted(here) == sorted(there)
    for key, one in there.items():
        assert counts(here[key], live.window).sum() == pytest.approx(counts(one, replayed.window).sum(), rel=0.1, abs=2)


def test_a_server_brings_the_same_distributions(store: Stored, either: Recording) -> None:
    """The same bounds, the same number of observations within a few percent, and the p95 in the same bucket or the next."""
    live = collect(asked(store.address, either, store.moved))
    expected = {(one.signal, str(one.subject)): one for one in either.histograms}
    found = {(one.signal, str(one.subject)): one for one in live.histograms}
    assert sorted(found) == sorted(expected)
    for key, there in expected.items():
        here = found[key]
        assert here.bounds.tolist() == there.bounds.tolist(), key
        many, few = counts(there, either.window), counts(here, live.window)
        assert few.sum() == pytest.approx(many.sum(), rel=0.05, abs=2), key
        p95s = [quantile(observed, there.bounds, 0.95) for observed in (many, few)]
        low, high = ([one.low for one in p95s if one], [one.high for one in p95s if one])
        assert not low or max(low) <= min(high), key


def test_a_server_brings_the_same_facts_and_places(store: Stored, either: Recording) -> None:
    """What info metrics say of a replica, and which card and pod is on which node."""
    live = collect(asked(store.address, either, store.moved))
    assert {(one.subject, one.key): one.value for one in live.facts}.items() <= {
        (one.subject, one.key): one.value for one in either.facts
    }.items()
    assert {one.subject for one in live.facts} >= {one.subject for one in either.facts if one.origin == "vllm"}
    assert {subject: set(places) for subject, places in live.links.items()} == {
        subject: set(places) for subject, places in either.links.items() if subject in live.links
    }


def test_two_collections_of_one_window_are_the_same(prometheus_store: Stored, replayed: Recording) -> None:
    """Whatever order eight queries at a time come back in."""
    first, second = (collect(asked(prometheus_store.address, replayed)) for _ in range(2))
    assert [(one.signal, one.subject, one.values.tolist()) for one in first.series] == [
        (one.signal, one.subject, one.values.tolist()) for one in second.series
    ]
    assert (first.facts, first.links, first.problems) == (second.facts, second.links, second.problems)


def test_other_services_on_the_server_are_left_alone(tmp_path: Path, replayed: Recording) -> None:
    """Not one that begins alike, not one whose labels try to break out of the question."""
    names = ["llm-prod", "llm-prod-canary", 'llm"prod\\', "llm|prod.*"]
    lines = []
    for number, name in enumerate(names):
        value = name.replace("\\", "\\\\").replace('"', '\\"')
        labels = f'service="{value}",instance="10.0.0.{number}:8000",job="vllm",engine="0"'
        lines += [
            f"vllm:num_requests_waiting{{{labels}}} {number + 1} {replayed.window.end - 60 + moment}"
            for moment in range(0, 61, 15)
        ]
    metrics = "\n".join(["# TYPE vllm:num_requests_waiting gauge", *lines, "# EOF", ""])
    with prometheus_with(metrics.encode(), tmp_path) as stored:
        for number, name in enumerate(names):
            request = asked(stored.address, replayed)
            live = collect(replace(request, service=request.service.model_copy(update={"name": name})))
            assert [(one.signal, set(one.values)) for one in live.series] == [("queue.waiting", {number + 1.0})], name


# What is asked


def test_only_questions_are_asked(front: Front, replayed: Recording) -> None:
    """Nothing but reading: four endpoints, GET and POST; and not many of them."""
    collect(asked(front.address, replayed))
    paths = {ask.path for ask in front.asked}
    assert paths == {"/api/v1/query", "/api/v1/series", "/api/v1/label/__name__/values"}
    assert {ask.method for ask in front.asked} <= {"GET", "POST"}
    assert len(front.asked) < 30
    assert all("timeout" in ask.form for ask in front.asked if ask.query)


def test_long_questions_go_into_the_body(front: Front, replayed: Recording) -> None:
    """Addresses of more than two thousand characters do not pass every proxy."""
    collect(asked(front.address, replayed))
    long = [ask for ask in front.asked if sum(len(value) for values in ask.form.values() for value in values) > 2000]
    assert long
    assert {ask.method for ask in long} == {"POST"}


def test_progress_is_told_and_ends_with_all(front: Front, replayed: Recording) -> None:
    """It never goes back by more than the order of answers explains."""
    told: list[float] = []
    collect(asked(front.address, replayed, progress=lambda message, done: told.append(done)))
    assert told[0] == 0.0
    assert max(told) == 1.0


def test_a_stop_ends_the_questions_and_keeps_what_there_is(front: Front, replayed: Recording) -> None:
    """Whoever has had enough gets the answers so far, marked as a part."""
    stop = StopSignal()
    values: list[str] = []

    def own(ask: Ask) -> Reply | None:
        if is_for_values(ask):
            values.append(ask.query)
            if len(values) == 10:
                stop.set()
        return None

    front.own = own
    live = collect(asked(front.address, replayed, stop=stop))
    (source,) = live.sources
    assert source.state is SourceState.PARTIAL
    assert "it was stopped" in source.reason
    assert live.series
    assert live.unanswered
    assert len(values) < 19


# Who is let in


def guarded(front: Front, header: str) -> None:
    """Makes a front refuse whoever does not bring this Authorization."""
    front.own = lambda ask: None if ask.headers.get("authorization") == header else Reply(401, b"who are you?")


def test_a_token_opens_the_door_and_stays_out_of_sight(front: Front, replayed: Recording) -> None:
    """From the environment alone; a wrong one is refused in a sentence that does not hold it."""
    guarded(front, f"Bearer {TOKEN}")
    assert "refuses access (401); set TRIAGE_PROMETHEUS_TOKEN" in failure(asked(front.address, replayed))
    wrong = failure(asked(front.address, replayed, environ={"TRIAGE_PROMETHEUS_TOKEN": TOKEN + "x"}))
    assert TOKEN not in wrong
    live = collect(asked(front.address, replayed, environ={"TRIAGE_PROMETHEUS_TOKEN": TOKEN}))
    assert live.series
    assert TOKEN not in repr(live)


def test_user_and_password_come_from_the_environment_or_the_address(front: Front, replayed: Recording) -> None:
    """And are never shown, whether they fit or not."""
    guarded(front, "Basic dXNlcjpww6Rzcy93b3Jk")  # "user:päss/word" as UTF-8
    login = {"TRIAGE_PROMETHEUS_USER": "user", "TRIAGE_PROMETHEUS_PASSWORD": "päss/word"}
    assert collect(asked(front.address, replayed, environ=login)).series
    inside = front.address.replace("://", "://user:p%C3%A4ss%2Fword@")
    live = collect(asked(inside, replayed))
    assert live.series
    assert "ss/word" not in repr(live.sources) + repr(live.problems)
    told = failure(asked(front.address.replace("://", "://user:hunter2@"), replayed))
    assert "hunter2" not in told
    assert "user" not in told.partition(";")[0]


def test_headers_of_a_tenant_are_sent(front: Front, replayed: Recording) -> None:
    """Mimir and Loki ask for X-Scope-OrgID."""
    front.own = lambda ask: None if ask.headers.get("x-scope-orgid") == "team a|b" else Reply(401, b"no org id")
    environ = {"TRIAGE_PROMETHEUS_HEADERS": "X-Scope-OrgID=team%20a|b, X-Other=1"}
    assert collect(asked(front.address, replayed, environ=environ)).series
    for bad in ("X-Scope-OrgID", "X Y=1", "A=b%0d%0aEvil: 1"):
        told = failure(asked(front.address, replayed, environ={"TRIAGE_PROMETHEUS_HEADERS": bad}))
        assert "TRIAGE_PROMETHEUS_HEADERS cannot be sent" in told


def test_a_redirect_to_another_host_is_not_followed(front: Front, replayed: Recording) -> None:
    """Credentials are for one server; where it points is told."""
    with serving(Front()) as elsewhere:
        target = elsewhere.address.replace("127.0.0.1", "localhost") + "/login"
        front.own = lambda ask: Reply(302, b"", {"Location": target})
        told = failure(asked(front.address, replayed, environ={"TRIAGE_PROMETHEUS_TOKEN": TOKEN}))
        assert "sends on to http://localhost" in told
        assert elsewhere.asked == []


def test_a_redirect_on_the_same_server_is_followed(front: Front, replayed: Recording) -> None:
    """An address that moved to another path, with everything that was sent."""

    def own(ask: Ask) -> Reply | None:
        if not ask.path.startswith("/old/"):
            return None
        query = f"?{urlencode(ask.form, doseq=True)}" if ask.method == "GET" else ""
        return Reply(307, b"", {"Location": ask.path.removeprefix("/old") + query})

    front.own = own
    assert collect(asked(f"{front.address}/old", replayed)).series


def test_a_proxy_of_the_environment_is_used(prometheus_store: Stored, replayed: Recording) -> None:
    """And left out where NO_PROXY says so."""
    port = free_port()
    with serving(Front(prometheus_store.address)) as proxy:
        environ = {"HTTP_PROXY": proxy.address}
        assert collect(asked("http://prometheus.example:9090", replayed, environ=environ)).series
        assert proxy.asked[0].headers["host"] == "prometheus.example:9090"
        environ["NO_PROXY"] = "127.0.0.0/8"
        assert "refuses connections" in failure(asked(f"http://127.0.0.1:{port}", replayed, environ=environ))


def test_a_certificate_of_an_own_authority_is_trusted_when_named(
    tmp_path: Path, prometheus_store: Stored, replayed: Recording
) -> None:
    """And refused otherwise: there is no switch that turns verification off."""
    both, authority = self_signed(tmp_path)
    with serving(Front(prometheus_store.address), both) as tls:
        told = failure(asked(tls.address, replayed))
        assert "certificate that does not verify" in told
        assert "TRIAGE_PROMETHEUS_CA" in told
        assert collect(asked(tls.address, replayed, environ={"TRIAGE_PROMETHEUS_CA": str(authority)})).series
        plain = failure(asked(tls.address.replace("https", "http"), replayed))
        assert "http://127.0.0.1" in plain


def test_a_file_that_is_not_there_is_named(replayed: Recording) -> None:
    """Before anything is asked."""
    told = failure(asked("http://127.0.0.1:1", replayed, environ={"TRIAGE_PROMETHEUS_CA": "/nowhere/ca.pem"}))
    assert "TRIAGE_PROMETHEUS_CA names /nowhere/ca.pem, which does not exist" in told


# What goes wrong as a whole


def test_without_an_address_nothing_is_asked(replayed: Recording) -> None:
    """And it is said how to give one."""
    request = asked("", replayed)
    assert "--prometheus URL" in COLLECTOR.wanted(request)


@pytest.mark.parametrize(
    "address", ["ftp://prometheus:9090", "http://", "http://[::1", "http://prometheus:port", "file:///etc/passwd"]
)
def test_what_is_no_address_is_refused(address: str, replayed: Recording) -> None:
    """In one sentence with an example."""
    assert "give it like http://prometheus:9090" in failure(asked(address, replayed))


def test_a_dead_address_is_told_at_once(replayed: Recording) -> None:
    """Nobody listens there."""
    told = failure(asked(f"http://127.0.0.1:{free_port()}", replayed))
    assert "refuses connections; is the server running, is the port right?" in told


def test_an_unknown_host_is_told(replayed: Recording) -> None:
    """With its name; .invalid never resolves."""
    told = failure(asked("http://prometheus.invalid:9090", replayed))
    assert "no address is known for prometheus.invalid" in told


WRONG = {
    "a web page": (Reply(200, b"<!doctype html><title>Welcome</title>"), "answers with a web page (200)"),
    "Grafana": (
        Reply(200, b"<!DOCTYPE html><title>Grafana</title>"),
        "is Grafana; give the address of the data source",
    ),
    "a wrong path": (Reply(404, b"404 page not found"), "has no Prometheus API at /api/v1/query (404); check the path"),
    "no access": (Reply(403, b'{"message":"forbidden"}'), "refuses access (403)"),
    "a broken gateway": (Reply(502, b"bad gateway"), "answers with an error (502)"),
    "other JSON": (Reply(200, b'{"hello": "world"}'), "answers with something else than the Prometheus API"),
    "JSON of another shape": (Reply(200, b'{"status":"success","data":[1,2]}'), "not in the form of the Prometheus API"),
    "an error of its own": (
        Reply(503, b'{"status":"error","errorType":"unavailable","error":"TSDB not ready \\u001b[31m"}'),
        "refuses the query (TSDB not ready \ufffd[31m)",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_an_answer_of_something_else_is_told_for_what_it_is(case: str, front: Front, replayed: Recording) -> None:
    """One sentence on what was wrong and what to do, without control characters."""
    reply, expected = WRONG[case]
    front.own = lambda ask: reply
    told = failure(asked(front.address, replayed))
    assert told.startswith(front.address)
    assert expected in told
    assert told.isprintable()


def test_a_browsers_address_is_cut_to_the_servers(front: Front, replayed: Recording) -> None:
    """People paste what they look at."""
    bare = front.address.removeprefix("http://")
    assert collect(asked(f"{bare}/graph?g0.expr=up&g0.tab=0", replayed)).series
    assert {ask.path.startswith("/api/v1/") for ask in front.asked} == {True}


def test_a_server_that_never_answers_is_given_up(front: Front, replayed: Recording) -> None:
    """After one wait."""
    hold = StopSignal()

    def own(ask: Ask) -> Reply | None:
        hold.wait(20)
        return None

    front.own = own
    told = failure(asked(front.address, replayed, timeout=0.3))
    hold.set()
    assert "gave no whole answer within 0.3 s" in told
    assert len(front.asked) == 1


def test_an_unknown_service_is_absent_and_the_known_ones_are_named(prometheus_store: Stored, replayed: Recording) -> None:
    """A typo is seen at a glance."""
    request = asked(prometheus_store.address, replayed)
    live = collect(replace(request, service=request.service.model_copy(update={"name": "lmm-prod"})))
    (source,) = live.sources
    assert source.state is SourceState.ABSENT
    assert "has nothing that is called lmm-prod" in source.reason
    assert "llm-prod" in source.reason.partition("go by")[2]
    assert not live.series


# What goes wrong in part


def is_for_values(ask: Ask) -> bool:
    """Whether a request is for samples: raw ones, or values on a grid."""
    return ask.path.endswith("query_range") or "__name__" in ask.query


def values_of(metric: str) -> Callable[[Ask], bool]:
    """Whether a request is for samples of a metric, among others or alone."""
    return lambda ask: is_for_values(ask) and re.search(rf'[("|]{metric}[|"{{]', ask.query) is not None


def test_a_query_that_fails_leaves_its_signals_unknown(front: Front, replayed: Recording) -> None:
    """And the source says which and why; the rest is there."""
    fails = values_of("vllm:kv_cache_usage_perc")
    body = b'{"status":"error","errorType":"execution","error":"query processing would load too many samples"}'
    front.own = lambda ask: Reply(422, body) if fails(ask) else None
    live = collect(asked(front.address, replayed))
    (source,) = live.sources
    assert source.state is SourceState.PARTIAL
    assert "too many samples): vllm:kv_cache_usage_perc (kv.usage) stay unknown" in source.reason
    assert list(live.unanswered) == ["kv.usage"]
    assert "too many samples" in live.unanswered["kv.usage"]
    signals = {one.signal for one in live.series}
    assert "kv.usage" not in signals
    assert {"queue.waiting", "batch.running", "gateway.requests", "gpu.power"} <= signals


def test_a_server_that_gets_too_slow_is_not_asked_on(front: Front, replayed: Recording) -> None:
    """What was answered is kept, and so is what the rest would have told."""
    hold = StopSignal()
    values: list[str] = []

    def own(ask: Ask) -> Reply | None:
        if is_for_values(ask):
            values.append(ask.query)
            if len(values) > 10:
                hold.wait(20)
        return None

    front.own = own
    live = collect(asked(front.address, replayed, timeout=0.3))
    hold.set()
    (source,) = live.sources
    assert source.state is SourceState.PARTIAL
    assert "gave no whole answer within 0.3 s time and again and was not asked on" in source.reason
    assert live.series
    assert live.unanswered
    assert len(values) < 10 + 3 * MOST_IN_A_ROW


def test_one_metric_that_takes_too_long_costs_itself_alone(front: Front, replayed: Recording) -> None:
    """It is asked for together with others, then without them; these come."""
    hold = StopSignal()
    slow = values_of("vllm:kv_cache_usage_perc")
    front.own = lambda ask: Reply(504, b"") if slow(ask) and hold.wait(0.5) else None
    live = collect(asked(front.address, replayed, timeout=0.3))
    (source,) = live.sources
    assert source.reason.endswith("gave no whole answer within 0.3 s: vllm:kv_cache_usage_perc (kv.usage) stay unknown")
    assert "queue.waiting" in {one.signal for one in live.series}
    assert list(live.unanswered) == ["kv.usage"]


def test_a_server_that_dies_on_the_way_is_not_asked_on(front: Front, replayed: Recording) -> None:
    """What it said before is kept, and the end is told."""
    values: list[str] = []

    def own(ask: Ask) -> Reply | None:
        if is_for_values(ask):
            values.append(ask.query)
            if len(values) > 10:
                raise ConnectionResetError
        return None

    front.own = own
    live = collect(asked(front.address, replayed))
    (source,) = live.sources
    assert source.state is SourceState.PARTIAL
    assert "closed the connection without an answer" in source.reason
    assert live.series
    assert live.unanswered
    assert len(values) < 10 + 3 * MOST_IN_A_ROW


def test_warnings_of_the_server_are_passed_on(front: Front, replayed: Recording) -> None:
    """Thanos answers in part and says so beside the answer."""

    def change(ask: Ask, body: bytes) -> bytes:
        if not is_for_values(ask):
            return body
        return json.dumps({**json.loads(body), "warnings": ["No StoreAPIs matched for this query\u001b[2J"]}).encode()

    front.change = change
    (source,) = collect(asked(front.address, replayed)).sources
    assert source.state is SourceState.PARTIAL
    assert source.reason == f"{front.address} warns: No StoreAPIs matched for this query\ufffd[2J"


def test_an_answer_that_is_too_large_is_left(front: Front, replayed: Recording) -> None:
    """One metric of a careless exporter does not fill the memory."""
    large = values_of("node_load1")
    front.own = lambda ask: Reply(200, b" " * (33 << 20)) if large(ask) else None
    live = collect(asked(front.address, replayed))
    (source,) = live.sources
    assert "gave an answer of more than 32 MiB: node_load1 (node.load1) stay unknown" in source.reason
    assert live.series


def test_too_many_series_of_one_metric_are_left(front: Front, replayed: Recording) -> None:
    """More than can be the service's."""
    many = values_of("node_load1")
    result = [{"metric": {"__name__": "node_load1", "node": str(number)}, "values": [[1, "1"]]} for number in range(60_001)]
    body = json.dumps({"status": "success", "data": {"resultType": "matrix", "result": result}}).encode()
    front.own = lambda ask: Reply(200, body) if many(ask) else None
    (source,) = collect(asked(front.address, replayed)).sources
    assert "has 60001 series of it where 60000 are read at most: node_load1 (node.load1) stay unknown" in source.reason


def test_a_busy_server_is_asked_once_more(front: Front, replayed: Recording) -> None:
    """Each question that it puts off gets one more try; a server that stays busy is told."""
    seen: set[str] = set()

    def own(ask: Ask) -> Reply | None:
        asked_now = f"{ask.path}{ask.form}"
        if not ask.path.endswith("/query") or asked_now in seen:
            return None
        seen.add(asked_now)
        return Reply(429, b"too many")

    front.own = own
    (source,) = collect(asked(front.address, replayed)).sources
    assert (source.state, source.reason) == (SourceState.OK, "")
    assert seen
    front.own = lambda ask: Reply(429, b"too many")
    assert "asks for fewer questions (429); try again later" in failure(asked(front.address, replayed))


def test_a_malformed_answer_is_a_part_that_failed(front: Front, replayed: Recording) -> None:
    """Whatever is in it."""
    broken = values_of("node_load1")
    body = b'{"status":"success","data":{"resultType":"matrix","result":[{"metric":7,"values":"x"}]}}'
    front.own = lambda ask: Reply(200, body) if broken(ask) else None
    (source,) = collect(asked(front.address, replayed)).sources
    assert "not in the form of the Prometheus API: node_load1 (node.load1) stay unknown" in source.reason


# Time


def test_a_clock_that_is_wrong_is_told_and_made_up_for(front: Front, replayed: Recording) -> None:
    """The server is 100 s ahead: 'now' is its now, and its times are told by our clock."""
    ahead = 100.0
    ours = replayed.window.end - ahead

    def change(ask: Ask, body: bytes) -> bytes:
        result = [0, str(replayed.window.end)]
        scalar = {"status": "success", "data": {"resultType": "scalar", "result": result}}
        return json.dumps(scalar).encode() if ask.query == "time()" else body

    front.change = change
    early = asked(front.address, replayed, moved=ahead, clock=lambda: ours)
    live, plain = collect(early), collect(asked(front.address, replayed))
    assert any("100 s ahead of this machine's" in problem for problem in live.problems)
    assert live.window == early.window
    here, there = metric_signals(live), metric_signals(plain)
    assert sorted(here) == sorted(there)
    assert all(np.allclose(here[key].times + ahead, there[key].times) for key in here)
    assert all(np.array_equal(here[key].values, there[key].values) for key in here)


# Native histograms


def number(value: int) -> bytes:
    """A varint of protobuf."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def tag(field: int, kind: int) -> bytes:
    """Number and wire type of a field."""
    return number(field << 3 | kind)


def block(field: int, body: bytes) -> bytes:
    """A field of bytes."""
    return tag(field, 2) + number(len(body)) + body


def double(field: int, value: float) -> bytes:
    """A field of a floating-point number."""
    return tag(field, 1) + np.float64(value).tobytes()


def zigzag(value: int) -> int:
    """A signed number as protobuf's sint has it."""
    return value * 2 if value >= 0 else -value * 2 - 1


def native_exposition(observed: int) -> bytes:
    """A native histogram in protobuf (MetricFamily, delimited): a third lies in (1, 2], two thirds in (2, 4] seconds."""
    deltas = b"".join(number(zigzag(delta)) for delta in (observed, observed))
    histogram = b"".join(
        [
            tag(1, 0) + number(3 * observed),
            double(2, 7.5 * observed),
            tag(5, 0) + number(zigzag(0)),
            double(6, 1e-128),
            tag(7, 0) + number(0),
            block(12, tag(1, 0) + number(zigzag(1)) + tag(2, 0) + number(2)),
            block(13, deltas),
        ]
    )
    family = block(1, b"vllm:time_to_first_token_seconds") + block(2, b"TTFT") + tag(3, 0) + number(4)
    family += block(4, block(1, block(1, b"service") + block(2, b"llm-native")) + block(7, histogram))
    return number(len(family)) + family


def test_native_histograms_become_distributions(tmp_path: Path) -> None:
    """Scraped by a real Prometheus in protobuf, asked for as rates, unfolded into buckets."""
    scrapes: list[float] = []
    kind = "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited"

    def own(ask: Ask) -> Reply:
        scrapes.append(time())
        return Reply(200, native_exposition(4 * len(scrapes)), {"Content-Type": kind})

    with serving(Front(own=own)) as exporter:
        (tmp_path / "prometheus.yml").write_text(
            f"scrape_configs: [{{job_name: vllm, scrape_interval: 500ms, scrape_timeout: 400ms, "
            f"static_configs: [{{targets: ['{exporter.address.removeprefix('http://')}']}}]}}]"
        )
        options = ("--enable-feature=native-histograms", f"--storage.tsdb.path={tmp_path / 'data'}")
        with prometheus(tmp_path, *options) as address:
            while len(scrapes) < 12:
                StopSignal().wait(0.1)
            window = Window(scrapes[4], scrapes[11], scrapes[0])
            service = Service(name="llm-native", prometheus=address)
            live = collect(Request(service, window, 15.0, 10.0, DIALECTS, time))
    (histogram,) = live.histograms
    assert histogram.signal == "latency.ttft"
    assert histogram.bounds.tolist() == [2.0, 4.0, np.inf]
    seen = histogram.rates.sum(axis=0)
    assert seen[1] == pytest.approx(2 * seen[0], rel=0.01)
    assert seen[2] == pytest.approx(0.0, abs=1e-6 * seen[1])
    assert histogram.sums.sum() == pytest.approx(2.5 * seen.sum(), rel=0.01)

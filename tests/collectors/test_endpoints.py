"""The collector of engines' own endpoints, over real HTTP; only the waiting between two scrapes is simulated."""

import gzip
import json
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from threading import Event as StopSignal
from threading import Thread

import pytest

from tests.servers import ended, free_port
from triage.errors import ConfigError, TriageError
from triage.ingest.host import engines as engine_table
from triage.ingest.metrics.dialects import load_dialects
from triage.model.dialect import Dialect
from triage.model.recording import Recording, Subject, Window
from triage.model.service import Service
from triage.model.vocabulary import Scope
from triage.plugins import load_collector
from triage.sdk import Collector, Request

ROOT = Path(__file__).resolve().parents[2]
PAYLOAD = (Path(__file__).parent / "payloads" / "vllm-0.32.0.txt").read_text(encoding="utf-8")
START = 1_800_000_000.0


def moved(rounds: int, payload: str = PAYLOAD) -> str:
    """The captured exposition after so many seconds of work: counters by 10 a second, histograms by one observation of 0.5 s."""
    lines, kind = [], ""
    for line in payload.splitlines():
        name, _, value = line.rpartition(" ")
        if line.startswith("# TYPE"):
            kind = value
            lines.append(line)
        elif kind == "counter":
            lines.append(f"{name} {float(value) + 10 * rounds}")
        elif kind == "histogram":
            lines.append(f"{name} {float(value) + (0.5 if '_sum{' in name else 1.0) * rounds}")
        else:
            lines.append(line)
    return "\n".join(lines) + "\n"


Reply = Callable[["Handler", int], None]


class Server(ThreadingHTTPServer):
    """A server on a free port that answers by script and remembers what it was asked."""

    daemon_threads = True

    def __init__(self, reply: Reply) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.reply = reply
        self.asked: list[tuple[str, dict[str, str]]] = []

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.asked.append((self.path, dict(self.headers)))
        self.server.reply(self, len(self.server.asked) - 1)

    def send(self, body: bytes, kind: str = "text/plain", status: int = 200, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@contextmanager
def serving(reply: Reply) -> Iterator[Server]:
    server = Server(reply)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def works(handler: Handler, number: int) -> None:
    """An engine that works evenly."""
    handler.send(moved(number).encode())


class SimulatedTime(StopSignal):
    """A stop signal whose waits take no time but move a clock on."""

    def __init__(self) -> None:
        super().__init__()
        self.now = START

    def wait(self, timeout: float | None = None) -> bool:
        self.now += timeout or 0.0
        return self.is_set()

    def clock(self) -> float:
        return self.now


@pytest.fixture(scope="module")
def dialects() -> tuple[Dialect, ...]:
    return load_dialects()


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Collector:
    """The collector, which waits for its scrapes however long a busy machine takes for them: the clock is a simulated one."""
    loaded = load_collector(ROOT / "collectors" / "endpoints.py")
    monkeypatch.setitem(vars(sys.modules[type(loaded).__module__]), "wait", lambda pending, timeout: wait(pending, timeout=60))
    return loaded


@pytest.fixture
def request_for(dialects: tuple[Dialect, ...]) -> Callable[..., Request]:
    def make(
        *endpoints: str, seconds: float = 3, timeout: float = 20, environ: dict[str, str] | None = None, **service: object
    ) -> Request:
        simulated = SimulatedTime()
        return Request(
            service=Service.model_validate({"name": "demo", "endpoints": endpoints, **service}),
            window=Window(START, START + seconds, START),
            step=1.0,
            timeout=timeout,
            dialects=dialects,
            clock=simulated.clock,
            environ={"NODE_NAME": "box", **(environ or {})},
            stop=simulated,
        )

    return make


Asking = Callable[..., Request]


def samples(recording: Recording, signal: str, subject: str = "") -> list[tuple[float, float]]:
    """Times since the start and values of one signal, of the subject with this id if there are several."""
    found = [one for one in recording.by_signal.get(signal, []) if subject in {"", one.subject.id}]
    assert len(found) == 1, f"{signal}: {[one.subject for one in found]}"
    return [(time - START, value) for time, value in zip(found[0].times, found[0].values, strict=True)]


def values(recording: Recording, signal: str, subject: str = "") -> list[float]:
    return [value for _, value in samples(recording, signal, subject)]


def test_engine_that_works(collector: Collector, request_for: Asking) -> None:
    """Counters become rates, gauges stay, histograms keep their observations, and the scrape itself is measured."""
    with serving(works) as server:
        recording = collector.collect(request_for(server.address))
    replica = Subject(Scope.REPLICA, server.address)
    assert samples(recording, "tokens.generation") == [(1, 10), (2, 10), (3, 10)]
    assert samples(recording, "queue.waiting") == [(0, 0), (1, 0), (2, 0), (3, 0)]
    ttft = next(one for one in recording.histograms if one.signal == "latency.ttft")
    assert ttft.rates.sum(axis=1).tolist() == [1, 1, 1]
    assert ttft.sums.tolist() == pytest.approx([0.5, 0.5, 0.5])
    assert values(recording, "target.up") == [1, 1, 1, 1]
    assert set(values(recording, "target.samples")) == {float(sum(not line.startswith("#") for line in PAYLOAD.splitlines()))}
    assert {one.subject for one in recording.series if one.signal.startswith("queue.")} == {replica}
    assert {one.origin.shown_at for one in recording.series} == {f"http://{server.address}/metrics"}
    assert recording.links[replica] == (Subject(Scope.NODE, "box"),)
    assert [(source.name, source.state, source.reason) for source in recording.sources] == [("endpoints", "ok", "")]


def test_series_are_in_order(collector: Collector, request_for: Asking) -> None:
    """Series are sorted by signal and subject, whatever the order in which engines answered."""
    with serving(works) as one, serving(works) as other:
        recording = collector.collect(request_for(other.address, one.address))
    keys = [(series.signal, series.subject) for series in recording.series]
    assert keys == sorted(keys)
    assert [subject.id for subject in recording.subjects[Scope.REPLICA]] == sorted([one.address, other.address])


@pytest.mark.parametrize("written", ["{}", "http://{}", "http://{}/", "http://{}/metrics"])
def test_ways_to_write_an_address(collector: Collector, request_for: Asking, written: str) -> None:
    """Host and port alone, a bare address and a full one all lead to the same exposition and name the replica alike."""
    with serving(works) as server:
        recording = collector.collect(request_for(written.format(server.address), seconds=1))
    assert {path for path, _ in server.asked} == {"/metrics"}
    assert values(recording, "tokens.generation", server.address) == [10]


def test_scrapes_are_never_closer_than_a_second(collector: Collector, request_for: Asking) -> None:
    """A smaller step is refused silently: the exposition is made by the process that serves the users."""
    with serving(works) as server:
        collector.collect(replace(request_for(server.address, seconds=4), step=0.01))
    assert len(server.asked) == 5


def test_gzip_is_unpacked(collector: Collector, request_for: Asking) -> None:
    """An answer in gzip is read like a plain one, also if nobody asked for it."""
    with serving(lambda handler, number: handler.send(gzip.compress(moved(number).encode()), Content_Encoding="gzip")) as server:
        recording = collector.collect(request_for(server.address))
    assert values(recording, "tokens.generation") == [10, 10, 10]
    assert server.asked[0][1]["Accept-Encoding"] == "identity"


def test_openmetrics_is_read(collector: Collector, request_for: Asking) -> None:
    """An exposition in OpenMetrics with its end marker and an exemplar gives the same series."""

    def reply(handler: Handler, number: int) -> None:
        sample = f'vllm:generation_tokens_total{{model_name="m"}} {7 * number} # {{trace_id="a"}} 1.0'
        text = f"# TYPE vllm:generation_tokens counter\n{sample}\n# EOF\n"
        handler.send(text.encode(), "application/openmetrics-text; version=1.0.0")

    with serving(reply) as server:
        assert values(collector.collect(request_for(server.address)), "tokens.generation") == [7, 7, 7]


def test_endpoint_that_dies(collector: Collector, request_for: Asking) -> None:
    """The series of an endpoint that dies end, it is down from then on, and its neighbour is sampled to the end."""

    def dies(handler: Handler, number: int) -> None:
        if number < 2:
            works(handler, number)
        else:
            handler.close_connection = True

    with serving(dies) as dying, serving(works) as living:
        recording = collector.collect(request_for(dying.address, living.address, seconds=4))
    assert [moment for moment, _ in samples(recording, "queue.waiting", dying.address)] == [0, 1]
    assert values(recording, "target.up", dying.address) == [1, 1, 0, 0, 0]
    assert values(recording, "target.up", living.address) == [1, 1, 1, 1, 1]
    assert recording.sources[0].state == "partial"
    assert f"{dying.address} closed the connection without an answer (3 of 5 scrapes)" in recording.sources[0].reason


def test_nobody_listens(collector: Collector, request_for: Asking) -> None:
    """An endpoint that refuses the connection is down the whole time, which is a failed source with a known target."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
        recording = collector.collect(request_for(address))
    assert values(recording, "target.up") == [0, 0, 0, 0]
    assert recording.sources[0].state == "failed"
    assert (
        recording.sources[0].reason
        == f"{address} refuses connections (4 of 4 scrapes); is the server running, is the port right?"
    )


def plain(body: bytes, kind: str = "text/plain", status: int = 200) -> Reply:
    return lambda handler, number: handler.send(body, kind, status)


def breaks_off(handler: Handler, number: int) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "100000")
    handler.end_headers()
    handler.wfile.write(PAYLOAD.encode())


def breaks_off_packed(handler: Handler, number: int) -> None:
    handler.send(gzip.compress(PAYLOAD.encode())[:-20], Content_Encoding="gzip")


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (plain(b"<!doctype html><p>hello", "text/html"), "answers with a web page (200) instead of metrics"),
        (
            plain(b"<!doctype html><title>Sign in</title><html></html>", "text/html"),
            "answers with a login page (200) instead of metrics",
        ),
        (plain(b"[]", "application/json"), "answers with JSON instead of metrics in text"),
        (plain(b"not found", status=404), "has no metrics at /prometheus/metrics (404)"),
        (plain(b"off", status=501), "(501) (2 of 2 scrapes); switch them on"),
        (plain(b"who are you", status=401), "refuses access (401) (2 of 2 scrapes); set TRIAGE_ENDPOINT_TOKEN"),
        (plain(b"boom", status=500), "answers with an error (500)"),
        (plain(b"hello engine, how are you"), "answers with something else than metrics"),
        (plain(b""), "answers, but shows no metric at all"),
        (plain(b"# TYPE cats gauge\ncats 3\n"), "shows metrics that no dialect knows"),
        (breaks_off, "broke off in the middle of its answer"),
        (breaks_off_packed, "broke off in the middle of its answer"),
        (lambda handler, number: handler.send(b"\x1f\x8bnonsense", Content_Encoding="gzip"), "answers with damaged gzip"),
        (lambda handler, number: handler.wfile.write(b"SSH-2.0-OpenSSH_9.6\r\n"), "does not speak HTTP"),
        (lambda handler, number: handler.send(b"", status=302, Location="/metrics"), "sends from page to page"),
        (lambda handler, number: handler.send(b"", status=302, Location="http://[bad"), "sends on to "),
    ],
)
def test_answers_that_are_no_exposition_are_named(collector: Collector, request_for: Asking, reply: Reply, words: str) -> None:
    """Each way of answering wrongly is told in one sentence; no signal of an engine comes of it."""
    with serving(reply) as server:
        recording = collector.collect(request_for(server.address, seconds=1))
    assert words in recording.sources[0].reason
    assert recording.sources[0].state in {"failed", "partial"}
    assert {one.subject.scope for one in recording.series} <= {Scope.TARGET}


def test_answer_without_end_is_given_up(collector: Collector, request_for: Asking) -> None:
    """An endpoint that sends for ever, a little at a time, is left after the time-out; the others lose nothing by it."""
    over = StopSignal()

    def endless(handler: Handler, number: int) -> None:
        handler.send_response(200)
        handler.end_headers()
        while not over.wait(0.02):
            handler.wfile.write(b"# and so on\n")

    with serving(endless) as server, serving(works) as other:
        try:
            recording = collector.collect(request_for(server.address, other.address, timeout=0.3))
        finally:
            over.set()
    assert f"{server.address} gave no whole answer within 0.3 s" in recording.sources[0].reason
    assert values(recording, "tokens.generation", other.address) == [10, 10, 10]
    assert set(values(recording, "target.up", server.address)) == {0}


def test_answer_that_is_too_large(collector: Collector, request_for: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer beyond the limit is refused, also if it is small until it is unpacked."""
    monkeypatch.setitem(vars(sys.modules[type(collector).__module__]), "MAX_BYTES", 1 << 20)
    bomb = gzip.compress(b"# nothing\n" * 1_000_000)
    with serving(plain(b"# nothing\n" * 200_000)) as large, serving(lambda h, n: h.send(bomb, Content_Encoding="gzip")) as packed:
        recording = collector.collect(request_for(large.address, packed.address, seconds=1))
    for server in (large, packed):
        assert f"{server.address} gave an answer of more than 1 MiB (2 of 2 scrapes)" in recording.sources[0].reason


def test_token_is_sent_to_endpoints_that_were_named(collector: Collector, request_for: Asking) -> None:
    """The token from the environment goes along as a bearer token; that it is wrong is told, without the token."""

    def guarded(handler: Handler, number: int) -> None:
        works(handler, number) if handler.headers["Authorization"] == "Bearer s3cret" else handler.send(b"no", status=403)

    with serving(guarded) as server:
        good = collector.collect(request_for(server.address, environ={"TRIAGE_ENDPOINT_TOKEN": "s3cret"}))
        bad = collector.collect(request_for(server.address, environ={"TRIAGE_ENDPOINT_TOKEN": "0ther"}))
    assert values(good, "tokens.generation") == [10, 10, 10]
    assert "refuses access (403)" in bad.sources[0].reason
    assert "0ther" not in bad.sources[0].reason


def test_token_that_breaks_a_header_is_refused(collector: Collector, request_for: Asking) -> None:
    """A token with a line break is refused before anything is sent, and not repeated in the message."""
    with serving(works) as server:
        with pytest.raises(TriageError, match="TRIAGE_ENDPOINT_TOKEN cannot be sent as a header") as caught:
            collector.collect(request_for(server.address, environ={"TRIAGE_ENDPOINT_TOKEN": "s3cret\r\nHost: evil"}))
        assert server.asked == []
    assert "s3cret" not in str(caught.value)


def test_credentials_in_an_address_are_refused(collector: Collector, request_for: Asking) -> None:
    """Credentials on the command line end up in histories and reports; the message does not repeat them."""
    with pytest.raises(ConfigError, match="holds credentials") as caught:
        collector.collect(request_for("http://user:hunter2@127.0.0.1:8000"))
    assert "hunter2" not in str(caught.value)


def test_redirects_stay_on_the_server(collector: Collector, request_for: Asking) -> None:
    """A redirect on the same server is followed; one to another server is not, and nothing is sent there."""

    def moves(handler: Handler, number: int) -> None:
        handler.send(moved(1).encode()) if handler.path == "/metrics/" else handler.send(b"", status=307, Location="/metrics/")

    with serving(works) as elsewhere:
        with serving(moves) as server:
            recording = collector.collect(request_for(server.address, seconds=1))
        assert values(recording, "queue.waiting") == [0, 0]
        with serving(lambda h, n: h.send(b"", status=302, Location=f"http://{elsewhere.address}/metrics")) as server:
            recording = collector.collect(request_for(server.address, environ={"TRIAGE_ENDPOINT_TOKEN": "s3cret"}))
        assert elsewhere.asked == []
    assert f"sends on to http://{elsewhere.address}" in recording.sources[0].reason


def test_tensorrt_llm_shows_its_text_elsewhere(collector: Collector, request_for: Asking) -> None:
    """Where /metrics is a list in JSON (which is emptied by reading), the text is found once and then asked directly."""

    def trtllm(handler: Handler, number: int) -> None:
        if handler.path == "/prometheus/metrics":
            sample = f'trtllm_request_success_total{{model_name="m"}} {4 * number}'
            handler.send(f"# TYPE trtllm_request_success_total counter\n{sample}\n".encode())
        else:
            handler.send(json.dumps([{"iter": number}]).encode(), "application/json")

    with serving(trtllm) as server:
        recording = collector.collect(request_for(server.address))
        assert [path for path, _ in server.asked].count("/metrics") == 1
        asked = len(server.asked)
        collector.collect(request_for(server.address, facts={"engine": "trtllm"}))
        assert {path for path, _ in server.asked[asked:]} == {"/prometheus/metrics"}
    assert values(recording, "target.up") == [1, 1, 1, 1]
    assert values(recording, "finished") == [4, 4, 4]


def test_engine_that_restarts(collector: Collector, request_for: Asking) -> None:
    """Counters that begin anew give no negative rate, and the restart is told."""

    def restarts(handler: Handler, number: int) -> None:
        text = moved(100 + number) if number < 2 else moved(number - 2).replace("1.79595114541e+09", "1.79595999999e+09")
        handler.send(text.encode())

    with serving(restarts) as server:
        recording = collector.collect(request_for(server.address))
    assert min(values(recording, "tokens.generation")) >= 0
    assert f"{server.address} restarted while it was watched (1 times)" in recording.sources[0].reason


def test_restart_shows_by_counters_alone(collector: Collector, request_for: Asking) -> None:
    """With several processes an engine tells no start time; that most counters fell tells the restart."""
    payload = "\n".join(line for line in PAYLOAD.splitlines() if "process_" not in line)

    def restarts(handler: Handler, number: int) -> None:
        handler.send(moved(50 + number if number < 2 else number - 2, payload).encode())

    with serving(restarts) as server:
        recording = collector.collect(request_for(server.address))
    assert "restarted while it was watched (1 times)" in recording.sources[0].reason


def test_labels_of_a_scrape_win(collector: Collector, request_for: Asking) -> None:
    """Labels of the engine that have the names of a scrape's labels are set aside, so that no replica can pose as another."""

    def poses(handler: Handler, number: int) -> None:
        own = 'model_name="tiny",instance="evil:1",job="x",service="y"'
        handler.send(moved(number).replace('model_name="tiny"', own).encode())

    with serving(poses) as server:
        recording = collector.collect(request_for(server.address))
    assert values(recording, "tokens.generation") == [10, 10, 10]
    assert [subject.id for subject in recording.subjects[Scope.REPLICA]] == [server.address]


def test_labels_that_were_set_for_the_service_are_given(collector: Collector, request_for: Asking) -> None:
    """A service that is known by labels of its own still owns the endpoints that were named for it."""
    with serving(works) as server:
        recording = collector.collect(request_for(server.address, labels={"namespace": "prod", "app": "chat"}))
    assert values(recording, "tokens.generation") == [10, 10, 10]


def test_stop_returns_what_there_is(collector: Collector, request_for: Asking) -> None:
    """A user who has had enough gets what was sampled until then."""
    asking = request_for("placeholder:1", seconds=100)

    def stops(handler: Handler, number: int) -> None:
        if number == 2:
            asking.stop.set()
        works(handler, number)

    with serving(stops) as server:
        service = asking.service.model_copy(update={"endpoints": (server.address,)})
        recording = collector.collect(replace(asking, service=service))
    assert len(server.asked) == 3
    assert len(values(recording, "tokens.generation")) in {1, 2}


def test_a_scrape_that_a_stop_cuts_off_is_no_failure(
    collector: Collector, request_for: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who stops while an engine is about to answer does not learn that it fails to."""
    has_come, may_go = StopSignal(), StopSignal()
    beats, asking = count(), request_for("placeholder:1", seconds=100)

    def hesitates(handler: Handler, number: int) -> None:
        if number == 2:
            has_come.set()
            may_go.wait(60)
        works(handler, number)

    def waits(pending: list[Future[object]], timeout: float) -> None:
        if next(beats) < 2:
            wait(pending, timeout=60)
        elif has_come.wait(60):
            asking.stop.set()

    with serving(hesitates) as server:
        monkeypatch.setitem(vars(sys.modules[type(collector).__module__]), "wait", waits)
        service = asking.service.model_copy(update={"endpoints": (server.address,)})
        recording = collector.collect(replace(asking, service=service))
        may_go.set()
    assert values(recording, "target.up") == [1, 1]
    assert recording.sources[0].state == "ok"


def test_what_was_scraped_so_far_is_shown(collector: Collector, request_for: Asking) -> None:
    """From the second scrape on, with the first rates; each time it is what the collector would give if it ended then."""
    shown: list[Recording] = []
    with serving(works) as server:
        whole = collector.collect(replace(request_for(server.address), so_far=lambda make: shown.append(make())))
    assert [values(one, "tokens.generation") for one in shown] == [[10], [10, 10], [10, 10, 10]]
    assert [len(values(one, "target.up")) for one in shown] == [2, 3, 4]
    assert (shown[-1].sources, shown[-1].facts, shown[-1].links) == (whole.sources, whole.facts, whole.links)


def test_progress_is_told(collector: Collector, request_for: Asking) -> None:
    """Progress goes from 0 to 1 and says how many endpoints are scraped."""
    told: list[tuple[str, float]] = []
    with serving(works) as server:
        collector.collect(replace(request_for(server.address), progress=lambda text, done: told.append((text, done))))
    assert [done for _, done in told] == pytest.approx([0, 1 / 3, 2 / 3, 1])
    assert {text for text, _ in told} == {"scraping 1 endpoint"}


ENGINE = """#!{python}
import http.server, sys
class Handler(http.server.BaseHTTPRequestHandler):
    count = 0
    def do_GET(self):
        Handler.count += 10
        sample = 'nv_inference_request_success{{model="m",version="1"}} %d' % Handler.count
        body = f"# TYPE nv_inference_request_success counter\\n{{sample}}\\n".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *args): pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", {port}), Handler)
print("ready", flush=True)
server.serve_forever()
"""


@contextmanager
def engine_process(folder: Path, listens: int, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A process that looks like Triton and shows metrics at a port."""
    program = folder / "tritonserver"
    program.write_text(ENGINE.format(python=sys.executable, port=listens), encoding="utf-8")
    program.chmod(0o755)
    with ended(subprocess.Popen([str(program), *arguments], stdout=subprocess.PIPE, text=True)) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield process


def test_engine_on_this_machine_is_found(collector: Collector, request_for: Asking, tmp_path: Path) -> None:
    """With no endpoint named, an engine's process is found by its command line, asked at its own port, and named."""
    port = free_port()
    with engine_process(tmp_path, port, f"--metrics-port={port}"):
        recording = collector.collect(request_for())
    assert f"triton at box:{port}" in recording.sources[0].reason
    assert values(recording, "finished", f"box:{port}") == [10, 10, 10]
    assert recording.links[Subject(Scope.REPLICA, f"box:{port}")] == (Subject(Scope.NODE, "box"),)


def test_engine_that_was_found_and_is_gone_is_asked_again(collector: Collector, request_for: Asking) -> None:
    """Nobody listens any more where an engine answered at an earlier look: that it refuses is evidence of it, not a blank."""
    port = free_port()
    subject = Subject(Scope.REPLICA, f"box:{port}")
    other = Subject(Scope.REPLICA, f"elsewhere:{port}")
    earlier = Recording("llm", Window(START - 10, START, START - 10), links={subject: (), other: ()})
    recording = collector.collect(replace(request_for(), earlier=earlier))
    assert samples(recording, "target.up", subject.id) == [(second, 0) for second in range(4)]
    assert {one.subject for one in recording.series} == {subject}
    assert recording.sources[0].state == "failed"
    assert "refuses connections" in recording.sources[0].reason


def test_engine_at_another_port_is_not_probed(collector: Collector, request_for: Asking, tmp_path: Path) -> None:
    """Of an engine that listens elsewhere than it says, no socket is tried at random: it may be of its own workings."""
    with engine_process(tmp_path, port := free_port(), "--metrics-port", str(free_port())) as process:
        recording = collector.collect(request_for())
    assert f"triton (process {process.pid}) listens at {port}: name its endpoint" in recording.sources[0].reason


def test_usual_ports_are_tried_and_strangers_dropped(
    collector: Collector, request_for: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What listens at an engine's usual port is kept if it shows an engine's metrics; a web page is not. No token is sent."""
    with serving(works) as engine, serving(plain(b"<html>notebook</html>", "text/html")) as stranger:
        usual = tuple(replace(engine_table.ENGINES[0], port=server.server_port) for server in (engine, stranger))
        monkeypatch.setattr(engine_table, "ENGINES", usual)
        recording = collector.collect(request_for(environ={"TRIAGE_ENDPOINT_TOKEN": "s3cret"}))
    assert values(recording, "tokens.generation", f"box:{engine.server_port}") == [10, 10, 10]
    assert not [one for one in recording.series if str(stranger.server_port) in one.subject.id]
    assert not any("Authorization" in headers for server in (engine, stranger) for _, headers in server.asked)


def test_nothing_found_says_what_to_do(
    collector: Collector, request_for: Asking, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Where no engine is found the source is absent and says how to name one."""
    monkeypatch.setitem(vars(sys.modules[type(collector).__module__]), "_PROC", tmp_path)
    recording = collector.collect(request_for())
    assert not recording.series
    assert recording.sources[0].state == "absent"
    assert "name its address with --endpoint" in recording.sources[0].reason


def test_wanted(collector: Collector, request_for: Asking) -> None:
    """Endpoints that are named are always wanted; with Prometheus alone, or for the past, nothing is scraped."""
    assert collector.wanted(request_for("192.0.2.7:8000", prometheus="http://prometheus:9090")) == ""
    assert collector.wanted(request_for()) == ""
    assert "Prometheus is asked" in collector.wanted(request_for(prometheus="http://prometheus:9090"))
    assert "in the past" in collector.wanted(replace(request_for("192.0.2.7:8000"), clock=lambda: START + 1e6))


def test_same_exposition_makes_the_same_recording(collector: Collector, request_for: Asking) -> None:
    """Two runs over the same answers differ in nothing but the measured time of the scrape."""
    with serving(works) as server:
        first = collector.collect(request_for(server.address))
        server.asked.clear()
        second = collector.collect(request_for(server.address))

    def told(recording: Recording) -> list[tuple[str, Subject, list[float]]]:
        return [(s.signal, s.subject, s.values.tolist()) for s in recording.series if s.signal != "target.scrape_duration"]

    assert told(first) == told(second)
    assert (first.facts, first.links, first.sources) == (second.facts, second.links, second.sources)

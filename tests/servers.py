"""Real servers for tests: Prometheus and VictoriaMetrics with recorded metrics, Alertmanager, and fronts that can misbehave.

The programs come from Debian's packages ``prometheus``, ``victoria-metrics`` and ``prometheus-alertmanager``. A test that
needs one fails without it: a source that never met the real thing is not tested.
"""

import json
import shutil
import socket
import ssl
import struct
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.client import HTTPConnection, HTTPResponse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, AnyStr, Literal
from urllib.parse import parse_qs, urlsplit

import pytest

from triage.ingest.metrics.openmetrics import read_text

INCIDENTS = Path(__file__).parent / "incidents"
_PATIENCE = 60.0
"""Seconds until a server must be there: a busy machine takes its time."""

_MARGIN = 120.0


@dataclass(frozen=True)
class Stored:
    """A server with recorded metrics in it.

    :param moved: seconds by which the samples were moved into the past, because they were not yet past
    """

    address: str
    moved: float = 0.0


def program(name: str, package: str) -> str:
    """Path of a program; the test fails with a word on what to install if it is not there."""
    path = shutil.which(name)
    if path is None:
        pytest.fail(f"{name} is not installed; these tests ask a real server: apt-get install {package}", pytrace=False)
    return path


def free_port() -> int:
    """A port of the loopback interface that nobody listens at now."""
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def get(url: str, data: bytes | None = None) -> tuple[int, bytes]:
    """Status and body of an answer."""
    parts = urlsplit(url)
    assert parts.hostname
    connection = HTTPConnection(parts.hostname, parts.port, timeout=30)
    with closing(connection):
        target = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
        connection.request("GET" if data is None else "POST", target, data)
        answer = connection.getresponse()
        return answer.status, answer.read()


@contextmanager
def ended(process: "subprocess.Popen[AnyStr]") -> Iterator["subprocess.Popen[AnyStr]"]:
    """A child that is gone when the block is left, however it is left: it is asked to go, and killed if it does not."""
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(10.0)
        except subprocess.TimeoutExpired:
            process.kill()
        process.communicate()


@contextmanager
def running(command: Sequence[str], ready: str, log: Path) -> Iterator[None]:
    """A program in the background, from the moment at which it answers to the end of the block."""
    with log.open("wb") as output, ended(subprocess.Popen(command, stdout=output, stderr=output, cwd=log.parent)) as process:
        _await(process, ready, log)
        yield


def _await(process: "subprocess.Popen[bytes]", ready: str, log: Path) -> None:
    """Waits until an address answers."""
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end and process.poll() is None:
        try:
            if get(ready)[0] == 200:
                return
        except OSError:
            pass
        time.sleep(0.05)
    pytest.fail(f"{process.args!r} did not come up:\n{log.read_text(errors='replace')[-2000:]}", pytrace=False)


@contextmanager
def prometheus_with(metrics: bytes, folder: Path, *options: str) -> Iterator[Stored]:
    """A Prometheus that holds these OpenMetrics samples."""
    folder.mkdir(parents=True, exist_ok=True)
    text, data = folder / "metrics.om", folder / "data"
    text.write_bytes(metrics)
    made = [program("promtool", "prometheus"), "tsdb", "create-blocks-from", "openmetrics", "-q", str(text), str(data)]
    done = subprocess.run(made, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    (folder / "prometheus.yml").touch()
    with prometheus(folder, f"--storage.tsdb.path={data}", *options) as address:
        yield Stored(address)


@contextmanager
def prometheus_holding(cases: Sequence[bytes], folder: Path) -> Iterator[Stored]:
    """A Prometheus that holds several cases, each given as OpenMetrics samples: each makes its blocks by itself.

    Of one long file every block would be looked for in all of it.
    """
    folder.mkdir(parents=True)
    data = folder / "data"
    for number, metrics in enumerate(cases):
        text = folder / f"{number}.om"
        text.write_bytes(metrics + b"# EOF\n")
        made = [program("promtool", "prometheus"), "tsdb", "create-blocks-from", "openmetrics", "-q", str(text), str(data)]
        done = subprocess.run(made, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()
    (folder / "prometheus.yml").touch()
    with prometheus(folder, f"--storage.tsdb.path={data}") as address:
        yield Stored(address)


@contextmanager
def prometheus(folder: Path, *options: str, at: str = "") -> Iterator[str]:
    """A Prometheus that runs on the folder's prometheus.yml; gives its address.

    :param at: host and port where it listens, if not anywhere
    """
    address = at or f"127.0.0.1:{free_port()}"
    command = [program("prometheus", "prometheus"), f"--config.file={folder / 'prometheus.yml'}"]
    command += [f"--web.listen-address={address}", "--storage.tsdb.retention.time=100y", *options]
    with running(command, f"http://{address}/-/ready", folder / "prometheus.log"):
        yield f"http://{address}"


@contextmanager
def victoria_metrics(folder: Path) -> Iterator[str]:
    """A VictoriaMetrics that keeps what it is given in a folder; gives its address."""
    address = f"127.0.0.1:{free_port()}"
    command = [program("victoria-metrics", "victoria-metrics"), f"-storageDataPath={folder / 'data'}"]
    command += [f"-httpListenAddr={address}", "-retentionPeriod=100y", "-maxLabelsPerTimeseries=100"]
    with running(command, f"http://{address}/health", folder / "victoria-metrics.log"):
        yield f"http://{address}"


def imported(address: str, rows: str) -> None:
    """Give a VictoriaMetrics samples, one a line, with times in milliseconds; they can be asked for at once."""
    status, body = get(f"{address}/api/v1/import/prometheus", rows.encode())
    assert status in {200, 204}, body
    get(f"{address}/internal/force_flush")


@contextmanager
def victoria_metrics_with(metrics: bytes, folder: Path) -> Iterator[Stored]:
    """A VictoriaMetrics that holds these OpenMetrics samples. It takes none that lie in the future."""
    with victoria_metrics(folder) as address:
        lines = [line.rpartition(" ") for line in metrics.decode().splitlines() if line and line[0] != "#"]
        moved = max(0.0, max(float(moment) for _, _, moment in lines) - time.time() + _MARGIN)
        rows = "".join(f"{series} {round((float(moment) - moved) * 1000)}\n" for series, _, moment in lines)
        imported(address, rows)
        yield Stored(address, moved)


def recorded(name: str) -> bytes:
    """The metrics of a recorded case, as OpenMetrics text."""
    return read_text(next((INCIDENTS / name).glob("metrics.om*")))


@dataclass(frozen=True)
class Ask:
    """One request to a front.

    :param form: parameters of the address and of the body
    """

    method: str
    path: str
    headers: dict[str, str]
    form: dict[str, list[str]]

    @property
    def query(self) -> str:
        """The PromQL in it, if there is any."""
        return "".join(self.form.get("query", []))


@dataclass(frozen=True)
class Reply:
    """An answer that a front gives itself.

    :param ending: how it ends: whole, cut in the middle of its body, without a word (the connection is reset), or never
    """

    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)
    ending: Literal["whole", "cut", "reset", "endless"] = "whole"


@dataclass
class Front:
    """A real HTTP server that passes requests on to another one, unless it has an answer of its own.

    :param behind: address of the other one
    :param own: its own answer to a request; None passes it on
    :param change: what it makes of the other one's body
    :param asked: all requests so far
    """

    behind: str = ""
    own: Callable[[Ask], Reply | None] = lambda ask: None
    change: Callable[[Ask, bytes], bytes] = lambda ask, body: body
    asked: list[Ask] = field(default_factory=list)
    address: str = ""

    def answer(self, ask: Ask, target: str, body: bytes) -> Reply:
        """What the front says."""
        self.asked.append(ask)
        reply = self.own(ask)
        if reply is not None:
            return reply
        behind = urlsplit(self.behind)
        connection = HTTPConnection(behind.hostname or "", behind.port, timeout=30)
        with closing(connection):
            kind = ask.headers.get("content-type", "")
            connection.request(ask.method, target, body or None, {"Content-Type": kind} if kind else {})
            answer: HTTPResponse = connection.getresponse()
            passed = self.change(ask, answer.read())
            return Reply(answer.status, passed, {"Content-Type": answer.headers.get("Content-Type", "")})


_ON_AND_ON = b" " * (1 << 16)


class _Handler(BaseHTTPRequestHandler):
    """Reads a request and lets the front answer it."""

    protocol_version = "HTTP/1.1"

    def __init__(self, front: Front, *args: object) -> None:
        self.front = front
        super().__init__(*args)  # type: ignore[arg-type]

    def handle_one(self) -> None:
        """One request."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = urlsplit(self.path)
        form = parse_qs(parts.query, keep_blank_values=True)
        form |= parse_qs(body.decode(), keep_blank_values=True)
        headers = {name.lower(): value for name, value in self.headers.items()}
        target = f"{parts.path}?{parts.query}" if parts.query else parts.path
        reply = self.front.answer(Ask(self.command, parts.path, headers, form), target, body)
        self.close_connection = self.close_connection or reply.ending != "whole"
        try:
            self._give(reply)
        except OSError:
            self.close_connection = True

    def _give(self, reply: Reply) -> None:
        """Sends an answer up to its end."""
        if reply.ending == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
            return
        self.send_response(reply.status)
        length = {} if reply.ending == "endless" else {"Content-Length": str(len(reply.body))}
        for name, value in {**reply.headers, **length}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(reply.body[: len(reply.body) // 2] if reply.ending == "cut" else reply.body)
        while reply.ending == "endless":
            self.wfile.write(_ON_AND_ON)

    do_GET = do_POST = do_PUT = do_DELETE = handle_one  # noqa: N815 - the names that http.server looks for

    def log_message(self, *args: object) -> None:
        """Nothing on stderr."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up is what some tests are about."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


@contextmanager
def serving(front: Front, certificate: Path | None = None) -> Iterator[Front]:
    """The front at work, with TLS if it has a certificate (and key, in one file)."""
    with ExitStack() as stack:
        server = stack.enter_context(_Server(("127.0.0.1", 0), partial(_Handler, front)))
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        stack.callback(thread.join)
        stack.callback(server.shutdown)
        front.address = f"{'http' if certificate is None else 'https'}://127.0.0.1:{server.server_port}"
        yield front


@contextmanager
def alertmanager(folder: Path, hook: str) -> Iterator[str]:
    """An Alertmanager that tells a webhook at once."""
    folder.mkdir()
    config = {
        "route": {"receiver": "hook", "group_by": ["service", "alertname"], "group_wait": "0s", "group_interval": "1s"},
        "receivers": [{"name": "hook", "webhook_configs": [{"url": hook, "send_resolved": True}]}],
    }
    (folder / "alertmanager.yml").write_text(json.dumps(config), encoding="utf-8")
    address = f"127.0.0.1:{free_port()}"
    command = [program("prometheus-alertmanager", "prometheus-alertmanager"), f"--config.file={folder / 'alertmanager.yml'}"]
    command += [f"--web.listen-address={address}", "--cluster.listen-address=", f"--storage.path={folder / 'data'}"]
    with running(command, f"http://{address}/-/ready", folder / "alertmanager.log"):
        yield f"http://{address}"


@contextmanager
def hooked() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A webhook, and what it was sent."""
    got: list[dict[str, Any]] = []
    front = Front()

    def passed(ask: Ask, target: str, body: bytes) -> Reply:
        got.append(json.loads(body))
        return Reply(200, b"")

    front.answer = passed  # type: ignore[method-assign]
    with serving(front):
        yield front.address, got


def heard(got: Sequence[dict[str, Any]]) -> list[tuple[str, str]]:
    """Alerts as an Alertmanager told them: name, and whether it fires or is resolved."""
    return [(alert["labels"]["alertname"], alert["status"]) for body in got for alert in body["alerts"]]


def self_signed(folder: Path) -> tuple[Path, Path]:
    """A certificate for the loopback address: a file with certificate and key for the server, one with the certificate alone."""
    key, certificate, both = folder / "key.pem", folder / "certificate.pem", folder / "both.pem"
    command = [program("openssl", "openssl"), "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    command += ["-nodes", "-days", "2", "-subj", "/CN=triage test", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run([*command, "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True)
    both.write_bytes(certificate.read_bytes() + key.read_bytes())
    return both, certificate


def settings(case: Path, folder: Path) -> Path:
    """triage.toml with what a case's case.toml says of its service."""
    told = tomllib.loads((case / "case.toml").read_text(encoding="utf-8"))
    lines = ["[service.llm-prod]"]
    for table in ("objectives", "facts", "signals"):
        lines.append(f"[service.llm-prod.{table}]")
        lines += [f"{json.dumps(key)} = {json.dumps(value)}" for key, value in told.get(table, {}).items()]
    path = folder / "triage.toml"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path

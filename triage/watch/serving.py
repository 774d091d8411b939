"""``/metrics`` and ``/healthz`` of a watch, for whoever watches the watch."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from threading import Thread
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, make_server

from prometheus_client import CollectorRegistry, ProcessCollector, make_wsgi_app
from prometheus_client.exposition import ThreadingWSGIServer

from triage.errors import ConfigError, UsageError
from triage.watch.board import Board
from triage.watch.metrics import Exposition

LISTEN = "127.0.0.1:8018"
"""Where a watch is asked if nobody says otherwise: from this machine only, beside the walk's 8017."""

_ADDRESS = re.compile(r"(?:(?P<host>\[[0-9a-fA-F:]+\]|[^:\[\]]*):)?(?P<port>\d{1,5})", re.ASCII)


def address_of(text: str) -> tuple[str, int]:
    """Host and port of an address to listen at; a port alone is of this machine.

    :raises UsageError: it is none
    """
    found = _ADDRESS.fullmatch(text.strip())
    if found is None or int(found["port"]) > 65535:
        raise UsageError(f"{text!r} is no address to listen at", "write HOST:PORT, for example 127.0.0.1:8018 or 0.0.0.0:8018")
    return (found["host"] or "127.0.0.1").strip("[]"), int(found["port"])


class _Quiet(WSGIRequestHandler):
    """Writes no line for each request."""

    def log_message(self, *args: object) -> None:
        """Nothing."""


@contextmanager
def serving(host: str, port: int, board: Board) -> Iterator[int]:
    """Answer while the block runs; gives the port.

    :raises ConfigError: nobody may listen there
    """
    registry = CollectorRegistry()
    registry.register(Exposition(board))
    ProcessCollector(registry=registry)
    server_class: Any = type("_Server", (ThreadingWSGIServer,), {"address_family": _family(host), "daemon_threads": True})
    try:
        server: Any = make_server(host, port, _routes(make_wsgi_app(registry), board), server_class, _Quiet)
    except OSError as error:
        raise ConfigError(
            f"cannot listen at {host}:{port}: {error.strerror or error}", "name another address with --listen"
        ) from error
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.5}, daemon=True)
    thread.start()
    try:
        yield int(server.server_port)
    finally:
        server.shutdown()
        server.server_close()


def _family(host: str) -> int:
    import socket

    return socket.AF_INET6 if ":" in host else socket.AF_INET


def _routes(metrics: Callable[..., Any], board: Board) -> Callable[..., Any]:
    """What is answered at which path."""

    def answer(request: dict[str, Any], start: Callable[..., Any]) -> Any:
        path = request.get("PATH_INFO", "")
        if path == "/metrics":
            return metrics(request, start)
        if path == "/healthz":
            late = board.overdue()
            told = "ok\n" if not late else f"not looked at for long: {', '.join(late)}\n"
            return _text(start, HTTPStatus.OK if not late else HTTPStatus.SERVICE_UNAVAILABLE, told)
        known = path == "/"
        return _text(start, HTTPStatus.OK if known else HTTPStatus.NOT_FOUND, "triage watch: /metrics, /healthz\n")

    return answer


def _text(start: Callable[..., Any], status: HTTPStatus, text: str) -> list[bytes]:
    body = text.encode()
    start(f"{status:d} {status.phrase}", [("Content-Type", "text/plain; charset=utf-8"), ("Content-Length", str(len(body)))])
    return [body]

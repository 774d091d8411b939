"""What is said to a server of the Prometheus API and by it, apart from queries: its address, and its answers."""

import re
from http import HTTPStatus
from typing import Any
from urllib.parse import SplitResult, urlsplit

from triage.errors import TriageError
from triage.ingest.http import AskError, Failure, quoted, refusal
from triage.ingest.prometheus.columns import Known, loads

VARIABLE = "TRIAGE_PROMETHEUS_"
"""How the names of the environment's variables begin that say how to be let in."""

_PAGES = ("/api/v1", "/graph", "/vmui")
_OTHER_PATHS = "check the path: Mimir has /prometheus, VictoriaMetrics' cluster /select/0/prometheus"
_NO_ACCESS = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN})


def address(given: str) -> SplitResult:
    """The base address without credentials, and without the page that a browser showed.

    :param given: as a person gave it; without a scheme it is http
    :raises TriageError: it is no address
    """
    text = given.strip()
    try:
        parts = urlsplit(text if "://" in text else f"http://{text}")
        host, port = parts.hostname, parts.port
    except ValueError:
        parts, host, port = urlsplit(""), None, None
    if parts.scheme not in {"http", "https"} or not host:
        raise TriageError("the address of Prometheus is not one of http:// or https://", "give it like http://prometheus:9090")
    path = parts.path.rstrip("/")
    for page in (*_PAGES, *(["/query"] if parts.query else [])):
        path = path.partition(f"{page}/")[0] if f"{page}/" in path else path.removesuffix(page)
    name = f"[{host}]" if ":" in host else host
    return SplitResult(parts.scheme, f"{name}:{port}" if port else name, path.rstrip("/"), "", "")


def read_answer(status: int, path: str, body: bytes, known: Known | None = None) -> dict[str, Any]:
    """The parsed answer, if it is a good one of the Prometheus API.

    :param status: of HTTP
    :param path: what was asked for
    :param known: what answers said before
    :raises AskError: it is not
    """
    try:
        parsed = loads(body, known)
    except (ValueError, RecursionError):
        parsed = None
    answer = parsed if isinstance(parsed, dict) else {}
    if status == HTTPStatus.OK and answer.get("status") == "success" and "data" in answer:
        return answer
    if answer.get("status") == "error" and status not in _NO_ACCESS:
        raise _told(quoted(str(answer.get("error", ""))), str(answer.get("errorType", "")), status)
    if parsed is None and _BEGINS.match(body):
        raise AskError(
            Failure.BROKEN, "broke off in the middle of its answer", "does it still run, is there a proxy with limits?"
        )
    raise refusal(status, path, body, wanted="the Prometheus API", variable=VARIABLE, hint=_OTHER_PATHS)


_BEGINS = re.compile(rb'\s*{\s*"status"\s*:')
"""How a good answer begins: if the rest of it is no JSON, its end is missing."""


def _told(reason: str, kind: str, status: int) -> AskError:
    """What the server itself says of a query that failed."""
    late = kind == "timeout" or "timeout" in reason or "timed out" in reason
    hint = "ask for less time (--since, --baseline)" if late else ""
    return AskError(Failure.LATE if late else Failure.ERROR, f"refuses the query ({reason})", hint, status)

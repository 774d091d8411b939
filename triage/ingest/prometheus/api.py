"""What is said to a server of the Prometheus API and by it, apart from queries: addresses, credentials, refusals."""

import json
import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit

from triage.errors import TriageError

VARIABLE = "TRIAGE_PROMETHEUS_"
"""How the names of the environment's variables begin that say how to be let in."""

_PAGES = ("/api/v1", "/graph", "/vmui")
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_NO_ACCESS = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN})


class AskError(Exception):
    """Why a question brought nothing, as the end of a sentence that begins with the server.

    :param hint: what to do about it
    :param lost: no other question will be answered either
    :param late: the time ran out
    """

    def __init__(self, reason: str, hint: str = "", *, lost: bool = False, late: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.hint = hint
        self.lost = lost
        self.late = late


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


def credentials(address: str, environ: Mapping[str, str]) -> tuple[bytes, bytes] | None:
    """User and password of the environment, or of the address."""
    user, password = environ.get(f"{VARIABLE}USER"), environ.get(f"{VARIABLE}PASSWORD", "")
    if user is None:
        parts = urlsplit(address if "://" in address else f"http://{address}")
        if parts.username is None:
            return None
        user, password = unquote(parts.username), unquote(parts.password or "")
    return user.encode(), password.encode()


def headers(environ: Mapping[str, str]) -> dict[str, str]:
    """Headers of the environment: a token, and ``Name=value,Name=value`` as OpenTelemetry writes them.

    :raises TriageError: they cannot be sent
    """
    pairs = [pair.partition("=") for pair in environ.get(f"{VARIABLE}HEADERS", "").split(",") if pair.strip()]
    told = [("HEADERS", name.strip(), unquote(value.strip())) for name, _, value in pairs]
    if token := environ.get(f"{VARIABLE}TOKEN", "").strip():
        told.append(("TOKEN", "Authorization", f"Bearer {token}"))
    for variable, name, value in told:
        if not _HEADER_NAME.fullmatch(name) or not (value and value.isascii() and value.isprintable()):
            hint = "write headers as Name=value,Name=value and a token bare"
            raise TriageError(f"{VARIABLE}{variable} cannot be sent as a header", hint)
    return {name: value for _, name, value in told}


def read_answer(status: int, path: str, body: bytes) -> dict[str, Any]:
    """The parsed answer, if it is a good one of the Prometheus API.

    :param status: of HTTP
    :param path: what was asked for
    :raises AskError: it is not
    """
    try:
        parsed = json.loads(body)
    except ValueError:
        parsed = None
    answer = parsed if isinstance(parsed, dict) else {}
    if status == HTTPStatus.OK and answer.get("status") == "success" and "data" in answer:
        return answer
    if answer.get("status") == "error" and status not in _NO_ACCESS:
        raise _told(clean(str(answer.get("error", ""))), str(answer.get("errorType", "")))
    raise _refusal(status, clean(path), body[:4096].lower())


def _told(reason: str, kind: str) -> AskError:
    """What the server itself says of a query that failed."""
    late = kind == "timeout" or "timeout" in reason or "timed out" in reason
    return AskError(f"refuses the query ({reason})", "ask for less time (--since, --baseline)" if late else "", late=late)


def _refusal(status: int, path: str, text: bytes) -> AskError:
    """What an answer means that is none of the API's."""
    if status in _NO_ACCESS:
        told = f"set {VARIABLE}TOKEN, or {VARIABLE}USER and {VARIABLE}PASSWORD"
        return AskError(f"refuses access ({status:d})", told, lost=True)
    page = text.lstrip().startswith(b"<")
    if b"https server" in text:
        return AskError("speaks TLS", "say https:// in its address", lost=True)
    if page and b"grafana" in text:
        return AskError("is Grafana, not Prometheus", "give the address of the data source behind it", lost=True)
    if page:
        reason = f"answers with a web page ({status:d}) where the Prometheus API should be"
        return AskError(reason, "check the address: its path may be missing", lost=True)
    if status == HTTPStatus.NOT_FOUND:
        hint = "check the path: Mimir has /prometheus, VictoriaMetrics' cluster /select/0/prometheus"
        return AskError(f"has no Prometheus API at {path} (404)", hint, lost=True)
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return AskError("asks for fewer queries (429)", "try again later")
    if status >= HTTPStatus.BAD_REQUEST:
        return AskError(f"answers with an error ({status:d})")
    return AskError("answers with something else than the Prometheus API does", "check the address", lost=True)


def clean(text: str) -> str:
    """Foreign text without control characters, short."""
    return " ".join("".join(c if c.isprintable() else " " for c in text[:2000]).split())[:200]

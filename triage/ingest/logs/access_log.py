"""Access logs of gateways and of engines' front ends, line by line."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import re2

IDLE_RESET = 0.05
"""Seconds. A request on a connection that the other side has just closed fails within a round trip; a cut answer ran longer."""


@dataclass(frozen=True, slots=True)
class AccessLine:
    """One request as a proxy or server logged it. Texts are as they stand in the line: clean them before they are kept.

    :param status: HTTP status; 0 if no answer was ever begun
    :param flags: Envoy's response flags, or those that another program's words stand for
    :param seconds: how long it took; None if the line does not say
    :param upstream: address that it was sent to; empty if none was found or named
    :param request_id: id of the request; the same for each attempt if the client or proxy keeps it
    :param retry: which repetition it is (0: the first attempt)
    :param sent: bytes of the answer; None if the line does not say
    :param starts: the line's stamp is when the request came, not when it ended
    """

    status: int
    path: str = ""
    flags: str = ""
    seconds: float | None = None
    upstream: str = ""
    request_id: str = ""
    retry: int = 0
    agent: str = ""
    sent: int | None = None
    starts: bool = False

    @property
    def failed(self) -> bool:
        """Whether the request was not answered as asked."""
        return self.status >= 400 or self.status < 100

    @property
    def is_probe(self) -> bool:
        """Whether this asks for health or metrics rather than for an answer."""
        return _is_probe(self.path)


_PROBES = re2.compile(r"(?i)^/(?:\w+/)*(?:health\w*|live\w*|ready\w*|ping|metrics|status|version|favicon\.ico)(?:[/?].*)?$")


@lru_cache(maxsize=4096)
def _is_probe(path: str) -> bool:
    return _PROBES.search(path) is not None


_ENVOY = re2.compile(rb'^\[[^\]]+\] "(\S+) (\S+)[^"]*" (\d{1,3}) ([A-Za-z,]+|-) (.*)$')
_ENVOY_NUMBERS = re2.compile(rb"(?:^| )(\d+) (\d+) (\d+) (\d+|-)(?: |$)")
_QUOTED = re2.compile(rb'"([^"]*)"')
_NGINX = re2.compile(rb'^\S+ \S+ \S+ \[[^\]]+\] "(\S+) (\S+)[^"]*" (\d{3}) (\d+|-)(?: "[^"]*" "([^"]*)")?(.*)$')
_LIST = rb"([^\s,]+(?:, [^\s,]+)*)"
_INGRESS = re2.compile(rb"^ (\d+) ([\d.]+) \[[^\]]*\] \[[^\]]*\] " + b" ".join([_LIST] * 4) + rb" (\S+)")
_UVICORN = re2.compile(rb'(?:^|: +)\S+:\d+ - "(\S+) (\S+) HTTP/[\d.]+" (\d{3})(?: [A-Z][A-Za-z\'-]*)*(.*)$')
_HAPROXY = re2.compile(rb"\] \S+ (\S+)/(\S+) (?:-?\d+/){4}\+?(-?\d+) (-?\d{1,3}) \+?(\d+) \S+ \S+ (\S)(\S)\S\S ")
_LLAMA = re2.compile(rb"log_server_r\w*: +(?:done )?request: \S+ (\S+) \S+ (\d{3})")
_ALB = re2.compile(
    rb"^(?:https?|h2|grpcs?|wss?) \S+ \S+ \S+ (\S+) (-?[\d.]+) (-?[\d.]+) (-?[\d.]+) (\d{3}) \S+ \d+ (\d+) "
    rb'"\S+ (?:https?://[^/]+)?(\S+)'
)
_GIN = re2.compile(rb"\| +(\d{3}) \| +(\S+) \| +\S+ \| [A-Z]+ +\"([^\"]*)\"")
_SPAN = re2.compile(rb"^([\d.]+)(ns|us|\x{b5}s|ms|s|m)?$")
_SPAN_UNITS = {b"ns": 1e-9, b"us": 1e-6, "\u00b5s".encode(): 1e-6, b"ms": 1e-3, b"s": 1.0, b"m": 60.0, None: 1.0}
_PAIRS = re2.compile(rb'\b(\w+)=(?:"([^"]*)"|(\S+))')
_UUID = re2.compile(rb"^[0-9a-fA-F]{8}-[0-9a-fA-F][0-9a-fA-F-]{3,}$|^[0-9a-fA-F]{32}$")
_ADDRESS = re2.compile(rb"^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-fA-F:]+\]|[\w-]+(?:\.[\w-]+)*):\d{2,5}$")
_RETRY = re2.compile(rb"(?i)retry[-_]count[\"\']?[=:]\s*[\"\']?(\d+)|attempt[-_]count[\"\']?[=:]\s*[\"\']?(\d+)")


def parse_access(line: bytes) -> AccessLine | None:
    """The request that a line tells of; None if it is another sort of line.

    Understood are Envoy (default, Istio, JSON), nginx (combined, ingress), uvicorn and LiteLLM, vllm-router, HAProxy, AWS load
    balancers, text-generation-inference, llama.cpp, and JSON with the usual names.
    """
    for parse in _PARSERS:
        found = parse(line)
        if found is not None:
            return found
    return None


def _envoy(line: bytes) -> AccessLine | None:
    """``[start] "POST /path HTTP/1.1" status flags received sent ms upstream-ms "…" …``; Istio has details before the sizes."""
    found = _ENVOY.search(line) if line[:1] == b"[" else None
    if found is None:
        return None
    _, path, status, flags, rest = found.groups()
    numbers = _ENVOY_NUMBERS.search(rest)
    if numbers is None:
        return None
    quoted = _QUOTED.findall(rest[numbers.end() - 1 :])
    return AccessLine(
        status=int(status),
        path=_text(path),
        flags="" if flags == b"-" else _text(flags),
        seconds=int(numbers.group(3)) / 1000.0,
        upstream=_envoy_upstream(quoted),
        request_id=_text(next((one for one in quoted if _UUID.search(one)), b"")),
        retry=_retries(rest),
        agent=_text(quoted[1] if len(quoted) >= 5 else next((one for one in quoted if b"/" in one or b" " in one), b"")),
        sent=int(numbers.group(2)),
        starts=True,
    )


def _envoy_upstream(quoted: list[bytes]) -> str:
    """The fifth quoted field of the default format, else the last that is an address."""
    if len(quoted) >= 5:
        return _address(quoted[4])
    return _address(next((one for one in reversed(quoted) if _ADDRESS.search(one)), b""))


def _nginx(line: bytes) -> AccessLine | None:
    """Combined format, with what ingress-nginx adds or ``name=value`` pairs."""
    found = _NGINX.search(line)
    if found is None:
        return None
    _, path, status, sent, agent, rest = found.groups()
    ingress = _INGRESS.search(rest)
    if ingress is None:
        pairs = _named(rest)
        upstream, waited = _upstream_of(pairs), _number(pairs.get(b"urt", pairs.get(b"upstream_response_time", b"")))
        return AccessLine(
            int(status), _text(path), _nginx_flags(int(status), waited, upstream.encode()), _seconds_of(pairs), upstream,
            _id_of(pairs), _retries(rest), _text(agent or b""), _whole(sent),
        )  # fmt: skip
    _, seconds, upstreams, _, waited, _, request_id = ingress.groups()
    upstream = upstreams.rpartition(b", ")[2]
    last_wait = _number(waited.rpartition(b", ")[2])
    return AccessLine(
        status=int(status),
        path=_text(path),
        flags=_nginx_flags(int(status), last_wait, b"" if upstream == b"-" else upstream),
        seconds=float(seconds),
        upstream=_address(upstream),
        request_id=_text(request_id),
        retry=upstreams.count(b", "),
        agent=_text(agent or b""),
        sent=_whole(sent),
    )


def _nginx_flags(status: int, waited: float | None, upstream: bytes) -> str:
    """Nginx says no flags; its statuses mean these."""
    if status == 499:
        return "DC"
    if status == 504:
        return "UT"
    if status == 503 and not upstream and waited is None:
        return "UH"
    if status == 502 and upstream:
        return "UC" if waited else "UF"
    return ""


def _uvicorn(line: bytes) -> AccessLine | None:
    """``INFO:     1.2.3.4:5 - "POST /path HTTP/1.1" 200 OK``, LiteLLM's pairs behind it."""
    if b' - "' not in line:
        return None
    found = _UVICORN.search(line)
    if found is None:
        return None
    _, path, status, rest = found.groups()
    pairs = _named(rest)
    return _from_pairs(int(status), _text(path), pairs)


def _router(line: bytes) -> AccessLine | None:
    """``… request_id=… path=… worker=http://… status=499 latency_ms=120000``."""
    if b"status=" not in line:
        return None
    pairs = _named(line)
    status = _whole(pairs.get(b"status", b""))
    if status is None or _seconds_of(pairs) is None:
        return None
    return _from_pairs(status, _text(pairs.get(b"path", b"")), pairs)


def _from_pairs(status: int, path: str, pairs: dict[bytes, bytes]) -> AccessLine:
    upstream, seconds = _upstream_of(pairs), _seconds_of(pairs)
    named = any(key in pairs for key in _UPSTREAM_KEYS)
    flags = ""
    if status == 499:
        flags = "DC"
    elif status in {408, 504}:
        flags = "UT"
    elif status in {502, 503} and named:
        flags = _router_flags(status, upstream, seconds)
    return AccessLine(status, path, flags, seconds, upstream, _id_of(pairs), _whole(pairs.get(b"retries", b"")) or 0, "", None)


def _router_flags(status: int, upstream: str, seconds: float | None) -> str:
    """A router that found nobody, could not connect, or lost the connection."""
    if not upstream:
        return "UH"
    if seconds is not None and seconds <= IDLE_RESET:
        return "UF"
    return "UC" if status == 502 else ""


def _haproxy(line: bytes) -> AccessLine | None:
    """HAProxy's HTTP log; its first termination letter says who ended the request, its second in which phase."""
    if b"haproxy" not in line:
        return None
    found = _HAPROXY.search(line)
    if found is None:
        return None
    _, server, millis, status, sent, ended, phase = found.groups()
    flags = {b"C": "DC", b"c": "DC", b"S": "UC", b"s": "UT", b"P": "UO"}.get(ended, "")
    if phase == b"C" and flags in {"UC", "UT"}:
        flags = "UF"
    elif phase == b"Q" and flags == "UT":
        flags = "QT"
    elif server == b"<NOSRV>" and flags != "DC":
        flags = "UH"
    upstream = "" if server == b"<NOSRV>" else _text(server)
    return AccessLine(max(int(status), 0), "", flags, int(millis) / 1000.0, upstream, sent=int(sent))


def _json(line: bytes) -> AccessLine | None:
    """A line of JSON with the names that Envoy, nginx and Traefik use."""
    if line[:1] != b"{" or not any(word in line for word in (b'"status', b"response_code", b"Status")):
        return None
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict):
        return None
    status = _whole(str(_of(record, "response_code", "status", "status_code", "DownstreamStatus")).encode())
    seconds = _json_seconds(record)
    if status is None or seconds is None:
        return None
    flags = str(_of(record, "response_flags") or "-")
    upstream = str(_of(record, "upstream_host", "upstream_addr", "upstream", "ServiceAddr", "worker") or "")
    if flags == "-":
        flags = _nginx_flags(status, seconds, upstream.strip("-").encode())
    return AccessLine(
        status=status,
        path=_said(record, "path", "uri", "request_uri", "RequestPath"),
        flags=flags,
        seconds=seconds,
        upstream=_address(upstream.encode()),
        request_id=_said(record, "request_id", "x_request_id", "requestId"),
        retry=_whole(_said(record, "retry_count", "retries").encode()) or 0,
        agent=_said(record, "user_agent", "http_user_agent"),
        sent=_whole(_said(record, "bytes_sent", "body_bytes_sent").encode()),
        starts="start_time" in record,
    )


def _said(record: dict[str, Any], *names: str) -> str:
    """The first of these entries that is there, as text."""
    value = _of(record, *names)
    return "" if value is None else str(value)[:200]


def _of(record: dict[str, Any], *names: str) -> Any:
    """The first of these entries that is there."""
    return next((record[name] for name in names if name in record), None)


def _json_seconds(record: dict[str, Any]) -> float | None:
    """How long a request took: seconds, milliseconds or nanoseconds, by the name of the entry."""
    for name, factor in (
        ("request_time", 1.0),
        ("duration", 1e-3),
        ("duration_ms", 1e-3),
        ("latency_ms", 1e-3),
        ("Duration", 1e-9),
    ):
        value = _number(str(record.get(name, "")).encode())
        if value is not None:
            return value * factor
    return None


def _tgi(line: bytes) -> AccessLine | None:
    """``… total_time="2.1s" … Success`` of text-generation-inference."""
    if b"text_generation_router" not in line or b"total_time=" not in line:
        return None
    return AccessLine(200, "/generate", seconds=_span(_named(line).get(b"total_time", b"")))


def _llama(line: bytes) -> AccessLine | None:
    """``srv  log_server_r: request: POST /v1/chat/completions 127.0.0.1 200`` of llama.cpp."""
    found = _LLAMA.search(line) if b"log_server_r" in line else None
    return AccessLine(int(found.group(2)), _text(found.group(1))) if found is not None else None


_LONG_SPAN = re2.compile(rb"^(?:(\d+)h)?(?:(\d+)m)?(?:([\d.]+)s)?$")


def _gin(line: bytes) -> AccessLine | None:
    """``[GIN] … | 200 |  1m28s | 10.1.1.85 | POST "/api/generate"`` of Ollama and other programs in Go."""
    found = _GIN.search(line) if b"[GIN]" in line else None
    if found is None:
        return None
    status, took, path = found.groups()
    return AccessLine(int(status), _text(path), seconds=_long_span(took))


def _long_span(text: bytes) -> float | None:
    """Seconds of ``1h2m5s``, ``1m28s`` or what has one unit."""
    found = _LONG_SPAN.search(text)
    if found is None:
        return _span(text)
    hours, minutes, seconds = (_number(part or b"0") or 0.0 for part in found.groups())
    return hours * 3600.0 + minutes * 60.0 + seconds


def _alb(line: bytes) -> AccessLine | None:
    """Access logs of an AWS load balancer."""
    found = _ALB.search(line)
    if found is None:
        return None
    target, before, inside, after, status, sent, path = found.groups()
    flags = {460: "DC", 504: "UT", 502: "UC"}.get(int(status), "UH" if int(status) == 503 and target == b"-" else "")
    seconds = sum(max(float(part), 0.0) for part in (before, inside, after))
    return AccessLine(int(status), _text(path), flags, seconds, _address(target), sent=int(sent))


_PARSERS: tuple[Callable[[bytes], AccessLine | None], ...] = (
    _envoy, _uvicorn, _tgi, _router, _json, _nginx, _haproxy, _llama, _gin, _alb,
)  # fmt: skip
_UPSTREAM_KEYS = (b"worker", b"api_base", b"upstream", b"upstream_addr", b"backend", b"worker_url")


def _named(text: bytes) -> dict[bytes, bytes]:
    return {key: quoted or bare for key, quoted, bare in _PAIRS.findall(text)}


def _seconds_of(pairs: dict[bytes, bytes]) -> float | None:
    """How long a request took, by the usual names; milliseconds by name, else by the unit that is written with it."""
    for key in (b"duration_ms", b"latency_ms"):
        value = _number(pairs.get(key, b"").rstrip(b","))
        if value is not None:
            return value / 1000.0
    spans = (
        _span(pairs[key].rstrip(b",")) for key in (b"request_time", b"rt", b"latency", b"duration", b"elapsed") if key in pairs
    )
    return next((span for span in spans if span is not None), None)


def _span(text: bytes) -> float | None:
    """Seconds of ``12.5ms``."""
    found = _SPAN.search(text)
    value = _number(found.group(1)) if found is not None else None
    return value * _SPAN_UNITS[found.group(2)] if value is not None else None


def _upstream_of(pairs: dict[bytes, bytes]) -> str:
    return _address(next((pairs[key] for key in _UPSTREAM_KEYS if key in pairs), b""))


def _id_of(pairs: dict[bytes, bytes]) -> str:
    return _text(next((pairs[key] for key in (b"request_id", b"req_id", b"x_request_id") if key in pairs), b""))


def _address(value: bytes) -> str:
    """``host:port`` of an address with or without scheme and path; empty for ``-``."""
    bare = value.rpartition(b"://")[2].partition(b"/")[0].strip(b'"')
    return "" if bare in {b"-", b""} else _text(bare)


def _retries(text: bytes) -> int:
    found = _RETRY.search(text) if b"count" in text else None
    if found is None:
        return 0
    retries, attempts = found.groups()
    return min(int(retries[:6]), 1000) if retries else max(0, min(int(attempts[:6]), 1000) - 1)


def _number(text: bytes) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0.0 <= value < 1e12 else None


def _whole(text: bytes) -> int | None:
    return int(text) if text.isdigit() and len(text) < 18 else None


def _text(value: bytes) -> str:
    return value[:200].decode("utf-8", "replace")

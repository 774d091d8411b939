"""Access logs of gateways and of engines' front ends, line by line."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache

from triage.classes import dataclass
from triage.ingest.logs.access_words import flags_of_words, seconds_of, seconds_of_first, seconds_of_whole, short_flags
from triage.ingest.logs.durations import span
from triage.ingest.logs.forms import flattened, json_object
from triage.patterns import Pattern

IDLE_RESET = 0.05
"""Seconds. A request on a connection that the other side has just closed fails within a round trip; a cut answer ran longer."""


_CUT = frozenset({"UT", "SI", "DT", "UC", "UR", "LR", "UPE"})
"""Flags of an answer that the proxy or the engine ends in the middle: of a stream the line has the status of its begin, 200."""


@dataclass(frozen=True, slots=True)
class AccessLine:
    """One request as a proxy or server logged it. Texts are as they stand in the line: clean them before they are kept.

    :param status: HTTP status; 0 if no answer was ever begun
    :param flags: Envoy's response flags, or those that another program's words stand for; ``UX`` for a connection that failed at
        once, of which the line does not say whether it was refused or had been open and was closed
    :param seconds: how long it took; None if the line does not say
    :param upstream: address that it was sent to; empty if none was found or named
    :param request_id: id of the request; the same for each attempt if the client or proxy keeps it
    :param retry: which repetition it is (0: the first attempt)
    :param sent: bytes of the answer; None if the line does not say
    :param starts: the line's stamp is when the request came, not when it ended
    :param why: what the proxy says, in words of its own, of how it ended; empty if it says nothing
    :param asked: model that the client named, and ``served`` the one that answered; empty if the line does not name both
    :param usage: what the line counts of the answer: by signal, tokens or seconds
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
    why: str = ""
    asked: str = ""
    served: str = ""
    usage: tuple[tuple[str, float], ...] = ()

    @property
    def failed(self) -> bool:
        """Whether the request was not answered as asked, or its answer was cut after it had begun."""
        return self.status >= 400 or self.status < 100 or (bool(self.flags) and not _CUT.isdisjoint(self.flags.split(",")))

    @property
    def is_probe(self) -> bool:
        """Whether this asks for health or metrics rather than for an answer."""
        return _is_probe(self.path)

    @property
    def asks_for_health(self) -> bool:
        """Whether this asks whether the server is well, as a balancer or a cluster does and a browser or a scraper does not."""
        return _HEALTH.search(self.path) is not None


_PROBES = Pattern(r"(?i)^/(?:\w+/)*(?:health\w*|live\w*|ready\w*|ping|metrics|status|version|favicon\.ico)(?:[/?].*)?$")

_HEALTH = Pattern(r"(?i)^/(?:\w+/)*(?:health\w*|live\w*|ready\w*|ping)(?:[/?].*)?$")


@lru_cache(maxsize=4096)
def _is_probe(path: str) -> bool:
    return _PROBES.search(path) is not None


_ENVOY = Pattern(rb'^\[[^\]]+\] "(\S+) (\S+)[^"]*" (\d{1,3}) ([A-Za-z,]+|-) (.*)$')
_ENVOY_NUMBERS = Pattern(rb"(?:^| )(\d+) (\d+) (\d+) (\d+|-)(?: |$)")
_QUOTED = Pattern(rb'"([^"]*)"')
_NGINX = Pattern(rb'^\S+ \S+ \S+ \[[^\]]+\] "(\S+) (\S+)[^"]*" (\d{3}) (\d+|-)(?: "[^"]*" "([^"]*)")?(.*)$')
_LIST = rb"([^\s,]+(?:, [^\s,]+)*)"
_INGRESS = Pattern(rb"^ (\d+) ([\d.]+) \[[^\]]*\] \[[^\]]*\] " + b" ".join([_LIST] * 4) + rb" (\S+)")
_TRAEFIK = Pattern(rb'^ \d+ "([^"]*)" "([^"]*)" (\d+)ms')
_ASKED = rb'(\S+) (\S+) HTTP/[\d.]+" (\d{3})(?: [A-Z][A-Za-z\'-]*)*(.*)$'
_UVICORN = Pattern(rb'(?:^|: +)\S+:\d+ - "' + _ASKED)
_UVICORN_ASKED = Pattern(b"^" + _ASKED)
_UVICORN_CLIENT = Pattern(rb"(?:^|: +)\S+:\d+$")
_HAPROXY = Pattern(
    rb"\] \S+ (\S+)/(\S+) (?:-?\d+/){4}\+?(-?\d+) (-?\d{1,3}) \+?(\d+) \S+ \S+ (\S)(\S)\S\S (?:.*\"\S+ (\S+)[^\"]*\")?"
)
_LLAMA = Pattern(rb"log_server_r\w*: +(?:done )?request: \S+ (\S+) \S+ (\d{3})")
_ALB = Pattern(
    rb"^(?:https?|h2|grpcs?|wss?) \S+ \S+ \S+ (\S+) (-?[\d.]+) (-?[\d.]+) (-?[\d.]+) (\d{3}) \S+ \d+ (\d+) "
    rb'"\S+ (?:https?://[^/]+)?(\S+)'
)
_GIN = Pattern(rb"\| +(\d{3}) \| +(\S+) \| +\S+ \| [A-Z]+ +\"([^\"]*)\"")
_PAIRS = Pattern(rb'(?:^|[\s{(\[,;])([A-Za-z_][\w.-]*)=(?:"([^"]*)"|([^\s}]+))')
_UUID = Pattern(rb"^[0-9a-fA-F]{8}-[0-9a-fA-F][0-9a-fA-F-]{3,}$|^[0-9a-fA-F]{32}$")
_ADDRESS = Pattern(rb"^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-fA-F:]+\]|[\w-]+(?:\.[\w-]+)*):\d{2,5}$")
_RETRY = Pattern(rb"(?i)retry[-_]count[\"\']?[=:]\s*[\"\']?(\d+)|attempt[-_]count[\"\']?[=:]\s*[\"\']?(\d+)")


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
    why = _details(rest[: numbers.start()])
    return AccessLine(
        status=int(status),
        path=_text(path),
        flags=short_flags(_text(flags)) or flags_of_words(why),
        seconds=int(numbers.group(3)) / 1000.0,
        upstream=_envoy_upstream(quoted),
        request_id=_text(next((one for one in quoted if _UUID.search(one)), b"")),
        retry=_retries(rest),
        agent=_text(quoted[1] if len(quoted) >= 5 else next((one for one in quoted if b"/" in one or b" " in one), b"")),
        sent=int(numbers.group(2)),
        starts=True,
        why=why,
    )


def _details(text: bytes) -> str:
    """Envoy's reasons, which stand between flags and sizes; that an answer came from upstream is none."""
    words = (one.strip(b'"') for one in text.split())
    return _text(b" ".join(one for one in words if one not in {b"-", b"", b"via_upstream"}))


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
    ingress, traefik = _INGRESS.search(rest), _TRAEFIK.search(rest)
    if traefik is not None:
        router, upstream, millis = traefik.groups()
        flags = _nginx_flags(int(status), None if upstream in {b"", b"-"} else int(millis) / 1e3, upstream.strip(b"-"))
        return AccessLine(
            int(status), _text(path), "UH" if router != b"-" and upstream in {b"", b"-"} and status == b"503" else flags,
            int(millis) / 1e3, _address(upstream), agent=_text(agent or b""), sent=_whole(sent),
        )  # fmt: skip
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
        seconds=_number(seconds),
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
        return _at_once(waited)
    return ""


def _at_once(waited: float | None) -> str:
    """A broken connection after how long nobody answered: refused, lost while it ran, or one of both (``UX``) if at once."""
    if not waited:
        return "UF"
    return "UX" if waited <= IDLE_RESET else "UC"


def _uvicorn(line: bytes) -> AccessLine | None:
    """``INFO:     1.2.3.4:5 - "POST /path HTTP/1.1" 200 OK``, LiteLLM's pairs behind it."""
    client, mark, asked = line.partition(b' - "')
    if not mark:
        return None
    if b' - "' in asked or len(asked) > _SHORT:
        found = _UVICORN.search(line)
        return None if found is None else _of_uvicorn(*found.groups())
    request = _uvicorn_asked(asked)
    return request if request is not None and _is_client(client) else None


_SHORT = 256

_MOST = 1024
"""Of so many ways of asking is known what they say: a path may hold an id."""


@lru_cache(maxsize=_MOST)
def _uvicorn_asked(asked: bytes) -> AccessLine | None:
    """What stands behind the client: ports differ from line to line, and what is asked hardly does."""
    found = _UVICORN_ASKED.search(asked)
    return None if found is None else _of_uvicorn(*found.groups())


def _of_uvicorn(_method: bytes, path: bytes, status: bytes, rest: bytes) -> AccessLine:
    return _from_pairs(int(status), _text(path), _named(rest))


def _is_client(text: bytes) -> bool:
    """Whether a text ends with an address and a port, alone or behind a colon and blanks."""
    return _is_usual_client(text) or _UVICORN_CLIENT.search(text) is not None


def _is_usual_client(text: bytes) -> bool:
    """Whether a text is ``INFO:     1.2.3.4:5``, as nearly all are."""
    host, _, port = text[5:].lstrip(b" ").partition(b":")
    return text[:6] == b"INFO: " and bool(host) and port.isdigit() and not host.translate(None, b"0123456789.")


class Alike:
    """Requests in uvicorn's own form, of which nearly all lines of an engine's log are: what is asked is read once, whoever asks.

    Such a line has no stamp and nothing around it, and which address and port it begins with decides nothing.
    """

    def __init__(self) -> None:
        self._requests: dict[bytes, AccessLine] = {}

    def read(self, line: bytes) -> AccessLine | None:
        """The request of a line that is like one before; None if none was."""
        client, _, asked = line.partition(b' - "')
        request = self._requests.get(asked)
        return request if request is not None and _is_usual_client(client) else None

    def keep(self, line: bytes, request: AccessLine) -> None:
        """Keeps what a line without a stamp asks, if it has that form."""
        client, mark, asked = line.partition(b' - "')
        if mark not in asked and len(asked) <= _SHORT and len(self._requests) < _MOST and _is_usual_client(client):
            self._requests[asked] = request


def _router(line: bytes) -> AccessLine | None:
    """``… path=… worker=http://… status=499 latency_ms=120000``, ``http_request{method=POST uri=… status_code=502 …}``."""
    if b"status" not in line or b"=" not in line:
        return None
    pairs = _named(line)
    status = next((whole for key in _STATUS_KEYS if (whole := _whole(pairs.get(key, b""))) is not None), None)
    if status is None or status > 999 or _seconds_of(pairs) is None:
        return None
    told = _BODY.search(line) if status >= 400 else None
    return _from_pairs(status, _path_of(pairs), pairs, _text(told.group(1)) if told is not None else "")


_BODY = Pattern(rb'"(?:message|detail|reason)": ?"([^"\\]{3,200})')
"""What a body says that is told beside the status: OpenAI's form and FastAPI's."""


def _from_pairs(status: int, path: str, pairs: dict[bytes, bytes], why: str = "") -> AccessLine:
    upstream, seconds = _upstream_of(pairs), _seconds_of(pairs)
    named = any(key in pairs for key in _UPSTREAM_KEYS)
    why = why or _text(next((pairs[key] for key in _WHY_KEYS if key in pairs), b""))
    flags = ""
    if status == 499:
        flags = "DC"
    elif status in {408, 504}:
        flags = "UT"
    elif status >= 500:
        flags = flags_of_words(why)
    if not flags and status in {502, 503} and named:
        flags = _router_flags(status, upstream, seconds, reused=_is_reused(pairs))
    retries = _whole(pairs.get(b"retries", b"")) or 0
    fields = {_text(key): _text(value) for key, value in pairs.items() if any(part in key for part in _TELLING)}
    asked, served = _models(fields)
    return AccessLine(
        status, path, flags, seconds, upstream, _id_of(pairs), retries, "", None,
        why=why, asked=asked, served=served, usage=_usage(fields),
    )  # fmt: skip


_TELLING = (b"ode", b"ok", b"tft", b"ool", b"luster", b"eploy")
"""Parts of the names of models, tokens, first tokens and sets of servers."""


def _is_reused(pairs: dict[bytes, bytes]) -> bool:
    """Whether a proxy says that it sent a request on a connection that was open already."""
    return any(b"reuse" in key.lower() and value.lower() in {b"true", b"yes", b"1"} for key, value in pairs.items())


def _router_flags(status: int, upstream: str, seconds: float | None, *, reused: bool) -> str:
    """A router that found nobody, could not connect, or lost the connection."""
    if not upstream:
        return "UH"
    if seconds is not None and not reused and seconds <= IDLE_RESET:
        return "UX"
    return "UC" if status == 502 else ""


def _haproxy(line: bytes) -> AccessLine | None:
    """HAProxy's HTTP log; its first termination letter says who ended the request, its second in which phase."""
    found = _HAPROXY.search(line) if b"] " in line else None
    if found is None:
        return None
    _, server, millis, status, sent, ended, phase, path = found.groups()
    flags = {b"C": "DC", b"c": "DC", b"S": "UC", b"s": "UT", b"P": "UO"}.get(ended, "")
    if phase == b"Q" and flags == "UT":
        flags = "QT"
    elif server == b"<NOSRV>" and flags != "DC":
        flags = "UH"
    elif phase == b"C" and flags in {"UC", "UT"}:
        flags = "UF"
    upstream = "" if server == b"<NOSRV>" else _text(server)
    seconds = max(int(millis), 0) / 1000.0
    return AccessLine(max(int(status), 0), _text(path or b""), flags, seconds, upstream, sent=int(sent))


def _json(line: bytes) -> AccessLine | None:
    """A line of JSON with the names that Envoy, nginx, Traefik, Caddy, Kong and programs of one's own use."""
    if line[:1] != b"{" or not any(word in line for word in (b"tatus", b'ode"')):
        return None
    record = json_object(line)
    if record is None:
        return None
    fields = {key.lstrip(":").replace("-", "_"): value for key, value in flattened(record)}
    path = _said(fields, *_JSON_PATH)
    status = _whole(_said(fields, *_JSON_STATUS).encode())
    if status is None and path:
        status = _status_by_word(fields)
    seconds = _json_seconds(fields)
    usage = _usage(fields)
    if status is None or not 0 <= status <= 999 or (seconds is None and not path and not usage):
        return None
    upstream = _said(fields, *_JSON_UPSTREAM)
    asked, served = _models(fields)
    why = " ".join(value for name in _JSON_WHY if (value := _said(fields, name)) not in {"", "-", "null", "via_upstream"})
    flags = short_flags(_said(fields, "response_flags", "response_flags_long")) or (flags_of_words(why) if status >= 400 else "")
    if not flags:
        flags = _nginx_flags(status, seconds, upstream.strip("-").encode())
    return AccessLine(
        status=status,
        path=_path_in(path),
        flags=flags,
        seconds=seconds,
        upstream=_address(upstream.encode()),
        request_id=_said(fields, "request_id", "x_request_id", "requestId", "req_id"),
        retry=_whole(_said(fields, "retry_count", "retries", "RetryAttempts").encode()) or 0,
        agent=_said(fields, "user_agent", "http_user_agent", "request_User_Agent"),
        sent=_whole(_said(fields, "bytes_sent", "body_bytes_sent", "DownstreamContentSize", "size", "bytes_out").encode()),
        starts="start_time" in fields,
        why=why[:200],
        asked=asked,
        served=served,
        usage=usage,
    )


_JSON_STATUS = (
    "response_code", "status", "status_code", "DownstreamStatus", "http_status", "response_status", "response.status",
    "res.statusCode", "statusCode",
)  # fmt: skip
_JSON_PATH = (
    "x_envoy_origin_path", "x_envoy_original_path", "path", "uri", "request_uri", "RequestPath", "request.uri", "request.path",
    "req.url", "request_path", "http.path", "url", "request",
)  # fmt: skip
_JSON_UPSTREAM = ("upstream_host", "upstream_addr", "upstream", "ServiceAddr", "worker", "worker_url", "backend", "upstream_uri")
_JSON_WHY = (
    "response_code_details", "connection_termination_details", "upstream_transport_failure_reason", "error", "err", "err.message",
    "error.message", "error_message",
)  # fmt: skip


def _status_by_word(fields: Mapping[str, str]) -> int | None:
    """The status of an answer under another name that ends in status or code."""
    for name, value in fields.items():
        if len(value) == 3 and _STATUS_FIELD.search(name) and (status := _whole(value.encode())) and 100 <= status <= 599:
            return status
    return None


_STATUS_FIELD = Pattern(r"(?i)(?:^|[._]|[a-z])(?:status|code)$")


def _models(fields: Mapping[str, str]) -> tuple[str, str]:
    """The model that a line says was asked for, and the one that answered; both empty if it does not name both.

    Where it names no other model, the pool that the request was sent to answered: whose requests come there is counted.
    """
    told: dict[str, str] = {}
    for name, value in fields.items():
        which = _names_model(name)
        if which and value not in {"", "-", "null", "none", "None"}:
            told.setdefault(which, value[:200])
    asked, served = told.get("asked") or told.get("either", ""), told.get("served") or told.get("pool", "")
    return (asked, served) if asked and served else ("", "")


@lru_cache(maxsize=4096)
def _names_model(field: str) -> str:
    """Which model a field names, by the words of its own name: ``asked`` or ``served``, ``either``, or none at all.

    ``pool`` if it names a set of servers.
    """
    if not _MODEL.search(field):
        return "pool" if _POOL.search(field) else ""
    return (
        "served"
        if _SERVED.search(field)
        else "asked"
        if _ASKED_FOR.search(field)
        else "either"
        if _BARE_MODEL.search(field)
        else ""
    )


_MODEL = Pattern(r"(?i)(?:^|[._-]|[a-z])model(?:$|[._-]|group|name|used|requested|served|Used|Requested|Served)")
_SERVED = Pattern(r"(?i)upstream|serv(?:ed|ing)|respon(?:se|ded)|backend|routed|target|actual|used|resolved|selected|answer")
_ASKED_FOR = Pattern(r"(?i)request|asked|original|wanted|client")
_POOL = Pattern(r"(?i)(?:^|[._])(?:(?:upstream|backend|target)[._]?)?(?:cluster|pool|deployment)(?:[._]?name)?$")
_BARE_MODEL = Pattern(r"(?i)^(?:model|model_group|model_name)$")


def _usage(fields: Mapping[str, str]) -> tuple[tuple[str, float], ...]:
    """What a line counts of its answer, as answers of models do (``usage.prompt_tokens``), and when its first token came."""
    told: dict[str, float] = {}
    for name, value in fields.items():
        signal = _counts_usage(name)
        if (
            signal
            and (number := seconds_of_first(name, value) if signal == "gateway.ttft" else _number(value.encode())) is not None
        ):
            told.setdefault(signal, number)
    return tuple(sorted(told.items()))


@lru_cache(maxsize=4096)
def _counts_usage(field: str) -> str:
    """The signal that a field gives a value of, by its name; empty for most."""
    return next((signal for signal, pattern in _USAGE if pattern.search(field)), "")


_USAGE = tuple(
    (signal, Pattern(pattern))
    for signal, pattern in (
        ("gateway.cached_tokens", r"(?i)(?:^|[._])(?:cached|cache_read)_?(?:prompt_|input_)?_?tokens$"),
        ("gateway.prompt_tokens", r"(?i)(?:^|[._])(?:prompt|input)_?tokens$"),
        ("gateway.output_tokens", r"(?i)(?:^|[._])(?:completion|output|generated)_?tokens$"),
        ("gateway.ttft", r"(?i)(?:^|[._])(?:ttft|time_?to_?first_?token)(?:_?(?:ms|millis|s|secs?|seconds))?$"),
    )
)


def _path_in(text: str) -> str:
    """The path of a URL or of a request's first line."""
    found = _URL_PATH.search(text)
    return found.group(1) if found is not None else ""


_URL_PATH = Pattern(r"(?:^|^[A-Z]+ |://[^/\s]+)(/[^\s\"]*)")


def _said(fields: Mapping[str, str], *names: str) -> str:
    """The first of these entries that is there."""
    return next((fields[name] for name in names if fields.get(name)), "")[:200]


def _json_seconds(fields: Mapping[str, str]) -> float | None:
    """How long a request took: by the unit in name or value; a whole number without any counts milliseconds, another seconds.

    nginx's ``request_time`` is in seconds, Traefik's ``Duration`` in nanoseconds, ``responseTime`` of JavaScript in milliseconds.
    """
    for name, value in fields.items():
        bare = _BARE.get(name, 1.0 if "." in value else 1e-3)
        seconds = seconds_of(name, value, bare)
        if seconds is not None and not name.startswith("upstream"):
            return seconds
    return None


_BARE = {"request_time": 1.0, "Duration": 1e-9, "responseTime": 1e-3}


def _tgi(line: bytes) -> AccessLine | None:
    """``… total_time="2.1s" … Success`` of text-generation-inference."""
    if b"text_generation_router" not in line or b"total_time=" not in line:
        return None
    return AccessLine(200, "/generate", seconds=span(_text(_named(line).get(b"total_time", b""))))


def _llama(line: bytes) -> AccessLine | None:
    """``srv  log_server_r: request: POST /v1/chat/completions 127.0.0.1 200`` of llama.cpp."""
    found = _LLAMA.search(line) if b"log_server_r" in line else None
    return AccessLine(int(found.group(2)), _text(found.group(1))) if found is not None else None


def _gin(line: bytes) -> AccessLine | None:
    """``[GIN] … | 200 |  1m28s | 10.1.1.85 | POST "/api/generate"`` of Ollama and other programs in Go."""
    found = _GIN.search(line) if b"[GIN]" in line else None
    if found is None:
        return None
    status, took, path = found.groups()
    return AccessLine(int(status), _text(path), seconds=span(_text(took)))


def _alb(line: bytes) -> AccessLine | None:
    """Access logs of an AWS load balancer."""
    found = _ALB.search(line)
    if found is None:
        return None
    target, before, inside, after, status, sent, path = found.groups()
    flags = {460: "DC", 504: "UT", 502: "UC"}.get(int(status), "UH" if int(status) == 503 and target == b"-" else "")
    seconds = sum(_number(part) or 0.0 for part in (before, inside, after))
    return AccessLine(int(status), _text(path), flags, seconds, _address(target), sent=int(sent))


_REQUEST = Pattern(
    rb"(?:^|[\s\"'\[(=])(?:GET|POST|PUT|DELETE|PATCH|HEAD|OPTIONS) +(?:https?://[^/\s\"]+)?(/[^\s\"'`,;)\]]*)[\"'`]?(.*)$"
)
_ANSWERED = Pattern(
    rb"(?i)^(?: ?HTTP/[\d.]+\"?)?(?:[ |:,\"-]*|.*?(?:->|=>|\x{e2}\x{86}\x{92}|\b(?:returned|responded(?: with)?|answered"
    rb"(?: with)?|completed|finished|status(?:[ _]?code)?|code|response))[ =:]*(?:with |status |code )*)\"?([1-5]\d\d)\b(.*)$"
)
_TOOK = Pattern(rb"(?:^|[ (\[=])([\d.]+ ?(?:ms|s|\x{c2}\x{b5}s|us))\b")


def _spoken(line: bytes) -> AccessLine | None:
    """``POST /path … -> 502``, ``"POST /path HTTP/1.1" 502 in 3.1s``, ``POST /path returned 502: words`` of any program."""
    found = _REQUEST.search(line) if b" /" in line or b"://" in line else None
    answered = _ANSWERED.search(found.group(2)) if found is not None else None
    if found is None or answered is None:
        return None
    status, rest = answered.groups()
    pairs = _named(line)
    read = _from_pairs(int(status), _text(found.group(1)), pairs, _words_after(rest))
    if read.seconds is not None:
        return read
    took = _TOOK.search(answered.group())
    return replace(read, seconds=span(_text(took.group(1)))) if took is not None else read


_UNANSWERED = Pattern(
    rb"(?i)^.*?(?:->|=>|\x{e2}\x{86}\x{92}|\b(?:failed|fails|raised|threw|ended|aborted|broke)\b|\b(?:error|exception)s?:)(.*)$"
)


def _unanswered(line: bytes) -> AccessLine | None:
    """``POST /path … -> Error: other side closed after 0.0s``: a request that ended without any status, in whatever words."""
    found = _REQUEST.search(line) if b" /" in line or b"://" in line else None
    ended = _UNANSWERED.search(found.group(2)) if found is not None else None
    if found is None or ended is None:
        return None
    why = _text(ended.group(1).strip())
    flags, took = flags_of_words(why), _TOOK.search(ended.group(1))
    if not flags:
        return None
    seconds = span(_text(took.group(1))) if took is not None else _seconds_of(_named(line))
    return AccessLine(0, _text(found.group(1)), flags, seconds, why=why)


def parse_call(line: bytes) -> AccessLine | None:
    """The call of a model's server that a line of some program tells of; None if it is another sort of line.

    Who calls says what it asked and how that ended, or counts what the answer cost and when it came: ``prompt_tokens=5956
    cached_tokens=0 ttft=0.59s total=2.68s``, the same as JSON.
    """
    for parse in (_httpx, _spoken, _unanswered):
        request = parse(line)
        if request is not None:
            return request if _SERVES_MODELS.search(request.path) is not None else None
    return _counted(line)


_HTTPX = Pattern(rb'\bHTTP Request: [A-Z]+ \S+?://[^/\s\"]+(/\S*) "HTTP/[\d.]+ (\d{3})')


def _httpx(line: bytes) -> AccessLine | None:
    """``HTTP Request: POST http://… "HTTP/1.1 200 OK"`` of httpx, with which most SDKs ask; a server that logs it asks others."""
    found = _HTTPX.search(line) if b"HTTP Request: " in line else None
    return AccessLine(int(found.group(2)), _text(found.group(1))) if found is not None else None


_SERVES_MODELS = Pattern(r"/(?:completions?|embeddings?|generate(?:_stream)?|messages|responses|rerank|score|chat|infer)\b")
"""Routes of servers of models that are asked for answers."""


def _counted(line: bytes) -> AccessLine | None:
    """What an answer cost and when it came, of a line that counts its tokens."""
    if b"okens" not in line:
        return None
    record = json_object(line) if line[:1] == b"{" else None
    fields = (
        {_text(key): _text(value) for key, value in _named(line).items()}
        if record is None
        else {key.replace("-", "_"): value for key, value in flattened(record)}
    )
    if any(fields.get(_text(key), "") not in _NOTHING for key in _WHY_KEYS):
        return None
    usage = _usage(fields)
    seconds = next((one for name, value in fields.items() if (one := seconds_of_whole(name, value)) is not None), None)
    counts = sum(signal.endswith("_tokens") for signal, _ in usage)
    if not counts or counts + (seconds is not None) + (len(usage) > counts) < _ENOUGH:
        return None
    return AccessLine(200, seconds=seconds, usage=usage)


_NOTHING = frozenset({"", "-", "null", "None", "none", "false"})

_ENOUGH = 2
"""Of an answer a line counts tokens and says when it came, or counts several sorts of tokens."""


def _words_after(rest: bytes) -> str:
    """What is said behind a status, without its own phrase (``Bad Gateway``), times and pairs."""
    _, colon, words = rest.partition(b": ")
    return _text(words.strip()) if colon and b" " in words.strip() else ""


_PARSERS: tuple[Callable[[bytes], AccessLine | None], ...] = (
    _envoy, _uvicorn, _tgi, _router, _json, _nginx, _haproxy, _llama, _gin, _alb, _spoken,
)  # fmt: skip
_UPSTREAM_KEYS = (b"worker", b"api_base", b"upstream", b"upstream_addr", b"backend", b"worker_url", b"upstream_host", b"target")
_STATUS_KEYS = (b"status", b"status_code", b"response_status", b"http_status", b"response_code")
_WHY_KEYS = (b"error", b"err", b"reason", b"error_message")


def _named(text: bytes) -> dict[bytes, bytes]:
    return {key: quoted or bare for key, quoted, bare in _PAIRS.findall(text)}


def _seconds_of(pairs: dict[bytes, bytes]) -> float | None:
    """How long a request took, by the usual names; what went on upstream alone is not it."""
    spans = (seconds_of(_text(key), _text(value)) for key, value in pairs.items() if b"upstream" not in key)
    return next((one for one in spans if one is not None), None)


def _path_of(pairs: dict[bytes, bytes]) -> str:
    return _path_in(_text(next((pairs[key] for key in (b"path", b"uri", b"url", b"route") if key in pairs), b"")))


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

"""Access lines of gateways and engines, and what many of them say together."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.ingest.logs import access_log
from triage.ingest.logs.access_log import AccessLine, parse_access
from triage.ingest.logs.access_summary import GRID, AccessSummary
from triage.model.recording import Event, Subject, Window
from triage.model.vocabulary import Scope, catalogue

WINDOW = Window(10_000.0, 11_200.0, 9_000.0)
GATEWAY = Subject(Scope.GATEWAY, "gateway")

FORMS = {
    "envoy": (
        (
            '[2026-09-16T13:00:38.250Z] "POST /v1/chat/completions HTTP/1.1" 503 UF 154 0 226 100 "10.0.35.28" "nsq2http" '
            '"cc21d9b0-cf5c-432b-8c7e-98aeb7988cd2" "llm.example" "10.0.2.1:8000"'
        ),
        AccessLine(
            503,
            "/v1/chat/completions",
            "UF",
            0.226,
            "10.0.2.1:8000",
            "cc21d9b0-cf5c-432b-8c7e-98aeb7988cd2",
            0,
            "nsq2http",
            0,
            True,
        ),
    ),
    "envoy, short, with retries": (
        (
            '[2026-09-15T13:55:30.563Z] "POST /v1/chat/completions HTTP/1.1" 0 DC 2495 0 24000 24000 '
            '"10.1.1.1:8000" "OpenAI/1.109" '
            '"21090ac1-9216" retry-count="3"'
        ),
        AccessLine(0, "/v1/chat/completions", "DC", 24.0, "10.1.1.1:8000", "21090ac1-9216", 3, "OpenAI/1.109", 0, True),
    ),
    "istio": (
        (
            '[2026-01-01T00:00:00.000Z] "GET /v1/models HTTP/1.1" 503 UC upstream_reset{connection_termination} - "-" '
            '0 95 3 - "-" "curl/7.73" "84961386-6d84-929d-98bd-c5aee93b5c88" "llm:8000" "10.1.2.3:8000" in|8000|| 127.0.0.6:1'
        ),
        AccessLine(
            503,
            "/v1/models",
            "UC",
            0.003,
            "10.1.2.3:8000",
            "84961386-6d84-929d-98bd-c5aee93b5c88",
            0,
            "curl/7.73",
            95,
            True,
            "upstream_reset{connection_termination}",
        ),
    ),
    "envoy json": (
        (
            '{"start_time":"2026-01-01T00:00:00Z","response_code":504,"response_flags":"UT","duration":60001,'
            '"upstream_host":"10.1.1.1:8000",'
            '"path":"/v1/completions","request_id":"abcd","user_agent":"x","bytes_sent":24}'
        ),
        AccessLine(504, "/v1/completions", "UT", 60.001, "10.1.1.1:8000", "abcd", 0, "x", 24, True),
    ),
    "ingress-nginx": (
        (
            '10.68.9.34 - - [28/Oct/2026:18:58:24 +0000] "POST /v1/chat/completions HTTP/1.1" 504 0 '
            '"-" "OpenAI/1.109" 8220 60.000 '
            "[llm-llm-prod-8000] [] 10.69.43.204:8000 0 60.000 504 73696360-e1bc"
        ),
        AccessLine(504, "/v1/chat/completions", "UT", 60.0, "10.69.43.204:8000", "73696360-e1bc", 0, "OpenAI/1.109", 0),
    ),
    "ingress-nginx that tried twice": (
        (
            '10.1.1.1 - - [28/Oct/2026:18:58:24 +0000] "POST /x HTTP/1.1" 502 0 "-" "py" 8220 0.004 '
            "[a] [] 10.0.0.1:80, 10.0.0.2:80 0, 0 "
            "0.001, 0.003 502, 502 abc"
        ),
        AccessLine(502, "/x", "UX", 0.004, "10.0.0.2:80", "abc", 1, "py", 0),
    ),
    "nginx with pairs": (
        '10.0.0.1 - - [16/Sep/2026:13:00:38 +0000] "POST /x HTTP/1.1" 499 0 "-" "py" rt=30.001 urt=30.001 upstream=10.1.1.1:8000',
        AccessLine(499, "/x", "DC", 30.001, "10.1.1.1:8000", "", 0, "py", 0),
    ),
    "uvicorn": (
        'INFO:     10.111.7.4:46305 - "POST /v1/chat/completions HTTP/1.1" 400 Bad Request',
        AccessLine(400, "/v1/chat/completions"),
    ),
    "uvicorn under SGLang": (
        '[2025-11-05 16:35:02] INFO:     172.18.0.1:45748 - "POST /generate HTTP/1.1" 200 OK',
        AccessLine(200, "/generate"),
    ),
    "litellm": (
        (
            'INFO:     10.1.9.34:1 - "POST /chat/completions HTTP/1.1" 429 Too Many Requests '
            "request_id=b0-ec api_base=http://-/v1 duration_ms=2"
        ),
        AccessLine(429, "/chat/completions", "", 0.002, "", "b0-ec"),
    ),
    "vllm-router": (
        (
            "2026-10-07T16:34:03.481Z  WARN vllm_router_rs::routers::http::router: request_id=27-6 "
            "method=POST path=/v1/completions "
            "worker=http://10.76.204.171:8000 status=503 latency_ms=3"
        ),
        AccessLine(503, "/v1/completions", "UX", 0.003, "10.76.204.171:8000", "27-6"),
    ),
    "vllm-router without a worker": (
        (
            "2026-10-07T16:34:03.481Z  WARN vllm_router_rs::x: request_id=27-6 path=/v1/completions "
            "worker=http://- status=503 latency_ms=0"
        ),
        AccessLine(503, "/v1/completions", "UH", 0.0, "", "27-6"),
    ),
    "router with units": (
        'INFO http_request: smg::otel: finished processing request path=/generate status=200 latency="1.5s"',
        AccessLine(200, "/generate", "", 1.5),
    ),
    "haproxy": (
        (
            "Feb  6 12:14:14 lb haproxy[14389]: 10.0.1.2:33317 [06/Feb/2026:12:14:14.655] http-in "
            "llm/srv1 10/0/30/-1/60009 504 2750 - - "
            'sH-- 1/1/1/1/0 0/0 "POST /x HTTP/1.1"'
        ),
        AccessLine(504, "/x", "UT", 60.009, "srv1", sent=2750),
    ),
    "haproxy, refused by the server": (
        (
            "Feb  6 12:14:14 lb haproxy[14389]: 10.0.1.2:33317 [06/Feb/2026:12:14:14.655] http-in "
            "llm/srv1 0/0/-1/-1/3 503 217 - - "
            'SC-- 1/1/1/1/3 0/0 "POST /x HTTP/1.1"'
        ),
        AccessLine(503, "/x", "UF", 0.003, "srv1", sent=217),
    ),
    "haproxy, given up in the queue": (
        (
            "Feb  6 12:14:14 lb haproxy[14389]: 10.0.1.2:33317 [06/Feb/2026:12:14:14.655] http-in "
            "llm/<NOSRV> 0/60001/-1/-1/60001 503 217 - - "
            'sQ-- 212/212/208/0/0 0/88 "POST /x HTTP/1.1"'
        ),
        AccessLine(503, "/x", "QT", 60.001, "", sent=217),
    ),
    "aws": (
        (
            "h2 2026-09-16T13:00:38.186641Z app/my-lb 10.0.0.1:2817 10.0.0.2:8000 0.001 59.998 0.001 460 - 34 366 "
            '"POST https://llm.example:443/v1/completions HTTP/2.0" "py" - -'
        ),
        AccessLine(460, "/v1/completions", "DC", 60.0, "10.0.0.2:8000", sent=366),
    ),
    "text-generation-inference": (
        (
            '2026-01-01T00:00:00.000000Z  INFO chat_completions{total_time="2.5s" validation_time="1ms" queue_time="62.1µs"}: '
            "text_generation_router::server: router/src/server.rs:409: Success"
        ),
        AccessLine(200, "/generate", seconds=2.5),
    ),
    "envoy gateway json, with its own reason": (
        (
            '{":authority":"m.example","bytes_received":9,"bytes_sent":0,"duration":1250,"response_code":500,"response_flags":"-",'
            '"response_code_details":"ext_proc_error_gRPC_error_14{upstream_reset}","upstream_host":"10.1.1.1:8000",'
            '"user-agent":"py","x-envoy-origin-path":"/v1/rerank","x-request-id":"abcd","start_time":"2026-01-01T00:00:00Z"}'
        ),
        AccessLine(
            500, "/v1/rerank", "", 1.25, "10.1.1.1:8000", "abcd", 0, "py", 0, True, "ext_proc_error_gRPC_error_14{upstream_reset}"
        ),
    ),
    "envoy with flags in their long form": (
        (
            '{"start_time":"2026-01-01T00:00:00Z","response_code":503,"response_flags_long":"UpstreamOverflow","duration":0,'
            '"path":"/v1/completions"}'
        ),
        AccessLine(503, "/v1/completions", "UO", 0.0, starts=True),
    ),
    "envoy json with a reason instead of flags": (
        (
            '{"response_code":503,"response_code_details":"upstream_reset_before_response_started{connection_termination}",'
            '"duration":2,"upstream_host":"10.1.1.1:8000","path":"/v1/completions"}'
        ),
        AccessLine(
            503,
            "/v1/completions",
            "UC",
            0.002,
            "10.1.1.1:8000",
            why="upstream_reset_before_response_started{connection_termination}",
        ),
    ),
    "traefik": (
        (
            '10.0.3.1 - - [28/Oct/2026:18:58:24 +0000] "POST /v1/completions HTTP/1.1" 502 11 "-" "-" 7 "llm@kubernetes" '
            '"http://10.0.0.5:8000" 30001ms'
        ),
        AccessLine(502, "/v1/completions", "UC", 30.001, "10.0.0.5:8000", agent="-", sent=11),
    ),
    "traefik json": (
        (
            '{"DownstreamStatus":504,"Duration":60000123456,"RequestPath":"/v1/completions","ServiceAddr":"10.0.0.5:8000",'
            '"RetryAttempts":2,"level":"info","msg":""}'
        ),
        AccessLine(504, "/v1/completions", "UT", 60.000123456, "10.0.0.5:8000", retry=2),
    ),
    "caddy": (
        (
            '{"level":"error","ts":1790000000.1,"logger":"http.log.access","msg":"handled request","request":{"method":"POST",'
            '"uri":"/v1/completions"},"duration":0.0021,"size":0,"status":502}'
        ),
        AccessLine(502, "/v1/completions", "", 0.0021, sent=0),
    ),
    "kong": (
        (
            '{"request":{"uri":"/v1/completions","method":"POST"},"response":{"status":503},"latencies":{"request":12,"proxy":9},'
            '"upstream_uri":"/v1/completions"}'
        ),
        AccessLine(503, "/v1/completions", "", 0.012),
    ),
    "a gateway of one's own, in JSON": (
        (
            '{"level":"error","msg":"proxy","method":"POST","path":"/v1/completions","status":502,"upstream":"http://10.0.0.5:8000",'
            '"latency_ms":1.4,"error":"read tcp 10.0.0.1:4->10.0.0.5:8000: connection reset by peer"}'
        ),
        AccessLine(
            502,
            "/v1/completions",
            "UC",
            0.0014,
            "10.0.0.5:8000",
            why="read tcp 10.0.0.1:4->10.0.0.5:8000: connection reset by peer",
        ),
    ),
    "a gateway of one's own, in words": (
        "2026-01-01 00:00:00,1 ERROR px 77ab POST /v1/completions upstream=m-0 reused=true after=1.3ms -> 502",
        AccessLine(502, "/v1/completions", "UC", 0.0013, "m-0"),
    ),
    "a gateway of one's own, with a sentence": (
        "ERROR [px] POST http://m-0:8000/v1/completions returned 502 after 3.5s: Connection refused by m-0",
        AccessLine(502, "/v1/completions", "UF", 3.5, why="Connection refused by m-0"),
    ),
    "sglang's gateway": (
        (
            "2026-01-01 00:00:00 ERROR http_request{method=POST uri=/v1/completions version=HTTP/1.1 request_id=ab12 "
            "status_code=500 latency_us=2400}: smg::middleware: finished processing request"
        ),
        AccessLine(500, "/v1/completions", "", 0.0024, request_id="ab12"),
    ),
    "sglang's gateway, with the body that it answered": (
        (
            "2026-01-01 00:00:00 ERROR http_request{method=POST uri=/v1/completions version=HTTP/1.1 request_id=ab12}: "
            "sglang_router_rs::middleware: finished processing request status=503 Service Unavailable latency=212µs "
            'body={"error":{"type":"Service Unavailable","message":"No workers left"}}'
        ),
        AccessLine(503, "/v1/completions", "", 0.000212, request_id="ab12", why="No workers left"),
    ),
    "express": (
        "POST /v1/completions 504 60012.4 ms - 24",
        AccessLine(504, "/v1/completions", "UT", 60.0124),
    ),
    "llama.cpp": ("srv  log_server_r: request: POST /v1/chat/completions 127.0.0.1 500", AccessLine(500, "/v1/chat/completions")),
}


@pytest.mark.parametrize(("line", "expected"), FORMS.values(), ids=FORMS)
def test_forms(line: str, expected: AccessLine) -> None:
    """A request reads alike from every program's log."""
    read = parse_access(line.encode())
    assert read is not None
    assert read.seconds == (None if expected.seconds is None else pytest.approx(expected.seconds))
    assert read == AccessLine(**{name: getattr(expected, name) for name in AccessLine.__slots__} | {"seconds": read.seconds})


@pytest.mark.parametrize(
    "line",
    [
        "2026/10/28 18:58:24 [error] 31#31: *103032 upstream timed out (110: Operation timed out)",
        "INFO:     Application startup complete.",
        '{"status":"ok"}',
        '{"status": [1]}',
        '{"level":"info","status":"200"}',
        "2026-01-01 INFO px: POST /v1/completions sent to 10.0.0.1:8000",
        '2026/10/28 18:58:24 [error] 3#3: *9 recv() failed, client: 10.0.0.1, request: "POST /v1/x HTTP/1.1", host: "m"',
        'INFO HTTP Request: POST https://hub.example/api/models "HTTP/1.1 200 OK"',
        "[2026-09-16T13:00:38.250Z] POST",
        "",
    ],
)
def test_other_lines_are_no_requests(line: str) -> None:
    """Error lines, start-up lines and broken lines are not taken for requests."""
    assert parse_access(line.encode()) is None


@given(st.binary(max_size=300))
def test_nothing_breaks_the_parser(line: bytes) -> None:
    """Any bytes are a request or none."""
    read = parse_access(line)
    assert read is None or 0 <= read.status < 10**17


@given(st.sampled_from([line for line, _ in FORMS.values()]), st.integers(0, 300), st.binary(max_size=5))
def test_a_damaged_line_breaks_nothing(line: str, place: int, junk: bytes) -> None:
    """A line with bytes put in anywhere is read or refused, never an error."""
    data = line.encode()
    parse_access(data[:place] + junk + data[place:])


# ---------------------------------------------------------------- together


def events_of(lines: list[tuple[float, AccessLine]], subject: Subject = GATEWAY) -> dict[str, list[Event]]:
    summary = AccessSummary(subject, WINDOW, "gateway.log")
    for time, line in lines:
        summary.add(line, time)
    found: dict[str, list[Event]] = {}
    for event in summary.events():
        found.setdefault(event.name, []).append(event)
    return found


_PARTS = st.sampled_from(
    [
        *(
            "INFO:     ",
            "INFO: ",
            "INFO ",
            "",
            "x: ",
            ": ",
            "1.2.3.4",
            "fe80::1",
            "host",
            ":",
            "8000",
            " ",
            ' - "',
            "POST",
            "/v1/x",
        ),
        *(
            "HTTP/1.1",
            "HTTP/2",
            '"',
            "200",
            "404",
            "OK",
            "Not Found",
            "Bad ",
            "12x",
            "a=b",
            " latency_ms=120",
            " worker=http://w:1",
        ),
    ]
)
_LIKELY = st.tuples(*[_PARTS] * 6).map(lambda parts: 'INFO:     {}:{} - "{} {} HTTP/1.1" {} OK{}'.format(*parts))


@given(st.lists(_PARTS, max_size=9).map("".join) | _LIKELY)
def test_what_is_asked_is_read_apart_from_who_asks_as_if_at_once(line: str) -> None:
    """Uvicorn's lines are read in two parts, of which one is remembered; one pattern over the whole line says the same."""
    whole = access_log._UVICORN.search(line.encode())
    found = access_log._uvicorn(line.encode())
    assert (found is None) == (whole is None)
    if found is not None and whole is not None:
        assert (found.status, found.path) == (int(whole.group(3)), whole.group(2).decode())


def test_failures_at_one_duration() -> None:
    """Failures that all end at 60.0 s are a limit, and the flags say whose."""
    left = [(10_100.0 + n, AccessLine(0, "/v1/x", "DC", 59.96 + 0.02 * (n % 4), "a:1", sent=0)) for n in range(20)]
    (event,) = events_of(left)["constant-duration-failures"]
    assert (event.attrs["who"], event.attrs["seconds"], event.attrs["count"], event.attrs["share"]) == ("client", "60", "20", "1")
    assert event.time == 10_100.0
    proxy = [(10_100.0 + n, AccessLine(504, "/v1/x", "UT", 300.0)) for n in range(5)]
    assert events_of(proxy)["constant-duration-failures"][0].attrs["who"] == "proxy"


def test_people_who_leave_when_they_like_are_no_limit() -> None:
    """Clients that give up after all sorts of times make no constant duration."""
    left = [(10_100.0 + n, AccessLine(499, "/v1/x", "DC", 2.0 + 1.7 * n)) for n in range(30)]
    found = events_of(left)
    assert "constant-duration-failures" not in found
    assert found["client-left"][0].attrs["total"] == "30"


def test_a_request_that_starts_in_the_window_ends_later() -> None:
    """Envoy stamps the start, so a request counts when it ended."""
    lines = [
        (9_950.0, AccessLine(504, "/v1/x", "UT", 60.0, starts=True)),
        (11_190.0, AccessLine(504, "/v1/x", "UT", 60.0, starts=True)),
    ]
    assert events_of(lines * 3)["proxy-timeouts"][0].attrs["total"] == "3"


def test_the_same_request_again() -> None:
    """A request id that comes back is one request, and the pause between its comings is told."""
    lines = [
        (10_000.0 + 5 * n + 30 * again, AccessLine(499, "/v1/x", "DC", 30.0, request_id=f"id-{n}"))
        for n in range(10)
        for again in range(3)
    ]
    (event,) = events_of(sorted(lines, key=lambda one: one[0]))["repeated-request-ids"]
    assert (event.attrs["attempts"], event.attrs["most"], event.attrs["spacing"]) == ("3.00", "3", "30.0")
    assert event.time == 10_030.0


def test_retries_that_the_client_counts() -> None:
    """An excerpt in which every line is a repetition tells of as many attempts as it says."""
    lines = [(10_000.0 + n, AccessLine(0, "/v1/x", "DC", 24.0, retry=1 + n % 3)) for n in range(30)]
    assert events_of(lines)["repeated-request-ids"][0].attrs["attempts"] == "3.00"


def test_distinct_requests_are_not_repeated() -> None:
    """Requests with ids of their own are no repetition."""
    assert "repeated-request-ids" not in events_of(
        [(10_000.0 + n, AccessLine(200, "/v1/x", request_id=str(n))) for n in range(50)]
    )


def test_a_reset_of_an_idle_connection_is_told_from_a_cut_answer() -> None:
    """A reset within milliseconds is a dead connection; one after seconds cut a running answer."""
    idle = [(10_000.0 + 60 * n, AccessLine(503, "/v1/x", "UC", 0.002, "a:1", sent=0)) for n in range(4)]
    cut = [(10_500.0 + 0.1 * n, AccessLine(502, "/v1/x", "UC", 8.0, "b:1", sent=0)) for n in range(6)]
    found = events_of(idle + cut)
    assert [event.attrs["count"] for event in found["connection-reset-idle"]] == ["1"] * 4
    (burst,) = found["connection-reset-running"]
    assert (burst.attrs["count"], burst.attrs["upstream"], burst.attrs["upstream_share"]) == ("6", "b:1", "1")


def test_what_failed_at_once_is_told_by_who_answers_later() -> None:
    """A connection that failed at once was closed where the address answers afterwards, and refused where nobody does."""
    quick = [(10_000.0 + 60 * n, AccessLine(502, "/v1/x", "UX", 0.002, "alive:1")) for n in range(5)]
    quick += [(10_000.0 + 60 * n, AccessLine(502, "/v1/x", "UX", 0.002, "gone:1")) for n in range(4)]
    answered = [(9_990.0, AccessLine(200, "/v1/x", "", 1.0, name)) for name in ("alive:1", "gone:1")]
    found = events_of([*answered, *quick, (11_000.0, AccessLine(200, "/v1/x", "", 1.0, "alive:1"))])
    assert {(event.attrs["upstream"], event.attrs["total"]) for event in found["connection-reset-idle"]} == {("alive:1", "5")}
    assert {(event.attrs["upstream"], event.attrs["total"]) for event in found["connect-failures"]} == {("gone:1", "4")}


def test_one_event_per_burst() -> None:
    """Bursts of errors apart from each other stay apart, so that each can be laid beside what happened then."""
    lines = [
        (10_000.0 + 300 * burst + n, AccessLine(502, "/v1/x", "UC", 5.0, f"pod-{burst}:1"))
        for burst in range(4)
        for n in range(8)
    ]
    bursts = events_of(lines)["connection-reset-running"]
    assert [event.time for event in bursts] == [10_000.0, 10_300.0, 10_600.0, 10_900.0]
    assert {event.attrs["episodes"] for event in bursts} == {"4"}


def test_all_failures_at_one_address() -> None:
    """Failures to connect that are all at one address name it and its share."""
    lines = [(10_000.0 + n, AccessLine(503, "/v1/x", "UF", 0.003, "dead:8000")) for n in range(30)]
    lines += [(10_000.0 + n, AccessLine(200, "/v1/x", "", 3.0, "alive:8000")) for n in range(90)]
    (event,) = events_of(lines)["connect-failures"]
    assert (event.attrs["upstream"], event.attrs["upstream_share"], event.attrs["share"]) == ("dead:8000", "1", "0.25")
    assert "all at dead:8000" in event.text


@pytest.mark.parametrize(
    ("line", "name"),
    [
        (AccessLine(503, "/v1/x", "UO", 0.0), "circuit-overflow"),
        (AccessLine(503, "/v1/x", "UH", 0.001), "no-healthy-upstream"),
        (AccessLine(503, "/v1/x", "URX", 0.1), "retry-limit"),
        (AccessLine(504, "/v1/x"), "proxy-timeouts"),
        (AccessLine(401, "/v1/x"), "auth-refused"),
        (AccessLine(429, "/v1/x"), "load-refused"),
        (AccessLine(413, "/v1/x"), "requests-refused"),
        (AccessLine(500, "/v1/x"), "server-errors"),
    ],
)
def test_ways_to_fail(line: AccessLine, name: str) -> None:
    """Each way to fail has its name, and one or two failures say nothing yet."""
    assert list(events_of([(10_000.0, line)] * 3)) == [name]
    assert events_of([(10_000.0, line)] * 2) == {}


def test_a_stream_that_is_cut_has_failed_whatever_its_status() -> None:
    """The status was sent with the first token; the proxy's limit ended the answer at one duration."""
    lines = [(10_000.0 + 9 * n, AccessLine(200, "/v1/x", "UT", 15.1 + n % 2 / 10, f"10.0.0.{n % 2}:8000")) for n in range(8)]
    found = events_of(lines)
    assert list(found) == ["proxy-timeouts", "constant-duration-failures"]
    assert found["proxy-timeouts"][0].attrs["upstreams"] == "2"
    assert events_of([(10_000.0 + n, AccessLine(200, "/v1/x", "DC", 3.0)) for n in range(8)]) == {}


def test_a_health_route_that_is_not_there() -> None:
    """An engine that answers a health route with 404 is asked for the wrong thing; that is no request of a user."""
    replica = Subject(Scope.REPLICA, "chat-0")
    found = events_of([(10_000.0 + n, AccessLine(404, "/healthz/live")) for n in range(5)], replica)
    assert list(found) == ["health-route-refused"]
    assert found["health-route-refused"][0].attrs["path"] == "/healthz/live"
    assert found["health-route-refused"][0].attrs["role"] == "cause"


@pytest.mark.parametrize(("other", "role"), [("/wp-login.php", "info"), ("/v1/embeddings", "cause")])
def test_who_tries_all_doors_is_no_probe(other: str, role: str) -> None:
    """A scanner asks for whatever other servers have; a client that is wrong about a route of ours is none."""
    replica = Subject(Scope.REPLICA, "chat-0")
    lines = [(10_000.0 + 60 * n, AccessLine(404, path)) for n in range(5) for path in ("/actuator/health", other)]
    assert events_of(lines, replica)["health-route-refused"][0].attrs["role"] == role


@pytest.mark.parametrize(("often", "counted"), [(3, 0), (40, 40)])
def test_who_tries_many_doors_tries_those_of_servers_of_models_too(often: int, counted: int) -> None:
    """Unless one address is asked for far more often than any other: somebody has it wrong."""
    doors = ("/.env", "/wp-login.php", "/.git/config", "/phpinfo.php", "/server-status")
    lines = [AccessLine(404, path) for path in doors for _ in range(6)] + [AccessLine(404, "/v1/../passwd")] * often
    summary = AccessSummary(GATEWAY, WINDOW, "gateway.log")
    for number, line in enumerate([*lines, *[AccessLine(200, "/v1/chat/completions")] * 20]):
        summary.add(line, 10_000.0 + number)
    rates = {one.signal: one.values.sum() * GRID for one in summary.series()}
    assert rates.get("gateway.4xx", 0.0) == pytest.approx(counted)


@pytest.mark.parametrize(
    ("path", "status", "answered", "counted", "told"),
    [
        ("/wp-login.php", 404, "/v1/chat/completions", 0, False),
        ("/.env?x=1", 403, "/v1/chat/completions", 0, False),
        ("/v1/embeddings", 401, "/v1/chat/completions", 0, True),
        ("/v1/chat/completions", 401, "/v1/chat/completions?a=1", 9, True),
        ("/v1/v1/chat/completions", 404, "/v1/chat/completions", 9, True),
        ("/generate", 422, "/v1/chat/completions", 9, True),
        ("/generate", 403, "", 9, True),
    ],
    ids=["a scanner", "another", "never let in", "let in before", "misspelt", "not understood", "nobody is answered"],
)
def test_who_is_turned_away_where_nobody_is_served(path: str, status: int, answered: str, *, counted: int, told: bool) -> None:
    """While others are answered elsewhere he is none of those whom the service refuses."""
    lines = [(10_000.0 + 20 * n, AccessLine(status, path)) for n in range(9)]
    lines += [(10_005.0 + 20 * n, AccessLine(200, answered)) for n in range(9)] if answered else []
    summary = AccessSummary(GATEWAY, WINDOW, "gateway.log")
    for time, line in lines:
        summary.add(line, time)
    events = {event.name for event in summary.events()}
    rates = {one.signal: one.values.sum() * GRID for one in summary.series()}
    assert rates.get("gateway.4xx", 0.0) == pytest.approx(counted)
    assert bool(events & {"auth-refused", "requests-refused"}) is told


def test_what_was_so_before_is_counted_apart() -> None:
    """Failures of the baseline are no events of the window but are told beside them."""
    lines = [(9_500.0 + n, AccessLine(400, "/v1/x")) for n in range(7)] + [
        (10_500.0 + n, AccessLine(400, "/v1/x")) for n in range(4)
    ]
    (event,) = events_of(lines)["requests-refused"]
    assert (event.attrs["before"], event.attrs["total"], event.attrs["more"]) == ("7", "4", "no")


def test_failures_are_no_news_where_older_lines_tell_of_as_many() -> None:
    """A log that begins with the window says nothing of that."""
    lines = [(10_500.0 + n, AccessLine(400, "/v1/x")) for n in range(40)]
    few = [(9_500.0 + 90 * n, AccessLine(400, "/v1/x")) for n in range(2)]
    assert [events_of(told)["requests-refused"][0].attrs["more"] for told in (lines, [*few, *lines])] == ["yes", "yes"]


def test_hostile_values_are_cleaned() -> None:
    """A client's name with an escape sequence or a secret does not reach an event."""
    agent = "\x1b[31mx api_key=hunter2hunter2"
    (event,) = events_of([(10_000.0, AccessLine(400, "/v1/x", agent=agent))] * 5)["requests-refused"]
    assert event.attrs["agent"] == "x api_key=[removed]"


def test_rates() -> None:
    """A log that covers the window gives rates whose sum is the number of lines, under names of the vocabulary."""
    summary = AccessSummary(GATEWAY, WINDOW, "gateway.log")
    times = np.arange(9_000.0, 11_200.0, 0.5)
    for number, time in enumerate(times):
        summary.add(AccessLine(500 if number % 10 == 0 else 200, "/v1/x", "", 1.0), float(time))
    series = {one.signal: one for one in summary.series()}
    assert set(series) <= set(catalogue())
    assert series["gateway.requests"].values.sum() * GRID == pytest.approx(len(times))
    assert series["gateway.5xx"].values.sum() * GRID == pytest.approx(len(times) / 10)
    assert (np.diff(series["gateway.requests"].times) > 0).all()


@pytest.mark.parametrize("subject", [GATEWAY, Subject(Scope.REPLICA, "r")])
def test_durations(subject: Subject) -> None:
    """How long requests took, all of them and their sum; those that were refused at once are none that waited."""
    summary = AccessSummary(subject, WINDOW, "gateway.log")
    times = np.arange(9_000.0, 11_200.0, 0.5)
    for number, time in enumerate(times):
        summary.add(AccessLine(503, "/v1/x", "", 0.0) if number % 10 == 0 else AccessLine(200, "/v1/x", "", 2.0), float(time))
    (timed,) = summary.histograms()
    assert timed.signal == ("gateway.latency" if subject is GATEWAY else "latency.e2e")
    counted = timed.rates.sum(axis=0) * GRID
    assert counted.sum() == pytest.approx(len(times) * 0.9)
    assert timed.bounds[np.flatnonzero(counted)[0] - 1] < 2.0 <= timed.bounds[np.flatnonzero(counted)[0]]
    assert timed.sums.sum() * GRID == pytest.approx(counted.sum() * 2.0)


@pytest.mark.parametrize("seconds", [None, 3.0], ids=["of none", "of the slow alone"])
def test_durations_that_few_lines_tell_are_none(seconds: float | None) -> None:
    """A log that names slow requests only tells nothing of the others."""
    summary = AccessSummary(GATEWAY, WINDOW, "gateway.log")
    for number, time in enumerate(np.arange(9_000.0, 11_200.0, 0.5)):
        summary.add(AccessLine(200, "/v1/x", "", seconds if number % 10 == 0 else None), float(time))
    assert list(summary.histograms()) == []


def test_an_excerpt_has_rates_of_failures_alone() -> None:
    """A few lines around a failure must not be read as the traffic of the service; but so many failed at least."""
    summary = AccessSummary(GATEWAY, WINDOW, "gateway.log")
    for n in range(100):
        summary.add(AccessLine(503, "/v1/x", "UH", 0.0), 10_500.0 + n)
    series = {one.signal: one for one in summary.series()}
    assert set(series) == {"gateway.5xx"}
    assert series["gateway.5xx"].values.sum() * GRID == pytest.approx(100)


def test_lines_without_any_time() -> None:
    """Requests without a stamp count as of the window's end, are marked so, and make no rates."""
    summary = AccessSummary(GATEWAY, WINDOW, "gateway.log")
    for _ in range(5):
        summary.add(AccessLine(499, "/v1/x", "DC", 60.0), None)
    events = list(summary.events())
    assert {event.time for event in events} == {WINDOW.end}
    assert {event.attrs["untimed"] for event in events} == {"yes"}
    assert list(summary.series()) == []


def test_a_proxys_error_page_is_no_part_of_an_answer() -> None:
    """A reset at once is one on an idle connection although the proxy sends a page of its own."""
    lines = [(10_000.0 + 60 * n, AccessLine(503, "/v1/x", "UC", 0.001, "a:1", sent=95)) for n in range(4)]
    assert set(events_of(lines)) == {"connection-reset-idle"}


def routed(moment: float, asked: str, served: str) -> tuple[float, AccessLine]:
    """A good answer of a router that names both models."""
    line = f'{{"status": 200, "latency_s": 2.5, "model_requested": "{asked}", "served_model": "{served}"}}'
    parsed = parse_access(line.encode())
    assert parsed is not None
    return moment, parsed


def test_answers_of_another_model_than_usually_answers() -> None:
    """Names that differ are none; a model that answers what others ask for is."""
    lines = [routed(9_000.0 + 20 * number, "large", "large-fp8.gguf") for number in range(105)]
    lines += [routed(9_005.0 + 20 * number, "small", "small-q8") for number in range(105)]
    lines += [routed(10_600.0 + 15 * number, "large", "small-q8") for number in range(10)]
    summary = AccessSummary(GATEWAY, WINDOW, "gateway.log")
    for moment, line in sorted(lines, key=lambda one: one[0]):
        summary.add(line, moment)
    (strays,) = [one for one in summary.series() if one.signal == "gateway.wrong_model"]
    assert float(strays.values.sum()) * GRID == pytest.approx(10)
    assert strays.times[strays.values > 0].min() > 10_600.0


def test_lines_that_name_one_model_tell_of_no_strays() -> None:
    """What was asked for alone says nothing."""
    summary = AccessSummary(GATEWAY, WINDOW, "gateway.log")
    for number in range(110):
        line = parse_access(b'{"status": 200, "latency_s": 2.5, "model": "large"}')
        assert line is not None
        assert line.asked == ""
        summary.add(line, 9_000.0 + 20 * number)
    assert "gateway.wrong_model" not in {one.signal for one in summary.series()}


@pytest.mark.parametrize(
    "line",
    [
        'ts=1 method=POST path=/v1/x status=200 latency_ms=900 requested_model=large upstream_model="small-q8"',
        '{"status": 200, "duration": 900, "path": "/v1/x", "requestedModel": "large", "model_used": "small-q8"}',
        '{"status": 200, "duration": 900, "path": "/v1/x", "model": "large", "model_version": "3", "resolved_model": "small-q8"}',
    ],
)
def test_models_are_named_in_many_ways(line: str) -> None:
    """By pairs or JSON, with words for asking and answering; a version of a model is neither."""
    parsed = parse_access(line.encode())
    assert parsed is not None
    assert (parsed.asked, parsed.served) == ("large", "small-q8")


@pytest.mark.parametrize(("pool", "found"), [("cluster", True), ("backend_pool", True), ("upstream_host", False)])
def test_the_pool_that_answered_stands_for_its_model(pool: str, found: bool) -> None:
    """A pool is at home with whom it mostly serves; one server of it is no pool. A status may have any name that ends so."""
    lines = []
    for moment, asked, served in (
        *((9_000.0 + 20 * number, "large", "big-cards") for number in range(105)),
        *((9_005.0 + 20 * number, "small", "little-cards") for number in range(105)),
        *((10_600.0 + 15 * number, "large", "little-cards") for number in range(10)),
    ):
        parsed = parse_access(f'{{"path": "/v1/x", "code": 200, "requested_model": "{asked}", "{pool}": "{served}"}}'.encode())
        assert parsed is not None
        lines.append((moment, parsed))
    summary = AccessSummary(GATEWAY, WINDOW, "gateway.log")
    for moment, line in sorted(lines, key=lambda one: one[0]):
        summary.add(line, moment)
    strays = [one for one in summary.series() if one.signal == "gateway.wrong_model"]
    assert [round(float(one.values.sum()) * GRID) for one in strays] == ([10] if found else [])


def test_a_pool_that_two_share_is_nobodys_home() -> None:
    """Who asks for either is answered as usual."""
    lines = [routed(9_900.0 + 10 * number, ("large", "small")[number % 2], "shared") for number in range(60)]
    lines += [routed(9_903.0 + 10 * number, "large", "large-only") for number in range(30)]
    assert "answered-by-other-model" not in events_of(sorted(lines, key=lambda one: one[0]))


def test_a_few_lines_of_a_log_prove_that_another_model_answers() -> None:
    """Somebody may have kept a part of the log, which ends early: each line speaks for itself."""
    lines = [routed(9_900.0 + 10 * number, "large", "large-fp8") for number in range(30)]
    lines += [routed(9_903.0 + 10 * number, "small", "small-q8") for number in range(30)]
    lines += [routed(10_100.0 + 15 * number, "large", "small-q8") for number in range(6)]
    found = events_of(sorted(lines, key=lambda one: one[0]))["answered-by-other-model"]
    assert [(one.attrs["count"], one.attrs["more"], one.attrs["asked"], one.attrs["served"]) for one in found] == [
        ("6", "yes", "large", "small-q8")
    ]


@pytest.mark.parametrize(
    ("line", "usage"),
    [
        (
            (
                '{"msg": "completion", "status": 200, "usage": {"prompt_tokens": 900, "completion_tokens": 30, '
                '"prompt_tokens_details": {"cached_tokens": 0}}, "ttft_ms": 1200, "max_tokens": 4096}'
            ),
            {"gateway.prompt_tokens": 900.0, "gateway.output_tokens": 30.0, "gateway.cached_tokens": 0.0, "gateway.ttft": 1.2},
        ),
        (
            "method=POST path=/v1/x status=200 latency_ms=900 input_tokens=900 output_tokens=30 time_to_first_token=0.25",
            {"gateway.prompt_tokens": 900.0, "gateway.output_tokens": 30.0, "gateway.ttft": 0.25},
        ),
        ('{"status": 200, "path": "/v1/x", "max_tokens": 30, "total_tokens": 90}', {}),
    ],
)
def test_usage_of_an_answer(line: str, usage: dict[str, float]) -> None:
    """What answers count of themselves, in the log of who passes them on; limits and sums of both are no counts of one."""
    parsed = parse_access(line.encode())
    assert parsed is not None
    assert dict(parsed.usage) == usage


def test_tokens_of_all_lines_make_distributions() -> None:
    summary = AccessSummary(GATEWAY, WINDOW, "gateway.log")
    line = parse_access(b'{"status": 200, "prompt_tokens": 900, "cached_tokens": 0, "ttft_ms": 500}')
    assert line is not None
    for number in range(110):
        summary.add(line, 9_000.0 + 20 * number)
    found = {one.signal: one for one in summary.histograms()}
    assert sorted(found) == ["gateway.cached_tokens", "gateway.prompt_tokens", "gateway.ttft"]
    prompts = found["gateway.prompt_tokens"]
    assert float(prompts.sums.sum() / prompts.rates.sum()) == pytest.approx(900)
    assert float(found["gateway.cached_tokens"].sums.sum()) == 0.0

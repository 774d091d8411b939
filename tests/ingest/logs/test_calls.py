"""Requests as those tell of them who sent them: applications, agents, load tests."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.ingest.logs.test_shown import read
from triage.ingest.logs.access_log import parse_call
from triage.model.vocabulary import Scope


@pytest.mark.parametrize(
    ("line", "status", "flags", "seconds"),
    [
        ('INFO:httpx:HTTP Request: POST http://llm:8000/v1/chat/completions "HTTP/1.1 200 OK"', 200, "", None),
        ("turn=2 POST /chat/completions stream=true -> 200, 596 tokens, 17.1s", 200, "", 17.1),
        ("POST /v1/messages -> Error: terminated (cause: SocketError: other side closed) after 0.0s", 0, "UC", 0.0),
        ("POST http://llm/v1/completions failed: connection refused took=3ms", 0, "UF", 0.003),
        ("req 7: POST /v1/embeddings => ConnectionError: Server disconnected, 12ms", 0, "UC", 0.012),
        ("conv=4b turn=1 prompt_tokens=5878 cached_tokens=0 completion_tokens=292 ttft=0.58s total=4.23s", 200, "", 4.23),
        ('{"event": "llm.call", "input_tokens": 900, "output_tokens": 31, "duration_ms": 1500}', 200, "", 1.5),
    ],
)
def test_what_who_called_says(line: str, status: int, flags: str, seconds: float | None) -> None:
    call = parse_call(line.encode())
    assert call is not None
    assert (call.status, call.flags, call.seconds) == (status, flags, pytest.approx(seconds) if seconds is not None else None)


@pytest.mark.parametrize(
    "line",
    [
        "GET /healthz -> 200 in 2ms",
        "POST /v1/users -> 500",
        "POST /v1/chat/completions -> sent, waiting",
        "max_tokens=4096 model=m",
        "prompt_tokens=900 output_tokens=0 error=timeout total=60.0s",
        "3 tokens were dropped",
    ],
)
def test_other_lines_are_no_calls(line: str) -> None:
    assert parse_call(line.encode()) is None


@given(st.binary(max_size=300))
def test_any_bytes_are_read(line: bytes) -> None:
    call = parse_call(b"POST /v1/completions " + line)
    assert call is None or 0 <= call.status <= 599


def test_a_caller_measures_what_users_wait_for(tmp_path: Path) -> None:
    """It is one of many: how long its answers took is so, and how many requests there were it does not know."""
    lines = [
        f"2025-03-04T10:{minute}:00Z INFO app.llm prompt_tokens=2000 cached_tokens=0 completion_tokens=50 ttft=0.9s total=3.2s"
        for minute in range(15, 25)
    ]
    found = read(tmp_path, "\n".join(lines), "agent.log")
    told = {one.signal: one for one in found.histograms}
    assert sorted(told) == [
        "client.cached_tokens",
        "client.latency",
        "client.output_tokens",
        "client.prompt_tokens",
        "client.ttft",
    ]
    assert {one.subject.scope for one in told.values()} == {Scope.CLIENT}
    assert float(told["client.ttft"].sums.sum() / told["client.ttft"].rates.sum()) == pytest.approx(0.9)
    assert not found.series


def test_a_connection_that_is_closed_as_it_is_used(tmp_path: Path) -> None:
    """What fails at once on an open connection is none of the server's failures."""
    lines = []
    for minute in range(10, 20):
        lines.append(f"2025-03-04 10:{minute}:00 POST /v1/chat/completions -> 200, 4.1s")
        lines.append(f"2025-03-04 10:{minute}:30 POST /v1/chat/completions raised RemoteDisconnected: remote end closed, 1ms")
    found = [one for one in read(tmp_path, "\n".join(lines), "worker.log").events if one.name == "connection-reset-idle"]
    assert sum(int(one.attrs["count"]) for one in found) == 10

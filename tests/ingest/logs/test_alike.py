"""Requests that are like one before are read without being taken apart, and say what they would say otherwise."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.ingest.logs.access_log import Alike, parse_access
from triage.ingest.logs.reader import Reader
from triage.ingest.logs.reading import LogReading, read_logs
from triage.model.recording import Window

WINDOW = Window(1_790_000_000.0, 1_790_000_600.0, 1_789_999_400.0)
LEADS = st.sampled_from(["INFO:     ", "INFO: ", "INFO:", "ERROR:    ", "[2026-09-21 13:00:38] INFO:     ", ""])
CLIENTS = st.sampled_from(["10.0.0.1:52012", "10.0.0.2:1", "localhost:80", "[::1]:443", ":80", "10.0.0.1", "10.0.0.1:x"])
ASKED = st.sampled_from(
    [
        'POST /v1/completions HTTP/1.1" 200 OK',
        'POST /v1/completions HTTP/1.1" 500 Internal Server Error',
        'GET /health HTTP/1.1" 503 Service Unavailable',
        'GET /a - "b HTTP/1.1" 200 OK',
        "nothing that is asked",
    ]
)
LINES = st.builds(lambda lead, client, asked: f'{lead}{client} - "{asked}', LEADS, CLIENTS, ASKED)


@given(st.lists(LINES, max_size=12))
def test_a_request_that_is_known_is_the_one_that_is_read(lines: list[str]) -> None:
    known = Alike()
    for line in map(str.encode, lines):
        request, again = parse_access(line), known.read(line)
        assert again is None or again == request
        if request is not None:
            known.keep(line, request)


def reading(folder: Path, lines: list[str]) -> LogReading:
    """What a log of an engine says whose lines stand behind one that shows whose it is."""
    head = ["INFO 09-21 14:04:00 [api_server.py:1] vLLM API server version 0.11.0", "INFO 09-21 14:14:00 [core.py:1] started"]
    (folder / "engine-a.log").write_text("\n".join([*head * 150, *lines]) + "\n")
    return read_logs([folder / "engine-a.log"], WINDOW, "svc")


def test_a_log_says_the_same_whether_requests_are_known_or_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts, failures and what stands between requests; a stamp in a path or behind a client is read as ever."""
    asked = ['POST /v1/completions HTTP/1.1" 200 OK', 'GET /health HTTP/1.1" 200 OK', 'POST /v1/chat HTTP/1.1" 500 Oops']
    asked.append('GET /2026-09-21T14:15:00 HTTP/1.1" 200 OK')
    lines = [f'INFO:     10.0.0.{n % 7}:{5000 + n} - "{asked[n % 4]}' for n in range(400)]
    lines[200:200] = ["INFO 09-21 14:16:00 [loggers.py:1] it goes on", "ERROR 09-21 14:22:31 [core.py:2] out of memory"]
    quick = reading(tmp_path, lines)
    monkeypatch.setattr(Reader, "feed_alike", lambda *_: False)
    slow = reading(tmp_path, lines)
    assert (quick.events, quick.facts, quick.sources) == (slow.events, slow.facts, slow.sources)
    assert [(one.signal, one.times.tolist(), one.values.tolist()) for one in quick.series] == [
        (one.signal, one.times.tolist(), one.values.tolist()) for one in slow.series
    ]
    assert any(one.signal == "http.5xx" for one in quick.series)

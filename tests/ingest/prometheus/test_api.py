"""Addresses, credentials and refusals of a server of the Prometheus API, before any network."""

import json
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.errors import TriageError
from triage.ingest.prometheus.api import AskError, address, clean, credentials, headers, read_answer

PRINTABLE = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=1, max_size=20)


@pytest.mark.parametrize(
    ("given", "base"),
    [
        ("http://prometheus:9090", "http://prometheus:9090"),
        ("prometheus:9090/", "http://prometheus:9090"),
        ("https://user:secret@prometheus.example/prometheus/", "https://prometheus.example/prometheus"),
        ("http://prometheus:9090/graph?g0.expr=up&g0.tab=0#x", "http://prometheus:9090"),
        ("http://prometheus:9090/query?g0.expr=up", "http://prometheus:9090"),
        ("http://prometheus:9090/prom/api/v1/query_range?query=up", "http://prometheus:9090/prom"),
        ("http://victoria:8428/vmui/?g0.expr=up", "http://victoria:8428"),
        ("http://victoria:8481/select/0/prometheus", "http://victoria:8481/select/0/prometheus"),
        ("https://thanos.example/query", "https://thanos.example/query"),
        ("http://[::1]:9090", "http://[::1]:9090"),
    ],
)
def test_an_address_is_cut_to_what_the_api_begins_with(given: str, base: str) -> None:
    """Pages that a browser shows, credentials and parameters are left out; a path that may be a prefix stays."""
    assert address(given).geturl() == base


@pytest.mark.parametrize("given", ["", "  ", "ftp://prometheus", "http://", "http://[::1", "http://host:port", "file:///x"])
def test_what_is_no_address_is_refused_without_being_repeated(given: str) -> None:
    """It may hold a password."""
    with pytest.raises(TriageError) as caught:
        address(given)
    assert str(caught.value) == "the address of Prometheus is not one of http:// or https://"


@given(PRINTABLE, PRINTABLE)
def test_a_login_in_the_address_is_taken_out_of_it(user: str, password: str) -> None:
    """Whatever it holds, percent-encoded as addresses are."""
    given = f"https://{quote(user, safe='')}:{quote(password, safe='')}@prometheus.example:9090/p"
    assert credentials(given, {}) == (user.encode(), password.encode())
    assert address(given).geturl() == "https://prometheus.example:9090/p"


def test_the_environment_comes_before_the_address() -> None:
    """And without either there is no login."""
    environ = {"TRIAGE_PROMETHEUS_USER": "me", "TRIAGE_PROMETHEUS_PASSWORD": "päss"}
    assert credentials("http://you:word@host", environ) == (b"me", "päss".encode())
    assert credentials("http://host", {"TRIAGE_PROMETHEUS_USER": "me"}) == (b"me", b"")
    assert credentials("host:9090", {}) is None


def test_headers_are_written_as_opentelemetry_writes_them() -> None:
    """Percent-encoded values, and a token of its own."""
    environ = {"TRIAGE_PROMETHEUS_HEADERS": "X-Scope-OrgID=a%2Cb, X-Key = k=v ,", "TRIAGE_PROMETHEUS_TOKEN": " abc "}
    assert headers(environ) == {"X-Scope-OrgID": "a,b", "X-Key": "k=v", "Authorization": "Bearer abc"}
    assert headers({}) == {}


@given(st.text(max_size=30))
def test_no_header_can_smuggle_another_one(text: str) -> None:
    """What cannot stand in a header is refused, and the message does not repeat it."""
    told, found = "", dict[str, str]()
    try:
        found = headers({"TRIAGE_PROMETHEUS_TOKEN": text})
    except TriageError as error:
        told = str(error)
    assert told in {"", "TRIAGE_PROMETHEUS_TOKEN cannot be sent as a header"}
    assert all(value.isprintable() and value.isascii() for value in found.values())


def refused(status: int, body: bytes) -> AskError:
    """What an answer is refused with."""
    with pytest.raises(AskError) as caught:
        read_answer(status, "/api/v1/query", body)
    return caught.value


def test_a_good_answer_is_handed_on() -> None:
    """As it was parsed."""
    answer = {"status": "success", "data": {"result": []}, "warnings": ["w"]}
    assert read_answer(200, "/", json.dumps(answer).encode()) == answer


def test_what_ends_all_questions_is_told_from_what_ends_one() -> None:
    """A query that is too heavy leaves the others a chance; a closed door does not."""
    assert refused(401, b"").lost
    assert refused(404, b"").lost
    assert refused(200, b"<html>").lost
    heavy = refused(422, b'{"status":"error","errorType":"execution","error":"too many samples"}')
    assert (heavy.lost, heavy.late) == (False, False)
    slow = refused(503, b'{"status":"error","errorType":"timeout","error":"query timed out in expression evaluation"}')
    assert (slow.lost, slow.late) == (False, True)
    assert "ask for less time" in slow.hint


def test_a_server_that_wants_tls_says_so() -> None:
    """Go's servers answer plain HTTP with one sentence."""
    told = refused(400, b"Client sent an HTTP request to an HTTPS server.\n")
    assert (told.reason, told.hint) == ("speaks TLS", "say https:// in its address")


@given(
    st.integers(200, 599),
    st.binary(max_size=200) | st.dictionaries(st.text(max_size=8), st.text(max_size=8)).map(lambda d: json.dumps(d).encode()),
)
def test_any_answer_is_read_or_refused_in_one_printable_sentence(status: int, body: bytes) -> None:
    """Never another error, never a control character."""
    answer: dict[str, Any] = {}
    told = ""
    try:
        answer = read_answer(status, "/api/v1/\x1b[2J", body)
    except AskError as error:
        told = error.reason
    assert bool(told) != ("data" in answer)
    assert told.isprintable()


@given(st.text())
def test_foreign_text_becomes_one_short_printable_line(text: str) -> None:
    """Terminals obey control characters."""
    found = clean(text)
    assert found.isprintable()
    assert len(found) <= 200

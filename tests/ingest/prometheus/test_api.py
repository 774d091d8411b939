"""Addresses and refusals of a server of the Prometheus API, before any network."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.errors import TriageError
from triage.ingest.http import AskError, Failure
from triage.ingest.prometheus.api import address, read_answer


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
    assert refused(401, b"").kind is Failure.DENIED
    assert refused(404, b"").kind is Failure.ELSEWHERE
    assert refused(200, b"<html>").kind is Failure.ELSEWHERE
    heavy = refused(422, b'{"status":"error","errorType":"execution","error":"too many samples"}')
    assert heavy.kind is Failure.ERROR
    slow = refused(503, b'{"status":"error","errorType":"timeout","error":"query timed out in expression evaluation"}')
    assert slow.kind is Failure.LATE
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

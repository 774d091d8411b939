"""Saved answers of the Prometheus API become series; what is no answer is refused in one clear sentence."""

import json
from math import inf, isfinite, nan
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.errors import DataError
from triage.ingest.prometheus import answers as prometheus_json
from triage.ingest.prometheus.answers import parse_answer
from triage.ingest.raw import RawSeries


def answer(kind: str, result: Any, **more: Any) -> bytes:
    """An answer of the API as a server writes it."""
    return json.dumps({"status": "success", "data": {"resultType": kind, "result": result}, **more}).encode()


def by_name(found: list[RawSeries]) -> dict[str, list[float]]:
    """Values by name, and by bound where there is one."""
    return {f"{one.name}{one.labels.get('le', '')}": one.values.tolist() for one in found}


def histogram(count: float, total: float, *buckets: tuple[float, float, float]) -> dict[str, Any]:
    """A native histogram as the API writes it: every number a text, the right end part of a bucket."""
    return {"count": str(count), "sum": str(total), "buckets": [[0, str(a), str(b), str(n)] for a, b, n in buckets]}


# Kinds of answers


def test_a_range_query_gives_a_series_each() -> None:
    """Labels without the name, times and values as they were sent."""
    metric = {"__name__": "vllm:num_requests_waiting", "pod": "a", "job": "chat"}
    (one,) = parse_answer(answer("matrix", [{"metric": metric, "values": [[1700000000.5, "3"], [1700000015.5, "4.5"]]}]))
    assert (one.name, dict(one.labels)) == ("vllm:num_requests_waiting", {"pod": "a", "job": "chat"})
    assert one.times.tolist() == [1700000000.5, 1700000015.5]
    assert one.values.tolist() == [3.0, 4.5]
    assert not one.rate


def test_an_instant_query_gives_single_samples() -> None:
    """A vector is a matrix with one column."""
    found = parse_answer(answer("vector", [{"metric": {"__name__": "up", "i": i}, "value": [9, "1"]} for i in "ab"]))
    assert [(one.labels["i"], one.times.tolist(), one.values.tolist()) for one in found] == [
        ("a", [9.0], [1.0]),
        ("b", [9.0], [1.0]),
    ]


def test_a_range_selector_may_have_another_grid_for_each_series() -> None:
    """An instant query of ``up[5m]`` answers a matrix with the very scrape times."""
    rows = [[[1.1, "1"], [16.1, "1"]], [[3.7, "0"]]]
    found = parse_answer(answer("matrix", [{"metric": {"__name__": "up", "i": str(i)}, "values": r} for i, r in enumerate(rows)]))
    assert [one.times.tolist() for one in found] == [[1.1, 16.1], [3.7]]


def test_the_result_of_a_function_has_an_empty_name() -> None:
    """rate() and friends drop the name; that is no error."""
    (one,) = parse_answer(answer("vector", [{"metric": {"pod": "a"}, "value": [9, "0.5"]}]))
    assert one.name == ""


def test_warnings_and_new_keys_are_passed_over() -> None:
    """A server may add keys at any level."""
    data = answer("vector", [{"metric": {"__name__": "up"}, "value": [9, "1"], "new": 1}], warnings=["w"], infos=["i"])
    assert len(parse_answer(data)) == 1


def test_no_result_is_no_series() -> None:
    """An empty answer is sound: nothing was there. What that means is for others to judge."""
    assert parse_answer(answer("matrix", [])) == []


# Numbers that are none


@pytest.mark.parametrize("text", ["NaN", "+Inf", "-Inf"])
def test_a_value_that_is_no_measurement_is_left_out(text: str) -> None:
    """NaN and infinities leave a gap rather than a number."""
    (one,) = parse_answer(answer("matrix", [{"metric": {"__name__": "x"}, "values": [[1, "1"], [2, text], [3, "3"]]}]))
    assert (one.times.tolist(), one.values.tolist()) == ([1.0, 3.0], [1.0, 3.0])


def test_a_series_of_nothing_else_is_left_out() -> None:
    """A series of NaN alone measured nothing."""
    assert parse_answer(answer("vector", [{"metric": {"__name__": "x"}, "value": [1, "NaN"]}])) == []


def test_times_ascend_whatever_was_sent() -> None:
    """Answers that were joined by hand may repeat moments; the last word counts."""
    rows = [[30, "3"], [10, "1"], [30, "4"]]
    (one,) = parse_answer(answer("matrix", [{"metric": {"__name__": "x"}, "values": rows}]))
    assert (one.times.tolist(), one.values.tolist()) == ([10.0, 30.0], [1.0, 4.0])


@given(st.lists(st.tuples(st.floats(0, 2e9), st.floats()), max_size=20))
def test_any_samples_become_sound_series(samples: list[tuple[float, float]]) -> None:
    """Times ascend strictly, values are finite, and no finite sample of a moment of its own is lost."""
    texts = [[time, {inf: "+Inf", -inf: "-Inf"}.get(value, repr(value)) if value == value else "NaN"] for time, value in samples]
    found = parse_answer(answer("matrix", [{"metric": {"__name__": "x"}, "values": texts}]))
    expected = {time: value for time, value in samples if isfinite(value)}
    assert [dict(zip(one.times.tolist(), one.values.tolist(), strict=True)) for one in found] == ([expected] if expected else [])
    assert all((np.diff(one.times) > 0).all() for one in found)


# Native histograms


def test_a_native_histogram_becomes_a_classic_one() -> None:
    """Buckets that count alone become buckets that count up, with the total as the last."""
    readings = [
        [10, histogram(6, 9.5, (-0.001, 0.001, 1), (0.5, 1, 2), (1, 2, 3))],
        [25, histogram(8, 12.5, (0.5, 1, 3), (1, 2, 5))],
    ]
    found = parse_answer(answer("matrix", [{"metric": {"__name__": "ttft", "pod": "a"}, "histograms": readings}]))
    assert by_name(found) == {
        "ttft_bucket0.001": [1.0, 0.0],
        "ttft_bucket1.0": [3.0, 3.0],
        "ttft_bucket2.0": [6.0, 8.0],
        "ttft_bucket+Inf": [6.0, 8.0],
        "ttft_sum": [9.5, 12.5],
        "ttft_count": [6.0, 8.0],
    }
    assert all(one.labels["pod"] == "a" and one.times.tolist() == [10.0, 25.0] for one in found)


def test_an_instant_native_histogram_is_read() -> None:
    """A vector holds one histogram in place of a value."""
    found = parse_answer(answer("vector", [{"metric": {"__name__": "h"}, "histogram": [5, histogram(2, 3, (1, 2, 2))]}]))
    assert by_name(found) == {"h_bucket2.0": [2.0], "h_bucket+Inf": [2.0], "h_sum": [3.0], "h_count": [2.0]}


def test_a_bound_inside_a_coarser_bucket_is_dropped() -> None:
    """Where buckets were merged later, the count at the old finer bound is unknown and must not be guessed."""
    readings = [[1, histogram(3, 4, (1, 1.4, 1), (1.4, 2, 2))], [2, histogram(4, 5, (1, 2, 4))]]
    found = by_name(parse_answer(answer("matrix", [{"metric": {"__name__": "h"}, "histograms": readings}])))
    assert found["h_bucket2.0"] == [3.0, 4.0]
    assert "h_bucket1.4" not in found


def test_a_histogram_without_observations_has_a_total_only() -> None:
    """No bucket is listed when nothing was observed."""
    reading = [1, {"count": "0", "sum": "0"}]
    found = by_name(parse_answer(answer("vector", [{"metric": {"__name__": "h"}, "histogram": reading}])))
    assert found == {"h_bucket+Inf": [0.0], "h_sum": [0.0], "h_count": [0.0]}


def test_a_series_may_change_from_plain_to_native() -> None:
    """A metric that changed its type in the window has samples of both kinds."""
    one = {"metric": {"__name__": "h"}, "values": [[1, "7"]], "histograms": [[2, histogram(1, 1, (1, 2, 1))]]}
    assert set(by_name(parse_answer(answer("matrix", [one])))) == {"h", "h_bucket2.0", "h_bucket+Inf", "h_sum", "h_count"}


@given(
    st.lists(st.lists(st.integers(0, 9), min_size=6, max_size=6), min_size=1, max_size=4),
    st.lists(st.booleans(), min_size=4, max_size=4),
)
def test_unfolded_buckets_count_up(rows: list[list[int]], coarse: list[bool]) -> None:
    """At every moment buckets rise with their bound and end at the total, whether fine, coarse or mixed."""
    readings = []
    for time, (row, merged) in enumerate(zip(rows, coarse, strict=False)):
        fine = [(2.0**i, 2.0 ** (i + 1), float(n)) for i, n in enumerate(row)]
        pairs = [(fine[i][0], fine[i + 1][1], fine[i][2] + fine[i + 1][2]) for i in (0, 2, 4)]
        readings.append([time, histogram(sum(row), 1.0, *(one for one in (pairs if merged else fine) if one[2]))])
    found = parse_answer(answer("matrix", [{"metric": {"__name__": "h"}, "histograms": readings}]))
    buckets = sorted(((float(one.labels["le"]), one.values) for one in found if one.name == "h_bucket"), key=lambda pair: pair[0])
    stacked = np.stack([values for _, values in buckets])
    assert (np.diff(stacked, axis=0) >= 0).all()
    assert stacked[-1].tolist() == [float(sum(row)) for row in rows]
    for bound, values in buckets[:-1]:
        truth = [float(sum(n for i, n in enumerate(row) if 2.0 ** (i + 1) <= bound)) for row in rows]
        assert values.tolist() == truth


# What is refused


def test_an_error_answer_is_told() -> None:
    """The server's own words, cleaned, so that the user sees why the query failed."""
    data = json.dumps({"status": "error", "errorType": "bad_data", "error": "parse\x1b[31m error\nat 3" + "x" * 500}).encode()
    with pytest.raises(DataError) as caught:
        parse_answer(data)
    assert "bad_data" in caught.value.message
    assert "parse\ufffd[31m error at 3" in caught.value.message
    assert len(caught.value.message) < 300


@pytest.mark.parametrize("kind", ["scalar", "string"])
def test_a_lone_value_is_refused(kind: str) -> None:
    """A scalar or string answer has no series to judge."""
    with pytest.raises(DataError, match=kind):
        parse_answer(answer(kind, [1, "3"]))


GARBAGE = {
    "empty": b"",
    "text": b"<html>502 Bad Gateway</html>",
    "cut short": answer("matrix", [{"metric": {}, "values": [[1, "2"]]}])[:-9],
    "bytes": b"\xff\x00\x01",
    "deep": b"[" * 100_000,
    "a list": b"[]",
    "another answer": b'{"status":"success","data":{"activeTargets":[]}}',
    "no status": b'{"data":{"resultType":"matrix","result":[]}}',
    "unknown type": answer("tensor", []),
    "labels are numbers": answer("vector", [{"metric": {"a": 1}, "value": [1, "2"]}]),
    "value is a word": answer("vector", [{"metric": {}, "value": [1, "two"]}]),
    "time is infinite": b'{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1e999,"2"]}]}}',
    "three in a pair": answer("matrix", [{"metric": {}, "values": [[1, "2", "3"]]}]),
    "bucket of three": answer(
        "vector", [{"metric": {}, "histogram": [1, {"count": "1", "sum": "1", "buckets": [[0, "1", "2"]]}]}]
    ),
}


@pytest.mark.parametrize("data", GARBAGE.values(), ids=GARBAGE)
def test_garbage_is_refused(data: bytes) -> None:
    """Whatever it is, the error is one line and says what was expected."""
    with pytest.raises(DataError, match="no answer of the Prometheus query API") as caught:
        parse_answer(data)
    assert "\n" not in caught.value.message
    assert len(caught.value.message) < 600


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_any_bytes_are_refused(data: bytes) -> None:
    """No input makes another error than DataError."""
    with pytest.raises(DataError):
        parse_answer(data)


def test_an_answer_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The size is held against the limit before anything is parsed."""
    monkeypatch.setattr(prometheus_json, "MAX_BYTES", 10)
    with pytest.raises(DataError, match="at most 10"):
        parse_answer(answer("matrix", []))


def test_nan_in_a_histogram_leaves_a_gap() -> None:
    """A sum that is NaN is unknown, and the counts stay."""
    reading = [1, histogram(2, nan, (1, 2, 2))]
    found = by_name(parse_answer(answer("vector", [{"metric": {"__name__": "h"}, "histogram": reading}])))
    assert found == {"h_bucket2.0": [2.0], "h_bucket+Inf": [2.0], "h_count": [2.0]}

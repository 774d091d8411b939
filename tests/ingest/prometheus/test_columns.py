"""Answers of Prometheus read by columns are what a reader of JSON reads, and whatever is odd is left to that."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.ingest.prometheus.columns import Known, loads, read_plain
from triage.ingest.prometheus.promql import read_matrix

TIMES = st.floats(1.0, 4e9).map(lambda time: round(time, 3))
VALUES = st.one_of(
    st.floats().map(repr), st.sampled_from(["NaN", "+Inf", "-Inf", "1e+06", "0", "-0", "1e999", "0x1", "1_0", "two", ""])
)
LABELS = st.dictionaries(
    st.one_of(st.text(max_size=5), st.just("__name__")),
    st.one_of(st.text(max_size=9), st.sampled_from(['"values":[[', "]]", '"],["', '{"metric":', '"__name__":"'])),
    max_size=3,
)
SERIES = st.fixed_dictionaries(
    {"metric": LABELS},
    optional={"values": st.lists(st.tuples(TIMES, VALUES).map(list), max_size=4), "extra": st.just([[1, "2"]])},
)


def answer(*series: Any) -> Any:
    return {"status": "success", "data": {"resultType": "matrix", "result": list(series)}}


def compact(value: Any) -> bytes:
    """JSON as servers write it."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "replace")


def told(result: Any) -> list[Any]:
    """Series as one of three parts each: name, labels, samples as numbers are written."""
    return [
        [
            one.name,
            sorted(one.labels.items()),
            [[t, repr(v)] for t, v in zip(one.times.tolist(), one.values.tolist(), strict=True)],
        ]
        for one in result
    ]


def expected(answer: Any) -> list[Any]:
    """The same of what a reader of JSON read."""
    return told(
        [
            series
            for one in answer["data"]["result"]
            for series in read_matrix(one["metric"].get("__name__", ""), [one], rate=False)
        ]
    )


@given(st.lists(SERIES, max_size=4))
def test_it_is_what_a_reader_of_json_reads(series: list[dict[str, Any]]) -> None:
    """Read by columns or not, it says the same."""
    body = compact(answer(*series))
    plain = read_plain(body)
    if plain is None:
        assert loads(body) == json.loads(body)
    else:
        assert told(plain["data"]["result"]) == expected(json.loads(body))


@given(st.lists(SERIES, max_size=3), st.data())
def test_what_is_damaged_is_read_as_json_reads_it(series: list[dict[str, Any]], data: st.DataObject) -> None:
    """One byte that is another: if a reader of JSON takes it, it says the same, and if not, nor is it taken here."""
    body = bytearray(compact(answer(*series)))
    body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    try:
        read = json.loads(bytes(body))
    except ValueError:
        with pytest.raises(ValueError):  # noqa: PT011 - what json.loads raises
            loads(bytes(body))
        return
    plain = read_plain(bytes(body))
    if plain is None:
        assert json.dumps(loads(bytes(body))) == json.dumps(read)
    else:
        assert told(plain["data"]["result"]) == expected(read)


@given(st.lists(st.tuples(st.lists(SERIES, min_size=1, max_size=3), st.booleans()), max_size=4))
def test_what_was_read_before_alters_nothing(answers: list[tuple[list[dict[str, Any]], bool]]) -> None:
    """Names, labels and moments of earlier answers are the same objects in later ones, and these say what they say alone."""
    known = Known()
    for series, named in answers:
        whole = [one | {"metric": one["metric"] | ({"__name__": "up"} if named else {})} for one in series]
        body = compact(answer(*whole))
        first, second = read_plain(body, known), read_plain(body)
        assert (first is None) == (second is None)
        if first is not None:
            assert told(first["data"]["result"]) == told(second["data"]["result"])


PLAIN = b'{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"a":"b"},"values":[[%b]]}]}}'
ODD = (
    b'01,"2"', b'-1,"2"', b'1e5,"2"', b'1.,"2"', b'.5,"2"', b'0,"2"', b'1,2', b'1, "2"', b'1,"2","3"', b'1,"2"3"', b'1,"two"',
    b'1,"\\u0031"', b'1,""', b',"2"', b'1,"2"],[', b'1,"2"],[3', b'1,"2"],"3"', b'1,["2"]', b"",
    b'1_0,"2"', b'NaN,"2"', b'1,"2\n"',
)  # fmt: skip


@pytest.mark.parametrize("samples", ODD)
def test_what_no_server_writes_is_left_to_a_reader_of_json(samples: bytes) -> None:
    """Signs, exponents, blanks, pairs of three: it says what is wrong with them, or what they are."""
    assert read_plain(PLAIN % samples) is None


@pytest.mark.parametrize(
    "metric", [b'{"a":1}', b'{"a":"b","__name__":"c","__name__":"d"}', b'{"a":"b"}}', b"[]", b'{"a":"b"},{}']
)
def test_labels_that_no_server_writes_are_left_to_a_reader_of_json(metric: bytes) -> None:
    """Numbers, two names, more or less than labels."""
    assert read_plain(PLAIN.replace(b'{"a":"b"}', metric) % b'1,"2"') is None


@pytest.mark.parametrize("text", ["2", "1e-7", "-0", "1.7976931348623157e+308", "5e-324"])
def test_what_servers_write_is_read_by_columns(text: str) -> None:
    """All that Go's strconv writes."""
    (one,) = read_plain(PLAIN % f'1700000000.123,"1"],[1700000015,"{text}"'.encode())["data"]["result"]
    assert (one.name, one.labels) == ("", {"a": "b"})
    assert (one.times.tolist(), one.values.tolist()) == ([1700000000.123, 1700000015.0], [1.0, float(text)])


def test_no_number_is_no_measurement() -> None:
    """It is left out of its own series alone, and a series of nothing else with it."""
    body = compact(answer(*({"metric": {"i": text}, "values": [[1, text], [2, "5"]]} for text in ("NaN", "+Inf", "-Inf", "4"))))
    assert [one.values.tolist() for one in read_plain(body)["data"]["result"]] == [[5.0], [5.0], [5.0], [4.0, 5.0]]
    assert read_plain(PLAIN % b'1,"NaN"')["data"]["result"] == []


def test_what_is_written_alike_is_one_object() -> None:
    """Labels of several metrics, the moments of their samples, and samples that say the same."""
    body = compact(answer(*({"metric": {"__name__": name, "a": "b"}, "values": [[1, "2"], [3, "4"]]} for name in "cd")))
    first, second = read_plain(body)["data"]["result"]
    assert (first.name, second.name) == ("c", "d")
    assert first.labels is second.labels
    assert first.times is second.times
    assert first.values is second.values


def test_large_answers_are_read_by_arrow() -> None:
    """A million samples are the same numbers as one by one."""
    chance = np.random.default_rng(1)
    texts = [repr(one) for one in (chance.random(70_000) * 10.0 ** chance.integers(-300, 300, 70_000)).tolist()]
    series = [
        {"metric": {"i": str(start)}, "values": [[1.7e9 + n, text] for n, text in enumerate(texts[start : start + 700])]}
        for start in range(0, 70_000, 700)
    ]
    plain = read_plain(compact(answer(*series)))
    found = np.concatenate([one.values for one in plain["data"]["result"]])
    assert found.tolist() == [float(text) for text in texts]


def test_a_label_that_looks_like_samples_is_a_label() -> None:
    """A quotation mark inside a text is escaped, so nothing in a label begins samples."""
    series = {"metric": {"__name__": "m", "a": '","values":[[1,"2"]]', '"values': "x"}, "values": [[1, "2"]]}
    assert told(loads(compact(answer(series)))["data"]["result"]) == expected(answer(series))

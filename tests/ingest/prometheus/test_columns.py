"""Answers of Prometheus read by columns are what a reader of JSON reads, and whatever is odd is left to that."""

import json
from math import isnan
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.ingest.prometheus.columns import Samples, loads, read_plain
from triage.ingest.prometheus.promql import read_matrix

TIMES = st.floats(1.0, 4e9).map(lambda time: round(time, 3))
VALUES = st.one_of(
    st.floats().map(repr), st.sampled_from(["NaN", "+Inf", "-Inf", "1e+06", "0", "-0", "1e999", "0x1", "1_0", "two", ""])
)
LABELS = st.dictionaries(
    st.text(max_size=5), st.one_of(st.text(max_size=9), st.sampled_from(['"values":[[', "]]", '"],["'])), max_size=3
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


def as_lists(value: Any) -> Any:
    """Arrays as the lists that a reader of JSON makes, with numbers for texts."""
    if isinstance(value, Samples):
        return [[time, _text(number)] for time, number in zip(value.times.tolist(), value.values.tolist(), strict=True)]
    if isinstance(value, dict):
        return {key: as_lists(one) for key, one in value.items()}
    return [as_lists(one) for one in value] if isinstance(value, list) else value


def _text(number: float) -> str:
    return "nan" if isnan(number) else repr(number)


def numbered(value: Any) -> Any:
    """What a reader of JSON read, with the texts of samples as numbers are written."""
    if isinstance(value, dict):
        return {
            key: [[time, _text(float(text))] for time, text in one] if key == "values" else numbered(one)
            for key, one in value.items()
        }
    return [numbered(one) for one in value] if isinstance(value, list) else value


@given(st.lists(SERIES, max_size=4))
def test_it_is_what_a_reader_of_json_reads(series: list[dict[str, Any]]) -> None:
    """Read by columns or not, it says the same."""
    body = compact(answer(*series))
    plain = read_plain(body)
    read = loads(body)
    if plain is None:
        assert read == json.loads(body)
    else:
        found, expected = as_lists(plain), numbered(json.loads(body))
        assert json.dumps(found).replace("inf", "nan") == json.dumps(expected).replace("inf", "nan")  # neither is a measurement


@given(st.lists(SERIES, max_size=3), st.data())
def test_what_is_damaged_is_read_as_json_reads_it(series: list[dict[str, Any]], data: st.DataObject) -> None:
    """One byte that is another: if a reader of JSON takes it, it says the same, and if not, nor is it taken here."""
    body = bytearray(compact(answer(*series)))
    body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    try:
        expected = json.loads(bytes(body))
    except ValueError:
        with pytest.raises(ValueError):  # noqa: PT011 - what json.loads raises
            loads(bytes(body))
        return
    plain = read_plain(bytes(body))
    if plain is None:
        assert json.dumps(loads(bytes(body))) == json.dumps(expected)
    else:
        assert json.dumps(as_lists(plain)).replace("inf", "nan") == json.dumps(numbered(expected)).replace("inf", "nan")


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


@pytest.mark.parametrize("text", ["2", "NaN", "+Inf", "1e-7", "-0", "1.7976931348623157e+308", "5e-324"])
def test_what_servers_write_is_read_by_columns(text: str) -> None:
    """All that Go's strconv writes."""
    plain = read_plain(PLAIN % f'1700000000.123,"1"],[1700000015,"{text}"'.encode())
    assert as_lists(plain["data"]["result"][0]["values"])[0] == [1700000000.123, "1.0"]
    assert read_matrix("m", plain["data"]["result"], rate=False)[0].times[0] == 1700000000.123


def test_large_answers_are_read_by_arrow() -> None:
    """A million samples are the same numbers as one by one."""
    chance = np.random.default_rng(1)
    texts = [repr(one) for one in (chance.random(70_000) * 10.0 ** chance.integers(-300, 300, 70_000)).tolist()]
    series = [
        {"metric": {"i": str(start)}, "values": [[1.7e9 + n, text] for n, text in enumerate(texts[start : start + 700])]}
        for start in range(0, 70_000, 700)
    ]
    plain = read_plain(compact(answer(*series)))
    found = np.concatenate([one["values"].values for one in plain["data"]["result"]])
    assert found.tolist() == [float(text) for text in texts]


def test_a_label_that_looks_like_samples_is_a_label() -> None:
    """A quotation mark inside a text is escaped, so nothing in a label begins samples."""
    series = {"metric": {"a": '","values":[[1,"2"]]', '"values': "x"}, "values": [[1, "2"]]}
    assert as_lists(loads(compact(answer(series)))) == numbered(answer(series))
    assert loads(b'{"a\\"values":[[1,"2"]]}') == {'a"values': [[1, "2"]]}
    assert loads(b'{"values":[[1,"2"]],"":0}') == {"values": [[1, "2"]], "": 0}

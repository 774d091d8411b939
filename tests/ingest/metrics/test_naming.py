"""Names of metrics in all their spellings, and which of them is the better one."""

from typing import Any

import pytest
from pydantic import ValidationError

from triage.ingest.metrics.naming import Index, Use, index_names, is_engine_name, spellings
from triage.model.dialect import Dialect


def dialect(*metrics: dict[str, Any], **more: Any) -> Dialect:
    return Dialect.model_validate({"name": "acme", "title": "Acme", "scope": "replica", "metrics": metrics, **more})


def gauge(*names: str, **more: Any) -> dict[str, Any]:
    return {"names": names, "type": "gauge", "signal": "queue.waiting", **more}


def counter(*names: str, **more: Any) -> dict[str, Any]:
    return {"names": names, "type": "counter", "signal": "tokens.generation", **more}


def only(index: Index, name: str) -> Use:
    (use,) = index[name]
    return use


def ranks(index: Index) -> dict[str, int]:
    return {name: only(index, name).rank for name in index}


def test_a_gauge_is_found_by_its_name_alone() -> None:
    """A gauge has one spelling."""
    assert ranks(index_names([dialect(gauge("a"))])) == {"a": 0}


def test_a_counter_is_found_with_and_without_total() -> None:
    """Written with or without its ending, both are found; the one that is written is the better one."""
    assert ranks(index_names([dialect(counter("a_total"))])) == {"a_total": 0, "a": 1}
    assert ranks(index_names([dialect(counter("a"))])) == {"a": 0, "a_total": 1}


def test_an_info_metric_is_found_with_and_without_info() -> None:
    """OpenMetrics adds an ending to info metrics."""
    info = {"names": ["a_info"], "type": "info", "facts": {"x": "model"}}
    assert ranks(index_names([dialect(info)])) == {"a_info": 0, "a": 1}
    assert ranks(index_names([dialect({**info, "names": ["a"]})])) == {"a": 0, "a_info": 1}


def test_a_histogram_has_three_names() -> None:
    """Buckets, sum and count of a distribution are equally good; created times are never read."""
    index = index_names([dialect({"names": "a", "type": "histogram", "signal": "latency.ttft"})])
    assert {name: only(index, name).part for name in index} == {"a_bucket": "bucket", "a_sum": "sum", "a_count": "count"}
    assert {only(index, name).metric for name in index} == {"a"}
    assert set(ranks(index).values()) == {0}


def test_newer_names_are_better() -> None:
    """Names of an entry stand in the order of their merit."""
    assert ranks(index_names([dialect(gauge("new", "old", "oldest"))])) == {"new": 0, "old": 1, "oldest": 2}


def test_spellings_of_a_prefix_are_alternatives() -> None:
    """A name under two prefixes is shown twice by some programs: one of them is read, they are not added."""
    index = index_names([dialect(gauge("a:x", "b:x"), prefixes=["a:", "a_"])])
    assert ranks(index) == {"a:x": 0, "a_x": 1, "b:x": 2}
    assert spellings("a:x", dialect(gauge("a:x"), prefixes=["a:", "a_"])) == ["a:x", "a_x"]
    assert spellings("x", dialect(gauge("x"))) == ["x"]


def test_parts_are_equally_good() -> None:
    """Names that are parts of one quantity are all read; their spellings are still alternatives."""
    index = index_names([dialect(gauge("a:x", "a:y", parts=True), prefixes=["a:", "a_"])])
    assert ranks(index) == {"a:x": 0, "a_x": 1, "a:y": 0, "a_y": 1}


def test_a_mean_has_the_names_of_both_counters() -> None:
    """A running sum and a running count make a distribution; each is found with and without total."""
    entry = {"names": "us_total", "count": "requests", "type": "histogram", "signal": "latency.queue"}
    index = index_names([dialect(entry)])
    assert {name: {use.part for use in index[name]} for name in index} == {
        "us_total": {"sum"},
        "us": {"sum"},
        "requests": {"count"},
        "requests_total": {"count"},
    }
    assert {use.metric for name in ("us_total", "requests") for use in index[name] if use.rank == 0} == {"us_total"}


def test_entries_are_numbered_in_the_order_of_the_files() -> None:
    """What comes first in the list of dialects and in their files is the better way, whatever order the data have."""
    first, second = dialect(gauge("a"), gauge("b")), dialect(gauge("c"), name="other")
    assert {name: only(index_names([first, second]), name).order for name in "abc"} == {"a": 0, "b": 1, "c": 2}
    assert {name: only(index_names([second, first]), name).order for name in "abc"} == {"c": 0, "a": 1, "b": 2}


def test_a_name_that_several_entries_read() -> None:
    """One metric can become several signals, and two dialects can know one name."""
    index = index_names([dialect(counter("a"), counter("a", signal="engine.steps")), dialect(counter("a"), name="other")])
    assert [(use.dialect.name, use.entry.signal) for use in index["a"]] == [
        ("acme", "tokens.generation"),
        ("acme", "engine.steps"),
        ("other", "tokens.generation"),
    ]


def test_names_that_only_engines_have() -> None:
    """A name is an engine's if no other program and no client library has it."""
    gateway = dialect(gauge("both"), name="router", scope="gateway")
    index = index_names([dialect(gauge("both"), gauge("own"), gauge("process_x")), gateway])
    assert [is_engine_name(index, name) for name in ("own", "both", "process_x", "nobody")] == [True, False, False, False]


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        (gauge("a", count="b"), "a sum and a count make a mean"),
        (counter("a", items="x"), "items are counted of a gauge"),
        ({"names": "a", "type": "gauge", "value_fact": "model", "items": "x"}, "items are counted of a gauge"),
        (counter("a", asked="x"), "asked and served go together"),
        ({"names": "a", "type": "gauge"}, "becomes nothing"),
        (gauge("a", signal="tokens.generation"), "do not go together"),
        (gauge("a", signal="latency.ttft"), "do not go together"),
        (gauge("a", signal="queue.length"), "no signal is called queue.length"),
        ({"names": [], "type": "gauge", "signal": "queue.waiting"}, "at least 1 item"),
    ],
)
def test_entries_that_make_no_sense(entry: dict[str, Any], told: str) -> None:
    """An entry whose keys contradict each other is refused where it is written, not where it is read."""
    with pytest.raises(ValidationError, match=told):
        dialect(entry)

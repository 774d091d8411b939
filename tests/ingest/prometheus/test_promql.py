"""What a server is asked, as text, and how its answers are read. The same text is put before real servers elsewhere."""

import json
import re
from math import isfinite
from typing import Any

import numpy as np
import pytest
import re2
from hypothesis import given
from hypothesis import strategies as st

from triage.ingest.metrics.naming import Use, index_names
from triage.ingest.prometheus.promql import (
    FEWEST_POINTS,
    POINTS,
    SAMPLES,
    Grid,
    Matcher,
    Query,
    any_pattern,
    expression,
    grid_of,
    literal,
    one_of,
    points_for,
    query_for,
    quoted,
    read_matrix,
    scrape_interval,
    selector,
    unique,
)
from triage.ingest.raw import RawSeries
from triage.model.dialect import Dialect
from triage.model.recording import Window
from triage.model.units import promql_duration

WINDOW = Window(5000.0, 6800.0, 1400.0)

HOSTILE = st.text(st.characters(exclude_categories=["Cs"]), max_size=40) | st.sampled_from(
    ['"', "\\", '"} or vector(1)', "a\nb", "a\x00b", "\\\\\"", "a{b}", "(?i)x", "x|y", "\u2028", "llm-prod\n{}", "'", "`"]
)  # fmt: skip


def uses(*entries: dict[str, Any], scope: str = "replica", **more: Any) -> tuple[Use, ...]:
    """All readings of the first entry's first name in a dialect of these entries."""
    name = entries[0]["names"] if isinstance(entries[0]["names"], str) else entries[0]["names"][0]
    dialect = Dialect.model_validate({"name": "test", "title": "Test", "scope": scope, "metrics": list(entries), **more})
    index = index_names([dialect])
    return index.get(name) or index[f"{name}_bucket"]


def ask(*entries: dict[str, Any], interval: float = 15.0, subjects: int = 2, scope: str = "replica", **more: Any) -> Query:
    """The query for the first entry's metric."""
    read = uses(*entries, scope=scope, **more)
    name = str(entries[0]["names"])
    metric = f"{name}_bucket" if read[0].part else name
    return query_for(metric, read, (Matcher("service", "=", "llm"),), WINDOW, interval=interval, subjects=subjects)


def kept(query: Query) -> set[str]:
    """The labels that a query keeps."""
    found = re.search(r" by \(([^)]*)\)", query.text)
    return set(found.group(1).split(",")) if found else set()


# Escaping


@given(HOSTILE)
def test_a_label_value_stays_inside_its_quotes(text: str) -> None:
    """A literal is one line, ends where it should and says what was put in: Go reads JSON's escapes as JSON does."""
    found = quoted(text)
    assert json.loads(found) == text
    assert not re.search(r"[\x00-\x1f]", found)
    assert re.fullmatch(r'"(?:[^"\\]|\\.)*"', found, re.DOTALL)


def test_half_a_surrogate_pair_does_not_break_the_question() -> None:
    """A hostile server can put one into JSON; it cannot be sent as UTF-8."""
    assert quoted("a\ud800b") == '"a?b"'
    selector("up", [one_of("pod", ["a\ud800", "b"])]).encode()


@given(HOSTILE, HOSTILE)
def test_a_literal_pattern_matches_its_text_and_nothing_else(text: str, other: str) -> None:
    """In RE2, which is what the servers use."""
    pattern = re2.compile(literal(text))
    assert pattern.fullmatch(text)
    assert bool(pattern.fullmatch(other)) == (text == other)


@given(st.lists(HOSTILE, min_size=1, max_size=8), HOSTILE)
def test_one_of_many_values_matches_just_these(values: list[str], other: str) -> None:
    """Equality for one, a pattern for more."""
    matcher = one_of("pod", values)
    if matcher.op == "=":
        assert {matcher.value} == set(values)
        return
    pattern = re2.compile(matcher.value)
    assert all(pattern.fullmatch(value) for value in values)
    assert bool(pattern.fullmatch(other)) == (other in values)


def test_many_long_values_are_written_with_their_common_beginning_once() -> None:
    """Two hundred pods of one deployment fit into a query that VictoriaMetrics takes, and no other pod matches."""
    pods = [f"llm-prod-with-a-long-name-5b59c84684-{number:05d}" for number in range(200)]
    matcher = one_of("pod", pods)
    assert len(matcher.value) < 4096
    pattern = re2.compile(matcher.value)
    assert all(pattern.fullmatch(pod) for pod in pods)
    assert not pattern.fullmatch("llm-prod-with-a-long-name-5b59c84684-99999")


def test_too_many_values_become_their_common_beginning() -> None:
    """More than a query can hold: others may come along, none is lost."""
    pods = [f"llm-{number:06d}" for number in range(3000)]
    matcher = one_of("pod", pods)
    assert matcher == Matcher("pod", "=~", "llm-00.*")
    assert all(re2.fullmatch(matcher.value, pod) for pod in pods)


def test_names_that_promql_cannot_write_are_quoted() -> None:
    """A metric of that kind becomes a matcher, which every server knows; a label is quoted, which Prometheus 3 knows."""
    assert selector("up") == "up"
    assert selector("vllm:num_requests_waiting", [Matcher("pod", "!=", "a")]) == 'vllm:num_requests_waiting{pod!="a"}'
    assert selector("my.metric", [Matcher("k8s.pod", "=", "a")]) == '{__name__="my.metric","k8s.pod"="a"}'
    assert selector("", [one_of("__name__", ["b", "a"])]) == '{__name__=~"a|b"}'


def test_alternatives_do_not_run_into_each_other() -> None:
    """Each pattern stays a whole."""
    matcher = any_pattern("status", ["5..", "4[0-8]|429"])
    assert [bool(re2.fullmatch(matcher.value, code)) for code in ("503", "429", "408", "4", "200")] == [
        True,
        True,
        False,
        False,
        False,
    ]


# Time


@given(
    st.floats(1e9, 2e9), st.floats(10.0, 1e5), st.floats(0.0, 5e5), st.floats(0.5, 120.0), st.integers(FEWEST_POINTS, POINTS)
)  # fmt: skip
def test_a_grid_ends_with_the_window_and_is_not_too_fine(
    end: float, length: float, before: float, interval: float, points: int
) -> None:
    """No finer than the scrapes, no more points than asked for (and one), from the baseline's beginning on."""
    window = Window(end - length, end, end - length - before)
    grid = grid_of(window, interval, points)
    assert end - 1 < grid.end <= end
    assert (grid.end - grid.start) % grid.step == 0
    assert min(window.baseline_start, grid.end) <= grid.start <= grid.end
    assert grid.step >= interval * 0.98
    assert grid.points <= points * 1.02 + 1


def test_a_grid_has_a_step_that_people_would_take() -> None:
    """An hour and a half of scrapes every 15 s becomes minutes; a short recording of scrapes every 2 s keeps them all."""
    assert grid_of(WINDOW, 15.0) == Grid(1400, 6800, 60)
    assert grid_of(Window(100.0, 220.9, 60.0), 2.0) == Grid(60, 220, 2)
    assert grid_of(Window(1e9, 1e9 + 7 * 86400, 1e9 - 7 * 86400), 15.0).step == 14400.0


@given(st.integers(0, 10**7))
def test_more_series_mean_fewer_points(series: int) -> None:
    """An answer stays below its limit, until it would have too few points to say anything."""
    points = points_for(series)
    assert FEWEST_POINTS <= points <= POINTS
    assert points == FEWEST_POINTS or points * series <= SAMPLES


def test_the_interval_of_scrapes_is_the_usual_distance() -> None:
    """One gap does not change it; two samples do not tell it."""
    assert scrape_interval([10, 25, 40, 100, 115]) == 15.0
    assert scrape_interval([10, 25]) == 0.0


# Planning


def test_a_counter_becomes_a_rate_of_its_subjects() -> None:
    """The rate is taken over four scrapes at least, so that a missed one leaves no hole."""
    query = ask({"names": "vllm:num_preemptions_total", "type": "counter", "signal": "preemptions"})
    assert query.text.startswith("sum by (")
    assert 'rate(vllm:num_preemptions_total{service="llm"}[1m])' in query.text
    assert query.rate
    assert query.signals == ("preemptions",)
    slow = ask({"names": "vllm:num_preemptions_total", "type": "counter", "signal": "preemptions"}, interval=60.0)
    assert "[4m]" in slow.text


def test_a_gauge_is_its_mean_over_the_step_or_its_last_value() -> None:
    """With several scrapes a step the mean says more; with one, the value itself, but none that is long over."""
    entry = {"names": "vllm:num_requests_waiting", "type": "gauge", "signal": "queue.waiting"}
    assert 'avg_over_time(vllm:num_requests_waiting{service="llm"}[1m])' in ask(entry, interval=15.0).text
    assert 'last_over_time(vllm:num_requests_waiting{service="llm"}[90s])' in ask(entry, interval=60.0).text
    assert not ask(entry).rate


def test_a_state_is_never_averaged() -> None:
    """Half of ready is nothing, and half of a bit mask is another mask."""
    ready = ask({"names": "kube_pod_status_ready", "type": "gauge", "signal": "pod.ready", "where": {"condition": "true"}})
    assert "last_over_time(" in ready.text
    mask = ask(
        {"names": "DCGM_FI_DEV_CLOCKS_EVENT_REASONS", "type": "gauge", "signal": "gpu.throttle_thermal", "bit": 96}, scope="gpu"
    )
    assert mask.text == 'last_over_time(DCGM_FI_DEV_CLOCKS_EVENT_REASONS{service="llm"}[22500ms])'


def test_a_histogram_keeps_its_bounds_and_its_subjects() -> None:
    """Buckets are summed over everything but the bound and whose they are."""
    query = ask({"names": "vllm:time_to_first_token_seconds", "type": "histogram", "signal": "latency.ttft"})
    assert query.text.startswith("sum by (")
    assert {"le", "pod", "instance", "job"} <= kept(query)
    assert "rate(vllm:time_to_first_token_seconds_bucket" in query.text


def test_more_replicas_mean_a_coarser_view_of_their_buckets() -> None:
    """Sixteen replicas are seen as finely as one, a hundred more coarsely, and the answer stays small."""
    entry = {"names": "vllm:time_to_first_token_seconds", "type": "histogram", "signal": "latency.ttft"}
    few, many = ask(entry, subjects=16), ask(entry, subjects=100)
    assert few.grid.step == 60.0
    assert many.grid.step > few.grid.step
    assert many.grid.points <= FEWEST_POINTS
    assert f"[{promql_duration(many.grid.step)}]" in many.text


def test_the_server_combines_series_as_the_reader_would() -> None:
    """By the signal's own way, or the entry's."""
    usage = {"names": "vllm:kv_cache_usage_perc", "type": "gauge", "signal": "kv.usage"}
    assert ask(usage).text.startswith("max by (")
    assert ask({**usage, "combine": "mean"}).text.startswith("avg by (")


def test_values_that_stand_for_none_are_not_added_to_others() -> None:
    """The reader knows which they are, the server does not; running totals have none."""
    usage = {"names": "vllm:kv_cache_usage_perc", "type": "gauge", "signal": "kv.usage"}
    assert " by (" not in ask({**usage, "unknown": [-1]}).text
    assert " by (" not in ask(usage, unknown=[-1]).text
    total = {"names": "sglang_tokens_total", "type": "counter", "signal": "tokens.generation"}
    assert " by (" in ask(total, unknown=[-1]).text


def test_readings_that_differ_leave_the_series_as_they_are() -> None:
    """Two readings that combine in two ways, or one that wants running totals and one that does not."""
    state = {"names": "vllm_router_worker_health", "type": "gauge"}
    both = ask(
        {**state, "signal": "gateway.backends_healthy", "combine": "sum"}, {**state, "signal": "backend.healthy", "one_if": 1}
    )
    assert " by (" not in both.text
    total = {"names": "lmdeploy_requests_total"}
    mixed = ask({**total, "type": "counter", "signal": "finished"}, {**total, "type": "gauge", "signal": "batch.running"})
    assert mixed.text.startswith("last_over_time(")
    assert not mixed.rate


def test_conditions_of_all_readings_go_to_the_server() -> None:
    """What no reading wants is not sent; what one reading wants without condition is."""
    cpu = {
        "names": "node_cpu_seconds_total",
        "type": "counter",
        "signal": "node.cpu_busy",
        "where": {"mode": "idle"},
        "scale": -1,
        "offset": 1,
    }
    assert 'mode="idle"' in ask({**cpu, "signal": "node.cpu_pressure"}, scope="node").text
    http = {"names": "http_requests_total", "type": "counter"}
    good, bad = ({**http, "signal": f"http.{code}xx", "where": {"status": f"{code}.."}} for code in (2, 5))
    assert 'status=~"(?:2..)|(?:5..)"' in ask(good, bad).text
    assert "status" in kept(ask(good, bad))
    free = ask(good, bad, {**http, "signal": "http.requests"})
    assert "status=~" not in free.text
    assert "status" in kept(free)
    waiting = {"names": "vllm:num_requests_waiting", "type": "gauge"}
    by_engine = {**waiting, "signal": "queue.waiting", "where": {"server": ""}}
    by_router = {**waiting, "signal": "gateway.pending", "where": {"server": ".+"}}
    assert 'server=""' in ask(by_engine).text
    assert "server=" not in ask(by_engine, by_router).text
    assert 'server!~"a|b"' in ask({**by_engine, "where": {"server": "!a|b"}}).text


def test_labels_that_tell_subjects_apart_are_kept() -> None:
    """Cards by UUID, workloads by owner, backends by the label that the dialect names, facts by their labels."""
    card = ask({"names": "DCGM_FI_DEV_GPU_TEMP", "type": "gauge", "signal": "gpu.temp"}, scope="gpu")
    assert {"UUID", "Hostname", "pod", "gpu", "GPU_I_ID"} <= kept(card)
    xids = ask({"names": "nvidia_smi_xid_errors_total", "type": "counter", "signal": "gpu.xids", "code": "xid"}, scope="gpu")
    assert "xid" in kept(xids)
    disk = ask({"names": "node_disk_read_bytes_total", "type": "counter", "signal": "node.disk_read"}, scope="node")
    assert "device" not in kept(disk)
    replicas = ask({"names": "kube_deployment_spec_replicas", "type": "gauge", "signal": "replicas.desired"}, scope="service")
    assert {"deployment", "namespace"} <= kept(replicas)
    backend = ask(
        {"names": "router_requests_total", "type": "counter", "signal": "backend.requests"},
        scope="gateway",
        identity={"replica": ["worker"]},
    )
    assert "worker" in kept(backend)
    info = ask({"names": "vllm:cache_config_info", "type": "info", "facts": {"block_size": "block_size"}})
    assert info.text.startswith("max by (")
    assert "block_size" in kept(info)
    assert info.signals == ("facts",)


def test_facts_in_the_labels_of_a_counter_do_not_change_how_it_is_read() -> None:
    """Engines tell their model in the labels of every metric."""
    counter = {"names": "vllm:generation_tokens_total", "type": "counter", "signal": "tokens.generation"}
    query = ask(counter, {"names": "vllm:generation_tokens_total", "type": "info", "facts": {"model_name": "model"}})
    assert query.rate
    assert query.text.startswith("sum by (")
    assert "model_name" in kept(query)


def test_an_info_metric_is_looked_for_over_the_whole_step() -> None:
    """A pod that lived between two points leaves its facts."""
    info = ask({"names": "kube_pod_info", "type": "info", "facts": {"node": "node"}}, interval=15.0)
    assert "[1m]" in info.text


def test_a_label_that_cannot_be_written_is_not_kept() -> None:
    """A dialect of the user's may name anything."""
    text = expression("up", [], reading="last", span=60, operator="max", keep=["job", "a) or (b", "my.label"])
    assert text == "max by (job) (last_over_time(up[1m]))"


# Answers


def test_an_answer_becomes_series_without_what_was_not_measured() -> None:
    """NaN and infinity are no values; an aggregate has no name of its own."""
    result = [
        {"metric": {"pod": "a"}, "values": [[1.5, "2"], [2.5, "NaN"], [3.5, "+Inf"], [4.5, "1e3"]]},
        {"metric": {"pod": "b"}, "values": [[1.5, "NaN"]]},
    ]
    (one,) = read_matrix("vllm:num_requests_waiting", result, rate=True)
    assert (one.name, dict(one.labels), one.rate) == ("vllm:num_requests_waiting", {"pod": "a"}, True)
    assert one.times.tolist() == [1.5, 4.5]
    assert one.values.tolist() == [2.0, 1000.0]


def test_a_native_histogram_becomes_a_classic_one() -> None:
    """Cumulative buckets with bounds, sum and count, all of them per second."""
    reading = {"count": "6", "sum": "9.5", "buckets": [[0, "0", "1", "2"], [0, "1", "2", "4"]]}
    found = read_matrix("latency", [{"metric": {"pod": "a"}, "histograms": [[10, reading], [20, reading]]}], rate=True)
    values = {(one.name, one.labels.get("le")): one.values.tolist() for one in found}
    assert values == {
        ("latency_bucket", "1.0"): [2.0, 2.0],
        ("latency_bucket", "2.0"): [6.0, 6.0],
        ("latency_bucket", "+Inf"): [6.0, 6.0],
        ("latency_sum", None): [9.5, 9.5],
        ("latency_count", None): [6.0, 6.0],
    }
    assert all(one.rate and one.labels["pod"] == "a" for one in found)


@pytest.mark.parametrize(
    "result", [[{}], [{"metric": {}, "values": [["x", "1"]]}], [{"metric": {}, "values": [[1]]}], [None], [{"metric": 3}]]
)
def test_a_malformed_answer_is_an_error(result: Any) -> None:
    """And one of the errors that the reader's docstring names."""
    with pytest.raises((KeyError, TypeError, ValueError, AttributeError)):
        read_matrix("up", result, rate=False)


metrics = st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=3)
samples = st.lists(st.tuples(st.floats(0, 2e9), st.floats().map(str)), max_size=6)


@given(st.lists(st.fixed_dictionaries({"metric": metrics, "values": samples}), max_size=4))
def test_times_ascend_and_values_are_finite(result: list[dict[str, Any]]) -> None:
    """Whatever a server sends."""
    for one in read_matrix("m", result, rate=False):
        assert len(one.times) == len(one.values) > 0
        assert (np.diff(one.times) > 0).all()
        assert all(map(isfinite, one.values))


def test_a_series_that_two_answers_hold_is_kept_once_and_the_latest_ends_the_list() -> None:
    """Of an old and a new fact the new one is read last."""

    def series(pod: str, *times: float) -> RawSeries:
        return RawSeries("info", {"pod": pod}, np.array(times), np.ones(len(times)))

    found = unique([series("b", 1, 9), series("a", 1, 5), series("b", 1, 9)])
    assert [(one.labels["pod"], one.times[-1]) for one in found] == [("a", 5), ("b", 9)]

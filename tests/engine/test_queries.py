"""PromQL that gives the very value that is shown; where none does, the queries of what it was derived from.

tests/test_queries.py asks them of a real server.
"""

from dataclasses import replace

import pytest

from tests.engine.making import BEGIN, Buckets, make_recording, place
from triage.engine.derived import derive
from triage.engine.frame import Frame
from triage.engine.queries import QUOTIENTS, RATIOS, SAME_AS, Reckoning, reckoned
from triage.model.recording import Origin
from triage.model.rule import Stat
from triage.model.vocabulary import Combine, catalogue

END = "1760001600"


def framed(values: dict[str, object], origins: dict[str, Origin], **told: object) -> Frame:
    """A frame of these series, each with its origin."""
    recording = make_recording(values, **told)  # type: ignore[arg-type]
    series = [replace(one, origin=origin) for one, origin in zip(recording.series, origins.values(), strict=True)]
    frame = Frame(replace(recording, series=series))
    derive(frame)
    return frame


def asked(frame: Frame, key: str, stat: Stat = "mean", **told: object) -> Reckoning:
    """How a statistic of a signal over its subjects can be worked out again."""
    signal, subject = place(key)
    return reckoned(frame, signal, frame.subjects_of(signal) or [subject], stat, **told)  # type: ignore[arg-type]


GAUGE = Origin("vllm", "kv", 'kv{pod="a"}', combine="max")
COUNTER = Origin("vllm", "pre_total", 'pre_total{pod="a"}', counter=True)


@pytest.mark.parametrize(
    ("stat", "query"),
    [
        ("mean", f'max(avg_over_time(kv{{pod="a"}}[10m] @ {END}))'),
        ("max", f'max(max_over_time(kv{{pod="a"}}[599s] @ {END}))'),
        ("p95", f'max(quantile_over_time(0.95, kv{{pod="a"}}[599s] @ {END}))'),
        ("last", f'max(avg_over_time(kv{{pod="a"}}[14s] @ {END}))'),
        ("peak", f'max_over_time((max(avg_over_time(kv{{pod="a"}}[195s])))[406s:15s] @ {END})'),
    ],
)
def test_a_level(stat: Stat, query: str) -> None:
    """Each statistic by the function of that name, over the window, with the moment at which it is asked."""
    frame = framed({"kv.usage": 0.5}, {"kv.usage": GAUGE})
    assert asked(frame, "kv.usage", stat) == Reckoning(query)


def test_a_counter() -> None:
    """Its rate, or its increase for a sum; the highest rate over a moment, at every step."""
    frame = framed({"preemptions": 2.0}, {"preemptions": COUNTER})
    assert asked(frame, "preemptions").query == f'sum(rate(pre_total{{pod="a"}}[10m] @ {END}))'
    assert asked(frame, "preemptions", "sum").query == f'sum(increase(pre_total{{pod="a"}}[10m] @ {END}))'
    assert (
        asked(frame, "preemptions", "peak").query == f'max_over_time((sum(rate(pre_total{{pod="a"}}[195s])))[406s:15s] @ {END})'
    )


def test_the_span_and_the_time_before() -> None:
    """``over`` and ``period`` are in the query."""
    frame = framed({"preemptions": 2.0}, {"preemptions": COUNTER})
    assert asked(frame, "preemptions", span=frame.grid.baseline).query.endswith(f"[10m] @ {int(BEGIN + 600)}))")
    assert asked(frame, "preemptions", span=slice(76, 80)).query.endswith(f"[1m] @ {END}))")


def test_a_counter_that_appeared_is_counted_from_nothing() -> None:
    """A rate would not count what it began with; where it ended, too, no query does."""
    born = replace(COUNTER, born=BEGIN + 900)
    values = [float("nan")] * 59 + [2.0] * 21
    frame = framed({"preemptions": values}, {"preemptions": born})
    found = asked(frame, "preemptions", "sum").query
    assert found == f'(sum(pre_total{{pod="a"}} @ {END}) - (sum(pre_total{{pod="a"}} @ {END} offset 10m) or vector(0)))'


def test_the_lowest_of_single_scrapes_of_a_counter_is_derived() -> None:
    """No server's rate over two scrapes is that between them: nothing is printed that gives another number."""
    frame = framed({"preemptions": lambda time: 2.0 if time < 300 else 5.0}, {"preemptions": COUNTER})
    found = asked(frame, "preemptions", "min")
    assert found.query == ""
    assert [(one.signal, one.query) for one in found.inputs] == [("preemptions", f'sum(rate(pre_total{{pod="a"}}[10m] @ {END}))')]


def test_a_distribution() -> None:
    """A quantile over the buckets, or sum by count."""
    recording = make_recording({}, histograms={"latency.ttft": Buckets((1,), (1, 0))})
    origin = Origin("vllm", "ttft", 'ttft{pod="a"}')
    frame = Frame(replace(recording, histograms=(replace(recording.histograms[0], origin=origin),)))
    quantile = f'histogram_quantile(0.95, sum by (le) (rate(ttft_bucket{{pod="a"}}[10m] @ {END})))'
    assert asked(frame, "latency.ttft", "p95").query == quantile
    mean = f'sum(rate(ttft_sum{{pod="a"}}[10m] @ {END})) / sum(rate(ttft_count{{pod="a"}}[10m] @ {END}))'
    assert asked(frame, "latency.ttft").query == mean


def test_several_subjects_are_named() -> None:
    """Two pods of one job: the job stays, the pods are listed, so that no stranger's series is found; put together as asked."""
    origins = {one: Origin("vllm", "m", f'm{{job="llm",pod="{one}"}}', combine="max") for one in "ab"}
    frame = framed({"kv.usage@replica/a": 0.1, "kv.usage@replica/b": 0.3}, origins)
    assert asked(frame, "kv.usage").query == f'max(avg_over_time(m{{job="llm",pod=~"a|b"}}[10m] @ {END}))'
    apart = asked(frame, "kv.usage", across=Combine.MEAN).query
    assert apart == f'avg(max by (pod) (avg_over_time(m{{job="llm",pod=~"a|b"}}[10m] @ {END})))'


def test_a_mean_of_maxima_is_no_maximum_of_means() -> None:
    """Where replicas are full in turn the fullest at each step is asked for."""
    origins = {one: Origin("vllm", "m", f'm{{pod="{one}"}}', combine="max") for one in "ab"}
    turns = {"kv.usage@replica/a": lambda time: time % 60 < 30, "kv.usage@replica/b": lambda time: time % 60 >= 30}
    frame = framed(dict(turns), origins)
    assert asked(frame, "kv.usage").query == f'avg_over_time((max(avg_over_time(m{{pod=~"a|b"}}[14s])))[599s:15s] @ {END})'


def test_a_unit_and_a_bit_are_turned_in_the_query() -> None:
    """A source that counts milliseconds; a state that is a bit of a mask, which is never averaged as a number."""
    milliseconds = replace(GAUGE, scale=0.001)
    frame = framed({"engine.step_time": 0.5}, {"engine.step_time": milliseconds})
    assert asked(frame, "engine.step_time").query == f'(max(avg_over_time(kv{{pod="a"}}[10m] @ {END})) * 0.001)'
    mask = replace(GAUGE, flag="(floor({} / 8) % 2)")
    frame = framed({"gpu.throttle_brake": 1.0}, {"gpu.throttle_brake": mask})
    query = f'avg_over_time((max((floor(last_over_time(kv{{pod="a"}}[37500ms]) / 8) % 2)))[599s:15s] @ {END})'
    assert asked(frame, "gpu.throttle_brake").query == query


def test_the_maximum_of_a_ratio_is_no_ratio_of_maxima() -> None:
    """One rate by the other at each step, over a minute, and then the greatest mean of a moment."""
    origins = {
        "prefix.hits": Origin("vllm", "hits", 'hits{pod="a"}', counter=True),
        "prefix.queries": Origin("vllm", "lookups", 'lookups{pod="a"}', counter=True),
    }
    frame = framed({"prefix.hits": 1.0, "prefix.queries": 4.0}, origins)
    ratio = 'sum(rate(hits{pod="a"}[1m])) / (sum(rate(lookups{pod="a"}[1m])) > 0)'
    assert asked(frame, "prefix.hit_ratio").query == f"avg_over_time(({ratio})[599s:15s] @ {END})"
    peak = asked(frame, "prefix.hit_ratio", "peak").query
    assert peak == f"max_over_time((avg_over_time(({ratio})[194s:15s]))[406s:15s] @ {END})"


def test_a_source_that_speaks_no_promql_has_no_query() -> None:
    """NVML, a log."""
    frame = framed({"kv.usage": 0.5}, {"kv.usage": Origin("nvml", "x")})
    assert asked(frame, "kv.usage") == Reckoning()


def test_an_endpoint_is_looked_at_where_it_shows_its_metrics() -> None:
    """It has no history to ask for; of a scrape itself nothing is shown there but how it ends."""
    shown_at = "http://127.0.0.1:8000/metrics"
    frame = framed({"kv.usage": 0.5}, {"kv.usage": Origin("vllm", "vllm:kv_cache_usage_perc", shown_at=shown_at)})
    found = asked(frame, "kv.usage")
    assert found.query == ""
    assert [one.query for one in found.inputs] == ["curl -s http://127.0.0.1:8000/metrics | grep '^vllm:kv_cache_usage_perc'"]
    frame = framed({"target.up": 1.0}, {"target.up": Origin("prometheus", "up", shown_at=shown_at)})
    (up,) = asked(frame, "target.up").inputs
    assert up.query.startswith("curl -s -o /dev/null -w '%{http_code} after")


def test_a_total_that_does_not_fall_is_what_it_gained_where_a_server_would_extrapolate() -> None:
    """Nothing was counted before: a server takes it to have begun where it was 0, the difference is what it is."""
    values = [0.0] * 75 + [2.0] * 5
    frame = framed({"preemptions": values}, {"preemptions": COUNTER})
    difference = f'(sum(pre_total{{pod="a"}} @ {END}) - (sum(pre_total{{pod="a"}} @ {END} offset 10m) or vector(0)))'
    assert asked(frame, "preemptions", "sum").query in (difference, f'sum(increase(pre_total{{pod="a"}}[10m] @ {END}))')
    fell = replace(COUNTER, fell=BEGIN + 900)
    begun = [float("nan")] * 59 + [2.0] * 21
    frame = framed({"preemptions": begun}, {"preemptions": replace(fell, born=BEGIN + 900)})
    assert asked(frame, "preemptions", "sum").query == ""


def test_what_a_query_cannot_say_is_derived() -> None:
    """Readings that were left out, series that no selector finds alone: the input is shown as one."""
    frame = framed({"kv.usage": 0.5}, {"kv.usage": replace(GAUGE, plain=False)})
    found = asked(frame, "kv.usage")
    assert found.query == ""
    assert [one.query for one in found.inputs] == [f'max(avg_over_time(kv{{pod="a"}}[10m] @ {END}))']


def test_a_limit_that_is_only_stated_is_a_number_in_the_query() -> None:
    """How full the batch is where the engine's arguments tell its limit, and no metric does."""
    running = Origin("vllm", "running", 'running{pod="a"}', combine="sum")
    frame = framed({"batch.running": 12.0}, {"batch.running": running}, facts={"max_num_seqs": 16})
    assert asked(frame, "batch.fill").query == f'sum(avg_over_time(running{{pod="a"}}[10m] @ {END})) / 16'


def test_tables_name_signals_that_there_are() -> None:
    """A renamed signal would leave its query empty in silence."""
    names = {name for pair in (RATIOS | QUOTIENTS).values() for name in pair} | {
        name for some in SAME_AS.values() for name in some
    }
    assert (names | RATIOS.keys() | QUOTIENTS.keys() | SAME_AS.keys()) <= catalogue().keys()

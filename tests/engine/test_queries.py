"""PromQL by which a person can look at a value."""

from dataclasses import replace

import pytest

from tests.engine.making import Buckets, make_recording, place
from triage.engine.frame import Frame
from triage.engine.queries import RATIOS, SAME_AS, query_of
from triage.model.recording import Origin
from triage.model.rule import Stat
from triage.model.vocabulary import catalogue


def framed(**origins: Origin) -> Frame:
    """A frame of these series (``__`` for the dot, ``___`` before the name of a replica)."""
    keys = {name.replace("___", "@replica/").replace("__", "."): origin for name, origin in origins.items()}
    recording = make_recording(dict.fromkeys(keys, 1.0))
    series = tuple(replace(one, origin=origin) for one, origin in zip(recording.series, keys.values(), strict=True))
    return Frame(replace(recording, series=series))


def asked(frame: Frame, key: str, stat: Stat = "mean") -> str:
    """The query of a signal over its subjects."""
    signal, subject = place(key)
    return query_of(frame, signal, frame.subjects_of(signal) or [subject], stat)


GAUGE = Origin("vllm", "vllm:kv_cache_usage_perc", 'vllm:kv_cache_usage_perc{pod="a"}')
COUNTER = Origin("vllm", "vllm:num_preemptions_total", 'vllm:num_preemptions_total{pod="a"}', counter=True)


@pytest.mark.parametrize(
    ("stat", "query"),
    [
        ("mean", 'avg_over_time(vllm:kv_cache_usage_perc{pod="a"}[10m])'),
        ("max", 'max_over_time(vllm:kv_cache_usage_perc{pod="a"}[10m])'),
        ("p95", 'quantile_over_time(0.95, vllm:kv_cache_usage_perc{pod="a"}[10m])'),
        ("slope", 'deriv(vllm:kv_cache_usage_perc{pod="a"}[10m])'),
        ("peak", 'max_over_time((avg_over_time(vllm:kv_cache_usage_perc{pod="a"}[5m]))[10m:])'),
    ],
)
def test_a_gauge(stat: Stat, query: str) -> None:
    """Each statistic by the function of that name, over the window."""
    assert asked(framed(kv__usage=GAUGE), "kv.usage", stat) == query


def test_a_counter() -> None:
    """Its rate, or its increase for a sum."""
    frame = framed(preemptions=COUNTER)
    assert asked(frame, "preemptions") == 'sum(rate(vllm:num_preemptions_total{pod="a"}[10m]))'
    assert asked(frame, "preemptions", "sum") == 'sum(increase(vllm:num_preemptions_total{pod="a"}[10m]))'


def test_a_distribution() -> None:
    """A quantile over the buckets, or sum by count."""
    recording = make_recording({}, histograms={"latency.ttft": Buckets((1,), (1, 0))})
    origin = Origin("vllm", "vllm:ttft", 'vllm:ttft{pod="a"}')
    frame = Frame(replace(recording, histograms=(replace(recording.histograms[0], origin=origin),)))
    assert asked(frame, "latency.ttft", "p95") == 'histogram_quantile(0.95, sum by (le) (rate(vllm:ttft_bucket{pod="a"}[10m])))'
    assert asked(frame, "latency.ttft") == 'sum(rate(vllm:ttft_sum{pod="a"}[10m])) / sum(rate(vllm:ttft_count{pod="a"}[10m]))'


def test_several_subjects_share_their_matchers() -> None:
    """Two pods of one job: the job stays, the pods go, and they are put together as the signal is."""
    one = Origin("vllm", "m", 'm{job="llm",pod="a"}')
    other = Origin("vllm", "m", 'm{job="llm",pod="b"}')
    assert asked(framed(kv__usage___a=one, kv__usage___b=other), "kv.usage") == 'max(avg_over_time(m{job="llm"}[10m]))'


def test_a_unit_is_turned_in_the_query() -> None:
    """A source that counts milliseconds."""
    assert asked(framed(engine__step_time=replace(GAUGE, scale=0.001)), "engine.step_time").endswith(" * 0.001")


def test_a_derived_ratio_is_part_by_whole() -> None:
    """Only where both can be asked."""
    hits = Origin("vllm", "hits", 'hits{pod="a"}', counter=True)
    lookups = Origin("vllm", "lookups", 'lookups{pod="a"}', counter=True)
    frame = framed(prefix__hits=hits, prefix__queries=lookups)
    assert asked(frame, "prefix.hit_ratio") == 'sum(rate(hits{pod="a"}[10m])) / sum(rate(lookups{pod="a"}[10m]))'
    assert asked(framed(prefix__hits=hits), "prefix.hit_ratio") == ""


def test_a_source_that_speaks_no_promql_has_no_query() -> None:
    """NVML, a log, an endpoint read directly."""
    assert asked(framed(kv__usage=Origin("nvml", "x")), "kv.usage") == ""
    assert asked(framed(), "kv.usage") == ""


def test_tables_name_signals_that_there_are() -> None:
    """A renamed signal would leave its query empty in silence."""
    names = {name for pair in RATIOS.values() for name in pair} | {name for names in SAME_AS.values() for name in names}
    assert (names | RATIOS.keys() | SAME_AS.keys()) <= catalogue().keys()

"""Metrics that end while their targets go on, and all the ways in which a metric can end that are no news."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from triage.ingest.metrics.dialects import load_dialects
from triage.ingest.metrics.openmetrics import parse, read_text
from triage.ingest.metrics.translate import translate
from triage.ingest.raw import RawSeries
from triage.model.dialect import Dialect
from triage.model.recording import Event, Window
from triage.model.service import Service

STEP = 15.0
END = 3600.0
WINDOW = Window(1800.0, END, 0.0)

ACME = Dialect.model_validate(
    {
        "name": "acme",
        "title": "Acme Engine",
        "scope": "replica",
        "metrics": [
            {"names": ["usage_new", "usage_old"], "type": "gauge", "signal": "kv.usage"},
            {"names": "running", "type": "gauge", "signal": "batch.running"},
            {"names": "waiting", "type": "gauge", "signal": "queue.waiting"},
            {"names": "tokens_total", "type": "counter", "signal": "tokens.generation"},
            {"names": "prompts_total", "type": "counter", "signal": "tokens.prompt"},
            {"names": "done_total", "type": "counter", "signal": "finished"},
            {"names": "errors_total", "type": "counter", "signal": "finished.error"},
            {"names": "state", "type": "gauge", "signal": "engine.sleeping"},
            {"names": "foreign", "type": "gauge", "signal": "kv.used", "where": {"process": "!(engine|)"}},
            {"names": "adapters", "type": "gauge", "signal": "lora.running", "items": "names"},
            {"names": "tokens_made_total", "type": "counter", "signal": "tokens.generation"},
        ],
    }
)
ALL = {"usage_old": 0.0, "running": 0.0, "waiting": 0.0, "tokens_total": 50.0, "prompts_total": 90.0, "done_total": 1.0}
"""Metrics of an engine, and how fast the counters among them grow."""


def life(name: str, pod: str, begin: float, end: float, speed: float = 0.0) -> RawSeries:
    """One metric of one pod from ``begin`` to ``end``, growing by ``speed`` a second."""
    times = np.arange(begin, end + 1, STEP)
    return RawSeries(name, {"service": "svc", "pod": pod, "instance": pod}, times, 0.5 + speed * (times - begin))


def pod(name: str, begin: float = 0.0, end: float = END, metrics: Mapping[str, float] = ALL) -> list[RawSeries]:
    """All metrics of one pod over its life."""
    return [life(metric, name, begin, end, speed) for metric, speed in metrics.items()]


def without(name: str, metrics: Mapping[str, float] = ALL) -> dict[str, float]:
    return {metric: speed for metric, speed in metrics.items() if metric != name}


def events(series: Iterable[RawSeries]) -> list[Event]:
    return [event for event in translate(series, [ACME], Service(name="svc"), WINDOW).events if event.name in {"renamed", "gone"}]


def told(series: Iterable[RawSeries]) -> list[tuple[str, str, float]]:
    """Name, metric and time of each event."""
    return [(event.name, event.attrs["metric"], event.time) for event in events(series)]


def test_nothing_ends() -> None:
    """Engines that show everything to the end are no news."""
    assert told(pod("a") + pod("b")) == []


def test_renamed_on_the_same_target() -> None:
    """A name that ends where a newer one begins was renamed, and the event says into what."""
    series = [*pod("a", metrics=without("usage_old")), life("usage_old", "a", 0, 1800), life("usage_new", "a", 1815, END)]
    assert [dict(event.attrs) for event in events(series)] == [
        {"metric": "usage_old", "successor": "usage_new", "signal": "kv.usage"}
    ]
    assert told(series) == [("renamed", "usage_old", 1800)]


def test_renamed_by_a_roll_out() -> None:
    """New pods with the new name follow old pods with the old one: whoever asks for the old name gets nothing."""
    series = pod("a-0", end=1800) + pod("a-1", 1815, metrics={"usage_new": 0.0, **without("usage_old")})
    assert told(series) == [("renamed", "usage_old", 1800)]


def test_two_versions_side_by_side_are_no_rename() -> None:
    """Of two engines each has its own name for it; that one of them ends does not rename anything."""
    series = pod("a", end=1800) + pod("b", metrics={"usage_new": 0.0, **without("usage_old")})
    assert told(series) == []


def test_gone_while_its_target_goes_on() -> None:
    """A gauge or a busy counter that ends while the rest of its engine goes on is gone."""
    for name in ("waiting", "tokens_total"):
        series = [*pod("a", metrics=without(name)), life(name, "a", 0, 1800, ALL[name])]
        assert told(series) == [("gone", name, 1800)]


def test_gone_from_the_new_pods_of_a_roll_out() -> None:
    """A version without the metric replaces one that had it all its life."""
    series = pod("a-0", end=1800) + pod("a-1", 1815, metrics=without("waiting"))
    assert told(series) == [("gone", "waiting", 1800)]


def test_engines_that_die_take_their_metrics_along() -> None:
    """Engines that die one after the other: what only one of them had counted is not gone, it died with it."""
    series = pod("a", end=2000) + pod("b", end=2500) + pod("c", end=3000) + [life("errors_total", "a", 1500, 2000, 1.0)]
    assert told(series) == []
    assert told([*series, *pod("d")]) == []


def test_all_engines_die() -> None:
    """With nobody left there is nobody who ought to show anything."""
    assert told(pod("a", end=2000) + pod("b", end=2000)) == []


def test_one_of_two_engines_still_shows_it() -> None:
    """A metric that another engine shows is not gone."""
    series = [*pod("a", metrics=without("waiting")), life("waiting", "a", 0, 1800), *pod("b")]
    assert told(series) == []


def test_child_of_a_counter_after_a_restart() -> None:
    """After a restart a counter of errors is not there until there is an error; one that was busy before is missed."""
    before = {**ALL, "errors_total": 0.001}
    restarted = pod("a", end=1800, metrics=before) + pod("a", 1900)
    assert told(restarted) == []
    busy = pod("a", end=1800, metrics={**ALL, "errors_total": 0.1}) + pod("a", 1900)
    assert told(busy) == [("gone", "errors_total", 1800)]


def test_idle_after_a_restart() -> None:
    """An engine that nobody asks after its restart shows few counters, and that is no loss of metrics."""
    gauges = {"usage_old": 0.0, "running": 0.0, "waiting": 0.0}
    assert told(pod("a", end=1800) + pod("a", 1900, metrics=gauges)) == []


def test_most_of_a_target_ends_at_once() -> None:
    """If most metrics end together, it is the target's trouble or another exporter, and no single metric's."""
    series = pod("a", end=1800) + pod("a", 1815, metrics={"running": 0.0})
    assert told(series) == []


def test_a_signal_that_goes_on_under_another_entry() -> None:
    """What another entry still gives is not gone."""
    series = [
        *pod("a", metrics=without("tokens_total")),
        life("tokens_total", "a", 0, 1800, 50.0),
        life("tokens_made_total", "a", 1815, END, 50.0),
    ]
    assert told(series) == []


def test_what_ends_by_its_nature() -> None:
    """A state, a gauge of one kind of things and a list of what is in use are shown while there is something to show."""
    for name, label in (("state", "x"), ("foreign", "process"), ("adapters", "names")):
        one = life(name, "a", 0, 1800)
        assert told([*pod("a"), replace(one, labels={**one.labels, label: "renderer"})]) == [], name


def test_a_pause_is_not_an_end() -> None:
    """Up to three minutes of silence at the end, and any silence in the middle, are no end."""
    late = pod("a", metrics=without("waiting"))
    assert told([*late, life("waiting", "a", 0, END - 150)]) == []
    assert told([*late, life("waiting", "a", 0, 1000), life("waiting", "a", 2000, END)]) == []


def test_before_the_data_that_count() -> None:
    """What ended before baseline and window is no news of them."""
    series = [*pod("a", metrics=without("waiting")), life("waiting", "a", 0, 600)]
    recording = translate(series, [ACME], Service(name="svc"), Window(1800.0, END, 900.0))
    assert [event for event in recording.events if event.kind == "metric"] == []


def test_only_sources_that_always_show_everything() -> None:
    """A gateway makes series when something happens and may let them go."""
    gateway = ACME.model_copy(update={"scope": "gateway"})
    series = [*pod("a", metrics=without("waiting")), life("waiting", "a", 0, 1800)]
    assert [event for event in translate(series, [gateway], Service(name="svc"), WINDOW).events if event.kind == "metric"] == []


def test_rates_from_a_server() -> None:
    """A server that computes rates shows a busy counter's end as well."""
    series = [replace(one, values=np.full(len(one.times), 5.0), rate=one.name.endswith("_total")) for one in pod("a")]
    cut = [replace(one, times=one.times[:100], values=one.values[:100]) if one.name == "tokens_total" else one for one in series]
    assert told(series) == []
    assert told(cut) == [("gone", "tokens_total", 99 * STEP)]


CASES = {
    "metric-renamed-or-missing-a007": {"kv.usage", "prefix.hits", "prefix.queries", "latency.itl"},
    "metric-renamed-or-missing-a078": {"kv.usage", "prefix.hits", "prefix.queries", "latency.itl"},
    "activation-oom-a082": set[str](),
}


@pytest.mark.parametrize("name", CASES)
def test_recorded_cases(name: str, request: Any) -> None:
    """In two cases an upgrade renames metrics; in the third the engines die one after the other."""
    folder = request.config.rootpath / "tests" / "incidents" / name
    series = parse(read_text(folder / "metrics.om.xz")).series
    window = Window(max(one.times[-1] for one in series if len(one.times)) - 1800.0, np.inf, 0.0)
    found = translate(series, load_dialects(), Service(name="llm-prod"), window).events
    ended = [event for event in found if event.kind == "metric" and event.name != "core-missing"]
    assert {event.attrs["signal"] for event in ended} == CASES[name]
    assert {event.name for event in ended} <= {"renamed"}

"""Sources that are not to be believed, and healthy ones that look a little like them."""

from collections.abc import Callable, Mapping
from math import inf, nan

import numpy as np
import pytest

from tests.engine.making import Buckets, Shift, at, cells, frame_of
from triage.engine.frame import Frame
from triage.engine.witnesses import question
from triage.model.observation import Observation
from triage.model.recording import LOG

LINKS = {
    "gpu/g0": ["replica/a", "node/n1"],
    "gpu/g1": ["replica/b", "node/n1"],
    "replica/a": ["node/n1"],
    "replica/b": ["node/n1"],
}
DIALECTS = {
    "gpu.power": "dcgm",
    "gpu.util": "dcgm",
    "gpu.temp": "dcgm",
    "gpu.sm_active": "dcgm",
    "node.cpu_busy_cores": "node_exporter",
    "node.net_receive": "node_exporter",
    "node.memory_available": "node_exporter",
    "pod.ready": "kube_state_metrics",
    "backend.requests": "router",
    "backend.failures": "router",
    "gateway.requests": "router",
    "target.up": "prometheus",
    "target.samples": "prometheus",
}


def wave(offset: float) -> float:
    """A value that never stays."""
    return 0.5 + 0.2 * float(np.sin(offset / 7.0))


def until(moment: float, told: Callable[[float], float] = wave) -> Callable[[float], float]:
    """A value that stands still from a moment on."""
    return lambda offset: told(min(offset, moment))


def only(begin: float, end: float, value: Callable[[float], float] = wave) -> Callable[[float], float]:
    """A value without samples between two moments."""
    return lambda offset: nan if begin < offset < end else value(offset)


def gone(told: Callable[[float], float]) -> Callable[[float], float]:
    """A value whose samples end two minutes after the window's start."""
    return lambda offset: nan if offset > 120 else told(offset)


def lines(begin: float, end: float) -> Callable[[float], float]:
    """A log without lines for a while."""
    return lambda offset: 0.0 if begin < offset < end else 0.2


def of(frame: Frame) -> dict[str, list[Observation]]:
    """What the witnesses say, by the fault."""
    found: dict[str, list[Observation]] = {}
    for one in question(frame).odd:
        found.setdefault(one.of, []).append(one)
    return found


def frame(signals: Mapping[str, object], **told: object) -> Frame:
    """Two replicas on one host, each with a card."""
    return frame_of(signals, links=LINKS, **({"dialects": DIALECTS} | told))


# Frozen


def card(moment: float) -> dict[str, object]:
    """A card that stands still from a moment on."""
    return {f"gpu.{name}": until(moment) for name in ("power", "util", "sm_active")} | {"gpu.temp": 60.0}


def test_a_card_that_stands_still_while_its_engine_works_is_frozen_and_unknown() -> None:
    """From then on its values say nothing."""
    made = frame(card(60.0) | {"tokens.generation": 500.0})
    (one,) = of(made)["frozen"]
    assert (str(one.subject), one.salient, one.end) == ("gpu/g0", True, None)
    assert one.onset is not None
    assert one.onset[0] - made.recording.window.start == pytest.approx(60.0, abs=15.0)
    assert np.isnan(cells(made, "gpu.power")[-1])
    assert not np.isnan(cells(made, "gpu.power")[10])


@pytest.mark.parametrize(
    "signals",
    [
        card(60.0) | {"tokens.generation": Shift(500.0, 0.0)},
        card(60.0) | {"gpu.util": wave, "tokens.generation": 500.0},
        {"gpu.power": 300.0, "gpu.temp": 60.0, "tokens.generation": 500.0},
        card(400.0) | {"tokens.generation": 500.0},
    ],
    ids=["idle", "one value moves", "too few values", "too short"],
)
def test_a_card_that_may_rest_is_not_frozen(signals: dict[str, object]) -> None:
    """Without work, with one value that moves, with few values or for a short time nothing is proven."""
    made = frame(signals)
    assert "frozen" not in of(made)
    assert not np.isnan(cells(made, "gpu.power")[-1])


def test_a_card_without_a_replica_that_is_never_used_rests() -> None:
    """Others work beside it; its use is 0 and its power the same for hours."""
    spare: dict[str, object] = {"gpu.power@gpu/g9": 18.0, "gpu.util@gpu/g9": 0.0, "gpu.temp@gpu/g9": 31.0}
    busy: dict[str, object] = {f"gpu.{name}@gpu/g0": wave for name in ("power", "util", "temp")}
    busy["tokens.generation@replica/a"] = 500.0
    assert "frozen" not in of(frame(spare | busy))
    assert [str(one.subject) for one in of(frame(spare | busy | {"gpu.util@gpu/g9": 0.4}))["frozen"]] == ["gpu/g9"]


def test_a_coarse_grid_does_not_freeze_a_healthy_fleet() -> None:
    """Two samples of five minutes each can be equal by chance."""
    made = frame(card(60.0) | {"tokens.generation": 500.0}, step=300.0, before=1800.0, inside=1800.0)
    seen = question(made)
    assert not [one for one in seen.odd if one.of == "frozen"]
    assert not any(judged[1] == "frozen" for judged in seen.judged)


def test_an_engine_that_hangs_is_not_frozen() -> None:
    """Its counters stand still, but the process that answers the scrape uses the CPU."""
    engine = {"tokens.generation": lambda t: 0.0 if t > 60 else wave(t), "kv.usage": until(60.0), "batch.running": until(60.0)}
    assert "frozen" not in of(frame(engine | {"process.cpu": wave}))
    (one,) = of(frame(engine | {"process.cpu": lambda t: 0.0 if t > 60 else wave(t)}))["frozen"]
    assert str(one.subject) == "replica/a"


def test_what_is_told_more_often_than_it_is_made_is_frozen_once_it_stands_still() -> None:
    """Pushed every 30 s and scraped every 15 s, of all replicas: the gateway gets its answers from somebody."""

    def pushed(moment: float) -> Callable[[float], float]:
        return lambda offset: wave(float(np.floor(min(offset, moment) / 30.0)) * 30.0)

    signals: dict[str, object] = {f"gpu.{name}@gpu/g0": pushed(120.0) for name in ("util", "temp", "mem_used")}
    signals |= {f"tokens.generation@replica/{one}": lambda t: wave(t) if t < 120 else 0.0 for one in "ab"}
    for answers, declared, found in ((9.0, 2.0, True), (0.0, 2.0, False), (9.0, 3.0, False)):
        dialects = {one.partition("@")[0]: "dcgm" for one in signals if one.startswith("gpu.")}
        made = frame({**signals, "gateway.2xx": answers}, facts={"replicas": declared}, dialects=dialects)
        assert ("frozen" in of(made)) is found


def test_a_host_whose_exporter_repeats_itself_is_frozen() -> None:
    """A host is never still to the last digit."""
    host = {f"node.{name}": until(60.0) for name in ("cpu_busy_cores", "net_receive", "memory_available")}
    host["node.cpu_busy_cores"] = lambda t: 0.0 if t > 60 else wave(t)
    host["node.net_receive"] = host["node.cpu_busy_cores"]
    assert [str(one.subject) for one in of(frame(host))["frozen"]] == ["node/n1"]


# Samples that are missing


def two(value: Callable[[float], float]) -> dict[str, object]:
    """Two replicas of which the first speaks as told."""
    return {
        "tokens.generation@replica/a": value,
        "tokens.generation@replica/b": wave,
        "process.start_time@replica/a": lambda t: 1e9 + 0 * value(t),
        "process.start_time@replica/b": 1e9,
        "pod.ready@replica/a": 1.0,
        "pod.ready@replica/b": 1.0,
    }


def test_a_replica_whose_samples_come_back_with_the_same_start_had_a_gap() -> None:
    """The process lived all the time."""
    (one,) = of(frame(two(only(100.0, 300.0))))["gap"]
    assert (str(one.subject), one.attrs["returned"], one.attrs["extent"]) == ("replica/a", "goes-on", "target")
    assert one.value == pytest.approx(195.0, abs=20.0)


def test_a_replica_that_comes_back_anew_had_no_gap() -> None:
    """It was restarted: its silence is no fault of an instrument."""
    signals = two(only(100.0, 300.0))
    signals["process.start_time@replica/a"] = only(100.0, 300.0, lambda t: 1e9 if t < 200 else 2e9)
    assert "gap" not in of(frame(signals))


def test_a_collector_that_is_away_is_told_once() -> None:
    """Where nobody speaks it is not each target's own gap."""
    signals = {
        "tokens.generation@replica/a": only(100.0, 300.0),
        "tokens.generation@replica/b": only(100.0, 300.0),
        "pod.ready@replica/a": only(100.0, 300.0, lambda _: 1.0),
        "gpu.power": only(100.0, 300.0),
    }
    found = of(frame(signals))
    assert [str(one.subject) for one in found["collector-gap"]] == ["service/svc"]
    assert "gap" not in found


@pytest.mark.parametrize(
    ("length", "changed", "planned"),
    [(180.0, "prometheus", "yes"), (180.0, "svc", "no"), (420.0, "prometheus", "no")],
)
def test_a_short_hole_after_a_restart_of_the_monitoring_is_planned(length: float, changed: str, planned: str) -> None:
    """What lasts longer than a restart, or came with a change to something else, asks for a reason."""
    signals = {name: only(60.0, 60.0 + length) for name in ("tokens.generation@replica/a", "gpu.power")}
    (one,) = of(frame(signals, events=[at(50.0, "restart", service=changed)]))["collector-gap"]
    assert (one.attrs["planned"], one.salient) == (planned, planned == "no")


@pytest.mark.parametrize(("changed", "planned"), [("dcgm-exporter", "yes"), ("svc", "no")])
def test_a_gap_of_an_exporter_that_was_replaced_is_planned(changed: str, planned: str) -> None:
    """As of the collector: new versions of exporters take minutes to come up."""
    found = of(frame(two(only(100.0, 300.0)), events=[at(90.0, "deploy", service=changed)]))["gap"]
    assert [(one.attrs["planned"], one.salient) for one in found] == [(planned, planned == "no")]


def test_exporters_are_replaced_host_by_host() -> None:
    """The last one's turn comes minutes after the roll-out began."""
    made = frame(two(only(500.0, 620.0)), events=[at(0.0, "deploy", service="dcgm-exporter")], inside=1200.0)
    found = of(made)["gap"]
    assert [(one.attrs["planned"], one.salient) for one in found] == [("yes", False)]


@pytest.mark.parametrize(("end", "kinds"), [(210.0, set()), (inf, {"not-wired"})])
def test_a_card_whose_engine_was_taken_away_rests(end: float, kinds: set[str]) -> None:
    """It counts no work any more since there is none; where tokens go on its gauge is broken."""
    until_then = only(end, inf)
    signals: dict[str, object] = {
        "gpu.util@gpu/g0": lambda t: 0.4 if t <= 180 else 0.0,
        "tokens.generation@replica/a": until_then,
    }
    assert of(frame(signals, inside=900.0)).keys() & {"not-wired"} == kinds


def test_a_collector_that_is_away_to_the_end_while_logs_go_on() -> None:
    """Without a log the data may just end there."""
    signals: dict[str, object] = {"tokens.generation@replica/a": gone(wave), "gpu.power": gone(wave)}
    assert of(frame(signals)) == {}
    (one,) = of(frame(signals | {"log.lines": 0.2}, dialects=DIALECTS | {"log.lines": LOG}))["collector-gap"]
    assert one.end is None
    assert one.value == pytest.approx(480.0, abs=20.0)


def test_a_replica_that_is_taken_away_is_no_silent_target() -> None:
    """Nobody sees it work any more."""
    signals = {
        "tokens.generation@replica/a": gone(lambda _: 1.0),
        "tokens.generation@replica/b": wave,
        "backend.requests@replica/a": gone(lambda _: 2.0),
        "backend.requests@replica/b": 2.0,
        "pod.ready@replica/a": gone(lambda _: 1.0),
        "pod.ready@replica/b": 1.0,
    }
    assert of(frame(signals)) == {}


def test_a_replica_that_is_served_well_and_not_scraped_is_a_silent_target() -> None:
    """The gateway's requests do not fail there."""
    signals = {
        "tokens.generation@replica/a": lambda t: nan if t > 120 else wave(t),
        "tokens.generation@replica/b": wave,
        "backend.requests@replica/a": 2.0,
        "backend.failures@replica/a": 0.0,
    }
    assert [str(one.subject) for one in of(frame(signals))["silent-target"]] == ["replica/a"]
    signals["backend.failures@replica/a"] = Shift(0.0, 2.0)
    assert of(frame(signals)) == {}


def test_cards_that_all_end_while_their_engines_go_on_have_an_exporter_that_is_down() -> None:
    """One card of two that ends is lost by its source, if its engine still works."""
    ends = gone(wave)
    work: dict[str, object] = {"tokens.generation@replica/a": wave, "tokens.generation@replica/b": wave}
    (down,) = of(frame(work | {"gpu.power@gpu/g0": ends, "gpu.power@gpu/g1": ends}))["exporter-down"]
    assert str(down.subject) == "node/n1"
    (lost,) = of(frame(work | {"gpu.power@gpu/g0": ends, "gpu.power@gpu/g1": wave}))["member-lost"]
    assert str(lost.subject) == "gpu/g0"
    dead = {"tokens.generation@replica/a": ends, "tokens.generation@replica/b": wave}
    assert of(frame(dead | {"gpu.power@gpu/g0": ends, "gpu.power@gpu/g1": wave})) == {}


def test_scrapes_of_an_exporter_that_fail_while_engines_are_scraped() -> None:
    """Its own target says so."""
    signals = {
        "target.up@target/dcgm-exporter/1": lambda t: 0.0 if t > 120 else 1.0,
        "target.up@replica/a": 1.0,
        "tokens.generation": wave,
    }
    (one,) = of(frame(signals))["exporter-down"]
    assert (str(one.subject), one.salient) == ("target/dcgm-exporter/1", True)
    signals["target.up@replica/a"] = lambda t: 0.0 if t > 120 else 1.0
    assert "exporter-down" not in of(frame(signals))


def test_a_card_whose_exporter_does_not_answer_is_not_lost() -> None:
    """It was the only one that this exporter spoke of."""
    signals: dict[str, object] = {
        "target.up@target/dcgm-exporter/1": lambda t: 0.0 if t > 120 else 1.0,
        "target.up@replica/a": 1.0,
        "tokens.generation@replica/a": wave,
        "tokens.generation@replica/b": wave,
        "gpu.power@gpu/g0": gone(wave),
        "gpu.power@gpu/g1": wave,
    }
    assert [str(one.subject) for one in of(frame(signals))["exporter-down"]] == ["target/dcgm-exporter/1"]
    assert "member-lost" not in of(frame(signals))


@pytest.mark.parametrize(("growth", "found"), [(5.0, True), (0.5, False)])
def test_failed_scrapes_of_an_engine_that_worked_on_are_a_gap(growth: float, found: bool) -> None:
    """What grew through the holes as between the others did not die in them; one that counts anew shows little."""

    def missed(offset: float) -> bool:
        return offset > 0 and round(offset / 15) % 4 in (0, 1)

    def work(offset: float) -> float:
        return nan if missed(offset) else growth if missed(offset - 15.0) else 5.0

    made = frame({"target.up@replica/a": lambda t: 0.0 if missed(t) else 1.0, "tokens.generation": work})
    gaps = [one for one in of(made).get("gap", []) if one.attrs.get("pattern") == "flapping"]
    assert bool(gaps) is found


# Several processes, limits, counts


def test_a_start_time_that_alternates_tells_of_several_processes() -> None:
    """Rates of what they count in turn are unknown, gauges of one of them are not."""
    signals = {"process.start_time": lambda t: 1e9 + 600.0 * (round(t / 15) % 2), "tokens.generation": wave, "kv.usage": wave}
    made = frame(signals)
    (one,) = of(made)["several-processes"]
    assert one.attrs["pattern"] == "alternates"
    assert np.isnan(cells(made, "tokens.generation")[5:]).all()
    assert not np.isnan(cells(made, "kv.usage")).any()


def test_restarts_are_not_several_processes() -> None:
    """Each start is newer than the last."""
    assert of(frame({"process.start_time": lambda t: 1e9 + 100.0 * (t // 120), "tokens.generation": wave})) == {}


def test_what_a_reader_says_of_impossible_readings_is_told() -> None:
    """Totals that fall, and values below nought."""
    events = [at(5, "metric", "falls", subject="replica/a"), at(5, "metric", "below-zero", subject="service/svc")]
    found = of(frame({"tokens.generation": wave}, events=events))
    assert set(found) == {"several-processes", "below-zero"}


def test_more_cores_than_there_are_is_beyond_physics() -> None:
    """What cannot be is forgotten."""
    made = frame({"node.cpu_busy_cores": Shift(4.0, 40.0), "node.cpu_cores": 16.0})
    (one,) = of(made)["beyond-physics"]
    assert one.size == pytest.approx(2.5)
    assert np.isnan(cells(made, "node.cpu_busy_cores")[-1])
    assert of(frame({"node.cpu_busy_cores": 16.2, "node.cpu_cores": 16.0})) == {}


def test_a_counter_that_stays_at_nought_while_its_siblings_move_is_not_wired() -> None:
    """Twins count, and the replica works."""
    signals: dict[str, object] = {}
    for name in "abc":
        signals |= {f"{signal}@replica/{name}": wave for signal in ("finished", "engine.steps")}
        signals[f"tokens.generation@replica/{name}"] = lambda t: 200.0 * wave(t)
    assert of(frame(signals)) == {}
    signals["finished@replica/a"] = 0.0
    (one,) = of(frame(signals))["not-wired"]
    assert (str(one.subject), one.attrs["signal"]) == ("replica/a", "finished")
    signals |= {"tokens.generation@replica/a": 0.0, "engine.steps@replica/a": 0.0}
    assert of(frame(signals)) == {}


@pytest.mark.parametrize(("inside", "found"), [((0.0, 0.0), True), ((0.0, 0.1), False)])
def test_a_distribution_that_takes_in_no_answer_any_more_is_not_wired(inside: tuple[float, float], found: bool) -> None:
    """Answers end and tokens are made as before."""
    told = {
        "latency.ttft@replica/a": Buckets((0.5,), inside, (1.0, 0.0)),
        "latency.e2e@replica/a": Buckets((5.0,), (1.0, 0.0)),
    }
    made = frame({"tokens.generation@replica/a": wave}, histograms=told)
    assert ("not-wired" in of(made)) is found


@pytest.mark.parametrize(
    ("signal", "other", "after", "found"),
    [
        ("spec.step_tokens", "latency.itl", (0.5, 0.0), True),
        ("spec.step_tokens", "latency.itl", (0.0, 0.5), False),
        ("prefix.hit_ratio_reported", "latency.ttft", (0.5, 0.0), True),
        ("prefix.hit_ratio_reported", "latency.ttft", (0.0, 0.5), False),
    ],
)
def test_a_gauge_that_falls_to_nought_and_is_not_missed(signal: str, other: str, after: tuple[float, float], found: bool) -> None:
    """What it tells of would be felt; if it is felt, the gauge is right.

    :param after: requests a second in each bucket since then; before, all are in the quick one
    """
    told = {f"{other}@replica/a": Buckets((0.05, 1.0), (*after, 0.0), (0.5, 0.0, 0.0))}
    assert ("not-wired" in of(frame({f"{signal}@replica/a": Shift(2.0, 0.0)}, histograms=told))) is found


@pytest.mark.parametrize(
    ("ratio", "hits", "found"), [(Shift(0.5, 0.0), 200.0, True), (0.0, 200.0, True), (0.0, 0.0, False), (0.3, 200.0, False)]
)
def test_a_gauge_at_nought_that_a_counter_of_the_same_engine_contradicts(ratio: object, hits: float, found: bool) -> None:
    """Whether it was ever more or not; nobody need feel it."""
    made = frame({"prefix.hit_ratio_reported@replica/a": ratio, "tokens.prompt_cached@replica/a": lambda t: hits * wave(t)})
    assert ("not-wired" in of(made)) is found


@pytest.mark.parametrize(
    ("tokens", "found"), [(Shift(200.0, 190.0), True), (Shift(200.0, 0.0), False), (Shift(float("nan"), 200.0), False)]
)
def test_a_card_without_power_that_makes_tokens(tokens: Shift, found: bool) -> None:
    """Nothing is drawn by a card that makes nothing; of an engine that nobody heard before nothing can be said."""
    made = frame({"gpu.power@gpu/g0": Shift(300.0, 0.0), "tokens.generation@replica/a": tokens})
    assert ("not-wired" in of(made)) is found


def test_a_gateway_that_never_saw_what_engines_end_disagrees() -> None:
    """A few more or less are still inside."""
    assert [one.of for one in question(frame({"gateway.requests": 0.5, "finished": 2.0})).odd] == ["disagrees"]
    assert of(frame({"gateway.requests": 1.6, "finished": 2.0})) == {}


# Metrics and lines


def test_events_of_metrics_are_faults_of_instruments() -> None:
    """What is lost, renamed or not there."""
    events = [at(5, "metric", name) for name in ("label-lost", "renamed", "gone", "core-missing", "summed-ratio")]
    assert [one.of for one in question(frame({}, events=events)).odd] == ["label-lost", "renamed", "renamed", "core-missing"]


def test_what_all_lack_is_not_collected_and_what_one_lacks_is_news() -> None:
    """A metric of the core that a twin shows."""
    event = at(5, "metric", "core-missing", subject="replica/a", signal="kv.usage")
    other = at(5, "metric", "core-missing", subject="replica/b", signal="kv.usage")
    (all_of_them,) = question(frame({}, events=[event, other])).odd
    assert (str(all_of_them.subject), all_of_them.support, all_of_them.salient) == ("service/svc", 2, False)
    assert question(frame({"kv.usage@replica/b": 0.5}, events=[event])).odd[0].salient
    fresh = {"kv.usage@replica/b": 0.5, "tokens.generation@replica/a": 0.0}
    assert not question(frame(fresh, events=[event])).odd[0].salient


def test_what_the_other_half_of_the_work_shows_is_not_lacking() -> None:
    """An engine for prefill has no tokens of its own; one for decode lacks them as its twin shows them."""
    event = at(5, "metric", "core-missing", subject="replica/a", signal="tokens.generation")
    for its, salient in (("prefill", False), ("decode", True)):
        facts = {"disaggregation_mode@replica/a": its, "disaggregation_mode@replica/b": "decode"}
        told = question(frame({"tokens.generation@replica/b": 9.0, "batch.running@replica/a": 1.0}, events=[event], facts=facts))
        assert [one.salient for one in told.odd if one.of == "core-missing"] == [salient]


def test_a_target_that_offers_many_times_as_many_samples() -> None:
    """Half as many again is news only where there are thousands."""
    many = of(frame({"target.samples": Shift(300.0, 30000.0)}))["cardinality"]
    assert many[0].size == pytest.approx(100.0)
    assert of(frame({"target.samples": Shift(300.0, 500.0)})) == {}


def test_a_hole_in_a_log_and_a_log_that_ends() -> None:
    """While the engine works; an end needs other logs that go on."""
    work: dict[str, object] = {"tokens.generation@replica/a": wave, "tokens.generation@replica/b": wave}
    (hole,) = of(frame(work | {"log.lines@replica/a": lines(60.0, 420.0)}))["log-hole"]
    assert hole.salient
    ends: dict[str, object] = {"log.lines@replica/a": lines(60.0, 9999.0)}
    (alone,) = of(frame(work | ends))["log-ends"]
    assert not alone.salient
    (among,) = of(frame(work | ends | {"log.lines@replica/b": 0.2}))["log-ends"]
    assert among.salient
    assert of(frame({"tokens.generation": Shift(500.0, 0.0), "log.lines": lines(60.0, 420.0)})) == {}


def test_an_access_log_of_few_lines_is_an_excerpt() -> None:
    """Its end says nothing."""
    signals = {"gateway.log_lines": lambda t: 0.2 if t < 60 else 0.0, "gateway.requests": 5.0, "log.lines": 0.2}
    assert of(frame(signals)) == {}
    signals["gateway.requests"] = 0.2
    assert set(of(frame(signals))) == {"log-ends"}


@pytest.mark.parametrize(("told", "kept"), [(0.1, False), (0.5, True)])
def test_an_access_log_of_few_lines_has_no_rates(told: float, kept: bool) -> None:
    """Its failures are so many at least, but nobody knows of how many."""
    dialects = {"gateway.requests": "log", "gateway.2xx": "log", "gateway.5xx": "log"}
    signals = {"gateway.requests": told, "gateway.2xx": told / 2, "gateway.5xx": told / 2, "finished": 2.0}
    one = frame(signals, dialects=dialects)
    assert set(of(one)) <= {"disagrees"}
    assert one.has("gateway.requests") is one.has("gateway.2xx") is kept
    assert one.has("gateway.5xx")


def test_a_healthy_recording_has_witnesses_that_could_have_told() -> None:
    """Nothing odd, and it was looked at."""
    signals = two(wave) | card(9999.0) | {"tokens.generation@replica/a": wave}
    seen = question(frame(signals))
    assert seen.odd == ()
    names = {judged[1] for judged in seen.judged}
    assert {"frozen", "gap", "several-processes", "renamed", "below-zero"} <= names

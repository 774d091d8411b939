"""From samples to signals: whose language a metric is, which of several ways is taken, and what cannot be true."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.ingest.metrics.dialects import load_dialects
from triage.ingest.metrics.openmetrics import parse
from triage.ingest.metrics.translate import translate, with_source
from triage.ingest.raw import RawSeries
from triage.model.dialect import Dialect
from triage.model.recording import Floats, Histogram, Recording, Series, SourceState, Subject, Window
from triage.model.service import Service
from triage.model.vocabulary import Scope

PAYLOADS = Path(__file__).parents[2] / "dialects" / "payloads_infra"
STEP = 15.0
WINDOW = Window(1e9, 2e9, 0.0)
OURS = {"service": "svc", "job": "acme", "instance": "h:1"}
REPLICA = Subject(Scope.REPLICA, "h:1")

Labels = Mapping[str, str]


def dialect(*metrics: dict[str, Any], **more: Any) -> Dialect:
    return Dialect.model_validate({"name": "acme", "title": "Acme", "scope": "replica", "metrics": metrics, **more})


def gauge(*names: str, signal: str = "queue.waiting", **more: Any) -> dict[str, Any]:
    return {"names": names, "type": "gauge", "signal": signal, **more}


def counter(*names: str, signal: str = "tokens.generation", **more: Any) -> dict[str, Any]:
    return {"names": names, "type": "counter", "signal": signal, **more}


def histogram(*names: str, signal: str = "latency.ttft", **more: Any) -> dict[str, Any]:
    return {"names": names, "type": "histogram", "signal": signal, **more}


def series(name: str, values: Sequence[float], begin: float = 0.0, step: float = STEP, **labels: str) -> RawSeries:
    """A series of the service's engine: a sample every step from ``begin`` on."""
    times = begin + step * np.arange(float(len(values)))
    return RawSeries(name, {**OURS, **labels}, times, np.array(values, dtype=float))


def read(rows: Sequence[RawSeries], *dialects: Dialect, **service: Any) -> Recording:
    return translate(rows, dialects, Service.model_validate({"name": "svc", **service}), WINDOW)


def only(recording: Recording, signal: str = "queue.waiting") -> Series:
    (found,) = recording.by_signal[signal]
    return found


def values(recording: Recording, signal: str = "queue.waiting") -> dict[float, float]:
    found = only(recording, signal)
    return dict(zip(found.times.tolist(), found.values.tolist(), strict=True))


def distribution(recording: Recording, signal: str = "latency.ttft") -> Histogram:
    (found,) = (one for one in recording.histograms if one.signal == signal)
    return found


# whose language it is


def test_conditions_come_before_claims() -> None:
    """A name that two languages share is told apart by a label, even where the target's other metrics speak the other one."""
    engine = dialect(gauge("x", where={"server": ""}), gauge("own_1"), gauge("own_2"))
    router = dialect(gauge("x", where={"server": ".+"}, signal="gateway.active"), name="router", scope="gateway")
    recording = read([series("x", [1, 2]), series("x", [8, 9], server="a"), series("own_1", [0, 0])], engine, router)
    assert only(recording, "gateway.active").values.tolist() == [8, 9]
    assert {one.signal for one in recording.series} == {"queue.waiting", "gateway.active"}


def test_shared_names_are_read_by_the_targets_language() -> None:
    """Without a label that tells, the rest of the target does; if it says nothing, the job does."""
    first = dialect(gauge("x"), gauge("a", signal="batch.running"), jobs="acme.*")
    second = dialect(gauge("x", signal="kv.used"), gauge("b", signal="lora.running"), name="other", jobs="other.*")
    by_target = read([series("x", [1, 2]), series("b", [3, 3])], first, second)
    assert {one.signal for one in by_target.series} == {"kv.used", "lora.running"}
    by_job = read([series("x", [1, 2])], first, second)
    assert {one.signal for one in by_job.series} == {"queue.waiting"}
    nobody = read([series("x", [1, 2], job="else")], first, second)
    assert not nobody.series


def test_what_the_scraper_says_is_no_language() -> None:
    """A target of which only up and the like are known speaks nothing yet; its process_* are read by its job."""
    acme = dialect(gauge("process_open_fds", signal="process.open_fds"), jobs="acme")
    scraper = dialect(
        gauge("up", signal="target.up"), gauge("scrape_x", signal="target.samples"), name="prometheus", scope="target"
    )
    rows = [series("up", [1, 1]), series("scrape_x", [9, 9]), series("process_open_fds", [5, 6])]
    assert only(read(rows, acme, scraper), "process.open_fds").values.tolist() == [5, 6]


def test_generic_names_of_another_program() -> None:
    """process_* of a target that speaks another language are not this one's, whatever its job is called."""
    acme = dialect(gauge("process_open_fds", signal="process.open_fds"), gauge("a"), jobs="acme")
    other = dialect(gauge("b", signal="batch.running"), gauge("c", signal="kv.used"), name="other")
    recording = read([series("process_open_fds", [5, 6], job="x"), series("b", [1, 1], job="x")], acme, other)
    assert {one.signal for one in recording.series} == {"batch.running"}


def test_the_services_own_metric_comes_first() -> None:
    """A metric that the service names for a signal is taken before any dialect's, and may be a dialect's at the same time."""
    acme = dialect(gauge("a"), gauge("b", signal="batch.running"))
    rows = [series("a", [1, 1]), series("b", [7, 7])]
    recording = read(rows, acme, signals={"queue.waiting": "b"})
    assert only(recording).values.tolist() == [7, 7]
    assert only(recording, "batch.running").values.tolist() == [7, 7]
    assert only(read(rows[::-1], acme, signals={"queue.waiting": "b"})).origin.dialect == "service"


def test_patterns_take_linear_time() -> None:
    """A label value that keeps a backtracking matcher busy for ever does no harm; half of a surrogate pair is just no match."""
    acme = dialect(gauge("x", where={"path": "(a+)+b"}))
    assert not read([series("x", [1], path="a" * 50_000), series("x", [1], path="\ud800")], acme).series


# which way is taken


def test_order_of_the_data_does_not_matter() -> None:
    """A payload makes the same recording in whatever order its series come."""
    for name in ("envoy", "litellm", "dcgm", "kube_state_metrics", "gaie_llm_d_epp"):
        rows = parse((PAYLOADS / f"{name}.om").read_bytes()).series
        expected = summary(translate(rows, load_dialects(), Service(name="llm-prod"), WINDOW))
        for seed in range(3):
            shuffled = list(rows)
            Random(seed).shuffle(shuffled)
            assert summary(translate(shuffled, load_dialects(), Service(name="llm-prod"), WINDOW)) == expected


def summary(recording: Recording) -> object:
    """Everything in a recording, in a form that can be compared; rounded, since sums depend on their order."""
    made = {(s.signal, s.subject): (s.times.tolist(), s.values.round(9).tolist(), s.origin) for s in recording.series}
    spread = {(h.signal, h.subject): (h.times.tolist(), h.rates.round(9).tolist(), h.origin) for h in recording.histograms}
    return made, spread, sorted(map(str, recording.facts)), recording.links, recording.problems, recording.events


def test_the_first_entry_is_the_better_one() -> None:
    """Of two entries for one signal the one that stands first in the file is taken, and the second one where it is alone."""
    acme = dialect(gauge("good"), gauge("poor", scale=100.0))
    assert only(read([series("poor", [1]), series("good", [2])], acme)).values.tolist() == [2]
    assert only(read([series("poor", [1])], acme)).values.tolist() == [100]


def test_the_way_that_reaches_furthest() -> None:
    """A better name that ended long ago does not end the signal; one that ended with the last scrape is still the better one."""
    acme = dialect(gauge("good"), gauge("poor"))
    assert only(read([series("good", [1] * 20), series("poor", [2] * 40)], acme)).values[-1] == 2
    assert set(only(read([series("good", [1] * 39), series("poor", [2] * 40)], acme)).values) == {1}


def test_spellings_that_are_shown_together_are_not_added() -> None:
    """A program that shows its metrics under two prefixes at once has not twice the requests."""
    acme = dialect(counter("a:x_total"), prefixes=["a:", "b:"])
    rows = [series(name, [0, 30]) for name in ("a:x_total", "b:x_total", "a:x")]
    assert only(read(rows, acme), "tokens.generation").values.tolist() == [2]


def test_a_rename_does_not_begin_a_signal_anew() -> None:
    """What an older name of the entry told before is put in front: gauges, counters without a jump, distributions."""
    acme = dialect(gauge("new", "old"), counter("n_total", "o_total"), histogram("nh", "oh"))
    rows = [series("old", [1, 1, 1]), series("new", [2] * 9, begin=45)]
    rows += [series("o_total", [0, 15, 30]), series("n_total", np.arange(1000, 1300, 30).tolist(), begin=45)]
    rows += [series(f"oh{end}", [0, 3, 6], le="+Inf") for end in ("_bucket", "_sum")]
    rows += [series(f"nh{end}", np.arange(0, 300, 30).tolist(), begin=45, le="+Inf") for end in ("_bucket", "_sum")]
    recording = read(rows, acme)
    assert only(recording).values.tolist() == [1] * 3 + [2] * 9
    assert only(recording).origin.metric == "new"
    assert only(recording, "tokens.generation").values.tolist() == [1] * 2 + [2] * 9
    assert distribution(recording).rates[:, 0].tolist() == pytest.approx([0.2] * 2 + [2.0] * 9)


def test_a_rename_with_other_buckets() -> None:
    """Distributions of other buckets cannot be joined: the newer one stands alone."""
    acme = dialect(histogram("nh", "oh"))
    rows = [series("oh_bucket", [0, 3, 6], le=le) for le in ("1", "+Inf")]
    rows += [series("nh_bucket", [0, 3, 6], begin=45, le=le) for le in ("2", "+Inf")]
    assert distribution(read(rows, acme)).times.tolist() == [60, 75]


# keys of an entry


def test_parts_are_combined() -> None:
    """Names that are parts of one quantity are added, or the greatest of them counts; one that is missing is left out."""
    acme = dialect(gauge("tx", "rx", parts=True), gauge("a", "b", signal="kv.usage", parts=True))
    recording = read([series("tx", [1, 2]), series("rx", [10, 20]), series("b", [0.5, 0.2])], acme)
    assert only(recording).values.tolist() == [11, 22]
    origin = only(recording).origin
    found = [f'{name}{{instance="h:1",job="acme",service="svc"}}' for name in ("rx", "tx")]
    assert [origin.selector, *origin.more] == found
    assert only(recording, "kv.usage").values.tolist() == [0.5, 0.2]


def test_copies_count_once() -> None:
    """Ranks that serve the same requests are copies, of which the greatest counts; ranks of different requests are added."""
    acme = dialect(gauge("x", copies=["tp"]), counter("n_total", copies=["tp"]), histogram("h", copies=["tp"]))
    rows = [series("x", [number, number], tp=tp, dp=dp) for tp, dp, number in (("0", "0", 5), ("1", "0", 6), ("2", "1", 9))]
    rows += [series("n_total", [0, number], tp=tp, dp=dp) for tp, dp, number in (("0", "0", 15), ("1", "0", 15), ("2", "1", 45))]
    rows += [
        series("h_bucket", [0, 30], tp=tp, dp=dp, le=le)
        for tp, dp in (("0", "0"), ("1", "0"), ("2", "1"))
        for le in ("1", "+Inf")
    ]
    recording = read(rows, acme)
    assert only(recording).values.tolist() == [15, 15]
    assert only(recording, "tokens.generation").values.tolist() == [4]
    assert distribution(recording).rates.tolist() == [[4, 0]]


def test_a_mean_of_two_counters() -> None:
    """A running sum and a running count are a distribution without buckets, in base units; one of them alone is nothing."""
    acme = dialect(histogram("us_total", count="requests", signal="latency.queue", scale=1e-6, where={"model": "!pre.*"}))
    rows = [series("us", [0, 3e6, 9e6]), series("requests_total", [0, 3, 6]), series("us", [0, 1e9, 2e9], model="preprocess")]
    found = distribution(read(rows, acme), "latency.queue")
    assert found.bounds.tolist() == [np.inf]
    assert (found.sums / found.rates[:, 0]).tolist() == pytest.approx([1.0, 2.0])
    assert (found.origin.metric, found.origin.counter) == ("us", False)
    assert not read(rows[:1], acme).histograms
    assert not read(rows[1:2], acme).histograms


def test_items_of_the_newest_series() -> None:
    """Adapters stand in a label and the value is a time stamp: at each time the newest label set holds, and empty is none."""
    acme = dialect(gauge("info", items="running", signal="lora.running"), gauge("info", items="waiting", signal="lora.waiting"))
    rows = [
        series("info", [100, 115, 115, 115], running="a", waiting=""),
        series("info", [110, 110, 130, 130], running="a, b,c", waiting="d"),
        series("info", [145], begin=45, running="", waiting=""),
    ]
    recording = read(rows, acme)
    assert values(recording, "lora.running") == {0: 3, 15: 1, 30: 3, 45: 0}
    assert values(recording, "lora.waiting") == {0: 1, 15: 0, 30: 1, 45: 0}


def test_adapters_of_vllm() -> None:
    """The adapters in the labels of vLLM's own metric, and the limit that it holds."""
    rows = [
        series("vllm:lora_requests_info", [100, 100], max_lora="4", running_lora_adapters="sql", waiting_lora_adapters="x,y"),
        series("vllm:num_preemptions_total", [0, 0]),
    ]
    recording = read(rows, *load_dialects())
    assert only(recording, "lora.running").values.tolist() == [1, 1]
    assert only(recording, "lora.waiting").values.tolist() == [2, 2]
    assert recording.fact("max_loras", REPLICA) == 4


@pytest.mark.parametrize(("text", "count"), [("7", 7), ("0", 0), ("7,9", 2), ("20260101", 1), ("٣", 1), ("", 0)])
def test_a_lone_number_in_place_of_names(text: str, count: int) -> None:
    """It is how many there are; several numbers and a long one are names."""
    rows = [
        series("vllm:lora_requests_info", [100], max_lora="8", running_lora_adapters=text),
        series("vllm:num_preemptions_total", [0]),
    ]
    assert only(read(rows, *load_dialects()), "lora.running").values.tolist() == [count]


def test_numbers_and_bits_of_a_state() -> None:
    """A state is 1 where the value is the number or has the bit; a mask beyond all bits is no error."""
    acme = dialect(
        gauge("s", signal="engine.sleeping", one_if=2), gauge("m", signal="gpu.throttle_thermal", bit=96, scope="replica")
    )
    recording = read([series("s", [1, 2]), series("m", [0x21, 1e300])], acme)
    assert only(recording, "engine.sleeping").values.tolist() == [0, 1]
    assert only(recording, "gpu.throttle_thermal").values.tolist() == [1, 0]


# counters


def test_a_child_that_appears_counted_from_zero() -> None:
    """The first errors of an engine are a rate at once: its target was there before and showed none."""
    acme = dialect(counter("e_total", signal="finished.error"), gauge("x"))
    recording = read([series("x", [0] * 9), series("e_total", [4, 4, 7], begin=90)], acme)
    assert values(recording, "finished.error") == pytest.approx({90: 4 / 15, 105: 0, 120: 3 / 15})


def test_an_engine_that_appears_is_no_burst() -> None:
    """Of a target that is seen for the first time nobody knows since when it counts, though it was down before."""
    acme, scraper = dialect(counter("e_total")), dialect(gauge("up", signal="target.up"), name="prometheus", scope="target")
    recording = read([series("up", [0] * 6 + [1] * 3), series("e_total", [4e6, 4e6, 4e6], begin=90)], acme, scraper)
    assert values(recording, "tokens.generation") == {105: 0, 120: 0}


def test_a_counter_of_another_exposition_is_no_burst() -> None:
    """What is scraped at other moments need not have shown it: nobody knows since when it counts."""
    acme = dialect(counter("e_total"), gauge("x"))
    recording = read([series("x", [0] * 9), series("e_total", [4e6, 4e6 + 15, 4e6 + 30], begin=97)], acme)
    assert values(recording, "tokens.generation") == {112: 1, 127: 1}


def test_a_card_whose_labels_change_counts_on() -> None:
    """The energy of a card is counted since its driver loaded: under new labels it did not begin at 0, and it is one card."""
    dcgm = dialect(counter("energy", signal="gpu.energy"), gauge("mem", signal="gpu.mem_used"), scope="gpu")
    rows = [
        series("energy", [1e9, 1e9 + 15], UUID="A", pod=""),
        series("energy", [1e9 + 30, 1e9 + 45], begin=30, UUID="A", container="e"),
    ]
    rows += [series("energy", [5e9 + 15 * number for number in range(4)], UUID="B")]
    rows += [series("mem", [40, 40], UUID="A"), series("mem", [40, 40], begin=30, UUID="A", container="e")]
    recording = read(rows, dcgm)
    energy = {one.subject.id: one.values.tolist() for one in recording.by_signal["gpu.energy"]}
    assert energy == {"A": [1, 1], "B": [1, 1, 1]}
    assert only(recording, "gpu.mem_used").values.tolist() == [40, 40, 40, 40]


def test_growth_after_a_restart() -> None:
    """A total that falls was counted anew."""
    assert values(read([series("t_total", [100, 130, 45])], dialect(counter("t_total"))), "tokens.generation") == {15: 2, 30: 3}


def test_rates_of_a_server_are_taken_as_they_are() -> None:
    """What a server computed is per second already, also where children have gaps."""
    rows = [RawSeries("t_total", OURS, np.array([0.0, 15.0]), np.array([5.0, 3.0]), rate=True)]
    assert values(read(rows, dialect(counter("t_total"))), "tokens.generation") == {0: 5, 15: 3}


# distributions


def test_a_count_alone_is_no_distribution() -> None:
    """Neither sum nor buckets: nothing is known of the values, so nothing is made; the next way may know more."""
    acme = dialect(histogram("poor"), histogram("good"))
    assert not read([series("poor_count", [0, 9])], acme).histograms
    rows = [series("poor_count", [0, 9]), series("good_bucket", [0, 3], le="+Inf")]
    assert distribution(read(rows, acme)).origin.metric == "good"


def test_sum_and_count_are_a_mean() -> None:
    """A summary has one bucket for all."""
    rows = [series("h_sum", [0, 30]), series("h_count", [0, 15]), series("h", [9, 9], quantile="0.99")]
    found = distribution(read(rows, dialect(histogram("h"))))
    assert (found.bounds.tolist(), found.rates.tolist(), found.sums.tolist()) == ([np.inf], [[1]], [2])


def test_buckets_without_a_sum() -> None:
    """Buckets are enough for quantiles; the sum is unknown and not 0."""
    found = distribution(read([series("h_bucket", [0, 15], le=le) for le in ("0.5", "+Inf")], dialect(histogram("h", scale=2.0))))
    assert (found.bounds.tolist(), found.rates.tolist()) == ([1.0, np.inf], [[1, 0]])
    assert np.isnan(found.sums).all()


def test_buckets_without_the_last() -> None:
    """The count stands in for a missing +Inf; with neither nothing is made, and a bound that is no number is left out."""
    finite = series("h_bucket", [0, 15], le="0.5")
    broken = series("h_bucket", [0, 99], le="half a second")
    found = distribution(read([finite, broken, series("h_count", [0, 30])], dialect(histogram("h"))))
    assert (found.bounds.tolist(), found.rates.tolist()) == ([0.5, np.inf], [[1, 1]])
    assert not read([finite, broken], dialect(histogram("h"))).histograms


def test_bounds_that_are_written_differently() -> None:
    """1 and 1.0 are one bound, and of several label sets each adds to it."""
    rows = [
        series("h_bucket", [0, 15], le=le, model=model) for model, le in (("a", "1"), ("b", "1.0"), ("a", "+Inf"), ("b", "+Inf"))
    ]
    assert distribution(read(rows, dialect(histogram("h")))).rates.tolist() == [[2, 0]]


def test_a_bucket_that_is_ahead() -> None:
    """Scrapes are not atomic: a lower bucket ahead of a higher one makes no negative observations."""
    rows = [series("h_bucket", [0, number], le=le) for le, number in (("1", 30), ("2", 15), ("+Inf", 45))]
    assert distribution(read(rows, dialect(histogram("h")))).rates.tolist() == [[2, 0, 1]]


# what cannot be true


def test_a_percentage_is_told() -> None:
    """A ratio that is given in percent is refused, with the likely reason and whose it is."""
    recording = read([series("u", [57, 58])], dialect(gauge("u", signal="kv.usage")))
    told = "Acme says 57 where KV cache in use lies between 0 and 1: it looks like a percentage (replica/h:1)"
    assert recording.problems == (told,)
    assert recording.rejected == {"kv.usage": told}
    assert not recording.series


def test_one_broken_engine_does_not_blank_the_others() -> None:
    """What one engine says wrongly is told of it; the others' readings stay, and the signal is not refused."""
    readings = {1: 0.5, 2: 0.6, 3: -7, 4: -8, 5: -9, 6: -10}
    rows = [series("u", [number, number], instance=f"h:{port}") for port, number in readings.items()]
    recording = read(rows, dialect(gauge("u", signal="kv.usage")))
    assert [one.subject.id for one in recording.by_signal["kv.usage"]] == ["h:1", "h:2"]
    assert recording.rejected == {}
    (problem,) = recording.problems
    assert problem.endswith("wrong unit or broken reading (replica/h:3, replica/h:4, replica/h:5 and 1 more)")


def test_a_slip_costs_its_own_samples() -> None:
    """One absurd sample among many is left out and told; shares just above 1 are rounding."""
    recording = read([series("u", [0.5] * 19 + [1e9, 1.015])], dialect(gauge("u", signal="kv.usage")))
    assert only(recording, "kv.usage").values.tolist() == [0.5] * 19 + [1.0]
    assert len(recording.problems) == 1
    assert recording.rejected == {}


def test_a_total_that_goes_backwards() -> None:
    """Workers that answer scrapes in turn make no counter: their jumps are refused rather than counted as traffic."""
    jumps = [1000 + 10 * number - 50 * (number % 2) for number in range(40)]
    recording = read([series("t_total", jumps)], dialect(counter("t_total")))
    assert not recording.series
    assert recording.problems[0].startswith("t_total of Acme falls time and again without a restart")


# facts, places, sources


def test_the_last_setting_holds() -> None:
    """A restart with other settings makes a new series; what ended earlier is over, in whatever order they come."""
    info = {"names": "c_info", "type": "info", "facts": {"size": "block_size", "v": "engine_version", "m": "model", "q": "dtype"}}
    old = series("c_info", [1, 1], size="16", v="0.10", m="None", q="")
    new = series("c_info", [1, 1], begin=30, size="32", v="0.20", m="1e999")
    for rows in ([old, new], [new, old]):
        facts = {fact.key: fact.value for fact in read(rows, dialect(info)).facts}
        assert facts == {"block_size": 32, "engine_version": "0.20", "model": "1e999"}


def test_limits_are_facts_in_base_units() -> None:
    """A limit that is a plain gauge is a fact of its subject; what the service says of itself is the service's."""
    entry = {"names": "limit_kib", "type": "gauge", "value_fact": "limit", "scale": 1024}
    recording = read([series("limit_kib", [2, 4])], dialect(entry), facts={"engine": "acme"})
    assert recording.fact("limit", REPLICA) == 4096
    assert recording.fact("engine", REPLICA) == "acme"


def test_cards_move_with_their_pods() -> None:
    """After a roll-out a card belongs to the new pod; the node is known by the exporter's address where no label says it."""
    dcgm = dialect(gauge("t", signal="gpu.temp"), scope="gpu")
    machine = dialect(gauge("node_load1", signal="node.load1"), name="machine", scope="node")
    rows = [series("t", [1, 1], UUID="A", pod="svc-0"), series("t", [1, 1], begin=30, UUID="A", pod="svc-1")]
    rows += [RawSeries("node_load1", {"instance": "h:9100", "nodename": "n1"}, rows[0].times, rows[0].values)]
    for order in (rows, rows[::-1]):
        links = read(order, dcgm, machine).links
        assert links[Subject(Scope.GPU, "A")] == (Subject(Scope.NODE, "n1"), Subject(Scope.REPLICA, "svc-1"))


def test_a_bare_engine_runs_on_its_machine() -> None:
    """Without a cluster the engine's address says where it runs."""
    rows = [
        RawSeries("vllm:num_preemptions_total", {"job": "svc", "instance": "gpu1:8000"}, np.arange(2.0), np.arange(2.0)),
        RawSeries("node_load1", {"job": "node", "instance": "gpu1:9100"}, np.arange(2.0), np.arange(2.0)),
    ]
    links = read(rows, *load_dialects()).links
    assert links == {Subject(Scope.REPLICA, "gpu1:8000"): (Subject(Scope.NODE, "gpu1"),)}


SELECTORS: dict[str, tuple[Callable[[], Recording], str, str]] = {
    "labels that all share": (
        lambda: read([series("x", [1], engine=engine) for engine in "01"], dialect(gauge("x"))),
        "queue.waiting",
        'x{instance="h:1",job="acme",service="svc"}',
    ),
    "a pod says more than its address": (
        lambda: read([series("x", [1], pod="svc-0")], dialect(gauge("x"))),
        "queue.waiting",
        'x{job="acme",pod="svc-0",service="svc"}',
    ),
    "the condition of the entry": (
        lambda: read([series("t_total", [1, 2], reason="stop")], dialect(counter("t_total", where={"reason": "stop"}))),
        "tokens.generation",
        't_total{instance="h:1",job="acme",reason="stop",service="svc"}',
    ),
}


@pytest.mark.parametrize("name", SELECTORS)
def test_selectors_find_the_series_again(name: str) -> None:
    """A reader of a report can ask for the very series."""
    make, signal, selector = SELECTORS[name]
    assert only(make(), signal).origin.selector == selector


def test_hostile_values_in_a_selector() -> None:
    """Label values are quoted as PromQL wants them."""
    recording = read([series("x", [1], node='a"b\\c\nd')], dialect(gauge("x")))
    assert only(recording).origin.selector == 'x{instance="h:1",job="acme",node="a\\"b\\\\c\\nd",service="svc"}'


def test_what_became_of_the_source() -> None:
    """A source that brought nothing of the service says so, and so does the recording that cannot tell whose the series are."""
    empty = with_source(read([series("unknown", [1])], dialect(gauge("x"))), "metrics")
    assert [(source.state, source.reason) for source in empty.sources] == [
        (SourceState.ABSENT, "no metric that triage knows belongs to svc")
    ]
    assert with_source(read([series("x", [1])], dialect(gauge("x"))), "m").sources[0].state is SourceState.OK
    stranger = RawSeries("x", {"service": "else"}, np.array([0.0]), np.array([1.0]))
    assert read([stranger], dialect(gauge("x"))).problems == ("nothing in the data says which series belong to svc",)


def test_scrape_interval() -> None:
    """The usual distance of samples is learnt from the data; of single samples it is a guess."""
    assert read([series("x", [1, 1, 1], step=30.0)], dialect(gauge("x"))).step == 30
    assert read([series("x", [1])], dialect(gauge("x"))).step == 15
    assert not read([], dialect(gauge("x"))).series


def test_slow_sources_keep_their_patience() -> None:
    """A source that is scraped once a minute is not gone between two scrapes, though others are scraped more often."""
    acme = dialect(gauge("x"), gauge("y", signal="batch.running"))
    rows = [series("x", [1, 1, 1], step=60.0, instance=f"h:{port}", pod="svc-0") for port in (1, 2)]
    rows[1] = RawSeries("x", rows[1].labels, rows[1].times + 20.0, rows[1].values)
    fast: Floats = np.arange(0.0, 130.0, 15.0)
    rows += [RawSeries("y", {**OURS, "pod": "svc-0", "n": str(number)}, fast, fast * 0) for number in range(9)]
    assert values(read(rows, acme)) == {0: 1, 20: 2, 60: 2, 80: 2, 120: 2, 140: 2}


# many at once


_TOLD = st.lists(st.sampled_from([-1.0, 0.0, 0.25, 1.0, 1.01, 3.0, 7.0]), min_size=1, max_size=12)
_TOTALS = st.lists(st.integers(0, 9), min_size=1, max_size=12)


@given(
    st.lists(st.tuples(_TOLD, _TOTALS, st.sampled_from([0.0, 5.0, 600.0])), min_size=1, max_size=5),
    st.randoms(use_true_random=False),
)
def test_what_one_replica_shows_never_changes_what_is_made_of_another(
    told: list[tuple[list[float], list[int], float]], chance: Random
) -> None:
    acme = dialect(
        gauge("acme_fill", signal="kv.used", unknown=[7.0]),
        counter("acme_made_total"),
        gauge("acme_queue", scale=2.0, where={"pod": "svc-.*"}),
    )
    alone = [
        [
            series("acme_fill", gauges, begin, pod=f"svc-{number}", instance=f"h:{number}"),
            series("acme_queue", gauges, begin, pod=f"svc-{number}", instance=f"h:{number}", lane="a"),
            series(
                "acme_made_total",
                np.cumsum(totals).tolist() if number % 2 else totals,
                begin,
                pod=f"svc-{number}",
                instance=f"h:{number}",
            ),
        ]
        for number, (gauges, totals, begin) in enumerate(told)
    ]
    together = [one for rows in alone for one in rows]
    chance.shuffle(together)
    apart = [shown(one) for rows in alone for one in read(rows, acme).series]
    assert [shown(one) for one in read(together, acme).series] == sorted(apart)


def shown(one: Series) -> tuple[str, str, list[float], list[float], str]:
    return one.signal, str(one.subject), one.times.tolist(), one.values.tolist(), repr(one.origin)

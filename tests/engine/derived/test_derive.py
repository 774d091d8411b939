"""Derived signals of replicas, cards, hosts and the service, each with a small frame made by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.making import BEGIN, Buckets, Shift, cells, derived, frame_of, tail, unknown, who
from triage.engine.derived import DERIVATIONS
from triage.engine.derived.arithmetic import ratio, rolled, share
from triage.model.vocabulary import catalogue

nan = float("nan")


def test_every_derived_signal_has_its_derivation() -> None:
    """The vocabulary and the table of derivations name the same signals; besides, some measured ones have a second way."""
    told = {name for name, signal in catalogue().items() if signal.derived}
    assert told == {name for name in DERIVATIONS if catalogue()[name].derived}
    assert {name for name in DERIVATIONS if not catalogue()[name].derived} == {
        "gateway.requests",
        "kv.capacity",
        "kv.usage",
        "kv.evictable",
        "node.cpu_busy",
        "preemptions",
    }


def test_nothing_comes_of_nothing() -> None:
    """From an empty recording nothing is derived: no signal turns up as 0."""
    frame = derived({})
    assert [name for name in catalogue() if frame.has(name)] == []


# Arithmetic


@given(st.lists(st.floats(0, 100) | st.just(nan), min_size=1, max_size=40), st.integers(1, 10))
def test_a_rolled_sum_is_that_of_the_known_cells(values: list[float], width: int) -> None:
    """The same by hand; unknown where nothing in the span is known."""
    found = rolled(np.array(values), width)
    for index in range(len(values)):
        span = [value for value in values[max(0, index - width + 1) : index + 1] if value == value]
        assert found[index] == pytest.approx(sum(span), abs=1e-6) if span else np.isnan(found[index])


def test_a_ratio_of_rates_is_taken_over_a_minute() -> None:
    """In single cells there may be one request or none; over a minute a quarter of four has failed."""
    frame = frame_of({"finished": 1.0})
    part = np.tile([0.0, 0.0, 0.0, 1.0], 20)
    whole = np.tile([1.0, 1.0, 1.0, 1.0], 20)
    assert np.unique(ratio(part, whole, frame)[10:]).tolist() == [0.25]  # type: ignore[index]
    assert ratio(None, whole, frame) is None


def test_a_share_of_nothing_is_unknown_and_never_above_one() -> None:
    """No requests, no share of failed ones; counters read a little apart give 1 and not 1.02."""
    frame = frame_of({"finished": 1.0})
    empty, full = share(np.zeros(80), np.zeros(80), frame), share(np.full(80, 1.02), np.ones(80), frame)
    assert empty is not None
    assert full is not None
    assert np.isnan(empty).all()
    assert full.max() == 1.0


# Replicas


@pytest.mark.parametrize(
    "signals",
    [
        {"prefix.hits": 30, "prefix.queries": 100},
        {"tokens.prompt_cached": 30, "tokens.prompt": 100},
        {"tokens.prompt_cached": 30, "tokens.prompt_computed": 70},
        {"prefix.hit_ratio_reported": 0.3},
    ],
    ids="+".join,
)
def test_the_prefix_hit_ratio_by_each_engines_counters(signals: dict[str, object]) -> None:
    """Hits of lookups, cached of all prompt tokens, cached of cached and computed, or the engine's own figure."""
    assert tail(derived(signals), "prefix.hit_ratio") == pytest.approx(0.3)


def test_cached_tokens_alone_are_no_ratio() -> None:
    """Thirty cached of an unknown number."""
    assert unknown(derived({"tokens.prompt_cached": 30}), "prefix.hit_ratio")


def test_shares_of_finished_requests() -> None:
    """Of the total, or of the reasons together where no total is counted."""
    assert tail(derived({"finished": 4, "finished.length": 1}), "finished.length_ratio") == pytest.approx(0.25)
    by_reason = derived({"finished.stop": 2, "finished.length": 1, "finished.abort": 1})
    assert tail(by_reason, "finished.length_ratio") == pytest.approx(0.25)
    assert tail(by_reason, "finished.abort_ratio") == pytest.approx(0.25)
    assert tail(derived({"tokens.prompt_computed": 4096, "finished": 2}), "prefill.per_request") == pytest.approx(2048)


def test_speculation_by_counters_or_by_the_engines_word() -> None:
    """Accepted per draft; what the engine says counts its own token, too, and is 0 without speculation."""
    counted = derived({"spec.accepted_tokens": 30, "spec.drafts": 10, "spec.draft_tokens": 50})
    assert tail(counted, "spec.accepted_length") == pytest.approx(3)
    assert tail(counted, "spec.acceptance") == pytest.approx(0.6)
    assert tail(derived({"spec.step_tokens": 3.5}), "spec.accepted_length") == pytest.approx(2.5)
    assert unknown(derived({"spec.step_tokens": 0}), "spec.accepted_length")


def test_offloading() -> None:
    """Hits of lookups, and bytes a second while loading."""
    frame = derived({"offload.hits": 1, "offload.queries": 4, "offload.load_bytes": 1e9, "offload.load_seconds": 0.1})
    assert tail(frame, "offload.hit_ratio") == pytest.approx(0.25)
    assert tail(frame, "offload.load_speed") == pytest.approx(1e10)


@pytest.mark.parametrize("limit", [0.0, 2.0**63 - 4096, nan])
def test_a_container_without_a_limit_has_no_share_of_it(limit: float) -> None:
    """0 and nearly 2^63 mean that there is none."""
    assert unknown(derived({"container.memory": 8e9, "container.memory_limit": limit}), "container.memory_ratio")


def test_shares_of_limits() -> None:
    """Memory, descriptors, scheduler periods."""
    frame = derived(
        {
            "container.memory": 8e9, "container.memory_limit": 16e9, "process.open_fds": 900, "process.max_fds": 1000,
            "container.cpu_throttled_periods": 3, "container.cpu_periods": 10,
        }
    )  # fmt: skip
    assert tail(frame, "container.memory_ratio") == pytest.approx(0.5)
    assert tail(frame, "process.fds_ratio") == pytest.approx(0.9)
    assert tail(frame, "container.cpu_throttled") == pytest.approx(0.3)


def test_how_full_the_batch_is() -> None:
    """Against the limit that the engine shows, or the one it was started with."""
    assert tail(derived({"batch.running": 16, "batch.limit": 32}), "batch.fill") == pytest.approx(0.5)
    assert tail(derived({"batch.running": 16}, facts={"max_num_seqs": 64.0}), "batch.fill") == pytest.approx(0.25)
    assert unknown(derived({"batch.running": 16}), "batch.fill")
    assert unknown(derived({"batch.running": 16}, facts={"max_num_seqs": "many"}), "batch.fill")


def test_a_plateau_looks_like_a_limit_nobody_tells() -> None:
    """Requests wait while about as many run as ever did; without waiting ones it is none."""
    frame = derived({"batch.running": Shift(10, 32), "queue.waiting": Shift(0, 5)})
    assert np.nanmean(cells(frame, "batch.plateau")[frame.grid.window]) == 1
    assert np.nanmean(cells(frame, "batch.plateau")[frame.grid.baseline]) == 0
    assert tail(derived({"batch.running": 32, "queue.waiting": 0}), "batch.plateau") == 0


def test_a_limit_set_anew_is_a_plateau_below_what_was() -> None:
    """A number that stands still for minutes while requests wait; one that moves is no limit."""
    frame = derived({"batch.running": Shift(60, 12), "queue.waiting": Shift(0, 50)})
    assert np.nanmean(cells(frame, "batch.plateau")[frame.grid.window]) > 0.5
    count = len(frame.grid.times)
    moving = [60.0 if cell < count // 2 else 4.0 + 4.0 * (cell % 4) for cell in range(count)]
    assert tail(derived({"batch.running": moving, "queue.waiting": Shift(0, 50)}), "batch.plateau") == 0


def test_time_per_step() -> None:
    """Of steps while something runs, or as the engine says."""
    assert tail(derived({"engine.steps": 40, "batch.running": 3}), "engine.time_per_step") == pytest.approx(0.025)
    assert unknown(derived({"engine.steps": 40, "batch.running": 0}), "engine.time_per_step")
    assert tail(derived({"engine.step_time": 0.03}), "engine.time_per_step") == pytest.approx(0.03)


# Stalls

HELD = {"batch.running": 4.0, "queue.waiting": 2.0}


def stops(before: float) -> Shift:
    """Goes on before the window and stands still in it."""
    return Shift(before, 0)


@pytest.mark.parametrize("beat", ["engine.steps", "tokens.generation", "tokens.prompt_computed", "kv.allocated"])
def test_an_engine_that_holds_requests_and_stands_still(beat: str) -> None:
    """Any heartbeat tells: steps, tokens, KV blocks taken."""
    frame = derived({**HELD, beat: stops(50)})
    assert np.nanmean(cells(frame, "engine.stalled")[frame.grid.window]) == 1
    assert np.nanmax(cells(frame, "engine.stalled")[frame.grid.baseline]) == 0
    idle = derived({"batch.running": 0, "queue.waiting": 0, beat: stops(50)})
    assert np.nanmax(cells(idle, "engine.stalled")) == 0


def test_an_engine_that_was_put_to_sleep_does_not_stall() -> None:
    """It stands still by order."""
    frame = derived({**HELD, "engine.steps": stops(50), "engine.sleeping": Shift(0, 1)})
    assert np.nanmax(cells(frame, "engine.stalled")) == 0


def test_one_heartbeat_that_goes_on_is_enough() -> None:
    """No tokens come out during a long prefill, but steps are made."""
    assert np.nanmax(cells(derived({**HELD, "tokens.generation": 0, "engine.steps": 3}), "engine.stalled")) == 0
    assert np.nanmax(cells(derived({**HELD, "tokens.generation": 0, "kv.allocated": 3}), "engine.stalled")) == 0


@pytest.mark.parametrize("dialect", ["trtllm", "tgi", "llamacpp"])
def test_tokens_that_are_counted_at_the_end_are_a_slow_heartbeat(dialect: str) -> None:
    """While long answers are written such counters stand still: for minutes, if several are held, that is no stall."""

    def stalled(held: dict[str, float], tokens: object) -> float:
        frame = derived({**held, "tokens.generation": tokens}, dialects={"tokens.generation": dialect})
        return float(np.nanmean(cells(frame, "engine.stalled")[frame.grid.window]))

    assert stalled(HELD, stops(50)) == 1
    assert stalled(HELD, lambda t: 50.0 * (t % 240 >= 120)) == 0
    assert stalled({"batch.running": 1.0, "queue.waiting": 1.0}, stops(50)) == 0


def test_tensorrt_llm_writes_a_long_answer() -> None:
    """Its counted tokens stand still for ten minutes, its iteration time moves: no stall."""
    beating = derived(
        {**HELD, "tokens.generation": stops(50), "engine.step_time": lambda t: 0.02 + 1e-4 * (0.618 * t % 1)},
        dialects={"tokens.generation": "trtllm", "engine.step_time": "trtllm"},
    )
    assert np.nanmax(cells(beating, "engine.stalled")) == 0


def test_tensorrt_llm_hangs() -> None:
    """The last iteration's time is told again and again: neither it nor anything else moves."""
    hanging = derived(
        {**HELD, "tokens.generation": stops(50), "engine.step_time": lambda t: 0.02 if t > 0 else 0.02 + 1e-4 * (0.618 * t % 1)},
        dialects={"tokens.generation": "trtllm", "engine.step_time": "trtllm"},
    )
    row = cells(hanging, "engine.stalled")
    assert np.nanmean(row[hanging.grid.first + 2 :]) == 1
    assert np.nanmax(row[: hanging.grid.first]) == 0


def test_missed_scrapes_are_no_stall() -> None:
    """A value that is held for lack of a new sample did not stand still."""
    gap = lambda t: nan if 60 < t < 120 else 0.02 + 1e-4 * (0.618 * t % 1)  # noqa: E731
    frame = derived({**HELD, "engine.step_time": gap}, dialects={"engine.step_time": "trtllm"})
    assert np.nanmax(cells(frame, "engine.stalled")) == 0


# Life and death


def test_a_replica_that_falls_silent_while_others_go_on_is_lost() -> None:
    """Its neighbour is still measured, so the silence is its own."""
    ends = lambda t: 3.0 if t <= 300 else nan  # noqa: E731
    frame = derived({"batch.running@replica/a": ends, "batch.running@replica/b": 3.0})
    lost = cells(frame, "replica.lost@replica/a")
    assert (lost[frame.grid.first], lost[-1]) == (0, 1)
    assert np.nanmax(cells(frame, "replica.lost@replica/b")) == 0
    assert tail(frame, "service.replicas_alive") == 1


def test_where_nobody_has_values_any_more_the_silence_says_nothing() -> None:
    """Prometheus died, not the engine."""
    frame = derived({"batch.running": lambda t: 3.0 if t <= 300 else nan})
    assert np.isnan(cells(frame, "replica.lost")[-1])
    assert np.nanmax(cells(frame, "replica.lost")) == 0


def test_a_gap_of_a_process_that_goes_on_is_no_loss() -> None:
    """The same start time before and after: it lived all the time."""
    gap = lambda t: nan if 100 < t < 400 else 3.0  # noqa: E731
    start = lambda t: nan if 100 < t < 400 else 1_760_000_000.0  # noqa: E731
    kept = derived({"batch.running": gap, "process.start_time": start, "batch.running@replica/b": 3.0})
    assert np.nanmax(cells(kept, "replica.lost")) == 0
    anew = derived({"batch.running": gap, "batch.running@replica/b": 3.0})
    assert np.nanmax(cells(anew, "replica.lost")) == 1


def test_a_pod_that_the_cluster_took_away_is_not_lost() -> None:
    """Scaled in: the cluster lists it no more; killed: it is listed and not ready."""
    ends = lambda t: 3.0 if t <= 300 else nan  # noqa: E731
    listed = lambda t: 1.0 if t <= 330 else nan  # noqa: E731
    others = {"batch.running@replica/b": 3.0}
    taken = derived({"batch.running": ends, "pod.ready": listed, **others})
    assert np.nanmax(cells(taken, "replica.lost")) == 0
    killed = derived({"batch.running": ends, "pod.ready": Shift(1, 0), **others})
    assert tail(killed, "replica.lost") == 1


def test_uptime_and_restarts() -> None:
    """Since the start that the process tells; a later start is one restart."""
    begin = frame_of({}).recording.window.start
    frame = derived({"process.start_time": lambda t: begin - 3600 if t <= 300 else begin + 300})
    assert tail(frame, "replica.uptime") == pytest.approx(300)
    assert cells(frame, "replica.uptime")[0] == pytest.approx(3600 - 600 + 15)
    assert float(np.nansum(cells(frame, "replica.restarted")) * frame.grid.step) == pytest.approx(1)


def test_a_restart_is_when_the_process_began_and_not_when_it_was_asked_first() -> None:
    """It loads for five minutes before it answers a scrape."""
    begin = frame_of({}).recording.window.start
    frame = derived({"process.start_time": lambda t: begin - 3600 if t <= 100 else nan if t <= 450 else begin + 150})
    found = np.flatnonzero(np.nan_to_num(cells(frame, "replica.restarted")))
    assert [float(frame.grid.times[one]) for one in found] == [begin + 150]


# Cards and hosts


def test_memory_and_power_of_a_card() -> None:
    """Of the whole as told, or of used and free; power against the limit in force."""
    assert tail(derived({"gpu.mem_used": 60e9, "gpu.mem_total": 80e9}), "gpu.mem_ratio") == pytest.approx(0.75)
    assert tail(derived({"gpu.mem_used": 60e9, "gpu.mem_free": 20e9}), "gpu.mem_ratio") == pytest.approx(0.75)
    assert unknown(derived({"gpu.mem_used": 60e9}), "gpu.mem_ratio")
    assert tail(derived({"gpu.power": 350, "gpu.power_limit": 700}), "gpu.power_ratio") == pytest.approx(0.5)


def test_a_card_that_vanishes_beside_its_neighbours() -> None:
    """Lost only where another card of the same host is still measured."""
    links = {"gpu/g0": ["node/n1"], "gpu/g1": ["node/n1"], "gpu/g2": ["node/n2"]}
    ends = lambda t: 300.0 if t <= 200 else nan  # noqa: E731
    frame = derived({"gpu.power@gpu/g0": ends, "gpu.power@gpu/g1": 300, "gpu.power@gpu/g2": ends}, links=links)
    assert tail(frame, "gpu.lost@gpu/g0") == 1
    assert np.nanmax(cells(frame, "gpu.lost@gpu/g1")) == 0
    assert unknown(frame, "gpu.lost@gpu/g2")


def test_shares_of_the_host() -> None:
    """CPU by cores where no share is measured (and the measured share where it is), disk and memory that are left."""
    frame = derived({"node.cpu_busy_cores": 16, "node.cpu_cores": 64, "node.disk_available": 1, "node.disk_size": 10})
    assert tail(frame, "node.cpu_busy") == pytest.approx(0.25)
    assert tail(frame, "node.disk_ratio") == pytest.approx(0.1)
    told = derived({"node.cpu_busy": 0.9, "node.cpu_busy_cores": 16, "node.cpu_cores": 64})
    assert tail(told, "node.cpu_busy") == pytest.approx(0.9)
    assert tail(derived({"node.memory_available": 8e9, "node.memory_total": 64e9}), "node.memory_ratio") == pytest.approx(0.125)


# The service


@pytest.mark.parametrize(
    ("signals", "arrivals"),
    [
        ({"requests.attempts": 12, "gateway.requests": 11}, 12),
        ({"gateway.requests": 11, "backend.requests@replica/a": 5}, 11),
        ({"backend.requests@replica/a": 5, "backend.requests@replica/b": 4}, 9),
        ({"finished@replica/a": 3, "finished@replica/b": 2}, 5),
    ],
)
def test_arrivals_at_the_place_nearest_to_the_client(signals: dict[str, object], arrivals: float) -> None:
    """Clients' attempts, else the gateway's requests, else those sent to the replicas, else what ended there."""
    assert tail(derived(signals), "service.arrivals") == pytest.approx(arrivals)


def test_arrivals_at_engines_are_what_ended_and_what_piled_up() -> None:
    """One a second ends, one in 15 s stays: more came than left."""
    frame = derived({"finished": 1.0, "batch.running": lambda t: max(0.0, t) / 15})
    assert tail(frame, "service.arrivals") == pytest.approx(1 + 1 / 15)


@pytest.mark.parametrize(("aborted", "arrivals"), [(0.5, 1.0), (3.0, 4.0)])
def test_aborts_that_outnumber_all_that_ended_are_not_among_them(aborted: float, arrivals: float) -> None:
    """Some engines count who is aborted while it waits in no total; fewer may be a part of it."""
    frame = derived({"finished": 1.0, "finished.abort": aborted, "batch.running": 5.0})
    assert tail(frame, "service.arrivals") == pytest.approx(arrivals)


def test_attempts_per_request_and_where_they_multiply() -> None:
    """Clients repeat (attempts of distinct requests), or the gateway does (sent of received)."""
    client = derived({"requests.attempts": 30, "requests.distinct": 10, "requests.failed": 2, "requests.timeouts": 15})
    assert tail(client, "requests.attempt_ratio") == pytest.approx(3)
    assert tail(client, "requests.failed_ratio") == pytest.approx(0.2)
    assert tail(client, "requests.timeout_ratio") == pytest.approx(0.5)
    gateway = derived({"gateway.requests": 10, "gateway.upstream_requests": 25, "gateway.retries": 5})
    assert tail(gateway, "gateway.amplification") == pytest.approx(2.5)
    assert tail(gateway, "gateway.retry_ratio") == pytest.approx(0.5)
    assert unknown(gateway, "requests.attempt_ratio")


def test_demand_is_distinct_requests_where_somebody_counts_them() -> None:
    """Retries are not demand; where nobody counts requests, arrivals are the next best."""
    assert tail(derived({"requests.distinct": 10, "requests.attempts": 30}), "service.demand") == pytest.approx(10)
    assert tail(derived({"gateway.requests": 30}), "service.demand") == pytest.approx(30)


def test_errors_by_the_worst_view() -> None:
    """Clients see more than the gateway; without both the engines' front ends are asked."""
    frame = derived({"requests.failed": 4, "requests.distinct": 10, "gateway.5xx": 1, "gateway.requests": 10})
    assert tail(frame, "service.error_ratio") == pytest.approx(0.4)
    assert tail(derived({"http.5xx": 1, "http.requests": 4}), "service.error_ratio") == pytest.approx(0.25)
    assert tail(derived({"gateway.4xx": 1, "gateway.requests": 4}), "service.refused_ratio") == pytest.approx(0.25)
    assert tail(derived({"gateway.client_left": 1, "gateway.requests": 4}), "service.abandoned_ratio") == pytest.approx(0.25)


def test_answers_in_full() -> None:
    """Distinct requests that did not fail, else successes of the gateway, else of the engines."""
    assert tail(derived({"requests.distinct": 10, "requests.failed": 3}), "service.goodput") == pytest.approx(7)
    assert tail(derived({"gateway.2xx": 8, "finished.stop": 9}), "service.goodput") == pytest.approx(8)
    assert tail(derived({"finished.stop": 4, "finished.length": 2}), "service.goodput") == pytest.approx(6)


def test_load_of_each_living_replica() -> None:
    """Twelve requests a second over three."""
    signals = {f"batch.running@replica/{name}": 1.0 for name in "abc"}
    assert tail(derived({"gateway.requests": 12, **signals}), "service.load_per_replica") == pytest.approx(4)


OUTER = Buckets((1, 3), (0, 1, 0), value=Shift(2.0, 2.0))
INNER = Buckets((1, 3), (0, 1, 0), value=Shift(1.5, 1.5))


def test_time_outside_the_engine() -> None:
    """Two seconds at the gateway of which the engine has one and a half."""
    frame = derived(histograms={"gateway.latency": OUTER, "latency.e2e": INNER})
    assert tail(frame, "gateway.engine_gap") == pytest.approx(0.5)
    assert tail(frame, "service.outside_share") == pytest.approx(0.25)
    client = derived(histograms={"client.latency": OUTER, "latency.e2e": INNER})
    assert tail(client, "service.outside_share") == pytest.approx(0.25)
    assert unknown(derived(histograms={"gateway.latency": OUTER}), "gateway.engine_gap")


def test_descriptors_of_the_gateway() -> None:
    """As a share of its limit."""
    assert tail(derived({"gateway.open_fds": 1000, "gateway.max_fds": 1024}), "gateway.fds_ratio") == pytest.approx(
        0.977, abs=1e-3
    )


def test_a_derived_signal_is_unknown_exactly_where_its_input_is() -> None:
    """Half of the window without samples of one input: no value there, and none is made up."""
    frame = derived({"gpu.power": lambda t: 300.0 if t <= 300 else nan, "gpu.power_limit": 600})
    row = cells(frame, "gpu.power_ratio")
    assert np.isnan(row[-10:]).all()
    assert row[frame.grid.first] == pytest.approx(0.5)


def test_the_only_host_is_no_matter_of_names() -> None:
    """Subjects of any name are derived for."""
    frame = derived({"node.disk_available@node/\x1b[2J": 1, "node.disk_size@node/\x1b[2J": 4})
    assert frame.cells("node.disk_ratio", who("node/\x1b[2J")) is not None


# Gateways


def test_a_certificate_has_no_time_left_once_it_has_ended() -> None:
    """An hour of life at the beginning is 40 minutes at the end; what ended yesterday has none, and not less than none."""
    left = cells(derived({"gateway.cert_expiry": BEGIN + 3600.0}), "gateway.cert_ttl")
    assert left[-1] == pytest.approx(3600.0 - 1200.0, abs=20.0)
    assert np.unique(cells(derived({"gateway.cert_expiry": BEGIN - 86_400.0}), "gateway.cert_ttl")).tolist() == [0.0]

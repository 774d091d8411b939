"""Derived signals that need physics: model, card and laws of queues against what was measured."""

import numpy as np
import pytest

from tests.engine.making import Buckets, Shift, cells, derived, frame_of, tail, unknown, who
from triage.engine.derived.physical import card_of, cards_in_step
from triage.engine.diagnose import diagnose
from triage.engine.frame import Frame

nan = float("nan")
H100 = "NVIDIA H100 80GB HBM3"
LINKED = {"gpu/g0": ["replica/a", "node/n1"]}


def itl(seconds: float) -> dict[str, Buckets]:
    """A mean time between tokens."""
    return {"latency.itl": Buckets((0.01, 0.1), (5, 5, 0), value=Shift(seconds, seconds))}


# The KV cache


@pytest.mark.parametrize(
    "facts", [{"kv_cache_tokens": 400_000.0}, {"num_gpu_blocks": "25000", "block_size": "16"}], ids=["tokens", "blocks"]
)
def test_the_size_of_the_cache_by_what_the_engine_told_at_start(facts: dict[str, str | float]) -> None:
    """In tokens or in blocks; a measured size goes before it."""
    assert tail(derived({"batch.running": 1}, facts=facts), "kv.capacity") == 400_000
    assert tail(derived({"kv.capacity": 1000}, facts=facts), "kv.capacity") == 1000


def test_usage_and_what_is_evictable_by_tokens() -> None:
    """Where an engine counts tokens and tells no share; its own share goes before."""
    frame = derived({"kv.used": 800, "kv.evictable_tokens": 150, "kv.capacity": 1000})
    assert tail(frame, "kv.usage") == pytest.approx(0.8)
    assert tail(frame, "kv.evictable") == pytest.approx(0.15)
    assert tail(derived({"kv.usage": 0.5, "kv.used": 800, "kv.capacity": 1000}), "kv.usage") == pytest.approx(0.5)
    assert unknown(derived({"kv.used": 800}), "kv.usage")


# Cards


def test_the_card_of_a_replica() -> None:
    """By its own cards' names, by the service's fact, and not where cards are mixed or parts of a card."""
    frame = frame_of({"gpu.power": 1}, links=LINKED, facts={"gpu_model@gpu/g0": H100})
    card = card_of(frame, who("replica/a"))
    assert card is not None
    assert card.name == "H100 SXM"
    told = card_of(frame_of({"batch.running": 1}, facts={"gpu_model": H100}), who("replica/a"))
    assert told == card
    links = {**LINKED, "gpu/g1": ["replica/a"]}
    mixed = {"gpu_model@gpu/g0": H100, "gpu_model@gpu/g1": "NVIDIA L4"}
    assert card_of(frame_of({}, links=links, facts=mixed), who("replica/a")) is None
    sliced = {"gpu_model@gpu/g0": H100, "mig_profile@gpu/g0": "3g.40gb"}
    assert card_of(frame_of({}, links=LINKED, facts=sliced), who("replica/a")) is None
    assert card_of(frame_of({}, facts={"gpu_model": "A100"}), who("replica/a")) is None


@pytest.mark.parametrize(
    ("facts", "links", "cards"),
    [
        ({"tensor_parallel_size": "4", "gpus_per_replica": 8.0}, {}, 4),
        ({"gpus_per_replica": 2.0}, {}, 2),
        ({}, {"gpu/g0": ["replica/a"], "gpu/g1": ["replica/a"], "gpu/g2": ["replica/b"]}, 2),
        ({}, {}, None),
    ],
)
def test_cards_that_work_on_a_token_together(
    facts: dict[str, str | float], links: dict[str, list[str]], cards: int | None
) -> None:
    """As the engine was started, as a person says, or as many as are linked; else unknown."""
    assert cards_in_step(frame_of({"batch.running": 1}, facts=facts, links=links), who("replica/a")) == cards


def test_bandwidth_by_the_engines_own_count() -> None:
    """2.5 TB a second read and 0.18 written on a card of 3.35: eighty per cent, for the replica and for each of its cards."""
    signals = {"bytes.read": 2.5e12, "bytes.written": 0.18e12}
    frame = derived(signals, links=LINKED, facts={"gpu_model": H100})
    assert tail(frame, "engine.bandwidth_ratio") == pytest.approx(0.8)
    assert tail(frame, "gpu.bandwidth_ratio") == pytest.approx(0.8)
    no_card_measured = derived(signals, facts={"gpu_model": H100})
    assert tail(no_card_measured, "engine.bandwidth_ratio") == pytest.approx(0.8)
    assert unknown(derived(signals, links=LINKED), "engine.bandwidth_ratio")
    assert unknown(derived({"gpu.mem_util": 0.99}, links=LINKED, facts={"gpu_model": H100}), "engine.bandwidth_ratio")


def test_more_than_the_peak_is_a_broken_input_and_said_so() -> None:
    """Twice what the card can: no value, and a problem that names the signal; the rest of the diagnosis goes on."""
    frame = derived({"bytes.read": 7e12}, links=LINKED, facts={"gpu_model": H100})
    assert unknown(frame, "engine.bandwidth_ratio")
    assert unknown(frame, "gpu.bandwidth_ratio")
    assert "2.09" in frame.rejected["engine.bandwidth_ratio"]
    diagnosis = diagnose(frame.recording, [])
    assert any("nothing exceeds its peak" in problem for problem in diagnosis.coverage.problems)


def test_a_single_cell_above_the_peak_is_noise() -> None:
    """One late scrape in eighty: that cell is unknown, the others are believed."""
    frame = derived({"bytes.read": lambda t: 5e12 if t == 150 else 3e12}, facts={"gpu_model": H100})
    row = cells(frame, "engine.bandwidth_ratio")
    assert np.isnan(row).sum() == 1
    assert np.nanmax(row) == pytest.approx(3 / 3.35, rel=1e-3)


def test_arithmetic_against_the_peak_of_its_width() -> None:
    """400 TFLOP/s are 40 % of an H100 in 16 bits and 20 % in FP8; with neither dtype nor method told they are unknown."""
    work = {"flops": 400e12}
    told = {"gpu_model": H100}
    assert tail(derived(work, facts={**told, "dtype": "bfloat16"}), "engine.compute_ratio") == pytest.approx(0.404, abs=1e-3)
    assert tail(derived(work, facts={**told, "quantization": "fp8"}), "engine.compute_ratio") == pytest.approx(0.202, abs=1e-3)
    assert tail(derived(work, facts={**told, "quantization": "awq"}), "engine.compute_ratio") == pytest.approx(0.404, abs=1e-3)
    assert unknown(derived(work, facts=told), "engine.compute_ratio")
    assert unknown(derived(work, facts={**told, "quantization": "gguf"}), "engine.compute_ratio")


def test_how_busy_the_pcie_link_is() -> None:
    """16 GB/s in over a link of generation 4 with 8 lanes: as much as it can."""
    frame = derived({"gpu.pcie_gen": 4, "gpu.pcie_width": 8, "gpu.pcie_rx": 12e9, "gpu.pcie_tx": 1e9})
    assert tail(frame, "gpu.pcie_busy") == pytest.approx(0.762, abs=1e-3)
    assert unknown(derived({"gpu.pcie_rx": 12e9}), "gpu.pcie_busy")
    assert unknown(derived({"gpu.pcie_gen": 0, "gpu.pcie_width": 8, "gpu.pcie_rx": 1e9}), "gpu.pcie_busy")


# Decode against its floor

LLAMA: dict[str, str | float] = {
    "gpu_model": H100,
    "model": "meta-llama/Llama-3.1-8B-Instruct",
    "dtype": "bfloat16",
    "gpus_per_replica": 1.0,
}


def test_a_decode_step_reads_the_weights_once() -> None:
    """15 GB at 3.35 TB/s are 4.5 ms; twice as long between tokens is half of the bandwidth."""
    frame = derived({"batch.running": 1}, histograms=itl(0.00896), facts=LLAMA)
    assert tail(frame, "decode.floor") == pytest.approx(4.48e-3, rel=1e-3)
    assert tail(frame, "decode.floor_ratio") == pytest.approx(0.5, rel=1e-3)


def test_and_the_cache_in_use() -> None:
    """200 000 tokens of 128 KiB are 26 GB more; an FP8 cache is half of that; a cache that is reserved is not all read."""
    usage = {"kv.usage": 0.5}
    facts = {**LLAMA, "kv_cache_tokens": 400_000.0}
    full = tail(derived(usage, facts=facts), "decode.floor")
    assert full == pytest.approx((15.01e9 + 200_000 * 131072) / 3.35e12, rel=1e-3)
    half = tail(derived(usage, facts={**facts, "kv_cache_dtype": "fp8_e4m3"}), "decode.floor")
    assert half == pytest.approx((15.01e9 + 200_000 * 65536) / 3.35e12, rel=1e-3)
    reserved = tail(derived({"kv.used": 200_000}, facts=facts, dialects={"kv.used": "tgi"}), "decode.floor")
    assert reserved == pytest.approx(15.01e9 / 3.35e12, rel=1e-3)


def test_cards_share_the_reading() -> None:
    """Two cards take half of the time."""
    two = derived({"batch.running": 1}, facts={**LLAMA, "tensor_parallel_size": 2.0})
    assert tail(two, "decode.floor") == pytest.approx(2.24e-3, rel=1e-3)


def test_what_the_log_says_was_loaded_goes_before_the_table() -> None:
    """7.5 GiB on each card: a quantised copy, of which a dense model reads all but the input embedding."""
    frame = derived({"batch.running": 1}, facts={**LLAMA, "weights_gib": 7.5})
    assert tail(frame, "decode.floor") == pytest.approx(7.5 * 2**30 * 0.9345 / 3.35e12, rel=1e-3)


@pytest.mark.parametrize("missing", ["gpu_model", "model", "dtype", "gpus_per_replica"], ids=lambda missing: f"without {missing}")
def test_without_an_input_there_is_no_floor(missing: str) -> None:
    """Card, model, dtype or number of cards: nothing is taken for granted."""
    facts = {key: value for key, value in LLAMA.items() if key != missing}
    assert unknown(derived({"batch.running": 1}, histograms=itl(0.01), facts=facts), "decode.floor")


def test_of_a_model_told_by_its_parameters_the_active_ones_are_needed() -> None:
    """It may have experts; a person who knows that it has none says so."""
    facts: dict[str, str | float] = {"gpu_model": H100, "gpus_per_replica": 1.0, "dtype": "float16", "parameters": 7e9}
    assert unknown(derived({"batch.running": 1}, facts=facts), "decode.floor")
    assert tail(derived({"batch.running": 1}, facts={**facts, "active_parameters": 7e9}), "decode.floor") == pytest.approx(
        14e9 / 3.35e12
    )


def test_while_drafts_are_verified_tokens_come_faster_than_steps() -> None:
    """The time between tokens is not the time of a step then."""
    frame = derived({"spec.drafts": 3, "batch.running": 1}, histograms=itl(0.005), facts=LLAMA)
    assert not unknown(frame, "decode.floor")
    assert unknown(frame, "decode.floor_ratio")


def test_tokens_faster_than_their_floor_are_a_broken_input() -> None:
    """1 ms a token from 15 GB of weights cannot be: the facts are wrong, and that is said."""
    frame = derived({"batch.running": 1}, histograms=itl(0.001), facts=LLAMA)
    assert unknown(frame, "decode.floor_ratio")
    assert "least possible decode time against the measured of replica/a" in frame.rejected["decode.floor_ratio"]


# Where time goes

TIMES = {"ttft": 2.0, "queue": 1.0, "prefill": 0.6, "decode": 8.0, "e2e": 10.0}


def times(*names: str) -> dict[str, Buckets]:
    """Distributions with these means."""
    return {f"latency.{name}": Buckets((1, 20), (1, 1, 0), value=Shift(TIMES[name], TIMES[name])) for name in names}


def test_shares_of_the_time_to_first_token_and_of_the_whole() -> None:
    """Queue, prefill, what neither accounts for; queue, prefill and decode of the request's time in the engine."""
    frame = derived(histograms=times("ttft", "queue", "prefill", "decode", "e2e"))
    shares = {
        "ttft.queue_share": 0.5, "ttft.prefill_share": 0.3, "ttft.unaccounted": 0.4, "ttft.unaccounted_share": 0.2,
        "e2e.queue_share": 0.1, "e2e.prefill_share": 0.06, "e2e.decode_share": 0.8,
    }  # fmt: skip
    for name, value in shares.items():
        assert tail(frame, name) == pytest.approx(value), name


def test_a_part_that_nobody_measures_leaves_its_share_unknown() -> None:
    """Without prefill nobody knows what is unaccounted for; the queue's share is known."""
    frame = derived(histograms=times("ttft", "queue"))
    assert tail(frame, "ttft.queue_share") == pytest.approx(0.5)
    assert unknown(frame, "ttft.prefill_share")
    assert unknown(frame, "ttft.unaccounted")
    assert unknown(frame, "e2e.queue_share")


# Queues


def flow(rate: float, seconds: float) -> dict[str, Buckets]:
    """Requests that end, and how long they had been inside."""
    return {"latency.e2e": Buckets((1, 100), (0, rate, 0), value=Shift(seconds, seconds))}


def test_littles_law_holds_in_a_steady_state() -> None:
    """Two a second that stay for five are ten inside."""
    frame = derived({"batch.running": 8, "queue.waiting": 2}, histograms=flow(2, 5))
    assert tail(frame, "engine.held_ratio") == pytest.approx(1.0)
    assert tail(derived({"batch.running": 30}, histograms=flow(2, 5)), "engine.held_ratio") == pytest.approx(3.0)
    assert unknown(derived({"batch.running": 8}), "engine.held_ratio")


def test_growth_of_what_is_inside() -> None:
    """One more every two seconds; shrinking is negative."""
    frame = derived({"batch.running": 8, "queue.waiting": lambda t: max(0.0, t) / 2})
    assert tail(frame, "queue.growth") == pytest.approx(0.5)
    falling = derived({"queue.waiting": lambda t: 600.0 - t})
    assert tail(falling, "queue.growth") == pytest.approx(-1.0)


def test_offered_load() -> None:
    """Two a second that need four seconds of the batch each are eight of sixteen places."""
    histograms = {**flow(2, 5), "latency.queue": Buckets((1, 100), (0, 2, 0), value=Shift(1, 1))}
    frame = derived({"batch.running": 8, "queue.waiting": 2}, histograms=histograms, facts={"max_num_seqs": 16.0})
    assert tail(frame, "batch.offered_load") == pytest.approx(0.5)
    overloaded = derived(
        {"batch.running": 16, "queue.waiting": lambda t: 4.0 * max(0.0, t)}, histograms=histograms, facts={"max_num_seqs": 16.0}
    )
    assert tail(overloaded, "batch.offered_load") == pytest.approx(6 * 4 / 16)
    assert unknown(derived({"batch.running": 8}, histograms=histograms), "batch.offered_load")


def balanced(sent: float, ended: float, grows: float) -> Frame:
    """A gateway that sends and engines that finish, while more and more are inside."""
    return derived({"gateway.upstream_requests": sent, "finished": ended, "queue.waiting": lambda t: 600 + grows * t})


def test_what_is_sent_and_does_not_end_is_inside_or_lost() -> None:
    """Ten sent, eight end: two a second pile up, at the engines or nowhere."""
    inside, lost = balanced(10, 8, 2), balanced(10, 8, 0)
    assert tail(inside, "service.backlog_growth") == tail(lost, "service.backlog_growth") == pytest.approx(2)
    assert tail(inside, "service.requests_lost") == pytest.approx(0, abs=1e-9)
    assert tail(lost, "service.requests_lost") == pytest.approx(2)
    assert tail(balanced(8, 10, 0), "service.requests_lost") == pytest.approx(-2)
    assert unknown(derived({"gateway.requests": 10, "finished": 8}), "service.backlog_growth")

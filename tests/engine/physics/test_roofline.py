"""The roofline: what a step moves and computes, the least time it takes, what bounds it."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.engine.physics.accelerators import TABLE, Accelerator, accelerator
from triage.engine.physics.families import family
from triage.engine.physics.roofline import (
    Step,
    decode_step,
    floor_of,
    flops_per_token,
    least_step_time,
    most_tokens_per_second,
    peak_flops,
    prefill_step,
    ridge,
)
from triage.engine.physics.shape import ModelShape

SEVEN_BILLION = ModelShape(
    stated_parameters=7e9, stated_active=7e9, dtype="float16", layers=32, attention_layers=32, heads=32, kv_heads=32, head_dim=128
)


def card(name: str) -> Accelerator:
    """A card of the table."""
    found = accelerator(name)
    assert found is not None
    return found


A100 = card("NVIDIA A100-SXM4-80GB")


def test_seven_billion_parameters_on_an_a100() -> None:
    """14 GB at 2039 GB/s take 6.9 ms: 146 tokens a second at most for one request, whatever the engine."""
    step = decode_step(SEVEN_BILLION, 1, 0)
    assert step is not None
    floor = floor_of(step, A100)
    assert floor is not None
    assert step.bytes == 14e9
    assert step.flops == 14e9
    assert floor.time == pytest.approx(6.87e-3, rel=1e-3)
    assert most_tokens_per_second(step, floor) == pytest.approx(145.6, rel=1e-3)


def test_decode_is_bound_by_memory_and_prefill_by_arithmetic() -> None:
    """One operation a byte is far left of the ridge (153 on an A100); a long prompt is far right of it."""
    decode, prefill = decode_step(SEVEN_BILLION, 1, 1000), prefill_step(SEVEN_BILLION, 4096)
    assert decode is not None
    assert prefill is not None
    edge = ridge(A100)
    assert edge is not None
    assert edge == pytest.approx(153, rel=0.01)
    assert decode.intensity < 2
    assert prefill.intensity > edge
    bounds = [floor.bound for step in (decode, prefill) if (floor := floor_of(step, A100)) is not None]
    assert bounds == ["memory", "arithmetic"]


@given(batch=st.integers(1, 512), context=st.floats(0, 100_000))
def test_a_larger_batch_takes_longer_and_gives_more(batch: int, context: float) -> None:
    """Weights are read once for all: tokens a second never fall as the batch grows, and a step never gets shorter."""
    small, large = decode_step(SEVEN_BILLION, batch, context), decode_step(SEVEN_BILLION, batch + 1, context)
    assert small is not None
    assert large is not None
    before, after = floor_of(small, A100), floor_of(large, A100)
    assert before is not None
    assert after is not None
    assert before.time <= after.time
    assert most_tokens_per_second(small, before) <= most_tokens_per_second(large, after) * (1 + 1e-9)


@given(st.sampled_from([row for row in TABLE if row.flops_16]), st.floats(1e6, 1e12), st.floats(1e6, 1e15))
def test_the_bound_changes_at_the_ridge(row: Accelerator, size: float, flops: float) -> None:
    """Left of the ridge memory bounds, right of it arithmetic; the floor is the greater time of the two."""
    step, edge = Step(size, flops, 1), ridge(row)
    floor = floor_of(step, row)
    assert floor is not None
    assert edge is not None
    assert floor.time == max(floor.memory, floor.arithmetic)
    if step.intensity < edge * 0.999:
        assert floor.bound == "memory"
    if step.intensity > edge * 1.001:
        assert floor.bound == "arithmetic"


def test_cards_share_the_work() -> None:
    """Four cards take a fourth of the time at best; eight bits have their own peak."""
    step = Step(8e9, 1e12, 1)
    one, four = floor_of(step, A100), floor_of(step, A100, cards=4)
    assert one is not None
    assert four is not None
    assert one.time == pytest.approx(4 * four.time)
    h100 = card("NVIDIA H100 80GB HBM3")
    assert (peak_flops(h100, 16), peak_flops(h100, 8)) == (989e12, 1979e12)


def test_experts_make_decode_cheap_and_memory_dear() -> None:
    """DeepSeek-V3 reads 38 GB for a token of one request, of its 673 GB."""
    shape = family("DeepSeek-V3")
    assert shape is not None
    step = decode_step(shape, 1, 0)
    assert step is not None
    assert step.bytes == pytest.approx(37.5e9, rel=0.02)
    assert step.flops == pytest.approx(2 * 36.6e9, rel=0.01)


def test_attention_adds_operations_with_the_context() -> None:
    """Four for each layer, head width and token: at 128 000 tokens more than the weights."""
    short, long = flops_per_token(SEVEN_BILLION, 0), flops_per_token(SEVEN_BILLION, 128_000)
    assert short == 14e9
    assert long == 14e9 + 4 * 32 * 4096 * 128_000


@pytest.mark.parametrize(
    "shape",
    [
        ModelShape(),
        replace(SEVEN_BILLION, stated_active=None),
        replace(SEVEN_BILLION, dtype=""),
        replace(SEVEN_BILLION, kv_heads=None),
    ],
)
def test_an_unknown_model_has_no_step(shape: ModelShape) -> None:
    """Total parameters alone do not tell what a token passes."""
    assert decode_step(shape, 1, 1000) is None


def test_an_unknown_peak_has_no_floor() -> None:
    """GB10 publishes sparse FP4 only."""
    assert ridge(card("NVIDIA GB10")) is None
    assert floor_of(Step(1, 1, 1), card("NVIDIA GB10")) is None


@pytest.mark.parametrize(
    ("size", "bandwidth", "cards"), [(None, 1e12, 1), (1e9, None, 1), (1e9, 0.0, 1), (1e9, 1e12, None), (1e9, 1e12, 0)]
)
def test_the_least_time_needs_all_inputs(size: float | None, bandwidth: float | None, cards: int | None) -> None:
    """One unknown input leaves it unknown."""
    assert least_step_time(size, bandwidth, cards) is None
    assert least_step_time(1e9, 1e12, 2) == 5e-4

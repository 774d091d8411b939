"""Sizing: what fits, what it holds, the floors, and what binds."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.engine.physics.accelerators import TABLE, Accelerator, accelerator, meant
from triage.engine.physics.families import TABLE as MODELS
from triage.engine.physics.families import family
from triage.engine.physics.memory import GIB
from triage.engine.physics.shape import ModelShape
from triage.engine.physics.sizing import Load, Sizing, enough_cards, sized


def card(name: str) -> Accelerator:
    """A card of the table."""
    found = accelerator(name)
    assert found is not None
    return found


def model(name: str) -> ModelShape:
    """A model of the table."""
    found = family(name)
    assert found is not None
    return found


def answer(name: str, gpu: str, load: Load) -> Sizing:
    """The sizing of what is known well enough."""
    found = sized(model(name), card(gpu), load)
    assert found is not None
    return found


A100 = "NVIDIA A100-SXM4-80GB"


def test_seventy_billion_on_four_a100() -> None:
    """By hand: 141.1 GB of weights ÷ 4 are 32.9 GiB; 2 × 80 × 2 × 128 × 2 bytes a token, 32768 of them 2.5 GiB a card."""
    told = answer("Llama-3.1-70B", A100, Load(32768, 40, cards=4))
    assert told.account.weights / GIB == pytest.approx(32.9, abs=0.1)
    assert told.kv_per_request / GIB == pytest.approx(2.5)
    assert told.requests == int(told.account.kv // (2.5 * GIB)) == 14
    assert (told.holds, told.bound, told.batch) == (False, "kv cache", 14)
    # ITL: (70.6 G - the input embedding) × 2 bytes + 14 × 10 GiB of cache, over 4 × 2039 GB/s
    assert told.decode.floor.time == pytest.approx(((70.55e9 - 128256 * 8192) * 2 + 14 * 10 * GIB) / (4 * 2.039e12), rel=0.01)
    assert told.decode.bound == "bandwidth"
    # TTFT: 32768 tokens × (2 × 69.5 G + 4 × 80 × 64 × 128 × 16384 operations) over 4 × 312 TFLOP/s
    assert told.prefill.floor.time == pytest.approx(32768 * (2 * 69.5e9 + 4 * 80 * 64 * 128 * 16384) / (4 * 312e12), rel=0.01)
    assert told.prefill.bound == "compute"
    assert told.tokens_per_second == pytest.approx(14 / told.decode.floor.time)


@pytest.mark.parametrize(
    ("name", "gpu", "load", "bound"),
    [
        ("Llama-3.1-70B", A100, Load(4096, 1), "weights"),
        ("Llama-3.1-8B", A100, Load(8192, 200), "kv cache"),
        ("Llama-3.1-8B", A100, Load(8192, 8), "bandwidth"),
        ("Llama-3.1-8B", A100, Load(16, 512), "compute"),
    ],
)
def test_what_binds(name: str, gpu: str, load: Load, bound: str) -> None:
    """Weights first, then the cache, then which side of the ridge a decode step lies on."""
    told = answer(name, gpu, load)
    assert told.bound == bound
    assert (told.decode.step.intensity > told.decode.ridge) == (told.decode.bound == "compute")


def test_a_window_lets_more_requests_in() -> None:
    """Layers that keep 128 tokens hold almost twice as many requests of 8192 as layers that keep all."""
    shape = model("gpt-oss-120b")
    windowed, whole = (
        sized(one, card("NVIDIA H200"), Load(8192, 1)) for one in (shape, replace(shape, window_layers=0, window=0))
    )
    assert windowed is not None
    assert whole is not None
    assert windowed.requests / whole.requests == pytest.approx(1.97, abs=0.05)


def test_latent_caches_are_whole_on_every_card_and_move_once() -> None:
    """DeepSeek's cache is not split over cards, and one copy of it goes over a link."""
    one, eight = (answer("DeepSeek-V3", "NVIDIA H200", Load(8192, 1, cards=cards)) for cards in (1, 8))
    assert one.kv_per_request == eight.kv_per_request == eight.kv_whole


def test_a_cache_moves_slower_with_every_scale() -> None:
    """1.07 GB: 0.3 ms out of the memory of an H100, 2.4 ms over NVLink 4, 17 ms over PCIe 5.0, as docs/physics.md says."""
    moves = {link.name: seconds for link, seconds in answer("Llama-3.1-8B", "H100 80GB HBM3", Load(8192, 1)).moves()}
    assert moves["memory of H100 SXM"] == pytest.approx(0.32e-3, rel=0.02)
    assert moves["peers of H100 SXM"] == moves["NVLink 4 (H100, H200)"] == pytest.approx(2.39e-3, rel=0.01)
    assert moves["PCIe 5.0 x16"] == pytest.approx(17e-3, rel=0.02)


def test_the_fewest_cards_do_and_half_of_them_do_not() -> None:
    """The answer is the edge."""
    shape, load = model("Llama-3.1-70B"), Load(32768, 40)
    enough = enough_cards(shape, card(A100), load)
    assert enough == 8
    fewer = sized(shape, card(A100), replace(load, cards=4))
    assert fewer is not None
    assert not fewer.holds
    assert enough_cards(shape, card(A100), Load(131072, 10_000)) is None


@given(
    st.sampled_from(MODELS), st.sampled_from([row for row in TABLE if row.flops_16 and row.flops_8]),
    st.integers(1, 200_000), st.integers(1, 2000), st.sampled_from([1, 2, 4, 8]),
)  # fmt: skip
def test_more_is_never_easier(row: object, gpu: Accelerator, context: int, concurrency: int, cards: int) -> None:
    """A longer context holds no more requests and is no sooner done; more cards never hold fewer; what runs fits."""
    shape = row.shape  # type: ignore[attr-defined]  # a row of the private kind Family
    load = Load(context, concurrency, cards)
    told, longer, more = (
        sized(shape, gpu, one) for one in (load, replace(load, context=2 * context), replace(load, cards=2 * cards))
    )
    assert told is not None
    assert longer is not None
    assert more is not None
    assert longer.requests <= told.requests <= more.requests
    assert longer.prefill.floor.time >= told.prefill.floor.time
    assert told.requests * told.kv_per_request <= max(0.0, told.account.kv) * (1 + 1e-9)
    assert told.single.floor.time <= told.decode.floor.time


@pytest.mark.parametrize(
    "shape", [ModelShape(), replace(model("Llama-3.1-8B"), quantisation="gguf"), ModelShape(stated_parameters=7e9)]
)
def test_an_unknown_model_has_no_answer(shape: ModelShape) -> None:
    """Nothing is replaced by a usual value."""
    assert sized(shape, card(A100), Load(1024, 1)) is None


def test_a_card_without_a_published_peak_has_no_answer() -> None:
    """No floor of operations can be given."""
    assert sized(model("Llama-3.1-8B"), card("NVIDIA GB10"), Load(1024, 1)) is None


@pytest.mark.parametrize(
    ("name", "names"),
    [
        ("A100-80GB", {"A100 80GB SXM", "A100 80GB PCIe"}),
        ("a100", {"A100 80GB SXM", "A100 80GB PCIe", "A100 40GB"}),
        ("H100-80GB", {"H100 SXM", "H100 PCIe"}),
        ("H100 80GB HBM3", {"H100 SXM"}),
        ("nvidia l4", {"L4"}),
        ("L40S-48GB", {"L40S"}),
        ("NVIDIA", set()),
        ("Z9", set()),
        ("", set()),
    ],
)
def test_what_a_person_may_mean(name: str, names: set[str]) -> None:
    """All cards that a short name leaves open; a maker alone names none."""
    assert {row.name for row in meant(name)} == names


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_every_card_is_meant_by_its_own_name(row: Accelerator) -> None:
    """What an answer calls a card can be typed again."""
    assert row in meant(row.name)

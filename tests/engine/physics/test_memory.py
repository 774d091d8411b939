"""The memory account: weights, KV cache, what is left, and when nothing can be said."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.engine.physics.families import family
from triage.engine.physics.memory import (
    GIB,
    Account,
    activation_bytes,
    fits,
    kv_bytes,
    kv_bytes_per_token,
    kv_tokens_of,
    read_bytes,
    read_share,
    weight_bytes,
)
from triage.engine.physics.precision import bytes_of, grouped_bits, quantised_bits
from triage.engine.physics.shape import ModelShape

H100 = 81559 * 2.0**20


def known(name: str) -> ModelShape:
    """A model of the table."""
    shape = family(name)
    assert shape is not None
    return shape


SEVEN_BILLION = ModelShape(stated_parameters=7e9, dtype="float16")


def test_seven_billion_parameters_in_fp16_are_fourteen_gigabytes() -> None:
    """The sum that everybody knows, and the same in other widths."""
    assert weight_bytes(SEVEN_BILLION) == 14e9
    assert weight_bytes(replace(SEVEN_BILLION, dtype="float32")) == 28e9
    assert weight_bytes(replace(SEVEN_BILLION, quantisation="fp8", bits=8.0)) == 7e9


@pytest.mark.parametrize(
    ("name", "gib"), [("Llama-3.1-8B", 14.99), ("gpt-oss-20b", 12.8), ("gpt-oss-120b", 60.8), ("Qwen3-30B-A3B", 56.9)]
)
def test_weights_are_as_large_as_engines_and_checkpoints_say(name: str, gib: float) -> None:
    """What vLLM logs ("Model loading took 14.99 GiB") and the sizes of the published checkpoints."""
    weights = weight_bytes(known(name))
    assert weights is not None
    assert weights / GIB == pytest.approx(gib, rel=0.01)


def test_a_step_reads_less_than_all_weights() -> None:
    """Of two embeddings it reads one, of 128 experts eight."""
    dense, sparse = known("Llama-3.1-8B"), known("Qwen3-30B-A3B")
    assert read_share(dense) == pytest.approx(0.934, abs=0.002)
    assert read_share(sparse) == pytest.approx(0.1, abs=0.01)
    assert read_bytes(SEVEN_BILLION) is None, "it may have experts"
    assert read_bytes(replace(SEVEN_BILLION, stated_active=7e9)) == 14e9


@pytest.mark.parametrize(
    ("name", "kib"), [("Llama-3.1-8B", 128), ("Llama-3.1-70B", 320), ("Qwen2.5-7B", 56), ("DeepSeek-V3", 68.625)]
)
def test_bytes_of_a_token_in_the_kv_cache(name: str, kib: float) -> None:
    """2 × 32 × 8 × 128 × 2 bytes are 128 KiB; latent attention keeps 576 numbers a layer whatever its heads."""
    assert kv_bytes_per_token(known(name)) == kib * 1024


def test_the_kv_cache_is_split_by_heads_and_no_further() -> None:
    """Eight heads over four cards are two each; over sixteen cards one each; a latent vector is whole on every card."""
    llama, deepseek = known("Llama-3.1-70B"), known("DeepSeek-V3")
    per_token = [kv_bytes_per_token(llama, cards=cards) for cards in (1, 4, 8, 16)]
    assert per_token == [327680, 327680 / 4, 327680 / 8, 327680 / 8]
    assert kv_bytes_per_token(deepseek, cards=8) == kv_bytes_per_token(deepseek)


def test_the_dtype_of_the_cache_goes_before_that_of_the_weights() -> None:
    """An FP8 cache is half as large; FP8 weights leave the cache in the model's dtype; an unknown dtype is refused."""
    llama = known("Llama-3.1-8B")
    assert kv_bytes_per_token(llama, "fp8") == 65536
    assert kv_bytes_per_token(llama, "auto") == kv_bytes_per_token(replace(llama, quantisation="fp8", bits=8.0)) == 131072
    assert kv_bytes_per_token(llama, "mystery") is None


def test_layers_with_a_window_keep_no_more_than_it() -> None:
    """Half of gpt-oss' layers keep 128 tokens of a text of any length."""
    shape = known("gpt-oss-20b")
    per_token = kv_bytes_per_token(shape)
    assert per_token is not None
    assert kv_bytes(shape, 128) == 128 * per_token
    assert kv_bytes(shape, 100_000) == pytest.approx(per_token * (100_000 + 128) / 2)


def test_an_account_adds_up_and_says_what_fits() -> None:
    """Llama 3.1 8B on one H100: about 54 GiB of cache, 440 000 tokens, fifty texts of 8192 tokens."""
    account = fits(known("Llama-3.1-8B"), H100)
    assert account is not None
    assert account.budget == pytest.approx(account.weights + account.activations + account.overhead + account.kv)
    assert account.fits
    assert account.short == 0
    assert account.tokens == pytest.approx(440_000, rel=0.03)


def test_what_does_not_fit_says_how_much_is_missing() -> None:
    """Llama 3.1 70B in 16 bits has 131 GiB of weights: two H100 are not enough, four are."""
    shape = known("Llama-3.1-70B")
    two, four = fits(shape, H100, cards=2), fits(shape, H100, cards=4)
    assert two is not None
    assert four is not None
    assert (two.fits, four.fits) == (True, True)
    one = fits(shape, H100)
    assert one is not None
    assert not one.fits
    assert one.tokens == 0
    assert one.short / GIB == pytest.approx(131.4 - 0.9 * 79.65, abs=5)


@pytest.mark.parametrize(
    "shape",
    [ModelShape(), SEVEN_BILLION, replace(known("Llama-3.1-8B"), dtype=""), replace(known("Llama-3.1-8B"), quantisation="gguf"),
     replace(known("Llama-3.1-8B"), kv_heads=None), replace(known("Llama-3.1-8B"), vocabulary=None)],
)  # fmt: skip
def test_without_an_input_there_is_no_account(shape: ModelShape) -> None:
    """A dtype, a bit width or a head count that nobody tells is not replaced by a usual one."""
    assert fits(shape, H100) is None


@given(cards=st.integers(1, 64), tokens=st.integers(1, 10**6), cache=st.sampled_from(["", "fp8", "float32"]))
def test_cache_grows_with_tokens_and_shrinks_with_cards(cards: int, tokens: int, cache: str) -> None:
    """More tokens never take less, more cards never more, and together the cards hold all of it at least."""
    shape = known("Llama-3.1-70B")
    one, more = kv_bytes(shape, tokens, cache), kv_bytes(shape, tokens + 1, cache)
    split = kv_bytes(shape, tokens, cache, cards)
    assert one is not None
    assert more is not None
    assert split is not None
    assert one < more
    assert one / cards <= split <= one


@given(st.floats(1e9, 1e12), st.floats(0.1, 1.0))
def test_a_larger_budget_never_holds_less(card: float, share: float) -> None:
    """Tokens grow with the card and with the share that the engine may use."""
    shape = known("Llama-3.1-8B")
    account, larger = fits(shape, card, share=share), fits(shape, card * 1.1, share=share)
    assert isinstance(account, Account)
    assert isinstance(larger, Account)
    assert 0 <= account.tokens <= larger.tokens
    assert account.fits == (account.short == 0)


def test_activations_grow_with_the_step() -> None:
    """Twice the tokens and sequences take twice the room; an unknown vocabulary leaves them unknown."""
    shape = known("Llama-3.1-8B")
    once, twice = activation_bytes(shape, 1024, 64), activation_bytes(shape, 2048, 128)
    assert once is not None
    assert twice == pytest.approx(2 * once)
    assert activation_bytes(SEVEN_BILLION, 1024, 64) is None


@pytest.mark.parametrize(
    ("facts", "tokens"),
    [
        ({"kv_cache_tokens": 434560.0, "num_gpu_blocks": 1.0, "block_size": 16.0}, 434560),
        ({"num_gpu_blocks": "27160", "block_size": 16.0}, 434560),
        ({"num_gpu_blocks": "None", "block_size": 16.0}, None),
        ({"block_size": 16.0}, None),
        ({"kv_cache_tokens": 0.0}, None),
        ({}, None),
    ],
)
def test_cache_size_by_what_the_engine_told(facts: dict[str, str | float], tokens: float | None) -> None:
    """Its size in tokens, else blocks times block size; text as in labels is a number, too."""
    assert kv_tokens_of(facts.get) == tokens


def test_widths_of_numbers() -> None:
    """Spellings of PyTorch and engines; ``auto`` and strangers are unknown; scales add to four bits."""
    assert [bytes_of(name) for name in ("torch.bfloat16", "half", "FP8_E4M3", "float32", "auto", "")] == [2, 2, 1, 4, None, None]
    assert [quantised_bits(name) for name in ("fp8", "mxfp4", "nvfp4", "gptq")] == [8, 4.25, 4.5, None]
    assert (grouped_bits(4, 128), grouped_bits(8, None), grouped_bits(4, 0)) == (4.15625, 8, 4)

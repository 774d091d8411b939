"""Models: parameters counted from config.json, known families, facts that people tell."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.engine.physics.families import TABLE, family, shape_of
from triage.engine.physics.huggingface import read_model_config
from triage.engine.physics.shape import ModelShape, active_parameters, counted, parameters, shape_of_facts
from triage.errors import DataError

LLAMA_8B: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"],
    "hidden_act": "silu",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "max_position_embeddings": 131072,
    "model_type": "llama",
    "num_attention_heads": 32,
    "num_hidden_layers": 32,
    "num_key_value_heads": 8,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
    "vocab_size": 128256,
}
DEEPSEEK_V3: dict[str, Any] = {
    "first_k_dense_replace": 3,
    "hidden_size": 7168,
    "intermediate_size": 18432,
    "kv_lora_rank": 512,
    "max_position_embeddings": 163840,
    "model_type": "deepseek_v3",
    "moe_intermediate_size": 2048,
    "moe_layer_freq": 1,
    "n_routed_experts": 256,
    "n_shared_experts": 1,
    "num_attention_heads": 128,
    "num_experts_per_tok": 8,
    "num_hidden_layers": 61,
    "num_key_value_heads": 128,
    "q_lora_rank": 1536,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "quantization_config": {
        "activation_scheme": "dynamic",
        "fmt": "e4m3",
        "quant_method": "fp8",
        "weight_block_size": [128, 128],
    },
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
    "v_head_dim": 128,
    "vocab_size": 129280,
}
GPT_OSS_20B: dict[str, Any] = {
    "experts_per_token": 4,
    "head_dim": 64,
    "hidden_size": 2880,
    "intermediate_size": 2880,
    "layer_types": ["sliding_attention", "full_attention"] * 12,
    "max_position_embeddings": 131072,
    "model_type": "gpt_oss",
    "num_attention_heads": 64,
    "num_experts_per_tok": 4,
    "num_hidden_layers": 24,
    "num_key_value_heads": 8,
    "num_local_experts": 32,
    "quantization_config": {"quant_method": "mxfp4"},
    "sliding_window": 128,
    "tie_word_embeddings": False,
    "vocab_size": 201088,
}
QWEN3_MOE: dict[str, Any] = {
    "decoder_sparse_step": 1,
    "head_dim": 128,
    "hidden_size": 2048,
    "intermediate_size": 6144,
    "mlp_only_layers": [],
    "model_type": "qwen3_moe",
    "moe_intermediate_size": 768,
    "num_attention_heads": 32,
    "num_experts": 128,
    "num_experts_per_tok": 8,
    "num_hidden_layers": 48,
    "num_key_value_heads": 4,
    "sliding_window": None,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
    "use_sliding_window": False,
    "vocab_size": 151936,
}


def read(config: dict[str, Any], **changes: object) -> ModelShape:
    """The shape of a configuration with some keys changed; ``None`` takes a key away."""
    kept = {key: value for key, value in (config | changes).items() if value is not None}
    return read_model_config(json.dumps(kept).encode())


@pytest.mark.parametrize(
    ("config", "total", "active"),
    [(LLAMA_8B, 8.03e9, 7.5e9), (DEEPSEEK_V3, 671e9, 36.6e9), (GPT_OSS_20B, 20.9e9, 3.6e9), (QWEN3_MOE, 30.5e9, 3.0e9)],
    ids=["dense", "latent attention", "windows", "experts"],
)
def test_parameters_are_those_that_the_maker_publishes(config: dict[str, Any], total: float, active: float) -> None:
    """Counted from the widths, within a hundredth of what model cards say (the active ones without the input embedding)."""
    shape = read(config)
    assert parameters(shape) == pytest.approx(total, rel=0.01)
    assert active_parameters(shape) == pytest.approx(active, rel=0.02)


@pytest.mark.parametrize("one", TABLE, ids=[one.source.rsplit("/", 1)[1] for one in TABLE])
def test_a_family_in_the_table_counts_as_published(one: object) -> None:
    """A wrong width in the table shows in the number of parameters."""
    assert isinstance(one, type(TABLE[0]))
    parts = counted(one.shape)
    assert parts is not None
    assert parts.total == pytest.approx(one.published, rel=0.01)


def test_a_family_is_the_same_as_its_configuration() -> None:
    """The table says of Llama 3.1 8B what its config.json says."""
    assert family("meta-llama/Llama-3.1-8B-Instruct") == read(LLAMA_8B)
    assert family("deepseek-ai/DeepSeek-R1") == read(DEEPSEEK_V3)


@pytest.mark.parametrize(
    "name",
    [
        "DeepSeek-R1-Distill-Llama-8B",
        "Qwen2.5-VL-7B-Instruct",
        "my-finetune",
        "",
        "llama",
        "x" * 100_000,
        "Llama-3.1-8B qwen3-8b",
    ],
)
def test_an_unknown_or_doubtful_name_is_refused(name: str) -> None:
    """Other architectures under a known name, strangers and names of two models have no shape."""
    assert family(name) is None


def test_a_quantised_copy_is_told_by_its_name() -> None:
    """AWQ has known bits; of GPTQ the name does not tell them, so the weights stay unknown."""
    awq, gptq = family("Qwen/Qwen2.5-7B-Instruct-AWQ"), family("Qwen/Qwen2.5-7B-Instruct-GPTQ-Int8")
    assert awq is not None
    assert gptq is not None
    assert awq.quantisation == "awq"
    assert awq.bits == pytest.approx(4.16, abs=0.01)
    assert (gptq.quantisation, gptq.bits) == ("gptq", None)


def test_the_language_part_of_a_model_that_sees_is_read() -> None:
    """Newer multi-modal configurations keep the language model in a part of its own."""
    whole = {"architectures": ["X"], "text_config": LLAMA_8B, "vision_config": {"hidden_size": 1024, "num_hidden_layers": 24}}
    assert read(whole) == read(LLAMA_8B)


def test_old_names_of_the_same_things() -> None:
    """GPT-2 says n_embd, n_layer and n_head, ties its embeddings and has two matrices, of four times the width."""
    shape = read({"model_type": "gpt2", "n_embd": 1600, "n_layer": 48, "n_head": 25, "vocab_size": 50257})
    assert (shape.kv_heads, shape.head_dim, shape.intermediate, shape.gated, shape.tied) == (25, 64, 6400, False, True)
    assert parameters(shape) == pytest.approx(1.557e9, rel=0.01)


@pytest.mark.parametrize(
    ("changes", "window"),
    [
        ({"sliding_window": 4096}, (4096, 32)),
        ({"sliding_window": 4096, "use_sliding_window": False}, (0, 0)),
        ({"sliding_window": 512, "sliding_window_pattern": 6}, (512, 27)),
        ({"sliding_window": 4096, "model_type": "gemma2"}, (4096, 16)),
        ({"sliding_window": 128, "layer_types": ["sliding_attention"] * 8 + ["full_attention"] * 24}, (128, 8)),
    ],
)
def test_windows_are_found_as_families_write_them(changes: dict[str, object], window: tuple[int, int]) -> None:
    """All layers, some by a pattern, some by a list, or none because the switch is off."""
    shape = read(LLAMA_8B, **changes)
    assert (shape.window, shape.window_layers) == window


def test_layers_of_another_sort_make_the_count_unknown() -> None:
    """A state-space or linear layer has other parameters and keeps no keys: what follows is refused, not guessed."""
    kinds = (["linear_attention"] * 3 + ["full_attention"]) * 8
    mixed = read(LLAMA_8B, layer_types=kinds)
    assert mixed.attention_layers == 8
    assert parameters(mixed) is None
    assert read(LLAMA_8B, mamba_d_state=16).attention_layers is None
    assert read(LLAMA_8B, full_attention_interval=4).attention_layers == 8


@pytest.mark.parametrize(
    ("told", "method", "bits"),
    [
        ({"quant_method": "awq", "bits": 4, "group_size": 128}, "awq", 4 + 20 / 128),
        ({"quant_method": "gptq", "bits": 8, "group_size": 128}, "gptq", 8 + 24 / 128),
        ({"quant_method": "gptq"}, "gptq", None),
        ({"quant_method": "fp8"}, "fp8", 8.0),
        ({"quant_method": "bitsandbytes", "load_in_4bit": True}, "bitsandbytes", 4.0),
        ({"quant_method": "modelopt", "quant_algo": "NVFP4"}, "modelopt", 4.5),
        (
            {"quant_method": "compressed-tensors", "config_groups": {"group_0": {"weights": {"num_bits": 8}}}},
            "compressed-tensors",
            8.0,
        ),
        ({"quant_method": "compressed-tensors", "config_groups": 3}, "compressed-tensors", None),
        ({"quant_method": "something-new"}, "something-new", None),
        ("fp8", "", None),
    ],
)
def test_quantisation_is_read_with_its_bits(told: object, method: str, bits: float | None) -> None:
    """Scales count; a method that does not say its bits leaves them unknown."""
    shape = read(LLAMA_8B, quantization_config=told)
    assert shape.quantisation == method
    assert shape.bits == (None if bits is None else pytest.approx(bits))


@pytest.mark.parametrize(
    "data",
    [b"", b"no", b"[]", b"3", b"{}", b'{"hidden_size": 4096}', b"[" * 100_000, b'{"hidden_size": "4096", "num_hidden_layers": 1}',
     b'{"hidden_size": -1, "num_hidden_layers": 1e99}', b" " * (4 * 2**20 + 1), b'{"num_hidden_layers": true, "hidden_size": 1}'],
)  # fmt: skip
def test_what_is_no_configuration_is_refused_in_one_sentence(data: bytes) -> None:
    """A wrong file, a damaged one or a hostile one ends in a message and nothing else."""
    with pytest.raises(DataError, match="the model configuration"):
        read_model_config(data)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 10**12) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(sorted({*LLAMA_8B, *DEEPSEEK_V3, *GPT_OSS_20B, *QWEN3_MOE})), JSON))
def test_any_values_under_known_keys_are_survived(changes: dict[str, Any]) -> None:
    """Whatever stands behind a key, the answer is a shape or one sentence, and numbers that follow are sound."""
    try:
        shape = read_model_config(json.dumps(QWEN3_MOE | changes).encode())
    except DataError:
        return
    total = parameters(shape)
    assert total is None or total > 0


def test_facts_tell_a_model_nobody_knows() -> None:
    """triage.toml may give what a memory account needs; what it does not give stays unknown."""
    facts: dict[str, str | float] = {"parameters": 7e9, "layers": 32, "kv_heads": 8, "head_dim": 128, "dtype": "float16"}
    shape = shape_of_facts(facts.get)
    assert (parameters(shape), active_parameters(shape)) == (7e9, None)
    assert shape_of_facts({"parameters": "seven"}.get) == ModelShape()


def test_what_an_engine_tells_goes_before_the_table() -> None:
    """A known model served in another dtype or quantisation is that copy, and not the maker's."""
    facts: dict[str, str | float] = {
        "model": "served-name",
        "model_path": "meta-llama/Llama-3.1-8B-Instruct",
        "quantization": "fp8",
    }
    shape = shape_of(facts.get)
    assert (shape.layers, shape.quantisation, shape.bits) == (32, "fp8", 8.0)
    assert shape_of({"model": "Llama-3.1-8B", "quantization": "None"}.get).quantisation == ""
    assert shape_of({"model": "Llama-3.1-8B", "dtype": "torch.float16"}.get).dtype == "torch.float16"
    assert shape_of({"model": "my-model"}.get).layers is None

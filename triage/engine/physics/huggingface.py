"""Reads a model's ``config.json`` as Hugging Face writes it."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from triage.engine.physics.precision import grouped_bits, quantised_bits
from triage.engine.physics.shape import ModelShape
from triage.errors import DataError

_LARGEST_FILE = 4 * 2**20
"""Bytes; a config.json has some thousand."""

_LARGEST_NUMBER = 10**8
"""Larger than any number that a model's configuration has; keeps products finite."""

_LAYERS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers")
_HIDDEN = ("hidden_size", "n_embd", "d_model")
_HEADS = ("num_attention_heads", "n_head", "n_heads")
_KV_HEADS = ("num_key_value_heads", "num_kv_heads", "n_head_kv", "multi_query_group_num")
_INTERMEDIATE = ("intermediate_size", "ffn_hidden_size", "n_inner", "ffn_dim")
_VOCABULARY = ("vocab_size", "padded_vocab_size")
_CONTEXT = ("max_position_embeddings", "max_seq_len", "n_positions", "seq_length")
_EXPERTS = ("n_routed_experts", "num_local_experts", "num_experts")
_PER_TOKEN = ("num_experts_per_tok", "experts_per_token", "moe_topk")

_NOT_GATED = frozenset(
    {"gpt2", "gpt_neox", "gptj", "gpt_bigcode", "opt", "bloom", "falcon", "mpt", "phi", "starcoder2", "nemotron"}
)
"""Model types whose feed-forward layers have two matrices."""

Config = Mapping[str, Any]


def read_model_config(data: bytes) -> ModelShape:
    """The shape in a ``config.json``; of a model that sees or hears, that of its language part.

    What the file does not tell stays unknown.

    :raises DataError: it is no JSON object, or no configuration of a transformer
    """
    config = _language_part(_object(data))
    layers = _number(config, _LAYERS)
    if layers is None or _number(config, _HIDDEN) is None:
        raise DataError(
            "the model configuration has no number of layers and no hidden size",
            "give the config.json of a decoder-only transformer as Hugging Face writes it",
        )
    heads, hidden = _number(config, _HEADS), _number(config, _HIDDEN)
    window, window_layers = _window(config, layers)
    quantisation, bits = _quantisation(config)
    shape = ModelShape(
        layers=layers,
        attention_layers=_attention_layers(config, layers),
        window=window,
        window_layers=window_layers,
        hidden=hidden,
        heads=heads,
        kv_heads=_kv_heads(config, heads),
        head_dim=_head_dim(config, hidden, heads),
        intermediate=_intermediate(config),
        gated=str(config.get("model_type")) not in _NOT_GATED,
        vocabulary=_number(config, _VOCABULARY),
        tied=config.get("tie_word_embeddings", True) is not False,
        latent=_number(config, ("kv_lora_rank",)) or 0,
        latent_query=_number(config, ("q_lora_rank",)) or 0,
        rope_dim=_number(config, ("qk_rope_head_dim",)) or 0,
        nope_dim=_number(config, ("qk_nope_head_dim",)) or 0,
        value_dim=_number(config, ("v_head_dim",)) or 0,
        context=_number(config, _CONTEXT),
        dtype=str(config.get("torch_dtype") or config.get("dtype") or ""),
        quantisation=quantisation,
        bits=bits,
        experts_only=quantisation == "mxfp4",
    )
    return _with_experts(shape, config, layers)


def _object(data: bytes) -> Config:
    """The JSON object in a file."""
    if len(data) > _LARGEST_FILE:
        raise DataError(f"the model configuration has {len(data)} bytes, which no config.json has", "give the config.json only")
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise DataError("the model configuration is not JSON", "give the model's config.json") from error
    if not isinstance(value, dict):
        raise DataError("the model configuration is no JSON object", "give the model's config.json")
    return value


def _language_part(config: Config) -> Config:
    """The part that describes the language model, with what only the whole tells."""
    for key in ("text_config", "llm_config", "language_config"):
        part = config.get(key)
        if isinstance(part, dict) and _number(part, _HIDDEN) is not None:
            whole = {name: config[name] for name in ("torch_dtype", "dtype", "quantization_config") if name in config}
            return {**whole, **part}
    return config


def _number(config: Config, names: tuple[str, ...]) -> int | None:
    """The first of several keys that holds a whole number above 0 of a believable size; None if none does."""
    for name in names:
        value = config.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= _LARGEST_NUMBER:
            return value
    return None


def _kv_heads(config: Config, heads: int | None) -> int | None:
    """Heads of keys and values; as many as query heads where the file names none, one where it says multi-query."""
    if config.get("multi_query") is True and not config.get("new_decoder_architecture"):
        return 1
    return _number(config, _KV_HEADS) or heads


def _head_dim(config: Config, hidden: int | None, heads: int | None) -> int | None:
    """Width of a head: as told, of latent attention that of its values, else the hidden size over the heads."""
    told = _number(config, ("v_head_dim",)) if "kv_lora_rank" in config else _number(config, ("head_dim", "kv_channels"))
    return told or (hidden // heads if hidden and heads else None)


def _kinds_of_layers(config: Config, layers: int) -> list[str]:
    """The kind of each layer, as newer files list them; empty if this one does not."""
    kinds = config.get("layer_types")
    return [str(kind) for kind in kinds] if isinstance(kinds, list) and len(kinds) == layers else []


def _attention_layers(config: Config, layers: int) -> int | None:
    """Layers that keep keys and values of tokens; None where the file has layers of another sort and does not list them."""
    kinds = _kinds_of_layers(config, layers)
    if kinds:
        return sum("attention" in kind and "linear" not in kind for kind in kinds)
    every = _number(config, ("full_attention_interval", "attn_layer_period"))
    if every is not None:
        return layers // every
    mixed = any(key in config for key in ("mamba_d_state", "mamba_d_conv", "ssm_cfg", "hybrid_override_pattern", "state_size"))
    return None if mixed else layers


def _window(config: Config, layers: int) -> tuple[int, int]:
    """Tokens of the sliding window and how many layers have it; 0 and 0 if none has."""
    window = _number(config, ("sliding_window",))
    if window is None or config.get("use_sliding_window") is False:
        return 0, 0
    kinds = _kinds_of_layers(config, layers)
    if kinds:
        return window, sum(kind == "sliding_attention" for kind in kinds)
    pattern = _number(config, ("sliding_window_pattern",)) or (2 if config.get("model_type") == "gemma2" else None)
    return window, layers if pattern is None else layers - layers // pattern


def _intermediate(config: Config) -> int | None:
    """Inner width of a dense feed-forward layer; GPT-2 and its kin say it only where it is not four times the width."""
    width = _number(config, _INTERMEDIATE)
    narrow = _number(config, ("n_embd",))
    return 4 * narrow if width is None and narrow is not None else width


def _with_experts(shape: ModelShape, config: Config, layers: int) -> ModelShape:
    """The shape with its experts, if it has some: a token passes a few of them."""
    experts = _number(config, _EXPERTS)
    if experts is None or experts == 1:
        return shape
    expert = _number(config, ("moe_intermediate_size", "expert_ffn_hidden_size")) or shape.intermediate or 0
    return replace(
        shape,
        intermediate=_number(config, ("intermediate_size_mlp",)) or shape.intermediate,
        experts=experts,
        experts_per_token=_number(config, _PER_TOKEN) or 0,
        expert_intermediate=expert,
        shared_intermediate=_shared(config, expert),
        dense_layers=_dense_layers(config, layers),
    )


def _shared(config: Config, expert: int) -> int:
    """Inner width of the shared experts of a layer together."""
    width = _number(config, ("shared_expert_intermediate_size", "shared_intermediate_size"))
    if width is not None:
        return width
    if config.get("model_type") == "llama4_text":
        return expert
    return (_number(config, ("n_shared_experts", "num_shared_experts")) or 0) * expert


def _dense_layers(config: Config, layers: int) -> int:
    """Layers without experts."""
    first = _number(config, ("first_k_dense_replace",))
    if first is not None:
        return min(first, layers)
    listed = config.get("mlp_only_layers")
    every = _number(config, ("interleave_moe_layer_step", "decoder_sparse_step", "moe_layer_freq")) or 1
    return layers - layers // every if every > 1 else len(listed) if isinstance(listed, list) else 0


def _quantisation(config: Config) -> tuple[str, float | None]:
    """The method and the bits of a weight with its scale; empty and None where nothing is quantised."""
    told = config.get("quantization_config")
    if not isinstance(told, dict):
        return "", None
    method = str(told.get("quant_method") or told.get("quant_algo") or "unknown").lower()
    if method in {"gptq", "awq"}:
        bits = _number(told, ("bits", "w_bit"))
        group = _number(told, ("group_size", "q_group_size"))
        return method, None if bits is None else grouped_bits(bits, group)
    if method == "bitsandbytes":
        return method, 4.0 if told.get("load_in_4bit") is True else 8.0 if told.get("load_in_8bit") is True else None
    if method == "compressed-tensors":
        return method, _compressed(told)
    algorithm = str(told.get("quant_algo") or "").lower()
    return method, quantised_bits(algorithm) or quantised_bits(method)


def _compressed(told: Config) -> float | None:
    """Bits of a weight by the format of compressed-tensors; None if its groups differ."""
    groups = told.get("config_groups")
    weights = [group.get("weights") for group in groups.values() if isinstance(group, dict)] if isinstance(groups, dict) else []
    bits = {
        grouped_bits(n, _number(w, ("group_size",))) for w in weights if isinstance(w, dict) and (n := _number(w, ("num_bits",)))
    }
    return bits.pop() if len(bits) == 1 else None

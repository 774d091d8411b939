"""Shapes of well-known models, from the config.json that their makers publish.

Only models whose counted parameters agree with what the maker says (tests/engine/physics) are in the table.
"""

import re
from dataclasses import replace
from functools import lru_cache

from triage.classes import dataclass
from triage.engine.physics.precision import quantised_bits
from triage.engine.physics.shape import Lookup, ModelShape, shape_of_facts, text


@dataclass(frozen=True, slots=True)
class Family:
    """One architecture of one size.

    :param spellings: every word of one of them must be in the model's name
    :param published: parameters as the maker says
    :param source: repository whose config.json it is
    """

    spellings: tuple[frozenset[str], ...]
    shape: ModelShape
    published: float
    source: str


def _family(spellings: str, published: float, source: str, shape: ModelShape) -> Family:
    """A row; spellings are set apart by commas, parameters are in billions."""
    words = tuple(frozenset(one.split()) for one in spellings.split(","))
    return Family(words, replace(shape, attention_layers=shape.layers), published * 1e9, f"https://huggingface.co/{source}")


def _dense(layers: int, hidden: int, heads: int, kv_heads: int, intermediate: int, vocabulary: int, context: int) -> ModelShape:
    """A dense model with heads of 128, SwiGLU and two embeddings, in bfloat16: what most are."""
    return ModelShape(
        layers=layers, hidden=hidden, heads=heads, kv_heads=kv_heads, head_dim=128, intermediate=intermediate,
        vocabulary=vocabulary, tied=False, context=context, dtype="bfloat16",
    )  # fmt: skip


def _sparse(shape: ModelShape, experts: int, per_token: int, width: int, shared: int = 0, dense_layers: int = 0) -> ModelShape:
    """The same with experts in all layers but the first few."""
    return replace(
        shape, experts=experts, experts_per_token=per_token, expert_intermediate=width, shared_intermediate=shared,
        dense_layers=dense_layers,
    )  # fmt: skip


_DEEPSEEK_V3 = replace(
    _sparse(_dense(61, 7168, 128, 128, 18432, 129280, 163840), 256, 8, 2048, shared=2048, dense_layers=3),
    latent=512, latent_query=1536, rope_dim=64, nope_dim=128, value_dim=128, quantisation="fp8", bits=8.0,
)  # fmt: skip


def _gpt_oss(layers: int, experts: int) -> ModelShape:
    """gpt-oss: experts in MXFP4, every other layer sees 128 tokens only."""
    return replace(
        _sparse(_dense(layers, 2880, 64, 8, 2880, 201088, 131072), experts, 4, 2880),
        head_dim=64, window=128, window_layers=layers // 2, quantisation="mxfp4", bits=quantised_bits("mxfp4"), experts_only=True,
    )  # fmt: skip


_LLAMA_8B, _LLAMA_70B = _dense(32, 4096, 32, 8, 14336, 128256, 131072), _dense(80, 8192, 64, 8, 28672, 128256, 131072)

TABLE: tuple[Family, ...] = (
    _family("llama 3.1 8b", 8.03, "meta-llama/Llama-3.1-8B", _LLAMA_8B),
    _family("llama 3 8b", 8.03, "meta-llama/Meta-Llama-3-8B", replace(_LLAMA_8B, context=8192)),
    _family("llama 3.1 70b,llama 3.3 70b", 70.55, "meta-llama/Llama-3.1-70B", _LLAMA_70B),
    _family("llama 3 70b", 70.55, "meta-llama/Meta-Llama-3-70B", replace(_LLAMA_70B, context=8192)),
    _family("mistral 7b v0.3", 7.25, "mistralai/Mistral-7B-v0.3", _dense(32, 4096, 32, 8, 14336, 32768, 32768)),
    _family("mistral small 24b", 23.57, "mistralai/Mistral-Small-24B-Base-2501", _dense(40, 5120, 32, 8, 32768, 131072, 32768)),
    _family("qwen2.5 7b", 7.61, "Qwen/Qwen2.5-7B", _dense(28, 3584, 28, 4, 18944, 152064, 131072)),
    _family("qwen2.5 32b", 32.5, "Qwen/Qwen2.5-32B", _dense(64, 5120, 40, 8, 27648, 152064, 131072)),
    _family("qwen2.5 72b", 72.7, "Qwen/Qwen2.5-72B", _dense(80, 8192, 64, 8, 29568, 152064, 131072)),
    _family("qwen3 8b", 8.19, "Qwen/Qwen3-8B", _dense(36, 4096, 32, 8, 12288, 151936, 40960)),
    _family("qwen3 32b", 32.8, "Qwen/Qwen3-32B", _dense(64, 5120, 64, 8, 25600, 151936, 40960)),
    _family("qwen3 30b a3b", 30.5, "Qwen/Qwen3-30B-A3B", _sparse(_dense(48, 2048, 32, 4, 6144, 151936, 40960), 128, 8, 768)),
    _family("qwen3 235b a22b", 235, "Qwen/Qwen3-235B-A22B", _sparse(_dense(94, 4096, 64, 4, 12288, 151936, 40960), 128, 8, 1536)),
    _family(
        "mixtral 8x7b", 46.7, "mistralai/Mixtral-8x7B-v0.1", _sparse(_dense(32, 4096, 32, 8, 14336, 32000, 32768), 8, 2, 14336)
    ),
    _family("deepseek v3,deepseek v3.1,deepseek r1", 671, "deepseek-ai/DeepSeek-V3", _DEEPSEEK_V3),
    _family("gpt oss 20b", 20.9, "openai/gpt-oss-20b", _gpt_oss(24, 32)),
    _family("gpt oss 120b", 116.8, "openai/gpt-oss-120b", _gpt_oss(36, 128)),
)

_OTHERS = frozenset({"distill", "vl", "omni", "vision", "embedding", "reranker", "eagle", "eagle3", "draft", "mtp", "audio"})
"""Words that make another architecture of the same name."""

_QUANTISED = frozenset(
    {"awq", "gptq", "fp8", "fp4", "nvfp4", "mxfp4", "int4", "int8", "w4a16", "w8a8", "gguf", "bnb", "4bit", "8bit", "exl2", "mlx"}
)
"""Words that say that the weights of this copy are quantised, whatever the maker's are."""

_LONGEST = 200
"""Letters of a model's name or path that are read, from its end."""


@lru_cache(maxsize=1024)
def family(model: str) -> ModelShape | None:
    """The shape of a model by its name or path; None if the table does not know it."""
    words = frozenset(re.findall(r"[a-z0-9.]+", model[-_LONGEST:].lower()))
    if words & _OTHERS:
        return None
    shapes = [one.shape for one in TABLE if any(spelling <= words for spelling in one.spellings)]
    if len(shapes) != 1:
        return None
    marks = sorted(words & _QUANTISED)
    return (
        shapes[0] if not marks else replace(shapes[0], quantisation=marks[0], bits=quantised_bits(marks[0]), experts_only=False)
    )


def shape_of(fact: Lookup) -> ModelShape:
    """All that is known of a service's model: what somebody tells, and for the rest the table, if it knows the name.

    What the engine says of dtype and quantisation goes before the maker's.
    """
    told = shape_of_facts(fact)
    known = family(text(fact("model_path"))) or family(text(fact("model")))
    if known is None or told.layers is not None:
        return replace(told, bits=quantised_bits(told.quantisation))
    shape = replace(
        known, stated_parameters=told.stated_parameters, stated_active=told.stated_active, dtype=told.dtype or known.dtype
    )
    if told.quantisation and told.quantisation != known.quantisation:
        shape = replace(shape, quantisation=told.quantisation, bits=quantised_bits(told.quantisation), experts_only=False)
    return shape

"""What a language model is made of, as far as memory and time depend on it, and its count of parameters."""

from collections.abc import Callable

from triage.classes import dataclass


@dataclass(frozen=True)
class ModelShape:
    """A decoder-only transformer. What nobody told is None, and what follows from it is unknown.

    :param layers: all layers
    :param attention_layers: those that keep keys and values of every token (the others keep a state of fixed size)
    :param window: tokens that a layer with a sliding window keeps; 0 if there are no such layers
    :param window_layers: how many of the attention layers have that window
    :param hidden: width of the residual stream
    :param heads: query heads
    :param kv_heads: heads that keys and values have (grouped-query attention has fewer than query heads)
    :param head_dim: width of a head
    :param intermediate: inner width of a dense feed-forward layer
    :param gated: the feed-forward layers have three matrices (SwiGLU and the like) and not two
    :param vocabulary: tokens
    :param tied: input and output embedding are one matrix
    :param experts: routed experts of a layer, 0 for a dense model
    :param experts_per_token: routed experts that one token passes
    :param expert_intermediate: inner width of one routed expert
    :param shared_intermediate: inner width of all shared experts together
    :param dense_layers: layers without experts, in a model that has some
    :param latent: width of the compressed key and value of multi-head latent attention (``kv_lora_rank``), 0 without it
    :param latent_query: width of its compressed query (``q_lora_rank``), 0 if queries are not compressed
    :param rope_dim: width of the key part that carries the position, shared by all heads (``qk_rope_head_dim``)
    :param nope_dim: width of a head's key without position (``qk_nope_head_dim``)
    :param value_dim: width of a head's value (``v_head_dim``)
    :param context: longest text that the model was made for, tokens
    :param dtype: of weights that are not quantised, as PyTorch calls it; empty if unknown
    :param quantisation: method, empty if none is told
    :param bits: bits of a quantised weight, scales included; None if weights are not quantised or the method does not tell
    :param experts_only: only the experts are quantised
    :param stated_parameters: all parameters, as somebody says; goes before what is counted from the widths
    :param stated_active: parameters that one token passes, as somebody says
    """

    layers: int | None = None
    attention_layers: int | None = None
    window: int = 0
    window_layers: int = 0
    hidden: int | None = None
    heads: int | None = None
    kv_heads: int | None = None
    head_dim: int | None = None
    intermediate: int | None = None
    gated: bool = True
    vocabulary: int | None = None
    tied: bool = True
    experts: int = 0
    experts_per_token: int = 0
    expert_intermediate: int = 0
    shared_intermediate: int = 0
    dense_layers: int = 0
    latent: int = 0
    latent_query: int = 0
    rope_dim: int = 0
    nope_dim: int = 0
    value_dim: int = 0
    context: int | None = None
    dtype: str = ""
    quantisation: str = ""
    bits: float | None = None
    experts_only: bool = False
    stated_parameters: float | None = None
    stated_active: float | None = None


@dataclass(frozen=True)
class Parameters:
    """Parameters of a model by what happens to them.

    :param embedding: input and output embedding, rarely quantised; a token reads the output embedding whole and of the input
        embedding one row
    :param head: the output embedding, part of ``embedding``
    :param attention: of all layers
    :param dense: feed-forward layers and shared experts that every token passes, routers included
    :param experts: routed experts, all of them
    :param active_experts: routed experts that one token passes
    """

    embedding: float
    head: float
    attention: float
    dense: float
    experts: float
    active_experts: float

    @property
    def total(self) -> float:
        """All parameters."""
        return self.embedding + self.attention + self.dense + self.experts

    @property
    def active(self) -> float:
        """Parameters that one token passes, the input embedding left out."""
        return self.head + self.attention + self.dense + self.active_experts


def counted(shape: ModelShape) -> Parameters | None:
    """Parameters counted from the widths; None if one is unknown or some layers are of another sort (state space, linear).

    Norms and biases are left out: together they are less than a thousandth.
    """
    hidden, layers = shape.hidden, shape.layers
    if hidden is None or layers is None or shape.vocabulary is None or shape.attention_layers != layers:
        return None
    if shape.experts and not (shape.expert_intermediate and shape.experts_per_token):
        return None
    attention, block = _attention(shape, hidden), _feed_forward(shape, hidden)
    if attention is None or block is None:
        return None
    head = float(shape.vocabulary * hidden)
    sparse = layers - shape.dense_layers if shape.experts else 0
    expert = float(_matrices(shape) * hidden * shape.expert_intermediate)
    shared = float(_matrices(shape) * hidden * shape.shared_intermediate + hidden * shape.experts)
    return Parameters(
        embedding=head if shape.tied else 2 * head,
        head=head,
        attention=layers * attention,
        dense=(layers - sparse) * block + sparse * shared,
        experts=sparse * shape.experts * expert,
        active_experts=sparse * shape.experts_per_token * expert,
    )


def parameters(shape: ModelShape) -> float | None:
    """All parameters: as told, else counted; None if neither is possible."""
    if shape.stated_parameters is not None:
        return shape.stated_parameters
    parts = counted(shape)
    return None if parts is None else parts.total


def active_parameters(shape: ModelShape) -> float | None:
    """Parameters that one token passes; None if unknown.

    Of a model that is only told by its number of parameters it is unknown, unless the active ones are told as well: it may
    have experts.
    """
    if shape.stated_active is not None:
        return shape.stated_active
    parts = counted(shape)
    return None if parts is None else parts.active


def _matrices(shape: ModelShape) -> int:
    return 3 if shape.gated else 2


def _feed_forward(shape: ModelShape, hidden: int) -> float | None:
    """Parameters of one dense feed-forward layer; 0 where the model has none."""
    if shape.experts and not shape.dense_layers:
        return 0.0
    return None if shape.intermediate is None else float(_matrices(shape) * hidden * shape.intermediate)


def _attention(shape: ModelShape, hidden: int) -> float | None:
    """Parameters of the attention of one layer."""
    if shape.heads is None:
        return None
    if shape.latent:
        return _latent_attention(shape, hidden, shape.heads)
    if shape.kv_heads is None or shape.head_dim is None:
        return None
    return float(2 * hidden * (shape.heads + shape.kv_heads) * shape.head_dim)


def _latent_attention(shape: ModelShape, hidden: int, heads: int) -> float:
    """Parameters of multi-head latent attention of one layer (DeepSeek-V2, arXiv:2405.04434, section 2.1)."""
    query_width = heads * (shape.nope_dim + shape.rope_dim)
    query = shape.latent_query * (hidden + query_width) if shape.latent_query else hidden * query_width
    compressed = hidden * (shape.latent + shape.rope_dim)
    expanded = shape.latent * heads * (shape.nope_dim + shape.value_dim)
    return float(query + compressed + expanded + heads * shape.value_dim * hidden)


Lookup = Callable[[str], str | float | None]
"""Gives the value of a fact by its key; None if nobody knows it."""


def shape_of_facts(fact: Lookup) -> ModelShape:
    """What a person or an engine tells of a model, in facts such as ``parameters``, ``layers`` and ``kv_heads``."""
    layers = whole(fact("layers"))
    return ModelShape(
        layers=layers,
        attention_layers=layers,
        hidden=whole(fact("hidden_size")),
        heads=whole(fact("attention_heads")),
        kv_heads=whole(fact("kv_heads")),
        head_dim=whole(fact("head_dim")),
        dtype=text(fact("dtype")),
        quantisation=text(fact("quantization")),
        stated_parameters=positive(fact("parameters")),
        stated_active=positive(fact("active_parameters")),
    )


def positive(value: str | float | None) -> float | None:
    """A fact as a number above 0; None if it is none."""
    try:
        number = float(value) if value is not None else 0.0
    except ValueError:
        return None
    return number if 0 < number < float("inf") else None


def whole(value: str | float | None) -> int | None:
    """A fact as a whole number above 0; None if it is none."""
    number = positive(value)
    return int(number) if number is not None and number == int(number) else None


def text(value: str | float | None) -> str:
    """A fact as text; empty if it is unknown, ``None`` or ``auto``."""
    told = "" if value is None else str(value).strip()
    return "" if told.lower() in {"none", "null", "auto"} else told

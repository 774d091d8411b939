"""The memory account of a card: weights, KV cache, activations, graphs. Whether a model fits, before anything ran."""

from math import ceil, floor

from triage.classes import dataclass
from triage.engine.physics.precision import bytes_of
from triage.engine.physics.shape import Lookup, ModelShape, Parameters, counted, positive

GIB = 2.0**30

CONTEXT = 0.6 * GIB
"""What driver, CUDA context and communication library take of a card for each process, an estimate: 0.3 to 0.6 GiB for the
context of one process on recent cards, more with NCCL's buffers."""

GRAPHS = 1.0 * GIB
"""What captured graphs take, an estimate: engines tell it at start ("Graph capturing … took … GiB"), mostly 0.3 to 1.5 GiB."""


def weight_bytes(shape: ModelShape) -> float | None:
    """Bytes of all weights, over all cards together; None if number or width of a weight is unknown.

    Embeddings are taken as not quantised.
    """
    parts = counted(shape)
    if parts is not None and shape.stated_parameters is None:
        return _stored(shape, parts.embedding, parts.attention + parts.dense, parts.experts)
    return None if shape.stated_parameters is None else _stored(shape, 0.0, shape.stated_parameters, 0.0)


def read_bytes(shape: ModelShape) -> float | None:
    """Bytes of weights that a decode step reads at the very least, over all cards together; None if unknown.

    Every weight once, but of the input embedding nothing, and of routed experts only those of one token: a larger batch
    touches more of them.
    """
    parts = counted(shape)
    if parts is not None and shape.stated_active is None:
        return _stored(shape, parts.head, parts.attention + parts.dense, parts.active_experts)
    return None if shape.stated_active is None else _stored(shape, 0.0, shape.stated_active, 0.0)


def read_share(shape: ModelShape) -> float | None:
    """Share of the weights that a decode step reads at the very least; None if unknown."""
    whole, read = weight_bytes(shape), read_bytes(shape)
    if whole is not None and read is not None:
        return read / whole
    parts = counted(shape)
    return None if parts is None else _share(parts)


def _share(parts: Parameters) -> float:
    return parts.active / parts.total


def _stored(shape: ModelShape, embedding: float, linear: float, experts: float) -> float | None:
    """Bytes of numbers of parameters: embeddings in the model's dtype, the rest in its quantisation if it has one."""
    plain = bytes_of(shape.dtype)
    packed = shape.bits / 8 if shape.bits is not None else None if shape.quantisation else plain
    if packed is None or (plain is None and (embedding or shape.experts_only)):
        return None
    plain = plain or 0.0
    return embedding * plain + linear * (plain if shape.experts_only else packed) + experts * packed


def kv_bytes_per_token(shape: ModelShape, cache_dtype: str = "", cards: int = 1) -> float | None:
    """Bytes that one token takes in the KV cache of one card; None if unknown.

    2 × layers × KV heads × width of a head × bytes, the heads split over the cards as far as they go (a card holds one at
    least). Multi-head latent attention keeps one compressed vector and the rotary part of the key, whole on every card
    (DeepSeek-V2, arXiv:2405.04434, table 1). Layers with a window are counted as if they had none.

    :param cache_dtype: as the engine calls it; the model's dtype where it is empty or ``auto``
    :param cards: tensor parallelism
    """
    width = bytes_of(shape.dtype if cache_dtype in {"", "auto"} else cache_dtype)
    if width is None or shape.attention_layers is None or cards < 1:
        return None
    if shape.latent:
        return shape.attention_layers * (shape.latent + shape.rope_dim) * width
    if shape.kv_heads is None or shape.head_dim is None:
        return None
    return 2 * shape.attention_layers * ceil(shape.kv_heads / cards) * shape.head_dim * width


def kv_bytes(shape: ModelShape, tokens: float, cache_dtype: str = "", cards: int = 1) -> float | None:
    """Bytes that one sequence of so many tokens takes in the KV cache of one card; layers with a window keep no more than it."""
    per_token = kv_bytes_per_token(shape, cache_dtype, cards)
    if per_token is None or not shape.attention_layers:
        return None
    kept = shape.window_layers * min(tokens, shape.window) + (shape.attention_layers - shape.window_layers) * tokens
    return per_token * kept / shape.attention_layers


def activation_bytes(shape: ModelShape, tokens: int, sequences: int, cards: int = 1) -> float | None:
    """Bytes of intermediate results at the widest point of a step on one card, an estimate; None if unknown.

    For each token the residual stream four times (kept, normed, in, out), the heads, and the two halves of the feed-forward
    layer; for each sequence a row of logits in FP32 and in the model's dtype.
    """
    width = bytes_of(shape.dtype)
    inner = (
        shape.expert_intermediate * shape.experts_per_token + shape.shared_intermediate if shape.experts else shape.intermediate
    )
    if width is None or not inner or shape.hidden is None or shape.vocabulary is None or cards < 1:
        return None
    heads = (shape.heads or 0) * (shape.head_dim or 0) + 2 * (shape.kv_heads or 0) * (shape.head_dim or 0)
    return tokens * width * (4 * shape.hidden + (heads + 2 * inner) / cards) + sequences * shape.vocabulary * (4 + width) / cards


@dataclass(frozen=True)
class Account:
    """What a card's memory goes to, bytes on one card.

    :param card: all of it
    :param budget: what the engine may use
    :param weights: this card's part of them
    :param activations: largest intermediate results, an estimate
    :param overhead: driver context and captured graphs, an estimate
    :param kv: what is left for the KV cache; negative if nothing is
    :param kv_per_token: bytes that a token takes there
    """

    card: float
    budget: float
    weights: float
    activations: float
    overhead: float
    kv: float
    kv_per_token: float

    @property
    def fits(self) -> bool:
        """Whether anything is left for the KV cache."""
        return self.kv > 0

    @property
    def short(self) -> float:
        """Bytes that are missing, 0 if it fits."""
        return max(0.0, -self.kv)

    @property
    def tokens(self) -> int:
        """Tokens that the KV cache holds."""
        return max(0, floor(self.kv / self.kv_per_token))


def fits(
    shape: ModelShape,
    card: float,
    *,
    share: float = 0.9,
    cards: int = 1,
    cache_dtype: str = "",
    tokens_per_step: int = 8192,
    sequences: int = 256,
    overhead: float = CONTEXT + GRAPHS,
) -> Account | None:
    """The account of one card, before anything ran; None if an input is unknown.

    :param card: bytes of memory of one card, as the driver reports them
    :param share: share of the card that the engine may use (vLLM's ``--gpu-memory-utilization``)
    :param cards: tensor parallelism: weights and KV heads are split over so many cards
    :param tokens_per_step: tokens that one step takes in at most (vLLM's ``--max-num-batched-tokens``)
    :param sequences: requests that run at once at most (vLLM's ``--max-num-seqs``)
    :param overhead: context and graphs; without graphs :data:`CONTEXT`
    """
    weights, activations = weight_bytes(shape), activation_bytes(shape, tokens_per_step, sequences, cards)
    per_token = kv_bytes_per_token(shape, cache_dtype, cards)
    if weights is None or activations is None or per_token is None:
        return None
    budget, mine = card * share, weights / cards
    rest = budget - mine - activations - overhead
    return Account(card, budget, mine, activations, overhead, rest, per_token)


def kv_tokens_of(fact: Lookup) -> float | None:
    """Tokens that the KV cache holds, by what the engine told at start: its size, or its blocks; None if it told neither."""
    told = positive(fact("kv_cache_tokens"))
    if told is not None:
        return told
    blocks, size = positive(fact("num_gpu_blocks")), positive(fact("block_size"))
    return None if blocks is None or size is None else blocks * size

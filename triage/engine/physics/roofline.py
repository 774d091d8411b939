"""The roofline of prefill and decode: bytes and operations of a step against what the card can at most.

Williams, Waterman and Patterson, "Roofline: an insightful visual performance model" (CACM 2009): a step takes at least the time
that its bytes need at peak bandwidth, and at least the time that its operations need at peak arithmetic.
"""

from typing import Literal

from triage.classes import dataclass
from triage.engine.physics.accelerators import Accelerator
from triage.engine.physics.memory import kv_bytes, read_bytes
from triage.engine.physics.shape import ModelShape, active_parameters

TOLERANCE = 0.05
"""By how much a share of a peak may exceed 1 before it is called broken: counters are read a little apart, clocks are boosted."""


@dataclass(frozen=True)
class Step:
    """What one engine iteration moves and computes, on all cards together.

    :param bytes: read from card memory, at the very least
    :param flops: operations, a multiplication and an addition as two
    :param tokens: tokens that it computes
    """

    bytes: float
    flops: float
    tokens: float

    @property
    def intensity(self) -> float:
        """Operations for each byte."""
        return self.flops / self.bytes


@dataclass(frozen=True)
class Floor:
    """The least time of a step, seconds.

    :param memory: for its bytes
    :param arithmetic: for its operations
    """

    memory: float
    arithmetic: float

    @property
    def time(self) -> float:
        """Neither can be beaten."""
        return max(self.memory, self.arithmetic)

    @property
    def bound(self) -> Literal["memory", "arithmetic"]:
        """What limits the step."""
        return "memory" if self.memory >= self.arithmetic else "arithmetic"


def decode_step(shape: ModelShape, batch: int, context: float, cache_dtype: str = "") -> Step | None:
    """One decode step of a batch: each sequence gets one token; None if the model is not known well enough.

    :param batch: sequences
    :param context: tokens that each has so far, on average
    """
    weights, cache = read_bytes(shape), kv_bytes(shape, context, cache_dtype)
    flops = flops_per_token(shape, context)
    if weights is None or cache is None or flops is None or batch < 1:
        return None
    return Step(weights + batch * cache, batch * flops, batch)


def prefill_step(shape: ModelShape, tokens: int) -> Step | None:
    """One prefill of a prompt; None if the model is not known well enough. A token looks at half of the prompt on average."""
    weights, flops = read_bytes(shape), flops_per_token(shape, tokens / 2)
    if weights is None or flops is None or tokens < 1:
        return None
    return Step(weights, tokens * flops, tokens)


def flops_per_token(shape: ModelShape, context: float) -> float | None:
    """Operations of one token: two for each parameter that it passes, and four for each layer, head width and token looked at.

    Chowdhery et al., PaLM, arXiv:2204.02311, appendix B, a third of its 6 N + 12 L H Q T (with the way back). None if
    the model is not known well enough; attention is left out where its widths are unknown, so that the result is never too great.
    """
    active = active_parameters(shape)
    if active is None:
        return None
    head = (shape.nope_dim + shape.rope_dim + shape.value_dim) / 2 if shape.latent else shape.head_dim or 0
    return 2 * active + 4 * (shape.attention_layers or 0) * (shape.heads or 0) * head * context


def peak_flops(card: Accelerator, bits: float) -> float | None:
    """The dense peak for numbers of so many bits; None if nobody publishes it."""
    return card.flops_8 if bits <= 8 else card.flops_16


def ridge(card: Accelerator, bits: float = 16) -> float | None:
    """Operations for each byte at which the card's arithmetic and memory are both at their peak; None if unknown.

    Below it the memory limits, above it the arithmetic.
    """
    peak = peak_flops(card, bits)
    return None if peak is None else peak / card.bandwidth


def floor_of(step: Step, card: Accelerator, *, cards: int = 1, bits: float = 16) -> Floor | None:
    """The least time of a step spread evenly over cards of one kind; None if the card's arithmetic is unknown."""
    peak = peak_flops(card, bits)
    if peak is None or cards < 1:
        return None
    return Floor(step.bytes / (card.bandwidth * cards), step.flops / (peak * cards))


def most_tokens_per_second(step: Step, floor: Floor) -> float:
    """Tokens a second that no engine can exceed with such steps."""
    return step.tokens / floor.time


def least_step_time(bytes_read: float | None, bandwidth: float | None, cards: int | None) -> float | None:
    """Seconds in which cards together can read so many bytes; None if an input is unknown.

    :param bytes_read: on all cards together
    :param bandwidth: peak of one card, bytes per second
    """
    if bytes_read is None or not bandwidth or not cards:
        return None
    return bytes_read / (bandwidth * cards)

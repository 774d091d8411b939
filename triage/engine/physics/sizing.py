"""Whether a model fits a kind of card for a number of requests, and the floors of its times, before anything runs."""

from dataclasses import replace
from math import floor
from typing import Literal

from triage.classes import dataclass
from triage.engine.physics.accelerators import Accelerator
from triage.engine.physics.links import LINKS, Link, memory_of, transfer_time
from triage.engine.physics.memory import Account, fits, kv_bytes, read_bytes
from triage.engine.physics.roofline import Floor, Step, decode_step, floor_of, most_tokens_per_second, prefill_step, ridge
from triage.engine.physics.shape import ModelShape
from triage.model.vocabulary import Scale

_CARDS = (1, 2, 4, 8, 16)
"""Cards of one machine that share a copy of the model; more are tied by slower links."""

Bound = Literal["weights", "kv cache", "bandwidth", "compute"]
"""What limits the load first: the weights leave no room, the KV cache holds too few requests, or of a decode step the bytes or
the operations take the time."""


@dataclass(frozen=True)
class Load:
    """What is to be served.

    :param context: tokens of one request, prompt and answer
    :param concurrency: requests at once
    :param cards: tensor parallelism: cards that share one copy of the model
    :param cache_dtype: of the KV cache; the model's dtype where it is empty or ``auto``
    :param share: share of the card that the engine may use
    """

    context: int
    concurrency: int
    cards: int = 1
    cache_dtype: str = ""
    share: float = 0.9


@dataclass(frozen=True)
class Phase:
    """A step with its floor, and how many operations it has for each byte against the card's ridge."""

    step: Step
    floor: Floor
    ridge: float

    @property
    def bound(self) -> Literal["bandwidth", "compute"]:
        """What limits it."""
        return "bandwidth" if self.floor.bound == "memory" else "compute"


@dataclass(frozen=True)
class Sizing:
    """The answer, with what it is made of.

    :param account: memory of one card
    :param weights_read: bytes of weights that a decode step reads at least, over all cards
    :param kv_per_request: bytes that one request of the whole context takes on one card
    :param kv_whole: bytes of one copy of its KV cache, over all cards
    :param requests: requests of the whole context that the KV cache holds
    :param batch: requests that run at once: as many as are wanted and held, one at least
    :param prefill: of one prompt of the whole context; its floor is that of TTFT
    :param decode: one step of the batch; its floor is that of ITL
    :param single: one step of a single request
    """

    load: Load
    card: Accelerator
    account: Account
    weights_read: float
    kv_per_request: float
    kv_whole: float
    requests: int
    batch: int
    prefill: Phase
    decode: Phase
    single: Phase

    @property
    def holds(self) -> bool:
        """Whether all requests that are wanted can run at once."""
        return self.requests >= self.load.concurrency

    @property
    def bound(self) -> Bound:
        """What binds."""
        if not self.account.fits:
            return "weights"
        return self.decode.bound if self.holds else "kv cache"

    @property
    def tokens_per_second(self) -> float:
        """Tokens a second that all requests together get at most."""
        return most_tokens_per_second(self.decode.step, self.decode.floor)

    def moves(self) -> list[tuple[Link, float]]:
        """Least seconds that the KV cache of one request takes over each link: to read it, to swap it, to hand it to others."""
        own = Link(f"peers of {self.card.name}", Scale.MACHINE, self.card.link / 2, self.card.source)
        links = [*([own] if own.speed else []), *LINKS]
        return [(link, transfer_time(self.kv_whole, link)) for link in [memory_of(self.card), *links]]


def arithmetic_bits(shape: ModelShape) -> float:
    """Bits of the numbers that are multiplied: those of 8-bit weights stay, narrower ones are widened to 16 first."""
    return 8 if shape.bits == 8 and not shape.experts_only else 16


def sized(shape: ModelShape, card: Accelerator, load: Load) -> Sizing | None:
    """The answer; None if the model or the card is not known well enough."""
    account = fits(
        shape, card.memory, share=load.share, cards=load.cards, cache_dtype=load.cache_dtype, sequences=load.concurrency
    )
    read, request = read_bytes(shape), kv_bytes(shape, load.context, load.cache_dtype, load.cards)
    whole = kv_bytes(shape, load.context, load.cache_dtype)
    if account is None or read is None or not request or whole is None:
        return None
    requests = max(0, floor(account.kv / request))
    batch = max(1, min(requests, load.concurrency))
    phases = [
        _phase(step, shape, card, load.cards)
        for step in (
            prefill_step(shape, load.context),
            decode_step(shape, batch, load.context, load.cache_dtype),
            decode_step(shape, 1, load.context, load.cache_dtype),
        )
    ]
    prefill, decode, single = phases
    if prefill is None or decode is None or single is None:
        return None
    return Sizing(load, card, account, read, request, whole, requests, batch, prefill, decode, single)


def enough_cards(shape: ModelShape, card: Accelerator, load: Load) -> int | None:
    """The fewest cards with which all requests run at once; None if the largest machines do not do."""
    for cards in _CARDS:
        answer = sized(shape, card, replace(load, cards=cards))
        if answer is not None and answer.holds and not (shape.heads or 0) % cards:
            return cards
    return None


def _phase(step: Step | None, shape: ModelShape, card: Accelerator, cards: int) -> Phase | None:
    """A step on so many cards of a kind; None if it or the card's arithmetic is unknown."""
    bits = arithmetic_bits(shape)
    if step is None:
        return None
    least, limit = floor_of(step, card, cards=cards, bits=bits), ridge(card, bits)
    return None if least is None or limit is None else Phase(step, least, limit)

"""The answer of ``triage fits``: the arithmetic as people read it, and as a document."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import chain

from triage.cli.table import aligned
from triage.engine.physics.accelerators import Accelerator
from triage.engine.physics.memory import weight_bytes
from triage.engine.physics.roofline import peak_flops
from triage.engine.physics.shape import ModelShape, parameters
from triage.engine.physics.sizing import Phase, Sizing, arithmetic_bits, enough_cards
from triage.model.units import number, quantity
from triage.render.safe import inert_text

_SHOWN = ("PCIe 4.0 x16", "PCIe 5.0 x16", "InfiniBand NDR", "Ethernet 100G", "Ethernet 25G")
"""Links that the text shows beside those of the card; the document has all."""

_BINDS = {
    "weights": "memory: the weights leave no room for a KV cache",
    "kv cache": "memory: the KV cache is full before the requests run out, and the others wait",
    "bandwidth": "memory bandwidth: a decode step waits for its bytes; larger batches cost little, until the KV cache is full",
    "compute": "compute: a decode step waits for its operations; a larger batch makes every token later",
}


def as_text(model: str, shape: ModelShape, cards: Sequence[Accelerator], sizing: Sizing) -> str:
    """The answer for people, ending in a line break."""
    load = sizing.load
    many = f"{load.cards} × " if load.cards > 1 else ""
    sections = chain(
        [
            f"{inert_text(model)} on {many}{sizing.card.name}, {load.concurrency} requests of {load.context} tokens",
            "",
            f"{_answer(sizing)}",
            f"  binds  {_BINDS[sizing.bound]}",
            *(f"  note   {note}" for note in notes(shape, cards, sizing)),
        ],
        ["", "Memory of one card", *_rows(_memory(shape, sizing))],
        ["", "KV cache", *_rows(_cache(shape, sizing))],
        ["", "Floors, which nothing on these cards can beat", *_rows(_floors(shape, sizing))],
        ["", f"The KV cache of one request, {_bytes(sizing.kv_whole)}, moves in no less than", *_rows(_moves(sizing))],
    )
    return "".join(f"{line}\n" for line in sections)


def _answer(sizing: Sizing) -> str:
    """Whether it fits, in a sentence."""
    if not sizing.account.fits:
        return f"DOES NOT FIT: {_bytes(sizing.account.short)} are missing on each card"
    if sizing.holds:
        return f"FITS: the KV cache holds {sizing.requests} such requests"
    return f"FITS, BUT NOT ALL AT ONCE: the KV cache holds {sizing.requests} of {sizing.load.concurrency} requests"


def notes(shape: ModelShape, cards: Sequence[Accelerator], sizing: Sizing) -> list[str]:
    """What to know about the answer."""
    load, found = sizing.load, []
    enough = None if sizing.holds else enough_cards(shape, sizing.card, load)
    if enough is not None:
        all_run = "the request runs" if load.concurrency == 1 else f"all {load.concurrency} run at once"
        found.append(f"{all_run} on {enough} cards: --tp {enough}")
    if len(cards) > 1:
        others = ", ".join(card.name for card in cards[1:])
        found.append(f"the name leaves open which card is meant; floors are those of {sizing.card.name}, not of {others}")
    if shape.context is not None and load.context > shape.context:
        found.append(f"the model was made for {shape.context} tokens, not for {load.context}")
    if shape.heads is not None and shape.heads % load.cards:
        found.append(f"{shape.heads} heads cannot be split over {load.cards} cards evenly, which engines refuse")
    if shape.experts:
        found.append("weights read are those that one token passes; a batch touches more experts, so that its floor is higher")
    return found


def _memory(shape: ModelShape, sizing: Sizing) -> Iterator[tuple[str, str, str]]:
    """The account of one card."""
    account, load = sizing.account, sizing.load
    count, whole = parameters(shape), weight_bytes(shape)
    width = f"{(whole or 0) * 8 / count:.3g} bits" if count else ""
    yield "card", f"{load.share:g} of {_bytes(account.card)} may be used", _bytes(account.budget)
    yield "weights", f"{number((count or 0) / 1e9)} billion parameters × {width} ÷ {load.cards}", f"− {_bytes(account.weights)}"
    yield "activations", "of a step of 8192 tokens, an estimate", f"− {_bytes(account.activations)}"
    yield "overhead", "driver context and captured graphs, an estimate", f"− {_bytes(account.overhead)}"
    yield "KV cache", "what is left", f"= {'−' if account.kv < 0 else ''}{_bytes(abs(account.kv))}"


def _cache(shape: ModelShape, sizing: Sizing) -> Iterator[tuple[str, str, str]]:
    """What the KV cache holds."""
    account, load = sizing.account, sizing.load
    yield "a token", _per_token(shape, load.cards), _bytes(account.kv_per_token)
    windows = f", {shape.window_layers} layers keep {shape.window} only" if shape.window_layers else ""
    yield "a request", f"{load.context} tokens{windows}", _bytes(sizing.kv_per_request)
    held = f"{_bytes(max(0.0, account.kv))} ÷ {_bytes(sizing.kv_per_request)}"
    yield "holds", held, f"{sizing.requests} requests"


def _per_token(shape: ModelShape, cards: int) -> str:
    """The formula of a token's bytes on one card."""
    if shape.latent:
        return f"{shape.attention_layers} layers × ({shape.latent} latent + {shape.rope_dim} rotary), whole on every card"
    heads = -(-(shape.kv_heads or 0) // cards)
    return f"2 × {shape.attention_layers} layers × {heads} KV heads × {shape.head_dim} wide, on each card"


def _floors(shape: ModelShape, sizing: Sizing) -> Iterator[tuple[str, str, str]]:
    """The least times with what they are made of."""
    rate = sizing.tokens_per_second
    yield "TTFT", f"a prompt of {sizing.load.context} tokens: {_work(shape, sizing, sizing.prefill)}", _time(sizing.prefill)
    yield "ITL", f"{sizing.batch} at once: {_work(shape, sizing, sizing.decode)}", _time(sizing.decode)
    yield "", f"one alone: {_work(shape, sizing, sizing.single)}", _time(sizing.single)
    yield "tokens", f"{sizing.batch} at once, at most", f"{number(rate)} a second, {number(rate / sizing.batch)} each"


def _work(shape: ModelShape, sizing: Sizing, phase: Phase) -> str:
    """The division that gives a floor, and on which side of the ridge the step lies."""
    cards = f"{sizing.load.cards} × " if sizing.load.cards > 1 else ""
    peak = peak_flops(sizing.card, arithmetic_bits(shape)) or 0
    if phase.bound == "compute":
        division = f"{number(phase.step.flops / 1e12)} TFLOP ÷ {cards}{peak / 1e12:.4g} TFLOP/s"
    else:
        division = f"{number(phase.step.bytes / 1e9)} GB ÷ {cards}{sizing.card.bandwidth / 1e9:.4g} GB/s"
    return f"{division} ({phase.bound}: {number(phase.step.intensity)} operations a byte, ridge {number(phase.ridge)})"


def _moves(sizing: Sizing) -> Iterator[tuple[str, str, str]]:
    """Least times over the links of the card, and some that are usual."""
    for link, seconds in sizing.moves():
        if sizing.card.name in link.name or link.name in _SHOWN:
            yield link.name, f"{number(link.speed / 1e9)} GB/s", quantity(seconds, "seconds")


def _rows(rows: Iterator[tuple[str, str, str]]) -> list[str]:
    """A table, indented."""
    return aligned([(f"  {name}", how, value) for name, how, value in rows]).splitlines()


def _bytes(value: float) -> str:
    return quantity(value, "bytes")


def _time(phase: Phase) -> str:
    return quantity(phase.floor.time, "seconds")


def as_document(model: str, shape: ModelShape, cards: Sequence[Accelerator], sizing: Sizing) -> dict[str, object]:
    """The answer for programs: base units, one key for each figure of the text."""
    return {
        "model": model,
        "parameters": parameters(shape),
        "gpu": sizing.card.name,
        "load": asdict(sizing.load),
        "fits": sizing.account.fits,
        "holds_all": sizing.holds,
        "bound": sizing.bound,
        "requests": sizing.requests,
        "tokens": sizing.account.tokens,
        "memory_bytes": asdict(sizing.account),
        "kv_bytes_per_request": sizing.kv_per_request,
        "floors": {
            "ttft_s": _phase(sizing.prefill),
            "itl_s": {**_phase(sizing.decode), "batch": sizing.batch},
            "itl_alone_s": _phase(sizing.single),
            "tokens_per_second": sizing.tokens_per_second,
        },
        "kv_moves_s": {link.name: seconds for link, seconds in sizing.moves()},
        "notes": notes(shape, cards, sizing),
    }


def _phase(phase: Phase) -> dict[str, object]:
    return {
        "floor": phase.floor.time,
        "bound": phase.bound,
        "bytes": phase.step.bytes,
        "flops": phase.step.flops,
        "operations_per_byte": phase.step.intensity,
        "ridge": phase.ridge,
    }

"""Derived signals that need physics: what model and card allow, where time goes, whether requests are conserved.

Each is a function of a frame and a subject that returns the cells, shape (N,), or None if an input is unknown.
"""

from collections.abc import Sequence

import numpy as np

from triage.engine.derived.arithmetic import constant, first_measured, mean_latency, own_total, quotient, rolled_mean
from triage.engine.derived.derivation import Derivation
from triage.engine.derived.formula import Averaged, Of, Quotient, Rest, Told
from triage.engine.frame import Frame
from triage.engine.physics import latency, queueing, roofline
from triage.engine.physics.accelerators import Accelerator, accelerator
from triage.engine.physics.families import shape_of
from triage.engine.physics.links import pcie_speeds
from triage.engine.physics.memory import GIB, kv_bytes_per_token, kv_tokens_of, read_bytes, read_share
from triage.engine.physics.precision import quantised_bits
from triage.engine.physics.shape import Lookup, positive, text
from triage.engine.statistics import together
from triage.model.arrays import median
from triage.model.recording import Floats, Subject
from triage.model.vocabulary import Combine, Scope, catalogue

_STEADY = 300.0
"""Seconds over which requests are balanced: long enough for most to come and go."""

_OFTEN = 0.05
"""A share of a peak that is above 1 in more than this share of its cells is no noise of sampling."""

_WORKS = 0.1
"""Chosen: a card that is busy for less than a tenth of the time is hardly measured while it works."""

_NO_LIMIT = 2.0**60
"""A control group without a memory limit reports 0 or nearly 2^63 bytes."""

_RESERVING = frozenset({"tgi"})
"""Dialects of engines that count as used what is reserved for the longest possible answer."""


def facts_of(frame: Frame, subject: Subject) -> Lookup:
    """The facts of a subject: its own, else the service's."""
    return lambda key: frame.recording.fact(key, subject)


# The KV cache and its memory


def kv_capacity(frame: Frame, replica: Subject) -> Floats | None:
    """Tokens that the KV cache holds, by what the engine told at start."""
    return constant(frame, kv_tokens_of(facts_of(frame, replica)))


def kv_usage(frame: Frame, replica: Subject) -> Floats | None:
    """Share of the KV cache in use, by its tokens."""
    used = quotient(frame.cells("kv.used", replica), frame.cells("kv.capacity", replica))
    return None if used is None else np.clip(used, 0.0, 1.0)


def kv_evictable(frame: Frame, replica: Subject) -> Floats | None:
    """Share of the KV cache that nobody needs now, by its tokens."""
    free = quotient(frame.cells("kv.evictable_tokens", replica), frame.cells("kv.capacity", replica))
    return None if free is None else np.clip(free, 0.0, 1.0)


def container_memory_ratio(frame: Frame, replica: Subject) -> Floats | None:
    """Container memory as a share of its limit; unknown without a limit."""
    limit = frame.cells("container.memory_limit", replica)
    return (
        None if limit is None else quotient(frame.cells("container.memory", replica), np.where(limit < _NO_LIMIT, limit, np.nan))
    )


# Cards: what they are and how near they are to their peak


def card_of(frame: Frame, replica: Subject) -> Accelerator | None:
    """The one kind of card that a replica runs on; None if it is unknown, mixed, or a part of a card."""
    cards = frame.recording.cards_of(replica)
    if any(frame.recording.fact("mig_profile", card) is not None for card in cards):
        return None
    names = {str(name) for card in cards or [replica] if (name := frame.recording.fact("gpu_model", card)) is not None}
    return accelerator(names.pop()) if len(names) == 1 else None


def cards_in_step(frame: Frame, replica: Subject) -> int | None:
    """How many cards work on one token at the same time; None if nobody tells."""
    fact = facts_of(frame, replica)
    told = positive(fact("tensor_parallel_size")) or positive(fact("gpus_per_replica"))
    return int(told) if told is not None else len(frame.recording.cards_of(replica)) or None


def _weight_bits(fact: Lookup) -> float | None:
    """Bits of the numbers that are multiplied; None if neither dtype nor quantisation is told or the method does not say."""
    method, dtype = text(fact("quantization")), text(fact("dtype"))
    if method:
        bits = quantised_bits(method)
        return None if bits is None else 8 if bits == 8 else 16
    return 16 if dtype else None


def _of_peak(frame: Frame, signal: str, subject: Subject, done: Floats | None, peak: float | None) -> Floats | None:
    """What was done per second as a share of a peak. Nothing exceeds a peak for long: then an input is broken, and it says so."""
    if done is None or not peak:
        return None
    share = done / peak
    return _believed(frame, signal, subject, share, "the card or the unit of its counter is not what it is taken for")


def _believed(frame: Frame, signal: str, subject: Subject, share: Floats, why: str) -> Floats | None:
    """The cells that can be true; None, and a word about it, if many of them cannot."""
    known = share[~np.isnan(share)]
    broken = known > 1 + roofline.TOLERANCE
    if len(known) and broken.mean() > _OFTEN:
        value = median(known[broken])
        told = f"{catalogue()[signal].noun} of {subject} comes out at {value:.3g}, and nothing exceeds its peak: {why}"
        frame.rejected.setdefault(signal, told)
        return None
    with np.errstate(invalid="ignore"):
        return np.where(share > 1 + roofline.TOLERANCE, np.nan, share)


def engine_bandwidth_ratio(frame: Frame, replica: Subject) -> Floats | None:
    """Bytes per second and card by the engine's own count against the card's peak."""
    card = card_of(frame, replica)
    moved = own_total(frame, replica, "bytes.read", "bytes.written")
    return _of_peak(frame, "engine.bandwidth_ratio", replica, moved, card.bandwidth if card else None)


def engine_compute_ratio(frame: Frame, replica: Subject) -> Floats | None:
    """Operations per second and card by the engine's own count against the card's dense peak."""
    card, bits = card_of(frame, replica), _weight_bits(facts_of(frame, replica))
    peak = roofline.peak_flops(card, bits) if card and bits else None
    return _of_peak(frame, "engine.compute_ratio", replica, frame.cells("flops", replica), peak)


def gpu_bandwidth_ratio(frame: Frame, card: Subject) -> Floats | None:
    """The share of its replica, for each card."""
    replica = next((target for target in frame.recording.links.get(card, ()) if target.scope is Scope.REPLICA), None)
    return frame.cells("engine.bandwidth_ratio", replica) if replica else None


def pcie_busy(frame: Frame, card: Subject) -> Floats | None:
    """Traffic in the busier direction as a share of what the link can at its generation and width of the moment."""
    generation, width = frame.cells("gpu.pcie_gen", card), frame.cells("gpu.pcie_width", card)
    flows = [cells for name in ("gpu.pcie_rx", "gpu.pcie_tx") if (cells := frame.cells(name, card)) is not None]
    if generation is None or width is None or not flows:
        return None
    return np.asarray(np.clip(together(flows, Combine.MAX) / pcie_speeds(generation, width), 0.0, 1.0))


# Decode against its floor


def dram_busy(frame: Frame, card: Subject) -> Floats | None:
    """How full the memory interface is while the card works: requests that come one by one leave it idle in between.

    Both counters are means over one span, so that idle time falls out of their ratio. A card that hardly works tells nothing.
    """
    busy = first_measured(frame.cells("gpu.engine_active", card), frame.cells("gpu.util", card))
    share = quotient(frame.cells("gpu.dram_active", card), busy)
    return None if share is None or busy is None else np.where(busy >= _WORKS, np.clip(share, 0.0, 1.0), np.nan)


def decode_floor(frame: Frame, replica: Subject) -> Floats | None:
    """The least time of a decode step: weights and KV in use, read once at the card's peak bandwidth."""
    card, cards = card_of(frame, replica), cards_in_step(frame, replica)
    weights = _weights_read(frame, replica, cards)
    if card is None or weights is None or cards is None:
        return None
    least = roofline.least_step_time(weights, card.bandwidth, 1)
    cache = _cache_read(frame, replica, cards)
    return constant(frame, least) if least is None or cache is None else least + np.nan_to_num(cache) / card.bandwidth


def _weights_read(frame: Frame, replica: Subject, cards: int | None) -> float | None:
    """Bytes of weights that each card reads for a step, at the very least: as loaded by the log, else as the model has them.

    Of the latter, dtype or quantisation must be told: another copy of a known model may have other weights.
    """
    fact = facts_of(frame, replica)
    shape = shape_of(fact)
    loaded, part = positive(fact("weights_gib")), read_share(shape)
    if loaded is not None:
        return None if part is None else loaded * GIB * part
    told = text(fact("dtype")) or text(fact("quantization"))
    read = read_bytes(shape) if told else None
    return None if read is None or cards is None else read / cards


def _cache_read(frame: Frame, replica: Subject, cards: int) -> Floats | None:
    """Bytes of KV in use on each card; None if unknown, or where not all of it is read in a step."""
    shape = shape_of(facts_of(frame, replica))
    if shape.window_layers or any(frame.origins.dialect_of(name, replica) in _RESERVING for name in ("kv.used", "kv.usage")):
        return None
    per_token = kv_bytes_per_token(shape, text(frame.recording.fact("kv_cache_dtype", replica)), cards)
    usage, capacity = frame.cells("kv.usage", replica), frame.cells("kv.capacity", replica)
    used = first_measured(frame.cells("kv.used", replica), None if usage is None or capacity is None else usage * capacity)
    return None if per_token is None or used is None else used * per_token


def decode_floor_ratio(frame: Frame, replica: Subject) -> Floats | None:
    """The least time of a decode step as a share of the measured time between tokens; unknown while drafts are verified."""
    floor, gap = frame.cells("decode.floor", replica), mean_latency(frame, "latency.itl", replica)
    drafts = own_total(frame, replica, "spec.drafts", "spec.draft_tokens")
    if floor is None or gap is None or (drafts is not None and np.nansum(drafts) > 0):
        return None
    share = quotient(floor, gap)
    why = "model, dtype, card or number of cards is not what it is taken for"
    return None if share is None else _believed(frame, "decode.floor_ratio", replica, share, why)


# Where the time of a request goes


def _means(frame: Frame, replica: Subject, names: Sequence[str]) -> list[Floats] | None:
    """Mean latencies of several parts; None if one was never measured."""
    found = [cells for name in names if (cells := mean_latency(frame, f"latency.{name}", replica)) is not None]
    return found if len(found) == len(names) else None


def _share_of_time(signal: str, part: str, whole: str) -> Derivation:
    """Mean of one part of a request's time as a share of the mean of the whole."""

    def cells(frame: Frame, replica: Subject) -> Floats | None:
        means = _means(frame, replica, (part, whole))
        return None if means is None else latency.share(*means)

    formula = Quotient(Averaged(f"latency.{part}"), Averaged(f"latency.{whole}"), 1.0)
    return Derivation(signal, (f"latency.{part}", f"latency.{whole}"), cells, formula, abreast=True)


def unaccounted(frame: Frame, replica: Subject) -> Floats | None:
    """Mean time to first token that neither queue nor prefill accounts for."""
    means = _means(frame, replica, ("ttft", "queue", "prefill"))
    return None if means is None else latency.rest(*means)


def unaccounted_share(frame: Frame, replica: Subject) -> Floats | None:
    """The same as a share of the time to first token."""
    left, means = unaccounted(frame, replica), _means(frame, replica, ("ttft",))
    return None if left is None or means is None else latency.share(left, means[0])


# Requests are conserved


def queue_growth(frame: Frame, replica: Subject) -> Floats | None:
    """Requests per second by which those inside an engine become more, over a minute."""
    held = own_total(frame, replica, "batch.running", "queue.waiting")
    width = max(1, round(60.0 / frame.grid.step))
    return None if held is None else queueing.growth(held, frame.grid.step, width)


def held_ratio(frame: Frame, replica: Subject) -> Floats | None:
    """Little's law over five minutes: requests inside against throughput × time inside."""
    held = own_total(frame, replica, "batch.running", "queue.waiting")
    pair = frame.sum_and_count("latency.e2e", replica)
    if held is None or pair is None:
        return None
    width = max(1, round(_STEADY / frame.grid.step))
    inside, spent, ended = (rolled_mean(cells, width) for cells in (held, *pair))
    with np.errstate(invalid="ignore", divide="ignore"):
        residence = np.where(ended > 0, spent / ended, np.nan)
    return queueing.held_ratio(inside, ended, residence)


def offered_load(frame: Frame, replica: Subject) -> Floats | None:
    """Requests that come per second × time in the batch ÷ places in the batch."""
    means = _means(frame, replica, ("e2e", "queue"))
    pair, grown = frame.sum_and_count("latency.e2e", replica), queue_growth(frame, replica)
    limit = first_measured(
        frame.cells("batch.limit", replica), constant(frame, positive(frame.recording.fact("max_num_seqs", replica)))
    )
    if means is None or pair is None or grown is None or limit is None:
        return None
    width = max(1, round(60.0 / frame.grid.step))
    arrivals = np.clip(rolled_mean(pair[1], width) + grown, 0.0, None)
    return queueing.offered_load(arrivals, latency.rest(*means), limit)


_HELD = ("batch.running", "queue.waiting")

DERIVATIONS = (
    Derivation("kv.capacity", (), kv_capacity, Told("kv_cache_tokens")),
    Derivation("kv.usage", ("kv.used", "kv.capacity"), kv_usage, Quotient(Of("kv.used"), Of("kv.capacity"), 1.0), abreast=True),
    Derivation("kv.evictable", ("kv.evictable_tokens", "kv.capacity"), kv_evictable, abreast=True),
    Derivation(
        "container.memory_ratio",
        ("container.memory_limit", "container.memory"),
        container_memory_ratio,
        Quotient(Of("container.memory"), Of("container.memory_limit")),
        abreast=True,
    ),
    _share_of_time("ttft.queue_share", "queue", "ttft"),
    _share_of_time("ttft.prefill_share", "prefill", "ttft"),
    Derivation(
        "ttft.unaccounted",
        ("latency.ttft", "latency.queue", "latency.prefill"),
        unaccounted,
        Rest(Averaged("latency.ttft"), (Averaged("latency.queue"), Averaged("latency.prefill"))),
        abreast=True,
    ),
    Derivation("ttft.unaccounted_share", ("latency.ttft", "latency.queue", "latency.prefill"), unaccounted_share, abreast=True),
    _share_of_time("e2e.queue_share", "queue", "e2e"),
    _share_of_time("e2e.prefill_share", "prefill", "e2e"),
    _share_of_time("e2e.decode_share", "decode", "e2e"),
    Derivation("queue.growth", _HELD, queue_growth, abreast=True),
    Derivation("engine.held_ratio", (*_HELD, "latency.e2e"), held_ratio, abreast=True),
    Derivation("batch.offered_load", (*_HELD, "latency.e2e", "latency.queue", "batch.limit"), offered_load),
    Derivation("engine.bandwidth_ratio", ("bytes.read", "bytes.written"), engine_bandwidth_ratio),
    Derivation("engine.compute_ratio", ("flops",), engine_compute_ratio),
    Derivation("gpu.dram_busy", ("gpu.dram_active", "gpu.engine_active", "gpu.util"), dram_busy, abreast=True),
    Derivation("decode.floor", ("kv.used", "kv.usage", "kv.capacity"), decode_floor),
    Derivation("decode.floor_ratio", ("decode.floor", "latency.itl", "spec.drafts", "spec.draft_tokens"), decode_floor_ratio),
    Derivation("gpu.bandwidth_ratio", ("engine.bandwidth_ratio",), gpu_bandwidth_ratio),
    Derivation("gpu.pcie_busy", ("gpu.pcie_gen", "gpu.pcie_width", "gpu.pcie_rx", "gpu.pcie_tx"), pcie_busy, abreast=True),
)

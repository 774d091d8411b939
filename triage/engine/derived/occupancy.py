"""What requests occupy: the KV cache, the batch, the time of a token, the connections of their clients."""

import numpy as np

from triage.engine.derived.alive import SAME_START
from triage.engine.derived.arithmetic import (
    SMOOTHING,
    Bools,
    constant,
    first_measured,
    known_to,
    mean_latency,
    near,
    own_total,
    quotient,
    ratio,
    total,
)
from triage.engine.derived.derivation import Derivation
from triage.engine.derived.formula import Averaged, First, Of, Quotient, Ratio
from triage.engine.frame import Frame
from triage.engine.statistics import together
from triage.model.recording import Floats, Subject
from triage.model.vocabulary import Combine, Scope

_PINNED = 0.93
"""Requests that come at random let the number in flight vary by far more than this."""

_LEAST_IN_FLIGHT = 8.0
"""Of fewer requests a step of one is more than the tenth by which a flat number may move."""

_ROOMY = 0.7
"""Chosen: a cache that no sample shows fuller than this was not full between two of them."""

_QUEUE = 0.35
"""A queue shorter than a third of what runs is gone within a third of the time of a request (Little's law)."""

_LEAST_CELLS = 10
"""Fewer moments tell nothing of how a number moves."""


def kv_fill(frame: Frame, replica: Subject) -> Floats | None:
    """Share of the KV cache in use, as the engine says or by its tokens."""
    used = quotient(frame.cells("kv.used", replica), frame.cells("kv.capacity", replica))
    return first_measured(frame.cells("kv.usage", replica), None if used is None else np.clip(used, 0.0, 1.0))


def kv_needed(frame: Frame, replica: Subject) -> Floats | None:
    """Share of the KV cache that the running requests need if they are of usual length."""
    lengths = [_mean_over_all(frame, name, replica) for name in ("length.prompt", "length.generation")]
    if None in lengths:
        return None
    return _share_for(frame, replica, sum(length for length in lengths if length is not None))


def kv_stranded(frame: Frame, replica: Subject) -> Floats | None:
    """Share of the KV cache in use beyond what the running requests could hold if each had the greatest length allowed."""
    longest = frame.recording.fact("max_model_len", replica)
    fill = frame.cells("kv.fill", replica)
    most = _share_for(frame, replica, float(longest)) if isinstance(longest, int | float) else None
    return None if fill is None or most is None else np.clip(fill - most, 0.0, 1.0)


def preemptions(frame: Frame, replica: Subject) -> Floats | None:
    """None of an engine that counts none and whose cache was never near full: it throws out for lack of blocks alone."""
    fill = frame.cells("kv.fill", replica)
    if fill is None or np.isnan(fill).all() or np.nanmax(fill) >= _ROOMY:
        return None
    return np.where(np.isnan(fill), np.nan, 0.0)


def kv_per_request(frame: Frame, replica: Subject) -> Floats | None:
    """Share of the KV cache in use for each running request; with less than one running what it would be for one."""
    fill, running = frame.cells("kv.fill", replica), frame.cells("batch.running", replica)
    return None if fill is None or running is None else fill / np.maximum(running, 1.0)


def _share_for(frame: Frame, replica: Subject, tokens: float) -> Floats | None:
    """Share of the KV cache that the running requests take with so many tokens each."""
    running, capacity = frame.cells("batch.running", replica), _capacity(frame, replica)
    share = quotient(running, capacity)
    return None if share is None else np.clip(share * tokens, 0.0, 1.0)


def _capacity(frame: Frame, replica: Subject) -> Floats | None:
    """Tokens that the KV cache can hold, as measured or by a fact."""
    fact = frame.recording.fact
    told, blocks, size = (fact(key, replica) for key in ("kv_cache_tokens", "num_gpu_blocks", "block_size"))
    by_blocks = float(blocks * size) if isinstance(blocks, int | float) and isinstance(size, int | float) else None
    tokens = float(told) if isinstance(told, int | float) else by_blocks
    return first_measured(frame.cells("kv.capacity", replica), constant(frame, tokens))


def _mean_over_all(frame: Frame, signal: str, replica: Subject) -> float | None:
    """Mean of a distribution over the whole recording."""
    pair = frame.sum_and_count(signal, replica)
    if pair is None or np.nansum(pair[1]) <= 0:
        return None
    return float(np.nansum(pair[0]) / np.nansum(pair[1]))


def token_time(frame: Frame, replica: Subject) -> Floats | None:
    """Time from one token of an answer to the next: by finished answers, by running ones (Little's law), by gaps, by steps."""
    running = frame.cells("batch.running", replica)
    busy = None if running is None else np.where((running >= 1) & ~_around_a_start(frame, replica, running), running, np.nan)
    return first_measured(
        quotient(mean_latency(frame, "latency.decode", replica), mean_latency(frame, "length.generation", replica)),
        ratio(busy, frame.cells("tokens.generation", replica), frame),
        mean_latency(frame, "latency.itl", replica),
        frame.cells("engine.time_per_step", replica),
    )


def _around_a_start(frame: Frame, replica: Subject, cells: Floats) -> Bools:
    """Where a process was first seen just before or after, or did not answer: what it held last made none of the first tokens."""
    start, up = frame.cells("process.start_time", replica), frame.cells("target.up", replica)
    around = np.zeros(cells.shape, dtype=bool)
    if start is not None:
        latest = np.fmax.accumulate(start, axis=-1)
        began = np.diff(latest, axis=-1, prepend=latest[..., :1]) > SAME_START
        around = near(began, max(1, round(SMOOTHING / frame.grid.step)))
    return around if up is None else around | (up == 0)


def idle(frame: Frame, replica: Subject) -> Floats | None:
    """1 while an engine that is measured holds no request and makes no token; of one that counts none, ends no request."""
    held, made = own_total(frame, replica, "batch.running", "queue.waiting"), frame.cells("tokens.generation", replica)
    made = frame.cells("finished", replica) if made is None else made
    if held is None or made is None:
        return None
    return np.where(np.isnan(held) | np.isnan(made), np.nan, ((held <= 0) & (made <= 0)).astype(float))


def pinned(frame: Frame, _service: Subject) -> Floats | None:
    """1 while about as many requests are in flight as there ever were, and less than one waits at each engine."""
    waiting, held = total(frame, "queue.waiting"), first_measured(total(frame, "gateway.active"), total(frame, "batch.running"))
    if waiting is None or held is None or (~np.isnan(held)).sum() < _LEAST_CELLS:
        return None
    most = float(np.nanmax(held))
    flat = (held >= _PINNED * most) & (held >= _LEAST_IN_FLIGHT) & (waiting < np.maximum(1, known_to(frame, "queue.waiting")))
    return np.where(np.isnan(held) | np.isnan(waiting), np.nan, flat.astype(float))


def held_back(frame: Frame, _service: Subject) -> Floats | None:
    """1 while the engines run as many requests as ever, next to none waits in them, and many wait before them.

    So a limit shows that lies on the way to them: a balancer's for each server, that of what engines run within. Where nothing
    stands before them, as far as anybody tells, none is.
    """
    running, waiting = total(frame, "batch.running"), total(frame, "queue.waiting")
    inside = None if running is None or waiting is None else running + waiting
    through = total(frame, "gateway.active")
    before = first_measured(total(frame, "gateway.pending"), None if through is None or inside is None else through - inside)
    if before is None and inside is not None and not frame.recording.subjects[Scope.GATEWAY]:
        before = np.zeros(len(inside))
    if running is None or waiting is None or before is None or (~np.isnan(running)).sum() < _LEAST_CELLS:
        return None
    flat = (running >= _PINNED * float(np.nanmax(running))) & (running >= _LEAST_IN_FLIGHT)
    held = flat & (waiting < np.maximum(1, known_to(frame, "queue.waiting"))) & (before >= np.maximum(2, _QUEUE * running))
    return np.where(np.isnan(running) | np.isnan(waiting) | np.isnan(before), np.nan, held.astype(float))


def computed_again(frame: Frame, replica: Subject) -> Floats | None:
    """Prompt tokens computed or taken from the cache per token of the prompts that ended: above 1 if some are done twice."""
    computed = frame.cells("tokens.prompt_computed", replica)
    lengths = frame.sum_and_count("length.prompt", replica)
    if computed is None or lengths is None:
        return None
    cached = frame.cells("tokens.prompt_cached", replica)
    worked = computed if cached is None else together([computed, cached], Combine.SUM)
    return ratio(worked, lengths[0], frame)


_HELD = ("batch.running", "queue.waiting")

DERIVATIONS = (
    Derivation(
        "token.time",
        (
            "batch.running",
            "latency.decode",
            "length.generation",
            "tokens.generation",
            "latency.itl",
            "engine.time_per_step",
            "process.start_time",
            "target.up",
        ),
        token_time,
        First(
            (
                Quotient(Averaged("latency.decode"), Averaged("length.generation")),
                Ratio(Of("batch.running"), Of("tokens.generation")),
                Averaged("latency.itl"),
            )
        ),
        abreast=True,
    ),
    Derivation("engine.idle", (*_HELD, "tokens.generation", "finished"), idle, abreast=True),
    Derivation(
        "kv.fill",
        ("kv.used", "kv.capacity", "kv.usage"),
        kv_fill,
        First((Of("kv.usage"), Quotient(Of("kv.used"), Of("kv.capacity"), 1.0))),
        abreast=True,
    ),
    Derivation("kv.needed", ("length.prompt", "length.generation", "batch.running", "kv.capacity"), kv_needed),
    Derivation("preemptions", ("kv.fill",), preemptions),
    Derivation("kv.stranded", ("kv.fill", "batch.running", "kv.capacity"), kv_stranded),
    Derivation("kv.per_request", ("kv.fill", "batch.running"), kv_per_request, abreast=True),
    Derivation(
        "prefill.repeated", ("tokens.prompt_computed", "tokens.prompt_cached", "length.prompt"), computed_again, abreast=True
    ),
    Derivation("service.pinned", (*_HELD, "gateway.active"), pinned),
    Derivation("service.held_back", (*_HELD, "gateway.pending", "gateway.active"), held_back),
)

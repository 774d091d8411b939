"""What an engine does with its requests: prompts from the cache, places in the batch, steps, drafts."""

import numpy as np

from triage.engine.derived import traffic
from triage.engine.derived.arithmetic import Bools, first_measured, quotient, ratio, share
from triage.engine.derived.derivation import (
    Derivation,
    ratio_of,
    share_of,
)
from triage.engine.derived.formula import First, Of, Quotient, Ratio, Told, Total
from triage.engine.frame import Frame
from triage.model.recording import Floats, Subject

_LEAST_BATCH = 2
"""A limit of one request at a time is a choice, no batch."""

_NEAR_PEAK = 0.85
"""A full batch loses and takes in members all the time: scrapes see it a few requests below its limit."""

_FLAT = 0.8
"""Chosen: a full batch loses and takes in members all the time, and a free one varies by its square root, mostly by more."""

_LEAST_STILL = 4
"""Fewer moments may be alike by chance."""

_FLAT_OVER = 300.0
"""Chosen: in five minutes many requests end, and a number that no limit holds moves."""


def _prefix_hit_ratio(frame: Frame, replica: Subject) -> Floats | None:
    get = frame.cells
    return first_measured(
        share(get("prefix.hits", replica), get("prefix.queries", replica), frame),
        share(get("tokens.prompt_cached", replica), get("tokens.prompt", replica), frame),
        share(get("tokens.prompt_cached", replica), _all_prompt_tokens(frame, replica), frame),
        get("prefix.hit_ratio_reported", replica),
    )


def _all_prompt_tokens(frame: Frame, replica: Subject) -> Floats | None:
    """Prompt tokens, where only cached and computed ones are counted; None unless both are."""
    parts = [frame.cells(f"tokens.prompt_{part}", replica) for part in ("cached", "computed")]
    known = [part for part in parts if part is not None]
    return known[0] + known[1] if len(known) == len(parts) else None


def _prefill_per_request(frame: Frame, replica: Subject) -> Floats | None:
    computed = first_measured(frame.cells("tokens.prompt_computed", replica), frame.cells("tokens.prompt", replica))
    return ratio(computed, traffic.finished(frame, replica), frame)


def _share_of_finished(signal: str, reason: str) -> Derivation:
    """Requests that ended in one way as a share of all that ended."""
    return Derivation(
        signal,
        traffic.FINISHED,
        lambda frame, one: share(frame.cells(reason, one), traffic.finished(frame, one), frame),
        Ratio(Of(reason), traffic.ENDED, 1.0),
        abreast=True,
    )


def _batch_fill(frame: Frame, replica: Subject) -> Floats | None:
    running, limit = frame.cells("batch.running", replica), frame.cells("batch.limit", replica)
    if limit is None:
        fact = frame.recording.fact("max_num_seqs", replica)
        limit = np.full(len(frame.grid.times), float(fact)) if isinstance(fact, int | float) and fact > 0 else None
    return quotient(running, limit)


def _plateau(frame: Frame, replica: Subject) -> Floats | None:
    """1 where requests wait and no more run than ever, or the same number all the time: so a limit looks that nobody tells.

    That number may be less than there were: a limit can be set anew.
    """
    running, waiting = frame.cells("batch.running", replica), frame.cells("queue.waiting", replica)
    if running is None or waiting is None or np.isnan(running).all():
        return None
    peak = float(np.nanmax(running))
    stands = (running >= _NEAR_PEAK * peak) | _stands_still(np.where(waiting >= 1, running, np.nan), frame)
    held = (waiting >= 1) & stands & (running >= _LEAST_BATCH)
    return np.where(np.isnan(running) | np.isnan(waiting), np.nan, held.astype(float))


def _stands_still(cells: Floats, frame: Frame) -> Bools:
    """Where the last minutes are known, and what is usual in them is about the most in them."""
    width = max(_LEAST_STILL, round(_FLAT_OVER / frame.grid.step))
    if len(cells) < width:
        return np.zeros(len(cells), dtype=bool)
    spans = np.lib.stride_tricks.sliding_window_view(cells, width)
    still = np.zeros(len(cells), dtype=bool)
    still[width - 1 :] = spans.mean(axis=1) >= _FLAT * spans.max(axis=1)
    return still


def _time_per_step(frame: Frame, replica: Subject) -> Floats | None:
    steps, running = frame.cells("engine.steps", replica), frame.cells("batch.running", replica)
    if steps is None:
        return frame.cells("engine.step_time", replica)
    busy = steps > 0 if running is None else (steps > 0) & (running >= 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(busy, 1.0 / steps, np.nan)


def _accepted_length(frame: Frame, replica: Subject) -> Floats | None:
    """Draft tokens accepted per draft, by counters or by what the engine says (which counts its own token, too)."""
    told = frame.cells("spec.step_tokens", replica)
    counted = ratio(frame.cells("spec.accepted_tokens", replica), frame.cells("spec.drafts", replica), frame)
    return first_measured(counted, None if told is None else np.where(told >= 1, told - 1, np.nan))


DERIVATIONS = (
    Derivation(
        "prefix.hit_ratio",
        (
            "prefix.hits",
            "prefix.queries",
            "tokens.prompt_cached",
            "tokens.prompt_computed",
            "tokens.prompt",
            "prefix.hit_ratio_reported",
        ),
        _prefix_hit_ratio,
        First(
            (
                Ratio(Of("prefix.hits"), Of("prefix.queries"), 1.0),
                Ratio(Of("tokens.prompt_cached"), Of("tokens.prompt"), 1.0),
                Ratio(Of("tokens.prompt_cached"), Total((Of("tokens.prompt_cached"), Of("tokens.prompt_computed"))), 1.0),
                Of("prefix.hit_ratio_reported"),
            )
        ),
        abreast=True,
    ),
    Derivation(
        "prefill.per_request",
        ("tokens.prompt_computed", "tokens.prompt", *traffic.FINISHED),
        _prefill_per_request,
        Ratio(First((Of("tokens.prompt_computed"), Of("tokens.prompt"))), traffic.ENDED),
        abreast=True,
    ),
    share_of("offload.hit_ratio", "offload.hits", "offload.queries"),
    ratio_of("offload.load_speed", "offload.load_bytes", "offload.load_seconds"),
    _share_of_finished("finished.length_ratio", "finished.length"),
    _share_of_finished("finished.abort_ratio", "finished.abort"),
    Derivation(
        "spec.accepted_length", ("spec.accepted_tokens", "spec.drafts", "spec.step_tokens"), _accepted_length, abreast=True
    ),
    share_of("spec.acceptance", "spec.accepted_tokens", "spec.draft_tokens"),
    Derivation(
        "batch.fill",
        ("batch.running", "batch.limit"),
        _batch_fill,
        Quotient(Of("batch.running"), First((Of("batch.limit"), Told("max_num_seqs")))),
    ),
    Derivation("batch.plateau", ("batch.running", "queue.waiting"), _plateau),
    Derivation("engine.time_per_step", ("engine.steps", "engine.step_time", "batch.running"), _time_per_step, abreast=True),
)

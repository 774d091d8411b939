"""What is known of users where no finished request tells it: those who wait now, and the pace where nobody times requests."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from triage.engine.derived.arithmetic import total
from triage.engine.frame import Frame
from triage.engine.promises.entries import Entry, began, is_stale, now, service_of
from triage.engine.promises.table import DELAYS, FULL
from triage.engine.queries import looked_at, share_reckoned
from triage.engine.sparks import spark_of
from triage.engine.statistics import MOMENT
from triage.model.diagnosis import Promised, Vital
from triage.model.recording import Floats, Subject
from triage.model.units import quantity
from triage.model.vocabulary import Scope

Told = Mapping[str, Any]
"""What is known of a vital beforehand, by its fields."""

_LEAST_WAITING = 4.0
"""A handful of requests that wait is no queue."""

_THROWN_OUT = 0.1
"""Preemptions per finished request from which much of the work is done twice; vLLM's documentation calls frequent ones a
sign of too little cache."""

_HARM = 0.5
_MUCH = 5.0
"""A sign that comes before harm is worth half of an incident; where the wait is many times too long it is one."""


_QUEUES = (
    ("queue_wait_s", "wait of a newcomer at the engines", "queue.waiting", "finished"),
    ("gateway_wait_s", "wait of a newcomer at the gateway", "gateway.pending", "gateway.requests"),
)
"""Name, title, those who wait, those who leave."""


def queues(frame: Frame) -> Iterator[Entry]:
    """How long a newcomer waits, and whether running requests are thrown out."""
    for name, title, waits, leaves in _QUEUES:
        waiting = total(frame, waits)
        if waiting is not None and not np.isnan(waiting[frame.grid.window]).all():
            told: Told = {"name": name, "title": title, "subject": service_of(frame), "unit": "seconds"}
            by_hand = partial(looked_at, frame, (waits, leaves), _service(frame), now(frame, (waits,)))
            ended = _finished(frame) if leaves == "finished" else total(frame, leaves)
            yield Entry(_wait(frame, waits, waiting, ended, told).reckoned_by(by_hand), waits, tuple(frame.subjects_of(waits)))
    yield from _pace(frame)
    if not frame.grid.usual:
        yield from _thrown_out(frame)


def _pace(frame: Frame) -> Iterator[Entry]:
    """Where nobody times requests: time per token by what runs and what is made, which can only be well or open."""
    timed = (name for delay in DELAYS for name in delay.signals)
    paces = frame.of("token.time")
    if not paces or any(frame.subjects_of(name) for name in timed):
        return
    words = {"name": "pace_s", "title": "time per token", "subject": service_of(frame), "unit": "seconds"}
    width = max(1, round(MOMENT / frame.grid.step))
    slowest = max(_slowest(cells[frame.grid.window], width) for cells in paces.values())
    usual = [float(np.nanmean(before)) for cells in paces.values() if not np.isnan(before := cells[frame.grid.baseline]).all()]
    limit = min([DELAYS[1].well, *(DELAYS[1].worse * pace for pace in usual)])
    told: Told = {**words, "value": slowest, "limit": limit, "limit_of": f"what is surely well: {DELAYS[1].why}"}
    kept = slowest <= limit and not is_stale(frame, ("token.time",))
    state = (
        {"state": Promised.KEPT}
        if kept
        else {"state": Promised.OPEN, "value": None, "reason": "tokens come slowly, and nobody times requests"}
    )
    yield Entry(Vital(**{**told, **state}), "token.time", tuple(paces))


def _slowest(cells: Floats, width: int) -> float:
    """The highest mean of any five minutes; infinite if nothing is known."""
    parts = [part for at in range(0, len(cells), width) if not np.isnan(part := cells[at : at + width]).all()]
    return max((float(np.nanmean(part)) for part in parts), default=float("inf"))


def _service(frame: Frame) -> list[Subject]:
    """The service as a subject."""
    return [Subject(Scope.SERVICE, frame.recording.service)]


def _finished(frame: Frame) -> Floats | None:
    """Requests per second that end, by the engines."""
    whole = total(frame, "finished")
    return whole if whole is not None else total(frame, "finished.stop", "finished.length", "finished.abort", "finished.error")


def _wait(frame: Frame, signal: str, waiting: Floats, ended: Floats | None, about: Told) -> Vital:
    """Time that the queue takes to drain at the pace of now: by Little's law what the last in it waits."""
    limit, words = _longest_wait(frame)
    told: Told = {**about, "limit": limit, "limit_of": words}
    span = now(frame, (signal,))
    lately = waiting[span]
    if is_stale(frame, (signal,)) or np.isnan(lately).all():
        return Vital(**told, state=Promised.OPEN, reason="its last values are older than a few scrapes")
    least = float(np.nanmin(lately))
    waits = _waits(waiting, ended, span)
    told = {**told, "spark": spark_of(waits, frame.grid, None)}
    if least < _LEAST_WAITING:
        short = _drained(least, ended, span)
        return Vital(**told, state=Promised.KEPT, value=short, now=short)
    if ended is None or np.isnan(ended[span]).all():
        return _by_batch(frame, waiting, told)
    pace = float(np.nanmean(ended[span]))
    low = least / pace if pace > 0 else float((span.stop - span.start) * frame.grid.step)
    if low <= limit:
        return Vital(**told, state=Promised.KEPT, value=low, now=low)
    reason = f"{least:.0f} wait now and {pace:.2g} a second end: {quantity(low, 'seconds')} until the last of them is begun"
    harm, since = min(_HARM * low / limit / _MUCH + _HARM / 2, 1.0), began(waiting, frame, _LEAST_WAITING)
    long = {"state": Promised.BROKEN, "value": low, "now": low, "reason": reason, "harm": harm, "since": since}
    return Vital(**{**told, **long, "spark": spark_of(waits, frame.grid, since)})


def _longest_wait(frame: Frame) -> tuple[float, str]:
    """How long a newcomer may wait, in seconds, and whose word that is.

    Who promises when an answer is complete and not when it begins lets requests wait as long as they are complete in time.
    """
    for promise in ("ttft_p95_s", "e2e_p95_s"):
        if promise in frame.recording.objectives:
            return frame.recording.objectives[promise], f"objective {promise}"
    return DELAYS[0].bad, f"what anybody finds too long: {DELAYS[0].why}"


def _drained(waiting: float, ended: Floats | None, span: slice) -> float | None:
    """Time that a short queue takes to drain; None if some wait and nobody knows how fast requests end."""
    if waiting == 0:
        return 0.0
    pace = 0.0 if ended is None or np.isnan(ended[span]).all() else float(np.nanmean(ended[span]))
    return waiting / pace if pace > 0 else None


def _waits(waiting: Floats, ended: Floats | None, span: slice) -> Floats | None:
    """The time that the queue took to drain at each moment, by the pace of as long before it as counts as now.

    :param span: the cells that are now
    """
    if ended is None:
        return None
    width = span.stop - span.start
    known = ~np.isnan(ended)
    sums, counts = (np.cumsum(np.concatenate((np.zeros(width), part))) for part in (np.where(known, ended, 0.0), known))
    with np.errstate(divide="ignore", invalid="ignore"):
        pace = (sums[width:] - sums[:-width]) / (counts[width:] - counts[:-width])
        waits: Floats = np.where(waiting == 0, 0.0, waiting / pace)
    return np.where(np.isfinite(waits), waits, np.nan)


def _by_batch(frame: Frame, waiting: Floats, told: Told) -> Vital:
    """Where nobody counts what ends: more requests wait than run, all the while."""
    running = total(frame, "batch.running")
    span = now(frame, ("queue.waiting",))
    if running is None or np.isnan(running[span]).all() or float(np.nanmin(waiting[span])) <= float(np.nanmax(running[span])):
        return Vital(**told, state=Promised.OPEN, reason="requests wait, and nobody counts those that end")
    reason = f"{float(np.nanmin(waiting[span])):.0f} wait behind {float(np.nanmax(running[span])):.0f} that run"
    since = began(waiting, frame, _LEAST_WAITING)
    return Vital(**told, state=Promised.BROKEN, reason=reason, harm=_HARM, since=since)


def _thrown_out(frame: Frame) -> Iterator[Entry]:
    """Without a past: requests thrown out of a full cache now."""
    thrown, ended, fill = total(frame, "preemptions"), _finished(frame), frame.of("kv.fill")
    span = now(frame, ("preemptions",))
    if thrown is None or not fill or np.isnan(thrown[span]).all():
        return
    full = max(float(np.nanmax(cells[span], initial=0.0)) for cells in fill.values())
    pace = 0.0 if ended is None or np.isnan(ended[span]).all() else float(np.nanmean(ended[span]))
    rate = float(np.nanmean(thrown[span]))
    by_hand = partial(share_reckoned, frame, "preemptions", "finished", _service(frame), span, rate / pace if pace > 0 else None)
    bad = full >= FULL and rate > 0 and rate >= _THROWN_OUT * pace
    vital = Vital(
        name="preempted_ratio",
        title="requests thrown out of the cache",
        subject=service_of(frame),
        state=Promised.BROKEN if bad else Promised.KEPT,
        value=rate / pace if pace > 0 else None,
        unit="ratio",
        limit=_THROWN_OUT,
        limit_of="per finished request, with the cache full",
        harm=_HARM if bad else 0.0,
        reason=f"the cache is full and {rate:.2g} requests a second are thrown out of it" if bad else "",
    )
    yield Entry(vital.reckoned_by(by_hand), "preemptions", tuple(frame.subjects_of("preemptions")))

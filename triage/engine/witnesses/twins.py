"""Counters that are not wired, and counts that contradict each other: siblings move, the effect is there, this one stays."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from triage.engine.derived.arithmetic import first_measured, total
from triage.engine.derived.fleet import alike
from triage.engine.frame import Frame
from triage.engine.witnesses.voices import Voices
from triage.model.observation import Judged, Observation, Seen
from triage.model.recording import Floats, Subject
from triage.model.vocabulary import Kind, Scope, catalogue

Bools = npt.NDArray[np.bool_]

_WORK = (
    "tokens.generation",
    "tokens.prompt",
    "tokens.prompt_computed",
    "engine.steps",
    "finished",
    "http.requests",
    "batch.running",
    "kv.usage",
    "process.cpu",
    "backend.requests",
)
"""What every request moves: an engine that works cannot leave one of them where it is."""

_ALWAYS = 0.8
"""Chosen: two counts differ nearly always, not in a moment in which one is read late."""

_LEAST_CELLS = 20
"""Chosen: in fewer cells the two are a few scrapes apart."""

_LEAST_REQUESTS = 30.0
"""Of fewer requests the retries of one client are a third."""

_FAR = 3.0
"""Counts of the same requests at two places differ by retries and by what is still inside; not three times."""


_OF_EVERY_ANSWER = {
    "latency.ttft": ("latency.e2e", "finished"),
    "length.generation": ("latency.e2e", "finished"),
    "length.prompt": ("latency.e2e", "finished"),
    "gateway.prompt_tokens": ("gateway.latency", "gateway.2xx"),
    "gateway.output_tokens": ("gateway.latency", "gateway.2xx"),
}
"""What an answer adds one to, and what counts the same answers beside it.

Not a gateway's time to the first token: many measure it of answers that stream only, and clients may stop to ask for those.
"""

_FELT: dict[str, tuple[str, ...]] = {
    "spec.step_tokens": ("latency.itl", "token.time"),
    "spec.accepted_length": ("latency.itl", "token.time"),
    "spec.acceptance_reported": ("latency.itl", "token.time"),
    "prefix.hit_ratio_reported": ("latency.prefill", "latency.ttft"),
}
"""Measures that nobody sees fall to nothing without feeling it, and the times that would grow: each step would make one token,
each prompt would be computed whole."""

_SAME: dict[str, tuple[str, ...]] = {
    "prefix.hit_ratio_reported": ("prefix.hits", "tokens.prompt_cached"),
    "spec.step_tokens": ("spec.accepted_tokens",),
    "spec.accepted_length": ("spec.accepted_tokens",),
    "spec.acceptance_reported": ("spec.accepted_tokens",),
}
"""Measures, and counters of the same engine that move only while the measure is more than nothing."""

_SHOWN = ("batch.running", "kv.usage", "gpu.util", "gpu.sm_active", "gpu.power")
"""Measures of work that cannot be nothing while tokens are made."""

_AS_BEFORE = 1.15
"""Chosen: the mix of requests changes a time by as much from one quarter of an hour to the next."""

_WELL_KNOWN = 0.5
"""Chosen: what is unknown for more than half of the time is not known to go on."""

_WAS_THERE = 0.95
"""Chosen: what rested now and then rests now."""

_LEAST_END = 4
"""Cells: what ended long before the data does is not there at all."""

_SILENT_FOR = 600.0
"""Chosen: what was counted all the time and is not for ten minutes of ordinary work is no pause between two requests."""


def unwired(frame: Frame, _voices: Voices) -> Seen:
    """Counters that do not count, and pairs of counts of the same requests that are far apart."""
    odd = [*_constant(frame), *_silenced(frame), *_emptied(frame), *_denied(frame), *_disagreeing(frame)]
    judged: set[Judged] = set()
    if len(frame.recording.subjects[Scope.REPLICA]) > 2:
        judged.add(("instrument", "not-wired", Scope.REPLICA))
    if _counts(frame, _GOOD) is not None and _counts(frame, _SENT) is not None:
        judged.add(("instrument", "disagrees", Scope.SERVICE))
    return Seen(tuple(odd), frozenset(judged))


def _constant(frame: Frame) -> Iterator[Observation]:
    """Signals of a replica that stay at nought while its other signals of work move, and the same signal at its twins."""
    for signal in _WORK:
        if catalogue()[signal].kind is Kind.DISTRIBUTION or len(frame.of(signal)) < 3:
            continue
        block = frame.block(signal)
        window = block.cells[:, frame.grid.window]
        moves, known = _move(window), ~np.isnan(window)
        moving = [block.subjects[row] for row in np.flatnonzero(moves).tolist()]
        still = ~moves & (known.sum(axis=1) >= _LEAST_CELLS) & ~np.any(known & (window != 0), axis=1)
        for subject in (block.subjects[row] for row in np.flatnonzero(still).tolist()):
            if sum(alike(frame, one, subject) for one in moving) < 2:
                continue
            others = [
                s
                for s in _WORK
                if s != signal and (c := frame.cells(s, subject)) is not None and _move(c[None, frame.grid.window])[0]
            ]
            if len(others) >= 2:
                names = [catalogue()[one].noun for one in (signal, *others[:2])]
                text = f"{names[0]} of {subject} stays at 0 although {names[1]} and {names[2]} move, and at the others all move"
                yield _observation("not-wired", subject, text, {"signal": signal}, frame)


def _silenced(frame: Frame) -> Iterator[Observation]:
    """Distributions that took in every answer, and from some moment on none, while answers go on and their tokens, too."""
    for signal, siblings in _OF_EVERY_ANSWER.items():
        for subject in _silent_at_the_end(frame, signal):
            counted = frame.sum_and_count(signal, subject)
            answers = next((found for name in siblings if (found := _ended(frame, name, subject)) is not None), None)
            if counted is None or answers is None:
                continue
            counts = counted[1]
            last = int(np.flatnonzero(counts > 0)[-1]) if np.any(counts > 0) else len(counts)
            after = np.arange(len(counts)) > last
            after &= (counts == 0) & ~np.isnan(answers)
            before = float(np.nansum(counts)) * frame.grid.step
            since = float(answers[after].sum()) * frame.grid.step
            tokens = total(frame, "tokens.generation")
            if np.count_nonzero(after) * frame.grid.step < _SILENT_FOR or min(before, since) < _LEAST_REQUESTS:
                continue
            if tokens is None or not np.nansum(tokens[after]) > 0:
                continue
            text = f"{catalogue()[signal].noun} of {subject} counts nothing any more, although {since:.0f} answers ended since"
            yield _observation("not-wired", subject, text, {"signal": signal}, frame)


def _silent_at_the_end(frame: Frame, signal: str) -> list[Subject]:
    """Who has a distribution that takes in nothing in the last cell."""
    counts = frame.totals(signal)[1]
    return [counts.subjects[row] for row in np.flatnonzero(~(counts.cells[:, -1] > 0)).tolist()]


def _emptied(frame: Frame) -> Iterator[Observation]:
    """Gauges that were never nought and are exactly that from some moment on, while what they tell of goes on as before."""
    told: set[Subject] = set()
    for signal in (*_FELT, *_SHOWN):
        found: list[tuple[int, Subject, str]] = []
        block = frame.block(signal)
        for row in _nothing_at_the_end(block.cells):
            subject = block.subjects[row]
            at = None if subject in told else _emptied_at(block.cells[row], frame)
            effect = "" if at is None else _effect(frame, signal, subject, at)
            if at is not None and effect:
                found.append((at, subject, effect))
        told.update(subject for _, subject, _ in found)
        if found:
            effect = min(found)[2]
            yield _of_all(signal, f"is 0 and never was before, although {effect} goes on as before", found, frame)


def _denied(frame: Frame) -> Iterator[Observation]:
    """Gauges that are exactly nought to the end, while the same engine counts what they tell of."""
    for signal, counters in _SAME.items():
        found: list[tuple[int, Subject, str]] = []
        block = frame.block(signal)
        for row in np.flatnonzero(block.cells[:, -1] == 0).tolist():
            cells, subject = block.cells[row], block.subjects[row]
            at = int(np.flatnonzero(cells > 0)[-1]) + 1 if np.any(cells > 0) else 0
            if (len(cells) - at) * frame.grid.step < _SILENT_FOR or np.count_nonzero(cells[at:] == 0) < _LEAST_CELLS:
                continue
            counted = (name for name in counters if (c := frame.cells(name, subject)) is not None and _move(c[None, at:])[0])
            if counter := next(counted, ""):
                found.append((at, subject, catalogue()[counter].noun))
        if found:
            yield _of_all(signal, f"is 0, although {found[0][2]} of the same engine are counted", found, frame)


def _of_all(signal: str, what: str, found: Sequence[tuple[int, Subject, str]], frame: Frame) -> Observation:
    """The observation of one subject, or of the service if it holds of several, since the first of them showed it.

    :param found: the cell since which, the subject, and what goes on
    """
    at, subject, _ = min(found)
    whose = subject if len(found) == 1 else Subject(Scope.SERVICE, frame.recording.service)
    of = str(subject) if len(found) == 1 else f"{len(found)} of them"
    one = _observation("not-wired", whose, f"{catalogue()[signal].noun} of {of} {what}", {"signal": signal}, frame)
    times = frame.grid.times
    return replace(one, onset=(float(times[max(at - 1, 0)]), float(times[at])), support=len(found))


def _nothing_at_the_end(cells: Floats) -> list[int]:
    """Rows that were something and are nothing, or nobody knows what, in the last cell."""
    last = cells[:, -1]
    return np.flatnonzero(~((last < 0) | (last > 0)) & cells.any(axis=1)).tolist()


def _effect(frame: Frame, signal: str, subject: Subject, at: int) -> str:
    return _still_felt(frame, signal, subject, at) if signal in _FELT else _still_works(frame, subject, at)


def _emptied_at(cells: Floats, frame: Frame) -> int | None:
    """The cell from which on a gauge that was hardly ever nought is exactly that, to the end; None if it is not."""
    known = np.flatnonzero(~np.isnan(cells))
    something = known[cells[known] != 0]
    if not len(something) or len(known) < _LEAST_CELLS or np.isnan(cells[-_LEAST_END:]).all():
        return None
    at = int(something[-1]) + 1
    before, after = cells[known[known < at]], known[known >= at]
    if len(before) < _LEAST_CELLS or len(after) * frame.grid.step < _SILENT_FOR or float((before > 0).mean()) < _WAS_THERE:
        return None
    return int(after[0])


def _still_felt(frame: Frame, signal: str, subject: Subject, at: int) -> str:
    """The noun of a time that would have grown and has not; empty if it has, or if nobody measures it."""
    for name in _FELT[signal]:
        pair = frame.sum_and_count(name, subject)
        row = frame.cells(name, subject)
        if pair is not None:
            before, after = (float(np.nansum(pair[0][part])) / max(float(np.nansum(pair[1][part])), 1e-9) for part in _parts(at))
        elif row is not None and not any(np.isnan(row[part]).all() for part in _parts(at)):
            before, after = (float(np.nanmedian(row[part])) for part in _parts(at))
        else:
            continue
        return catalogue()[name].noun if 0 < after <= _AS_BEFORE * before else ""
    return ""


def _still_works(frame: Frame, subject: Subject, at: int) -> str:
    """The noun of the work that goes on at a subject, or at the engines of a card; empty if it does not or nobody counts it.

    An engine that is no longer there for most of the time does not go on, whatever its last samples say.
    """
    replicas = [subject] if subject.scope is Scope.REPLICA else frame.related(subject, Scope.REPLICA)
    rows = [cells for one in replicas if (cells := frame.cells("tokens.generation", one)) is not None]
    if not rows or len(rows) < len(replicas):
        return ""
    if any(np.isnan(row[:at]).all() or np.isnan(row[at:]).mean() > _WELL_KNOWN for row in rows):
        return ""
    goes_on = (float(np.nanmedian(row[at:])) >= float(np.nanmedian(row[:at])) / 2 > 0 for row in rows)
    return catalogue()["tokens.generation"].noun if all(goes_on) else ""


def _parts(at: int) -> tuple[slice, slice]:
    return slice(0, at), slice(at, None)


def _ended(frame: Frame, signal: str, subject: Subject) -> Floats | None:
    """Answers per second in each cell by a counter or a distribution of one subject; None if it has none."""
    pair = frame.sum_and_count(signal, subject)
    return frame.cells(signal, subject) if pair is None else pair[1]


def _move(cells: Floats) -> Bools:
    """Of which rows something is there nearly all the time, shape (S,)."""
    known = (~np.isnan(cells)).sum(axis=1)
    return np.asarray((known >= _LEAST_CELLS) & ((cells > 0).sum(axis=1) / np.maximum(known, 1) >= _ALWAYS))


def _disagreeing(frame: Frame) -> Iterator[Observation]:
    """The gateway's count of requests against the engines': good answers that none ended, work that no gateway sent.

    Answers that stream are good from their first byte, so more of them than ended prove nothing.
    """
    service = Subject(Scope.SERVICE, frame.recording.service)
    answered, ended = _counts(frame, _GOOD) or (0.0, 0.0)
    if answered >= _LEAST_REQUESTS and ended == 0:
        text = f"the gateway counts {answered:.0f} good answers, and the engines not one request that ended"
        yield _observation("not-wired", service, text, {"signal": "finished", "outer": f"{answered:.0f}", "inner": "0"}, frame)
    sent, ended = _counts(frame, _SENT) or (0.0, 0.0)
    if ended >= _LEAST_REQUESTS and ended > _FAR * sent:
        text = f"the engines end {ended:.0f} requests, of which the gateway counts {sent:.0f}: it never saw the rest"
        of = "not-wired" if sent == 0 else "disagrees"
        attrs = {"signal": "gateway.requests", "outer": f"{sent:.0f}", "inner": f"{ended:.0f}"}
        yield _observation(of, service, text, attrs, frame)


_GOOD = ("gateway.2xx",)
_SENT = ("backend.requests", "gateway.upstream_requests", "gateway.requests")


def _counts(frame: Frame, outside: Sequence[str]) -> tuple[float, float] | None:
    """Requests by a count outside and those that engines ended, in cells of the window where both are known."""
    outer = first_measured(*(total(frame, name) for name in outside))
    inner = first_measured(total(frame, "finished"), total(frame, "http.requests"))
    if outer is None or inner is None:
        return None
    inside = np.zeros(len(outer), dtype=bool)
    inside[frame.grid.window] = True
    both = inside & ~np.isnan(outer) & ~np.isnan(inner)
    if np.count_nonzero(both) < _LEAST_CELLS // 2:
        return None
    return float(outer[both].sum() * frame.grid.step), float(inner[both].sum() * frame.grid.step)


def _observation(of: str, subject: Subject, text: str, attrs: dict[str, str], frame: Frame) -> Observation:
    """A count that cannot be right."""
    window = frame.recording.window
    return Observation(
        sort="instrument",
        of=of,
        subject=subject,
        text=text,
        onset=(window.baseline_start, window.start),
        source="monitoring",
        attrs=attrs,
        salient=True,
    )

"""Metrics that lose their labels, their names or their core, and targets that offer ever more series."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from triage.engine.derived.fleet import alike
from triage.engine.frame import Frame
from triage.engine.witnesses.voices import LEAST_SAMPLES, Voices
from triage.model.arrays import median
from triage.model.observation import Judged, Observation, Seen
from triage.model.recording import Event, Series, Subject
from triage.model.vocabulary import Scope

_FAULTS = {"label-lost": "label-lost", "renamed": "renamed", "gone": "renamed", "core-missing": "core-missing"}
"""Names of events of kind ``metric``, and the fault that each one is."""

_WORK = ("finished", "tokens.generation", "tokens.prompt")

_GROWN, _LEAST_GROWN = 1.5, 2000.0
_GROWN_MUCH, _LEAST_GROWN_MUCH = 3.0, 200.0
"""A target's samples vary by a few per cent (children of counters, pods that come). Half as many again is news where there are
thousands, three times as many anywhere above a small exporter's size."""


def lost_metrics(frame: Frame, _voices: Voices) -> Seen:
    """What becomes of metrics, of their labels and of their number."""
    odd = list(_once([_lost(event, frame) for event in frame.recording.events_of("metric") if event.name in _FAULTS], frame))
    odd += _exploding(frame)
    judged: set[Judged] = set()
    if frame.recording.series:
        judged |= {("instrument", name, Scope.SERVICE) for name in ("label-lost", "renamed", "core-missing")}
    if any(len(one.times) >= LEAST_SAMPLES for one in _sizes(frame)):
        judged |= {("instrument", "cardinality", scope) for scope in (Scope.REPLICA, Scope.TARGET)}
    return Seen(tuple(odd), frozenset(judged))


def _lost(event: Event, frame: Frame) -> Observation:
    """A metric that ends, is renamed, or goes on without its labels."""
    return Observation(
        sort="instrument",
        of=_FAULTS[event.name],
        subject=event.subject or Subject(Scope.SERVICE, frame.recording.service),
        text=event.text,
        onset=(event.time, event.time + frame.recording.step),
        source="monitoring",
        attrs={**event.attrs, "event": event.name},
        salient=_is_news(event, frame),
    )


def _once(found: list[Observation], frame: Frame) -> Iterator[Observation]:
    """What all targets of a source lack, told once, of the service; all else as it is."""
    service = Subject(Scope.SERVICE, frame.recording.service)
    lacking: dict[tuple[str, str], list[Observation]] = {}
    for one in found:
        if one.of == "core-missing" and not one.salient:
            lacking.setdefault((one.attrs.get("dialect", ""), one.attrs.get("metric", "")), []).append(one)
        else:
            yield one
    for same in lacking.values():
        yield replace(same[0], subject=service, onset=None, support=len(same), attrs={**same[0].attrs, "targets": str(len(same))})


def _is_news(event: Event, frame: Frame) -> bool:
    """Whether a person would ask about it: it happened in the window, or a source lacks from the start what another one has.

    What no source here shows somebody has chosen not to collect, an engine that was never asked has counted nothing yet, and one
    for prefill shows other things than one for decode.
    """
    if event.name != "core-missing":
        return event.time >= frame.recording.window.start - 2 * frame.recording.step
    signal = event.attrs.get("signal", "")
    return (
        event.subject is not None
        and not _is_idle(event.subject, frame)
        and any(one != event.subject and alike(frame, event.subject, one) for one in frame.subjects_of(signal))
    )


def _is_idle(subject: Subject, frame: Frame) -> bool:
    """Whether somebody counts the work of an engine, and there was none."""
    rows = [cells for name in _WORK if (cells := frame.cells(name, subject)) is not None]
    return bool(rows) and not any((cells > 0).any() for cells in rows)


def _sizes(frame: Frame) -> list[Series]:
    """How many samples each target's scrapes bring."""
    return frame.recording.by_signal.get("target.samples", [])


def _exploding(frame: Frame) -> Iterator[Observation]:
    """Targets that offer many more samples than before, beyond what more replicas explain; scrapes refused for their size."""
    more = _more_replicas(frame)
    for one in [*_sizes(frame), *frame.recording.by_signal.get("prometheus.head_series", [])]:
        told = one.values > 0
        values, times = one.values[told], one.times[told]
        if len(values) < LEAST_SAMPLES:
            continue
        before = values[times <= frame.recording.window.start]
        usual = median(before) if len(before) >= LEAST_SAMPLES else median(values[: LEAST_SAMPLES // 2])
        grown = values >= _threshold(one, usual * more)
        if np.count_nonzero(grown) < 3:
            continue
        first = int(np.argmax(grown))
        peak = float(values.max())
        yield Observation(
            sort="instrument",
            of="cardinality",
            subject=one.subject,
            text=f"{one.subject} offers {peak:.0f} samples, {peak / usual:.1f} times as many as usual",
            onset=(float(times[max(first - 1, 0)]), float(times[first])),
            against="past",
            direction="up",
            size=peak / usual,
            value=peak,
            usual=usual,
            unit="samples",
            support=int(np.count_nonzero(grown)),
            source="monitoring",
            attrs={"signal": one.signal},
            salient=True,
        )
    for one in frame.recording.by_signal.get("prometheus.sample_limit_hits", []):
        hit = (one.values > 0) & (one.times > frame.recording.window.start)
        if np.count_nonzero(hit) >= 2:
            when = float(one.times[int(np.argmax(hit))])
            text = "the monitoring refuses scrapes because a target offers too many samples"
            yield Observation(
                sort="instrument",
                of="cardinality",
                subject=one.subject,
                text=text,
                onset=(when - frame.recording.step, when),
                against="limit",
                direction="up",
                source="monitoring",
                attrs={"signal": one.signal},
                salient=True,
            )


def _threshold(one: Series, usual: float) -> float:
    """From how many samples on a target offers too many."""
    if one.signal == "prometheus.head_series":
        return usual * _GROWN
    return min(max(usual * _GROWN, _LEAST_GROWN), max(usual * _GROWN_MUCH, _LEAST_GROWN_MUCH))


def _more_replicas(frame: Frame) -> float:
    """How many times as many replicas there are as at first: each one makes series of its own."""
    rows = frame.recording.by_signal.get("replicas.ready", []) or frame.recording.by_signal.get("replicas.desired", [])
    counts = [float(one.values.max() / max(one.values[0], 1.0)) for one in rows if len(one.values)]
    return max(counts, default=1.0)

"""Samples that are missing: of one target, of a source, or of everything, and whether their subject lived meanwhile."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from triage.engine.frame import Frame
from triage.engine.relations import INSTRUMENT, relation_of
from triage.engine.witnesses.signs import life, works, works_on
from triage.engine.witnesses.voices import LEAST_SAMPLES, Hole, Voice, Voices, common_holes
from triage.model.observation import Judged, Observation, Seen
from triage.model.recording import CHANGE_KINDS, Floats, Series, Subject
from triage.model.units import duration
from triage.model.vocabulary import Scope

Bools = npt.NDArray[np.bool_]

_LEAST_END = 120.0
"""A source must be silent for this many seconds at the end of the data: it may just be late."""

_SAME_TIME = 0.7
"""Two silences are one if this share of the shorter one is common."""

_FAILED_SHARE = 0.15
"""Of scrapes that fail a person asks for the reason from about one in seven on; single ones fail everywhere."""

_SHORT = 300.0
"""A collector that is restarted or updated is away for minutes; alerts of five minutes may miss what is longer."""

_ROLL_OUT_LASTS = 1800.0
"""As ``_CHANGE_LASTS`` of triage/engine/observations/lives.py: exporters are replaced host by host."""

_LEAST_FAILED = 3
"""Single scrapes fail everywhere; three are told."""

_INSTRUMENT = re.compile(r"(?i)export|dcgm|kube-state|cadvisor|node|prom|otel|telemetry|collect|agent|smi|monitor|metric")
"""Names of what only measures. Another target that cannot be scraped may be a component that is down."""

_THIRDS = 3
"""A source that fails in one third of the window is bad there, however good the others are."""


def silences(frame: Frame, voices: Voices) -> Seen:
    """Silences of sources whose subjects live: nothing is known of that time, whatever the last value was."""
    whole = list(_of_everything(frame, voices))
    odd = [*whole, *_once_each(_of_sources(frame, voices, whole))]
    failed = list(_failed_scrapes(frame))
    # of a card that its exporter alone spoke of failed scrapes tell more: it is not lost
    odd = [one for one in odd if one.of != "member-lost" or not any(_is_told(other, one) for other in failed)]
    odd += [one for one in failed if not any(_is_told(one, other) for other in odd)]
    heard = [voice for voice in voices.all if len(voice.times) >= LEAST_SAMPLES]
    judged: set[Judged] = {("instrument", name, v.subject.scope) for v in heard for name in ("gap", "silent-target")}
    if len({voice.dialect for voice in heard}) > 1:
        judged.add(("instrument", "collector-gap", Scope.SERVICE))
    judged |= {("instrument", "exporter-down", v.subject.scope) for v in heard if v.subject.scope is not Scope.REPLICA}
    judged |= {("instrument", "member-lost", v.subject.scope) for v in heard if v.subject.scope is Scope.GPU}
    return Seen(tuple(odd), frozenset(judged))


def _once_each(found: Iterable[Observation]) -> Iterator[Observation]:
    """Gaps of one source at one subject told as one, from the first to the last."""
    grouped: dict[tuple[str, Subject, str], list[Observation]] = {}
    for one in found:
        grouped.setdefault((one.of, one.subject, one.attrs.get("exporter", "")), []).append(one)
    for same in grouped.values():
        first, last = min(same, key=lambda one: one.onset or ()), max(same, key=lambda one: one.onset or ())
        if len(same) == 1:
            yield first
            continue
        seconds = sum(one.value or 0.0 for one in same)
        text = f"{first.text}; {len(same)} times, {duration(seconds)} in all"
        attrs = {**first.attrs, "pattern": "flapping", "times": str(len(same)), "planned": "no"}
        yield replace(first, text=text, end=last.end, value=seconds, support=len(same), attrs=attrs, salient=True)


def _of_everything(frame: Frame, voices: Voices) -> Iterator[Observation]:
    """Times in which nobody speaks: the collector itself was away."""
    window = frame.recording.window
    service = Subject(Scope.SERVICE, frame.recording.service)
    slowest = max((voice.step for voice in voices.all), default=0.0)
    for hole in common_holes(voices, voices.end):
        if hole.ends and hole.until > window.start and hole.seconds > 2.0 * slowest:
            text = f"no source at all has samples for {duration(hole.seconds)}: the collector was away"
            yield _with_its_plan(_observation("collector-gap", service, hole, text, {"extent": "all"}), hole, frame)
    silent = window.end - voices.end
    if voices.all and silent > max(_LEAST_END, 4.0 * slowest) and _last_line(frame) - voices.end > _LEAST_END:
        hole = Hole(voices.end, window.end, ends=False)
        text = f"no source at all has samples for the last {duration(hole.seconds)}, and logs go on: the collector is away"
        yield _observation("collector-gap", service, hole, text, {"extent": "all", "planned": "no"})


def _with_its_plan(gap: Observation, hole: Hole, frame: Frame) -> Observation:
    """A hole, and whether it was planned: one that is short and over and came with a change to the monitoring explains itself."""
    since = hole.since - _ROLL_OUT_LASTS
    near = [one for one in frame.recording.events if one.kind in CHANGE_KINDS and since <= one.time <= hole.until]
    changed = any(relation_of(event, frame) == INSTRUMENT for event in near)
    planned = changed and hole.ends and hole.seconds <= _SHORT
    return replace(gap, salient=not planned, attrs={**gap.attrs, "planned": "yes" if planned else "no"})


def _last_line(frame: Frame) -> float:
    """When a log that is counted line by line was last heard."""
    rows = [one for name in ("log.lines", "gateway.log_lines") for one in frame.recording.by_signal.get(name, ())]
    return max((float(one.times[one.values > 0][-1]) for one in rows if (one.values > 0).any()), default=0.0)


def _of_sources(frame: Frame, voices: Voices, whole: list[Observation]) -> Iterator[Observation]:
    """Silences of single sources, told once for a source that is silent for all its subjects."""
    found: dict[str, list[tuple[Voice, Hole]]] = {}
    for voice in voices.all:
        if voice.is_scraper or voice.subject.scope is Scope.TARGET or _is_by_the_way(voice, voices):
            continue
        for hole in voices.holes_of(voice):
            if hole.until > frame.recording.window.start and not any(_overlaps(hole, one) for one in whole):
                found.setdefault(voice.dialect, []).append((voice, hole))
    for dialect, silent in found.items():
        told: list[Hole] = []
        for voice, hole in sorted(silent, key=lambda pair: (pair[1].since, pair[0].subject)):
            if any(_common(hole, other) for other in told):
                continue
            alike = [(v, h) for v, h in silent if _common(h, hole)]
            everybody = {v.subject for v in voices.by_dialect[dialect] if v.times[0] < hole.since}
            if len(alike) > 1 and everybody <= {v.subject for v, _ in alike}:
                told.append(hole)
                yield from _of_all_its_subjects(frame, voices, alike, hole)
            elif (one := _of_one(frame, voices, voice, hole)) is not None:
                yield one


def _of_all_its_subjects(frame: Frame, voices: Voices, silent: list[tuple[Voice, Hole]], hole: Hole) -> Iterator[Observation]:
    """A source that is silent for all its subjects at once. If they live, it is the source that was away."""
    seen = {voice.subject: _lives(frame, voices, voice, h) for voice, h in silent}
    lived = [state for state in seen.values() if state in ("goes-on", "works")]
    if "new-start" in seen.values() or not lived:
        return
    first = silent[0][0]
    own = first.subject.scope in (Scope.GPU, Scope.NODE, Scope.SERVICE) or first.dialect.startswith("kube")
    attrs = {
        "extent": "source",
        "exporter": first.dialect,
        "members": str(len(seen)),
        "returned": lived[0] if hole.ends else "no",
    }
    subject = _of_one_host(frame, list(seen)) if own else Subject(Scope.SERVICE, frame.recording.service)
    if hole.ends:
        text = (
            f"{first.dialect} has no samples for {duration(hole.seconds)}, of {len(seen)} subjects that live: the source was away"
        )
        yield _with_its_plan(_observation("gap", subject, hole, text, attrs), hole, frame)
    elif hole.seconds >= _LEAST_END:
        of = "exporter-down" if own else "silent-target"
        yield _observation(of, subject, hole, f"{first.dialect} is silent while all that it speaks of lives", attrs)


def _is_by_the_way(voice: Voice, voices: Voices) -> bool:
    """Whether a card is spoken of by the engine on it: its silence is the engine's."""
    return voice.subject.scope is Scope.GPU and voice.dialect in voices.of_replicas


def _of_one_host(frame: Frame, members: list[Subject]) -> Subject:
    """The host of all members, or the service if they are of several."""
    hosts = {host for member in members for host in frame.related(member, Scope.NODE)}
    return hosts.pop() if len(hosts) == 1 else Subject(Scope.SERVICE, frame.recording.service)


def _of_one(frame: Frame, voices: Voices, voice: Voice, hole: Hole) -> Observation | None:
    """A silence of one subject; None if nobody can say that it lived."""
    state = _lives(frame, voices, voice, hole)
    if state not in ("goes-on", "works"):
        return None
    subject = voice.subject
    attrs = {
        "extent": "target",
        "exporter": voice.dialect,
        "returned": state if hole.ends else "no",
        "up": _up(frame, subject, hole),
    }
    if hole.ends:
        text = f"{voice.dialect} has no samples of {subject} for {duration(hole.seconds)}, and it lived all the time"
        return _with_its_plan(_observation("gap", subject, hole, text, attrs), hole, frame)
    if hole.seconds < _LEAST_END or voice.dialect.startswith("kube"):
        return None
    of = {Scope.GPU: "member-lost", Scope.NODE: "exporter-down"}.get(subject.scope, "silent-target")
    text = f"{voice.dialect} no longer speaks of {subject}, and others see it work"
    return _observation(of, subject, hole, text, attrs)


def _lives(frame: Frame, voices: Voices, voice: Voice, hole: Hole) -> str:
    """Whether a subject lived in a hole. What the cluster says of a pod ends with the pod: that needs others to contradict it."""
    if hole.ends:
        return life(frame, voices, voice.subject, hole.since, hole.until)
    return "works" if works(frame, voices, voice.subject, hole.since, hole.until) else "unknown"


def _up(frame: Frame, subject: Subject, hole: Hole) -> str:
    """Whether its scrapes succeeded meanwhile: ``1``, ``0``, or ``none`` if nobody tried."""
    for one in frame.recording.by_signal.get("target.up", ()):
        if one.subject == subject:
            inside = one.values[(one.times > hole.since) & (one.times < hole.until)]
            return "none" if not len(inside) else "1" if float(inside.mean()) >= 0.5 else "0"
    return ""


# Scrapes that fail


def _failed_scrapes(frame: Frame) -> Iterator[Observation]:
    """Targets whose scrapes fail now and then, or for good, while what they belong to lives."""
    engines = [one for one in frame.recording.by_signal.get("target.up", ()) if one.subject.scope is Scope.REPLICA]
    for one in frame.recording.by_signal.get("target.up", ()):
        inside = one.times > frame.recording.window.start
        values, times = one.values[inside], one.times[inside]
        if len(values) < LEAST_SAMPLES or not (one.values > 0).any() or not (values <= 0).any():
            continue
        failed = values <= 0
        back = bool((values[int(np.argmax(failed)) :] > 0).any())
        first = float(times[int(np.argmax(failed))])
        before = float(one.times[one.times < first][-1]) if (one.times < first).any() else first
        if one.subject.scope is Scope.REPLICA:
            if back and _is_flapping(failed) and _one_process(frame, one.subject, times[failed]):
                share = float(failed.mean())
                text = f"{share:.0%} of the scrapes of {one.subject} fail, and the process behind it stays the same"
                attrs = {"extent": "target", "pattern": "flapping", "up": "0", "returned": "goes-on", "planned": "no"}
                yield _observation("gap", one.subject, Hole(before, first, ends=False), text, attrs, value=share)
        elif (
            _worst_third(failed) >= _FAILED_SHARE
            and np.count_nonzero(failed) >= _LEAST_FAILED
            and _all_well(engines, first, float(times[-1]))
        ):
            of = "gap" if back else "exporter-down"
            until = float(times[np.flatnonzero(failed)[-1]])
            text = (
                f"scrapes of {one.subject.id} fail ({np.count_nonzero(failed)} of {len(failed)}) while those of the engines go on"
            )
            attrs = {
                "extent": "target",
                "exporter": one.subject.id.partition("/")[0],
                "up": "0",
                "returned": "unknown" if back else "no",
            }
            ours = _measures_ours(one.subject, frame)
            attrs |= {} if ours else {"stranger": "yes"}
            hole = Hole(before, until, ends=bool(values[-1] > 0))
            told = _with_its_plan(_observation(of, one.subject, hole, text, attrs), hole, frame)
            yield replace(told, salient=told.salient and ours)


def _measures_ours(target: Subject, frame: Frame) -> bool:
    """Whether a target is an instrument, by its name, and one that anything here rests on.

    An exporter of somebody's databases or power supplies tells of nothing that is read.
    """
    if _INSTRUMENT.search(target.id) is None:
        return False
    return frame.recording.facts_of.get(target, {}).get("dialect") != "" and not _stands_elsewhere(target, frame)


def _stands_elsewhere(target: Subject, frame: Frame) -> bool:
    """Whether instruments of its kind stand at addresses of ours, and this one at another."""
    job, _, instance = target.id.rpartition("/")
    known = (one for scope in (Scope.REPLICA, Scope.GATEWAY) for one in frame.recording.subjects[scope])
    ours = {_host(one.id) for one in known if ":" in one.id}
    alike = (one.id.rpartition("/") for one in frame.subjects_of("target.up") if one.scope is Scope.TARGET)
    hosts = {_host(at) for kind, _, at in alike if kind == job}
    return bool(hosts & ours) and _host(instance) not in ours


def _host(address: str) -> str:
    """An address without its port."""
    return address.rpartition(":")[0] or address


def _is_flapping(failed: Bools) -> bool:
    """Whether scrapes fail time and again."""
    switches = int(np.count_nonzero(np.diff(failed.astype(int)) != 0))
    often = int(np.count_nonzero(failed)) >= _LEAST_FAILED
    return switches >= _LEAST_FAILED and often and _worst_third(failed) >= _FAILED_SHARE


def _worst_third(failed: Bools) -> float:
    """The share of failures in the worst third of the time."""
    return max(float(part.mean()) for part in np.array_split(failed, _THIRDS) if len(part))


def _one_process(frame: Frame, replica: Subject, times: Floats) -> bool:
    """Whether what answers again is what answered before: its start time stays, or it worked on meanwhile.

    :param times: of the scrapes that failed
    """
    for one in frame.recording.by_signal.get("process.start_time", ()):
        if one.subject == replica:
            return float(one.values.max() - one.values.min()) <= 1.5
    return works_on(frame, replica, times)


def _all_well(engines: list[Series], since: float, until: float) -> bool:
    """Whether scrapes of engines went on meanwhile."""
    parts = [one.values[(one.times >= since) & (one.times <= until)] for one in engines]
    return bool(parts) and all(len(part) and float((part > 0).mean()) > 1 - _FAILED_SHARE for part in parts)


# Wording and time


def _observation(
    of: str, subject: Subject, hole: Hole, text: str, attrs: dict[str, str], value: float | None = None
) -> Observation:
    """The failure of an instrument, from its last word on."""
    return Observation(
        sort="instrument",
        of=of,
        subject=subject,
        text=text,
        onset=(hole.since, min(hole.until, hole.since + 1.0) if hole.ends else hole.since + 1.0),
        end=hole.until if hole.ends else None,
        value=hole.seconds if value is None else value,
        unit="seconds" if value is None else "ratio",
        source="monitoring",
        attrs=attrs,
        salient=True,
    )


def _common(one: Hole, other: Hole) -> bool:
    """Whether two silences are about the same time."""
    shared = min(one.until, other.until) - max(one.since, other.since)
    return shared >= _SAME_TIME * max(one.seconds, other.seconds)


def _overlaps(hole: Hole, told: Observation) -> bool:
    """Whether a hole lies in one that is told already."""
    since, until = told.onset[0] if told.onset else hole.since, told.end or hole.until
    return min(hole.until, until) - max(hole.since, since) >= _SAME_TIME * hole.seconds


def _is_told(one: Observation, other: Observation) -> bool:
    """Whether the failed scrapes of a target are a silence that is told of its subject already."""
    if one.onset is None or other.onset is None:
        return False
    same = one.subject == other.subject and one.of == other.of
    exporter = one.subject.scope is Scope.TARGET and one.attrs.get("exporter", "").replace("-", "_").startswith(
        other.attrs.get("exporter", "?")
    )
    return (same or exporter) and abs(one.onset[0] - other.onset[0]) <= _LEAST_END

"""Moments of lives as single sources tell them: starts, ends, restarts, of anybody. One happening may be told many times."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Literal

import numpy as np

from triage.classes import dataclass
from triage.engine.frame import Frame
from triage.engine.witnesses.voices import SCRAPER
from triage.model.recording import LOG, Event, Series, Subject, told_of
from triage.model.vocabulary import Scope
from triage.patterns import Pattern

Turn = Literal["killed", "restarted", "ended", "vanished", "unready", "started", "ready", "appeared"]
"""What happened, the one that says most first: of several accounts of one end or one start the first of these counts."""


@dataclass(frozen=True, slots=True)
class Moment:
    """One turn of a life as one source tells it.

    :param after: it happened after this moment, Unix seconds
    :param by: and no later than this one
    :param family: family of sources
    :param attrs: ``actor``, ``reason``, ``planned`` and whatever else is told
    """

    turn: Turn
    subject: Subject
    after: float
    by: float
    text: str
    family: str
    attrs: Mapping[str, str] = field(default_factory=dict)


_STARTS = {
    "process.start_time": "engine metrics",
    "gateway.start_time": "gateway metrics",
    "node.boot_time": "host metrics",
}

_SLACK = 5.0
"""Clocks that are set move a start time that is computed from an age."""

_ONE_START = 10.0
"""Processes of one engine (ranks, front end) log their arguments within seconds."""

_LEAST_DOWN = 3
"""Scrapes of a component that fail in a row before it counts as down; single ones fail everywhere."""


def measured(frame: Frame) -> Iterator[Moment]:
    """Turns that metrics show."""
    for signal, family in _STARTS.items():
        for one in frame.recording.by_signal.get(signal, ()):
            yield from _starts(frame, one, family)
    for one in frame.recording.by_signal.get("pod.restarts_total", ()):
        yield from _restarts(one)
    for name, reason in (("pod.oom_killed", "memory"), ("pod.evicted", "evicted")):
        for one in frame.recording.by_signal.get(name, ()):
            for index in np.flatnonzero((one.values[1:] > 0) & (one.values[:-1] <= 0)):
                text = f"{one.subject} was {'ended for memory' if reason == 'memory' else 'evicted'}"
                yield _between(one, int(index), "killed", text, "cluster state", {"reason": reason, "planned": "no"})
    for signal in ("pod.ready", "node.ready"):
        for one in frame.recording.by_signal.get(signal, ()):
            yield from _readiness(one)
    yield from _lost(frame)
    yield from _comings_and_goings(frame)
    yield from _components(frame)


def _between(one: Series, index: int, turn: Turn, text: str, family: str, attrs: Mapping[str, str]) -> Moment:
    """A turn between a sample and the next."""
    return Moment(turn, one.subject, float(one.times[index]), float(one.times[index + 1]), text, family, attrs)


def _starts(frame: Frame, one: Series, family: str) -> Iterator[Moment]:
    """Starts of processes and hosts by the time that they themselves give."""
    first = float(one.values[0])
    if first > frame.recording.window.baseline_start:
        yield Moment("started", one.subject, first - 1.0, first, f"{one.subject} started", family)
    for index in np.flatnonzero(np.diff(one.values) > _SLACK):
        begun = float(min(max(one.values[index + 1], one.times[index]), one.times[index + 1]))
        yield Moment("restarted", one.subject, float(one.times[index]), begun, f"{one.subject} started anew", family)


def _restarts(one: Series) -> Iterator[Moment]:
    """Containers that were started again in their pod: nobody plans that."""
    for index in np.flatnonzero(np.diff(one.values) > 0):
        text = f"a container of {one.subject} was started again"
        yield _between(one, int(index), "restarted", text, "cluster state", {"planned": "no"})


def _readiness(one: Series) -> Iterator[Moment]:
    """Readiness that comes and goes."""
    for index in np.flatnonzero((one.values[1:] <= 0) & (one.values[:-1] > 0)):
        yield _between(one, int(index), "unready", f"{one.subject} is no longer ready", "cluster state", {})
    for index in np.flatnonzero((one.values[1:] > 0) & (one.values[:-1] <= 0)):
        yield _between(one, int(index), "ready", f"{one.subject} is ready", "cluster state", {})


def _lost(frame: Frame) -> Iterator[Moment]:
    """Replicas, cards and hosts that give no sign of life although they were there and others speak."""
    for signal in ("replica.lost", "gpu.lost", "node.lost"):
        for subject, cells in sorted(frame.of(signal).items()):
            for index in np.flatnonzero((cells[1:] > 0) & (cells[:-1] <= 0)) + 1:
                when = float(frame.grid.times[index])
                after = _last_word(frame, subject, when)
                yield Moment("ended", subject, after, when, f"{subject} gives no sign of life", "monitoring")


def _last_word(frame: Frame, subject: Subject, before: float) -> float:
    """When a source on the subject itself last spoke before a moment."""
    own = (
        "process.start_time",
        "batch.running",
        "tokens.generation",
        "gpu.power",
        "gpu.util",
        "node.cpu_busy_cores",
        "node.load1",
    )
    rows = [times for name in own if (times := frame.recording.times_of(name, subject)) is not None]
    last = [float(times[index - 1]) for times in rows if (index := int(np.searchsorted(times, before))) > 0]
    return max(last, default=before - frame.grid.step)


def _comings_and_goings(frame: Frame) -> Iterator[Moment]:
    """Replicas and hosts that begin or cease to be spoken of at all."""
    first: dict[Subject, float] = {}
    last: dict[Subject, float] = {}
    measured = (one for panels in frame.recording.panels.values() for one in panels if one.dialect not in (LOG, SCRAPER))
    for subjects, since, until in told_of(measured):
        for subject in (one for one in subjects if one.scope in (Scope.REPLICA, Scope.NODE)):
            first[subject] = min(first.get(subject, np.inf), since)
            last[subject] = max(last.get(subject, -np.inf), until)
    if not first:
        return
    begin, end = min(first.values()), max(last.values())
    late = 3.5 * frame.recording.step + _SLACK
    for subject in sorted(first):
        if first[subject] > begin + late:
            step = frame.recording.step
            yield Moment("appeared", subject, first[subject] - step, first[subject], f"{subject} appears", "monitoring")
        if last[subject] < end - late:
            until = last[subject] + frame.recording.step
            yield Moment("vanished", subject, last[subject], until, f"nobody speaks of {subject} any more", "monitoring")


def _components(frame: Frame) -> Iterator[Moment]:
    """Other targets (routers, operators, guards, exporters) that go down and come back, as their scrapes tell."""
    for one in frame.recording.by_signal.get("target.up", ()):
        if one.subject.scope is not Scope.TARGET:
            continue
        down = one.values <= 0
        edges = np.flatnonzero(np.diff(np.concatenate(([False], down, [False])).astype(int)) != 0)
        for begin, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
            if end - begin < _LEAST_DOWN or begin == 0:
                continue
            text = f"{one.subject.id} does not answer"
            yield Moment("ended", one.subject, float(one.times[begin - 1]), float(one.times[begin]), text, "monitoring")
            if end < len(down):
                after, by = float(one.times[end - 1]), float(one.times[end])
                yield Moment("started", one.subject, after, by, f"{one.subject.id} answers again", "monitoring")


# What events tell


_REASONS: dict[str, tuple[Turn, str, str]] = {
    "Killing": ("killed", "kubelet", ""),
    "OOMKilling": ("killed", "kernel", "memory"),
    "Evicted": ("killed", "kubelet", "evicted"),
    "Preempted": ("killed", "scheduler", "preempted"),
    "TaintManagerEviction": ("killed", "controller", "taint"),
    "SuccessfulDelete": ("ended", "controller", ""),
    "NodeNotReady": ("unready", "", ""),
    "NodeReady": ("ready", "", ""),
    "Rebooted": ("restarted", "", "reboot"),
    "Started": ("started", "kubelet", ""),
    "BackOff": ("ended", "", "back-off"),
    "FailedCreatePodSandBox": ("unready", "", "sandbox"),
}
"""Reasons of Kubernetes events: what happened, by whom, why. They are an API, and the same in every cluster."""

_PROBE = Pattern(r"(?i)fail\w* (\w+) probe|(\w+) probe fail")
_CRASH = Pattern(r"(?i)restarting failed container|crash")
_THROWN_OUT = Pattern(r"(?i)\bdrain\w*|\bevicted by\b")
"""An eviction that somebody asked for; the kubelet's own names the resource that was low."""

_BY = Pattern(r"(?i)\bby ([\w./-]*\w)")

_FOR_MEMORY = frozenset({"host-oom-kill", "container-oom-killed"})
"""Signatures of lines that say that memory was why."""

_ENDING = frozenset({"kill", "terminate", "stop", "delete", "evict", "drain", "preempt", "remove", "shutdown", "shut down"})
_STARTING = frozenset({"start", "launch", "spawn", "create"})
_RESTARTING = frozenset({"restart", "reboot", "recreate", "reload", "reset"})


def reported(frame: Frame) -> Iterator[Moment]:
    """Turns that events of clusters and lines of logs tell."""
    for event in frame.recording.events_of("kube"):
        yield from _of_kube(event)
    yield from _of_engine_logs(frame.recording.events_of("engine-args"))
    for event in frame.recording.events_of("said"):
        yield from _of_said(event, frame)


def _of_engine_logs(starts: Sequence[Event]) -> Iterator[Moment]:
    """Starts that engines log; a second one means that the first had ended."""
    last: dict[Subject, float] = {}
    for event in starts:
        if event.subject is None:
            continue
        again = event.time - last.get(event.subject, event.time) > _ONE_START
        last[event.subject] = event.time
        words = "started again" if again else "started"
        turn: Turn = "restarted" if again else "started"
        yield Moment(turn, event.subject, event.time - 1.0, event.time, f"{event.subject} {words}", "engine log")


def _of_kube(event: Event) -> Iterator[Moment]:
    """What a Kubernetes event says of the life of its object."""
    known = _REASONS.get(event.name)
    if known is None or event.subject is None:
        return
    turn, actor, reason = known
    message = event.attrs.get("message", event.text)
    if event.name == "BackOff" and not _CRASH.search(message):
        return
    attrs = {"actor": actor, "reason": reason, "event": event.name}
    if (probe := _PROBE.search(message)) is not None:
        attrs |= {"actor": "probe", "reason": f"{(probe.group(1) or probe.group(2)).lower()} probe", "planned": "no"}
    elif event.name == "Evicted" and (event.attrs.get("type") == "Normal" or _THROWN_OUT.search(message) is not None):
        who = _BY.search(message)
        attrs |= {"actor": who.group(1) if who is not None else "", "reason": "drained"}
    elif event.name in ("OOMKilling", "Evicted", "Preempted", "BackOff"):
        attrs["planned"] = "no"
    elif event.name == "SuccessfulDelete":
        attrs["planned"] = "yes"
    yield Moment(turn, event.subject, event.time - 1.0, event.time, event.text, "cluster events", attrs)


def _of_said(event: Event, frame: Frame) -> Iterator[Moment]:
    """What a line says of somebody's life: of whom it speaks, else of whoever wrote it."""
    told = event.attrs
    subject = event.subject or Subject(Scope.SERVICE, frame.recording.service)
    family = f"{told.get('emitter', 'other')} log"
    attrs = {key: told[key] for key in ("actor", "signal", "target", "emitter") if told.get(key)}
    if event.name == "killed":
        for_memory = bool(_FOR_MEMORY & set(told.get("signature", "").split()))
        attrs |= {"actor": told.get("by", told.get("actor", "")), "reason": "memory" if for_memory else told.get("signal", "")}
        yield Moment("killed", subject, event.time - 1.0, event.time, event.text, family, attrs)
        return
    if event.name != "acted":
        return
    verb = told.get("verb", "").lower()
    turn: Turn | None = (
        "restarted" if verb in _RESTARTING else "killed" if verb in _ENDING else "started" if verb in _STARTING else None
    )
    if turn is not None:
        yield Moment(turn, subject, event.time - 1.0, event.time, event.text, family, {**attrs, "reason": verb})

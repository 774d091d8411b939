"""Changes: everyone's, what the changed thing is to the service, what steps with it, and whether taking it back helps."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace

import numpy as np

from triage.classes import dataclass
from triage.engine.derived.arithmetic import total
from triage.engine.derived.fleet import versions
from triage.engine.frame import Frame
from triage.engine.relations import CARRIES, FRONT, OWN, changed_thing, relation, relation_of
from triage.engine.statistics import mean_cells
from triage.model.arrays import median, quantile_of
from triage.model.observation import Judged, Observation, Seen
from triage.model.recording import CHANGE_KINDS, Event, Floats, SourceState, Subject
from triage.model.vocabulary import Kind, Scope, catalogue

_LAG = 300.0
"""What a change does it does within minutes: caches that expire, connections that are made anew."""

_EARLIER = 60.0
"""Clocks of change logs are not those of scrapes."""

_BEFORE = 600.0
"""Chosen: what was usual is taken over as long as a change may take."""

_SAME_CHANGE = 600.0
"""A roll-out is told by a list of changes, by the cluster and by the engines that start: within so many seconds it is one."""

_ROLL = 1800.0
"""Seconds for which replicas of one roll-out may get their setting or image one after the other (as ``_CHANGE_LASTS`` of
lives)."""

_STEP = 1.5
"""A mean latency that grows by half with a change is a step of it."""

_LEAST_SHARE, _SHARE_STEP = 0.02, 3.0
"""Failures: from one request in fifty on, and three times as many as before."""

_QUALITY_STEP = 0.05
"""As ``_POINTS`` of triage/engine/promises/quality.py: what a golden set can tell apart."""

_BACK = 0.35
"""A step is taken back if no more than this part of it is left."""

_LEAST_CELLS = 2
"""A mean of one cell is that cell's blip."""

_ORDINARY = 0.9
"""A latency that steps lies mostly above nine tenths of what it was before; one that is only noisy does not."""

_NEAR = (OWN, CARRIES, FRONT)
"""Whose changes reach a service whoever calls it. Others change often, and with noise alone something moves with many of them."""

_FAILURES: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (("gateway.5xx", "gateway.4xx", "gateway.resets", "gateway.no_backend", "gateway.timeouts"), ("gateway.requests",)),
    (("backend.failures",), ("backend.requests",)),
    (("gateway.upstream_5xx",), ("gateway.upstream_requests",)),
    (("http.5xx", "http.4xx"), ("http.requests",)),
    (("requests.failed", "requests.timeouts"), ("requests.attempts",)),
    (("finished.error", "finished.abort", "admission.rejected"), ("finished",)),
)
"""Counts of what did not get its answer, whoever refused whom, and what they are a part of."""

_LATENCIES = ("latency.ttft", "latency.itl", "latency.e2e", "gateway.latency", "client.latency", "client.ttft")
_QUALITY = ("quality.score", "quality.replica")


@dataclass(frozen=True)
class _Change:
    """One change.

    :param of: its kind: ``deploy``, ``config`` …, ``settings`` (arguments of an engine), ``image`` (another one without a note)
    :param thing: what was changed
    """

    time: float
    of: str
    thing: str
    text: str
    relation: str
    subject: Subject
    source: str
    attrs: dict[str, str] = field(default_factory=dict)


def changes(frame: Frame) -> Seen:
    """All changes, in order of time, each with its effect and whether the next one takes that back."""
    every = list(_as_one(sorted(_all(frame), key=lambda one: (one.time, one.source, one.of, one.thing, one.text))))
    curves = list(_curves(frame))
    odd = [_observation(one, every, curves, frame) for one in every]
    return Seen(tuple(odd), _judged(frame))


def _judged(frame: Frame) -> frozenset[Judged]:
    """Kinds of changes that would be known."""
    judged: set[Judged] = set()
    if any(one.name == "changes" and one.state in (SourceState.OK, SourceState.PARTIAL) for one in frame.recording.sources):
        judged |= {("change", kind, Scope.SERVICE) for kind in CHANGE_KINDS}
    if any(event.kind == "engine-args" for event in frame.recording.events):
        judged.add(("change", "settings", Scope.REPLICA))
    if versions(frame):
        judged.add(("change", "image", Scope.SERVICE))
    return frozenset(judged)


# All changes


def _all(frame: Frame) -> Iterator[_Change]:
    """Changes as every source tells them."""
    for event in frame.recording.events:
        if event.kind in CHANGE_KINDS:
            yield _listed(event, frame)
        elif event.kind == "kube" and event.name in ("ScalingReplicaSet", "SuccessfulRescale", "NodeNotSchedulable"):
            yield _of_cluster(event, frame)
        elif event.kind == "engine-args" and event.attrs.get("changed") and event.subject is not None:
            text = f"{event.subject} was started with other settings: {event.attrs['changed']}"
            attrs = {"changed": event.attrs["changed"]}
            yield _Change(event.time, "settings", event.subject.id, text, OWN, event.subject, "engine log", attrs)
        elif event.kind == "log" and event.name in ("package-upgraded", "daemon-reload"):
            subject = event.subject or Subject(Scope.SERVICE, frame.recording.service)
            yield _Change(event.time, "upgrade", subject.id, event.text, CARRIES, subject, "host log", {"event": event.name})
        elif event.kind == "said" and event.name == "acted" and event.attrs.get("verb", "").lower() in _VERBS:
            yield _acted(event, frame)
    yield from _generations(frame)
    yield from _images(frame)


_VERBS = {
    "set": "config",
    "apply": "config",
    "patch": "config",
    "update": "config",
    "reload": "config",
    "configure": "config",
    "enable": "config",
    "disable": "config",
    "scale": "scale",
    "resize": "scale",
    "roll back": "rollback",
    "rollback": "rollback",
    "revert": "rollback",
    "deploy": "deploy",
    "promote": "deploy",
    "upgrade": "upgrade",
    "install": "upgrade",
    "cordon": "drain",
    "drain": "drain",
}
"""Verbs of those who act, by the kind of change that each is."""


def _listed(event: Event, frame: Frame) -> _Change:
    """A change that somebody wrote down."""
    thing = changed_thing(event)
    what = relation_of(event, frame)
    if event.kind == "drain" and what != OWN:
        what = CARRIES
    subject = event.subject or Subject(Scope.SERVICE, thing or frame.recording.service)
    attrs = {
        key: value for key, value in event.attrs.items() if key in ("version", "previous", "replicas", "stage", "by", "actor")
    }
    text = event.text or f"{event.kind} {thing} {event.name}".strip()
    if event.kind == "config":
        attrs["changed"] = text
    return _Change(event.time, event.kind, thing or frame.recording.service, text, what, subject, "changes", attrs)


def _of_cluster(event: Event, frame: Frame) -> _Change:
    """A change that the cluster reports: another size, a new ReplicaSet, a host that takes no more pods."""
    thing = event.attrs.get("object", "")
    subject = event.subject or Subject(Scope.SERVICE, frame.recording.service)
    of = "drain" if event.name == "NodeNotSchedulable" else "scale"
    what = relation((thing, event.attrs.get("service", "")), event.text, subject, frame)
    return _Change(event.time, of, thing, event.text, what, subject, "cluster events", {"event": event.name})


def _acted(event: Event, frame: Frame) -> _Change:
    """What somebody says that he did."""
    thing, actor = event.attrs.get("target", ""), event.attrs.get("actor", "")
    subject = event.subject or Subject(Scope.SERVICE, frame.recording.service)
    what = relation((thing,), event.text, subject, frame)
    of = _VERBS[event.attrs["verb"].lower()]
    return _Change(event.time, of, thing or subject.id, event.text, what, subject, "logs", {"actor": actor} if actor else {})


def _generations(frame: Frame) -> Iterator[_Change]:
    """Roll-outs by their generation, which the cluster counts up with each change of a workload's template."""
    for one in frame.recording.by_signal.get("rollout.generation", ()):
        for index in np.flatnonzero(np.diff(one.values) > 0):
            text = f"{one.subject.id} was rolled out anew (generation {one.values[index + 1]:.0f})"
            yield _Change(float(one.times[index + 1]), "rollout", one.subject.id, text, OWN, one.subject, "cluster state")


def _images(frame: Frame) -> Iterator[_Change]:
    """The start of the first pod with another image than the others have."""
    groups = versions(frame)
    if len(groups) < 2:
        return
    begun = [start for replica in groups[-1] if (start := _start(frame, replica)) is not None]
    if begun and min(begun) > frame.recording.window.baseline_start:
        service = Subject(Scope.SERVICE, frame.recording.service)
        text = f"{len(groups[-1])} replicas run another image or version than the others"
        attrs = {"replicas": ", ".join(one.id for one in groups[-1][:4])}
        yield _Change(min(begun), "image", service.id, text, OWN, service, "pods", attrs)


def _start(frame: Frame, replica: Subject) -> float | None:
    """When a replica's process or pod began, by the earlier of both."""
    told = [cells for name in ("process.start_time", "pod.created") if (cells := frame.cells(name, replica)) is not None]
    starts = [float(np.nanmin(cells)) for cells in told if not np.isnan(cells).all()]
    return min(starts, default=None)


def _as_one(ordered: Iterable[_Change]) -> Iterator[_Change]:
    """Changes of one thing that several sources tell at about the same time, as one; what was written down says most."""
    kept: list[_Change] = []
    for one in ordered:
        index = next((i for i, other in enumerate(kept) if _is_the_same(other, one)), None)
        if index is None:
            kept.append(one)
            continue
        other = kept[index]
        best, rest = (one, other) if one.source == "changes" and other.source != "changes" else (other, one)
        sources = ", ".join(dict.fromkeys(f"{other.attrs.get('sources', other.source)}, {one.source}".split(", ")))
        attrs = {**rest.attrs, **best.attrs, "sources": sources}
        kept[index] = replace(best, attrs=attrs, time=min(best.time, rest.time) if best.source != "changes" else best.time)
    yield from kept


def _is_the_same(one: _Change, other: _Change) -> bool:
    """Whether two accounts tell of one change."""
    if one.relation != other.relation:
        return False
    if (one.of, one.thing, one.source) == (other.of, other.thing, other.source) and one.source != "changes":
        return abs(other.time - one.time) <= _EARLIER and one.of != "scale"
    if other.of != "settings" and other.source in one.attrs.get("sources", one.source).split(", "):
        return False
    near = abs(other.time - one.time) <= (_ROLL if other.of in ("settings", "image") else _SAME_CHANGE)
    own = one.relation == OWN and not {"settings"} >= {one.of, other.of}
    return near and (own or one.thing == other.thing)


# Effects


@dataclass(frozen=True)
class _Curve:
    """What a change may move: cells, and how they step.

    :param effect: ``failures``, ``latency`` or ``quality``
    """

    effect: str
    name: str
    cells: Floats

    def worse(self, before: float, after: float) -> bool:
        """Whether it steps for the worse."""
        if self.effect == "failures":
            return after >= _LEAST_SHARE and after >= _SHARE_STEP * before
        if self.effect == "quality":
            return after <= before - _QUALITY_STEP
        return before > 0 and after >= _STEP * before


def _curves(frame: Frame) -> Iterator[_Curve]:
    """Failures, latencies and quality of the service."""
    for lost, asked in _FAILURES:
        whole = total(frame, *asked)
        rows = [cells for name in lost if (cells := total(frame, name)) is not None]
        if whole is None or not rows:
            continue
        part = np.nansum(np.stack(rows), axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            yield _Curve("failures", lost[0], np.where(whole > 0, np.clip(part / whole, 0.0, 1.0), np.nan))
    for name in _LATENCIES:
        subjects = list(frame.histograms(name))
        cells = mean_cells(frame, name, subjects) if subjects else None
        if cells is not None:
            yield _Curve("latency", name, cells)
    for name in _QUALITY:
        if name in catalogue() and catalogue()[name].kind is not Kind.DISTRIBUTION:
            for subject, cells in sorted(frame.of(name).items()):
                yield _Curve("quality", f"{name} of {subject}", cells)


def _known(curve: _Curve, frame: Frame, since: float, until: float) -> Floats:
    """What is known of a curve between two moments."""
    values = curve.cells[(frame.grid.times > since) & (frame.grid.times <= until)]
    known: Floats = values[~np.isnan(values)]
    return known


def _level(curve: _Curve, frame: Frame, since: float, until: float) -> float | None:
    """The mean of a curve between two moments; None if it is known in hardly any cell."""
    known = _known(curve, frame, since, until)
    return float(known.mean()) if len(known) >= _LEAST_CELLS else None


def _observation(one: _Change, every: Sequence[_Change], curves: Sequence[_Curve], frame: Frame) -> Observation:
    """A change with what follows on it."""
    following = next((other for other in every if other.time > one.time + frame.grid.step and _takes_back(other, one)), None)
    until = following.time if following is not None else frame.recording.window.end
    stepped = [curve for curve in curves if _steps(curve, one.time, until, frame)]
    effects = sorted({curve.effect for curve in stepped}) + (["restarts"] if _restarts(one, frame) else [])
    lag = _lag(one, stepped, frame)
    back = following is not None and any(_goes_back(curve, one.time, following.time, frame) for curve in stepped)
    attrs = {
        **one.attrs,
        "relation": one.relation,
        "thing": one.thing,
        "effect": " ".join(effects) or "none",
        "reversal": "yes" if back else "no" if following is not None and stepped else "unknown",
        "moved": ", ".join(curve.name for curve in stepped),
    }
    if lag is not None:
        attrs["lag"] = f"{lag:.0f}"
    return Observation(
        sort="change",
        of=one.of,
        subject=one.subject,
        text=one.text,
        onset=(one.time, one.time),
        end=following.time if following is not None and following.of == "rollback" else None,
        value=lag,
        unit="seconds" if lag is not None else "",
        source=one.source,
        attrs={key: value for key, value in attrs.items() if value},
        salient=_is_asked_about(one, stepped),
    )


def _is_asked_about(one: _Change, stepped: Sequence[_Curve]) -> bool:
    """Whether what steps with a change has to be explained: failures and quality always, slower answers if it was near us."""
    return any(curve.effect != "latency" or one.relation in _NEAR for curve in stepped)


def _takes_back(later: _Change, earlier: _Change) -> bool:
    """Whether a later change may undo an earlier one: it is to the same thing, or goes back to the version before."""
    if later.thing == earlier.thing:
        return True
    previous = earlier.attrs.get("previous", "")
    return later.of == "rollback" and (
        later.relation == earlier.relation or (bool(previous) and previous == later.attrs.get("version"))
    )


def _steps(curve: _Curve, when: float, until: float, frame: Frame) -> bool:
    """Whether a curve steps for the worse shortly after a moment and was well until then."""
    end = min(when + _LAG + frame.grid.step, until)
    since = max(end - 2 * _LAG / 3, when)
    before = _level(curve, frame, when - _BEFORE, when - _EARLIER / 2)
    shortly = _level(curve, frame, when - _BEFORE / 3, when - _EARLIER / 2)
    after = _level(curve, frame, since, end)
    if before is None or after is None:
        return False
    calm = shortly is None or not curve.worse(before, shortly)
    usual = max(before, shortly or before) if curve.effect != "quality" else before
    return calm and curve.worse(usual, after) and _is_beyond_noise(curve, frame, when, since, end)


def _is_beyond_noise(curve: _Curve, frame: Frame, when: float, since: float, end: float) -> bool:
    """Whether most of a latency after a moment lies above nearly all that was before; of the rest few values say enough."""
    if curve.effect != "latency":
        return True
    before = _known(curve, frame, when - _BEFORE, when - _EARLIER / 2)
    return median(_known(curve, frame, since, end)) > float(quantile_of(before, _ORDINARY))


def _goes_back(curve: _Curve, when: float, undone: float, frame: Frame) -> bool:
    """Whether a curve that stepped with a change steps back with the one that undoes it."""
    before = _level(curve, frame, when - _BEFORE, when - _EARLIER / 2)
    between = _level(curve, frame, max(when + _EARLIER / 2, undone - _LAG), undone)
    after = _level(curve, frame, undone + _EARLIER, undone + _BEFORE)
    if before is None or between is None or after is None:
        return False
    return abs(after - before) <= _BACK * abs(between - before)


def _lag(one: _Change, stepped: Sequence[_Curve], frame: Frame) -> float | None:
    """Seconds from a change to the first cell beyond the middle of a step; None without a step."""
    found: list[float] = []
    for curve in stepped:
        before = _level(curve, frame, one.time - _BEFORE, one.time - _EARLIER / 2)
        if before is None:
            continue
        inside = (frame.grid.times > one.time - _EARLIER) & (frame.grid.times <= one.time + _LAG + frame.grid.step)
        moments = [t for t, v in zip(frame.grid.times[inside], curve.cells[inside], strict=True) if curve.worse(before, float(v))]
        if moments:
            found.append(float(moments[0]) - one.time)
    return max(min(found), 0.0) if found else None


def _restarts(one: _Change, frame: Frame) -> bool:
    """Whether somebody ends unplanned, or is killed, within a change's lag."""
    return any(
        life.sort == "life"
        and life.attrs.get("planned") == "no"
        and "stranger" not in life.attrs
        and life.since is not None
        and one.time - _EARLIER <= life.since <= one.time + _LAG
        for life in frame.seen.odd
    )

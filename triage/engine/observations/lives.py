"""Lives: who started, ended, was killed or restarted, by whom and whether that was planned; each happening once."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from math import inf

import numpy as np

from triage.engine.derived.scaling import asks_for_more, was_surplus
from triage.engine.frame import Frame
from triage.engine.observations.moments import Moment, Turn, measured, reported
from triage.model.observation import Judged, Observation, Seen
from triage.model.recording import CHANGE_KINDS, Event, SourceState, Subject
from triage.model.vocabulary import Scope
from triage.patterns import Pattern

_ENDS: tuple[Turn, ...] = ("killed", "restarted", "ended", "vanished", "unready")
_BEGINS: tuple[Turn, ...] = ("started", "appeared")
_READY: tuple[Turn, ...] = ("ready",)

_SAME = 120.0
"""Accounts of one end lie so many seconds apart: a scrape or two, a grace period, clocks that differ."""

_BACK = 300.0
"""An end and a start of the same replica within this are a restart: loading takes longer than dying."""

_FLAPS = 3
"""Who ends so many times in one window flaps."""

_CHANGE_LASTS = 1800.0
"""A roll-out or drain ends replicas one after the other for about so long."""

_EARLIER = 60.0
"""Clocks of change logs are not those of scrapes."""

_PLANS = CHANGE_KINDS - {"failover", "change"}
_IN_PLACE = frozenset({"restart", "config", "upgrade", "deploy", "rollback", "rollout"})


def lives(frame: Frame) -> Seen:
    """The turns of every life in the recording."""
    service = frame.recording.service
    by_subject: dict[Subject, list[Moment]] = {}
    for moment in (*measured(frame), *reported(frame)):
        by_subject.setdefault(moment.subject, []).append(moment)
    for moment in [*_taken_by_the_host(by_subject, frame)]:
        by_subject[moment.subject].append(moment)
    happened = [_observation(group, frame) for subject in sorted(by_subject) for group in _happenings(by_subject[subject])]
    found = groupby(_gone_on(happened), key=lambda one: one.subject)
    odd = [one for _, its in found for one in _flapping(list(its), frame)]
    kept = (one for one in odd if one.since is None or one.since >= frame.recording.window.start - _CHANGE_LASTS)
    own = [_as_a_strangers(one) if _is_strangers(one.subject, service) else one for one in kept]
    judged = _judged(frame)
    return Seen(tuple(_as_a_strangers(one) if _spares_ours(one, own, judged) else one for one in own), judged)


def _taken_by_the_host(by_subject: Mapping[Subject, Sequence[Moment]], frame: Frame) -> Iterator[Moment]:
    """A host that kills for want of memory as a replica on it ends has killed that replica, unless another hand did."""
    for host in [one for one in by_subject if one.scope is Scope.NODE]:
        kills = [one for one in by_subject[host] if one.turn == "killed" and one.attrs.get("reason") == "memory"]
        for replica in frame.related(host, Scope.REPLICA) if kills else []:
            ends = [one for one in by_subject.get(replica, ()) if one.turn in _ENDS]
            if any(one.attrs.get("actor") for one in ends):
                continue
            for kill in kills:
                if any(one.after - _SAME <= kill.by <= one.by + _SAME for one in ends):
                    yield replace(kill, subject=replica, attrs={**kill.attrs, "planned": "no"})


def _judged(frame: Frame) -> frozenset[Judged]:
    """Whose lives could be followed."""
    judged: set[Judged] = set()
    asked = {
        "restarted": ("process.start_time", "pod.restarts_total", "gateway.start_time", "node.boot_time"),
        "unready": ("pod.ready", "node.ready"),
        "ended": ("replica.lost", "gpu.lost", "node.lost"),
    }
    for of, signals in asked.items():
        for signal in signals:
            for subject in frame.of(signal):
                judged.add(("life", of, subject.scope))
                if of == "restarted":
                    judged.add(("life", "flapping", subject.scope))
    seen = {source.name for source in frame.recording.sources if source.state is SourceState.OK}
    if "log:kube-events" in seen:
        judged.add(("life", "killed", Scope.REPLICA))
    return frozenset(judged)


# One happening, many accounts


def _happenings(moments: Iterable[Moment]) -> Iterator[list[Moment]]:
    """Accounts of one subject grouped by the happening that they tell of, in order of time."""
    ordered = sorted(moments, key=lambda one: (one.by, one.after, one.turn, one.text))
    for turns in (_ENDS, _BEGINS, _READY):
        group: list[Moment] = []
        for one in (moment for moment in ordered if moment.turn in turns or (turns is _ENDS and moment.turn == "started")):
            if group and not _belongs(one, group):
                yield from _if_told(group, turns)
                group = []
            group.append(one)
        yield from _if_told(group, turns)


def _belongs(one: Moment, group: Sequence[Moment]) -> bool:
    """Whether an account is about the same happening as those before it."""
    last = group[-1]
    if one.turn == "started" and last.turn != "started":
        return one.by - last.by <= _BACK
    if last.turn == "started" and one.turn != "started":
        return one.after <= last.by + _EARLIER
    return one.after - last.by <= _SAME


def _if_told(group: list[Moment], turns: tuple[Turn, ...]) -> Iterator[list[Moment]]:
    """A group if it is one of those turns: a start alone is no end."""
    if any(one.turn in turns for one in group):
        yield group


def _observation(group: Sequence[Moment], frame: Frame) -> Observation:
    """One happening from all its accounts."""
    order = (*_ENDS, *_BEGINS, *_READY)
    best = min(group, key=lambda one: (order.index(one.turn), one.by))
    ends = best.turn in _ENDS
    begun = ends and any(one.turn == "started" for one in group)
    turn: Turn = "restarted" if begun and best.turn in ("ended", "vanished", "unready") else best.turn
    first = min((one for one in group if (one.turn in _ENDS) == ends), key=lambda one: one.by)
    attrs: dict[str, str] = {}
    for one in sorted(group, key=lambda one: order.index(one.turn)):
        for key, value in one.attrs.items():
            if value:
                attrs.setdefault(key, value)
    families = tuple(dict.fromkeys(one.family for one in group))
    attrs["sources"] = ", ".join(families)
    if begun or best.turn == "restarted":
        attrs["back"] = "yes"
    if ends:
        told = attrs.get("planned", "")
        by_itself = told == "no" and not attrs.get("reason")  # a container that is started again, unless somebody asked for it
        plan = _planned(best, first.by, frame) if not told or by_itself else told
        attrs["planned"] = told if by_itself and plan != "yes" else plan
    return Observation(
        sort="life",
        of=turn,
        subject=best.subject,
        text=_words(best, attrs) if ends else best.text,
        onset=(first.after, first.by),
        end=max(first.after, *(one.by for one in group if one.turn == "started")) if begun else None,  # clocks differ
        direction="worse" if ends else "better",
        support=len(group),
        source=families[0],
        attrs=attrs,
        salient=ends and attrs["planned"] == "no" and first.by >= frame.recording.window.start - _SAME,
    )


def _words(best: Moment, attrs: dict[str, str]) -> str:
    """What happened in words, with who did it."""
    why = " ".join(attrs[key] for key in ("actor", "reason") if attrs.get(key))
    return best.text if not why or why in best.text else f"{best.text} ({why})"


# On purpose or not


def _planned(best: Moment, when: float, frame: Frame) -> str:
    """Whether somebody wanted an end: yes, no or unknown.

    Yes if a change to the service, a scale-in or a drain of its host comes shortly before. No if a cluster that lists changes
    knows of none.
    """
    if any(_explains(event, best, when, frame) for event in frame.recording.events if event.kind in (*_PLANS, "kube")):
        return "yes"
    if any(_is_meant(event, best.subject, when) for event in frame.recording.events):
        return "yes"
    if _fewer_are_wanted(frame, when) or was_surplus(frame, best.subject, when) or _is_rolled(frame, when):
        return "yes"
    if best.turn in ("restarted", "ended", "killed", "unready") and best.subject.scope in (
        Scope.REPLICA,
        Scope.GATEWAY,
        Scope.NODE,
    ):
        return "no" if _would_be_known(frame) else "unknown"
    return "unknown"


def _gone_on(happened: list[Observation]) -> list[Observation]:
    """The same, with ends planned that go on with what a plan began.

    How long a roll-out takes depends on how long replicas load: while the next one ends as the last one did, by the same hand,
    and not long after, it is still the same roll-out.
    """
    ends = sorted((one for one in happened if one.of in _ENDS and one.onset), key=lambda one: one.since or 0.0)
    last: dict[tuple[str, str, Scope], float] = {}
    meant: set[int] = set()
    for one in ends:
        key, when = (one.of, one.attrs.get("actor", ""), one.subject.scope), one.since or 0.0
        goes_on = one.attrs["planned"] == "no" and key[1] and when - last.get(key, -inf) <= _STEP_LASTS
        if one.attrs["planned"] == "yes" or goes_on:
            last[key] = when
        if goes_on:
            meant.add(id(one))
    return [replace(one, attrs={**one.attrs, "planned": "yes"}, salient=False) if id(one) in meant else one for one in happened]


_STEP_LASTS = 600.0
"""Chosen: from one step of a roll-out to the next a replica loads its weights, which takes some minutes."""


def _explains(event: Event, best: Moment, when: float, frame: Frame) -> bool:
    """Whether an event is the plan behind an end."""
    lag = when - event.time
    if not -_EARLIER <= lag <= _CHANGE_LASTS:
        return False
    if event.kind == "kube":
        scaled = event.name in ("ScalingReplicaSet", "SuccessfulRescale") and "up" not in event.attrs.get("message", "").split()
        cordoned = event.name == "NodeNotSchedulable"
        return (scaled and lag <= _BACK) or (cordoned and _is_on(frame, best.subject, event.subject))
    told = event.attrs.get("service", frame.recording.service)
    if (best.turn == "restarted" and event.kind not in _IN_PLACE) or asks_for_more(event):
        return False
    own = told == frame.recording.service or event.subject == best.subject
    return own or event.kind in ("drain", "restart", "upgrade") or told == best.subject.id


def _is_meant(event: Event, subject: Subject, when: float) -> bool:
    """Whether a plan names somebody, or the host in his address: an entry in the list of changes, or a gateway that drains him.

    What an entry calls what was done (maintenance, reboot, patching) is anybody's word; whom it was done to is not.
    """
    if not -_EARLIER <= when - event.time <= _CHANGE_LASTS:
        return False
    listed = event.source == "changes" and event.kind not in CHANGE_KINDS
    if listed:
        said = (event.attrs.get("service", ""), event.attrs.get("version", ""), event.text)
        return any(_is_called(word, subject) for words in said for word in _NAMES.findall(words))
    told = event.attrs if event.kind == "said" and event.name in ("acted", "state") else {}
    drains = any(_DRAINS.search(told.get(key, "")) for key in ("verb", "value"))
    return drains and any(_is_called(told.get(key, "").rpartition("/")[2], subject) for key in ("what", "target"))


_NAMES = Pattern(r"[A-Za-z0-9][\w.:-]*[A-Za-z0-9]")
_DRAINS = Pattern(r"(?i)^drain(?:s|ed|ing)?$")


def _is_called(name: str, subject: Subject) -> bool:
    """Whether a name is somebody's, or that of the host in his address (``node2`` of ``node2.lan:8000``)."""
    host = subject.id.partition(":")[0]
    return bool(name) and name in (subject.id, host, "" if host.replace(".", "").isdigit() else host.partition(".")[0])


def _is_on(frame: Frame, subject: Subject, host: Subject | None) -> bool:
    """Whether somebody is on a host, or is it."""
    return host is not None and (subject == host or host in frame.related(subject, Scope.NODE))


def _fewer_are_wanted(frame: Frame, when: float) -> bool:
    """Whether the wanted number of replicas falls about then."""
    near = np.abs(frame.grid.times - when) <= _BACK
    for name in ("replicas.desired", "autoscaler.desired"):
        for cells in frame.of(name).values():
            values = cells[near]
            known = values[~np.isnan(values)]
            if len(known) > 1 and known.min() < known[0]:
                return True
    return False


def _is_rolled(frame: Frame, when: float) -> bool:
    """Whether the cluster rolls out a new generation about then."""
    near = (frame.grid.times >= when - _CHANGE_LASTS) & (frame.grid.times <= when + _EARLIER)
    for cells in frame.of("rollout.generation").values():
        known = cells[near & ~np.isnan(cells)]
        if len(known) > 1 and known[-1] > known[0]:
            return True
    return False


def _would_be_known(frame: Frame) -> bool:
    """Whether a list of changes was read, so that what is not on it was not planned."""
    states = {source.name: source.state for source in frame.recording.sources}
    return states.get("changes") in (SourceState.OK, SourceState.PARTIAL)


# Many of them, and others'


def _flapping(found: list[Observation], frame: Frame) -> list[Observation]:
    """Ends of one subject, and if there are many in the window, that it flaps; then that is what has to be explained."""
    ends = [
        one
        for one in found
        if one.of in _ENDS and one.attrs.get("planned") != "yes" and (one.since or 0.0) >= frame.recording.window.start - _SAME
    ]
    if len(ends) < _FLAPS:
        return found
    first, last = ends[0], ends[-1]
    kinds = Counter(one.of for one in ends).most_common(1)[0][0]
    actors = {one.attrs.get(key, "") for one in ends for key in ("actor", "reason")} - {""}
    attrs = {**first.attrs, "turn": kinds, "why": ", ".join(sorted(actors))}
    text = f"{first.subject} ended {len(ends)} times ({kinds}): {last.text}"
    flaps = replace(
        first, of="flapping", text=text, end=None, size=float(len(ends)), support=len(ends), attrs=attrs, salient=True
    )
    return [flaps, *(replace(one, salient=False) for one in found)]


def _is_strangers(subject: Subject, service: str) -> bool:
    """Whether somebody belongs to another service."""
    return subject.scope is Scope.SERVICE and subject.id != service


def _spares_ours(one: Observation, all_lives: Sequence[Observation], judged: Collection[Judged]) -> bool:
    """Whether a process was ended on a host, and no replica of ours ended by it, whose lives are followed.

    One that ended by a plan, by another hand, did not end by that.
    """
    if one.of not in ("killed", "flapping") or one.subject.scope is not Scope.NODE or one.attrs.get("turn", "killed") != "killed":
        return False
    followed = any(("life", of, Scope.REPLICA) in judged for of in ("ended", "restarted"))
    ends = (
        other
        for other in all_lives
        if other.subject.scope is Scope.REPLICA and other.of in (*_ENDS, "flapping") and not _is_anothers_plan(other, one)
    )
    first, last = one.since or 0.0, (one.since if one.end is None else one.end) or 0.0
    return followed and not any(first - _SAME <= (other.since or 0.0) <= last + _SAME for other in ends)


def _is_anothers_plan(end: Observation, kill: Observation) -> bool:
    """Whether an end was planned and is told of another hand than the one that killed a process."""
    actor = end.attrs.get("actor", "")
    return end.attrs.get("planned") == "yes" and bool(actor) and actor != kill.attrs.get("actor", "")


def _as_a_strangers(one: Observation) -> Observation:
    return replace(one, salient=False, attrs={**one.attrs, "stranger": "yes"})

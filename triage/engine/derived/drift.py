"""What replicas run and are told to run: settings and images that should be equal and are not."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from triage.classes import dataclass
from triage.engine.derived.fleet import role_of
from triage.engine.frame import Frame
from triage.model.recording import Event, Fact, Recording, SourceState, Subject
from triage.model.vocabulary import Scope
from triage.patterns import Pattern

SETTINGS = (
    "max_num_seqs",
    "max_model_len",
    "max_num_batched_tokens",
    "chunked_prefill_size",
    "gpu_memory_utilization",
    "tensor_parallel_size",
    "pipeline_parallel_size",
    "data_parallel_size",
    "quantization",
    "kv_cache_dtype",
    "attention_backend",
    "enable_prefix_caching",
    "enforce_eager",
    "kv_offloading_size",
    "block_size",
    "model_path",
)
"""Facts that somebody sets, and that are to be equal on all replicas that do the same work."""

ARTIFACTS = ("image_id", "engine_version", "revision")
"""Facts that tell what a replica really runs, where the image's name is the same."""

Value = str | float

_DAY = 86400.0
_EARLIER = 600.0
"""What drifted long ago still holds, so its event is no older than what a rule looks at."""

_FAULTS = ("engine-crashed", "start-failed", "ended-without-a-word")
"""Ways in which an engine's log tells that it ended by a fault …"""

_MENDED = 3600.0
"""… and for how long the next start is somebody's answer to it."""

_SAME = 0.005
"""Numbers are printed with few digits."""

_VAGUE = frozenset({"auto", "none", "default", "", "stable", "latest"})
"""Values that leave it to the engine."""

_TRUE, _FALSE = frozenset({"true", "1"}), frozenset({"false", "0"})
_INVENTORY = Pattern(r"([a-z0-9][a-z0-9.-]{0,252})[=: ](?:\S*@)?(?:sha256:)?([0-9a-f]{12,64})\b")
_CHANGED = Pattern(r"(\w+) (\S+) -> (\S+?)(?:,|$)")


def with_drift(frame: Frame) -> Recording:
    """The recording with an event of kind ``drift`` for each replica and fact that is not what it should be.

    Names are keys of facts. A setting is compared with what is declared for the service, with the replicas that were made by the
    same hand (one ReplicaSet, one image, or one pod template) for the same work, and with the start before where nobody changed
    anything; an artifact with those that have an image of the same name.

    Attribute ``fresh`` says whether the replica's process began in the recording: what was so before cannot be what changed.
    """
    fleet = _Fleet(frame)
    settings = [*_from_declared(fleet), *_from_peers(fleet), *_from_before(fleet)]
    events = [*settings, *_artifacts(fleet), *_inventory(fleet)]
    first: dict[tuple[str, Subject | None], Event] = {}
    for event in events:
        first.setdefault((event.name, event.subject), event)
    return replace(frame.recording, events=(*frame.recording.events, *first.values())) if first else frame.recording


@dataclass(frozen=True)
class _Fleet:
    """A frame with its facts at hand: they are asked for by replica and key, over and over."""

    frame: Frame

    @cached_property
    def replicas(self) -> Sequence[Subject]:
        return self.frame.recording.subjects[Scope.REPLICA]

    @cached_property
    def facts(self) -> Mapping[tuple[Subject, str], Value]:
        """What is known of each subject, the first fact of a key."""
        found: dict[tuple[Subject, str], Value] = {}
        for fact in self.frame.recording.facts:
            found.setdefault((fact.subject, fact.key), fact.value)
        return found

    def reported(self, key: str, replicas: Sequence[Subject]) -> dict[Subject, Value]:
        """A fact of those replicas of which it is known."""
        return {replica: self.facts[replica, key] for replica in replicas if (replica, key) in self.facts}

    @cached_property
    def own_changes(self) -> Sequence[Event]:
        """Changes to the service itself that are on record."""
        service = self.frame.recording.service
        return [e for e in self.frame.recording.events if e.source == "changes" and e.attrs.get("service", service) == service]

    @cached_property
    def wishes(self) -> str:
        """What the changes of the last day speak of."""
        since = self.frame.recording.window.start - _DAY
        words = (word for e in self.own_changes if e.time >= since for word in (e.text, e.name, *e.attrs.values()))
        return " ".join(words).replace("_", " ").replace("-", " ").lower()

    @cached_property
    def starts(self) -> Mapping[Subject, float]:
        """When replicas last started, as their logs tell."""
        found: dict[Subject, float] = {}
        for event in self.frame.recording.events:
            if event.kind == "engine-args" and event.subject is not None:
                found[event.subject] = max(event.time, found.get(event.subject, 0.0))
        return found

    def begin(self, replica: Subject) -> float:
        """When a replica's process began; 0 if nobody says."""
        cells = self.frame.cells("process.start_time", replica)
        told = float(np.nanmax(cells)) if cells is not None and not np.isnan(cells).all() else 0.0
        return max(told, self.starts.get(replica, 0.0))

    def failed_before(self, replica: Subject, time: float) -> bool:
        """Whether a life of a replica ended by a fault within the hour before: who changes a setting then tries to mend it."""
        return any(
            event.subject == replica and event.kind == "log" and event.name in _FAULTS and time - _MENDED <= event.time < time
            for event in self.frame.recording.events
        )

    def event(self, fact: Fact, text: str, attrs: Mapping[str, str]) -> Event:
        """The event of one drifted fact, at the time at which its replica began."""
        window, begun = self.frame.recording.window, self.begin(fact.subject)
        fresh = "yes" if begun > window.baseline_start else "no"
        told = {"value": _text(fact.value), "setting": fact.key, "fresh": fresh, **attrs}
        when = max(begun, window.baseline_start, window.start - _EARLIER)
        return Event(when, "drift", fact.key, fact.subject, told, text, fact.origin or "facts")


# Settings


def _from_declared(fleet: _Fleet) -> Iterator[Event]:
    """Settings that reached a replica with another value than the declared one, and that no change speaks of."""
    service = Subject(Scope.SERVICE, fleet.frame.recording.service)
    for key in SETTINGS:
        wanted = fleet.facts.get((service, key))
        if wanted is None or key.replace("_", " ") in fleet.wishes:
            continue
        for replica, value in fleet.reported(key, fleet.replicas).items():
            if not _alike(value, wanted):
                text = f"{key} is {_text(value)} on {replica.id}, declared is {_text(wanted)}"
                yield fleet.event(Fact(replica, key, value), text, {"declared": _text(wanted)})


def _from_peers(fleet: _Fleet) -> Iterator[Event]:
    """Settings in which a replica differs from most of those that should be its twins."""
    for twins in _twins(fleet):
        for key in SETTINGS:
            values = fleet.reported(key, twins)
            usual = _majority(values)
            for replica, value in values.items():
                if usual is not None and not _alike(value, usual):
                    text = f"{key} is {_text(value)} on {replica.id}, and {_text(usual)} on the other replicas made like it"
                    yield fleet.event(Fact(replica, key, value), text, {"peers": _text(usual)})


def _twins(fleet: _Fleet) -> list[list[Subject]]:
    """Replicas by who made them, image and work; only those of which maker and image are known, or the one template of both."""
    groups: dict[tuple[Value, Value, str], list[Subject]] = {}
    for replica in fleet.replicas:
        maker, image, release = (fleet.facts.get((replica, key)) for key in ("created_by_name", "image", "release"))
        if maker is None or image is None:
            maker, image = release, release
        if maker is not None and image is not None:
            groups.setdefault((maker, image, role_of(fleet.frame, replica)), []).append(replica)
    return list(groups.values())


def _from_before(fleet: _Fleet) -> Iterator[Event]:
    """Settings that a restart changed although no change to the service is on record."""
    read = (SourceState.OK, SourceState.PARTIAL)
    if fleet.own_changes or not any(one.name == "changes" and one.state in read for one in fleet.frame.recording.sources):
        return
    for event in fleet.frame.recording.events:
        if event.kind != "engine-args" or event.subject is None:
            continue
        for key, before, now in _CHANGED.findall(event.attrs.get("changed", "")):
            if key in SETTINGS and not {before, now} & _VAGUE:
                text = f"{key} is {now} on {event.subject.id} since its restart, and was {before}"
                after = "fault" if fleet.failed_before(event.subject, event.time) else "none"
                attrs = {"value": now, "setting": key, "before": before, "fresh": "yes", "after": after}
                yield Event(event.time, "drift", key, event.subject, attrs, text, event.source)


# Artifacts


def _artifacts(fleet: _Fleet) -> Iterator[Event]:
    """Replicas with an image of one name and one maker that do not run the same thing."""
    groups: dict[tuple[Value, Value], list[Subject]] = {}
    for replica in fleet.replicas:
        image = fleet.facts.get((replica, "image"))
        if image is not None:
            groups.setdefault((image, fleet.facts.get((replica, "created_by_name"), "")), []).append(replica)
    for (image, _), replicas in groups.items():
        for key in ARTIFACTS:
            yield from _differing(fleet, str(image), key, replicas)


def _differing(fleet: _Fleet, image: str, key: str, replicas: Sequence[Subject]) -> Iterator[Event]:
    """Events of the replicas whose artifact is not the usual one among those of one image; of two, of the younger one."""
    values = {replica: str(value).rpartition("@")[2] for replica, value in fleet.reported(key, replicas).items()}
    if len(set(values.values())) < 2:
        return
    usual = str(_majority(values) or values[min(values, key=lambda replica: (fleet.begin(replica), replica))])
    for replica, value in values.items():
        if value != usual:
            name = image.rpartition("/")[2]
            text = f"{replica.id} runs {_short(value)} and others {_short(usual)} under the one name {name}"
            yield fleet.event(Fact(replica, key, value), text, {"peers": usual, "image": image})


def _inventory(fleet: _Fleet) -> Iterator[Event]:
    """Digests that somebody listed by pod under one tag, where they differ."""
    pods = {replica.id: replica for replica in fleet.replicas}
    told: dict[str, tuple[str, Event]] = {}
    for event in fleet.frame.recording.events:
        if (event.kind, event.name) == ("log", "image-inventory"):
            told |= {pod: (digest[:12], event) for pod, digest in _INVENTORY.findall(event.text) if pod in pods}
    if len({event.attrs.get("tag", "") for _, event in told.values()}) != 1:
        return
    usual, count = Counter(digest for digest, _ in told.values()).most_common(1)[0]
    for pod, (digest, event) in told.items():
        if digest != usual and 2 * count > len(told):
            text = f"{pod} runs {digest} and others {usual} under the one name {event.attrs.get('tag', '')}".rstrip()
            yield Event(event.time, "drift", "image_id", pods[pod], {"value": digest, "fresh": "no"}, text, event.source)


# Values


def _majority(values: Mapping[Subject, str] | Mapping[Subject, Value]) -> Value | None:
    """The value that more than half have; None if there is none, or nobody to compare with."""
    if len(values) < 3:
        return None
    value, count = Counter(values.values()).most_common(1)[0]
    return value if 2 * count > len(values) else None


def _alike(value: Value, wanted: Value) -> bool:
    """Whether two values say the same, or one of them leaves it to the engine."""
    if isinstance(value, float | int) and isinstance(wanted, float | int):
        return abs(value - wanted) <= _SAME * max(abs(value), abs(wanted))
    one, other = _text(value).lower(), _text(wanted).lower()
    if one in _VAGUE or other in _VAGUE or one == other or {one, other} <= _TRUE or {one, other} <= _FALSE:
        return True
    return one.rpartition("/")[2] == other.rpartition("/")[2]


def _text(value: Value) -> str:
    """A value as people write it: whole numbers without a point."""
    if isinstance(value, float):
        return f"{value:g}" if abs(value) < 1e6 else f"{value:.0f}"
    return str(value)


def _short(value: str) -> str:
    """A digest as people write it."""
    return value.removeprefix("sha256:")[:12]

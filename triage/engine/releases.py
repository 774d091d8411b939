"""What replicas run and are told to run: versions that fail, settings and images that should be equal and are not."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

import numpy as np
import re2

from triage.engine.arithmetic import ratio
from triage.engine.fleet import own_fact, role_of, versions
from triage.engine.frame import Frame
from triage.engine.statistics import together
from triage.model.recording import Event, Fact, Floats, Recording, SourceState, Subject
from triage.model.vocabulary import Combine, Scope

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

_COUNTED = (("backend.failures", "backend.requests"), ("http.5xx", "http.requests"), ("finished.error", "finished"))
_LEAST_REQUESTS = 5.0
_DAY = 86400.0
_EARLIER = 600.0
"""What drifted long ago still holds, so its event is no older than what a rule looks at."""

_SAME = 0.005
"""Numbers are printed with few digits."""

_VAGUE = frozenset({"auto", "none", "default", "", "stable", "latest"})
"""Values that leave it to the engine."""

_INVENTORY = re2.compile(r"([a-z0-9][a-z0-9.-]{0,252})[=: ](?:\S*@)?(?:sha256:)?([0-9a-f]{12,64})\b")
_CHANGED = re2.compile(r"(\w+) (\S+) -> (\S+?)(?:,|$)")


# Versions that fail


def version_failures(frame: Frame, _service: Subject) -> Floats | None:
    """Share of the requests to the newest version's replicas that fail, beyond the share that fails on the others."""
    groups = versions(frame)
    if len(groups) < 2:
        return None
    newest = _failed(frame, groups[-1])
    older = _failed(frame, [replica for group in groups[:-1] for replica in group])
    if newest is None or older is None:
        return None
    asked = float(np.nansum(older[1])) * frame.grid.step
    share = ratio(*newest, frame)
    if asked < _LEAST_REQUESTS or share is None:
        return None
    usual = float(np.nansum(older[0])) * frame.grid.step / asked
    return np.clip(share - usual, 0.0, 1.0)


def _failed(frame: Frame, replicas: Iterable[Subject]) -> tuple[Floats, Floats] | None:
    """Requests per second that some replicas failed and that they got; None if nobody counts them by replica."""
    pairs = [pair for replica in replicas if (pair := _counted(frame, replica)) is not None]
    if not pairs:
        return None
    return together([lost for lost, _ in pairs], Combine.SUM), together([got for _, got in pairs], Combine.SUM)


def _counted(frame: Frame, replica: Subject) -> tuple[Floats, Floats] | None:
    """Requests that one replica failed and got, by the first who counts both; a counter of failures may begin with the first."""
    for failed, asked in _COUNTED:
        got = frame.cells(asked, replica)
        if got is not None and frame.of(failed):
            lost = frame.cells(failed, replica)
            return np.where(np.isnan(got), np.nan, 0.0 if lost is None else np.nan_to_num(lost)), got
    return None


# Settings and images that drift


def with_drift(frame: Frame) -> Recording:
    """The recording with an event of kind ``drift`` for each replica and fact that is not what it should be.

    Attribute ``fresh`` says whether its process began in the recording: what was so before cannot be what changed.

    Names are keys of facts. A setting is compared with what is declared for the service, with the replicas that were made by the
    same hand (one ReplicaSet, one image) for the same work, and with the start before where nobody changed anything; an artifact
    with those that have an image of the same name.
    """
    settings = [*_from_declared(frame), *_from_peers(frame), *_from_before(frame)]
    events = [*settings, *_artifacts(frame), *_inventory(frame.recording)]
    first: dict[tuple[str, Subject | None], Event] = {}
    for event in events:
        first.setdefault((event.name, event.subject), event)
    return replace(frame.recording, events=(*frame.recording.events, *first.values())) if first else frame.recording


def _from_declared(frame: Frame) -> Iterator[Event]:
    """Settings that reached a replica with another value than the declared one, and that no change speaks of."""
    declared = {fact.key: fact.value for fact in frame.recording.facts if fact.subject.scope is Scope.SERVICE}
    for fact in _own_facts(frame.recording, SETTINGS):
        wanted = declared.get(fact.key)
        if wanted is None or _alike(fact.value, wanted) or _is_announced(frame.recording, fact):
            continue
        text = f"{fact.key} is {_text(fact.value)} on {fact.subject.id}, declared is {_text(wanted)}"
        yield _event(frame, fact, text, {"declared": _text(wanted)})


def _from_peers(frame: Frame) -> Iterator[Event]:
    """Settings in which a replica differs from most of those that should be its twins."""
    for twins in _twins(frame).values():
        for key in SETTINGS:
            values = {replica: value for replica in twins if (value := own_fact(frame, replica, key)) is not None}
            usual = _majority(values)
            for replica, value in values.items():
                if usual is None or _alike(value, usual):
                    continue
                text = f"{key} is {_text(value)} on {replica.id}, and {_text(usual)} on the other replicas made like it"
                yield _event(frame, Fact(replica, key, value), text, {"peers": _text(usual)})


def _from_before(frame: Frame) -> Iterator[Event]:
    """Settings that a restart changed although no change to the service is on record."""
    recording = frame.recording
    on_record = any(
        source.name == "changes" and source.state in (SourceState.OK, SourceState.PARTIAL) for source in recording.sources
    )
    if not on_record or any(_is_own_change(event, recording) for event in recording.events):
        return
    for event in recording.events:
        if event.kind != "engine-args" or event.subject is None:
            continue
        for key, before, now in _CHANGED.findall(event.attrs.get("changed", "")):
            if key in SETTINGS and not {before, now} & _VAGUE:
                text = f"{key} is {now} on {event.subject.id} since its restart, and was {before}"
                attrs = {"value": now, "setting": key, "before": before, "fresh": "yes"}
                yield Event(event.time, "drift", key, event.subject, attrs, text, event.source)


def _is_own_change(event: Event, recording: Recording) -> bool:
    """Whether somebody changed the service, by the file of changes."""
    return event.source == "changes" and event.attrs.get("service", recording.service) == recording.service


def _twins(frame: Frame) -> dict[tuple[str, str, str], list[Subject]]:
    """Replicas by who made them, image and work; only those of which both maker and image are known."""
    groups: dict[tuple[str, str, str], list[Subject]] = {}
    for replica in frame.recording.subjects[Scope.REPLICA]:
        maker, image = (own_fact(frame, replica, key) for key in ("created_by_name", "image"))
        if maker is not None and image is not None:
            groups.setdefault((str(maker), str(image), role_of(frame, replica)), []).append(replica)
    return groups


def _majority(values: Mapping[Subject, str | float]) -> str | float | None:
    """The value that more than half have; None if there is none, or nobody to compare with."""
    if len(values) < 3:
        return None
    value, count = Counter(values.values()).most_common(1)[0]
    return value if 2 * count > len(values) else None


def _artifacts(frame: Frame) -> Iterator[Event]:
    """Replicas with an image of the same name and the same maker that do not run the same thing: those that came last differ."""
    groups: dict[tuple[str, str], list[Subject]] = {}
    for replica in frame.recording.subjects[Scope.REPLICA]:
        image = own_fact(frame, replica, "image")
        if image is not None:
            groups.setdefault((str(image), str(own_fact(frame, replica, "created_by_name") or "")), []).append(replica)
    for (image, _), replicas in groups.items():
        for key in ARTIFACTS:
            yield from _differing(frame, image, key, replicas)


def _differing(frame: Frame, image: str, key: str, replicas: list[Subject]) -> Iterator[Event]:
    """Events of the replicas whose artifact is not the usual one among those of one image; of two, of the younger one."""
    told = {replica: value for replica in replicas if (value := own_fact(frame, replica, key)) is not None}
    values = {replica: str(value).rpartition("@")[2] for replica, value in told.items()}
    if len(set(values.values())) < 2:
        return
    usual = _majority(values) or values[min(values, key=lambda replica: (_begin(frame, replica), replica))]
    for replica, value in values.items():
        if value != usual:
            name = image.rpartition("/")[2]
            text = f"{replica.id} runs {_short(value)} and others {_short(str(usual))} under the one name {name}"
            yield _event(frame, Fact(replica, key, value), text, {"peers": str(usual), "image": image})


def _inventory(recording: Recording) -> Iterator[Event]:
    """Digests that somebody listed by pod under one tag, where they differ."""
    replicas = {replica.id for replica in recording.subjects[Scope.REPLICA]}
    told: dict[str, tuple[str, Event]] = {}
    for event in recording.events:
        if (event.kind, event.name) == ("log", "image-inventory"):
            told |= {pod: (digest[:12], event) for pod, digest in _INVENTORY.findall(event.text) if pod in replicas}
    usual, count = Counter(digest for digest, _ in told.values()).most_common(1)[0] if told else ("", 0)
    if len({event.attrs.get("tag") for _, event in told.values()}) != 1:
        return
    for pod, (digest, event) in told.items():
        if digest != usual and 2 * count > len(told):
            text = f"{pod} runs {digest} and others {usual} under the one name {event.attrs.get('tag', '')}".rstrip()
            attrs = {"value": digest, "fresh": "no"}
            yield Event(event.time, "drift", "image_id", Subject(Scope.REPLICA, pod), attrs, text, event.source)


def _own_facts(recording: Recording, keys: Iterable[str]) -> Iterator[Fact]:
    wanted = frozenset(keys)
    return (fact for fact in recording.facts if fact.subject.scope is Scope.REPLICA and fact.key in wanted)


def _is_announced(recording: Recording, fact: Fact) -> bool:
    """Whether a change to the service speaks of the setting: then somebody wanted it so."""
    spoken = fact.key.replace("_", " ")
    for event in recording.events:
        if not _is_own_change(event, recording):
            continue
        words = " ".join((event.text, event.name, *event.attrs.values())).replace("_", " ").replace("-", " ").lower()
        if spoken in words and event.time >= recording.window.start - _DAY:
            return True
    return False


def _event(frame: Frame, fact: Fact, text: str, attrs: Mapping[str, str]) -> Event:
    """The event of one drifted fact, at the time at which its replica began."""
    window, begun = frame.recording.window, _begin(frame, fact.subject)
    fresh = "yes" if begun > window.baseline_start else "no"
    told = {"value": _text(fact.value), "setting": fact.key, "fresh": fresh, **attrs}
    when = max(begun, window.baseline_start, window.start - _EARLIER)
    return Event(when, "drift", fact.key, fact.subject, told, text, fact.origin or "facts")


def _begin(frame: Frame, replica: Subject) -> float:
    """When a replica's process began; 0 if nobody says."""
    cells = frame.cells("process.start_time", replica)
    told = float(np.nanmax(cells)) if cells is not None and not np.isnan(cells).all() else 0.0
    args = [event.time for event in frame.recording.events if event.kind == "engine-args" and event.subject == replica]
    return max([told, *args])


def _alike(value: str | float, wanted: str | float) -> bool:
    """Whether two values say the same, or one of them leaves it to the engine."""
    if isinstance(value, float | int) and isinstance(wanted, float | int):
        return abs(value - wanted) <= _SAME * max(abs(value), abs(wanted))
    one, other = _text(value).lower(), _text(wanted).lower()
    if one in _VAGUE or other in _VAGUE:
        return True
    return one == other or one.rpartition("/")[2] == other.rpartition("/")[2] or {one, other} in ({"true", "1"}, {"false", "0"})


def _text(value: str | float) -> str:
    """A value as people write it: whole numbers without a point."""
    if isinstance(value, float):
        return f"{value:g}" if abs(value) < 1e6 else f"{value:.0f}"
    return str(value)


def _short(value: str) -> str:
    """A digest as people write it."""
    return value.rpartition("@")[2].removeprefix("sha256:")[:12]

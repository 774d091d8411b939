"""Objects that tools print whole: pods, nodes, workloads and autoscalers of the cluster, and containers of ``docker inspect``.

What becomes of an object is one table by its kind. A text of several documents holds several objects.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from triage.ingest.logs.changes import KubeEvent
from triage.ingest.logs.engine_facts import ARGUMENTS, typed
from triage.ingest.logs.redaction import redacted
from triage.ingest.logs.shown.containers import ended
from triage.ingest.logs.shown.form import Shown
from triage.ingest.logs.shown.quantities import cores, size
from triage.model.recording import Subject
from triage.model.vocabulary import Scope

MAX_OBJECTS = 2000
_MAX_PARTS = 64

Object = Mapping[str, Any]


def read(value: object, shown: Shown) -> int:
    """Reads a value and what it lists; returns how many objects in it were known."""
    known = 0
    for one in _objects(value):
        reader = _KINDS.get(_word(one.get("kind"))) or (_container if _is_container(one) else None)
        if reader is not None:
            reader(shown, one)
            known += 1
    return known


def _objects(value: object) -> Iterator[Object]:
    listed = value.get("items") if isinstance(value, dict) and isinstance(value.get("items"), list) else value
    for one in (listed if isinstance(listed, list) else [listed])[:MAX_OBJECTS]:
        if isinstance(one, dict):
            yield one


def _is_container(one: Object) -> bool:
    return isinstance(one.get("State"), dict) and "ExitCode" in one["State"]


# ---------------------------------------------------------------- parts of objects


def _part(one: object, *path: str) -> Object:
    """An object inside an object; empty if there is none."""
    for name in path:
        one = one.get(name) if isinstance(one, dict) else None
    return one if isinstance(one, dict) else {}


def _parts(one: Object, name: str) -> Iterable[Object]:
    listed = one.get(name)
    return [part for part in listed[:_MAX_PARTS] if isinstance(part, dict)] if isinstance(listed, list) else []


def _word(value: object) -> str:
    return redacted(value, 253) if isinstance(value, str) else ""


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _time(value: object) -> float | None:
    """Unix seconds of RFC 3339 text; Docker writes the first year for *never*."""
    try:
        moment = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
        return moment.timestamp() if moment.tzinfo and moment.year > 1970 else None
    except (ValueError, OverflowError):
        return None


def _conditions(one: Object) -> Iterator[tuple[str, str, str, str, float | None]]:
    """Type, status, reason, message and time of each condition."""
    for part in _parts(_part(one, "status"), "conditions"):
        words = [_word(part.get(name)) for name in ("type", "status", "reason", "message")]
        yield words[0], words[1], words[2], words[3], _time(part.get("lastTransitionTime"))


# ---------------------------------------------------------------- pods


def _pod(shown: Shown, one: Object) -> None:
    """A pod: how its containers ended or wait, why it has no place, and what it was told to do."""
    name, status = _word(_part(one, "metadata").get("name")), _part(one, "status")
    if not name:
        return
    for part in (*_parts(status, "initContainerStatuses"), *_parts(status, "containerStatuses")):
        for event in _states(shown, name, part):
            shown.kube(event)
    for kind, state, reason, message, _ in _conditions(one):
        if kind == "PodScheduled" and state == "False" and message:
            shown.kube(KubeEvent(shown.time, "Warning", "FailedScheduling", "pod", name, f"{reason}: {message}"))
    if _word(status.get("reason")):
        told = f"{_word(status.get('reason'))}: {_word(status.get('message'))}"
        shown.kube(KubeEvent(shown.time, "Warning", _word(status.get("reason")), "pod", name, told))
    pod = shown.pod(name)
    if pod is not None:
        _told(shown, pod, one)


def _states(shown: Shown, pod: str, part: Object) -> Iterator[KubeEvent]:
    for which in ("lastState", "state"):
        state = _part(part, which)
        terminated, waiting = _part(state, "terminated"), _part(state, "waiting")
        if terminated:
            code, reason = str(terminated.get("exitCode", "")), _word(terminated.get("reason")) or "Terminated"
            said = f"{'Last state' if which == 'lastState' else 'State'}: Terminated, reason {reason}, exit code {code}"
            why = _word(terminated.get("message"))
            kind = "Normal" if code == "0" else "Warning"
            at = _time(terminated.get("finishedAt")) or shown.time
            yield KubeEvent(at, kind, reason, "pod", pod, f"{said}: {why}" if why else said)
        reason = _word(waiting.get("reason"))
        if reason and reason not in {"ContainerCreating", "PodInitializing"}:
            said = f"State: Waiting, reason {reason}: {_word(waiting.get('message'))}"
            yield KubeEvent(shown.time, "Warning", reason, "pod", pod, said)


def _told(shown: Shown, pod: Subject, one: Object) -> None:
    """What a pod's containers were told: arguments of an engine, image, limits."""
    spec = _part(one, "spec")
    for container in _parts(spec, "containers"):
        arguments = _arguments([*_listed(container.get("command")), *_listed(container.get("args"))])
        for key, value in arguments.items():
            shown.fact(pod, key, typed(value, number=True))
        limits = _part(container, "resources", "limits")
        for name, value in limits.items():
            _limit(shown, pod, str(name), str(value))
        if arguments or any("/gpu" in str(name) for name in limits):
            shown.fact(pod, "image", _word(container.get("image")))


def _limit(shown: Shown, pod: Subject, name: str, value: str) -> None:
    if name.endswith("/gpu") and value.isdigit():
        shown.fact(pod, "gpus_per_replica", float(value))
    elif name == "memory":
        shown.sample("container.memory_limit", pod, size(value))
    elif name == "cpu":
        shown.sample("container.cpu_limit", pod, cores(value))


def _listed(value: object) -> list[str]:
    return [str(one) for one in value[:500] if isinstance(one, str | int | float)] if isinstance(value, list) else []


def _arguments(words: list[str]) -> dict[str, str]:
    """The known arguments of a command line by their common names: ``--key value``, ``--key=value``; a bare flag is ``true``."""
    split = [part for word in words for part in (word.split() if "--" in word and " " in word else [word])]
    found: dict[str, str] = {}
    for at, word in enumerate(split):
        if not word.startswith("--"):
            continue
        name, equals, value = word[2:].partition("=")
        key = ARGUMENTS.get(name.replace("-", "_"))
        following = split[at + 1] if at + 1 < len(split) else "--"
        if key is not None:
            found[key] = redacted(value if equals else "true" if following.startswith("--") else following, 200)
    return found


# ---------------------------------------------------------------- nodes, workloads, autoscalers


def _node(shown: Shown, one: Object) -> None:
    """A node: conditions that are not as they should be, and how many cards the cluster may give out."""
    name, status = _word(_part(one, "metadata").get("name")), _part(one, "status")
    node = Subject(Scope.NODE, name)
    for kind, state, reason, message, time in _conditions(one):
        if (kind == "Ready") != (state == "True"):
            told = "NodeNotReady" if kind == "Ready" else reason
            about = f"{kind} is {state}: {reason}: {message}"
            shown.kube(KubeEvent(time or shown.time, "Warning", told, "node", name, about))
    for signal, part in (("node.gpu_allocatable", "allocatable"), ("node.gpu_capacity", "capacity")):
        cards = [str(value) for key, value in _part(status, part).items() if str(key).endswith(".com/gpu")]
        shown.sample(signal, node, float(cards[0]) if cards and cards[0].isdigit() else None)
    if _part(one, "spec").get("unschedulable") is True:
        shown.sample("node.unschedulable", node, 1.0)


def _workload(shown: Shown, one: Object) -> None:
    """A deployment, stateful set …: how many of its replicas are there, and whether it makes progress."""
    name, status = _word(_part(one, "metadata").get("name")), _part(one, "status")
    if not shown.is_ours(name):
        return
    shown.sample("replicas.desired", shown.service, _number(_part(one, "spec").get("replicas")))
    if status:
        for signal, key in (("ready", "readyReplicas"), ("updated", "updatedReplicas"), ("available", "availableReplicas")):
            shown.sample(f"replicas.{signal}", shown.service, _number(status.get(key, 0)))
    _complaints(shown, one, "deployment", name, {"Available": "True", "Progressing": "True", "ReplicaFailure": "False"})


def _autoscaler(shown: Shown, one: Object) -> None:
    """An autoscaler: its bounds, and whether it can read what it follows."""
    name, spec, status = _word(_part(one, "metadata").get("name")), _part(one, "spec"), _part(one, "status")
    if not shown.is_ours(name) and not shown.is_ours(_word(_part(spec, "scaleTargetRef").get("name"))):
        return
    for signal, value in (
        ("autoscaler.min", spec.get("minReplicas") or spec.get("minReplicaCount")),
        ("autoscaler.max", spec.get("maxReplicas") or spec.get("maxReplicaCount")),
        ("autoscaler.desired", status.get("desiredReplicas")), ("replicas.desired", status.get("currentReplicas")),
    ):  # fmt: skip
        shown.sample(signal, shown.service, _number(value))
    well = {"AbleToScale": "True", "ScalingActive": "True", "Ready": "True", "Fallback": "False"}
    _complaints(shown, one, "horizontalpodautoscaler", name, well)


def _complaints(shown: Shown, one: Object, kind: str, name: str, well: Mapping[str, str]) -> None:
    """Conditions that say something else than a healthy object says."""
    for condition, state, reason, message, time in _conditions(one):
        if state != well.get(condition, state) and state != "Unknown" and reason:
            shown.kube(KubeEvent(time or shown.time, "Warning", reason, kind, name, message or f"{condition} is {state}"))


# ---------------------------------------------------------------- containers


def _container(shown: Shown, one: Object) -> None:
    """A container of ``docker inspect``: how it ended, and the size of its shared memory."""
    name, state = _word(one.get("Name")).lstrip("/"), _part(one, "State")
    config, host = _part(one, "Config"), _part(one, "HostConfig")
    words = [*_listed(config.get("Entrypoint")), *_listed(config.get("Cmd")), str(one.get("Path", "")), *_listed(one.get("Args"))]
    serves = redacted(" ".join((_word(config.get("Image")), *words)), 2000)
    code = str(state.get("ExitCode", ""))
    is_over = state.get("Running") is not True and _word(state.get("Status")) not in {"created", "running"}
    if is_over or state.get("OOMKilled") is True:
        at, why = _time(state.get("FinishedAt")) or shown.time, _word(state.get("Error"))
        shown.container(ended(at, code, name, for_memory=state.get("OOMKilled") is True, why=why), serves)
    for probe in list(_parts(_part(state, "Health"), "Log"))[-1:] if _part(state, "Health").get("Status") == "unhealthy" else ():
        told = f"the container's health check fails: {_word(probe.get('Output'))}"
        shown.container(KubeEvent(shown.time, "Warning", "Unhealthy", "container", name, told), serves)
    subject = shown.of_container(name, serves)
    if subject is None:
        return
    for key, value in _arguments(words).items():
        shown.fact(subject, key, typed(value, number=True))
    shared, limit = _number(host.get("ShmSize")), _number(host.get("Memory"))
    if shared and _word(host.get("IpcMode")) != "host":
        shown.remark(f"shm {shared / 2**20:.0f}M - - - /dev/shm", subject)
    shown.sample("container.memory_limit", subject, limit or None)


_KINDS: Mapping[str, Callable[[Shown, Object], None]] = {
    "Pod": _pod, "Node": _node, "Deployment": _workload, "StatefulSet": _workload, "LeaderWorkerSet": _workload,
    "HorizontalPodAutoscaler": _autoscaler, "ScaledObject": _autoscaler,
}  # fmt: skip
"""What reads an object, by its kind."""

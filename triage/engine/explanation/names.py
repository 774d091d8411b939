"""What the things of an incident are called, for its playbook: pods, hosts, cards, versions, as facts, owners and changes say.

A name that nobody says, or of which several are said, is not guessed: the playbook then shows that it is not known.
"""

from collections.abc import Iterable, Iterator

from triage.model.recording import CHANGE_KINDS, Origin, Recording, Subject
from triage.model.vocabulary import Scope
from triage.patterns import Pattern

Names = dict[str, str | float]

_LABEL = Pattern(r'(\w+)="([^"\\]*)"')
_ADDRESS = Pattern(r"[A-Za-z0-9.-]+:[0-9]{2,5}")
_OF_REPLICA_SET = Pattern(r"(.+)-[a-z0-9]{6,10}-[a-z0-9]{5}")
"""Pods of a deployment: its name, the hash of the pod template, five characters."""

_OWN = frozenset({"vllm", "sglang", "trtllm", "tgi", "triton", "llamacpp", "lmdeploy", "nim"})
"""Dialects whose address is that of the engine itself, not that of an exporter that speaks of it."""

_FACTS = {
    "model": ("served_model_name", "model"),
    "max_num_seqs": ("max_num_seqs",),
    "max_num_batched_tokens": ("max_num_batched_tokens",),
    "max_model_len": ("max_model_len",),
    "gpu_memory_utilization": ("gpu_memory_utilization",),
    "kv_tokens": ("kv_cache_tokens",),
    "tensor_parallel_size": ("tensor_parallel_size",),
    "pci": ("pci_bus_id",),
    "namespace": ("namespace",),
    "engine": ("engine",),
}
"""Placeholder -> the facts that fill it, the first that is known."""


def names_of(subject: Subject, recording: Recording) -> Names:
    """Values for the placeholders of a playbook (:data:`triage.model.playbook.PLACEHOLDERS`), of those that are known.

    :param subject: whom the finding is about
    """
    card = subject if subject.scope is Scope.GPU else None
    replica, gateway = _one(_replicas(subject, recording)), _one(_gateways(subject, recording))
    known = {
        "service": recording.service,
        "pod": _pod(replica),
        "node": _id(recording.node_of(subject) or (recording.node_of(replica) if replica else None)),
        "gpu": _label(recording, card, "gpu") or _place(card),
        "endpoint": _address(recording, replica),
        "deployment": _deployment(_replicas(subject, recording) or recording.subjects[Scope.REPLICA]),
        "gateway": _address(recording, gateway),
        "gateway_deployment": _deployment([gateway] if gateway else ()),
        "namespace": _namespace(recording, replica),
    }
    whom = [one for one in (card, replica, subject) if one is not None]
    names: Names = {name: value for name, value in known.items() if value}
    return {**_told(whom, recording), **_versions(subject, recording), **_count(recording), **names}


def _one(subjects: Iterable[Subject]) -> Subject | None:
    """The only one of some subjects."""
    found = list(subjects)
    return found[0] if len(found) == 1 else None


def _replicas(subject: Subject, recording: Recording) -> list[Subject]:
    """The replicas that a finding is about: itself, those of a card or a host; of a service the only one that it has."""
    if subject.scope is Scope.REPLICA:
        return [subject]
    if subject.scope in (Scope.GPU, Scope.NODE):
        return recording.replicas_of(subject)
    every = recording.subjects[Scope.REPLICA]
    return every if len(every) == 1 else []


def _gateways(subject: Subject, recording: Recording) -> list[Subject]:
    return [subject] if subject.scope is Scope.GATEWAY else recording.subjects[Scope.GATEWAY]


def _id(subject: Subject | None) -> str:
    return subject.id if subject is not None else ""


def _pod(replica: Subject | None) -> str:
    """A replica's name, unless it is known by its address only."""
    return "" if replica is None or _ADDRESS.fullmatch(replica.id) else replica.id


def _place(card: Subject | None) -> str:
    """The index of a card that is known by its host and its place there."""
    place = _id(card).rpartition("/")[2]
    return place if place.isdigit() else ""


def _deployment(pods: Iterable[Subject]) -> str:
    """The deployment that all of some pods are of, by their names; a pod of a stateful set has none."""
    matches = [_OF_REPLICA_SET.fullmatch(pod.id) for pod in pods]
    found = {match[1] for match in matches if match is not None}
    return found.pop() if len(found) == 1 and all(matches) else ""


def _origins(recording: Recording, subject: Subject | None) -> Iterator[Origin]:
    """Where the series of a subject came from."""
    for panel in (one for several in recording.panels.values() for one in several):
        if subject in panel.subjects:
            row = panel.subjects.index(subject)
            yield from panel.origins(slice(row, row + 1))


def _label(recording: Recording, subject: Subject | None, *names: str) -> str:
    """The value of a label in the source's own words, where all series of a subject that have it agree."""
    found = {
        value
        for origin in _origins(recording, subject)
        for name, value in _LABEL.findall(origin.selector)
        if name in names and value
    }
    return found.pop() if len(found) == 1 else ""


def _address(recording: Recording, subject: Subject | None) -> str:
    """Host and port under which a replica or a gateway itself was asked."""
    if subject is None or _ADDRESS.fullmatch(subject.id):
        return _id(subject)
    found = {
        value
        for origin in _origins(recording, subject)
        if origin.dialect in _OWN or subject.scope is Scope.GATEWAY
        for name, value in _LABEL.findall(origin.selector)
        if name == "instance" and _ADDRESS.fullmatch(value)
    }
    return found.pop() if len(found) == 1 else ""


def _namespace(recording: Recording, replica: Subject | None) -> str:
    """The namespace by the labels of the replica's series, else by what the cluster said of the service."""
    named = _label(recording, replica, "namespace", "exported_namespace")
    told = {event.attrs["namespace"] for event in recording.events_of("kube") if event.attrs.get("namespace")}
    return named or (told.pop() if len(told) == 1 else "")


def _told(whom: Iterable[Subject], recording: Recording) -> Names:
    """What facts say, of the card or replica first and of the service last."""
    service = Subject(Scope.SERVICE, recording.service)
    facts = [recording.facts_of.get(one, {}) for one in (*whom, service)]
    found: Names = {}
    for name, keys in _FACTS.items():
        values = [fact[key] for fact in facts for key in keys if key in fact]
        if values:
            found[name] = values[0]
    return found


def _versions(subject: Subject, recording: Recording) -> Names:
    """The version that runs and the one before, by the last change that says both: of the subject, else of the service."""
    whom = (subject, Subject(Scope.SERVICE, recording.service))
    changes = [
        event
        for event in recording.events
        if event.kind in CHANGE_KINDS and event.attrs.get("version") and event.attrs.get("previous")
    ]
    for one in whom:
        own = [event for event in changes if event.subject == one]
        if own:
            last = max(own, key=lambda event: event.time)
            return {"version": last.attrs["version"], "previous_version": last.attrs["previous"]}
    return {}


def _count(recording: Recording) -> Names:
    """How many replicas are wanted, or at least how many there are."""
    wanted = [one.values[-1] for one in recording.by_signal.get("replicas.desired", ()) if len(one.values)]
    if len(wanted) == 1:
        return {"replicas": float(wanted[0])}
    told = recording.facts_of.get(Subject(Scope.SERVICE, recording.service), {}).get("replicas")
    return {} if told is None else {"replicas": told}

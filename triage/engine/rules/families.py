"""Families of sources: what stands or falls together when one source is missing. Evidence of two families is independent."""

from collections.abc import Iterator

from triage.model.rule import Condition, Gone, Known, Leaf, Measure, Observed, Occurrence, leaves
from triage.model.vocabulary import Scope, catalogue

_BY_SCOPE = {
    Scope.SERVICE: "service",
    Scope.REPLICA: "engine metrics",
    Scope.GPU: "card metrics",
    Scope.NODE: "host metrics",
    Scope.GATEWAY: "gateway metrics",
    Scope.CLIENT: "client metrics",
    Scope.TARGET: "monitoring",
}

_BY_NAME = {
    "pod": "cluster state",
    "container": "cluster state",
    "replicas": "cluster state",
    "rollout": "cluster state",
    "autoscaler": "cluster state",
    "backend": "gateway metrics",
    "requests": "client metrics",
    "client": "client metrics",
    "prometheus": "monitoring",
    "quality": "quality probe",
    "log": "logs",
}

_BY_EVENT = {
    "xid": "kernel log",
    "kube": "cluster events",
    "metric": "monitoring",
    "drift": "settings",
    "engine-args": "settings",
}


def family_of(signal: str) -> str:
    """The family of sources that a signal comes from; a signal that the vocabulary does not have is a family of its own."""
    told = _BY_NAME.get(signal.partition(".")[0])
    if told:
        return told
    entry = catalogue().get(signal)
    return _BY_SCOPE[entry.scope] if entry else signal


def families_of(condition: Condition) -> Iterator[str]:
    """The families that a condition asks, in the order of its parts."""
    return map(_of_leaf, leaves(condition))


def _of_leaf(condition: Leaf) -> str:
    """The family of a condition that is no combination."""
    match condition:
        case Measure():
            return family_of(condition.signal)
        case Gone():
            return family_of(condition.gone)
        case Known():
            return "settings"
        case Occurrence():
            return _of_occurrence(condition)
        case Observed():
            return _of_observation(condition)


def _of_occurrence(condition: Occurrence) -> str:
    """The family of an event: the log of its emitter, or what lists events of its kind."""
    if condition.event in ("log", "said", "residue"):
        return f"{condition.emitter or 'any'} log"
    return _BY_EVENT.get(condition.event, "changes")


def _of_observation(condition: Observed) -> str:
    """The family of an observation: that of the signals that it is about, else its class."""
    known = [family_of(name) for name in condition.of if name in catalogue()]
    return known[0] if known else f"observed {condition.observed}"

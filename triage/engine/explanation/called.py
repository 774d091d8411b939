"""What people call replicas, cards and hosts: ``GPU 3 on gpu-node-01`` for a UUID, ``replica x2x4z`` for a pod of the service."""

from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from typing import TypeVar

from triage.model.diagnosis import Diagnosis, Evidence, Finding, Odd, RuledOut, Vital
from triage.model.recording import Recording, Subject
from triage.model.vocabulary import Scope
from triage.patterns import Pattern

_OF_TEMPLATE = Pattern(r"[a-z0-9]{5,10}-([a-z0-9]{5})")
"""What follows the service's name in that of a pod of a deployment: hash of the template, five letters of its own."""

_SCOPES = frozenset(Scope)

_LONG_ID = 20
_TAIL = 6
"""Of a longer id that nothing else is known by, so many letters from its end are told."""


class Called:
    """Names of a recording's subjects for people.

    :param recording: whose links, facts and labels tell
    """

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._known: dict[Subject, str] = {}

    def __call__(self, subject: Subject) -> str:
        """What people call it, with its scope: ``replica x2x4z``; of the service its own name."""
        if subject not in self._known:
            self._known[subject] = self._name(subject)
        return self._known[subject]

    def of_id(self, subject: str) -> str:
        """The same of ``scope/id``; another text as it is."""
        scope, slash, name = subject.partition("/")
        return self(Subject(Scope(scope), name)) if slash and scope in _SCOPES else subject

    def __contains__(self, subject: str) -> bool:
        """Whether people call ``scope/id`` otherwise than by its id."""
        return self.of_id(subject) != subject.replace("/", " ", 1) and not subject.startswith(f"{Scope.SERVICE.value}/")

    def several(self, subjects: Iterable[Subject]) -> str:
        """The first of some, and how many more there are."""
        first, *others = subjects
        return f"{self(first)} and {len(others)} more" if others else self(first)

    def _name(self, subject: Subject) -> str:
        if subject.scope is Scope.SERVICE:
            return subject.id
        if subject.scope is Scope.GPU:
            return self._card(subject)
        if subject.scope is Scope.REPLICA:
            return f"replica {self._short.get(subject.id, subject.id)}"
        return f"{subject.scope} {subject.id}"

    def _card(self, card: Subject) -> str:
        """A card by its index on its host, else by its place on the bus, else by the end of its id."""
        node = self._recording.node_of(card)
        facts = self._recording.facts_of.get(card, {})
        host, _, place = card.id.rpartition("/")
        told = node.id if node is not None else host
        where = f" on {told}" if told else ""
        index = str(facts.get("gpu_index", place if host else "")).removesuffix(".0")
        if index.isdigit():
            return f"GPU {index}{where}"
        if "pci_bus_id" in facts:
            return f"the GPU at PCI {_bus(str(facts['pci_bus_id']))}{where}"
        return f"GPU …{card.id[-_TAIL:]}{where}" if len(card.id) > _LONG_ID or card.id.startswith("GPU-") else f"GPU {card.id}"

    @cached_property
    def _short(self) -> dict[str, str]:
        """Replicas by what is left of their names without the service's, where that tells them apart."""
        prefix = f"{self._recording.service}-"
        known = {*self._recording.subjects[Scope.REPLICA], *(one.subject for one in self._recording.events if one.subject)}
        ids = sorted(one.id for one in known if one.scope is Scope.REPLICA)
        rests = {one: one.removeprefix(prefix) for one in ids if one.startswith(prefix)}
        own = {one: match.group(1) if (match := _OF_TEMPLATE.fullmatch(rest)) else rest for one, rest in rests.items()}
        many = Counter([*own.values(), *(one for one in ids if one not in own)])
        return {one: name if many[name] == 1 else rests[one] for one, name in own.items()}


def named(diagnosis: Diagnosis, called: Called) -> Diagnosis:
    """A diagnosis with what people call subjects wherever that is not their id."""
    return diagnosis.model_copy(
        update={
            "vitals": tuple(_who(one, called) for one in diagnosis.vitals),
            "symptoms": tuple(one.model_copy(update={"evidence": _who(one.evidence, called)}) for one in diagnosis.symptoms),
            "findings": tuple(with_names(one, called, "evidence", "contradicts") for one in diagnosis.findings),
            "observations": tuple(_who(one, called) for one in diagnosis.observations),
        }
    )


_Part = TypeVar("_Part", Evidence, Odd, Vital)
_Whole = TypeVar("_Whole", Finding, RuledOut)


def _who(part: _Part, called: Called) -> _Part:
    return part.model_copy(update={"who": called.of_id(part.subject)}) if part.subject in called else part


def with_names(whole: _Whole, called: Called, *keys: str) -> _Whole:
    """A part of a diagnosis with what people call the subjects of its evidence."""
    return whole.model_copy(update={key: tuple(_who(one, called) for one in getattr(whole, key)) for key in keys})


def _bus(address: str) -> str:
    """A PCI address as the kernel writes it: ``0000:52:00.0``."""
    domain, _, rest = address.removeprefix("PCI:").partition(":")
    return f"{domain[-4:]}:{rest}".lower()

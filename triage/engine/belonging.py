"""Whose it is what happened on a machine that carries others, too: a card, a process, a host on which none of ours runs."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from triage.engine.frame import Frame
from triage.model.recording import CHANGE_KINDS, Event, Recording, Subject, pci_address, without
from triage.model.vocabulary import Scope
from triage.patterns import Pattern

_OF_MACHINES = frozenset({"kernel", "exporter"})
"""Emitters that tell of a machine, whoever uses it."""


def homes(frame: Frame) -> frozenset[Subject]:
    """The hosts of all replicas; none if that of any is not known."""
    return frame.remembered("homes", lambda: _homes(frame))


def _homes(frame: Frame) -> frozenset[Subject]:
    found = [frame.related(one, Scope.NODE) for one in frame.recording.subjects[Scope.REPLICA]]
    return frozenset(host for home in found for host in home) if all(found) else frozenset()


def is_of_others(event: Event, frame: Frame) -> bool:
    """Whether something happened to another service, as its source says or as the place tells where it happened.

    A change of another service may be our cause; what its pods, processes and cards go through is not ours.
    """
    if event.kind in CHANGE_KINDS:
        return False
    told = event.attrs.get("service")
    subject = event.subject
    named = told or (subject.id if subject is not None and subject.scope is Scope.SERVICE else frame.recording.service)
    return named != frame.recording.service or event.attrs.get("stranger") == "yes" or _is_placed_elsewhere(event, frame)


def _is_placed_elsewhere(event: Event, frame: Frame) -> bool:
    """Whether it happened on a host without any of ours, or a machine tells of a card that another one than ours holds."""
    if event.subject is None:
        return False
    if event.subject.scope is Scope.NODE and homes(frame) and event.subject not in homes(frame):
        return True
    if event.kind != "xid" and event.attrs.get("emitter") not in _OF_MACHINES:
        return False
    if _device(event) in _other_devices(frame):
        return True
    return event.kind == "xid" and _is_on_a_foreign_card(event, frame)


def _device(event: Event) -> tuple[Subject | None, tuple[int, ...] | None]:
    """The host and the PCI address that an event names."""
    return event.subject, pci_address(event.attrs.get("pci", ""))


def _other_devices(frame: Frame) -> frozenset[tuple[Subject | None, tuple[int, ...] | None]]:
    """Devices that are no cards: another driver than one of cards or bridges speaks for their address."""
    told = (event for event in frame.recording.events_of("log") if event.attrs.get("driver") and event.attrs.get("pci"))
    return frame.remembered(
        "other devices",
        lambda: frozenset(_device(event) for event in told if _OF_CARDS_OR_BRIDGES.fullmatch(event.attrs["driver"]) is None),
    )


_OF_CARDS_OR_BRIDGES = Pattern(r"nvidia\w*|nouveau|amdgpu|i915|xe|habanalabs|pcieport|vfio-pci|pci")
"""Drivers in a kernel's ``driver address: PCIe Bus Error``; a bridge reports what came from the device behind it."""


def _is_on_a_foreign_card(event: Event, frame: Frame) -> bool:
    """Whether a card is none of ours on a host where it is known which cards our replicas hold."""
    subject = event.subject
    if subject is None or subject.scope not in (Scope.NODE, Scope.GPU):
        return False
    host = subject if subject.scope is Scope.NODE else frame.recording.node_of(subject)
    ours = _held(frame).get(host) if host is not None else None
    if ours is None:
        return False
    if subject.scope is Scope.GPU:
        return subject not in ours
    at = pci_address(event.attrs.get("pci", ""))
    addresses = {pci_address(str(frame.recording.facts_of.get(card, {}).get("pci_bus_id", ""))) for card in ours}
    return at is not None and None not in addresses and at not in addresses


def without_others(recording: Recording) -> Recording:
    """The recording without what was measured of cards that none of our replicas holds, where it is known which they hold.

    Nothing is left out while a replica has no place yet, unless it is said which cards are ours: then a free card may be why.
    """
    places = {recording.node_of(recording.whole_of(one) or one) for one in recording.subjects[Scope.REPLICA]}
    held = _cards_held(recording, () if None in places else [host for host in places if host is not None])
    foreign = {
        card
        for card in recording.subjects[Scope.GPU]
        if (ours := held.get(recording.node_of(card))) is not None and card not in ours
    }
    if not foreign:
        return recording
    return replace(
        recording,
        series=without(recording.series, foreign),
        histograms=without(recording.histograms, foreign),
    )


def _held(frame: Frame) -> Mapping[Subject | None, frozenset[Subject]]:
    """Host -> the cards that our replicas hold there, of hosts where that is known of each of them and of all its cards."""
    return frame.remembered("cards held", lambda: _cards_held(frame.recording, homes(frame)))


def _cards_held(recording: Recording, hosts: Iterable[Subject]) -> dict[Subject | None, frozenset[Subject]]:
    held = _declared(recording)
    for host in (one for one in hosts if one not in held):
        whole = {recording.whole_of(one) or one for one in recording.replicas_of(host)}
        cards = {one: recording.cards_of(one) for one in whole}
        if cards and all(len(its) >= _needed(one, recording) for one, its in cards.items()):
            held[host] = frozenset(card for its in cards.values() for card in its)
    return held


def _declared(recording: Recording) -> dict[Subject | None, frozenset[Subject]]:
    """The cards that the service is said to have, by their numbers on the only host whose cards are seen; none if not all are."""
    told = recording.facts_of.get(Subject(Scope.SERVICE, recording.service), {}).get("gpus")
    listed = isinstance(told, str) and _NUMBERS.fullmatch(told) is not None
    numbers = {one.strip() for one in str(told).split(",")} if listed else set()
    cards = recording.subjects[Scope.GPU]
    hosts = {recording.node_of(card) for card in cards}
    ours = [one for one in cards if str(recording.facts_of.get(one, {}).get("gpu_index")).removesuffix(".0") in numbers]
    return {hosts.pop(): frozenset(ours)} if len(hosts) == 1 and len(ours) == len(numbers) > 0 else {}


_NUMBERS = Pattern(r"\d{1,3}(?:, ?\d{1,3})+")
"""Cards as they are listed (``0,1,2``, as in ``CUDA_VISIBLE_DEVICES``); one number alone tells how many."""


def _needed(replica: Subject, recording: Recording) -> float:
    """How many cards a replica has at least."""
    told = recording.fact("gpus_per_replica", replica)
    return float(told) if isinstance(told, float | int) else 1.0

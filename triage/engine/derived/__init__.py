"""Derived signals: what follows from measured ones by arithmetic. A derived signal is unknown where an input is.

Each room below has a table of its derivations; each of them says what it needs, and they are worked out in that order.
"""

from collections.abc import Iterable, Mapping, Sequence
from graphlib import TopologicalSorter

from triage.engine.derived import (
    alive,
    autoscaling,
    fleet,
    hosts,
    lifecycle,
    occupancy,
    physical,
    releases,
    service,
    traffic,
    work,
)
from triage.engine.derived.derivation import Derivation
from triage.engine.derived.drift import with_drift
from triage.engine.frame import Frame
from triage.model.recording import Subject
from triage.model.vocabulary import Scope, catalogue

_ROOMS = (physical, work, occupancy, alive, lifecycle, fleet, releases, hosts, autoscaling, traffic, service)


def derive(frame: Frame) -> None:
    """Adds all derived signals to a frame, and derived events.

    What a source measures itself is derived only for the subjects that it does not measure.
    """
    for signal, derivation in DERIVATIONS.items():
        always = catalogue()[signal].derived
        asked = [
            subject for subject in _subjects(frame, catalogue()[signal].scope) if always or frame.cells(signal, subject) is None
        ]
        frame.put_all(signal, derivation.of_all(frame, asked))
    frame.recording = with_drift(frame)


def _subjects(frame: Frame, scope: Scope) -> Sequence[Subject]:
    """Whom signals of a scope are derived for."""
    if scope is Scope.SERVICE:
        return [Subject(Scope.SERVICE, frame.recording.service)]
    return frame.recording.subjects[scope]


def in_order(derivations: Iterable[Derivation]) -> Mapping[str, Derivation]:
    """Derivations by their signals, each after those of what it needs.

    :raises graphlib.CycleError: some need one another
    """
    known = {derivation.signal: derivation for derivation in derivations}
    needs = {signal: [one for one in derivation.needs if one in known] for signal, derivation in known.items()}
    return {signal: known[signal] for signal in TopologicalSorter(needs).static_order()}


DERIVATIONS = in_order(derivation for room in _ROOMS for derivation in room.DERIVATIONS)

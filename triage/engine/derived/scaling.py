"""Who was taken away because fewer are wanted, as whoever scales says it: its log, the cluster's events, the list of changes."""

from collections.abc import Iterable

from triage.engine.frame import Frame
from triage.model.recording import Event, Subject
from triage.model.vocabulary import Scope
from triage.patterns import Pattern

_LASTS = 600.0
"""Chosen: seconds in which a replica that is no longer wanted writes its answers to the end and is gone."""

_EARLIER = 60.0
"""Clocks of logs are not those of scrapes."""

_DOWN = Pattern(r"(?i)\bdown|\bscal\w* in\b|\bbelow\b")


def was_surplus(frame: Frame, subject: Subject, when: float) -> bool:
    """Whether it was said shortly before a replica or host went that fewer are wanted, or that nothing needs the host.

    :param when: Unix time of its end
    """
    said = [*_steps_down(frame)] if subject.scope is Scope.REPLICA else []
    hosts = {subject, *frame.related(subject, Scope.NODE)}
    said += [event.time for event in _logged(frame, "surplus-removed") if event.subject in hosts]
    return any(-_EARLIER <= when - time <= _LASTS for time in said)


def _steps_down(frame: Frame) -> Iterable[float]:
    """When fewer replicas of the service were asked for."""
    for event in (*_logged(frame, "replicas-stepped"), *_logged(frame, "rescaled")):
        if _DOWN.search(event.attrs.get("way", event.attrs.get("reason", ""))):
            yield event.time
    for event in frame.recording.events_of("scale"):
        own = event.attrs.get("service", frame.recording.service) == frame.recording.service
        if own and _asked_for(event) < 0:
            yield event.time


def asks_for_more(event: Event) -> bool:
    """Whether an entry in the list of changes asks for more replicas than before: nobody goes for that."""
    return event.kind == "scale" and _asked_for(event) > 0


def _asked_for(event: Event) -> int:
    """How many replicas more than before a change asks for; 0 if it does not say so."""
    before, after = event.attrs.get("previous", ""), event.attrs.get("replicas", event.attrs.get("version", ""))
    return int(after) - int(before) if before.isdecimal() and after.isdecimal() else 0


def _logged(frame: Frame, name: str) -> list[Event]:
    """Lines of a signature that are about ours."""
    return [event for event in frame.recording.events_of("log") if event.name == name and "stranger" not in event.attrs]

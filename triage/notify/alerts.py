"""What people are told of, while it lasts: a pure fold over the memory of a service. No clock, no files, no network."""

from collections.abc import Iterator, Mapping
from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from triage.memory.life import Phase
from triage.memory.looks import is_promise, rule_of
from triage.memory.memory import Memory
from triage.model.diagnosis import Severity, Status

BLIND_AFTER = 120.0
"""Seconds for which nobody could tell how a service is before people are told so: as long as a finding must be gone to be over,
so that one look that fails is no message."""


SETTLES = 60.0
"""Seconds from the first look that sees trouble for which its cause is waited for before people are told: a pattern must be there
for as long before its kind counts (``USUAL_FOR``), and a message with the cause in it spares a second one. What is proven counts
at once, so nobody waits for that."""


class Topic(StrEnum):
    """What an alert is about."""

    TROUBLE = "trouble"
    """The service is not well."""
    BLIND = "blind"
    """Nobody can tell how it is."""


class Change(StrEnum):
    """What became different with an alert."""

    RAISED = "raised"
    WORSE = "worse"
    CAUSE = "cause"
    FLAPPING = "flapping"
    OVER = "over"


class Alert(BaseModel):
    """Something that people are told of, while it lasts. All times are Unix seconds.

    :param severity: the worst so far: what gets a little better is not over
    :param since: when it began
    :param raised: the look that raised it
    :param kind: id of the kind that is taken for the cause; empty while it is open
    :param flapping: it comes and goes
    :param suffered: users noticed it
    :param over: when it ended; None while it lasts
    """

    model_config = ConfigDict(frozen=True)

    service: str
    topic: Topic
    severity: Severity
    since: float
    raised: float
    kind: str = ""
    flapping: bool = False
    suffered: bool = False
    over: float | None = None

    @property
    def id(self) -> str:
        """Tells it from all others."""
        return f"{self.service}/{self.topic.value}/{self.raised:.0f}"


News = tuple[Alert, tuple[Change, ...]]
"""An alert after a look, and what became different with it."""


def alerts_after(standing: Mapping[Topic, Alert], service: str, memory: Memory, named: str = "") -> Iterator[News]:
    """The alerts of a service after a look: those that stand, and those that ended with it.

    :param standing: those that stood before
    :param memory: after the look
    :param named: id of the kind that this look alone takes for the cause: better than none when trouble is told first
    """
    trouble = _trouble(standing.get(Topic.TROUBLE), service, memory, named)
    yield from (news for news in (trouble, _blind(standing.get(Topic.BLIND), service, memory)) if news is not None)


def _trouble(before: Alert | None, service: str, memory: Memory, named: str) -> News | None:
    """That a service is not well: from the moment at which several looks agree that it is not, until several agree that it is."""
    assert memory.time is not None
    state = Status(memory.state.word)
    if state is Status.INCONCLUSIVE:
        return None if before is None else (before, ())
    if state is Status.HEALTHY:
        return None if before is None else (before.model_copy(update={"over": memory.state.since}), (Change.OVER,))
    severity: Severity = "critical" if state is Status.INCIDENT else "warning"
    kind, flapping = rule_of(memory.cause.word), _flaps(memory)
    broken = [life for key, life in memory.up() if is_promise(key)]
    if before is None:
        if not kind and memory.time - memory.state.since < SETTLES:
            return None
        began = Alert(service=service, topic=Topic.TROUBLE, severity=severity, since=_since(memory), raised=memory.time)
        told = {"kind": kind or named, "flapping": flapping, "suffered": bool(broken)}
        return began.model_copy(update=told), (Change.RAISED, *([Change.FLAPPING] if flapping else []))
    if before.suffered and not any(life.gone is None for life in broken):
        kind = ""  # users suffer no more: what is left of it when its cause has gone is no other cause
    changes = _changes(before, severity, kind, flapping=flapping)
    worst: Severity = "critical" if "critical" in (severity, before.severity) else "warning"
    now = {"severity": worst, "kind": kind or before.kind, "flapping": flapping, "suffered": before.suffered or bool(broken)}
    return before.model_copy(update=now), changes


def _changes(before: Alert, severity: Severity, kind: str, *, flapping: bool) -> tuple[Change, ...]:
    """What is worth a word about an alert that stands: it got worse, its cause is known or another one, it begins to flap."""
    told = (
        (Change.WORSE, severity == "critical" and before.severity != "critical"),
        (Change.CAUSE, kind not in ("", before.kind)),
        (Change.FLAPPING, flapping and not before.flapping),
    )
    return tuple(change for change, holds in told if holds)


def _blind(before: Alert | None, service: str, memory: Memory) -> News | None:
    """That nobody can tell how a service is, for longer than a moment."""
    assert memory.time is not None
    last = memory.runs[-1]
    if memory.state.word != Status.INCONCLUSIVE or last.status is not Status.INCONCLUSIVE:
        return None if before is None else (before.model_copy(update={"over": last.start}), (Change.OVER,))
    if before is not None:
        return before, ()
    if last.end - last.start < BLIND_AFTER:
        return None
    blind = Alert(service=service, topic=Topic.BLIND, severity="warning", since=last.start, raised=memory.time)
    return blind, (Change.RAISED,)


def _since(memory: Memory) -> float:
    """When users began to notice it; if nobody can say, when looks began to agree."""
    begun = [life.since for key, life in memory.up() if is_promise(key) and life.since is not None]
    return min([memory.state.since, *begun])


def _flaps(memory: Memory) -> bool:
    """Whether something grave comes and goes."""
    return any(life.phase is Phase.FLAPPING and life.severity != "info" for _, life in memory.up())

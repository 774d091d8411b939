"""What is told of an alert: self-contained, so that it can wait on disk until its receiver is there."""

from collections.abc import Sequence
from datetime import UTC, datetime
from shlex import quote

from pydantic import BaseModel, ConfigDict

from triage.model.diagnosis import Diagnosis, Evidence, Finding, Status
from triage.model.units import clock, duration
from triage.notify.alerts import Alert, Change, Topic
from triage.render.answer import first_finding, five_lines
from triage.render.reading import reading
from triage.render.safe import inert

_MOST_EVIDENCE = 5
_LONGEST = 300
"""Characters of a line of evidence: five of them and the five lines fit the smallest limit of the receivers, 3 000 characters."""


class Line(BaseModel):
    """One of the five lines that suffice."""

    model_config = ConfigDict(frozen=True)
    label: str
    text: str


class Message(BaseModel):
    """What is told of an alert.

    :param changes: what became different since its receiver was told last
    :param time: of the look, Unix seconds
    :param status: of the service at that look
    :param headline: one sentence: what is wrong, or what could not be seen
    :param lines: the other four of the five lines that suffice: when, do first, do not, see more
    :param evidence: what decided it, one line each
    :param layer: of the cause; empty while it is open, and so ``cause`` (runtime, infrastructure, tooling) and ``title``
    :param confidence: how sure the cause is
    """

    model_config = ConfigDict(frozen=True)

    alert: Alert
    changes: tuple[Change, ...]
    time: float
    status: Status
    headline: str
    lines: tuple[Line, ...] = ()
    evidence: tuple[str, ...] = ()
    title: str = ""
    layer: str = ""
    cause: str = ""
    confidence: str = ""

    @property
    def is_over(self) -> bool:
        """Whether what it tells of has ended."""
        return self.alert.over is not None

    @property
    def was_missed(self) -> bool:
        """Whether it tells at once that something began and ended."""
        return self.is_over and Change.RAISED in self.changes

    @property
    def first_step(self) -> str:
        """What to do first."""
        return next((line.text for line in self.lines if line.label == "do first"), "")

    @property
    def command(self) -> str:
        """What shows more of it; of what is over at the moment at which it was raised."""
        moment = datetime.fromtimestamp(self.alert.raised if self.is_over else self.time, UTC)
        return f"triage diagnose --service {quote(self.alert.service)} --at {moment:%Y-%m-%dT%H:%M:%SZ}"


def message_of(alert: Alert, changes: Sequence[Change], diagnosis: Diagnosis) -> Message:
    """What a diagnosis tells of an alert."""
    clean = inert(diagnosis)
    what, *others = five_lines(clean)
    first = _cause_of(clean, alert.kind)
    cause = first if first is not None and first.rule == alert.kind else None
    return Message(
        alert=alert,
        changes=tuple(changes),
        time=diagnosis.window.end,
        status=diagnosis.status,
        headline=what.text,
        lines=tuple(Line(label=one.label, text=one.text) for one in others),
        evidence=tuple(_evidence(one, diagnosis.window.end) for one in first.evidence[:_MOST_EVIDENCE]) if first else (),
        title=cause.title if cause else "",
        layer=cause.layer.value if cause else "",
        cause=cause.cause.value if cause else "",
        confidence=cause.confidence if cause else "",
    )


def bare_message(alert: Alert, changes: Sequence[Change], time: float, reason: str) -> Message:
    """What is told of a service that could not be asked.

    :param reason: why, one sentence
    """
    return Message(alert=alert, changes=tuple(changes), time=time, status=Status.INCONCLUSIVE, headline=reason)


def ended(before: Message, alert: Alert, time: float, status: Status) -> Message:
    """The end of what a message told of, in whose words it is told again what it was.

    :param alert: after its end
    :param status: of the service now
    """
    return before.model_copy(update={"alert": alert, "changes": (Change.OVER,), "time": time, "status": status})


def merged(waiting: Message, newer: Message) -> Message:
    """One message of two that its receiver has not got: the newest, with all that became different since it was told last."""
    changes = tuple(dict.fromkeys((*waiting.changes, *newer.changes)))
    return newer.model_copy(update={"changes": changes})


def title_of(message: Message) -> str:
    """What happened, in one line."""
    alert = message.alert
    if alert.topic is Topic.BLIND:
        return _title_of_blind(message)
    state = "INCIDENT" if alert.severity == "critical" else "DEGRADED"
    if message.was_missed:
        return f"{alert.service} was {state.lower()} while you could not be told, and is healthy again {_span(message)}"
    if message.is_over:
        return f"{alert.service} is healthy again {_span(message)}"
    words = {
        Change.RAISED: "",
        Change.WORSE: "got worse",
        Change.CAUSE: "the cause as it is known now" if Change.RAISED not in message.changes else "",
        Change.FLAPPING: "comes and goes: nothing more is told until it is over",
    }
    told = [words[change] for change in message.changes if words.get(change)]
    aside = f" ({', '.join(told)})" if told else ""
    return f"{state} {alert.service}{aside}: {message.headline}"


def _title_of_blind(message: Message) -> str:
    """That nobody can tell how a service is, or can again."""
    service = message.alert.service
    if message.was_missed:
        return f"Nobody could tell how {service} was, and can again {_span(message)}"
    if message.is_over:
        return f"How {service} is can be told again {_span(message)}"
    return f"UNKNOWN {service}: {message.headline}"


def _span(message: Message) -> str:
    """Since when it is over, and how long it was."""
    alert = message.alert
    assert alert.over is not None
    lasted = duration(max(alert.over - alert.since, 0.0))
    return f"since {clock(alert.over, message.time)} UTC, after {lasted}"


def _cause_of(diagnosis: Diagnosis, kind: str) -> Finding | None:
    """The finding of the kind that is taken for the cause; else the first."""
    return next((one for one in diagnosis.findings if one.rule == kind), None) or first_finding(diagnosis)


def _evidence(evidence: Evidence, near: float) -> str:
    """A piece of evidence as one line."""
    read = reading(evidence, near)
    text = (
        f"{read.headed}: {read.compared}{f', usually {read.usual}' if read.usual else ''}{f' {read.when}' if read.when else ''}"
    )
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"

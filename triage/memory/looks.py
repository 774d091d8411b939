"""A look: what one diagnosis says of each thing that can be wrong, in three answers: there, gone, or nobody can say."""

from collections.abc import Iterator, Mapping
from dataclasses import field

from triage.classes import dataclass
from triage.model.diagnosis import Diagnosis, Finding, Promised, Severity, Status, Vital

KIND, PROMISE = "kind", "promise"

_NEAR = 0.1
"""Chosen: a promise is raised at its limit, and clearly kept from nine tenths of it on: between the two it hovers, and may be
broken again by the next scrape."""


@dataclass(frozen=True, slots=True)
class Told:
    """Something that is wrong, as one look tells it.

    :param since: when it began, Unix seconds; None if nobody can say
    :param proven: its evidence names this very thing
    """

    title: str
    since: float | None = None
    severity: Severity = "warning"
    proven: bool = False


@dataclass(frozen=True)
class Look:
    """What one look says. What is neither there nor gone nobody can say.

    :param time: of the look, Unix seconds: the end of what was judged
    :param there: what is wrong now, by its key
    :param gone: what is known not to be wrong now, with when it ended where that is told
    :param near: what is gone, but so near its limit that it may come back
    :param cause: key of the kind that is named first as the cause; empty if none is
    """

    time: float
    status: Status
    there: Mapping[str, Told] = field(default_factory=dict)
    gone: Mapping[str, float | None] = field(default_factory=dict)
    cause: str = ""
    near: frozenset[str] = frozenset()


def kind_key(rule: str) -> str:
    """What a kind of failure is remembered by."""
    return f"{KIND} {rule}"


def promise_key(name: str, subject: str) -> str:
    """What a promise is remembered by: its name, and whose it is."""
    return f"{PROMISE} {name} {subject}"


def trouble_of(key: str) -> str:
    """What a recording calls it (``Recording.begun``): the id of a kind, or a promise's name and subject."""
    return key.partition(" ")[2]


def rule_of(key: str) -> str:
    """The rule of the key of a kind; empty if it is another thing's."""
    sort, _, rule = key.partition(" ")
    return rule if sort == KIND else ""


def is_promise(key: str) -> bool:
    """Whether a key is a promise's."""
    return key.startswith(f"{PROMISE} ")


def look_of(diagnosis: Diagnosis) -> Look:
    """What a diagnosis says of each thing. What has ended in the window is gone."""
    over = {**dict(_ended_findings(diagnosis)), **{kind_key(out.rule): None for out in (*diagnosis.ruled_out, *diagnosis.unseen)}}
    there = {kind_key(one.rule): _of_finding(one) for one in diagnosis.findings if one.until is None}
    broken = [one for one in diagnosis.vitals if one.state is Promised.BROKEN]
    there |= {_key(one): _of_vital(one) for one in broken if one.until is None}
    kept = {_key(one): None for one in diagnosis.vitals if one.state is Promised.KEPT}
    ended = {_key(one): one.until for one in diagnosis.vitals if one.state is not Promised.KEPT and one.until is not None}
    roots = [one for one in diagnosis.findings if one.role == "root" and not one.muted]
    cause = next((kind_key(one.rule) for one in roots if kind_key(one.rule) in there), "")
    near = frozenset(_key(one) for one in diagnosis.vitals if _is_near(one))
    return Look(diagnosis.window.end, diagnosis.status, there, {**over, **kept, **ended}, cause, near)


def _ended_findings(diagnosis: Diagnosis) -> Iterator[tuple[str, float | None]]:
    """Kinds that were there in the window and are over."""
    yield from ((kind_key(one.rule), one.until) for one in diagnosis.findings if one.until is not None)


def _of_finding(finding: Finding) -> Told:
    severity: Severity = "info" if finding.muted else finding.severity
    return Told(finding.title, finding.onset, severity, finding.confidence == "proven")


def _is_near(vital: Vital) -> bool:
    """Whether a value is near its limit, on whichever side the limit is to be kept."""
    value = vital.now if vital.now is not None else vital.value
    return value is not None and vital.limit is not None and abs(value - vital.limit) < _NEAR * abs(vital.limit)


def _key(vital: Vital) -> str:
    return promise_key(vital.name, vital.subject)


def _of_vital(vital: Vital) -> Told:
    return Told(vital.title, vital.since, "critical" if vital.harm >= 1.0 else "warning")

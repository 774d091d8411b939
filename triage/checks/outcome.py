"""How the services are that were checked: no more of each diagnosis than the forms of a check tell, so that many can be held."""

from collections.abc import Iterable
from dataclasses import replace

from triage.classes import dataclass
from triage.model.diagnosis import CauseState, CauseView, Diagnosis, Finding, Muted, Promised, Role, Severity, Status, Vital
from triage.render import one_line
from triage.render.safe import ascii_only, inert, inert_text

_WORST_FIRST = (Status.INCIDENT, Status.INCONCLUSIVE, Status.DEGRADED, Status.HEALTHY)
"""What is known to be broken outranks what cannot be seen; what cannot be seen outranks what is merely slow."""

WORDS = {Status.HEALTHY: "ok", Status.DEGRADED: "warning", Status.INCIDENT: "critical", Status.INCONCLUSIVE: "unknown"}
"""States as schedulers call them."""


@dataclass(frozen=True, slots=True)
class Found:
    """One finding."""

    rule: str
    layer: str
    cause: str
    severity: Severity
    role: Role


@dataclass(frozen=True, slots=True)
class Promise:
    """One promise.

    :param value: now, else over the window, base units; None if unknown
    """

    name: str
    subject: str
    state: Promised
    value: float | None
    limit: float | None


@dataclass(frozen=True, slots=True)
class Checked:
    """How one service is.

    :param line: one line for people and for Nagios
    :param headline: what is wrong, or why nobody knows
    :param cause: what is known of the cause
    :param roots: ids of the findings that no other explains, first ranked first
    :param muted: what a person has muted
    :param evaluated: how many rules could be judged, and how many there are
    :param brief: the five lines that suffice, in a form that was asked for; empty if none was, or there are none
    :param time: end of what was judged, Unix seconds; None if nothing was
    :param seconds: how long it took
    :param seen: it could be asked
    """

    service: str
    status: Status
    line: str
    headline: str
    cause: CauseView
    roots: tuple[str, ...] = ()
    muted: tuple[Muted, ...] = ()
    findings: tuple[Found, ...] = ()
    promises: tuple[Promise, ...] = ()
    evaluated: tuple[int, int] = (0, 0)
    brief: str = ""
    time: float | None = None
    seconds: float = 0.0
    seen: bool = True

    def after(self, seconds: float) -> "Checked":
        """The same, and how long it took."""
        return replace(self, seconds=seconds)


def outcome_of(diagnosis: Diagnosis, brief: str = "") -> Checked:
    """What a diagnosis says of a service."""
    clean = inert(diagnosis)
    return Checked(
        service=diagnosis.service,
        status=diagnosis.status,
        line=one_line(diagnosis),
        headline=inert_text(diagnosis.headline),
        cause=diagnosis.cause,
        roots=tuple(finding.rule for finding in diagnosis.findings if finding.role == "root"),
        muted=clean.muted,
        findings=tuple(map(_found, clean.findings)),
        promises=tuple(map(_promise, clean.vitals)),
        evaluated=(diagnosis.coverage.rules_evaluated, diagnosis.coverage.rules_total),
        brief=brief,
        time=diagnosis.window.end,
    )


def unknown(service: str, reason: str) -> Checked:
    """A service that could not be asked, or not in time."""
    reason = inert_text(reason)
    line = ascii_only(f"{inert_text(service).upper()} UNKNOWN - {reason}").replace("|", "/")
    return Checked(service, Status.INCONCLUSIVE, line, reason, CauseView(state=CauseState.OPEN), seen=False)


def worst(states: Iterable[Status]) -> Status:
    """The state that a set of services is in; of none it is that nothing is wrong."""
    return min(states, key=_WORST_FIRST.index, default=Status.HEALTHY)


def _found(finding: Finding) -> Found:
    return Found(finding.rule, finding.layer, finding.cause, finding.severity, finding.role)


def _promise(vital: Vital) -> Promise:
    value = vital.now if vital.now is not None else vital.value
    return Promise(vital.name, vital.subject, vital.state, value, vital.limit)

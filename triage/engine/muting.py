"""Kinds that a person has muted: they are judged and shown like all others, but do not raise the state by themselves."""

from collections.abc import Mapping, Sequence

from triage.model.diagnosis import Finding, Muted, Status
from triage.model.service import Mute


def heeded(mutes: Mapping[str, Mute], moment: float) -> frozenset[str]:
    """The kinds whose mute holds.

    :param moment: Unix seconds of the window's end: a replay is judged at its own time
    """
    return frozenset(kind for kind, mute in mutes.items() if moment <= mute.until)


def marked(findings: Sequence[Finding], muted: frozenset[str]) -> tuple[Finding, ...]:
    """The findings with those of muted kinds marked, and of the roots those last: what nobody has seen yet comes first."""
    told = [finding.model_copy(update={"muted": finding.rule in muted}) for finding in findings]
    return tuple(sorted(told, key=lambda one: (one.role != "root", one.role == "root" and one.muted)))


def counted(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The findings as they count for the state: what is muted is only worth knowing."""
    return tuple(one.model_copy(update={"severity": "info"}) if one.muted else one for one in findings)


def state_with(muted: Status, whole: Status) -> Status:
    """The state where something is muted: never better than degraded if the service is not well.

    :param muted: the state without what is muted
    :param whole: the state with it
    """
    return Status.DEGRADED if muted is Status.HEALTHY and whole is not Status.HEALTHY else muted


def shown(mutes: Mapping[str, Mute], findings: Sequence[Finding], moment: float) -> tuple[Muted, ...]:
    """What became of each mute, by kind."""
    found = {finding.rule for finding in findings}
    holding = heeded(mutes, moment)
    return tuple(
        Muted(
            rule=kind, reason=mute.reason, until=mute.until, state="heeded" if kind in holding else "expired", found=kind in found
        )
        for kind, mute in sorted(mutes.items())
    )

"""The state of the service: from what users notice, from what was found, and from what nobody understood."""

from collections.abc import Sequence

from triage.engine.frame import Frame
from triage.engine.symptoms import watched
from triage.model.diagnosis import Finding, Promised, Status, Symptom, Unread, Vital


def harm_of(vitals: Sequence[Vital]) -> bool | None:
    """Whether users suffer: yes if any promise is broken, no if all that were looked at are kept, else nobody can say."""
    states = {vital.state for vital in vitals}
    if Promised.BROKEN in states:
        return True
    return False if states == {Promised.KEPT} else None


def state_of(
    vitals: Sequence[Vital], noticed: Sequence[Symptom], findings: Sequence[Finding], unread: Sequence[Unread], frame: Frame
) -> Status:
    """The state of the service: never healthy where nothing that users notice was measured."""
    del vitals, unread
    severities = {finding.severity for finding in findings}
    seen = watched(frame) and not frame.recording.rejected.keys() & {"latency.ttft", "latency.itl", "latency.e2e"}
    if "critical" in severities:
        return Status.INCIDENT
    if "warning" in severities or noticed:
        return Status.DEGRADED
    return Status.HEALTHY if seen else Status.INCONCLUSIVE

"""The state of the service: from what users notice, from what was found, and from what nobody understood."""

from collections.abc import Sequence
from math import inf

import re2

from triage.engine.frame import Frame
from triage.model.diagnosis import Finding, Promised, Status, Symptom, Vital
from triage.model.observation import Observation
from triage.model.vocabulary import Scope

INCIDENT = 1.0
"""Harm from which on the service is in an incident; triage/engine/promises/entries.py says how it is measured."""

_MUCH_WORSE = 2.0
"""Chosen: twice the usual wait."""

_NEAR = 0.5
"""A wait that has doubled and uses up half of what was promised is no proof that nobody suffers."""

_MANY_KINDS = 20

_OWN = frozenset({Scope.SERVICE, Scope.REPLICA, Scope.GATEWAY})
"""Whose word counts for the service: not that of a host or an exporter."""

_WARNING = re2.compile(r"(?i)^w(?:arn(?:ing)?)?$")

_GOOD = frozenset({"started", "appeared", "ready"})
_DELAYS = ("ttft", "e2e", "itl")


def harm_of(vitals: Sequence[Vital]) -> bool | None:
    """Whether users suffer: yes if any promise is broken, no if all that were measured are kept, else nobody can say.

    No harm takes more than that nothing is broken: that requests are answered, that failures are counted and are few, and that
    some delay is well. What was measured and cannot be told (a bucket that straddles its limit) leaves it open.
    """
    if any(vital.state is Promised.BROKEN for vital in vitals):
        return True
    counted = any(vital.name == "error_ratio" and vital.state is Promised.KEPT for vital in vitals)
    doubtful = any(vital.state is Promised.OPEN and vital.value is not None for vital in vitals)
    if doubtful or not counted or not enough_seen(vitals):
        return None
    return None if any(_is_much_worse(vital) for vital in vitals) else False


def _is_much_worse(vital: Vital) -> bool:
    """Whether a promise is kept, but users have to notice a change: several times the usual, and no trifle."""
    if vital.unit != "seconds" or vital.value is None or not vital.baseline or vital.limit is None:
        return False
    return vital.value >= _MUCH_WORSE * vital.baseline and vital.value >= _NEAR * vital.limit


def enough_seen(vitals: Sequence[Vital]) -> bool:
    """Whether both that requests are answered and how long they take is known to be well: one of them alone says little."""
    kept = {vital.name for vital in vitals if vital.state is Promised.KEPT}
    return "answers" in kept and any(name.startswith(_DELAYS) for name in kept)


_RUNS_WELL = frozenset({"answers", "error_ratio", "queue_wait_s", "pace_s"})


def _runs_well(vitals: Sequence[Vital]) -> bool:
    """Where nobody times requests (a log alone): they are answered, none fails, nobody waits, and tokens come as they should."""
    return {vital.name for vital in vitals if vital.state is Promised.KEPT} >= _RUNS_WELL


def state_of(vitals: Sequence[Vital], noticed: Sequence[Symptom], findings: Sequence[Finding], frame: Frame) -> Status:
    """The state of the service.

    It is an incident if promises are broken badly, or if something grave was found and nobody can say that no user suffers. It
    is healthy only if every promise is known to be kept and nothing that was seen is left unexplained. Where users are well and
    something odd that is new is explained by nothing, it is degraded: a person has to look. Where nobody measures how users are,
    what its own programs say of their end or of a cause decides.
    """
    del noticed
    severities = {finding.severity for finding in findings}
    broken = [vital for vital in vitals if vital.state is Promised.BROKEN]
    if "critical" in severities or max((vital.harm for vital in broken), default=0.0) >= INCIDENT:
        return Status.INCIDENT
    if broken or "warning" in severities:
        return Status.DEGRADED
    odd = _unexplained(frame, findings)
    if not any(vital.state is Promised.KEPT for vital in vitals):
        return _by_word(odd, frame)
    if any(vital.state is Promised.OPEN for vital in vitals) or not (enough_seen(vitals) or _runs_well(vitals)):
        return Status.INCONCLUSIVE
    if odd:
        return Status.DEGRADED
    return Status.INCONCLUSIVE if any(_has_to_be_read(one) for one in frame.seen.odd) else Status.HEALTHY


def looked(status: Status, judged: int, kinds: int) -> Status:
    """The state with regard to how much could be judged: nobody who could judge nothing may say that all is well.

    :param judged: kinds of failure that could be judged, of all ``kinds``
    """
    return Status.INCONCLUSIVE if status is Status.HEALTHY and barely_looked(judged, kinds) else status


def barely_looked(judged: int, kinds: int) -> bool:
    """Whether no kind could be judged; a handful of rules of somebody's own says nothing of that.

    Of a service whose requests alone are counted two or three kinds can be judged, and users of it are known to be well.
    """
    return kinds >= _MANY_KINDS and not judged


def _unexplained(frame: Frame, findings: Sequence[Finding]) -> list[Observation]:
    """What has to be explained and is the evidence of no finding; of instruments only what is new: many always lack a part."""
    told = {evidence.text for finding in findings for evidence in finding.evidence if evidence.text}
    odd = [one for one in frame.seen.odd if one.salient and one.text not in told]
    return [one for one in odd if one.sort != "instrument" or _is_new(one, frame)]


def _has_to_be_read(one: Observation) -> bool:
    """Whether a line that nobody understood leaves open that all is well, though users are well.

    Every program gives single warnings in health, many where nobody knows what was said before the window, and every host says
    once that some job of its own failed.
    """
    if one.of != "residue" or one.attrs.get("new", "no") == "no" or one.attrs.keys() & {"stranger", "elsewhere"}:
        return False
    warns, single = _WARNING.search(one.attrs.get("level", "")) is not None, one.support == 1
    return not (warns and (single or one.attrs["new"] == "unknown")) and not (single and one.subject.scope is Scope.NODE)


def _is_new(one: Observation, frame: Frame) -> bool:
    return one.onset is not None and one.onset[1] >= frame.recording.window.start


def _by_word(odd: Sequence[Observation], frame: Frame) -> Status:
    """The state where nobody measures how users are: a grave cause or end that an own program tells means that it does not serve.

    Unless it was ready afterwards.
    """
    ready = {one.subject: one.onset[1] for one in frame.seen.odd if one.sort == "life" and one.of == "ready" and one.onset}
    own = [one for one in odd if one.subject.scope in _OWN and "stranger" not in one.attrs and one.of not in _GOOD]
    left = [one for one in own if one.onset is None or ready.get(one.subject, -inf) <= one.onset[1]]
    if any(one.sort == "life" or (one.sort == "said" and one.attrs.get("severity") == "critical") for one in left):
        return Status.INCIDENT
    return Status.DEGRADED if any(one.sort == "said" for one in left) else Status.INCONCLUSIVE

"""Where a condition is asked, and what became of it."""

from dataclasses import dataclass

from triage.engine.frame import Frame
from triage.model.diagnosis import Evidence, Verdict
from triage.model.recording import Subject


@dataclass(frozen=True)
class Context:
    """Where a condition is asked.

    :param frame: the signals
    :param subject: whom the rule is asked about
    :param onset: when the symptom began, Unix seconds; None if nothing is noticed of which it could be told
    """

    frame: Frame
    subject: Subject
    onset: float | None


@dataclass(frozen=True)
class Outcome:
    """What became of a condition.

    :param evidence: what was looked at, in the order of the rule
    :param named: values that the finding's sentence can speak of
    :param since: when all that holds began to hold together; None if before all data or unknown
    :param until: when that was over; None if it goes on or nobody can say
    """

    verdict: Verdict
    evidence: tuple[Evidence, ...]
    named: tuple[tuple[str, Evidence], ...] = ()
    since: float | None = None
    until: float | None = None

"""Asks every rule of every subject that it is about."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from triage.engine.conditions import Context, Outcome, judge
from triage.engine.frame import Frame
from triage.model.diagnosis import Evidence, Verdict
from triage.model.recording import Subject
from triage.model.rule import All, Any, Condition, Gone, Measure, Not, Rule
from triage.model.vocabulary import Scope, catalogue


@dataclass(frozen=True)
class Answer:
    """A rule's verdict on one subject.

    :param present: outcome of the evidence for
    :param absent: outcome of the evidence against, None if the rule has none
    """

    subject: Subject
    verdict: Verdict
    present: Outcome
    absent: Outcome | None

    @property
    def deciding(self) -> tuple[Evidence, ...]:
        """The evidence that the verdict rests on."""
        if self.verdict is Verdict.ABSENT:
            against = self.absent
            if against is not None and against.verdict is Verdict.PRESENT:
                return tuple(e for e in against.evidence if e.verdict is Verdict.PRESENT) or against.evidence
            return tuple(e for e in self.present.evidence if e.verdict is Verdict.ABSENT) or self.present.evidence
        return self.present.evidence

    @property
    def missing(self) -> tuple[str, ...]:
        """Signals, events and facts whose absence keeps the verdict open, in the order of the rule."""
        outcomes = [self.present, *([self.absent] if self.absent else [])]
        unknown = [_what(e) for outcome in outcomes for e in outcome.evidence if e.verdict is Verdict.UNKNOWN]
        return tuple(dict.fromkeys(unknown))


def _what(evidence: Evidence) -> str:
    """The missing thing: the objective or fact that a value could not be compared with, or the signal itself."""
    if evidence.value is not None and evidence.threshold is None and not evidence.signal.startswith("event:"):
        return f"{evidence.signal} ({evidence.text})"
    return f"{evidence.signal} ({evidence.stat})" if evidence.signal.startswith("event:") and evidence.stat else evidence.signal


@dataclass(frozen=True)
class Ruling:
    """A rule's verdict on everything it was asked about."""

    rule: Rule
    verdict: Verdict
    answers: tuple[Answer, ...]


def evaluate(frame: Frame, rules: Sequence[Rule], onset: float) -> list[Ruling]:
    """The verdicts of all rules."""
    return [_ruling(frame, rule, onset) for rule in rules]


def _ruling(frame: Frame, rule: Rule, onset: float) -> Ruling:
    """A rule is present if it is on any subject, absent if it is ruled out on all, else unknown."""
    answers = tuple(answer_of(frame, rule, subject, onset) for subject in subjects_of(frame, rule))
    verdicts = {answer.verdict for answer in answers}
    if Verdict.PRESENT in verdicts:
        verdict = Verdict.PRESENT
    elif verdicts == {Verdict.ABSENT}:
        verdict = Verdict.ABSENT
    else:
        verdict = Verdict.UNKNOWN
    return Ruling(rule, verdict, answers)


def answer_of(frame: Frame, rule: Rule, subject: Subject, onset: float) -> Answer:
    """A rule's verdict on one subject: evidence against rules it out, else evidence for makes it present, else it is unknown.

    Evidence for that was looked at and is not there rules it out as well.
    """
    context = Context(frame, subject, onset)
    present = judge(rule.present, context)
    absent = judge(rule.absent, context) if rule.absent is not None else None
    if present.verdict is Verdict.ABSENT or (absent is not None and absent.verdict is Verdict.PRESENT):
        return Answer(subject, Verdict.ABSENT, present, absent)
    return Answer(subject, present.verdict, present, absent)


def subjects_of(frame: Frame, rule: Rule) -> list[Subject]:
    """Whom a rule is asked about: those of its scope that have any of its signals, else all of its scope, else the service.

    A rule about cards is asked of their hosts where no card is known.
    """
    service = Subject(Scope.SERVICE, frame.recording.service)
    if rule.scope is Scope.SERVICE:
        return [service]
    everyone = frame.recording.subjects[rule.scope]
    own = [name for name in signals_of(rule) if catalogue()[name].scope in (rule.scope, Scope.TARGET)]
    having = {subject for name in own for subject in frame.subjects_of(name) if subject.scope is rule.scope}
    spoken = {
        event.subject for event in frame.recording.events if event.subject is not None and event.subject.scope is rule.scope
    }
    chosen = sorted(having | spoken) if own else sorted({*everyone, *spoken})
    return chosen or list(everyone) or _hosts(frame, rule) or [service]


def _hosts(frame: Frame, rule: Rule) -> list[Subject]:
    """Nodes that something happened on, for a rule about cards where nobody measures cards."""
    if rule.scope is not Scope.GPU:
        return []
    return sorted({e.subject for e in frame.recording.events if e.subject is not None and e.subject.scope is Scope.NODE})


def signals_of(rule: Rule) -> tuple[str, ...]:
    """All signals that a rule speaks of."""
    parts = [rule.present, *([rule.absent] if rule.absent else [])]
    return tuple(dict.fromkeys(name for part in parts for name in signals_in(part)))


def signals_in(condition: Condition) -> Iterator[str]:
    """The signals that a condition speaks of."""
    match condition:
        case All():
            for part in condition.all:
                yield from signals_in(part)
        case Any():
            for part in condition.any:
                yield from signals_in(part)
        case Not():
            yield from signals_in(condition.not_)
        case Measure():
            yield condition.signal
        case Gone():
            yield condition.gone
        case _:
            return

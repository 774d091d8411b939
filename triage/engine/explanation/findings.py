"""Present rules as findings, in the order in which a person should read them."""

from collections.abc import Callable, Mapping, Sequence

from triage.engine.evidence import once_each
from triage.engine.explanation.called import Called
from triage.engine.explanation.names import names_of
from triage.engine.explanation.rank import SLACK, Candidate, Place, has_set_off, rank
from triage.engine.explanation.sentence import sentence
from triage.engine.explanation.state import Harm
from triage.engine.explanation.wording import check_lines
from triage.engine.frame import Frame
from triage.engine.rules.evaluate import Answer, Ruling
from triage.model.diagnosis import Confidence, Evidence, Finding, Role, Severity, Verdict
from triage.model.playbook import Advice
from triage.model.rule import GRADES, Rule
from triage.model.vocabulary import Cause, Layer

_WORDS: tuple[Confidence, ...] = ("proven", "likely", "possible")
_WEIGHTS: dict[Severity, int] = {"info": 0, "warning": 1, "critical": 2}


def findings_of(
    rulings: Sequence[Ruling], frame: Frame, harm: Harm, advice: Callable[[str], Advice], called: Called
) -> tuple[Finding, ...]:
    """The findings of all present rules, roots first.

    :param harm: whether users suffer
    :param advice: what a kind's playbook says to do first and not to do
    :param called: what people call subjects
    """
    found = {ruling.rule.id: ruling for ruling in rulings if ruling.verdict is Verdict.PRESENT}
    places = rank([_candidate(ruling, harm, frame) for ruling in found.values()], _bridges(rulings))
    return tuple(_finding(found[place.candidate.rule], place, _role(place, places), frame, advice, called) for place in places)


def _candidate(ruling: Ruling, harm: Harm, frame: Frame) -> Candidate:
    """A present rule as a candidate for the ranking."""
    rule, answers = ruling.rule, present_answers(ruling)
    harmed, onset, until = harm.by(rule.layer), frame.recording.onset(rule.id, _onset(answers)), _end(answers)
    return Candidate(
        rule.id,
        severity_of(rule, answers[0], harmed),
        len(_WORDS) - 1 - _WORDS.index(confidence_of(answers[0])),
        onset,
        frozenset(rule.effects),
        feeds=frozenset(rule.feeds_back),
        rivals=frozenset(look.rule for look in rule.look_alikes),
        sign=min((one.since for one in answers[0].held if one.since is not None), default=None),
        until=until,
        passing=_is_outlasted(onset, until, harm),
        effect=is_effect(ruling),
        standing=rule.standing,
        sustains=rule.sustains,
        trigger=rule.trigger,
        mechanism=_is_mechanism(rule),
        bystander=rule.bystander and harmed is True,
        otherwise=rule.otherwise and confidence_of(answers[0]) != "proven",
    )


def _is_mechanism(rule: Rule) -> bool:
    """Whether a kind says how something went wrong: what people work with says it below the platform (an image, a driver)."""
    how = rule.cause is not Cause.TOOLING or rule.layer is not Layer.PLATFORM
    return how and not (rule.otherwise or rule.bystander)


def _is_outlasted(onset: float | None, until: float | None, harm: Harm) -> bool:
    """Whether users suffered well before a finding began, and go on to suffer after it was over."""
    if onset is None or until is None or not harm.spells:
        return False
    return all(since + SLACK < onset and (end is None or end > until + SLACK) for since, end in harm.spells)


def is_effect(ruling: Ruling) -> bool:
    """Whether a present kind follows from something else: an effect, of which no alternative says what brought it about."""
    return ruling.rule.effect and all(way.grade == "weak" for answer in present_answers(ruling) for way in answer.holding)


def _bridges(rulings: Sequence[Ruling]) -> Mapping[str, frozenset[str]]:
    """Kinds that could not be judged with what they lead to: a chain may pass through them unseen."""
    return {r.rule.id: frozenset(r.rule.effects) for r in rulings if r.verdict is Verdict.UNKNOWN}


def severity_of(rule: Rule, answer: Answer, harmed: bool | None) -> Severity:
    """How bad a finding is: as its rule says where users suffer or nobody can say; where they do not, far less.

    What is proven is worth a warning before anybody suffers; a pattern that harms nobody is worth knowing.
    So are lines that are no news, unless users are known to suffer. Of a kind that often harms nobody users do not suffer where
    what it brings about was measured and is missing: they suffer from something else.
    """
    if rule.unharmed and answer.contradictions:
        return min(rule.unharmed, rule.severity, key=_WEIGHTS.__getitem__)
    if harmed or (harmed is None and not answer.usual):
        return rule.severity
    calm: Severity = rule.unharmed or ("warning" if answer.grade == "proof" else "info")
    return min(calm, rule.severity, key=_WEIGHTS.__getitem__)


def confidence_of(answer: Answer) -> Confidence:
    """What the evidence proves, a step less where what would contradict it could not be looked at, or an effect is missing."""
    step = GRADES.index(answer.grade) + bool(answer.doubtful or answer.contradictions)
    return _WORDS[min(step, len(_WORDS) - 1)]


def present_answers(ruling: Ruling) -> list[Answer]:
    """Answers of the subjects that have it: what proves most first, then the earliest, then by name."""
    return sorted(
        ruling.present, key=lambda a: (_WORDS.index(confidence_of(a)), a.since if a.since is not None else 0.0, a.subject)
    )


def _onset(answers: Sequence[Answer]) -> float | None:
    """The earliest known onset over the subjects."""
    return min((answer.since for answer in answers if answer.since is not None), default=None)


def _earliest(onset: float | None, evidence: Sequence[Evidence], frame: Frame) -> float | None:
    """After which moment a finding began: as what was seen first says; of an event it is the moment itself."""
    if onset is None:
        return None
    first = [one for one in evidence if one.since == onset and one.verdict is Verdict.PRESENT]
    if any(one.signal.startswith("event:") for one in first):
        return None
    return min([one.since_low for one in first if one.since_low is not None], default=onset - frame.grid.step)


def _end(answers: Sequence[Answer]) -> float | None:
    """When it was over on all subjects; None if it goes on with any."""
    ends = [answer.until for answer in answers]
    known = [end for end in ends if end is not None]
    return max(known) if len(known) == len(ends) else None


def _role(place: Place, places: Sequence[Place]) -> Role:
    """What a finding is among the others.

    No root is what harms nobody, nor a bystander that explains nothing beside a cause, nor what only set off a mechanism.
    """
    one = place.candidate
    if not place.root:
        return "consequence"
    aside = one.bystander and not place.explains and any(_is_cause(other) for other in places)
    set_off = one.trigger and any(has_set_off(one, other) for other in places)
    return "contributing" if aside or set_off or one.severity == "info" else "root"


def _is_cause(place: Place) -> bool:
    """Whether users may suffer from a finding by itself, as far as can be told."""
    return place.root and not place.candidate.bystander and place.candidate.severity != "info" and place.candidate.proof > 0


def _finding(ruling: Ruling, place: Place, role: Role, frame: Frame, advice: Callable[[str], Advice], called: Called) -> Finding:
    """A present rule as a person reads it."""
    rule, answers, recording = ruling.rule, present_answers(ruling), frame.recording
    worst = answers[0]
    onset = recording.onset(rule.id, _onset(answers))
    evidence = tuple(sorted(once_each(worst.shown), key=lambda e: e.verdict is not Verdict.PRESENT))
    severity, told = place.candidate.severity, advice(rule.id)
    return Finding(
        rule=rule.id,
        title=rule.title,
        summary=sentence(rule, worst, [answer.subject for answer in answers], onset, called),
        cause=rule.cause,
        layer=rule.layer,
        scale=rule.scale,
        subject=str(worst.subject),
        subjects=tuple(str(answer.subject) for answer in answers),
        who=tuple(called(answer.subject) for answer in answers),
        severity=severity,
        role=role,
        onset=onset,
        onset_low=_earliest(onset, evidence, frame),
        until=_end(answers),
        confidence=confidence_of(worst),
        evidence=evidence,
        leads_to=tuple(place.explains),
        because={kind: rule.effects[kind] for kind in place.explains if kind in rule.effects},
        explained_by=tuple(place.explained_by),
        loop=tuple(place.loop),
        contradicts=once_each(worst.contradictions),
        playbook=rule.id,
        first_step=told.first_step,
        do_not=told.do_not,
        names=names_of(worst.subject, recording),
    ).told_by(lambda: {"check": check_lines(evidence, worst.subject, recording)})

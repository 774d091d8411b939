"""Asks every rule of every subject that it is about."""

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cached_property

import numpy as np

from triage.classes import dataclass
from triage.engine.frame import Frame
from triage.engine.rules.conditions import Judge, either
from triage.engine.rules.context import Context, Look, Outcome
from triage.engine.rules.families import families_of
from triage.engine.rules.occurrences import is_news
from triage.engine.rules.survey import Survey, survey
from triage.engine.rules.verdicts import CODES, FAILS, HOLDS, OPEN, Asked, Codes
from triage.model.diagnosis import Evidence, Verdict
from triage.model.recording import Subject
from triage.model.rule import GRADES, All, Alternative, Any, Condition, Grade, Occurrence, Rule
from triage.model.vocabulary import Scope, catalogue

PRESENT, ABSENT, UNKNOWN = Verdict.PRESENT, Verdict.ABSENT, Verdict.UNKNOWN


@dataclass(frozen=True)
class Way:
    """What became of one alternative of a rule.

    :param outcome: of its condition
    :param against: of what refutes it, None if nothing does
    :param doubtful: what would refute it could not be looked at
    :param usual: it rests on lines alone that are no news, and no line of them proves anything by itself
    """

    alternative: Alternative
    verdict: Verdict
    outcome: Outcome
    against: Outcome | None
    doubtful: bool
    usual: bool = False

    @property
    def grade(self) -> Grade:
        """What it proves: a pattern of lines that are no news is none."""
        return "weak" if self.usual else self.alternative.grade


_STATED = ("fact:", "batch.fill")
"""What is known only if somebody states a setting."""


def _leaves_doubt(against: Outcome) -> bool:
    """Whether what would refute something could have been looked at, and was not.

    A setting that nobody states is as it is with everybody: who has another one states it.
    So is the share of a limit that nobody states.
    """
    if against.verdict is not UNKNOWN:
        return False
    unknown = [look.signal for look in against.looks if look.verdict is UNKNOWN]
    return not (unknown and all(signal.startswith(_STATED) for signal in unknown))


@dataclass(frozen=True)
class Answer:
    """A rule's verdict on one subject.

    :param ways: its alternatives
    :param refuted: of what refutes the kind however it shows itself, None if nothing does
    :param expected: of what it brings about, asked only where it is present
    """

    subject: Subject
    verdict: Verdict
    ways: tuple[Way, ...]
    refuted: Outcome | None
    expected: tuple[Outcome, ...] = ()

    @cached_property
    def holding(self) -> tuple[Way, ...]:
        """The alternatives that hold, what proves most first."""
        held = [way for way in self.ways if way.verdict is PRESENT]
        return tuple(sorted(held, key=lambda way: GRADES.index(way.grade)))

    @cached_property
    def grade(self) -> Grade:
        """What the evidence that holds proves: two weak ways of independent families are together what only this kind makes."""
        held = self.holding
        best = held[0].grade if held else "weak"
        if best != "weak":
            return best
        families = [frozenset(families_of(way.alternative.condition)) for way in held]
        apart = any(not one & other for index, one in enumerate(families) for other in families[index + 1 :])
        return "strong" if apart else "weak"

    @property
    def doubtful(self) -> bool:
        """Whether what would contradict the best of what holds could not be looked at."""
        unasked = self.refuted is not None and _leaves_doubt(self.refuted)
        return unasked or all(way.doubtful for way in self.holding)

    @property
    def usual(self) -> bool:
        """Whether all that holds is lines that are no news."""
        return all(way.usual for way in self.holding)

    @property
    def since(self) -> float | None:
        """When the first of the alternatives that hold began to; None if before all data, or nobody can say."""
        begun = [way.outcome.since for way in self.holding if way.outcome.since is not None]
        return min(begun, default=None)

    @property
    def until(self) -> float | None:
        """When the last of them was over; None if one goes on, or nobody can say."""
        ended = [way.outcome.until for way in self.holding]
        known = [end for end in ended if end is not None]
        return max(known) if known and len(known) == len(ended) else None

    @cached_property
    def shown(self) -> tuple[Evidence, ...]:
        """The evidence of the alternatives that hold; of all if none does."""
        return _evidence(look for way in self.holding or self.ways for look in way.outcome.looks)

    @cached_property
    def held(self) -> tuple[Evidence, ...]:
        """The part of what is shown that holds."""
        return _of(PRESENT, [way.outcome for way in self.holding or self.ways])

    @property
    def named(self) -> tuple[tuple[str, Look], ...]:
        """Values that the finding's sentence can speak of, those of what holds first."""
        ways = [*self.holding, *(way for way in self.ways if way.verdict is not PRESENT)]
        return tuple(pair for way in ways for pair in way.outcome.named)

    @property
    def deciding(self) -> tuple[Evidence, ...]:
        """The evidence that the verdict rests on."""
        if self.verdict is not ABSENT:
            return self.shown
        against = [self.refuted] if self.refuted is not None else []
        against += [way.against for way in self.ways if way.against is not None]
        contradicting = [outcome for outcome in against if outcome.verdict is PRESENT]
        if contradicting:
            return _of(PRESENT, contradicting) or _all_of(contradicting)
        outcomes = [way.outcome for way in self.ways]
        return _of(ABSENT, outcomes) or _all_of(outcomes)

    @property
    def silent(self) -> bool:
        """Whether nothing that was measured or happened speaks against it: only no sign of it was seen."""
        against = [self.refuted] if self.refuted is not None else []
        against += [way.against for way in self.ways if way.against is not None]
        if any(outcome.verdict is PRESENT for outcome in against):
            return False
        return not any(look.verdict is ABSENT and not _is_told(look) for way in self.ways for look in way.outcome.looks)

    @property
    def missing(self) -> tuple[str, ...]:
        """Signals, events and facts whose absence keeps the verdict open, in the order of the rule.

        Of a value that could not be compared with anything: the objective or fact that it could not be held against.
        """
        outcomes = [way.outcome for way in self.ways] + ([self.refuted] if self.refuted else [])
        return tuple(dict.fromkeys(look.lacks for one in outcomes for look in one.looks if look.verdict is UNKNOWN))

    @property
    def contradictions(self) -> tuple[Evidence, ...]:
        """What the kind should have brought about, was measured, and is not there; or is there, and should not be."""
        missed = [outcome for outcome in self.expected if outcome.verdict is ABSENT]
        return tuple(dict.fromkeys(piece for one in missed for piece in _of(ABSENT, [one]) or _of(PRESENT, [one])))


_TOLD = ("event:", "observed:said", "observed:life", "observed:change", "observed:identity", "observed:instrument")
"""What is seen only if somebody says it, or if it is noticed: that it was not is no value that could contradict anything."""


def _is_told(look: Look) -> bool:
    return look.signal.startswith(_TOLD)


def _evidence(looks: Iterable[Look]) -> tuple[Evidence, ...]:
    """The evidence of several looks, each piece once."""
    return tuple(dict.fromkeys(look.evidence for look in looks))


def _all_of(outcomes: Sequence[Outcome]) -> tuple[Evidence, ...]:
    """All evidence of several outcomes."""
    return _evidence(look for outcome in outcomes for look in outcome.looks)


def _of(verdict: Verdict, outcomes: Sequence[Outcome]) -> tuple[Evidence, ...]:
    """The evidence of one verdict."""
    return _evidence(look for outcome in outcomes for look in outcome.looks if look.verdict is verdict)


class Ruling:
    """A rule's verdict on everybody it was asked about. What it rests on is worked out for those of whom it is shown.

    :param subjects: who was asked, in order
    :param answer: works out the answer of one of them, by its place
    :param survey: the verdicts on all of them; None where each is asked by itself, since they are few
    :param verdict: works out the verdict on one of them and nothing else; None where the answer tells
    """

    def __init__(
        self,
        rule: Rule,
        subjects: Sequence[Subject],
        answer: Callable[[int], Answer],
        survey: Survey | None = None,
        verdict: Callable[[int], Verdict] | None = None,
    ) -> None:
        self.rule = rule
        self.subjects = subjects
        self._work_out = answer
        self._answers: dict[int, Answer] = {}
        self._decide = verdict or (lambda row: self.answer(row).verdict)
        self._survey = survey

    def answer(self, row: int) -> Answer:
        """The answer of one who was asked."""
        if row not in self._answers:
            self._answers[row] = self._work_out(row)
        return self._answers[row]

    @cached_property
    def codes(self) -> Codes:
        """The verdict on each, shape (S,)."""
        if self._survey is not None:
            return self._survey.codes
        return np.array([CODES[verdict] for verdict in self._verdicts], dtype=np.int8)

    @cached_property
    def _verdicts(self) -> list[Verdict]:
        """Of few who are asked the verdict on each."""
        return [self._decide(row) for row in range(len(self.subjects))]

    @cached_property
    def verdict(self) -> Verdict:
        """Present if it is on anybody, absent if it is ruled out on all, else unknown."""
        if self._survey is None:
            return either(self._verdicts) if self._verdicts else UNKNOWN
        if (self.codes == HOLDS).any():
            return PRESENT
        return ABSENT if len(self.codes) and (self.codes == FAILS).all() else UNKNOWN

    @cached_property
    def present(self) -> list[Answer]:
        """The answers of those on whom it is."""
        return self._told(np.flatnonzero(self.codes == HOLDS))

    @property
    def nearest(self) -> Answer:
        """Of a rule that is ruled out the answer of the one that came nearest to it: most of the evidence for it holds."""
        told = self._told(range(len(self.subjects)) if self._survey is None else self._survey.nearest())
        return max(told, key=lambda one: sum(look.verdict is PRESENT for way in one.ways for look in way.outcome.looks))

    @property
    def missing(self) -> tuple[str, ...]:
        """What is missing over all who were asked, in the order of the rule."""
        told = self._told(range(len(self.subjects)) if self._survey is None else self._survey.lacking())
        return tuple(dict.fromkeys(name for answer in told for name in answer.missing))

    def most_shown(self, shown: Callable[[Answer], float], noticed: Collection[str], least: float) -> Answer | None:
        """Of those on whom it is open the answer of which most shows; None if that is less than is asked for.

        :param shown: how much of an answer shows, 1 at most
        :param noticed: signals that tell nothing in it
        """
        best: tuple[float, int] | None = None
        for row, most in self._most_at_most(noticed, least):
            if best is not None and (most < best[0] or (most == best[0] and row > -best[1])):
                continue
            share = shown(self.answer(row))
            if share >= least:
                best = max(best or (share, -row), (share, -row))
        return None if best is None else self.answer(-best[1])

    def _most_at_most(self, noticed: Collection[str], least: float) -> Sequence[tuple[int, float]]:
        if self._survey is not None:
            return self._survey.showing(noticed, least)
        return [(row, 1.0) for row in np.flatnonzero(self.codes == OPEN).tolist()]

    def _told(self, rows: Iterable[int]) -> list[Answer]:
        return [self.answer(int(row)) for row in rows]


def evaluate(frame: Frame, rules: Sequence[Rule], onset: float | None) -> list[Ruling]:
    """The verdicts of all rules."""
    asking = Asking(frame, onset)
    return [ruling_of(rule, asking) for rule in rules]


class Asking:
    """Whom rules are asked of: what is known of one rule's subjects is known to the others."""

    def __init__(self, frame: Frame, onset: float | None) -> None:
        self.frame = frame
        self.onset = onset
        self._alone: dict[Subject, Judge] = {}
        self._together: dict[tuple[Subject, ...], Asked] = {}

    def alone(self, subject: Subject) -> Judge:
        """Who judges conditions on one."""
        if subject not in self._alone:
            self._alone[subject] = Judge(Context(self.frame, subject, self.onset))
        return self._alone[subject]

    def together(self, subjects: tuple[Subject, ...]) -> Asked:
        """Where they are asked of many."""
        if subjects not in self._together:
            self._together[subjects] = Asked(self.frame, subjects, self.onset)
        return self._together[subjects]


FEW = 4
"""Chosen: so few are asked faster one by one."""


def ruling_of(rule: Rule, asking: Asking) -> Ruling:
    """A rule asked of everybody it is about."""
    subjects = tuple(subjects_of(asking.frame, rule))

    def answer(row: int) -> Answer:
        return answer_of(rule, asking.alone(subjects[row]))

    def verdict(row: int) -> Verdict:
        return verdict_of(rule, asking.alone(subjects[row]))

    if len(subjects) <= FEW:
        return Ruling(rule, subjects, answer, verdict=verdict)
    return Ruling(rule, subjects, answer, survey(rule, asking.together(subjects)))


def verdict_of(rule: Rule, judge: Judge) -> Verdict:
    """A rule's verdict on one subject, as :func:`answer_of` gives it with what it rests on."""
    holds = any(_holds(alternative, judge) for alternative in rule.shows)
    if _is_refuted(rule.refuted_by, judge):
        return ABSENT
    if holds:
        return PRESENT if _is_given(rule.needs, judge) else UNKNOWN
    return ABSENT if all(_fails(alternative, judge) for alternative in rule.shows) else UNKNOWN


def _holds(alternative: Alternative, judge: Judge) -> bool:
    """Whether an alternative holds, with what it needs and what refutes it."""
    return (
        judge.holds(alternative.condition)
        and _is_given(alternative.needs, judge)
        and not _is_refuted(alternative.refuted_by, judge)
    )


def _fails(alternative: Alternative, judge: Judge) -> bool:
    """Whether an alternative is ruled out."""
    return judge.fails(alternative.condition) or _is_refuted(alternative.refuted_by, judge)


def _is_refuted(against: Condition | None, judge: Judge) -> bool:
    """Whether what refutes a claim is known to be there."""
    return against is not None and judge.holds(against)


def _is_given(needs: Condition | None, judge: Judge) -> bool:
    """Whether what a claim needs is known to be there."""
    return needs is None or judge.holds(needs)


def answer_of(rule: Rule, judge: Judge) -> Answer:
    """A rule's verdict on one subject.

    Present if one of its alternatives holds, absent if what refutes it holds or none of its alternatives can, else unknown.
    Where what it needs is not known to be there, it is never present.
    """
    subject = judge.context.subject
    ways = tuple([_way(alternative, judge) for alternative in rule.shows])
    verdicts = {way.verdict for way in ways}
    if verdicts == {ABSENT}:
        return Answer(subject, ABSENT, ways, None)
    refuted = judge(rule.refuted_by) if rule.refuted_by is not None else None
    if refuted is not None and refuted.verdict is PRESENT:
        return Answer(subject, ABSENT, ways, refuted)
    if PRESENT not in verdicts or not _is_given(rule.needs, judge):
        return Answer(subject, UNKNOWN, ways, refuted)
    return Answer(subject, PRESENT, ways, refuted, tuple(judge(effect) for effect in rule.expects))


def _way(alternative: Alternative, judge: Judge) -> Way:
    """What becomes of one alternative."""
    outcome = judge(alternative.condition)
    if outcome.verdict is ABSENT:
        return Way(alternative, ABSENT, outcome, None, doubtful=False)
    against = judge(alternative.refuted_by) if alternative.refuted_by is not None else None
    verdict = outcome.verdict
    if against is not None and against.verdict is PRESENT:
        verdict = ABSENT
    elif verdict is PRESENT and not _is_given(alternative.needs, judge):
        verdict = UNKNOWN
    doubtful = against is not None and _leaves_doubt(against)
    usual = verdict is PRESENT and alternative.grade != "proof" and _is_usual(alternative.condition, judge)
    return Way(alternative, verdict, outcome, against, doubtful, usual)


def _is_usual(condition: Condition, judge: Judge) -> bool:
    """Whether a condition that holds rests on counted lines that are no news, and on nothing else."""
    match condition:
        case All():
            return all(_is_usual(part, judge) for part in condition.all)
        case Any():
            return all(_is_usual(part, judge) for part in condition.any if judge(part).verdict is PRESENT)
        case Occurrence():
            return not is_news(condition, judge.context)
        case _:
            return False


def subjects_of(frame: Frame, rule: Rule) -> list[Subject]:
    """Whom a rule is asked about: those of its scope that have any of its signals, else all of its scope, else the service.

    A rule about cards is asked of their hosts where no card is known.
    """
    service = Subject(Scope.SERVICE, frame.recording.service)
    if rule.scope is Scope.SERVICE:
        return [service]
    everyone = frame.recording.subjects[rule.scope]
    own = [name for name in rule.signals if catalogue()[name].scope in (rule.scope, Scope.TARGET)]
    having = {subject for name in own for subject in frame.subjects_of(name) if subject.scope is rule.scope}
    told = frame.remembered(("told of", rule.scope), lambda: _told_of(frame, rule.scope))
    chosen = sorted(having | told) if own else sorted({*everyone, *told})
    return chosen or list(everyone) or _hosts(frame, rule) or [service]


def _told_of(frame: Frame, scope: Scope) -> frozenset[Subject]:
    """Those of a scope of whom events or observations tell."""
    events = (event.subject for event in frame.recording.events)
    return frozenset(one for one in (*events, *(odd.subject for odd in frame.seen.odd)) if one is not None and one.scope is scope)


def _hosts(frame: Frame, rule: Rule) -> list[Subject]:
    """Nodes that something happened on, for a rule about cards where nobody measures cards."""
    if rule.scope is not Scope.GPU:
        return []
    return sorted({e.subject for e in frame.recording.events if e.subject is not None and e.subject.scope is Scope.NODE})

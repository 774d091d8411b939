"""The whole way from a recording to a diagnosis."""

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import MappingProxyType

from triage.engine import coverage, muting
from triage.engine.belonging import without_others
from triage.engine.derived import derive
from triage.engine.explanation.called import Called, named
from triage.engine.explanation.cause import cause_of
from triage.engine.explanation.findings import findings_of
from triage.engine.explanation.headline import headline
from triage.engine.explanation.state import harm_of, is_busier, looked, state_of
from triage.engine.frame import Frame
from triage.engine.observations import observe
from triage.engine.phrases import of_observation
from triage.engine.promises import ledger, signals_noticed
from triage.engine.promises.signs import signs
from triage.engine.rules.evaluate import Ruling, evaluate
from triage.engine.symptoms import symptoms
from triage.engine.witnesses import question
from triage.model.diagnosis import Diagnosis, Finding, Odd, RuleSet, Span, Verdict
from triage.model.observation import Observation
from triage.model.playbook import Advice
from triage.model.recording import Recording, in_order
from triage.model.rule import Rule
from triage.model.service import Mute
from triage.model.vocabulary import Layer, Scope


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Without a look for garbage in circles: a diagnosis makes hundreds of thousands of objects and hardly any such garbage."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@_undisturbed()
def diagnose(
    recording: Recording,
    rules: Sequence[Rule],
    advice: Callable[[str], Advice] = lambda _kind: Advice(),
    *,
    mutes: Mapping[str, Mute] = MappingProxyType({}),
    ruleset: RuleSet | None = None,
) -> Diagnosis:
    """What is wrong with a service, what it is not, and what could not be seen.

    :param advice: what a kind's playbook says to do first and not to do
    :param mutes: kinds that a person has muted for this service
    :param ruleset: what is judged with, to be told
    """
    frame = looked_at(recording)
    rules = sorted(rules, key=lambda rule: rule.id)
    vitals, noticed = ledger(frame), symptoms(frame)
    onset = min((s.onset for s in noticed if s.onset is not None), default=recording.window.start) if noticed else None
    rulings = evaluate(frame, rules, onset)
    called = Called(frame.recording)
    harm = harm_of(vitals, busier=is_busier(frame))
    found = findings_of(rulings, frame, harm, advice, called)
    findings = muting.marked(found, muting.heeded(mutes, recording.window.end))
    unread = coverage.unread_lines(frame.recording)
    whole = state_of(vitals, findings, frame)
    status = muting.state_with(state_of(vitals, muting.counted(findings), frame), whole)
    status = looked(status, _judged(rulings), len(rules), frame)
    odd = _odd(frame.seen.odd, findings)
    answer = Diagnosis(
        service=recording.service,
        window=Span(
            start=recording.window.start,
            end=recording.window.end,
            baseline_start=frame.grid.times[0] - frame.grid.step if frame.grid.usual else recording.window.start,
            baseline_end=recording.window.usual_end if frame.grid.usual and recording.window.baseline_end is not None else None,
        ),
        status=status,
        cause=cause_of(status, findings, rulings, signals_noticed(frame), harmed=harm.users is True),
        headline=headline(status, findings, vitals, odd, unread, recording, (_judged(rulings), len(rules)), called),
        vitals=(*vitals, *signs(frame, vitals)),
        symptoms=noticed,
        findings=findings,
        ruled_out=(),
        not_evaluated=(),
        layers=tuple(coverage.layer_view(layer, rulings, findings) for layer in Layer),
        observations=odd,
        unread=unread,
        muted=muting.shown(mutes, findings, recording.window.end),
        coverage=coverage.NOTHING,
        ruleset=ruleset,
        facts={fact.key: fact.value for fact in frame.recording.facts if fact.subject.scope is Scope.SERVICE},
    )
    return named(answer.told_by(lambda: coverage.looked_at(frame, rulings, rules, findings, called)), called)


def _judged(rulings: Sequence[Ruling]) -> int:
    """How many kinds could be judged."""
    return sum(ruling.verdict is not Verdict.UNKNOWN for ruling in rulings)


def looked_at(recording: Recording) -> Frame:
    """The frame of a recording after the witnesses were questioned, what follows was derived and what is odd was noted."""
    frame = Frame(_ordered(without_others(recording)))
    frame.seen = question(frame)
    derive(frame)
    observe(frame)
    return frame


def _ordered(recording: Recording) -> Recording:
    """The recording in a fixed order: the answer does not depend on the order in which sources spoke, not in its last digit."""
    events = sorted(
        recording.events,
        key=lambda e: (e.time, e.kind, e.name, e.subject or (), e.source, e.text, sorted(e.attrs.items())),
    )
    return replace(
        recording,
        series=in_order(recording.series),
        histograms=in_order(recording.histograms),
        events=events,
        facts=sorted(recording.facts, key=lambda fact: (fact.subject, fact.key, str(fact.value))),
    )


def _odd(observations: Sequence[Observation], findings: Sequence[Finding]) -> tuple[Odd, ...]:
    """Observations as the report shows them: those that have to be explained and are not first."""
    bases = [_Basis(finding) for finding in findings]
    shown = [_shown(one, bases) for one in observations]
    return tuple(sorted(shown, key=lambda one: (not one.salient, bool(one.explained_by), one.since or 0.0, one.subject, one.of)))


def _shown(one: Observation, bases: Sequence["_Basis"]) -> Odd:
    """One observation with the findings whose evidence it is."""
    return Odd(
        sort=one.sort,
        of=one.of,
        subject=str(one.subject),
        text=one.text,
        phrase=of_observation(one),
        since=one.since,
        until=one.end,
        size=one.size,
        salient=one.salient,
        explained_by=tuple([basis.rule for basis in bases if basis.has(one)]),
    )


class _Basis:
    """What a finding rests on: its evidence that holds, looked up by what an observation may have in common with it."""

    def __init__(self, finding: Finding) -> None:
        held = [one for one in finding.evidence if one.verdict is Verdict.PRESENT]
        self.rule = finding.rule
        self._pieces = frozenset(held)
        self._texts = {one.text for one in held}
        self._signals = {one.signal for one in held}

    def has(self, one: Observation) -> bool:
        """Whether an observation, or the signal that it is about, is part of it."""
        return (
            one.text in self._texts
            or (one.sort == "shift" and one.of in self._signals)
            or (one.evidence is not None and one.evidence in self._pieces)
        )

"""The whole way from a recording to a diagnosis."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from triage.engine.derive import derive
from triage.engine.evaluate import Answer, Ruling, evaluate, signals_of
from triage.engine.frame import Frame
from triage.engine.rank import Candidate, Place, rank
from triage.engine.sources import how_to_get
from triage.engine.symptoms import symptoms, watched
from triage.engine.wording import check_lines, headline, sentence
from triage.model.diagnosis import (
    Coverage,
    Diagnosis,
    Finding,
    LayerState,
    LayerView,
    NotEvaluated,
    RuledOut,
    SignalCoverage,
    SourceView,
    Span,
    Status,
    Symptom,
    Verdict,
)
from triage.model.recording import Recording
from triage.model.rule import Rule
from triage.model.vocabulary import Layer, Scope, catalogue

_BY_PROOF = {3: 0.95, 2: 0.8, 1: 0.6}
"""Confidence that evidence of each specificity gives when all of it is there."""


def diagnose(recording: Recording, rules: Sequence[Rule], first_step: Callable[[str], str] = lambda _kind: "") -> Diagnosis:
    """What is wrong with a service, what it is not, and what could not be seen.

    :param first_step: gives the first step of a kind's playbook
    """
    frame = Frame(_ordered(recording))
    rules = sorted(rules, key=lambda rule: rule.id)
    derive(frame)
    noticed = symptoms(frame)
    onset = min((s.onset for s in noticed if s.onset is not None), default=recording.window.start)
    rulings = evaluate(frame, rules, onset)
    found = [ruling for ruling in rulings if ruling.verdict is Verdict.PRESENT]
    places = rank([_candidate(ruling) for ruling in found], _bridges(rulings))
    by_rule = {ruling.rule.id: ruling for ruling in found}
    findings = tuple(_finding(by_rule[place.candidate.rule], place, frame, first_step) for place in places)
    status = _status(findings, noticed, frame)
    return Diagnosis(
        service=recording.service,
        window=Span(
            start=recording.window.start,
            end=recording.window.end,
            baseline_start=frame.grid.times[0] - frame.grid.step if frame.grid.first else recording.window.start,
        ),
        status=status,
        headline=headline(status, findings, noticed, recording),
        symptoms=noticed,
        findings=findings,
        ruled_out=_ruled_out(rulings, findings),
        not_evaluated=tuple(_not_evaluated(r) for r in rulings if r.verdict is Verdict.UNKNOWN),
        layers=tuple(_layer(layer, rulings, findings) for layer in Layer),
        coverage=_coverage(frame, rulings, rules),
        facts={fact.key: fact.value for fact in frame.recording.facts if fact.subject.scope is Scope.SERVICE},
    )


def _ordered(recording: Recording) -> Recording:
    """The recording in a fixed order: the answer does not depend on the order in which sources spoke, not in its last digit."""
    events = sorted(
        recording.events,
        key=lambda e: (e.time, e.kind, e.name, e.subject or (), e.source, e.text, sorted(e.attrs.items())),
    )
    return replace(
        recording,
        series=sorted(recording.series, key=lambda one: (one.signal, one.subject)),
        histograms=sorted(recording.histograms, key=lambda one: (one.signal, one.subject)),
        events=events,
        facts=sorted(recording.facts, key=lambda fact: (fact.subject, fact.key, str(fact.value))),
    )


def _candidate(ruling: Ruling) -> Candidate:
    """A present rule as a candidate for the ranking."""
    rule = ruling.rule
    return Candidate(rule.id, rule.severity, rule.specificity, _onset(_present(ruling)), frozenset(rule.leads_to))


def _bridges(rulings: Sequence[Ruling]) -> Mapping[str, frozenset[str]]:
    """Kinds that could not be judged with what they lead to: a chain may pass through them unseen."""
    return {r.rule.id: frozenset(r.rule.leads_to) for r in rulings if r.verdict is Verdict.UNKNOWN}


def _present(ruling: Ruling) -> list[Answer]:
    """Answers of the subjects that have it, worst (earliest, then by name) first."""
    answers = [answer for answer in ruling.answers if answer.verdict is Verdict.PRESENT]
    return sorted(answers, key=lambda a: (_since(a) if _since(a) is not None else 0.0, a.subject))


def _since(answer: Answer) -> float | None:
    """When a finding began on a subject: when the first of the conditions that hold began to, as far as known."""
    times = [e.since for e in answer.present.evidence if e.verdict is Verdict.PRESENT and e.since is not None]
    return min(times) if times else None


def _onset(answers: Sequence[Answer]) -> float | None:
    """The earliest known onset over the subjects."""
    times = [time for answer in answers if (time := _since(answer)) is not None]
    return min(times) if times else None


def _finding(ruling: Ruling, place: Place, frame: Frame, first_step: Callable[[str], str]) -> Finding:
    """A present rule as a person reads it."""
    rule, answers = ruling.rule, _present(ruling)
    worst = answers[0]
    onset = _onset(answers)
    evidence = tuple(sorted(worst.present.evidence, key=lambda e: e.verdict is not Verdict.PRESENT))
    return Finding(
        rule=rule.id,
        title=rule.title,
        summary=sentence(rule, worst, onset, len(answers)),
        cause=rule.cause,
        layer=rule.layer,
        scale=rule.scale,
        subject=str(worst.subject),
        subjects=tuple(str(answer.subject) for answer in answers),
        severity=rule.severity,
        role="root" if place.root and rule.severity != "info" else "contributing" if place.root else "consequence",
        onset=onset,
        confidence=_confidence(rule, worst),
        evidence=evidence,
        leads_to=tuple(place.explains),
        explained_by=tuple(place.explained_by),
        loop=tuple(place.loop),
        contradicts=(),
        check=check_lines(evidence, worst.subject, frame.recording),
        playbook=rule.id,
        first_step=first_step(rule.id),
    )


def _confidence(rule: Rule, answer: Answer) -> float:
    """How sure a finding is: by what its evidence proves, less what was missing of the evidence for and against."""
    parts = [*answer.present.evidence, *(answer.absent.evidence if answer.absent else ())]
    seen = sum(e.verdict is not Verdict.UNKNOWN for e in parts) / len(parts) if parts else 1.0
    return round(_BY_PROOF[rule.specificity] * (0.6 + 0.4 * seen), 2)


def _status(findings: Sequence[Finding], noticed: Sequence[Symptom], frame: Frame) -> Status:
    """The state of the service: never healthy where nothing that users notice was measured."""
    severities = {finding.severity for finding in findings}
    seen = watched(frame) and not frame.recording.rejected.keys() & {"latency.ttft", "latency.itl", "latency.e2e"}
    if "critical" in severities:
        return Status.INCIDENT
    if "warning" in severities or noticed:
        return Status.DEGRADED
    return Status.HEALTHY if seen else Status.INCONCLUSIVE


def _ruled_out(rulings: Sequence[Ruling], findings: Sequence[Finding]) -> tuple[RuledOut, ...]:
    """Kinds that are not there; look-alikes of what was found come first."""
    near = {look.rule for ruling in rulings if ruling.verdict is Verdict.PRESENT for look in ruling.rule.look_alikes}
    layers = {finding.layer for finding in findings if finding.role == "root"}
    out = [
        RuledOut(rule=r.rule.id, title=r.rule.title, layer=r.rule.layer, evidence=_nearest(r).deciding)
        for r in rulings
        if r.verdict is Verdict.ABSENT
    ]
    return tuple(sorted(out, key=lambda one: (one.rule not in near, one.layer not in layers, one.rule)))


def _nearest(ruling: Ruling) -> Answer:
    """The subject on which an absent rule came nearest to being present: most of its evidence for holds."""
    return max(ruling.answers, key=lambda a: sum(e.verdict is Verdict.PRESENT for e in a.present.evidence))


def _not_evaluated(ruling: Ruling) -> NotEvaluated:
    """A kind that stays open, with what is missing over all its subjects."""
    missing = tuple(dict.fromkeys(name for answer in ruling.answers for name in answer.missing))
    return NotEvaluated(
        rule=ruling.rule.id, title=ruling.rule.title, layer=ruling.rule.layer, missing=missing, how_to_get=how_to_get(missing)
    )


def _layer(layer: Layer, rulings: Sequence[Ruling], findings: Sequence[Finding]) -> LayerView:
    """One layer: implicated by a finding; cleared if at least as many of its kinds are ruled out as stay open."""
    here = [ruling for ruling in rulings if ruling.rule.layer is layer]
    present = tuple(finding.rule for finding in findings if finding.layer is layer)
    out = sum(ruling.verdict is Verdict.ABSENT for ruling in here)
    unknown = sum(ruling.verdict is Verdict.UNKNOWN for ruling in here)
    grave = any(finding.layer is layer and finding.severity != "info" for finding in findings)
    state = LayerState.IMPLICATED if grave else LayerState.CLEARED if out and out >= unknown else LayerState.NOT_EVALUATED
    return LayerView(layer=layer, state=state, findings=present, ruled_out=out, not_evaluated=unknown)


def _coverage(frame: Frame, rulings: Sequence[Ruling], rules: Sequence[Rule]) -> Coverage:
    """What could be looked at."""
    asked = dict.fromkeys(name for rule in rules for name in signals_of(rule))
    recording = frame.recording
    return Coverage(
        sources=tuple(SourceView(name=s.name, state=s.state.value, reason=s.reason) for s in recording.sources),
        signals=tuple(_signal_coverage(frame, name) for name in catalogue() if name in asked or frame.has(name)),
        rules_evaluated=sum(ruling.verdict is not Verdict.UNKNOWN for ruling in rulings),
        rules_total=len(rules),
        problems=tuple(dict.fromkeys((*recording.problems, *frame.rejected.values()))),
    )


def _signal_coverage(frame: Frame, name: str) -> SignalCoverage:
    """Whether one signal could be used."""
    subjects = frame.subjects_of(name)
    if name in frame.rejected:
        return SignalCoverage(signal=name, state="out_of_range", subjects=0, reason=frame.rejected[name])
    if not subjects:
        return SignalCoverage(signal=name, state="missing", subjects=0, reason=how_to_get((name,)))
    late = slice(max(frame.grid.first, len(frame.grid.times) * 3 // 4), len(frame.grid.times))
    counts = [pair[1] for subject in frame.histograms(name) if (pair := frame.sum_and_count(name, subject)) is not None]
    if any(not np.isnan(cells[late]).all() for cells in (*frame.of(name).values(), *counts)):
        return SignalCoverage(signal=name, state="present", subjects=len(subjects))
    return SignalCoverage(signal=name, state="stale", subjects=len(subjects), reason="no sample near the end of the window")

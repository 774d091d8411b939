"""What could and what could not be looked at: ruled-out kinds, open kinds, layers, signals, unread lines."""

from collections.abc import Sequence

import numpy as np

from triage.engine.evidence import once_each
from triage.engine.explanation.called import Called, with_names
from triage.engine.frame import Frame
from triage.engine.rules.evaluate import Ruling
from triage.engine.sources import how_to_get
from triage.model.diagnosis import (
    Coverage,
    Finding,
    LayerState,
    LayerView,
    NotEvaluated,
    RuledOut,
    SignalCoverage,
    SourceView,
    Unread,
    Verdict,
)
from triage.model.recording import LOG, Event, Recording
from triage.model.rule import Rule
from triage.model.vocabulary import Layer, catalogue

_MOST_UNREAD = 20
"""Chosen: more lines than a person reads in a list."""


NOTHING = Coverage(sources=(), signals=(), rules_evaluated=0, rules_total=0)
"""Nothing could be looked at."""


def looked_at(
    frame: Frame, rulings: Sequence[Ruling], rules: Sequence[Rule], findings: Sequence[Finding], called: Called
) -> dict[str, object]:
    """All of this that a diagnosis tells, by its fields."""
    return {
        "ruled_out": tuple(with_names(one, called, "evidence") for one in ruled_out(rulings, findings)),
        "unseen": tuple(with_names(one, called, "evidence") for one in unseen(rulings, findings)),
        "not_evaluated": tuple(not_evaluated(r) for r in rulings if r.verdict is Verdict.UNKNOWN),
        "coverage": coverage(frame, rulings, rules),
    }


def ruled_out(rulings: Sequence[Ruling], findings: Sequence[Finding]) -> tuple[RuledOut, ...]:
    """Kinds that something speaks against that was measured or happened; look-alikes of what was found come first."""
    return _not_there([r for r in rulings if r.verdict is Verdict.ABSENT and not r.nearest.silent], rulings, findings)


def unseen(rulings: Sequence[Ruling], findings: Sequence[Finding]) -> tuple[RuledOut, ...]:
    """Kinds of which no sign was seen where it would show: silence rules nothing out."""
    return _not_there([r for r in rulings if r.verdict is Verdict.ABSENT and r.nearest.silent], rulings, findings)


def _not_there(absent: Sequence[Ruling], rulings: Sequence[Ruling], findings: Sequence[Finding]) -> tuple[RuledOut, ...]:
    near = {look.rule for ruling in rulings if ruling.verdict is Verdict.PRESENT for look in ruling.rule.look_alikes}
    layers = {finding.layer for finding in findings if finding.role == "root"}
    out = [
        RuledOut(rule=r.rule.id, title=r.rule.title, layer=r.rule.layer, evidence=once_each(r.nearest.deciding)) for r in absent
    ]
    return tuple(sorted(out, key=lambda one: (one.rule not in near, one.layer not in layers, one.rule)))


def not_evaluated(ruling: Ruling) -> NotEvaluated:
    """A kind that stays open, with what is missing over all its subjects."""
    missing = ruling.missing
    return NotEvaluated(
        rule=ruling.rule.id, title=ruling.rule.title, layer=ruling.rule.layer, missing=missing, how_to_get=how_to_get(missing)
    )


def layer_view(layer: Layer, rulings: Sequence[Ruling], findings: Sequence[Finding]) -> LayerView:
    """One layer: implicated by a finding that is worth a warning; cleared only if every one of its kinds is ruled out."""
    here = [ruling for ruling in rulings if ruling.rule.layer is layer]
    present = tuple(finding.rule for finding in findings if finding.layer is layer)
    out = sum(ruling.verdict is Verdict.ABSENT for ruling in here)
    unknown = sum(ruling.verdict is Verdict.UNKNOWN for ruling in here)
    grave = any(finding.layer is layer and finding.severity != "info" for finding in findings)
    if grave:
        state = LayerState.IMPLICATED
    elif out:
        state = LayerState.PARTLY if unknown or present else LayerState.CLEARED
    else:
        state = LayerState.NOT_EVALUATED
    return LayerView(layer=layer, state=state, findings=present, ruled_out=out, not_evaluated=unknown)


def coverage(frame: Frame, rulings: Sequence[Ruling], rules: Sequence[Rule]) -> Coverage:
    """What could be looked at."""
    asked = dict.fromkeys(name for rule in rules for name in rule.signals)
    recording = frame.recording
    return Coverage(
        sources=tuple(
            SourceView(name=s.name, state=s.state.value, reason=s.reason, files=s.files, lines=s.lines) for s in recording.sources
        ),
        signals=tuple(_signal_coverage(frame, name) for name in catalogue() if name in asked or frame.has(name)),
        rules_evaluated=sum(ruling.verdict is not Verdict.UNKNOWN for ruling in rulings),
        rules_total=len(rules),
        dialects=_dialects(recording),
        problems=tuple(dict.fromkeys((*recording.problems, *frame.rejected.values()))),
    )


def _dialects(recording: Recording) -> tuple[str, ...]:
    """Who was heard by metrics."""
    panels = (one for each in (recording.panels, recording.histogram_panels) for several in each.values() for one in several)
    heard = {panel.dialect for panel in panels}
    return tuple(sorted(heard - {LOG, ""}))


def _signal_coverage(frame: Frame, name: str) -> SignalCoverage:
    """Whether one signal could be used."""
    subjects = frame.subjects_of(name)
    if name in frame.rejected:
        return SignalCoverage(signal=name, state="out_of_range", subjects=0, reason=frame.rejected[name])
    if not subjects:
        lost = frame.recording.unanswered.get(name)
        return SignalCoverage(signal=name, state="missing", subjects=0, reason=lost or how_to_get((name,)))
    late = slice(max(frame.grid.first, len(frame.grid.times) * 3 // 4), len(frame.grid.times))
    counts = [pair[1] for subject in frame.histograms(name) if (pair := frame.sum_and_count(name, subject)) is not None]
    if any(not np.isnan(cells[late]).all() for cells in (*frame.of(name).values(), *counts)):
        return SignalCoverage(signal=name, state="present", subjects=len(subjects))
    return SignalCoverage(signal=name, state="stale", subjects=len(subjects), reason="no sample near the end of the window")


def unread_lines(recording: Recording) -> tuple[Unread, ...]:
    """Error-like lines of the window that nothing understands and that are not known from before, the first ones first."""
    new = [e for e in recording.events_of("residue") if e.attrs.get("new") and e.time >= recording.window.start]
    return tuple(_unread(event) for event in new[:_MOST_UNREAD])


def _unread(event: Event) -> Unread:
    """One of them."""
    told = event.attrs
    return Unread(
        text=event.text,
        template=told.get("template", ""),
        count=int(told.get("count", "1")),
        emitter=told.get("emitter", ""),
        subject=str(event.subject or ""),
        source=event.source,
        first=float(told.get("first", event.time)),
        last=float(told.get("last", event.time)),
    )

"""What is told of the thing that is highlighted: a vital sign, a layer, a question, a piece of evidence, a source, a signal.

A place is a word and a name, as in ``rule:retry-storm``; the lists on all screens use the same places.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from textual.content import Content

from triage.classes import dataclass
from triage.model.diagnosis import Evidence, Finding, SignalCoverage, Verdict, Vital
from triage.model.recording import Event
from triage.model.units import clock
from triage.model.vocabulary import Combine, Layer, catalogue
from triage.render.answer import left_over, odd_line
from triage.render.reading import (
    Reading,
    against,
    began,
    gaps,
    inputs_of,
    is_told,
    lasted,
    layer_told,
    meaning,
    named,
    reading,
    values_in,
    vital_evidence,
    vital_reading,
    whom,
)
from triage.tui.curves import coarse, events_of, numbers
from triage.tui.drawn import Draw, nothing
from triage.tui.snapshot import Question, Snapshot
from triage.tui.words import (
    ABOUT,
    HOLDS,
    LAYERS,
    VERDICTS,
    VITALS,
    answer,
    counted,
    curve,
    first_lines,
    hanging,
    heading,
    here_and_otherwise,
    joined,
    labelled,
    lines,
    mark,
    severity,
    short,
    spread,
    text,
)

_SUBJECTS = 3
_EVENTS = 40
_PROOF = 3


@dataclass(frozen=True)
class Detail:
    """What is told of one thing.

    :param head: above the chart
    :param evidence: what the chart shows, if anything
    :param foot: below the chart
    :param copies: lines to take along, the most useful first
    :param events: what is looked at of all that happened, which is drawn as lanes; None: no lanes are wanted
    :param compares: whether the subjects of the evidence's signal are worth seeing side by side here
    """

    head: Draw = nothing
    evidence: Evidence | None = None
    foot: Draw = nothing
    copies: tuple[str, ...] = ()
    compares: bool = True
    events: tuple[Event, ...] | None = None


def detail_of(where: str, snapshot: Snapshot) -> Detail:
    """What is told of a place; nothing of one that the snapshot does not know."""
    kind, _, name = where.partition(":")
    if kind == "layer":
        return _layer_detail(Layer(name), snapshot)
    if kind == "vital":
        vital = snapshot.vital(name)
        return _vital_detail(vital, snapshot) if vital is not None else Detail()
    if kind in ("odd", "unread"):
        return _odd_detail(kind, int(name), snapshot)
    if kind == "rule":
        question = snapshot.question(name)
        return question_detail(question, snapshot) if question is not None else Detail()
    if kind == "signal":
        return _signal_detail(name, snapshot)
    if kind == "source":
        return _source_detail(name, snapshot)
    return Detail()


# Vital signs, odd things and layers


def _vital_detail(vital: Vital, snapshot: Snapshot) -> Detail:
    """A promise: what it is, its values, why it is broken or open, and its curve."""
    evidence = vital_evidence(vital, snapshot.diagnosis)
    read = vital_reading(vital, snapshot.near)
    sign, word, style = VITALS[vital.state]

    def head(width: int) -> Content:
        part = f" of {read.part}" if read.part else ""
        name = text((f"{sign} ", style), (read.name, "strong"), f"  {vital.title}{part}: ", (word, style))
        limit = f"{read.limit} ({read.whose})" if read.whose else read.limit
        labels = (("now ", read.now), ("limit ", limit), ("baseline ", read.usual), ("", read.when))
        parts = [text((read.value, style)), *(text((label, "dim"), said) for label, said in labels if said)]
        reason = hanging(text("  "), text(read.reason), width) if read.reason else ""
        return lines(hanging(text(""), name, width), hanging(text("  "), joined(parts), width), reason)

    return Detail(head, evidence if evidence.spark else None, foot_of(evidence, snapshot), copies_of(evidence))


def _odd_detail(kind: str, number: int, snapshot: Snapshot) -> Detail:
    """An odd thing, or a line that nothing understands, in full."""
    if kind == "unread":
        unread = snapshot.diagnosis.unread
        if number >= len(unread):
            return Detail()
        line = unread[number]
        when = lasted(line.first, line.last, snapshot.near)
        told = [
            ("from", f"{line.source}: {counted(line.count, 'line')}, {when}, written by {line.emitter or 'an unknown program'}"),
            ("line", line.text),
            ("as", line.template),
            ("of", named(line.subject) if line.subject else "nobody knows whom it is about"),
        ]
    else:
        odd = left_over(snapshot.diagnosis, anyway=True)
        if number >= len(odd):
            return Detail()
        one = odd[number]
        told = [(one.sort, odd_line(one, snapshot.near)), ("of", named(one.subject)), ("what", one.of), ("says", one.text)]
    return Detail(lambda width: lines(*(labelled(label, text(said), width) for label, said in told)))


def _layer_detail(layer: Layer, snapshot: Snapshot) -> Detail:
    """A layer: its first finding in full, else what was asked there."""
    present = [q for q in snapshot.of_layer(layer) if q.finding is not None]
    if not present:
        return Detail(lambda width: _layer_summary(layer, snapshot, width))
    first = min(present, key=lambda q: _rank(q, snapshot))
    others = [question for question in present if question is not first]
    detail = question_detail(first, snapshot)

    def foot(width: int) -> Content:
        rest = [hanging(severity_sign(q.finding), text(f"{q.title}  {q.rule}"), width) for q in others if q.finding]
        return lines(detail.foot(width), *([heading(f"also in {layer.value}", width), *rest] if rest else []))

    return replace(detail, foot=foot)


def _rank(question: Question, snapshot: Snapshot) -> int:
    """Place of a question's finding in the diagnosis."""
    return next(i for i, finding in enumerate(snapshot.diagnosis.findings) if finding.rule == question.rule)


def severity_sign(finding: Finding | None) -> Content:
    """The sign of a finding's severity and a space."""
    return severity(finding)[:2] if finding is not None else Content("  ")


def _layer_summary(layer: Layer, snapshot: Snapshot, width: int) -> Content:
    """A layer in which nothing was found: what was asked and how it was answered."""
    view = snapshot.layer(layer)
    sign, _, style = LAYERS[view.state]
    asked = snapshot.of_layer(layer)
    told = [
        text((f"{sign} {layer.value}", style), f": {layer_told(view)}"),
        hanging(text("  "), text((f"Asked here: {ABOUT[layer]}.", "dim")), width),
        text(f"  {counted(view.ruled_out, 'question')} answered with no, {view.not_evaluated} open."),
    ]
    out = [q for q in asked if q.verdict is Verdict.ABSENT and q.evidence]
    out = sorted(out, key=lambda q: is_told(q.evidence[0]))[:4]
    told += [hanging(text(("  ○ ", "good")), question_line(q, snapshot), width) for q in out]
    ways = gaps([gap for gap in snapshot.diagnosis.not_evaluated if gap.layer is layer])[:3]
    if ways:
        told.append(text("  To see more:"))
        told += [hanging(text(("  ? ", "unsure")), text(way.how), width) for way in ways]
    return lines(*told)


def question_line(question: Question, snapshot: Snapshot) -> Content:
    """Title and the deciding value."""
    return text(question.title, ": ", here_and_otherwise(question, snapshot.near))


# Questions


def question_detail(question: Question, snapshot: Snapshot) -> Detail:
    """A question with its answer and the evidence that decides it."""
    evidence = question.evidence[0] if question.evidence else None
    if question.finding is not None:
        finding = question.finding
        head: Draw = lambda width: finding_text(finding, snapshot, width)  # noqa: E731 - one line says it
    elif evidence is not None:
        head = lambda width: _ruled_out_text(question, snapshot, width)  # noqa: E731
    else:
        head = lambda width: missing_text(question, snapshot, width)  # noqa: E731
    foot = foot_of(evidence, snapshot, question) if evidence is not None else nothing
    return Detail(head, evidence, foot, copies_of(evidence, question.finding), events=happened(evidence, snapshot))


def finding_text(finding: Finding, snapshot: Snapshot, width: int) -> Content:
    """A finding on one screen: what, where, since when, the proof, the first step."""
    name = Content.assemble(severity_sign(finding), text((finding.title, "strong")))
    weight = text((f"{finding.severity}, {finding.confidence}", "dim"))
    fits = name.cell_length + weight.cell_length + 2 <= width
    title = spread(name, weight, width) if fits else lines(hanging(text(""), name, width), Content.assemble("  ", weight))
    where = whom(finding, _SUBJECTS)
    told = [title]
    if finding.evidence:
        told.append(proof(finding.evidence[0], snapshot, width))
    place = f"{where}, {began(finding, snapshot.near)}: {finding.cause.value} cause, {finding.scale.value} scale"
    told.append(hanging(text("  "), text((place, "dim")), width))
    if finding.contradicts:
        told.append(hanging(text("  "), text((against(finding, snapshot.near), "unsure")), width))
    if finding.first_step:
        told.append(hanging(text(("  first step ", "strong")), text(finding.first_step), width))
    return lines(*told)


def proof(evidence: Evidence, snapshot: Snapshot, width: int) -> Content:
    """One piece of evidence in two lines: what it is, and what it says with its curve."""
    read = reading(evidence, snapshot.near)
    style = VERDICTS[read.verdict][2]
    lead = Content.assemble("  ", mark(read.verdict, snapshot, HOLDS))
    said = Content.assemble(lead, text((short(read.what), "strong"), " "), _compared(read, style))
    drawn = curve(evidence.spark, snapshot, 24, evidence.threshold)
    when = text((read.when, "dim"))
    wide = said.cell_length + when.cell_length + drawn.cell_length + 4
    if wide <= width:
        return spread(Content.assemble(said, "  ", when), drawn, width)
    body = Content.assemble(text((short(read.what), "strong"), " "), _compared(read, style))
    return lines(first_lines(hanging(lead, body, width), _PROOF, width), spread(Content.assemble("    ", when), drawn, width))


def _compared(read: Reading, style: str) -> Content:
    """Value and what it is held against; of events and facts what they say."""
    return text((read.value, style), f" {read.held_against}".rstrip(), f"  {read.note}" if read.note else "")


def _ruled_out_text(question: Question, snapshot: Snapshot, width: int) -> Content:
    """Why a kind is not there."""
    return lines(
        hanging(Content.assemble(answer(question, snapshot), "  "), text((question.text, "strong")), width),
        hanging(text("  "), here_and_otherwise(question, snapshot.near), width),
    )


def missing_text(question: Question, snapshot: Snapshot, width: int) -> Content:
    """Why a question stays open, and how to get what is missing."""
    told = [
        hanging(Content.assemble(answer(question, snapshot), "  "), text((question.text, "strong")), width),
        hanging(text("  missing  "), Content(", ".join(map(short, question.missing)) or "nothing was measured"), width),
    ]
    if question.how_to_get:
        told.append(hanging(text("  to get it  "), text(question.how_to_get), width))
    return lines(*told)


# Evidence


def evidence_of(owner: str, snapshot: Snapshot) -> tuple[Evidence, ...]:
    """The evidence of a question or a vital sign, by its place."""
    kind, _, name = owner.partition(":")
    if kind == "vital":
        vital = snapshot.vital(name)
        return (vital_evidence(vital, snapshot.diagnosis),) if vital is not None else ()
    question = snapshot.question(name)
    return question.evidence if question is not None else ()


def piece_of(owner: str, where: str, snapshot: Snapshot) -> Detail:
    """One piece of evidence in full, by its owner's place and its own; of another place what that tells."""
    kind, _, number = where.partition(":")
    if kind != "evidence":
        return detail_of(where, snapshot)
    pieces = evidence_of(owner, snapshot)
    if int(number) >= len(pieces):
        return Detail()
    evidence, question = pieces[int(number)], snapshot.question(owner.partition(":")[2])
    finding = question.finding if question is not None else None
    told = foot_of(evidence, snapshot, question)
    return Detail(nothing, evidence, told, copies_of(evidence, finding), events=happened(evidence, snapshot))


def happened(evidence: Evidence | None, snapshot: Snapshot) -> tuple[Event, ...] | None:
    """The events that a piece of evidence speaks of; None where it speaks of something else."""
    return tuple(events_of(evidence, snapshot)) if evidence is not None and evidence.signal.startswith("event:") else None


def foot_of(evidence: Evidence, snapshot: Snapshot, question: Question | None = None) -> Draw:
    """What stands below a chart: what the signal means, the figures, and how to look at it by hand."""

    def foot(width: int) -> Content:
        return lines(*_foot_lines(evidence, snapshot, question, width))

    return foot


def _foot_lines(evidence: Evidence, snapshot: Snapshot, question: Question | None, width: int) -> Iterator[Content]:
    written = happened(evidence, snapshot)
    if written is not None:
        yield from _event_lines(written, snapshot, width)
    yield from _by_hand(evidence, width)
    yield labelled("of", text(named(evidence.subject)), width)
    drawn = coarse(evidence, snapshot) if not is_told(evidence) else None
    for label, said in numbers(drawn, snapshot.near) if drawn is not None else []:
        yield labelled(label, text(said), width)
    told = meaning(evidence)
    if told:
        yield labelled("means", text(told), width)
    if evidence.fields:
        yield labelled("values", text(values_in(evidence)), width)
    if evidence.text and written is None:
        yield labelled("says", text(evidence.text), width)
    inputs = [one.query for one in inputs_of(evidence)]
    for query in inputs:
        yield labelled("input", text((query, "command")), width, "strong")
    shown = {evidence.query, *inputs}
    for line in copies_of(evidence, question.finding if question is not None else None):
        if line not in shown:
            yield labelled("also", text((line, "command")), width, "strong")


def _by_hand(evidence: Evidence, width: int) -> Iterator[Content]:
    """The query that gives the value, or what it is worked out of."""
    inputs = inputs_of(evidence)
    if evidence.query:
        yield labelled("by hand", text((evidence.query, "command")), width, "strong")
    elif inputs:
        nouns = dict.fromkeys(catalogue()[one.signal].noun for one in inputs)
        yield labelled("derived", Content(f"from {', '.join(nouns)}"), width, "strong")


def _event_lines(events: Sequence[Event], snapshot: Snapshot, width: int) -> Iterator[Content]:
    """The events themselves, as they were written."""
    for event in events[:_EVENTS]:
        lead = text((f"{clock(event.time, snapshot.near)} ", "dim"))
        body = event.text if event.kind == "log" and event.text else f"{event.kind} {event.name} {event.text}".rstrip()
        yield hanging(lead, Content(f"{event.source}: {body}" if event.source else body), width)
    if len(events) > _EVENTS:
        yield text((f"and {len(events) - _EVENTS} more", "dim"))


def copies_of(evidence: Evidence | None, finding: Finding | None = None) -> tuple[str, ...]:
    """Lines that check it by hand: the evidence's own query or those of what it was derived from, then the finding's commands.

    The queries of the finding's other evidence give other values: they stand with those.
    """
    own = ([evidence.query] if evidence.query else [one.query for one in evidence.derived_from]) if evidence is not None else []
    others = {one.query for one in finding.evidence} if finding is not None else set()
    commands = [line for line in finding.check if line not in others] if finding is not None else []
    return tuple(dict.fromkeys([*own, *commands]))


def of_subject(evidence: Evidence, subject: str) -> Evidence:
    """The evidence as it would be of another subject.

    What was usual, and since when, was told of its own; a bound of a sum is none of its parts.
    """
    signal = catalogue().get(evidence.signal)
    if not subject or evidence.subject == subject or signal is None:
        return evidence
    other: dict[str, object] = {"subject": subject, "spark": None, "baseline": None, "since": None}
    return evidence.model_copy(update={**other, "threshold": None} if signal.combine is Combine.SUM else other)


# Signals


def _signal_detail(name: str, snapshot: Snapshot) -> Detail:
    """A signal of the vocabulary: what it means, whether it could be used, and its curve if it could."""
    known = next((one for one in snapshot.diagnosis.coverage.signals if one.signal == name), None)
    signal = catalogue().get(name)
    if known is None or signal is None:
        return Detail()
    evidence = None
    if known.subjects:
        service = f"service/{snapshot.diagnosis.service}"
        evidence = Evidence(signal=name, subject=service, unit=signal.unit, verdict=Verdict.UNKNOWN)
    return Detail(lambda width: _signal_text(known, signal.meaning, signal.layer, width), evidence)


def _source_detail(name: str, snapshot: Snapshot) -> Detail:
    """What became of a source."""
    known = next((one for one in snapshot.diagnosis.coverage.sources if one.name == name), None)
    if known is None:
        return Detail()

    def head(width: int) -> Content:
        return lines(
            text((known.name, "strong"), f"  {known.state}"), hanging(text("  "), text(known.reason or "All is well."), width)
        )

    return Detail(head)


def _signal_text(known: SignalCoverage, told: str, layer: Layer, width: int) -> Content:
    """A signal in words."""
    state = known.state.replace("_", " ")
    return lines(
        text((known.signal, "strong"), f"  {state}, {layer.value} layer, {counted(known.subjects, 'subject')}"),
        hanging(text("  "), text(told), width),
        hanging(text("  "), text((known.reason, "unsure")), width) if known.reason else "",
    )

"""What is told of the thing that is highlighted: a vital sign, a layer, a question, a piece of evidence, a source, a signal.

A place is a word and a name, as in ``rule:retry-storm``; the lists on all screens use the same places.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from textual.content import Content

from triage.model.diagnosis import Evidence, Finding, SignalCoverage, Verdict, Vital
from triage.model.recording import Event
from triage.model.units import clock
from triage.model.vocabulary import Layer, catalogue
from triage.render.answer import left_over, odd_line
from triage.render.reading import (
    Reading,
    against,
    began,
    gaps,
    is_told,
    lasted,
    layer_told,
    meaning,
    named,
    reading,
    those,
    vital_evidence,
    vital_reading,
)
from triage.tui.curves import coarse, events_of, numbers
from triage.tui.look import Look, Question
from triage.tui.widgets.drawn import Draw, nothing
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
class Sheet:
    """What is told of one thing.

    :param head: above the chart
    :param evidence: what the chart shows, if anything
    :param foot: below the chart
    :param copies: lines to take along, the most useful first
    """

    head: Draw = nothing
    evidence: Evidence | None = None
    foot: Draw = nothing
    copies: tuple[str, ...] = ()


def sheet_of(where: str, look: Look) -> Sheet:
    """What is told of a place; nothing of one that the look does not know."""
    kind, _, name = where.partition(":")
    if kind == "layer":
        return _layer_sheet(Layer(name), look)
    if kind == "vital":
        vital = look.vital(name)
        return _vital_sheet(vital, look) if vital is not None else Sheet()
    if kind in ("odd", "unread"):
        return _odd_sheet(kind, int(name), look)
    if kind == "rule":
        question = look.question(name)
        return question_sheet(question, look) if question is not None else Sheet()
    if kind == "signal":
        return _signal_sheet(name, look)
    if kind == "source":
        return _source_sheet(name, look)
    return Sheet()


# Vital signs, odd things and layers


def _vital_sheet(vital: Vital, look: Look) -> Sheet:
    """A promise: what it is, its values, why it is broken or open, and its curve."""
    evidence = vital_evidence(vital, look.diagnosis)
    read = vital_reading(vital, look.near)
    sign, word, style = VITALS[vital.state]

    def head(width: int) -> Content:
        part = f" of {read.part}" if read.part else ""
        name = text((f"{sign} ", style), (read.name, "strong"), f"  {vital.title}{part}: ", (word, style))
        limit = f"{read.limit} ({read.whose})" if read.whose else read.limit
        labels = (("now ", read.now), ("limit ", limit), ("baseline ", read.usual), ("", read.when))
        parts = [text((read.value, style)), *(text((label, "dim"), said) for label, said in labels if said)]
        reason = hanging(text("  "), Content(read.reason), width) if read.reason else ""
        return lines(hanging(text(""), name, width), hanging(text("  "), joined(parts), width), reason)

    return Sheet(head, evidence if evidence.spark else None, foot_of(evidence, look), copies_of(evidence))


def _odd_sheet(kind: str, number: int, look: Look) -> Sheet:
    """An odd thing, or a line that nothing understands, in full."""
    if kind == "unread":
        unread = look.diagnosis.unread
        if number >= len(unread):
            return Sheet()
        line = unread[number]
        when = lasted(line.first, line.last, look.near)
        told = [
            ("from", f"{line.source}: {counted(line.count, 'line')}, {when}, written by {line.emitter or 'an unknown program'}"),
            ("line", line.text),
            ("as", line.template),
            ("of", named(line.subject) if line.subject else "nobody knows whom it is about"),
        ]
    else:
        odd = left_over(look.diagnosis, anyway=True)
        if number >= len(odd):
            return Sheet()
        one = odd[number]
        told = [(one.sort, odd_line(one, look.near)), ("of", named(one.subject)), ("what", one.of), ("says", one.text)]
    return Sheet(lambda width: lines(*(labelled(label, Content(said), width) for label, said in told)))


def _layer_sheet(layer: Layer, look: Look) -> Sheet:
    """A layer: its first finding in full, else what was asked there."""
    present = [q for q in look.of_layer(layer) if q.finding is not None]
    if not present:
        return Sheet(lambda width: _layer_summary(layer, look, width))
    first = min(present, key=lambda q: _rank(q, look))
    others = [question for question in present if question is not first]
    sheet = question_sheet(first, look)

    def foot(width: int) -> Content:
        rest = [hanging(severity_sign(q.finding), Content(f"{q.title}  {q.rule}"), width) for q in others if q.finding]
        return lines(sheet.foot(width), *([heading(f"also in {layer.value}", width), *rest] if rest else []))

    return Sheet(sheet.head, sheet.evidence, foot, sheet.copies)


def _rank(question: Question, look: Look) -> int:
    """Place of a question's finding in the diagnosis."""
    return next(i for i, finding in enumerate(look.diagnosis.findings) if finding.rule == question.rule)


def severity_sign(finding: Finding | None) -> Content:
    """The sign of a finding's severity and a space."""
    return severity(finding)[:2] if finding is not None else Content("  ")


def _layer_summary(layer: Layer, look: Look, width: int) -> Content:
    """A layer in which nothing was found: what was asked and how it was answered."""
    view = look.layer(layer)
    sign, _, style = LAYERS[view.state]
    asked = look.of_layer(layer)
    told = [
        text((f"{sign} {layer.value}", style), f": {layer_told(view)}"),
        hanging(text("  "), text((f"Asked here: {ABOUT[layer]}.", "dim")), width),
        text(f"  {counted(view.ruled_out, 'question')} answered with no, {view.not_evaluated} open."),
    ]
    out = [q for q in asked if q.verdict is Verdict.ABSENT and q.evidence]
    out = sorted(out, key=lambda q: is_told(q.evidence[0]))[:4]
    told += [hanging(text(("  ○ ", "good")), question_line(q, look), width) for q in out]
    ways = gaps([gap for gap in look.diagnosis.not_evaluated if gap.layer is layer])[:3]
    if ways:
        told.append(text("  To see more:"))
        told += [hanging(text(("  ? ", "unsure")), Content(way.how), width) for way in ways]
    return lines(*told)


def question_line(question: Question, look: Look) -> Content:
    """Title and the deciding value."""
    return Content.assemble(f"{question.title}: ", here_and_otherwise(question, look.near))


# Questions


def question_sheet(question: Question, look: Look) -> Sheet:
    """A question with its answer and the evidence that decides it."""
    evidence = question.evidence[0] if question.evidence else None
    if question.finding is not None:
        finding = question.finding
        head: Draw = lambda width: finding_text(finding, look, width)  # noqa: E731 - one line says it
    elif evidence is not None:
        head = lambda width: _ruled_out_text(question, look, width)  # noqa: E731
    else:
        head = lambda width: missing_text(question, look, width)  # noqa: E731
    foot = foot_of(evidence, look, question) if evidence is not None else nothing
    return Sheet(head, evidence, foot, copies_of(evidence, question.finding))


def finding_text(finding: Finding, look: Look, width: int) -> Content:
    """A finding on one screen: what, where, since when, the proof, the first step."""
    name = Content.assemble(severity_sign(finding), text((finding.title, "strong")))
    weight = text((f"{finding.severity}, {finding.confidence}", "dim"))
    fits = name.cell_length + weight.cell_length + 2 <= width
    title = spread(name, weight, width) if fits else lines(hanging(text(""), name, width), Content.assemble("  ", weight))
    where = those(finding.subjects or (finding.subject,), _SUBJECTS)
    told = [
        title,
        hanging(
            text("  "),
            text((f"{where}, {began(finding, look.near)}: {finding.cause.value} cause, {finding.scale.value} scale", "dim")),
            width,
        ),
    ]
    if finding.evidence:
        told.append(proof(finding.evidence[0], look, width))
    if finding.contradicts:
        told.append(hanging(text("  "), text((against(finding, look.near), "unsure")), width))
    if finding.first_step:
        told.append(hanging(text(("  first step ", "strong")), Content(finding.first_step), width))
    return lines(*told)


def proof(evidence: Evidence, look: Look, width: int) -> Content:
    """One piece of evidence in two lines: what it is, and what it says with its curve."""
    read = reading(evidence, look.near)
    style = VERDICTS[read.verdict][2]
    lead = Content.assemble("  ", mark(read.verdict, look, HOLDS))
    said = Content.assemble(lead, text((short(read.what), "strong"), " "), _compared(read, style))
    drawn = curve(evidence.spark, look, 24, evidence.threshold)
    when = text((read.when, "dim"))
    wide = said.cell_length + when.cell_length + drawn.cell_length + 4
    if wide <= width:
        return spread(Content.assemble(said, "  ", when), drawn, width)
    body = Content.assemble(text((short(read.what), "strong"), " "), _compared(read, style))
    return lines(first_lines(hanging(lead, body, width), _PROOF, width), spread(Content.assemble("    ", when), drawn, width))


def _compared(read: Reading, style: str) -> Content:
    """Value and what it is held against; of events and facts what they say."""
    return text((read.value, style), f" {read.held_against}".rstrip(), f"  {read.note}" if read.note else "")


def _ruled_out_text(question: Question, look: Look, width: int) -> Content:
    """Why a kind is not there."""
    return lines(
        hanging(Content.assemble(answer(question, look), "  "), text((question.text, "strong")), width),
        hanging(text("  "), here_and_otherwise(question, look.near), width),
    )


def missing_text(question: Question, look: Look, width: int) -> Content:
    """Why a question stays open, and how to get what is missing."""
    told = [
        hanging(Content.assemble(answer(question, look), "  "), text((question.text, "strong")), width),
        hanging(text("  missing  "), Content(", ".join(map(short, question.missing)) or "nothing was measured"), width),
    ]
    if question.how_to_get:
        told.append(hanging(text("  to get it  "), Content(question.how_to_get), width))
    return lines(*told)


# Evidence


def evidence_of(owner: str, look: Look) -> tuple[Evidence, ...]:
    """The evidence of a question or a vital sign, by its place."""
    kind, _, name = owner.partition(":")
    if kind == "vital":
        vital = look.vital(name)
        return (vital_evidence(vital, look.diagnosis),) if vital is not None else ()
    question = look.question(name)
    return question.evidence if question is not None else ()


def piece_of(owner: str, where: str, look: Look) -> Sheet:
    """One piece of evidence in full, by its owner's place and its own; of another place what that tells."""
    kind, _, number = where.partition(":")
    if kind != "evidence":
        return sheet_of(where, look)
    pieces = evidence_of(owner, look)
    if int(number) >= len(pieces):
        return Sheet()
    evidence, question = pieces[int(number)], look.question(owner.partition(":")[2])
    finding = question.finding if question is not None else None
    return Sheet(nothing, evidence, foot_of(evidence, look, question), copies_of(evidence, finding))


def foot_of(evidence: Evidence, look: Look, question: Question | None = None) -> Draw:
    """What stands below a chart: what the signal means, the figures, and how to look at it by hand."""

    def foot(width: int) -> Content:
        return lines(*_foot_lines(evidence, look, question, width))

    return foot


def _foot_lines(evidence: Evidence, look: Look, question: Question | None, width: int) -> Iterator[Content]:
    queries = copies_of(evidence, question.finding if question is not None else None)
    if queries:
        yield labelled("by hand", text((queries[0], "command")), width, "strong")
    yield labelled("of", Content(named(evidence.subject)), width)
    drawn = coarse(evidence, look) if not is_told(evidence) else None
    for label, said in numbers(drawn, look.near) if drawn is not None else []:
        yield labelled(label, Content(said), width)
    told = meaning(evidence)
    if told:
        yield labelled("means", Content(told), width)
    if evidence.text and not evidence.signal.startswith("event:"):
        yield labelled("says", Content(evidence.text), width)
    if evidence.signal.startswith("event:"):
        yield from _event_lines(events_of(evidence, look), look, width)
    for line in queries[1:]:
        yield labelled("also", text((line, "command")), width, "strong")


def _event_lines(events: list[Event], look: Look, width: int) -> Iterator[Content]:
    """The events themselves, as they were written."""
    for event in events[:_EVENTS]:
        lead = text((f"{clock(event.time, look.near)} ", "dim"))
        body = event.text if event.kind == "log" and event.text else f"{event.kind} {event.name} {event.text}".rstrip()
        yield hanging(lead, Content(f"{event.source}: {body}" if event.source else body), width)
    if len(events) > _EVENTS:
        yield text((f"and {len(events) - _EVENTS} more", "dim"))


def copies_of(evidence: Evidence | None, finding: Finding | None = None) -> tuple[str, ...]:
    """Lines that check it by hand: the evidence's own query, then the finding's commands."""
    own = [evidence.query] if evidence is not None and evidence.query else []
    return tuple(dict.fromkeys([*own, *(finding.check if finding is not None else ())]))


# Signals


def _signal_sheet(name: str, look: Look) -> Sheet:
    """A signal of the vocabulary: what it means, whether it could be used, and its curve if it could."""
    known = next((one for one in look.diagnosis.coverage.signals if one.signal == name), None)
    signal = catalogue().get(name)
    if known is None or signal is None:
        return Sheet()
    evidence = None
    if known.subjects:
        service = f"service/{look.diagnosis.service}"
        evidence = Evidence(signal=name, subject=service, unit=signal.unit, verdict=Verdict.UNKNOWN)
    return Sheet(lambda width: _signal_text(known, signal.meaning, signal.layer, width), evidence)


def _source_sheet(name: str, look: Look) -> Sheet:
    """What became of a source."""
    known = next((one for one in look.diagnosis.coverage.sources if one.name == name), None)
    if known is None:
        return Sheet()

    def head(width: int) -> Content:
        return lines(
            text((known.name, "strong"), f"  {known.state}"), hanging(text("  "), Content(known.reason or "All is well."), width)
        )

    return Sheet(head)


def _signal_text(known: SignalCoverage, told: str, layer: Layer, width: int) -> Content:
    """A signal in words."""
    state = known.state.replace("_", " ")
    return lines(
        text((known.signal, "strong"), f"  {state}, {layer.value} layer, {counted(known.subjects, 'subject')}"),
        hanging(text("  "), Content(told), width),
        hanging(text("  "), text((known.reason, "unsure")), width) if known.reason else "",
    )

"""Rows of the lists: how each kind of place reads on one or two lines."""

from collections.abc import Iterable, Sequence

from textual.content import Content

from triage.memory.looks import promise_key
from triage.model.diagnosis import Evidence, Finding, Vital
from triage.model.vocabulary import Layer
from triage.render.reading import in_a_word, layer_told, reading, vital_reading
from triage.tui.details import severity_sign
from triage.tui.snapshot import Question, Snapshot, vital_id
from triage.tui.widgets.choices import Row
from triage.tui.words import (
    ABOUT,
    HOLDS,
    LAYERS,
    VERDICTS,
    VITALS,
    counted,
    curve,
    first_lines,
    fitted,
    hanging,
    heading,
    here_and_otherwise,
    joined,
    lines,
    mark,
    short,
    spread,
    text,
    verdict_moved,
)

_VITAL = 19
_LIMIT, _LIMIT_WIDE = 21, 34
_STATE = 27
_ROOMY = 90
_WIDE = 130
_CURVE = 22
_MISSING = 4
_EVIDENCE = 2


def title_row(title: str) -> Row:
    """A heading that cannot be chosen."""
    return Row("", lambda width: heading(title, width))


def note_row(said: str) -> Row:
    """A line that cannot be chosen."""
    return Row("", lambda width: hanging(text("  "), text((said, "dim")), width))


def short_note(said: str) -> Row:
    """A line that cannot be chosen, cut where it ends."""
    return Row("", lambda width: fitted(text("  ", (said, "dim")), width), is_line=True)


def vital_row(vital: Vital, snapshot: Snapshot) -> Row:
    """A promise, kept or not: value, limit, since when, curve; why it is open."""
    read = vital_reading(vital, snapshot.near)
    sign, word, style = VITALS[vital.state]
    if promise_key(vital.name, vital.subject) in snapshot.stale:
        style = "dim"

    def draw(width: int) -> Content:
        roomy = width >= _ROOMY
        part = f" of {read.part}" if read.part else ""
        lead = text((f"{word}: " if snapshot.spoken else f"{sign} ", style), (read.name, "strong"), part)
        name = fitted(lead, max(_VITAL, min(lead.cell_length + 1, width // 2) if part else 0))
        if not read.value:
            return fitted(Content.assemble(name, text((read.reason or read.limit, "dim"))), width)
        value = fitted(text((read.value, style)), max(len(read.value), 11))
        now = fitted(text((f"now {read.now}" if read.now else "", "dim")), 14) if roomy else text("")
        whose = f" ({read.whose if width >= _WIDE else in_a_word(read.whose)})" if read.whose else ""
        test = fitted(text(f"{read.limit}{whose}" if read.limit else read.reason), _LIMIT_WIDE if width >= _WIDE else _LIMIT)
        left = Content.assemble(name, value, " ", now, test, text((f" {read.when}", "dim")))
        return spread(left, curve(vital.spark, snapshot, min(_CURVE, width - left.cell_length - 2), vital.limit), width)

    return Row(f"vital:{vital_id(vital)}", draw)


def layer_row(layer: Layer, snapshot: Snapshot, *, tall: bool) -> Row:
    """A layer of the stack: its state, how much of it was looked at, what was found there."""
    view = snapshot.layer(layer)
    sign, _, style = LAYERS[view.state]

    def draw(width: int) -> Content:
        name = fitted(text((f"{sign} {layer.value}", style)), 13)
        state = fitted(text((layer_told(view), style)), _STATE)
        left = Content.assemble(name, state, ", ".join(view.findings), _moved(layer, snapshot))
        if not tall:
            return fitted(left, width)
        about = text((f"  {ABOUT[layer]}", "dim"))
        return lines(fitted(left, width), fitted(about, width), _stem(layer))

    return Row(f"layer:{layer.value}", draw)


def odd_row(number: int, kind: str, said: str) -> Row:
    """Something that nothing explains, or a line that nothing understands.

    :param kind: ``odd`` or ``unread``
    """
    sign, style = ("△ ", "new") if kind == "odd" else ("? ", "unsure")
    return Row(f"{kind}:{number}", lambda width: hanging(text((sign, style)), text(said), width))


def _stem(layer: Layer) -> Content:
    """The line that leads down to the next layer."""
    return text(("  │" if layer is not Layer.HARDWARE else " ", "dim"))


def _moved(layer: Layer, snapshot: Snapshot) -> Content:
    """That answers in a layer became different."""
    moved = sum(question.layer is layer and question.rule in snapshot.before for question in snapshot.questions)
    return text((f"  △ {moved} moved", "new")) if moved else Content("")


def question_row(question: Question, snapshot: Snapshot) -> Row:
    """A question with its answer, the value here, and what it would be otherwise."""

    def draw(width: int) -> Content:
        asked = text(question.text, verdict_moved(question, snapshot))
        return lines(
            hanging(mark(question.verdict, snapshot), asked, width), hanging(Content("    "), _because(question, snapshot), width)
        )

    return Row(f"rule:{question.rule}", draw)


def _because(question: Question, snapshot: Snapshot) -> Content:
    """What the answer rests on."""
    if question.evidence:
        return here_and_otherwise(question, snapshot.near)
    names = [short(name) for name in question.missing]
    more = f" and {len(names) - _MISSING} more" if len(names) > _MISSING else ""
    return text((f"missing: {', '.join(names[:_MISSING])}{more}" if names else "nothing was measured", "dim"))


def short_row(question: Question, snapshot: Snapshot, note: str = "") -> Row:
    """A kind with its deciding value, for lists over all layers.

    :param note: what else there is to say of it
    """

    def draw(width: int) -> Content:
        name = text(question.title, text((f"  {question.rule}", "dim")), verdict_moved(question, snapshot))
        below = [_because(question, snapshot), *([text((note, "dim"))] if note else [])]
        return lines(
            hanging(mark(question.verdict, snapshot), name, width), *(hanging(text("    "), line, width) for line in below)
        )

    return Row(f"rule:{question.rule}", draw)


def evidence_row(number: int, evidence: Evidence, snapshot: Snapshot) -> Row:
    """One piece of evidence: on one line where it fits, else on two."""
    read = reading(evidence, snapshot.near)
    style = VERDICTS[evidence.verdict][2]

    def draw(width: int) -> Content:
        of = f" of {read.subject}" if evidence.subject != f"service/{snapshot.diagnosis.service}" else ""
        told = read.headed if read.is_told else short(read.what)
        name = text(mark(evidence.verdict, snapshot, HOLDS), (told, "strong"), ("" if read.is_told else of, "dim"))
        value = text((read.value, style), f" {read.held_against}".rstrip(), f"  {read.note}" if read.note else "")
        when = text((read.when, "dim"))
        if name.cell_length + value.cell_length + when.cell_length + 6 <= width:
            return spread(Content.assemble(fitted(name, max(width // 3, name.cell_length)), "  ", value), when, width)
        if name.cell_length + value.cell_length + 2 <= width:
            return fitted(Content.assemble(name, "  ", value), width)
        return lines(fitted(name, width), first_lines(hanging(text("    "), joined([value, when]), width), _EVIDENCE, width))

    return Row(f"evidence:{number}", draw)


def missing_row(name: str, told: str) -> Row:
    """Something that was not measured, with what it would mean."""
    what = name.partition(" (")[0]
    return Row(
        f"signal:{what}" if not what.startswith(("event:", "fact:")) else f"missing:{name}",
        lambda width: hanging(text(("? ", "unsure"), (name, "strong"), "  "), text((told, "dim")), width),
    )


def finding_row(finding: Finding, lead: Content, notes: Iterable[Content]) -> Row:
    """A finding in the causal chain, behind the lines of its tree."""
    told = tuple(notes)

    def draw(width: int) -> Content:
        name = Content.assemble(lead, severity_sign(finding), text((finding.title, "strong"), (f"  {finding.rule}", "dim")))
        below = (hanging(text("      "), note, width) for note in told)
        return lines(fitted(name, width), *below)

    return Row(f"rule:{finding.rule}", draw)


def counted_title(questions: Sequence[Question], word: str) -> Row:
    """A heading that says how many questions have an answer."""
    return title_row(f"{word}: {counted(len(questions), 'question')}")


def to_do_row(how: str, count: int) -> Row:
    """Something to do, and how many kinds could be judged then."""
    said = text((how, "strong"), (f"  for {counted(count, 'kind')}", "dim"))
    return Row("", lambda width: hanging(text(("▸ ", "unsure")), said, width))

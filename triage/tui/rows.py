"""Rows of the lists: how each kind of place reads on one or two lines."""

from collections.abc import Iterable, Sequence

from textual.content import Content

from triage.model.diagnosis import Evidence, Finding, Symptom
from triage.model.vocabulary import Layer
from triage.render.reading import reading, symptom_name, symptom_reading
from triage.tui.look import Look, Question
from triage.tui.sheets import severity_sign
from triage.tui.widgets.choices import Row
from triage.tui.words import (
    ABOUT,
    HOLDS,
    LAYERS,
    VERDICTS,
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

_NAME = 18
_ROOMY = 90
_CURVE = 22
_MISSING = 4
_EVIDENCE = 2


def title_row(title: str) -> Row:
    """A heading that cannot be chosen."""
    return Row("", lambda width: heading(title, width))


def note_row(said: str) -> Row:
    """A line that cannot be chosen."""
    return Row("", lambda width: hanging(text("  "), text((said, "dim")), width))


def symptom_row(symptom: Symptom, look: Look) -> Row:
    """A promise that is not kept: value, promise, since when, curve."""
    read = symptom_reading(symptom, look.near)

    def draw(width: int) -> Content:
        name = fitted(text(("✖ ", "bad"), (symptom_name(symptom.name), "strong")), _NAME)
        why = read.why.removesuffix(f" {symptom.name}")
        test = fitted(Content(f"{read.test} ({why})" if width >= _ROOMY and why else read.test), 30 if width >= _ROOMY else 12)
        value = fitted(text((read.value, "bad")), max(len(read.value), 11))
        left = Content.assemble(name, value, " ", test, text((f"  {read.when}", "dim")))
        return spread(
            left, curve(symptom.evidence.spark, look, min(_CURVE, width - left.cell_length - 2), symptom.threshold), width
        )

    return Row(f"symptom:{symptom.name}", draw)


def layer_row(layer: Layer, look: Look, *, tall: bool) -> Row:
    """A layer of the stack: its state, what was found there, how much was asked."""
    view = look.layer(layer)
    sign, word, style = LAYERS[view.state]

    def draw(width: int) -> Content:
        name = fitted(text((f"{sign} {layer.value}", style)), 13)
        state = fitted(text((word, style)), 14)
        counts = text((f"{len(view.findings):2} yes {view.ruled_out:3} no {view.not_evaluated:3} open", "dim"))
        left = Content.assemble(name, state, ", ".join(view.findings), _moved(layer, look))
        if not tall:
            return spread(left, counts, width)
        about = text((f"  {ABOUT[layer]}", "dim"))
        fits = left.cell_length + counts.cell_length + 2 <= width
        first = spread(left, counts, width) if fits else fitted(left, width)
        return lines(first, fitted(about, width) if fits else spread(about, counts, width), _stem(layer))

    return Row(f"layer:{layer.value}", draw)


def _stem(layer: Layer) -> Content:
    """The line that leads down to the next layer."""
    return text(("  │" if layer is not Layer.HARDWARE else " ", "dim"))


def _moved(layer: Layer, look: Look) -> Content:
    """That answers in a layer became different."""
    moved = sum(question.layer is layer and question.rule in look.before for question in look.questions)
    return text((f"  △ {moved} moved", "new")) if moved else Content("")


def question_row(question: Question, look: Look) -> Row:
    """A question with its answer, the value here, and what it would be otherwise."""

    def draw(width: int) -> Content:
        asked = Content.assemble(question.text, verdict_moved(question, look))
        return lines(
            hanging(mark(question.verdict, look), asked, width), hanging(Content("    "), _because(question, look), width)
        )

    return Row(f"rule:{question.rule}", draw)


def _because(question: Question, look: Look) -> Content:
    """What the answer rests on."""
    if question.evidence:
        return here_and_otherwise(question, look.near)
    names = [short(name) for name in question.missing]
    more = f" and {len(names) - _MISSING} more" if len(names) > _MISSING else ""
    return text((f"missing: {', '.join(names[:_MISSING])}{more}" if names else "nothing was measured", "dim"))


def short_row(question: Question, look: Look, note: str = "") -> Row:
    """A kind with its deciding value, for lists over all layers.

    :param note: what else there is to say of it
    """

    def draw(width: int) -> Content:
        name = Content.assemble(question.title, text((f"  {question.rule}", "dim")), verdict_moved(question, look))
        below = [_because(question, look), *([text((note, "dim"))] if note else [])]
        return lines(hanging(mark(question.verdict, look), name, width), *(hanging(text("    "), line, width) for line in below))

    return Row(f"rule:{question.rule}", draw)


def evidence_row(number: int, evidence: Evidence, look: Look) -> Row:
    """One piece of evidence: on one line where it fits, else on two."""
    read = reading(evidence, look.near)
    style = VERDICTS[evidence.verdict][2]

    def draw(width: int) -> Content:
        of = f" of {read.subject}" if evidence.subject != f"service/{look.diagnosis.service}" else ""
        name = text(mark(evidence.verdict, look, HOLDS), (short(read.what), "strong"), (of, "dim"))
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

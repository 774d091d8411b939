"""Pieces of text for the screens: signs with their words, answers with what they would be otherwise, rows that fit a width.

All of it is :class:`textual.content.Content` made of plain strings and styles of the theme. Nothing is ever read as markup, so
that a label or a log line is only text, whatever it holds.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import itemgetter

from rich.cells import cell_len
from textual.content import Content

from triage.language.speaking import said
from triage.language.wrapping import is_wide, line_breaks
from triage.memory.looks import kind_key
from triage.model.diagnosis import Evidence, Finding, LayerState, Promised, Spark, Status, Verdict
from triage.model.units import clock, compared, duration, quantity
from triage.model.vocabulary import Layer
from triage.render.reading import Reading, is_told, limit_in_words, reading
from triage.render.spark import spark
from triage.tui.snapshot import Question, Snapshot

STYLES = {
    "bad": "$text-error",
    "warn": "$text-warning",
    "good": "$text-success",
    "unsure": "$text-accent",
    "dim": "$foreground 62%",
    "strong": "bold",
    "command": "$text-primary",
    "new": "$text-warning bold",
    "before": "$foreground 62%",
    "window": "$text-primary",
    "gap": "$foreground 62%",
    "edge": "$foreground",
    "onset": "$text-error bold",
}
"""What a word means -> how the theme writes it. Each of these also has a sign or a word of its own."""

VERDICTS = {
    Verdict.PRESENT: ("●", "yes", "bad"),
    Verdict.ABSENT: ("○", "no", "good"),
    Verdict.UNKNOWN: ("?", "can't tell", "unsure"),
}
"""Sign, answer and style of a verdict."""

VITALS = {
    Promised.KEPT: ("✔", "kept", "good"),
    Promised.BROKEN: ("✖", "broken", "bad"),
    Promised.OPEN: ("?", "open", "unsure"),
}
"""Sign, word and style of a promise."""

SEVERITIES = {"critical": ("✖", "bad"), "warning": ("▲", "warn"), "info": ("•", "dim")}
LAYERS = {
    LayerState.IMPLICATED: ("✖", "implicated", "bad"),
    LayerState.CLEARED: ("✔", "cleared", "good"),
    LayerState.PARTLY: ("◐", "partly looked at", "unsure"),
    LayerState.NOT_EVALUATED: ("?", "not evaluated", "unsure"),
}
STATUSES = {
    Status.HEALTHY: ("✔", "good"),
    Status.DEGRADED: ("▲", "warn"),
    Status.INCIDENT: ("✖", "bad"),
    Status.INCONCLUSIVE: ("?", "unsure"),
}
ABOUT = {
    Layer.PLATFORM: "clients, gateways, routing, scaling, probes, releases",
    Layer.ENGINE: "scheduler, batch, KV cache, prefill and decode",
    Layer.FRAMEWORK: "kernels, compilation, allocator, collectives",
    Layer.CUDA: "driver, runtime, what a program does with its card",
    Layer.HARDWARE: "cards, links, power, heat, and the host",
}
"""What is asked of in each layer."""

PINNED = "◎"
"""Before the subject that all charts show."""

_FEW_NAMES = 3
_LABEL = 9
_TURNS = frozenset("\n\t")
"""Characters of which a line that fits still has to be taken apart."""

_NEGATED = {">": "≤", ">=": "<", "<": "≥", "<=": ">"}
_OPS = {">=": "≥", "<=": "≤"}

Part = str | tuple[str, str] | Content


def text(*parts: Part) -> Content:
    """Words joined, in the language that is spoken; a pair is a text and a key of :data:`STYLES`. Commands stay as they are."""
    return Content.assemble(*map(_part, parts))


def _part(part: Part) -> str | tuple[str, str] | Content:
    """One piece of a text."""
    if isinstance(part, Content):
        return part
    if isinstance(part, str):
        return said(part)
    words, style = part
    return words if style == "command" else said(words), STYLES[style]


def in_runs(cells: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Neighbouring cells of one style as one piece: a line of sixty cells has three or four styles to draw, not sixty."""
    return [("".join(cell for cell, _ in run), style) for style, run in groupby(cells, key=itemgetter(1))]


def lines(*given: Content | str) -> Content:
    """Lines below each other; empty ones are left out."""
    return Content("\n").join([line for line in given if line])


def hanging(lead: Content, body: Content, width: int) -> Content:
    """Text wrapped after a lead, its further lines below its first word."""
    indent = lead.cell_length
    room = max(width - indent, 10)
    if body.cell_length <= room and not _TURNS.intersection(body.plain):
        return lead.append(body.rstrip())
    rows = wrapped(body, room) or [Content("")]
    rest = (Content(" " * indent).append(row.rstrip()) for row in rows[1:])
    return Content("\n").join([lead.append(rows[0].rstrip()), *rest])


def wrapped(body: Content, width: int) -> list[Content]:
    """The lines of a text."""
    if not is_wide(body.plain):
        return list(body.wrap(width))
    return [part for line in body.split("\n") for part in (line.divide(line_breaks(line.plain, width)) or [line])]


def first_lines(content: Content, most: int, width: int) -> Content:
    """The first lines of a text, with an ellipsis where there were more."""
    split = content.split("\n")
    if len(split) <= most:
        return content
    return Content("\n").join([*split[: most - 1], split[most - 1].append("…").truncate(width, ellipsis=True)])


def fitted(content: Content, width: int) -> Content:
    """The content in exactly so many cells, cut with an ellipsis or filled with spaces."""
    if width <= 0:
        return Content("")
    cut = content if content.cell_length <= width else content.truncate(width, ellipsis=True)
    return cut.pad_right(width - cut.cell_length)


def spread(left: Content, right: Content, width: int) -> Content:
    """Two things at both ends of a line; of too little room the left one gets what is left."""
    room = width - right.cell_length - 2
    if room < 8:
        return left.truncate(max(width, 1), ellipsis=True)
    return Content.assemble(fitted(left, room), "  ", right)


def heading(title: str, width: int) -> Content:
    """A line across that names what follows."""
    title = said(title)
    return text(("── ", "dim"), (title, "strong"), (" " + "─" * max(width - cell_len(title) - 4, 0), "dim"))


def curve(drawn: Spark | None, snapshot: Snapshot, width: int, threshold: float | None = None) -> Content:
    """A curve one line high; empty without values, and where words are wanted instead."""
    if drawn is None or not drawn.values or width < 4 or snapshot.spoken:
        return Content("")
    pieces = spark(drawn, width, utf8=True, threshold=threshold)
    return text(*((piece.text, piece.role) for piece in pieces))


def mark(verdict: Verdict, snapshot: Snapshot, words: dict[Verdict, str] | None = None) -> Content:
    """The sign of a verdict and a space; its word, where that is wanted instead of signs.

    :param words: other words than those of an answer
    """
    sign, word, style = VERDICTS[verdict]
    said = f"{(words or {}).get(verdict, word)}: "
    return text((said if snapshot.spoken else f"{sign} ", style))


HOLDS = {Verdict.PRESENT: "holds", Verdict.ABSENT: "does not hold", Verdict.UNKNOWN: "unknown"}
"""Words for the verdict of a single piece of evidence."""


def answer(question: Question, snapshot: Snapshot) -> Content:
    """The verdict as sign and word; without the sign where only words are wanted."""
    sign, word, style = VERDICTS[question.verdict]
    if kind_key(question.rule) in snapshot.stale:
        style = "dim"
    elif question.finding is not None:
        style = SEVERITIES[question.finding.severity][1]
    return text((word if snapshot.spoken else f"{sign} {word}", style))


def severity(finding: Finding) -> Content:
    """Severity as sign and word."""
    sign, style = SEVERITIES[finding.severity]
    return text((f"{sign} {finding.severity}", style))


def status(given: Status) -> Content:
    """State of the service as sign and word."""
    sign, style = STATUSES[given]
    return text((f"{sign} {given.value.upper()}", style))


def short(what: str) -> str:
    """A signal or an event with at most three of the names that count: ``event:xid (48, 94, 95, +3)``."""
    start, bracket, rest = what.partition(" (")
    names = rest.removesuffix(")").split(", ")
    if not bracket or len(names) <= _FEW_NAMES:
        return what
    return f"{start} ({', '.join(names[:_FEW_NAMES])}, +{len(names) - _FEW_NAMES})"


def here_and_otherwise(question: Question, near: float) -> Content:
    """The deciding value here, and what it would be were the answer the other one.

    :raises IndexError: the question has no evidence
    """
    evidence = question.evidence[0]
    read = reading(evidence, near)
    other = otherwise(evidence)
    what = text((short(read.what), "strong"), " ")
    return text(what, _value(read, VERDICTS[question.verdict][2]), *([f"; otherwise {other}"] if other else []))


def _value(read: Reading, style: str) -> Content:
    """What was measured; of events and facts also what they say."""
    value = read.value.removesuffix(",") or read.note
    note = f" ({read.note})" if read.note and read.note not in {value, "none seen"} else ""
    return text((value, style), note)


def otherwise(evidence: Evidence) -> str:
    """What the evidence would be if it were not so; empty where there is nothing to say."""
    holds = evidence.verdict is Verdict.PRESENT
    if evidence.verdict is Verdict.UNKNOWN:
        return ""
    if evidence.op == "gone":
        return "still measured" if holds else "no longer measured"
    if is_told(evidence):
        return _other_count(evidence, holds=holds)
    if evidence.threshold is None or evidence.op not in _NEGATED:
        return ""
    _, bound = compared(evidence.value, evidence.threshold, evidence.unit)
    lasting = "" if evidence.lasting is None else f" for {duration(evidence.lasting)}"
    why = f" ({limit_in_words(evidence.threshold_of)})" if evidence.threshold_of else ""
    if holds:
        return (
            f"not {_OPS.get(evidence.op, evidence.op)} {bound}{lasting}{why}"
            if lasting
            else f"{_NEGATED[evidence.op]} {bound}{why}"
        )
    return f"{_OPS.get(evidence.op, evidence.op)} {bound}{lasting}{why}"


def _other_count(evidence: Evidence, *, holds: bool) -> str:
    """How many events there would be otherwise."""
    bound = evidence.threshold or 0.0
    wants_many = evidence.op == ">="
    if wants_many == holds:
        return "none" if bound <= 1 else f"fewer than {quantity(bound, '')}"
    if wants_many:
        return "at least one" if bound <= 1 else f"at least {quantity(bound, '')}"
    return "some" if bound < 1 else f"more than {quantity(bound, '')}"


def verdict_moved(question: Question, snapshot: Snapshot) -> Content:
    """That the verdict was another at the snapshot before, or is the one that was seen last; empty if neither."""
    was, seen = snapshot.before.get(question.rule), snapshot.stale.get(kind_key(question.rule))
    moved = text((f" △ was {VERDICTS[was][1]}", "new")) if was is not None else Content("")
    return Content.assemble(moved, text((f" last seen {clock(seen, snapshot.near)}", "dim"))) if seen is not None else moved


def counted(count: int, noun: str, plural: str = "") -> str:
    """``1 question``, ``2 questions``."""
    return f"{count} {noun if count == 1 else plural or f'{noun}s'}"


def labelled(label: str, told: Content, width: int, style: str = "dim") -> Content:
    """A line of a table of two columns: what it is, and what there is to say."""
    return hanging(fitted(text((label, style)), _LABEL), told, width)


def joined(parts: Sequence[Content], between: str = "   ") -> Content:
    """Those of the parts that say something, side by side."""
    return Content(between).join([part for part in parts if part])

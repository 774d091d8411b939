"""A score as text and as Markdown. Cases that nobody may look at show in figures only."""

from collections import Counter
from collections.abc import Sequence
from typing import Literal

from triage.model.vocabulary import Cause, Layer
from triage.render.safe import inert_text, markdown
from triage.score.figures import Figures, Score, is_hit, share
from triage.score.result import Result

_COLUMNS: tuple[tuple[str, str, str], ...] = (
    ("first right", "first", "faults"),
    ("named", "named", "faults"),
    ("among", "among", "faults"),
    ("layer", "layer", "faults"),
    ("cause", "cause", "faults"),
    ("another", "other", "faults"),
    ("called healthy", "called_healthy", "faults"),
    ("ruled out", "refuted", "faults"),
    ("silent", "silent", "faults"),
    ("unread shown", "unread_shown", "silent"),
    ("alarms", "alarms", "healthy"),
    ("not healthy", "not_called_healthy", "healthy"),
    ("honest", "honest", "unknowable"),
    ("decided", "decided", "unknowable"),
)
"""Heading, what is counted, and of how many."""


def text(result: Score, *, only_figures: bool = False) -> str:
    """The score as a table of cases and the figures, plain text."""
    lines = groups(result)
    if only_figures:
        return "\n".join([*lines, "", *summary(result)])
    tables = [line for of in ("layer", "cause") for line in ("", *matrix(result, of))]
    return "\n".join([*_cases(result), "", *lines, "", *summary(result), *_confused(result), *known_wrong(result), *tables])


def _cases(result: Score) -> list[str]:
    """A line for each case that people may look at."""
    width = max((len(one.case) for one in result.looked_at), default=4)
    lines = [f"{'case':<{width}} {'wanted':<34} {'first':<28} {'status':<13} right"]
    for one in result.looked_at:
        wanted = "|".join(one.wanted[:2]) or one.sort
        lines.append(f"{one.case:<{width}} {wanted:<34.34} {one.first or '-':<28} {one.status:<13} {_mark(one)}{_remarks(one)}")
    return lines


def _mark(one: Result) -> str:
    """Whether a case came out right, or how else."""
    return "yes" if one.right else one.outcome if one.outcome in ("narrowed", "open") else f"NO, {one.outcome}"


def _remarks(one: Result) -> str:
    """What is notable about a result besides its first cause."""
    notes = [f"error: {one.error}"] if one.error else []
    notes += [f"ruled out: {', '.join(one.refuted)}"] if one.refuted else []
    notes += [f"forbidden: {', '.join(one.forbidden)}"] if one.forbidden else []
    notes += [f"extra: {', '.join(one.extra)}"] if one.extra else []
    notes += ["status"] if not one.status_right else []
    notes += [f"known: {one.known_wrong}"] if one.is_known_wrong else []
    return f"  ({'; '.join(notes)})" if notes else ""


def groups(result: Score) -> list[str]:
    """The figures, a column for each group of cases."""
    told = result.groups
    widths = [max(len(one.group), 11) for one in told]
    lines = [f"{'':<16}" + "".join(f"  {one.group:>{width}}" for one, width in zip(told, widths, strict=True))]
    for heading, count, of in _COLUMNS:
        cells = [_cell(one, count, of) for one in told]
        if any(cells):
            lines.append(
                f"{heading:<16}" + "".join(f"  {cell or '-':>{width}}" for cell, width in zip(cells, widths, strict=True))
            )
    return lines


def _cell(figures: Figures, count: str, of: str) -> str:
    """A count out of how many; empty out of none."""
    whole: int = getattr(figures, of)
    return f"{getattr(figures, count)} of {whole}" if whole else ""


def summary(result: Score) -> list[str]:
    """The figures of all cases, a line each."""
    faults = result.of("fault")
    whole = result.groups[-1]
    lines = [
        f"faults: {whole.faults}, first cause right in {whole.first} ({result.top1:.1%})",
        f"accepted cause named in {whole.named}, among those named or narrowed to in {whole.among}",
        f"faults called healthy: {whole.called_healthy}; true kind ruled out: {whole.refuted}; another kind named: {whole.other}",
        f"silent: {whole.silent}, of them with unread lines shown {whole.unread_shown}",
        (
            f"layer right: {share(is_hit(one.layer, one.layer_found) for one in faults):.1%}; "
            f"cause right: {share(is_hit(one.cause, one.cause_found) for one in faults):.1%}; "
            f"roots accepted or allowed: {result.root_precision:.1%}"
        ),
        f"healthy: {whole.healthy}, false alarms {whole.alarms}, called anything else {whole.not_called_healthy}",
        f"unknowable: {whole.unknowable}, answered honestly {whole.honest}, decided all the same {whole.decided}",
        f"forbidden findings: {whole.forbidden}; status not accepted: {sum(not o.status_right for o in result.results)}",
    ]
    ruled = [one for one in faults if one.ruled]
    if len(ruled) < len(faults):
        known = sum(one.first_right for one in ruled)
        lines.insert(1, f"of the {len(ruled)} whose kind has a rule: {known} ({share(o.first_right for o in ruled):.1%})")
    if whole.known_wrong:
        lines.append(f"known to come out wrong: {whole.known_wrong}")
    if whole.errors:
        lines.append(f"could not be read: {whole.errors}")
    return lines


def _confused(result: Score) -> list[str]:
    """Kinds for which another kind was named first."""
    pairs = [
        f"  {wanted} taken for {first}" + (f" ({count} times)" if count > 1 else "") for wanted, first, count in result.confusions
    ]
    return ["taken for another kind:", *pairs] if pairs else []


def known_wrong(result: Score) -> list[str]:
    """Cases that are known to come out wrong, and why; and those whose mark has to go."""
    known = [one for one in result.looked_at if one.is_known_wrong]
    healed = [one for one in result.looked_at if one.is_healed]
    lines = [
        "known to come out wrong:",
        *(f"  {one.case}: {one.outcome}, {one.first or '-'} first: {one.known_wrong}" for one in known),
    ]
    marks = ["right, though marked known_wrong; take the mark out of truth.toml:", *(f"  {one.case}" for one in healed)]
    return [*(lines if known else []), *(marks if healed else [])]


def matrix(result: Score, of: Literal["layer", "cause"]) -> list[str]:
    """How often each true layer or cause of the faults was reported as which: rows are true, columns reported."""
    names = [entry.value for entry in (Layer if of == "layer" else Cause)]
    counts = Counter((getattr(one, of), getattr(one, f"{of}_found")) for one in result.of("fault"))
    if not any(counts[name, column] for name in names for column in (*names, "")):
        return []
    head = f"{of + ' (true | reported)':<26}" + "".join(f"{name:>15}" for name in (*names, "silent"))
    return [head, *(f"{name:<26}" + "".join(f"{counts[name, column]:>15}" for column in (*names, "")) for name in names)]


def as_markdown(result: Score, *, only_figures: bool = False) -> str:
    """The score as a table of cases, a table of figures and a list."""
    cases = [
        (one.case, ", ".join(one.wanted) or one.sort, one.first or "none", one.status, "yes" if one.right else one.outcome)
        for one in result.looked_at
    ]
    told = result.groups
    figures = [(heading, *(_cell(one, count, of) or "-" for one in told)) for heading, count, of in _COLUMNS]
    parts = [] if only_figures else [*_rows(("case", "wanted", "first", "status", "right"), cases), ""]
    parts += [*_rows(("", *(one.group for one in told)), figures), "", *(f"- {line}" for line in summary(result))]
    wrong = [] if only_figures else [cell for cell in result.confusion if cell[0] != cell[1]]
    parts += (
        ["", *_rows(("true kind", "came first", "cases"), [(one, other, str(count)) for one, other, count in wrong])]
        if wrong
        else []
    )
    known = [(one.case, one.outcome, one.first or "none", one.known_wrong) for one in result.looked_at if one.is_known_wrong]
    parts += ["", *_rows(("known to come out wrong", "how", "first", "why"), known)] if known and not only_figures else []
    return "\n".join(parts)


def _rows(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A table of Markdown."""
    lines = [_row(head), f"| {' | '.join(['---'] * len(head))} |"]
    return [*lines, *(_row(row) for row in rows)]


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(markdown(inert_text(cell)) for cell in cells)} |"


def as_json(result: Score, *, only_figures: bool = False) -> dict[str, object]:
    """The score as JSON: figures by group, and the results of the cases that people may look at."""
    told: dict[str, object] = {"groups": [one.model_dump() for one in result.groups]}
    if not only_figures:
        told["confusion"] = [{"true": wanted, "first": first, "cases": count} for wanted, first, count in result.confusion]
        told["known_wrong"] = [one.case for one in result.looked_at if one.is_known_wrong]
        told["healed"] = [one.case for one in result.looked_at if one.is_healed]
        told["results"] = [one.model_dump() for one in result.looked_at]
    return told

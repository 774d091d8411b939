"""The report as one HTML file: nothing loaded from elsewhere, readable on paper, in the dark and by ear.

Its only script puts buttons beside commands that copy them; without it nothing is missing but those.
"""

from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType

from triage.model.diagnosis import Diagnosis, Evidence, Finding, LayerState, Promised, Status, Verdict, Vital
from triage.model.playbook import ENGINES, Playbook, Step
from triage.model.units import clock
from triage.render.answer import (
    Told,
    first_finding,
    five_lines,
    is_open,
    is_said_on_top,
    rest,
    rival_line,
    rivals_of,
    titles_of_roots,
)
from triage.render.chain import Node, began_by, seen_late, trees, trigger
from triage.render.chart import chart
from triage.render.reading import (
    Reading,
    against,
    all_facts,
    began,
    counted,
    decider,
    gaps,
    greps,
    judged_with,
    late_words,
    layer_told,
    meaning,
    muted_line,
    no_later,
    place,
    queries,
    reading,
    silent,
    unusable,
    vital_evidence,
    vital_reading,
    vitals_of,
    whom,
    window,
)
from triage.render.safe import html, inert, inert_text

_TEXT_STYLE = "\ufe0e"
"""Asks for the plain form of a sign that some fonts draw as a picture."""
STATUS_SIGNS = {Status.HEALTHY: "✔", Status.DEGRADED: "▲", Status.INCIDENT: "✖", Status.INCONCLUSIVE: "?"}
LAYER_SIGNS = {LayerState.CLEARED: "✔", LayerState.IMPLICATED: "✖", LayerState.PARTLY: "◐", LayerState.NOT_EVALUATED: "?"}
VERDICT_SIGNS = {Verdict.PRESENT: "●", Verdict.ABSENT: "○", Verdict.UNKNOWN: "?"}
VITAL_SIGNS = {Promised.KEPT: "✔", Promised.BROKEN: "✖", Promised.OPEN: "?"}
VITAL_WORDS = {Promised.KEPT: "kept", Promised.BROKEN: "broken", Promised.OPEN: "cannot be told"}
VERDICT_WORDS = {Verdict.PRESENT: "holds", Verdict.ABSENT: "does not hold", Verdict.UNKNOWN: "cannot be told"}

_SUBJECTS = 8
_MANY = 12
"""A list longer than this is folded away until it is asked for (and open on paper)."""

_STYLE = Path(__file__).with_name("report.css")
_SCRIPT = Path(__file__).with_name("report.js")
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'"


def to_html(diagnosis: Diagnosis, *, flags: str = "", playbooks: Mapping[str, Playbook] = MappingProxyType({})) -> str:
    """The diagnosis as a self-contained HTML document that holds everything.

    :param flags: what names the incident on the command line
    :param playbooks: those of the kinds that were found, with the names of this incident filled in
    """
    one = inert(diagnosis)
    is_first = is_open(one) or one.status is Status.INCONCLUSIVE
    body = "\n".join(
        [
            *_header(one, flags),
            "<main>",
            *_first_playbook(one, playbooks),
            *(_left_over(one) if is_first else ()),
            *_vitals(one),
            *(_unseen(one) if one.status is Status.INCONCLUSIVE else ()),
            *_layers(one),
            *_roots(one),
            *_rivals(one),
            *_chain(one),
            *_contributing(one),
            *(_left_over(one) if not is_first else ()),
            *_ruled_out(one),
            *(_unseen(one) if one.status is not Status.INCONCLUSIVE else ()),
            *(_lines("Muted", [muted_line(each) for each in one.muted]) if one.muted else ()),
            *_check(one),
            *_facts(one),
            "</main>",
            f"<footer>{html(judged_with(one) or 'Written by triage')}, schema {html(one.schema_)}. Times are UTC.</footer>",
        ]
    )
    script = _SCRIPT.read_text(encoding="utf-8")
    policy = _POLICY.format(b64encode(sha256(script.encode()).digest()).decode())
    title = f"{one.status.value.upper()} {html(one.service)} {clock(one.window.start)} UTC"
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{title}</title>\n<style>\n{_STYLE.read_text(encoding='utf-8')}</style>\n</head>\n<body>\n{body}\n"
        f"<script>{script}</script>\n</body>\n</html>\n"
    )


def _header(one: Diagnosis, flags: str) -> Iterable[str]:
    """Five lines that suffice, and which time was judged."""
    what, *others = five_lines(one, flags)
    yield f'<header class="{one.status.value}">'
    yield f'<p class="status">{_sign(STATUS_SIGNS[one.status])} {one.status.value.upper()} <b>{html(one.service)}</b></p>'
    yield f"<h1>{html(what.text)}</h1>"
    yield f'<dl class="answer">{"".join(_told(line) for line in others)}</dl>'
    yield f'<p class="quiet">{html(window(one))}</p>'
    yield "</header>"


def _told(told: Told) -> str:
    """One line of the answer, and what belongs to it."""
    text = _command(told.text) if told.is_command else html(told.text)
    below = "".join(f"<br><small>{html(line)}</small>" for line in told.below)
    return f"<dt>{told.label}</dt><dd>{text}{below}</dd>"


def _command(text: str) -> str:
    """Something to copy, for which the script makes a button."""
    return f'<div class="command"><pre tabindex="0"><code>{html(text)}</code></pre></div>'


def _first_playbook(one: Diagnosis, playbooks: Mapping[str, Playbook]) -> Iterable[str]:
    """The playbook of the first finding, folded away on a screen."""
    first = first_finding(one)
    playbook = playbooks.get(first.playbook) if first is not None else None
    if playbook is not None:
        yield f'<details class="playbook"><summary>The playbook of this incident: {html(playbook.title)}</summary>'
        yield f'<p class="quiet">Usually owned by: {html(playbook.owner)}. Nothing here is run for you; what stands in'
        yield "&lt;&gt; is not known.</p>"
        for section in playbook.sections:
            yield f"<h3>{section.heading}</h3>"
            yield "".join(f"<p>{_prose(paragraph)}</p>" for paragraph in section.text.split("\n\n") if paragraph)
            if section.steps:
                yield f"<ol>{''.join(_step(step) for step in section.steps)}</ol>"
        yield "</details>"


def _step(step: Step) -> str:
    """One step: whether it only looks or changes something, its risk, its commands, its wording by engine."""
    names = {code: name for name, code in ENGINES.items()}
    said = "".join(f"<li>{names[one.engine]}: {_prose(one.text)}</li>" for one in step.variants)
    return (
        f'<li><b class="{step.mark}">{step.mark}</b> {_prose(step.text)}'
        f"{f'<br><small>Risk: {_prose(step.risk)}</small>' if step.risk else ''}"
        f"{''.join(_command(command.text) for command in step.commands)}{f'<ul>{said}</ul>' if said else ''}</li>"
    )


def _prose(text: str) -> str:
    """Text of a playbook, in which backticks mark what is typed."""
    parts = inert_text(text, 4000).split("`")
    return "".join(f"<code>{html(part)}</code>" if number % 2 else html(part) for number, part in enumerate(parts))


def _vitals(one: Diagnosis) -> Iterable[str]:
    """What users notice, whether it is well or not: a table of all, and the curves of those that are not well."""
    vitals = vitals_of(one)
    if not vitals:
        return
    yield "<section><h2>Vital signs</h2>"
    head = ("", "value", "now", "limit", "whose limit", "baseline", "since")
    yield f'<div class="vitals">{_table(head, [_vital_row(vital, one) for vital in vitals])}</div>'
    drawn = [vital for vital in vitals if vital.spark is not None and vital.spark.values]
    ill = "".join(_vital_curve(vital, one) for vital in drawn if vital.state is not Promised.KEPT)
    yield f'<div class="curves">{ill}</div>'
    kept = [_vital_curve(vital, one) for vital in drawn if vital.state is Promised.KEPT]
    if kept:
        yield f"<details><summary>{counted(len(kept), 'curve')} of what is well</summary>{''.join(kept)}</details>"
    yield "</section>"


def _vital_row(vital: Vital, one: Diagnosis) -> Sequence[str]:
    read = vital_reading(vital, one.window.end)
    style = f'class="{vital.state.value}"'
    words = VITAL_WORDS[vital.state]
    sign = f'<span {style} role="img" aria-label="{words}" title="{words}">{VITAL_SIGNS[vital.state]}{_TEXT_STYLE}</span>'
    value = f"<b {style}>{html(read.value)}</b>"
    rest = (read.now, read.limit, read.whose, read.usual, read.when.removeprefix("since "))
    said = ", ".join(part for part in (f"of {read.part}" if read.part else "", read.reason) if part)
    below = f"<br><small>{html(said)}</small>" if said else ""
    return (f"{sign} <b>{html(read.name)}</b>{below}", value, *(html(word) for word in rest))


def _vital_curve(vital: Vital, one: Diagnosis) -> str:
    read = vital_reading(vital, one.window.end)
    name = f"{read.name} of {read.part}" if read.part else read.name
    drawing = chart(vital_evidence(vital, one), name, one.window.end)
    told = f"{read.value} {read.limit}".strip()
    return f'<div class="proof"><p><b>{html(name)}</b><br>{html(told)}</p>{drawing}</div>'


def _left_over(one: Diagnosis) -> Iterable[str]:
    """Lines that nothing understands, and what is odd and explained by nothing."""
    unread, odd = rest(one, everything=True)
    if unread:
        yield from _lines("Not understood by any rule", unread)
    if odd:
        yield from _lines("Odd, and explained by nothing", odd)


def _lines(title: str, lines: Sequence[str]) -> Iterable[str]:
    """A section that is a list, folded away if it is long."""
    listed = f"<ul>{''.join(f'<li>{html(line)}</li>' for line in lines)}</ul>"
    yield f"<section><h2>{title}</h2>{_folded(listed, f'{len(lines)} in all', len(lines))}</section>"


def _layers(one: Diagnosis) -> Iterable[str]:
    yield "<section><h2>Layers</h2>"
    rows = []
    for view in one.layers:
        state = f'<span class="{view.state.value}">{_sign(LAYER_SIGNS[view.state])} {layer_told(view)}</span>'
        found = ", ".join(f'<a href="#{_anchor(rule)}">{html(rule)}</a>' for rule in view.findings)
        rows.append((f"<b>{view.layer.value}</b>", state, found, str(view.ruled_out), str(view.not_evaluated)))
    yield _table(("layer", "state", "findings", "ruled out", "not evaluated"), rows)
    yield "</section>"


def _roots(one: Diagnosis) -> Iterable[str]:
    for title, finding in titles_of_roots(one):
        yield f"<section><h2>{title}</h2>"
        yield from _finding(finding, one)
        yield "</section>"


def _rivals(one: Diagnosis) -> Iterable[str]:
    """The kinds that the cause may be, and what would decide."""
    rivals = rivals_of(one)
    if rivals:
        title = "What else it may be" if first_finding(one) else "What it may be"
        yield from _lines(title, [rival_line(rival) for rival in rivals])


def _finding(finding: Finding, one: Diagnosis) -> Iterable[str]:
    """A finding in full: what, where, first step, proof, how to check it."""
    near = one.window.end
    subjects = finding.subjects or (finding.subject,)
    where = html(whom(finding, _SUBJECTS))
    yield f'<article id="{_anchor(finding.rule)}" class="{finding.severity} {finding.role}"><h3>{html(finding.title)}</h3>'
    yield (
        f'<p class="quiet"><code>{html(finding.rule)}</code>: {place(finding)}; {finding.severity},'
        f" {finding.confidence}<br>on {where}, {began(finding, near)}</p>"
    )
    if not is_said_on_top(finding, one):
        yield f'<p class="summary">{html(finding.summary)}</p>'
    if len(subjects) > _SUBJECTS + 1:
        names = ", ".join(html(subject) for subject in subjects)
        yield f"<details><summary>all {len(subjects)} subjects, worst first</summary><p>{names}</p></details>"
    if finding.contradicts:
        yield f'<p class="unsure">{html(against(finding, near))}</p>'
    if finding is not first_finding(one):
        yield f'<div class="step"><p><b>do first</b> {html(finding.first_step)}<br><b>do not</b> {html(finding.do_not)}</p>'
        yield f"{_command(f'triage playbook {finding.playbook}')}</div>"
    if finding.evidence:
        yield "<h4>Evidence</h4>"
    for evidence in finding.evidence:
        yield _evidence(evidence, near)
    yield "</article>"


def _evidence(evidence: Evidence, near: float) -> str:
    read = reading(evidence, near)
    remarks = " ".join(part for part in (read.note, meaning(evidence)) if part)
    return _proof(read.headed, read, chart(evidence, read.headed, near), remarks)


def _proof(name: str, read: Reading, drawing: str, remarks: str) -> str:
    """One measured thing: its name, its numbers and its curve."""
    words = f"condition {VERDICT_WORDS[read.verdict]}"
    spoken = f'role="img" aria-label="{words}" title="{words}"'
    sign = f'<span class="{read.verdict.value}" {spoken}>{VERDICT_SIGNS[read.verdict]}</span>'
    numbers = [f"<b>{html(read.value)}</b> {html(read.held_against)}"]
    if read.usual:
        numbers.append(f"baseline {html(read.usual)}")
    if read.when:
        numbers.append(html(read.when))
    return (
        f'<div class="proof"><p>{sign} <b>{html(name)}</b><br>{" &#183; ".join(numbers)}'
        f"{f'<br><small>{html(remarks)}</small>' if remarks else ''}</p>{drawing}</div>"
    )


def _chain(one: Diagnosis) -> Iterable[str]:
    linked = [tree for tree in trees(one.findings) if tree.follows or tree.finding.role == "consequence"]
    if not linked:
        return
    yield "<section><h2>What follows from what</h2>"
    yield f'<ul class="chain">{"".join(_node(tree, one) for tree in linked)}</ul>'
    for finding in one.findings:
        if finding.role == "consequence":
            yield from _finding(finding, one)
    yield "</section>"


def _node(node: Node, one: Diagnosis) -> str:
    """A finding of the tree as a list item, and what follows from it as a list within."""
    finding = node.finding
    seen = no_later(began_by(node), finding, one.window.end)
    when = f"<time>{seen}</time> " if seen else ""
    notes = [
        f"loop: feeds {html(target.rule)} again; set off by {html(trigger(one.findings, finding).rule)},"
        " and may go on after that is mended"
        for target in node.back
    ]
    notes.extend(f"also leads to {html(other.rule)}" for other in node.also)
    said = "".join(f'<p class="loop">&#8634; {note}</p>' for note in notes)
    below = f"<ul>{''.join(_node(child, one) for child in node.follows)}</ul>" if node.follows else ""
    link = f'<a href="#{_anchor(finding.rule)}">{html(finding.title)}</a> <code>{html(finding.rule)}</code>'
    because = f'<p class="because">because {html(node.because)}</p>' if node.because else ""
    late = seen_late(node)
    slow = f'<p class="because">{html(late_words(late))}</p>' if late > 0 else ""
    return f"<li>{when}{link}{because}{slow}{said}{below}</li>"


def _contributing(one: Diagnosis) -> Iterable[str]:
    others = [finding for finding in one.findings if finding.role == "contributing"]
    if not others:
        return
    yield "<section><h2>Contributing</h2>"
    for finding in others:
        yield from _finding(finding, one)
    yield "</section>"


def _ruled_out(one: Diagnosis) -> Iterable[str]:
    if not one.ruled_out and not one.unseen:
        return
    rows = []
    for each in one.ruled_out:
        read = decider(each, one.window.end)
        if read is None:
            continue
        why = f"{html(read.what)} {html(read.compared)} <small>{html(read.note)}</small>"
        rows.append((f"{html(each.title)} <code>{html(each.rule)}</code>", each.layer.value, why))
    yield "<section><h2>What it is not</h2>"
    if rows:
        yield _folded(_table(("kind", "layer", "because"), rows), counted(len(rows), "kind") + " ruled out", len(rows))
    if one.unseen:
        names = "".join(f"<li><code>{html(each.rule)}</code>{''.join(map(_command, greps(each)))}</li>" for each in one.unseen)
        yield f"<details><summary>{html(silent(len(one.unseen), one.coverage.sources))}</summary><ul>{names}</ul></details>"
    yield "</section>"


def _unseen(one: Diagnosis) -> Iterable[str]:
    """What could not be looked at, why, and how to change that."""
    coverage = one.coverage
    is_blind = one.status is Status.INCONCLUSIVE
    yield f"<section><h2>{'What is missing for an answer' if is_blind else 'What could not be looked at'}</h2>"
    yield f"<p>{coverage.rules_evaluated} of {counted(coverage.rules_total, 'kind')} of failure judged.</p>"
    lines = [
        f'source {html(source.name)} <b class="source-{source.state}">{source.state}</b> {html(source.reason)}'
        for source in coverage.sources
        if source.state != "ok"
    ]
    lines.extend(html(told) for told in unusable(one, 10**6))
    lines.extend(html(problem) for problem in coverage.problems)
    if lines:
        yield f"<ul>{''.join(f'<li>{line}</li>' for line in lines)}</ul>"
    yield from _gaps(one)
    yield "</section>"


def _gaps(one: Diagnosis) -> Iterable[str]:
    """Kinds that could not be judged, by what would let them be."""
    if not one.not_evaluated:
        return
    rows = [
        (html(gap.how), ", ".join(f"<code>{html(each.rule)}</code>" for each in gap.rules)) for gap in gaps(one.not_evaluated)
    ]
    yield _folded(_table(("to see more", "kinds that this helps to judge"), rows), f"{len(rows)} steps to see more", len(rows))
    kinds = [
        (html(each.title), f"<code>{html(each.rule)}</code>", ", ".join(f"<code>{html(name)}</code>" for name in each.missing))
        for each in one.not_evaluated
    ]
    yield _folded(_table(("not evaluated", "rule", "missing"), kinds), counted(len(kinds), "kind") + " not evaluated", len(kinds))


def _check(one: Diagnosis) -> Iterable[str]:
    """What to run to see the same by hand."""
    lines = queries(one.findings)
    if lines:
        listed = "".join(f"{_comment(what)}{_command(line)}" for what, line in lines)
        yield '<section class="check"><h2>Check by hand</h2>'
        yield f"{_folded(listed, f'{len(lines)} queries and commands', len(lines))}</section>"


def _facts(one: Diagnosis) -> Iterable[str]:
    if not one.facts:
        return
    yield "<section><h2>What is known of the service</h2>"
    yield _table(("fact", "value"), [(f"<code>{html(key)}</code>", html(value)) for key, value in all_facts(one)])
    yield "</section>"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of cells that are HTML already."""
    top = "".join(f'<th scope="col">{cell}</th>' for cell in head)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f'<div class="wide" tabindex="0"><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'


def _folded(content: str, name: str, rows: int) -> str:
    """The content, folded away if it is long."""
    return content if rows <= _MANY else f"<details><summary>{name}</summary>{content}</details>"


def _comment(what: str) -> str:
    return f'<p class="quiet">{html(what)}</p>' if what else ""


def _sign(sign: str) -> str:
    """A sign for the eye; the word beside it says the same."""
    return f'<span aria-hidden="true">{sign}{_TEXT_STYLE}</span>'


def _anchor(rule: str) -> str:
    """The place of a finding on the page."""
    return html(f"finding-{rule}".replace(" ", "-"))

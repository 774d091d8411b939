"""The report to paste into an incident channel or a ticket: GitHub-flavoured Markdown, every string from outside made inert."""

from collections.abc import Iterable, Sequence

from triage.model.diagnosis import Diagnosis, Evidence, Finding, Status, Verdict
from triage.model.units import clock
from triage.render.chain import Node, trees, trigger
from triage.render.reading import (
    LAYER_WORDS,
    against,
    began,
    counted,
    decider,
    facts,
    gaps,
    is_refused,
    listed,
    place,
    queries,
    reading,
    symptom_name,
    symptom_reading,
    those,
    unexplained,
    window,
)
from triage.render.safe import code, fenced, inert, markdown
from triage.render.spark import spark

VERDICT_WORDS = {Verdict.PRESENT: "holds", Verdict.ABSENT: "does not hold", Verdict.UNKNOWN: "cannot be told"}

_FEW = 5
_CURVE = 26


def to_markdown(diagnosis: Diagnosis, *, verbose: bool = False) -> str:
    """The diagnosis as Markdown.

    :param verbose: every ruled-out and unjudged kind and all consequences in full
    """
    clean = inert(diagnosis)
    parts = [
        *_header(clean),
        *_symptoms(clean),
        *_layers(clean),
        *_roots(clean),
        *_chain(clean, verbose=verbose),
        *_contributing(clean),
        *(_ruled_out(clean, verbose=verbose) if verbose or clean.status is not Status.HEALTHY else ()),
        *_unseen(clean, verbose=verbose),
    ]
    return "\n\n".join(parts) + "\n"


def _header(one: Diagnosis) -> Iterable[str]:
    yield f"## {one.status.value.upper()}: {markdown(one.service)}"
    if one.headline:
        yield f"**{markdown(one.headline)}**"
    yield "  \n".join(line for line in (window(one), markdown(facts(one))) if line)


def _symptoms(one: Diagnosis) -> Iterable[str]:
    if not one.symptoms:
        return
    rows = []
    for symptom in one.symptoms:
        read = symptom_reading(symptom, one.window.end)
        cells = (
            markdown(symptom_name(symptom.name)),
            f"**{markdown(read.value)}**",
            markdown(read.held_against),
            markdown(read.usual),
            read.since,
        )
        rows.append((*cells, _curve(symptom.evidence)))
    yield "### Symptoms"
    yield _table(("symptom", "value", "held against", "baseline", "since", "over time"), rows)


def _layers(one: Diagnosis) -> Iterable[str]:
    yield "### Layers"
    yield _table(
        ("layer", "state", "ruled out", "not evaluated", "findings"),
        [
            (
                view.layer.value,
                f"**{LAYER_WORDS[view.state]}**" if view.findings else LAYER_WORDS[view.state],
                str(view.ruled_out),
                str(view.not_evaluated),
                ", ".join(code(rule) for rule in view.findings),
            )
            for view in one.layers
        ],
    )


def _roots(one: Diagnosis) -> Iterable[str]:
    roots = [finding for finding in one.findings if finding.role == "root"]
    for number, finding in enumerate(roots):
        rank = "" if len(roots) == 1 else f" {number + 1} of {len(roots)}"
        yield f"### Root cause{rank}: {markdown(finding.title)}"
        yield from _finding(finding, one)
    if unexplained(one):
        yield "### Root cause"
        yield unexplained(one)


def _finding(finding: Finding, one: Diagnosis) -> Iterable[str]:
    """A finding in full, below its heading."""
    where = markdown(those(finding.subjects or (finding.subject,), 3))
    yield (
        f"{code(finding.rule)}: {place(finding)}; on {where}, {began(finding, one.window.end)};"
        f" **{finding.severity}**, {finding.confidence}"
    )
    if finding.summary:
        yield markdown(finding.summary)
    if finding.contradicts:
        yield markdown(against(finding, one.window.end))
    if finding.evidence:
        yield _evidence(finding.evidence, one)
    lines = queries([finding])
    if lines:
        yield "Check by hand:"
        yield fenced([text for what, line in lines for text in ([f"# {what}", line] if what else [line])])
    step = f"{markdown(finding.first_step)} Then " if finding.first_step else ""
    yield f"**First step:** {step}{code(f'triage playbook {finding.playbook}')}"


def _evidence(evidence: Sequence[Evidence], one: Diagnosis) -> str:
    rows = []
    for each in evidence:
        read = reading(each, one.window.end)
        value = " ".join(part for part in (f"**{markdown(read.value)}**" if read.value else "", markdown(read.note)) if part)
        what = (code(read.what), markdown(read.subject), value, markdown(read.held_against), markdown(read.usual), read.since)
        rows.append((*what, VERDICT_WORDS[read.verdict], _curve(each)))
    return _table(("evidence", "of", "value", "held against", "baseline", "since", "condition", "over time"), rows)


def _chain(one: Diagnosis, *, verbose: bool) -> Iterable[str]:
    linked = [tree for tree in trees(one.findings) if tree.follows or tree.finding.role == "consequence"]
    if not linked:
        return
    yield "### What follows from what"
    yield "\n".join(line for tree in linked for line in _node(tree, one, 0))
    if verbose:
        for finding in (f for f in one.findings if f.role == "consequence"):
            yield f"#### {markdown(finding.title)}"
            yield from _finding(finding, one)


def _node(node: Node, one: Diagnosis, depth: int) -> Iterable[str]:
    """A finding of the tree as a list item, and what follows from it as a list within."""
    finding, margin = node.finding, "  " * depth
    when = "" if finding.onset is None else f"{clock(finding.onset, one.window.end)} "
    read = reading(finding.evidence[0], one.window.end) if finding.evidence and depth else None
    proof = f": {code(read.what)} {markdown(read.compared)}" if read else ""
    yield f"{margin}- {when}**{markdown(finding.title)}** {code(finding.rule)}{proof}"
    for target in node.back:
        origin = trigger(one.findings, finding).rule
        yield f"{margin}  - loop: feeds {code(target.rule)} again; set off by {code(origin)}, may go on after that is mended"
    for other in node.also:
        yield f"{margin}  - also leads to {code(other.rule)}"
    for child in node.follows:
        yield from _node(child, one, depth + 1)


def _contributing(one: Diagnosis) -> Iterable[str]:
    others = [finding for finding in one.findings if finding.role == "contributing"]
    if not others:
        return
    yield "### Contributing"
    yield "\n".join(
        f"- **{markdown(f.title)}** {code(f.rule)}, {began(f, one.window.end)}: {markdown(f.summary)}"
        f" {code(f'triage playbook {f.playbook}')}"
        for f in others
    )


def _ruled_out(one: Diagnosis, *, verbose: bool) -> Iterable[str]:
    if not one.ruled_out:
        return
    shown = one.ruled_out if verbose else one.ruled_out[:_FEW]
    rows = []
    for each in shown:
        read = decider(each, one.window.end)
        why = f"{code(read.what)} {markdown(f'{read.compared} {read.note}')}" if read else ""
        rows.append((markdown(each.title), code(each.rule), why))
    yield "### What it is not"
    yield _table(("kind", "rule", "because"), rows)
    if len(shown) < len(one.ruled_out):
        yield f"{len(one.ruled_out) - len(shown)} more ruled out."


def _unseen(one: Diagnosis, *, verbose: bool) -> Iterable[str]:
    """What could not be looked at, why, and how to change that."""
    coverage = one.coverage
    is_blind = one.status is Status.INCONCLUSIVE
    yield "### What is missing for an answer" if is_blind else "### What could not be looked at"
    lines = [f"{coverage.rules_evaluated} of {counted(coverage.rules_total, 'kind')} of failure judged"]
    lines.extend(
        f"source {code(source.name)} **{source.state}** {markdown(source.reason)}".rstrip()
        for source in coverage.sources
        if source.state != "ok"
    )
    if verbose or (one.status is not Status.HEALTHY and not is_refused(one)):
        lines.extend(_gaps(one, verbose=verbose or is_blind))
    lines.extend(
        f"{code(signal.signal)} is **{signal.state.replace('_', ' ')}** and was not used: {markdown(signal.reason)}".rstrip(" :")
        for signal in coverage.signals
        if signal.state in {"stale", "out_of_range"}
    )
    lines.extend(markdown(problem) for problem in coverage.problems)
    yield "\n".join(f"- {line}" for line in lines)


def _gaps(one: Diagnosis, *, verbose: bool) -> Iterable[str]:
    every = gaps(one.not_evaluated)
    for gap in every if verbose else every[:_FEW]:
        rules = [each.rule for each in gap.rules]
        yield f"{markdown(gap.how)}: {markdown(listed(rules, len(rules) if verbose else _FEW))}"


def _curve(evidence: Evidence) -> str:
    """The curve in a code span, where every character is as wide as the next."""
    if evidence.spark is None or not evidence.spark.values:
        return ""
    pieces = spark(evidence.spark, _CURVE, utf8=True, threshold=evidence.threshold)
    return code("".join(piece.text for piece in pieces))


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of cells that are Markdown already; columns without any content are left out."""
    used = [index for index in range(len(head)) if any(row[index] for row in rows)]
    lines = [[head[index] for index in used], ["---"] * len(used), *([row[index] for index in used] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)

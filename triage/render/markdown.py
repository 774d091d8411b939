"""The report to paste into an incident channel or a ticket: GitHub-flavoured Markdown, every string from outside made inert."""

from collections.abc import Iterable, Sequence

from triage.model.diagnosis import Diagnosis, Evidence, Finding, LayerState, Promised, Spark, Status, Verdict
from triage.render.answer import first_finding, is_open, is_said_on_top, rest, rival_line, rivals_of, titles_of_roots
from triage.render.brief import five_in_markdown
from triage.render.chain import Node, began_by, seen_late, trees, trigger
from triage.render.reading import (
    against,
    began,
    counted,
    decider,
    facts,
    gaps,
    is_refused,
    judged_with,
    late_words,
    layer_told,
    listed,
    muted_line,
    no_later,
    place,
    queries,
    reading,
    shortened,
    silent,
    unusable,
    vital_reading,
    vitals_of,
    whom,
    window,
)
from triage.render.safe import code, fenced, inert, markdown
from triage.render.spark import spark

VERDICT_WORDS = {Verdict.PRESENT: "holds", Verdict.ABSENT: "does not hold", Verdict.UNKNOWN: "cannot be told"}
VITAL_WORDS = {Promised.KEPT: "✔ kept", Promised.BROKEN: "✖ **broken**", Promised.OPEN: "? open"}

_FEW = 5
_STEPS = 8
_CURVE = 26
_REASON = 160


def to_markdown(diagnosis: Diagnosis, *, verbose: bool = False, flags: str = "") -> str:
    """The diagnosis as Markdown.

    :param verbose: every ruled-out and unjudged kind and all consequences in full
    :param flags: what names the incident on the command line
    """
    clean = inert(diagnosis)
    is_first = is_open(clean) or clean.status is Status.INCONCLUSIVE
    parts = [
        *_header(clean, flags),
        *(_left_over(clean, verbose=verbose) if is_first else ()),
        *_vitals(clean, verbose=verbose),
        *_layers(clean),
        *_roots(clean),
        *_rivals(clean),
        *_chain(clean, verbose=verbose),
        *_contributing(clean),
        *(_left_over(clean, verbose=verbose) if not is_first else ()),
        *(_ruled_out(clean, verbose=verbose) if verbose or clean.status is not Status.HEALTHY else ()),
        *_unseen(clean, verbose=verbose),
        *_muted(clean),
        *_check(clean, verbose=verbose),
        *((markdown(judged_with(clean)),) if clean.ruleset else ()),
    ]
    return "\n\n".join(parts) + "\n"


def finding_in_markdown(rule: str, diagnosis: Diagnosis) -> str:
    """One finding alone, to be pasted into a channel or a ticket: what, the steps, the evidence, how to check it by hand.

    :raises StopIteration: the kind was not found
    """
    one = inert(diagnosis)
    finding = next(each for each in one.findings if each.rule == rule)
    parts = [f"### {markdown(one.service)}: {markdown(finding.title)}", *_finding(finding, one)]
    if finding is first_finding(one):
        parts.append(_steps(finding))
    asked = list(dict.fromkeys([*(each.query for each in finding.evidence if each.query), *finding.check]))
    return "\n\n".join([*parts, *([fenced(asked)] if asked else [])]) + "\n"


def _header(one: Diagnosis, flags: str) -> Iterable[str]:
    """Five lines that suffice, which time was judged, and what the service is."""
    yield "\n".join(five_in_markdown(one, flags))
    yield "  \n".join(line for line in (window(one), markdown(facts(one))) if line)


def _vitals(one: Diagnosis, *, verbose: bool) -> Iterable[str]:
    """What users notice, whether it is well or not."""
    if not one.vitals:
        return
    rows = []
    for vital in vitals_of(one):
        read = vital_reading(vital, one.window.end)
        tells = verbose or vital.state is not Promised.BROKEN or not read.value
        when = read.when.removeprefix("since ")
        note = "; ".join(part for part in (when, shortened(read.reason, _REASON) if tells else "") if part)
        limit = f"{read.limit} ({read.whose})" if read.whose else read.limit
        name = f"{read.name} of {read.part}" if read.part else read.name
        words = (name, read.value, read.now, limit, read.usual, note)
        rows.append((VITAL_WORDS[vital.state], *(markdown(word) for word in words), _curve(vital.spark, vital.limit)))
    yield "### Vital signs"
    yield _table(("promise", "of", "value", "now", "limit", "baseline", "since", "over time"), rows)


def _left_over(one: Diagnosis, *, verbose: bool) -> Iterable[str]:
    """Lines that nothing understands, and what is odd and explained by nothing."""
    for title, lines in zip(
        ("Not understood by any rule", "Odd, and explained by nothing"), rest(one, everything=verbose), strict=True
    ):
        if lines:
            yield f"### {title}"
            yield _list(lines, verbose=verbose)


def _list(lines: Sequence[str], *, verbose: bool) -> str:
    """The first of some lines as a list, and how many more there are."""
    shown = lines if verbose else lines[:_FEW]
    more = [f"{len(lines) - len(shown)} more"] if len(shown) < len(lines) else []
    return "\n".join(f"- {markdown(line)}" for line in [*shown, *more])


def _layers(one: Diagnosis) -> Iterable[str]:
    yield "### Layers"
    yield _table(
        ("layer", "state", "findings"),
        [
            (
                view.layer.value,
                f"**{layer_told(view)}**" if view.state is LayerState.IMPLICATED else layer_told(view),
                ", ".join(code(rule) for rule in view.findings),
            )
            for view in one.layers
        ],
    )


def _roots(one: Diagnosis) -> Iterable[str]:
    for title, finding in titles_of_roots(one):
        yield f"### {title}: {markdown(finding.title)}"
        yield from _finding(finding, one)


def _rivals(one: Diagnosis) -> Iterable[str]:
    """The kinds that the cause may be, and what would decide."""
    rivals = rivals_of(one)
    if rivals:
        yield "### What else it may be" if first_finding(one) else "### What it may be"
        yield "\n".join(f"- {markdown(rival_line(rival))}" for rival in rivals)


def _finding(finding: Finding, one: Diagnosis) -> Iterable[str]:
    """A finding in full, below its heading."""
    where = markdown(whom(finding, 3))
    yield (
        f"{code(finding.rule)}: {place(finding)}; on {where}, {began(finding, one.window.end)};"
        f" **{finding.severity}**, {finding.confidence}"
    )
    if finding.summary and not is_said_on_top(finding, one):
        yield markdown(finding.summary)
    if finding.contradicts:
        yield markdown(against(finding, one.window.end))
    if finding.evidence:
        yield _evidence(finding.evidence, one)
    if finding is not first_finding(one):
        yield _steps(finding)


def _steps(finding: Finding) -> str:
    """What to do about a finding."""
    told = (("do first", finding.first_step), ("do not", finding.do_not))
    steps = [f"- **{label}:** {markdown(text)}" for label, text in told if text]
    return "\n".join([*steps, f"- **see more:** {code(f'triage playbook {finding.playbook}')}"])


def _evidence(evidence: Sequence[Evidence], one: Diagnosis) -> str:
    rows = []
    for each in evidence:
        read = reading(each, one.window.end)
        value = " ".join(part for part in (f"**{markdown(read.value)}**" if read.value else "", markdown(read.note)) if part)
        what = (markdown(read.what), markdown(read.subject), value, markdown(read.held_against), markdown(read.usual), read.since)
        rows.append((*what, VERDICT_WORDS[read.verdict], _curve(each.spark, each.threshold)))
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
    seen = no_later(began_by(node), finding, one.window.end)
    when = f"{seen} " if seen else ""
    read = reading(finding.evidence[0], one.window.end) if finding.evidence and depth else None
    proof = f": {markdown(read.what)} {markdown(read.compared)}" if read else ""
    because = f", because {markdown(node.because)}" if node.because else ""
    yield f"{margin}- {when}**{markdown(finding.title)}** {code(finding.rule)}{because}{proof}"
    if (late := seen_late(node)) > 0:
        yield f"{margin}  - {late_words(late)}"
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
    if not one.ruled_out and not one.unseen:
        return
    judged = [(each, read) for each in one.ruled_out if (read := decider(each, one.window.end)) is not None]
    quiet = len(one.unseen)
    shown = judged if verbose else judged[:_FEW]
    rows = []
    for each, read in shown:
        why = f"{markdown(read.what)} {markdown(f'{read.compared} {shortened(read.note, _REASON)}')}"
        rows.append((markdown(each.title), code(each.rule), why))
    yield "### What it is not"
    if rows:
        yield _table(("kind", "rule", "because"), rows)
    more = [f"{len(judged) - len(shown)} more ruled out by what was measured."] if len(shown) < len(judged) else []
    more += [f"{markdown(silent(quiet, one.coverage.sources))}."] if quiet else []
    if more:
        yield " ".join(more)


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
        lines.extend(_gaps(one, most=_STEPS if is_blind else _FEW, verbose=verbose))
    lines.extend(markdown(told) for told in unusable(one, 10**6 if verbose else _FEW))
    lines.extend(markdown(problem) for problem in coverage.problems)
    yield "\n".join(f"- {line}" for line in lines)


def _check(one: Diagnosis, *, verbose: bool) -> Iterable[str]:
    """What to run to see the same by hand."""
    lines = queries(one.findings if verbose else [finding for finding in one.findings if finding.role == "root"])
    if lines:
        yield "### Check by hand"
        yield fenced([text for what, line in lines for text in ([f"# {what}", line] if what else [line])])


def _muted(one: Diagnosis) -> Iterable[str]:
    """What a person has muted."""
    if one.muted:
        yield "### Muted"
        yield "\n".join(f"- {markdown(muted_line(each))}" for each in one.muted)


def _gaps(one: Diagnosis, *, most: int, verbose: bool) -> Iterable[str]:
    every = gaps(one.not_evaluated)
    for gap in every if verbose else every[:most]:
        rules = [each.rule for each in gap.rules]
        yield f"{markdown(gap.how)}: {markdown(listed(rules, len(rules) if verbose else _FEW))}"


def _curve(curve: Spark | None, threshold: float | None) -> str:
    """The curve in a code span, where every character is as wide as the next."""
    if curve is None or not curve.values:
        return ""
    return code("".join(piece.text for piece in spark(curve, _CURVE, utf8=True, threshold=threshold)))


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of cells that are Markdown already; columns without any content are left out."""
    used = [index for index in range(len(head)) if any(row[index] for row in rows)]
    lines = [[head[index] for index in used], ["---"] * len(used), *([row[index] for index in used] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)

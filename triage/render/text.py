"""The report for the terminal: the answer first, then its proof, then what it is not and what could not be seen."""

from collections.abc import Sequence

from triage.model.diagnosis import (
    Diagnosis,
    Evidence,
    Finding,
    LayerState,
    Promised,
    RuledOut,
    Status,
    Verdict,
    Vital,
)
from triage.model.units import clock, duration
from triage.render.answer import first_finding, is_open, is_said_on_top, rest, rival_line, rivals_of, titles_of_roots
from triage.render.brief import write_five
from triage.render.chain import Node, began_by, seen_late, trees, trigger
from triage.render.page import Line, Page, Row, Words
from triage.render.reading import (
    Reading,
    against,
    all_facts,
    began,
    counted,
    decider,
    facts,
    gaps,
    greps,
    in_a_word,
    is_refused,
    judged_with,
    late_words,
    layer_told,
    listed,
    meaning,
    muted_line,
    no_later,
    place,
    queries,
    reading,
    shortened,
    silent,
    unusable,
    values_in,
    vital_reading,
    vitals_of,
    whom,
    window,
    with_reasons,
)
from triage.render.safe import inert
from triage.render.spark import signs, spark

LAYER_SIGNS = {
    LayerState.CLEARED: ("✔", "good"),
    LayerState.IMPLICATED: ("✖", "bad"),
    LayerState.PARTLY: ("◐", "unsure"),
    LayerState.NOT_EVALUATED: ("?", "unsure"),
}
VITAL_SIGNS = {Promised.KEPT: ("✔", "good"), Promised.BROKEN: ("✖", "bad"), Promised.OPEN: ("?", "unsure")}
SEVERITY_SIGNS = {"critical": ("✖", "bad"), "warning": ("▲", "warn"), "info": ("•", "dim")}
VERDICT_SIGNS = {Verdict.PRESENT: ("●", "bad"), Verdict.ABSENT: ("○", "good"), Verdict.UNKNOWN: ("?", "unsure")}

_WIDE = 150
"""From this width on each piece of evidence has one line."""
_CURVE = 32
_SMALL = 14
_TINY = 10
_LEAST = 6
_FEW = 5
_STEPS = 8
_SUBJECTS = 3
_REASON = 160
_NOTE = 100
_LINE = 200
SCREEN = 24
"""Lines of the least terminal."""


def to_text(
    diagnosis: Diagnosis,
    *,
    width: int,
    colour: bool,
    verbose: bool = False,
    utf8: bool = True,
    height: int = SCREEN,
    flags: str = "",
) -> str:
    """The diagnosis as a text report.

    :param width: columns of the terminal
    :param colour: whether to style with ANSI escapes; without it the text is plain
    :param verbose: everything instead of the most important part of long lists
    :param utf8: whether the terminal knows more than ASCII
    :param height: lines of the terminal; of a report that is longer the end is seen, so the answer stands there again
    :param flags: what names the incident on the command line
    """
    report = _Report(inert(diagnosis), Page(width, utf8), verbose=verbose, flags=flags)
    report.write(height)
    return report.page.printed(colour=colour)


def to_first_word(diagnosis: Diagnosis, sampled: float, whole: float, *, width: int, colour: bool, utf8: bool = True) -> str:
    """What is known while it is still sampled: trouble in five lines; where none was seen what users notice, never as health.

    :param sampled: seconds that it rests on, of ``whole``
    :param width: columns of the terminal
    """
    one, page = inert(diagnosis), Page(width, utf8)
    rests_on = f"{duration(sampled)} of {duration(whole)} sampled; Ctrl+C ends it with a report of that"
    if one.status in (Status.DEGRADED, Status.INCIDENT):
        page.para((f"so far, {rests_on}", "dim"))
        write_five(page, one)
    else:
        seen = "no trouble seen so far" if one.status is Status.HEALTHY else "inconclusive so far"
        page.para([(seen, "unsure"), (f"; {rests_on}", "dim")], lead=("? ", "unsure"))
        report = _Report(one, page, verbose=False, flags="")
        report.write_vitals()
    return page.printed(colour=colour)


class _Report:
    """Writes the sections of one diagnosis onto a page."""

    def __init__(self, diagnosis: Diagnosis, page: Page, *, verbose: bool, flags: str) -> None:
        self.diagnosis = diagnosis
        self.page = page
        self.verbose = verbose
        self.flags = flags
        self.near = diagnosis.window.end
        self._has_legend = False

    def write(self, height: int) -> None:
        """All sections in the order in which a person needs them: the answer, its proof, what it is not, what to run by hand."""
        blind = self.diagnosis.status is Status.INCONCLUSIVE
        not_known = is_open(self.diagnosis)
        self._header()
        if not_known or blind:
            self._left_over()
        self.write_vitals()
        if blind:
            self._unseen()
        self._layers()
        self._roots()
        self._rivals()
        self._chain()
        self._others()
        if not (not_known or blind):
            self._left_over()
        if self.verbose or self.diagnosis.status is not Status.HEALTHY:
            self._ruled_out()
        if not blind:
            self._unseen()
        self._muted()
        self._check()
        self._closing(height)

    def _header(self) -> None:
        """Five lines that suffice, which time was judged, and what the service is."""
        one = self.diagnosis
        write_five(self.page, one, self.flags)
        self.page.blank()
        self.page.para((window(one), "dim"), indent=2)
        self.page.para((facts(one), "dim"), indent=2)
        if self.verbose:
            self.page.flow([[(f"{key} ", "dim"), value] for key, value in all_facts(one)], indent=2)

    def write_vitals(self) -> None:
        """What users notice, whether it is well or not."""
        vitals = vitals_of(self.diagnosis)
        if not vitals:
            return
        self.page.heading("Vital signs")
        rows: list[Row] = []
        for curve, told in ((_CURVE, True), (_SMALL, True), (_SMALL, False), (_TINY, False), (_LEAST, False), (0, False)):
            names = ("", "value", "now", "limit", "whose", "", "since")
            head = Row(tuple((name, "dim") for name in names), folded=())
            rows = [
                head,
                *(self._vital_row(vital, curve, reason, told=told) for vital, reason in with_reasons(vitals, self.near)),
            ]
            if self.page.fits(rows):
                break
        self.page.table(rows)

    def _vital_row(self, vital: Vital, curve: int, reason: str, *, told: bool) -> Row:
        """One vital sign.

        :param reason: why it is so, with those above that share it
        :param told: whether there is room to say whose limit it is
        """
        read = vital_reading(vital, self.near)
        sign, style = VITAL_SIGNS[vital.state]
        name: Line = [(f"{sign} ", style), (read.name, "strong")]
        value = (read.value, style)
        drawn = self._drawn(vital, curve)
        tells = self.verbose or vital.state is not Promised.BROKEN or not read.value or not vital.noticed
        over = vital.until is not None and vital.state is Promised.BROKEN
        notes = [
            f"of {read.part}" if read.part else "",
            f"over since {clock(vital.until, self.near)}" if over else "",
            shortened(reason, _REASON) if tells else "",
        ]
        told_below = ", ".join(note for note in notes if note)
        whose = f"({read.whose})" if read.whose else ""
        begun = clock(vital.since, self.near) if vital.since is not None and vital.state is Promised.BROKEN else ""
        return Row(
            (name, value, read.now, read.limit, read.whose if told else in_a_word(read.whose), drawn, begun),
            below=((told_below, "dim"),) if told_below else (),
            folded=(name, value, _labelled("now", read.now), f"{read.limit} {whose}".strip(), read.when),
        )

    def _drawn(self, vital: Vital, width: int) -> Line:
        if vital.spark is None or not vital.spark.values or not width:
            return ""
        return self.page.curve(spark(vital.spark, width, utf8=self.page.utf8, threshold=vital.limit))

    def _left_over(self) -> None:
        """Lines that nothing understands, and what is odd and explained by nothing."""
        unread, odd = rest(self.diagnosis, everything=self.verbose)
        self._some("Not understood by any rule", unread, ("? ", "unsure"), "such lines")
        self._some("Odd, and explained by nothing", odd, ("△ ", "warn"), "odd things")

    def _some(self, title: str, lines: Sequence[str], lead: Words, what: str) -> None:
        """A section of the first of some lines."""
        if not lines:
            return
        self.page.heading(title)
        shown = lines if self.verbose else lines[:_FEW]
        for line in shown:
            self.page.para(line, lead=lead)
        self._more(len(lines) - len(shown), what)

    def _layers(self) -> None:
        self.page.heading("Layers")
        rows = []
        for view in self.diagnosis.layers:
            sign, style = LAYER_SIGNS[view.state]
            cells: tuple[Line, ...] = (
                (f"{sign} {view.layer.value}", style),
                (layer_told(view), style),
                ", ".join(view.findings),
            )
            rows.append(Row(cells))
        self.page.table(rows)

    def _roots(self) -> None:
        for title, finding in titles_of_roots(self.diagnosis):
            self.page.heading(title)
            self._finding(finding)

    def _rivals(self) -> None:
        """The kinds that the cause may be, and what would decide."""
        rivals = rivals_of(self.diagnosis)
        if not rivals:
            return
        self.page.heading("What else it may be" if first_finding(self.diagnosis) else "What it may be")
        for rival in rivals:
            self.page.para(rival_line(rival), lead=("? ", "unsure"))

    def _finding(self, finding: Finding) -> None:
        """A finding in full: what, where, proof, and what to do, where that does not stand on top."""
        self._title(finding)
        self.page.blank()
        if not is_said_on_top(finding, self.diagnosis):
            self.page.para(finding.summary, indent=2)
        if finding.contradicts:
            self.page.para(against(finding, self.near), indent=2)
        self._evidence(finding.evidence if self.verbose else [e for e in finding.evidence if e.verdict is Verdict.PRESENT])
        self._not_seen(finding)
        if finding is not first_finding(self.diagnosis):
            self._steps(finding)

    def _steps(self, finding: Finding) -> None:
        """What to do about a finding that the first lines do not tell of."""
        self.page.blank()
        for label, told in (("do first", finding.first_step), ("do not", finding.do_not)):
            self.page.para(told, lead=(f"{label:<10}", "dim"), indent=2)
        self.page.para((f"triage playbook {finding.playbook}", "command"), lead=(f"{'see more':<10}", "dim"), indent=2)

    def _title(self, finding: Finding) -> None:
        sign, style = SEVERITY_SIGNS[finding.severity]
        self.page.spread(
            [(f"{sign} ", style), (finding.title, "strong")],
            [(finding.severity, style), f", {finding.confidence}"],
            indent=0,
        )
        most = len(finding.subjects) if self.verbose else _SUBJECTS
        where = whom(finding, most)
        self.page.para([(finding.rule, "strong"), f": {place(finding)}"], indent=2)
        self.page.para(f"on {where}, {began(finding, self.near)}", indent=2)

    def _not_seen(self, finding: Finding) -> None:
        """What else could have been evidence and does not hold, or could not be looked at."""
        if self.verbose:
            return
        for verdict, words in ((Verdict.ABSENT, "Not so"), (Verdict.UNKNOWN, "Could not be looked at")):
            names = [reading(one, self.near).what for one in finding.evidence if one.verdict is verdict]
            if names:
                self.page.para((f"{words}: {listed(list(dict.fromkeys(names)), _FEW)}", "dim"), indent=2)

    def _evidence(self, evidence: Sequence[Evidence]) -> None:
        if not evidence:
            return
        self.page.blank()
        self.page.spread(("Evidence", "strong"), (self._legend(evidence), "dim"), indent=2)
        if self.page.width >= _WIDE:
            names = ("", "of", "value", "held against", "baseline", "since", "")
            head = Row(tuple((name, "dim") for name in names), folded=())
            self.page.table([head, *(self._evidence_row(one) for one in evidence)], indent=2, flex=3)
        else:
            told: set[str] = set()
            for one in evidence:
                self._evidence_lines(one if one.text not in told or self.verbose else one.model_copy(update={"text": ""}))
                told.add(one.text)

    def _evidence_row(self, evidence: Evidence) -> Row:
        """One line for one piece of evidence."""
        read = reading(evidence, self.near)
        sign, style = VERDICT_SIGNS[read.verdict]
        cells: tuple[Line, ...] = (
            [(f"{sign} ", style), (read.what, "strong")],
            read.subject,
            (read.value, style),
            read.held_against,
            read.usual,
            read.since,
            self._curve(evidence, _CURVE if self.page.width < 190 else 62, evidence.threshold),
        )
        return Row(cells, below=tuple(self._remarks(evidence, read)))

    def _evidence_lines(self, evidence: Evidence) -> None:
        """Two lines for one piece of evidence, the curve at the right end of the first."""
        read = reading(evidence, self.near)
        sign, style = VERDICT_SIGNS[read.verdict]
        left: Line = [(f"{sign} ", style), (read.headed, "strong")]
        room = self.page.room(left, indent=2)
        self.page.spread(
            left, self._curve(evidence, min(room, _CURVE) if room >= _SMALL else _CURVE, evidence.threshold), indent=2
        )
        usual = _labelled("baseline", read.usual)
        self.page.flow([[(read.value, style), f" {read.held_against}".rstrip()], usual, read.when], indent=4)
        for remark in self._remarks(evidence, read):
            self.page.para(remark, indent=4)

    def _remarks(self, evidence: Evidence, read: Reading) -> list[Line]:
        """What else there is to say of a piece of evidence: its own text, and for learners what the signal means."""
        remarks = [read.note if self.verbose else shortened(read.note, _LINE), meaning(evidence) if self.verbose else ""]
        remarks += [values_in(evidence)] if self.verbose else []
        return [(remark, "dim") for remark in remarks if remark]

    def _curve(self, evidence: Evidence, width: int, threshold: float | None) -> Line:
        if evidence.spark is None or not evidence.spark.values:
            return ""
        return self.page.curve(spark(evidence.spark, width, utf8=self.page.utf8, threshold=threshold))

    def _legend(self, evidence: Sequence[Evidence]) -> str:
        """What the marks in the curves mean, once a report."""
        curves = [one.spark for one in evidence if one.spark is not None]
        if self._has_legend or not curves:
            return ""
        self._has_legend = True
        drawn = signs(utf8=self.page.utf8)
        used = (
            (drawn.edge, "window starts", any(curve.window > 0 for curve in curves)),
            (drawn.onset, "onset", any(curve.onset is not None for curve in curves)),
            (drawn.gap, "no data", any(None in curve.values for curve in curves)),
        )
        return "  ".join(f"{sign} {meaning}" for sign, meaning, is_used in used if is_used)

    def _check(self) -> None:
        """What to run to see the same without this program; nobody reads on below queries, so they come last."""
        findings = self.diagnosis.findings
        lines = queries(findings if self.verbose else [finding for finding in findings if finding.role == "root"])
        if not lines:
            return
        self.page.heading("Check by hand")
        for what, line in lines:
            if what:
                self.page.para((f"# {what}", "dim"), indent=2)
            self.page.verbatim((line, "command"), indent=2)

    def _chain(self) -> None:
        findings = self.diagnosis.findings
        linked = [tree for tree in trees(findings) if tree.follows or tree.finding.role == "consequence"]
        if not linked:
            return
        self.page.heading("What follows from what")
        for tree in linked:
            self._node(tree, "", "", "")
        if self.verbose:
            for finding in (f for f in findings if f.role == "consequence"):
                self.page.blank()
                self._finding(finding)

    @property
    def _when_width(self) -> int:
        """Letters of the times in the chain, some of which have the sign that it was no later."""
        return max(len(no_later(one.onset, one, self.near)) for one in self.diagnosis.findings)

    def _node(self, node: Node, stem: str, branch: str, below: str) -> None:
        """One finding of the tree and what follows from it, the time at the left.

        :param stem: lines from above, up to this finding's own branch
        :param below: what its children have there instead of the branch
        """
        finding = node.finding
        sign, style = SEVERITY_SIGNS[finding.severity]
        when = no_later(began_by(node), finding, self.near).rjust(self._when_width)
        self.page.para(
            [(finding.title, "strong"), "  ", finding.rule],
            lead=[(f"{when}  ", "dim"), (f"{stem}{branch}", "dim"), (f"{sign} ", style)],
        )
        margin = " " * len(when) + f"  {stem}{below}" + ("│ " if node.follows else "  ")
        for line in self._node_notes(node):
            self.page.para(line, lead=(margin, "dim"))
        for child in node.follows:
            is_last = child is node.follows[-1]
            self._node(child, stem + below, "└▶ " if is_last else "├▶ ", "   " if is_last else "│  ")

    def _node_notes(self, node: Node) -> list[Line]:
        """What is said below a finding in the tree: its first evidence, and where it feeds back."""
        lines: list[Line] = [(f"because {node.because}", "dim")] if node.because else []
        if (late := seen_late(node)) > 0:
            lines.append((late_words(late), "dim"))
        if node.finding.role != "root" and node.finding.evidence:
            read = reading(node.finding.evidence[0], self.near)
            lines.append((f"{read.what} {read.compared}".rstrip(), "dim"))
        for target in node.back:
            set_off = trigger(self.diagnosis.findings, node.finding)
            lines.append(
                [
                    ("↺ loop: ", "warn"),
                    f"feeds {target.rule} again; set off by {set_off.rule}, and may go on after that is mended",
                ]
            )
        lines.extend(f"also leads to {other.rule} (drawn above)" for other in node.also)
        return lines

    def _others(self) -> None:
        """Findings that make things worse and are no link of the chain."""
        drawn = {rule for tree in trees(self.diagnosis.findings) for rule in _rules(tree)}
        others = [f for f in self.diagnosis.findings if f.role == "contributing" and f.rule not in drawn]
        if not others:
            return
        self.page.heading("Contributing")
        for finding in others:
            if self.verbose:
                self._finding(finding)
                continue
            sign, style = SEVERITY_SIGNS[finding.severity]
            self.page.para(
                [(finding.title, "strong"), f"  {finding.rule}, {began(finding, self.near)}"], lead=(f"{sign} ", style)
            )
            self.page.para(finding.summary, indent=2)
            self.page.para((f"triage playbook {finding.playbook}", "command"), indent=2)

    def _ruled_out(self) -> None:
        quiet = self.diagnosis.unseen
        if not self.diagnosis.ruled_out and not quiet:
            return
        judged = [(one, read) for one in self.diagnosis.ruled_out if (read := decider(one, self.near)) is not None]
        shown = judged if self.verbose else judged[:_FEW]
        self.page.heading("What it is not")
        rows = []
        for one, read in shown:
            why: Line = [f"{read.what} ", (read.compared, "good"), *_noted(read)]
            name: Line = [("○ ", "good"), one.title, (f"  {one.rule}", "dim")]
            rows.append(Row((name, why)) if self.page.width >= _WIDE else Row((name,), below=(why,)))
        self.page.table(rows)
        self._more(len(judged) - len(shown), "ruled out by what was measured")
        if self.verbose:
            self._quiet(quiet)
        self.page.para((silent(len(quiet), self.diagnosis.coverage.sources), "dim"), indent=2)
        if any(greps(one) for one in quiet) and not self.verbose:
            self.page.para(("--verbose shows the grep that repeats it for each", "dim"), indent=2)

    def _quiet(self, quiet: Sequence[RuledOut]) -> None:
        """Kinds of which no sign was seen, with what looks for their lines by hand."""
        for one in quiet:
            self.page.para([("no sign of ", "dim"), one.rule], indent=2)
            for line in greps(one):
                self.page.verbatim((line, "command"), indent=4)

    def _unseen(self) -> None:
        """What could not be looked at, why, and how to change that."""
        coverage = self.diagnosis.coverage
        judged = f"{coverage.rules_evaluated} of {counted(coverage.rules_total, 'kind')} of failure judged"
        if self.diagnosis.status is Status.HEALTHY and not self.verbose:
            self._unseen_in_short(judged)
            return
        blind = self.diagnosis.status is Status.INCONCLUSIVE
        self.page.heading("What is missing for an answer" if blind else "What could not be looked at")
        self._sources()
        if is_refused(self.diagnosis) and not self.verbose:
            self.page.para(f"{judged}; --verbose says what else could be looked at", indent=2)
        else:
            self.page.para(f"{judged}; for the others:" if self.diagnosis.not_evaluated else judged, indent=2)
            self._gaps()
        self._strange()

    def _unseen_in_short(self, judged: str) -> None:
        self.page.blank()
        rest = "; --verbose says why not the others" if self.diagnosis.not_evaluated else ""
        self.page.para(f"{judged}{rest}", indent=2)
        self._sources()
        self._strange()

    def _sources(self) -> None:
        styles = {"failed": ("✖", "bad"), "partial": ("▲", "warn"), "absent": ("?", "unsure")}
        only_failed = is_refused(self.diagnosis) and not self.verbose
        for source in self.diagnosis.coverage.sources:
            if source.state == "failed" if only_failed else source.state != "ok":
                sign, style = styles[source.state]
                reason = f": {source.reason}" if source.reason else ""
                self.page.para([f"source {source.name} ", (source.state, style), reason], lead=(f"{sign} ", style), indent=2)

    def _gaps(self) -> None:
        every = gaps(self.diagnosis.not_evaluated)
        most = _STEPS if self.diagnosis.status is Status.INCONCLUSIVE else _FEW
        shown = every if self.verbose else every[:most]
        for gap in shown:
            names = listed([one.rule for one in gap.rules], len(gap.rules) if self.verbose else _FEW)
            self.page.para([gap.how, (": ", "dim"), (names, "unsure")], lead=("? ", "unsure"), indent=2)
        self._more(len(every) - len(shown), "steps like these")
        if self.verbose:
            for one in self.diagnosis.not_evaluated:
                self.page.para([(one.rule, "unsure"), f" lacks {', '.join(one.missing)}"], lead=("? ", "unsure"), indent=2)

    def _strange(self) -> None:
        """Data that could not be trusted."""
        for told in unusable(self.diagnosis, 10**6 if self.verbose else _FEW):
            self.page.para(told, lead=("▲ ", "warn"), indent=2)
        for problem in self.diagnosis.coverage.problems:
            self.page.para(problem, lead=("▲ ", "warn"), indent=2)

    def _more(self, count: int, what: str) -> None:
        if count > 0:
            self.page.para((f"{count} more {what}; --verbose shows all", "dim"), indent=2)

    def _muted(self) -> None:
        """What a person has muted, and what that person is no longer heeded in."""
        if not self.diagnosis.muted:
            return
        self.page.heading("Muted")
        for one in self.diagnosis.muted:
            self.page.para((muted_line(one), "dim" if one.state == "heeded" else "warn"), indent=2)

    def _closing(self, height: int) -> None:
        """What was judged with; and the five lines once more if they have scrolled away."""
        judged = judged_with(self.diagnosis)
        if judged:
            self.page.blank()
            self.page.para((judged, "dim"), indent=2)
        if len(self.page.lines) > height:
            self.page.heading("In short")
            write_five(self.page, self.diagnosis, self.flags)


def _labelled(label: str, value: str) -> Line:
    """A value with its name before it, nothing if there is no value."""
    return [(f"{label} ", "dim"), value] if value else ""


def _noted(read: Reading) -> list[Words]:
    """The note of a piece of evidence behind its value."""
    return [(f" {shortened(read.note, _NOTE)}", "dim")] if read.note else []


def _rules(node: Node) -> list[str]:
    """All kinds of a tree."""
    return [node.finding.rule, *(rule for child in node.follows for rule in _rules(child))]

"""Lists over all layers: what was ruled out, what could not be judged, what nothing explains, and what follows from what."""

from collections.abc import Iterator

from textual.content import Content

from triage.model.diagnosis import Finding, Verdict
from triage.model.vocabulary import Layer
from triage.render.answer import left_over, odd_line, unread_line
from triage.render.chain import Node, began_by, seen_late, trees, trigger
from triage.render.reading import gaps, late_words, no_later, reading
from triage.tui.drawn import Draw
from triage.tui.places import Stop
from triage.tui.rows import counted_title, finding_row, note_row, odd_row, short_row, title_row, to_do_row
from triage.tui.screens.listing import ListScreen
from triage.tui.snapshot import Snapshot
from triage.tui.widgets.choices import Row
from triage.tui.words import counted, hanging, text


class WhyNotScreen(ListScreen):
    """Everything that was ruled out, with the value that decides it."""

    def way(self) -> tuple[Stop, ...]:
        """Service and list."""
        return self.further("why not", "why-not")

    def intro(self) -> Draw:
        """What the list is."""
        diagnosis = self.snapshot.diagnosis
        silent = f", {len(diagnosis.unseen)} of which no sign was seen" if diagnosis.unseen else ""
        out = f"{counted(len(diagnosis.ruled_out), 'kind')} of failure ruled out{silent}."
        said = f"{out} Each with the value here, and what it would be otherwise."
        return lambda width: hanging(text(" "), text((said, "dim")), width)

    def rows(self) -> list[Row]:
        """Kinds by layer."""
        found: list[Row] = []
        for layer in Layer:
            out = [question for question in self.snapshot.of_layer(layer) if question.verdict is Verdict.ABSENT]
            if out:
                found += [counted_title(out, layer.value), *(short_row(question, self.snapshot) for question in out)]
        return found or [note_row("nothing could be ruled out")]


class MissingScreen(ListScreen):
    """Everything that could not be judged, by what would help most."""

    def way(self) -> tuple[Stop, ...]:
        """Service and list."""
        return self.further("not evaluated", "missing")

    def intro(self) -> Draw:
        """How much was judged."""
        coverage = self.snapshot.diagnosis.coverage
        judged = f"{coverage.rules_evaluated} of {counted(coverage.rules_total, 'kind')} of failure judged."
        said = f"{judged} For the others, what helps most first:"
        return lambda width: hanging(text(" "), text((said, "dim")), width)

    def rows(self) -> list[Row]:
        """What to do, and the kinds that could be judged then; a kind stands where it is told first."""
        found: list[Row] = []
        drawn: set[str] = set()
        for gap in gaps(self.snapshot.diagnosis.not_evaluated):
            kinds = [one.rule for one in gap.rules if one.rule not in drawn]
            drawn.update(kinds)
            found.append(to_do_row(gap.how, len(gap.rules)))
            found += [
                short_row(question, self.snapshot) for rule in kinds if (question := self.snapshot.question(rule)) is not None
            ]
        return found or [note_row("everything was judged")]


class OddScreen(ListScreen):
    """Lines that nothing understands, and what is odd and explained by nothing: where no kind fits, the answer may stand here."""

    def way(self) -> tuple[Stop, ...]:
        """Service and list."""
        return self.further("odd", "odd")

    def intro(self) -> Draw:
        """What the list is."""
        said = "What no finding explains, and log lines that look like errors and that no rule understands."
        return lambda width: hanging(text(" "), text((said, "dim")), width)

    def rows(self) -> list[Row]:
        """Lines first, then odd things, those that a person would ask about first."""
        snapshot = self.snapshot
        unread = [odd_row(number, "unread", unread_line(one)) for number, one in enumerate(snapshot.diagnosis.unread)]
        left = left_over(snapshot.diagnosis, anyway=True)
        odd = [odd_row(number, "odd", odd_line(one, snapshot.near)) for number, one in enumerate(left)]
        return [
            *([title_row("not understood by any rule"), *unread] if unread else []),
            *([title_row("odd, and explained by nothing"), *odd] if odd else []),
        ] or [note_row("nothing that was seen is left unexplained")]

    def start(self) -> str:
        """The first line, else the first odd thing."""
        return "unread:0" if self.snapshot.diagnosis.unread else "odd:0"


class ChainScreen(ListScreen):
    """What follows from what: a tree from each root cause, with the times."""

    def way(self) -> tuple[Stop, ...]:
        """Service and list."""
        return self.further("what follows from what", "chain")

    def rows(self) -> list[Row]:
        """One row for each finding, behind the lines of its tree; what only contributes stands below."""
        findings = self.snapshot.diagnosis.findings
        rows = [row for tree in trees(findings) for row in _tree(tree, self.snapshot, "", "", "")]
        drawn = {row.id for row in rows}
        others = [finding for finding in findings if f"rule:{finding.rule}" not in drawn]
        if others:
            rows.append(title_row("contributing"))
            rows += [finding_row(finding, _when(finding.onset, finding, self.snapshot), ()) for finding in others]
        return rows or [note_row("nothing was found")]


def _when(by: float | None, finding: Finding, snapshot: Snapshot) -> Content:
    """By when a finding had begun, in a column of its own."""
    return text((f"{no_later(by, finding, snapshot.near):>10}  ", "dim"))


def _tree(node: Node, snapshot: Snapshot, stem: str, branch: str, below: str) -> Iterator[Row]:
    """A finding and what follows from it.

    :param stem: lines from above, up to this finding's own branch
    :param below: what its children have there instead of the branch
    """
    lead = Content.assemble(_when(began_by(node), node.finding, snapshot), text((f"{stem}{branch}", "dim")))
    yield finding_row(node.finding, lead, _notes(node, snapshot))
    for child in node.follows:
        is_last = child is node.follows[-1]
        yield from _tree(child, snapshot, stem + below, "└▶ " if is_last else "├▶ ", "   " if is_last else "│  ")


def _notes(node: Node, snapshot: Snapshot) -> Iterator[Content]:
    """What is said below a finding: how it follows from the one above, its first evidence, and where it feeds back."""
    if node.because:
        yield text((f"because {node.because}", "dim"))
    if (late := seen_late(node)) > 0:
        yield text((late_words(late), "dim"))
    if node.finding.evidence:
        read = reading(node.finding.evidence[0], snapshot.near)
        yield text((f"{read.what} {read.compared}".strip(), "dim"))
    for target in node.back:
        set_off = trigger(snapshot.diagnosis.findings, node.finding)
        yield text(
            ("↺ loop: ", "warn"), f"feeds {target.rule} again; set off by {set_off.rule}, and may go on after that is mended"
        )
    for other in node.also:
        yield text((f"also leads to {other.rule}", "dim"))

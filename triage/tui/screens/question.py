"""One question, or one vital sign: the answer, each piece of evidence, its chart over time, and how to check it by hand."""

from dataclasses import replace
from typing import ClassVar

from textual.app import ComposeResult
from textual.content import Content

from triage.model.diagnosis import Evidence, Finding, Promised
from triage.model.vocabulary import catalogue
from triage.render.reading import began, is_told, place, vital_name, whom
from triage.tui.details import Detail, evidence_of, piece_of, proof
from triage.tui.drawn import Draw, Drawn, nothing
from triage.tui.messages import PieceChosen
from triage.tui.places import Stop, joined
from triage.tui.rows import evidence_row, missing_row, note_row, short_row, title_row
from triage.tui.screens.listing import ListScreen
from triage.tui.screens.walk import WalkScreen
from triage.tui.snapshot import Question, Scene, Snapshot
from triage.tui.widgets.choices import Choices, Row
from triage.tui.widgets.detail import DetailPane, Shares
from triage.tui.words import VITALS, answer, hanging, lines, severity, text, verdict_moved


class EvidenceScreen(ListScreen):
    """A list of evidence with the chart of the highlighted piece."""

    FIRST_KEYS: ClassVar[tuple[str, ...]] = ("y", "Y", "p")

    def owner(self) -> str:
        """The place that the evidence is of."""
        return ""

    def evidence(self) -> tuple[Evidence, ...]:
        """What the answer rests on."""
        return evidence_of(self.owner(), self.snapshot)

    def detail(self) -> Detail:
        """The highlighted piece of evidence in full; of a kind named in the list what decides it."""
        return piece_of(self.owner(), self.query_one(Choices).chosen, self.snapshot)

    def open(self, where: str) -> None:
        """Enter goes to the piece of evidence alone, or to another kind that the list names."""
        if where.startswith("rule:"):
            super().open(where)
        elif where:
            self.post_message(PieceChosen(self.owner(), where))

    def opens(self) -> bool:
        """Whether there is something to go to."""
        return bool(self.query_one(Choices).chosen)

    def shares(self) -> Shares:
        """On a small screen the chart is what it is about."""
        shares = super().shares()
        return replace(shares, foot_most=2) if self.is_narrow and self.is_short and not self.is_alone else shares

    def start(self) -> str:
        """The deciding piece of evidence."""
        return "evidence:0"


class QuestionScreen(EvidenceScreen):
    """A question of a layer.

    :param kind: id of its rule
    """

    def __init__(self, scene: Scene, kind: str) -> None:
        super().__init__(scene)
        self.kind = kind

    @property
    def is_known(self) -> bool:
        """A spare one may be of no question yet."""
        return bool(self.kind)

    def owner(self) -> str:
        """The question's own place."""
        return f"rule:{self.kind}"

    def question(self) -> Question | None:
        """The question as the snapshot has it."""
        return self.snapshot.question(self.kind)

    def rule(self) -> str:
        """The question's own kind."""
        return self.kind

    def way(self) -> tuple[Stop, ...]:
        """Service, layer, kind."""
        question = self.question()
        above = self.further(question.layer.value, "layer", question.layer.value) if question is not None else super().way()
        return (*above, Stop(self.kind, joined("finding", self.kind)))

    def intro(self) -> Draw:
        """The question and its answer."""
        question, snapshot = self.question(), self.snapshot
        if question is None:
            return lambda width: hanging(text(" "), text((f"No rule is called {self.kind}.", "unsure")), width)
        return lambda width: _answered(question, snapshot, width, brief=not self.is_tall)

    def rows(self) -> list[Row]:
        """Evidence, what is missing, and the kinds that it is linked to or could be taken for."""
        question = self.question()
        if question is None:
            return []
        rows = [evidence_row(number, one, self.snapshot) for number, one in enumerate(question.evidence)]
        found = [title_row("what it rests on"), *rows] if rows else []
        if question.missing:
            found += [title_row("what is missing"), *_missing(question)]
        elif not rows:
            found += [note_row("nothing that it asks for was measured")]
        return [*found, *_linked(question, self.snapshot)]

    def start(self) -> str:
        """The deciding piece of evidence, else what is missing."""
        return "evidence:0" if self.evidence() else ""


def _answered(question: Question, snapshot: Snapshot, width: int, *, brief: bool) -> Content:
    """The question, the answer, and of a finding where it is and since when.

    :param brief: leave out what is told elsewhere
    """
    told = [hanging(text(" "), text((question.text, "strong")), width)]
    lead = Content.assemble(" ", answer(question, snapshot), verdict_moved(question, snapshot), "  ")
    if question.finding is not None:
        told.append(hanging(lead, text(question.finding.summary), width))
        if not brief:
            told.append(hanging(text("   "), _placed(question.finding, snapshot), width))
    elif question.missing:
        told.append(hanging(lead, text(f"To get what is missing: {question.how_to_get}" if question.how_to_get else ""), width))
    else:
        silent = all(is_told(one) for one in question.evidence)
        told.append(hanging(lead, text(f"{question.title}: {'no sign of it was seen' if silent else 'ruled out'}."), width))
    return lines(*told)


def _placed(finding: Finding, snapshot: Snapshot) -> Content:
    """Severity, confidence, place, subjects and onset."""
    where = whom(finding, 3)
    rest = f", {finding.confidence}; {place(finding)}; on {where}, {began(finding, snapshot.near)}"
    return Content.assemble(severity(finding), text((rest, "dim")))


def _missing(question: Question) -> list[Row]:
    """Each thing that is missing, with what it would tell."""
    signals = catalogue()
    rows: dict[str, Row] = {}
    for name in question.missing:
        signal = signals.get(name.partition(" (")[0])
        row = missing_row(name, signal.meaning if signal is not None else "")
        rows.setdefault(row.id, row)
    return list(rows.values())


def _linked(question: Question, snapshot: Snapshot) -> list[Row]:
    """Kinds that it leads to, that explain it, and that it could be taken for."""
    groups: list[tuple[str, tuple[str, ...]]] = []
    if question.finding is not None:
        groups = [("explained by", question.finding.explained_by), ("leads to", question.finding.leads_to)]
    alike = {one.rule: one.because for one in question.look_alikes}
    rows: list[Row] = []
    drawn = {question.rule}
    for title, kinds in (*groups, ("not to be taken for", tuple(alike))):
        known = [other for kind in dict.fromkeys(kinds) if kind not in drawn and (other := snapshot.question(kind)) is not None]
        drawn.update(other.rule for other in known)
        if known:
            rows.append(title_row(title))
            rows += [short_row(other, snapshot, alike[other.rule] if kinds == tuple(alike) else "") for other in known]
    return rows


class VitalScreen(EvidenceScreen):
    """What users notice: one promise, kept or not.

    :param vital: its name and subject
    """

    def __init__(self, scene: Scene, vital: str) -> None:
        super().__init__(scene)
        self.vital = vital

    def way(self) -> tuple[Stop, ...]:
        """Service and promise."""
        return self.further(vital_name(self.vital.partition(" ")[0]), "vital", self.vital)

    @property
    def is_known(self) -> bool:
        """A spare one may be of no promise yet."""
        return bool(self.vital)

    def owner(self) -> str:
        """The promise's own place."""
        return f"vital:{self.vital}"

    def intro(self) -> Draw:
        """What became of it."""
        vital = self.snapshot.vital(self.vital)
        if vital is None:
            return lambda width: hanging(text(" "), text(("Nothing is known of this promise at this time.", "unsure")), width)
        sign, word, style = VITALS[vital.state]
        reason = f": {vital.reason}" if vital.reason else ""
        said = f"{vital.title[:1].upper()}{vital.title[1:]} is {word}{reason}."
        return lambda width: hanging(text((f" {sign} ", style)), text((said, "strong")), width)

    def rows(self) -> list[Row]:
        """The evidence, and of a broken one the findings that explain it."""
        measured = [evidence_row(number, one, self.snapshot) for number, one in enumerate(self.evidence())]
        vital = self.snapshot.vital(self.vital)
        is_broken = vital is not None and vital.state is Promised.BROKEN
        roots = [finding.rule for finding in self.snapshot.diagnosis.findings if finding.role == "root" and is_broken]
        known = [question for rule in roots if (question := self.snapshot.question(rule)) is not None]
        causes = [title_row("why"), *(short_row(question, self.snapshot) for question in known)] if known else []
        return [*([title_row("what it rests on"), *measured] if measured else []), *causes]


class PieceScreen(WalkScreen):
    """One piece of evidence, or one signal, with the whole screen for its chart, its figures and its commands.

    :param owner: the place that it is evidence of
    :param where: the piece: ``evidence:0``, ``signal:kv.usage``
    """

    def __init__(self, scene: Scene, owner: str, where: str) -> None:
        super().__init__(scene)
        self._owner = owner
        self._where = where

    FIRST_KEYS: ClassVar[tuple[str, ...]] = ("y", "Y", "p")

    def body(self) -> ComposeResult:
        """What it says, and all there is to tell of it."""
        yield Drawn(id="intro")
        yield DetailPane(self.shares, id="detail")

    def begin(self) -> None:
        """The figures scroll."""
        self.query_one(DetailPane).focus()

    def way(self) -> tuple[Stop, ...]:
        """Service, what it is evidence of, signal."""
        evidence = self.detail().evidence
        kind, _, name = self._owner.partition(":")
        place = ("finding" if kind == "rule" else kind, name)
        above = self.further(name, *place) if name else super().way()
        own = evidence.signal if evidence is not None else self._where.partition(":")[2]
        return (*above, Stop(own, joined(*(place if name else ()), self._where)))

    def shares(self) -> Shares:
        """The chart has all the room."""
        shares = replace(super().shares(), chart_most=None)
        return replace(shares, foot_most=7) if self.is_narrow and self.is_short and not self.is_alone else shares

    def detail(self) -> Detail:
        """The piece."""
        return piece_of(self._owner, self._where, self.snapshot)

    def rule(self) -> str:
        """The kind that it is evidence of."""
        kind, _, name = self._owner.partition(":")
        return name if kind == "rule" else ""

    def refill(self) -> None:
        """Show the piece."""
        detail = self.detail()
        evidence = detail.evidence
        said = (lambda width: proof(evidence, self.snapshot, width)) if evidence is not None and self._owner else nothing
        self.query_one("#intro", Drawn).show(said)
        self.query_one(DetailPane).show(detail, self.scene)
        self.show_keys()

"""What to do about one kind of failure. Nothing is run: commands are there to be copied."""

from collections.abc import Mapping
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content

from triage.model.diagnosis import Diagnosis, Finding
from triage.model.playbook import ENGINES, Playbook, Step
from triage.playbooks import filled
from triage.render.safe import inert_text
from triage.tui.details import Detail
from triage.tui.drawn import Draw, Drawn
from triage.tui.places import Stop
from triage.tui.rows import note_row, title_row
from triage.tui.screens.walk import WalkScreen
from triage.tui.snapshot import Scene
from triage.tui.widgets.choices import Choices, Row
from triage.tui.words import hanging, lines, text

_SCOPES = {"replica": "pod", "node": "node", "gateway": "gateway"}
"""Scope of a finding's subject -> the placeholder that it fills."""

Facts = Mapping[str, str | float]


class PlaybookScreen(WalkScreen):
    """The steps of a playbook, with what is known of the service filled in.

    :param playbook: what to show
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("p", "app.up", "Close", show=False)]
    FIRST_KEYS: ClassVar[tuple[str, ...]] = ("y",)

    def __init__(self, scene: Scene, playbook: Playbook) -> None:
        super().__init__(scene)
        self.playbook = playbook

    def body(self) -> ComposeResult:
        """Words on top, the steps."""
        yield Drawn(id="intro")
        yield Choices(id="list")

    def begin(self) -> None:
        """The list has the keys."""
        self.query_one(Choices).focus()

    def way(self) -> tuple[Stop, ...]:
        """Service and playbook."""
        return self.further(f"playbook {self.playbook.id}", "playbook", self.playbook.id)

    def rule(self) -> str:
        """The playbook's kind."""
        return self.playbook.id

    def refill(self) -> None:
        """Show the steps."""
        self.query_one("#intro", Drawn).show(self._intro())
        self.query_one(Choices).fill(self._rows())
        self.show_keys()

    def detail(self) -> Detail:
        """The commands of the highlighted step, to be copied."""
        step = self._steps().get(self.query_one(Choices).chosen)
        return Detail(copies=tuple(self._filled(command.text) for command in step.commands) if step is not None else ())

    def _intro(self) -> Draw:
        book = self.playbook
        said = f"{book.layer.value} layer, {book.cause.value} cause, usually owned by: {book.owner}. Nothing here is run for you."

        def draw(width: int) -> Content:
            return lines(
                hanging(text(" "), text((book.title, "strong")), width),
                hanging(text(" "), text((said, "dim")), width),
                hanging(text((" first  ", "warn")), text(book.first_step), width),
            )

        return draw

    def _steps(self) -> dict[str, Step]:
        """Steps by the ids of their rows."""
        return {
            f"step:{part}.{number}": step
            for part, section in enumerate(self.playbook.sections)
            for number, step in enumerate(section.steps)
        }

    def _rows(self) -> list[Row]:
        rows: list[Row] = []
        steps = self._steps()
        for part, section in enumerate(self.playbook.sections):
            rows.append(title_row(section.heading))
            if section.text:
                rows += [note_row(self._filled(paragraph)) for paragraph in section.text.split("\n\n")]
            rows += [self._row(f"step:{part}.{n}", n + 1, steps[f"step:{part}.{n}"]) for n in range(len(section.steps))]
        return rows

    def _row(self, where: str, number: int, step: Step) -> Row:
        """One step: whether it only looks or changes something, its risk, its commands, its wording by engine."""
        mark = (f"{number:2} change ", "warn") if step.mark == "change" else (f"{number:2} read   ", "good")
        below = [text(("risk: ", "warn"), self._filled(step.risk))] if step.risk else []
        below += [text((f"{name}: ", "dim"), self._filled(said)) for name, said in self._variants(step)]
        code = [line for command in step.commands for line in self._filled(command.text).split("\n")]

        def draw(width: int) -> Content:
            indent = text(" " * 10)
            return lines(
                hanging(text(mark), text(self._filled(step.text)), width),
                *(hanging(indent, note, width) for note in below),
                *(hanging(indent, text((line, "command")), width) for line in code),
            )

        return Row(where, draw)

    def _variants(self, step: Step) -> list[tuple[str, str]]:
        """The step's wording for the service's engine; for all engines if that is not known or has none."""
        engine = self.snapshot.diagnosis.facts.get("engine")
        own = [variant for variant in step.variants if variant.engine == engine]
        names = {code: name for name, code in ENGINES.items()}
        return [(names[variant.engine], variant.text) for variant in own or step.variants]

    def _filled(self, words: str) -> str:
        """The words with what is known filled in, and nothing in them that a terminal would obey."""
        return clean_lines(filled(words, facts_of(self.snapshot.diagnosis, self.playbook.id)))


def clean_lines(words: str) -> str:
    """Each line made inert."""
    return "\n".join(inert_text(line, 4000) for line in words.split("\n"))


def facts_of(diagnosis: Diagnosis, kind: str) -> Facts:
    """What is known for the placeholders of a playbook: facts of the service, and whom the finding is about."""
    finding: Finding | None = next((one for one in diagnosis.findings if one.rule == kind), None)
    known: dict[str, str | float] = {**diagnosis.facts, "service": diagnosis.service}
    if finding is not None:
        known.update(finding.names)
        scope, _, name = finding.subject.partition("/")
        if scope in _SCOPES:
            known[_SCOPES[scope]] = name
    return known

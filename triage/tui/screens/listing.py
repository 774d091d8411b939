"""A list with what is told of its highlighted row beside or below it."""

from textual import on
from textual.app import ComposeResult

from triage.model.vocabulary import Layer
from triage.tui.details import Detail, detail_of
from triage.tui.drawn import Draw, Drawn, nothing
from triage.tui.messages import LayerChosen, PieceChosen, QuestionChosen, VitalChosen
from triage.tui.screens.walk import Panes, WalkScreen
from triage.tui.snapshot import Scene
from triage.tui.widgets.choices import Choices, Row
from triage.tui.widgets.detail import DetailPane

_OPENED = {"layer", "rule", "vital", "signal"}
"""Kinds of places that Enter goes to."""


class ListScreen(WalkScreen):
    """A screen with a list of places. What a place tells and where it leads is the same on all of them."""

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self._told_of = ""
        self._drawn: tuple[Scene, tuple[object, ...], tuple[Row, ...]] | None = None

    def body(self) -> ComposeResult:
        """Words on top, the list, the detail of what is highlighted."""
        yield Drawn(id="intro")
        with Panes(id="panes"):
            yield Choices(id="list")
            yield DetailPane(self.shares, id="detail")

    def begin(self) -> None:
        """The list has the keys."""
        self.query_one(Choices).focus()

    def intro(self) -> Draw:
        """What stands above the list."""
        return nothing

    def rows(self) -> list[Row]:
        """The rows of the list."""
        return []

    def start(self) -> str:
        """The row to begin with."""
        return ""

    def rests_on(self) -> tuple[object, ...]:
        """What the rows tell of besides the scene."""
        return self.address, self.is_tall

    def _rows(self) -> tuple[Row, ...]:
        """The rows; those that would say the same as before are those, which are drawn already."""
        rests_on, last = self.rests_on(), self._drawn
        if last is None or not self.scene.tells_as(last[0]) or rests_on != last[1]:
            last = self._drawn = (self.scene, rests_on, tuple(self.rows()))
        return last[2]

    @property
    def is_known(self) -> bool:
        """Whether it is known which place it is; of most kinds there is one."""
        return True

    def draw_ahead(self) -> None:
        """The rows, where it is known which."""
        if self.is_known:
            self.query_one(Choices).fill(self._rows(), self.start())

    def detail(self) -> Detail:
        """What is told of the highlighted row."""
        return detail_of(self.query_one(Choices).chosen, self.snapshot)

    def rule(self) -> str:
        """The kind of failure of the highlighted row; of a layer its first finding's."""
        kind, _, name = self.query_one(Choices).chosen.partition(":")
        if kind == "layer":
            return next((q.rule for q in self.snapshot.of_layer(Layer(name)) if q.finding is not None), "")
        return name if kind == "rule" else ""

    def refill(self) -> None:
        """Show the snapshot, with the highlight where it was."""
        self.query_one("#intro", Drawn).show(self.intro())
        self.query_one(Choices).fill(self._rows(), self.start())
        self._tell()

    @on(Choices.Moved)
    def tell_of_highlighted(self) -> None:
        """The detail follows the highlight."""
        if self.query_one(Choices).chosen != self._told_of:
            self._tell()

    @on(Choices.Selected)
    def go_down(self, event: Choices.Selected) -> None:
        """Enter leads to where the row is about."""
        event.stop()
        self.open(event.id)

    def open(self, where: str) -> None:
        """Ask the app to go to a place."""
        kind, _, name = where.partition(":")
        if kind == "layer":
            self.post_message(LayerChosen(Layer(name)))
        elif kind == "rule":
            self.post_message(QuestionChosen(name))
        elif kind == "vital":
            self.post_message(VitalChosen(name))
        elif kind == "signal":
            self.post_message(PieceChosen("", where))

    def opens(self) -> bool:
        """Whether the highlighted row leads somewhere."""
        return self.query_one(Choices).chosen.partition(":")[0] in _OPENED

    def open_chosen(self) -> None:
        """Go where the highlighted row leads."""
        self.open(self.query_one(Choices).chosen)

    def _tell(self) -> None:
        self._told_of = self.query_one(Choices).chosen
        self.query_one(DetailPane).show(self.detail(), self.scene)
        self.show_keys()

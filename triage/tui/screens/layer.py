"""One layer: what is asked there, and how each question is answered here."""

from textual.content import Content

from triage.model.diagnosis import Verdict
from triage.model.vocabulary import Layer
from triage.render.reading import layer_told
from triage.tui.drawn import Draw
from triage.tui.places import Stop
from triage.tui.rows import counted_title, note_row, question_row
from triage.tui.screens.listing import ListScreen
from triage.tui.snapshot import Scene
from triage.tui.widgets.choices import Row
from triage.tui.words import ABOUT, LAYERS, spread, text

_GROUPS = ((Verdict.PRESENT, "Yes"), (Verdict.ABSENT, "No"), (Verdict.UNKNOWN, "Can't tell"))


class LayerScreen(ListScreen):
    """The questions of a layer, what is there first.

    :param layer: which one
    """

    def __init__(self, scene: Scene, layer: Layer) -> None:
        super().__init__(scene)
        self.layer_shown = layer

    def way(self) -> tuple[Stop, ...]:
        """Service and layer."""
        return self.further(self.layer_shown.value, "layer", self.layer_shown.value)

    def intro(self) -> Draw:
        """State of the layer, and what is asked there."""
        view = self.snapshot.layer(self.layer_shown)
        sign, _, style = LAYERS[view.state]
        state = text((f" {sign} {self.layer_shown.value}", style), f"  {layer_told(view)}")

        def draw(width: int) -> Content:
            return spread(state, text((f"{ABOUT[self.layer_shown]} ", "dim")), width)

        return draw

    def rows(self) -> list[Row]:
        """Questions in groups by their answers."""
        asked = self.snapshot.of_layer(self.layer_shown)
        found: list[Row] = []
        for verdict, word in _GROUPS:
            group = [question for question in asked if question.verdict is verdict]
            if group:
                found += [counted_title(group, word), *(question_row(question, self.snapshot) for question in group)]
        return found or [note_row("nothing is asked in this layer")]

"""The top of the walk: what users notice, the five layers below it, and the one finding with its proof."""

from textual import events
from textual.content import Content

from triage.model.vocabulary import Layer
from triage.render.reading import gaps, unexplained, window
from triage.tui.rows import layer_row, short_row, symptom_row, title_row, to_do_row
from triage.tui.screens.listing import ListScreen
from triage.tui.widgets.choices import Row
from triage.tui.widgets.drawn import Draw
from triage.tui.words import first_lines, hanging, lines, text

_NEWS = 3
_HEADLINE = 2
_FINDINGS = 8
_WAYS = 4


class StackScreen(ListScreen):
    """One look: how the service is, what is wrong since when, where in the stack, and what proves it."""

    def intro(self) -> Draw:
        """The headline; while watching, what became different."""
        diagnosis, news = self.look.diagnosis, self.scene.news

        def draw(width: int) -> Content:
            told = [hanging(text(" "), text((diagnosis.headline, "strong")), width)]
            if not self.is_tall:
                told = [first_lines(told[0], _HEADLINE, width)]
            else:
                told.append(hanging(text(" "), text((window(diagnosis), "dim")), width))
            open_end = unexplained(diagnosis)
            if open_end:
                told.append(hanging(text(" "), text((open_end, "unsure")), width))
            told += [hanging(text((" △ ", "new")), Content(line), width) for line in news[:_NEWS]]
            return lines(*told)

        return draw

    def rows(self) -> list[Row]:
        """Symptoms on top, then the layers from the top down."""
        symptoms = [symptom_row(symptom, self.look) for symptom in self.look.diagnosis.symptoms]
        layers = [layer_row(layer, self.look, tall=self.is_tall) for layer in Layer]
        above = [title_row("what users notice"), *symptoms] if symptoms else []
        return [*above, title_row("the stack, top down"), *layers, *(self._more() if self.is_tall else [])]

    def _more(self) -> list[Row]:
        """On a tall screen also the findings by rank, and what would let more be judged."""
        asked = [self.look.question(finding.rule) for finding in self.look.diagnosis.findings]
        found = [short_row(question, self.look) for question in asked if question is not None][:_FINDINGS]
        ways = [to_do_row(gap.how, len(gap.rules)) for gap in gaps(self.look.diagnosis.not_evaluated)[:_WAYS]]
        return [
            *([title_row("findings, what explains the others first"), *found] if found else []),
            *([title_row("to see more"), *ways] if ways else []),
        ]

    def start(self) -> str:
        """The layer of the first finding; without one the first symptom, or the top of the stack."""
        first = self.look.first_finding
        if first is not None:
            return f"layer:{first.layer.value}"
        symptoms = self.look.diagnosis.symptoms
        return f"symptom:{symptoms[0].name}" if symptoms else f"layer:{Layer.PLATFORM.value}"

    def on_resize(self, _event: events.Resize) -> None:
        """Rows are higher on a tall screen."""
        if self.is_mounted:
            self.refill()

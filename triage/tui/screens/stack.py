"""The top of the walk: what users notice, the five layers below it, and the one finding with its proof."""

from collections.abc import Iterator
from typing import ClassVar

from textual.content import Content

from triage.model.diagnosis import CauseState, Promised
from triage.model.vocabulary import Layer
from triage.render.answer import how_sure, is_open, left_over, odd_line, unread_line
from triage.render.reading import counted, gaps, vital_in_short, vitals_of, window
from triage.tui.drawn import Draw
from triage.tui.rows import layer_row, note_row, short_row, title_row, to_do_row, vital_row
from triage.tui.screens.listing import ListScreen
from triage.tui.snapshot import vital_id
from triage.tui.widgets.choices import Row
from triage.tui.words import first_lines, hanging, lines, text

_NEWS = 3
_ANSWER = 2
_SHORT = 3
_HEADLINE = 2
_FINDINGS = 8
_WAYS = 4
_HINT = "Enter down, Esc up, n first finding, ? keys"


class StackScreen(ListScreen):
    """One look: how the service is, what is wrong since when, where in the stack, and what proves it."""

    IS_TOP: ClassVar[bool] = True

    def intro(self) -> Draw:
        """The headline; while watching, what became different."""
        diagnosis, news = self.snapshot.diagnosis, self.scene.news

        def draw(width: int) -> Content:
            told = [hanging(text(" "), text((diagnosis.headline, "strong")), width)]
            if not self.is_tall:
                told = [first_lines(told[0], _HEADLINE, width)]
            else:
                told.append(hanging(text(" "), text((window(diagnosis), "dim")), width))
            told += [first_lines(line, _ANSWER, width) if not self.is_tall else line for line in self._axis(width)]
            told += [hanging(text((" △ ", "new")), text(line), width) for line in news[:_NEWS]]
            if self.scene.is_first_time:
                told.append(text((" new here? ", "window"), (_HINT, "dim")))
            return lines(*told)

        return draw

    def _axis(self, width: int) -> Iterator[Content]:
        """What is known of the cause; where it is open also what nothing explains."""
        diagnosis = self.snapshot.diagnosis
        if diagnosis.cause.state is not CauseState.NONE:
            yield hanging(text((" cause ", "dim")), text(how_sure(diagnosis)), width)
        if not is_open(diagnosis):
            return
        left = [unread_line(one) for one in diagnosis.unread[:1]]
        left += [odd_line(one, diagnosis.window.end) for one in left_over(diagnosis, anyway=True)[:_NEWS]]
        for told in left if self.is_tall else left[:1]:
            yield hanging(text((" odd ", "new")), text(told), width)

    def _vitals(self) -> list[Row]:
        """What users notice; on a short screen those that are kept on one line."""
        vitals = vitals_of(self.snapshot.diagnosis)
        if self.is_tall:
            return [vital_row(vital, self.snapshot) for vital in vitals]
        kept = [vital_in_short(vital, self.snapshot.near) for vital in vitals if vital.state is Promised.KEPT]
        left = [vital_row(vital, self.snapshot) for vital in vitals if vital.state is not Promised.KEPT]
        more = len(left) - _SHORT
        rest = [note_row(f"{counted(more, 'more line')} on a taller screen")] if more > 1 else []
        shown = left[:_SHORT] if rest else left
        return [*shown, *rest, *([note_row(f"✔ {len(kept)} kept: {', '.join(kept)}")] if kept else [])]

    def rows(self) -> list[Row]:
        """Vital signs on top, then the layers from the top down."""
        vitals = self._vitals()
        layers = [layer_row(layer, self.snapshot, tall=self.is_tall) for layer in Layer]
        above = [title_row("what users notice"), *vitals] if vitals else []
        return [*above, title_row("the stack, top down"), *layers, *(self._more() if self.is_tall else [])]

    def _more(self) -> list[Row]:
        """On a tall screen also the findings by rank, and what would let more be judged."""
        asked = [self.snapshot.question(finding.rule) for finding in self.snapshot.diagnosis.findings]
        found = [short_row(question, self.snapshot) for question in asked if question is not None][:_FINDINGS]
        ways = [to_do_row(gap.how, len(gap.rules)) for gap in gaps(self.snapshot.diagnosis.not_evaluated)[:_WAYS]]
        return [
            *([title_row("findings, what explains the others first"), *found] if found else []),
            *([title_row("to see more"), *ways] if ways else []),
        ]

    def start(self) -> str:
        """The layer of the first finding; without one the worst vital sign, or the top of the stack."""
        first = self.snapshot.first_finding
        if first is not None:
            return f"layer:{first.layer.value}"
        worst = next((one for one in vitals_of(self.snapshot.diagnosis) if one.state is Promised.BROKEN), None)
        return f"vital:{vital_id(worst)}" if worst is not None else f"layer:{Layer.PLATFORM.value}"

    def on_resize(self) -> None:
        """Rows are higher on a tall screen."""
        if self.is_mounted:
            self.refill()
        super().on_resize()

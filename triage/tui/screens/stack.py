"""The top of the walk: what users notice, the five layers below it, and the one finding with its proof."""

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from textual.content import Content

from triage.model.diagnosis import Promised
from triage.model.vocabulary import Layer
from triage.render.answer import five_lines, is_open, left_over, odd_line, unread_line
from triage.render.reading import counted, gaps, vital_in_short, vitals_of, window
from triage.tui.drawn import Draw
from triage.tui.rows import layer_row, note_row, short_note, short_row, title_row, to_do_row, vital_row
from triage.tui.screens.listing import ListScreen
from triage.tui.snapshot import vital_id
from triage.tui.widgets.choices import Row
from triage.tui.widgets.detail import Shares
from triage.tui.words import first_lines, hanging, lines, text

_NEWS = 3
_SHORT = 3
_FINDINGS = 8
_WAYS = 4
_WHAT = 2
_USUAL = 24
"""Rows of a usual terminal: from then on each of the lines that suffice may take two."""

_HINT = "Enter down, Esc up, n first finding, ? keys"


class StackScreen(ListScreen):
    """One look: how the service is, what is wrong since when, where in the stack, and what proves it."""

    IS_TOP: ClassVar[bool] = True

    def intro(self) -> Draw:
        """The lines that suffice: what; since when, where, how sure; what to do first, and what not. While watching, the news."""
        diagnosis, news = self.snapshot.diagnosis, self.scene.news
        what, *others = five_lines(diagnosis)

        def draw(width: int) -> Content:
            most = 2 if self.size.height >= _USUAL else 1
            told = [self._cut(hanging(text(" "), text((what.text, "strong")), width), _WHAT, width)]
            if self.is_tall:
                told.append(hanging(text(" "), text((window(diagnosis), "dim")), width))
            for one in others[:-1]:
                lead = text((f" {one.label:8} ", "dim"))
                told.append(self._cut(hanging(lead, text(one.text), width), most, width))
                told += [hanging(text(" " * 10), text(below), width) for below in one.below]
            told += [hanging(text((" odd      ", "new")), text(line), width) for line in self._unexplained()]
            told += [hanging(text((" △ ", "new")), text(line), width) for line in news[:_NEWS]]
            if self.scene.is_first_time:
                told.append(text((" new here? ", "window"), (_HINT, "dim")))
            return lines(*told)

        return draw

    def _cut(self, told: Content, most: int, width: int) -> Content:
        """All of it on a tall screen, else its first lines."""
        return told if self.is_tall else first_lines(told, most, width)

    def _unexplained(self) -> Sequence[str]:
        """Where the cause is open, what nothing explains."""
        diagnosis = self.snapshot.diagnosis
        if not is_open(diagnosis):
            return ()
        left = [unread_line(one) for one in diagnosis.unread[:1]]
        left += [odd_line(one, diagnosis.window.end) for one in left_over(diagnosis, anyway=True)[:_NEWS]]
        return left if self.is_tall else left[:1]

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
        return [*shown, *rest, *([short_note(f"✔ {len(kept)} kept: {', '.join(kept)}")] if kept else [])]

    def rows(self) -> list[Row]:
        """Vital signs on top, then the layers from the top down."""
        vitals = self._vitals()
        layers = [layer_row(layer, self.snapshot, tall=self.is_tall) for layer in Layer]
        title = [title_row("what users notice")] if self.is_tall else []
        above = [*title, *vitals] if vitals else []
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

    def shares(self) -> Shares:
        """On a small screen the finding is told below the stack, without its chart."""
        shares = super().shares()
        if not self.is_narrow or self.is_alone:
            return shares
        return replace(shares, has_chart=False, foot_most=0) if self.is_short else replace(shares, foot_most=4)

    def start(self) -> str:
        """The layer of the first finding; without one the worst vital sign, or the top of the stack."""
        first = self.snapshot.first_finding
        if first is not None:
            return f"layer:{first.layer.value}"
        worst = next((one for one in vitals_of(self.snapshot.diagnosis) if one.state is Promised.BROKEN), None)
        return f"vital:{vital_id(worst)}" if worst is not None else f"layer:{Layer.PLATFORM.value}"

    def on_resize(self) -> None:
        """Rows are higher on a tall screen."""
        if self.is_whole:
            self.refill()
        super().on_resize()

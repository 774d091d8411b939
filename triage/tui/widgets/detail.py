"""What is told of the highlighted thing: words, its chart, more words."""

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll

from triage.tui.look import Look
from triage.tui.sheets import Sheet
from triage.tui.widgets.chart import Chart
from triage.tui.widgets.drawn import Drawn


class Detail(Vertical):
    """A sheet on the screen."""

    def compose(self) -> ComposeResult:
        """Words, chart, more words in a box that scrolls."""
        yield Drawn(classes="head")
        yield Chart()
        with VerticalScroll(classes="foot", can_focus=False):
            yield Drawn(classes="words")

    def show(self, sheet: Sheet, look: Look) -> None:
        """Show another sheet."""
        self.query_one(".head", Drawn).show(sheet.head)
        self.query_one(Chart).show(sheet.evidence, look)
        self.query_one(".words", Drawn).show(sheet.foot)
        self.query_one(".foot", VerticalScroll).scroll_home(animate=False)

"""What is told of the highlighted thing: words, its chart, more words."""

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll

from triage.tui.details import Detail
from triage.tui.drawn import Drawn
from triage.tui.snapshot import Snapshot
from triage.tui.widgets.chart import Chart


class DetailPane(Vertical):
    """A detail on the screen."""

    def compose(self) -> ComposeResult:
        """Words, chart, more words in a box that scrolls."""
        yield Drawn(classes="head")
        yield Chart()
        with VerticalScroll(classes="foot", can_focus=False):
            yield Drawn(classes="words")

    def show(self, detail: Detail, snapshot: Snapshot) -> None:
        """Show another detail."""
        self.query_one(".head", Drawn).show(detail.head)
        self.query_one(Chart).show(detail.evidence, snapshot)
        self.query_one(".words", Drawn).show(detail.foot)
        self.query_one(".foot", VerticalScroll).scroll_home(animate=False)

"""What is told of the highlighted thing: words, its chart, more words."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll

from triage.tui.details import Detail
from triage.tui.drawn import Drawn
from triage.tui.snapshot import Snapshot
from triage.tui.widgets.chart import Chart


class DetailPane(Vertical, can_focus=True):
    """A detail on the screen. With the keys it scrolls its lower words."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "scroll_words(1)", "Down", show=False),
        Binding("up,k", "scroll_words(-1)", "Up", show=False),
        Binding("pagedown", "scroll_words(8)", "Page down", show=False),
        Binding("pageup", "scroll_words(-8)", "Page up", show=False),
        Binding("home,g", "scroll_words(-9999)", "First", show=False),
        Binding("end,G", "scroll_words(9999)", "Last", show=False),
        Binding("enter,l,right", "app.open", "Open", show=False),
    ]

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

    def action_scroll_words(self, lines: int) -> None:
        """Move in the lower words."""
        self.query_one(".foot", VerticalScroll).scroll_relative(y=lines, animate=False)

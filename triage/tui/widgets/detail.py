"""What is told of the highlighted thing: words, its chart, more words."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll

from triage.model.diagnosis import Evidence
from triage.tui.details import Detail
from triage.tui.drawn import Draw, Drawn, nothing
from triage.tui.lanes import drawn_lanes
from triage.tui.messages import SidesDrawn, SidesWanted
from triage.tui.siderows import in_short, waiting
from triage.tui.snapshot import Scene, Snapshot
from triage.tui.widgets.chart import Chart

_LANES, _FEW_LANES = 12, 4


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

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's word
        super().__init__(id=id)
        self._sought: tuple[Snapshot, Evidence] | None = None

    def compose(self) -> ComposeResult:
        """Words, chart, on tall screens the subjects side by side, more words in a box that scrolls."""
        yield Drawn(classes="head")
        yield Chart()
        yield Drawn(classes="sides")
        with VerticalScroll(classes="foot", can_focus=False):
            yield Drawn(classes="words")
        yield Drawn(classes="lanes")

    def show(self, detail: Detail, scene: Scene) -> None:
        """Show another detail."""
        self.query_one(".head", Drawn).show(detail.head)
        self.query_one(Chart).show(detail.evidence, scene.snapshot, scene.pin, is_framed=scene.is_framed)
        self.query_one(".words", Drawn).show(detail.foot)
        self.query_one(".foot", VerticalScroll).scroll_home(animate=False)
        self._show_lanes(detail, scene.snapshot)
        self._ask_for_sides(detail, scene.snapshot)

    def _show_lanes(self, detail: Detail, snapshot: Snapshot) -> None:
        """Events are lines as they were written, and ticks below the curve of the trouble; never a curve of their own."""
        own = detail.events
        self.set_class(own is not None, "-events")
        draw: Draw = nothing
        if own is not None:
            most = _LANES if self.screen.has_class("-tall") else _FEW_LANES
            moment = own[0].time if len({event.time for event in own}) == 1 else None
            draw = lambda width: drawn_lanes(snapshot, own, width, most, moment)  # noqa: E731 - one line says it
        self.query_one(".lanes", Drawn).show(draw)

    def _ask_for_sides(self, detail: Detail, snapshot: Snapshot) -> None:
        """Have the subjects put side by side, where there are several and room for them."""
        evidence = detail.evidence
        is_several = evidence is not None and detail.compares and snapshot.subjects_of(evidence.signal) > 1
        sought = (snapshot, evidence) if evidence is not None and is_several else None
        if sought is None or self._sought is None or sought[0] is not self._sought[0] or sought[1] != self._sought[1]:
            self._sought = sought
            draw: Draw = nothing
            if sought is not None and self.screen.has_class("-tall"):
                room = waiting(snapshot.subjects_of(sought[1].signal))
                draw = lambda _width: room  # noqa: E731 - one line says it
                self.app.post_message(SidesWanted(*sought))
            self.query_one(".sides", Drawn).show(draw)

    def show_sides(self, drawn: SidesDrawn) -> None:
        """Show the worst few, if they are still asked for."""
        sought, sides = self._sought, drawn.sides
        if sought is None or sought[0] is not drawn.snapshot or sought[1] != drawn.evidence:
            return
        draw: Draw = nothing if sides is None else lambda width: in_short(sides, drawn.snapshot, width)
        self.query_one(".sides", Drawn).show(draw)

    def action_scroll_words(self, lines: int) -> None:
        """Move in the lower words."""
        self.query_one(".foot", VerticalScroll).scroll_relative(y=lines, animate=False)

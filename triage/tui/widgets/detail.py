"""What is told of the highlighted thing: words, its chart, more words."""

from collections.abc import Callable
from itertools import zip_longest
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Region
from textual.scrollbar import ScrollBarRender
from textual.selection import Selection
from textual.strip import Strip

from triage.classes import dataclass
from triage.model.diagnosis import Evidence
from triage.model.recording import Event
from triage.tui.details import Detail
from triage.tui.drawn import Draw, Steady, nothing
from triage.tui.lanes import drawn_lanes
from triage.tui.messages import CurveDrawn, SidesDrawn, SidesWanted
from triage.tui.siderows import in_short, waiting
from triage.tui.snapshot import Scene, Snapshot
from triage.tui.widgets.brush import Brush, Words
from triage.tui.widgets.chart import Chart
from triage.tui.widgets.plot import Inks, inks_of

_LANES, _FEW_LANES = 12, 4
_LOW = 9
"""Fewer rows of a chart belong to the drawing alone: a sentence takes two, a legend one, and axes two."""

_EMPTY = Strip([])
_FOOT_OF_EVENTS = 0.55
"""What of the rows the lower words may take that are events as they were written."""


@dataclass(frozen=True)
class Shares:
    """How the rows of a detail are shared between its parts, from the top down.

    :param head: most rows of the words on top; None: all that they take
    :param gap: empty rows below them
    :param has_chart: whether there is room for a chart
    :param chart_least: rows that a chart has at least
    :param chart_most: rows that a chart has at most; None: all that are left
    :param is_tall: whether there is room for what is only nice to have: the chart in a sentence, and the subjects side by side
    :param foot: the share of the rows that the lower words take at most
    :param foot_most: most rows of the lower words; None: their share
    :param is_spoken: whether the chart is a sentence, and the lower words take all that is left
    """

    head: int | None = None
    gap: int = 0
    has_chart: bool = True
    chart_least: int = 6
    chart_most: int | None = 24
    is_tall: bool = False
    foot: float = 0.4
    foot_most: int | None = None
    is_spoken: bool = False


class DetailPane(Steady, can_focus=True):
    """A detail on the screen, drawn line by line: as one widget it costs Textual no layout when it tells something else.

    With the keys it scrolls its lower words.

    :param shares: gives the shares of the parts as the screen is now
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "scroll_words(1)", "Down", show=False),
        Binding("up,k", "scroll_words(-1)", "Up", show=False),
        Binding("pagedown", "scroll_words(8)", "Page down", show=False),
        Binding("pageup", "scroll_words(-8)", "Page up", show=False),
        Binding("home,g", "scroll_words(-9999)", "First", show=False),
        Binding("end,G", "scroll_words(9999)", "Last", show=False),
        Binding("enter,l,right", "app.open", "Open", show=False),
    ]

    def __init__(self, shares: Callable[[], Shares], *, id: str | None = None) -> None:  # noqa: A002 - Textual's word
        super().__init__(id=id)
        self._shares = shares
        self._head, self._sides, self._words, self._lanes, self._sentence = Words(), Words(), Words(), Words(), Words()
        self._chart = Chart()
        self._events: tuple[Event, ...] | None = None
        self._sought: tuple[Snapshot, Evidence] | None = None
        self._colours: tuple[Brush, Inks] | None = None
        self._rows: list[Strip] = []
        self._laid_out_for: tuple[object, ...] = ()
        self._is_due = False
        self._drawing: tuple[Content, Brush, list[Strip]] | None = None
        self._lines = self._room = 0
        self.first_word = 0
        """The lower words are shown from this line on."""
        self.curve_rows = 0
        """Rows of the curve itself, as it was drawn last."""

    # What is shown

    def forget(self) -> None:
        """What is shown next begins anew."""
        self._chart, self._sought, self._drawing = Chart(), None, None

    def show(self, detail: Detail, scene: Scene) -> None:
        """Show another detail."""
        self._head.show(detail.head)
        wanted = self._chart.show(detail.evidence, scene.snapshot, scene.pin, is_framed=scene.is_framed)
        if wanted is not None:
            self.app.post_message(wanted)  # what the app itself set off would not bubble up to it
        self._words.show(detail.foot)
        self.first_word = 0
        self._show_lanes(detail, scene.snapshot)
        self._ask_for_sides(detail, scene.snapshot)
        self._draw()

    def _show_lanes(self, detail: Detail, snapshot: Snapshot) -> None:
        """Events are lines as they were written, and ticks below the curve of the trouble; never a curve of their own."""
        own = self._events = detail.events
        draw: Draw = nothing
        if own is not None:
            most = _LANES if self._shares().is_tall else _FEW_LANES
            moment = own[0].time if len({event.time for event in own}) == 1 else None
            draw = lambda width: drawn_lanes(snapshot, own, width, most, moment)  # noqa: E731 - one line says it
        self._lanes.show(draw)

    def _ask_for_sides(self, detail: Detail, snapshot: Snapshot) -> None:
        """Have the subjects put side by side, where there are several and room for them."""
        evidence = detail.evidence
        is_several = evidence is not None and detail.compares and snapshot.subjects_of(evidence.signal) > 1
        sought = (snapshot, evidence) if evidence is not None and is_several else None
        if sought is None or self._sought is None or sought[0] is not self._sought[0] or sought[1] != self._sought[1]:
            self._sought = sought
            draw: Draw = nothing
            if sought is not None and self._shares().is_tall:
                room = waiting(snapshot.subjects_of(sought[1].signal))
                draw = lambda _width: room  # noqa: E731 - one line says it
                self.app.post_message(SidesWanted(*sought))
            self._sides.show(draw)

    def show_sides(self, drawn: SidesDrawn) -> None:
        """Show the worst few, if they are still asked for."""
        sought, sides = self._sought, drawn.sides
        if sought is not None and sought[0] is drawn.snapshot and sought[1] == drawn.evidence:
            self._sides.show(nothing if sides is None else lambda width: in_short(sides, drawn.snapshot, width))
            self._draw()

    def refine(self, drawn: CurveDrawn) -> None:
        """All cells of a curve are there."""
        self._chart.refine(drawn.evidence, drawn.snapshot, drawn.curve)
        self._draw()

    def action_scroll_words(self, lines: int) -> None:
        """Move in the lower words."""
        self.first_word = max(min(self.first_word + lines, self._lines - self._room), 0)
        self._draw()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """The wheel moves in the lower words."""
        event.stop()
        self.action_scroll_words(int(self.app.scroll_sensitivity_y))

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """The wheel moves in the lower words."""
        event.stop()
        self.action_scroll_words(-int(self.app.scroll_sensitivity_y))

    # How it is drawn

    def notify_style_update(self) -> None:
        """Colours may have changed."""
        self._colours = None
        super().notify_style_update()

    def _draw(self) -> None:
        """Have drawn what says something else, once for all that comes at once."""
        if not self._is_due:
            self._is_due = True
            self.call_later(self._draw_changes)

    def _draw_changes(self) -> None:
        """Have the rows drawn that say something else than before."""
        self._is_due = False
        if not self.display:
            self._laid_out_for = ()
            return
        before, self._rows = self._rows, self._laid_out()
        self._laid_out_for = self._rests_on
        pairs = enumerate(zip_longest(before, self._rows))
        self.refresh(*(Region(0, y, self.content_size.width, 1) for y, (old, new) in pairs if old is not new))

    def render_lines(self, crop: Region) -> list[Strip]:
        """The lines; for another size, or in other colours, all of them are others."""
        if self._laid_out_for != self._rests_on:
            self._draw_changes()
        return super().render_lines(crop)

    @property
    def _rests_on(self) -> tuple[object, ...]:
        """What the rows rest on besides what is shown."""
        return self.content_size, self._shares(), self._drawn_with()

    def render_line(self, y: int) -> Strip:
        """A line, with what of it the mouse has selected, and its place for the mouse."""
        strip = self._rows[y] if y < len(self._rows) else Strip([])
        selection = self.text_selection
        span = selection.get_span(y) if selection is not None else None
        if span is not None:
            strip = _selected(strip, span, self.screen.get_component_rich_style("screen--selection"))
        return strip.apply_offsets(0, y)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The words that the mouse has selected."""
        return selection.extract("\n".join(strip.text for strip in self._rows)), "\n"

    def _laid_out(self) -> list[Strip]:
        """All rows: the parts below each other, the chart in what the others leave."""
        shares, (width, height) = self._shares(), self.content_size
        brush, _ = self._drawn_with()
        head = [*self._head.strips(brush, width)[: shares.head], *[_EMPTY] * shares.gap]
        sides = self._sides.strips(brush, width) if shares.is_tall else []
        lanes = [*[_EMPTY] * (shares.is_tall and self._events is not None), *self._lanes.strips(brush, width)]
        left = max(height - len(head) - len(sides) - len(lanes), 0)
        foot = min(len(self._words.strips(brush, width)), self._most_of_foot(height, shares))
        chart = self._charted(width, left - foot, shares)
        if shares.is_spoken and shares.foot_most != 0:
            foot = max(left - len(chart), 0)
        return [*head, *chart, *sides, *self._scrolled(width, foot), *lanes][:height]

    def _most_of_foot(self, height: int, shares: Shares) -> int:
        """Rows that the lower words may take."""
        if shares.foot_most is not None and (self._events is None or shares.foot_most == 0):
            return shares.foot_most
        return int(height * (shares.foot if self._events is None else _FOOT_OF_EVENTS))

    def _charted(self, width: int, room: int, shares: Shares) -> list[Strip]:
        """Legend, curve and sentence; in words the sentence alone."""
        brush, inks = self._drawn_with()
        self.curve_rows = 0
        if self._chart.is_empty or not shares.has_chart:
            return []
        if shares.is_spoken:
            return brush.strips(self._chart.sentence(), width) or [_EMPTY]
        rows = max(room if shares.chart_most is None else min(room, shares.chart_most), shares.chart_least)
        said = shares.is_tall and rows >= _LOW
        sentence = brush.muted.strips(self._chart.sentence(), width) if said else []
        legend = brush.strips(self._chart.legend(width), width) or [_EMPTY]
        self.curve_rows = rows - len(legend) - len(sentence)
        curve = self._curve(width, self.curve_rows, brush, inks)
        return [*legend, *curve, *[_EMPTY] * (self.curve_rows - len(curve)), *sentence]

    def _curve(self, width: int, rows: int, brush: Brush, inks: Inks) -> list[Strip]:
        """The curve itself, which takes longest of all; while another one is on its way it stays as it was drawn."""
        if self._chart.is_awaited and self._drawing is not None:
            return self._drawing[2][:rows]
        drawn = self._chart.drawing(width, rows, inks)
        if self._drawing is None or self._drawing[0] is not drawn or self._drawing[1] is not brush:
            self._drawing = (drawn, brush, brush.strips(drawn, width)[:rows])
        return self._drawing[2]

    def _scrolled(self, width: int, rows: int) -> list[Strip]:
        """So many rows of the lower words, with a bar beside them where there are more."""
        brush, _ = self._drawn_with()
        lines = self._words.strips(brush, width)
        if len(lines) > rows:
            lines = self._words.strips(brush, width - 1)
        self._lines, self._room = len(lines), rows
        self.first_word = max(min(self.first_word, len(lines) - rows), 0)
        shown = lines[self.first_word : self.first_word + rows]
        if len(lines) > rows:
            bar = self._bar(rows)
            return [Strip.join([brush.filled(line, width - 1), Strip([cell])]) for line, cell in zip(shown, bar, strict=True)]
        return [*shown, *[_EMPTY] * (rows - len(shown))]

    def _bar(self, rows: int) -> list[Segment]:
        """How far the lower words are scrolled."""
        behind = self.styles.scrollbar_background
        bar = ScrollBarRender.render_bar(
            size=rows,
            virtual_size=self._lines,
            window_size=rows,
            position=self.first_word,
            back_color=behind.rich_color,
            bar_color=(behind + self.styles.scrollbar_color).rich_color,
        )
        return [Segment(one.text, Style(bgcolor=behind.rich_color) + one.style) for one in bar.segments]

    def _drawn_with(self) -> tuple[Brush, Inks]:
        """What texts and curves are drawn with in the theme in force."""
        if self._colours is None:
            self._colours = (Brush(self.visual_style), inks_of(self.app.theme_variables))
        return self._colours


def _selected(strip: Strip, span: tuple[int, int], style: Style) -> Strip:
    """A line of which some characters are selected.

    :param span: the first of them, and the one behind the last; -1: to the end
    """
    start, end = (cell_len(strip.text[:place]) if place >= 0 else strip.cell_length for place in span)
    chosen = (Segment(one.text, (one.style or Style()) + style) for one in strip.crop(start, end))
    return Strip.join([strip.crop(0, start), Strip(chosen), strip.crop(end, strip.cell_length)])

"""A list to choose from, that keeps its place when its rows change."""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from triage.classes import dataclass
from triage.tui.matching import holds
from triage.tui.widgets.brush import Brush, lines_of

_GUTTER = 2
_FULL = 1000
"""Cells in which a row is drawn to be searched: nothing is cut."""


@dataclass(frozen=True)
class Row:
    """One row.

    :param id: what is chosen with it; empty for a heading, which cannot be chosen
    :param draw: the text for so many cells
    :param is_line: whether it is one line whatever the width: it need not be drawn before it is seen
    """

    id: str
    draw: Callable[[int], Content]
    is_line: bool = False

    @cached_property
    def words(self) -> str:
        """All that it says, to be searched while somebody types."""
        return f"{self.id} {self.draw(_FULL).plain}"

    def height(self, width: int) -> int:
        """Lines that it takes."""
        return 1 if self.is_line else len(self.picture.lines(width))

    @cached_property
    def picture(self) -> "_Picture":
        """What is drawn of it, kept while rows are left out and come back."""
        return _Picture(self.draw)


class _Picture:
    """A row, drawn once for the width that it gets: nothing has to know the width before the screen is laid out."""

    def __init__(self, draw: Callable[[int], Content]) -> None:
        self._draw = draw
        self._width = 0
        self._lines: list[Content] = []
        self._strips: dict[Brush, list[Strip]] = {}

    def lines(self, width: int) -> list[Content]:
        """Its lines."""
        if self._width != width:
            self._width, self._lines, self._strips = width, lines_of(self._draw(width), width), {}
        return self._lines

    def strips(self, width: int, brush: Brush, bar: Segment) -> list[Strip]:
        """Its lines in colours, each behind a bar.

        :param bar: always the same for a brush
        """
        lines = self.lines(width)
        drawn = self._strips.get(brush)
        if drawn is None:
            drawn = self._strips[brush] = [Strip([bar, *brush.segments(line, width)], width + _GUTTER) for line in lines]
        return drawn


def narrowed(rows: tuple[Row, ...], words: tuple[str, ...]) -> tuple[Row, ...]:
    """The rows in which all words stand, each group of them below its heading; a note if there are none.

    :param words: in lower case
    """
    if not words:
        return rows
    kept: list[Row] = []
    heading: Row | None = None
    for row in rows:
        if not row.id:
            heading = row
        elif holds(row.words, words):
            kept += [*([heading] if heading is not None else []), row]
            heading = None
    return tuple(kept) or (Row("", lambda _width: Content("  no row holds these words")),)


class Choices(ScrollView, can_focus=True):
    """Rows of which one is highlighted, by a bar at its left as well as by its background.

    A row is drawn when it is seen, and where the highlight moves two rows are drawn again, not all.
    """

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {"choices--highlighted", "choices--hover"}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "cursor(1)", "Down", show=False),
        Binding("up,k", "cursor(-1)", "Up", show=False),
        Binding("pagedown", "page(1)", "Page down", show=False),
        Binding("pageup", "page(-1)", "Page up", show=False),
        Binding("home,g", "end(0)", "First", show=False),
        Binding("end,G", "end(-1)", "Last", show=False),
        Binding("enter,l,right", "select", "Open", show=False),
    ]
    highlighted: reactive[int | None] = reactive(None, repaint=False)
    """Place of the highlighted row."""

    hovered: reactive[int | None] = reactive(None, repaint=False)
    """Place of the row under the pointer."""

    class Moved(Message):
        """Another row is highlighted."""

    class Selected(Message):
        """A row was chosen.

        :param id: of the row
        """

        def __init__(self, id: str) -> None:  # noqa: A002 - as rows have it
            super().__init__()
            self.id = id

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's word
        super().__init__(id=id)
        self._all: tuple[Row, ...] = ()
        self._rows: tuple[Row, ...] = ()
        self._able: list[int] = []
        self._words: tuple[str, ...] = ()
        self._laid_out_for: tuple[int, tuple[Row, ...]] = (0, ())
        self._tops: list[int] = [0]
        self._places: list[int] = []
        self._brushes: dict[str, tuple[Brush, Segment]] = {}

    @property
    def chosen(self) -> str:
        """The id of the highlighted row; empty if there is none."""
        return self._rows[self.highlighted].id if self.highlighted is not None else ""

    def fill(self, rows: Sequence[Row], start: str = "", *, anew: bool = False) -> None:
        """Show other rows; the highlight stays on its row if that is still there.

        :param start: id of the row to highlight where there was no highlight
        :param anew: highlight the first row instead, whatever was highlighted
        """
        self._all = tuple(rows)
        if anew:
            self._begin_anew()
        self._take(start)

    def forget(self) -> None:
        """What is filled in next begins anew."""
        self._words = ()
        self._begin_anew()

    def narrow(self, words: tuple[str, ...]) -> None:
        """Show only rows in which all words stand, with their headings.

        :param words: in lower case
        """
        if words != self._words:
            self._words = words
            self._take("")

    def _begin_anew(self) -> None:
        self.set_reactive(Choices.highlighted, None)
        self.scroll_to(y=0, animate=False, force=True, immediate=True)

    def _take(self, start: str) -> None:
        """Take the rows that hold the words."""
        kept, place, scroll = self.chosen, self.highlighted, self.scroll_offset.y
        self.set_reactive(Choices.highlighted, None)
        self.set_reactive(Choices.hovered, None)
        self._rows = narrowed(self._all, self._words)
        self._able = [number for number, row in enumerate(self._rows) if row.id]
        self._lay_out()
        self.refresh(layout=self.styles.auto_dimensions)
        self._highlight_again(kept or start, place)
        if kept:
            self.scroll_to(y=scroll, animate=False, force=True, immediate=True)
        if self.chosen != kept:
            self.post_message(self.Moved())

    def _highlight_again(self, kept: str, place: int | None) -> None:
        """Highlight the row of an id, else one near the old place, else the first that can be chosen."""
        again = next((number for number in self._able if kept and self._rows[number].id == kept), None)
        if again is None and self._able:
            again = min(self._able, key=lambda number: abs(number - (place or 0)))
        self.set_reactive(Choices.highlighted, again)
        self._bring_into_view()

    # Where the rows are

    @property
    def _width(self) -> int:
        """Cells of a row's text."""
        return max(self.scrollable_content_region.width - _GUTTER, 0)

    def _lay_out(self) -> None:
        """Find which row each line is of, for the width that there is."""
        width = self._width
        if not width or (width == self._laid_out_for[0] and self._rows is self._laid_out_for[1]):
            return
        self._laid_out_for = (width, self._rows)
        self._tops, self._places = [], []
        for number, row in enumerate(self._rows):
            self._tops.append(len(self._places))
            self._places += [number] * row.height(width)
        self._tops.append(len(self._places))
        self.set_reactive(Choices.virtual_size, Size(width, len(self._places)))  # set plainly, it would have all laid out anew
        self._scroll_update(self.virtual_size)

    def get_content_height(self, _container: Size, _viewport: Size, width: int) -> int:
        """Lines of all rows; Textual asks for it."""
        return sum(row.height(width - _GUTTER) for row in self._rows)

    def on_resize(self) -> None:
        """Rows may be of other heights now."""
        self._lay_out()
        self._bring_into_view()

    def _bring_into_view(self) -> None:
        """Scroll to the highlighted row; to the first one with the heading above it."""
        place = self.highlighted
        if place is None or place >= len(self._tops) - 1:
            return
        if place == self._able[0]:
            self.scroll_to(y=0, animate=False, force=True, immediate=True)
            return
        top, end = self._tops[place : place + 2]
        region = Region(0, top, self.scrollable_content_region.width, end - top)
        self.scroll_to_region(region, animate=False, force=True, immediate=True)

    # How it is drawn

    def notify_style_update(self) -> None:
        """Colours may have changed."""
        self._brushes = {}
        super().notify_style_update()

    def render_lines(self, crop: Region) -> list[Strip]:
        """The lines, without what Textual would put around each: a row is as wide as the list, and has its colours."""
        self._lay_out()
        behind = self.background_colors[1]
        strips = [self.render_line(y).adjust_cell_length(self.size.width, self._brush("")[0].behind) for y in crop.line_range]
        for one in self.get_line_filters():
            strips = [strip.apply_filter(one, behind) for strip in strips]
        left, right = crop.column_span
        return strips if (left, right) == (0, self.size.width) else [strip.crop(left, right) for strip in strips]

    def render_line(self, y: int) -> Strip:
        """A line of a row, with the bar of the highlighted one."""
        line = y + self.scroll_offset.y
        if line < len(self._places):
            place = self._places[line]
            state = "choices--highlighted" if place == self.highlighted else "choices--hover" if place == self.hovered else ""
            strips = self._rows[place].picture.strips(self._width, *self._brush(state))
            if line - self._tops[place] < len(strips):
                return strips[line - self._tops[place]]
        brush, bar = self._brush("")
        return Strip([bar, *brush.segments(Content(""), self._width)], self._width + _GUTTER)

    def _brush(self, state: str) -> tuple[Brush, Segment]:
        """What rows are drawn with, and what stands before them.

        :param state: component class of the row; empty: of most
        """
        known = self._brushes.get(state)
        if known is None:
            brush = Brush(self.get_visual_style(state) if state else self.visual_style)
            bar = Style(color=self.app.theme_variables["primary"]) if state == "choices--highlighted" else Style()
            shown = "▌ " if state == "choices--highlighted" else "  "
            known = self._brushes[state] = (brush, Segment(shown, brush.behind + bar))
        return known

    def watch_highlighted(self, old: int | None, new: int | None) -> None:
        """The highlight moves."""
        self._draw_again(old, new)
        self._bring_into_view()
        self.post_message(self.Moved())

    def watch_hovered(self, old: int | None, new: int | None) -> None:
        """The pointer moves."""
        self._draw_again(old, new)

    def _draw_again(self, *places: int | None) -> None:
        """Draw some rows again."""
        for place in places:
            if place is not None and place < len(self._tops) - 1:
                self.refresh_lines(self._tops[place], self._tops[place + 1] - self._tops[place])

    # Keys and mouse

    def action_cursor(self, step: int) -> None:
        """To the next row that can be chosen, and from the last one to the first."""
        if self._able:
            here = bisect_left(self._able, self.highlighted) if self.highlighted is not None else min(-step, 0)
            self.highlighted = self._able[(here + step) % len(self._able)]

    def action_page(self, direction: int) -> None:
        """About as many lines further as are seen."""
        if not self._able or not self._places:
            return
        line = self._tops[self.highlighted or 0] + direction * self.scrollable_content_region.height
        there = self._places[max(min(line, len(self._places) - 1), 0)]
        able = [place for place in self._able if (place - there) * direction >= 0]
        self.highlighted = (able[0] if direction > 0 else able[-1]) if able else self._able[-1 if direction > 0 else 0]

    def action_end(self, place: int) -> None:
        """To the first row or the last one."""
        if self._able:
            self.highlighted = self._able[place]

    def action_select(self) -> None:
        """Choose the highlighted row."""
        if self.chosen:
            self.post_message(self.Selected(self.chosen))

    def on_click(self, event: events.Click) -> None:
        """Choose the row under the pointer."""
        place = self._place_at(event)
        if place is not None and self._rows[place].id:
            self.highlighted = place
            self.action_select()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """The row under the pointer stands out, if it can be chosen."""
        place = self._place_at(event)
        self.hovered = place if place is not None and self._rows[place].id else None

    def on_leave(self) -> None:
        """No row is under the pointer."""
        self.hovered = None

    def _place_at(self, event: events.MouseEvent) -> int | None:
        """The row under the pointer."""
        inside = event.get_content_offset(self)
        line = inside.y + self.scroll_offset.y if inside is not None else -1
        return self._places[line] if 0 <= line < len(self._places) else None

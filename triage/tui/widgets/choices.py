"""A list to choose from, that keeps its place when its rows change."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.css.styles import RulesMap
from textual.geometry import Region
from textual.strip import Strip
from textual.style import Style as TextStyle
from textual.visual import RenderOptions, Visual
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from triage.classes import dataclass
from triage.tui.matching import holds

_GUTTER = 2
_FULL = 1000
"""Cells in which a row is drawn to be searched: nothing is cut."""


@dataclass(frozen=True)
class Row:
    """One row.

    :param id: what is chosen with it; empty for a heading, which cannot be chosen
    :param draw: the text for so many cells
    """

    id: str
    draw: Callable[[int], Content]

    @cached_property
    def words(self) -> str:
        """All that it says, to be searched while somebody types."""
        return f"{self.id} {self.draw(_FULL).plain}"

    @cached_property
    def picture(self) -> "_Picture":
        """What is drawn of it, kept while rows are left out and come back."""
        return _Picture(self.draw)


class _Picture(Visual):
    """A row, drawn once for the width that it gets: nothing has to know the width before the screen is laid out."""

    def __init__(self, draw: Callable[[int], Content]) -> None:
        self._draw = draw
        self._last: tuple[int, Content] | None = None

    def _for(self, width: int) -> Content:
        if self._last is None or self._last[0] != width:
            self._last = (width, self._draw(width))
        return self._last[1]

    def render_strips(self, width: int, height: int | None, style: TextStyle, options: RenderOptions) -> list[Strip]:
        """The lines."""
        return self._for(width).render_strips(width, height, style, options)

    def get_optimal_width(self, _rules: RulesMap, container_width: int) -> int:
        """All that there is."""
        return container_width

    def get_height(self, rules: RulesMap, width: int) -> int:
        """How many lines it takes."""
        return self._for(width).get_height(rules, width)


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


class Choices(OptionList):
    """Rows of which one is highlighted, by a bar at its left as well as by its background."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "cursor_down", "Down", show=False),
        Binding("k", "cursor_up", "Up", show=False),
        Binding("l,right", "select", "Open", show=False),
        Binding("g", "first", "First", show=False),
        Binding("G", "last", "Last", show=False),
    ]

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's word
        super().__init__(id=id, markup=False, compact=True)
        self._all: tuple[Row, ...] = ()
        self._rows: tuple[Row, ...] = ()
        self._words: tuple[str, ...] = ()
        self._laid_out_for = 0

    @property
    def chosen(self) -> str:
        """The id of the highlighted row; empty if there is none."""
        option = self.highlighted_option
        return (option.id or "") if option is not None else ""

    def fill(self, rows: Sequence[Row], start: str = "", *, anew: bool = False) -> None:
        """Show other rows; the highlight stays on its row if that is still there.

        :param start: id of the row to highlight where there was no highlight
        :param anew: highlight the first row instead, whatever was highlighted
        """
        self._all = tuple(rows)
        if anew:
            self.clear_options()
        self._draw(start)

    def narrow(self, words: tuple[str, ...]) -> None:
        """Show only rows in which all words stand, with their headings.

        :param words: in lower case
        """
        if words != self._words:
            self._words = words
            self._draw("")

    def on_resize(self, event: events.Resize) -> None:
        """Rows are drawn again for another width only."""
        width = self.scrollable_content_region.width
        if width == self._laid_out_for:
            event.prevent_default()
        self._laid_out_for = width

    def render_lines(self, crop: Region) -> list[Strip]:
        """The lines; from the first ones on their width is known."""
        self._laid_out_for = self._laid_out_for or self.scrollable_content_region.width
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        """A line with the bar of the highlighted row."""
        strip = super().render_line(y)
        first = next(iter(strip), None)
        place = first.style.meta.get("option") if first is not None and first.style is not None else None
        marked = place is not None and place == self.highlighted
        behind = first.style.background_style if first is not None and first.style is not None else Style()
        bar = Segment("▌", behind + Style(color=self.app.theme_variables["primary"])) if marked else Segment(" ", behind)
        return Strip([bar, Segment(" ", behind), *strip], strip.cell_length + _GUTTER)

    def scroll_to_highlight(self, top: bool = False) -> None:
        """Bring the highlighted row into view; of the first one also the heading above it."""
        super().scroll_to_highlight(top)
        if self.highlighted == next((place for place, row in enumerate(self._rows) if row.id), None):
            self.scroll_to(y=0, animate=False, force=True, immediate=True)

    def _get_left_gutter_width(self) -> int:
        """Cells that the bar takes; Textual asks for it."""
        return _GUTTER

    def _draw(self, start: str) -> None:
        """Take the rows that hold the words."""
        self._rows = narrowed(self._all, self._words)
        kept, index = self.chosen, self.highlighted
        scroll = self.scroll_offset.y
        self.set_options(Option(row.picture, id=row.id or None, disabled=not row.id) for row in self._rows)
        self._highlight_again(kept or start, index)
        if kept:
            self.scroll_to(y=scroll, animate=False, force=True, immediate=True)

    def _highlight_again(self, kept: str, index: int | None) -> None:
        """Highlight the row of an id, else one near the old place, else the first that can be chosen."""
        ids = [row.id for row in self._rows]
        if kept and kept in ids:
            self.highlighted = ids.index(kept)
            return
        able = [place for place, name in enumerate(ids) if name]
        if able:
            self.highlighted = min(able, key=lambda place: abs(place - (index or 0)))

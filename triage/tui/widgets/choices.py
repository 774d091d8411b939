"""A list to choose from, that keeps its place when its rows change."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.strip import Strip
from textual.widgets import OptionList
from textual.widgets.option_list import Option

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
        elif holds(f"{row.id} {row.draw(_FULL).plain}", words):
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
        self._drawn_for: tuple[tuple[Row, ...], int] | None = None
        self._start = ""

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
        self._rows = narrowed(self._all, self._words)
        if anew:
            self.clear_options()
        self._draw(start)

    def narrow(self, words: tuple[str, ...]) -> None:
        """Show only rows in which all words stand, with their headings.

        :param words: in lower case
        """
        if words != self._words:
            self._words = words
            self._rows = narrowed(self._all, words)
            self._draw("")

    def on_resize(self, _event: events.Resize) -> None:
        """Rows are drawn for their width."""
        self._draw("")

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
        """Draw the rows for the width that there is."""
        width = self.scrollable_content_region.width - _GUTTER
        self._start = start or self._start
        if width <= 0 or self._drawn_for == (self._rows, width):
            return
        self._drawn_for = (self._rows, width)
        kept, index = self.chosen, self.highlighted
        scroll = self.scroll_offset.y
        self.set_options(Option(row.draw(width), id=row.id or None, disabled=not row.id) for row in self._rows)
        self._highlight_again(kept or self._start, index)
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

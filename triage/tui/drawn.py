"""Text that is drawn for the width that it gets."""

from collections.abc import Callable

from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget

Draw = Callable[[int], Content]
"""Gives the text for so many cells."""


def nothing(_width: int) -> Content:
    """No text."""
    return Content("")


class Drawn(Widget):
    """As high as its text; nothing at all without text."""

    DEFAULT_CSS = "Drawn { height: auto; }"

    def __init__(self, draw: Draw = nothing, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes, markup=False)
        self._draw = draw
        self._last: tuple[int, Content] | None = None

    def show(self, draw: Draw) -> None:
        """Show another text."""
        self._draw = draw
        self._last = None
        self.clear_cached_dimensions()
        self.refresh(layout=True)

    def render(self) -> Content:
        """The text for the width that there is."""
        return self._for(self.content_size.width)

    def get_content_height(self, _container: Size, _viewport: Size, width: int) -> int:
        """Lines that the text takes; Textual asks for it."""
        content = self._for(width)
        return content.get_height({}, width) if content else 0

    def _for(self, width: int) -> Content:
        """The text for a width, drawn once."""
        if self._last is None or self._last[0] != width:
            self._last = (width, self._draw(width) if width > 0 else Content(""))
        return self._last[1]

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


class Steady(Widget):
    """A widget that does not scroll: where its size changes Textual need not lay out once more, as for those that do."""

    def _size_updated(self, size: Size, virtual_size: Size, container_size: Size, layout: bool = True) -> bool:  # noqa: ARG002
        return super()._size_updated(size, virtual_size, container_size, layout=False)


class Drawn(Steady):
    """As high as its text; nothing at all without text."""

    DEFAULT_CSS = "Drawn { height: auto; }"

    def __init__(self, draw: Draw = nothing, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes, markup=False)
        self._draw = draw
        self._last: tuple[int, Content, int] | None = None

    def show(self, draw: Draw) -> None:
        """Show another text; only one that is higher or lower moves what stands around it."""
        width, height = (self._last[0], self._last[2]) if self._last is not None else (0, -1)
        self._draw, self._last = draw, None
        if width > 0 and self._for(width)[1] == height:
            self.refresh()
            return
        self.clear_cached_dimensions()
        self.refresh(layout=True)

    def render(self) -> Content:
        """The text for the width that there is."""
        return self._for(self.content_size.width)[0]

    def get_content_height(self, _container: Size, _viewport: Size, width: int) -> int:
        """Lines that the text takes; Textual asks for it."""
        return self._for(width)[1]

    def _for(self, width: int) -> tuple[Content, int]:
        """The text for a width and the lines that it takes, worked out once."""
        if self._last is None or self._last[0] != width:
            content = self._draw(width) if width > 0 else Content("")
            self._last = (width, content, content.get_height({}, width) if content else 0)
        return self._last[1:]

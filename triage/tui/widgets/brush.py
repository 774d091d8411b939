"""Texts as lines of cells, for widgets that draw their lines themselves."""

from dataclasses import replace

from rich.segment import Segment
from textual.color import Color
from textual.content import Content
from textual.strip import Strip
from textual.style import Style

from triage.tui.drawn import Draw, nothing

_MUTED = 0.6
"""How much of its colour is left of words that stand back, as Textual's ``$text-muted`` has it."""


class Brush:
    """Draws texts on a background. What a style of the theme looks like is worked out once, not for each line.

    :param base: colours of what has no style of its own
    """

    def __init__(self, base: Style) -> None:
        self._base = base
        self._known: dict[str | Style, Style] = {}
        self.behind = base.background_style.rich_style
        """The background alone."""

    def strips(self, content: Content, width: int) -> list[Strip]:
        """The lines of a text; those that are longer than the width are wrapped."""
        return [Strip(self._drawn(line), line.cell_length) for line in lines_of(content, width)]

    def segments(self, line: Content, width: int) -> list[Segment]:
        """A line that fits, filled up to the width."""
        room = width - line.cell_length
        return [*self._drawn(line), Segment(" " * room, self.behind)] if room > 0 else self._drawn(line)

    def filled(self, strip: Strip, width: int) -> Strip:
        """A line in exactly so many cells."""
        return strip.adjust_cell_length(width, self._base.rich_style)

    @property
    def muted(self) -> "Brush":
        """The same for words that stand back."""
        behind = self._base.background or Color(0, 0, 0)
        return Brush(replace(self._base, foreground=behind.get_contrast_text(_MUTED)))

    def _drawn(self, line: Content) -> list[Segment]:
        drawn = line.render(self._base, end="", parse_style=self._style)
        return [Segment(text, style.rich_style) for text, style in drawn if text]

    def _style(self, style: str | Style) -> Style:
        known = self._known.get(style)
        if known is None:
            known = self._known[style] = style if isinstance(style, Style) else Style.parse(style)
        return known


def lines_of(content: Content, width: int) -> list[Content]:
    """The lines of a text, those that are longer than the width wrapped; none without text."""
    if not content or width <= 0:
        return []
    return [part for line in content.split("\n", allow_blank=True) for part in _fitting(line, width)]


def _fitting(line: Content, width: int) -> list[Content]:
    """A line in as many parts as the width asks for."""
    return [line] if line.cell_length <= width else list(line.wrap(width))


class Words:
    """A text that is drawn once for each width that it gets."""

    def __init__(self) -> None:
        self._draw: Draw = nothing
        self._kept: dict[int, tuple[Brush, list[Strip]]] = {}

    def show(self, draw: Draw) -> None:
        """Another text."""
        self._draw, self._kept = draw, {}

    def strips(self, brush: Brush, width: int) -> list[Strip]:
        """Its lines; none without text."""
        kept = self._kept.get(width)
        if kept is None or kept[0] is not brush:
            kept = self._kept[width] = (brush, brush.strips(self._draw(width), width) if width > 0 else [])
        return kept[1]

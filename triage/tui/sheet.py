"""What lessons and drills write on, as a text of the walk."""

from dataclasses import field

from textual.content import Content

from triage.classes import dataclass
from triage.render.safe import inert_text
from triage.tui.words import STYLES, wrapped

_LONGEST = 4000
_WIDEST = 110
_NARROWEST = 20
_STYLES = {
    "": "",
    "bold": STYLES["strong"],
    "dim": STYLES["dim"],
    "cyan": STYLES["window"],
    "bold cyan": STYLES["command"],
    "green": STYLES["good"],
    "yellow": STYLES["warn"],
    "bold red": STYLES["bad"],
}
"""Styles of the terminal as the theme has them."""


@dataclass(frozen=True)
class _Line:
    """A paragraph, set in by ``indent``, its later lines by ``hang`` more."""

    content: Content
    indent: int
    hang: int


@dataclass
class Sheet:
    """Paragraphs, drawn for the width that there is."""

    utf8: bool = True
    lines: list[_Line] = field(default_factory=list)

    def line(self, text: str = "", *, style: str = "", indent: int = 0, hang: int = 0) -> None:
        """A paragraph; whatever it holds stays inert."""
        self.lines.append(_Line(Content.styled(inert_text(text, _LONGEST), _STYLES[style]), indent, hang))

    def heading(self, text: str) -> None:
        """A title with an empty line before it."""
        self.line()
        self.line(text, style="bold")

    def draw(self, width: int) -> Content:
        """All of it."""
        return Content("\n").join([row for line in self.lines for row in _rows(line, min(width, _WIDEST))])


def _rows(line: _Line, width: int) -> list[Content]:
    """The rows of a paragraph."""
    rows = wrapped(line.content, max(width - line.indent - line.hang, _NARROWEST)) or [Content("")]
    return [Content(" " * (line.indent + (line.hang if number else 0))).append(row.rstrip()) for number, row in enumerate(rows)]

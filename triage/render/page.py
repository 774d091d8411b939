"""A page of text for the terminal: wrapped paragraphs, tables that fold up where there is no room, and lines that never break."""

from collections.abc import Iterable, Sequence
from dataclasses import field
from io import StringIO

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from triage.classes import dataclass
from triage.language.speaking import said
from triage.language.wrapping import is_wide, line_breaks
from triage.render.safe import ascii_only
from triage.render.spark import Piece

Words = str | tuple[str, str]
"""A piece of text, or one with the name of its style."""

Line = Text | Words | list[Words]
"""What a method of the page takes for one line."""

STYLES = {
    "bad": "bold bright_red",
    "warn": "yellow",
    "good": "green",
    "unsure": "bright_magenta",
    "strong": "bold",
    "dim": "dim",
    "command": "cyan",
    "before": "dim",
    "window": "cyan",
    "gap": "dim",
    "edge": "dim",
    "onset": "bold bright_red",
}
_SIGNS = {
    "✖": "X",
    "▲": "!",
    "✔": "+",
    "●": "*",
    "○": "o",
    "•": "-",
    "└▶": "`>",
    "├▶": "|>",
    "│": "|",
    "↺": "^",
    "─": "-",
    "⇄": "<->",
}
_READABLE = 110
"""Columns that prose may be wide: longer lines are hard to follow."""
_LEAST = 40
_NARROWEST_CELL = 18


@dataclass(frozen=True)
class Row:
    """A row of a table and what is said below it.

    :param below: lines under the row, indented
    :param folded: what is said instead of the cells where there is no room for columns; the cells themselves if None
    """

    cells: tuple[Line, ...]
    below: tuple[Line, ...] = ()
    folded: tuple[Line, ...] | None = None


@dataclass
class Page:
    """Lines of text that fit a width.

    :param width: columns of the terminal; less than 40 are taken for 40
    :param utf8: whether the terminal knows more than ASCII
    """

    width: int
    utf8: bool = True
    lines: list[Text] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.width = max(self.width, _LEAST)
        self._console = _console(StringIO(), self.width, colour=False)

    def line(self, content: Line) -> Text:
        """Words joined to one styled line, folded to ASCII where the terminal wants it."""
        if isinstance(content, Text):
            return content
        words = content if isinstance(content, list) else [content]
        return Text().join(self._word(word) for word in words)

    def curve(self, pieces: Iterable[Piece]) -> Text:
        """A curve with its marks; its characters are already those of the terminal."""
        return Text().join(Text(piece.text, STYLES[piece.role]) for piece in pieces)

    def blank(self) -> None:
        """An empty line, never two in a row and never at the top."""
        if self.lines and self.lines[-1].plain:
            self.lines.append(Text())

    def heading(self, title: str) -> None:
        """A line across the page that names what follows."""
        self.blank()
        text = self.line([("── ", "dim"), (title, "strong"), " "])
        rest = min(self.width, _READABLE) - text.cell_len
        self.lines.append(text + self.line(("─" * max(rest, 2), "dim")))

    def para(self, content: Line, *, lead: Line = "", indent: int = 0) -> None:
        """Prose, wrapped at a readable width; what follows the first line hangs under its first word after the lead."""
        start = Text(" " * indent) + self.line(lead)
        text = self.line(content)
        if not text.plain:
            return
        room = max(min(self.width, _READABLE) - start.cell_len, 10)
        for number, part in enumerate(self._wrapped(text, room)):
            part.rstrip()
            self.lines.append((start if number == 0 else Text(" " * start.cell_len)) + part)

    def flow(self, parts: Sequence[Line], *, indent: int = 0, hang: int = 0) -> None:
        """Short parts beside each other; a new line starts between parts, and inside of one only if it is wider than the page.

        :param hang: how much further in the lines after the first start
        """
        row = Text()
        for part in (text for content in parts if (text := self.line(content)).plain):
            if row.plain and indent + row.cell_len + 3 + part.cell_len > min(self.width, _READABLE):
                self.para(row, indent=indent)
                indent, hang, row = indent + hang, 0, Text()
            row = row + Text("   ") + part if row.plain else part
        if row.plain:
            self.para(row, indent=indent)

    def verbatim(self, content: Line, indent: int = 0) -> None:
        """A line to be copied as a whole: it is left to the terminal to break it."""
        self.lines.append(Text(" " * indent) + self.line(content))

    def spread(self, left: Line, right: Line, *, indent: int = 0) -> None:
        """Two things at both ends of a line, or one below the other if they do not fit."""
        first, second = Text(" " * indent) + self.line(left), self.line(right)
        room = self.room(first) - second.cell_len
        if not second.plain:
            self.para(left, indent=indent)
        elif room >= 0:
            self.lines.append(first + Text(" " * (room + 2)) + second)
        else:
            self.para(left, indent=indent)
            self.para(second, indent=indent + 2)

    def room(self, left: Line, *, indent: int = 0) -> int:
        """Columns that are left on the line beside something and a gap of two."""
        return min(self.width, _READABLE) - indent - self.line(left).cell_len - 2

    def fits(self, rows: Sequence[Row], *, indent: int = 0) -> bool:
        """Whether the rows can be a table with no cell wrapped."""
        grid = [[self.line(cell).cell_len for cell in row.cells] for row in rows]
        widths: list[int] = [max(column) for column in zip(*grid, strict=True) if any(column)]
        return indent + sum(widths) + 2 * (len(widths) - 1) <= self.width

    def table(self, rows: Sequence[Row], *, indent: int = 0, flex: int = -1) -> None:
        """Aligned columns, of which ``flex`` takes what is left and wraps; with too little room each row becomes a paragraph."""
        if not rows:
            return
        grid = [[self.line(cell) for cell in row.cells] for row in rows]
        used = [index for index in range(len(grid[0])) if any(cells[index].plain for cells in grid)]
        grid = [[cells[index] for index in used] for cells in grid]
        flex = used.index(flex % len(rows[0].cells)) if flex % len(rows[0].cells) in used else len(used) - 1
        widths = [max(cells[index].cell_len for cells in grid) for index in range(len(used))]
        room = self.width - indent - sum(widths) + widths[flex] - 2 * (len(widths) - 1)
        stacked = room < min(widths[flex], _NARROWEST_CELL)
        widths[flex] = min(widths[flex], room)
        for row, cells in zip(rows, grid, strict=True):
            if stacked:
                self.flow(cells if row.folded is None else row.folded, indent=indent, hang=4)
            else:
                self._cells(cells, widths, indent, flex)
            for below in row.below:
                self.para(below, indent=indent + 4)

    def printed(self, *, colour: bool) -> str:
        """The page as a string that ends in a newline."""
        out = StringIO()
        console = _console(out, self.width, colour=True) if colour else None
        for line in self.lines:
            line.rstrip()
            if console is not None:
                console.print(line, soft_wrap=True)
            else:  # nothing but its characters: Rich would take it apart and put the same together again
                line.expand_tabs()
                out.write(f"{line.plain}\n")
        text = out.getvalue()
        return text if self.utf8 else text.encode("ascii", "replace").decode("ascii")

    def _word(self, word: Words) -> Text:
        text, style = (word, "") if isinstance(word, str) else word
        return Text(self._folded(text if style == "command" else said(text)), STYLES.get(style, ""))

    def _wrapped(self, text: Text, room: int) -> list[Text]:
        """The lines of a text."""
        if is_wide(text.plain):
            return [*text.divide(line_breaks(text.plain, room))]
        return [*text.wrap(self._console, room, overflow="fold")]

    def _folded(self, text: str) -> str:
        if self.utf8:
            return text
        for sign, plain in _SIGNS.items():
            text = text.replace(sign, plain)
        return ascii_only(text)

    def _cells(self, cells: Sequence[Text], widths: Sequence[int], indent: int, flex: int) -> None:
        """One row, as many lines high as its flexible cell."""
        flexible = self._wrapped(cells[flex], max(widths[flex], 1)) or [Text()]
        for number, part in enumerate(flexible):
            part.rstrip()
            row = [part if index == flex else cell if number == 0 else Text() for index, cell in enumerate(cells)]
            padded = [cell + Text(" " * (width - cell_len(cell.plain))) for cell, width in zip(row, widths, strict=True)]
            self.lines.append(Text(" " * indent) + Text("  ").join(padded))


def _console(out: StringIO, width: int, *, colour: bool) -> Console:
    """A console that takes nothing from its surroundings and reads no markup."""
    return Console(
        file=out,
        width=width,
        force_terminal=colour,
        force_jupyter=False,
        color_system="standard" if colour else None,
        no_color=not colour,
        markup=False,
        highlight=False,
        emoji=False,
        legacy_windows=False,
    )

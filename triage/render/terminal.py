"""What the terminal can show: its width, colours, characters."""

import shutil
from collections.abc import Mapping
from typing import TextIO

from triage.classes import dataclass

_DEFAULT = 80
_ROWS = 24


@dataclass(frozen=True, slots=True)
class Terminal:
    """How to write text to a stream.

    :param width: columns
    :param height: lines
    :param colour: whether to style with ANSI escapes
    :param utf8: whether more than ASCII arrives well
    """

    width: int
    height: int
    colour: bool
    utf8: bool


def terminal(stream: TextIO, environ: Mapping[str, str]) -> Terminal:
    """What to write to a stream.

    Colours only for a terminal that is not dumb, and never with NO_COLOR set to anything (no-color.org).
    """
    colour = stream.isatty() and not environ.get("NO_COLOR") and environ.get("TERM") not in {"dumb", "unknown"}
    encoding = (getattr(stream, "encoding", None) or "ascii").lower().replace("-", "").replace("_", "")
    return Terminal(columns(), rows(), colour, encoding.startswith("utf"))


def columns() -> int:
    """Width of the terminal that the process runs in, or what COLUMNS says; 80 if there is none."""
    return shutil.get_terminal_size((_DEFAULT, _ROWS)).columns


def rows() -> int:
    """Lines of the terminal that the process runs in, or what LINES says; 24 if there is none."""
    return shutil.get_terminal_size((_DEFAULT, _ROWS)).lines

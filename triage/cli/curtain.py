"""What stands on the screen while the walk is still being imported: the first picture does not wait for it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TextIO

from triage.errors import printable

_OPEN = "\x1b[?1049h\x1b[2J\x1b[H"
"""The terminal's second screen, empty: the walk goes on on it."""

_CLOSED = "\x1b[?1049l"
_LONGEST = 60


@contextmanager
def curtain(subject: str, terminal: TextIO, environ: Mapping[str, str]) -> Iterator[None]:
    """Show that the walk begins; whoever comes next draws over it. If nobody can come the terminal is as it was before.

    :param subject: what the walk is about
    :param terminal: where the walk draws
    """
    is_shown = terminal.isatty() and not environ.get("TEXTUAL_DRIVER") and environ.get("TERM", "dumb") != "dumb"
    if is_shown:
        terminal.write(f"{_OPEN}\r\n  {printable(subject)[:_LONGEST]}\r\n  triage walk is starting \u2026\r\n")
        terminal.flush()
    try:
        yield
    except BaseException:
        if is_shown:
            terminal.write(_CLOSED)
            terminal.flush()
        raise

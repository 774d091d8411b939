"""What happens meanwhile, on stderr: a line for each source, and what is known so far; only where a person watches."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from triage.render.terminal import Terminal, terminal


class Screen(Protocol):
    """What progress is told to. Called from many threads."""

    terminal: Terminal | None
    """What it can show; None if nobody watches."""

    def __call__(self, source: str, message: str, done: float) -> None:
        """Show how far a source is, 0 to 1."""
        ...

    def say(self, text: str) -> None:
        """Show a text above the sources in place of the one before it; it may hold colours."""
        ...


class _Nobody:
    """Progress that nobody watches."""

    terminal: Terminal | None = None

    def __call__(self, source: str, message: str, done: float) -> None:
        """Nothing."""

    def say(self, text: str) -> None:
        """Nothing."""


@contextmanager
def progress(*, quiet: bool) -> Iterator[Screen]:
    """Give something to tell progress to: bars on a terminal, nothing where stderr is a file or nobody wants them."""
    if quiet or not sys.stderr.isatty():
        yield _Nobody()
        return
    from triage.cli.bars import bars

    with bars(terminal(sys.stderr, os.environ)) as screen:
        yield screen

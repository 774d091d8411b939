"""The terminal as the learning commands use it: wrapped plain lines, a little colour, and a person's answers."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol

from rich.console import Console
from rich.text import Text

from triage.language.wrapping import is_wide, line_breaks
from triage.render.safe import ascii_only, inert_text
from triage.render.terminal import terminal

_LONGEST = 4000
_WIDEST = 100
_NARROWEST = 20


class Paper(Protocol):
    """What is written on: a terminal, or a screen of the walk."""

    utf8: bool

    def line(self, text: str = "", *, style: str = "", indent: int = 0, hang: int = 0) -> None:
        """A paragraph, its later lines set in by ``hang`` more."""

    def heading(self, text: str) -> None:
        """A title with an empty line before it."""


class Screen:
    """Writes to stdout.

    :param answers: lines to take instead of what is typed; None to ask the person
    """

    def __init__(self, environ: Mapping[str, str], answers: Iterator[str] | None = None) -> None:
        shown = terminal(sys.stdout, environ)
        self.utf8 = shown.utf8
        self.asks = answers is not None or sys.stdin.isatty()
        self._answers = answers
        self._console = Console(
            file=sys.stdout,
            width=min(shown.width, _WIDEST),
            force_terminal=shown.colour,
            no_color=not shown.colour,
            highlight=False,
            markup=False,
            emoji=False,
            legacy_windows=False,
        )

    def line(self, text: str = "", *, style: str = "", indent: int = 0, hang: int = 0) -> None:
        """A paragraph, wrapped, its later lines set in by ``hang`` more; whatever it holds stays inert."""
        plain = inert_text(text, _LONGEST)
        words = Text(plain if self.utf8 else ascii_only(plain), style=style)
        room = max(self._console.width - indent - hang, _NARROWEST)
        wide = is_wide(words.plain)
        for number, row in enumerate(words.divide(line_breaks(words.plain, room)) if wide else words.wrap(self._console, room)):
            row.rstrip()
            self._console.print(Text(" " * (indent + (hang if number else 0))) + row, soft_wrap=True)

    def heading(self, text: str) -> None:
        """A title with an empty line before it."""
        self.line()
        self.line(text, style="bold")

    def ask(self, prompt: str) -> str | None:
        """What the person answers; None at the end of input."""
        if self._answers is not None:
            answer = next(self._answers, None)
            if answer is not None:
                self.line(f"{prompt}{answer}")
            return answer
        if sys.stdin.isatty():
            import readline  # noqa: F401 - gives input() line editing and history
        try:
            return input(inert_text(prompt if self.utf8 else ascii_only(prompt)))
        except EOFError:
            return None

    def offer(self, words: Sequence[str]) -> None:
        """Words that Tab completes where somebody types."""
        if self._answers is None and sys.stdin.isatty():
            import readline

            readline.set_completer_delims(" \t")
            readline.set_completer(completer(words))
            readline.parse_and_bind("tab: complete")

    def wait(self, prompt: str) -> None:
        """Wait for Enter; not where nobody is there to press it."""
        if self.asks:
            self.ask(prompt)


def completer(words: Sequence[str]) -> Callable[[str, int], str | None]:
    """What readline asks for the words that begin as what was typed, one after the other."""

    def complete(begun: str, number: int) -> str | None:
        found = [word for word in words if word.startswith(begun)]
        return found[number] if number < len(found) else None

    return complete

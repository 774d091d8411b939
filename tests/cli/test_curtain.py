"""What stands on the screen while the walk is being imported."""

from io import StringIO

import pytest

from triage.cli.curtain import curtain

TERM = {"TERM": "xterm-256color"}


class Terminal(StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        """It is."""
        return True


def test_it_is_there_before_anything_else_and_stays_for_who_comes_next() -> None:
    """The subject is shown at once, on the second screen; the walk takes that over."""
    terminal = Terminal()
    with curtain("retry-storm", terminal, TERM):
        shown = terminal.getvalue()
        assert shown.startswith("\x1b[?1049h")
        assert "retry-storm" in shown
    assert terminal.getvalue() == shown


def test_whoever_cannot_come_leaves_the_terminal_as_it_was() -> None:
    """An error goes on, on the first screen."""
    terminal = Terminal()
    with pytest.raises(ZeroDivisionError), curtain("x", terminal, TERM):
        raise ZeroDivisionError
    assert terminal.getvalue().endswith("\x1b[?1049l")


@pytest.mark.parametrize(
    ("terminal", "environ"),
    [(StringIO(), TERM), (Terminal(), {"TERM": "dumb"}), (Terminal(), {}), (Terminal(), {**TERM, "TEXTUAL_DRIVER": "x:Y"})],
)
def test_only_a_terminal_has_a_curtain(terminal: StringIO, environ: dict[str, str]) -> None:
    """A file, a terminal that knows no commands, and a browser have none."""
    with curtain("x", terminal, environ):
        pass
    assert terminal.getvalue() == ""


def test_a_hostile_name_is_only_text() -> None:
    """What a file is called moves no cursor."""
    terminal = Terminal()
    with curtain("\x1b[31mred\n" + "x" * 1000, terminal, TERM):
        pass
    assert "\x1b[31m" not in terminal.getvalue()
    assert len(terminal.getvalue()) < 200

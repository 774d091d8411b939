"""argparse in our manner: flags are written out, and what is wrong is answered with what was probably meant."""

import argparse
import sys
from collections.abc import Iterable
from itertools import takewhile
from typing import Any, NoReturn

from triage.errors import ExitCode, UsageError

_MOST_OFFERED = 3


class _Form(argparse.HelpFormatter):
    """Wraps a description, and leaves an epilog as it was written: examples and tables have lines of their own."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if "\n" in text else super()._fill_text(text, width, indent)


class Parser(argparse.ArgumentParser):
    """A wrong flag is our usage error, by the command that was given it: exit code 2 would be taken for an incident."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"allow_abbrev": False, "formatter_class": _Form, **options})

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse all there is: a command answers for what it does not know, before the program does, which knows less.

        A misspelt flag is told first: it may be why another one is missing.
        """
        self._refuse([] if self._subparsers else self._wrong_flags(sys.argv[1:] if args is None else args))
        space, unknown = super().parse_known_args(args, namespace)
        self._refuse(unknown)
        return space, unknown

    def _wrong_flags(self, words: Iterable[str]) -> list[str]:
        """The words that would be flags and are none of this command's, up to a lone ``--``."""
        flags = takewhile(lambda word: word != "--", words)
        return [word for word in flags if word.startswith("--") and word.partition("=")[0] not in self._option_string_actions]

    def _refuse(self, unknown: list[str]) -> None:
        """Refuse what this command does not know.

        :raises UsageError: there is any
        """
        if unknown:
            raise UsageError(f"unrecognized arguments: {' '.join(unknown)}", self._advice(unknown))

    def error(self, message: str) -> NoReturn:
        """Raise instead of leaving the program."""
        raise UsageError(message, f"see {self.prog} --help")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse a word that is none of the choices, and offer those that are near."""
        if action.choices is None or value in action.choices:
            return
        known = [str(choice) for choice in action.choices]
        name = action.metavar if isinstance(action.metavar, str) else "/".join(action.option_strings)
        offered = _offered(near(str(value), known)) or f"choose from {', '.join(known)};"
        raise UsageError(f"argument {name}: invalid choice: {value!r}", f"{offered} see {self.prog} --help")

    def _advice(self, unknown: Iterable[str]) -> str:
        """The flags that were probably meant, and where all of them are shown."""
        wrong = next((word.partition("=")[0] for word in unknown if word.startswith("-")), "")
        return f"{_offered(near(wrong, self._option_string_actions))} see {self.prog} --help".strip()


class Unasked:
    """Stands for the parser of a command that nobody asked for: it has a name in the help of all commands, and takes any flag."""

    def __init__(self, **_options: Any) -> None:
        pass

    def __getattr__(self, _name: str) -> Any:
        return lambda *_words, **_options: self


def near(word: str, known: Iterable[str]) -> list[str]:
    """The known words that a word begins, else those that differ little from it, the nearest first."""
    from difflib import get_close_matches

    words = sorted(known)
    begun = [one for one in words if len(word.strip("-")) > 1 and one.startswith(word)]
    return (begun or get_close_matches(word, words, n=_MOST_OFFERED))[:_MOST_OFFERED]


def _offered(words: list[str]) -> str:
    """A question that offers words, or nothing."""
    return f"did you mean {' or '.join(words)}?" if words else ""


def help_shown(parser: argparse.ArgumentParser) -> ExitCode:
    """Help instead of an answer, where nothing was asked: not exit code 0, which says that a service is healthy."""
    sys.stdout.write(parser.format_help())
    return ExitCode.USAGE

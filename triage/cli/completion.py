"""``triage completion``: what a shell needs to complete commands and flags."""

import argparse
import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, cast

from triage.cli.flags import examples
from triage.errors import ExitCode

if TYPE_CHECKING:
    from triage.cli.parser import Parser

_SHELLS = ("bash", "zsh", "tcsh")


def add(commands: "argparse._SubParsersAction[Parser]") -> "Parser":
    """Add the command and its argument."""
    parser = commands.add_parser(
        "completion",
        help="completion of commands and flags for a shell",
        description="Writes the completion of commands, flags, choices and files for a shell to stdout.",
        epilog=examples(
            "triage completion bash > ~/.local/share/bash-completion/completions/triage",
            "triage completion zsh > ~/.zfunc/_triage",
            "triage completion tcsh > ~/.triage.completion.csh",
        ),
    )
    parser.add_argument("shell", metavar="SHELL", choices=_SHELLS, help=", ".join(_SHELLS))
    return parser


def run(args: argparse.Namespace) -> ExitCode:
    """Write the script."""
    import shtab

    from triage.cli import parser

    top = parser()
    places: Mapping[str, object] = {"DIR": shtab.DIRECTORY, "FILE": shtab.FILE, "PATH": shtab.FILE}
    for action in _actions(top):
        if action.metavar in places:
            action.complete = places[cast("str", action.metavar)]  # type: ignore[attr-defined]  # how shtab is told
    sys.stdout.write(shtab.complete(top, args.shell))
    return ExitCode.HEALTHY


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """All flags and arguments of a parser and of those below it."""
    for action in parser._actions:  # noqa: SLF001 - argparse tells them nowhere else
        yield action
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            for below in action.choices.values():
                yield from _actions(below)

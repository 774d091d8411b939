"""The command line: one module for each command.

What a command needs it imports when it runs, so that help is instant.
"""

import argparse
import gc
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from io import TextIOWrapper
from typing import NoReturn, Protocol, cast

from triage.cli.heeding import refuse_idle
from triage.cli.parser import Parser, Unasked, help_shown
from triage.cli.version import ShowVersion
from triage.errors import ExitCode, TriageError, printable

COMMANDS = (
    "demo", "diagnose", "replay", "walk", "record", "coverage", "check", "watch", "history", "rules", "playbook", "learn",
    "score", "fits", "completion",
)  # fmt: skip
"""Modules with the shape of :class:`Command`, in the order in which help shows them."""

INTERRUPTED = 130
"""128 and SIGINT, as shells count."""

_OBJECTS_BETWEEN = 100_000
"""Objects that are made between two looks for garbage in circles: the usual 700 are looked through for nothing as a start makes
thousands that stay."""

_ONCE = frozenset({"demo", "diagnose", "replay"})
"""Commands that diagnose once and end: there is no garbage in circles worth looking for. Two looks took 0.09 s of a small replay,
and the largest recording (8,000 cards) needs as much memory with them as without."""

_OBJECTS_AT_ONCE = 1_000_000
"""As :data:`_OBJECTS_BETWEEN`, for :data:`_ONCE`: should there be garbage all the same, memory stays bounded."""

_SETTINGS = {"PYDANTIC_DISABLE_PLUGINS": "__all__", "OPENBLAS_NUM_THREADS": "1"}
"""Of libraries that are loaded later: to look for plug-ins reads what all installed packages say of themselves, and matrices here
are too small for the threads that NumPy would start."""

BROKEN_PIPE = 141
"""128 and SIGPIPE."""

_EPILOG = """\
first steps:
  triage demo                              a recorded incident, diagnosed
  triage diagnose                          what runs on this machine
  triage diagnose --service NAME --prometheus URL
  triage help diagnose                     help of a command

exit codes of diagnose, replay and check:
  0  healthy       1  degraded (warning)   2  incident (critical)   3  inconclusive (unknown)
 64  wrong usage  65  damaged data  66  missing file  69  unavailable  70  defect in triage  78  wrong settings
"""


class Command(Protocol):
    """One command: a module of its name."""

    __name__: str

    def add(self, commands: "argparse._SubParsersAction[Parser]") -> "Parser":
        """Add the command's name, help and flags."""
        ...

    def run(self, args: argparse.Namespace) -> ExitCode:
        """Do it: the report to stdout, everything else to stderr.

        :raises TriageError: a problem that the user can mend
        """
        ...


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    :param argv: words after the program's name; those of the process if not given
    :returns: exit code
    """
    given = list(sys.argv[1:] if argv is None else argv)
    words = [word for word in given if word != "--debug"]
    debug = len(words) < len(given)
    _tolerate_poor_terminals()
    try:
        code = int(_run(words, debug=debug))
        sys.stdout.flush()
    except TriageError as error:
        if debug:
            _traceback()
        return _complain(error.message, error.hint, error.exit_code)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except Exception as error:  # noqa: BLE001 - the outermost border: the user gets a sentence, and the traceback on request
        if debug:
            _traceback()
        return _complain(f"a defect in triage: {type(error).__name__}: {error}", "run it again with --debug", ExitCode.INTERNAL)
    return code


def program() -> NoReturn:
    """Run one command and end the process, whatever still runs in the background.

    A daemon thread inside C++ code aborts the process while the interpreter winds down, and the exit code would be a crash's.
    After one diagnosis the interpreter does not wind down either: to take all objects apart takes a tenth of a small replay.
    """
    for name, value in _SETTINGS.items():
        os.environ.setdefault(name, value)
    asked = next((word for word in sys.argv[1:] if not word.startswith("-")), "")
    gc.set_threshold(_OBJECTS_AT_ONCE if asked in _ONCE else _OBJECTS_BETWEEN)
    code = main()
    background = sys.modules.get("triage.background")  # a command that asked nobody has not loaded it
    if asked in _ONCE or (background is not None and background.is_anything_running()):
        with suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)
    raise SystemExit(code)


def _tolerate_poor_terminals() -> None:
    """A character that a stream cannot encode becomes a question mark instead of a defect."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


def _run(words: Sequence[str], *, debug: bool) -> ExitCode:
    """Parse the words and run their command."""
    if debug:
        import logging

        logging.basicConfig(level=logging.DEBUG, stream=sys.stderr, format="%(name)s: %(message)s")
    if words[:1] == ["help"]:
        words = [*words[1:], "--help"]
    top = parser(words[0] if words else "")
    args = top.parse_args(words)
    command: Command | None = getattr(args, "command", None)
    if command is None:
        return help_shown(top)
    refuse_idle(args, command.__name__.rpartition(".")[2])
    return command.run(args)


def parser(asked: str | None = None) -> Parser:
    """All commands and their flags.

    :param asked: the word that stands where a command does: of others than that no flags are needed, and none is made, since all
        of them together take as long as the interpreter needs to start; None makes all
    """
    top = Parser(
        prog="triage",
        description="Finds the layer and the cause of trouble in an LLM inference service, and shows the proof.",
        epilog=_EPILOG,
    )
    top.add_argument("--version", action=ShowVersion)
    top.add_argument("--debug", action="store_true", help="show tracebacks of failures (may stand anywhere)")
    form = Parser if asked is None or asked in COMMANDS else cast("type[Parser]", Unasked)
    commands = top.add_subparsers(metavar="COMMAND", parser_class=form)
    for name in (asked,) if asked in COMMANDS else COMMANDS:
        command = cast("Command", import_module(f"{__name__}.{name}"))
        command.add(commands).set_defaults(command=command)
    commands.add_parser("help", help="help of a command: triage help diagnose")
    return top


def _complain(message: str, hint: str, code: ExitCode) -> int:
    """One sentence, and what to do about it, on stderr."""
    lines = [f"triage: {message}", *([f"  {hint}"] if hint else [])]
    sys.stderr.write("".join(f"{printable(line)}\n" for text in lines for line in text.splitlines()))
    return int(code)


def _traceback() -> None:
    """The traceback of the exception being handled, for ``--debug``."""
    import traceback

    traceback.print_exc()

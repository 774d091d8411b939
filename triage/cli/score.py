"""``triage score``: how often the diagnosis of recorded cases is right."""

import argparse
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from triage.cli.flags import add_setting_flags
from triage.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from triage.cli import Parser
    from triage.model.rule import Rule
    from triage.score import Score

Tell = Callable[[str, float], None]
"""Is told the case and how far all of them are, 0 to 1."""


def add(commands: "argparse._SubParsersAction[Parser]") -> "Parser":
    """Add the command and its flags."""
    parser = commands.add_parser(
        "score",
        help="compare diagnoses of recorded cases with their truth",
        description="Diagnoses every incident folder with a truth.toml below a folder and says how often the first cause was "
        "right, what was taken for what, and where a healthy service was blamed.",
    )
    parser.add_argument("folder", metavar="DIR", type=Path)
    parser.add_argument(
        "--format", choices=("text", "json", "markdown"), default="text", help="form of the score on stdout (text)"
    )
    parser.add_argument(
        "--sweep",
        metavar="NAME",
        action="append",
        default=[],
        help="instead of scoring, take something away, rename, shift or thin out each case, and say what changed that must not: "
        "removal, rename, clocks, interval, order, repeat, or all (may be repeated)",
    )
    add_setting_flags(parser)
    return parser


def run(args: argparse.Namespace) -> ExitCode:
    """Score or sweep, and print."""
    from triage.cli.inforce import rules_of, settings_of
    from triage.cli.progress import progress

    rules = rules_of(args, settings_of(args))
    with progress(quiet=args.quiet) as tell:
        work = partial(_swept if args.sweep else _scored, args, rules)
        text, code = work(lambda case, done: tell("score", case, done))
    sys.stdout.write(f"{text}\n")
    return code


def _scored(args: argparse.Namespace, rules: "Sequence[Rule]", tell: Tell) -> tuple[str, ExitCode]:
    """The score in the form that was asked for."""
    from triage.score import score, text

    result = score(args.folder, rules, tell)
    forms = {"text": text, "json": lambda one: one.model_dump_json(indent=2), "markdown": _markdown}
    return forms[args.format](result), ExitCode.HEALTHY


def _swept(args: argparse.Namespace, rules: "Sequence[Rule]", tell: Tell) -> tuple[str, ExitCode]:
    """How the sweeps came out; exit code 1 if something did not hold.

    :raises UsageError: there is no such sweep
    """
    from triage.sweeps import NAMES, sweep, text

    for name in args.sweep:
        if name not in (*NAMES, "all"):
            raise UsageError(f"no sweep is called {name!r}", f"choose from {', '.join(NAMES)}, all")
    names = [name for name in NAMES if name in args.sweep or "all" in args.sweep]
    result = sweep(args.folder, rules, names, tell)
    shown = result.model_dump_json(indent=2) if args.format == "json" else text(result)
    return shown, ExitCode.HEALTHY if all(trial.held for trial in result.trials) else ExitCode.DEGRADED


def _markdown(result: "Score") -> str:
    """The score as a table of cases and a list of figures."""
    from triage.render.safe import clean, markdown
    from triage.score import summary

    rows = [("case", "wanted", "first", "status", "right"), ("---",) * 5]
    rows += [
        (one.case, ", ".join(one.wanted) or one.sort, one.first or "none", one.status, "yes" if one.right else "no")
        for one in result.results
    ]
    table = [f"| {' | '.join(cell if cell == '---' else markdown(clean(cell)) for cell in row)} |" for row in rows]
    return "\n".join([*table, "", *(f"- {line}" for line in summary(result))])

"""``triage score``: how often the diagnosis of recorded cases is right."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from triage.cli.flags import add_setting_flags
from triage.errors import ExitCode

if TYPE_CHECKING:
    from triage.cli import Parser
    from triage.score import Score


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
    add_setting_flags(parser)
    return parser


def run(args: argparse.Namespace) -> ExitCode:
    """Score and print."""
    from triage.cli.inforce import rules_of, settings_of
    from triage.cli.progress import progress
    from triage.score import score, text

    with progress(quiet=args.quiet) as tell:
        result = score(args.folder, rules_of(args, settings_of(args)), lambda case, done: tell("score", case, done))
    forms = {"text": text, "json": lambda score: score.model_dump_json(indent=2), "markdown": _markdown}
    sys.stdout.write(f"{forms[args.format](result)}\n")
    return ExitCode.HEALTHY


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

"""``triage score``: how often the diagnosis of recorded cases is right."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from triage.cli.flags import add_setting_flags
from triage.errors import ExitCode

if TYPE_CHECKING:
    from triage.cli import Parser


def add(commands: "argparse._SubParsersAction[Parser]") -> "Parser":
    """Add the command and its flags."""
    parser = commands.add_parser(
        "score",
        help="compare diagnoses of recorded cases with their truth",
        description="Diagnoses every incident folder with a truth.toml below a folder and says how often the first cause was "
        "right, what was taken for what, and where a healthy service was blamed.",
    )
    parser.add_argument("folder", metavar="DIR", type=Path)
    parser.add_argument("--format", choices=("text", "json"), default="text", help="form of the score on stdout (text)")
    add_setting_flags(parser)
    return parser


def run(args: argparse.Namespace) -> ExitCode:
    """Score and print."""
    from triage.cli.inforce import rules_of, settings_of
    from triage.cli.progress import progress
    from triage.score import score, text

    with progress(quiet=args.quiet) as tell:
        result = score(args.folder, rules_of(args, settings_of(args)), lambda case, done: tell("score", case, done))
    sys.stdout.write(f"{text(result) if args.format == 'text' else result.model_dump_json(indent=2)}\n")
    return ExitCode.HEALTHY

"""``triage check``: a scheduled health check of the services in triage.toml, in the manner of Nagios."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from triage.cli.flags import add_format_flag, add_setting_flags, add_source_flags, examples
from triage.errors import ExitCode

if TYPE_CHECKING:
    from triage.cli.parser import Parser


def add(commands: "argparse._SubParsersAction[Parser]") -> "Parser":
    """Add the command and its flags."""
    parser = commands.add_parser(
        "check",
        help="scheduled health check: exit 0 ok, 1 warning, 2 critical, 3 unknown",
        description="Diagnoses every service of triage.toml, or one, and writes a line for each. The exit code is that of "
        "the worst: critical, then unknown, then warning, then ok. A service that cannot be asked is unknown.",
        epilog=examples(
            "triage check",
            "triage check --service llm-prod --budget 30",
            "triage check --config /etc/triage/triage.toml --format json",
            "triage check --brief --format markdown",
        ),
    )
    add_source_flags(parser)
    add_setting_flags(parser, "rules", "dialects", "signatures", "quiet")
    parser.add_argument(
        "--budget", metavar="SECONDS", help="longest time for everything; what is not done by then is unknown (60)"
    )
    parser.add_argument("--brief", action="store_true", help="five lines that suffice for each service instead of one")
    parser.add_argument(
        "--state",
        metavar="FILE",
        type=Path,
        help="where 'triage history' finds what became different (~/.local/state/triage/history.sqlite)",
    )
    parser.add_argument("--no-state", action="store_true", help="remember nothing")
    add_format_flag(parser, "markdown")
    return parser


def run(args: argparse.Namespace) -> ExitCode:
    """Check, print, and give the worst state's exit code."""
    from triage.cli.checking import checked

    return checked(args)

"""``triage history``: what became different at the services that are checked."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from triage.cli.flags import add_format_flag, examples
from triage.errors import ExitCode

if TYPE_CHECKING:
    from triage.cli.parser import Parser


def add(commands: "argparse._SubParsersAction[Parser]") -> "Parser":
    """Add the command and its flags."""
    parser = commands.add_parser(
        "history",
        help="what became different at the services that check looks at",
        description="Shows what 'triage check' remembered: without SERVICE how each one is and since when; with it the states "
        "of its looks over time, and every finding, promise and cause that came, changed, went, or flaps.",
        epilog=examples("triage history", "triage history llm-prod", "triage history llm-prod --since 7d --format json"),
    )
    parser.add_argument("service", metavar="SERVICE", nargs="?", help="a service that was checked")
    parser.add_argument("--since", metavar="DURATION", help="how far to look back from its last look (24h)")
    parser.add_argument("--state", metavar="FILE", type=Path, help="where it is kept (~/.local/state/triage/history.sqlite)")
    add_format_flag(parser)
    return parser


def run(args: argparse.Namespace) -> ExitCode:
    """Show all services, or one."""
    from triage.cli.historytext import shown

    return shown(args)

"""``triage history``: what became different at the services that are checked."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from triage.cli.flags import add_report_flags, add_setting_flags, examples
from triage.errors import ExitCode

if TYPE_CHECKING:
    from triage.cli.parser import Parser


def add(commands: "argparse._SubParsersAction[Parser]") -> "Parser":
    """Add the command and its flags."""
    parser = commands.add_parser(
        "history",
        help="what became different at the services that check looks at",
        description="Shows what 'triage check' and 'triage watch' remembered: without SERVICE how each one is and since when; "
        "with it its state and what was wrong over time, and every finding, promise and cause that came, changed, went, or "
        "flaps. Recordings that were kept at such moments have a number; --diagnose diagnoses one of them again.",
        epilog=examples(
            "triage history",
            "triage history llm-prod --since 7d",
            "triage history llm-prod --diagnose 17",
            "triage history llm-prod --diagnose kv-exhaustion-preemption --format html > then.html",
        ),
    )
    parser.add_argument("service", metavar="SERVICE", nargs="?", help="a service that was checked")
    parser.add_argument("--since", metavar="DURATION", help="how far to look back from its last look (24h)")
    parser.add_argument("--state", metavar="FILE", type=Path, help="where it is kept (~/.local/state/triage/history.sqlite)")
    parser.add_argument(
        "--diagnose",
        metavar="WHICH",
        help="diagnose again what was kept: by its number, 'last', or the kind of failure that was found last",
    )
    add_setting_flags(parser, "rules", "signatures", "playbooks")
    add_report_flags(parser)
    return parser


def run(args: argparse.Namespace) -> ExitCode:
    """Show all services, one, or what was kept of one."""
    from triage.cli.historytext import shown

    return shown(args)

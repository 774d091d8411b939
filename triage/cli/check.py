"""``triage check``: a scheduled health check of the services in triage.toml, in the manner of Nagios."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from triage.cli.flags import add_choice_flags, add_format_flag, add_memory_flags, add_setting_flags, add_source_flags, examples
from triage.errors import ExitCode

if TYPE_CHECKING:
    from triage.cli.parser import Parser


def add(commands: "argparse._SubParsersAction[Parser]") -> "Parser":
    """Add the command and its flags."""
    parser = commands.add_parser(
        "check",
        help="scheduled health check: exit 0 ok, 1 warning, 2 critical, 3 unknown",
        description="Diagnoses the services of triage.toml side by side and writes a line for each: all, those that are named, "
        "or those that bear a label. The exit code is that of the worst: critical, then unknown, then warning, then ok. A "
        "service that cannot be asked, or not in its time, is unknown. A second check of the same services at the same time "
        "ends with 75.",
        epilog=examples(
            "triage check",
            "triage check 'chat-*' search --label team=web",
            "triage check --service llm-prod --budget 30",
            "triage check --format junit --output triage.xml",
            "triage check --format openmetrics --output /var/lib/prometheus/node-exporter/triage.prom",
            "triage check --shard 0/4",
        ),
    )
    add_choice_flags(parser)
    parser.add_argument(
        "--shard",
        metavar="INDEX/COUNT",
        help="only the share of one of COUNT machines, INDEX from 0 on; COUNT alone takes the index of a Kubernetes Indexed Job",
    )
    add_source_flags(parser)
    add_setting_flags(parser, "rules", "dialects", "signatures", "quiet")
    limits = parser.add_argument_group("limits")
    limits.add_argument("--each", metavar="SECONDS", help="longest time for one service; what takes longer is unknown (60)")
    limits.add_argument("--budget", metavar="SECONDS", help="longest time for everything; what is not done by then is unknown")
    limits.add_argument("--jobs", metavar="N", type=int, help="services at the same time (8), two at most at one Prometheus")
    memory = add_memory_flags(parser, "where 'triage history' finds what became different")
    memory.add_argument("--no-state", action="store_true", help="remember nothing")
    report = parser.add_argument_group("answer")
    report.add_argument("--brief", action="store_true", help="five lines that suffice for each service instead of one")
    add_format_flag(report, "markdown", "junit", "openmetrics")
    report.add_argument(
        "--output", metavar="FILE", type=Path, help="write the answer there, whole or not at all, and the lines to stdout"
    )
    return parser


def run(args: argparse.Namespace) -> ExitCode:
    """Check, print, and give the worst state's exit code."""
    from triage.cli.checking import checked

    return checked(args)

"""``triage replay``: diagnose a recording at its own time."""

import argparse
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from triage.cli.flags import add_report_flags, add_setting_flags, examples
from triage.errors import ExitCode

if TYPE_CHECKING:
    from triage.cli.parser import Parser


def add(commands: "argparse._SubParsersAction[Parser]") -> "Parser":
    """Add the command and its flags."""
    parser = commands.add_parser(
        "replay",
        help="diagnose a recording or an incident folder at its own time",
        description="Diagnoses what was recorded, at the time when it was recorded: an incident folder, a Parquet recording, "
        "a dump of metrics with times (OpenMetrics or Prometheus text), or a saved answer of the Prometheus API.",
        epilog=examples("triage replay incident.parquet", "triage replay incidents/2026-05-01 --format markdown"),
    )
    parser.add_argument("path", metavar="PATH", type=Path)
    parser.add_argument("--service", metavar="NAME", help="a service of triage.toml, or the name that its series carry")
    add_setting_flags(parser, "rules", "dialects", "signatures", "playbooks")
    add_report_flags(parser)
    return parser


def run(args: argparse.Namespace) -> ExitCode:
    """Read, diagnose, report."""
    from triage.cli.effective import judging_of, language_of, named_service, settings_of
    from triage.cli.report import diagnosed, report
    from triage.ingest.files.incident import read_any

    settings = settings_of(args)
    judging, language = judging_of(args, settings), language_of(args, settings)
    recording = read_any(args.path, named_service(args.service, settings), language)
    return report(diagnosed(recording, judging), args, judging, f"--incident {quote(str(args.path))}")

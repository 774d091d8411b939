"""``triage diagnose``: ask the sources of a service and say what is wrong."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from triage.cli.flags import add_report_flags, add_source_flags
from triage.errors import ExitCode

if TYPE_CHECKING:
    from triage.cli import Parser


def add(commands: "argparse._SubParsersAction[Parser]") -> "Parser":
    """Add the command and its flags."""
    parser = commands.add_parser(
        "diagnose",
        help="say what is wrong with a service now",
        description="Asks the sources of a service and says what is wrong, in which layer, and what proves it. "
        "With nothing named it looks at this machine: engine endpoints, NVML, the host.",
    )
    add_source_flags(parser)
    add_report_flags(parser)
    parser.add_argument(
        "--save", metavar="FILE", type=Path, help="keep the recording (Parquet), to be replayed or sent to someone"
    )
    return parser


def run(args: argparse.Namespace) -> ExitCode:
    """Record, keep if asked to, diagnose, report."""
    from triage.cli.effective import settings_of
    from triage.cli.sources import recording_of

    settings = settings_of(args)
    recording = recording_of(args, settings)
    if args.save:
        from triage.ingest.files.parquet import write_recording

        write_recording(recording, args.save)
    from triage.cli.report import report

    return report(recording, args, settings)

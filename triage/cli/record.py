"""``triage record``: keep an incident to diagnose elsewhere, later."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from triage.cli.flags import add_setting_flags, add_source_flags, examples
from triage.errors import ExitCode

if TYPE_CHECKING:
    from triage.cli.parser import Parser
    from triage.model.recording import Recording


def add(commands: "argparse._SubParsersAction[Parser]") -> "Parser":
    """Add the command and its flags."""
    parser = commands.add_parser(
        "record",
        help="keep an incident to diagnose elsewhere, later",
        description="Asks the same sources as diagnose and keeps what they say in one Parquet file, for triage replay.",
        epilog=examples(
            "triage record --service llm-prod -o incident.parquet",
            "triage record --endpoint localhost:8000 --for 120 -o incident.parquet",
        ),
    )
    parser.add_argument("-o", "--output", metavar="FILE", type=Path, required=True, help="the recording to write")
    add_source_flags(parser)
    add_setting_flags(parser, "dialects", "signatures", "quiet")
    return parser


def run(args: argparse.Namespace) -> ExitCode:
    """Record and write; a recording in which nothing was measured is inconclusive."""
    from triage.cli.effective import settings_of
    from triage.cli.keeping import kept, refuse_unwritable
    from triage.cli.sources import recording_of

    refuse_unwritable(args.output)
    recording = recording_of(args, settings_of(args))
    trouble = kept(recording, args.output)
    sys.stderr.write(_summary(recording, args.output))
    if trouble:
        raise trouble
    empty = not (recording.series or recording.histograms or recording.events)
    return ExitCode.INCONCLUSIVE if empty else ExitCode.HEALTHY


def _summary(recording: "Recording", path: Path) -> str:
    """What was kept, and what every source brought."""
    from triage.render.safe import inert_text

    lines = [f"{path}: {len(recording.series) + len(recording.histograms)} series, {len(recording.events)} events"]
    lines += [f"  {source.name}: {source.state}{f', {source.reason}' if source.reason else ''}" for source in recording.sources]
    return "".join(f"{inert_text(line)}\n" for line in lines)

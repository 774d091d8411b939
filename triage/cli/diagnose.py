"""``triage diagnose``: ask the sources of a service and say what is wrong."""

import argparse
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from triage.cli.flags import add_report_flags, add_setting_flags, add_source_flags, examples
from triage.errors import ExitCode

if TYPE_CHECKING:
    from triage.cli.parser import Parser


def add(commands: "argparse._SubParsersAction[Parser]") -> "Parser":
    """Add the command and its flags."""
    parser = commands.add_parser(
        "diagnose",
        help="say what is wrong with a service now",
        description="Asks the sources of a service and says what is wrong, in which layer, and what proves it. "
        "With nothing named it looks at this machine: engine endpoints, NVML, the host.",
        epilog=examples(
            "triage diagnose --service llm-prod --prometheus http://prometheus:9090 --since 1h",
            "triage diagnose --endpoint localhost:8000 --for 60",
            "journalctl -k -o short-iso | triage diagnose --logs -",
            "triage diagnose --service llm-prod --format json --save incident.parquet",
            "triage diagnose --service llm-prod --at 2026-05-01T12:30:00Z",
            "curl -s http://alertmanager:9093/api/v2/alerts | triage diagnose --alert -",
        ),
    )
    add_source_flags(parser)
    add_setting_flags(parser, "rules", "dialects", "signatures", "playbooks", "quiet")
    add_report_flags(parser)
    parser.add_argument(
        "--save", metavar="FILE", type=Path, help="keep the recording (Parquet), to be replayed or sent to someone"
    )
    parser.add_argument(
        "--alert",
        metavar="FILE",
        type=Path,
        help="what alerts are about, at their time: Alertmanager's webhook, or its list of alerts or Prometheus's; - for stdin",
    )
    return parser


def run(args: argparse.Namespace) -> ExitCode:
    """Diagnose what flags name, or what alerts are about."""
    if args.alert is None:
        return _diagnosed(args)
    from triage.cli.alerted import diagnosed_alerts

    return diagnosed_alerts(args, _diagnosed)


def _diagnosed(args: argparse.Namespace) -> ExitCode:
    """Record, keep if asked to, diagnose, report. What can be refused is, before anything is sampled."""
    from triage.cli.effective import judging_of, settings_of
    from triage.cli.firstword import first_word
    from triage.cli.keeping import kept, refuse_unwritable
    from triage.cli.playbook import named_again
    from triage.cli.report import diagnosed, report
    from triage.cli.sources import recording_of

    settings = settings_of(args)
    judging = judging_of(args, settings)
    refuse_unwritable(args.save)
    recording = recording_of(args, settings, partial(first_word, args, judging))
    trouble = kept(recording, args.save)
    code = report(diagnosed(recording, judging), args, judging, named_again(args, settings))
    if trouble:
        raise trouble
    return code

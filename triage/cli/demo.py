"""``triage demo``: a real incident that comes with the program, diagnosed."""

import argparse
import sys
from typing import TYPE_CHECKING

from triage.cli.flags import add_report_flags, examples
from triage.errors import ExitCode

if TYPE_CHECKING:
    from triage.cli.parser import Parser

_ABOUT = """\
A real retry storm: two replicas of a small model behind a router, recorded every two seconds. Clients gave up on slow answers
and asked again; load that had ended kept them from recovering.

"""
_NEXT = """\

  triage demo --walk                          the same, layer by layer
  triage learn lesson retries-make-it-worse   step by step, with questions
  triage diagnose --help                      your own service
"""


def add(commands: "argparse._SubParsersAction[Parser]") -> "Parser":
    """Add the command and its flags."""
    parser = commands.add_parser(
        "demo",
        help="a real incident that comes with the program, diagnosed",
        description="Diagnoses a recorded retry storm that comes with the program: no service, network or settings are needed.",
        epilog=examples("triage demo", "triage demo --walk", "triage demo --format markdown"),
    )
    parser.add_argument("--walk", action="store_true", help="walk it layer by layer, as triage walk --demo does")
    add_report_flags(parser)
    return parser


def run(args: argparse.Namespace) -> ExitCode:
    """Show it; that the recorded service was ill is no failure of the demonstration."""
    if args.walk:
        from triage.cli import parser
        from triage.cli.walk import run as walk

        return walk(parser().parse_args(["walk", "--demo"]))
    from triage.bundle import demo_case
    from triage.cli.effective import Judging
    from triage.cli.report import diagnosed, report
    from triage.engine.rules.loading import load_rules
    from triage.ingest.files.incident import read_any

    sys.stderr.write(_ABOUT)
    judging = Judging(load_rules())
    report(diagnosed(read_any(demo_case()), judging), args, judging)
    sys.stdout.flush()
    sys.stderr.write(_NEXT)
    return ExitCode.HEALTHY

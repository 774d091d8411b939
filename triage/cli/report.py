"""From a recording to a report on stdout and an exit code."""

import argparse
import os
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from triage.cli.effective import Judging
from triage.engine.diagnose import diagnose
from triage.errors import ExitCode, UsageError
from triage.model.diagnosis import Diagnosis, Status
from triage.model.playbook import Advice
from triage.model.recording import Recording
from triage.playbooks import advice
from triage.render import render
from triage.render.terminal import terminal

EXIT_CODES: Mapping[Status, ExitCode] = {
    Status.HEALTHY: ExitCode.HEALTHY,
    Status.DEGRADED: ExitCode.DEGRADED,
    Status.INCIDENT: ExitCode.INCIDENT,
    Status.INCONCLUSIVE: ExitCode.INCONCLUSIVE,
}


def report(diagnosis: Diagnosis, args: argparse.Namespace) -> ExitCode:
    """Write the report to stdout, and give the exit code of the answer."""
    screen = terminal(sys.stdout, os.environ)
    width = args.width or screen.width
    sys.stdout.write(render(diagnosis, args.format, width=width, colour=screen.colour, verbose=args.verbose, utf8=screen.utf8))
    return EXIT_CODES[diagnosis.status]


def diagnosed(recording: Recording, judging: Judging) -> Diagnosis:
    """The diagnosis of a recording, with what the playbooks advise, what is muted, and what it was judged with."""
    return diagnose(
        recording,
        judging.rules,
        partial(_advice, judging.playbooks),
        mutes=judging.mutes(recording.service),
        ruleset=judging.ruleset,
    )


def _advice(folders: tuple[Path, ...], kind: str) -> Advice:
    """What a kind's playbook says to do first and not to do; nothing if it has none (a user's own rule)."""
    try:
        return advice(kind, folders)
    except UsageError:
        return Advice()

"""A recording that was kept when something became different, diagnosed again."""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from shlex import quote

from triage.archive import Archive, recalled_recording
from triage.cli.effective import judging_of, settings_of
from triage.cli.report import diagnosed, report
from triage.errors import ExitCode, UsageError, printable
from triage.memory.store import Kept
from triage.model.diagnosis import Diagnosis
from triage.model.units import clock

_LAST = "last"


def diagnosed_again(args: argparse.Namespace, archive: Archive) -> ExitCode:
    """The report of a recording that was kept, at its own time, and on stderr whether it was judged so then.

    :raises UsageError: nothing of that number or kind was kept
    :raises InputMissingError: its file is gone
    """
    kept = _chosen(args.diagnose, archive.store.kept(args.service), args.service)
    recording = recalled_recording(archive, kept)
    args = argparse.Namespace(**{**vars(args), "dialects": []})  # a recording is translated already
    judging = replace(judging_of(args, settings_of(args)), named=args.service)
    diagnosis = diagnosed(recording, judging)
    code = report(diagnosis, args, judging, f"--incident {quote(str(archive.folder / kept.file))}")
    sys.stderr.write(f"triage: {printable(_compared(kept, diagnosis))}\n")
    return code


def _chosen(which: str, kept: Sequence[Kept], service: str) -> Kept:
    """The recording of a number, the last one, or the last one in which a kind was found that nothing explained."""
    if not kept:
        raise UsageError(f"no recording of {service} was kept", "check and watch keep one when something becomes different")
    fits = [one for one in kept if which in (_LAST, str(one.id)) or which in one.roots]
    there = [one for one in fits if not one.dropped]
    if fits:
        return (there or fits)[-1]
    kinds = sorted({root for one in kept for root in one.roots})
    told = f"numbers: {', '.join(str(one.id) for one in kept[-10:])}" + (f"; kinds: {', '.join(kinds[:10])}" if kinds else "")
    raise UsageError(f"no recording of {service} was kept as {which!r}", told)


def _compared(kept: Kept, now: Diagnosis) -> str:
    """Whether a recording is judged now as it was then."""
    roots = tuple(one.rule for one in now.findings if one.role == "root")
    same = (kept.status, kept.roots) == (now.status, roots)
    by = f" by {kept.ruleset}" if kept.ruleset else ""
    told = f"recording {kept.id} of {clock(kept.time)} UTC was judged then{by}: {kept.status}{_list(kept.roots)}; now"
    return f"{told} the same" if same else f"{told} {now.status}{_list(roots)}"


def _list(roots: Sequence[str]) -> str:
    return f", {', '.join(roots)}" if roots else ""

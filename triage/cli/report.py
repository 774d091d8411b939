"""From a recording to a report on stdout and an exit code."""

import argparse
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import MappingProxyType

from triage.cli.effective import Judging
from triage.engine.diagnose import diagnose
from triage.engine.explanation.names import Names, names_of
from triage.errors import ExitCode, UsageError
from triage.ingest.logs.loading import Signatures
from triage.ingest.logs.searching import KERNEL_XID, counting, grep_of, in_journal, in_pod
from triage.language.lang import Lang
from triage.model.diagnosis import Diagnosis, Evidence, RuledOut, Status
from triage.model.playbook import Advice, Playbook
from triage.model.recording import Recording, Subject
from triage.model.vocabulary import Scope
from triage.playbooks import advice, fitted, load_playbook
from triage.render import render
from triage.render.terminal import terminal

_PLAIN_WIDTH = 120

EXIT_CODES: Mapping[Status, ExitCode] = {
    Status.HEALTHY: ExitCode.HEALTHY,
    Status.DEGRADED: ExitCode.DEGRADED,
    Status.INCIDENT: ExitCode.INCIDENT,
    Status.INCONCLUSIVE: ExitCode.INCONCLUSIVE,
}


def report(diagnosis: Diagnosis, args: argparse.Namespace, judging: Judging, flags: str = "") -> ExitCode:
    """Write the report to stdout, and give the exit code of the answer.

    :param flags: what names the incident on the command line
    """
    playbooks = _playbooks(diagnosis, judging.playbooks) if args.format == "html" else {}
    sys.stdout.write(rendered(diagnosis, args, flags, playbooks))
    return EXIT_CODES[diagnosis.status]


def rendered(
    diagnosis: Diagnosis,
    args: argparse.Namespace,
    flags: str = "",
    playbooks: Mapping[str, Playbook] = MappingProxyType({}),
) -> str:
    """A diagnosis as the flags want it and the terminal can show it."""
    screen = terminal(sys.stdout, os.environ)
    speak_in(vars(args).get("lang", "en"))
    return render(
        diagnosis,
        args.format,
        width=vars(args).get("width") or screen.width,
        height=screen.height,
        colour=screen.colour,
        verbose=bool(vars(args).get("verbose")),
        brief=args.brief,
        utf8=screen.utf8,
        flags=flags,
        playbooks=playbooks,
    )


def rendered_brief(diagnosis: Diagnosis, form: str) -> str:
    """The five lines that suffice, as ``text`` for this terminal, ``plain`` text for any, or ``markdown``."""
    if form == "plain":
        return render(diagnosis, "text", width=_PLAIN_WIDTH, brief=True)
    return rendered(diagnosis, argparse.Namespace(format=form, brief=True))


def _playbooks(diagnosis: Diagnosis, folders: tuple[Path, ...]) -> dict[str, Playbook]:
    """The playbooks of what was found, with the names of this incident; a user's own rule may have none."""
    found: dict[str, Playbook] = {}
    for finding in diagnosis.findings:
        with suppress(UsageError):
            names = {**diagnosis.facts, **finding.names}
            found[finding.playbook] = fitted(load_playbook(finding.playbook, folders), names, diagnosis.coverage.dialects)
    return found


def speak_in(lang: Lang) -> None:
    """Have all views speak a language from now on."""
    from triage.language.speaking import speak

    if lang == "en":
        speak(None)
        return
    from triage.learn.words import book

    speak(book())


def diagnosed(recording: Recording, judging: Judging) -> Diagnosis:
    """The diagnosis of a recording, with what the playbooks advise, what is muted, and what it was judged with."""
    diagnosis = diagnose(
        recording,
        judging.rules,
        partial(_advice, judging.playbooks),
        mutes=judging.mutes(recording.service),
        ruleset=judging.ruleset,
    )
    lines = _Lines(diagnosis, recording, judging.signatures)
    told = {key: tuple(map(lines.looked_for, getattr(diagnosis, key))) for key in ("ruled_out", "unseen")}
    return diagnosis.model_copy(update=told)


class _Lines:
    """How one looks by hand for the lines of which none was seen."""

    def __init__(self, diagnosis: Diagnosis, recording: Recording, signatures: Signatures) -> None:
        self._logs = [source for source in diagnosis.coverage.sources if source.files]
        self._recording = recording
        self._signatures = signatures
        self._names: dict[str, Names] = {}

    def looked_for(self, one: RuledOut) -> RuledOut:
        """A kind that is not there, with the commands."""
        evidence = tuple(map(self._searched, one.evidence))
        return one.model_copy(update={"evidence": evidence}) if evidence != one.evidence else one

    def _searched(self, evidence: Evidence) -> Evidence:
        """A piece of evidence with the ``grep`` in the files that were read, and the same where the lines are kept."""
        if evidence.signal not in ("event:log", "event:xid") or evidence.value or evidence.query:
            return evidence  # of others nobody need work out the query for this
        command = self._grep(evidence)
        return evidence.model_copy(update={"query": command, "at_source": self._kept(evidence, command)}) if command else evidence

    def _grep(self, evidence: Evidence) -> str:
        if evidence.signal == "event:xid":
            kernel = [name for source in self._logs if source.name == "log:kernel" for name in source.files]
            return counting(KERNEL_XID, kernel) if kernel else ""
        files = [name for source in self._logs for name in source.files]
        return grep_of(evidence.stat.split(", "), files, self._signatures) if files else ""

    def _kept(self, evidence: Evidence, command: str) -> str:
        """The same count in a kernel's journal or a pod's log; empty where nobody knows of either."""
        window = self._recording.window
        if evidence.signal == "event:xid":
            return in_journal(command, window.start, window.end)
        names = self._names_of(evidence.subject)
        namespace, pod = names.get("namespace"), names.get("pod")
        return in_pod(command, str(namespace), str(pod), window.start) if namespace and pod else ""

    def _names_of(self, subject: str) -> Names:
        if subject not in self._names:
            scope, _, name = subject.partition("/")
            self._names[subject] = names_of(Subject(Scope(scope), name), self._recording)
        return self._names[subject]


def _advice(folders: tuple[Path, ...], kind: str) -> Advice:
    """What a kind's playbook says to do first and not to do; nothing if it has none (a user's own rule)."""
    try:
        return advice(kind, folders)
    except UsageError:
        return Advice()

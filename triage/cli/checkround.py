"""One service of a check: asked, judged, remembered, within the time that there is. This is what each process of a check does."""

import time
from collections.abc import Mapping
from dataclasses import field, replace
from functools import partial

from triage.archive import Archive, keep_on_change
from triage.checks.outcome import Checked, outcome_of, unknown
from triage.checks.workers import Desk
from triage.classes import dataclass
from triage.cli.effective import Judging
from triage.cli.report import diagnosed, rendered_brief
from triage.cli.sources import Span, Tools, asked
from triage.errors import TriageError, printable
from triage.ingest.files.incident import read_any
from triage.memory.life import Holds
from triage.memory.looks import Look, look_of
from triage.memory.memory import begun
from triage.memory.reference import Pace, window_at
from triage.memory.store import Known
from triage.model.diagnosis import Diagnosis, Status
from triage.model.recording import Recording, Window
from triage.model.service import Service

_LEFT_FOR_JUDGING = 3.0
"""Seconds of the time that are kept for judging."""

_HOLDS = Holds(raise_looks=1)
"""A check judges a whole window, and the next one may be far away: one look is enough."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What became of one service.

    :param note: what could not be remembered, one sentence; empty if nothing
    """

    outcome: Checked
    note: str = ""


@dataclass(frozen=True)
class Round:
    """What all services of a check have in common.

    :param known: what is remembered, by service
    :param archive: where is remembered; None to remember nothing
    :param brief: form of the five lines that are wanted of each service; empty if none are
    """

    tools: Tools
    judging: Judging
    span: Span
    known: Mapping[str, Known] = field(default_factory=dict)
    archive: Archive | None = None
    brief: str = ""

    def checked(self, service: Service, due: float, desk: Desk) -> Judged:
        """How a service is; whatever keeps it from being known makes it unknown, never well.

        :param due: when it must be known, monotonic seconds
        """
        try:
            recording = self._recording(service, due, desk)
            desk.asked()
            diagnosis = diagnosed(recording, replace(self.judging, named=service.name))
            diagnosis = diagnosis.model_copy(update={"service": service.name})
        except TriageError as error:
            return self.blind(service.name, error.message)
        except Exception as error:  # noqa: BLE001 - one service's trouble must not hide the state of the others
            return self.blind(service.name, f"a defect in triage: {type(error).__name__}: {error}")
        brief = rendered_brief(diagnosis, self.brief) if self.brief else ""
        return Judged(outcome_of(diagnosis, brief), self._remembered(service, recording, diagnosis))

    def blind(self, service: str, reason: str) -> Judged:
        """A service of which nothing could be known, which is remembered, too."""
        note = ""
        if self.archive is not None:
            try:
                self.archive.store.remember(service, Look(time.time(), Status.INCONCLUSIVE), self._holds)
            except TriageError as error:
                note = _not_kept(error)
        return Judged(unknown(service, reason), note)

    @property
    def _holds(self) -> Holds:
        return _HOLDS.by(self.judging.rules)

    def _recording(self, service: Service, due: float, desk: Desk) -> Recording:
        """The incident that was kept, or what the sources say, with what earlier looks know."""
        kept = service.incident
        recording = self._asked(service, due, desk) if kept is None else read_any(kept, service, self.tools.language)
        before = self.known.get(service.name)
        return replace(recording, begun=begun(before.memory) if before is not None else {})

    def _asked(self, service: Service, due: float, desk: Desk) -> Recording:
        """What the service's sources say, sampled no longer than there is time for."""
        left = max(1.0, due - time.monotonic() - _LEFT_FOR_JUDGING)
        timeout = min(self.span.timeout, left)
        sample = max(1.0, min(self.span.sample, left - timeout))
        span = replace(self.span, sample=sample, timeout=timeout)
        tell = partial(_tell, desk, service.name)
        look_at = partial(window_to_judge, self.known.get(service.name), service)
        return asked(service, span, self.tools, tell, left - sample, look_at=look_at)

    def _remembered(self, service: Service, recording: Recording, diagnosis: Diagnosis) -> str:
        """Keep what became different. That it cannot be kept is a note: how the service is is known all the same."""
        if self.archive is None:
            return ""
        span = diagnosis.window
        window = Window(span.start, span.end, span.baseline_start)
        try:
            memory = self.archive.store.remember(service.name, look_of(diagnosis), self._holds, (window, pace_of(window)))
            if service.incident is None:  # of a replay the recording is kept anyway
                keep_on_change(self.archive, replace(recording, service=service.name), diagnosis, memory)
        except TriageError as error:
            return _not_kept(error)
        return ""


def window_to_judge(before: Known | None, service: Service, usual: Window) -> Window:
    """The window of a service: where a server keeps history all of the trouble that goes on, against what was before it.

    :param before: what is remembered of the service
    """
    if before is None or before.reference is None or not service.prometheus:
        return usual
    return window_at(before.reference, usual, pace_of(usual))


def pace_of(window: Window) -> Pace:
    """How a service is checked: in windows that a server of metrics has the history for."""
    length = window.end - window.start
    return Pace(shortest=length / 4.0, longest=length, keep=window.end - window.baseline_start, sampled=False)


def _not_kept(error: TriageError) -> str:
    return f"no history is kept: {printable(error.message)}; {error.hint}, or --no-state"


def _tell(desk: Desk, service: str, source: str, message: str, done: float) -> None:
    """Progress of one source of one service."""
    desk.tell(f"{service} {source}", message, done)

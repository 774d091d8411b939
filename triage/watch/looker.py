"""One service that is watched: a look at it, what it means after all that was seen before, and who has to be told."""

import logging
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from time import monotonic, process_time, time
from typing import TYPE_CHECKING, Protocol

from triage.archive import Archive, keep_on_change
from triage.classes import dataclass
from triage.errors import TriageError
from triage.memory.looks import Look
from triage.memory.memory import Memory, Transition
from triage.memory.watch import Watch
from triage.model.diagnosis import Diagnosis, Status
from triage.model.recording import Recording, Window
from triage.notify.message import Message
from triage.notify.outbox import Outbox
from triage.watch.live import Taken
from triage.watch.survey import Survey, is_at_rest, moved
from triage.watch.tempo import is_calm

if TYPE_CHECKING:
    import sqlite3

    from triage.collect import Progress

_log = logging.getLogger(__name__)


class Source(Protocol):
    """Gives recordings of a service, one after the other.

    :param watch: what is remembered from one to the next
    """

    watch: Watch

    def take(self, tell: "Progress") -> Taken:
        """The next recording."""
        ...


@dataclass(frozen=True)
class Seen:
    """What came of a look or a survey.

    :param diagnosis: the answer, completed from memory; of a survey that saw nothing move that of the last whole look; None where
        there never was one
    :param memory: after it
    :param news: what became different
    :param messages: what people have to be told of that
    :param why: why a whole look was taken: what a survey saw; empty of one that was due anyway
    :param was_survey: it was a survey, and nothing had moved
    :param error: why nothing could be judged; empty if it could
    :param lasted: seconds
    :param cost: seconds of CPU, of all that ran at the same time
    :param time: end of what was judged, Unix seconds
    """

    service: str
    diagnosis: Diagnosis | None
    memory: Memory
    time: float
    news: tuple[Transition, ...] = ()
    messages: tuple[Message, ...] = ()
    why: str = ""
    was_survey: bool = False
    error: str = ""
    lasted: float = 0.0
    cost: float = 0.0

    @property
    def rests(self) -> bool:
        """Whether nothing is wrong or unsure."""
        return not self.error and self.diagnosis is not None and is_at_rest(self.diagnosis) and is_calm(self.memory)


class Looker:
    """Looks at one service.

    :param source: asks its sources
    :param judge: gives the diagnosis of a recording
    :param survey: takes short looks; None where they would be no cheaper
    :param archive: where is remembered
    :param whole: seconds after which a whole look is due though nothing moved
    """

    def __init__(
        self,
        service: str,
        source: Source,
        judge: Callable[[Recording], Diagnosis],
        survey: Survey | None,
        archive: Archive,
        outbox: Outbox,
        whole: float,
    ) -> None:
        self.service = service
        self._source = source
        self._judge = judge
        self._survey = survey
        self._archive = archive
        self._outbox = outbox
        self._whole = whole
        self._last: Seen | None = None
        self._judged: tuple[Diagnosis, Diagnosis] | None = None
        self._whole_due = 0.0
        self._why = ""

    def look(self, tell: "Progress") -> Seen:
        """Look at the service; whatever keeps it from being known makes it unknown, never well."""
        begin, spent = monotonic(), process_time()
        seen = self._surveyed() or self._seen(tell)
        seen = replace(seen, lasted=monotonic() - begin, cost=process_time() - spent)
        self._last = seen
        return seen

    def _surveyed(self) -> Seen | None:
        """What was known, if a survey says that nothing moved; None if a whole look is needed."""
        last, judged = self._last, self._judged
        self._why = ""
        if self._survey is None or last is None or judged is None or not last.rests or monotonic() >= self._whole_due:
            return None
        try:
            self._why = moved(*judged, self._survey.taken())
        except TriageError as error:
            self._why = error.message
        if self._why:
            return None
        return replace(last, news=(), messages=(), why="", was_survey=True)

    def _seen(self, tell: "Progress") -> Seen:
        """A whole look."""
        self._whole_due = monotonic() + self._whole
        try:
            recording = self._source.take(tell).judged
            diagnosis = self._judge(recording)
        except TriageError as error:
            return self._blind(error.message)
        except Exception as error:  # noqa: BLE001 - one service's trouble must not end the watch of the others
            _log.debug("look at %s failed", self.service, exc_info=error)
            return self._blind(f"a defect in triage: {type(error).__name__}: {error}")
        self._judged = (diagnosis, self._survey.of(recording)) if self._survey is not None and is_at_rest(diagnosis) else None
        told: list[Message] = []
        keep = partial(self._kept, diagnosis, recording.window, told)
        answer = self._source.watch.saw(diagnosis, recording.window, keep)
        memory = self._source.watch.memory
        self._archived(recording, diagnosis, memory)
        return Seen(self.service, answer.diagnosis, memory, diagnosis.window.end, memory.news, tuple(told), self._why)

    def _blind(self, reason: str) -> Seen:
        """A look that could judge nothing."""
        self._judged = None
        told: list[Message] = []
        now = time()
        watch = self._source.watch
        watch.memory = self._kept(reason, None, told, Look(now, Status.INCONCLUSIVE))
        before = self._last.diagnosis if self._last is not None else None
        return Seen(self.service, before, watch.memory, now, watch.memory.news, tuple(told), self._why, error=reason)

    def _kept(self, diagnosis: Diagnosis | str, window: Window | None, told: list[Message], look: Look) -> Memory:
        """Remember a look, and what people have to be told, in one transaction."""
        watch = self._source.watch

        def along(base: "sqlite3.Connection", memory: Memory) -> None:
            told.extend(self._outbox.note(self.service, diagnosis, base, memory))

        judged = (window, watch.pace) if window is not None else None
        return self._archive.store.remember(self.service, look, watch.holds, judged, along)

    def _archived(self, recording: Recording, diagnosis: Diagnosis, memory: Memory) -> None:
        """Keep the recording of what became different. That it cannot be kept is no reason not to tell how the service is."""
        try:
            keep_on_change(self._archive, replace(recording, service=self.service), diagnosis, memory)
        except TriageError as error:
            _log.warning("no recording is kept: %s", error.message)

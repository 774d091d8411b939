"""What takes time, done away from the screen: recording, diagnosing (also as of an earlier moment), curves of all cells."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Protocol

from triage.classes import dataclass
from triage.engine.as_of import cut
from triage.engine.diagnose import looked_at
from triage.engine.frame import Frame
from triage.model.diagnosis import Diagnosis, Evidence
from triage.model.recording import Recording
from triage.model.rule import Rule
from triage.tui.cells import fine, sides_of
from triage.tui.curves import Curve
from triage.tui.recordings import Recordings
from triage.tui.sides import Sides
from triage.tui.snapshot import Snapshot, snapshot_of
from triage.watch.live import Taken

if TYPE_CHECKING:
    from triage.collect import Progress

_KEPT = 48
"""Looks at earlier moments that are kept, so that going back and forth over them is instant."""


@dataclass(frozen=True)
class State:
    """What there is by now.

    :param number: counts the recordings
    :param service: whose they are
    :param end: Unix seconds of the last moment that is known
    """

    number: int
    service: str
    end: float


class Session(Protocol):
    """Does what takes time. Its methods block, and are called from any thread but the screen's.

    :param name: the service, or what is read
    :param live: whether there is more than one recording
    :param pause: seconds between two of them
    :param lasts: seconds that one takes at least, since it samples for so long
    """

    name: str
    live: bool
    pause: float
    lasts: float

    def take(self, tell: "Progress") -> State:
        """Get the next recording.

        :raises TriageError: there is none
        """
        ...

    def look_now(self) -> None:
        """Have the next recording begin at once, if somebody else than the caller of ``take`` decides when."""
        ...

    def snapshot(self, as_of: float | None) -> Snapshot:
        """The snapshot at what there is, as of a moment or, with None, as of its end."""
        ...

    def curve(self, as_of: float | None, evidence: Evidence) -> Curve | None:
        """A curve of all cells; None if the evidence of a snapshot has no better one than what the diagnosis kept."""
        ...

    def sides(self, as_of: float | None, evidence: Evidence) -> Sides | None:
        """The signal of some evidence over all subjects that have it; None if nobody has it."""
        ...

    def save(self, path: Path) -> None:
        """Keep everything recorded in a file.

        :raises TriageError: it cannot be written
        """
        ...


class LocalSession:
    """A session in this process.

    :param recordings: where recordings come from
    :param rules: what is asked
    :param diagnose: gives the diagnosis of a recording
    :param write: writes a recording to a file
    """

    def __init__(
        self,
        recordings: Recordings,
        rules: Sequence[Rule],
        diagnose: Callable[[Recording], Diagnosis],
        write: Callable[[Recording, Path], None],
    ) -> None:
        self.name, self.live, self.pause, self.lasts = recordings.name, recordings.live, recordings.pause, recordings.lasts
        self._recordings = recordings
        self._watch = recordings.watch
        if self._watch is not None:
            self._watch.heed(rules)
        self._rules = rules
        self._diagnose = diagnose
        self._write = write
        self._taken: Taken | None = None
        self._snapshots: OrderedDict[tuple[int, float | None], Snapshot] = OrderedDict()
        self._frame: tuple[tuple[int, float | None], Frame] | None = None
        self._lock = Lock()

    def take(self, tell: "Progress") -> State:
        """Get the next recording."""
        taken = self._recordings.take(tell)
        self._taken = taken
        return State(taken.number, taken.history.service, taken.history.window.end)

    def look_now(self) -> None:
        """Nothing: a recording begins when ``take`` is called."""

    def snapshot(self, as_of: float | None) -> Snapshot:
        """The snapshot at what there is."""
        taken = self._newest()
        key = (taken.number, as_of)
        with self._lock:
            known = self._snapshots.get(key)
        if known is not None:
            return known
        recording = self._as_of(taken, as_of)
        made = self._seen(recording) if as_of is None else snapshot_of(self._diagnose(recording), self._rules, recording)
        snapshot = replace(made, as_of=as_of, live=self.live, number=taken.number)
        with self._lock:
            self._snapshots[key] = snapshot
            while len(self._snapshots) > _KEPT:
                self._snapshots.popitem(last=False)
        return snapshot

    def _seen(self, recording: Recording) -> Snapshot:
        """The snapshot at a new recording, completed from memory; from then on it is remembered."""
        diagnosis = self._diagnose(recording)
        if self._watch is None:
            return snapshot_of(diagnosis, self._rules, recording)
        answer = self._watch.saw(diagnosis, recording.window)
        made = snapshot_of(answer.diagnosis, self._rules, recording)
        return replace(made, memory=self._watch.memory, stale=answer.stale)

    def curve(self, as_of: float | None, evidence: Evidence) -> Curve | None:
        """A curve of all cells."""
        return fine(evidence, self.snapshot(as_of), self._frame_of(as_of))

    def sides(self, as_of: float | None, evidence: Evidence) -> Sides | None:
        """The signal over all subjects."""
        return sides_of(evidence, self._frame_of(as_of))

    def _frame_of(self, as_of: float | None) -> Frame:
        """All cells as of a moment; those that were asked for last are kept."""
        taken = self._newest()
        key = (taken.number, as_of)
        with self._lock:
            frame = self._frame[1] if self._frame is not None and self._frame[0] == key else None
        if frame is None:
            frame = looked_at(self._as_of(taken, as_of))
            with self._lock:
                self._frame = (key, frame)
        return frame

    def save(self, path: Path) -> None:
        """Keep everything recorded in a file."""
        self._write(self._newest().history, path)

    def _newest(self) -> Taken:
        """The newest recording; nothing is asked before there is one."""
        assert self._taken is not None
        return self._taken

    def _as_of(self, taken: Taken, moment: float | None) -> Recording:
        """What a snapshot at a moment rests on: in the window that was judged then, if any was."""
        if moment is None:
            return taken.judged
        early = replace(cut(taken.history, moment), begun={})
        window = self._watch.window_as_of(moment) if self._watch is not None else None
        return early if window is None else replace(early, window=window)

"""What takes time, to be done away from the screen: diagnosing, also as of an earlier moment, and curves of all cells."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from threading import Lock

from triage.engine.cut import cut
from triage.engine.derive import derive
from triage.engine.frame import Frame
from triage.model.diagnosis import Diagnosis, Evidence
from triage.model.recording import Recording
from triage.model.rule import Rule
from triage.tui.curves import Curve, fine
from triage.tui.look import Look, look_of

_KEPT = 48
"""Looks at earlier moments that are kept, so that going back and forth over them is instant."""


@dataclass(frozen=True)
class Taken:
    """One state of what is known.

    :param number: counts the recordings, so that two of them are told apart
    :param history: everything known, to be cut, drawn and saved
    :param judged: what the newest verdicts rest on: without what nobody tells any more
    """

    number: int
    history: Recording
    judged: Recording


class Desk:
    """Makes looks and curves, and remembers the last ones. Its methods may be called from any thread.

    :param diagnose: gives the diagnosis of a recording
    :param rules: what is asked
    :param live: whether more recordings follow
    """

    def __init__(self, diagnose: Callable[[Recording], Diagnosis], rules: Sequence[Rule], *, live: bool = False) -> None:
        self._diagnose = diagnose
        self._rules = rules
        self._live = live
        self._looks: OrderedDict[tuple[int, float | None], Look] = OrderedDict()
        self._frame: tuple[tuple[int, float | None], Frame] | None = None
        self._lock = Lock()

    def look(self, taken: Taken, as_of: float | None) -> Look:
        """The look at a state, as of a moment or, with None, as of its end."""
        key = (taken.number, as_of)
        with self._lock:
            known = self._looks.get(key)
        if known is not None:
            return known
        recording = self._recording(taken, as_of)
        look = look_of(self._diagnose(recording), self._rules, recording)
        look = replace(look, as_of=as_of, live=self._live)
        with self._lock:
            self._looks[key] = look
            while len(self._looks) > _KEPT:
                self._looks.popitem(last=False)
        return look

    def curve(self, taken: Taken, look: Look, evidence: Evidence) -> Curve | None:
        """A curve of all cells; None if the evidence has no better one than what the diagnosis kept."""
        key = (taken.number, look.as_of)
        with self._lock:
            frame = self._frame[1] if self._frame is not None and self._frame[0] == key else None
        if frame is None:
            frame = Frame(self._recording(taken, look.as_of))
            derive(frame)
            with self._lock:
                self._frame = (key, frame)
        return fine(evidence, look, frame)

    def _recording(self, taken: Taken, as_of: float | None) -> Recording:
        """What a look at a moment rests on."""
        return taken.judged if as_of is None else cut(taken.history, as_of)

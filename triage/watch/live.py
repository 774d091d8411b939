"""A service that is asked again and again, whose sources know only the present: what they said before is kept as its history."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from triage.classes import dataclass
from triage.engine.live_window import bounded, continued, still_told
from triage.memory.reference import Pace
from triage.memory.watch import Watch
from triage.model.recording import Recording

if TYPE_CHECKING:
    from triage.collect import Progress


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


_LONGEST = 2.0
"""Trouble that lasts is kept whole with what was before it; from this many times what is kept else it is kept more coarsely."""


class Live:
    """A service that is asked again and again; what it said before is kept as its history.

    :param ask: asks all sources once; is given what is known so far
    :param pause: seconds between two rounds
    :param lasts: seconds that a round takes at least
    :param pace: how much of what was said is kept and judged
    """

    live = True

    def __init__(
        self,
        name: str,
        ask: "Callable[[Progress, Recording | None], Recording]",
        *,
        pause: float,
        lasts: float = 0.0,
        pace: Pace,
    ) -> None:
        self.name = name
        self.pause = pause
        self.lasts = lasts
        self.watch = Watch(pace)
        self._ask = ask
        self._pace = pace
        self._history: Recording | None = None
        self._number = 0

    def take(self, tell: "Progress") -> Taken:
        """What is known after one more round; the sources of that round tell which of it still holds."""
        latest = self._ask(tell, self._history)
        if self._history is None:
            self._history = latest
        else:
            kept = latest.window.end - self._pace.keep
            held = self.watch.oldest
            whole = continued(self._history, latest, kept if held is None else min(kept, held))
            self._history = bounded(whole, _LONGEST * self._pace.keep, latest.step)
        self._history = replace(self._history, window=self.watch.window(latest.window), begun=self.watch.begun)
        self._number += 1
        return Taken(self._number, self._history, still_told(self._history, latest))

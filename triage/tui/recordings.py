"""Where the walk gets its recordings: one that was kept, or a new one every few seconds."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from triage.engine.live_window import continued, rolling_window, still_told
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


class Recordings(Protocol):
    """Gives recordings, one after the other.

    :param name: the service, or what is read
    :param live: whether there is more than one
    :param pause: seconds between two of them
    """

    name: str
    live: bool
    pause: float

    def take(self, tell: "Progress") -> Taken:
        """The next recording; may take long, and is called away from the screen.

        :param tell: is told the source, what happens there, and how far it is (0 to 1)
        :raises TriageError: there is none
        """
        ...


class Replay:
    """One recording: read from a file, or asked for once.

    :param read: gives it; is given something to tell progress to
    """

    live = False
    pause = 0.0

    def __init__(self, name: str, read: "Callable[[Progress], Recording]") -> None:
        self.name = name
        self._read = read

    def take(self, tell: "Progress") -> Taken:
        """The recording."""
        recording = self._read(tell)
        return Taken(1, recording, recording)


class Live:
    """A service that is asked again and again; what it said before is kept as its history.

    :param ask: asks all sources once
    :param pause: seconds between two rounds
    :param keep: seconds of history
    :param shortest: least length of the window, seconds
    :param longest: greatest length of the window, seconds
    :param sampled: whether the sources know only the present, so that the window grows with what was sampled
    """

    live = True

    def __init__(
        self,
        name: str,
        ask: "Callable[[Progress], Recording]",
        *,
        pause: float,
        keep: float,
        shortest: float,
        longest: float,
        sampled: bool,
    ) -> None:
        self.name = name
        self.pause = pause
        self._ask = ask
        self._keep = keep
        self._shortest = shortest
        self._longest = longest
        self._sampled = sampled
        self._history: Recording | None = None
        self._began = 0.0
        self._number = 0

    def take(self, tell: "Progress") -> Taken:
        """What is known after one more round; the sources of that round tell which of it still holds."""
        latest = self._ask(tell)
        if self._history is None:
            self._history, self._began = latest, latest.window.start
        else:
            self._history = continued(self._history, latest, latest.window.end - self._keep)
        if self._sampled:
            self._history = self._rolled(self._history)
        self._number += 1
        return Taken(self._number, self._history, still_told(self._history, latest))

    def _rolled(self, history: Recording) -> Recording:
        """The history with a window at its end."""
        end = history.window.end
        begin = max(self._began, end - self._keep)
        return replace(history, window=rolling_window(begin, end, self._shortest, self._longest))

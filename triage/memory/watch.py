"""What watching a service keeps: which window to judge next, and what a diagnosis of it means after all that was seen before."""

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import field, replace

from triage.classes import dataclass
from triage.memory.life import Holds
from triage.memory.looks import Look, look_of
from triage.memory.memory import Memory, after, begun
from triage.memory.recall import Pictures, Recalled, pictures_after, recalled
from triage.memory.reference import Pace, Reference, after_look, window_at
from triage.model.diagnosis import Diagnosis
from triage.model.recording import Window
from triage.model.rule import Rule

_MOST_WINDOWS = 5000

Keep = Callable[[Look], Memory]


@dataclass
class Watch:
    """The memory of one service that is watched, look by look.

    :param pace: how it is watched
    :param holds: how long something must be told before it counts
    :param reference: which time is usual; None before the first look
    """

    pace: Pace
    holds: Holds = field(default_factory=Holds)
    memory: Memory = field(default_factory=Memory)
    reference: Reference | None = None
    _pictures: Pictures = field(default_factory=Pictures)
    _windows: "deque[Window]" = field(default_factory=lambda: deque(maxlen=_MOST_WINDOWS))

    def heed(self, rules: Iterable[Rule]) -> None:
        """Hold things as long as rules ask for."""
        self.holds = self.holds.by(rules)

    @property
    def oldest(self) -> float | None:
        """What must not be forgotten yet, Unix seconds; None if nothing is held."""
        return self.reference.oldest if self.reference is not None else None

    def window(self, latest: Window) -> Window:
        """The window to judge now.

        :param latest: the window of what the newest look brought; of the first one its baseline is the first that is known
        """
        if self.reference is None:
            self.reference = Reference(latest.start if self.pace.sampled else latest.baseline_start)
        return window_at(self.reference, latest, self.pace)

    @property
    def begun(self) -> dict[str, float]:
        """When trouble began that still goes on, as a recording knows it."""
        return begun(self.memory)

    def saw(self, diagnosis: Diagnosis, window: Window, keep: Keep | None = None) -> Recalled:
        """What a diagnosis of a window means; from then on it is remembered.

        :param keep: remembers a look elsewhere, too, and gives the memory after it
        """
        assert self.reference is not None
        look = look_of(diagnosis)
        self.memory = after(self.memory, look, self.holds) if keep is None else keep(look)
        answer = recalled(diagnosis, self.memory, self._pictures)
        self._pictures = pictures_after(self._pictures, diagnosis, self.memory)
        self.reference = after_look(self.reference, self.memory, window, self.pace, look)
        self._windows.append(window)
        return answer

    def window_as_of(self, moment: float) -> Window | None:
        """The window that was judged at an earlier moment, up to it; None where nothing was judged yet."""
        last = next((one for one in reversed(self._windows) if one.end <= moment), None)
        return replace(last, end=moment) if last is not None and moment > last.start else None

"""Where the walk gets its recordings: one that was kept, or a new one every few seconds."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from triage.memory.watch import Watch
from triage.model.recording import Recording
from triage.watch.live import Taken

if TYPE_CHECKING:
    from triage.collect import Progress


class Recordings(Protocol):
    """Gives recordings, one after the other.

    :param name: the service, or what is read
    :param live: whether there is more than one
    :param pause: seconds between two of them
    :param lasts: seconds that one takes at least, since it samples for so long
    """

    name: str
    live: bool
    pause: float
    lasts: float

    @property
    def watch(self) -> Watch | None:
        """What is remembered from one to the next; None where there is but one."""
        ...

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
    lasts = 0.0
    watch: Watch | None = None

    def __init__(self, name: str, read: "Callable[[Progress], Recording]") -> None:
        self.name = name
        self._read = read

    def take(self, tell: "Progress") -> Taken:
        """The recording."""
        recording = self._read(tell)
        return Taken(1, recording, recording)

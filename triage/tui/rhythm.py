"""When the next look at a service that is watched is taken, and whether the screens follow."""

import asyncio
from contextlib import suppress
from math import ceil
from time import monotonic


class Rhythm:
    """Looks follow each other by themselves, also while the screens stand still for somebody who reads.

    What is not looked at would be a hole in what is known, and could be taken for a fault of the source.

    :param pause: seconds between two looks
    :param lasts: seconds that a look takes at least, since it samples for so long
    """

    def __init__(self, pause: float, lasts: float) -> None:
        self.is_paused = False
        self._pause = pause
        self._lasts = lasts
        self._due = 0.0
        self._wanted = asyncio.Event()

    def begin(self) -> None:
        """A look begins."""
        self._due = monotonic() + self._lasts if self._lasts else 0.0

    async def rest(self) -> None:
        """Wait until the next look is due, or somebody wants it now."""
        self._due = monotonic() + self._pause
        self._wanted.clear()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._wanted.wait(), self._pause)

    def now(self) -> None:
        """The next look is taken now, if none is being taken."""
        self._wanted.set()

    def told(self) -> str:
        """What is waited for, in a few words; empty if a look is being taken."""
        left = self._due - monotonic()
        return f"next look in {ceil(left)} s" if left > 0 else ""

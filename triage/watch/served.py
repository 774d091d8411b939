"""A service whose sources keep history: it is asked anew at each look, for all of a trouble that goes on."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from triage.memory.watch import Watch
from triage.model.recording import Recording, Window
from triage.watch.live import Taken

if TYPE_CHECKING:
    from triage.collect import Progress

Ask = Callable[["Progress", Callable[[Window], Window]], Recording]
"""Asks all sources of a service once; is given what makes of the usual window the one to ask for."""


class Served:
    """A service that is asked again and again; nothing of what it said is held meanwhile.

    :param ask: asks all sources once
    :param watch: what is remembered
    """

    def __init__(self, ask: Ask, watch: Watch) -> None:
        self.watch = watch
        self._ask = ask
        self._number = 0

    def take(self, tell: "Progress") -> Taken:
        """What is known now."""
        latest = self._ask(tell, self.watch.window)
        self._number += 1
        recording = replace(latest, begun=self.watch.begun)
        return Taken(self._number, recording, recording)

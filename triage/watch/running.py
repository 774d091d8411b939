"""Keeps looking at services until somebody stops it: when each is due, some at the same time."""

import random
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from threading import Event, Thread
from time import monotonic, time

from triage.background import in_background
from triage.errors import TriageError
from triage.notify.courier import Courier
from triage.watch.board import Board
from triage.watch.looker import Looker, Seen
from triage.watch.tempo import Tempo

AT_ONCE = 4
"""Looks at the same time: while one waits for its server another one may be judged; judging takes a core."""

_SPREAD = 10.0
"""Seconds over which the first looks are spread: not all servers are asked in the same moment, and all is known soon."""

_LAST_WORDS = 3.0
"""Seconds that are left at the end for messages that are under way; what is not sent then waits on disk."""


class Rounds:
    """Looks at services, again and again.

    :param tempo: how often
    :param sampled: those that are sampled all the time, without a pause
    :param tell: is told of each look
    :param complain: is told why a look at a service could not be remembered
    """

    def __init__(
        self,
        lookers: Sequence[Looker],
        tempo: Tempo,
        board: Board,
        couriers: Sequence[Courier],
        tell: Callable[[Seen], None],
        complain: Callable[[str, TriageError], None],
        sampled: frozenset[str] = frozenset(),
    ) -> None:
        self._lookers = {one.service: one for one in lookers}
        self._tempo = tempo
        self._board = board
        self._couriers = couriers
        self._tell = tell
        self._complain = complain
        self._sampled = sampled
        self._wake = Event()
        self._stopped = Event()

    def stop(self) -> None:
        """End soon: begin no look any more, and wait for none."""
        self._stopped.set()
        self._wake.set()

    def run(self) -> None:
        """Look until somebody stops it."""
        threads = [Thread(target=courier.run, daemon=True) for courier in self._couriers]
        for thread in threads:
            thread.start()
        self._look(_first_looks(list(self._lookers)))
        for courier in self._couriers:
            courier.stop()
        end = monotonic() + _LAST_WORDS
        for thread in threads:
            thread.join(max(0.0, end - monotonic()))

    def _look(self, due: dict[str, float]) -> None:
        """Begin looks when they are due.

        :param due: when the next look at each service is, monotonic seconds
        """
        running: dict[str, Future[Seen]] = {}
        while not self._stopped.is_set():
            self._wake.clear()
            for name in [name for name, future in running.items() if future.done()]:
                due[name] = self._done(name, running.pop(name))
            for name in sorted(due, key=due.__getitem__):
                if due[name] > monotonic() or not self._is_room(name, running):
                    break
                del due[name]
                running[name] = in_background(partial(self._lookers[name].look, _unwatched))
                running[name].add_done_callback(self._ended)
            self._wake.wait(self._pause(due, running))

    def _ended(self, _: "Future[Seen]") -> None:
        """A look has ended."""
        self._wake.set()

    def _is_room(self, name: str, running: Mapping[str, "Future[Seen]"]) -> bool:
        """Whether one more look may begin; one that samples takes time, and no core."""
        return name in self._sampled or len([one for one in running if one not in self._sampled]) < AT_ONCE

    def _pause(self, due: Mapping[str, float], running: Mapping[str, "Future[Seen]"]) -> float | None:
        """Seconds until the next look may begin; None until one ends."""
        ready = [at for name, at in due.items() if self._is_room(name, running)]
        return max(0.0, min(ready) - monotonic()) if ready else None

    def _done(self, name: str, future: "Future[Seen]") -> float:
        """When a look has ended: who has to know of it; gives when the next one is due, monotonic seconds."""
        try:
            seen = future.result()
        except TriageError as error:  # nothing can be remembered; until that is mended the service is overdue
            self._complain(name, error)
            return monotonic() + self._tempo.every
        pause = self._tempo.pause(seen.memory, seen.cost, random.random(), rests=seen.rests)  # noqa: S311 - no secret
        left = 0.0 if name in self._sampled and not seen.error else max(0.0, pause - seen.lasted)
        self._board.saw(seen, time() + left)
        self._tell(seen)
        if seen.messages:
            for courier in self._couriers:
                courier.wake()
        return monotonic() + left


def _first_looks(names: Sequence[str]) -> dict[str, float]:
    """When each service is looked at first, monotonic seconds."""
    now = monotonic()
    return {name: now + _SPREAD * number / len(names) if number else now for number, name in enumerate(names)}


def _unwatched(source: str, message: str, done: float) -> None:
    """Progress that nobody watches."""

"""What others may know of a watch: how each service is, how receivers are doing, how the watch itself is doing."""

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from threading import Lock
from time import time

from triage.classes import dataclass
from triage.notify.courier import Courier, Delivery
from triage.notify.message import Message
from triage.notify.outbox import Outbox, Waiting
from triage.watch.looker import Seen

_LATE = 3.0
"""A service is overdue when it was not looked at for so many of its pauses; one look may take as long as a pause."""

_PATIENCE = 60.0
"""Seconds that a look may take in any case: sources that do not answer are waited for."""


@dataclass(frozen=True, slots=True)
class Tally:
    """How often a service was looked at.

    :param whole: looks at everything
    :param surveys: short looks after which nothing more was needed
    :param moved: short looks that made a whole one necessary
    :param failed: whole looks that could judge nothing
    :param cpu: seconds of CPU
    """

    whole: int = 0
    surveys: int = 0
    moved: int = 0
    failed: int = 0
    cpu: float = 0.0

    def after(self, seen: Seen) -> "Tally":
        """With one more look."""
        return Tally(
            self.whole + (not seen.was_survey),
            self.surveys + seen.was_survey,
            self.moved + bool(seen.why),
            self.failed + bool(seen.error),
            self.cpu + seen.cost,
        )


@dataclass(frozen=True)
class Row:
    """What is known of one service.

    :param seen: the last look; None before the first
    :param looked: when it ended, Unix seconds
    :param due: when the next one is due, Unix seconds
    """

    seen: Seen | None = None
    looked: float = 0.0
    due: float = 0.0
    tally: Tally = field(default_factory=Tally)


class Board:
    """What is known, for whoever asks meanwhile.

    :param services: names of those that are watched
    """

    def __init__(self, services: Sequence[str], outbox: Outbox, couriers: Sequence[Courier]) -> None:
        now = time()
        self.began = now
        self._rows = {name: Row(due=now) for name in services}
        self._outbox = outbox
        self._couriers = couriers
        self._lock = Lock()

    def saw(self, seen: Seen, due: float) -> None:
        """A look has ended.

        :param due: when the next one is due, Unix seconds
        """
        with self._lock:
            row = self._rows[seen.service]
            self._rows[seen.service] = replace(row, seen=seen, looked=time(), due=due, tally=row.tally.after(seen))

    def rows(self) -> Mapping[str, Row]:
        """All services, by name."""
        with self._lock:
            return dict(self._rows)

    def receivers(self) -> list[tuple[str, Delivery, Waiting]]:
        """How receivers are doing, and what waits for them."""
        return [(one.name, one.delivery, self._outbox.waiting(one.name)) for one in self._couriers]

    def standing(self) -> list[Message]:
        """What people are told of now."""
        return self._outbox.standing()

    def overdue(self) -> list[str]:
        """The services that were not looked at for far longer than they should be."""
        now = time()
        late = [(name, row) for name, row in self.rows().items() if now - row.due > _PATIENCE + _LATE * (row.due - row.looked)]
        return [name for name, row in late if row.looked or now - self.began > _PATIENCE * _LATE]

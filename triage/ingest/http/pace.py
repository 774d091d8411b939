"""How hard a server is asked: several questions at a time while it answers, fewer and with pauses where it does not."""

from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import parsedate_to_datetime
from threading import Condition
from threading import Event as StopSignal
from time import monotonic

FIRST_PAUSE = 0.25
"""Seconds without questions after a failure; twice as long after each further one, half as long after each answer."""

LONGEST_PAUSE = 1.0
"""A server that is down for longer is no server that one waits for at three in the morning."""

LONGEST_WISH = 10.0
"""Seconds that a server's ``Retry-After`` is heeded at most."""

MOST_IN_A_ROW = 8
"""Failures without one answer between them after which the server is given up: single ones say nothing of the next question."""

_BACK = 4
"""Answers in a row after which one more question may be under way."""


class Pace:
    """What all who ask one server know of how it fares. Safe to use from several threads.

    :param most: questions that may be under way at the same time
    :param stop: once it is set nobody waits any more
    """

    def __init__(self, most: int, stop: StopSignal) -> None:
        self._most = most
        self._stop = stop
        self._allowed = most
        self._under_way = 0
        self._pause = 0.0
        self._not_before = 0.0
        self._well = 0
        self._ill = 0
        self._heard = False
        self._changed = Condition()

    @property
    def heard(self) -> bool:
        """Whether the server has given a good answer at all."""
        return self._heard

    @property
    def is_hopeless(self) -> bool:
        """Whether so many questions in a row failed that no other will be answered either."""
        return self._ill >= MOST_IN_A_ROW

    @property
    def workers(self) -> int:
        """Questions that may be under way now."""
        return self._allowed

    @contextmanager
    def turn(self) -> Iterator[None]:
        """A question's turn: begins when another one may be under way and no pause is kept."""
        with self._changed:
            while not self._stop.is_set() and (left := self._left()) > 0:
                self._changed.wait(min(left, 0.1))
            self._under_way += 1
        try:
            yield
        finally:
            with self._changed:
                self._under_way -= 1
                self._changed.notify_all()

    def _left(self) -> float:
        """Seconds until a question may go; some if only others' ends are waited for."""
        if self._under_way >= self._allowed:
            return 0.1
        return self._not_before - monotonic()

    def went_well(self) -> None:
        """A good answer came."""
        with self._changed:
            self._heard, self._ill = True, 0
            self._well += 1
            self._pause /= 2.0
            if self._well % _BACK == 0:
                self._allowed = min(self._most, self._allowed + 1)

    def went_wrong(self, wish: float = 0.0) -> None:
        """No good answer came.

        :param wish: seconds for which the server asked to be left alone; 0 if it did not
        """
        with self._changed:
            self._ill += 1
            self._well = 0
            self._allowed = max(1, self._allowed // 2)
            self._pause = min(LONGEST_PAUSE, max(FIRST_PAUSE, 2.0 * self._pause))
            pause = max(self._pause, min(wish, LONGEST_WISH))
            self._not_before = max(self._not_before, monotonic() + pause)


def retry_after(text: str, now: float) -> float:
    """Seconds that a header ``Retry-After`` asks for, which gives seconds or a date; 0 if it says nothing that can be read.

    :param now: Unix seconds
    """
    try:
        return max(0.0, float(text))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - now)
    except (ValueError, TypeError, OverflowError):
        return 0.0

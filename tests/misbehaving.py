"""A proxy that misbehaves at every so-manieth answer, before a real server; bench/misbehaving.py goes through all of them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from threading import Event, Lock

from tests.servers import Ask, Front, Reply

LOGIN = b'<!doctype html><title>Sign in</title><form><input name="user"><input type="password"></form>'
_REST = b'{"status":"success","data":{"resultType":"matrix","result":['
_JSON = {"Content-Type": "application/json"}


@dataclass
class Misbehaving(Front):
    """A front that does one thing wrong at regular answers.

    :param fault: of :data:`FAULTS`
    :param every: which answers are bad: each second, fifth, eighth
    :param begin: which one of these it begins with
    :param late: seconds that a late answer takes
    """

    fault: str = ""
    every: int = 2
    begin: int = 0
    late: float = 1.5
    spoilt: int = 0
    _number: "count[int]" = field(default_factory=count)
    _one_by_one: Lock = field(default_factory=Lock)
    _ended: Event = field(default_factory=Event)

    def answer(self, ask: Ask, target: str, body: bytes) -> Reply:
        """What the other server says, spoilt if it is this answer's turn."""
        with self._one_by_one:
            is_bad = (next(self._number) + self.begin) % self.every == self.every - 1
            self.spoilt += is_bad
        if not is_bad:
            return super().answer(ask, target, body)
        if self.fault == "late":
            self._ended.wait(self.late)
        return FAULTS[self.fault](super().answer(ask, target, body))

    def end(self) -> None:
        """Nobody waits for late answers any more."""
        self._ended.set()


FAULTS: dict[str, Callable[[Reply], Reply]] = {
    "late": lambda good: good,
    "429": lambda good: Reply(429, b"slow down", {"Retry-After": "1"}),
    "503": lambda good: Reply(503, b"upstream connect error"),
    "cut": lambda good: Reply(good.status, good.body, good.headers, "cut"),
    "half": lambda good: Reply(good.status, good.body[: len(good.body) // 2], good.headers),
    "reset": lambda good: Reply(good.status, b"", {}, "reset"),
    "endless": lambda good: Reply(200, _REST, _JSON, "endless"),
    "login page": lambda good: Reply(200, LOGIN, {"Content-Type": "text/html"}),
}
"""What goes wrong, and what becomes of a good answer then."""

"""Work that is done side by side in processes of its own, each piece within its time, and none of it the end of the others.

Judging is Python that counts: threads would take turns at one core. A process can be ended when its time is over, and takes
nothing with it when it dies. They are forked, so what was loaded before (rules, dialects) is there at once and in memory once.
"""

import gc
import os
import signal
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import field
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from threading import Lock, Thread
from typing import Any, Generic, TypeVar

from triage.classes import dataclass

_T = TypeVar("_T")

_PARENT_LOOKS = 0.5
"""Seconds between two looks of a worker at whether the program that began it still lives."""

_REAPED = 5.0


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is done at the same time, and for how long.

    :param jobs: pieces at the same time
    :param each: seconds for one piece
    :param deadline: when all must be done, monotonic seconds; None for no such moment
    :param at_a_server: pieces at the same time that ask one server
    """

    jobs: int
    each: float
    deadline: float | None
    at_a_server: int


@dataclass(frozen=True, slots=True)
class Late:
    """A piece was not done in its time.

    :param begun: it was at least begun
    """

    begun: bool


@dataclass(frozen=True, slots=True)
class Died:
    """The process of a piece ended without an answer.

    :param code: as ``Process.exitcode``: below zero the signal
    """

    code: int | None


@dataclass(frozen=True, slots=True)
class Failed:
    """The work raised something; told in words, since not every exception can be handed from process to process."""

    what: str


Trouble = Late | Died | Failed


@dataclass(frozen=True, slots=True)
class Result(Generic[_T]):
    """What became of a piece.

    :param value: what it gave; None if it failed
    :param trouble: why it failed
    :param seconds: how long it took
    """

    value: _T | None
    trouble: Trouble | None
    seconds: float


class Desk:
    """What a piece of work tells while it goes on."""

    def __init__(self, line: Connection) -> None:
        self._line = line
        self._one_at_a_time = Lock()

    def tell(self, source: str, message: str, done: float) -> None:
        """How far a source is, 0 to 1."""
        self.send("told", (source, message, done))

    def asked(self) -> None:
        """The server is not needed any more: another piece may ask it."""
        self.send("asked", None)

    def send(self, word: str, content: object) -> None:
        """A word to the program; called from many threads."""
        with self._one_at_a_time:
            self._line.send((word, content))


Work = Callable[[int, float, Desk], _T]
"""Does one piece, given its index, by when it must be done (monotonic seconds), and whom to tell."""


def worked(servers: Sequence[str], work: Work[_T], limits: Limits, tell: Callable[[str, str, float], None]) -> list[Result[_T]]:
    """The results of all pieces, in their order.

    :param servers: of each piece whom it asks; empty if nobody that could be asked too much
    :param tell: is told what the pieces tell
    """
    round_ = _Round(servers, work, limits, tell)
    gc.freeze()  # a collector that writes into what was loaded would copy it for each process
    try:
        return round_.done()
    finally:
        round_.end()
        gc.unfreeze()


@dataclass
class _Worker(Generic[_T]):
    """One process, and what it is at."""

    process: BaseProcess
    line: Connection
    piece: int | None = None
    began: float = 0.0
    due: float = 0.0
    asking: str = ""


@dataclass
class _Round(Generic[_T]):
    """All pieces and the processes that are at them."""

    servers: Sequence[str]
    work: Work[_T]
    limits: Limits
    tell: Callable[[str, str, float], None]
    waiting: list[int] = field(default_factory=list)
    workers: list[_Worker[_T]] = field(default_factory=list)
    results: dict[int, Result[_T]] = field(default_factory=dict)

    def done(self) -> list[Result[_T]]:
        """All results."""
        self.waiting = list(range(len(self.servers)))
        while len(self.results) < len(self.servers):
            self._begin()
            busy = [one for one in self.workers if one.piece is not None]
            next_due = min((one.due for one in busy), default=time.monotonic())
            ready = wait([one.line for one in busy], max(0.0, next_due - time.monotonic()))
            for one in busy:
                if one.line in ready:
                    self._hear(one)
            self._end_late()
        return [self.results[piece] for piece in range(len(self.servers))]

    def end(self) -> None:
        """Ends all processes."""
        for one in self.workers:
            _killed(one)
        self.workers.clear()

    def _begin(self) -> None:
        """Gives pieces to whoever is free, as many as servers bear."""
        asking = Counter(one.asking for one in self.workers if one.piece is not None)
        for piece in list(self.waiting):
            free = next((one for one in self.workers if one.piece is None), None)
            if free is None and len(self.workers) >= self.limits.jobs:
                return
            server = self.servers[piece]
            if server and asking[server] >= self.limits.at_a_server:
                continue
            self.waiting.remove(piece)
            asking[server] += 1
            self._give(free or self._hired(), piece)

    def _give(self, worker: _Worker[_T], piece: int) -> None:
        """A piece of work for a worker."""
        now = time.monotonic()
        worker.piece, worker.began, worker.asking = piece, now, self.servers[piece]
        worker.due = now + self.limits.each if self.limits.deadline is None else min(now + self.limits.each, self.limits.deadline)
        with suppress(OSError):  # that it died is heard of soon
            worker.line.send((piece, worker.due))

    def _hired(self) -> _Worker[_T]:
        """A new process."""
        context = get_context("fork")
        ours, theirs = context.Pipe()
        others = [one.line for one in self.workers] + [ours]
        process = context.Process(target=_serve, args=(theirs, others, self.work, os.getpid()), daemon=True)
        with _no_threads_of_ours():
            process.start()
        theirs.close()
        worker = _Worker[_T](process, ours)
        self.workers.append(worker)
        return worker

    def _hear(self, worker: _Worker[_T]) -> None:
        """What a worker says."""
        try:
            word, content = worker.line.recv()
        except (EOFError, OSError):
            worker.process.join(_REAPED)
            self._finish(worker, None, Died(worker.process.exitcode))
            self._dismiss(worker)
            return
        if word == "told":
            self.tell(*content)
        elif word == "asked":
            worker.asking = ""
        else:
            self._finish(worker, *content)

    def _finish(self, worker: _Worker[_T], value: _T | None, trouble: Trouble | None) -> None:
        assert worker.piece is not None
        self.results[worker.piece] = Result(value, trouble, time.monotonic() - worker.began)
        worker.piece, worker.asking = None, ""

    def _dismiss(self, worker: _Worker[_T]) -> None:
        _killed(worker)
        self.workers.remove(worker)

    def _end_late(self) -> None:
        """Ends what is late; past the time for everything nothing more is begun."""
        now = time.monotonic()
        for one in [one for one in self.workers if one.piece is not None and one.due <= now]:
            self._finish(one, None, Late(begun=True))
            self._dismiss(one)
        if self.limits.deadline is not None and now >= self.limits.deadline:
            self.results |= {piece: Result(None, Late(begun=False), 0.0) for piece in self.waiting}
            self.waiting.clear()


def _killed(worker: _Worker[Any]) -> None:
    """Ends a process at once: it may be stuck where no word reaches it."""
    worker.process.kill()
    worker.process.join(_REAPED)
    worker.line.close()


@contextmanager
def _no_threads_of_ours() -> Iterator[None]:
    """Newer Pythons warn of forking beside threads. Those here are of numerical libraries, which know how to be forked."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*fork.*", DeprecationWarning)
        yield


def _serve(line: Connection, others: Sequence[Connection], work: Work[Any], parent: int) -> None:
    """What a worker does until nobody wants anything of it.

    :param others: ends of lines that are not its own
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to all; the program ends its workers
    for one in others:
        one.close()
    Thread(target=_outlive_nobody, args=(parent,), daemon=True).start()
    desk = Desk(line)
    with suppress(EOFError, OSError):
        while True:
            piece, due = line.recv()
            try:
                answer: tuple[Any, Trouble | None] = work(piece, due, desk), None
            except Exception as error:  # noqa: BLE001 - one piece's trouble is that piece's answer
                answer = None, Failed(f"{type(error).__name__}: {error}")
            desk.send("done", answer)


def _outlive_nobody(parent: int) -> None:
    """Ends this process when the program is gone that began it."""
    while os.getppid() == parent:
        time.sleep(_PARENT_LOOKS)
    os._exit(1)

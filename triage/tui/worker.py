"""A session in a process of its own, so that diagnosing a large fleet never takes the screen's time.

The two talk over a pipe: a request is a number, a method and its arguments; what comes back is the same number with a result, an
error, or how far a source is. Every request is done in a thread of its own over there: a snapshot does not wait for sampling.
"""

import os
import pickle
import sys
import traceback
from concurrent.futures import Future
from contextlib import suppress
from itertools import count
from multiprocessing import get_context
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, cast

from triage.errors import TriageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection
    from pathlib import Path

    from triage.collect import Progress
    from triage.model.diagnosis import Evidence
    from triage.tui.curves import Curve
    from triage.tui.recordings import Recordings
    from triage.tui.session import Session, State
    from triage.tui.sides import Sides
    from triage.tui.snapshot import Snapshot

Answer = tuple[int, str, Any]
"""Number of the request; ``result``, ``error`` or ``told``; what it is."""


class RemoteSession:
    """A session whose work is done at the other end of a pipe.

    :param pipe: over there :func:`answer_requests` listens
    :param name: as the session over there has it, and so ``live``, ``pause`` and ``lasts``
    """

    def __init__(self, pipe: "Connection", name: str, live: bool, pause: float, lasts: float) -> None:
        self.name, self.live, self.pause, self.lasts = name, live, pause, lasts
        self._pipe = pipe
        self._numbers = count(1)
        self._waiting: dict[int, tuple[Future[Any], Progress | None]] = {}
        self._lock = Lock()
        self._has_ended = False
        Thread(target=self._listen, name="triage-listener", daemon=True).start()

    def take(self, tell: "Progress") -> "State":
        """Get the next recording."""
        return cast("State", self._ask("take", (), tell))

    def look_now(self) -> None:
        """Have the next recording begin at once."""
        self._ask("look_now", ())

    def snapshot(self, as_of: float | None) -> "Snapshot":
        """The snapshot at what there is."""
        return cast("Snapshot", self._ask("snapshot", (as_of,)))

    def curve(self, as_of: float | None, evidence: "Evidence") -> "Curve | None":
        """A curve of all cells."""
        return cast("Curve | None", self._ask("curve", (as_of, evidence)))

    def sides(self, as_of: float | None, evidence: "Evidence") -> "Sides | None":
        """The signal over all subjects."""
        return cast("Sides | None", self._ask("sides", (as_of, evidence)))

    def save(self, path: "Path") -> None:
        """Keep everything recorded in a file."""
        self._ask("save", (path.absolute(),))

    def close(self) -> None:
        """Ask nothing any more."""
        self._pipe.close()

    def _ask(self, method: str, arguments: tuple[Any, ...], tell: "Progress | None" = None) -> Any:
        """Send a request and wait for its answer."""
        future: Future[Any] = Future()
        with self._lock:
            if self._has_ended:
                raise _ended()
            number = next(self._numbers)
            self._waiting[number] = (future, tell)
            with suppress(OSError):  # the listener finds out, and answers
                self._pipe.send((number, method, arguments))
        return future.result()

    def _listen(self) -> None:
        """Hand answers to those who wait for them, until the other process ends."""
        with suppress(EOFError, OSError):
            while True:
                self._hand_over(self._pipe.recv())
        with self._lock:
            self._has_ended = True
            left = list(self._waiting.values())
            self._waiting.clear()
        for future, _ in left:
            future.set_exception(_ended())

    def _hand_over(self, answer: Answer) -> None:
        """One answer."""
        number, kind, what = answer
        with self._lock:
            future, tell = self._waiting[number] if kind == "told" else self._waiting.pop(number)
        if kind == "told":
            if tell is not None:
                tell(*what)
        elif kind == "error":
            future.set_exception(what)
        else:
            future.set_result(what)


class WorkerProcess(RemoteSession):
    """A session whose work is done in a process of its own.

    :param recordings: tells name and pace; it is not asked here
    :param make: makes the session over there; must be importable by name, and its arguments must be plain data
    """

    def __init__(self, recordings: "Recordings", make: "Callable[[], Session]") -> None:
        context = get_context("spawn")  # a fork would copy locks that threads of libraries hold
        ours, theirs = context.Pipe()
        self._process = context.Process(target=work, args=(theirs, make), daemon=True, name="triage-back-room")
        self._process.start()
        theirs.close()
        super().__init__(ours, recordings.name, recordings.live, recordings.pause, recordings.lasts)

    def close(self) -> None:
        """End the other process, whatever it is doing."""
        self._process.terminate()
        self._process.join()


def _ended() -> TriageError:
    """What to say when the other process is gone."""
    return TriageError(
        "the process that diagnoses has ended unexpectedly", "it may have run out of memory; triage replay shows what happens"
    )


def work(pipe: "Connection", make: "Callable[[], Session]") -> None:
    """Be the process of a session."""
    fall_silent()
    answer_requests(pipe, make)


def answer_requests(pipe: "Connection", make: "Callable[[], Session]") -> None:
    """Do what is asked over a pipe, until nobody holds its other end.

    :param make: makes the session; if that fails, every request is answered with the reason
    """
    lock = Lock()

    def answer(answer: Answer) -> None:
        with lock, suppress(OSError):
            pipe.send(answer)

    try:
        session: Session | None = make()
        reason: Exception | None = None
    except Exception as error:  # noqa: BLE001 - told to whoever asks
        session, reason = None, portable(error)
    with suppress(EOFError, OSError):
        while True:
            number, method, arguments = pipe.recv()
            if session is None:
                answer((number, "error", reason))
            else:
                Thread(target=_do, args=(session, number, method, arguments, answer), daemon=True).start()


def _do(session: "Session", number: int, method: str, arguments: tuple[Any, ...], answer: "Callable[[Answer], None]") -> None:
    """Do one thing and answer."""
    if method == "take":
        arguments = (lambda source, text, done: answer((number, "told", (source, text, done))),)
    try:
        answer((number, "result", getattr(session, method)(*arguments)))
    except Exception as error:  # noqa: BLE001 - told to whoever asked
        answer((number, "error", portable(error)))


def fall_silent() -> None:
    """Write nothing to the terminal: it shows the walk."""
    for stream in (sys.stdout, sys.stderr):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def portable(error: Exception) -> Exception:
    """The error with its traceback as a note; one that does not survive the pipe as one that does."""
    error.add_note("".join(traceback.format_exception(error)))
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
    except Exception:  # noqa: BLE001 - an exception of a plug-in may fail in any way
        stand_in = RuntimeError(f"{type(error).__name__}: {error}")
        stand_in.add_note("\n".join(error.__notes__))
        return stand_in
    return error

"""One session for many viewers: the service is watched, and each look diagnosed, once, however many browsers show it.

The feed is a process of its own. Viewers are processes that talk to it over a socket in a folder that only this user can open.
"""

import os
import secrets
import signal
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from multiprocessing import AuthenticationError, get_context
from multiprocessing.connection import Client, Connection, Listener
from pathlib import Path
from threading import Condition, Event, Lock, Thread
from typing import TYPE_CHECKING

from triage.classes import dataclass
from triage.errors import TriageError
from triage.tui.worker import RemoteSession, answer_requests, fall_silent, portable

if TYPE_CHECKING:
    from triage.collect import Progress
    from triage.model.diagnosis import Evidence
    from triage.tui.curves import Curve
    from triage.tui.session import Session, State
    from triage.tui.sides import Sides
    from triage.tui.snapshot import Snapshot

_ADDRESS, _KEY = "TRIAGE_FEED", "TRIAGE_FEED_KEY"
"""Where a viewer finds the feed, in its environment."""


@dataclass(frozen=True)
class _Turn:
    """What came of one round: a state, or why there is none.

    :param number: counts the rounds
    """

    number: int
    state: "State | None"
    error: Exception | None


class Feed:
    """Takes recordings, one after the other, and hands each to all viewers.

    :param session: what is shared
    """

    def __init__(self, session: "Session") -> None:
        self.session = session
        self.looking = Lock()
        """Held while a look is diagnosed: a second viewer who wants the same finds it done."""

        self._turn = _Turn(0, None, None)
        self._changed = Condition()
        self._told: list[Progress] = []
        self._hurry = Event()

    def run(self) -> None:
        """Take recordings; for a recording that was kept, once."""
        while True:
            state = self._turn.state
            error: Exception | None = None
            try:
                state = self.session.take(self._tell)
            except Exception as reason:  # noqa: BLE001 - told to all viewers
                error = reason
            with self._changed:
                self._turn = _Turn(self._turn.number + 1, state, error)
                self._changed.notify_all()
            if not self.session.live or (error is not None and state is None):
                return
            self._hurry.wait(self.session.pause)
            self._hurry.clear()

    def look_now(self) -> None:
        """Begin the next round at once."""
        self._hurry.set()

    def after(self, seen: int, tell: "Progress") -> _Turn:
        """The newest round after one that was seen; waits until there is one.

        :param tell: is told how far the sources are meanwhile
        """
        with self._changed:
            self._told.append(tell)
            try:
                self._changed.wait_for(lambda: self._turn.number > seen)
            finally:
                self._told.remove(tell)
            return self._turn

    def _tell(self, source: str, text: str, done: float) -> None:
        """Pass on how far a source is."""
        with self._changed:
            told = list(self._told)
        for tell in told:
            tell(source, text, done)


class Viewer:
    """The session of one viewer.

    :param feed: whose
    """

    def __init__(self, feed: Feed) -> None:
        self.name, self.live, self.pause = feed.session.name, feed.session.live, 0.0
        self.lasts = feed.session.pause + feed.session.lasts
        self._feed = feed
        self._seen = 0

    def take(self, tell: "Progress") -> "State":
        """The newest state that this viewer has not seen; who comes late has the newest at once."""
        turn = self._feed.after(self._seen, tell)
        is_first, self._seen = not self._seen, turn.number
        if turn.error is not None and not (is_first and turn.state is not None):
            raise turn.error
        assert turn.state is not None
        return turn.state

    def look_now(self) -> None:
        """Have the next round begin at once, for all viewers."""
        self._feed.look_now()

    def snapshot(self, as_of: float | None) -> "Snapshot":
        """The snapshot at what there is."""
        with self._feed.looking:
            return self._feed.session.snapshot(as_of)

    def curve(self, as_of: float | None, evidence: "Evidence") -> "Curve | None":
        """A curve of all cells."""
        return self._feed.session.curve(as_of, evidence)

    def sides(self, as_of: float | None, evidence: "Evidence") -> "Sides | None":
        """The signal over all subjects."""
        return self._feed.session.sides(as_of, evidence)

    def save(self, path: Path) -> None:
        """Keep everything recorded in a file."""
        self._feed.session.save(path)


class FeedProcess:
    """The feed of a server, in a process of its own.

    :param make: makes the session over there; must be importable by name, and its arguments must be plain data
    """

    def __init__(self, make: "Callable[[], Session]") -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="triage-")
        self._address = str(Path(self._folder.name) / "feed")
        self._key = secrets.token_hex(16)
        context = get_context("spawn")
        ours, theirs = context.Pipe()
        self._process = context.Process(
            target=_feed, args=(self._address, self._key, make, theirs), daemon=True, name="triage-feed"
        )
        self._process.start()
        theirs.close()
        self._life = ours
        with suppress(EOFError):
            ours.recv()  # it listens

    @property
    def environ(self) -> dict[str, str]:
        """What a viewer's environment must hold."""
        return {_ADDRESS: self._address, _KEY: self._key}

    def close(self) -> None:
        """End it, whatever it is doing."""
        self._process.kill()
        self._process.join()
        self._folder.cleanup()


def joined_feed(environ: Mapping[str, str]) -> RemoteSession | None:
    """The session that a feed shares; None if the environment names none.

    :raises TriageError: the feed has ended, or its session could not be made
    """
    address = environ.get(_ADDRESS)
    if not address:
        return None
    try:
        pipe = Client(address, family="AF_UNIX", authkey=environ.get(_KEY, "").encode())
        greeting = pipe.recv()
    except (OSError, EOFError, AuthenticationError) as error:
        raise TriageError("the walk that was shared has ended", "start triage walk --web again") from error
    if isinstance(greeting, Exception):
        raise greeting
    return RemoteSession(pipe, *greeting)


def _feed(address: str, key: str, make: "Callable[[], Session]", life: Connection) -> None:
    """Be the feed, until the server has ended."""
    fall_silent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server ends it
    Thread(target=_end_with, args=(life,), daemon=True).start()
    listener = Listener(address, family="AF_UNIX", authkey=key.encode(), backlog=64)
    life.send("listening")
    made: Feed | Exception
    try:
        made = Feed(make())
    except Exception as error:  # noqa: BLE001 - told to all viewers
        made = portable(error)
    else:
        Thread(target=made.run, daemon=True).start()
    while True:
        with suppress(OSError, EOFError, AuthenticationError):
            Thread(target=_attend, args=(listener.accept(), made), daemon=True).start()


def _attend(pipe: Connection, made: Feed | Exception) -> None:
    """Greet a viewer, and do what it asks."""
    with suppress(OSError):
        if isinstance(made, Exception):
            pipe.send(made)
            return
        viewer = Viewer(made)
        pipe.send((viewer.name, viewer.live, viewer.pause, viewer.lasts))
        answer_requests(pipe, partial(_same, viewer))


def _same(viewer: Viewer) -> Viewer:
    """The viewer itself: its requests are answered by it alone."""
    return viewer


def _end_with(life: Connection) -> None:
    """End when the server does, however it ends."""
    with suppress(EOFError, OSError):
        life.recv()
    os._exit(0)

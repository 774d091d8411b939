"""One session for many viewers."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import Event, Thread

import pytest

from tests.tui import case
from triage.cli import parser
from triage.cli.walk import made_session
from triage.errors import InputMissingError, TriageError
from triage.model.diagnosis import Evidence
from triage.tui.curves import Curve
from triage.tui.feed import Feed, FeedProcess, Viewer, joined_feed
from triage.tui.session import State
from triage.tui.sides import Sides
from triage.tui.snapshot import Snapshot

INCIDENT = Path(__file__).parent.parent / "incidents" / "retry-storm"


class Counting:
    """A session that counts what is asked of it, and gives a state when it is told to.

    :param live: whether there is more than one state
    :param error: what comes in place of the first state
    """

    name, lasts = "llm", 0.0

    def __init__(self, *, live: bool, error: Exception | None = None) -> None:
        self.live = live
        self.pause = 0.0
        self.takes = 0
        self.looks = 0
        self.next = Event()
        self._error = error

    def take(self, tell: object) -> State:
        """Wait until the test wants a state."""
        assert callable(tell)
        tell("prometheus", "asking", 0.5)
        self.next.wait()
        self.next.clear()
        self.takes += 1
        if self._error is not None:
            raise self._error
        return State(self.takes, "llm", float(self.takes))

    def look_now(self) -> None:
        """Nothing."""

    def snapshot(self, as_of: float | None) -> Snapshot:
        """Count it."""
        self.looks += 1
        return case.snapshot() if as_of is None else case.snapshot(as_of)

    def curve(self, _as_of: float | None, _evidence: Evidence) -> Curve | None:
        """None."""
        return None

    def sides(self, _as_of: float | None, _evidence: Evidence) -> Sides | None:
        """None."""
        return None

    def save(self, path: Path) -> None:
        """Write who it was."""
        path.write_text(self.name)


def silent(_source: str, _text: str, _done: float) -> None:
    """Progress that nobody watches."""


def test_the_service_is_asked_once_for_all() -> None:
    """Two viewers get each state; who comes late has the newest at once; each is asked for once."""
    session = Counting(live=True)
    feed = Feed(session)
    Thread(target=feed.run, daemon=True).start()
    early, other = Viewer(feed), Viewer(feed)
    session.next.set()
    assert [viewer.take(silent).number for viewer in (early, other)] == [1, 1]
    session.next.set()
    assert [viewer.take(silent).number for viewer in (other, early)] == [2, 2]
    late = Viewer(feed)
    assert late.take(silent).number == 2
    assert session.takes == 2


def test_one_viewer_can_have_all_look_at_once() -> None:
    """A feed that rests for an hour begins its next round when somebody wants it."""
    session = Counting(live=True)
    session.pause = 3600.0
    feed = Feed(session)
    Thread(target=feed.run, daemon=True).start()
    viewer = Viewer(feed)
    session.next.set()
    assert viewer.take(silent).number == 1
    session.next.set()
    viewer.look_now()
    assert viewer.take(silent).number == 2


def test_progress_goes_to_who_waits() -> None:
    """What a source says is heard by the viewers that have nothing to show yet."""
    session = Counting(live=True)
    feed = Feed(session)
    viewer, heard = Viewer(feed), list[str]()
    waiting = Thread(target=lambda: viewer.take(lambda source, _text, _done: heard.append(source)))
    waiting.start()
    while not feed._told:
        pass
    Thread(target=feed.run, daemon=True).start()
    session.next.set()
    waiting.join()
    assert heard[0] == "prometheus"


def test_a_recording_that_cannot_be_read_is_told_to_each() -> None:
    """The reason comes to who waits and to who comes late."""
    session = Counting(live=False, error=InputMissingError("x does not exist"))
    feed = Feed(session)
    session.next.set()
    feed.run()
    for _ in range(2):
        with pytest.raises(InputMissingError, match="x does not exist"):
            Viewer(feed).take(silent)


@contextmanager
def served(path: Path) -> Iterator[FeedProcess]:
    """The feed of a recording, in its process."""
    args = parser().parse_args(["walk", str(path)])
    feed = FeedProcess(partial(made_session, {name: value for name, value in vars(args).items() if name != "command"}))
    try:
        yield feed
    finally:
        feed.close()


@pytest.mark.slow
def test_viewers_of_another_process_share_it(tmp_path: Path) -> None:
    """Over the socket a viewer sees what the session gives; the socket is this user's alone; its end is told."""
    with served(INCIDENT) as feed:
        address = Path(feed.environ["TRIAGE_FEED"])
        assert address.parent.stat().st_mode & 0o077 == 0
        one, other = joined_feed(feed.environ), joined_feed(feed.environ)
        assert one is not None
        assert other is not None
        assert (one.name, one.live) == ("retry-storm", False)
        assert one.take(silent) == other.take(silent)
        snapshot = one.snapshot(None)
        assert snapshot == other.snapshot(None)
        assert one.sides(None, snapshot.diagnosis.findings[0].evidence[0]) is not None
        one.save(tmp_path / "kept.parquet")
        assert (tmp_path / "kept.parquet").stat().st_size > 0
        with pytest.raises(TriageError, match="has ended"):
            joined_feed({**feed.environ, "TRIAGE_FEED_KEY": "another"})
        environ = feed.environ
    with pytest.raises(TriageError, match="has ended"):
        joined_feed(environ)
    with pytest.raises(TriageError, match="ended unexpectedly"):
        one.snapshot(1.0)
    assert joined_feed({}) is None


@pytest.mark.slow
def test_what_cannot_be_read_is_told_over_the_socket(tmp_path: Path) -> None:
    """The error is the one that the session had."""
    with served(tmp_path / "missing") as feed:
        viewer = joined_feed(feed.environ)
        assert viewer is not None
        with pytest.raises(TriageError, match="missing"):
            viewer.take(silent)

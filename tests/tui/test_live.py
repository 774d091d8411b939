"""A service that is watched: snapshots come while the person walks."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from queue import Queue
from typing import Any

import pytest
from textual.message import Message
from textual.pilot import Pilot

from tests.tui import case
from tests.tui.stage import SMALL, picture
from triage.collect import Progress
from triage.errors import TriageError, UsageError
from triage.memory.watch import Watch
from triage.model.recording import Recording, Source, SourceState
from triage.tui import messages
from triage.tui.app import WalkApp
from triage.tui.recordings import Taken
from triage.tui.widgets.choices import Choices

pytestmark = pytest.mark.slow


class Script:
    """A source of recordings that brings what the test says, when it says so."""

    name, live, pause = "llm", True, 0.0
    watch: Watch | None = None

    def __init__(self) -> None:
        self.queue: Queue[Recording | TriageError | None] = Queue()
        self._number = 0

    def take(self, tell: Progress) -> Taken:
        """The next thing of the script; None is a word on the progress."""
        while True:
            said = self.queue.get()
            if isinstance(said, TriageError):
                raise said
            if said is not None:
                break
            tell("prometheus", "asking \x1b[2J[red]x[/red]", 0.4)
        self._number += 1
        return Taken(self._number, said, said)


class Watching:
    """A walk over a scripted source of recordings."""

    def __init__(self) -> None:
        self.script = Script()
        self.app = WalkApp(case.session(self.script), case.playbook)
        self.pilot: Pilot[Any] | None = None
        self._seen: asyncio.Queue[type[Message]] = asyncio.Queue()

    def hear(self, message: Message) -> None:
        """Note what the app was told."""
        if isinstance(message, messages.Diagnosed | messages.Told):
            self._seen.put_nowait(type(message))

    async def bring(self, said: Recording | TriageError | None) -> str:
        """Bring something, wait for what comes of it, and give the picture."""
        assert self.pilot is not None
        self.script.queue.put(said)
        if not isinstance(said, TriageError):
            wanted: type[Message] = messages.Told if said is None else messages.Diagnosed
            while await self._seen.get() is not wanted:
                pass
        await self.pilot.pause()
        await self.pilot.pause()
        return picture(self.app)

    async def press(self, *keys: str) -> str:
        """Press keys and give the picture."""
        assert self.pilot is not None
        await self.pilot.press(*keys)
        await self.pilot.pause()
        return picture(self.app)


@asynccontextmanager
async def watching() -> AsyncIterator[Watching]:
    """A walk that waits for its first recording."""
    watch = Watching()
    async with watch.app.run_test(size=SMALL, notifications=True, message_hook=watch.hear) as pilot:
        watch.pilot = pilot
        await pilot.pause()
        yield watch


def until(seconds: float) -> Recording:
    """What is known so many seconds after the window's start."""
    return case.recording(case.START + seconds)


def failed(held: Recording) -> Recording:
    """The same when the source of metrics has died."""
    return replace(held, sources=(Source("prometheus", SourceState.FAILED, "connection refused"),))


def test_a_long_collection_shows_its_progress() -> None:
    """Before there is anything to show each source tells how far it is; later the line on top does."""

    async def watch() -> None:
        async with watching() as w:
            assert "gathering" in picture(w.app)
            assert "prometheus     ████████░░░░░░░░░░░░  40%  asking �[red]x[/red]" in await w.bring(None)
            await w.bring(until(600))
            assert "live 08:10:00, prometheus 40%" in await w.bring(None)

    asyncio.run(watch())


def test_what_changed_is_shown_and_the_place_is_kept() -> None:
    """A new snapshot marks what became different and leaves the highlight, and the screen, where they were."""

    async def watch() -> None:
        async with watching() as w:
            assert "✔ HEALTHY" in await w.bring(until(60))
            await w.press("enter", "down")
            assert w.app.screen.query_one(Choices).chosen == "rule:true-overload"
            shown = await w.bring(until(600))
            assert shown.startswith(" llm › platform")
            assert "△ was no" in shown
            assert w.app.screen.query_one(Choices).chosen == "rule:true-overload"
            top = await w.press("escape")
            assert "△ 08:10:00 Retries keep the overload alive (retry-storm): found now" in top
            assert "✖ INCIDENT" in top

    asyncio.run(watch())


def test_a_source_that_dies_makes_questions_open() -> None:
    """Neither a crash nor an old answer: what cannot be judged any more is not evaluated, until the source is back."""

    async def watch() -> None:
        async with watching() as w:
            await w.bring(until(600))
            await w.press("n")
            shown = await w.bring(failed(until(610)))
            assert "? INCONCLUSIVE" in shown
            assert "? can't tell △ was yes" in shown
            assert "let Prometheus scrape" in shown
            assert "● yes △ was can't tell" in await w.bring(until(620))

    asyncio.run(watch())


def test_an_earlier_moment_stays_while_snapshots_come() -> None:
    """Who looks at the past is not torn from it; = shows the newest snapshot."""

    async def watch() -> None:
        async with watching() as w:
            await w.bring(until(590))
            await w.press("left_square_bracket")
            assert "as of 08:09:30" in await w.bring(until(600))
            assert "live 08:10:00" in await w.press("equals_sign")

    asyncio.run(watch())


def test_a_round_that_fails_is_told_and_the_next_one_counts() -> None:
    """An error after the first snapshot is a note; watching goes on."""

    async def watch() -> None:
        async with watching() as w:
            await w.bring(until(590))
            await w.bring(UsageError(f"the server said {case.HOSTILE}"))
            shown = await w.bring(until(600))
            assert "live 08:10:00" in shown
            assert "the server said" in shown
            assert "[bold]loud[/bold]" in shown
            assert not {char for char in shown if char != "\n" and not char.isprintable()}

    asyncio.run(watch())


def test_leaving_does_not_wait_for_a_source() -> None:
    """While a round hangs the walk ends at once."""

    async def watch() -> None:
        async with watching() as w:
            await w.bring(until(600))
            await w.press("q")
            assert w.app.return_code == 0

    asyncio.run(watch())

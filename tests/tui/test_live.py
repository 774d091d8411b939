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
from tests.tui.stage import SMALL, picture, press, walking
from triage.collect import Progress
from triage.errors import TriageError, UsageError
from triage.memory.life import Holds
from triage.memory.reference import Pace
from triage.memory.watch import Watch
from triage.model.recording import Recording, Source, SourceState
from triage.tui import messages
from triage.tui.app import WalkApp
from triage.tui.widgets.choices import Choices
from triage.watch.live import Taken

pytestmark = pytest.mark.slow


class Script:
    """A source of recordings that brings what the test says, when it says so."""

    name, live, pause, lasts = "llm", True, 0.0, 0.0

    def __init__(self, watch: Watch | None = None) -> None:
        self.queue: Queue[Recording | TriageError | None] = Queue()
        self.watch = watch
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
        if self.watch is not None:
            self.watch.window(said.window)
        return Taken(self._number, said, said)


class Watching:
    """A walk over a scripted source of recordings."""

    def __init__(self, watch: Watch | None = None) -> None:
        self.script = Script(watch)
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
async def watching(remembers: Watch | None = None) -> AsyncIterator[Watching]:
    """A walk that waits for its first recording.

    :param remembers: what is remembered from one to the next
    """
    watch = Watching(remembers)
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
            assert "diagnosis is still on its way" in await w.press("n")  # nobody has looked: not that nothing was found
            w.app.clear_notifications()
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


def memory(looks: int = 1) -> Watch:
    """A memory that believes what so many looks agree on."""
    return Watch(Pace(shortest=30.0, longest=600.0, keep=1200.0, sampled=True), Holds(raise_looks=looks))


def test_the_states_of_all_looks_stand_under_the_time() -> None:
    """The ribbon shows each look's state, worse ones higher; before the first look there is nothing."""

    async def watch() -> None:
        async with watching(memory()) as w:
            await w.bring(until(60))
            await w.bring(until(600))
            w.app.clear_notifications()
            shown = await w.press()
            (line,) = (line for line in shown.splitlines() if line.startswith(" state"))
            cells = line.removeprefix(" state").strip()
            assert set(cells) == {"▁", "█"}
            assert cells == "".join(sorted(cells))
            await w.press("t")
            assert "states: healthy from" in await w.press()

    asyncio.run(watch())


def test_a_walk_over_one_look_has_no_ribbon_and_no_history() -> None:
    """A recording is one look."""

    async def walk() -> None:
        async with walking() as pilot:
            assert not [line for line in picture(pilot.app).splitlines() if line.startswith(" state")]
            assert "A recording is one look" in await press(pilot, "H")

    asyncio.run(walk())


def test_the_history_tells_what_came_and_went() -> None:
    """Newest first; a line leads to what it is about; what one look alone says is not in it."""

    async def watch() -> None:
        async with watching(memory(looks=2)) as w:
            await w.bring(until(50))
            await w.bring(until(60))
            await w.bring(until(590))
            shown = await w.press("H")
            assert "healthy" in shown
            assert "found" not in shown
            shown = await w.bring(until(600))
            told = [line.strip() for line in shown.splitlines() if "08:1" in line]
            assert any("Retries keep the overload alive (retry-storm): found" in line for line in told)
            assert any("incident, was healthy" in line for line in told)
            while "retry-storm" not in w.app.screen.query_one(Choices).chosen:
                await w.press("down")
            assert "Do repeated attempts keep the service full?" in await w.press("enter")
            assert "history" not in picture(w.app).splitlines()[0]

    asyncio.run(watch())


def test_space_lets_the_screens_stand_still_and_not_the_watch() -> None:
    """Looks go on and are remembered; r shows what has come, space follows again."""

    async def watch() -> None:
        async with watching(memory()) as w:
            await w.bring(until(60))
            assert "live 08:01:00, paused" in await w.press("space")
            shown = await w.bring(until(600))
            assert "live 08:01:00, paused (1 look since)" in shown
            assert "✔ HEALTHY" in shown
            shown = await w.press("r")
            assert "live 08:10:00, paused" in shown
            assert "✖ INCIDENT" in shown
            await w.bring(until(610))
            shown = await w.press("space")
            assert "live 08:10:10" in shown
            assert "paused" not in shown

    asyncio.run(watch())


def test_a_finding_whose_source_has_died_is_shown_as_it_was_seen_last() -> None:
    """With its evidence, and with when that was; nothing is called well."""

    async def watch() -> None:
        async with watching(memory()) as w:
            await w.bring(until(600))
            await w.bring(failed(until(610)))
            shown = await w.press("n")
            assert "● yes last seen 08:10:00" in shown
            assert "✖ INCIDENT last seen 08:10:00" in await w.press("escape")
            shown = await w.bring(failed(until(800)))
            assert "? INCONCLUSIVE" in shown
            assert "● yes last seen 08:10:00" in await w.press("n")

    asyncio.run(watch())

"""Learning in the walk: the list, a lesson to its end, a drill with what is typed; in both languages."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from tests.tui.stage import picture, press, settled, walking
from triage.language.speaking import speak
from triage.learn.cases import find_case
from triage.learn.progress import progress_file, read_progress
from triage.learn.words import book
from triage.tui.learning import Task, lessons
from triage.tui.screens.learning import DrillScreen, LearnScreen, LessonScreen

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _own_progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the developer's own is read or written."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


def walked(steps: Callable[[Pilot[Any]], Awaitable[None]], *, chinese: bool = False, size: tuple[int, int] = (100, 40)) -> None:
    """Walk with some steps."""

    async def walk() -> None:
        speak(book() if chinese else None)
        async with walking(size=size) as pilot:
            await steps(pilot)

    asyncio.run(walk())


async def typed(pilot: Pilot[Any], *lines: str) -> str:
    """Type lines into a drill, and give the picture."""
    for line in lines:
        field = pilot.app.screen.query_one(Input)
        field.value = line
        await press(pilot, "enter")
    return picture(pilot.app)


def test_the_list_opens_from_anywhere_in_the_walk() -> None:
    """Lessons by level and drills by level; Esc goes back to the walk."""

    async def steps(pilot: Pilot[Any]) -> None:
        shown = await press(pilot, "L")
        assert isinstance(pilot.app.screen, LearnScreen)
        assert "to begin with" in shown
        assert "The way down" in shown
        assert "Drill" in await press(pilot, "end")
        await press(pilot, "escape")
        assert not isinstance(pilot.app.screen, LearnScreen)

    walked(steps)


@pytest.mark.parametrize("chinese", [False, True])
def test_a_lesson_goes_to_its_end(*, chinese: bool) -> None:
    """Enter shows the answer, then the next step; the end leads back to the list."""

    async def steps(pilot: Pilot[Any]) -> None:
        lesson = lessons()["heat"]
        pilot.app.push_screen(LessonScreen(lesson))
        await settled(pilot)
        screen = pilot.app.screen
        assert isinstance(screen, LessonScreen)
        shown = picture(pilot.app)
        assert (lesson.title.zh if chinese else lesson.title.en) in shown
        assert ("答案：" if chinese else "Answer:") not in shown
        assert ("答案：" if chinese else "Answer:") in await press(pilot, "enter")
        assert ("第 2 步" if chinese else "Step 2 of 3") in await press(pilot, "enter")
        assert ("第 1 步" if chinese else "Step 1 of 3") in await press(pilot, "left")
        await press(pilot, *["enter"] * 6)
        assert not isinstance(pilot.app.screen, LessonScreen)

    walked(steps, chinese=chinese)


@pytest.mark.parametrize("chinese", [False, True])
def test_a_drill_on_the_screen(tmp_path: Path, *, chinese: bool) -> None:
    """What is typed is shown with what comes of it; the end shows both paths, and the score is kept."""

    async def steps(pilot: Pilot[Any]) -> None:
        pilot.app.push_screen(DrillScreen(Task(find_case("power-cap-a106"), 9, 1, None)))
        await settled(pilot)
        assert ("先看" if chinese else "Look first") in picture(pilot.app)
        shown = await typed(pilot, "gpu.throttle_brake", "grep brake")
        assert "PSU 2 input lost" in shown
        shown = await typed(pilot, "cause power-cap")
        assert ("得分：100/100" if chinese else "Score: 100/100") in shown
        assert read_progress(progress_file({"XDG_STATE_HOME": str(tmp_path)})).drills["power-cap-a106"].best == 100
        await press(pilot, "escape")
        assert not isinstance(pilot.app.screen, DrillScreen)

    walked(steps, chinese=chinese)


def test_hostile_words_stay_words() -> None:
    """What a learner types, and what a recording holds, is never obeyed."""

    async def steps(pilot: Pilot[Any]) -> None:
        pilot.app.push_screen(DrillScreen(Task(find_case("power-cap-a106"), 9, 1, None)))
        await settled(pilot)
        shown = await typed(pilot, "[bold]x[/bold] \x1b[2J", "quit")
        assert "[bold]x[/bold]" in shown
        assert "\x1b" not in shown

    walked(steps)


@pytest.mark.parametrize("size", [(60, 20), (80, 24), (200, 50)])
def test_learning_fits_any_terminal(size: tuple[int, int]) -> None:
    """No line is longer than the screen, and the list scrolls to its last drill."""

    async def steps(pilot: Pilot[Any]) -> None:
        await press(pilot, "L", "end")
        pilot.app.push_screen(LessonScreen(lessons()["by-hand"]))
        await settled(pilot)
        assert "14 GB" in picture(pilot.app) or "14 GB" in await press(pilot, "pagedown")

    walked(steps, size=size)

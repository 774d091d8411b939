"""Each screen by itself, as text on the smallest terminal."""

import asyncio
from collections.abc import Callable
from functools import cache

import pytest

from tests.tui import case
from tests.tui.stage import LARGE, SMALL, Stage, picture, same_as_kept
from triage.model.vocabulary import Layer
from triage.tui.screens.layer import LayerScreen
from triage.tui.screens.overview import ChainScreen, MissingScreen, OddScreen, WhyNotScreen
from triage.tui.screens.playbook import PlaybookScreen
from triage.tui.screens.question import PieceScreen, QuestionScreen, VitalScreen
from triage.tui.screens.search import SearchScreen
from triage.tui.screens.sources import SourcesScreen
from triage.tui.screens.stack import StackScreen
from triage.tui.screens.walk import WalkScreen
from triage.tui.snapshot import Scene
from triage.tui.widgets.choices import Choices

pytestmark = pytest.mark.slow

TINY = (40, 12)

SCREENS: dict[str, Callable[[Scene], WalkScreen]] = {
    "stack": StackScreen,
    "layer": lambda scene: LayerScreen(scene, Layer.PLATFORM),
    "question": lambda scene: QuestionScreen(scene, "retry-storm"),
    "events": lambda scene: QuestionScreen(scene, "timeout-mismatch"),
    "open": lambda scene: QuestionScreen(scene, "thermal-throttle"),
    "vital": lambda scene: VitalScreen(scene, f"error_ratio {case.SERVICE}"),
    "piece": lambda scene: PieceScreen(scene, "rule:retry-storm", "evidence:0"),
    "why-not": WhyNotScreen,
    "missing": MissingScreen,
    "odd": OddScreen,
    "chain": ChainScreen,
    "playbook": lambda scene: PlaybookScreen(scene, case.playbook("retry-storm")),
    "search": SearchScreen,
    "sources": lambda scene: SourcesScreen(scene, {"prometheus": ("asking", 0.4)}),
}


def shown(screen: WalkScreen, size: tuple[int, int] = SMALL) -> str:
    """The picture of a screen alone."""
    return pictures(screen, size)[size]


def pictures(screen: WalkScreen, *sizes: tuple[int, int]) -> dict[tuple[int, int], str]:
    """Pictures of a screen alone in several sizes."""

    async def show() -> dict[tuple[int, int], str]:
        app = Stage(screen)
        taken: dict[tuple[int, int], str] = {}
        async with app.run_test(size=sizes[0]) as pilot:
            for size in sizes:
                await pilot.resize_terminal(*size)
                await pilot.pause()
                taken[size] = picture(app)
        return taken

    return asyncio.run(show())


@cache
def of_screen(name: str) -> dict[tuple[int, int], str]:
    """Pictures of one of the screens, small, large and tiny."""
    return pictures(SCREENS[name](case.scene()), SMALL, LARGE, TINY)


@pytest.mark.parametrize("name", SCREENS)
def test_a_screen_looks_as_it_did(name: str) -> None:
    """On 80 columns and 24 rows each screen shows what it is for."""
    same_as_kept(name, of_screen(name)[SMALL])


@pytest.mark.parametrize("name", SCREENS)
def test_a_screen_fits_a_tiny_terminal(name: str) -> None:
    """Even where there is hardly any room each screen shows the state of the service, and keys."""
    text = of_screen(name)[TINY]
    assert len(text.splitlines()) == TINY[1]
    assert "INCIDENT" in text
    assert "? Help" in text


@pytest.mark.parametrize("name", SCREENS)
def test_hostile_text_is_inert_on_every_screen(name: str) -> None:
    """A log line that holds escape sequences, markup and a link is shown as the characters it is made of, or not at all."""
    text = of_screen(name)[LARGE]
    assert "INCIDENT" in text
    assert not {char for char in text if char != "\n" and not char.isprintable()}
    assert "[bold]loud[/bold]" in text or "loud" not in text


def test_the_stack_of_a_healthy_service() -> None:
    """Where nothing is wrong the first picture says so, and which layers were cleared."""
    same_as_kept("healthy", shown(StackScreen(case.scene(end=case.START + 60.0))))


def test_wide_screens_show_the_chart_beside_the_list() -> None:
    """With room, what is highlighted is told beside the list, with its chart."""
    same_as_kept("stack-wide", of_screen("stack")[LARGE])


def test_a_scene_of_another_time_keeps_the_highlight() -> None:
    """When the snapshot changes, the highlighted row is still the one with that name."""

    async def show() -> tuple[str, str]:
        screen = WhyNotScreen(case.scene())
        app = Stage(screen)
        async with app.run_test(size=SMALL) as pilot:
            await pilot.press("down")
            before = screen.query_one("#list", Choices).chosen
            screen.show(Scene(case.snapshot(case.START + 60.0), case.snapshot()))
            await pilot.pause()
            return before, screen.query_one("#list", Choices).chosen

    before, after = asyncio.run(show())
    assert before == after == "rule:kv-exhaustion-preemption"

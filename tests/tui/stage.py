"""Stages for screens and walks: a tiny app with one screen, a walk driven by keys, and both as plain text."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from textual import events
from textual.app import App
from textual.pilot import Pilot

import triage.tui
from tests.tui import case
from triage.tui.app import WalkApp
from triage.tui.remembered import Remembered
from triage.tui.screens.walk import BREAKPOINTS, WalkScreen
from triage.tui.session import Session
from triage.tui.theme import DARK

PICTURES = Path(__file__).parent / "screens"
SMALL, LARGE = (80, 24), (200, 50)
_PATIENCE = 100
_STEADY = 3


class Stage(App[None]):
    """One screen, with the snapshots of the walk and nothing behind it."""

    CSS_PATH = Path(triage.tui.__file__).parent / "triage.tcss"
    HORIZONTAL_BREAKPOINTS = BREAKPOINTS[0]
    VERTICAL_BREAKPOINTS = BREAKPOINTS[1]

    def __init__(self, screen: WalkScreen) -> None:
        super().__init__()
        self.register_theme(DARK)
        self.theme = DARK.name
        self._shown = screen

    def on_mount(self) -> None:
        """Show the screen."""
        self.push_screen(self._shown)


def picture(app: App[Any]) -> str:
    """The screen as text, one line each, without colours."""
    strips = app.screen._compositor.render_strips(app.size)
    return "".join("".join(segment.text for segment in strip).rstrip() + "\n" for strip in strips)


def same_as_kept(name: str, shown: str) -> None:
    """Compare a picture with the one that was kept; with UPDATE_PICTURES set it is kept instead."""
    path = PICTURES / f"{name}.txt"
    if os.environ.get("UPDATE_PICTURES"):
        path.write_text(shown, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == shown


@asynccontextmanager
async def walking(
    session: Session | None = None, size: tuple[int, int] = SMALL, theme: str = "dark"
) -> AsyncIterator[Pilot[Any]]:
    """A walk that has shown its first snapshot."""
    app = WalkApp(session or case.session(), case.playbook, theme, remembered=Remembered(walked=True))
    async with app.run_test(size=size, notifications=True) as pilot:
        await settled(pilot)
        yield pilot


async def settled(pilot: Pilot[Any]) -> None:
    """Wait until all that was asked for is done and shown: no worker is left, and the picture does not change any more.

    ``Pilot.pause`` would wait for the processor to be idle, which a busy machine never is.
    """
    last, same = "", 0
    for _ in range(_PATIENCE):
        await pilot._wait_for_screen()
        pilot.app.screen._on_timer_update()
        if any(not worker.is_finished for worker in pilot.app.workers):
            await pilot.app.workers.wait_for_complete()
            continue
        shown = picture(pilot.app)
        last, same = shown, same + 1 if shown == last else 0
        if same == _STEADY:
            return


async def press(pilot: Pilot[Any], *keys: str) -> str:
    """Press keys, wait for what comes of each, and give the picture."""
    for key in keys:
        pilot.app.post_message(events.Key(key, key if len(key) == 1 else None))
        await settled(pilot)
    return picture(pilot.app)

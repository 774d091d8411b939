"""The whole walk, driven by keys alone."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from tests.tui import case
from tests.tui.stage import LARGE, SMALL, picture, press, same_as_kept, settled, walking
from triage.errors import InputMissingError, UsageError
from triage.model.playbook import Playbook
from triage.model.recording import Recording
from triage.tui.app import WalkApp
from triage.tui.keys import KEYS
from triage.tui.recordings import Replay
from triage.tui.widgets.choices import Choices

pytestmark = pytest.mark.slow

_PAPER = "c5c8c6"
"""What an exported picture is drawn on; no part of the screen."""


def walked(steps: Callable[[Pilot[Any]], Awaitable[None]], **how: Any) -> None:
    """Walk with some steps."""

    async def walk() -> None:
        async with walking(**how) as pilot:
            await steps(pilot)

    asyncio.run(walk())


def after(*keys: str, **how: Any) -> str:
    """The picture after some keys."""
    shown = ""

    async def steps(pilot: Pilot[Any]) -> None:
        nonlocal shown
        shown = await press(pilot, *keys) if keys else picture(pilot.app)

    walked(steps, **how)
    return shown


def top(shown: str) -> str:
    """Where the walk is, from the line on top."""
    return shown.splitlines()[0].split("  ")[0].strip()


def test_the_first_picture_tells_all() -> None:
    """One look: the state, what is wrong since when, where in the stack, and the finding with its proof."""
    shown = after()
    for words in (
        "✖ INCIDENT",
        "error ratio",
        "since 08:02:20",
        "✖ platform",
        "Retries keep",
        "requests waiting (mean) 84 requests > 8",
    ):
        assert words in shown
    assert "Cut the load at the gateway" in shown


def test_down_from_the_stack_to_the_proof() -> None:
    """Enter goes into the layer, its question, and the evidence alone; escape goes back up the same way."""

    async def steps(pilot: Pilot[Any]) -> None:
        places = [top(await press(pilot, key)) for key in ("enter", "enter", "enter", "escape", "escape", "escape", "escape")]
        assert places == [
            "llm › platform",
            "llm › platform › retry-storm",
            "llm › retry-storm › queue.waiting",
            "llm › platform › retry-storm",
            "llm › platform",
            "llm",
            "llm",
        ]

    walked(steps)


def test_the_keys_of_vi_walk_too() -> None:
    """l, h, j and k move as the arrows and Enter do."""

    async def steps(pilot: Pilot[Any]) -> None:
        assert top(await press(pilot, "l", "j", "l")) == "llm › platform › timeout-mismatch"
        assert top(await press(pilot, "h", "k", "l")) == "llm › platform › retry-storm"
        assert top(await press(pilot, "left", "backspace")) == "llm"

    walked(steps)


def test_a_symptom_leads_to_its_causes() -> None:
    """From what users notice one goes to the evidence, and on to the cause."""

    async def steps(pilot: Pilot[Any]) -> None:
        shown = await press(pilot, "up", "up", "enter")
        assert top(shown) == "llm › error ratio"
        assert "Retries keep the overload alive" in shown
        assert top(await press(pilot, "down", "enter")) == "llm › platform › retry-storm"

    walked(steps)


def test_next_finding_goes_round() -> None:
    """The key n takes the findings in order of rank, N backwards, from wherever one is."""

    async def steps(pilot: Pilot[Any]) -> None:
        places = [top(await press(pilot, key)) for key in ("n", "n", "n", "N", "escape")]
        storm, hop = "llm › platform › retry-storm", "llm › platform › timeout-mismatch"
        assert places == [storm, hop, storm, hop, "llm"]

    walked(steps)


def test_each_list_is_one_key_away() -> None:
    """What was ruled out, what is missing, the chain, sources, playbook, search: from anywhere, and escape goes back."""
    lists = {
        "w": ("why not", "otherwise > 4.5"),
        "u": ("odd", "cannot renew lease 4711"),
        "m": ("not evaluated", "run dcgm-exporter on the nodes"),
        "c": ("what follows from what", "↺ loop: feeds retry-storm again"),
        "o": ("sources", "no NVIDIA driver is here"),
        "p": ("playbook retry-storm", "kubectl top <pod>"),
        "slash": ("search", "kind, question, signal"),
    }

    async def steps(pilot: Pilot[Any]) -> None:
        await press(pilot, "enter")
        for key, (place, words) in lists.items():
            shown = await press(pilot, key)
            assert top(shown) == f"llm › {place}"
            assert words in shown
            assert top(await press(pilot, "escape")) == "llm › platform"

    walked(steps)


def test_lists_lead_to_questions() -> None:
    """A row of a list is the way to the question itself."""

    async def steps(pilot: Pilot[Any]) -> None:
        assert top(await press(pilot, "w", "down", "enter")) == "llm › engine › kv-exhaustion-preemption"
        assert top(await press(pilot, "c", "down", "enter")) == "llm › platform › timeout-mismatch"
        assert top(await press(pilot, "N", "down", "down", "down", "enter")) == "llm › platform › true-overload"

    walked(steps)


def test_search_narrows_while_typing() -> None:
    """Words are looked for in ids, titles, questions and signals; Enter goes to what is highlighted."""

    async def steps(pilot: Pilot[Any]) -> None:
        shown = await press(pilot, "slash", *"cache")
        assert "KV cache full" in shown
        assert "Demand above" not in shown
        assert top(await press(pilot, "enter")) == "llm › engine › kv-exhaustion-preemption"
        await press(pilot, "escape", *["backspace"] * 5)
        assert top(await press(pilot, *"queue", "enter")) == "llm › queue.waiting"
        assert "nothing fits" in await press(pilot, "escape", *"zzz", "enter")

    walked(steps)


def test_a_signal_is_shown_over_time() -> None:
    """From the sources any signal that was measured can be seen, with its chart."""
    shown = after("o", "down", "down", "enter", size=LARGE)
    assert top(shown) == "llm › queue.waiting"
    assert "Requests accepted by the engine that wait to be scheduled." in shown
    assert "07:50:05" in shown


def test_time_goes_back_and_forth() -> None:
    """The time steps and jumps between moments; verdicts are as of then, and = is the end again."""

    async def steps(pilot: Pilot[Any]) -> None:
        assert "as of 08:09:40" in await press(pilot, "left_square_bracket")
        assert "recorded 08:10:00" in await press(pilot, "right_square_bracket")
        await press(pilot, *["left_curly_bracket"] * 2)
        assert "as of 08:02:00" in await press(pilot, "left_curly_bracket")
        shown = await press(pilot, "left_curly_bracket")
        assert "as of 08:01:00" in shown
        assert "✔ HEALTHY" in shown
        assert "as of 08:02:00" in await press(pilot, "right_curly_bracket")
        assert "recorded 08:10:00" in await press(pilot, "equals_sign")

    walked(steps)


def test_a_question_is_answered_as_of_then() -> None:
    """On a question the same keys show how its answer came about."""

    async def steps(pilot: Pilot[Any]) -> None:
        shown = await press(pilot, "n", *["left_curly_bracket"] * 4)
        assert top(shown) == "llm › platform › retry-storm"
        assert "○ no" in shown
        assert "● yes" in await press(pilot, "equals_sign")

    walked(steps)


def test_the_command_is_copied() -> None:
    """The key y copies the query of the highlighted evidence, shows it, and keeps it for the end."""

    async def steps(pilot: Pilot[Any]) -> None:
        shown = await press(pilot, "n", "y")
        assert "Copied" in shown
        app = pilot.app
        assert isinstance(app, WalkApp)
        assert app.copies == ['sum(avg_over_time(vllm:num_requests_waiting{service="llm"}[10m]))']
        assert app.clipboard == app.copies[0]

    walked(steps, size=LARGE)


def test_what_has_no_command_says_so() -> None:
    """Copying where there is nothing to copy is no error."""
    assert "no command for this" in after("m", "y")


def test_the_recording_is_saved(tmp_path: Path) -> None:
    """The key s asks for a name and writes; a file that is there is left alone."""

    async def steps(pilot: Pilot[Any]) -> None:
        path = tmp_path / "a.x"
        await press(pilot, "s")
        pilot.app.screen.query_one("#path").value = str(path)  # type: ignore[attr-defined]
        assert "Saved as" in await press(pilot, "enter")
        assert path.read_text() == "llm until 1800000600\n"
        await press(pilot, "s")
        pilot.app.screen.query_one("#path").value = str(path)  # type: ignore[attr-defined]
        assert "choose another name" in await press(pilot, "enter")
        await press(pilot, "s")
        assert "Save the recording" not in await press(pilot, "escape")

    walked(steps, size=LARGE)


def test_the_finding_is_copied_as_markdown() -> None:
    """The key Y copies the finding on the screen, else the first: heading, evidence, steps, and how to check it by hand."""

    async def steps(pilot: Pilot[Any]) -> None:
        assert "timeout-mismatch as Markdown" in await press(pilot, "n", "n", "Y")
        assert "### llm: A hop gives up before the answer" in pilot.app.clipboard
        assert "\x1b" not in pilot.app.clipboard
        await press(pilot, "escape", "m", "Y")
        assert pilot.app.clipboard.startswith("### llm: Retries keep the overload alive\n")
        for words in ("**do first:**", "| requests waiting", "kubectl get pods -l app=llm", "sum(avg_over_time("):
            assert words in pilot.app.clipboard

    walked(steps, size=LARGE)


def test_the_report_is_exported(tmp_path: Path) -> None:
    """The key e asks for a name, which tells the format, and says where the report is; a file that is there is left alone."""

    async def steps(pilot: Pilot[Any]) -> None:
        for name, begin in (("r.html", "<!DOCTYPE html>"), ("r.md", "**✖ INCIDENT"), ("r.json", "{"), ("r.txt", "✖ INCIDENT")):
            await press(pilot, "e")
            assert pilot.app.screen.query_one("#path").value == "llm-2027-01-15T081000.html"  # type: ignore[attr-defined]
            pilot.app.screen.query_one("#path").value = str(tmp_path / name)  # type: ignore[attr-defined]
            assert "The report is in" in await press(pilot, "enter")
            assert (tmp_path / name).read_text(encoding="utf-8").startswith(begin)
        for name, why in (("r.html", "choose another name"), ("r.pdf", "ends with none of"), ("no/r.md", "cannot be written")):
            await press(pilot, "e")
            pilot.app.screen.query_one("#path").value = str(tmp_path / name)  # type: ignore[attr-defined]
            assert why in await press(pilot, "enter")
        assert {path.name for path in tmp_path.iterdir()} == {"r.html", "r.md", "r.json", "r.txt"}

    walked(steps, size=LARGE)


def test_words_instead_of_curves() -> None:
    """The key t shows words where signs and curves were, and again signs and curves."""

    async def steps(pilot: Pilot[Any]) -> None:
        shown = await press(pilot, "t", "n")
        assert "holds: requests waiting (mean)" in shown
        assert "From 4 requests to 148 requests" in shown
        assert not {sign for sign in ("▁▁", "██", "⣀", "⠤", "●") if sign in shown}
        assert "⠤" in await press(pilot, "t")

    walked(steps)


def test_help_lists_every_key() -> None:
    """? shows the keys and the signs; escape or ? closes it."""

    async def steps(pilot: Pilot[Any]) -> None:
        shown = await press(pilot, "question_mark")
        for words in ("what was ruled out", "the causal chain", "command palette", "△ was …", "state of a layer"):
            assert words in shown
        assert "walking" not in await press(pilot, "question_mark")

    walked(steps, size=(120, 70))


def test_the_page_names_every_key() -> None:
    """The documentation has each key of the table."""
    page = (Path(__file__).parent.parent.parent / "docs" / "walk.md").read_text(encoding="utf-8")
    assert [key.shown for key in KEYS if f"`{key.shown}`" not in page] == []


def test_the_palette_knows_everything() -> None:
    """The command palette finds keys by what they do, and kinds of failure by name."""

    async def steps(pilot: Pilot[Any]) -> None:
        assert top(await press(pilot, "ctrl+p", *"causal", "enter")) == "llm › what follows from what"
        assert top(await press(pilot, "ctrl+p", *"KV c", "enter")) == "llm › engine › kv-exhaustion-preemption"

    walked(steps)


def test_clicking_a_key_at_the_foot() -> None:
    """The mouse is optional: the foot of the screen can be clicked."""

    async def steps(pilot: Pilot[Any]) -> None:
        await pilot.click("KeyBar", offset=(picture(pilot.app).splitlines()[-1].index("w Why"), 0))
        await settled(pilot)
        assert top(picture(pilot.app)) == "llm › why not"

    walked(steps)


def test_a_playbook_that_is_missing_is_told() -> None:
    """A kind without a playbook gives a note, and the walk goes on."""

    def none(kind: str) -> Playbook:
        raise UsageError(f"there is no playbook {kind!r}")

    async def walk() -> str:
        app = WalkApp(case.session(), none)
        async with app.run_test(size=SMALL, notifications=True) as pilot:
            await settled(pilot)
            return await press(pilot, "p")

    assert "there is no playbook 'retry-storm'" in asyncio.run(walk())


def test_a_recording_that_cannot_be_read_ends_the_walk_with_the_reason() -> None:
    """The error is the app's result, to be told by the command line."""

    def read(_tell: object) -> Recording:
        raise InputMissingError("x does not exist", "name another")

    app = WalkApp(case.session(Replay("x", read)), case.playbook)

    async def walk() -> None:
        async with app.run_test(size=SMALL) as pilot:
            await settled(pilot)

    asyncio.run(walk())
    assert isinstance(app.return_value, InputMissingError)


def test_a_defect_ends_the_walk_and_shows_no_memory() -> None:
    """What goes wrong inside is the app's result; no traceback with values is painted."""

    def read(_tell: object) -> Recording:
        raise ZeroDivisionError("of the test")

    app = WalkApp(case.session(Replay("x", read)), case.playbook)

    async def walk() -> None:
        async with app.run_test(size=SMALL) as pilot:
            await settled(pilot)

    asyncio.run(walk())
    assert isinstance(app.return_value, ZeroDivisionError)
    assert app.return_code == 1


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_both_themes_show_the_same(theme: str) -> None:
    """Colours carry nothing alone: the text of a screen is the same in the dark and in the light."""
    same_as_kept("walk-question", after("n", theme=theme))


def test_without_colours_all_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """With NO_COLOR all is painted in greys, and the highlighted row still has its bar."""
    monkeypatch.setenv("NO_COLOR", "1")

    async def steps(pilot: Pilot[Any]) -> None:
        assert "▌ ✖ platform" in picture(pilot.app)
        fills = re.findall(r"fill: #(\w{6})", pilot.app.export_screenshot())
        assert fills
        assert [fill for fill in fills if len({fill[:2], fill[2:4], fill[4:]}) > 1 and fill != _PAPER] == []

    walked(steps)


def test_the_highlight_survives_another_width() -> None:
    """Rows are drawn anew for another width, and the highlight stays."""

    async def steps(pilot: Pilot[Any]) -> None:
        await press(pilot, "enter", "down", "down")
        await pilot.resize_terminal(*LARGE)
        await settled(pilot)
        assert pilot.app.screen.query_one(Choices).chosen == "rule:true-overload"

    walked(steps)

"""Panes, filters, the mouse and the foot of the screen."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from textual import events
from textual.color import Color
from textual.content import Content
from textual.geometry import Offset
from textual.pilot import Pilot
from textual.selection import Selection
from textual.strip import Strip

from tests.tui import case
from tests.tui.stage import LARGE, SMALL, picture, press, settled, walking
from tests.tui.test_walk import top, walked
from triage.tui.app import WalkApp
from triage.tui.remembered import Layout, Remembered
from triage.tui.widgets.choices import Choices, Row
from triage.tui.widgets.detail import DetailPane

pytestmark = pytest.mark.slow


def foot(shown: str) -> str:
    """The keys at the foot of a screen."""
    return shown.splitlines()[-1]


def test_the_foot_says_what_the_keys_do_here() -> None:
    """Enter is named where it leads somewhere, Esc where there is something above, and copying where there is a command."""

    async def steps(pilot: Pilot[Any]) -> None:
        assert foot(picture(pilot.app)).startswith("⏎ Open n Next")
        assert foot(await press(pilot, "n")).startswith("esc Up ⏎ Open n Next")
        assert "y Copy" in foot(picture(pilot.app))
        assert "⏎" not in foot(await press(pilot, "enter"))

    walked(steps)


def test_a_filter_narrows_any_list() -> None:
    """Words that are typed after f leave out rows without them, headings of empty groups too; Esc shows all again."""

    async def steps(pilot: Pilot[Any]) -> None:
        shown = await press(pilot, "w", "f", *"bus")
        assert "GPU gone from the bus" in shown
        assert "hardware: 1 question" in shown
        assert "Demand above capacity" not in shown
        assert "engine: 1 question" not in shown
        assert top(await press(pilot, "enter", "enter")) == "llm › hardware › gpu-off-bus"
        shown = await press(pilot, "escape")
        assert "Demand above capacity" not in shown
        shown = await press(pilot, "escape")
        assert top(shown) == "llm › why not"
        assert "Demand above capacity" in shown
        assert "no row holds these words" in await press(pilot, "f", *"zzz")
        assert "Demand above capacity" in await press(pilot, "escape")

    walked(steps)


@pytest.mark.parametrize("key", ["w", "m", "u", "c", "o", "p", "n", "enter"])
def test_each_list_has_a_filter(key: str) -> None:
    """On every list the words leave something out."""

    async def steps(pilot: Pilot[Any]) -> None:
        await press(pilot, key)
        assert "no row holds these words" in await press(pilot, "f", *"zq")

    walked(steps)


def test_tab_reaches_every_pane() -> None:
    """Also the one for which a small screen has no room, which then gets all of it."""

    async def steps(pilot: Pilot[Any]) -> None:
        shown = await press(pilot, "w", "tab")
        assert isinstance(pilot.app.focused, DetailPane)
        assert "by hand" in shown or "otherwise" in shown
        assert not pilot.app.screen.query_one(Choices).display
        await press(pilot, "tab")
        assert isinstance(pilot.app.focused, Choices)
        assert pilot.app.screen.query_one(Choices).display

    walked(steps)


def test_shift_and_arrows_move_in_the_other_pane() -> None:
    """The list keeps the keys while the words beside it scroll; from there the same keys move in the list."""

    async def steps(pilot: Pilot[Any]) -> None:
        await press(pilot, "n")
        detail = pilot.app.screen.query_one(DetailPane)
        await press(pilot, "shift+down", "shift+down")
        assert isinstance(pilot.app.focused, Choices)
        assert detail.first_word == 2
        assert pilot.app.screen.query_one(Choices).chosen == "evidence:0"
        await press(pilot, "shift+up", "tab", "shift+down")
        assert pilot.app.screen.query_one(Choices).chosen == "evidence:1"

    walked(steps)


def test_a_pane_is_zoomed() -> None:
    """Z gives the pane with the keys the whole screen, and takes it back."""

    async def steps(pilot: Pilot[Any]) -> None:
        await press(pilot, "n", "z")
        assert not pilot.app.screen.query_one(DetailPane).display
        assert pilot.app.screen.query_one(Choices).size.height > 15
        await press(pilot, "z", "tab", "z")
        assert not pilot.app.screen.query_one(Choices).display
        await press(pilot, "z")
        assert pilot.app.screen.query_one(Choices).display

    walked(steps)


def test_panes_stand_side_by_side_from_150_columns_on() -> None:
    """On fewer columns they stand below each other."""
    for columns, is_beside in ((149, False), (150, True)):

        async def steps(pilot: Pilot[Any], is_beside: bool = is_beside) -> None:
            screen = pilot.app.screen
            assert (screen.query_one(DetailPane).region.x > 0) is is_beside

        walked(steps, size=(columns, 40))


def test_the_split_is_moved_and_remembered() -> None:
    """< and > move the border, on all screens; colours, shares and that somebody has walked are kept."""
    kept: list[Remembered] = []

    async def walk() -> None:
        app = WalkApp(case.session(), case.playbook, keep=kept.append)
        async with app.run_test(size=LARGE) as pilot:
            await settled(pilot)
            assert "new here?" in picture(app)
            before = app.screen.query_one(Choices).size.width
            await press(pilot, "less_than_sign", "less_than_sign")
            assert app.screen.query_one(Choices).size.width < before - 20
            await press(pilot, "enter", "T")
            assert app.screen.query_one(Choices).size.width < before - 20
            assert "new here?" not in await press(pilot, "escape")

    asyncio.run(walk())
    assert kept[-1] == Remembered(theme="triage-light", layout=Layout(columns=30), walked=True)


def clicked(widget: str, find: Callable[[str], tuple[int, int]], size: tuple[int, int] = SMALL, *keys: str) -> str:
    """The picture after a click on something that is found in the picture before."""
    shown = ""

    async def walk() -> None:
        nonlocal shown
        async with walking(size=size) as pilot:
            before = await press(pilot, *keys) if keys else picture(pilot.app)
            await pilot.click(widget, offset=find(before))
            await settled(pilot)
            shown = picture(pilot.app)

    asyncio.run(walk())
    return shown


def test_a_step_on_top_can_be_clicked() -> None:
    """A click on a layer goes up to it, one on the service to the top, one on what is no step nowhere."""
    at: Callable[[str], Callable[[str], tuple[int, int]]] = lambda word: lambda shown: (shown.index(word) + 1, 0)  # noqa: E731
    assert top(clicked("Crumb", at("platform"), SMALL, "n")) == "llm › platform"
    assert top(clicked("Crumb", at("llm"), SMALL, "n", "enter")) == "llm"
    assert top(clicked("Crumb", at("INCIDENT"), SMALL, "n")) == "llm › platform › retry-storm"


def test_the_timeline_can_be_clicked() -> None:
    """A click looks at the moment there, one on a sign at the moment that it stands for, one at the end at the end."""
    on_change = clicked("Timeline", lambda shown: (shown.splitlines()[-2].index("◆"), 0))
    assert "as of 08:01:00" in on_change
    assert "✔ HEALTHY" in on_change
    at_end = clicked("Timeline", lambda shown: (shown.splitlines()[-2].rindex("┃"), 0), SMALL, "left_square_bracket")
    assert "recorded 08:10:00" in at_end


def test_ctrl_c_leaves_from_anywhere() -> None:
    """Also from a line in which words are typed, and from a dialog."""

    async def walk(*keys: str) -> int | None:
        app = WalkApp(case.session(), case.playbook)
        async with app.run_test(size=SMALL) as pilot:
            await settled(pilot)
            await press(pilot, *keys)
            await pilot.press("ctrl+c")
            await pilot.pause()
            assert not app.is_running or app._exit
        return app.return_code

    for keys in ((), ("slash",), ("question_mark",), ("s",), ("w", "f")):
        assert asyncio.run(walk(*keys)) == 0


def test_the_help_is_narrowed_by_typing() -> None:
    """Only keys and signs in which the words stand are left; the help can be left with the key that opened it."""

    async def steps(pilot: Pilot[Any]) -> None:
        shown = await press(pilot, "question_mark", *"causal")
        assert "what follows from what: the causal chain" in shown
        assert "what was ruled out" not in shown
        assert "signs" not in shown
        assert "nothing is called so" in await press(pilot, *"zz")
        assert "causal" not in await press(pilot, "question_mark")

    walked(steps)


def test_the_palette_finds_ids_and_signals_first() -> None:
    """An id that is typed in full is the first choice, and so is a signal."""

    async def steps(pilot: Pilot[Any]) -> None:
        assert top(await press(pilot, "ctrl+p", *"gpu-off-bus", "enter")) == "llm › hardware › gpu-off-bus"
        assert top(await press(pilot, "ctrl+p", *"queue.waiting", "enter")) == "llm › queue.waiting"

    walked(steps)


def test_leaving_while_a_screen_comes_back_is_no_error() -> None:
    """What was still to be shown on a screen that is being taken away is dropped."""

    async def walk() -> WalkApp:
        app = WalkApp(case.session(), case.playbook)
        async with app.run_test(size=SMALL) as pilot:
            await settled(pilot)
            await press(pilot, "v", "m")
            pilot.app.post_message(events.Key("escape", None))
            pilot.app.post_message(events.Key("q", "q"))
        return app

    assert asyncio.run(walk()).return_value is None


@pytest.mark.parametrize("rows", [26, 32, 38, 44, 50])
def test_a_chart_that_is_shown_has_rows_for_its_curve(rows: int) -> None:
    """Where a chart has few rows they belong to the drawing, on every screen on the way down."""

    async def steps(pilot: Pilot[Any]) -> None:
        for _ in range(3):
            shown = picture(pilot.app)
            assert (pilot.app.screen.query_one(DetailPane).curve_rows >= 4) is ("⣀⠤⠒" in shown), shown
            await press(pilot, "enter")

    walked(steps, size=(120, rows))


def test_a_screen_that_was_left_is_filled_anew() -> None:
    """A place of the same kind is shown on the screen of the one before, and nothing of that is left: filter, highlight, zoom."""

    async def steps(pilot: Pilot[Any]) -> None:
        await press(pilot, "w", "down", "f", *"kv", "enter", "z")
        first, row = pilot.app.screen, pilot.app.screen.query_one(Choices).chosen
        assert "GPU gone from the bus" not in await press(pilot, "escape", "escape")
        shown = await press(pilot, "w")
        assert pilot.app.screen is first
        assert "GPU gone from the bus" in shown
        assert pilot.app.screen.query_one(Choices).chosen != row
        assert not pilot.app.screen.has_class("-zoom-list")

    walked(steps, size=LARGE)


def test_a_screen_that_was_left_fits_another_size() -> None:
    """On a terminal of another size it looks as if it were new."""
    fresh = ""

    async def anew(pilot: Pilot[Any]) -> None:
        nonlocal fresh
        fresh = await press(pilot, "n")

    async def again(pilot: Pilot[Any]) -> None:
        await press(pilot, "n", "escape")
        await pilot.resize_terminal(*LARGE)
        await settled(pilot)
        assert await press(pilot, "n") == fresh

    walked(anew, size=LARGE)
    walked(again, size=SMALL)


def test_a_screen_that_was_left_has_the_colours_of_now() -> None:
    """What has become of the theme since is seen on it."""

    async def steps(pilot: Pilot[Any]) -> None:
        await press(pilot, "n", "escape", "T", "n")
        detail = pilot.app.screen.query_one(DetailPane)
        assert detail.visual_style.background == Color.parse(pilot.app.theme_variables["surface"])

    walked(steps, size=LARGE)


def test_a_question_after_another_shows_its_own_chart() -> None:
    """Whatever the screen showed before, its chart and its words are of what it shows now."""

    async def steps(pilot: Pilot[Any]) -> None:
        of_first = await press(pilot, "n")
        of_next = await press(pilot, "n")
        assert top(of_first) != top(of_next)
        assert await press(pilot, "N") == of_first
        await press(pilot, "escape")
        assert await press(pilot, "n") == of_first

    walked(steps, size=LARGE)


def behind(strip: Strip) -> set[object]:
    """Colours behind a line."""
    return {segment.style.bgcolor for segment in strip if segment.style is not None}


def test_words_of_a_detail_can_be_selected() -> None:
    """What the mouse selects is what stands there, and is marked."""

    async def steps(pilot: Pilot[Any]) -> None:
        await press(pilot, "n")
        detail = pilot.app.screen.query_one(DetailPane)
        row = next(y for y in range(detail.size.height) if "threshold 8 requests" in detail.render_line(y).text)
        selection = Selection(Offset(0, row), Offset(9, row))
        assert detail.get_selection(selection) == (detail.render_line(row).text[:9], "\n")
        plain = detail.render_line(row)
        pilot.app.screen.selections = {detail: selection}
        marked = detail.render_line(row)
        assert marked.text == plain.text
        assert behind(marked.crop(0, 9)) != behind(plain.crop(0, 9))
        assert behind(marked.crop(9, 30)) == behind(plain.crop(9, 30))

    walked(steps, size=LARGE)


def test_rows_are_drawn_when_they_are_seen() -> None:
    """A row of one line, as most of a long list are, is not drawn before it is on the screen, and then once."""
    drawn: list[int] = []

    def row(number: int) -> Row:
        def draw(width: int) -> Content:
            drawn.append(number)
            return Content(f"row {number}")

        return Row(f"row:{number}", draw, is_line=True)

    async def steps(pilot: Pilot[Any]) -> None:
        await press(pilot, "w")
        choices = pilot.app.screen.query_one(Choices)
        choices.fill([row(number) for number in range(400)])
        await settled(pilot)
        seen = choices.size.height
        assert drawn == list(range(seen))
        await press(pilot, "down")
        assert drawn == list(range(seen))
        assert "row 399" in await press(pilot, "G")
        assert len(drawn) == 2 * seen

    walked(steps)

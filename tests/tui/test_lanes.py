"""What happened: lanes of ticks below the curve of the trouble, and the lines as they were written."""

from dataclasses import replace
from typing import Any

import pytest
from textual.pilot import Pilot

from tests.tui import case
from tests.tui.stage import LARGE, SMALL, press, same_as_kept
from tests.tui.test_walk import after, top, walked
from triage.model.recording import Event
from triage.tui.lanes import drawn_lanes, lanes_of
from triage.tui.snapshot import Snapshot


def happened(*events: Event) -> Snapshot:
    """A snapshot in which some things happened."""
    return replace(case.snapshot(), events=events)


def at(seconds: float, kind: str, source: str = "", name: str = "x") -> Event:
    """Something so many seconds after the window began."""
    return Event(case.START + seconds, kind, name, text=f"{kind} of {source}", source=source)


def test_each_source_of_logs_has_a_lane_and_changes_come_first() -> None:
    """Changes, restarts and Xids are one lane each, whoever told them; logs one for each file, the one with most lines first."""
    snapshot = happened(
        at(1, "log", "a.log"),
        at(2, "log", "b.log.gz"),
        at(3, "log", "b.log.gz"),
        at(4, "xid", "kern.log"),
        at(5, "restart"),
        at(6, "deploy", "argo"),
        at(7, "config", "git"),
        at(8, "drift", "us"),
    )
    assert [(lane.label, len(lane.times)) for lane in lanes_of(snapshot, (), 9)] == [
        ("changes made", 2),
        ("restarts", 1),
        ("Xids", 1),
        ("logs b.log", 2),
        ("logs a.log", 1),
    ]


def test_what_is_looked_at_comes_first() -> None:
    """The lane with events of the evidence stands on top, with those events of their own."""
    looked = at(9, "log", "z.log")
    lanes = lanes_of(happened(at(1, "deploy"), at(2, "log", "z.log"), looked), (looked,), 9)
    assert lanes[0].label == "logs z.log"
    assert lanes[0].own == (looked.time,)
    assert len(lanes[0].times) == 2


def test_more_sources_than_lines_share_the_last_one() -> None:
    """A hundred files are bounded; nothing that happened is left out of the count."""
    lanes = lanes_of(happened(*(at(n, "log", f"{n:03}.log") for n in range(100))), (), 4)
    assert len(lanes) == 4
    assert lanes[-1].label == "97 more sources"
    assert sum(len(lane.times) for lane in lanes) == 100


def test_a_tick_stands_below_the_moment_of_the_curve() -> None:
    """The onset goes through all lanes; one, several and many events in a cell have other ticks."""
    burst = [at(300, "log", "a.log")] * 12
    drawn = drawn_lanes(happened(at(-300, "log", "a.log"), *burst, at(450, "deploy")), (), 120, 4).plain.splitlines()
    trouble, changes, logs, axis = drawn
    assert trouble.startswith("trouble")
    assert changes.index("▏") == logs.index("▏") == axis.index("▏onset 08:02:20")
    assert logs.index("╵") < logs.index("┊") < logs.index("▏") < logs.index("┃") < changes.index("╵")
    assert logs.rstrip().endswith("13")


def test_no_room_and_nothing_to_draw_give_nothing() -> None:
    """A narrow place, and a time without events."""
    assert not drawn_lanes(case.snapshot(), (), 40, 4)
    assert not drawn_lanes(happened(), (), 120, 4)


def test_in_words_each_lane_is_a_sentence() -> None:
    """For a screen reader there are no ticks."""
    told = drawn_lanes(replace(happened(at(1, "log", "a.log"), at(61, "log", "a.log")), spoken=True), (), 80, 4).plain
    assert told == "logs a.log: 2 events, 08:00:01 to 08:01:01"


@pytest.mark.slow
def test_evidence_of_events_shows_lines_and_lanes() -> None:
    """The lines come first, as they were written, then the lanes; there is no curve of how many there were."""

    async def steps(pilot: Pilot[Any]) -> None:
        shown = await press(pilot, "n", "n", "enter")
        lines = shown.splitlines()
        written = next(place for place, line in enumerate(lines) if "08:02:30 gateway.log: upstream timed out" in line)
        lane = next(place for place, line in enumerate(lines) if "logs gateway.log" in line)
        assert written < lane
        assert not {sign for sign in "⣀⠤⠒⠉" if sign in shown}
        same_as_kept("lanes", shown)

    walked(steps, size=LARGE)


@pytest.mark.slow
def test_all_that_happened_in_order_of_time() -> None:
    """V lists it from anywhere, with the last change before the onset highlighted; a filter narrows it."""

    async def steps(pilot: Pilot[Any]) -> None:
        shown = await press(pilot, "v")
        assert top(shown) == "llm › events"
        assert "▌ 08:01:00 change  changes: deploy v43: engine arguments changed" in shown
        same_as_kept("happened", shown)
        shown = await press(pilot, "f", *"upstream", "enter")
        assert "08:02:30 log     gateway.log: upstream timed out" in shown
        assert "▌ 08:01:00" not in shown

    walked(steps, size=SMALL)


@pytest.mark.slow
def test_hostile_lines_are_only_text() -> None:
    """No escape sequence reaches the screen, and nothing is read as markup."""
    shown = after("v")
    assert "\x1b" not in shown
    assert "[bold]loud[/bold]" in shown

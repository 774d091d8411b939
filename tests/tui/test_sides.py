"""One signal of all subjects side by side, at each scale; and one of them pinned."""

import asyncio
from typing import Any

import numpy as np
import pytest
from textual.pilot import Pilot

from tests.tui import case
from tests.tui.stage import LARGE, SMALL, picture, press, same_as_kept, settled, walking
from tests.tui.test_walk import top, walked
from triage.engine.derived import derive
from triage.engine.frame import Frame
from triage.model.diagnosis import Evidence, Verdict
from triage.model.recording import Origin, Recording, Series, Subject, Window
from triage.model.vocabulary import Scope
from triage.tui.cells import sides_of
from triage.tui.sides import Sides

BAD, WELL, OPEN = Verdict.PRESENT, Verdict.ABSENT, Verdict.UNKNOWN


def fleet(machines: int, cards: int, slow: tuple[int, ...] = ()) -> Frame:
    """Machines with cards of which some do nothing."""
    times = np.arange(0.0, 1200.0, 10.0) + case.START - 600.0
    series: list[Series] = []
    links: dict[Subject, tuple[Subject, ...]] = {}
    for number in range(machines * cards):
        card, node = Subject(Scope.GPU, f"GPU-{number:04}"), Subject(Scope.NODE, f"node-{number // cards:03}")
        values = np.full(len(times), 0.1 if number in slow else 0.9)
        series.append(Series("gpu.util", card, times, values, Origin("dcgm", "DCGM_FI_DEV_GPU_UTIL", f'util{{card="{number}"}}')))
        links[card] = (node,)
        links[node] = ()
    window = Window(case.START, case.START + 590.0, case.START - 600.0)
    return Frame(Recording("llm", window, series, links=links, step=10.0))


def asked(signal: str, **more: object) -> Evidence:
    """Evidence of the service."""
    return case.evidence(signal, OPEN, **more)


def told(sides: Sides | None, scope: Scope) -> list[tuple[str, Verdict]]:
    """Who stands where at a scale."""
    assert sides is not None
    return [(side.subject, side.verdict) for scale in sides.scales if scale.scope is scope for side in scale.sides]


def test_card_machine_and_cluster_are_told_apart() -> None:
    """A machine whose cards are idle stands out as a machine, and each of its cards as a card; the worst come first."""
    sides = sides_of(asked("gpu.util"), fleet(4, 2, slow=(2, 3)))
    assert sides is not None
    assert [scale.scope for scale in sides.scales] == [Scope.SERVICE, Scope.NODE, Scope.GPU]
    assert told(sides, Scope.NODE)[0] == ("node/node-001", BAD)
    assert told(sides, Scope.GPU)[:3] == [("gpu/GPU-0002", BAD), ("gpu/GPU-0003", BAD), ("gpu/GPU-0000", WELL)]
    assert [(scale.beyond, scale.within, scale.open) for scale in sides.scales[1:]] == [(1, 3, 0), (2, 6, 0)]
    assert sides.scales[2].sides[0].part_of == ("node/node-001",)
    assert "2" in sides.scales[2].sides[0].query


def test_one_card_that_is_idle_in_a_machine_of_eight_is_no_bad_machine() -> None:
    """The scale of the trouble is seen: one card, not its machine."""
    sides = sides_of(asked("gpu.util"), fleet(3, 8, slow=(9,)))
    assert {verdict for _, verdict in told(sides, Scope.NODE)} == {WELL}
    assert [subject for subject, verdict in told(sides, Scope.GPU) if verdict is BAD] == ["gpu/GPU-0009"]


def test_a_thousand_cards_are_bounded() -> None:
    """So many as can be looked at are shown; all are counted, and the rest is told by its range."""
    sides = sides_of(asked("gpu.util"), fleet(125, 8, slow=(77,)))
    assert sides is not None
    cards = sides.scales[-1]
    assert (cards.total, cards.beyond, len(cards.sides)) == (1000, 1, 24)
    assert cards.sides[0].subject == "gpu/GPU-0077"
    assert cards.rest == pytest.approx((0.9, 0.9))


def test_a_bound_of_the_sum_is_none_of_its_parts() -> None:
    """84 requests > 8 holds for the service; of two replicas nobody can say which is odd. A bound of a mean holds for each."""
    frame = Frame(case.recording())
    derive(frame)
    sides = sides_of(case.queue(case.recording()), frame)
    assert told(sides, Scope.SERVICE) == [("service/llm", BAD)]
    assert told(sides, Scope.REPLICA) == [("replica/vllm-1", OPEN), ("replica/vllm-0", OPEN)]
    held = sides_of(asked("gpu.util", op="<", threshold=0.5, stat="mean"), fleet(1, 2, slow=(1,)))
    assert told(held, Scope.GPU) == [("gpu/GPU-0001", BAD), ("gpu/GPU-0000", WELL)]


def test_one_subject_and_none() -> None:
    """One has nobody to be compared with; of a signal that nobody has there is nothing."""
    sides = sides_of(asked("gpu.util"), fleet(1, 1))
    assert told(sides, Scope.GPU) == [("gpu/GPU-0000", OPEN)]
    assert sides_of(asked("kv.usage"), fleet(1, 1)) is None
    assert sides_of(asked("event:xid"), fleet(1, 1)) is None


@pytest.mark.slow
def test_the_screen_shows_who_is_beyond() -> None:
    """The highlighted signal of each replica, with its strip; the detail is the highlighted one's own."""

    async def walk() -> tuple[str, str]:
        async with walking(size=SMALL) as pilot:
            await press(pilot, "n", "b")
            small = picture(pilot.app)
            await pilot.resize_terminal(*LARGE)
            await settled(pilot)
            return small, picture(pilot.app)

    small, large = asyncio.run(walk())
    assert top(small) == "llm › requests waiting side by side"
    assert "avg_over_time" in large or "vllm:num_requests_waiting" in large
    same_as_kept("sides", small)
    same_as_kept("sides-wide", large)


@pytest.mark.slow
def test_a_pinned_subject_is_in_all_charts() -> None:
    """Enter pins it; the way back shows its curve in place of the whole's, and Enter again ends that."""

    async def steps(pilot: Pilot[Any]) -> None:
        await press(pilot, "n", "b", "enter")
        assert "◎ vllm-1" in await press(pilot, "escape")
        shown = await press(pilot, "enter")
        assert "◎ replica vllm-1" in shown
        assert "98" in shown
        await press(pilot, "escape", "b", "enter")
        assert "◎" not in await press(pilot, "escape")

    walked(steps)


@pytest.mark.slow
def test_without_a_signal_there_is_nothing_to_compare() -> None:
    """A row without evidence says what to do instead."""

    async def steps(pilot: Pilot[Any]) -> None:
        assert "No signal is highlighted" in await press(pilot, "u", "b")

    walked(steps)

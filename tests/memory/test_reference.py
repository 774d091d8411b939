"""What is usual while a service is watched."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.memory.test_memory import blind, every, ill, well
from triage.memory.life import Holds
from triage.memory.looks import Look, Told, kind_key
from triage.memory.memory import Memory, after
from triage.memory.reference import Pace, Reference, after_look, window_at
from triage.model.diagnosis import Status
from triage.model.recording import Window

SAMPLED = Pace(shortest=10.0, longest=1800.0, keep=5400.0, sampled=True)
SERVED = Pace(shortest=10.0, longest=1800.0, keep=5400.0, sampled=False)


def windows(looks: list[Look], pace: Pace = SAMPLED, begin: float = 0.0) -> list[Window]:
    """The windows of some looks; a server of metrics is asked for half an hour and an hour before it."""
    reference, memory, found = Reference(begin), Memory(), []
    for look in looks:
        latest = Window(look.time - 1800.0, look.time, look.time - 5400.0) if not pace.sampled else Window(0, look.time, 0)
        window = window_at(reference, latest, pace)
        memory = after(memory, look, Holds(raise_looks=1))
        reference = after_look(reference, memory, window, pace, look)
        found.append(window)
    return found


@pytest.mark.parametrize(
    ("end", "window"),
    [(5, (0, 5)), (19, (0, 19)), (20, (10, 20)), (40, (30, 40)), (80, (60, 80)), (4000, (3000, 4000)), (8000, (6650, 8000))],
)
def test_the_window_of_a_sampled_service_grows(end: float, window: tuple[float, float]) -> None:
    """While all is well the last quarter of what is kept is judged, at least ten seconds."""
    made = window_at(Reference(0.0), Window(0.0, end, 0.0), SAMPLED)
    assert (made.start, made.end, made.baseline_start, made.baseline_end) == (*window, max(0.0, end - 5400.0), None)


def test_trouble_does_not_become_its_own_baseline() -> None:
    """From its onset on the window holds all of it, and what is usual is what was before, however long it lasts."""
    calm = [well(time) for time in every(10, 10, 400)]
    trouble = [ill(time, since=390.0) for time in every(10, 410, 20000)]
    made = windows([*calm, *trouble])[len(calm) :]
    assert {(one.start, one.baseline_start, one.baseline_end) for one in made[1:]} == {(307.5, 0.0, None)}
    assert made[-1].end == 20000


def test_trouble_that_was_there_from_the_first_look_has_nothing_to_be_compared_with() -> None:
    """What was usual before nobody knows; the trouble is not taken for it."""
    made = windows([ill(time, since=None) for time in every(10, 10, 2000)])
    assert {(one.start, one.baseline_start) for one in made} == {(0.0, 0.0)}


def test_a_server_of_metrics_is_compared_with_the_hour_before_the_trouble() -> None:
    """Also when that lies further back than the server is asked for."""
    begin = 100_000.0
    calm = [well(begin + 5400 + time) for time in every(15, 15, 300)]
    onset = begin + 5600.0
    trouble = [ill(begin + 5400 + time, since=onset) for time in every(15, 315, 9000)]
    made = windows([*calm, *trouble], SERVED, begin)
    assert made[len(calm)].start == begin + 5400 + 315 - 1800
    assert {(one.start, one.baseline_start) for one in made[len(calm) + 1 :]} == {(begin + 5400 + 315 - 1800, begin)}


def test_after_the_trouble_what_was_before_it_is_usual_until_enough_has_come_after() -> None:
    """The trouble itself is neither judged nor compared with."""
    calm = [well(time) for time in every(10, 10, 400)]
    trouble = [ill(time, since=390.0) for time in every(10, 410, 900)]
    after_it = [well(time) for time in every(10, 910, 2000)]
    made = windows([*calm, *trouble, *after_it])
    at = {one.end: one for one in made}
    assert (at[1030].start, at[1030].baseline_end) == (307.5, None)
    assert (at[1100].start, at[1100].baseline_start, at[1100].baseline_end) == (910.0, 0.0, 307.5)
    assert (at[1300].baseline_start, at[1300].baseline_end) == (910.0, None)
    assert (at[2000].start, at[2000].baseline_start) == (2000 - 1090 / 4, 910.0)


def test_a_relapse_is_compared_with_what_was_before_the_first_time() -> None:
    """It begins no earlier than the first one ended."""
    calm = [well(time) for time in every(10, 10, 400)]
    looks = [*calm, *(ill(time, since=390.0) for time in every(10, 410, 900)), *map(well, every(10, 910, 1100))]
    made = windows([*looks, *(ill(time, since=390.0) for time in every(10, 1110, 1500))])
    assert (made[-1].start, made[-1].baseline_start, made[-1].baseline_end) == (910.0, 0.0, 307.5)


def test_a_finding_that_harms_nobody_holds_what_is_usual_and_not_the_window() -> None:
    """Its evidence leaves the window with time, and then it is gone; what was there from the begin holds nothing."""

    def warned(time: float, since: float) -> Look:
        return Look(time, Status.DEGRADED, {kind_key("thermal-throttle"): Told("hot", since)})

    made = windows([*map(well, every(10, 10, 400)), *(warned(time, 395.0) for time in every(10, 410, 4000))])
    assert (made[-1].start, made[-1].baseline_end) == (3000.0, 307.5)
    standing = windows([warned(time, 0.0) for time in every(10, 10, 4000)])
    assert (standing[-1].start, standing[-1].baseline_end) == (3000.0, None)


def test_what_nobody_could_judge_is_not_usual() -> None:
    """Since the last healthy look nobody knows whether all is well."""
    made = windows([*map(well, every(10, 10, 400)), *map(blind, every(10, 410, 700))])
    assert (made[-1].start, made[-1].baseline_end) == (525.0, 400.0)


looks = st.lists(st.tuples(st.sampled_from((well, ill, blind)), st.floats(1.0, 900.0)), min_size=1, max_size=60)


@given(looks, st.sampled_from((SAMPLED, SERVED)))
def test_every_window_can_be_judged(sequence: list[tuple[object, float]], pace: Pace) -> None:
    """Whatever comes: baseline, window and end stand in order, and no look that saw trouble lies in the baseline."""
    time, told = 0.0, []
    for make, pause in sequence:
        time += pause
        told.append(make(time, since=time - 20.0) if make is ill else make(time))  # type: ignore[operator]
    made = windows(told, pace, begin=0.0)
    for one in made:
        assert one.baseline_start <= one.usual_end <= one.start <= one.end
    seen: list[float] = []
    for look, window in zip(told, made, strict=True):
        assert not any(window.baseline_start < time <= window.usual_end - 1e-6 for time in seen)
        if look.status is Status.INCIDENT:
            seen.append(look.time)


def test_what_was_over_before_anybody_watched_is_left_behind() -> None:
    """The first window tells of trouble that has ended: the next one begins after it, against what was before the trouble."""
    over = Look(10_000.0, Status.INCIDENT, gone={"promise ttft_p95_s service/llm": 9_000.0})
    first, second, third = windows([over, well(10_060.0), well(10_120.0)], SERVED, begin=4_600.0)
    assert (first.start, first.end) == (8_200.0, 10_000.0)
    assert (second.start, second.baseline_start, second.baseline_end) == (9_000.0, 4_600.0, 8_200.0)
    assert third.start == 9_000.0


def test_trouble_that_goes_on_is_not_left_behind() -> None:
    """One promise has ended, another one is still broken."""
    half = ill(10_000.0, since=9_500.0)
    mixed = Look(half.time, half.status, half.there, {"promise itl_p95_s service/llm": 9_800.0}, half.cause)
    _, second = windows([mixed, ill(10_060.0, since=9_500.0)], SERVED, begin=4_600.0)
    assert second.start <= 9_500.0

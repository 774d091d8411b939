"""Shifts against past, twins and limits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.making import Buckets, Shift, derived
from triage.engine.frame import Frame
from triage.engine.observations.shifts import shifts
from triage.engine.observations.telling import size_of, size_of_one
from triage.model.observation import Observation
from triage.model.vocabulary import Scope


def told(frame: Frame, of: str, against: str = "past") -> list[Observation]:
    return [one for one in shifts(frame).odd if one.of == of and one.against == against]


def only(frame: Frame, of: str, against: str = "past") -> Observation:
    found = told(frame, of, against)
    assert len(found) == 1
    return found[0]


def test_a_level_that_was_left_is_told_with_both_levels_and_the_bad_direction() -> None:
    frame = derived({"node.cpu_pressure": Shift(0.05, 0.5)})
    one = only(frame, "node.cpu_pressure")
    assert one.direction == "worse"
    assert one.value == pytest.approx(0.5, rel=0.15)
    assert one.usual == pytest.approx(0.05)
    assert one.size is not None
    assert 5 < one.size < 8
    assert one.onset is not None
    assert one.onset[0] <= frame.recording.window.start + frame.grid.step
    assert one.onset[1] >= frame.recording.window.start
    assert one.end is None


def test_what_stays_as_it_was_is_judged_and_not_odd() -> None:
    seen = shifts(derived({"node.cpu_pressure": 0.05}))
    assert not [one for one in seen.odd if one.of == "node.cpu_pressure"]
    assert seen.could_tell("shift", ["node.cpu_pressure"], Scope.NODE, "past")
    assert not seen.could_tell("shift", ["node.cpu_pressure"], Scope.NODE, "twins")
    assert not seen.could_tell("shift", ["node.io_pressure"], None)


def test_of_what_fills_up_the_rest_tells_how_bad_it_is() -> None:
    one = only(derived({"kv.usage": Shift(0.6, 0.96)}), "kv.usage")
    assert one.size is not None
    assert 4 < one.size < 8


def test_more_work_than_usual_explains_slower_answers() -> None:
    slower = Buckets((1.0, 4.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0), value=Shift(0.4, 1.2))
    longer = Buckets((500.0, 4000.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0), value=Shift(400.0, 1200.0))
    assert told(derived(histograms={"latency.prefill": slower}), "latency.prefill")
    assert not told(derived(histograms={"latency.prefill": slower, "length.prompt": longer}), "latency.prefill")


def test_one_of_three_twins_that_was_always_worse_is_told_without_onset() -> None:
    frame = derived({f"quality.replica@replica/{name}": 0.5 if name == "c" else 0.8 for name in "abc"})
    one = only(frame, "quality.replica", "twins")
    assert (one.subject.id, one.direction, one.onset, one.attrs["twins"]) == ("c", "worse", None, "2")
    assert one.salient
    assert not told(frame, "quality.replica")


def test_a_counter_that_is_born_with_its_first_event_was_zero_before() -> None:
    refused = {"http.4xx": lambda since: 2.0 if since > 300.0 else float("nan")}
    one = only(derived({**refused, "http.requests": 5.0}), "http.4xx")
    assert (one.direction, one.usual) == ("worse", 0.0)
    assert one.salient
    assert not told(derived(refused), "http.4xx")


def test_of_two_nobody_can_say_which_is_odd() -> None:
    seen = shifts(derived({"quality.replica@replica/a": 0.8, "quality.replica@replica/b": 0.5}))
    assert not seen.odd
    assert not seen.could_tell("shift", ["quality.replica"], Scope.REPLICA, "twins")


def test_what_all_have_is_told_once_and_what_one_has_of_that_one() -> None:
    every = derived({f"queue.waiting@replica/{name}": Shift(0.0, 30.0) for name in "abcd"})
    assert only(every, "queue.waiting").subject.scope is Scope.SERVICE
    one = derived({f"queue.waiting@replica/{name}": Shift(0.0, 30.0 if name == "a" else 0.0) for name in "abcd"})
    assert only(one, "queue.waiting").subject.id == "a"


def test_what_went_back_has_an_end() -> None:
    burst = derived({"queue.waiting": lambda since: 30.0 if 300.0 < since <= 600.0 else 0.0}, inside=1800.0)
    one = only(burst, "queue.waiting")
    start = burst.recording.window.start
    assert one.onset is not None
    assert one.onset[0] <= start + 315.0 <= one.onset[1] + burst.grid.step
    assert one.end == pytest.approx(start + 600.0, abs=2 * burst.grid.step)


def test_two_samples_of_a_source_that_is_read_seldom_are_no_level() -> None:
    seldom = {"queue.waiting": lambda since: (30.0 if since > 900.0 else 0.0) if since % 450.0 == 0.0 else float("nan")}
    assert not told(derived(seldom, inside=1800.0), "queue.waiting")


def test_a_coarse_step_tells_the_same_shift_within_its_step() -> None:
    for step in (15.0, 60.0, 120.0):
        frame = derived({"queue.waiting": lambda since: 30.0 if since > 1200.0 else 0.0}, inside=3600.0, before=3600.0, step=step)
        one = only(frame, "queue.waiting")
        assert one.onset is not None
        assert one.onset[1] - frame.recording.window.start == pytest.approx(1200.0, abs=2 * frame.grid.step)


def test_a_full_batch_is_at_its_limit() -> None:
    one = only(derived({"batch.running": 32.0, "batch.limit": 32.0}), "batch.fill", "limit")
    assert (one.direction, one.onset) == ("worse", None)
    assert one.size == pytest.approx(1.0)


def test_a_resting_card_may_lower_its_clock() -> None:
    slow = {"gpu.sm_clock": 0.6e9, "gpu.sm_clock_max": 1.98e9}
    assert not told(derived({**slow, "gpu.util": 0.0}), "gpu.sm_clock", "limit")
    assert told(derived({**slow, "gpu.util": 0.9}), "gpu.sm_clock", "limit")


@given(st.integers(0, 2**32 - 1), st.floats(0.01, 100.0))
def test_noise_alone_is_never_salient(seed: int, level: float) -> None:
    random = np.random.default_rng(seed)
    rows = {f"engine.step_time@replica/{name}": lambda _since: level * random.lognormal(0.0, 0.1) for name in "abc"}
    assert not [one for one in shifts(derived(rows)).odd if one.salient]


SOME = st.floats(0.0, 2.0) | st.floats(-1e9, 1e9) | st.sampled_from([0.0, 1.0, np.nan])


@given(SOME, SOME, st.sampled_from([0.0, 0.02, 1.0]), st.booleans(), st.booleans())
def test_the_size_of_one_is_that_of_many(value: float, usual: float, floor: float, bounded: bool, up: bool) -> None:
    one = size_of_one(value, usual, floor, bounded=bounded, up=up)
    many = size_of(np.array([value]), np.array([usual]), np.array([floor]), np.array([bounded]), up=up)
    assert np.array_equal(np.array([one]), many, equal_nan=True)

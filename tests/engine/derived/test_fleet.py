"""Replicas side by side: roles, versions, ages, restarts."""

import numpy as np
import pytest

from tests.engine.fleets import BASELINE, SERVICE, before_and_after, frame_of, replica
from triage.engine.derived.fleet import role_of, versions
from triage.engine.frame import Frame


def service_value(frame: Frame, signal: str) -> float | None:
    """The last value of a signal of the service; None if it was not derived."""
    cells = frame.cells(signal, SERVICE)
    return None if cells is None else float(cells[-1])


def test_a_replica_that_ends_requests_after_one_token_does_prefill() -> None:
    """Roles follow from what is computed, and a role that is told comes first."""
    frame = frame_of(
        {
            "tokens.generation": {"p": 1.0, "d": 300.0, "w": 300.0, "t": 300.0},
            "finished": {"p": 1.0, "d": 1.0, "w": 1.0, "t": 1.0},
            "tokens.prompt_computed": {"p": 900.0, "d": 0.0, "w": 900.0, "t": 900.0},
        },
        {"t": {"role": "encode"}},
    )
    assert [role_of(frame, replica(name)) for name in "pdwt"] == ["prefill", "decode", "whole", "encode"]


def test_versions_are_ordered_by_their_first_start() -> None:
    """A pod of the old version that restarts later does not make its version the newer one."""
    frame = frame_of(
        {"process.start_time": {"old": 1.0, "old-again": 900.0, "new": 500.0}},
        {"old": {"image": "v1"}, "old-again": {"image": "v1"}, "new": {"image": "v2"}},
    )
    assert [[one.id for one in group] for group in versions(frame)] == [["old", "old-again"], ["new"]]


def test_the_newest_version_is_measured_by_the_others() -> None:
    """A new version that takes twice as long per token has a slowdown of 2, also once the old one is gone."""
    nan = float("nan")
    rows = {"engine.step_time": {"a": before_and_after(0.02, nan), "b": before_and_after(nan, 0.04)}}
    frame = frame_of(rows, {"a": {"image": "v1"}, "b": {"image": "v2"}})
    assert service_value(frame, "version.slowdown") == pytest.approx(2.0)


def test_one_version_has_no_slowdown() -> None:
    """Without a second version there is nothing to compare with."""
    frame = frame_of({"engine.step_time": {"a": 0.02, "b": 0.04}}, {"a": {"image": "v1"}, "b": {"image": "v1"}})
    assert service_value(frame, "version.slowdown") is None


@pytest.mark.parametrize(("paces", "order"), [((0.02, 0.03, 0.04), 1.0), ((0.04, 0.03, 0.02), 0.0), ((0.02, 0.02, 0.02), 0.0)])
def test_age_order_is_the_share_of_pairs_in_which_the_older_is_slower(paces: tuple[float, ...], order: float) -> None:
    """Three replicas make three pairs; equal speed is no order."""
    starts = {"young": 990_000.0, "middle": 980_000.0, "old": 900_000.0}
    frame = frame_of({"engine.step_time": dict(zip(starts, paces, strict=True)), "process.start_time": starts})
    assert service_value(frame, "age.order") == order


TWO_OLD = {"young": 990_000.0, "younger": 995_000.0, "old": 900_000.0, "older": 800_000.0}
PACES = {"young": 0.02, "younger": 0.02, "old": 0.04, "older": 0.04}


def test_replicas_of_about_the_same_pace_are_in_no_order() -> None:
    """Two old ones are slower than two young ones, and those of the same age are alike."""
    assert service_value(frame_of({"engine.step_time": PACES, "process.start_time": TWO_OLD}), "age.order") == 1.0


def test_who_has_more_to_do_is_not_slower_for_its_age() -> None:
    """The old ones make twice as many tokens."""
    made = {"young": 100.0, "younger": 100.0, "old": 200.0, "older": 200.0}
    frame = frame_of({"engine.step_time": PACES, "process.start_time": TWO_OLD, "tokens.generation": made})
    assert service_value(frame, "age.order") == 0.0


def test_two_replicas_have_no_order_of_age() -> None:
    """One pair is in some order always, so it says nothing."""
    frame = frame_of({"engine.step_time": {"a": 0.02, "b": 0.04}, "process.start_time": {"a": 990_000.0, "b": 900_000.0}})
    assert service_value(frame, "age.order") is None


def restarted(running: list[float]) -> Frame:
    """A replica that starts anew where the window begins, and is twice as fast from then on."""
    return frame_of(
        {
            "engine.step_time": {"a": before_and_after(0.08, 0.04)},
            "process.start_time": {"a": before_and_after(900_000.0, 1_000_000.0)},
            "batch.running": {"a": running},
        }
    )


def test_a_restart_that_makes_a_replica_twice_as_fast_gains_two() -> None:
    """Time per token before the restart is held against that once the process is warm."""
    gain = restarted(before_and_after(10.0, 10.0)).cells("restart.gain", replica("a"))
    assert gain is not None
    assert np.isnan(gain[: BASELINE - 1]).all()
    assert gain[-1] == pytest.approx(2.0)


def test_a_restart_into_idleness_gains_nothing() -> None:
    """An idle process is fast by its nature: without load like before there is no comparison."""
    assert restarted(before_and_after(10.0, 1.0)).cells("restart.gain", replica("a")) is None

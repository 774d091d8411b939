"""Replicas that are lost, and pods that are taken away."""

import numpy as np

from tests.engine.fleets import ORIGIN, START, STEP, Row, frame_of, replica
from tests.engine.making import derived, who
from triage.model.recording import LOG, Event, Origin

NAN = float("nan")


def lost(pod: Row, running: Row) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Whether replica ``a`` counts as lost, while its neighbour goes on."""
    rows = {"pod.ready": {"a": pod, "b": 1.0}, "batch.running": {"a": running, "b": 5.0}}
    cells = frame_of(rows).cells("replica.lost", replica("a"))
    assert cells is not None
    return cells


def test_a_pod_that_stays_listed_and_silent_is_lost() -> None:
    """The cluster still expects it, so its silence is a loss."""
    assert lost([1.0] * 50 + [0.0] * 30, [5.0] * 50 + [NAN] * 30)[-1] == 1.0


def test_a_pod_that_is_taken_away_was_not_lost_in_its_last_moments() -> None:
    """A process ends some scrapes before the cluster lists its pod no more."""
    assert not (lost([1.0] * 50 + [0.0] * 3 + [NAN] * 27, [5.0] * 50 + [NAN] * 30) == 1.0).any()


def test_a_pod_that_is_silent_for_long_before_it_is_taken_away_was_lost() -> None:
    """Ten minutes are no shut-down."""
    assert (lost([1.0] * 50 + [0.0] * 20 + [NAN] * 10, [5.0] * 50 + [NAN] * 30) == 1.0).any()


def test_without_a_list_of_pods_a_successor_leaves_the_loss_open() -> None:
    """One that goes for good while another comes may have been replaced on purpose; nobody can know."""
    old: list[float] = [5.0] * 50 + [NAN] * 30
    alone = frame_of({"batch.running": {"a": old, "b": 5.0}}).cells("replica.lost", replica("a"))
    replaced = frame_of({"batch.running": {"a": old, "b": 5.0, "c": [NAN] * 45 + [5.0] * 35}}).cells("replica.lost", replica("a"))
    assert alone is not None
    assert alone[-1] == 1.0
    assert replaced is not None
    assert np.isnan(replaced[-1])


def test_whose_target_answers_its_scrapes_is_not_lost() -> None:
    """Its values may be dropped on the way; if the target stops to answer, too, it is a loss."""
    silent: list[float] = [5.0] * 50 + [NAN] * 30
    rows: dict[str, dict[str, Row]] = {"batch.running": {"a": silent, "b": 5.0}, "target.up": {"a": 1.0, "b": 1.0}}
    answers = frame_of(rows).cells("replica.lost", replica("a"))
    assert answers is not None
    assert not (answers == 1.0).any()
    refuses = frame_of({**rows, "target.up": {"a": [1.0] * 50 + [0.0] * 30, "b": 1.0}}).cells("replica.lost", replica("a"))
    assert refuses is not None
    assert refuses[-1] == 1.0


def test_an_engine_that_only_its_log_shows_lived_between_its_lines() -> None:
    """Idle engines write nothing. Who began anew in between had ended, and of a silence to the end nobody knows."""
    row: list[float] = [5.0] * 40 + [NAN] * 10 + [5.0] * 10 + [NAN] * 20
    rows: dict[str, dict[str, Row]] = {"batch.running": {"a": row, "b": 5.0}}
    start = Event(START + 5 * STEP, "engine-args", "m", replica("a"), {}, "args", "engine-a.log")
    for origin, events, between, at_the_end in (
        (Origin(LOG, "engine-a.log"), [], 0.0, NAN),
        (Origin(LOG, "engine-a.log"), [start], 1.0, NAN),
        (ORIGIN, [], 1.0, 1.0),
    ):
        cells = frame_of(rows, events=events, origin=origin).cells("replica.lost", replica("a"))
        assert cells is not None
        np.testing.assert_array_equal(cells[[47, 79]], [between, at_the_end])


def test_a_door_that_tells_only_of_what_goes_wrong() -> None:
    """What the engines answered passed it, too; one that counts its answers, or stands beside another, says for itself."""
    signals = {"gateway.5xx": 2.0, "http.2xx": 5.0}
    cells = derived(signals).cells("gateway.requests", who("gateway/gw"))
    assert cells is not None
    assert cells[-1] == 7.0
    for more in ({"gateway.2xx": 5.0}, {"gateway.4xx@gateway/other": 1.0}):
        assert derived(signals | more).cells("gateway.requests", who("gateway/gw")) is None

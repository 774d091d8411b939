"""Harm that falls on a state."""

import pytest

from tests.engine.making import at, derived
from triage.engine.frame import Frame
from triage.engine.observations.coincidence import coincidences
from triage.model.observation import Observation
from triage.model.recording import Event
from triage.model.vocabulary import Scope


def failing(inside: float, outside: float, *events: Event) -> Frame:
    """Failures in five minutes of the window and in the rest of it."""
    lost = {"gateway.5xx": lambda since: inside if 600.0 < since <= 900.0 else outside, "gateway.requests": 10.0}
    away = {"gateway.backends_healthy": lambda since: 0.0 if 600.0 < since <= 900.0 else 2.0}
    return derived({**lost, **away}, events=events, inside=1800.0)


def of_state(frame: Frame, state: str) -> list[Observation]:
    return [one for one in coincidences(frame).odd if one.attrs["state"] == state]


def test_failures_that_fall_on_a_state_are_told_with_share_and_lift() -> None:
    (one,) = of_state(failing(5.0, 0.05), "no-backend")
    assert one.of == "failures"
    assert float(one.attrs["share"]) > 0.9
    assert float(one.attrs["time"]) == pytest.approx(300 / 1800, abs=0.03)
    assert one.size is not None
    assert one.size > 10


def test_failures_that_are_always_there_coincide_with_nothing() -> None:
    frame = failing(1.0, 1.0)
    assert not of_state(frame, "no-backend")
    assert coincidences(frame).could_tell("coincides", ["failures"], Scope.SERVICE)


def test_a_change_is_a_state_for_a_while() -> None:
    assert of_state(failing(5.0, 0.05, at(590.0, "deploy", "v2")), "change-in-progress")
    assert not of_state(failing(5.0, 0.05), "change-in-progress")


def test_a_queue_where_the_cache_is_full_is_told_of_that_replica() -> None:
    full = {
        "kv.usage@replica/a": 0.99,
        "queue.waiting@replica/a": 12.0,
        "kv.usage@replica/b": 0.4,
        "queue.waiting@replica/b": 0.0,
    }
    (one,) = of_state(derived(full), "cache-full")
    assert (one.subject.id, one.of, one.attrs["share"]) == ("a", "queue", "1.00")


def test_cards_that_are_slowed_are_no_cpu_that_is_held_back() -> None:
    """Each is a state of its own."""
    frame = derived(
        {
            "gateway.5xx": lambda since: 5.0 if 600.0 < since <= 900.0 else 0.05,
            "gateway.requests": 10.0,
            "gpu.throttle_thermal": lambda since: float(600.0 < since <= 900.0),
        },
        inside=1800.0,
    )
    assert of_state(frame, "slowed")
    assert not of_state(frame, "throttled")


def test_without_any_harm_measured_nobody_can_say() -> None:
    assert not coincidences(derived({"gateway.backends_healthy": 0.0})).judged

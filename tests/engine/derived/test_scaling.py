"""Replicas that go because fewer are wanted: their silence is no loss."""

import numpy as np
import pytest

from tests.engine.fleets import BASELINE, SERVICE, START, STEP, WINDOW, frame_of, replica
from triage.model.recording import Event, Floats

GONE = BASELINE + 20
"""Cell from which on the replica is silent."""

STEPS = [
    Event(START + 17 * STEP, "log", "replicas-stepped", SERVICE, {"way": "Downscal", "size": "1"}),
    Event(START + 10 * STEP, "log", "rescaled", SERVICE, {"reason": "All metrics below target"}),
    Event(START + 17 * STEP, "scale", "1", SERVICE, {"previous": "2", "version": "1"}),
]

OTHERS = [
    Event(START + 17 * STEP, "log", "replicas-stepped", SERVICE, {"way": "Upscal", "size": "3"}),
    Event(START + 17 * STEP, "log", "replicas-stepped", SERVICE, {"way": "Downscal", "stranger": "yes"}),
    Event(START - 17 * STEP, "log", "replicas-stepped", SERVICE, {"way": "Downscal"}),
    Event(START + 17 * STEP, "scale", "3", SERVICE, {"previous": "2", "version": "3"}),
]


def lost(event: Event) -> Floats:
    """Whether a replica of two is lost, which falls silent in the window."""
    rows = {"a": [4.0] * (BASELINE + WINDOW), "b": [4.0] * GONE + [np.nan] * (BASELINE + WINDOW - GONE)}
    found = frame_of({"batch.running": rows}, events=[event]).cells("replica.lost", replica("b"))
    assert found is not None
    return found


@pytest.mark.parametrize("event", STEPS)
def test_who_goes_after_fewer_were_asked_for_is_not_lost(event: Event) -> None:
    """Whoever tells it: a controller's log, the cluster's events, the list of changes."""
    assert not (lost(event) == 1).any()


@pytest.mark.parametrize("event", OTHERS)
def test_who_goes_otherwise_is_lost(event: Event) -> None:
    """More were asked for, a stranger was made smaller, or it was long before."""
    assert (lost(event)[-10:] == 1).all()

"""Replicas that come and go."""

import numpy as np
import pytest

from tests.engine.fleets import BASELINE, ORIGIN, SERVICE, STEP, WINDOW, replica, times
from triage.engine.derived import derive
from triage.engine.frame import Frame
from triage.model.recording import Floats, Recording, Series, Subject
from triage.model.recording import Window as Span
from triage.model.vocabulary import Scope

CELLS = BASELINE + WINDOW
GATEWAY = Subject(Scope.GATEWAY, "edge")


def frame_of(*rows: tuple[str, Subject, list[float]]) -> Frame:
    """A frame of (signal, subject, value per cell) with its derived signals; NaN is no sample."""
    series = []
    for signal, subject, row in rows:
        values = np.array(row, dtype=float)
        known = ~np.isnan(values)
        series.append(Series(signal, subject, times()[known], values[known], ORIGIN))
    first = float(times()[0]) - STEP
    frame = Frame(Recording("llm", Span(first + BASELINE * STEP, float(times()[-1]), first), series=series, step=STEP))
    derive(frame)
    return frame


def cells(frame: Frame, signal: str, subject: Subject = SERVICE) -> Floats:
    """A derived signal that must be there."""
    row = frame.cells(signal, subject)
    assert row is not None
    return row


def pod(ready_until: int) -> list[float]:
    """A pod that is ready up to a cell and then no longer listed."""
    return [1.0] * ready_until + [np.nan] * (CELLS - ready_until)


def test_a_target_that_rises_and_falls_turns() -> None:
    """2, 4, 3, 3, 5 turns twice; one way only never does."""
    head = [2.0] * (CELLS - 4)
    assert np.nansum(cells(frame_of(("replicas.desired", SERVICE, [*head, 4, 3, 3, 5])), "replicas.turns")) * STEP == 2.0
    assert np.nansum(cells(frame_of(("replicas.desired", SERVICE, [*head, 3, 4, 6, 8])), "replicas.turns")) == 0.0


def test_what_is_asked_for_turns_not_what_an_autoscaler_thinks_of() -> None:
    """A wish that changes with each look, and is held back until it lasts, turns nothing."""
    wish = [3.0 + number % 2 for number in range(CELLS)]
    asked = [4.0] * (CELLS - 10) + [3.0] * 10
    frame = frame_of(("autoscaler.desired", SERVICE, wish), ("replicas.desired", SERVICE, asked))
    assert np.nansum(cells(frame, "replicas.turns")) == 0.0
    assert np.nansum(cells(frame_of(("autoscaler.desired", SERVICE, wish)), "replicas.turns")) > 0.0


def test_a_pod_starts_until_it_was_ready_once() -> None:
    """Its age counts up while it has never been ready, and is nobody's business after that, ready or not."""
    row = [np.nan] * BASELINE + [0.0] * 6 + [1.0] * 10 + [0.0] * (WINDOW - 16)
    frame = frame_of(("pod.ready", replica("a"), row), ("pod.ready", replica("b"), pod(CELLS)))
    age = cells(frame, "pod.starting", replica("a"))
    assert age[BASELINE : BASELINE + 6] == pytest.approx(STEP * np.arange(6))
    assert np.isnan(age[BASELINE + 6 :]).all()


def test_failures_at_the_end_of_a_replica_are_told_from_others() -> None:
    """Of two bursts only the one beside a pod's end counts."""
    errors = [0.0] * CELLS
    errors[BASELINE + 10] = errors[BASELINE + 30] = 1.0
    frame = frame_of(
        ("pod.ready", replica("a"), pod(BASELINE + 10)), ("pod.ready", replica("b"), pod(CELLS)), ("gateway.5xx", GATEWAY, errors)
    )
    near, every = cells(frame, "service.failures_at_endings"), cells(frame, "service.failures")
    assert np.nansum(near) == pytest.approx(0.5 * np.nansum(every))
    assert cells(frame, "service.ending").mean() < 0.1


def test_a_recording_that_ends_is_no_replica_that_ends() -> None:
    """Where all values stop with those of the only replica nothing says that it went; where others go on it did."""
    alone = frame_of(("pod.ready", replica("a"), pod(BASELINE + 10)))
    assert not cells(alone, "service.ending").any()
    beside = frame_of(("pod.ready", replica("a"), pod(BASELINE + 10)), ("gateway.5xx", GATEWAY, [0.0] * CELLS))
    assert cells(beside, "service.ending").any()


def test_without_pods_or_engines_nobody_knows_of_endings() -> None:
    """Errors alone tell nothing of replicas."""
    frame = frame_of(("gateway.5xx", GATEWAY, [1.0] * CELLS))
    assert frame.cells("service.ending", SERVICE) is None
    assert frame.cells("service.failures_at_endings", SERVICE) is None


def test_requests_to_a_replica_that_was_taken_away_are_astray() -> None:
    """A gateway that goes on sending to a pod that is no longer listed is seen, one cell after the pod went."""
    frame = frame_of(
        ("pod.ready", replica("a"), pod(BASELINE + 10)),
        ("pod.ready", replica("b"), pod(CELLS)),
        ("backend.requests", replica("a"), [2.0] * CELLS),
        ("backend.requests", replica("b"), [2.0] * CELLS),
    )
    astray = cells(frame, "backend.stale", replica("a"))
    assert np.nanmax(astray[: BASELINE + 11]) == 0.0
    assert astray[-1] == 2.0
    assert np.nanmax(cells(frame, "backend.stale", replica("b"))) == 0.0

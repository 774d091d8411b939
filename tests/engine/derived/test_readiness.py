"""Whether a replica that counts as ready works."""

import pytest

from tests.engine.fleets import Row, before_and_after, frame_of, replica

NAN = float("nan")


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ({"pod.ready": 1.0, "target.up": before_and_after(1.0, 0.0), "batch.running": before_and_after(5.0, NAN)}, 1.0),
        ({"pod.ready": before_and_after(NAN, 1.0), "target.up": before_and_after(NAN, 0.0)}, 1.0),
        ({"pod.ready": 0.0, "target.up": 0.0, "batch.running": before_and_after(5.0, NAN)}, 0.0),
        ({"pod.ready": 1.0, "target.up": 1.0, "batch.running": 5.0, "tokens.generation": 90.0}, 0.0),
    ],
    ids=["silent", "still loading", "not ready", "working"],
)
def test_ready_and_silent_is_falsely_ready(rows: dict[str, Row], expected: float) -> None:
    """An engine that answers no scrape while its pod is ready takes traffic that it cannot serve."""
    frame = frame_of({signal: {"a": row, "b": 1.0} for signal, row in rows.items()})
    cells = frame.cells("replica.falsely_ready", replica("a"))
    assert cells is not None
    assert cells[-1] == expected


def test_who_works_is_not_falsely_ready_whoever_says_that_it_is() -> None:
    """Without anybody's word on readiness an engine that makes tokens is none; of a silent one nobody can tell."""
    frame = frame_of({"batch.running": {"a": 5.0, "b": before_and_after(5.0, NAN)}, "tokens.generation": {"a": 90.0}})
    working, silent = (frame.cells("replica.falsely_ready", replica(name)) for name in "ab")
    assert working is not None
    assert working[-1] == 0.0
    assert silent is None or not (silent == 0.0).any()


def test_a_gap_in_the_scrapes_of_a_living_process_is_not_taken_for_death() -> None:
    """The same process goes on after the gap, so it worked all the time."""
    gap: list[float] = [1.0] * 50 + [0.0] * 10 + [1.0] * 20
    seen = [900_000.0] * 50 + [NAN] * 10 + [900_000.0] * 20
    frame = frame_of({"pod.ready": {"a": 1.0}, "target.up": {"a": gap}, "process.start_time": {"a": seen}})
    cells = frame.cells("replica.falsely_ready", replica("a"))
    assert cells is not None
    assert not cells.any()

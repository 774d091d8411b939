"""What requests occupy: KV cache, time of a token, connections of clients."""

import numpy as np
import pytest

from tests.engine.fleets import SERVICE, Row, before_and_after, frame_of, replica
from triage.engine.frame import Frame


def last(frame: Frame, signal: str) -> float | None:
    """The last value of a signal of replica ``a``; None if it was not derived."""
    cells = frame.cells(signal, replica("a"))
    return None if cells is None else float(cells[-1])


def kv(running: float, usage: float, length: float = 1000.0) -> dict[str, dict[str, Row]]:
    """A replica with room for 100 000 tokens."""
    return {"batch.running": {"a": running}, "kv.usage": {"a": usage}, "kv.capacity": {"a": 100_000.0}}


def test_tokens_of_the_cache_make_its_fill_where_no_ratio_is_told() -> None:
    """Used by capacity, never more than 1."""
    assert last(frame_of({"kv.used": {"a": 40.0}, "kv.capacity": {"a": 100.0}}), "kv.fill") == pytest.approx(0.4)
    assert last(frame_of({"kv.used": {"a": 140.0}, "kv.capacity": {"a": 100.0}}), "kv.fill") == 1.0


def test_needed_cache_is_that_of_running_requests_of_usual_length() -> None:
    """Twenty requests of 2000 tokens need 40 % of 100 000."""
    frame = frame_of(kv(20.0, 0.5), means={"length.prompt": {"a": 1500.0}, "length.generation": {"a": 500.0}})
    assert last(frame, "kv.needed") == pytest.approx(0.4)


def test_without_lengths_nobody_knows_what_is_needed() -> None:
    """A missing input leaves the account open."""
    assert last(frame_of(kv(20.0, 0.5)), "kv.needed") is None


@pytest.mark.parametrize(("running", "stranded"), [(0.0, 0.9), (2.0, 0.7), (20.0, 0.0)])
def test_stranded_cache_is_beyond_what_the_running_could_hold_at_most(running: float, stranded: float) -> None:
    """Requests of at most 10 000 tokens cannot hold more than 10 % of 100 000 each."""
    frame = frame_of(kv(running, 0.9), {"": {"max_model_len": 10_000.0}})
    assert last(frame, "kv.stranded") == pytest.approx(stranded)


@pytest.mark.parametrize(("fill", "thrown"), [(0.1, 0.0), (0.8, None)])
def test_an_engine_with_room_in_its_cache_throws_nothing_out(fill: float, thrown: float | None) -> None:
    """Where it counts no preemptions; what it counts is believed."""
    assert last(frame_of(kv(4.0, fill)), "preemptions") == thrown
    assert last(frame_of(kv(4.0, fill) | {"preemptions": {"a": 0.5}}), "preemptions") == 0.5


@pytest.mark.parametrize(("running", "share"), [(0.0, 0.8), (0.5, 0.8), (4.0, 0.2)])
def test_cache_for_each_request_counts_at_least_one(running: float, share: float) -> None:
    """What is held while nobody runs is as much as one would hold."""
    assert last(frame_of(kv(running, 0.8)), "kv.per_request") == pytest.approx(share)


def test_time_of_a_token_follows_from_the_batch_and_the_rate() -> None:
    """By Little's law ten running answers at 200 tokens a second take 50 ms a token; an idle engine has no such time."""
    rows = {"batch.running": {"a": 10.0, "b": 0.0}, "tokens.generation": {"a": 200.0, "b": 0.0}}
    frame = frame_of(rows)
    assert last(frame, "token.time") == pytest.approx(0.05)
    assert frame.cells("token.time", replica("b")) is None


def test_finished_answers_come_before_the_rate() -> None:
    """Time of decoding by length is exact where both are measured."""
    frame = frame_of(
        {"batch.running": {"a": 10.0}, "tokens.generation": {"a": 200.0}},
        means={"latency.decode": {"a": 8.0}, "length.generation": {"a": 400.0}},
    )
    assert last(frame, "token.time") == pytest.approx(0.02)


def test_an_engine_is_idle_only_if_it_says_so() -> None:
    """No samples are not idleness."""
    idle = frame_of({"batch.running": {"a": 0.0}, "queue.waiting": {"a": 0.0}, "tokens.generation": {"a": 0.0}})
    assert last(idle, "engine.idle") == 1.0
    assert last(frame_of({"batch.running": {"a": 0.0}}), "engine.idle") is None


def test_an_engine_that_counts_no_tokens_is_idle_where_it_ends_nothing() -> None:
    """Where tokens are counted, those that end say nothing: the last of them may have ended before."""
    held = {"batch.running": {"a": 0.0}, "queue.waiting": {"a": 0.0}}
    assert last(frame_of(held | {"finished": {"a": 0.0}}), "engine.idle") == 1.0
    assert last(frame_of(held | {"finished": {"a": 0.5}}), "engine.idle") == 0.0
    assert last(frame_of(held | {"finished": {"a": 0.0}, "tokens.generation": {"a": 9.0}}), "engine.idle") == 0.0


def test_requests_in_flight_are_pinned_where_they_stand_at_their_most_without_a_queue() -> None:
    """A client with a hundred connections holds a hundred requests; a queue at the engine, or few requests, prove nothing."""

    def share(flight: Row, waiting: Row) -> float:
        cells = frame_of({"batch.running": {"a": flight}, "queue.waiting": {"a": waiting}}).cells("service.pinned", SERVICE)
        assert cells is not None
        return float(np.mean(cells))

    assert share(before_and_after(10.0, 100.0), 0.0) == pytest.approx(0.5)
    assert share(100.0, 5.0) == 0.0
    assert share(4.0, 0.0) == 0.0


def test_requests_are_held_back_where_a_limit_lies_before_the_engines() -> None:
    """The engines run as many as ever and have an empty queue, while the door holds more; with none before them it is demand."""

    def share(at_door: Row, waiting: Row = 0.0, pending: Row | None = None) -> float:
        rows: dict[str, dict[str, Row]] = {"batch.running": {"a": before_and_after(10.0, 20.0)}, "queue.waiting": {"a": waiting}}
        rows |= {"gateway.active": {"lb": at_door}} | ({} if pending is None else {"gateway.pending": {"lb": pending}})
        cells = frame_of(rows).cells("service.held_back", SERVICE)
        assert cells is not None
        return float(np.mean(cells))

    assert share(before_and_after(10.0, 40.0)) == pytest.approx(0.5)
    assert share(before_and_after(10.0, 20.0)) == 0.0
    assert share(40.0, waiting=9.0) == 0.0
    assert share(before_and_after(10.0, 40.0), pending=0.0) == 0.0


def test_a_handful_of_samples_pins_nothing() -> None:
    """Three equal values in a row say nothing of how a number moves."""
    few = [float("nan")] * 77 + [100.0] * 3
    rows: dict[str, dict[str, Row]] = {"batch.running": {"a": few}, "queue.waiting": {"a": 0.0}}
    assert frame_of(rows).cells("service.pinned", SERVICE) is None


def test_prompts_computed_twice_show_in_the_ratio() -> None:
    """1800 tokens computed and 200 taken from the cache for each prompt of 1000 are twice the work."""
    rows = {"tokens.prompt_computed": {"a": 1800.0}, "tokens.prompt_cached": {"a": 200.0}}
    assert last(frame_of(rows, means={"length.prompt": {"a": 1000.0}}), "prefill.repeated") == pytest.approx(2.0)

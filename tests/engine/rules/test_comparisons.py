"""What a value is compared with: its own past, the past of those it replaces, its peers."""

from tests.engine.fleets import before_and_after, frame_of, replica
from triage.engine.frame import Frame
from triage.engine.rules.conditions import judge
from triage.engine.rules.context import Context
from triage.model.diagnosis import Verdict
from triage.model.rule import Measure, Operand

NAN = float("nan")


def verdict(frame: Frame, name: str, bound: Operand) -> Verdict:
    """Whether a replica's queue is above a bound."""
    measure = Measure(signal="queue.waiting", above=bound)
    return judge(measure, Context(frame, replica(name), frame.recording.window.start)).verdict


def test_a_replica_that_a_roll_out_made_is_measured_by_those_before_it() -> None:
    """The new one has no past of its own, so that of its predecessors tells what is usual."""
    frame = frame_of({"queue.waiting": {"old": before_and_after(2.0, NAN), "new": before_and_after(NAN, 9.0)}})
    assert verdict(frame, "new", Operand(baseline=4.0)) is Verdict.PRESENT
    assert verdict(frame, "new", Operand(baseline=5.0)) is Verdict.ABSENT


def test_a_replica_with_a_past_is_measured_by_its_own() -> None:
    """Others do not matter where the replica was there before."""
    frame = frame_of({"queue.waiting": {"a": before_and_after(8.0, 9.0), "b": before_and_after(1.0, 1.0)}})
    assert verdict(frame, "a", Operand(baseline=2.0)) is Verdict.ABSENT


def test_what_must_last_beside_another_signal_is_held_against_it_cell_by_cell() -> None:
    """Both fall together for a while: on average one is above the other's mean, and never above the other itself."""
    both = [5.0] * 50 + [1.0] * 20 + [5.0] * 10
    other = frame_of({"queue.waiting": {"a": both}, "batch.running": {"a": both}})
    bound = Operand(signal="batch.running")
    measure = Measure(signal="queue.waiting", above=bound, lasting=120)
    assert judge(measure, Context(other, replica("a"), other.recording.window.start)).verdict is Verdict.ABSENT
    above = frame_of({"queue.waiting": {"a": both}, "batch.running": {"a": [4.0] * 50 + [0.5] * 20 + [4.0] * 10}})
    look = judge(measure, Context(above, replica("a"), above.recording.window.start))
    assert look.verdict is Verdict.PRESENT


def test_without_any_past_the_comparison_stays_open() -> None:
    """Nobody was there before the window."""
    assert verdict(frame_of({"queue.waiting": {"a": before_and_after(NAN, 9.0)}}), "a", Operand(baseline=2.0)) is Verdict.UNKNOWN


def test_peers_are_those_that_do_the_same_work() -> None:
    """A decode replica with a queue is not compared with prefill replicas, which never have one."""
    rows = {
        "queue.waiting": {"p1": 0.0, "p2": 0.0, "d1": 9.0, "d2": 8.0},
        "tokens.generation": {"p1": 1.0, "p2": 1.0, "d1": 300.0, "d2": 300.0},
        "finished": {"p1": 1.0, "p2": 1.0, "d1": 1.0, "d2": 1.0},
    }
    frame = frame_of(rows)
    assert verdict(frame, "d1", Operand(peers=3.0)) is Verdict.ABSENT
    lone = frame_of({signal: {name: row for name, row in of.items() if name != "d2"} for signal, of in rows.items()})
    assert verdict(lone, "d1", Operand(peers=3.0)) is Verdict.UNKNOWN

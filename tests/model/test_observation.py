"""What was seen, and what could be judged."""

import pytest

from triage.model.observation import Observation, Seen
from triage.model.recording import Subject
from triage.model.vocabulary import Scope

SEEN = Seen(judged=frozenset({("shift", "latency.itl", Scope.REPLICA, "past"), ("life", "killed", Scope.REPLICA)}))


@pytest.mark.parametrize(
    ("of", "scope", "against", "told"),
    [
        ((), None, "", True),
        (("latency.itl",), None, "", True),
        (("latency.*",), Scope.REPLICA, "past", True),
        (("latency.ttft", "latency.itl"), None, "", True),
        (("latency.ttft",), None, "", False),
        (("queue.*",), None, "", False),
        (("latency.itl",), Scope.NODE, "", False),
        (("latency.itl",), None, "twins", False),
    ],
)
def test_what_was_judged_could_have_told(of: tuple[str, ...], scope: Scope | None, against: str, told: bool) -> None:
    assert SEEN.could_tell("shift", of, scope, against) is told


def test_what_compares_nothing_is_judged_without_saying_against_what() -> None:
    assert SEEN.could_tell("life", ["killed"], Scope.REPLICA)
    assert not SEEN.could_tell("said", [], None)


def test_observations_of_a_class_keep_their_order() -> None:
    replica = Subject(Scope.REPLICA, "a")
    odd = (Observation("life", "b", replica, ""), Observation("said", "c", replica, ""), Observation("life", "a", replica, ""))
    both = Seen(odd[:1]) + Seen(odd[1:])
    assert [one.of for one in both.of_sort("life")] == ["b", "a"]
    assert both.of_sort("shift") == []

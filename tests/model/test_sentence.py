"""The lint of sentences itself notices what it is there for."""

import pytest

from tests.sentences import faults

GOOD = "Replica x2x4z and 2 more hold requests and make no step since 12:04:00 (requests waiting 45.9, usually 0)."


def test_a_good_sentence_has_no_fault() -> None:
    assert faults(GOOD) == []
    assert faults("llm-prod waits for replicas since 12:04:00.", "llm-prod") == []


@pytest.mark.parametrize(
    ("bad", "fault"),
    [
        (GOOD + " It ended.", "several sentences"),
        (GOOD + ".", "several sentences"),
        (GOOD[:-1], "no stop at its end"),
        (GOOD.replace("Replica", "replica"), "no capital"),
        (GOOD.replace(" (", ": "), "a list behind a colon"),
        (GOOD.replace("Replica x2x4z", "Replica/x2x4z of replica/a"), "the name of a class"),
        (GOOD.replace("x2x4z", "GPU-77aa0b1c-9e02-4f7d"), "a UUID"),
        (GOOD.replace("requests waiting", 'level=error msg="x"'), "a piece of a raw line"),
        (GOOD.replace("requests waiting", "2026-03-01T10:00:00Z"), "a piece of a raw line"),
        (GOOD.replace("45.9", "an unknown value"), "a value that nobody knows"),
        (GOOD.replace("45.9", "1 requests"), "a number that does not agree"),
        (GOOD.replace("requests waiting", "queue.waiting"), "the id queue.waiting"),
        (GOOD.replace("requests waiting", "engine-dead"), "the id engine-dead"),
        (GOOD.replace(" and 2 more", " and more" * 9), "too long"),
    ],
)
def test_a_fault_is_noticed(bad: str, fault: str) -> None:
    assert fault in faults(bad)

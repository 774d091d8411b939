"""What became different, in words, and in Chinese."""

import pytest

from triage.language.amounts import amount
from triage.language.chinese import phrases
from triage.language.phrases import Book
from triage.memory.life import Turn
from triage.memory.looks import kind_key, promise_key
from triage.memory.memory import CAUSE, STATE, Transition
from triage.memory.words import told

NEAR = 1_800_000_000.0
AT = NEAR - 600.0
KIND, PROMISE, PART = kind_key("retry-storm"), promise_key("ttft_p95_s", "service/llm"), promise_key("answers", "replica/a")


def turn(key: str, which: Turn, title: str = "", **more: object) -> Transition:
    """Something that became different."""
    return Transition(AT, which, key, title, **more)  # type: ignore[arg-type]


TURNS = [
    (turn(STATE, Turn.NEW, now="healthy"), "healthy"),
    (turn(STATE, Turn.CHANGED, now="incident", before="healthy"), "incident, was healthy"),
    (turn(CAUSE, Turn.NEW, "Retries", now="retry-storm"), "cause: Retries (retry-storm)"),
    (turn(CAUSE, Turn.CHANGED, "Retries", now="retry-storm", before="x"), "cause: Retries (retry-storm), was x"),
    (turn(KIND, Turn.NEW, "Retries", severity="critical", since=AT), "Retries (retry-storm): found, critical since 07:50:00"),
    (turn(KIND, Turn.CHANGED, "Retries", severity="critical"), "Retries (retry-storm): now critical"),
    (
        turn(KIND, Turn.CLEARED, "Retries", since=AT - 60.0, until=AT),
        "Retries (retry-storm): over since 07:50:00, after 1 min",
    ),
    (turn(KIND, Turn.FLAPPING, "Retries", since=AT), "Retries (retry-storm): comes and goes since 07:50:00"),
    (turn(KIND, Turn.STEADY, "Retries"), "Retries (retry-storm): stays now"),
    (
        turn(KIND, Turn.LOST, "Retries", until=AT),
        "Retries (retry-storm): let go: nobody could judge it any more since 07:50:00",
    ),
    (turn(PROMISE, Turn.NEW, "TTFT", since=AT), "TTFT: broken since 07:50:00"),
    (turn(PART, Turn.NEW, "answers at all"), "answers at all of replica a: broken"),
    (turn(PROMISE, Turn.CLEARED, "TTFT", since=AT, until=AT), "TTFT: kept again since 07:50:00"),
]


@pytest.mark.parametrize(("one", "words"), TURNS, ids=[words for _, words in TURNS])
def test_a_turn_in_words(one: Transition, words: str) -> None:
    """Each as one line."""
    assert told(one, NEAR) == words


@pytest.mark.parametrize("words", [words for _, words in TURNS])
def test_a_turn_in_chinese(words: str) -> None:
    """Names and ids stay; every word of ours is said."""
    chinese = Book(phrases(), amount).say(words)
    left = chinese.replace("retry-storm", "").replace("Retries", "").replace("TTFT", "").replace(" a", "").replace("x", "")
    assert not [char for char in left if char.isascii() and char.isalpha() and char not in "min"], chinese

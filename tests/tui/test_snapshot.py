"""What a snapshot holds, and how two of them differ."""

import dataclasses

from tests.tui import case
from triage.model.diagnosis import Verdict
from triage.model.recording import Event
from triage.model.vocabulary import Layer
from triage.tui.snapshot import Snapshot, compared, news_of, snapshot_of


def test_every_rule_is_a_question_in_its_layer() -> None:
    """Layers come top down, in each what is there first, then what is ruled out, then what is open."""
    snapshot = case.snapshot()
    assert [(question.rule, question.verdict) for question in snapshot.questions] == [
        ("retry-storm", Verdict.PRESENT),
        ("timeout-mismatch", Verdict.PRESENT),
        ("true-overload", Verdict.ABSENT),
        ("bad-rollout", Verdict.UNKNOWN),
        ("kv-exhaustion-preemption", Verdict.ABSENT),
        ("gpu-off-bus", Verdict.ABSENT),
        ("thermal-throttle", Verdict.UNKNOWN),
    ]
    assert [question.rule for question in snapshot.of_layer(Layer.HARDWARE)] == ["gpu-off-bus", "thermal-throttle"]
    question = snapshot.question("retry-storm")
    assert question is not None
    assert question.text == "Do repeated attempts keep the service full?"


def test_a_rule_that_is_not_known_is_shown_by_its_title() -> None:
    """A diagnosis may speak of a rule that was not loaded here."""
    held = case.recording()
    snapshot = snapshot_of(case.diagnosis(held), (), held)
    assert snapshot.questions[0].text == "Retries keep the overload alive"


def test_texts_are_inert() -> None:
    """Escape sequences and reversed text are gone from evidence and events."""
    snapshot = case.snapshot()
    texts = [event.text for event in snapshot.events] + [e.text for q in snapshot.questions for e in q.evidence]
    assert all(text.isprintable() for text in texts)
    assert sum("loud" in text for text in texts) == 2


def test_time_reaches_from_the_first_sample_to_the_end() -> None:
    """The first finding's layer, the onset and the changes are at hand."""
    snapshot = case.snapshot()
    assert (snapshot.begin, snapshot.end) == (case.START - case.LENGTH + case.STEP, case.START + case.LENGTH)
    assert snapshot.onset == case.ONSET + 20.0
    assert [(mark.time, mark.label) for mark in snapshot.marks] == [(case.START + 60.0, "deploy v43")]


def test_of_a_log_storm_the_changes_are_kept() -> None:
    """Log lines are what is left out of too many events."""
    held = case.recording()
    lines = tuple(Event(case.START, "log", "x", text=str(n)) for n in range(6000))
    snapshot = snapshot_of(case.diagnosis(held), (), dataclasses.replace(held, events=(*lines, *held.events)))
    assert len(snapshot.events) == 5000
    assert snapshot.marks


def moved(before: Snapshot, after: Snapshot) -> tuple[Snapshot, list[str]]:
    """The second snapshot with what became different, and that in words."""
    snapshot = compared(after, before)
    return snapshot, news_of(snapshot)


def test_what_became_different_is_told() -> None:
    """A finding that appears or goes is told by name, other answers by their number."""
    early, late = case.snapshot(case.START + 60.0), case.snapshot()
    snapshot, news = moved(early, late)
    assert snapshot.before == {"retry-storm": Verdict.ABSENT, "timeout-mismatch": Verdict.ABSENT}
    assert news == [
        "08:10:00 Retries keep the overload alive (retry-storm): found now",
        "08:10:00 A hop gives up before the answer (timeout-mismatch): found now",
    ]
    _, news = moved(late, early)
    assert news == [
        "08:01:00 A hop gives up before the answer (timeout-mismatch): ruled out now",
        "08:01:00 Retries keep the overload alive (retry-storm): ruled out now",
    ]


def test_a_source_that_died_is_told_in_a_line() -> None:
    """Many answers that became open at once are counted."""
    held = case.recording()
    blind = snapshot_of(case.blind(held), case.RULES.values(), held)
    _, news = moved(case.snapshot(), blind)
    assert news == [
        "08:10:00 retry-storm (retry-storm): can't tell any more",
        "08:10:00 timeout-mismatch (timeout-mismatch): can't tell any more",
        "08:10:00 can't be judged any more, was ruled out: 3",
    ]


def test_nothing_is_told_of_the_first_snapshot() -> None:
    """There is nothing to compare it with."""
    snapshot = compared(case.snapshot(), None)
    assert (snapshot.before, news_of(snapshot)) == ({}, [])

"""Rules asked of their subjects: who is asked, which evidence wins, what is missing."""

import pytest

from tests.engine.making import Shift, answered, at, frame_of, rule, who
from triage.engine.frame import Frame
from triage.engine.rules.evaluate import evaluate, subjects_of
from triage.model.diagnosis import Verdict
from triage.model.rule import Rule

PRESENT, ABSENT, UNKNOWN = Verdict.PRESENT, Verdict.ABSENT, Verdict.UNKNOWN
nan = float("nan")

FULL = {"signal": "kv.usage", "stat": "max", "at_least": 0.95}
ROOM = {"signal": "queue.waiting", "stat": "mean", "below": 1}


def ruled(frame: Frame, one: Rule) -> Verdict:
    """The verdict of one rule."""
    (ruling,) = evaluate(frame, [one], frame.recording.window.start)
    return ruling.verdict


@pytest.mark.parametrize(
    ("usage", "waiting", "verdict"),
    [
        (0.99, 5, PRESENT),
        (0.99, 0, ABSENT),
        (0.5, 5, ABSENT),
        (0.5, 0, ABSENT),
        (0.99, None, PRESENT),
        (0.5, None, ABSENT),
        (None, 5, UNKNOWN),
        (None, 0, ABSENT),
        (None, None, UNKNOWN),
    ],
)
def test_evidence_for_and_against(usage: float | None, waiting: float | None, verdict: Verdict) -> None:
    """Evidence against wins; evidence for that was looked at and is not there rules out as well; else nobody knows."""
    told = {"kv.usage": usage, "queue.waiting": waiting}
    frame = frame_of({"batch.running": 1, **{name: value for name, value in told.items() if value is not None}})
    assert ruled(frame, rule("full", FULL, refuted_by=ROOM)) is verdict


def test_a_rule_is_present_where_any_subject_has_it_and_absent_where_none_has() -> None:
    """One full replica is a finding; one unknown replica keeps the rule open; all with room rule it out."""
    one = rule("full", FULL)
    assert ruled(frame_of({"kv.usage@replica/a": 0.99, "kv.usage@replica/b": 0.5}), one) is PRESENT
    assert ruled(frame_of({"kv.usage@replica/a": 0.5, "kv.usage@replica/b": Shift(0.5, nan)}), one) is UNKNOWN
    assert ruled(frame_of({"kv.usage@replica/a": 0.5, "kv.usage@replica/b": 0.5}), one) is ABSENT
    assert ruled(frame_of({}), one) is UNKNOWN


def test_the_deciding_evidence() -> None:
    """What is shown of a ruled-out kind is the evidence against it, or the evidence for it that is not there."""
    service = frame_of({"kv.usage": 0.99, "queue.waiting": 0})
    against = answered(service, rule("full", FULL, refuted_by=ROOM))
    assert [e.signal for e in against.deciding] == ["queue.waiting"]
    lacking = answered(frame_of({"kv.usage": 0.5}), rule("full", {"all": [FULL, ROOM]}))
    assert [e.signal for e in lacking.deciding] == ["kv.usage"]
    there = answered(service, rule("full", FULL))
    assert [e.signal for e in there.deciding] == ["kv.usage"]


def test_what_is_missing_is_named_once_in_the_order_of_the_rule() -> None:
    """Signals, events with their names, facts, and what a value could not be compared with."""
    conditions = [
        FULL,
        {"event": "log", "name": ["cuda-oom"], "emitter": "engine", "at_least": 1},
        {"fact": "engine", "matches": "vllm"},
        {"signal": "queue.waiting", "above": {"baseline": 2}},
        FULL,
    ]
    frame = frame_of({"queue.waiting": 5}, before=0)
    answer = answered(frame, rule("x", {"all": conditions}))
    assert answer.verdict is UNKNOWN
    assert answer.missing == (
        "kv.usage",
        "event:log (cuda-oom)",
        "fact:engine",
        "queue.waiting (nothing to compare with: 2 × baseline)",
    )


LINKS = {"gpu/g0": ["node/n1"], "gpu/g1": ["node/n1"], "replica/b": ["node/n1"]}


def test_who_is_asked() -> None:
    """Those that have any of the rule's signals or events; else everybody of the scope; else the service itself."""
    hot = {"signal": "gpu.temp", "above": 80}
    frame = frame_of({"gpu.temp@gpu/g0": 90, "kv.usage": 0.5}, links=LINKS)
    assert subjects_of(frame, rule("hot", hot, scope="gpu")) == [who("gpu/g0")]
    assert subjects_of(frame, rule("any", {"event": "xid", "at_least": 1}, scope="gpu")) == [who("gpu/g0"), who("gpu/g1")]
    assert subjects_of(frame, rule("full", FULL)) == [who("replica/a")]
    assert subjects_of(frame, rule("none", {"signal": "gateway.requests", "above": 1}, scope="gateway")) == [who("service/svc")]
    assert subjects_of(frame, rule("all", hot, scope="service")) == [who("service/svc")]


def test_a_card_that_only_an_event_knows_is_asked() -> None:
    """A card that fell off the bus has no samples; the kernel's report names it."""
    frame = frame_of({"gpu.temp@gpu/g0": 60}, events=[at(5, "xid", "79", subject="gpu/g7")], sources=["log:kernel"])
    one = rule(
        "off", {"any": [{"event": "xid", "name": ["79"], "at_least": 1}, {"signal": "gpu.temp", "above": 95}]}, scope="gpu"
    )
    assert who("gpu/g7") in subjects_of(frame, one)
    assert ruled(frame, one) is PRESENT


def test_all_signals_of_a_rule() -> None:
    """Of evidence for and against, nested as deep as they are, each once."""
    one = rule(
        "x",
        {"all": [FULL, {"not": {"any": [{"gone": "finished"}, {"event": "deploy", "at_least": 1}]}}]},
        refuted_by={"all": [ROOM, FULL]},
    )
    assert one.signals == ("kv.usage", "finished", "queue.waiting")


@pytest.mark.parametrize(
    ("attrs", "earlier", "usual"),
    [
        ({}, 0, False),
        ({}, 6, True),
        ({"untimed": "yes"}, 0, True),
        ({"untimed": "yes", "severity": "critical"}, 0, False),
    ],
)
def test_counted_lines_that_are_no_news_are_no_pattern(attrs: dict[str, str], earlier: int, usual: bool) -> None:
    """Where users are well, lines that came as often before, or nobody knows when, are at most weak, unless they are grave."""
    counted = {"event": "log", "name": ["kv-preempted"], "at_least": 5}
    inside = [at(2500 + 10 * index, "log", "kv-preempted", **attrs) for index in range(6)]
    before = [at(100 * index, "log", "kv-preempted") for index in range(earlier)]
    well = {"gateway.requests@gateway/g": 5.0, "gateway.5xx@gateway/g": 0.0}
    for signals, is_usual in ((well, usual), ({"kv.usage": 0.5}, False)):
        frame = frame_of(signals, events=[*before, *inside], before=3000.0)
        answer = answered(frame, rule("full", counted))
        assert answer.verdict is PRESENT
        assert (answer.grade, answer.usual) == (("weak", True) if is_usual else ("strong", False))

"""How sure a finding is and how bad: the grade of what holds, a step less for doubt, and whether anybody suffers."""

from collections.abc import Mapping
from itertools import product

import pytest

from tests.engine.making import answered, at, frame_of, rule
from triage.engine.explanation.called import Called
from triage.engine.explanation.findings import confidence_of, findings_of, is_effect, present_answers, severity_of
from triage.engine.explanation.state import Harm
from triage.engine.rules.evaluate import Answer, evaluate
from triage.model.diagnosis import Confidence, Severity, Verdict
from triage.model.playbook import Advice
from triage.model.rule import Grade, Rule

HOLDS = {"signal": "kv.usage", "above": 0.5}
HOLDS_TOO = {"signal": "queue.waiting", "above": 1}
IN_LOG = {"event": "log", "name": ["cuda-oom"], "at_least": 1}
FAILS = {"signal": "kv.usage", "above": 0.95}
NOBODY_KNOWS = {"signal": "preemptions", "above": 1}
SIGNALS = {"kv.usage": 0.9, "queue.waiting": 5}
WORDS: dict[Grade, Confidence] = {"proof": "proven", "strong": "likely", "weak": "possible"}


SUFFER = Harm(users=True, inside=True)


def answer(*ways: Mapping[str, object], **told: object) -> Answer:
    """What a rule with these alternatives says of a replica whose cache is fairly full, with a line of its log."""
    frame = frame_of(SIGNALS, events=[at(60, "log", "cuda-oom", subject="replica/a")], sources=["log:engine"])
    one = rule("x", HOLDS, "strong", shows=list(ways), **told)
    return answered(frame, one)


@pytest.mark.parametrize("grade", ["proof", "strong", "weak"])
def test_a_finding_is_as_sure_as_what_holds(grade: Grade) -> None:
    """Each grade has its word."""
    assert confidence_of(answer({grade: HOLDS})) == WORDS[grade]


@pytest.mark.parametrize(("one", "other"), product(("proof", "strong", "weak"), repeat=2))
def test_the_best_that_holds_counts(one: Grade, other: Grade) -> None:
    """In whatever order; what does not hold proves nothing, whatever its grade."""
    best = min((one, other), key=("proof", "strong", "weak").index)
    assert answer({one: HOLDS}, {other: HOLDS}).grade == best
    assert answer({one: HOLDS}, {other: FAILS}).grade == one
    assert [way.verdict for way in answer({one: HOLDS}, {other: FAILS}).holding] == [Verdict.PRESENT]


def test_two_weak_ones_of_independent_families_are_as_good_as_a_strong_one() -> None:
    """Of one family they are not, however many there are; a weak one beside a strong one changes nothing."""
    assert answer({"weak": HOLDS}, {"weak": IN_LOG}).grade == "strong"
    assert answer({"weak": HOLDS}, {"weak": HOLDS_TOO}).grade == "weak"
    assert answer({"weak": HOLDS}, {"weak": HOLDS_TOO}, {"weak": HOLDS}).grade == "weak"
    assert answer({"weak": HOLDS}, {"weak": HOLDS_TOO}, {"weak": IN_LOG}).grade == "strong"
    assert answer({"weak": HOLDS}, {"weak": {"event": "log", "name": ["none"], "at_least": 1}}).grade == "weak"


@pytest.mark.parametrize(("grade", "less"), [("proof", "likely"), ("strong", "possible"), ("weak", "possible")])
def test_doubt_makes_it_one_step_less_sure(grade: Grade, less: Confidence) -> None:
    """What would refute it could not be looked at, or something it brings about is missing; both together are one step, too."""
    assert confidence_of(answer({grade: HOLDS}, refuted_by=NOBODY_KNOWS)) == less
    assert confidence_of(answer({grade: HOLDS, "refuted_by": NOBODY_KNOWS})) == less
    assert confidence_of(answer({grade: HOLDS}, expects=[FAILS])) == less
    assert confidence_of(answer({grade: HOLDS}, expects=[FAILS, FAILS], refuted_by=NOBODY_KNOWS)) == less


@pytest.mark.parametrize("told", [{"refuted_by": FAILS}, {"expects": [HOLDS]}, {"expects": [NOBODY_KNOWS]}, {}])
def test_no_doubt_where_it_was_looked_at(told: dict[str, object]) -> None:
    """A refutation that does not hold, an effect that is there, and one that nobody could see take nothing away."""
    assert confidence_of(answer({"proof": HOLDS}, **told)) == "proven"


def test_one_way_without_doubt_is_enough() -> None:
    """Of two that hold only one could not be contradicted."""
    doubtful, sure = {"strong": HOLDS, "refuted_by": NOBODY_KNOWS}, {"strong": HOLDS_TOO, "refuted_by": FAILS}
    assert answer(doubtful).doubtful
    assert not answer(doubtful, sure).doubtful
    assert answer(doubtful, doubtful).doubtful


def test_what_refutes_or_lacks_its_need_does_not_hold() -> None:
    """An alternative that is refuted is absent, one whose need is not known to be there is unknown."""
    assert answer({"proof": HOLDS, "refuted_by": HOLDS_TOO}).verdict is Verdict.ABSENT
    assert answer({"proof": HOLDS, "needs": NOBODY_KNOWS}).verdict is Verdict.UNKNOWN
    assert answer({"proof": HOLDS, "needs": FAILS}).verdict is Verdict.UNKNOWN
    assert answer({"proof": HOLDS, "needs": HOLDS_TOO}).verdict is Verdict.PRESENT
    assert answer({"proof": NOBODY_KNOWS, "refuted_by": HOLDS_TOO}).verdict is Verdict.ABSENT
    assert answer({"proof": NOBODY_KNOWS, "refuted_by": FAILS}).verdict is Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("grade", "harmed", "severity", "unharmed", "shown"),
    [
        ("proof", True, "critical", None, "critical"),
        ("weak", True, "critical", "info", "critical"),
        ("proof", None, "critical", None, "critical"),
        ("proof", False, "critical", None, "warning"),
        ("proof", False, "info", None, "info"),
        ("strong", False, "critical", None, "info"),
        ("weak", False, "warning", None, "info"),
        ("strong", False, "critical", "warning", "warning"),
        ("proof", False, "critical", "info", "info"),
        ("strong", False, "warning", "critical", "warning"),
    ],
)
def test_how_bad_it_is_hangs_on_whether_anybody_suffers(
    grade: Grade, harmed: bool | None, severity: Severity, unharmed: Severity | None, shown: Severity
) -> None:
    """As its rule says where users suffer or nobody can say; else a proof is a warning and a pattern is worth knowing."""
    asked = rule("x", HOLDS, severity=severity, unharmed=unharmed)
    assert severity_of(asked, answer({grade: HOLDS}), harmed) == shown


@pytest.mark.parametrize(("harmed", "shown"), [(None, "info"), (False, "info"), (True, "critical")])
def test_lines_that_are_no_news_are_no_alarm(harmed: bool | None, shown: Severity) -> None:
    """Where nobody can say whether users suffer, what a log said all along is only worth knowing."""
    told = [at(2500 + 10 * number, "log", "kv-preempted", untimed="yes") for number in range(6)]
    well = {"gateway.requests@gateway/g": 5.0, "gateway.5xx@gateway/g": 0.0}
    frame = frame_of(well, events=told, before=3000.0)
    one = rule("x", {"event": "log", "name": ["kv-preempted"], "at_least": 5}, severity="critical")
    found = answered(frame, one)
    assert found.usual
    assert severity_of(one, found, harmed) == shown


@pytest.mark.parametrize(("unharmed", "shown"), [("info", "info"), ("warning", "warning"), (None, "critical")])
def test_users_suffer_from_something_else_where_its_effect_is_missing(unharmed: Severity | None, shown: Severity) -> None:
    """Of a kind that often harms nobody, what it brings about was measured and is not there."""
    asked = rule("x", HOLDS, severity="critical", unharmed=unharmed)
    assert severity_of(asked, answer({"proof": HOLDS}, expects=[FAILS]), harmed=True) == shown
    assert severity_of(asked, answer({"proof": HOLDS}, expects=[HOLDS_TOO]), harmed=True) == "critical"


def roles(*rules: Rule) -> dict[str, str]:
    """The place of each finding among the others, where users suffer."""
    frame = frame_of(SIGNALS)
    found = findings_of(evaluate(frame, rules, None), frame, SUFFER, lambda _kind: Advice(), Called(frame.recording))
    return {one.rule: one.role for one in found}


def test_a_bystander_beside_a_cause_contributes() -> None:
    """Alone it is what there is to tell, and so it is beside what is only possible; what it explains it is the root of."""
    blind = rule("blind", HOLDS, bystander=True)
    assert roles(blind) == {"blind": "root"}
    assert roles(blind, rule("fault", HOLDS)) == {"blind": "contributing", "fault": "root"}
    assert roles(blind, rule("guess", HOLDS, "weak"))["blind"] == "root"
    leading = rule("blind", HOLDS, bystander=True, leads_to={"late": "nobody sees it"})
    assert roles(leading, rule("late", HOLDS), rule("fault", HOLDS)) == {"blind": "root", "late": "consequence", "fault": "root"}


def test_a_change_contributes_to_the_mechanism_that_it_set_off() -> None:
    """What it set off is the answer; alone the change is."""
    change = rule("change", HOLDS, cause="tooling", trigger=True)
    assert roles(change) == {"change": "root"}
    assert roles(change, rule("fault", HOLDS)) == {"change": "contributing", "fault": "root"}


def test_what_is_wrong_below_the_platform_is_a_mechanism_whoever_made_it_so() -> None:
    """An image that lacks a compiler says more than that an image was changed; a gate that nobody has is beside it."""
    change = rule("change", HOLDS, cause="tooling", layer="platform", trigger=True, leads_to={"fault": "it brings it along"})
    assert roles(change, rule("fault", HOLDS, cause="tooling", layer="framework"))["fault"] == "root"
    assert roles(change, rule("fault", HOLDS, cause="tooling", layer="platform"))["fault"] == "consequence"


@pytest.mark.parametrize(("grade", "effect"), [("weak", True), ("strong", False)])
def test_an_effect_is_a_cause_where_an_alternative_says_what_brought_it_about(grade: Grade, effect: bool) -> None:
    """Two weak alternatives that are sure together say only that it is there."""
    ways = [{grade: HOLDS}, {"weak": IN_LOG}]
    frame = frame_of(SIGNALS, events=[at(60, "log", "cuda-oom", subject="replica/a")], sources=["log:engine"])
    asked = rule("x", HOLDS, shows=ways, effect=True)
    assert [is_effect(ruling) for ruling in evaluate(frame, [asked], None)] == [effect]


def test_the_surest_subject_speaks_for_the_kind() -> None:
    """Whoever showed it first."""
    known = {"kv.usage@replica/a": 0.9, "kv.usage@replica/b": 0.9, "queue.waiting@replica/b": 5}
    frame = frame_of(known)
    asked = rule("x", HOLDS, shows=[{"weak": HOLDS}, {"proof": HOLDS_TOO}])
    (ruling,) = evaluate(frame, [asked], None)
    assert [str(one.subject) for one in present_answers(ruling)] == ["replica/b", "replica/a"]

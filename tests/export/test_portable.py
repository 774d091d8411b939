"""What is exported of a rule never holds where the rule does not, whatever becomes of each of its conditions."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.export.agreement import exportable
from triage.engine.rules.conditions import both, either
from triage.engine.rules.loading import load_rules
from triage.model.diagnosis import Verdict
from triage.model.rule import All, Alternative, Any, Condition, Measure, Not, Rule, leaves

PRESENT, ABSENT, UNKNOWN = Verdict.PRESENT, Verdict.ABSENT, Verdict.UNKNOWN
RULES = {rule.id: rule for rule in load_rules()}

Told = Callable[[Condition], Verdict]


def judged(condition: Condition, told: Told) -> Verdict:
    """Kleene's logic over verdicts that were given."""
    match condition:
        case All():
            return both([judged(part, told) for part in condition.all])
        case Any():
            return either([judged(part, told) for part in condition.any])
        case Not():
            return {PRESENT: ABSENT, ABSENT: PRESENT, UNKNOWN: UNKNOWN}[judged(condition.not_, told)]
        case _:
            return told(condition)


def holds(way: Alternative, told: Told) -> bool:
    """Whether an alternative is present: it holds, what it needs is known to be there, and nothing is known to contradict it."""
    given_ = way.needs is None or judged(way.needs, told) is PRESENT
    refuted = way.refuted_by is not None and judged(way.refuted_by, told) is PRESENT
    return judged(way.condition, told) is PRESENT and given_ and not refuted


def present(rule: Rule, told: Told) -> bool:
    """The same of a rule."""
    given_ = rule.needs is None or judged(rule.needs, told) is PRESENT
    refuted = rule.refuted_by is not None and judged(rule.refuted_by, told) is PRESENT
    return any(holds(way, told) for way in rule.shows) and given_ and not refuted


@pytest.mark.parametrize("part", exportable(), ids=lambda part: part.id)
@settings(max_examples=8)
@given(data=st.data())
def test_what_is_exported_holds_only_where_the_rule_does(part: Rule, data: st.DataObject) -> None:
    """For any verdicts on the leaves, the same for leaves that are the same."""
    every = list(dict.fromkeys(leaf.model_dump_json() for leaf in RULES[part.id].leaves))
    drawn = data.draw(st.lists(st.sampled_from([PRESENT, PRESENT, ABSENT, UNKNOWN]), min_size=len(every), max_size=len(every)))
    verdicts = dict(zip(every, drawn, strict=True))

    def told(leaf: Condition) -> Verdict:
        return verdicts[leaf.model_dump_json()]

    assert not present(part, told) or present(RULES[part.id], told)


def test_what_is_exported_can_be_measured() -> None:
    """No line, event, observation or ended series is left in it, and each alternative rests on some number."""
    for part in exportable():
        assert {type(leaf).__name__ for leaf in part.leaves} <= {"Measure", "Known"}, part.id
        assert all(any(isinstance(leaf, Measure) for leaf in leaves(way.condition)) for way in part.shows), part.id

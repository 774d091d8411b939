"""Synthetic fleets (bench/fleet.py): the guilty part is found among any number, and health is health however coarse the grid."""

from functools import cache

import pytest

from bench.fleet import FAULTS, HOUR, Fleet, recording_of
from triage.engine.diagnose import diagnose, looked_at
from triage.engine.rules.conditions import judge
from triage.engine.rules.context import Context
from triage.engine.rules.loading import load_rules
from triage.engine.rules.verdicts import CODES, Asked, verdicts
from triage.model.diagnosis import Diagnosis, Status, Verdict
from triage.model.rule import Measure, Rule
from triage.model.vocabulary import Scope


@cache
def rules() -> tuple[Rule, ...]:
    """The shipped rules."""
    return tuple(load_rules())


def judged(fleet: Fleet) -> Diagnosis:
    """What is said of a fleet."""
    return diagnose(recording_of(fleet), rules())


@pytest.mark.parametrize("replicas", [1, 6])
@pytest.mark.parametrize("fault", FAULTS)
def test_the_guilty_part_is_named_and_nobody_else(replicas: int, fault: str) -> None:
    """One replica, card or node of many; of a healthy fleet nobody."""
    fleet = Fleet(replicas, fault, step=60.0)
    found = judged(fleet)
    if fleet.expected is None:
        assert (found.status, found.findings) == (Status.HEALTHY, ())
        return
    kind, guilty = fleet.expected
    first = found.findings[0]
    assert (first.rule, first.subjects) == (kind, (str(guilty),))
    assert found.status in (Status.DEGRADED, Status.INCIDENT)


@pytest.mark.parametrize(
    ("window", "step"), [(HOUR / 2, 15.0), (HOUR, 60.0), (6 * HOUR, 300.0), (24 * HOUR, 300.0), (24 * HOUR, 900.0)]
)
def test_a_healthy_fleet_is_healthy_over_any_span(window: float, step: float) -> None:
    """Where values lie five minutes and more apart nothing is frozen, and nothing else is found that they cannot tell."""
    found = judged(Fleet(2, "healthy", step, window))
    assert (found.status, found.findings) == (Status.HEALTHY, ())
    assert not [one for one in found.observations if one.salient]


@pytest.mark.parametrize(
    ("asked", "window", "verdict"),
    [
        ({"at_least": 0.5, "lasting": 60}, HOUR, Verdict.ABSENT),
        ({"at_least": 0.5, "lasting": 60}, 6 * HOUR, Verdict.UNKNOWN),
        ({"at_least": 0.5, "lasting": 300}, 6 * HOUR, Verdict.ABSENT),
        ({"below": 0.5, "lasting": 60}, 6 * HOUR, Verdict.PRESENT),
        ({"stat": "changes", "at_least": 1}, HOUR, Verdict.ABSENT),
        ({"stat": "changes", "at_least": 1}, 6 * HOUR, Verdict.UNKNOWN),
        ({"stat": "changes", "at_most": 0}, 6 * HOUR, Verdict.UNKNOWN),
    ],
)
def test_what_a_coarse_grid_cannot_carry_is_unknown(asked: dict[str, object], window: float, verdict: Verdict) -> None:
    """With cells of five minutes nobody can rule out what lasts one, or that something changed and changed back."""
    measure = Measure.model_validate({"signal": "gpu.throttle_thermal", **asked})
    frame = looked_at(recording_of(Fleet(1, "healthy", window / 72, window)))
    cards = tuple(frame.recording.subjects[Scope.GPU])
    assert {judge(measure, Context(frame, card, None)).verdict for card in cards} == {verdict}
    assert set(verdicts(measure, Asked(frame, cards, None)).codes.tolist()) == {int(CODES[verdict])}

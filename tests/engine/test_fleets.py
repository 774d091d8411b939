"""Synthetic fleets (bench/fleet.py): the guilty part is found among any number, and health is health however coarse the grid."""

from functools import cache
from typing import Any

import pytest

from bench.fleet import FAULTS, HOUR, Fleet, recording_of
from bench.scale import shown
from triage.engine.derived import DERIVATIONS
from triage.engine.diagnose import diagnose, looked_at
from triage.engine.rules.conditions import judge
from triage.engine.rules.context import Context
from triage.engine.rules.loading import load_rules
from triage.engine.rules.verdicts import CODES, Asked, verdicts
from triage.model.diagnosis import Diagnosis, Evidence, Reckoned, Status, Verdict
from triage.model.rule import Measure, Rule
from triage.model.vocabulary import Scope, catalogue
from triage.render.json import to_json


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


@pytest.mark.parametrize("fault", FAULTS[1:])
@pytest.mark.parametrize(("window", "step"), [(HOUR / 2, 15.0), (6 * HOUR, 300.0), (24 * HOUR, 300.0)])
def test_the_guilty_part_comes_first_over_any_span(window: float, step: float, fault: str) -> None:
    """However far apart the values lie, none of them is called frozen, and what is found first is found on the guilty part."""
    fleet = Fleet(2, fault, step, window)
    found = judged(fleet)
    assert fleet.expected is not None
    kind, guilty = fleet.expected
    assert found.findings[0].subjects == (str(guilty),)
    assert kind in {one.rule for one in found.findings}
    assert not [one for one in found.observations if one.of == "frozen"]


def test_what_is_derived_of_everybody_at_once_is_what_is_derived_of_each() -> None:
    """What rests on cells alone gives the same bytes for all subjects in one go as for one after the other."""
    frame = looked_at(recording_of(Fleet(3, "replica", step=60.0)))
    compared = 0
    for signal, derivation in DERIVATIONS.items():
        subjects = frame.recording.subjects[catalogue()[signal].scope]
        if not (derivation.abreast and subjects):
            continue
        each = {one: cells for one in subjects if (cells := derivation.cells(frame, one)) is not None}
        at_once = derivation.of_all(frame, subjects)
        assert {one: cells.tobytes() for one, cells in at_once.items()} == {one: cells.tobytes() for one, cells in each.items()}
        compared += len(each)
    assert compared > 60


@pytest.mark.parametrize("replicas", [1, 6])
def test_no_more_evidence_is_made_than_twice_what_is_shown(replicas: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is explained is what somebody reads; queries are worked out for nobody before they ask."""
    made, asked = [0], [0]
    make, settle = Evidence.__init__, Reckoned.settle

    def counted(self: Evidence, **told: Any) -> None:
        made[0] += 1
        make(self, **told)

    def settled(self: Reckoned) -> None:
        asked[0] += bool(self.unasked)
        settle(self)

    recording = recording_of(Fleet(replicas, "replica", step=60.0))
    monkeypatch.setattr(Evidence, "__init__", counted)
    monkeypatch.setattr(Reckoned, "settle", settled)
    found = diagnose(recording, rules())
    assert 0 < made[0] <= 2 * shown(found)
    assert asked[0] < shown(found) / 4
    text = to_json(found)
    assert asked[0] > 0
    assert Diagnosis.model_validate_json(text) == found


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

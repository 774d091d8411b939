"""Muted kinds: told, put last, and never a reason to call a service healthy."""

from itertools import product
from pathlib import Path

import pytest

from triage.engine.diagnose import diagnose
from triage.engine.muting import heeded, state_with
from triage.engine.rules.loading import load_rules
from triage.ingest.files.incident import read_incident
from triage.model.diagnosis import Diagnosis, Status
from triage.model.recording import Recording
from triage.model.rule import Rule
from triage.model.service import Mute, Service

INCIDENTS = Path(__file__).parents[1] / "incidents"
RULES = load_rules()
FOR_EVER = 1e12


@pytest.fixture(scope="module")
def storm() -> Recording:
    """A retry storm of a real service."""
    return read_incident(INCIDENTS / "retry-storm")


def told(recording: Recording, kinds: dict[str, float], rules: tuple[Rule, ...] = RULES) -> Diagnosis:
    """The diagnosis with some kinds muted until some time."""
    return diagnose(recording, rules, mutes={kind: Mute(reason="known", until=until) for kind, until in kinds.items()})


def test_what_users_notice_counts_whatever_is_muted(storm: Recording) -> None:
    """With every kind muted the service is as ill as its broken promises say, and every finding is there and marked."""
    plain = told(storm, {})
    muted = told(storm, {rule.id: FOR_EVER for rule in RULES})
    assert muted.status is not Status.HEALTHY
    assert {one.rule for one in muted.findings} == {one.rule for one in plain.findings}
    assert all(one.muted for one in muted.findings)
    assert (muted.vitals, muted.ruled_out, muted.cause.rules) == (plain.vitals, plain.ruled_out, plain.cause.rules)


def test_a_mute_that_has_expired_is_told_and_not_heeded(storm: Recording) -> None:
    """It ends at the window's end at the latest; a second earlier it is over."""
    root = told(storm, {}).findings[0].rule
    end = storm.window.end
    (held,), (over,) = told(storm, {root: end}).muted, told(storm, {root: end - 1.0}).muted
    assert (held.state, held.found, over.state, over.found) == ("heeded", True, "expired", True)
    assert not any(one.muted for one in told(storm, {root: end - 1.0}).findings)


def test_what_is_not_muted_stands_before_what_is(storm: Recording) -> None:
    """Among the roots only: what follows from them stays behind."""
    findings = told(storm, {told(storm, {}).findings[0].rule: FOR_EVER}).findings
    order = [(one.role != "root", one.role == "root" and one.muted) for one in findings]
    assert order == sorted(order)


def test_a_mute_of_what_is_not_there_changes_nothing(storm: Recording) -> None:
    """But is told."""
    plain = told(storm, {})
    absent = plain.ruled_out[0].rule
    muted = told(storm, {absent: FOR_EVER})
    assert [(one.rule, one.found) for one in muted.muted] == [(absent, False)]
    assert muted.model_copy(update={"muted": ()}) == plain


@pytest.mark.parametrize(("muted", "whole"), product(Status, Status))
def test_no_mute_makes_a_service_healthy(muted: Status, whole: Status) -> None:
    """Whatever the state is without what is muted, healthy is said only where it would be said with it."""
    state = state_with(muted, whole)
    assert (state is Status.HEALTHY) == (muted is whole is Status.HEALTHY)
    assert state is muted or (muted is Status.HEALTHY and state is Status.DEGRADED)


@pytest.mark.parametrize(
    ("until", "seconds"),
    [("2026-05-01", 1777679999.999999), ("2026-05-01T12:00:00Z", 1777636800.0), ("2026-05-01T12:00:00+02:00", 1777629600.0)],
)
def test_a_day_counts_to_its_end(until: str, seconds: float) -> None:
    """A moment with a zone is that moment."""
    mute = Service.model_validate({"name": "x", "mute": {"k": {"reason": "r", "until": until}}}).mute["k"]
    assert mute.until == pytest.approx(seconds)
    assert heeded({"k": mute}, mute.until) == {"k"}
    assert heeded({"k": mute}, mute.until + 0.001) == frozenset()

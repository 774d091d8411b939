"""Whose events count."""

import pytest

from tests.engine.fleets import START, frame_of, replica
from triage.engine.frame import Frame
from triage.engine.rules.conditions import judge
from triage.engine.rules.context import Context
from triage.model.diagnosis import Verdict
from triage.model.recording import Event, Source, SourceState, Subject
from triage.model.rule import Occurrence
from triage.model.vocabulary import Scope


def gateway_event() -> Frame:
    """A gateway that says that clients left."""
    event = Event(START + 60.0, "log", "client-left", Subject(Scope.GATEWAY, "gw"))
    return frame_of({"queue.waiting": {"a": 1.0}}, events=[event], sources=[Source("log:gateway", SourceState.OK)])


@pytest.mark.parametrize(("anywhere", "expected"), [(False, Verdict.ABSENT), (True, Verdict.PRESENT)])
def test_a_gateways_event_counts_for_a_replica_only_if_the_rule_says_so(anywhere: bool, expected: Verdict) -> None:
    """What a gateway tells is about no replica in particular."""
    frame = gateway_event()
    occurrence = Occurrence(event="log", name=("client-left",), at_least=1, anywhere=anywhere)
    assert judge(occurrence, Context(frame, replica("a"), START)).verdict is expected

"""What is said of the cause: named, narrowed, or open."""

from dataclasses import replace

import pytest

from tests.engine.making import Shift, make_recording, rule
from triage.engine.diagnose import diagnose
from triage.model.diagnosis import CauseState
from triage.model.recording import Event
from triage.model.rule import Grade

FAILING = {"gateway.requests": 10, "gateway.2xx": Shift(10, 5), "gateway.5xx": Shift(0, 5), "kv.usage": Shift(0.3, 0.97)}
FULL = rule("full", {"signal": "kv.usage", "stat": "max", "above": 0.9})


def test_what_nobody_suffers_from_is_not_why_they_suffer() -> None:
    """An instrument that fails while requests fail is told, and the cause stays open."""
    told = diagnose(make_recording(FAILING), [FULL.model_copy(update={"bystander": True})])
    assert [one.role for one in told.findings] == ["root"]
    assert told.cause.state is CauseState.OPEN
    assert diagnose(make_recording(FAILING), [FULL]).cause.rules == ("full",)


def test_the_change_behind_several_mechanisms_is_one_of_what_it_may_be() -> None:
    """Which of them it set off is not known; that it did is."""
    recording = replace(make_recording(FAILING), events=(Event(make_recording(FAILING).window.start, "deploy", "v2"),))
    change = rule("change", {"event": "deploy", "at_least": 1}, trigger=True)
    told = diagnose(recording, [change, FULL, FULL.model_copy(update={"id": "other"})])
    assert told.cause.rules == ("full", "other", "change")


@pytest.mark.parametrize(
    ("seen", "rules"),
    [
        ({"signal": "kv.usage", "stat": "max", "above": 0.9}, ("half-shown",)),
        ({"observed": "shift", "of": ["token.time"], "anywhere": True}, ()),
        ({"event": "deploy", "at_least": 1}, ()),
        ({"event": "log", "name": ["crash-loop"], "at_least": 1}, ()),
        ({"event": "log", "name": ["crash-loop", "cuda-oom"], "at_least": 1}, ()),
        ({"event": "log", "name": ["engine-ready"], "at_least": 1}, ()),
        ({"signal": "gpu.power", "stat": "mean", "above": 200}, ()),
    ],
    ids=[
        "what fills",
        "that all is slower",
        "that somebody changed something",
        "that it ends again and again",
        "that it ends, where more was asked for",
        "that it began to serve",
        "the same curve once more",
    ],
)
def test_what_every_kind_brings_or_needs_speaks_for_none(seen: dict[str, object], rules: tuple[str, ...]) -> None:
    """Of an open kind half must show itself that is its own: a slower pace, a change, an end is told of any."""
    made = make_recording({**FAILING, "token.time": Shift(0.02, 0.08), "gpu.power": Shift(100, 600)})
    begun = made.window.start
    recording = replace(made, events=(Event(begun, "deploy", "v2"), Event(begun, "log", "crash-loop", source="log:kube-events")))
    recording = replace(recording, events=(*recording.events, Event(begun, "log", "engine-ready", source="log:kube-events")))
    more = {"signal": "gpu.power", "stat": "max", "above": 500}
    half = rule("half-shown", {"all": [seen, more, {"signal": "gpu.util", "stat": "mean", "above": 0.5}]})
    assert diagnose(recording, [half]).cause.rules == rules


def test_an_effect_that_is_surer_than_its_root_is_one_of_what_it_may_be() -> None:
    """Where the root is a mere possibility, what it would have brought about may stand by itself."""
    effect = FULL.model_copy(update={"id": "effect"})
    grades: tuple[tuple[Grade, tuple[str, ...]], ...] = (("weak", ("root", "effect")), ("strong", ("root",)))
    for grade, rules in grades:
        root = rule("root", {"signal": "kv.usage", "stat": "max", "above": 0.9}, grade, leads_to={"effect": "it digs"})
        assert diagnose(make_recording(FAILING), [root, effect]).cause.rules == rules


def test_what_is_surer_than_a_possible_effect_is_told_although_what_brought_that_about_is_not_known() -> None:
    symptom = rule(
        "symptom", {"signal": "kv.usage", "stat": "max", "above": 0.9}, "weak", leads_to={"full": "it digs"}, effect=True
    )
    cause = diagnose(make_recording(FAILING), [symptom, FULL]).cause
    assert (cause.state, cause.rules) == (CauseState.NARROWED, ("full",))

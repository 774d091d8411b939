"""What people are told: when something begins, changes and ends, once, whatever becomes of the receivers meanwhile."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.memory.test_memory import OVERLOAD, RETRIES, TTFT, blind, every, ill, remembered, well
from tests.notify.worlds import HOLDS, World
from tests.render import fixtures
from triage.memory.looks import Look, Told
from triage.memory.memory import Memory, after
from triage.model.diagnosis import Status
from triage.model.receiver import Receiver
from triage.notify.alerts import Alert, Change, Topic, alerts_after
from triage.notify.message import title_of


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def actions(world: World) -> list[str]:
    """What the pager was told to do."""
    return [one["event_action"] for one in world.got.get("pager", [])]


def firing(alerts: list[dict[str, Any]], now: float) -> list[bool]:
    """Whether alerts of an Alertmanager are told to stand."""
    from datetime import datetime

    return [datetime.fromisoformat(one["endsAt"]).timestamp() > now for one in alerts]


def test_a_fault_that_comes_stays_and_goes_is_told_twice(world: World) -> None:
    """However many looks see it: that it began and that it is over, to each receiver."""
    world.looks("well", every(60, 1000, 1300))
    assert world.got == {}
    (raised,) = world.looks("ill", every(60, 1360, 4000), since=1350.0)
    (over,) = world.looks("well", every(60, 4020, 4600))
    assert (raised.changes, over.changes) == ((Change.RAISED,), (Change.OVER,))
    assert [one["state"] for one in world.got["hook"]] == ["ongoing", "over"]
    assert actions(world) == ["trigger", "resolve"]
    assert len({one["dedup_key"] for one in world.got["pager"]}) == 1
    assert len(world.got["chat"]) == 2
    assert len({one["id"] for one in world.got["hook"]}) == 2
    assert len({one["alert"] for one in world.got["hook"]}) == 1
    text = world.got["hook"][1]["title"]
    assert text.startswith("llm is healthy again since 01:07:00 UTC, after 4")


def test_a_message_holds_what_a_person_needs(world: World) -> None:
    """The five lines, evidence, the first step, the command that shows more; for Slack without a way to mention or link."""
    world.looks("ill", every(60, 1360, 1500), since=1350.0)
    (notice,) = world.got["hook"]
    assert notice["headline"]
    assert set(notice["lines"]) == {"when", "do first", "do not", "see more"}
    assert notice["evidence"]
    assert {notice[name] for name in ("layer", "cause", "confidence", "rule")} & {None, ""} == set()
    assert notice["diagnose"] == "triage diagnose --service llm --at 1970-01-01T00:23:40Z"
    (card,) = world.got["chat"]
    assert notice["lines"]["do first"][:20] in card["attachments"][0]["text"]
    assert len(card["attachments"][0]["text"]) <= 3000
    (event,) = world.got["pager"]
    assert event["payload"]["severity"] == "critical"
    assert event["routing_key"] == "key"
    (alert,) = world.got["am"][0]
    assert alert["labels"]["service"] == "llm"
    assert alert["annotations"]["do_first"] == notice["lines"]["do first"]


def test_an_alertmanager_is_told_again_before_it_forgets(world: World) -> None:
    """What stands is repeated well before its end, what is over is said once, and then no more."""
    world.looks("ill", every(60, 1360, 3000), since=1350.0)
    world.wait(600.0)
    ends = [one["endsAt"] for (one,) in world.got["am"]]
    times = sorted(ends)
    assert ends == times
    assert len(ends) > 30
    world.looks("well", every(60, 3660, 4200))
    told = len(world.got["am"])
    assert firing(world.got["am"][-1], world.now) == [False]
    world.wait(3600.0)
    assert len(world.got["am"]) == told


def test_another_cause_is_another_alert_and_the_old_one_ends(world: World) -> None:
    """Labels tell alerts apart: the old one is ended in the same request that tells of the new one."""
    world.looks("ill", every(60, 1360, 2000), since=1350.0)
    told = world.looks("ill", every(60, 2060, 3000), since=1350.0, cause=RETRIES)
    assert [message.changes for message in told] == [(Change.CAUSE,)]
    both = next(alerts for alerts in world.got["am"] if len(alerts) == 2)
    stands = {one["labels"]["rule"]: stands for one, stands in zip(both, firing(both, told[0].time), strict=True)}
    assert stands == {"true-overload": False, "retry-storm": True}
    assert [one["labels"]["rule"] for one in world.got["am"][-1]] == ["retry-storm"]


def test_an_alert_whose_layer_was_not_known_at_first_ends_too(world: World) -> None:
    """The cause is remembered before a look shows its finding: under other labels it is another alert, and each has its end."""
    for time in every(60, 1360, 1500):
        world.look(ill(time, since=1350.0), fixtures.incident())
    world.looks("ill", every(60, 1560, 2000), since=1350.0)
    world.looks("well", every(60, 2060, 2600))
    last = {tuple(sorted(one["labels"].items())): one["endsAt"] for alerts in world.got["am"] for one in alerts}
    assert [dict(labels).get("layer") for labels in last] == [None, "engine"]
    assert list(last.values()) == ["1970-01-01T00:26:00.000Z", "1970-01-01T00:34:20.000Z"]
    assert len(world.got["hook"]) == 2


def test_what_is_left_when_the_cause_has_gone_is_no_other_cause(world: World) -> None:
    """Users are well again, and something that nobody suffers from is named first: nobody is told of that."""
    world.looks("ill", every(60, 1360, 2000), since=1350.0)
    left = {RETRIES: Told("retries", 1900.0, "warning")}
    for time in every(60, 2060, 2600):
        assert world.look(Look(time, Status.DEGRADED, left, {OVERLOAD: None, TTFT: None}, RETRIES)) == []
    world.looks("well", every(60, 2660, 3000))
    assert [one["rule"] for one in world.got["hook"]] == ["true-overload"] * 2
    assert {alert["labels"]["rule"] for alerts in world.got["am"] for alert in alerts} == {"true-overload"}


def test_a_receiver_that_is_down_for_an_hour_gets_what_matters_once(world: World) -> None:
    """Three faults come and go and a fourth stays while nobody can be told: one message tells of it, once."""
    world.down = {"hook", "chat", "pager", "am"}
    begin = 2000.0
    for _ in range(3):
        world.looks("ill", every(60, begin, begin + 300), since=begin)
        world.looks("well", every(60, begin + 360, begin + 1200))
        begin += 1200
    world.looks("ill", every(60, begin, begin + 300), since=begin)
    assert {world.outbox.waiting(name).count for name in ("hook", "chat", "pager")} == {1}
    assert all(courier.delivery.is_up is False for courier in world.couriers.values())
    tried = world.tried
    assert tried < 150
    world.down = set()
    world.wait(900.0)
    (notice,) = world.got["hook"]
    assert notice["state"] == "ongoing"
    assert notice["changes"][0] == "raised"
    assert actions(world) == ["trigger"]
    assert len(world.got["chat"]) == 1
    assert firing(world.got["am"][-1], world.now)[-1]


def test_what_began_and_ended_meanwhile_is_told_as_one_and_pages_nobody(world: World) -> None:
    """It is history by the time it can be told."""
    world.down = {"hook", "pager"}
    world.looks("ill", every(60, 1360, 1900), since=1350.0)
    world.looks("well", every(60, 1960, 2500))
    world.down = set()
    world.wait(900.0)
    (notice,) = world.got["hook"]
    assert notice["title"].startswith("llm was incident while you could not be told, and is healthy again since")
    assert actions(world) == ["resolve"]


def test_flapping_is_told_as_flapping(world: World) -> None:
    """It comes and goes for an hour: told twice, then that it flaps, then nothing until it is over."""
    world.looks("well", every(60, 1000, 1300))
    for start in every(600, 2000, 5_600):
        world.looks("ill", every(60, start, start + 120), since=start)
        world.looks("well", every(60, start + 180, start + 540))
    world.looks("well", every(60, 6_200, 8_100))
    told = [tuple(one["changes"]) for one in world.got["hook"]]
    assert told[:4] == [("raised",), ("over",)] * 2
    assert told[4] in (("raised", "flapping"), ("flapping",))
    assert told[5:] == [("over",)]
    assert "comes and goes" in world.got["hook"][4]["title"]


def test_monitoring_that_goes_and_comes_back_is_no_all_clear(world: World) -> None:
    """In the middle of a fault nobody can see: that is told as such; the fault is neither over nor new when it is seen again."""
    world.looks("ill", every(60, 1360, 1900), since=1350.0)
    world.looks("blind", every(60, 1960, 2800))
    world.looks("ill", every(60, 2860, 3400), since=2860.0)
    world.looks("well", every(60, 3460, 4000))
    told = [(one["topic"], one["state"]) for one in world.got["hook"]]
    assert told == [("trouble", "ongoing"), ("blind", "ongoing"), ("blind", "over"), ("trouble", "over")]
    assert {one["alert"] for one in world.got["hook"] if one["topic"] == "trouble"} == {world.got["hook"][0]["alert"]}


def test_one_look_that_fails_is_no_message(world: World) -> None:
    """Neither of trouble nor of blindness."""
    world.looks("well", every(60, 1000, 1300))
    world.look(blind(1360.0))
    world.looks("well", every(60, 1420, 1600))
    world.look(ill(1660.0))
    world.looks("well", every(60, 1720, 1900))
    assert world.got == {}


@pytest.mark.parametrize("first", ["well", "blind"])
def test_one_look_that_sees_trouble_is_no_message_whatever_stood_before_it(world: World, first: str) -> None:
    """The first look of a watch, or one that fails in health, and one that sees trouble are not two that see it."""
    if first == "blind":
        world.looks("well", every(60, 1000, 1300))
    world.looks(first, [1360.0])
    world.look(ill(1420.0))
    world.looks("well", every(60, 1480, 1900))
    assert world.got == {}


def test_a_program_that_is_started_anew_tells_nothing_twice(world: World) -> None:
    """What was told is known from the file, what was not is told, what stands is repeated to whoever forgets."""
    world.down = {"chat"}
    world.looks("ill", every(60, 1360, 1900), since=1350.0)
    world.begin()
    world.down = set()
    world.wait(600.0)
    world.looks("ill", every(60, world.now + 60, world.now + 300), since=1350.0)
    assert [len(world.got[name]) for name in ("hook", "chat", "pager")] == [1, 1, 1]
    assert firing(world.got["am"][-1], world.now) == [True]


def test_receivers_hear_of_what_they_asked_for(tmp_path: Path) -> None:
    """Of some services, from some severity on, and of what nobody can judge or not."""
    hears = {
        "others": Receiver(kind="webhook", url="http://a", services=("other-*",)),
        "grave": Receiver(kind="webhook", url="http://b", severity="critical"),
        "seen": Receiver(kind="webhook", url="http://c", unknown=False, services=("ll*",)),
    }
    world = World(tmp_path, hears)
    world.looks("blind", every(60, 1000, 1300))
    world.looks("ill", every(60, 1360, 1900), since=1350.0, severity="warning")
    assert {name: len(got) for name, got in world.got.items()} == {"grave": 3, "seen": 1}
    world.receivers.pop("grave")
    world.begin()
    assert world.outbox.due("grave", 1e12) == []


SEQUENCES = st.lists(
    st.tuples(st.sampled_from(["well", "ill", "blind", "retries"]), st.integers(1, 5)), min_size=1, max_size=12
).map(lambda runs: [kind for kind, length in runs for _ in range(length)])
"""Kinds of looks, each several times in a row."""


def look(kind: str, time: float) -> Any:
    if kind == "retries":
        return ill(time, since=time, cause=RETRIES)
    return {"well": well, "ill": lambda at: ill(at, since=at), "blind": blind}[kind](time)


@given(SEQUENCES)
def test_alerts_begin_before_they_end_and_end_only_when_several_looks_say_so(kinds: list[str]) -> None:
    """Whatever the looks say: an alert is raised once and ended once, in this order; no look that cannot tell ends trouble."""
    memory, standing = Memory(), dict[Topic, Alert]()
    for number, kind in enumerate(kinds):
        memory = after(memory, look(kind, 1000.0 + 60.0 * number), HOLDS)
        for alert, changes in alerts_after(standing, "llm", memory):
            before = standing.get(alert.topic)
            assert (Change.RAISED in changes) == (before is None)
            assert (Change.OVER in changes) == (alert.over is not None)
            assert alert.since <= alert.raised <= (memory.time or 0.0)
            assert before is None or before.id == alert.id
            if alert.topic is Topic.TROUBLE and alert.over is not None:
                assert kind == "well"
                assert kinds[number - 1] == "well"
                assert alert.over >= alert.since
            if alert.over is None:
                standing[alert.topic] = alert
            else:
                del standing[alert.topic]
    assert (Topic.TROUBLE in standing) or memory.state.word in (Status.HEALTHY, Status.INCONCLUSIVE)


@settings(max_examples=6, deadline=None)
@given(SEQUENCES, st.lists(st.sampled_from(["up", "down", "restart"]), min_size=60, max_size=60))
def test_whatever_fails_nothing_is_lost_and_nothing_is_told_twice(
    tmp_path_factory: pytest.TempPathFactory, kinds: list[str], fates: list[str]
) -> None:
    """Receivers go down and come back, the program is started anew: in the end each knows what stands, and was told once."""
    world = World(tmp_path_factory.mktemp("world"))
    for number, (kind, fate) in enumerate(zip(kinds, fates, strict=False)):
        if fate == "restart":
            world.begin()
        world.down = {"hook", "pager", "chat", "am"} if fate == "down" else set()
        world.look(look(kind, 1000.0 + 60.0 * number))
    world.down = set()
    world.wait(1200.0, step=30.0)
    stands = {message.alert.id for message in world.outbox.standing()}
    last: dict[str, str] = {}
    for notice in world.got.get("hook", []):
        last[notice["alert"]] = notice["state"]
    assert {alert for alert, state in last.items() if state == "ongoing"} >= stands
    assert all(state == "over" or alert in stands for alert, state in last.items()) or _replaced(world)
    assert max(Counter(notice["id"] for notice in world.got.get("hook", [])).values(), default=1) == 1
    assert {name: world.outbox.waiting(name).count for name in world.receivers} == dict.fromkeys(world.receivers, 0)
    for key in {event["dedup_key"] for event in world.got.get("pager", [])}:
        told = [event["event_action"] for event in world.got["pager"] if event["dedup_key"] == key]
        topic = key.rpartition("/")[2]
        assert (told[-1] == "trigger") == any(f"/{topic}/" in alert for alert in stands)


def _replaced(world: World) -> bool:
    """Whether a newer alert of the same topic took the place of one whose end was not told by itself."""
    return any("over" in notice["changes"] and notice["state"] == "ongoing" for notice in world.got["hook"])


def test_titles_say_what_happened(world: World) -> None:
    """One line each."""
    (raised,) = world.looks("ill", every(60, 1360, 1500), since=1350.0)
    assert title_of(raised).startswith("INCIDENT llm: ")
    flapping = raised.model_copy(update={"changes": (Change.RAISED, Change.FLAPPING)})
    assert title_of(flapping).startswith("INCIDENT llm (comes and goes: nothing more is told until it is over): ")
    named = raised.model_copy(update={"changes": (Change.CAUSE,)})
    assert title_of(named).startswith("INCIDENT llm (the cause as it is known now): ")
    assert all("\n" not in title_of(one) for one in (raised, flapping, named))


def test_the_file_of_the_queue_holds_no_secret(world: World) -> None:
    """Keys and addresses of receivers are of the environment."""
    world.down = {"pager"}
    world.looks("ill", every(60, 1360, 1500), since=1350.0)
    kept = b"".join(path.read_bytes() for path in world.folder.iterdir())
    assert b"routing_key" not in kept
    assert json.dumps(world.outbox.waiting("pager").count) == "1"
    assert remembered(ill(1.0), holds=HOLDS).lives[OVERLOAD].title == "overload"

"""The memory: looks go in, what became different comes out."""

from collections.abc import Iterable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.render.fixtures import healthy
from triage.memory.life import Holds, Phase, Turn
from triage.memory.looks import Look, Told, kind_key, look_of, promise_key
from triage.memory.memory import CAUSE, STATE, Memory, after
from triage.model.diagnosis import Severity, Status
from triage.model.rule import Hold

OVERLOAD, RETRIES = kind_key("true-overload"), kind_key("retry-storm")
TTFT = promise_key("ttft_p95_s", "service/llm")
ONSET = 1000.0
HOLDS = Holds(raise_looks=1, clear_after=120.0, cause_after=(60.0, 300.0), flaps=3, flap_span=3600.0, calm=900.0)


def well(time: float) -> Look:
    """All that is asked is answered with no."""
    return Look(time, Status.HEALTHY, gone=dict.fromkeys((OVERLOAD, RETRIES, TTFT)))


def ill(time: float, since: float | None = ONSET, severity: Severity = "critical", cause: str = OVERLOAD) -> Look:
    """A promise is broken for want of capacity."""
    there = {OVERLOAD: Told("overload", since, severity), TTFT: Told("time to first token", since, severity)}
    gone = {RETRIES: None}
    if cause == RETRIES:
        there[RETRIES] = Told("retries", since, severity)
        gone = {}
    return Look(time, Status.INCIDENT, there, gone, cause)


def blind(time: float) -> Look:
    """Nobody says anything."""
    return Look(time, Status.INCONCLUSIVE)


def remembered(*looks: Look, start: Memory = Memory(), holds: Holds = HOLDS) -> Memory:  # noqa: B008 - frozen
    """The memory after some looks."""
    for look in looks:
        start = after(start, look, holds)
    return start


def told(memory: Memory, *keys: str) -> list[tuple[Turn, str, str]]:
    """What became different of some things."""
    return [(one.turn, one.key, one.title or one.now) for one in memory.turns if not keys or one.key in keys]


def every(seconds: float, start: float, end: float) -> Iterable[float]:
    """Times of looks."""
    time = start
    while time <= end:
        yield time
        time += seconds


def test_one_incident_is_told_once_when_it_begins_and_once_when_it_ends() -> None:
    """However many looks see it, and however each of them dates it."""
    looks = [
        *map(well, every(10, 900, 1000)),
        *(ill(time, since=ONSET + (time - 1010) / 10) for time in every(10, 1010, 1600)),
        *map(well, every(10, 1610, 1900)),
    ]
    memory = remembered(*looks)
    assert told(memory, OVERLOAD) == [(Turn.NEW, OVERLOAD, "overload"), (Turn.CLEARED, OVERLOAD, "overload")]
    cleared = next(one for one in memory.turns if one.turn is Turn.CLEARED)
    assert (cleared.since, cleared.until, cleared.time) == (ONSET, 1610.0, 1730.0)
    assert [one.now for one in memory.turns if one.key == STATE] == ["healthy", "incident", "healthy"]
    assert [one.now for one in memory.turns if one.key == CAUSE] == ["true-overload"]
    assert memory.cause.word == ""


def test_an_onset_moves_back_and_never_forward() -> None:
    """A better look at the past may find that it began earlier."""
    memory = remembered(ill(1010, since=1005.0), ill(1020, since=1002.0), ill(1030, since=1030.0), ill(1040, since=None))
    assert memory.lives[OVERLOAD].since == 1002.0
    assert remembered(ill(1010, since=None), ill(1020, since=1015.0)).lives[OVERLOAD].since is None


def test_a_short_pause_is_no_end() -> None:
    """What comes back within the hold was there all the time."""
    memory = remembered(ill(1010), well(1020), well(1100), ill(1110), well(1120), ill(1130))
    assert told(memory, OVERLOAD, STATE) == [(Turn.NEW, STATE, "incident"), (Turn.NEW, OVERLOAD, "overload")]


def test_one_look_alone_clears_nothing() -> None:
    """Where looks are hours apart the second one that sees nothing is the first that counts."""
    memory = remembered(ill(1010), well(5000))
    assert memory.lives[OVERLOAD].phase is Phase.ENDING
    assert memory.status is Status.INCIDENT
    assert remembered(well(9000), start=memory).status is Status.HEALTHY


def test_what_nobody_can_judge_stays() -> None:
    """The monitoring goes away and comes back: unknown in between, nothing is cleared, and the incident is the same one."""
    memory = remembered(ill(1010), *map(blind, every(10, 1020, 1100)))
    assert (memory.status, memory.blind_since) == (Status.INCIDENT, 1010.0)
    memory = remembered(*map(blind, every(10, 1110, 1400)), start=memory)
    assert (memory.status, memory.blind_since) == (Status.INCONCLUSIVE, None)
    assert memory.lives[OVERLOAD].is_up
    memory = remembered(ill(1410, since=1405.0), start=memory)
    assert memory.lives[OVERLOAD].since == ONSET
    assert [one.now for one in memory.turns if one.key == STATE] == ["incident", "inconclusive", "incident"]
    assert Turn.CLEARED not in {one.turn for one in memory.turns}


def test_it_is_no_all_clear_where_something_grave_cannot_be_judged_any_more() -> None:
    """Users are well, and whether the fault is gone nobody can say: the state is no better than that, until it is let go."""
    half = [Look(time, Status.HEALTHY, gone={TTFT: None}) for time in every(60, 1020, 1900)]
    memory = remembered(ill(1010), *half)
    assert memory.status is Status.DEGRADED
    memory = remembered(*(Look(time, Status.HEALTHY, gone={TTFT: None}) for time in every(60, 1910, 2200)), start=memory)
    assert (Turn.LOST, OVERLOAD, "overload") in told(memory)
    assert memory.status is Status.HEALTHY


def test_worse_is_told_at_once_and_better_after_the_hold() -> None:
    """A finding that becomes grave is told; that it becomes less grave for a look is not."""
    levels: tuple[Severity, ...] = ("warning", "critical", "warning", "critical")
    memory = remembered(*(ill(1010 + 10 * n, severity=level) for n, level in enumerate(levels)))
    assert [one.turn for one in memory.turns if one.key == OVERLOAD] == [Turn.NEW, Turn.CHANGED]
    assert memory.lives[OVERLOAD].severity == "critical"


def test_a_cause_stays_until_another_one_has_been_named_for_long() -> None:
    """Two kinds that change places from look to look are one cause; one that takes over for good is told once."""
    swaying = [ill(1010 + 10 * n, cause=(OVERLOAD, RETRIES)[n % 2]) for n in range(41)]
    assert [one.now for one in remembered(*swaying).turns if one.key == CAUSE] == ["true-overload"]
    lasting = [ill(time, cause=RETRIES) for time in every(10, 2000, 2310)]
    changes = [one for one in remembered(*swaying, *lasting).turns if one.key == CAUSE]
    assert [(one.before, one.now) for one in changes] == [("", "true-overload"), ("true-overload", "retry-storm")]
    assert changes[-1].time == 2300.0


def test_a_cause_that_has_hardly_stood_gives_way_after_a_minute() -> None:
    """The first guess of a few seconds is not held for as long as what was seen for long."""
    looks = [ill(1010), *(ill(time, cause=RETRIES) for time in every(10, 1020, 1200))]
    changes = [one for one in remembered(*looks).turns if one.key == CAUSE]
    assert [(one.time, one.now) for one in changes] == [(1010.0, "true-overload"), (1080.0, "retry-storm")]


def test_what_comes_and_goes_flaps() -> None:
    """From the third time in an hour on it is told as flapping, once, and as cleared once it has been quiet for long."""
    looks = [
        look
        for start in every(400, 1000, 3400)
        for look in (*(ill(start + n, since=start) for n in (0, 60)), *(well(start + n) for n in (120, 180, 240, 300)))
    ]
    memory = remembered(*looks)
    assert [one.turn for one in memory.turns if one.key == OVERLOAD] == [
        Turn.NEW, Turn.CLEARED, Turn.NEW, Turn.CLEARED, Turn.FLAPPING,
    ]  # fmt: skip
    assert memory.lives[OVERLOAD].since == 1000.0
    memory = remembered(*map(well, every(60, 3760, 5200)), start=memory)
    assert [one.turn for one in memory.turns if one.key == OVERLOAD][-1] is Turn.CLEARED
    assert memory.status is Status.HEALTHY


def test_what_flapped_and_stays_is_steady() -> None:
    """A fault that comes and goes and then remains goes on."""
    looks = [
        look
        for start in every(400, 1000, 1800)
        for look in (ill(start, since=start), *(well(start + n) for n in (120, 180, 240, 300)))
    ]
    memory = remembered(*looks, *(ill(time) for time in every(60, 2200, 3400)))
    assert [one.turn for one in memory.turns if one.key == OVERLOAD][-2:] == [Turn.FLAPPING, Turn.STEADY]
    assert memory.lives[OVERLOAD].phase is Phase.ONGOING


def test_a_hold_before_it_is_raised() -> None:
    """What is gone before the hold is over was never there."""
    holds = Holds(raise_looks=1, raise_after=30.0)
    assert told(remembered(ill(1010), ill(1020), well(1030), ill(1040), holds=holds), OVERLOAD) == []
    assert told(remembered(ill(1010), ill(1030), ill(1040), holds=holds), OVERLOAD) == [(Turn.NEW, OVERLOAD, "overload")]


def test_a_rule_says_how_long_it_must_be_there_and_gone() -> None:
    """Its pattern counts from its onset on, a proof at once; what the rule does not say of others stays as it is."""
    holds = Holds(raise_looks=1, kinds={"true-overload": Hold(raise_after=60.0, clear_after=300.0)})
    assert told(remembered(ill(1030), holds=holds), OVERLOAD) == []
    assert told(remembered(ill(1030), holds=holds), TTFT) == [(Turn.NEW, TTFT, "time to first token")]
    assert told(remembered(ill(1030), ill(1060), holds=holds), OVERLOAD) == [(Turn.NEW, OVERLOAD, "overload")]
    assert told(remembered(ill(1060), holds=holds), OVERLOAD) == [(Turn.NEW, OVERLOAD, "overload")]
    proof = Look(1010, Status.INCIDENT, {OVERLOAD: Told("overload", ONSET, "critical", proven=True)}, cause=OVERLOAD)
    assert told(remembered(proof, holds=holds), OVERLOAD) == [(Turn.NEW, OVERLOAD, "overload")]
    memory = remembered(ill(1060), *map(well, every(60, 1120, 1400)), holds=holds)
    assert Turn.CLEARED not in {one.turn for one in memory.turns if one.key == OVERLOAD}
    memory = remembered(well(1420), start=memory, holds=holds)
    assert [one.until for one in memory.turns if one.key == OVERLOAD and one.turn is Turn.CLEARED] == [1120.0]


def test_a_promise_that_hovers_at_its_limit_is_over_later() -> None:
    """It is raised at the limit, and clearly kept only from some way below on."""
    hovering = [
        Look(time, Status.HEALTHY, gone={TTFT: None, OVERLOAD: None}, near=frozenset({TTFT})) for time in every(60, 1060, 1420)
    ]
    over = {
        key: [one.time for one in remembered(ill(1010), *hovering).turns if (one.turn, one.key) == (Turn.CLEARED, key)]
        for key in (OVERLOAD, TTFT)
    }
    assert over == {OVERLOAD: [1180.0], TTFT: [1360.0]}
    clear = [*hovering[:2], well(1180), well(1240)]
    assert remembered(ill(1010), *clear).lives[TTFT].is_over


def test_a_value_is_near_its_limit_on_either_side() -> None:
    """Of a delay from below, of what answers from above; now counts, not the window."""
    (vital,) = [one for one in healthy().vitals if one.name == "ttft_p95_s"]
    shown: list[dict[str, float | None]] = [{"now": 1.85, "limit": 2.0}, {"now": 1.7, "limit": 2.0}]
    shown += [
        {"now": None, "value": 1.95, "limit": 2.0},
        {"now": 0.52, "limit": 0.5},
        {"now": 0.9, "limit": 0.5},
        {"now": 1.0, "limit": None},
    ]
    near = [bool(look_of(healthy().model_copy(update={"vitals": (vital.model_copy(update=one),)})).near) for one in shown]
    assert near == [True, False, True, True, False, False]


def test_an_onset_before_a_look_that_saw_it_gone_does_not_count_for_the_hold() -> None:
    """It comes and goes within the hold: each time it must be there for long enough anew."""
    holds = Holds(raise_looks=1, kinds={"true-overload": Hold(raise_after=60.0)})
    looks = [one for start in every(40, 1040, 1400) for one in (ill(start, since=start - 30.0), well(start + 20.0))]
    assert told(remembered(*looks, holds=holds), OVERLOAD) == []


def test_what_was_known_to_be_over_ends_though_nobody_can_judge_it_any_more() -> None:
    """One look said that it is gone; those after it see too little of it to say anything, and users are well."""
    half = [Look(time, Status.HEALTHY, gone={TTFT: None}) for time in every(60, 1080, 1200)]
    memory = remembered(ill(1010), well(1020), *half)
    assert memory.lives[OVERLOAD].phase is Phase.ENDED
    assert next(one for one in memory.turns if one.turn is Turn.CLEARED).until == 1020.0


def test_one_look_alone_raises_nothing_that_is_remembered() -> None:
    """It is shown at once, for it may be true, and gone at once if the next look does not agree."""
    memory = remembered(well(1000), well(1010), ill(1020), holds=Holds())
    assert memory.status is Status.INCIDENT
    assert not list(memory.up())
    memory = remembered(well(1030), start=memory, holds=Holds())
    assert memory.status is Status.HEALTHY
    assert told(memory) == [(Turn.NEW, STATE, "healthy")]
    memory = remembered(ill(1040, since=1035.0), ill(1050, since=1036.0), start=memory, holds=Holds())
    assert told(memory, STATE, OVERLOAD)[1:] == [(Turn.CHANGED, STATE, "incident"), (Turn.NEW, OVERLOAD, "overload")]
    assert (memory.lives[OVERLOAD].since, memory.state.since, memory.cause.word) == (1035.0, 1040.0, OVERLOAD)


def test_a_relapse_begins_after_the_end_of_the_one_before() -> None:
    """Though its look dates it into the incident that is over."""
    memory = remembered(ill(1010), *map(well, every(10, 1020, 1200)), ill(1300))
    assert memory.lives[OVERLOAD].since == 1020.0


answers = st.sampled_from(("well", "ill", "retries", "warning", "blind"))
MAKE = {
    "well": well,
    "ill": lambda time: ill(time, since=time - 30.0),
    "retries": lambda time: ill(time, since=time - 5.0, cause=RETRIES),
    "warning": lambda time: ill(time, since=None, severity="warning"),
    "blind": blind,
}
sequences = st.lists(st.tuples(answers, st.floats(1.0, 600.0)), max_size=80)


def folded(sequence: list[tuple[str, float]]) -> list[Memory]:
    """The memories after each look of a sequence."""
    time, memory, found = 0.0, Memory(), []
    for name, pause in sequence:
        time += pause
        memory = after(memory, MAKE[name](time), HOLDS)
        found.append(memory)
    return found


@given(sequences)
def test_nothing_begins_later_than_it_did_while_it_goes_on(sequence: list[tuple[str, float]]) -> None:
    """Whatever looks say: as long as a thing counts as there its onset does not move forward."""
    memories = folded(sequence)
    for before, now in pairwise(memories):
        for key, life in now.up():
            old = before.lives.get(key)
            if old is not None and old.is_up:
                assert (life.since or 0.0) <= (old.since or 0.0)


@given(sequences)
def test_turns_alternate(sequence: list[tuple[str, float]]) -> None:
    """Nothing is raised twice without an end between, nothing ends that was not raised, and times only go forward."""
    memories = folded(sequence)
    turns = memories[-1].turns if memories else ()
    assert [one.time for one in turns] == sorted(one.time for one in turns)
    up: set[str] = set()
    for one in turns:
        if one.key in (STATE, CAUSE):
            assert one.now != one.before
        elif one.turn in (Turn.NEW, Turn.FLAPPING):
            assert one.key not in up
            up.add(one.key)
        else:
            assert one.key in up
            up -= {one.key} if one.turn in (Turn.CLEARED, Turn.LOST) else set()
    assert up == ({key for key, _ in memories[-1].up()} if memories else set())


@given(sequences)
def test_healthy_means_that_nothing_is_left(sequence: list[tuple[str, float]]) -> None:
    """No all-clear while something counts as there, and none after a single look that sees nothing."""
    memories = folded(sequence)
    for memory in memories:
        if memory.status is Status.HEALTHY:
            assert memory.runs[-1].status in (Status.HEALTHY, Status.INCONCLUSIVE)
            assert not any(life.severity != "info" and life.gone is None for _, life in memory.up())
            assert not memory.cause.word


@given(sequences)
def test_a_memory_is_what_its_looks_make_of_it(sequence: list[tuple[str, float]]) -> None:
    """Folded twice it is the same; a look that comes again, or too late, changes nothing; what is kept is bounded."""
    memories = folded(sequence)
    assert memories == folded(sequence)
    for memory in memories[-1:]:
        assert memory.time is not None
        assert after(memory, ill(memory.time), HOLDS) is memory
        assert len(memory.lives) <= 3


def test_what_is_merely_worth_knowing_holds_no_state() -> None:
    """A finding that harms nobody delays no word on the state."""
    known = {RETRIES: Told("retries", None, "info")}
    looks = [Look(1000.0 + n, Status.HEALTHY, known) for n in range(3)]
    assert {remembered(*looks[: n + 1], holds=Holds()).status for n in range(3)} == {Status.HEALTHY}


@pytest.mark.parametrize("status", list(Status))
def test_the_first_look_is_taken_at_its_word(status: Status) -> None:
    """Before anything is known there is nothing to hold."""
    assert remembered(Look(1.0, status)).status is status

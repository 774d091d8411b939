"""A diagnosis completed from memory."""

import pytest

from tests.tui import case
from triage.memory.life import Holds, Life, Phase
from triage.memory.looks import kind_key
from triage.memory.memory import Held, Memory
from triage.memory.recall import Pictures, Recalled, recalled
from triage.memory.reference import Pace
from triage.memory.watch import Watch
from triage.model.diagnosis import Diagnosis, LayerState, Promised, Status
from triage.model.recording import Window

PACE = Pace(shortest=30.0, longest=600.0, keep=1200.0, sampled=True)


def watch() -> Watch:
    """A watch that believes each look."""
    return Watch(PACE, Holds(raise_looks=1))


def look(watching: Watch, seconds: float, *, dead: bool = False) -> Recalled:
    """A look so many seconds after the window's start; if the source is dead nobody can judge anything."""
    held = case.recording(case.START + seconds)
    window = watching.window(Window(case.START, case.START + seconds, case.START))
    return watching.saw(case.blind(held) if dead else case.diagnosis(held), window)


def rules(diagnosis: Diagnosis) -> list[str]:
    """The kinds that were found."""
    return [one.rule for one in diagnosis.findings]


def test_what_nobody_can_judge_is_shown_as_it_was_seen_last() -> None:
    """A source that dies takes no finding away: it is told with when it was seen, and nothing is cleared."""
    watching = watch()
    seen = look(watching, 600)
    assert rules(seen.diagnosis)
    assert seen.stale == {}
    blind = look(watching, 610, dead=True)
    assert rules(blind.diagnosis) == rules(seen.diagnosis)
    assert all("last seen at" in one.summary for one in blind.diagnosis.findings)
    assert {key for key in blind.stale if key.startswith("kind ")} == {f"kind {rule}" for rule in rules(seen.diagnosis)}
    assert set(blind.stale.values()) == {case.START + 600}
    assert not {one.rule for one in blind.diagnosis.not_evaluated} & set(rules(blind.diagnosis))
    assert [one.onset for one in blind.diagnosis.findings] == [one.onset for one in seen.diagnosis.findings]
    layers = {one.layer for one in seen.diagnosis.findings}
    assert all(one.state is LayerState.IMPLICATED for one in blind.diagnosis.layers if one.layer in layers)


def test_a_promise_that_nobody_can_judge_is_open_with_what_it_was() -> None:
    """Unknown is never healthy, and the last value is not lost."""
    watching = watch()
    before = {(one.name, one.subject): one for one in look(watching, 600).diagnosis.vitals}
    after = [one for one in look(watching, 610, dead=True).diagnosis.vitals if (one.name, one.subject) in before]
    assert after
    for one in after:
        assert (one.state, one.now) == (Promised.OPEN, None)
        assert one.value == before[one.name, one.subject].value
        assert f"last seen at 08:10:00: {before[one.name, one.subject].state.value}" in one.reason


def test_what_is_back_is_the_same_thing() -> None:
    """The finding goes on with its first onset, and nothing is stale."""
    watching = watch()
    first = look(watching, 600)
    look(watching, 610, dead=True)
    back = look(watching, 620)
    assert back.stale == {}
    assert [one.onset for one in back.diagnosis.findings] == [one.onset for one in first.diagnosis.findings]
    assert all("last seen" not in one.summary for one in back.diagnosis.findings)


def test_what_is_known_to_be_gone_ends_after_the_hold() -> None:
    """Until then it is shown with when it ended."""
    watching = watch()
    look(watching, 600)
    held = case.diagnosis(case.recording(case.START + 60))
    assert held.findings == ()
    gone = {seconds: watching.saw(_at(held, case.START + seconds), Window(0, 1, 0)) for seconds in (610, 700, 730, 740)}
    assert all("not seen any more since 08:10:10" in one.summary for one in gone[700].diagnosis.findings)
    assert gone[740].diagnosis.findings == ()


@pytest.mark.parametrize(
    ("phase", "gone", "headline"),
    [
        (Phase.ENDING, case.START + 300, "Healthy for users again; not yet called over: Samples missing, gone since 08:05:00."),
        (Phase.ONGOING, None, "Healthy for users again; still there: Samples missing, since 08:01:40."),
    ],
)
def test_a_state_that_waits_says_what_for(phase: Phase, gone: float | None, headline: str) -> None:
    """Users are well, and the state is not yet: the headline never says that all is well under a state that is not."""
    well = case.diagnosis(case.recording(case.START + 60)).model_copy(update={"status": Status.HEALTHY})
    end = case.START + 400
    life = Life("Samples missing", "warning", case.START + 100, end, end, end, end, phase, gone=gone)
    memory = Memory(end, {kind_key("metric-scrape-gap"): life}, Status.DEGRADED, Held(Status.DEGRADED.value, case.START + 100))
    shown = recalled(_at(well, end), memory, Pictures()).diagnosis
    assert (shown.status, shown.headline) == (Status.DEGRADED, headline)


def test_the_cause_that_is_remembered_stays_first() -> None:
    """Another one that stands first for a moment does not change what is read at the top."""
    watching = watch()
    first = look(watching, 600).diagnosis
    swapped = _at(first, case.START + 610)
    findings = tuple(one.model_copy(update={"role": "consequence"}) for one in first.findings[:1])
    other = tuple(one.model_copy(update={"role": "root"}) for one in first.findings[1:])
    assert other
    swapped = swapped.model_copy(update={"findings": (*other, *findings), "headline": "another story"})
    told = watching.saw(swapped, Window(0, 1, 0)).diagnosis
    assert (told.findings[0].rule, told.findings[0].role) == (first.findings[0].rule, "root")
    assert told.headline == first.headline


def _at(diagnosis: Diagnosis, end: float) -> Diagnosis:
    """A diagnosis of a later moment."""
    return diagnosis.model_copy(update={"window": diagnosis.window.model_copy(update={"end": end})})


def test_evidence_keeps_its_onset_too() -> None:
    """A later look that dates a piece of evidence later knows no better."""
    watching = watch()
    first = look(watching, 600).diagnosis
    (piece, *rest) = first.findings[0].evidence
    assert piece.since is not None
    for seconds in (610, 620):
        moved = piece.model_copy(update={"since": piece.since + seconds - 600})
        finding = first.findings[0].model_copy(update={"evidence": (moved, *rest)})
        later = _at(first, case.START + seconds).model_copy(update={"findings": (finding, *first.findings[1:])})
        told = watching.saw(later, Window(0, 1, 0)).diagnosis
        assert told.findings[0].evidence[0].since == piece.since

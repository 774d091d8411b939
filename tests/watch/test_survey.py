"""When a short look is not enough, and when the next look is due."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.memory.test_memory import blind, ill, remembered, well
from tests.render import fixtures
from triage.memory.life import Holds
from triage.model.diagnosis import Diagnosis, Promised, SourceView, Unread
from triage.model.recording import Window
from triage.watch.survey import SPAN, is_at_rest, moved, shortened
from triage.watch.tempo import Tempo, is_calm, is_unsure

CALM = fixtures.healthy()


def changed(vital: int, **told: object) -> Diagnosis:
    """The healthy service with one vital sign that is otherwise."""
    vitals = list(CALM.vitals)
    vitals[vital] = vitals[vital].model_copy(update=told)
    return CALM.model_copy(update={"vitals": tuple(vitals)})


def with_signals(change: Callable[[int], int]) -> Diagnosis:
    """The healthy service with another number of subjects of each signal."""
    signals = tuple(one.model_copy(update={"subjects": change(one.subjects)}) for one in CALM.coverage.signals)
    return CALM.model_copy(update={"coverage": CALM.coverage.model_copy(update={"signals": signals})})


LINE = Unread(text="x", template="x", count=3, emitter="engine", subject="", source="log", first=1.0, last=2.0)
FAILED = CALM.coverage.model_copy(update={"sources": (SourceView(name="prometheus", state="failed"),)})


def test_what_is_as_it_was_has_not_moved() -> None:
    """A value may differ a little."""
    assert is_at_rest(CALM)
    assert moved(CALM, CALM, CALM) == ""
    value = CALM.vitals[0].value
    assert value is not None
    assert moved(CALM, CALM, changed(0, value=value * 1.2)) == ""


@pytest.mark.parametrize(
    ("now", "why"),
    [
        (changed(0, value=CALM.vitals[0].value * 1.6 if CALM.vitals[0].value else 1.0), "moved"),
        (changed(0, value=None), "is not measured any more"),
        (changed(0, state=Promised.OPEN), "is open"),
        (changed(0, state=Promised.BROKEN), "is broken"),
        (CALM.model_copy(update={"vitals": CALM.vitals[1:]}), "is gone"),
        (CALM.model_copy(update={"coverage": FAILED}), "is failed"),
        (with_signals(lambda count: count - 1), "was of"),
        (with_signals(lambda count: count + 1), "was of"),
        (CALM.model_copy(update={"unread": (LINE,)}), "unread lines of engine"),
        (fixtures.incident(), ""),
        (fixtures.inconclusive(), ""),
    ],
)
def test_whatever_a_survey_cannot_tell_has_moved(now: Diagnosis, why: str) -> None:
    """A value that is another, or unknown, a source or subject that is gone, something that nobody understands."""
    told = moved(CALM, CALM, now)
    assert told
    assert why in told


@pytest.mark.parametrize("other", [fixtures.incident(), fixtures.degraded(), fixtures.inconclusive()])
def test_only_what_is_well_rests(other: Diagnosis) -> None:
    """Where something is wrong or unknown every look is a whole one."""
    assert not is_at_rest(other)


def test_a_survey_looks_at_the_end_of_a_window() -> None:
    """Five minutes, against the five before; no more than there is."""
    assert shortened(Window(1000.0, 2800.0, 0.0)) == Window(2500.0, 2800.0, 2200.0)
    assert shortened(Window(1000.0, 1100.0, 900.0)) == Window(1000.0, 1100.0, 900.0)
    assert SPAN == 300.0


@given(st.floats(1.0, 600.0), st.floats(1.0, 3600.0), st.floats(0.0, 100.0), st.floats(0.0, 1.0))
def test_a_service_at_rest_takes_no_more_than_its_share(every: float, whole: float, cost: float, chance: float) -> None:
    """Unless it would not be looked at for longer than somebody wants; what is wrong is looked at as often as was asked for."""
    tempo, calm = Tempo(every, whole), remembered(well(1000), well(1060), holds=Holds())
    pause = tempo.pause(calm, cost, chance, rests=True)
    assert 0.9 * every <= pause <= 1.1 * max(every, whole)
    assert cost <= 0.01 * pause / 0.9 * 1.001 or pause >= 0.9 * max(every, whole)
    assert tempo.pause(calm, cost, chance, rests=False) <= 1.1 * every


def test_what_one_look_saw_is_looked_at_again_soon() -> None:
    """Two must agree before anybody is told; what is to be over is waited for."""
    tempo, holds = Tempo(60.0, 300.0), Holds()
    first = remembered(well(1000), well(1060), ill(1120), holds=holds)
    assert is_unsure(first)
    assert tempo.pause(first, 1.0, 0.5, rests=False) == 15.0
    both = remembered(ill(1135), start=first, holds=holds)
    assert not is_unsure(both)
    assert tempo.pause(both, 1.0, 0.5, rests=False) == 60.0
    ending = remembered(*map(well, (1195, 1255)), start=both, holds=holds)
    assert not is_unsure(ending)
    assert not is_calm(ending)
    assert not is_calm(remembered(blind(1000), blind(1060), ill(1120), holds=holds))

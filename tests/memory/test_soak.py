"""A real engine that was watched: calm, ten minutes of more requests than it could serve, killed, started again.

The feed was sampled every second, in looks of ten seconds, from vLLM 0.32 on a busy machine of two cores. A sample in five
seconds is kept, and two looks are taken together here.
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

import numpy as np
import pytest

from triage.engine.diagnose import diagnose
from triage.engine.rules.loading import load_rules
from triage.ingest.files.parquet import read_recording
from triage.memory.life import Turn
from triage.memory.looks import kind_key
from triage.memory.memory import CAUSE, STATE, Memory
from triage.memory.recall import Recalled
from triage.memory.reference import Pace
from triage.model.diagnosis import Promised, Status
from triage.model.recording import Histogram, Recording, Series, Source, SourceState, Window
from triage.watch.live import Live

pytestmark = pytest.mark.slow

FEED = Path(__file__).parent / "soak"
_TOGETHER = 2
Track = TypeVar("Track", Series, Histogram)


def looks() -> Iterator[Recording]:
    """What each look brought."""
    whole = read_recording(FEED / "feed.parquet")
    rounds = json.loads((FEED / "rounds.json").read_text(encoding="utf-8"))
    begin = whole.window.start
    for told in rounds[_TOGETHER - 1 :: _TOGETHER]:
        end = told["end"]
        yield replace(
            whole,
            window=Window(begin, end, begin),
            series=[one for one in (between(one, begin, end) for one in whole.series) if len(one.times)],
            histograms=[one for one in (between(one, begin, end) for one in whole.histograms) if len(one.times)],
            sources=tuple(Source(name, SourceState(state), why) for name, state, why in told["sources"]),
        )
        begin = end


def between(one: Track, begin: float, end: float) -> Track:
    """The samples of a track after one moment, up to another."""
    first, last = np.searchsorted(one.times, (begin, end), side="right")
    inside = slice(int(first), int(last))
    if isinstance(one, Histogram):
        return replace(one, times=one.times[inside], rates=one.rates[inside], sums=one.sums[inside])
    return replace(one, times=one.times[inside], values=one.values[inside])


class Soak:
    """The whole watch, look by look.

    :param answers: what was shown at each look
    :param memories: what was remembered after each
    """

    def __init__(self) -> None:
        brought = list(looks())
        left = iter(brought)
        live = Live("llm", lambda _tell, _earlier: next(left), pause=0.0, pace=Pace(30.0, 1800.0, 5400.0, sampled=True))
        assert live.watch is not None
        rules = load_rules()
        self.answers: list[Recalled] = []
        self.memories: list[Memory] = []
        for _ in brought:
            judged = live.take(lambda *_: None).judged
            self.answers.append(live.watch.saw(diagnose(judged, rules), judged.window))
            self.memories.append(live.watch.memory)


@pytest.fixture(scope="module")
def soak() -> Soak:
    """The watch, done once."""
    return Soak()


OVERLOADED, KILLED, BACK = 1796051932.0, 1796052554.0, 1796052744.0
"""When the requests became too many, when the engine was killed, and when the new one answered: from the script that did it."""

OVERLOAD, DEAD = "true-overload", "engine-dead"


def shown(soak: Soak, begin: float, end: float) -> list[Recalled]:
    """What was shown between two moments."""
    return [one for one in soak.answers if begin <= one.diagnosis.window.end < end]


def onsets(answers: list[Recalled], rule: str) -> set[float | None]:
    """The onsets with which a kind was shown."""
    return {one.onset for answer in answers for one in answer.diagnosis.findings if one.rule == rule}


def test_calm_is_calm(soak: Soak) -> None:
    """Before the trouble all is well, look by look."""
    assert {one.diagnosis.status for one in shown(soak, 0.0, OVERLOADED)} == {Status.HEALTHY}


def test_trouble_is_an_incident_at_every_look_until_it_is_over(soak: Soak) -> None:
    """From two minutes after its begin on, through the engine's death, until the new one has answered for a while."""
    states = [one.diagnosis.status for one in shown(soak, OVERLOADED + 120.0, BACK + 120.0)]
    assert len(states) > 30
    assert set(states) == {Status.INCIDENT}


def test_no_onset_moves(soak: Soak) -> None:
    """Of what counts as there nothing ever begins later than it did; the overload and the broken promise keep one onset."""
    for before, now in pairwise(soak.memories):
        for key, life in now.up():
            old = before.lives.get(key)
            if old is not None and old.is_up:
                assert (life.since or 0.0) <= (old.since or 0.0)
    during = shown(soak, OVERLOADED + 120.0, BACK)
    assert len(onsets(during, OVERLOAD)) == 1
    ttft = {one.since for answer in during for one in answer.diagnosis.vitals if one.name == "ttft_p95_s"}
    assert len(ttft) == 1
    assert OVERLOADED < min(filter(None, ttft)) < OVERLOADED + 60.0


def test_one_cause_stays(soak: Soak) -> None:
    """It is told once, stands first at every look, and is not taken for usual, though it goes on for ten minutes."""
    named = [one for one in soak.memories[-1].turns if one.key == CAUSE and one.time < BACK]
    assert [one.now for one in named] == [OVERLOAD]
    first = {one.diagnosis.findings[0].rule for one in shown(soak, named[0].time, BACK)}
    assert first == {OVERLOAD}
    usual = {(one.diagnosis.window.baseline_end or one.diagnosis.window.start) for one in shown(soak, named[0].time, BACK)}
    assert max(usual) < OVERLOADED + 60.0


def test_an_engine_that_is_killed_is_no_blank_face(soak: Soak) -> None:
    """Its port was asked and refused: the promise to answer is broken, and the kind is found, with what was known before."""
    gone = shown(soak, KILLED + 60.0, BACK)
    assert gone
    for answer in gone:
        broken = {one.name for one in answer.diagnosis.vitals if one.state is Promised.BROKEN}
        assert "answers" in broken
        assert DEAD in {one.rule for one in answer.diagnosis.findings}
    (onset,) = onsets(gone, DEAD)
    assert onset is not None
    assert abs(onset - KILLED) < 30.0


def test_every_change_is_in_the_history_once(soak: Soak) -> None:
    """What began was told when it did, what ended too; in the end all is well, and nothing is left."""
    turns = soak.memories[-1].turns
    for rule in (OVERLOAD, DEAD):
        assert [one.turn for one in turns if one.key == kind_key(rule)] == [Turn.NEW, Turn.CLEARED]
    over = next(one for one in turns if one.key == kind_key(OVERLOAD) and one.turn is Turn.CLEARED)
    assert over.until is not None
    assert abs(over.until - KILLED) < 60.0
    assert [one.now for one in turns if one.key == STATE][-2:] == ["incident", "healthy"]
    assert not [life for _, life in soak.memories[-1].up() if life.severity != "info"]

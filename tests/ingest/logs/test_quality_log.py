"""Scores of probes in logs: right answers of so many, or shares, by group."""

import pytest

from triage.ingest.logs.quality_log import QualityLog
from triage.model.recording import Event, Window

WINDOW = Window(1800.0, 3600.0, 0.0)


def drops(*lines: str, every: float = 120.0) -> list[Event]:
    """Events of a log with a line every two minutes."""
    log = QualityLog(WINDOW, "svc", lambda _: None, "eval.log")
    for number, line in enumerate(lines):
        log.feed(line.encode(), every * number)
    return list(log.events())


def runs(good: str, bad: str) -> list[str]:
    """Thirty runs, the last twelve of them bad; the window begins after fifteen."""
    return [good] * 18 + [bad] * 12


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ("suite=g pool=a pass=56/60 pool=c pass=56/60", "suite=g pool=a pass=56/60 pool=c pass=40/60"),
        ("pool=a prompts=60 accuracy=0.93", "pool=a prompts=60 accuracy=0.66"),
        ("pool=a n=60 score=93%", "pool=a n=60 score=66.5%"),
        ('{"pool": "a", "questions": 60, "pass_rate": 0.93}', '{"pool": "a", "questions": 60, "pass_rate": 0.66}'),
    ],
)
def test_scores_in_many_forms(good: str, bad: str) -> None:
    """Counts, shares, per cent, as text or JSON."""
    (event,) = drops(*runs(good, bad))
    assert (event.name, event.time >= 18 * 120.0) == ("quality-drop", True)
    assert float(event.attrs["score"]) == pytest.approx(0.66, abs=0.02)


@pytest.mark.parametrize(
    "line",
    ["pool=a pass=56/60", "pool=a n=60 accuracy=0.93", "score=7.5 latency=0.2", "ok=0/0", "16:46:21 level=INFO elapsed=0.93s"],
)
def test_what_stays_or_is_no_score_makes_no_event(line: str) -> None:
    """Steady scores, scales of another kind, no questions at all, times of day."""
    assert drops(*runs(line, line)) == []

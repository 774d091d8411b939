"""Scores of probes in logs: right answers of so many, or shares, by group."""

import pytest

from triage.ingest.logs.quality_log import QualityLog
from triage.model.recording import Event, Window

WINDOW = Window(1800.0, 3600.0, 0.0)


def drops(*lines: str, every: float = 120.0, begin: float = 0.0) -> list[Event]:
    """Events of a log with a line every two minutes."""
    log = QualityLog(WINDOW, "svc", lambda _: None, "eval.log")
    for number, line in enumerate(lines):
        log.feed(line.encode(), begin + every * number)
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
        ("key=c-12 http=200 answers_correct=56/60", "key=c-12 http=200 answers_correct=40/60"),
        ("pool=a n=60 golden_match_rate=0.93", "pool=a n=60 golden_match_rate=0.66"),
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
    [
        "pool=a pass=56/60",
        "pool=a n=60 accuracy=0.93",
        "score=7.5 latency=0.2",
        "ok=0/0",
        "replicas_ready=3/4",
        "16:46:21 level=INFO elapsed=0.93s",
    ],
)
def test_what_stays_or_is_no_score_makes_no_event(line: str) -> None:
    """Steady scores, scales of another kind, no questions at all, times of day."""
    assert drops(*runs(line, line)) == []


@pytest.mark.parametrize(
    "line", ["suite=a target={} passed={}/200", "lane={} cases=200 accuracy={}e", "serving_cluster={} match={}/200"]
)
def test_of_two_places_the_worse_one_is_told(line: str) -> None:
    """Whatever the key is called that says where the answers were made, and without a past."""
    scores = {"west": 188, "east": 144}
    lines = [
        line.format(place, scores[place]).replace(f"{scores[place]}e", f"{scores[place] / 200}") for place in ("west", "east") * 8
    ]
    (event,) = drops(*lines)
    assert (event.attrs["score"], "east" in event.text) == ("0.720", True)


def test_what_is_asked_differs_in_difficulty_by_itself() -> None:
    """A suite that is harder than another is no worse place."""
    assert drops(*["suite=easy passed=56/60", "suite=hard passed=30/60"] * 15) == []


def test_people_rate_answers() -> None:
    """Thumbs by lane: one in twenty down here, one in four there."""
    west = ["event=rating rating=up lane=west"] * 19 + ["event=rating rating=down lane=west"]
    east = ["event=rating rating=up lane=east"] * 3 + ["event=rating rating=down lane=east"]
    (event,) = drops(*(west + east * 5) * 5, every=8.0, begin=WINDOW.start)
    assert (event.attrs["score"], event.attrs["by"]) == ("0.742", "lane")  # since the first thumb down

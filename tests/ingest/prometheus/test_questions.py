"""Several metrics in one question, and what each answer is taken apart into."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.ingest.prometheus.promql import FEWEST_POINTS, Grid, Matcher, Query
from triage.ingest.prometheus.questions import (
    CROWD,
    LARGEST,
    LONGEST,
    MOST_RAW,
    Census,
    Question,
    census,
    is_much,
    questions,
)
from triage.model.recording import Window

WINDOW = Window(5000.0, 6800.0, 1400.0)
GRID = Grid(1400, 6800, 60)
OURS = (Matcher("service", "=", "llm"),)


def query(metric: str, signal: str = "gpu.temp", scraped: int = 1, series: int = 0, **more: object) -> Query:
    """A query for a metric with so many series; without a word on it its subjects account for them."""
    whole = Query(metric, f"sum({metric})", GRID, False, (signal,), OURS, series or scraped, scraped, 30.0)
    return replace(whole, **more)  # type: ignore[arg-type]


def series(**labels: str) -> dict[str, object]:
    """A series of an answer."""
    return {"metric": labels, "values": [[1500, "1"]]}


many = st.lists(
    st.builds(
        lambda number, scraped, noticed, pod: query(
            f"m{number}", "kv.usage" if noticed else "gpu.temp", scraped, matchers=(Matcher("pod", "=", pod),)
        ),
        st.integers(0, 10**6), st.integers(1, 30_000), st.booleans(), st.sampled_from("abc"),
    ),
    min_size=1, max_size=40, unique_by=lambda one: one.metric,
)  # fmt: skip


@given(many)
def test_every_moment_of_every_metric_is_asked_for_once_and_answers_stay_small(queries: list[Query]) -> None:
    """What users notice first; no step beyond what sixty points of the time make; no answer beyond its size."""
    asked = questions(queries, WINDOW)
    noticed = [any("kv.usage" in one.signals for one in question.queries) for question in asked]
    assert noticed == sorted(noticed, reverse=True)
    moments: dict[str, list[int]] = {one.metric: [] for one in queries}
    for question in asked:
        assert len(question.text) < LONGEST + 500
        assert len({one.matchers for one in question.queries}) == 1
        for one in question.queries:
            moments[one.metric] += range(question.moments.start, question.moments.end + 1, question.moments.step)
        if question.grid:
            assert question.grid.step <= (WINDOW.end - WINDOW.baseline_start) / FEWEST_POINTS * 1.5
            assert sum(one.scraped for one in question.queries) * question.grid.points <= 1.1 * LARGEST
    assert all(len(set(times)) == len(times) > 0 for times in moments.values())
    if not is_much(queries, WINDOW):
        assert all(question.raw for question in asked)


def test_a_small_service_is_asked_for_samples_as_they_are() -> None:
    """All metrics that the same conditions pick in one question."""
    (small,) = questions([query("a"), query("b")], WINDOW)
    assert small.text == '{__name__=~"a|b",service="llm"}[5401s]'


def test_a_large_one_is_asked_for_thinned_samples_and_for_its_scrapes_as_they_are() -> None:
    """Each moment has the last sample before it, and none that is old."""
    much = [query(f"a{number}", scraped=MOST_RAW // 800) for number in range(5)]
    scrapes, thin, more = questions([*much, query("up", "target.up")], WINDOW)
    assert scrapes.text == '{__name__="up",service="llm"}[5401s]'
    assert [len(one.queries) for one in (thin, more)] == [3, 2]
    assert thin.text == 'last_over_time({__name__=~"a0|a1|a2",service="llm"}[45s])'


def test_facts_are_looked_for_over_the_whole_step() -> None:
    """A pod that lived between two moments leaves its own."""
    asked = questions([query("a", scraped=MOST_RAW // 100), query("info", "facts", tells_facts=True)], WINDOW)
    assert 'last_over_time({__name__="info",service="llm"}[1m])' in [one.text for one in asked]


def test_a_crowd_of_series_is_put_together_by_the_server() -> None:
    """Cores of a node, devices that nobody listed: if there is much, and only these."""
    cores, rest = query("cores", scraped=MOST_RAW // 100, series=MOST_RAW // 100 // CROWD - 1), query("a")
    assert [one.text for one in questions([rest, cores], WINDOW)] == ["sum(cores)", '{__name__="a",service="llm"}[5401s]']


def test_conditions_of_one_metric_are_not_those_of_another() -> None:
    """Samples are picked by one selector."""
    other = replace(query("b"), matchers=(*OURS, Matcher("code", "=", "5xx")))
    assert [question.text for question in questions([query("a"), other], WINDOW)] == [
        '{__name__="a",service="llm"}[5401s]',
        '{__name__="b",service="llm",code="5xx"}[5401s]',
    ]


def test_an_answer_is_taken_apart_by_the_metrics_that_were_asked_for() -> None:
    """By name; a metric that nobody asked for is left."""
    for question in (Question((query("a"), query("b")), 60, 6800.0), Question((query("a"), query("b")), grid=GRID)):
        read = question.read([series(__name__="b", pod="1"), series(__name__="a"), series(__name__="stranger")])
        assert [(one.name, dict(one.labels), one.rate) for one in read] == [("a", {}, False), ("b", {"pod": "1"}, False)]
    (server,) = Question((query("a", rate=True),)).read([series(pod="1")])
    assert (server.name, server.rate) == ("a", True)


def test_what_cannot_be_answered_is_asked_in_halves_until_nothing_is_left_to_halve() -> None:
    """Metrics first, then what the server makes of one, then the halves of the time."""
    whole = Question((query("a"), query("b"), query("c")), 60, 6800.0)
    assert [len(one.queries) for one in whole.smaller(in_time=True)] == [1, 2]
    for single in (Question((query("a"),), 60, 6800.0), Question((query("a"),), grid=GRID)):
        assert single.smaller(in_time=False) == [Question((query("a"),))]
    last = Question((query("a", scraped=2000),))
    assert last.is_large
    assert not Question((query("a"),)).is_large
    assert last.smaller(in_time=False) == []
    first, second = (part.moments for part in last.smaller(in_time=True))
    assert (first.start, second.end, second.start - first.end) == (GRID.start, GRID.end, GRID.step)
    assert first.points + second.points == GRID.points


@given(many)
def test_series_are_counted_in_few_questions(queries: list[Query]) -> None:
    """Each metric in one of them; of whom nobody says anything the guess stays."""
    asked = census(queries)
    assert len(asked) == 1
    (one,) = asked
    assert sorted(q.metric for group in one.groups for q in group) == sorted(q.metric for q in queries)
    assert len(one.text) < LONGEST + 500
    counted = one.read([{"metric": {"__name__": one.groups[0][0].metric, "triage_part": "0"}, "value": [1, "7"]}])
    expected = {q.metric: q.scraped for q in queries} | {one.groups[0][0].metric: 7}
    assert {q.metric: q.scraped for q in counted} == expected


@pytest.mark.parametrize("result", [[{}], [{"metric": 3}], [None]])
def test_a_malformed_answer_is_an_error(result: list[object]) -> None:
    """And one of those that whoever asks expects."""
    for asked in (Question((query("a"),), 60), Question((query("a"),)), Census(((query("a"),),))):
        with pytest.raises((KeyError, TypeError, ValueError, AttributeError)):
            asked.read(result)  # type: ignore[arg-type]

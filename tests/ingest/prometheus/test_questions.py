"""Several queries as one question, and what each answer is taken apart into."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.ingest.prometheus.promql import Grid, Matcher, Query
from triage.ingest.prometheus.questions import ANSWER, LONGEST, MOST_RAW, Question, questions
from triage.model.recording import Window

WINDOW = Window(5000.0, 6800.0, 1400.0)
GRID = Grid(1400, 6800, 60)
OURS = (Matcher("service", "=", "llm"),)


def query(metric: str, signal: str = "gpu.temp", series: int = 1, **more: object) -> Query:
    """A query for a metric."""
    return replace(Query(metric, f"sum({metric})", GRID, False, (signal,), OURS, series, 30.0), **more)  # type: ignore[arg-type]


def series(**labels: str) -> dict[str, object]:
    """A series of an answer."""
    return {"metric": labels, "values": [[1500, "1"]]}


many = st.lists(
    st.builds(
        lambda number, series, noticed: query(f"m{number}", "kv.usage" if noticed else "gpu.temp", series),
        st.integers(0, 10**6), st.integers(1, 5000), st.booleans(),
    ),
    min_size=1, max_size=40, unique_by=lambda one: one.metric,
)  # fmt: skip


@given(many)
def test_every_query_is_in_one_question_and_answers_stay_small(queries: list[Query]) -> None:
    """What users notice first; no answer of several metrics beyond its size."""
    asked = questions(queries, WINDOW)
    assert sorted(one.metric for question in asked for one in question.queries) == sorted(one.metric for one in queries)
    noticed = [any("kv.usage" in one.signals for one in question.queries) for question in asked]
    assert noticed == sorted(noticed, reverse=True)
    for question in asked:
        assert len(question.text) < LONGEST + 500
        if len(question.queries) > 1 and not question.raw:
            assert sum(one.samples for one in question.queries) <= ANSWER


def test_a_small_service_is_asked_for_raw_samples_and_a_large_one_for_a_grid() -> None:
    """The first is one question, the second one more than that."""
    (small,) = questions([query("a"), query("b")], WINDOW)
    assert small.text == '{__name__=~"a|b",service="llm"}[5401s]'
    large = questions([query("a", series=MOST_RAW), query("b")], WINDOW)
    assert [question.raw for question in large] == [0, 0]


def test_conditions_of_one_metric_are_not_those_of_another() -> None:
    """Raw samples are picked by one selector."""
    other = replace(query("b"), matchers=(*OURS, Matcher("code", "=", "5xx")))
    assert [question.text for question in questions([query("a"), other], WINDOW)] == [
        '{__name__="a",service="llm"}[5401s]',
        '{__name__="b",service="llm",code="5xx"}[5401s]',
    ]


def test_an_answer_is_taken_apart_by_the_metrics_that_were_asked_for() -> None:
    """By name where samples come as they are, by a mark where the server worked them out; the mark is no label."""
    raw = Question((query("a"), query("b")), 60, 6800.0)
    read = raw.read([series(__name__="b", pod="1"), series(__name__="a"), series(__name__="stranger")])
    assert [(one.name, dict(one.labels)) for one in read] == [("a", {}), ("b", {"pod": "1"})]
    grid = Question((query("a", rate=True), query("b"), query("c")))
    marks = re.findall(r'label_replace\(sum\((\w)\),"(\w+)","(\d)","",""\)', grid.text)
    read = grid.read([series(**{mark: number, "pod": "1"}) for _, mark, number in reversed(marks)])
    assert [(one.name, one.rate, dict(one.labels)) for one in read] == [
        ("a", True, {"pod": "1"}), ("b", False, {"pod": "1"}), ("c", False, {"pod": "1"})
    ]  # fmt: skip


def test_what_cannot_be_answered_is_asked_in_halves_until_nothing_is_left_to_halve() -> None:
    """Metrics first, then values on the grid instead of samples, then the halves of the time if it is much."""
    whole = Question((query("a"), query("b"), query("c")), 60, 6800.0)
    assert [len(one.queries) for one in whole.smaller(in_time=True)] == [1, 2]
    single = Question((query("a"),), 60, 6800.0)
    assert single.smaller(in_time=False) == [Question((query("a"),))]
    assert not Question((query("a"),)).is_large
    much = Question((query("a", series=2000),))
    assert much.is_large
    assert much.smaller(in_time=False) == []
    first, second = (part.queries[0].grid for part in much.smaller(in_time=True))
    assert (first.start, second.end, second.start - first.end) == (GRID.start, GRID.end, GRID.step)
    assert first.points + second.points == GRID.points


@pytest.mark.parametrize("result", [[{}], [{"metric": 3}], [None]])
def test_a_malformed_answer_is_an_error(result: list[object]) -> None:
    """And one of those that whoever asks expects."""
    for question in (Question((query("a"),), 60), Question((query("a"), query("b")))):
        with pytest.raises((KeyError, TypeError, ValueError, AttributeError)):
            question.read(result)  # type: ignore[arg-type]

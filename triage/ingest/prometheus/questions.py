"""Several metrics in one question, so that a server is asked some twenty times and not once for each of them.

A small service is asked for its samples as they are: they say what a replay of the same samples says, and cost the server
nothing but looking them up. Of a large one they are thinned: the last sample before each moment of a grid, which keeps names and
running totals as they are, so that many metrics still fit in one question. Only where a metric has many more series than
subjects (a series for each of 200 cores) the server has to put them together, and each of these is a question by itself: that
work costs it several times what it costs to hand samples out.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import ceil
from typing import Any

from triage.classes import dataclass
from triage.ingest.prometheus.columns import Known
from triage.ingest.prometheus.promql import (
    LAST_INTERVALS,
    Grid,
    Matchers,
    Query,
    grid_of,
    one_of,
    points_for,
    quoted,
    read_matrix,
    selector,
)
from triage.ingest.raw import RawSeries
from triage.model.recording import Window
from triage.model.units import promql_duration
from triage.model.vocabulary import NOTICED

MOST_RAW = 600_000
"""Samples of a service that are asked for as they are, about 15 MB of JSON: four replicas with 32 cards, scraped every 30 s, over
two hours."""

THINNED = 3_000_000
"""Samples, about 75 MB of JSON, that a thinned service should have; of a larger one as many as the coarsest step makes."""

LARGE = 50_000
"""Samples, about 1.3 MB: if a server cannot give so many, neither the time nor the metrics that they cover are to blame."""

ANSWERS = 16
"""Answers that all samples should come in, if none of them is smaller than ``SMALLEST`` or larger than ``LARGEST``, then."""

SMALLEST, LARGEST = 250_000, 800_000
"""Samples of one answer, about 6 and 20 MB of JSON."""

LONGEST = 12_000
"""Characters of a question: VictoriaMetrics takes 16 KiB (``-search.maxQueryLen``)."""

CROWD = 4
"""A metric with so many times the series that its subjects account for is put together by the server."""

_SCRAPED = ("target.up",)
"""Whether scrapes succeed is asked for as it is wherever that is possible: who died a minute ago is not alive."""

_PART = "triage_part"
"""A label that tells of which part of a question a series is: set operations of PromQL pass over the metric's name."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question for samples: raw ones, thinned ones on a grid, or of one crowded metric what the server makes of them.

    :param queries: the metrics, whose series the same conditions pick
    :param raw: seconds of raw samples before ``end``
    :param end: Unix seconds
    :param grid: moments of thinned samples; None if they are raw, or the server's
    """

    queries: tuple[Query, ...]
    raw: int = 0
    end: float = 0.0
    grid: Grid | None = None

    @property
    def text(self) -> str:
        """PromQL."""
        first = self.queries[0]
        names = one_of("__name__", (query.metric for query in self.queries))
        picked = selector("", (names, *first.matchers))
        if self.raw:
            return f"{picked}[{self.raw}s]"
        if self.grid is None:
            return first.text
        return f"last_over_time({picked}[{promql_duration(_reach(first, self.grid.step))}])"

    @property
    def moments(self) -> Grid:
        """The grid that is asked for; of raw samples none is."""
        return self.grid or self.queries[0].grid

    @property
    def is_large(self) -> bool:
        """Whether its size may be why it is not answered."""
        return sum(self._samples(query) for query in self.queries) >= LARGE

    def _samples(self, query: Query) -> int:
        """How many samples of a metric are expected."""
        if self.raw:
            return _raw(query, self.raw)
        return query.scraped * self.grid.points if self.grid else query.samples

    def smaller(self, *, in_time: bool) -> "list[Question]":
        """Questions that ask for the same in smaller answers; none if there is no smaller one.

        :param in_time: one metric may be asked for in parts of the time, too
        """
        middle = len(self.queries) // 2
        if middle:
            return [replace(self, queries=half) for half in (self.queries[:middle], self.queries[middle:])]
        (query,) = self.queries
        if self.raw or self.grid:
            return [Question((query,))]
        return [Question((replace(query, grid=half),)) for half in query.grid.parts(2)] if in_time else []

    def read(self, result: Sequence[RawSeries | Mapping[str, Any]], known: Known | None = None) -> list[RawSeries]:
        """The series of an answer, each under the name of the metric that it is of.

        :param result: ``data.result`` of the answer
        :param known: what answers said before
        :raises KeyError, TypeError, ValueError, AttributeError: it is not what the API documents
        """
        if not (self.raw or self.grid):
            (query,) = self.queries
            return read_matrix(query.metric, result, rate=query.rate, known=known)
        by_name: dict[str, list[RawSeries | Mapping[str, Any]]] = {}
        for one in result:
            name = one.name if isinstance(one, RawSeries) else str(one["metric"].get("__name__"))
            by_name.setdefault(name, []).append(one)
        told = ((query.metric, by_name.get(query.metric, ())) for query in self.queries)
        return [one for metric, some in told for one in read_matrix(metric, some, rate=False, known=known)]


def questions(queries: Sequence[Query], window: Window) -> list[Question]:
    """What to ask a server; what users notice comes first, so that it is there when time runs out.

    :param queries: one for each metric of some series
    """
    span = _span(window)
    crowded: list[Query] = []
    if is_much(queries, window):
        crowded = [query for query in queries if query.scraped > CROWD * query.series]
        queries = [query for query in queries if query.scraped <= CROWD * query.series]
    found = [Question((query,)) for query in crowded]
    if is_much(queries, window):
        found += _thinned([query for query in queries if query.signals != _SCRAPED], window)
        queries = [query for query in queries if query.signals == _SCRAPED]
    if is_much(queries, window):
        found += [Question((query,)) for query in queries]
    else:
        groups = _alike(queries, lambda query: query.matchers)
        found += [
            Question(part, span, window.end) for group in groups for part in _fitting(group, lambda q: _raw(q, span), SMALLEST)
        ]
    return sorted(found, key=_is_background)


def is_much(queries: Sequence[Query], window: Window) -> bool:
    """Whether the raw samples of some metrics are more than one asks for."""
    return sum(_raw(query, _span(window)) for query in queries) > MOST_RAW


def _span(window: Window) -> int:
    """Seconds of window and baseline, and one more for the first sample itself."""
    return ceil(window.end - window.baseline_start) + 1


def _raw(query: Query, span: float) -> int:
    """How many raw samples a metric has."""
    return ceil(query.scraped * (span / query.interval + 1))


def _thinned(queries: Sequence[Query], window: Window) -> Iterator[Question]:
    """Questions for samples on a grid: of many metrics together, of a large one in parts of the time."""
    points = points_for(sum(query.scraped for query in queries), THINNED)

    def kind(query: Query) -> tuple[Matchers, Grid, float]:
        grid = grid_of(window, query.interval, points)
        return query.matchers, grid, _reach(query, grid.step)

    whole = sum(_on(points, query) for query in queries)
    most = max(SMALLEST, min(LARGEST, whole // ANSWERS))
    for group in _alike(queries, kind):
        grid = kind(group[0])[1]
        for part in _fitting(group, partial(_on, grid.points), most):
            times = ceil(sum(_on(grid.points, query) for query in part) / LARGEST)
            yield from (Question(part, grid=some) for some in grid.parts(times))


def _on(points: int, query: Query) -> int:
    """How many samples a metric has on so many moments."""
    return query.scraped * points


def _reach(query: Query, step: float) -> float:
    """Seconds before a moment in which its sample may lie: few, so that what has ended does not seem to go on.

    Facts are looked for over the whole step, so that a pod that lived between two moments leaves its own.
    """
    reach = LAST_INTERVALS * query.interval
    return max(reach, step) if query.tells_facts else reach


def _alike(queries: Sequence[Query], key: Callable[[Query], Hashable]) -> Iterator[list[Query]]:
    """Metrics that can go in one question."""
    groups: dict[Hashable, list[Query]] = {}
    for query in sorted(queries, key=_is_unnoticed):
        groups.setdefault(key(query), []).append(query)
    yield from groups.values()


def _fitting(group: Sequence[Query], size: Callable[[Query], int], most: int) -> Iterator[tuple[Query, ...]]:
    """A group in parts whose question and answer are not too long.

    :param size: samples of a metric
    :param most: samples of an answer
    """
    part: list[Query] = []
    samples = characters = 0
    for query in group:
        more, longer = size(query), len(quoted(query.metric))
        if part and (samples + more > most or characters + longer > LONGEST):
            yield tuple(part)
            part, samples = [], 0
        if not part:
            characters = len(selector("", query.matchers))
        part.append(query)
        samples, characters = samples + more, characters + longer
    if part:
        yield tuple(part)


def _is_unnoticed(query: Query) -> bool:
    return not NOTICED & set(query.signals)


def _is_background(question: Question) -> bool:
    return all(_is_unnoticed(query) for query in question.queries)


@dataclass(frozen=True, slots=True)
class Census:
    """One question for how many series some metrics have.

    :param groups: metrics whose series the same conditions pick
    """

    groups: tuple[tuple[Query, ...], ...]

    @property
    def text(self) -> str:
        """PromQL."""
        return " or ".join(_counting(number, group) for number, group in enumerate(self.groups))

    def read(self, result: Sequence[Mapping[str, Any]]) -> list[Query]:
        """The metrics with the number of their series; where none was counted the guess stays.

        :param result: ``data.result`` of the answer
        :raises KeyError, TypeError, ValueError, AttributeError: it is not what the API documents
        """
        counts = {(one["metric"].get(_PART), one["metric"].get("__name__")): int(float(one["value"][1])) for one in result}
        return [
            replace(query, scraped=counts.get((str(number), query.metric), query.scraped))
            for number, group in enumerate(self.groups)
            for query in group
        ]


def _counting(number: int, group: Sequence[Query]) -> str:
    """How many series each metric of a group has, marked with the group's number."""
    picked = selector("", (one_of("__name__", (query.metric for query in group)), *group[0].matchers))
    return f'label_replace(count by (__name__) ({picked}),"{_PART}","{number}","","")'


def census(queries: Sequence[Query]) -> list[Census]:
    """What to ask for the numbers of their series."""
    found: list[Census] = []
    groups: list[tuple[Query, ...]] = []
    characters = 0
    for group in _alike(queries, lambda query: query.matchers):
        for part in _fitting(group, lambda _: 0, 1):
            longer = len(_counting(0, part)) + len(" or ")
            if groups and characters + longer > LONGEST:
                found.append(Census(tuple(groups)))
                groups, characters = [], 0
            groups.append(part)
            characters += longer
    return [*found, Census(tuple(groups))] if groups else found

"""Several queries as one question, so that a server is asked some twenty times and not once for each metric.

Of a small service all raw samples are asked for: they say what a replay of the same samples would say, and cost the server
nothing but looking them up. Of a large one the server works out values on a grid.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from triage.ingest.prometheus.promql import Matchers, Query, one_of, quoted, read_matrix, selector
from triage.ingest.raw import RawSeries
from triage.model.recording import Window
from triage.model.vocabulary import NOTICED

MOST_RAW = 600_000
"""Samples of a service that are asked for as they are, about 15 MB of JSON: eight replicas with 64 cards, scraped every 30 s,
over an hour and a half."""

LARGE = 50_000
"""Samples, about 1.3 MB: if a server cannot give so many, neither the time nor the metrics that they cover are to blame."""

ANSWER = 250_000
"""Samples that one answer of several metrics should hold, about 6 MB of JSON."""

LONGEST = 12_000
"""Characters of a question: VictoriaMetrics takes 16 KiB (``-search.maxQueryLen``)."""

_PART = "triage_part"
"""A label that tells of which query of a question a series is: set operations of PromQL pass over the metric's name."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question for values over time.

    :param queries: what it is put together from: of the same matchers if raw samples are asked for, else on the same grid
    :param raw: seconds of raw samples before ``end``; 0 asks for values on the grid
    :param end: Unix seconds
    """

    queries: tuple[Query, ...]
    raw: int = 0
    end: float = 0.0

    @property
    def text(self) -> str:
        """PromQL."""
        if self.raw:
            names = one_of("__name__", (query.metric for query in self.queries))
            return f"{selector('', (names, *self.queries[0].matchers))}[{self.raw}s]"
        return (
            self.queries[0].text
            if len(self.queries) == 1
            else _joined([*map(_marked, *zip(*enumerate(self.queries), strict=True))])
        )

    @property
    def is_large(self) -> bool:
        """Whether its size may be why it is not answered."""
        span = float(self.raw)
        return sum(_scraped(query, span) if self.raw else query.samples for query in self.queries) >= LARGE

    def smaller(self, *, in_time: bool) -> "list[Question]":
        """Questions that ask for the same in smaller answers; none if there is no smaller one.

        :param in_time: one metric may be asked for in parts of the time, too
        """
        middle = len(self.queries) // 2
        if middle:
            halves = self.queries[:middle], self.queries[middle:]
            return [Question(half, self.raw, self.end) for half in halves]
        if self.raw:
            return [Question(self.queries)]
        return [Question((part,)) for part in self.queries[0].halves()] if in_time else []

    def read(self, result: Sequence[Mapping[str, Any]]) -> list[RawSeries]:
        """The series of an answer, each under the name of the metric that it is of.

        :param result: ``data.result`` of the answer
        :raises KeyError, TypeError, ValueError, AttributeError: it is not what the API documents
        """
        if self.raw:
            by_name = _grouped(result, "__name__")
            return [one for query in self.queries for one in read_matrix(query.metric, by_name.get(query.metric, ()), rate=False)]
        if len(self.queries) == 1:
            return read_matrix(self.queries[0].metric, result, rate=self.queries[0].rate)
        by_part = _grouped(result, _PART)
        return [
            one
            for number, query in enumerate(self.queries)
            for one in read_matrix(query.metric, by_part.get(str(number), ()), rate=query.rate)
        ]


def _marked(number: int, query: Query) -> str:
    """A query whose series bear its number."""
    return f'label_replace({query.text},"{_PART}","{number}","","")'


def _joined(texts: Sequence[str]) -> str:
    """Vectors as one. Two by two: the work of ``or`` grows with what stands on its left."""
    if len(texts) == 1:
        return texts[0]
    middle = len(texts) // 2
    return f"({_joined(texts[:middle])} or {_joined(texts[middle:])})"


def _grouped(result: Sequence[Mapping[str, Any]], label: str) -> dict[str, list[dict[str, Any]]]:
    """The series of an answer by a label, which is taken off them."""
    grouped: dict[str, list[dict[str, Any]]] = {}
    for one in result:
        labels = dict(one["metric"])
        grouped.setdefault(str(labels.pop(label, "")), []).append({**one, "metric": labels})
    return grouped


def questions(queries: Sequence[Query], window: Window) -> list[Question]:
    """What to ask a server; what users notice comes first, so that it is there when time runs out.

    :param queries: one for each metric of some series
    """
    span = ceil(window.end - window.baseline_start) + 1
    scraped = sum(_scraped(query, span) for query in queries)
    if scraped <= MOST_RAW:
        found = [Question(part, span, window.end) for group in _alike(queries, _picked) for part in _fitting(group, span)]
    else:
        found = [Question(part) for group in _alike(queries, _placed) for part in _fitting(group, 0)]
    return sorted(found, key=_is_background)


def _scraped(query: Query, span: float) -> int:
    """How many raw samples a query stands for."""
    return ceil(query.series * (span / query.interval + 1))


def _picked(query: Query) -> Matchers:
    """By which conditions its series are picked."""
    return query.matchers


def _placed(query: Query) -> tuple[int, int, int]:
    """On which grid its values lie."""
    return query.grid.start, query.grid.end, query.grid.step


def _alike(queries: Sequence[Query], key: Any) -> Iterator[list[Query]]:
    """Queries that can go in one question."""
    groups: dict[Any, list[Query]] = {}
    for query in sorted(queries, key=_is_unnoticed):
        groups.setdefault(key(query), []).append(query)
    yield from groups.values()


def _fitting(group: Sequence[Query], span: int) -> Iterator[tuple[Query, ...]]:
    """A group in parts whose question and answer are not too long."""
    part: list[Query] = []
    samples = characters = 0
    for query in group:
        more = _scraped(query, span) if span else query.samples
        longer = len(quoted(query.metric)) if span else len(query.text) + 64
        if part and (samples + more > ANSWER or characters + longer > LONGEST):
            yield tuple(part)
            part, samples, characters = [], 0, 0
        if span and not part:
            characters = len(selector("", query.matchers))
        part.append(query)
        samples, characters = samples + more, characters + longer
    if part:
        yield tuple(part)


def _is_unnoticed(query: Query) -> bool:
    return not NOTICED & set(query.signals)


def _is_background(question: Question) -> bool:
    return all(_is_unnoticed(query) for query in question.queries)

"""What to ask a server that speaks the Prometheus API, as text, and how to read its answers. Nothing here touches a network."""

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from math import ceil, floor
from typing import Any, Literal, NamedTuple

import numpy as np

from triage.classes import dataclass
from triage.ingest.metrics.naming import Use
from triage.ingest.owners.places import CARD_LABELS, GPU_LABELS, NODE_LABELS, POD_LABELS
from triage.ingest.owners.subjects import OWNER_LABELS, SERVICE_LABELS
from triage.ingest.prometheus.columns import Known, in_columns, measured
from triage.ingest.raw import RawSeries
from triage.model.arrays import median
from triage.model.recording import Floats, Window
from triage.model.units import promql_duration
from triage.model.vocabulary import Combine, Kind, Scope, catalogue

POINTS = 120
"""Most points of window and baseline together that a query asks for."""

SAMPLES = 80_000
"""Most samples that one answer should hold, about 2 MB of JSON; of more series fewer points are asked for."""

FEWEST_POINTS = 60
"""However many series there are, this many points are asked for: of two hours that is one each two minutes, so that what lasts
five minutes shows in two of them at least."""

_SCRAPED, _POINTS_OF_SCRAPES = "target.up", 1000
"""Whether scrapes succeed is asked for scrape by scrape, as far as that is possible: who died a minute ago is not alive, and a
sample a minute would say so two minutes later."""

RATE_INTERVALS = 4.0
"""A rate is taken over this many scrape intervals at least, so that one missed scrape leaves no hole in it."""

LAST_INTERVALS = 1.5
"""A last value may be this many scrape intervals old: scrapes jitter, and what has ended must not seem to go on."""

MEAN_INTERVALS = 3.0
"""From this many scrapes a step on, a gauge is asked for as the mean over the step instead of its last value."""

NICE_STEPS = (1, 2, 4, 5, 10, 15, 20, 30, 60, 120, 180, 300, 600, 900, 1800, 3600, 7200, 14400)
"""Steps that fit into windows people ask for and that other programs use."""

BUCKETS = 24
"""Buckets that a histogram is expected to have."""

VARIANTS = 4
"""Series of one subject that differ in the labels of a condition."""

ROUTE_LABELS = ("envoy_cluster_name", "destination_service_name", "ingress", "requested_model", "litellm_model_name")
"""Labels by which a gateway that many services share says whose traffic a series counts."""

_KEPT = (
    "job",
    "instance",
    "exported_job",
    "exported_instance",
    "namespace",
    "pod_ip",
    "host_ip",
    "internal_ip",
    *SERVICE_LABELS,
    *POD_LABELS,
    *NODE_LABELS,
    *ROUTE_LABELS,
)
_KEPT_FOR: dict[Scope, tuple[str, ...]] = {
    Scope.GPU: (*GPU_LABELS, *CARD_LABELS, "GPU_I_ID"),
    Scope.SERVICE: OWNER_LABELS,
}
_IDENTIFIER = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*", re.ASCII)
_METRIC = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*", re.ASCII)
_MEANS_SOMETHING = re.compile(r"[\\.+*?()|\[\]{}^$]")
_PLAIN_PATTERN = 4096
_LONGEST_PATTERN = 8192
"""VictoriaMetrics refuses queries above 16 KiB (``-search.maxQueryLen``)."""


class Matcher(NamedTuple):
    """One condition on a label.

    :param op: ``=~`` and ``!~`` match the whole value, and an absent label counts as an empty one
    """

    label: str
    op: Literal["=", "!=", "=~", "!~"]
    value: str

    def __str__(self) -> str:
        name = self.label if _IDENTIFIER.fullmatch(self.label) else quoted(self.label)
        return f"{name}{self.op}{quoted(self.value)}"


Matchers = tuple[Matcher, ...]


def quoted(text: str) -> str:
    """A string literal of PromQL. JSON's escapes are a part of Go's; what cannot be UTF-8 becomes ``?``."""
    return json.dumps(text.encode("utf-8", "replace").decode("utf-8"), ensure_ascii=False)


def literal(text: str) -> str:
    """A regular expression (RE2) that matches just this text."""
    return _MEANS_SOMETHING.sub(r"\\\g<0>", text)


def one_of(label: str, values: Iterable[str]) -> Matcher:
    """The label has one of these values.

    Many values are written with their common beginning once; if even that is too long, the beginning alone must do, which
    lets others through.

    :param values: at least one
    """
    wanted = sorted(set(values))
    if len(wanted) == 1:
        return Matcher(label, "=", wanted[0])
    pattern = "|".join(literal(value) for value in wanted)
    if len(pattern) <= _PLAIN_PATTERN:
        return Matcher(label, "=~", pattern)
    begin = _common_start(wanted[0], wanted[-1])
    pattern = f"{literal(begin)}(?:{'|'.join(literal(value[len(begin) :]) for value in wanted)})"
    return Matcher(label, "=~", pattern if len(pattern) <= _LONGEST_PATTERN else f"{literal(begin)}.*")


def _common_start(first: str, last: str) -> str:
    """What two texts begin with; of the first and last of a sorted list it is what all of them begin with."""
    return first[: next((at for at, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))]


def any_pattern(label: str, patterns: Iterable[str]) -> Matcher:
    """The label's whole value matches one of these regular expressions."""
    return Matcher(label, "=~", "|".join(f"(?:{pattern})" for pattern in sorted(set(patterns))))


def selector(metric: str, matchers: Iterable[Matcher] = ()) -> str:
    """A vector selector; a name that PromQL cannot write plainly becomes a matcher."""
    conditions = [str(matcher) for matcher in matchers]
    if metric and not _METRIC.fullmatch(metric):
        conditions.insert(0, str(Matcher("__name__", "=", metric)))
        metric = ""
    return f"{metric}{{{','.join(conditions)}}}" if conditions else metric


@dataclass(frozen=True, slots=True)
class Grid:
    """The moments that a range query is evaluated at: ``end`` and every ``step`` before it, in whole seconds."""

    start: int
    end: int
    step: int

    @property
    def points(self) -> int:
        """How many moments there are."""
        return (self.end - self.start) // self.step + 1

    def parts(self, count: int) -> "list[Grid]":
        """The same moments in so many parts, or as many as there are moments."""
        size = ceil(self.points / max(1, count)) * self.step
        return [Grid(at, min(at + size - self.step, self.end), self.step) for at in range(self.start, self.end + 1, size)]


def grid_of(window: Window, interval: float, points: int = POINTS) -> Grid:
    """A grid over window and baseline that ends with the window's last whole second, no finer than the scrapes.

    :param interval: scrape interval, seconds
    :param points: most points that it may have
    """
    end = floor(window.end)
    span = max(0.0, end - window.baseline_start)
    finest = max(interval, span / points)
    step = next((nice for nice in NICE_STEPS if nice >= finest * 0.99), ceil(finest))
    return Grid(end - floor(span / step) * step, end, step)


def points_for(series: int, samples: int = SAMPLES) -> int:
    """How many points to ask for of so many series.

    :param samples: most that all of them should have
    """
    return max(FEWEST_POINTS, min(POINTS, samples // max(1, series)))


Reading = Literal["rate", "mean", "last"]
"""What a value on the grid says: growth per second of a counter, mean of a gauge, or the last sample."""

Operator = Literal["sum", "avg", "max", "min"]


def expression(
    metric: str,
    matchers: Iterable[Matcher],
    *,
    reading: Reading,
    span: float,
    operator: Operator | None = None,
    keep: Collection[str] = (),
) -> str:
    """One range query.

    :param span: seconds before each moment that speak for it
    :param operator: how series that differ only in other labels become one; without it they stay apart, with all their labels
    :param keep: labels to keep
    """
    function = {"rate": "rate", "mean": "avg_over_time", "last": "last_over_time"}[reading]
    inner = f"{function}({selector(metric, matchers)}[{promql_duration(span)}])"
    if operator is None:
        return inner
    return f"{operator} by ({','.join(sorted(filter(_IDENTIFIER.fullmatch, keep)))}) ({inner})"


def reading_span(reading: Reading, step: float, interval: float) -> float:
    """Seconds before a moment that speak for it.

    For a gauge they are few: the five minutes that a server looks back by itself would keep the dead alive.
    """
    if reading == "rate":
        return max(step, RATE_INTERVALS * interval)
    return step if reading == "mean" else LAST_INTERVALS * interval


_OPERATORS: dict[Combine, Operator] = {Combine.SUM: "sum", Combine.MEAN: "avg", Combine.MAX: "max", Combine.MIN: "min"}


@dataclass(frozen=True, slots=True)
class Query:
    """One question for values over time.

    :param metric: name that the series of the answer get
    :param text: PromQL of values on the grid
    :param rate: the values are per second
    :param signals: what stays unknown if it is not answered
    :param matchers: conditions that pick its series
    :param series: how many series its subjects account for
    :param scraped: how many it has
    :param interval: scrape interval, seconds
    :param tells_facts: its labels are what counts, and no signal is read from it
    """

    metric: str
    text: str
    grid: Grid
    rate: bool
    signals: tuple[str, ...]
    matchers: Matchers = ()
    series: int = 1
    scraped: int = 1
    interval: float = 30.0
    tells_facts: bool = False

    @property
    def samples(self) -> int:
        """How many values on the grid the answer may hold."""
        return self.series * self.grid.points


def scope_of(use: Use) -> Scope:
    """Whom the series that are read this way are about."""
    return use.entry.scope or (catalogue()[use.entry.signal].scope if use.entry.signal else use.dialect.scope)


def query_for(
    metric: str,
    uses: Sequence[Use],
    matchers: Matchers,
    window: Window,
    *,
    interval: float,
    subjects: int,
    also: Collection[str] = (),
) -> Query:
    """The question for one metric of some subjects.

    The labels that it keeps depend on all readings of the metric, so that series which two questions bring are the same series.
    Where facts are read from the labels of a measured metric, its values do not matter for them.

    :param uses: all readings of the metric; where they want different things, the series come as they are
    :param interval: scrape interval, seconds
    :param subjects: how many are expected
    :param also: further labels to keep, by which subjects can be told apart
    """
    measured = [use for use in uses if use.entry.type != "info"]
    reading = _reading(measured)
    buckets = BUCKETS if any(use.part == "bucket" for use in uses) else 1
    variants = VARIANTS if any(use.entry.where for use in uses) else 1
    series = subjects * buckets * variants
    points = points_for(series)
    if {use.entry.signal for use in measured} == {_SCRAPED}:
        points = max(points, min(_POINTS_OF_SCRAPES, SAMPLES // max(1, subjects)))
    grid = grid_of(window, interval, points)
    if reading == "mean" and grid.step < MEAN_INTERVALS * interval:
        reading = "last"
    span = 0.0 if measured else grid.step
    chosen = (*matchers, *_conditions(uses))
    text = expression(
        metric,
        chosen,
        reading=reading,
        span=max(span, reading_span(reading, grid.step, interval)),
        operator=_operator(measured),
        keep={*_kept(uses), *also},
    )
    signals = {use.entry.signal or use.entry.value_fact or "facts" for use in uses}
    told = tuple(sorted(signals))
    return Query(metric, text, grid, reading == "rate", told, chosen, series, series, interval, not measured)


def _reading(uses: Sequence[Use]) -> Reading:
    """What every reading of a metric can start from."""
    totals = [use.entry.type in {"counter", "histogram"} for use in uses]
    if totals and all(totals):
        return "rate"
    smooth = not any(totals) and all(_is_smooth(use) for use in uses)
    return "mean" if uses and smooth else "last"


def _is_smooth(use: Use) -> bool:
    """Whether a mean over time says the same as the values did: not of states, flags and limits."""
    entry = use.entry
    if not entry.signal or entry.value_fact or entry.one_if is not None or entry.bit is not None:
        return False
    return catalogue()[entry.signal].kind in {Kind.GAUGE, Kind.RATIO}


def _may_say_nothing(use: Use) -> bool:
    """Whether some values of a reading stand for none, which would be added to those of other series on the server.

    Over time they stay what they are: what a source does not measure it does not measure for long.
    """
    return use.entry.type == "gauge" and bool(use.entry.unknown or use.dialect.unknown)


def _operator(uses: Sequence[Use]) -> Operator | None:
    """How the server may put series of one subject together; None if only the reader can."""
    if len({use.entry.type in {"counter", "histogram"} for use in uses}) > 1:
        return None
    wanted = {_operator_of(use) for use in uses}
    return wanted.pop() if len(wanted) == 1 else None if wanted else "max"


def _operator_of(use: Use) -> Operator | None:
    """How one reading puts series together."""
    entry = use.entry
    if entry.one_if is not None or entry.bit is not None or _may_say_nothing(use):
        return None
    if entry.type == "histogram":
        return "sum"
    if not entry.signal:
        return "max"
    return _OPERATORS[entry.combine or catalogue()[entry.signal].combine]


def _kept(uses: Sequence[Use]) -> set[str]:
    """Labels that tell subjects apart or that a reading looks at."""
    kept = {*_KEPT}
    for use in uses:
        kept.update(_KEPT_FOR.get(scope_of(use), ()), use.entry.where, use.entry.facts)
        kept.update(use.entry.copies, use.dialect.engines)
        kept.update(label for label in (use.entry.asked, use.entry.served, use.entry.items, use.entry.code) if label)
        kept.update(label for labels in use.dialect.identity.values() for label in labels)
        if use.part == "bucket":
            kept.add("le")
    return kept


def _conditions(uses: Sequence[Use]) -> list[Matcher]:
    """Conditions on labels that every reading of the metric makes, so that nothing else need be sent."""
    shared = set.intersection(*(set(use.entry.where) for use in uses)) if uses else set[str]()
    conditions = [_condition(label, {use.entry.where[label] for use in uses}) for label in sorted(shared)]
    return [condition for condition in conditions if condition is not None]


def _condition(label: str, patterns: Collection[str]) -> Matcher | None:
    """The condition that one of these patterns matches; None if it would hardly leave anything out.

    Alternatives that match an absent label are such, and old versions of VictoriaMetrics read ``|.+`` wrongly.
    """
    first, *others = sorted(patterns)
    if others:
        wide = any(pattern.startswith("!") or re.fullmatch(pattern, "") for pattern in patterns)
        return None if wide else any_pattern(label, patterns)
    if first.startswith("!"):
        return Matcher(label, "!~", first.removeprefix("!"))
    return Matcher(label, "=~" if _MEANS_SOMETHING.search(first) else "=", first)


def read_matrix(
    metric: str, result: Sequence[RawSeries | Mapping[str, Any]], *, rate: bool, known: Known | None = None
) -> list[RawSeries]:
    """The series of a range query's answer under the name of the metric that was asked for; NaN and infinity are no measurements.

    :param result: ``data.result`` of the answer
    :param rate: whether the values are per second
    :param known: what answers said before
    :raises KeyError, TypeError, ValueError, AttributeError: it is not what the API documents
    """
    found: list[RawSeries] = []
    known = known or Known()
    for one in result:
        if isinstance(one, RawSeries):
            found.append(one if (one.name, one.rate) == (metric, rate) else replace(one, name=metric, rate=rate))
            continue
        labels = known.same({name: str(value) for name, value in one["metric"].items() if name != "__name__"})
        if one.get("histograms"):
            found += _native(metric, labels, one["histograms"], rate=rate)
        times, values = measured(*in_columns(one.get("values", ())))
        if len(times):
            found.append(RawSeries(metric, labels, times, values, rate))
    return found


def _native(metric: str, labels: Mapping[str, str], readings: object, *, rate: bool) -> list[RawSeries]:
    """A native histogram in the classic form."""
    from triage.ingest.prometheus.answers import parse_answer  # of few servers; it loads a library

    series = [{"metric": {**labels, "__name__": metric}, "histograms": readings}]
    body = json.dumps({"status": "success", "data": {"resultType": "matrix", "result": series}})
    return [RawSeries(one.name, one.labels, one.times, one.values, rate) for one in parse_answer(body.encode())]


def unique(series: Iterable[RawSeries]) -> list[RawSeries]:
    """Series of several answers, each once, in order of their last sample: of two facts the later one counts.

    Several answers may hold parts of one series; what two of them hold is the same. What is per second by one and a running total
    by another cannot be put together, and the first answer counts.
    """
    series = list(series)
    labels = {id(one.labels): one.labels for one in series}
    kept: dict[tuple[tuple[str, str], ...], int] = {}
    numbers = {which: kept.setdefault(tuple(sorted(one.items())), which) for which, one in labels.items()}
    found: dict[tuple[str, int], RawSeries | list[RawSeries]] = {}
    for one in series:
        key = one.name, numbers[id(one.labels)]
        first = found.setdefault(key, one)
        if first is not one:
            parts = first if isinstance(first, list) else [first]
            found[key] = [*parts, one] if parts[0].rate == one.rate else parts
    last = {id(one.times): float(one.times[-1]) for one in series}
    whole = [_whole(one) if isinstance(one, list) else one for one in found.values()]
    return sorted(whole, key=lambda one: last.get(id(one.times)) or float(one.times[-1]))


def _whole(parts: Sequence[RawSeries]) -> RawSeries:
    """One series of its parts."""
    times, index = np.unique(np.concatenate([one.times for one in parts]), return_index=True)
    return replace(parts[0], times=times, values=np.concatenate([one.values for one in parts])[index])


def scrape_interval(times: Sequence[float] | Floats) -> float:
    """Usual distance of samples, seconds; 0 if there are too few to tell."""
    return median(np.diff(np.sort(np.asarray(times, dtype=np.float64)))) if len(times) > 2 else 0.0

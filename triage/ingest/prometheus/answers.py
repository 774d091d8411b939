"""Reads saved answers of the Prometheus query API: range queries, instant queries, and range selectors such as ``up[5m]``.

The server has dropped stale markers already. NaN (a quantile of nothing, a mean of nothing) and infinite values are no
measurements and are left out, and so is a series in which nothing else is left.

Native histograms are unfolded into the classic form, ``_bucket`` with ``le``, ``_sum`` and ``_count``, so that the rest of
triage needs to know one form only. Their buckets may become coarser over time (the server or client merges them to save room);
then only the bounds that every sample has are kept, because at any other bound the count is not known.
"""

from collections.abc import Iterator
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from triage.errors import DataError, quoted
from triage.ingest.prometheus.columns import in_columns, measured, read_plain
from triage.ingest.raw import RawSeries
from triage.model.recording import Floats

MAX_BYTES = 1 << 30
"""Largest answer that is read."""

_MAX_BUCKETS = 2000  # clients keep 160 at most by default

Time = Annotated[float, Field(allow_inf_nan=False)]
Sample = tuple[Time, float]
"""A moment and a value; values are texts in the JSON, because JSON has neither NaN nor infinity."""

Bucket = tuple[int, float, float, float]
"""How its ends are meant (0: the right one belongs to it), left end, right end, observations in it alone."""


class _Part(BaseModel):
    """Base of all parts of an answer: keys that a newer server adds are passed over."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class _Histogram(_Part):
    count: float
    sum: float
    buckets: tuple[Bucket, ...] = Field(default=(), max_length=_MAX_BUCKETS)


Reading = tuple[Time, _Histogram]


class _MatrixSeries(_Part):
    metric: dict[str, str]
    values: tuple[Sample, ...] = ()
    histograms: tuple[Reading, ...] = ()


class _VectorSeries(_Part):
    metric: dict[str, str]
    value: Sample | None = None
    histogram: Reading | None = None

    def as_matrix(self) -> _MatrixSeries:
        """The same as a range query would give it."""
        return _MatrixSeries(
            metric=self.metric,
            values=() if self.value is None else (self.value,),
            histograms=() if self.histogram is None else (self.histogram,),
        )


class _Matrix(_Part):
    kind: Literal["matrix"] = Field(alias="resultType")
    result: tuple[_MatrixSeries, ...]


class _Vector(_Part):
    kind: Literal["vector"] = Field(alias="resultType")
    result: tuple[_VectorSeries, ...]


class _Lone(_Part):
    kind: Literal["scalar", "string"] = Field(alias="resultType")


class _Success(_Part):
    status: Literal["success"]
    data: Annotated[_Matrix | _Vector | _Lone, Field(discriminator="kind")]


class _Failure(_Part):
    status: Literal["error"]
    kind: str = Field(default="", alias="errorType")
    error: str = ""


_ANSWER: TypeAdapter[_Success | _Failure] = TypeAdapter(Annotated[_Success | _Failure, Field(discriminator="status")])


def parse_answer(body: bytes) -> list[RawSeries]:
    """The series of one answer, in its order; times ascend, values are finite.

    The result of a function has no ``__name__``: its name here is empty.

    :param body: the body of the answer, JSON
    :raises DataError: it is no such answer, says that the query failed, or holds no series (a scalar, a string)
    """
    if len(body) > MAX_BYTES:
        raise DataError(
            f"the saved Prometheus answer has {len(body)} bytes; at most {MAX_BYTES} are read",
            "ask for less time or fewer series",
        )
    plain = read_plain(body)
    if plain is not None and (plain.get("status"), plain["data"].get("resultType")) == ("success", "matrix"):
        return list(plain["data"]["result"])
    answer = _parsed(body)
    if isinstance(answer, _Failure):
        raise DataError(
            f"the saved Prometheus answer is an error ({quoted(answer.kind) or 'no type'}): {quoted(answer.error) or 'no text'}",
            "ask again and save the new answer",
        )
    data = answer.data
    if isinstance(data, _Lone):
        raise DataError(f"the saved Prometheus answer is a {data.kind} and holds no series", "save a query for series")
    result = data.result if isinstance(data, _Matrix) else [one.as_matrix() for one in data.result]
    return [part for series in result for part in _unfolded(series)]


def _parsed(data: bytes) -> _Success | _Failure:
    """The answer as typed parts."""
    try:
        return _ANSWER.validate_json(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(step) for step in first["loc"] if step not in ("success", "error", "matrix", "vector"))
        raise DataError(
            f"this is no answer of the Prometheus query API: {quoted(place) or 'the whole'}: {quoted(first['msg'])}",
            "save the body of /api/v1/query or /api/v1/query_range as it is",
        ) from error


def _unfolded(series: _MatrixSeries) -> Iterator[RawSeries]:
    """One series of the answer as series of single numbers; those without any number are passed over."""
    name = series.metric.get("__name__", "")
    labels = {label: value for label, value in series.metric.items() if label != "__name__"}
    parts = [RawSeries(name, labels, *measured(*in_columns(series.values)))]
    if series.histograms:
        parts += _classic(name, labels, series.histograms)
    yield from (part for part in parts if len(part.times))


def _classic(name: str, labels: dict[str, str], readings: tuple[Reading, ...]) -> list[RawSeries]:
    """A native histogram in the classic form."""
    times = np.array([time for time, _ in readings])

    def series(suffix: str, values: Any, **more: str) -> RawSeries:
        return RawSeries(name + suffix, labels | more, *measured(times, np.array(values, dtype=np.float64)))

    counts = [histogram.count for _, histogram in readings]
    bounds = _common_bounds([histogram.buckets for _, histogram in readings])
    below = np.array([_below(bounds, histogram.buckets) for _, histogram in readings])
    return [
        *(series("_bucket", below[:, i], le=repr(bound)) for i, bound in enumerate(bounds)),
        series("_bucket", counts, le="+Inf"),
        series("_sum", [histogram.sum for _, histogram in readings]),
        series("_count", counts),
    ]


def _common_bounds(all_buckets: list[tuple[Bucket, ...]]) -> list[float]:
    """Right ends of buckets at which every reading's count is known: no bucket of any of them lies across."""
    bounds = {right for buckets in all_buckets for _, _, right, _ in buckets if np.isfinite(right)}
    distinct = {(left, right) for buckets in all_buckets for _, left, right, _ in buckets}
    ends = np.array(sorted(bounds))
    known = np.ones(len(ends), dtype=bool)
    for left, right in distinct:
        known[np.searchsorted(ends, left, side="right") : np.searchsorted(ends, right, side="left")] = False
    return [float(end) for end in ends[known]]


def _below(bounds: list[float], buckets: tuple[Bucket, ...]) -> Floats:
    """Observations of one reading up to each of the bounds."""
    table = np.array(sorted((right, count) for _, _, right, count in buckets)).reshape(-1, 2)
    running = np.concatenate(([0.0], np.cumsum(table[:, 1])))
    return running[np.searchsorted(table[:, 0], bounds, side="right")]

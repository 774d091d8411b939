"""A recording as one Parquet file, in long format, so that it can be kept, sent, replayed, and queried with SQL as it is.

One row is one number. Columns:

========  ==========================  =======================================================================
signal    string                      name in the vocabulary
scope     string                      what the subject is (replica, gpu, node …)
subject   string                      the subject's id
time      double                      Unix seconds; microseconds would not bring back every sample time bit for bit.
                                      In DuckDB: ``to_timestamp(time)``
value     double, null                base units; finite, as in every recording; null only where a source gives no sum
bound     double, null                of a bucket its upper bound, +inf for the last
part      string                      ``value`` of a plain series; ``bucket`` and ``sum`` of a distribution (per second)
========  ==========================  =======================================================================

Everything that is not a number over time (origins, events, facts, links, objectives, window, sources …) is one JSON document in
the file's own metadata under the key ``triage.recording``. It also says in which order the series lie in the file and how long
each is; the reader holds the columns against it, so a file that something else has sorted or cut is refused, not misread.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from math import inf, nan
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from triage.errors import DataError, InputMissingError, UsageError
from triage.model.recording import (
    Event,
    Fact,
    Floats,
    Histogram,
    Origin,
    Recording,
    Series,
    Source,
    Subject,
    Window,
)
from triage.model.vocabulary import Kind, catalogue

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.parquet import FileMetaData, ParquetFile

SCHEMA: Literal["triage.recording/1"] = "triage.recording/1"
METADATA_KEY = b"triage.recording"

MAX_ROWS = 50_000_000
"""Most rows that are read: ten hours of 64 replicas at 15 s. A tiny hostile file can claim billions."""

MAX_METADATA_BYTES = 256 * 2**20
"""Longest JSON document that is read."""

_ROWS_PER_GROUP = 500_000
_LABELS = ("signal", "scope", "subject", "part")
_MAX_PROBLEM = 200


class _Part(BaseModel):
    """Base of what is read from the metadata: nothing unknown, no NaN, no infinity."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class _Head(_Part):
    """One series or distribution: whose it is, and how many sample times it has in the file.

    :param bounds: finite upper bounds of a distribution's buckets; null marks a plain series
    """

    signal: str
    subject: Subject
    origin: Origin
    samples: int = Field(ge=0)
    bounds: tuple[float, ...] | None = None

    @field_validator("bounds")
    @classmethod
    def _ascending(cls, value: tuple[float, ...] | None) -> tuple[float, ...] | None:
        if value is not None and any(low >= high for low, high in pairwise(value)):
            raise ValueError("bounds of buckets must ascend")
        return value

    @property
    def rows(self) -> int:
        """Rows of the file that it takes: one a sample, and for a distribution one a bucket and one for the sum."""
        return self.samples * (1 if self.bounds is None else len(self.bounds) + 2)


class _Document(_Part):
    """The JSON document in the file's metadata."""

    schema_: Literal["triage.recording/1"] = Field(alias="schema")
    service: str
    window: Window
    step: float = Field(gt=0)
    heads: tuple[_Head, ...]
    events: tuple[Event, ...]
    facts: tuple[Fact, ...]
    links: tuple[tuple[Subject, tuple[Subject, ...]], ...]
    routes: tuple[tuple[Subject, tuple[Subject, ...]], ...] = ()
    strangers: tuple[str, ...] = ()
    objectives: dict[str, float]
    sources: tuple[Source, ...]
    problems: tuple[str, ...]
    rejected: dict[str, str] = Field(default_factory=dict)
    unanswered: dict[str, str] = Field(default_factory=dict)
    begun: dict[str, float] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _window_runs_forward(self) -> "_Document":
        if not self.window.baseline_start <= self.window.start <= self.window.end:
            raise ValueError("the window ends before it starts")
        return self


class _Version(BaseModel):
    """Just enough of a document that cannot be read to say why."""

    schema_: str = Field(alias="schema")


@dataclass(frozen=True, slots=True)
class _Block:
    """Rows of one series or distribution that share a part and a bound."""

    signal: str
    subject: Subject
    part: Literal["value", "bucket", "sum"]
    bound: float | None
    times: Floats
    values: Floats


@dataclass(frozen=True, slots=True)
class _Stretches:
    """What stretches of rows must say of themselves: of a plain series one, of a distribution one a bucket and one of its sums.

    :param head: which head each is of, shape (P,)
    :param ends: the row after its last one, shape (P,)
    :param bound: upper bound of its bucket, NaN where there is none, shape (P,)
    :param part: its part, shape (P,)
    """

    head: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]
    bound: Floats
    part: npt.NDArray[np.str_]


def _stretches(heads: Sequence[_Head]) -> _Stretches:
    """The stretches of all heads, in order."""
    parts = [_parts(head) for head in heads]
    count = [len(one) for one in parts]
    lengths = np.repeat(np.array([head.samples for head in heads], dtype=np.int64), count)
    told = [each for one in parts for each in one]
    return _Stretches(
        head=np.repeat(np.arange(len(heads)), count),
        ends=np.cumsum(lengths),
        bound=np.array([bound for _, bound in told]),
        part=np.array([part for part, _ in told], dtype=np.str_),
    )


def _parts(head: _Head) -> list[tuple[str, float]]:
    """Part and bound of each stretch of a head."""
    if head.bounds is None:
        return [("value", nan)]
    return [*(("bucket", bound) for bound in (*head.bounds, inf)), ("sum", nan)]


def write_recording(recording: Recording, path: Path) -> None:
    """Write a recording to one file. The file appears under its name only once it is whole.

    :raises DataError: the recording holds what no recording may hold, a value that is not finite
    :raises UsageError: the file cannot be written
    """
    document = _document(recording)
    partial_path = path.with_name(f".{path.name}.partial")
    try:
        _write(recording, document, partial_path)
        partial_path.replace(path)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}", "name a file where you may write") from error
    finally:
        with suppress(OSError):
            partial_path.unlink(missing_ok=True)


def read_recording(path: Path) -> Recording:
    """Read what :func:`write_recording` wrote, number for number.

    Signals that this version does not know are left out, and the recording's problems say so.

    :raises InputMissingError: there is no such file, or it cannot be opened
    :raises DataError: the file is damaged, is no recording, or was written by a newer triage
    """
    import pyarrow as pa

    try:
        with path.open("rb"):
            pass
    except OSError as error:
        raise InputMissingError(f"cannot open {path}: {error.strerror}", "check the path") from error
    try:
        return _read(path)
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        raise DataError(f"{path} is damaged or no Parquet file: {_short(error)}", "copy it again, or record again") from error


def _short(error: object) -> str:
    """The first line of an error's text, printable and not too long."""
    first = str(error).partition("\n")[0]
    return "".join(c for c in first if c.isprintable())[:_MAX_PROBLEM]


# Writing


def _document(recording: Recording) -> bytes:
    """Everything but the numbers, as JSON."""
    document = {
        "schema": SCHEMA,
        "service": recording.service,
        "window": _plain(recording.window),
        "step": recording.step,
        "heads": [_head(s) for s in recording.series] + [_head(h) for h in recording.histograms],
        "events": [_plain(event) for event in recording.events],
        "facts": [_plain(fact) for fact in recording.facts],
        "links": list(recording.links.items()),
        "routes": list(recording.routes.items()),
        "strangers": list(recording.strangers),
        "objectives": dict(recording.objectives),
        "sources": [_plain(source) for source in recording.sources],
        "problems": list(recording.problems),
        "rejected": dict(recording.rejected),
        "unanswered": dict(recording.unanswered),
        "begun": dict(recording.begun),
    }
    try:
        return json.dumps(document, allow_nan=False, separators=(",", ":")).encode()
    except ValueError as error:
        raise DataError(f"the recording of {recording.service} has a fact, time or objective that is not finite") from error


def _plain(part: Window | Event | Fact | Source | Origin) -> dict[str, object]:
    """A flat dataclass as a dictionary (``dataclasses.asdict`` would copy deeply, and fail on read-only mappings)."""
    values = {name: getattr(part, name) for name in part.__dataclass_fields__}
    return {**values, "attrs": dict(part.attrs)} if isinstance(part, Event) else values


def _head(one: Series | Histogram) -> dict[str, object]:
    """What a series is, beside its numbers."""
    bounds = one.bounds[:-1].tolist() if isinstance(one, Histogram) else None
    return {
        "signal": one.signal,
        "subject": one.subject,
        "origin": _plain(one.origin),
        "samples": len(one.times),
        "bounds": bounds,
    }


def _blocks(recording: Recording) -> Iterator[_Block]:
    """All rows in the order of the heads; a distribution bucket by bucket, since each bucket's curve compresses well."""
    for series in recording.series:
        yield _Block(series.signal, series.subject, "value", None, series.times, series.values)
    for histogram in recording.histograms:
        block = partial(_Block, histogram.signal, histogram.subject)
        for bound, rates in zip(histogram.bounds.tolist(), histogram.rates.T, strict=True):
            yield block("bucket", bound, histogram.times, rates)
        yield block("sum", None, histogram.times, histogram.sums)


def _checked(block: _Block) -> _Block:
    """The block, if its numbers are finite; a sum may be NaN, which means unknown.

    :raises DataError: they are not, and the file could never be read again
    """
    values = block.values[~np.isnan(block.values)] if block.part == "sum" else block.values
    if not (np.isfinite(block.times).all() and np.isfinite(values).all()):
        raise DataError(f"{block.signal} of {block.subject} has a value that is not finite; a recording cannot hold it")
    return block


def _groups(recording: Recording) -> Iterator[list[_Block]]:
    """The blocks in lots that are worth a row group each."""
    lot: list[_Block] = []
    rows = 0
    for block in _blocks(recording):
        lot.append(_checked(block))
        rows += len(block.times)
        if rows >= _ROWS_PER_GROUP:
            yield lot
            lot, rows = [], 0
    if rows:
        yield lot


def _schema() -> "pa.Schema":
    """The columns."""
    import pyarrow as pa

    label = partial(pa.field, type=pa.dictionary(pa.int32(), pa.string()), nullable=False)
    number = partial(pa.field, type=pa.float64())
    fields = [
        label("signal"),
        label("scope"),
        label("subject"),
        number("time", nullable=False),
        number("value"),
        number("bound"),
        label("part"),
    ]
    return pa.schema(fields)


def _table(blocks: list[_Block], schema: "pa.Schema") -> "pa.Table":
    """Blocks as rows."""
    import pyarrow as pa

    lengths = [len(block.times) for block in blocks]
    bounds = np.repeat([np.nan if block.bound is None else block.bound for block in blocks], lengths)
    columns = {
        "signal": _label([block.signal for block in blocks], lengths),
        "scope": _label([block.subject.scope.value for block in blocks], lengths),
        "subject": _label([block.subject.id for block in blocks], lengths),
        "time": pa.array(np.concatenate([block.times for block in blocks])),
        "value": pa.array(np.concatenate([block.values for block in blocks]), from_pandas=True),
        "bound": pa.array(bounds, from_pandas=True),
        "part": _label([block.part for block in blocks], lengths),
    }
    return pa.table(columns, schema=schema)


def _label(texts: list[str], lengths: list[int]) -> "pa.DictionaryArray":
    """A text per block, repeated for each of its rows."""
    import pyarrow as pa

    codes = {text: code for code, text in enumerate(dict.fromkeys(texts))}
    indices = np.repeat(np.array([codes[text] for text in texts], dtype=np.int32), lengths)
    return pa.DictionaryArray.from_arrays(pa.array(indices), pa.array(list(codes), pa.string()))


def _write(recording: Recording, document: bytes, path: Path) -> None:
    """Write all row groups. Pages carry checksums, so a damaged copy is noticed when it is read."""
    from pyarrow.parquet import ParquetWriter

    schema = _schema()
    with ParquetWriter(
        path,
        schema,
        compression="zstd",
        use_dictionary=[*_LABELS, "time", "bound"],
        write_page_checksum=True,
        store_schema=False,
    ) as writer:
        writer.add_key_value_metadata({METADATA_KEY: document})
        for blocks in _groups(recording):
            writer.write_table(_table(blocks, schema), row_group_size=MAX_ROWS)


# Reading


def _read(path: Path) -> Recording:
    """The recording in a file that is there. Nothing but the footer is read until the document and the shape are sound."""
    from pyarrow.parquet import ParquetFile

    with ParquetFile(path, thrift_string_size_limit=MAX_METADATA_BYTES) as file:
        metadata = file.metadata
        names = file.schema_arrow.names
    document = _read_document(path, metadata)
    _check_shape(path, document, metadata, names)
    with ParquetFile(path, metadata=metadata, read_dictionary=list(_LABELS), page_checksum_verification=True) as file:
        _check_types(path, file.schema_arrow)
        times, values = _numbers(path, document, file)
    return _rebuilt(path, document, times, values)


def _read_document(path: Path, metadata: "FileMetaData") -> _Document:
    """The JSON document of a file.

    :raises DataError: there is none, it is of another version, or it is not what it should be
    """
    text = (metadata.metadata or {}).get(METADATA_KEY)
    if text is None:
        raise DataError(f"{path} is a Parquet file, but not a recording of triage", "make one with triage record")
    try:
        return _Document.model_validate_json(text)
    except ValidationError as error:
        raise _why_not(path, text, error) from error


def _why_not(path: Path, text: bytes, error: ValidationError) -> DataError:
    """Say whether a document is of another version or broken."""
    with suppress(ValidationError):
        version = _Version.model_validate_json(text).schema_
        if version != SCHEMA:
            hint = "use a newer triage" if version.startswith("triage.recording/") else ""
            return DataError(f"{path} is a recording of form {_short(version)}; this triage reads {SCHEMA}", hint)
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(step) for step in first["loc"])
    return DataError(
        f"{path} is a damaged recording: its metadata is wrong at {_short(place) or 'the top'}: {_short(first['msg'])}"
    )


def _check_shape(path: Path, document: _Document, metadata: "FileMetaData", names: list[str]) -> None:
    """Refuse a file whose columns or number of rows are not as announced."""
    if names != _schema().names:
        raise DataError(f"{path} is a damaged recording: it has not the columns of {SCHEMA}")
    if metadata.num_rows > MAX_ROWS:
        raise DataError(f"{path} has {metadata.num_rows} rows; at most {MAX_ROWS} are read", "record a shorter window")
    announced = sum(head.rows for head in document.heads)
    if announced != metadata.num_rows:
        raise DataError(f"{path} is a damaged recording: it announces {announced} rows and has {metadata.num_rows}")


def _check_types(path: Path, schema: "pa.Schema") -> None:
    """Refuse a file whose columns are of other types."""
    if not schema.equals(_schema(), check_metadata=False):
        raise DataError(f"{path} is a damaged recording: its columns are not of the types of {SCHEMA}")


def _numbers(path: Path, document: _Document, file: "ParquetFile") -> tuple[Floats, Floats]:
    """Times and values of all rows, group by group, each held against what its rows say of themselves.

    :raises DataError: rows are not where they belong, or not finite
    """
    stretches = _stretches(document.heads)
    times, values = np.empty((2, file.metadata.num_rows))
    row = 0
    for group in range(file.num_row_groups):
        table = file.read_row_group(group)
        table.validate(full=True)  # a damaged file may hold codes that point outside their dictionary
        rows = slice(row, row + table.num_rows)
        times[rows], values[rows] = (table.column(name).to_numpy() for name in ("time", "value"))
        if not np.isfinite(times[rows]).all() or np.isinf(values[rows]).any():
            raise DataError(f"{path} is a damaged recording: it holds a time or value that is not finite")
        wrong = _misplaced(document.heads, stretches, table, rows, times, values)
        if wrong is not None:
            place = f"{_short(wrong.signal)} of {_short(wrong.subject)}"
            raise DataError(f"{path} is a damaged recording: the rows of {place} are not where they belong")
        row = rows.stop
    return times, values


def _misplaced(
    heads: Sequence[_Head], stretches: _Stretches, table: "pa.Table", rows: slice, times: Floats, values: Floats
) -> _Head | None:
    """The first head of which a row is not as it must be: whose it is, its part and bound, its time after the one before."""
    if not table.num_rows:
        return None
    first, last = np.searchsorted(stretches.ends, [rows.start, rows.stop - 1], side="right").tolist()
    here = slice(first, last + 1)
    starts = np.concatenate(([0], stretches.ends))[here]
    begin, end = np.maximum(starts, rows.start), np.minimum(stretches.ends[here], rows.stop)
    place = np.repeat(np.arange(len(starts)), np.maximum(end - begin, 0))
    told = [heads[head] for head in stretches.head[here].tolist()]
    wanted = {
        "signal": [head.signal for head in told],
        "scope": [head.subject.scope.value for head in told],
        "subject": [head.subject.id for head in told],
        "part": stretches.part[here].tolist(),
    }
    bound, asked = table.column("bound").to_numpy(), stretches.bound[here][place]
    good = (bound == asked) | (np.isnan(bound) & np.isnan(asked))
    good &= np.isfinite(values[rows]) | (stretches.part[here] == "sum")[place]
    for name, texts in wanted.items():
        label = table.column(name).unify_dictionaries().combine_chunks()
        codes = {text: code for code, text in enumerate(label.dictionary.to_pylist())}
        good &= label.indices.to_numpy() == np.array([codes.get(text, -1) for text in texts])[place]
    before = times[rows.start - 1] if rows.start else -inf
    later = times[rows] > np.concatenate(([before], times[rows][:-1]))
    later[(starts - rows.start)[(starts >= rows.start) & (end > begin)]] = True
    good &= later
    return None if good.all() else told[place[int(np.argmin(good))]]


def _rebuilt(path: Path, document: _Document, times: Floats, values: Floats) -> Recording:
    """Cut the numbers into series again. Series that were read at the same moments share their times."""
    series: list[Series] = []
    histograms: list[Histogram] = []
    unknown: dict[str, None] = {}
    shared: dict[bytes, Floats] = {}
    start = 0
    for head in document.heads:
        rows = slice(start, start + head.rows)
        start = rows.stop
        own = times[rows.stop - head.samples : rows.stop]
        key = own.tobytes()
        moments = shared[key] = shared[key] if key in shared else own.copy()
        if not _known(head):
            unknown[head.signal] = None
        elif head.bounds is None:
            series.append(Series(head.signal, head.subject, moments, values[rows], head.origin))
        elif not np.array_equal(times[rows], np.tile(moments, len(_parts(head)))):
            place = f"{_short(head.signal)} of {_short(head.subject)}"
            raise DataError(f"{path} is a damaged recording: the rows of {place} are not where they belong")
        else:
            histograms.append(_histogram(head, moments, values[rows]))
    notes = tuple(f"this version knows no signal {_short(name)} of that kind; it was left out" for name in unknown)
    return Recording(
        service=document.service,
        window=document.window,
        series=tuple(series),
        histograms=tuple(histograms),
        events=document.events,
        facts=document.facts,
        links=dict(document.links),
        routes=dict(document.routes),
        strangers=document.strangers,
        objectives=document.objectives,
        sources=document.sources,
        problems=document.problems + notes,
        rejected=document.rejected,
        unanswered=document.unanswered,
        step=document.step,
        begun=document.begun,
    )


def _known(head: _Head) -> bool:
    """Whether the vocabulary has this signal, and as what the file says it is."""
    signal = catalogue().get(head.signal)
    return signal is not None and (signal.kind is Kind.DISTRIBUTION) == (head.bounds is not None)


def _histogram(head: _Head, times: Floats, values: Floats) -> Histogram:
    """A distribution from its rows: bucket by bucket, the sums last."""
    bounds = np.array([*(head.bounds or ()), inf])
    parts = values.reshape(len(bounds) + 1, head.samples)
    return Histogram(
        signal=head.signal,
        subject=head.subject,
        times=times,
        bounds=bounds,
        rates=np.ascontiguousarray(parts[:-1].T),
        sums=parts[-1],
        origin=head.origin,
    )

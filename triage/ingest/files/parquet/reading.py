"""Reads a recording's Parquet file."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from triage.classes import dataclass
from triage.errors import DataError, InputMissingError
from triage.ingest.files.parquet.document import Document, read_document
from triage.ingest.files.parquet.form import LABELS, PARTS, SCHEMA, SUM, VALUE, schema
from triage.ingest.files.parquet.pages import Group, PageError, check_pages, row_groups
from triage.ingest.files.parquet.refusals import damaged, short, unreadable
from triage.ingest.files.parquet.store import Store, numbers_of, one_chunk
from triage.model.recording import Chosen, Floats, HistogramPanel, Ints, Origin, Panel, Recording, SideBySide, Subject
from triage.model.vocabulary import Kind, Scope, catalogue

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

MAX_SAMPLES = 200_000_000
"""Most numbers that are read: an hour of 1 600 replicas with eight cards each at 30 s, and the hour before. A tiny hostile file
can claim billions."""

MAX_ROWS = 2_000_000
"""Most curves that are read: of 4 000 replicas with eight cards each."""

MAX_SAMPLES_OF_A_GROUP = 16_000_000
"""Most numbers that are unpacked at once."""

MAX_LABEL_BYTES = 1024 * 2**20
"""Most bytes that all columns but the numbers unpack to."""

MAX_METADATA_BYTES = 256 * 2**20
"""Longest JSON document that is read."""


def read_recording(path: Path) -> Recording:
    """Read what :func:`write_recording` wrote, number for number; its series come back signal by signal.

    Signals that this version does not know are left out, and the recording's problems say so. The numbers of a large file are
    read when they are asked for: that it is damaged there is told then.

    :raises InputMissingError: there is no such file, or it cannot be opened
    :raises DataError: the file is damaged, is no recording, or was written by another triage
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
        raise unreadable(path, error) from error


def _read(path: Path) -> Recording:
    """The recording in a file that is there. Nothing but the footer is read until the document and the shape are sound."""
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

    pa.set_memory_pool(pa.system_memory_pool())  # PyArrow's own holds on to memory that was given back: 70 MiB of 390
    with ParquetFile(path, thrift_string_size_limit=MAX_METADATA_BYTES) as file:
        metadata = file.metadata
        names = file.schema_arrow.names
    document = read_document(path, metadata)
    groups = _groups(path, metadata.num_rows, names)
    file = ParquetFile(path, metadata=metadata, read_dictionary=list(LABELS), page_checksum_verification=True)
    if not file.schema_arrow.equals(schema(), check_metadata=False):
        raise damaged(path, f"its columns are not of the types of {SCHEMA}")
    return _rebuilt(path, document, file, groups)


def _groups(path: Path, rows: int, names: list[str]) -> list[Group]:
    """The row groups of a file; refused if its columns are not as they must be, or it holds too much, or more than it says."""
    if names != schema().names:
        raise damaged(path, f"it has not the columns of {SCHEMA}")
    try:
        groups = row_groups(path)
    except PageError as error:
        raise damaged(path, f"{short(error)}") from error
    if any(len(group.columns) != len(names) for group in groups) or sum(group.rows for group in groups) != rows:
        raise damaged(path, "its row groups are not of its columns and rows")
    samples = [group.columns[-1].values for group in groups]
    labels = sum(column.unpacked for group in groups for column in group.columns[:-1])
    for what, count, most in (
        ("rows", rows, MAX_ROWS),
        ("numbers", sum(samples), MAX_SAMPLES),
        ("numbers in a row group", max(samples, default=0), MAX_SAMPLES_OF_A_GROUP),
        ("bytes of labels", labels, MAX_LABEL_BYTES),
    ):
        if count > most:
            raise DataError(f"{path} has {count} {what}; at most {most} are read", "record a shorter window")
    try:
        check_pages(path, groups, no_dictionary="selectors")
    except PageError as error:
        raise damaged(path, f"{short(error)}") from error
    return groups


@dataclass(frozen=True, slots=True)
class _Labels:
    """What rows say of themselves; shape (R,) each.

    :param signals: names, to which ``signal`` has the places
    :param signal: place of its name
    :param subjects: whose they are, to which ``subject`` has the places
    :param part: 0 times, 1 value, 2 bucket, 3 sum
    :param bound: NaN where there is none
    :param origin: -1 where there is none
    """

    signals: Sequence[str]
    signal: Ints
    subjects: Sequence[Subject]
    subject: Ints
    part: Ints
    bound: Floats
    moments: Ints
    origin: Ints
    born: Floats
    fell: Floats
    series: Ints


def _labels(path: Path, file: "ParquetFile") -> _Labels:
    """What all rows say of themselves."""
    table = file.read(columns=[name for name in schema().names if name not in ("selectors", "values")])
    table.validate(full=True)  # a damaged file may hold codes that point outside their dictionary
    signals, signal = _coded(table, "signal")
    scopes, scope = _coded(table, "scope")
    ids, named = _coded(table, "subject")
    parts, part = _coded(table, "part")
    pairs, subject = np.unique(scope * len(ids) + named, return_inverse=True)
    try:
        subjects = [Subject(Scope(scopes[pair // len(ids)]), ids[pair % len(ids)]) for pair in pairs.tolist()]
        places = np.array([PARTS.index(one) for one in parts], dtype=np.int64)
    except ValueError as error:
        raise damaged(path, f"{short(error)}") from error
    numbers = {name: table.column(name).combine_chunks() for name in ("bound", "moments", "origin", "born", "fell", "series")}
    return _Labels(
        signals,
        signal,
        subjects,
        subject,
        places[part],
        numbers["bound"].to_numpy(zero_copy_only=False),
        numbers["moments"].to_numpy().astype(np.int64),
        np.nan_to_num(numbers["origin"].to_numpy(zero_copy_only=False), nan=-1.0).astype(np.int64),
        numbers["born"].to_numpy(),
        numbers["fell"].to_numpy(),
        numbers["series"].to_numpy().astype(np.int64),
    )


def _coded(table: "pa.Table", name: str) -> tuple[list[str], Ints]:
    """The texts of a column, and which of them each row has."""
    column = table.column(name).unify_dictionaries().combine_chunks()
    return column.dictionary.to_pylist(), column.indices.to_numpy().astype(np.int64)


def _clocks(path: Path, file: "ParquetFile", groups: Sequence[Group], labels: _Labels) -> list[Floats]:
    """The times of all curves: the rows of the first row group.

    :raises DataError: they are somewhere else, or do not ascend
    """
    if not groups:
        return []
    count = groups[0].rows
    column = one_chunk(file.read_row_group(0, columns=["values"]).column(0))
    column.validate(full=True)
    numbers, lengths = numbers_of(column)
    clocks = np.split(numbers, np.cumsum(lengths)[:-1])
    is_times = labels.part == 0
    in_place = is_times[:count].all() and not is_times[count:].any()
    if not in_place or not np.array_equal(labels.moments[:count], np.arange(count)):
        raise damaged(path, "its times are not where they belong")
    if not np.isfinite(numbers).all() or any((np.diff(times) <= 0).any() for times in clocks):
        raise damaged(path, "its times do not ascend")
    return clocks


def _heads(path: Path, labels: _Labels, begin: int) -> tuple[Ints, Ints, Ints]:
    """The first row of each series and distribution, how many rows each has, and which of them have the same bounds.

    :param begin: the first row that holds no times
    :raises DataError: rows are not where they belong
    """
    part, rows = labels.part, np.arange(begin, len(labels.part))
    before = np.concatenate(([PARTS.index(VALUE)], part[begin:-1])) if len(rows) else part[:0]
    is_head = (part[begin:] == 1) | ((part[begin:] == 2) & (before != 2))
    head = rows[is_head]
    size = np.diff(np.append(head, len(part)))
    of = np.repeat(head, size)
    in_place = len(of) == len(rows) and bool(
        np.all((size == 1) == (part[head] == 1))
        and np.all(part[(head + size - 1)[size > 1]] == 3)
        and np.all((part[begin:] != 3) | (rows == of + np.repeat(size, size) - 1))
        and np.all((part[begin:] == 2) != np.isnan(labels.bound[begin:]))
        and np.all(np.isposinf(labels.bound[(head + size - 2)[size > 1]]))
        and np.all((before != 2) | (part[begin:] != 2) | (np.diff(labels.bound[begin - 1 :]) > 0))
    )
    for told in (labels.signal, labels.subject, labels.moments, labels.origin):
        in_place = in_place and np.array_equal(told[begin:], told[of])
    if not in_place:
        raise damaged(path, "its rows are not where they belong")
    codes: dict[bytes, int] = {}
    bounds = np.zeros(len(head), dtype=np.int64)
    for at in np.flatnonzero(size > 1).tolist():
        its = labels.bound[head[at] : head[at] + size[at] - 1].tobytes()
        bounds[at] = codes.setdefault(its, len(codes))
    return head, size, bounds


def _rebuilt(path: Path, document: Document, file: "ParquetFile", groups: Sequence[Group]) -> Recording:
    """The recording of a file."""
    labels = _labels(path, file)
    clocks = _clocks(path, file, groups, labels)
    begin = len(clocks)
    if not _are_within(labels.moments, len(clocks)) or not _are_within(labels.origin[begin:], len(document.origins)):
        raise damaged(path, "a row has times or an origin that are not there")
    lengths = np.array([len(times) for times in clocks], dtype=np.int64)[labels.moments]
    store = Store(path, file, groups, lengths, labels.part == PARTS.index(SUM))
    panels: list[Panel] = []
    spread: list[HistogramPanel] = []
    unknown: dict[str, None] = {}
    same: dict[bytes, tuple[Subject, ...]] = {}
    own = labels.origin, labels.born, labels.fell, labels.series
    for heads, size in _runs(path, document, labels, store, begin):
        first = int(heads[0])
        signal = labels.signals[labels.signal[first]]
        if not _is_known(signal, size > 1):
            unknown[signal] = None
            continue
        whose = labels.subject[heads]
        subjects = same.get(whose.tobytes()) or tuple(labels.subjects[one] for one in whose.tolist())
        same[whose.tobytes()] = subjects
        dialect, times = document.origins[labels.origin[first]].dialect, clocks[labels.moments[first]]
        origins = partial(_origins, document.origins, own, store, heads)
        if size == 1:
            panels.append(Panel(signal, dialect, subjects, times, partial(_values, store, first, len(heads)), origins))
        else:
            read = partial(_distributions, store, first, len(heads), size)
            bounds = labels.bound[first : first + size - 1]
            spread.append(HistogramPanel(signal, dialect, subjects, times, bounds, read, origins))
    notes = tuple(f"this version knows no signal {short(name)} of that kind; it was left out" for name in unknown)
    return Recording(
        service=document.service,
        window=document.window,
        series=SideBySide(panels),
        histograms=SideBySide(spread),
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


def _are_within(places: Ints, count: int) -> bool:
    return bool(np.all((places >= 0) & (places < count)))


def _runs(path: Path, document: Document, labels: _Labels, store: Store, begin: int) -> Iterator[tuple[Ints, int]]:
    """The first rows of the series or distributions of each panel, and how many rows each of them has."""
    head, size, bounds = _heads(path, labels, begin)
    if not len(head):
        return
    dialects = {name: code for code, name in enumerate(dict.fromkeys(origin.dialect for origin in document.origins))}
    dialect = np.array([dialects[origin.dialect] for origin in document.origins])[labels.origin[head]]
    group = np.searchsorted(store.ends, head, side="right")
    alike = np.stack((labels.signal[head], dialect, labels.moments[head], group, size, bounds))
    cuts = np.flatnonzero((np.diff(alike, axis=1) != 0).any(axis=0)) + 1
    for run in np.split(np.arange(len(head)), cuts):
        yield head[run], int(size[run[0]])


def _is_known(name: str, is_distribution: bool) -> bool:
    """Whether the vocabulary has this signal, and as what the file says it is."""
    signal = catalogue().get(name)
    return signal is not None and (signal.kind is Kind.DISTRIBUTION) == is_distribution


def _origins(
    kinds: Sequence[Origin], own: tuple[Ints, Floats, Floats, Ints], store: Store, heads: Ints, some: Chosen
) -> list[Origin]:
    """Where some rows of a panel come from.

    :param own: of each row its origin's place among the kinds, when a total appeared and fell, and of how many series it is
    :param heads: the first row of each
    """
    rows = heads[some]
    told = zip(*(column[rows].tolist() for column in own), store.selectors(rows), strict=True)
    return [_named(kinds[kind], born, fell, series, *selectors) for kind, born, fell, series, selectors in told]


def _named(kind: Origin, born: float, fell: float, series: int, selector: str = "", *more: str) -> Origin:
    """An origin like others of its metric, with what is its own."""
    return Origin(
        kind.dialect,
        kind.metric,
        selector,
        kind.counter,
        kind.scale,
        kind.offset,
        more,
        kind.combine,
        kind.copies,
        kind.flag,
        kind.plain,
        born,
        fell,
        kind.shown_at,
        series,
    )


def _values(store: Store, first: int, count: int, some: Chosen) -> Floats:
    """Values of some rows of a panel."""
    return store.rows(first, count)[some]


def _distributions(store: Store, first: int, count: int, size: int, some: Chosen) -> tuple[Floats, Floats]:
    """Observations and sums of some rows of a panel of distributions."""
    rows = store.rows(first, count * size)
    curves = rows.reshape(count, size, rows.shape[1])[some]
    return np.ascontiguousarray(curves[:, :-1].transpose(0, 2, 1)), curves[:, -1]

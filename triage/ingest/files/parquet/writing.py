"""Writes a recording as a Parquet file."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from triage.errors import DataError, UsageError
from triage.ingest.files.parquet.form import BUCKET, LABELS, METADATA_KEY, SCHEMA, SUM, TIMES, VALUE, schema
from triage.model.recording import (
    Event,
    Fact,
    Floats,
    HistogramPanel,
    Origin,
    Panel,
    Recording,
    Source,
    Subject,
    Window,
)
from triage.model.vocabulary import Scope
from triage.wholefile import whole

if TYPE_CHECKING:
    import pyarrow as pa

_SAMPLES_PER_GROUP = 1_000_000
"""A row group has at least so many numbers, and not much more."""

_NOBODY = Subject(Scope.SERVICE, "")


def write_recording(recording: Recording, path: Path) -> None:
    """Write a recording to one file. The file appears under its name only once it is whole.

    :raises DataError: the recording holds what no recording may hold, a value that is not finite
    :raises UsageError: the file cannot be written
    """
    try:
        with whole(path) as beside:
            _write(recording, beside)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}", "name a file where you may write") from error


def _document(recording: Recording, origins: Sequence[Origin]) -> bytes:
    """Everything but the numbers and their labels, as JSON."""
    document = {
        "schema": SCHEMA,
        "service": recording.service,
        "window": _plain(recording.window),
        "step": recording.step,
        "origins": [_plain(origin) for origin in origins],
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


class _Lot:
    """Rows that are written as one row group.

    :param kinds: gets the origins that the document must tell
    """

    def __init__(self, kinds: dict[Origin, int]) -> None:
        self._kinds = kinds
        self._columns: dict[str, list[object]] = {name: [] for name in schema().names if name != "values"}
        self._values: list[Floats] = []
        self._lengths: list[int] = []
        self.samples = 0
        self.is_of_times = False

    def add_times(self, place: int, times: Floats) -> None:
        """Adds the times of some curves."""
        self._add("", [_NOBODY], [(TIMES, nan)], place, times[None, :])
        self._tell([None], 1)
        self.is_of_times = True

    def add(self, panel: Panel | HistogramPanel, moments: int) -> None:
        """Adds the curves of a panel.

        :param moments: place of its times
        """
        parts = _parts(panel)
        self._add(panel.signal, panel.subjects, parts, moments, _curves(panel))
        self._tell(panel.origins(slice(None)), len(parts))

    def _add(
        self, signal: str, subjects: Sequence[Subject], parts: list[tuple[str, float]], moments: int, values: Floats
    ) -> None:
        """:param values: of each subject one curve of every part, shape (S x parts, T)"""
        several: dict[str, Sequence[object]] = {
            "signal": [signal] * len(values),
            "scope": [one.scope.value for one in subjects for _ in parts],
            "subject": [one.id for one in subjects for _ in parts],
            "part": [part for part, _ in parts] * len(subjects),
            "bound": [bound for _, bound in parts] * len(subjects),
            "moments": [moments] * len(values),
        }
        for name, column in several.items():
            self._columns[name] += column
        self._values.append(values.ravel())
        self._lengths += [values.shape[1]] * len(values)
        self.samples += values.size

    def _tell(self, origins: Sequence[Origin | None], each: int) -> None:
        """Adds where rows come from: selectors on each subject's first row, all else on every one."""
        for one in origins:
            self._columns["origin"] += [None if one is None else self._kinds.setdefault(_kind(one), len(self._kinds))] * each
            self._columns["born"] += [0.0 if one is None else one.born] * each
            self._columns["fell"] += [0.0 if one is None else one.fell] * each
            self._columns["series"] += [1 if one is None else one.series] * each
            self._columns["selectors"] += [[] if one is None else [one.selector, *one.more], *([[]] * (each - 1))]

    def table(self) -> "pa.Table":
        """The rows."""
        import pyarrow as pa

        form = schema()
        columns = {
            name: pa.array(column, type=form.field(name).type, from_pandas=name == "bound")
            for name, column in self._columns.items()
        }
        ends = np.concatenate(([0], np.cumsum(self._lengths))).astype(np.int32)
        values = pa.array(np.concatenate(self._values), from_pandas=True)
        columns["values"] = pa.ListArray.from_arrays(pa.array(ends), values, type=form.field("values").type)
        return pa.table(columns, schema=form)


def _kind(origin: Origin) -> Origin:
    """What an origin has in common with those of its metric: all but whose it is, since when, and of how many series."""
    return replace(origin, selector="", more=(), born=0.0, fell=0.0, series=1)


def _write(recording: Recording, path: Path) -> None:
    """Write all row groups, the times first. Pages carry checksums, so a damaged copy is noticed when it is read."""
    from pyarrow.parquet import ParquetWriter

    kinds: dict[Origin, int] = {}
    with ParquetWriter(
        path,
        schema(),
        compression="zstd",
        use_dictionary=[*LABELS, "bound", "moments", "origin", "born", "fell", "series"],
        write_page_checksum=True,
        store_schema=False,
    ) as writer:
        for lot in _lots(recording, kinds):
            table = lot.table()
            writer.write_table(table, row_group_size=table.num_rows)
        writer.add_key_value_metadata({METADATA_KEY: _document(recording, list(kinds))})


def _lots(recording: Recording, kinds: dict[Origin, int]) -> Iterator[_Lot]:
    """All rows in lots that are worth a row group each."""
    panels: list[Panel | HistogramPanel] = [panel for some in recording.panels.values() for panel in some]
    panels += [panel for some in recording.histogram_panels.values() for panel in some]
    clocks = {panel.times.tobytes(): panel.times for panel in panels}
    moments = {key: place for place, key in enumerate(clocks)}
    lot = _Lot(kinds)
    for place, times in enumerate(clocks.values()):
        _check_finite("a recording", times[None, :])
        lot.add_times(place, times)
    for panel in panels:
        for piece in _pieces(panel):
            if lot.samples >= _SAMPLES_PER_GROUP or lot.is_of_times:
                yield lot
                lot = _Lot(kinds)
            lot.add(piece, moments[panel.times.tobytes()])
    if panels:
        yield lot


def _pieces(panel: Panel | HistogramPanel) -> Iterator[Panel | HistogramPanel]:
    """A panel in pieces that are not too large for a row group."""
    most = max(1, 4 * _SAMPLES_PER_GROUP // max(1, len(panel.times) * len(_parts(panel))))
    rows = range(len(panel.subjects))
    if len(rows) <= most:
        yield panel
        return
    for first in range(0, len(rows), most):
        yield panel.taken(rows[first : first + most])


def _parts(panel: Panel | HistogramPanel) -> list[tuple[str, float]]:
    """Part and bound of each curve of one subject."""
    if isinstance(panel, Panel):
        return [(VALUE, nan)]
    return [*((BUCKET, bound) for bound in panel.bounds.tolist()), (SUM, nan)]


def _curves(panel: Panel | HistogramPanel) -> Floats:
    """All curves of a panel, a distribution bucket by bucket, since each bucket's curve compresses well.

    :raises DataError: a number is not finite, and is not a sum that is unknown
    """
    if isinstance(panel, Panel):
        values = panel.values
        _check_finite(panel.signal, values, panel.subjects)
        return values
    rates, sums = panel.values
    _check_finite(panel.signal, rates.reshape(len(rates), sums.shape[1] * len(panel.bounds)), panel.subjects)
    _check_finite(panel.signal, np.where(np.isnan(sums), 0.0, sums), panel.subjects)
    curves = np.concatenate((rates.transpose(0, 2, 1), sums[:, None, :]), axis=1)
    return curves.reshape(curves.shape[0] * curves.shape[1], curves.shape[2])


def _check_finite(what: str, rows: Floats, subjects: Sequence[Subject] = ()) -> None:
    """Refuse numbers that are not finite: the file could never be read again.

    :raises DataError: some are not
    """
    finite = np.isfinite(rows).all(axis=1)
    if not finite.all():
        whose = f" of {subjects[int(np.argmin(finite))]}" if subjects else ""
        raise DataError(f"{what}{whose} has a value or a time that is not finite; a recording cannot hold it")

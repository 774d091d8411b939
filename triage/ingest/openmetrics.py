"""Reads expositions: OpenMetrics and the Prometheus text format, with or without timestamps.

The reference parser (prometheus_client) takes about 30 µs a line, which is seconds for one recording; the tests compare with it.
Here a line is only cut at its labels; labels are parsed once a series and numbers are converted in bulk.
"""

import lzma
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from gzip import GzipFile
from io import BytesIO
from pathlib import Path

import numpy as np

from triage.errors import DataError, InputMissingError
from triage.ingest.raw import RawSeries
from triage.model.recording import Floats

MAX_BYTES = 2 << 30
"""Largest exposition that is read, unpacked: a guard against archives that explode."""

_PACKED: tuple[tuple[bytes, Callable[[BytesIO], GzipFile | lzma.LZMAFile]], ...] = (
    (b"\x1f\x8b", lambda stream: GzipFile(fileobj=stream)),
    (b"\xfd7zXZ\x00", lzma.LZMAFile),
)
_LABEL = re.compile(r'\s*(?:(\w[\w.]*)|"((?:[^"\\]|\\.)*)")\s*=\s*"((?:[^"\\]|\\.)*)"\s*(?:,|$)', re.ASCII)
_QUOTED_NAME = re.compile(r'\s*"((?:[^"\\]|\\.)*)"\s*(?:,|$)')
_SERIES = re.compile(r'([^\s{]*)\{((?:[^"{}]|"(?:[^"\\]|\\.)*")*)\}')
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_MILLISECONDS_FROM = 1e11
"""A time stamp above this is in milliseconds (the Prometheus format) and not in seconds (OpenMetrics): year 5138."""


@dataclass(frozen=True)
class Exposition:
    """What an exposition holds.

    :param types: metric family -> type as its ``# TYPE`` line says
    :param bad_lines: how many lines could not be read
    """

    series: list[RawSeries]
    types: dict[str, str]
    bad_lines: int = 0


def read_text(path: Path) -> bytes:
    """The bytes of a file, unpacked if it is gzip or xz.

    :raises InputMissingError: it cannot be opened
    :raises DataError: it is damaged, truncated or too large
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputMissingError(f"{path} cannot be read: {error.strerror or error}") from error
    unpack = next((opener for magic, opener in _PACKED if data.startswith(magic)), None)
    if unpack is None:
        return data
    try:
        with unpack(BytesIO(data)) as stream:
            data = stream.read(MAX_BYTES + 1)
    except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
        raise DataError(f"{path} is damaged or cut short: {error}", "copy or record it again") from error
    if len(data) > MAX_BYTES:
        raise DataError(f"{path} unpacks to more than {MAX_BYTES >> 30} GiB", "cut the recording to the incident's window")
    return data


def parse(data: bytes, default_time: float | None = None) -> Exposition:
    """All series of an exposition.

    :param default_time: Unix seconds given to samples that carry no time stamp; such samples are bad lines without it
    :raises DataError: not one line could be read
    """
    text = data.decode("utf-8", errors="replace")
    rows: dict[str, list[str]] = {}
    types: dict[str, str] = {}
    bad = 0
    for line in text.split("\n"):
        if not line or line[0] == "#":
            _note_type(line, types)
            continue
        cut = _cut(line)
        if cut is None:
            bad += not line.isspace()
            continue
        key, rest = cut
        row = rows.get(key)
        if row is None:
            rows[key] = [rest]
        else:
            row.append(rest)
    series: dict[str, RawSeries] = {}
    for key, numbers in rows.items():
        made = _series(key, numbers, default_time)
        if made is None:
            bad += len(numbers)
        else:
            series[key] = made
    if not series and bad:
        raise DataError(
            "not one line is a metric in the OpenMetrics or Prometheus text format", "is it the right file or address?"
        )
    return Exposition(list(series.values()), types, bad)


def _note_type(line: str, types: dict[str, str]) -> None:
    """Remembers what a ``# TYPE`` line says; other comments say nothing."""
    if line.startswith("# TYPE "):
        parts = line.split()
        if len(parts) == 4:
            types[parts[2]] = parts[3]


def _cut(line: str) -> tuple[str, str] | None:
    """A line as series and numbers; None if it is neither."""
    if "{" not in line:
        name, _, rest = line.partition(" ")
        return (name, rest) if rest else None
    if " # {" in line:
        match = _SERIES.match(line)
        return (match.group(), line[match.end() :].partition(" # {")[0]) if match else None
    end = line.rfind("}")
    return (line[: end + 1], line[end + 1 :]) if end > 0 else None


def _series(key: str, rows: list[str], default_time: float | None) -> RawSeries | None:
    """One series of its key and the numbers after it; None if one of them is malformed."""
    named = _name_and_labels(key)
    if named is None:
        return None
    try:
        tokens = [float(token) for row in rows for token in row.split()]
    except ValueError:
        return None
    if len(tokens) == 2 * len(rows):
        pairs = np.array(tokens).reshape(-1, 2)
        values, times = pairs[:, 0], pairs[:, 1]
        times = np.where(times > _MILLISECONDS_FROM, times / 1000.0, times)
    elif len(tokens) == len(rows) and default_time is not None:
        values, times = np.array(tokens), np.full(len(rows), default_time)
    else:
        return None
    times, values = _ascending(times, values)
    return RawSeries(named[0], named[1], times, values)


def _ascending(times: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Samples in order of time, one for each time, without stale markers (NaN)."""
    keep = ~np.isnan(values) & ~np.isnan(times)
    if not keep.all():
        times, values = times[keep], values[keep]
    if len(times) > 1 and not (np.diff(times) > 0).all():
        times, index = np.unique(times, return_index=True)
        values = values[index]
    return times, values


def _name_and_labels(key: str) -> tuple[str, dict[str, str]] | None:
    """Name and labels of ``name{label="value",…}`` (or ``{"name",…}``); None if malformed."""
    name, brace, inner = key.partition("{")
    labels: dict[str, str] = {}
    if not brace:
        return name, labels
    inner = inner[:-1]
    at = 0
    if not name and (match := _QUOTED_NAME.match(inner)):
        name, at = _unescape(match.group(1)), match.end()
    while at < len(inner):
        match = _LABEL.match(inner, at)
        if match is None:
            return None
        labels[match.group(1) or _unescape(match.group(2) or "")] = _unescape(match.group(3))
        at = match.end()
    return (name.strip(), labels) if name.strip() else None


def _unescape(value: str) -> str:
    """A label value without its escapes."""
    return _ESCAPE.sub(lambda match: "\n" if match.group(1) == "n" else match.group(1), value) if "\\" in value else value

"""Reads expositions: OpenMetrics and the Prometheus text format, with or without timestamps.

The reference parser (prometheus_client) takes about 30 µs a line, which is seconds for one recording; the tests compare with it.
Here a line is only compared with the one before it; labels are parsed once a series and numbers are converted in bulk.
"""

import lzma
import re
import zlib
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from gzip import GzipFile
from io import BytesIO
from itertools import chain
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
_BLOCK = 1 << 24
"""Bytes that are cut into lines at once: the lines of a large exposition would take several times its room."""

_STRING = r'"((?:[^"\\]|\\.)*)"'
_LABEL = re.compile(rf"\s*(?:([^\W\d][\w.]*)|{_STRING})\s*=\s*{_STRING}\s*(?:,|$)", re.ASCII)
_QUOTED_NAME = re.compile(rf"\s*{_STRING}\s*(?:,|$)")
_NAME = re.compile(r"[a-zA-Z_:][\w:.]*", re.ASCII)
_LINE = re.compile(
    r"""\s* ( [^\s{}"\#]* \s* \{ (?: [^"{}] | "(?:[^"\\]|\\.)*" )* \} | [^\s{}"\#]+ \s )  # series
        \s* ( [^\s\#{}]+ ) (?: \s+ ( [^\s\#{}]+ ) )? \s* (?: \#.* )?""",  # value, time stamp, exemplar
    re.VERBOSE,
)
_TYPE = re.compile(rf"#\s+TYPE\s+(?:{_STRING}|(\S+))\s+(\w+)\s*")
_ESCAPE = re.compile(r'\\([\\"n])')
_MILLISECONDS_FROM = 1e11
"""A time stamp above this is in milliseconds (the Prometheus format) and not in seconds (OpenMetrics): year 5138."""


@dataclass(frozen=True)
class Exposition:
    """What an exposition holds.

    :param types: metric family -> type as its ``# TYPE`` line says
    :param bad_lines: how many lines could not be read
    :param undated: how many samples were given the default time
    """

    series: list[RawSeries]
    types: dict[str, str]
    bad_lines: int = 0
    undated: int = 0


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
    """All series of an exposition, each with its samples in order of time; what is no number (NaN, infinity) is no sample.

    A line that cannot be read is counted and left out. Lines of one series need not stand together; of several samples of one
    moment one counts.

    :param default_time: Unix seconds given to samples that carry no time stamp; such samples are bad lines without it
    :raises DataError: not one line could be read
    """
    reading = _Reading(default_time)
    for block in _blocks(data):
        reading.add(block)
    series = reading.series()
    if not series and reading.bad:
        raise DataError(*_complaint(reading))
    return Exposition(series, reading.types, reading.bad, reading.undated)


def _complaint(reading: "_Reading") -> tuple[str, str]:
    """What is wrong with a text of which nothing could be read, and what to do."""
    if reading.timeless == reading.bad:
        return "not one sample carries a time stamp", "a single scrape shows no change: record the target with triage record"
    return "not one line is a metric in the OpenMetrics or Prometheus text format", "is it the right file or address?"


def _blocks(data: bytes) -> Iterator[str]:
    """The text in pieces of whole lines."""
    start = 0
    while start < len(data):
        end = data.find(b"\n", start + _BLOCK) + 1 or len(data)
        yield data[start:end].decode("utf-8", errors="replace")
        start = end


class _Reading:
    """What was read of an exposition so far.

    :param default_time: time of samples without a time stamp
    """

    def __init__(self, default_time: float | None) -> None:
        self.default_time = default_time
        self.types: dict[str, str] = {}
        self.bad = 0
        self.timeless = 0
        self.undated = 0
        self._numbers: dict[str, array[float]] = {}

    def add(self, block: str) -> None:
        """Reads some lines. Most are a sample of the same series as the line before them, which is quickly seen."""
        rows: dict[str, list[str]] = {}
        head, row = "\n", list[str]()
        length = 0
        for line in block.split("\n"):
            if line.startswith(head):
                row.append(line[length:])
                continue
            cut = self._head(line)
            if cut:
                head, length = cut, len(cut)
                row = rows.setdefault(head, [])
                row.append(line[length:])
        for head, row in rows.items():
            self._add_rows(head, row)

    def _head(self, line: str) -> str:
        """The series before the numbers, without labels the space behind it, too; empty if the line needs no more reading."""
        line = line.rstrip()
        if not line or line.lstrip().startswith("#"):
            self._note(line)
            return ""
        if "#" in line:
            self._add_one(line)
            return ""
        end = line.rfind("}") + 1
        if not end:
            name, *numbers = line.split(maxsplit=1)
            end = line.find(name) + len(name) + 1 if numbers else 0
        if not end:
            self.bad += 1
        return line[:end]

    def _note(self, comment: str) -> None:
        """Remembers what a ``# TYPE`` line says; other comments say nothing."""
        if match := _TYPE.fullmatch(comment.lstrip()):
            quoted, name, kind = match.groups()
            self.types[name or _unescape(quoted)] = kind

    def _add_rows(self, head: str, rows: list[str]) -> None:
        """Takes the numbers of lines of one series; one by one if they are not just value and time."""
        tokens = [row.split() for row in rows]
        try:
            if set(map(len, tokens)) == {2}:
                numbers = array("d", map(float, chain.from_iterable(tokens)))
                self._numbers.setdefault(head, array("d")).extend(numbers)
                return
        except ValueError:
            pass
        for row in rows:
            self._add_one(head + row)

    def _add_one(self, line: str) -> None:
        """Takes one line, whatever is unusual about it."""
        match = _LINE.fullmatch(line)
        series, value, time = match.groups() if match else ("", "", "")
        try:
            pair = [float(number) for number in (value, self.default_time if time is None else time) if number is not None]
        except ValueError:
            pair = []
        if len(pair) == 2:
            self.undated += time is None
            self._numbers.setdefault(series, array("d")).extend(pair)
        else:
            self.bad += 1
            self.timeless += len(pair)

    def series(self) -> list[RawSeries]:
        """The series. One whose labels are written in two ways is one series."""
        found: dict[tuple[str, frozenset[tuple[str, str]]], list[Floats]] = {}
        for head, numbers in self._numbers.items():
            pairs = np.frombuffer(numbers).reshape(-1, 2)
            named = _name_and_labels(head.strip())
            if named is None:
                self.bad += len(pairs)
            else:
                found.setdefault((named[0], frozenset(named[1].items())), []).append(pairs)
        made = []
        for (name, labels), pieces in found.items():
            times, values = _samples(np.concatenate(pieces))
            made.append(RawSeries(name, dict(sorted(labels)), times, values))
        return made


def _samples(pairs: Floats) -> tuple[Floats, Floats]:
    """Times in seconds, ascending, and values of pairs of value and time; without stale markers and the like."""
    values, times = pairs[:, 0], pairs[:, 1]
    times = np.where(times > _MILLISECONDS_FROM, times / 1000.0, times)
    keep = np.isfinite(values) & np.isfinite(times)
    if not keep.all():
        times, values = times[keep], values[keep]
    if not (np.diff(times) > 0).all():
        times, index = np.unique(times, return_index=True)
        values = values[index]
    return times, np.ascontiguousarray(values)


def _name_and_labels(series: str) -> tuple[str, dict[str, str]] | None:
    """Name and labels of ``name{label="value",…}`` (or ``{"name",…}``); None if malformed."""
    name, _, inner = series.partition("{")
    name, inner = name.rstrip(), inner[:-1].rstrip()
    labels: dict[str, str] = {}
    at = 0
    if not name and (match := _QUOTED_NAME.match(inner)):
        name, at = _unescape(match.group(1)), match.end()
    elif not _NAME.fullmatch(name):
        return None
    while at < len(inner):
        match = _LABEL.match(inner, at)
        label = match and (match.group(1) or _unescape(match.group(2) or ""))
        if not match or not label or label in labels:
            return None
        labels[label] = _unescape(match.group(3))
        at = match.end()
    return (name, labels) if name else None


def _unescape(value: str) -> str:
    """A string without its escapes."""
    return _ESCAPE.sub(lambda match: "\n" if match.group(1) == "n" else match.group(1), value) if "\\" in value else value

"""Reads expositions: OpenMetrics and the Prometheus text format, with or without timestamps.

The reference parser (prometheus_client) takes about 40 µs a line, which is seconds for one recording; the tests compare with it.
Here a line is only compared with the one before it; labels are parsed once a series, and the numbers of a block of text are
converted at once. A file is read block by block.
"""

import lzma
import re
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import field
from gzip import GzipFile
from itertools import chain
from pathlib import Path
from typing import BinaryIO

import numpy as np

from triage.classes import dataclass
from triage.errors import DataError, InputMissingError
from triage.ingest.numbers import columns
from triage.ingest.raw import RawSeries
from triage.model.recording import Floats

MAX_BYTES = 64 << 30
"""Largest exposition that is read, unpacked: two hours of two thousand replicas with eight cards each, at 30 s."""

MAX_SAMPLES = 300_000_000
"""Most samples that are read: those of two hours of two thousand replicas. A small archive can unpack to any number."""

MAX_SERIES = 4_000_000
"""Most different beginnings of lines that are read: each is kept with its labels."""

_PACKED: tuple[tuple[bytes, Callable[[BinaryIO], GzipFile | lzma.LZMAFile]], ...] = (
    (b"\x1f\x8b", lambda stream: GzipFile(fileobj=stream)),
    (b"\xfd7zXZ\x00", lzma.LZMAFile),
)
_BLOCK = 1 << 24
"""Bytes that are cut into lines at once: the lines of a large exposition would take several times its room."""

_LONGEST_LINE = 1 << 20
"""Bytes; a line of many labels has a few hundred."""

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
    return b"".join(read_blocks(path))


def read_blocks(path: Path) -> Iterator[bytes]:
    """The bytes of a file piece by piece, unpacked if it is gzip or xz.

    :raises InputMissingError: it cannot be opened
    :raises DataError: it is damaged, truncated or too large
    """
    try:
        with path.open("rb") as packed:
            start = packed.read(8)
            packed.seek(0)
            unpack = next((opener for magic, opener in _PACKED if start.startswith(magic)), None)
            yield from _pieces(path, packed) if unpack is None else _unpacked(path, unpack(packed))
    except OSError as error:
        raise InputMissingError(f"{path} cannot be read: {error.strerror or error}") from error


def _unpacked(path: Path, stream: GzipFile | lzma.LZMAFile) -> Iterator[bytes]:
    try:
        with stream:
            yield from _pieces(path, stream)
    except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
        raise DataError(f"{path} is damaged or cut short: {error}", "copy or record it again") from error


def _pieces(path: Path, stream: BinaryIO | GzipFile | lzma.LZMAFile) -> Iterator[bytes]:
    length = 0
    while piece := stream.read(_BLOCK):
        length += len(piece)
        if length > MAX_BYTES:
            raise DataError(f"{path} unpacks to more than {MAX_BYTES >> 30} GiB", "cut the recording to the incident's window")
        yield piece


def parse(data: bytes | Iterable[bytes], default_time: float | None = None) -> Exposition:
    """All series of an exposition, each with its samples in order of time; what is no number (NaN, infinity) is no sample.

    A line that cannot be read is counted and left out. Lines of one series need not stand together; of several samples of one
    moment one counts.

    :param data: the text, whole or piece by piece
    :param default_time: Unix seconds given to samples that carry no time stamp; such samples are bad lines without it
    :raises DataError: not one line could be read, or there are too many samples
    """
    reading = _Reading(default_time)
    for block in _blocks((data,) if isinstance(data, bytes) else data):
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


def _blocks(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The text in blocks of whole lines, each of which ends with its line's end.

    :raises DataError: a line has no end
    """
    left = b""
    for piece in pieces:
        text = left + piece
        start = 0
        while len(text) - start > _BLOCK and (end := text.rfind(b"\n", start, start + _BLOCK) + 1 or text.find(b"\n", start) + 1):
            yield text[start:end]
            start = end
        end = max(start, text.rfind(b"\n") + 1)
        if end > start:
            yield text[start:end]
        left = text[end:]
        if len(left) > _LONGEST_LINE:
            raise DataError(f"a line has more than {_LONGEST_LINE >> 20} MiB", "is it the right file or address?")
    if left:
        yield left + b"\n"


@dataclass(slots=True)
class _Samples:
    """What was read of one series so far.

    :param pairs: value and time of samples that were read one by one
    :param columns: values and times of those that were read at once
    """

    pairs: "array[float]" = field(default_factory=lambda: array("d"))
    columns: list[tuple[Floats, Floats]] = field(default_factory=list)

    def parts(self) -> list[tuple[Floats, Floats]]:
        """Values and times, in parts."""
        if not self.pairs:
            return self.columns
        pairs = np.frombuffer(self.pairs).reshape(-1, 2)
        return [(pairs[:, 0], pairs[:, 1]), *self.columns]


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
        self._lines = 0
        self._found: dict[str, _Samples] = {}

    def add(self, block: bytes) -> None:
        """Reads some lines. Most are a sample of the same series as the line before them, which is quickly seen.

        :raises DataError: there are too many
        """
        rows: dict[bytes, list[bytes]] = {}
        head, row = b"\n", list[bytes]()
        start = length = 0
        begins_with = block.startswith
        for end in (np.flatnonzero(np.frombuffer(block, np.uint8) == ord("\n")) + 1).tolist():
            if begins_with(head, start):
                row.append(block[start + length : end])
            else:
                line = block[start:end]
                cut = self._head(line)
                if cut:
                    head, length = line[:cut], cut
                    row = rows.setdefault(head, [])
                    row.append(line[cut:])
            start = end
        self._add_all(rows)
        if self._lines > MAX_SAMPLES or len(self._found) > MAX_SERIES:
            raise DataError(
                f"there are more than {MAX_SAMPLES} samples or {MAX_SERIES} series", "cut the recording to the incident's window"
            )

    def _head(self, line: bytes) -> int:
        """Where the numbers of a line begin, so that the series is before them; 0 if the line needs no more reading."""
        stripped = line.strip()
        if not stripped or stripped[:1] == b"#":
            self._note(stripped)
            return 0
        if b"#" in line:
            self._add_one(line.decode("utf-8", errors="replace"))
            return 0
        end = line.rfind(b"}") + 1
        if end:
            return end + 1 if line[end : end + 1] == b" " else end
        name, *numbers = line.split(maxsplit=1)
        if not numbers:
            self.bad += 1
            return 0
        return line.find(name) + len(name) + 1

    def _note(self, comment: bytes) -> None:
        """Remembers what a ``# TYPE`` line says; other comments say nothing."""
        if match := _TYPE.fullmatch(comment.decode("utf-8", errors="replace")):
            quoted, name, kind = match.groups()
            self.types[name or _unescape(quoted)] = kind

    def _add_all(self, rows: dict[bytes, list[bytes]]) -> None:
        """Takes the numbers of lines by their series: at once if all are just value and time, else series by series."""
        told = columns(b"".join(chain.from_iterable(rows.values())), sum(map(len, rows.values())))
        start = 0
        for head, row in rows.items():
            if told is None:
                self._add_rows(head, row)
            else:
                end = start + len(row)
                self._samples_of(head.decode("utf-8", errors="replace"), len(row)).columns.append(
                    (told[0][start:end], told[1][start:end])
                )
                start = end

    def _samples_of(self, head: str, more: int) -> _Samples:
        """What was read of the series at the beginning of a line, to which some samples are added."""
        self._lines += more
        found = self._found.get(head)
        if found is None:
            found = self._found[head] = _Samples()
        return found

    def _add_rows(self, head: bytes, rows: list[bytes]) -> None:
        """Takes the numbers of lines of one series; one by one if they are not just value and time."""
        series = head.decode("utf-8", errors="replace")
        told = columns(b"".join(rows), len(rows))
        if told is not None:
            self._samples_of(series, len(rows)).columns.append(told)
            return
        for row in rows:
            self._add_one(series + row.decode("utf-8", errors="replace"))

    def _add_one(self, line: str) -> None:
        """Takes one line, whatever is unusual about it."""
        match = _LINE.fullmatch(line.removesuffix("\n"))
        series, value, time = match.groups() if match else ("", "", "")
        try:
            pair = [float(number) for number in (value, self.default_time if time is None else time) if number is not None]
        except ValueError:
            pair = []
        if len(pair) == 2:
            self.undated += time is None
            self._samples_of(series, 1).pairs.extend(pair)
        else:
            self.bad += 1
            self.timeless += len(pair)

    def series(self) -> list[RawSeries]:
        """The series. One whose labels are written in two ways is one series. What was read is given away."""
        found: dict[tuple[str, frozenset[tuple[str, str]]], list[tuple[Floats, Floats]]] = {}
        while self._found:
            head = next(iter(self._found))
            read = self._found.pop(head).parts()
            named = _name_and_labels(head.strip())
            if named is None:
                self.bad += sum(len(values) for values, _ in read)
            else:
                found.setdefault((named[0], frozenset(named[1].items())), []).extend(read)
        made = []
        for name, labels in list(found):
            made.append(RawSeries(name, dict(sorted(labels)), *_samples(found.pop((name, labels)))))
        return made


def _samples(parts: list[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    """Times in seconds, ascending, and values of values and times; without stale markers and the like."""
    values, times = parts[0] if len(parts) == 1 else (np.concatenate(one) for one in zip(*parts, strict=True))
    if (times > _MILLISECONDS_FROM).any():
        times = np.where(times > _MILLISECONDS_FROM, times / 1000.0, times)
    with np.errstate(invalid="ignore", over="ignore"):
        total = values.sum() + times.sum()  # one that is not finite makes the sum so
    if not np.isfinite(total):
        keep = np.isfinite(values) & np.isfinite(times)
        times, values = times[keep], values[keep]
    if not (times[1:] > times[:-1]).all():
        times, index = np.unique(times, return_index=True)
        values = values[index]
    return np.ascontiguousarray(times), np.ascontiguousarray(values)


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

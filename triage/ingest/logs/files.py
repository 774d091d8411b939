"""The files of logs: one emitter's, oldest first, line by line, however they are packed."""

import gzip
import sys
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from triage.classes import dataclass
from triage.model.recording import Source, SourceState
from triage.patterns import Pattern

MAX_LINE = 16 * 1024
"""Bytes of a line that are looked at; the rest is skipped."""

MAX_BYTES = 2 << 30
"""Bytes of a file, after decompression, that are read."""

_DATE = r"20\d\d-?(?:0[1-9]|1[0-2])-?(?:0[1-9]|[12]\d|3[01])(?:[T_-]?\d\d[-:]?\d\d(?:[-:]?\d\d)?(?:\.\d+)?)?"
"""A day, with or without a time, as rotators put it into a name."""

_FILE = Pattern(rf"(?i)\.(?:log|txt|out|jsonl?|events)(?:[.-]({_DATE})|\.(\d+))?(?:\.gz)?$")
_DATED = Pattern(rf"[-_.]({_DATE})$")
_PREVIOUS = Pattern(r"(?i)[-_.]prev(?:ious)?$")


@dataclass(frozen=True)
class Log:
    """All files of one emitter, oldest first."""

    stem: str
    files: tuple[Path, ...]


def logs_of(paths: Sequence[Path]) -> tuple[list[Log], list[Source]]:
    """The logs in some paths, and a word on each path that is none."""
    found: dict[str, list[tuple[_Age, Path]]] = {}
    problems: list[Source] = []
    for path in paths:
        if str(path) == "-":
            found.setdefault("stdin", []).append((_NEWEST, path))
        elif path.is_dir():
            for file in sorted(path.iterdir()):
                # a link in a folder that somebody handed over may point at anything on this machine
                if _FILE.search(file.name) and file.is_file() and not file.is_symlink():
                    _sort_in(found, file)
        elif path.is_file():
            _sort_in(found, path)
        else:
            problems.append(Source("log", SourceState.FAILED, f"{path} does not exist"))
    return [Log(stem, tuple(path for _, path in sorted(files, reverse=True))) for stem, files in sorted(found.items())], problems


_Age = tuple[int, str]
"""How files of one emitter follow each other, oldest last: by number, or by the date in their names."""

_NEWEST: _Age = (0, "")
_LATEST_DATE = 10**14
"""Beyond every date that is written as one number, so that the older one is the greater age."""


def _sort_in(found: dict[str, list[tuple[_Age, Path]]], file: Path) -> None:
    """Puts a file with the others of its emitter; a rotated one is older.

    Rotators number (``chat.log.1``), put the date behind the ending (logrotate's dateext: ``chat.log-20261112``), or before it
    (lumberjack, of most Go programs: ``chat-2026-11-12T09-20-00.000.log``).
    """
    suffix = _FILE.search(file.name)
    stem = file.name[: suffix.start()] if suffix is not None else file.name
    date, number = (suffix.group(1) or "", int(suffix.group(2) or 0)) if suffix is not None else ("", 0)
    dated = _DATED.search(stem)
    if dated is not None and suffix is not None and not date:
        stem, date = stem[: dated.start()], dated.group(1)
    age = (_LATEST_DATE - int(_digits(date)), date) if date else (number, "")
    if _PREVIOUS.search(stem):
        stem, age = _PREVIOUS.sub("", stem), (age[0] + 1, age[1])
    found.setdefault(stem, []).append((age, file))


def _digits(date: str) -> str:
    """A date as one number to the second."""
    return "".join(char for char in date if char.isdigit())[:14].ljust(14, "0")


def opened(path: Path) -> BinaryIO:
    """The bytes of a file, unpacked if it is packed."""
    if str(path) == "-":
        return sys.stdin.buffer
    with path.open("rb") as stream:
        packed = stream.read(2) == b"\x1f\x8b"
    return gzip.open(path, "rb") if packed else path.open("rb")  # type: ignore[return-value]


def ahead(log: Log, count: int) -> Iterable[bytes]:
    """The first lines of a log, which are read again later: of standard input those that have arrived."""
    if str(log.files[0]) != "-":
        return islice(Lines(log), count)
    peek = getattr(sys.stdin.buffer, "peek", None)
    return peek(1).splitlines()[:count] if peek is not None else ()


@dataclass
class Lines:
    """The lines of a log's files, each cut to a bounded length; what went wrong is in ``problems``."""

    log: Log
    problems: list[str] = field(default_factory=list)

    def __iter__(self) -> Iterator[bytes]:
        for path in self.log.files:
            try:
                with opened(path) as stream:
                    yield from self._of(stream, path)
            except (OSError, EOFError, zlib.error) as error:
                self.problems.append(f"{path.name} cannot be read to its end: {error}")

    def _of(self, stream: BinaryIO, path: Path) -> Iterator[bytes]:
        read, whole = 0, True
        while read < MAX_BYTES:
            piece = stream.readline(MAX_LINE)
            if not piece:
                return
            read += len(piece)
            if whole:
                yield piece.rstrip(b"\r\n")
            whole = piece.endswith(b"\n")
        self.problems.append(f"only the first {MAX_BYTES >> 20} MiB of {path.name} were read")

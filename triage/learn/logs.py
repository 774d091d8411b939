"""The logs of a case as a person looks at them: which there are, and the lines that hold a text."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from triage.classes import dataclass
from triage.ingest.logs.files import Lines, Log, logs_of
from triage.ingest.logs.redaction import redacted_bytes, without_escapes

MOST_LINES = 400_000
"""Lines of one log that are looked through."""


@dataclass(frozen=True)
class Shown:
    """A log with the lines of it that were found.

    :param count: how many lines were found
    :param lines: the first of them, without secrets and control characters
    """

    name: str
    count: int
    lines: tuple[str, ...]


def log_names(case: Path) -> list[str]:
    """The logs of a case by name."""
    return [log.stem for log in _logs(case)]


def found_lines(case: Path, text: str, most: int, log: str = "") -> list[Shown]:
    """The lines that hold a text, whatever its case, of each log that has such.

    :param text: any line if it is empty
    :param most: lines of a log to give back
    :param log: only logs with this in their names
    """
    shown = [_found(one, text.casefold().encode(), most) for one in _logs(case) if log.casefold() in one.stem.casefold()]
    return [one for one in shown if one.count]


def _logs(case: Path) -> list[Log]:
    """The logs of a case."""
    folder = case / "logs"
    return logs_of([folder])[0] if folder.is_dir() else []


def _found(log: Log, wanted: bytes, most: int) -> Shown:
    """The lines of one log that hold some bytes in lower case."""
    kept: list[str] = []
    count = 0
    for line in _matching(log, wanted):
        count += 1
        if len(kept) < most:
            kept.append(redacted_bytes(without_escapes(line)))
    return Shown(log.stem, count, tuple(kept))


def _matching(log: Log, wanted: bytes) -> Iterator[bytes]:
    """The lines that hold some bytes in lower case; empty ones never."""
    return (line for line in islice(Lines(log), MOST_LINES) if line.strip() and wanted in line.lower())

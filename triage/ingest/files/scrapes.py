"""Scrapes as people save them (`curl …/metrics > metrics-20260301T1200Z.prom`): a file a moment and target, no time stamps."""

import re
from datetime import UTC, datetime
from pathlib import Path

from triage.classes import dataclass

FOLDER = "metrics"
"""A folder of this name, or names that begin with it, hold scrapes."""

MOST_FILES = 5000

_ENDINGS = re.compile(r"(?:\.(?:om|prom|txt|json|metrics|out|log))?(\.\d{1,6})?(?:\.(?:gz|xz))?$")
_DATE = re.compile(
    r"(?<!\d)(20\d\d)[-_.]?([01]\d)[-_.]?([0-3]\d)[-_.T ]{0,2}"
    r"([0-2]\d)[-_.:h]?([0-5]\d)(?:[-_.:m]?([0-5]\d))?(?:\.\d+)?Z?(?!\d)"
)
_EPOCH = re.compile(r"(?<!\d)(1[5-9]\d{8})(\d{3})?(?!\d)")
_COUNT = re.compile(r"(?:^|\.)\d{1,6}$")
_NO_TARGET = re.compile(r"^(?:metrics|scrapes?|prom(?:etheus)?|samples?|snapshot|dump)(?![^\W_])")
_SEPARATORS = "-_. @"


@dataclass(frozen=True, slots=True)
class Scrape:
    """A file that holds what one target said, at one moment unless it has time stamps itself.

    :param target: whose it is by the file's name, empty if the name does not say
    :param time: the moment by the file's name, Unix seconds; None if the name does not say
    :param modified: when the file was written, Unix seconds
    """

    path: Path
    target: str
    time: float | None
    modified: float


def find_scrapes(folder: Path) -> list[Scrape]:
    """The files of metrics in an incident folder, in order of their names."""
    inside = folder / FOLDER
    beside = (path for path in folder.iterdir() if path.name.startswith(FOLDER) and path.is_file())
    below = (path for path in inside.rglob("*") if path.is_file()) if inside.is_dir() else ()
    found = sorted(path for path in (*beside, *below) if not path.name.startswith("."))
    return [scrape_of(path) for path in found[:MOST_FILES]]


def scrape_of(path: Path) -> Scrape:
    """What a file's name and its time of writing tell."""
    stem = _ENDINGS.sub("", path.name)
    time, rest = _time_in(stem)
    rest = _COUNT.sub("", _NO_TARGET.sub("", rest.strip(_SEPARATORS)).strip(_SEPARATORS))
    return Scrape(path, rest.strip(_SEPARATORS), time, path.stat().st_mtime)


def _time_in(stem: str) -> tuple[float | None, str]:
    """The moment that a name holds, as UTC, and the rest of the name."""
    if found := _EPOCH.search(stem):
        return float(found.group(1)), stem[: found.start()] + stem[found.end() :]
    if found := _DATE.search(stem):
        year, month, day, hour, minute, second = (int(part or 0) for part in found.groups())
        try:
            moment = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
        except ValueError:
            return None, stem
        return moment.timestamp(), stem[: found.start()] + stem[found.end() :]
    return None, stem


def moment_of(scrape: Scrape, first: float | None, last: float | None) -> float | None:
    """When a file was scraped, Unix seconds; None if neither its name nor the time of writing can be believed.

    The name comes first. The time of writing counts if it lies in the time that the case is about: copies and archives lose it.

    :param first: begin of the time that the case is about, Unix seconds; None if nobody says
    :param last: its end
    """
    if scrape.time is not None:
        return scrape.time
    written = (first is None or scrape.modified >= first) and (last is None or scrape.modified <= last)
    return scrape.modified if written else None

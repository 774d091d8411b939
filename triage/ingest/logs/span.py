"""The time that logs cover, told by their first and last lines, and the window that this makes if nobody names one."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from triage.ingest.logs.files import Lines, Log, logs_of
from triage.ingest.logs.forms import unwrap
from triage.ingest.logs.redaction import without_escapes
from triage.ingest.logs.timestamps import Clock
from triage.model.recording import Window

SHORTEST = 1800.0
"""Seconds of the shortest window: a log of one moment is judged with what could lie before it."""

WHOLE = 7200.0
"""Logs of this many seconds or less are judged as a whole: somebody saved what happened, not what is usual."""

LONGEST = 86400.0
"""Seconds of the longest window; of longer logs the last third is judged, as of metrics, and what is before is the baseline."""

_BASELINES = 3.0
_HOUR = 3600.0
_DAY = 86400.0
_EDGE_LINES = 400
_TAIL = 256 * 1024
"""Bytes at the end of a file in which its last stamp is looked for."""


def window_of_logs(paths: Sequence[Path], now: float) -> Window | None:
    """The window that ends at the last line of some logs; None if no line has a stamp that can be read.

    :param now: Unix seconds; stamps without a year or a day lie before it
    """
    times = [time for log in logs_of(paths)[0] for time in _edges(log, now)]
    if not times:
        return None
    first, last = min(times), max(times)
    covered = last - first
    length = covered if covered <= WHOLE else max(WHOLE, covered / 3.0)
    start = last - min(max(length, SHORTEST), LONGEST)
    return Window(start, last, min(start - _HOUR, max(first, start - _BASELINES * (last - start))))


def _edges(log: Log, now: float) -> Iterator[float]:
    """Stamps of the first and of the last lines of a log; those in the future are mistakes."""
    clock = Clock(Window(now, now, now))
    for lines in (_first_lines(log), _last_lines(log)):
        for raw in lines:
            body, stamp, _ = unwrap(without_escapes(raw))
            time = clock.read(stamp) if stamp else None
            time = clock.read(body) if time is None else time
            if time is not None and time <= now + _DAY:
                yield time


def _first_lines(log: Log) -> Iterable[bytes]:
    return list(islice(Lines(log), _EDGE_LINES))


def _last_lines(log: Log) -> Iterable[bytes]:
    """The last lines of the newest file; of a packed one, all has to be unpacked."""
    newest = log.files[-1]
    if newest.suffix == ".gz":
        return deque(Lines(log), maxlen=_EDGE_LINES)
    try:
        with newest.open("rb") as stream:
            stream.seek(max(0, newest.stat().st_size - _TAIL))
            return stream.read(_TAIL).splitlines()[-_EDGE_LINES:]
    except OSError:
        return ()

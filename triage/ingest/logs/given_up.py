"""How old requests are when they are given up: at one exact age it is somebody's limit, and not their end.

An engine tells of a request when it comes and when it is aborted, under its id. Who is cut off at one age, at different moments,
has met a limit on the way, whoever set it and whatever his own log says of it.
"""

from collections.abc import Iterator
from dataclasses import field

import re2

from triage.classes import dataclass
from triage.model.recording import Event, Subject, Window

LEAST = 3
"""Requests given up at one age that show a limit."""

YOUNGEST = 2.0
"""Seconds. What is given up sooner was called off by who asked."""

TOLERANCE = 1.1
"""Seconds by which the ages may differ: many logs tell no fraction of a second."""

APART = 2.0
"""Seconds between two that were given up independently: all of them at one moment is somebody who left."""

SHARE = 0.5
"""Share of those given up that must be of one age: people who give up by themselves do so at many."""

_MAX_OPEN = 20_000
_MAX_AGES = 2_000
_ID = re2.compile(rb"\b(?:[a-z]{2,12}-)?([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{16,40})\b")
_GIVEN_UP = re2.compile(rb"(?i)\b(?:abort(?:ed|ing)?|cancel(?:l?ed|ling)?|disconnect(?:ed)?|timed out|gave up)\b")
_OF_A_REQUEST = (b"equest", b"rid", b"REQUEST")


@dataclass
class GivenUp:
    """Remembers when requests came, by their ids, in the lines of one emitter.

    :param subject: whom its lines are about
    :param source: name of the file
    """

    subject: Subject
    window: Window
    source: str
    _came: dict[bytes, float] = field(default_factory=dict)
    _ages: list[tuple[float, float]] = field(default_factory=list)

    def feed(self, line: bytes, time: float) -> None:
        """Takes a line that may name a request."""
        if not any(word in line for word in _OF_A_REQUEST):
            return
        found = _ID.search(line)
        if found is None:
            return
        request = found.group(1)
        if _GIVEN_UP.search(line) is None:
            if request not in self._came:
                self._came[request] = time
                if len(self._came) > _MAX_OPEN:
                    del self._came[next(iter(self._came))]
            return
        came = self._came.pop(request, None)
        if came is not None and len(self._ages) < _MAX_AGES and self.window.start <= time <= self.window.end:
            self._ages.append((time, time - came))

    def events(self) -> Iterator[Event]:
        """The age at which requests are given up, if there is one."""
        ages = [(time, age) for time, age in self._ages if age >= YOUNGEST]
        if not ages:
            return
        usual = max((age for _, age in ages), key=lambda age: (sum(abs(age - one) <= TOLERANCE for _, one in ages), age))
        alike = sorted((time, age) for time, age in ages if abs(age - usual) <= TOLERANCE)
        if len(alike) < LEAST or len(alike) < SHARE * len(ages) or not _independent([time for time, _ in alike]):
            return
        seconds = f"{sorted(age for _, age in alike)[len(alike) // 2]:.0f}"
        text = f"{len(alike)} of {len(ages)} requests that were given up were {seconds} s old, a limit on their way"
        attrs = {
            "who": "engine", "seconds": seconds, "count": str(len(alike)), "requests": str(len(ages)),
            "share": f"{len(alike) / len(ages):.3g}", "role": "consequence",
            "kinds": "timeout-mismatch client-retry-multiplication", "meaning": text,
        }  # fmt: skip
        yield Event(alike[0][0], "log", "constant-duration-failures", self.subject, attrs, text, self.source)


def _independent(times: list[float]) -> bool:
    """Whether so many were given up at different moments."""
    moments = 1
    last = times[0]
    for time in times[1:]:
        if time - last >= APART:
            moments, last = moments + 1, time
    return moments >= LEAST

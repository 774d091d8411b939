"""How old requests are when they are given up: at one exact age it is somebody's limit, and not their end.

An engine tells of a request when it comes and when it is aborted, under its id; who asks tells how long he waited for nothing.
Who is cut off at one age, at different moments, has met a limit on the way, whoever set it and whatever his own log says of it.
"""

from collections.abc import Iterator
from dataclasses import field

from triage.classes import dataclass
from triage.ingest.logs.durations import unit
from triage.model.recording import Event, Subject, Window
from triage.patterns import Pattern

LEAST = 3
"""Requests given up at one age that show a limit."""

YOUNGEST = 2.0
"""Seconds. What is given up sooner was called off by who asked."""

TOLERANCE = 1.1
"""Seconds by which the ages may differ: many logs tell no fraction of a second."""

EXACT = 0.15
"""Seconds by which waits may differ that one program timed itself: a limit and the way back."""

LONGER = 1.2
"""How many times as long as the limit an answer took that came all the same: on another way, or in another form."""

ROUND = 5.0
"""Seconds of which a limit that somebody sets is a multiple: where all came at one time, or nobody says when, that alone tells it
from an end that came to all."""

APART = 2.0
"""Seconds between two that were given up independently: all of them at one moment is somebody who left."""

SHARE = 0.5
"""Share of those given up that must be of one age: people who give up by themselves do so at many."""

_MAX_OPEN = 20_000
_MAX_AGES = 2_000
_ID = Pattern(rb"\b(?:[a-z]{2,12}-)?([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{16,40})\b")
_GIVEN_UP = Pattern(rb"(?i)\b(?:abort(?:ed|ing)?|cancel(?:l?ed|ling)?|disconnect(?:ed)?|timed out|gave up)\b")
_UNANSWERED = Pattern(
    rb"(?i)time[ _-]?d?[ _-]?out|deadline.?exceeded|gave up|\b50[04] gateway"
    rb"|(?:status|http|code)(?:_code)?[\"']?[=: ]+[\"']?(?:408|499|504|524)\b"
)
_WAITED = Pattern(
    rb"(?i)\b(?:after|took|elapsed|waited|total|time[._]?total|total[._]?time|duration|latency|time[ _]taken|in)"
    rb"(?:_s|_sec(?:onds)?|_ms)?[\"']?[=: (]+([0-9]+(?:\.[0-9]+)?) ?(ms|msecs?|milliseconds?|s|secs?|seconds?|m|min|minutes?)?\b"
)
_ANSWERED = Pattern(
    rb"(?i)(?:status|http|code)(?:_code)?[\"']?[=: ]+[\"']?2[0-9][0-9]\b|\b200 ok\b|\b(?:done|ok|completed|finished|succeeded)\b"
)
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
    _waits: list[tuple[float, float]] = field(default_factory=list)
    _answered: list[float] = field(default_factory=list)

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

    def feed_asker(self, line: bytes, time: float) -> None:
        """Takes a line of who asks, which may tell that he got no answer, and after how long."""
        found = _WAITED.search(line)
        if found is None or len(self._waits) >= _MAX_AGES or not self.window.start <= time <= self.window.end:
            return
        seconds = float(found.group(1)) * unit((found.group(2) or b"s").decode().lower())
        if _UNANSWERED.search(line) is not None:
            self._waits.append((time, seconds))
        elif _ANSWERED.search(line) is not None and len(self._answered) < _MAX_AGES:
            self._answered.append(seconds)

    def events(self) -> Iterator[Event]:
        """The ages at which requests are given up, if there are such."""
        yield from self._at_one_age("engine", self._ages, TOLERANCE)
        yield from self._at_one_age("client", self._waits, EXACT)

    def _at_one_age(self, who: str, told: list[tuple[float, float]], tolerance: float) -> Iterator[Event]:
        ages = [one for one in told if one[1] >= YOUNGEST]
        if not ages:
            return
        usual = max((age for _, age in ages), key=lambda age: (sum(abs(age - one) <= tolerance for _, one in ages), age))
        alike = sorted((time, age) for time, age in ages if abs(age - usual) <= tolerance)
        if len(alike) < LEAST or len(alike) < SHARE * len(ages):
            return
        if not (_independent([time for time, _ in alike]) or (who == "client" and _is_round(usual))):
            return
        seconds = f"{sorted(age for _, age in alike)[len(alike) // 2]:.0f}"
        longer = sum(one > LONGER * usual for one in self._answered)
        text = f"{len(alike)} of {len(ages)} requests that were given up were {seconds} s old, a limit on their way"
        attrs = {
            "who": who, "seconds": seconds, "count": str(len(alike)), "requests": str(len(ages)),
            "share": f"{len(alike) / len(ages):.3g}", "role": "consequence",
            "longer": str(longer), "kinds": "timeout-mismatch client-retry-multiplication", "meaning": text,
        }  # fmt: skip
        yield Event(alike[0][0], "log", "constant-duration-failures", self.subject, attrs, text, self.source)


def _is_round(seconds: float) -> bool:
    """Whether a wait is just beyond a limit that somebody would set."""
    return seconds % ROUND <= EXACT


def _independent(times: list[float]) -> bool:
    """Whether so many were given up at different moments."""
    moments = 1
    last = times[0]
    for time in times[1:]:
        if time - last >= APART:
            moments, last = moments + 1, time
    return moments >= LEAST

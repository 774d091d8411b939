"""Prompts that were all counted to one exact number, however long they were: what lies beyond it was not read.

Programs that cut a prompt and answer all the same tell nobody. What a caller sent and what the server counted of it stand side
by side in many logs, though, under whatever names: up to some length one grows with the other, and beyond it the count is one
number.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import NamedTuple

from triage.classes import dataclass
from triage.model.recording import Event, Subject, Window
from triage.patterns import Pattern

LEAST = 3
"""Prompts of different length that were counted alike, and others that were not: fewer may be one prompt that came again."""

LEAST_ALONE = 5
"""The same where no line says how long the prompts were that were sent: one prompt is tried again a few times."""

SPREAD = 1.6
"""Chosen: so much may the tokens of a unit of length (a token of another tokenizer, a letter, a byte) differ between prompts."""

_MAX_LINES = 5000
_MAX_FIELDS = 24
_MAX_DIGITS = 12
_MAX_LINE = 1000
_BLANKS = Pattern(r"\s{2,}")
_RULE = Pattern(rb"^[\s|:+=-]*$")
_PAIR = Pattern(rb'([A-Za-z_][\w.]{0,60})"?[=:] ?"?(\d{1,12})(?:["\s,;})\]]|$)')
_BARE = Pattern(rb"[ (]([0-9]{2,12}) ")
"""A number in a sentence, which is known by its place among the others: ``sent 5200 tokens``."""

_STATUS = Pattern(rb'(?i)(?:^|[\s"_{,])(?:status(?:_code)?|code|http)"?[=:] ?"?([1-5]\d\d)\b')
_OF_PROMPTS = Pattern(
    r"(?i)(?:^|[._])(?:n_?)?(?:prompt|input|context)[._]?(?:eval|processed|computed|read|used)?[._]?(?:tokens?|count|n|len(?:gth)?)?(?:[._]?count)?$"
)
_NEVER = Pattern(r"(?i)max|limit|cached|time|duration|seconds|_ms$|per_|version|port|id$")


class _Seen(NamedTuple):
    """The numbers of a line."""

    time: float
    numbers: dict[str, int]


class _Cap(NamedTuple):
    """One number that prompts were counted to.

    :param counted: name of the count
    :param sent: name of what says how long they were; empty if nothing does
    """

    counted: str
    sent: str
    limit: int
    times: tuple[float, ...]
    longest: int


@dataclass
class CappedCounts:
    """Collects counts of prompts in the lines of one emitter.

    :param subject: whom its lines are about
    :param source: name of the file
    """

    subject: Subject
    window: Window
    source: str
    _lines: list[_Seen] = field(default_factory=list)
    _heads: list[str] = field(default_factory=list)

    def feed(self, line: bytes, time: float) -> None:
        """Takes the counts of a line of an answered request: by their names, or below a heading that names them."""
        if len(self._lines) >= _MAX_LINES or not self.window.start <= time <= self.window.end:
            return
        if self._heads and self._row(line, time):
            return
        if b"prompt" not in line and b"input" not in line and b"context" not in line:
            return
        status = _STATUS.search(line)
        if status is not None and not status.group(1).startswith(b"2"):
            return
        found = _PAIR.findall(line)[:_MAX_FIELDS]
        numbers = {name.decode(): int(value) for name, value in found}
        bare = _BARE.findall(line)[:_MAX_FIELDS] if numbers else []
        numbers |= {f"number {place}": int(value) for place, value in enumerate(bare, 1)}
        if any(map(_counts_prompts, numbers)):
            self._lines.append(_Seen(time, numbers))
        elif not numbers:
            self._head(line)

    def _head(self, line: bytes) -> None:
        """Takes a line that may head columns of counts."""
        heads = [cell.strip().lower().replace(" ", "_") for cell in _cells(line)]
        if 2 <= len(heads) <= _MAX_FIELDS and any(map(_counts_prompts, heads)):
            self._heads = heads

    def _row(self, line: bytes, time: float) -> bool:
        """Takes a row of numbers below a heading; false if it is none, and the table has ended."""
        cells = _cells(line)
        if _RULE.search(line) is not None:
            return True
        if len(cells) != len(self._heads):
            self._heads = []
            return False
        told = zip(self._heads, cells, strict=True)
        numbers = {head: int(cell) for head, cell in told if cell.isdecimal() and len(cell) <= _MAX_DIGITS}
        if any(map(_counts_prompts, numbers)):
            self._lines.append(_Seen(time, numbers))
        return True

    def events(self) -> Iterator[Event]:
        """The number that prompts were counted to, if there is one."""
        names = sorted({name for line in self._lines for name in line.numbers if _counts_prompts(name)})
        caps = [cap for name in names if (cap := self._cap(name)) is not None]
        if not caps:
            return
        cap = max(caps, key=lambda one: (bool(one.sent), len(one.times)))
        beyond = f"longer ones, up to {cap.longest} ({cap.sent})" if cap.sent else "the longest"
        text = f"{len(cap.times)} prompts were counted as exactly {cap.limit} ({cap.counted}), {beyond}"
        attrs = {
            "limit": str(cap.limit), "field": cap.counted, "sent": cap.sent, "known": "yes" if cap.sent else "no",
            "count": str(len(cap.times)), "requests": str(len(self._lines)), "role": "cause" if cap.sent else "info",
            "kinds": "prompt-truncated", "severity": "warning",
            "meaning": f"prompts of any greater length are counted as exactly {cap.limit}",
        }  # fmt: skip
        yield Event(cap.times[0], "log", "prompts-counted-alike", self.subject, attrs, text, self.source)

    def _cap(self, counted: str) -> _Cap | None:
        lines = [line for line in self._lines if counted in line.numbers]
        if not lines:
            return None
        limit = max(line.numbers[counted] for line in lines)
        others = sorted({name for line in lines for name in line.numbers if name != counted and not _NEVER.search(name)})
        for sent in others[:_MAX_FIELDS]:
            pairs = [(line.time, line.numbers[sent], line.numbers[counted]) for line in lines if sent in line.numbers]
            capped = [one for one in pairs if one[2] == limit]
            if _is_a_limit(capped, [one for one in pairs if one[2] < limit]):
                return _Cap(counted, sent, limit, tuple(time for time, _, _ in capped), max(one[1] for one in capped))
        return _alone(counted, limit, lines)


def _cells(line: bytes) -> list[str]:
    """What stands between bars, tabs, commas, or two blanks and more."""
    text = line[:_MAX_LINE].decode("utf-8", "replace").strip().strip("|").strip()
    mark = next((one for one in ("|", "\t", ",") if one in text), "")
    return [cell.strip() for cell in (text.split(mark) if mark else _BLANKS.split(text))]


def _counts_prompts(name: str) -> bool:
    return _OF_PROMPTS.search(name) is not None and _NEVER.search(name) is None


def _is_a_limit(capped: Sequence[tuple[float, int, int]], below: Sequence[tuple[float, int, int]]) -> bool:
    """Whether prompts beyond one length are counted alike, and those below each by its own length."""
    if len({sent for _, sent, _ in capped}) < LEAST or len({count for _, _, count in below}) < LEAST:
        return False
    if min(sent for _, sent, _ in capped) <= max(sent for _, sent, _ in below):
        return False
    rates = [count / sent for _, sent, count in below if sent]
    return len(rates) == len(below) and min(rates) > 0 and max(rates) <= SPREAD * min(rates)


def _alone(counted: str, limit: int, lines: Sequence[_Seen]) -> _Cap | None:
    """The longest prompts are all of one length, and hardly any other length comes twice."""
    lengths = Counter(line.numbers[counted] for line in lines)
    others = [count for length, count in lengths.items() if length != limit]
    if lengths[limit] < LEAST_ALONE or len(others) < LEAST_ALONE or LEAST * max(others) > lengths[limit]:
        return None
    return _Cap(counted, "", limit, tuple(line.time for line in lines if line.numbers[counted] == limit), limit)

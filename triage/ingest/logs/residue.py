"""Lines that tell of an error and that nothing reads: kept by template, for a person to read, and so that none is overlooked."""

from collections.abc import Iterator
from math import inf

from triage.classes import dataclass
from triage.ingest.logs.redaction import redacted_bytes
from triage.ingest.logs.templates import name_of
from triage.model.recording import Event, Subject, Window

MAX_TEMPLATES = 50
"""Templates that are kept of one emitter; one that repeats itself in more words than this says nothing by itself."""

_BAD_LEVELS = frozenset({"error", "critical"})
_GOOD_LEVELS = frozenset({"trace", "debug", "info"})

FAILURE = (
    r"\b(?:errors?|exceptions?|fatal|panic(?:ked)?|fail(?:ed|ures?|s|ing)?|critical|severe|abort(?:ed|ing|s)?|crash(?:ed|es|ing)?"
    r"|corrupt\w*|cannot|can.t|could not|couldn.t|unable|refused|denied|rejected|invalid\w*|illegal\w*|lost|died|killed"
    r"|traceback|not ready|unhealthy|expired|timed out|e\d{4} \d\d:\d\d)(?:[^a-z]|$)|(?:error|exception|failure)\b"
    r"|\b(?-i:Failed|Crash|Unhealthy|Invalid|Error|Killed)(?-i:[A-Z])|\b(?-i:ERR)\b|\[(?-i:[EF])\]|[ ,](?-i:[EFC])(?: \d+)+\]"
    r"|\"level\": ?(?:50|60)\b"
)
"""Words of failure, as one pattern for the pass over each line. Reasons of a cluster's events are some (``FailedMount``), names
of settings (``failureThreshold``) are none. Letters and numbers that stand for a level of error are some:
what a program calls an error is one in whatever words."""

STRONG = (
    r"\b(?:fatal|panic(?:ked)?|exception|traceback|crash(?:ed|ing)?|corrupt(?:ed|ion)?|failed to|failure|unable to|could not"
    r"|couldn.t|cannot)\b"
)
"""Words that tell of failure even at the level ``info``."""


def is_error_like(level: str, *, failure: bool, strong: bool) -> bool:
    """Whether a line tells of an error, by its level or by its words.

    :param level: as the line says; empty if it says none
    """
    if level in _BAD_LEVELS:
        return True
    return strong if level in _GOOD_LEVELS else failure


@dataclass
class _Sort:
    """Lines of one template."""

    template: str
    level: str
    subject: Subject | None
    phase: str
    first: float
    last: float
    text: str
    shown_in_window: bool
    count: int = 0
    before: bool = False
    starting_only: bool = True


class Residue:
    """Keeps what nothing reads, of one emitter.

    :param emitter: its kind
    :param source: name of the file
    """

    def __init__(self, emitter: str, window: Window, source: str) -> None:
        self._emitter = emitter
        self._window = window
        self._source = source
        self._sorts: dict[tuple[str, Subject | None], _Sort] = {}

    def add(self, template: str, line: bytes, time: float, level: str, phase: str, subject: Subject | None) -> None:
        """Takes a line that is error-like and unread."""
        if not self._window.baseline_start <= time <= self._window.end:
            return
        sort = self._sorts.get((template, subject))
        inside = time >= self._window.start
        if sort is None:
            if len(self._sorts) >= MAX_TEMPLATES:
                return
            sort = self._sorts[template, subject] = _Sort(
                template, level, subject, phase, time, time, redacted_bytes(line), inside
            )
        if inside and not sort.shown_in_window:
            sort.shown_in_window, sort.text, sort.first, sort.count, sort.phase = True, redacted_bytes(line), time, 0, phase
        sort.before = sort.before or not inside
        if inside or not sort.shown_in_window:
            sort.count += 1
            sort.last = max(sort.last, time)
        sort.starting_only = sort.starting_only and phase == "starting"

    def events(self, *, cut: bool = False, begun: float = -inf) -> Iterator[Event]:
        """One event per template: of its lines in the window, or of those before it if it has none there.

        :param cut: nobody can say what the emitter said before the window
        :param begun: Unix time of the log's first line
        """
        for sort in self._sorts.values():
            unseen = sort.shown_in_window and not sort.before and not sort.starting_only
            new = ("unknown" if cut or self._may_be_usual(sort, begun) else "yes") if unseen else ""
            attrs = {
                "template": sort.template, "count": str(sort.count), "emitter": self._emitter, "level": sort.level,
                "first": f"{sort.first:.3f}", "last": f"{sort.last:.3f}", "new": new, "phase": sort.phase,
            }  # fmt: skip
            kept = {key: value for key, value in attrs.items() if value}
            yield Event(sort.first, "residue", name_of(sort.template), sort.subject, kept, sort.text, self._source)

    def _may_be_usual(self, sort: _Sort, begun: float) -> bool:
        """Whether the log reaches back too little to miss lines in it: at their pace in the window less than one lay there.

        A log that begins within the window began with its emitter.
        """
        before, length = self._window.start - max(begun, self._window.baseline_start), self._window.end - self._window.start
        return before > 0.0 and sort.count * before < length

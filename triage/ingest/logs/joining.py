"""Lines that together are one event: a traceback, a panic, the dump of a crash."""

from collections.abc import Iterator
from dataclasses import field

from triage.classes import dataclass
from triage.ingest.logs.forms import Record, record_of
from triage.patterns import Pattern

MAX_LINES = 400
"""Lines of one traceback that are kept; a longer one ends there."""

_MAX_OPEN = 64
"""Threads whose tracebacks are followed at once."""

_MAX_MORE = 20
"""Lines without a head behind an exception that are taken for the rest of its message."""

HEADER = b"Traceback (most recent call last)"
_CHAIN = Pattern(rb"(?:During handling of the above exception|The above exception was the direct cause)")
_EXCEPTION = Pattern(rb"^([A-Za-z_][\w.]*)(?:\([^)]*\))?(?:: ?(.*))?$")
_NAMED = Pattern(rb"(?:Error|Exception|Warning|Interrupt|Exit|Timeout|Failure|Fault|OutOfMemory|Died|Cancelled)\w*$")
_RUST = Pattern(rb"^thread '[^']*'(?: \(\d+\))? panicked at (?:'(.*)', )?")
_GO = Pattern(rb"^(panic|fatal error): (.*)$")
_CPP = Pattern(rb"^terminate called after throwing an instance of '([^']+)'")
_JAVA = Pattern(rb"^(?:Exception in thread \"[^\"]*\" |Caused by: )([\w.$]+)(?:: (.*))?$")
_WHAT = Pattern(rb"^\s*what\(\):\s*(.*)$")
_FATAL = Pattern(rb"^Fatal Python error: (.*)$")
_STARTS = Pattern(
    rb"Traceback \(most recent call last|panicked at|panic: |fatal error: |terminate called after|Fatal Python error"
    rb"|Exception in thread"
)
_NATIVE = Pattern(
    rb"\([^()\s]*\+0x[0-9a-f]+\) ?\[0x[0-9a-f]+\]|^\s*(?:frame )?#\d+:? .*\b0x[0-9a-f]{6,}"
    rb"|^\s*@ +0x[0-9a-f]{6,} |^\s*\d+ +0x[0-9a-f]{6,} \S"
)
"""A frame of native code, as glibc, c10, gdb, glog and TensorRT-LLM print it."""
_SOURCE = Pattern(rb"^\S+\.(?:c|cc|cpp|cxx|cu|cuh|h|hpp):\d+:? +")
"""Where in its source a program ends itself, before its reason."""

_WRAPPER = Pattern(
    rb"(?i)\bsee\b.{0,40}\b(?:root cause|stack ?trace|traceback|above|logs?|error)\b|root cause (?:is )?above"
    rb"|(?:process|worker|engine|child|subprocess|server|rank)\w*\b.{0,60}\b(?:died|exited|terminated|failed to start)"
    rb"|not healthy|initiali[sz]ation failed|exit(?:ed)? (?:code|status)|SIGQUIT|cancelled"
    rb"|\b(?:communicator|process ?group)\b.{0,40}\b(?:was|is|been) (?:aborted|destroyed)"
)
_WRAPPER_NAMES = Pattern(
    rb"(?:^|\.)(?:SystemExit|CancelledError|KeyboardInterrupt|\w*DeadError|ChildFailedError|CalledProcessError)$"
)

_INTERRUPTIONS = frozenset({b"KeyboardInterrupt", b"CancelledError", b"GeneratorExit", b"SystemExit"})
"""What Python raises where a program is when a signal ends it; SIGTERM is mostly made a KeyboardInterrupt, too."""


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception as its last line gives it.

    :param frames: names of the functions above it, outermost first
    """

    name: bytes
    message: bytes = b""
    frames: tuple[bytes, ...] = ()

    @property
    def is_wrapper(self) -> bool:
        """It only says that something else went wrong."""
        return _WRAPPER_NAMES.search(self.name) is not None or _WRAPPER.search(self.message) is not None


@dataclass
class Trace:
    """A traceback as it grows.

    :param level: level of its first line, if it has one
    :param lines: lines as they stand in the log, with the time of each
    :param raised: its exceptions, in the order in which they were printed
    :param told: the line above it that says why, where the dump itself does not
    """

    time: float
    level: str = ""
    lines: list[bytes] = field(default_factory=list)
    raised: list[Raised] = field(default_factory=list)
    _state: str = "frames"
    told: bytes = b""
    _more: int = 0
    _frames: list[bytes] = field(default_factory=list)

    @property
    def cause(self) -> Raised | None:
        """Its last exception that is not merely a word about another one; the last of all if each is."""
        telling = [one for one in self.raised if not one.is_wrapper]
        raised = telling or self.raised
        return raised[-1] if raised else None

    @property
    def is_interruption(self) -> bool:
        """Nothing went wrong in the program: a signal from outside made it stop where it was."""
        names = [one.name.rpartition(b".")[2] for one in self.raised]
        return b"KeyboardInterrupt" in names and all(name in _INTERRUPTIONS for name in names)

    def takes(self, raw: bytes, record: Record) -> bool:
        """Whether a line of the same thread goes on with it; it is added, then."""
        if len(self.lines) >= MAX_LINES or not self._takes(record):
            return False
        self.lines.append(raw)
        return True

    def _takes(self, record: Record) -> bool:
        words = record.message
        if self._state == "native":
            return _NATIVE.search(words) is not None
        if not words.strip() or _CHAIN.search(words):
            return True
        if HEADER in words:
            return self._again()
        if words[:1] in b" \t|+":
            return self._inside(words)
        return self._raises(words) or self._goes_on(words, record)

    def _again(self) -> bool:
        """The next traceback of a chain; one that stands alone begins anew."""
        if self._state == "told" and self.lines and not any(_CHAIN.search(line) for line in self.lines[-3:]):
            return False
        self._state, self._more = "frames", 0
        self._frames = []
        return True

    def _inside(self, words: bytes) -> bool:
        """A frame, or the indented rest of a message."""
        what = _WHAT.search(words)
        if what is not None and self.raised:
            self.raised[-1] = Raised(self.raised[-1].name, what.group(1), self.raised[-1].frames)
            return True
        if b", in " in words and len(self._frames) < 60:
            self._frames.append(words.rpartition(b", in ")[2].strip())
        return True

    def _raises(self, words: bytes) -> bool:
        """The line that names the exception."""
        found = _EXCEPTION.search(words)
        if self._state != "frames" or found is None or not (_NAMED.search(found.group(1)) or self._frames):
            return False
        self.raised.append(Raised(found.group(1), (found.group(2) or b"").strip(), tuple(self._frames)))
        self._state, self._more = "told", 0
        return True

    def _goes_on(self, words: bytes, record: Record) -> bool:
        """The rest of a message over several lines: it has no head of its own."""
        if self._state == "plain":
            return record.bare and self._count()
        if not self.raised or not record.bare or not self._count():
            return False
        last = self.raised[-1]
        joined = last.message + b" " + words.strip() if last.message else words.strip()
        self.raised[-1] = Raised(last.name, joined[:2000], last.frames)
        return True

    def _count(self) -> bool:
        self._more += 1
        return self._more <= _MAX_MORE


def _begun(raw: bytes, record: Record, time: float) -> Trace | None:
    """The traceback that a line begins; None if it begins none."""
    words = record.message
    if HEADER in words:
        return Trace(time, record.level, [raw])
    for pattern, name in ((_GO, None), (_FATAL, b"Fatal Python error")):
        found = pattern.search(words)
        if found is not None:
            told = Raised(name or found.group(1), found.group(found.re.groups))
            return Trace(time, record.level, [raw], [told], "plain")
    found = _CPP.search(words) or _JAVA.search(words)
    if found is not None:
        return Trace(
            time, record.level, [raw], [Raised(found.group(1), (found.group(2) or b"") if found.re.groups > 1 else b"")], "plain"
        )
    found = _RUST.search(words)
    return (
        Trace(time, record.level, [raw], [Raised(b"panic", found.group(1) or b"")], "told" if not found.group(1) else "plain")
        if found
        else None
    )


def _dumped(reason: bytes, raw: bytes, time: float) -> Trace | None:
    """The stack that a native program prints as it ends itself: the line above says why; None if it says nothing."""
    record = record_of(reason)
    words = _SOURCE.sub(b"", record.message).strip()
    return Trace(time, record.level, [raw], [Raised(b"abort", words)], "native", reason) if words else None


class Joiner:
    """Puts the lines of tracebacks together, those of several threads apart."""

    def __init__(self) -> None:
        self._open: dict[str, Trace] = {}
        self._above = b""

    @property
    def is_open(self) -> bool:
        """Whether some traceback is not at its end."""
        return bool(self._open)

    def wants(self, body: bytes) -> bool:
        """Whether a line may belong to a traceback, so that its record is worth making."""
        return bool(self._open) or _STARTS.search(body) is not None or (b"0x" in body and _NATIVE.search(body) is not None)

    def pass_by(self, body: bytes) -> None:
        """Takes note of a line that is part of none: what a native stack below it is of."""
        self._above = body

    def feed(self, raw: bytes, record: Record, time: float) -> tuple[bool, list[Trace]]:
        """Takes a line; whether it is part of a traceback, and the tracebacks that ended with it."""
        thread = record.thread if not record.bare or record.thread else self._latest()
        current = self._open.get(thread)
        if current is not None and current.takes(raw, record):
            return True, []
        ended = [self._open.pop(thread)] if current is not None else []
        begun = _begun(raw, record, time)
        if begun is None and self._above and _NATIVE.search(record.message) is not None:
            begun, self._above = _dumped(self._above, raw, time), b""
        if begun is not None and len(self._open) < _MAX_OPEN:
            self._open[thread] = begun
        return begun is not None, ended

    def _latest(self) -> str:
        """The thread of a line without a head: the one that wrote last."""
        return next(reversed(self._open), "")

    def finish(self) -> Iterator[Trace]:
        """Tracebacks that the log's end cut off."""
        ended, self._open = list(self._open.values()), {}
        yield from ended

"""What the lines of one emitter mean: signatures, statements, tracebacks, and what is left unread."""

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache, partial
from math import inf
from typing import NamedTuple

from triage.ingest.logs.conjecture import CONJECTURE, without_guesses
from triage.ingest.logs.context import Owned
from triage.ingest.logs.engine_facts import recites_settings
from triage.ingest.logs.forms import record_of
from triage.ingest.logs.identities import IDENTITY, Identities
from triage.ingest.logs.joining import Trace
from triage.ingest.logs.keeping import Kept, Key
from triage.ingest.logs.loading import Signatures
from triage.ingest.logs.pairs import BEGINS, ENDS, Pairs
from triage.ingest.logs.redaction import redacted, redacted_bytes
from triage.ingest.logs.residue import FAILURE, STRONG, Residue, is_error_like
from triage.ingest.logs.shown.prompt import typed
from triage.ingest.logs.signatures import Match, Patterns, SignatureBook, unescaped
from triage.ingest.logs.statements import DECIDED_BY_VALUES, TROUBLE, Names, Statements
from triage.ingest.logs.templates import template_of
from triage.ingest.logs.tracebacks import fields_of, lines_of_code
from triage.model.recording import Event, Window
from triage.patterns import Pattern

KEEP_SAID = 12
"""Statements that are kept per class, template, subject and period: the first ones and the last."""

KEEP_COUNTED = 200
"""Counts are kept line by line: their course is what they tell."""

MAX_SAID = 400
"""Sorts of statements that are kept per log."""

MAX_SHAPES = 3000
"""Sorts of lines that are remembered per log, so that what is said again need not be understood again."""

_DIGITS = b"0123456789abcdefABCDEF"

_FIELD_LENGTH = 120


class Line(NamedTuple):
    """A line that is to be understood.

    :param about: whom it is about unless it names somebody itself
    :param phase: of an engine: ``starting`` or ``running``; empty if nobody knows
    :param marks: attributes that each of its events gets
    :param said: how many times it was said
    """

    text: bytes
    time: float
    about: Owned
    phase: str = ""
    marks: Mapping[str, str] = {}
    said: int = 1


class _Shape(NamedTuple):
    """What lines of one template have in common.

    :param classes: the statements that they may make
    :param telling: those of them that name their subject
    :param error_like: they tell of an error, by level or words
    :param fails: they name no level, and their words tell of a failure
    """

    template: str
    level: str
    classes: tuple[str, ...]
    telling: frozenset[str]
    error_like: bool
    fails: bool = False


class _Book(NamedTuple):
    """All that is looked for in a line, in one pass."""

    patterns: Patterns
    signatures: SignatureBook
    statements: Statements
    failure: int
    strong: int
    identity: int
    begins: int
    ends: int
    conjecture: int


@cache
def _book_of(told: Signatures) -> _Book:
    patterns = Patterns(told.lexicon)
    book = SignatureBook(told.lines, patterns)
    said = Statements(told.statements, told.harmless, patterns)
    found = _Book(patterns, book, said, *(patterns.add(one) for one in (FAILURE, STRONG, IDENTITY, BEGINS, ENDS, CONJECTURE)))
    patterns.compile()
    return found


class Meaning:
    """Takes the lines of one emitter and keeps what they mean, a bounded number of events of each sort.

    :param emitter: its kind
    :param source: name of the file
    :param pod: whose a pod is
    :param node: whose a node is
    :param names: knows the names of the recording
    :param topic: what the log is named after, where nobody knows who wrote it: its lines seldom say whose they are
    """

    def __init__(
        self,
        emitter: str,
        window: Window,
        source: str,
        signatures: Signatures,
        pod: Callable[[str], Owned],
        node: Callable[[str], Owned],
        names: Names,
        topic: str = "",
    ) -> None:
        self._emitter = emitter
        self._book = _book_of(signatures)
        self._topic = _topic_of(topic, self._book)
        self._source = source
        self._pod = pod
        self._node = node
        self._names = names
        self._matched = Kept(window)
        self._said = Kept(window, keep=KEEP_SAID, sorts=MAX_SAID)
        self._counted = Kept(window, keep=KEEP_COUNTED, sorts=MAX_SAID)
        self._residue = Residue(emitter, window, source)
        self._identities = Identities(emitter, window, source, names)
        self._pairs = Pairs()
        self._raised_before = False
        self._shapes: dict[tuple[bytes, bool], _Shape] = {}

    def read(self, line: Line, *, raised: bool = True) -> tuple[Match, ...]:
        """Takes a line; returns its signatures.

        :param raised: the line may itself state an exception, which those inside a traceback may not
        """
        text = unescaped(line.text)
        book = self._book
        keys = book.patterns.match(text)
        if book.conjecture in keys:
            text = without_guesses(text)
            keys = book.patterns.match(text)
        if not keys:
            return ()
        if book.identity in keys:
            self._identities.add(text, line.time, line.about.subject)
        if self._topic:
            told = self._topic + text
            matches = tuple(book.signatures.among(book.patterns.match(told), told, self._emitter))
        else:
            matches = tuple(book.signatures.among(keys, text, self._emitter))
        if matches and recites_settings(text):
            matches = tuple(match for match in matches if match.signature.role == "info")
        for match in matches:
            about = self._about(match, line)
            apart = tuple(match.groups.get(name, "") for name in match.signature.apart_by)
            key = Key("log", match.signature.id, about.subject, apart)
            self._matched.add(key, line.time, partial(self._log_event, match, line, about), line.said)
            self._raised_before = self._raised_before and match.signature.id != "engine-started"
        self._state(text, line, keys, matches, raised=raised)
        if raised:
            self._pair(line, keys, matches)
        return matches

    def read_trace(self, trace: Trace, lines: Collection[Line]) -> tuple[Match, ...]:
        """Takes the lines of a traceback, which together state what was raised; returns the signatures of all of them."""
        code = lines_of_code(trace)
        matches = tuple(match for line in lines if line.text not in code for match in self.read(line, raised=False))
        fields = fields_of(trace)
        line = next(iter(lines), None)
        if line is None or not fields:
            return matches
        last = trace.lines[-1]
        if not self._raised_before:
            self._raised_before = True
            fields["first"] = "yes"
        told = line._replace(text=_telling(trace) or last)
        record = record_of(told.text)
        shape = _Shape(template_of(redacted_bytes(record.message)), "error", ("raised",), frozenset(), error_like=True)
        self._keep_said("raised", fields, told, shape, matches)
        return matches

    # ------------------------------------------------------------ statements and residue

    def _state(self, text: bytes, line: Line, keys: Collection[int], matches: Collection[Match], *, raised: bool) -> None:
        """Keeps what a line states, or the line itself if it tells of an error in words that nothing reads."""
        statements, failure = self._book.statements, self._book.failure in keys
        if not (statements.wants(keys) or (failure and not matches)):
            return
        harmless = statements.is_harmless(text)
        shape = self._shape_of(text, line, keys, harmless=harmless)
        read = bool(matches) or not raised
        for name in shape.classes:
            if name == "raised" and not raised:
                continue
            if name in DECIDED_BY_VALUES:
                fields = statements.fields(name, text, self._names)
                if fields is None:
                    continue
                self._keep_said(name, fields, line, shape, matches)
                read = True
            else:
                self._keep_said(name, None, line, shape, matches)
                read = read or name in shape.telling
        if shape.error_like and not read:
            level = shape.level or _type_of_event(line.text)
            self._residue.add(shape.template, line.text, line.time, level, line.phase, line.about.subject)

    def _pair(self, line: Line, keys: Collection[int], matches: Collection[Match]) -> None:
        """Keeps that something took time, where one line said that it begins and this one says that it is done."""
        book = self._book
        if not {book.begins, book.ends} & set(keys):
            return
        record = record_of(line.text)
        message = record.message.decode("utf-8", "replace")
        took = self._pairs.ends(message, line.time) if book.ends in keys else None
        if took is not None:
            shape = _Shape(template_of(redacted(message)), record.level, ("slow",), frozenset(), error_like=False)
            self._keep_said(
                "slow", {"seconds": f"{took.seconds:g}", "what": took.what}, line._replace(time=took.began), shape, matches
            )
        elif book.begins in keys:
            self._pairs.begins(message, line.time)

    def _shape_of(self, text: bytes, line: Line, keys: Collection[int], *, harmless: bool) -> "_Shape":
        """What all lines have in common that differ only in digits (of hexadecimal numbers, too)."""
        rough = text.translate(None, _DIGITS), harmless
        shape = self._shapes.get(rough)
        if shape is None:
            if len(self._shapes) >= MAX_SHAPES:
                self._shapes.clear()
            shape = self._shapes[rough] = self._new_shape(text, line, keys, harmless=harmless)
        return shape

    def _new_shape(self, text: bytes, line: Line, keys: Collection[int], *, harmless: bool) -> "_Shape":
        book, record = self._book, record_of(line.text)
        classes = book.statements.classes(keys, text, harmless=harmless)
        telling = frozenset(
            name for name in classes if name not in DECIDED_BY_VALUES and book.statements.fields(name, text, self._names)
        )
        level = record.level or _LEVELS_OF_EVENTS.get(_type_of_event(line.text), "")
        bad = is_error_like(level, failure=book.failure in keys, strong=book.strong in keys) and not harmless
        if not text.startswith(b"#") and typed(text) is not None:  # behind a bare # stands a remark as often as a command
            bad, classes = False, tuple(name for name in classes if name == "acted")
        if bad and not is_error_like(level, failure=False, strong=False) and book.statements.is_handled(text):
            bad = False
            classes = tuple(name for name in classes if name != "raised")
        return _Shape(template_of(redacted_bytes(record.message)), record.level, classes, telling, bad, bad and not level)

    def _keep_said(
        self, name: str, fields: Mapping[str, str] | None, line: Line, shape: "_Shape", matches: Collection[Match] = ()
    ) -> None:
        """Keeps a statement.

        :param fields: its values; None if they are to be taken out of the line when the event is made
        """
        kept = self._counted if name == "counted" else self._said
        apart = () if name == "counted" else (shape.template,)
        key = Key("said", name, line.about.subject, apart)
        matched = tuple(one.signature.id for one in matches)
        kept.add(key, line.time, partial(self._said_event, name, fields, line, shape, matched), line.said)

    def _said_event(
        self, name: str, fields: Mapping[str, str] | None, line: Line, shape: "_Shape", signatures_: tuple[str, ...]
    ) -> Event:
        if fields is None:
            fields = self._book.statements.fields(name, without_guesses(unescaped(line.text)), self._names) or {}
        attrs = {
            **{key: redacted(value, _FIELD_LENGTH) for key, value in fields.items()},
            "emitter": self._emitter, "level": shape.level, "template": shape.template, "phase": line.phase,
            "signature": " ".join(signatures_), "fails": "yes" if shape.fails and name in TROUBLE else "", **line.marks,
        }  # fmt: skip
        told = {key: value for key, value in attrs.items() if value}
        return Event(line.time, "said", name, line.about.subject, told, redacted_bytes(line.text), self._source)

    # ------------------------------------------------------------ signatures

    def _about(self, match: Match, line: Line) -> Owned:
        if "pod" in match.groups:
            return self._pod(redacted(match.groups["pod"], 253))
        if "node" in match.groups:
            return self._node(redacted(match.groups["node"], 253))
        return line.about

    def _log_event(self, match: Match, line: Line, about: Owned) -> Event:
        """The event of a line with a signature."""
        signature = match.signature
        groups = {name: redacted(value, 200) for name, value in match.groups.items()}
        told = {
            "role": signature.role,
            "kinds": " ".join(signature.kinds),
            "severity": signature.severity,
            "emitter": self._emitter,
            "meaning": signature.meaning,
        }
        if signature.snapshot:
            told["snapshot"] = "yes"
        phase = {"phase": line.phase} if line.phase else {}
        marks = line.marks if about is line.about else _marks(about)
        return Event(
            line.time,
            "log",
            signature.id,
            about.subject,
            {**groups, **phase, **marks, **told},
            redacted_bytes(line.text),
            self._source,
        )

    # ------------------------------------------------------------ results

    def events(self, *, cut: bool = False, begun: float = -inf) -> Iterator[Event]:
        """All events; nothing more comes.

        :param cut: nobody can say what the emitter said before the window
        :param begun: Unix time of the log's first line
        """
        yield from self._matched.events()
        yield from self._said.events()
        yield from self._counted.events()
        yield from self._residue.events(cut=cut, begun=begun)
        yield from self._identities.events()


def _topic_of(name: str, book: _Book) -> bytes:
    """A log's name as a word before its lines; empty if it tells of trouble itself, which every line of it would, then."""
    told = name.encode()
    return told + b": " if told and book.failure not in book.patterns.match(told) else b""


def _marks(owned: Owned) -> dict[str, str]:
    """Attributes of somebody whom a line names: that it is a stranger."""
    return {"service": owned.service, "stranger": "yes"} if owned.stranger else {}


def _telling(trace: Trace) -> bytes:
    """The line of a traceback that names its cause."""
    cause = trace.cause
    if cause is None or trace.told:
        return trace.told
    whole = (line for line in reversed(trace.lines) if cause.name in line and cause.message[:40] in line)
    return next(whole, None) or next((line for line in trace.lines if cause.name in line), b"")


_LEVELS_OF_EVENTS = {"Normal": "info", "Warning": "warning"}

_EVENT = Pattern(rb"^(?:\S+ )?(Warning|Normal)\s+[A-Z]\w+\s")


def _type_of_event(line: bytes) -> str:
    """The type of an event of the cluster, which is its level; empty if the line is none."""
    found = _EVENT.match(line)
    return found.group(1).decode() if found is not None else ""

"""What stands around a program's words: wrappers of those who carry a line, and the head that the program itself writes.

Nothing here knows a program. A wrapper is taken off by its shape; a head is eaten token by token (stamp, level, file and line,
process, thread, logger) until what is left is the message.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import field
from functools import lru_cache
from typing import Any, NamedTuple

import re2

from triage.classes import dataclass
from triage.ingest.logs.timestamps import STAMP
from triage.patterns import Pattern

_DEPTH = 3
"""Wrappers within wrappers that are taken off: a collector's JSON around a runtime's line around a prefix."""

_MAX_FIELDS = 60


class Origin(NamedTuple):
    """Who a wrapper says wrote the line; what it does not say is empty.

    :param ident: name of the program, as syslog and the journal give it
    """

    pod: str = ""
    container: str = ""
    namespace: str = ""
    node: str = ""
    ident: str = ""


NOBODY = Origin()


class Unwrapped(NamedTuple):
    """A line without what others wrote around it.

    :param body: the program's own line
    :param stamp: the stamp of the outermost wrapper that has one; empty if none has
    """

    body: bytes
    stamp: bytes = b""
    origin: Origin = NOBODY


_ISO = rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)"
_NAME = rb"[a-z0-9][a-z0-9.-]*"
_MONTH_STAMP = rb"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d{1,6})?"
_PLAIN_STAMP = rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?|\d{10}\.\d{6}"

_SYSLOG = rb"^(?:<\d{1,3}>)?(" + _MONTH_STAMP + rb") (\w[\w.:-]*) ([\w./@-]{1,64})(?:\[\d+\])?: "


def _cri(found: Any) -> tuple[bytes, Origin]:
    """``2026-11-29T13:00:05.1Z stderr F``, and the stamp of ``kubectl logs --timestamps``."""
    return found.group(1), NOBODY


def _prefix(found: Any) -> tuple[bytes, Origin]:
    """``[pod/NAME/CONTAINER]`` of ``kubectl logs --prefix``."""
    return b"", _origin(b"", b"", found.group(1), found.group(2))


def _stern(found: Any) -> tuple[bytes, Origin]:
    """``pod container stamp``, as tools write it that follow many pods."""
    return found.group(3), _origin(b"", b"", found.group(1), found.group(2))


def _compose(found: Any) -> tuple[bytes, Origin]:
    """``container-1  |``."""
    return b"", _origin(b"", b"", b"", found.group(1))


def _syslog(found: Any) -> tuple[bytes, Origin]:
    """``Nov 29 13:00:05 host program[pid]:``, in any of the forms of syslog and journalctl."""
    groups = found.groups()
    return groups[0] + b" ", _origin(groups[1], next(one for one in groups[2:] if one is not None))


@lru_cache(maxsize=1024)
def _origin(node: bytes, ident: bytes, pod: bytes = b"", container: bytes = b"") -> Origin:
    return Origin(_text(pod), _text(container), "", _text(node), _text(ident).rpartition("/")[2])


_Take = Callable[[Any], tuple[bytes, Origin]]
_DIGIT: tuple[tuple[bytes, _Take], ...] = (
    (rb"^(" + _ISO + rb") std(?:out|err) [FP] ", _cri),
    (rb"^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7,9}(?:Z|[+-]\d\d:\d\d)) ", _cri),
    (rb"^(" + _PLAIN_STAMP + rb") (\w[\w.:-]*) (?:([\w./@-]{1,64})\[\d+\]|(kernel)): ", _syslog),
)
_LOWER: tuple[tuple[bytes, _Take], ...] = (
    (rb"^(" + _NAME + rb"-[a-z0-9]{1,10}) (?:\xe2\x80\xba )?([a-z0-9][a-z0-9-]{0,62}) (" + _ISO + rb") ", _stern),
    (rb"^([\w.-]{1,60}) +\| ", _compose),
)
_BRACKET: tuple[tuple[bytes, _Take], ...] = ((rb"^\[pod/(" + _NAME + rb")/([\w.-]{1,63})\] ?", _prefix),)
_ANGLE: tuple[tuple[bytes, _Take], ...] = (
    (rb"^<\d{1,3}>1 (" + _ISO + rb") (\S+) (\S+) \S+ \S+ (?:-|\[[^\]]*\]) ", _syslog),
    (_SYSLOG, _syslog),
)


def _compiled(wrappers: tuple[tuple[bytes, _Take], ...]) -> tuple[tuple[Callable[[bytes], Any], _Take], ...]:
    return tuple((re2.compile(pattern).match, take) for pattern, take in wrappers)


_BY_FIRST: dict[int, tuple[tuple[Callable[[bytes], Any], _Take], ...]] = {
    **dict.fromkeys(b"0123456789", _compiled(_DIGIT)),
    **dict.fromkeys(b"abcdefghijklmnopqrstuvwxyz", _compiled(_LOWER)),
    **dict.fromkeys(b"JFMASOND", _compiled(((_SYSLOG, _syslog),))),
    ord("["): _compiled(_BRACKET),
    ord("<"): _compiled(_ANGLE),
}
"""Wrappers by the first byte of the line: most lines have none, and that must cost next to nothing."""


def unwrap(line: bytes) -> Unwrapped:
    """The program's own line out of what runtimes, collectors and tools wrote around it."""
    body, stamp, origin = line, b"", NOBODY
    for _ in range(_DEPTH):
        inner = _from_json(body) if body[:1] == b"{" else _taken_off(body)
        if inner is None:
            break
        body, stamp = inner.body, stamp or inner.stamp
        if inner.origin.ident == "kernel":
            return Unwrapped(body, stamp, inner.origin if origin is NOBODY else _completed(origin, inner.origin))
        origin = inner.origin if origin is NOBODY else _completed(origin, inner.origin)
    return Unwrapped(body, stamp, origin)


def _taken_off(line: bytes) -> Unwrapped | None:
    """The line behind a wrapper that is no JSON; None if there is none."""
    for match, take in _BY_FIRST.get(line[0], ()) if line else ():
        found = match(line)
        if found is not None:
            stamp, origin = take(found)
            return Unwrapped(line[found.end() :], stamp, origin)
    return None


def _completed(outer: Origin, inner: Origin) -> Origin:
    return Origin(*(one or other for one, other in zip(outer, inner, strict=True)))


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")


# ---------------------------------------------------------------- JSON

_TIMES = ("@timestamp", "timestamp", "ts", "time", "asctime", "eventTime", "datetime", "date", "t", "@t", "__REALTIME_TIMESTAMP")
_LEVELS = ("level", "severity", "levelname", "lvl", "log.level", "loglevel", "log_level", "severity_text", "@l", "PRIORITY")
_MESSAGES = ("message", "msg", "log", "event", "textPayload", "MESSAGE", "body", "@m", "text", "short_message")
_COMPONENTS = ("logger", "component", "name", "target", "caller", "module", "logger_name", "source", "controller")
_CARRIERS = (
    "kubernetes",
    "stream",
    "jsonPayload",
    "textPayload",
    "MESSAGE",
    "resource",
    "_HOSTNAME",
    "container_name",
    "pod_name",
)
"""Entries by which a collector's record is told from a program's own."""


def json_object(line: bytes) -> dict[str, Any] | None:
    """The object that a line is; None if it is none."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def _from_json(line: bytes) -> Unwrapped | None:
    """The line that a collector put into an object, with what the object says of its origin; None for a program's own object."""
    if not any(b'"' + name.encode() + b'"' in line for name in _CARRIERS):
        return None
    record = json_object(line)
    if record is None:
        return None
    inside = record.get("jsonPayload")
    message = _first(inside if isinstance(inside, dict) else record, _MESSAGES)
    if isinstance(message, list):  # the journal writes bytes that are no text as numbers
        message = bytes(one for one in message if isinstance(one, int) and 0 <= one < 256).decode("utf-8", "replace")
    if not isinstance(message, str):
        return None
    return Unwrapped(_first_line(message), _stamp_of(record), _origin_of(record))


def _first_line(message: str) -> bytes:
    """A line's text; a record that holds several lines is kept on one."""
    return message.strip("\r\n").replace("\n", "\\n").encode()


def _stamp_of(record: Mapping[str, Any]) -> bytes:
    """The stamp of an object: text as it is, numbers as Unix seconds."""
    value = _first(record, _TIMES)
    if isinstance(value, str) and value.isdigit():
        value = float(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        seconds = float(value)
        for above, factor in ((1e17, 1e-9), (1e14, 1e-6), (1e11, 1e-3)):
            if seconds > above:
                seconds *= factor
        return f"{seconds:.6f} ".encode()
    return value.encode() if isinstance(value, str) else b""


def _origin_of(record: Mapping[str, Any]) -> Origin:
    labels = record.get("kubernetes")
    if not isinstance(labels, dict):
        resource = record.get("resource")
        labels = resource.get("labels") if isinstance(resource, dict) else None
    known = {**record, **(labels if isinstance(labels, dict) else {})}
    return Origin(
        _said(known, "pod_name", "pod"), _said(known, "container_name", "container"), _said(known, "namespace_name", "namespace"),
        _said(known, "node_name", "host", "_HOSTNAME", "hostname"), _said(known, "SYSLOG_IDENTIFIER", "_COMM"),
    )  # fmt: skip


def _said(record: Mapping[str, Any], *names: str) -> str:
    value = _first(record, names)
    return value[:253] if isinstance(value, str) else ""


def _first(record: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    """The first of these entries that says something; a dot in a name leads into a nested object if no entry is called so."""
    for name in names:
        value = record.get(name)
        if value is None and "." in name:
            outer, _, inner = name.partition(".")
            nested = record.get(outer)
            value = nested.get(inner) if isinstance(nested, dict) else None
        if value is not None and value != "":
            return value
    return None


# ---------------------------------------------------------------- records


@dataclass(frozen=True, slots=True)
class Record:
    """One line in the form that all lines are brought to.

    :param message: the program's words, indentation kept
    :param level: ``trace``, ``debug``, ``info``, ``warning``, ``error``, ``critical``; empty if the line names none
    :param component: logger, module, target or source file
    :param thread: process, rank or thread: lines of one thread follow each other, those of several are mixed
    :param fields: values by name, of JSON and of ``key=value``; nested names are joined by dots
    :param bare: the line has no head at all: neither stamp nor level nor file, so it may go on with the line before
    """

    message: bytes
    level: str = ""
    component: str = ""
    thread: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)
    bare: bool = False


_LEVEL_WORDS = {
    "trace": "trace", "trc": "trace", "verbose": "debug", "debug": "debug", "dbg": "debug", "d": "debug", "fine": "debug",
    "info": "info", "inf": "info", "information": "info", "i": "info", "notice": "info", "success": "info", "normal": "info",
    "warn": "warning", "warning": "warning", "wrn": "warning", "w": "warning",
    "error": "error", "err": "error", "e": "error", "severe": "error",
    "fatal": "critical", "ftl": "critical", "critical": "critical", "crit": "critical", "f": "critical", "c": "critical",
    "alert": "critical", "emerg": "critical", "emergency": "critical", "panic": "critical", "dpanic": "critical",
}  # fmt: skip
_NUMBERED = {10: "trace", 20: "debug", 30: "info", 40: "warning", 50: "error", 60: "critical"}
_SYSLOG_LEVELS = ("critical", "critical", "critical", "error", "warning", "info", "info", "debug")


def level_of(value: object) -> str:
    """The level that a word or a number (bunyan, pino; syslog's below 8) stands for; empty if it is none."""
    text = str(value).strip().lower()
    if text.isdigit():
        number = int(text)
        return _SYSLOG_LEVELS[number] if number < 8 else _NUMBERED.get(number // 10 * 10, "")
    return _LEVEL_WORDS.get(text, "")


_UPPER = "|".join(sorted({word.upper() for word in _LEVEL_WORDS if len(word) > 2}, key=lambda word: (-len(word), word))).encode()
_FILE_LINE = rb"[\w./-]+\.(?:py|cc|cpp|cu|cuh|c|h|hpp|go|rs|java|kt|ts|js):\d+"
_WORDS = b"(?:" + _UPPER + b")"
# A level may be padded to five letters, as Rust's tracing writes it.
_TOKENS: tuple[tuple[str, bytes], ...] = (
    ("stamp", rb"\[(?:" + STAMP + rb")(?:[ ,][\w.:-]{1,20}){0,6}\]:?"),
    ("stamp_2", b"(?:" + STAMP + rb")[\]>]?:?"),
    ("rank", rb"\[rank ?\d+\]:?"),
    ("process", rb"\([\w .:/-]{1,60}? pid=\d+[^()\n]{0,60}\)"),
    ("process_2", rb"\[[\w.:-]{1,60} pid=\d+\]"),
    ("process_3", rb"[\w.-]{1,60}:\d+:\d+ \[\d+\] "),
    ("level", rb" ?(?:NCCL )?" + _WORDS + rb"(?:\b:?| +\|)"),
    ("level_2", rb"\[ ?(?:(?i:" + _UPPER + rb")|[DIWEFC]) ?\]:?"),
    ("level_3", rb"[A-Za-z][\w .]{0,40}(?::| - )" + _WORDS + rb"(?::| -)"),
    ("file", rb"[\[(]?" + _FILE_LINE + rb"(?: ?\([\w<>.]+\))?[\])]?:?"),
    ("klog", rb" *(?:\d{1,8} +){0,2}" + _FILE_LINE + rb"\]"),
    ("tag", rb"\[(?:\d{1,10}|[A-Za-z][\w./ :-]{0,60})\]:?"),
    ("tag_2", rb"\([a-z][\w.-]{0,40}\) "),
    ("number", rb"\d+#\d+:"),
    ("dash", rb"[-|:,] "),
    ("logger", rb"\w[\w.-]*(?:::\w+)+(?:\{[^{}\n]{0,200}\})?: "),
    ("logger_2", rb"(?:[A-Za-z_]\w*\.)+[A-Za-z_]\w*(?: - |: )"),
)  # fmt: skip
_TOKEN = Pattern(b"(?:" + b"|".join(b"(?P<" + name.encode() + b">" + pattern + b")" for name, pattern in _TOKENS) + b")[ \\t]?")
_RAISED = ("error", "exception", "warning", "interrupt", "exit", "timeout", "failure", "fault")
"""Ends of a dotted name that is an exception and so the message's, not the name of a logger."""

_HEAD_TAG = Pattern(r"^\[(?:\d+|[a-z][\w.-]*)\]:?$")
"""A number or the name of a thread, which stand behind the level, too; other words in brackets there are the message's own."""

_TOKEN_NAMES = tuple(name.encode() for name, _ in _TOKENS)
_MAX_TOKENS = 12
_PAIR = Pattern(rb'(?:^|[\s,{(])([A-Za-z_@][\w.@/-]{0,60})=("(?:[^"\\]|\\.)*"|\[[^\]]*\]|[^\s",;)}]+)')


def record_of(body: bytes) -> Record:
    """The record of a line from which wrappers were taken off."""
    if body[:1] == b"{":
        known = json_object(body)
        if known is not None:
            return _of_object(known, body)
    if b"=" in body and _starts_with_pair(body):
        record = _of_pairs(body)
        if record is not None:
            return record
    return _of_text(body)


def _of_object(known: Mapping[str, Any], body: bytes) -> Record:
    message, level = _first(known, _MESSAGES), _first(known, _LEVELS)
    flat = dict(flattened(known))
    skipped = {*_TIMES, *_MESSAGES[:3], *_LEVELS}
    inner = str(message) if isinstance(message, str | int | float) else ""
    return Record(
        inner.encode() if inner else body,
        level_of(level) if isinstance(level, str | int) else "",
        _said(known, *_COMPONENTS)[:100],
        fields={key: value for key, value in flat.items() if key not in skipped},
    )


def flattened(value: Mapping[str, Any], before: str = "", room: int = _MAX_FIELDS) -> list[tuple[str, str]]:
    """Entries of nested objects by their joined names."""
    out: list[tuple[str, str]] = []
    for key, one in value.items():
        if len(out) >= room:
            break
        name = f"{before}{key}"[:120]
        if isinstance(one, dict):
            if before.count(".") < 4:
                out.extend(flattened(one, f"{name}.", room - len(out)))
        elif one is not None:
            out.append((name, one if isinstance(one, str) else json.dumps(one)))
    return out


_FIRST_PAIR = Pattern(rb"^(?:time|ts|t|timestamp|level|lvl|msg|logger|source|caller|component)=")


def _starts_with_pair(body: bytes) -> bool:
    return _FIRST_PAIR.search(body) is not None


def pairs_of(body: bytes) -> dict[str, str]:
    """``key=value`` with dots and hyphens in names and quotes around values."""
    found = ((_text(key), _text(value)) for key, value in _PAIR.findall(body)[:_MAX_FIELDS])
    return {key: value[1:-1].replace('\\"', '"') if value[:1] == '"' else value for key, value in found}


def _of_pairs(body: bytes) -> Record | None:
    pairs = pairs_of(body)
    message = next((pairs[name] for name in ("msg", "message", "event", "error", "err") if name in pairs), None)
    if message is None:
        return None
    component = next((pairs[name] for name in _COMPONENTS if name in pairs), "")
    level = next((pairs[name] for name in _LEVELS if name in pairs), "")
    skipped = {*_TIMES, *_LEVELS, "msg", "message"}
    return Record(message.encode(), level_of(level), component, fields={k: v for k, v in pairs.items() if k not in skipped})


_QUOTED = Pattern(rb'^"((?:[^"\\]|\\.)*)"((?: +[\w.@/-]+=.*)?)$')


def _unquoted(message: bytes) -> bytes:
    """A message that its program put into quotes, with the pairs behind it, as structured klog and Triton write it."""
    found = _QUOTED.search(message) if message[:1] == b'"' else None
    return message if found is None else found.group(1) + found.group(2)


def _of_text(body: bytes) -> Record:
    """A line of text: its head is eaten token by token."""
    level, component, thread, at = "", "", "", 0
    told = False  # the head is over when level or file were told and a tag follows that may be the message's own
    for _ in range(_MAX_TOKENS):
        found = _TOKEN.match(body, at)
        if found is None:
            break
        name = _TOKEN_NAMES[found.lastindex - 1]
        text = _text(found.group()).strip()
        if name.startswith(b"tag") and told and _HEAD_TAG.search(text) is None and body[at - 1 : at] != b"]":
            break
        if name == b"logger_2" and (not at or component or text.rstrip(":- ").lower().endswith(_RAISED)):
            break
        if name.startswith(b"level") and not level:
            level, told = level_of(_WORD.findall(text.strip("[]:|- "))[-1]), True
        elif name.startswith(b"stamp"):
            level = level or _level_in_stamp(text)
        elif name in {b"file", b"klog"} or name.startswith(b"logger"):
            component, told = component or text.strip("[]():- ").rpartition(" ")[2], True
        elif name.startswith((b"process", b"rank")):
            thread = f"{thread}{text}"[:120]
        at = found.end()
    message = _unquoted(body[at:]) if component else body[at:]
    fields: Mapping[str, str] = pairs_of(message) if b"=" in message else {}
    if at and b"\t" in message:
        component, message, fields = _of_columns(message, component)
    return Record(message, level, component, thread, fields, bare=at == 0)


def _of_columns(message: bytes, component: str) -> tuple[str, bytes, Mapping[str, str]]:
    """Logger, words and fields of ``logger<TAB>words<TAB>{json}``, as zap writes it for people."""
    columns = message.split(b"\t")
    known = json_object(columns[-1]) if columns[-1][:1] == b"{" else None
    words = columns[:-1] if known is not None else columns
    if len(words) > 1 and b" " not in words[0]:
        component, words = component or _text(words[0]), words[1:]
    return component, b" ".join(words), dict(flattened(known)) if known is not None else {}


_WORD = Pattern(r"[A-Za-z]+")
_LETTER = Pattern(r"[ ,]([DIWEFC])(?: \d+)*\]|(?:^|\[)([DIWEFC])\d{3,4} ")


def _level_in_stamp(text: str) -> str:
    """klog, glog, raylet and vLLM write the level with the stamp."""
    head = text.lstrip("[")
    word = head.split(" ", 1)[0]
    if word.isalpha():
        return level_of(word)
    found = _LETTER.search(text)
    if found is not None:
        return level_of(found.group(1) or found.group(2))
    return ""

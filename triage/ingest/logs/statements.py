"""What a line says in any program's words: a closed set of statements, recognised by their meaning, with their values.

The words are data (``statements.yaml``), as concepts. Values are taken by shape: an address, a duration in any unit, a name in
quotes, ``expected X got Y``, counts by group.
"""

from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

from triage.ingest.logs.durations import longest_in, unit
from triage.ingest.logs.signatures import Compiled, Concepts, Patterns, group_of, searched
from triage.model.recording import Subject
from triage.patterns import Pattern

CLASSES = (
    "unreachable", "unresolved", "denied", "limited", "exhausted", "timed-out", "slow", "lost", "overridden", "mismatch",
    "missing", "invalid", "counted", "acted", "command-failed", "killed", "raised", "stuck", "state",
)  # fmt: skip
"""All classes of statements."""

TROUBLE = frozenset(CLASSES) - {"slow", "overridden", "counted", "acted", "state"}
"""Classes that tell of trouble, so that a word of its absence (``0 errors``, ``recovered``) takes them back."""

Names = Callable[[str], Subject | None]


class Said(NamedTuple):
    """A statement of a line.

    :param name: its class
    :param fields: its values by name, as text
    """

    name: str
    fields: Mapping[str, str]


_ADDRESS = Pattern(
    rb"\b(\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}(?::\d{1,5})?)\b|\b((?:[A-Za-z][\w-]*\.)*[A-Za-z][\w-]*:\d{2,5})(?:[^\w.:]|$)|(\[[0-9a-fA-F:]+\]:\d+)"
)
_SOURCE = Pattern(rb"\.(?:py|cc|cpp|cu|h|hpp|go|rs|c|java|ts|js):\d+$")


def address_in(line: bytes) -> str:
    """The first address with a port, or of IPv4, that is no place in a source file; empty if there is none."""
    for groups in _ADDRESS.findall(line)[:_MAX_ADDRESSES]:
        found = next(one for one in groups if one)
        if _SOURCE.search(found) is None:
            return bytes(found).decode("ascii", "replace")
    return ""


_MAX_ADDRESSES = 20
_TIMED = frozenset({"timed-out", "slow", "stuck"})
_ADDRESSED = frozenset({"unreachable", "timed-out", "unresolved"})


class Statements:
    """Recognises statements.

    :param words: those of each class
    :param harmless: words that say that there is no trouble
    :param patterns: where their words are registered, to be looked for together with all others
    """

    def __init__(self, words: Mapping[str, Concepts], harmless: str, patterns: Patterns) -> None:
        self._classes = [(name, Compiled(f"statement {name}", words[name], patterns)) for name in CLASSES if name in words]
        self._named = dict(self._classes)
        self._of_key: dict[int, list[int]] = {}
        for number, (_, compiled) in enumerate(self._classes):
            for key in compiled.keys:
                self._of_key.setdefault(key, []).append(number)
        self._harmless = searched("statement harmless", group_of(harmless, patterns.lexicon))
        handled = patterns.lexicon.get("handled", "")
        self._handled = searched("handled", group_of(handled, patterns.lexicon)) if handled else None
        self._counts = patterns.add(_COUNTS)
        self._acts = patterns.add(_ACTS)

    def is_harmless(self, line: bytes) -> bool:
        """Whether a line says that there is no trouble, or none any more."""
        return self._harmless.search(line) is not None

    def is_handled(self, line: bytes) -> bool:
        """Whether a program says that it goes on without what failed (the lexicon's ``handled``)."""
        return self._handled is not None and self._handled.search(line) is not None

    def wants(self, keys: Collection[int]) -> bool:
        """Whether a line with these patterns may state something."""
        return any(key in self._of_key or key in (self._counts, self._acts) for key in keys)

    def classes(self, keys: Collection[int], line: bytes, *, harmless: bool) -> tuple[str, ...]:
        """The classes of a line whose patterns are known, in a fixed order, but for those that hang on its values."""
        candidates = sorted((number, key) for key in keys for number in self._of_key.get(key, ()))
        found: list[str] = []
        for number, key in candidates:
            name, compiled = self._classes[number]
            if name in found or (harmless and name in TROUBLE):
                continue
            if compiled.said_in(line, key):
                found.append(name)
        return (*found, *(("counted",) if self._counts in keys else ()), *(("acted",) if self._acts in keys else ()))

    def fields(self, name: str, line: bytes, names: Names) -> dict[str, str] | None:
        """The values of a statement; None if the line, looked at closely, does not state it.

        :param names: knows the names of the recording
        """
        if name == "counted":
            return counts_in(line) or None
        if name == "acted":
            return act_in(line, names) or None
        return _completed(name, self._named[name].fields(line), line)


DECIDED_BY_VALUES = frozenset({"slow", "lost", "mismatch", "counted", "acted"})
"""Classes of which lines of one template may or may not be: it hangs on their values."""

SLOW = 1.0
"""Seconds from which something that took time may be slow; what takes less is told all the time."""


def _completed(name: str, fields: dict[str, str], line: bytes) -> dict[str, str] | None:
    """The fields with those that are known by their shape; None if the statement needs one that is not there."""
    if name in _TIMED:
        seconds = longest_in(line)
        if seconds is not None:
            fields["seconds"] = f"{seconds:g}"
        if name == "slow" and (seconds is None or seconds < SLOW):
            return None
    if name == "timed-out" and (limit := _limit_in(line)) is not None:
        _say_how_early(fields, *limit)
    if name in _ADDRESSED:
        address = address_in(line)
        if address:
            fields["address"] = address
    if name == "mismatch" and not _differs(fields):
        return None
    return None if name == "lost" and fields.get("number") == "0" else fields


_NUMBERED = rb"[\"']?[=: (]+(\d+(?:\.\d+)?) ?(ms|msecs?|milliseconds?|s|secs?|seconds?|m|min|minutes?)?\b"
_LIMIT = Pattern(
    rb"(?i)\b(?:time ?-?_?out|deadline|limit)(?:[ _](?:passed|value|set|configured|of|was|is|seconds|secs?|ms|s))*" + _NUMBERED
)
_WAITED = Pattern(
    rb"(?i)\b(?:time[ _]taken|took|elapsed|waited|duration|after|latency)(?:[ _](?:seconds|secs?|ms|s))?" + _NUMBERED
)
"""How long somebody may wait, and how long he did, by their names."""

EARLY = 0.1
"""Chosen: who has waited for less than a tenth of his limit has not met it; clocks and their rounding differ by far less."""


def _limit_in(line: bytes) -> tuple[float, float] | None:
    """The seconds that a wait may take and those that it took; None if the line does not tell both."""
    limit, waited = _LIMIT.search(line), _WAITED.search(line)
    if limit is None or waited is None:
        return None
    most, told = (float(found.group(1)) * unit((found.group(2) or b"s").decode().lower()) for found in (limit, waited))
    return (most, told) if most > 0 else None


def _say_how_early(fields: dict[str, str], limit: float, waited: float) -> None:
    fields["limit"], fields["seconds"] = f"{limit:g}", f"{waited:g}"
    fields["early"] = "yes" if waited < EARLY * limit else "no"


def _differs(fields: Mapping[str, str]) -> bool:
    """Whether a mismatch names two things that differ, or what does not fit."""
    expected, got = fields.get("expected"), fields.get("got")
    if expected is None or got is None:
        return "what" in fields
    return expected != got


# ---------------------------------------------------------------- counts by group

_COUNTS = (
    r"\b(?:ok|pass(?:ed)?|success(?:es|ful)?|succeeded|fail(?:ed|ures?)?|errors?|mismatch\w*|bad|wrong|correct|timeouts?|dropped|exact_match"
    r"|aborted|total|checks|answers)[\"']?[=:] ?[\"']?\d+"
)
"""A field that counts something good, something bad, or both together."""

_FIELD = Pattern(rb"[\"']?([A-Za-z_][\w.-]*)[\"']?\s?[=:]\s?[\"']?([^\s,;\"'{}\[\]]+)")
_NUMBER = Pattern(rb"^\d+(?:\.\d+)?%?$")
_SHARE = Pattern(rb"^(\d+)/(\d+)$")
_GROUP_VALUE = Pattern(rb"^[A-Za-z][\w./:@-]{0,80}$")
_NO_GROUP = frozenset(
    {"level", "lvl", "severity", "msg", "message", "time", "ts", "timestamp", "logger", "caller", "id", "request_id"}
)
_TAKEN = frozenset({"count", "emitter", "phase", "template", "signature", "service", "stranger"})
"""Attributes that every event of a statement may have."""

_MAX_FIELDS = 24


def counts_in(line: bytes) -> dict[str, str]:
    """Counted fields of a line with the groups that they are of (``group.pool``); empty if it counts nothing twice.

    ``pass=56/60`` becomes ``pass`` and ``pass.of``.
    """
    counts: dict[str, str] = {}
    groups: dict[str, str] = {}
    for key, value in _FIELD.findall(line)[:_MAX_FIELDS]:
        name = key.decode("ascii", "replace").lower()
        name = f"field.{name}" if name in _TAKEN else name
        share = _SHARE.search(value)
        if share is not None:
            counts[name], counts[f"{name}.of"] = share.group(1).decode(), share.group(2).decode()
        elif _NUMBER.search(value):
            counts[name] = value.rstrip(b"%").decode()
        elif _GROUP_VALUE.search(value) and name not in _NO_GROUP:
            groups[f"group.{name}"] = value.decode()
    return {**counts, **groups} if len(counts) >= 2 else {}


# ---------------------------------------------------------------- who did what to whom

_ACTS = (
    r"\b(?:restart(?:ed|ing)|kill(?:ed|ing)|drain(?:ed|ing)|delet(?:ed|ing)|scal(?:ed|ing)|roll(?:ed|ing) ?back"
    r"|(?:un)?cordon(?:ed|ing)|evict(?:ed|ing)|terminat(?:ed|ing)|reboot(?:ed|ing)|recreat(?:ed|ing)|eject(?:ed|ing)|remov(?:ed|ing)|quarantin(?:ed|ing)"
    r"|reset(?:ting)?|promot(?:ed|ing)|patch(?:ed|ing)|paus(?:ed|ing)|stopp(?:ed|ing)|replac(?:ed|ing)|suspend(?:ed|ing)"
    r"|upgrad(?:ed|ing)|resiz(?:ed|ing)|disabl(?:ed|ing)|enabl(?:ed|ing)|detach(?:ed|ing)|mark(?:ed|ing)"
    r"|action[\"']?[=:] ?[\"']?\w+)\b"
)
_VERB = searched("statement acted", _ACTS)
_NAME = Pattern(
    rb"\b((?:GPU|MIG)-[0-9a-f]{8}-[0-9a-f-]{4,})|\b((?:pod|node|deployment|deploy|statefulset|replicaset|daemonset|job|service)s?/[\w.-]*\w)"
    rb"|\b([a-z][a-z0-9]*(?:-[a-z0-9]+)*-[0-9a-f]{6,10}-[a-z0-9]{5})\b|\b([A-Za-z][\w]*(?:[-.][\w]+)+)\b|\b([a-z]\w{2,40})\b"
)
"""What may name a target: a card, ``pod/NAME``, a pod by its form; the last two only if the recording knows the name."""

_BY_FORM = 3
_ACTOR = Pattern(rb"(?i)\b(?:by|actor|user|component|controller|logger|source)[\"']?[=: ]+[\"']?([A-Za-z][\w./@:-]*\w)")
_ACTION = Pattern(rb"(?i)^action")
_MAX_NAMES = 40


def act_in(line: bytes, names: Names) -> dict[str, str]:
    """Actor, verb and target of a deed; empty if its target is nothing that the recording knows, nor has the form of such a name.

    :param names: knows the names of the recording
    """
    verb = _VERB.search(line)
    target = _target(line, names) if verb is not None else ""
    if verb is None or not target:
        return {}
    word = verb.group().decode("ascii", "replace").lower()
    if _ACTION.search(verb.group()):
        word = word.replace('"', " ").replace("'", " ").replace("=", " ").replace(":", " ").split()[-1]
    actor = _ACTOR.search(line)
    who = actor.group(1).decode("utf-8", "replace") if actor is not None else ""
    return {"verb": word, "target": target} | ({"actor": who} if who and who != target else {})


def _target(line: bytes, names: Names) -> str:
    for groups in _NAME.findall(line)[:_MAX_NAMES]:
        number, name = next((number, one) for number, one in enumerate(groups) if one)
        text: str = name.decode("utf-8", "replace")
        if number < _BY_FORM or names(text) is not None:
            return text
    return ""

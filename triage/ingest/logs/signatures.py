"""What log lines mean: signatures of lines and the meaning of Xid codes. They are data; ``loading`` reads them.

A signature is written in concepts, not as one program's sentence: groups of alternatives that must all occur in a line, in any
order, any case and with anything between them. So it survives another version's wording, another prefix and a JSON wrapping.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import field
from functools import cached_property
from typing import Annotated, Any, Literal

import re2

from triage.classes import dataclass
from triage.errors import ConfigError
from triage.ingest.logs.durations import clock
from triage.model.checked import Checked, Such, spelt
from triage.patterns import Pattern

Role = Literal["cause", "consequence", "info"]
Severity = Literal["info", "warning", "critical"]

_ROLES: tuple[Role, ...] = ("cause", "consequence", "info")
_SEVERITIES: tuple[Severity, ...] = ("critical", "warning", "info")

_SET_MEMORY = 512 << 20
"""Limit for the automaton of all patterns together; it is built as lines are read and stays far below it."""

_FEW_LINES = 4096
"""Lines that are searched for words before patterns. The automaton of all patterns costs 0.12 s until it has seen 300 lines of an
engine, the words 0.065 s; where it stands it takes 2 microseconds a line instead of 11."""

GAP = r"[^a-zA-Z0-9\n]{0,3}"
"""What a blank in a concept stands for: ``out of memory`` is also ``OutOfMemory`` and ``out_of_memory``."""

_CLASSES = Pattern(r"(\[\^?\]?(?:\\.|[^\]\\])*\])")
"""Classes of characters, in which a blank is a blank."""

NAMED = Pattern(r"\{([a-z_]+)\}")
"""A concept of the lexicon in a group."""


@dataclass(frozen=True, kw_only=True)
class Concepts(Checked):
    """How a text says something.

    :param says: alternatives, in any of which all groups between ``&`` must occur, in any order; the first group is the rarest,
        it alone is looked for in every line. A group is RE2 without regard to case; a blank stands for any short gap,
        ``{name}`` for a concept of the lexicon
    :param pattern: RE2 without regard to case, for what only its very form proves (an Xid, an exact code)
    :param not_: a group; a line that has it, too, is not meant (``not`` in the file)
    :param fields: values to take out of the line, each by RE2 without regard to case: the first group of its own that took part
    """

    __pydantic_config__ = spelt(not_="not")

    says: tuple[str, ...] = ()
    pattern: str = ""
    not_: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Signature(Concepts):
    """One kind of line.

    :param id: name of the event that a line makes
    :param made_from: instead of concepts: lines of that signature become this one when their numbers say so
    :param emitters: kinds of emitter that can print it (``from`` in the file); any if empty. Who is unknown (``other``) may, too
    :param strict: the words are ambiguous, so that an emitter that is not known is not believed
    :param snapshot: it shows how things stood when somebody looked (a stack); when that came about nobody can say
    :param role: ``cause`` may be the first domino, a ``consequence`` follows from something before it, ``info`` is said in health
    :param kinds: failure kinds that it speaks for, most likely first
    :param apart_by: fields whose values are counted apart
    :param example: lines that match
    :param unlike: lines that look alike and must not match
    """

    __pydantic_config__ = spelt(not_="not", emitters="from")

    id: Annotated[str, Such(pattern=r"^[a-z0-9-]+$")]
    made_from: str = ""
    emitters: tuple[str, ...] = ()
    strict: bool = False
    snapshot: bool = False
    role: Role
    kinds: tuple[str, ...] = ()
    severity: Severity
    meaning: str
    source: str
    apart_by: tuple[str, ...] = ()
    example: tuple[str, ...] = ()
    unlike: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if bool(self.pattern or self.says) == bool(self.made_from):
            raise ValueError(f"signature {self.id}: give either what it says or made_from")

    def printed_by(self, emitter: str) -> bool:
        """Whether this kind of emitter can print it."""
        return not self.emitters or emitter in self.emitters or (emitter == "other" and not self.strict)


@dataclass(frozen=True, kw_only=True)
class XidCode(Checked):
    """What an Xid means.

    :param fault_class: who is to blame: a program, the driver, the hardware, an Xid before it, nobody (``class`` in the file)
    :param scope: what is lost
    """

    __pydantic_config__ = spelt(fault_class="class")

    name: str
    fault_class: Literal["app", "driver", "hardware", "follow-on", "info"]
    scope: Literal["nothing", "process", "gpu", "node", "vm", "unknown"]
    role: Role
    kinds: tuple[str, ...] = ()
    meaning: str
    action: str


@dataclass(frozen=True)
class Match:
    """A signature that a line has, with the values of its fields."""

    signature: Signature
    groups: Mapping[str, str]


# ---------------------------------------------------------------- concepts


class Patterns:
    """Many patterns, looked for in a line in one pass. Patterns are added, then :meth:`compile` is called once.

    The automaton of all patterns takes long to build and is fast then. The first lines are therefore searched for the words
    without which a pattern cannot match, and the few patterns whose words are there are tried one by one; both find the same.

    :param lexicon: concepts that the groups speak of
    """

    def __init__(self, lexicon: Mapping[str, str]) -> None:
        self.lexicon = lexicon
        self._few = re2.Filter()
        self._one = _without_case()
        self._lines = 0
        self._numbers: dict[str, int] = {}

    def add(self, pattern: str) -> int:
        """Number of a pattern; the same one for the same pattern.

        :raises ConfigError: it is no RE2
        """
        if pattern not in self._numbers:
            try:
                self._few.Add(pattern, self._one)
            except re2.error as error:
                raise ConfigError(f"the pattern {pattern!r} is not valid RE2: {error}") from error
            self._numbers[pattern] = len(self._numbers)
        return self._numbers[pattern]

    def compile(self) -> None:
        """No more patterns come."""
        self._few.Compile()

    def match(self, line: bytes) -> list[int]:
        """Numbers of the patterns that a line has."""
        self._lines += 1
        return (self._few if self._lines <= _FEW_LINES else self._all).Match(line) or []

    @cached_property
    def _all(self) -> Any:
        """All patterns in one automaton."""
        options = _without_case()
        options.max_mem = _SET_MEMORY
        found = re2.Set.SearchSet(options)
        for pattern in self._numbers:
            found.Add(pattern)
        found.Compile()
        return found


def group_of(words: str, lexicon: Mapping[str, str]) -> str:
    """RE2 of a group of concepts: blanks become gaps, names of the lexicon its words."""
    if "{" in words:
        words = NAMED.sub(lambda found: "(?:" + lexicon[found.group(1)] + ")", words)
    if "[" not in words:
        return words.replace(" ", GAP)
    return "".join(part if part[:1] == "[" else part.replace(" ", GAP) for part in _CLASSES.split(words))


def unescaped(line: bytes) -> bytes:
    """The line with the quotes and line ends of a text that some JSON wraps as they were in it."""
    return line.replace(b'\\"', b'"').replace(b"\\n", b" ") if b"\\" in line else line


def _without_case() -> Any:
    """Options for patterns of bytes in which case counts for nothing."""
    options = re2.Options()
    options.case_sensitive = False
    options.encoding = re2.Options.Encoding.LATIN1
    return options


def searched(name: str, pattern: str) -> Any:
    """A pattern to be searched without regard to case.

    :raises ConfigError: it is no RE2
    """
    options = _without_case()
    options.log_errors = False
    try:
        return re2.compile(pattern.encode(), options)
    except re2.error as error:
        raise ConfigError(f"{name}: the pattern is not valid RE2: {error}") from error


class Compiled:
    """Concepts, ready to be looked for. All but the rarest groups are compiled when a line is first asked for them.

    :param patterns: where the rarest group of each alternative is registered
    """

    def __init__(self, name: str, concepts: Concepts, patterns: Patterns) -> None:
        self._name = name
        self._concepts = concepts
        self._lexicon = patterns.lexicon
        self._rest: dict[str, Any] = {}
        self.keys: dict[int, list[tuple[str, ...]]] = {}
        for alternative in concepts.says:
            rarest, *rest = (group_of(group.strip(), patterns.lexicon) for group in alternative.split(" & "))
            self.keys.setdefault(patterns.add(rarest), []).append(tuple(rest))
        if concepts.pattern:
            self.keys.setdefault(patterns.add(concepts.pattern), []).append(())

    def _has(self, line: bytes, group: str) -> bool:
        """Whether a line has a group of concepts, which is compiled when that is first asked."""
        if group not in self._rest:
            self._rest[group] = searched(self._name, group)
        return self._rest[group].search(line) is not None

    @cached_property
    def _not(self) -> Any | None:
        return searched(self._name, group_of(self._concepts.not_, self._lexicon)) if self._concepts.not_ else None

    @cached_property
    def _fields(self) -> list[tuple[str, Any]]:
        return [(field, searched(self._name, pattern)) for field, pattern in self._concepts.fields.items()]

    def said_in(self, line: bytes, key: int) -> bool:
        """Whether a line that has the pattern of this number says it."""
        if not any(all(self._has(line, group) for group in rest) for rest in self.keys[key]):
            return False
        return self._not is None or self._not.search(line) is None

    def fields(self, line: bytes) -> dict[str, str]:
        """The values of the fields that the line holds."""
        found = {}
        for name, pattern in self._fields:
            match = pattern.search(line)
            value = next((one for one in match.groups() if one is not None), None) if match is not None else None
            if value is not None:
                found[name] = value.decode("utf-8", "replace").strip()
        return found


def _weight(signature: Signature) -> tuple[int, int, str]:
    """What puts signatures in one order, wherever they are written."""
    return _ROLES.index(signature.role), _SEVERITIES.index(signature.severity), signature.id


class SignatureBook:
    """All signatures together, found in a line in one pass however many they are; the order in which they come means nothing.

    :param patterns: where their patterns are registered; it is compiled by who made it, since others share the pass
    :raises ConfigError: a pattern is no RE2
    """

    def __init__(self, signatures: Iterable[Signature], patterns: Patterns) -> None:
        self.by_id = {one.id: one for one in sorted(signatures, key=_weight)}
        self._patterns = patterns
        self._searched = [one for one in self.by_id.values() if not one.made_from]
        self._compiled = [Compiled(f"signature {one.id}", one, self._patterns) for one in self._searched]
        self._of_key: dict[int, list[int]] = {}
        for number, one in enumerate(self._compiled):
            for key in one.keys:
                self._of_key.setdefault(key, []).append(number)

    def match(self, line: bytes, emitter: str) -> Iterator[Match]:
        """The signatures of a line that this kind of emitter can print: causes first, grave ones first, then by id."""
        line = unescaped(line)
        return self.among(self._patterns.match(line), line, emitter)

    def among(self, keys: Collection[int], line: bytes, emitter: str) -> Iterator[Match]:
        """As :meth:`match`, of a line whose patterns are known."""
        candidates = sorted((number, key) for key in keys for number in self._of_key.get(key, ()))
        last = -1
        for number, key in candidates:
            if number == last:
                continue
            signature, compiled = self._searched[number], self._compiled[number]
            if signature.printed_by(emitter) and compiled.said_in(line, key):
                last = number
                yield _refined(Match(signature, compiled.fields(line)), self.by_id)


# ---------------------------------------------------------------- lines whose numbers decide what they mean

_UNITS = {"k": 2.0**10, "m": 2.0**20, "g": 2.0**30}
_SIZE = Pattern(r"(?i)([\d.]+) ?([kmg])i?b")
_TAKEN_SHARE = 0.1
"""Share of a card that a context and a framework may take before anything is loaded: some 1.5 GiB, so 6 % of a small card."""


def _bytes(size: str) -> float:
    found = _SIZE.search(size)
    if found is None:
        raise ValueError(size)
    return float(found.group(1)) * _UNITS[found.group(2).lower()]


_MOSTLY = 0.6
"""With less than this share of what was asked for in its pieces, the allocator is not what is to blame."""

_HUGE = 0.05
"""Share of a card that one block of an ordinary step stays below: a chunk of 8192 tokens is some 128 MiB wide, a table of all
log-probabilities some gibibytes."""

_FOREIGN = 2.0**30
"""Memory of another process, in bytes, that is more than the context of a tool that only looks at the card."""


def _out_of_memory(groups: Mapping[str, str]) -> str:
    """Whose fault it is that no memory is left.

    Others hold it, if PyTorch names them beside this process (in a container it may list this process under a number, too: of two
    that are listed, one is not it), or if what is neither free nor this process's is a good part of the card: processes of other
    containers are not listed.
    It is fragmented, if the allocator holds as much unused memory as was asked for, or most of it with the rest free on the card:
    the sum would do, no single block does. A block that is huge for its card is what is wrong itself, unless the allocator alone
    has room for it.
    """
    if "own" in groups and "others" in groups and _bytes(groups["others"]) >= _FOREIGN:
        return "cuda-oom-foreign"
    if {"others", "second"} <= groups.keys() and min(_bytes(groups["others"]), _bytes(groups["second"])) >= _FOREIGN:
        return "cuda-oom-foreign"
    if {"own", "free", "total"} <= groups.keys():
        total = _bytes(groups["total"])
        if total - _bytes(groups["free"]) - _bytes(groups["own"]) >= _TAKEN_SHARE * total:
            return "cuda-oom-foreign"
    if "requested" in groups and "reserved" in groups:
        wanted, held = _bytes(groups["requested"]), _bytes(groups["reserved"])
        free = _bytes(groups["free"]) if "free" in groups else 0.0
        huge = "total" in groups and wanted >= _HUGE * _bytes(groups["total"])
        if held >= wanted or (not huge and held >= _MOSTLY * wanted and held + free >= wanted):
            return "cuda-oom-fragmented"
    return "cuda-oom"


def _not_enough_free(groups: Mapping[str, str]) -> str:
    """Occupied by others if more than a context's worth of the card was taken before the engine loaded a byte."""
    free, total = float(groups["free"]), float(groups["total"])
    return "startup-card-occupied" if free < (1.0 - _TAKEN_SHARE) * total else "startup-share-too-large"


_SLOW_SHARD = 60.0
"""Seconds for one shard of some 5 GiB: below 0.1 GiB/s, a tenth of what one stream from network storage brings."""

_SLUGGISH_SHARD = 30.0
"""Seconds for one shard that count once they have gone on for a long load's time: 0.16 GiB/s, still below any usual storage."""

_SLOW_RATE = 0.25
"""GiB/s of weights, below what any storage that serves models brings …"""

_LONG_LOAD = 120.0
"""… over at least so many seconds, so that a small model's fixed costs do not count."""

_ENDLESS_LOAD = 1200.0
"""Seconds that are too many for weights of any size: at a quarter of a GiB per second 300 GiB, at a usual rate a TiB."""


def slow_weights(groups: Mapping[str, str]) -> bool:
    """Whether a shard takes long, all comes at a fraction of any usual storage's rate, or it takes beyond measure.

    :param groups: ``seconds`` or ``elapsed``, ``gib`` in all, seconds ``per_shard``, as far as they are told
    """
    seconds = float(groups.get("seconds", 0.0)) or clock(groups.get("elapsed", ""))
    per_shard = float(groups.get("per_shard", 0.0))
    return (
        per_shard >= _SLOW_SHARD
        or (per_shard >= _SLUGGISH_SHARD and seconds >= _LONG_LOAD)
        or ("gib" in groups and seconds >= _LONG_LOAD and float(groups["gib"]) < _SLOW_RATE * seconds)
        or seconds >= _ENDLESS_LOAD
    )


_DECIDED_BY_NUMBERS: dict[str, Callable[[Mapping[str, str]], str]] = {
    "cuda-oom": _out_of_memory,
    "startup-share-too-large": _not_enough_free,
    "weights-loaded": lambda groups: "weights-slow" if slow_weights(groups) else "weights-loaded",
}


def _refined(match: Match, by_id: Mapping[str, Signature]) -> Match:
    """The match under the signature that its numbers decide on."""
    decide = _DECIDED_BY_NUMBERS.get(match.signature.id)
    if decide is None:
        return match
    try:
        return Match(by_id[decide(match.groups)], match.groups)
    except (ValueError, KeyError):
        return match

"""What log lines mean: signatures of lines and the meaning of Xid codes, both read from data files."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import re2
import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from triage.errors import ConfigError

Role = Literal["cause", "consequence", "info"]
Severity = Literal["info", "warning", "critical"]

_HERE = Path(__file__).resolve().parent
_SET_MEMORY = 256 << 20
"""Limit for the automaton of all patterns together; it is built as lines are read and stays far below it."""


class Signature(BaseModel):
    """One kind of line.

    :param id: name of the event that a line makes
    :param pattern: RE2, searched in the line; named groups become attributes; ``pod`` or ``node`` name whom it is about
    :param made_from: instead of a pattern: lines of that signature become this one when their numbers say so
    :param unless: RE2; a line that holds this, too, is not meant
    :param emitters: kinds of emitter that can print it (``from`` in the file); any if empty
    :param role: ``cause`` may be the first domino, a ``consequence`` follows from something before it, ``info`` is said in health
    :param kinds: failure kinds that it speaks for, most likely first
    :param apart_by: groups whose values are counted apart
    :param example: lines that match
    :param unlike: lines that look alike and must not match
    """

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    id: str = Field(pattern=r"^[a-z0-9-]+$")
    pattern: str = ""
    made_from: str = ""
    unless: str = ""
    emitters: tuple[str, ...] = Field(default=(), alias="from")
    role: Role
    kinds: tuple[str, ...] = ()
    severity: Severity
    meaning: str
    source: str
    apart_by: tuple[str, ...] = ()
    example: tuple[str, ...] = ()
    unlike: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _is_found_somehow(self) -> "Signature":
        if bool(self.pattern) == bool(self.made_from):
            raise ValueError(f"signature {self.id}: give either a pattern or made_from")
        return self


class XidCode(BaseModel):
    """What an Xid means.

    :param fault_class: who is to blame: a program, the driver, the hardware, an Xid before it, nobody (``class`` in the file)
    :param scope: what is lost
    """

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    name: str
    fault_class: Literal["app", "driver", "hardware", "follow-on", "info"] = Field(alias="class")
    scope: Literal["nothing", "process", "gpu", "node", "vm", "unknown"]
    role: Role
    kinds: tuple[str, ...] = ()
    meaning: str
    action: str


@dataclass(frozen=True)
class Match:
    """A signature that a line has, with the values of its named groups."""

    signature: Signature
    groups: Mapping[str, str]


class SignatureBook:
    """All signatures together, found in a line in one pass however many they are.

    :param signatures: the signatures, most important first
    :raises ConfigError: a pattern is no RE2
    """

    def __init__(self, signatures: tuple[Signature, ...]) -> None:
        self.by_id = {one.id: one for one in signatures}
        self._searched = [one for one in signatures if one.pattern]
        self._patterns = [_compiled(one.id, one.pattern) for one in self._searched]
        self._unless = [_compiled(one.id, one.unless) if one.unless else None for one in self._searched]
        options = re2.Options()
        options.max_mem = _SET_MEMORY
        self._set = re2.Set.SearchSet(options)
        for one in self._searched:
            self._set.Add(one.pattern)
        self._set.Compile()

    def match(self, line: bytes, emitter: str) -> Iterator[Match]:
        """The signatures of a line that this kind of emitter can print, in the order of the file."""
        numbers: list[int] = self._set.Match(line) or []
        for number in sorted(numbers):
            signature = self._searched[number]
            if signature.emitters and emitter not in signature.emitters:
                continue
            unless = self._unless[number]
            if unless is not None and unless.search(line):
                continue
            found = self._patterns[number].search(line)
            if found is None:
                continue
            yield _refined(Match(signature, _groups(found)), self.by_id)


def _compiled(name: str, pattern: str) -> Any:
    try:
        return re2.compile(pattern.encode())
    except re2.error as error:
        raise ConfigError(f"signature {name}: the pattern is not valid RE2: {error}") from error


def _groups(found: Any) -> dict[str, str]:
    """Named groups that took part in the match, as text."""
    values = ((name, found.group(number)) for name, number in found.re.groupindex.items())
    return {_attribute(name): value.decode("utf-8", "replace").strip() for name, value in values if value is not None}


def _attribute(group: bytes) -> str:
    """``node`` of the groups ``node``, ``node_2``, ``node_3``: RE2 allows each name only once."""
    name = group.decode()
    return name[:-2] if name[-2:-1] == "_" and name[-1:].isdigit() else name


# ---------------------------------------------------------------- lines whose numbers decide what they mean

_UNITS = {"KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30}
_TAKEN_SHARE = 0.1
"""Share of a card that a context and a framework may take before anything is loaded: some 1.5 GiB, so 6 % of a small card."""


def _bytes(size: str) -> float:
    number, _, unit = size.partition(" ")
    return float(number) * _UNITS[unit]


_MOSTLY = 0.6
"""With less than this share of what was asked for in its pieces, the allocator is not what is to blame."""

_FOREIGN = 2.0**30
"""Memory of another process, in bytes, that is more than the context of a tool that only looks at the card."""


def _out_of_memory(groups: Mapping[str, str]) -> str:
    """Whose fault it is that no memory is left.

    Others hold it, if PyTorch names them beside this process (in a container it may list this process under a number, too).
    It is fragmented, if the allocator holds as much unused memory as was asked for, or most of it with the rest free on the card:
    the sum would do, no single block does.
    """
    if "own" in groups and "others" in groups and _bytes(groups["others"]) >= _FOREIGN:
        return "cuda-oom-foreign"
    if "requested" in groups and "reserved" in groups:
        wanted, held = _bytes(groups["requested"]), _bytes(groups["reserved"])
        free = _bytes(groups["free"]) if "free" in groups else 0.0
        if held >= wanted or (held >= _MOSTLY * wanted and held + free >= wanted):
            return "cuda-oom-fragmented"
    return "cuda-oom"


def _not_enough_free(groups: Mapping[str, str]) -> str:
    """Occupied by others if more than a context's worth of the card was taken before the engine loaded a byte."""
    free, total = float(groups["free"]), float(groups["total"])
    return "startup-card-occupied" if free < (1.0 - _TAKEN_SHARE) * total else "startup-share-too-large"


_DECIDED_BY_NUMBERS: dict[str, Callable[[Mapping[str, str]], str]] = {
    "cuda-oom": _out_of_memory,
    "startup-share-too-large": _not_enough_free,
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


# ---------------------------------------------------------------- the data files


def _load(name: str) -> Any:
    with (_HERE / name).open("rb") as stream:
        return yaml.load(stream, Loader=yaml.CSafeLoader)


@cache
def signature_book() -> SignatureBook:
    """The shipped signatures.

    :raises ConfigError: the file is damaged
    """
    try:
        signatures = TypeAdapter(tuple[Signature, ...]).validate_python(_load("signatures.yaml"))
    except ValidationError as error:
        raise ConfigError(f"{_HERE / 'signatures.yaml'}: {error.errors()[0]['loc']}: {error.errors()[0]['msg']}") from error
    return SignatureBook(signatures)


@cache
def xid_codes() -> Mapping[str, XidCode]:
    """What each Xid means, by its code as text.

    :raises ConfigError: the file is damaged
    """
    try:
        codes = TypeAdapter(dict[int, XidCode]).validate_python(_load("xid.yaml"))
    except ValidationError as error:
        raise ConfigError(f"{_HERE / 'xid.yaml'}: {error.errors()[0]['loc']}: {error.errors()[0]['msg']}") from error
    return {str(code): meaning for code, meaning in codes.items()}

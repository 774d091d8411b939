"""Turns what pydantic says into sentences for people: which key, what was expected, what stands there."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Annotated

from triage.classes import dataclass
from triage.errors import UsageError
from triage.model.checked import Before, Such
from triage.model.stated import FACTS, OBJECTIVES, is_objective
from triage.sizes import size
from triage.timespan import duration

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

Path = tuple[str | int, ...]


def _seconds(value: object) -> object:
    """Seconds of a duration in text; a number is seconds already."""
    if not isinstance(value, str):
        return value
    try:
        return duration(value)
    except UsageError as error:
        raise ValueError(f"{error.message}; {error.hint}") from None


Seconds = Annotated[float, Before(_seconds)]
"""A duration in a file, as people type it: ``30m``, or seconds as a number."""


def _bytes(value: object) -> object:
    """Bytes of a size in text; a number is bytes already."""
    if not isinstance(value, str):
        return value
    try:
        return size(value)
    except UsageError as error:
        raise ValueError(f"{error.message}; {error.hint}") from None


Bytes = Annotated[int, Such(ge=0), Before(_bytes)]
"""A size in a file, as people type it: ``500MB``, or bytes as a number."""

_MISSPELT = 0.8
"""Likeness from which a name is taken for a misspelt one: one or two letters of ten are wrong."""

_PROMISES = f"known objectives: {', '.join(OBJECTIVES)}"
_OWN = "a fact for rules of your own needs a name that is less like it"

_QUOTED = re.compile(r"'([^']*)'|(\d+)")
_EXPECTED = {
    "float_type": "a number",
    "float_parsing": "a number",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "string_type": "text",
    "path_type": "a path",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "model_type": "a mapping",
    "dataclass_type": "a mapping",
    "dict_type": "a mapping",
    "list_type": "a list",
    "tuple_type": "a list",
}


@dataclass(frozen=True, slots=True)
class Complaint:
    """One thing wrong with a value.

    :param path: keys and indexes to the place
    :param on_key: the key itself is meant rather than its value
    :param text: what is wrong, without a final stop
    :param hint: what to write instead, or empty
    """

    path: Path
    text: str
    hint: str = ""
    on_key: bool = False


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with a file that a person wrote.

    :param line: from 1
    :param column: from 1
    :param text: what is wrong, without a final stop
    :param hint: what to write instead, or empty
    """

    path: FilePath
    line: int
    column: int
    text: str
    hint: str = ""

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}: {self.text}" + (f" ({self.hint})" if self.hint else "")


def faults_of(path: FilePath, data: bytes, told: Iterable[Complaint]) -> tuple[Fault, ...]:
    """Complaints in the order of their places; only a faulty file is parsed a second time for that."""
    from triage.yamltext import Marked

    marked = Marked(data.decode())
    places = [(marked.place(one.path, key=one.on_key), one) for one in told]
    return tuple(Fault(path, *place, one.text, one.hint) for place, one in sorted(places, key=lambda pair: pair[0]))


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A question that offers the nearest known word, or nothing if none is near."""
    from difflib import get_close_matches

    near = get_close_matches(word, sorted(known), n=1, cutoff=0.6)
    return f"did you mean {near[0]!r}?" if near else ""


def strange_names(objectives: Iterable[str], facts: Iterable[str]) -> list[Complaint]:
    """What is wrong with the names of objectives and facts that somebody states.

    An objective that nothing is held against is a mistake. A fact may be somebody's own; it is a mistake if it is nearly one that
    is read.
    """
    wrong = [
        Complaint(("objectives", name), f"the objective {_shown(name)} is not known", did_you_mean(name, OBJECTIVES) or _PROMISES)
        for name in objectives
        if not is_objective(name)
    ]
    near = [(name, _misspelt_fact(name)) for name in facts if name not in FACTS]
    return wrong + [
        Complaint(("facts", name), f"the fact {_shown(name)} is not known", f"did you mean {meant!r}? {_OWN}")
        for name, meant in near
        if meant
    ]


def _misspelt_fact(name: str) -> str:
    """The fact that a name nearly is; empty if it is none, or has a word more (``kv_offloading_size_gib``)."""
    from difflib import get_close_matches

    found = get_close_matches(name, sorted(FACTS), n=1, cutoff=_MISSPELT)
    return found[0] if found and not name.startswith(f"{found[0]}_") else ""


def complaints(error: ValueError, value: object, keys: Iterable[str] = ()) -> list[Complaint]:
    """What is wrong with a value, in the order of the checks.

    :param error: what pydantic complains of
    :param value: what was validated, as it was read
    :param keys: all keys that may stand anywhere in it, to offer the nearest one for a misspelt one
    """
    from pydantic import ValidationError

    assert isinstance(error, ValidationError)
    known = tuple(keys)
    grouped: dict[Path, list[ErrorDetails]] = {}
    for detail in error.errors(include_url=False):
        grouped.setdefault(_resolve(value, detail["loc"]), []).append(detail)
    return [
        one
        for path, details in grouped.items()
        if not _told_deeper(path, details, grouped)
        for one in _complaint(path, details, _at(value, path), known)
    ]


def _told_deeper(path: Path, details: "list[ErrorDetails]", grouped: Mapping[Path, object]) -> bool:
    """Whether all that is said here is that a mapping is no scalar, while another alternative got into the mapping."""
    deeper = any(len(other) > len(path) and other[: len(path)] == path for other in grouped)
    return deeper and all(_expected(detail) for detail in details)


def _resolve(value: object, loc: Sequence[str | int]) -> Path:
    """The part of pydantic's location that exists in the value: tags and names of alternatives are left out.

    A tag can look like a key: a condition tagged ``signal`` has a key ``signal``. It is a tag if the step after it leads
    on from where we are, and not from below it.
    """
    path: list[str | int] = []
    for step, following in zip_longest(loc, loc[1:]):
        child = _child(value, step)
        if child is _NOWHERE:
            continue
        if following is not None and _child(child, following) is _NOWHERE and _child(value, following) is not _NOWHERE:
            continue
        path.append(step)
        value = child
    return tuple(path)


_NOWHERE = object()


def _child(value: object, step: str | int) -> object:
    """The value one step below, or ``_NOWHERE``."""
    if isinstance(value, Mapping):
        return value.get(step, _NOWHERE)
    if isinstance(value, list | tuple) and isinstance(step, int) and 0 <= step < len(value):
        return value[step]
    return _NOWHERE


def _at(value: object, path: Path) -> object:
    """The value at a path that exists."""
    for step in path:
        value = _child(value, step)
    return value


def _complaint(path: Path, details: "list[ErrorDetails]", found: object, keys: Iterable[str]) -> list[Complaint]:
    """What is wrong at one place; the alternatives of a union become one sentence."""
    expected = [word for word in map(_expected, details) if word]
    if len(expected) == len(details) > 0:
        return [_wrong_kind(path, list(dict.fromkeys(expected)), found)]
    return [_single(path, detail, found, keys) for detail in details if not _expected(detail) and not _is_echo(detail, found)]


def _is_echo(detail: "ErrorDetails", found: object) -> bool:
    """Whether a list is called empty only because all its items were bad."""
    return detail["type"] == "too_short" and bool(found)


def _expected(detail: "ErrorDetails") -> str:
    """What should stand there, if that is what the error is about."""
    if detail["type"] in ("enum", "literal_error"):
        return str(detail["ctx"]["expected"])
    return _EXPECTED.get(detail["type"], "")


def _wrong_kind(path: Path, expected: list[str], found: object) -> Complaint:
    """A value of the wrong kind, or one that is not in a list of words."""
    words = [quoted or number for one in expected for quoted, number in _QUOTED.findall(one)]
    shown = _shown(found)
    if words:
        hint = did_you_mean(found, words) if isinstance(found, str) else ""
        return Complaint(path, f"{_name(path)} is {shown}, but must be one of {', '.join(words)}", hint)
    return Complaint(path, f"{_name(path)} must be {' or '.join(expected)}, not {shown}")


def _single(path: Path, detail: "ErrorDetails", found: object, keys: Iterable[str]) -> Complaint:
    """An error that stands for itself."""
    last = str(detail["loc"][-1]) if detail["loc"] else ""
    match detail["type"]:
        case "missing":
            return Complaint(path, f"the key {last!r} is missing", on_key=True)
        case "extra_forbidden" | "unexpected_keyword_argument":
            return Complaint(path, f"the key {_shown(last)} is not known here", did_you_mean(last, keys), on_key=True)
        case "too_short":
            return Complaint(path, f"{_name(path)} must not be empty")
        case "value_error":
            return Complaint(path, str(detail["ctx"]["error"]))
        case "condition":
            odd = [word for word in found if isinstance(word, str)] if isinstance(found, Mapping) else []
            return Complaint(path, detail["msg"], next((hint for word in odd if (hint := did_you_mean(word, keys))), ""))
        case _:
            return Complaint(path, f"{_name(path)}: {detail['msg']}")


def _name(path: Path) -> str:
    """How a sentence calls the value at a path."""
    if not path:
        return "this"
    if isinstance(path[-1], int):
        return f"item {path[-1] + 1} of {_name(path[:-1])}"
    return _shown(path[-1])


def _shown(value: object) -> str:
    """A value in a sentence: short, and without control characters."""
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    if value is None:
        return "empty"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"

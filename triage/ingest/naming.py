"""How metric names are read: which entry of which dialect a name belongs to, in all its spellings."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from triage.ingest.raw import RawSeries
from triage.model.dialect import Dialect, Entry
from triage.model.recording import Subject
from triage.model.vocabulary import Scope

GENERIC = re.compile(r"(process|python|http|go|container)_")
"""Names that every client library exports: they are read by the dialect of the target that they come from."""

_SUFFIXES = ("_bucket", "_sum", "_count")


@dataclass(frozen=True, slots=True)
class Use:
    """How a metric name is read: by which entry of which dialect, and how good the name is (0 is the newest)."""

    dialect: Dialect
    entry: Entry
    rank: int
    part: str = ""


Index = Mapping[str, tuple[Use, ...]]


@dataclass(slots=True)
class Group:
    """All series that make one signal of one subject."""

    use: Use
    subject: Subject
    parts: list[tuple[Use, RawSeries]] = field(default_factory=list)


Ways = dict[tuple[int, int], Group]
"""Ways to one signal of one subject: (order of the entry, rank of the name) -> its series."""


def index_names(dialects: Sequence[Dialect]) -> Index:
    """Metric name -> how it can be read."""
    found: dict[str, list[Use]] = {}
    for dialect in dialects:
        for entry in dialect.metrics:
            for rank, written in enumerate(entry.names):
                for spelling in spellings(written, dialect):
                    for name, part in _exposed(spelling, entry):
                        uses = found.setdefault(name, [])
                        if not any(use.entry is entry and use.part == part for use in uses):
                            uses.append(Use(dialect, entry, rank, part))
    return {name: tuple(uses) for name, uses in found.items()}


def spellings(name: str, dialect: Dialect) -> list[str]:
    """A name with each spelling of the dialect's prefix."""
    written = dialect.prefixes[0] if dialect.prefixes else ""
    if not written or not name.startswith(written):
        return [name]
    return [prefix + name[len(written) :] for prefix in dialect.prefixes]


def _exposed(name: str, entry: Entry) -> list[tuple[str, str]]:
    """The names under which an exposition shows a metric, with the part that each one is."""
    if entry.type == "histogram":
        return [(name + suffix, suffix[1:]) for suffix in _SUFFIXES]
    if entry.type == "counter":
        other = name.removesuffix("_total") if name.endswith("_total") else name + "_total"
        return [(name, ""), (other, "")]
    if entry.type == "info":
        return [(name, ""), (name.removesuffix("_info") if name.endswith("_info") else name + "_info", "")]
    return [(name, "")]


def is_engine_name(index: Index, name: str) -> bool:
    """Whether only engines export a metric of that name."""
    uses = index.get(name, ())
    return bool(uses) and not GENERIC.match(name) and all(use.dialect.scope is Scope.REPLICA for use in uses)

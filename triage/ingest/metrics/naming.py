"""How metric names are read: which entry of which dialect a name belongs to, in all its spellings."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from triage.classes import dataclass
from triage.ingest.raw import Layout, RawSeries
from triage.model.dialect import Dialect, Entry
from triage.model.recording import Subject
from triage.model.vocabulary import Scope, catalogue

GENERIC = re.compile(r"(process|python|http|go|container)_")
"""Names that every client library exports: they are read by the dialect of the target that they come from."""

OWN = "service"
"""Name of the dialect that holds the service's own metrics."""

_SUFFIXES = ("_bucket", "_sum", "_count")


@dataclass(frozen=True, slots=True)
class Use:
    """How a metric name is read.

    :param rank: how good the name is among those of its entry (0 is the best)
    :param part: of a distribution ``bucket``, ``sum`` or ``count``, else empty
    :param order: place of the entry among those of all dialects
    :param metric: the name that the entry means, without the suffix of its part
    """

    dialect: Dialect
    entry: Entry
    rank: int
    part: str = ""
    order: int = 0
    metric: str = ""


Index = Mapping[str, tuple[Use, ...]]


@dataclass(slots=True)
class Group:
    """All series that make one signal of one subject."""

    use: Use
    subject: Subject
    parts: list[tuple[Use, RawSeries]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Column:
    """The series of one metric that are read in one way, and whom each is about.

    :param layout: their labels and moments; columns of the same ones share it
    :param subjects: one a series; columns of the same layout and of dialects that know subjects alike share them
    """

    use: Use
    series: Sequence[RawSeries]
    layout: Layout
    subjects: tuple[Subject, ...]


Ways = dict[tuple[int, int], Group]
"""Ways to one signal of one subject: (order of the entry, rank of the name) -> its series."""


def index_names(dialects: Sequence[Dialect]) -> Index:
    """Metric name -> how it can be read, in the order of the dialects and their entries."""
    found: dict[str, list[Use]] = {}
    order = 0
    for dialect in dialects:
        for entry in dialect.metrics:
            for name, use in _uses(dialect, entry, order):
                uses = found.setdefault(name, [])
                if not any(other.entry is entry and (other.rank, other.part) == (use.rank, use.part) for other in uses):
                    uses.append(use)
            order += 1
    return {name: tuple(uses) for name, uses in found.items()}


def _uses(dialect: Dialect, entry: Entry, order: int) -> Iterator[tuple[str, Use]]:
    """The names under which an entry's metric can appear, the best first, and how each is read.

    Names of an entry are alternatives, of which the first is the best, or the parts of one thing; the spellings of a name are
    alternatives in either case.
    """
    rank = 0
    for written in entry.names:
        rank = 0 if entry.parts else rank
        for spelling in spellings(written, dialect):
            for names in _exposed(spelling, dialect, entry):
                for name, part in names:
                    yield name, Use(dialect, entry, rank, part, order, names[0][0].removesuffix(_SUFFIXES[0]))
                rank += 1


def spellings(name: str, dialect: Dialect) -> list[str]:
    """A name with each spelling of the dialect's prefix."""
    written = dialect.prefixes[0] if dialect.prefixes else ""
    if not written or not name.startswith(written):
        return [name]
    return [prefix + name[len(written) :] for prefix in dialect.prefixes]


def _exposed(name: str, dialect: Dialect, entry: Entry) -> list[list[tuple[str, str]]]:
    """The ways in which an exposition shows a metric; each is a list of names with the part that each one is."""
    if entry.count:
        counts = [(other, "count") for spelling in spellings(entry.count, dialect) for other in _totals(spelling)]
        return [[(total, "sum"), *counts] for total in _totals(name)]
    if entry.type == "histogram":
        return [[(name + suffix, suffix[1:]) for suffix in _SUFFIXES]]
    if entry.type == "counter":
        return [[(total, "")] for total in _totals(name)]
    if entry.type == "info":
        return [[(name, "")], [(name.removesuffix("_info") if name.endswith("_info") else name + "_info", "")]]
    return [[(name, "")]]


def _totals(name: str) -> list[str]:
    """A counter's name as it is written, and with or without ``_total``."""
    return [name, name.removesuffix("_total") if name.endswith("_total") else name + "_total"]


def speaker(index: Index, name: str) -> Scope | None:
    """Whose series the programs that export a metric tell; None if several kinds of program export it, or nobody known."""
    if GENERIC.match(name):
        return None
    uses = [use for use in index.get(name, ()) if use.dialect.name != OWN]
    alone = len({use.dialect.name for use in uses}) == 1
    scopes = {_tells(use) if alone else use.dialect.scope for use in uses}
    return scopes.pop() if len(scopes) == 1 else None


def _tells(use: Use) -> Scope:
    """Whose series a program tells by a metric that only programs of its kind have.

    What a gateway's language says of replicas without a label that names one is told by the replicas themselves: a serving
    framework has one language for its front end and its workers.
    """
    dialect, entry = use.dialect, use.entry
    scope = entry.scope or (catalogue()[entry.signal].scope if entry.signal else dialect.scope)
    own = dialect.scope is Scope.GATEWAY and scope is Scope.REPLICA and Scope.REPLICA not in dialect.identity
    return scope if own else dialect.scope


def is_engine_name(index: Index, name: str) -> bool:
    """Whether only engines export a metric of that name."""
    return speaker(index, name) is Scope.REPLICA

"""A dialect: the table from one source's own metric names and units to signals. Data, in YAML."""

from dataclasses import field
from typing import Annotated, Literal

from triage.classes import dataclass
from triage.model.checked import Before, Checked, Such
from triage.model.vocabulary import Combine, Kind, Scope, catalogue

Type = Literal["gauge", "counter", "histogram", "info"]


def _listed(value: object) -> object:
    """One name alone is a list of names."""
    return (value,) if isinstance(value, str) else value


@dataclass(frozen=True, kw_only=True)
class Entry(Checked):
    """How one metric of the source becomes one signal, or how the labels of an info metric become facts.

    :param names: the source's names of the quantity, newest first; the first that a subject has is taken.
        Written as in the exposition, without ``_bucket``, ``_sum`` and ``_count``. A counter is found with or without ``_total``.
    :param parts: the names are not alternatives but parts of one quantity, and all of them are combined
    :param type: how to read it. ``counter`` becomes a rate; ``histogram`` takes summaries, too (sum and count);
        ``info`` gives facts.
    :param signal: the signal that it becomes; empty for ``info``
    :param facts: of an info metric: label -> fact key
    :param value_fact: fact key that takes the metric's value (for limits that are plain gauges)
    :param where: label -> regular expression that the whole value must match (as ``=~`` in PromQL);
        a leading ``!`` turns it round
    :param scale: factor from the source's unit to the base unit
    :param offset: added after scaling (1 - x is scale -1, offset 1)
    :param combine: how several series of one subject make one value; the signal's own way if not said
    :param copies: labels that tell copies apart: series that differ in nothing else show the same thing, and the greatest counts
    :param count: of a mean that two counters make: the running number; ``names`` is then the running sum
    :param items: label that lists what is there, separated by commas: the signal is their number in the series with the
        greatest value (a time stamp)
    :param code: label that holds the Xid which a series counts: each rise is an event of that code, too
    :param one_if: the signal is 1 where the value equals this number (of a state metric), else 0
    :param bit: the signal is 1 where this bit mask has a bit in common with the value
    :param asked: label of what was asked for, with ``served`` the label of what answered: only series count in which somebody
        is answered by what usually answers others
    :param served: see ``asked``
    :param unknown: values by which the source says that it measures nothing (-1 while a feature is off)
    :param scope: whose signal it is, if not the signal's own scope
    :param note: a pitfall, for readers
    """

    names: Annotated[tuple[str, ...], Such(min_length=1), Before(_listed)]
    type: Type
    parts: bool = False
    signal: str = ""
    facts: dict[str, str] = field(default_factory=dict)
    value_fact: str = ""
    where: dict[str, str] = field(default_factory=dict)
    scale: float = 1.0
    offset: float = 0.0
    combine: Combine | None = None
    copies: tuple[str, ...] = ()
    count: str = ""
    items: str = ""
    code: str = ""
    one_if: float | None = None
    bit: int | None = None
    asked: str = ""
    served: str = ""
    unknown: tuple[float, ...] = ()
    scope: Scope | None = None
    note: str = ""

    def __post_init__(self) -> None:
        if not (self.signal or self.facts or self.value_fact):
            raise ValueError(f"{self.names[0]} becomes nothing: give it a signal, facts or value_fact")
        if self.signal and self.signal not in catalogue():
            raise ValueError(f"{self.names[0]}: no signal is called {self.signal}")
        if bool(self.asked) != bool(self.served):
            raise ValueError(f"{self.names[0]}: asked and served go together")
        if self.count and self.type != "histogram":
            raise ValueError(f"{self.names[0]}: a sum and a count make a mean, which is a histogram without buckets")
        if self.items and (self.type != "gauge" or not self.signal):
            raise ValueError(f"{self.names[0]}: items are counted of a gauge that becomes a signal")
        if self.signal and (self.type == "histogram") != (catalogue()[self.signal].kind is Kind.DISTRIBUTION):
            raise ValueError(f"{self.names[0]}: {self.signal} and type {self.type} do not go together")
        if self.signal and (self.type == "counter") != (catalogue()[self.signal].kind is Kind.RATE):
            raise ValueError(f"{self.names[0]}: {self.signal} and type {self.type} do not go together")


@dataclass(frozen=True, kw_only=True)
class Dialect(Checked):
    """One source's language.

    :param name: file stem, e.g. ``vllm``
    :param title: what people call the source
    :param scope: whose series these are by default (an engine's belong to replicas)
    :param prefixes: spellings of the common prefix; names in the table are written with the first one
    :param identity: labels that hold the id of a subject, by scope, best first; added before the usual ones
    :param jobs: regular expression of scrape job names that mark generic metrics (``process_*``, ``up``) as this source's
    :param engines: labels that tell several engines behind one target apart (data-parallel ranks, models): each is a replica
    :param core: metrics that every target of the source shows from its start on, each by a name of its entry; where most of
        them are there, one that is not there is missed
    :param unknown: values by which the source says, of whatever it measures, that it does not measure it
    """

    name: str
    title: str
    scope: Scope
    prefixes: tuple[str, ...] = ()
    identity: dict[Scope, tuple[str, ...]] = field(default_factory=dict)
    jobs: str = ""
    engines: tuple[str, ...] = ()
    core: tuple[str, ...] = ()
    unknown: tuple[float, ...] = ()
    metrics: tuple[Entry, ...]

    def __post_init__(self) -> None:
        known = {name for entry in self.metrics for name in entry.names}
        if strangers := sorted(set(self.core) - known):
            raise ValueError(f"core: no entry reads {strangers[0]}")

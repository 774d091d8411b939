"""What a source shows by itself and does not show here: an event for each metric of its core that a target never has."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field

from triage.classes import dataclass
from triage.ingest.metrics.conditions import matches
from triage.ingest.metrics.naming import Index, Use
from triage.ingest.owners.places import POD_LABELS, first
from triage.ingest.owners.subjects import Selection
from triage.ingest.raw import RawSeries
from triage.model.dialect import Dialect
from triage.model.recording import Event, Subject, Window

_PRESENT = 0.5
"""From this share of its core on a source is there as a whole: a dump of some chosen metrics misses nothing."""


@dataclass
class _Target:
    """What one target shows of one source.

    :param subject: whom it is about
    :param begin: when it was scraped first, Unix seconds
    """

    dialect: Dialect
    subject: Subject
    begin: float = float("inf")
    names: set[str] = field(default_factory=set)


def missing_cores(series: Iterable[RawSeries], index: Index, selection: Selection, window: Window) -> tuple[Event, ...]:
    """Events of kind ``metric``, name ``core-missing``; attributes are the dialect, the metric and the signal that it would be.

    A source is looked at where it shows at least half of its core. What ended
    is another thing: :mod:`triage.ingest.metrics.lifetimes`.
    """
    cores = _cores(index)
    events = (
        _event(one, metric, signal, window)
        for one in _targets(series, index, selection)
        for metric, signal in _missing(one, cores[one.dialect.name])
    )
    return tuple(sorted(events, key=lambda event: (str(event.subject), event.source, event.attrs["metric"])))


_Core = dict[str, tuple[str, frozenset[str]]]
"""Metric of a core -> the signal that it becomes, and all names under which it may appear."""


def _cores(index: Index) -> dict[str, _Core]:
    """The cores of the dialects that have one."""
    names: dict[tuple[str, str], set[str]] = {}
    signals: dict[tuple[str, str], str] = {}
    for name, uses in index.items():
        for use in uses:
            for metric in set(use.dialect.core).intersection(use.entry.names):
                names.setdefault((use.dialect.name, metric), set()).add(name)
                signals.setdefault((use.dialect.name, metric), use.entry.signal)
    cores: dict[str, _Core] = {}
    for (dialect, metric), found in names.items():
        cores.setdefault(dialect, {})[metric] = signals[dialect, metric], frozenset(found)
    return cores


def _targets(series: Iterable[RawSeries], index: Index, selection: Selection) -> list[_Target]:
    """What each target that is not another service's shows of each source that has a core."""
    found: dict[tuple[str, str, str], _Target | None] = {}
    places: dict[int, tuple[str, str]] = {}  # series of the same labels share them
    cored = {name: [use for use in uses if use.dialect.core] for name, uses in index.items()}
    for one in series:
        for dialect in _speakers(one, cored.get(one.name, ())):
            where = places.get(id(one.labels)) or places.setdefault(id(one.labels), _place(one.labels))
            place = dialect.name, *where
            if place not in found:
                subject = selection.target(one.labels)
                found[place] = _Target(dialect, subject) if subject else None
            if target := found[place]:
                target.names.add(one.name)
                target.begin = min(target.begin, float(one.times[0]))
    return [target for target in found.values() if target]


def _place(labels: Mapping[str, str]) -> tuple[str, str]:
    """The scrape target that labels name."""
    return labels.get("job", ""), labels.get("instance") or first(labels, POD_LABELS)


def _speakers(one: RawSeries, uses: Sequence[Use]) -> Iterator[Dialect]:
    """The dialects that read a series.

    :param uses: readings of its name, by dialects with a core
    """
    seen: set[str] = set()
    for use in uses:
        if use.dialect.name not in seen and matches(one.labels, use.entry):
            seen.add(use.dialect.name)
            yield use.dialect


def _missing(target: _Target, core: _Core) -> list[tuple[str, str]]:
    """Metrics of the core that a target lacks, and their signals; none of a target that shows but a part of its source."""
    missing = [(metric, signal) for metric, (signal, names) in core.items() if not names & target.names]
    return missing if len(missing) <= (1.0 - _PRESENT) * len(core) else []


def _event(target: _Target, metric: str, signal: str, window: Window) -> Event:
    """The event of one metric that one target lacks."""
    attrs = {"dialect": target.dialect.name, "metric": metric, "signal": signal}
    text = f"{target.dialect.title} does not show {metric}, which it has where nobody filters"
    time = min(max(target.begin, window.baseline_start), window.end)
    return Event(time, "metric", "core-missing", target.subject, attrs, text, target.dialect.name)

"""What a source shows by itself and does not show here: an event for each metric of its core that a target never has."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field

from triage.classes import dataclass
from triage.ingest.metrics.conditions import matches
from triage.ingest.metrics.naming import Index, Use
from triage.ingest.owners.places import POD_LABELS, first
from triage.ingest.owners.subjects import Selection
from triage.ingest.raw import Layout, Metric
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


def missing_cores(metrics: Iterable[Metric], index: Index, selection: Selection, window: Window) -> tuple[Event, ...]:
    """Events of kind ``metric``, name ``core-missing``; attributes are the dialect, the metric and the signal that it would be.

    A source is looked at where it shows at least half of its core. What ended
    is another thing: :mod:`triage.ingest.metrics.lifetimes`.
    """
    cores = _cores(index)
    events = (
        _event(one, metric, signal, window)
        for one in _targets(metrics, index, selection)
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


def _targets(metrics: Iterable[Metric], index: Index, selection: Selection) -> list[_Target]:
    """What each target that is not another service's shows of each source that has a core."""
    found: dict[tuple[str, str, str], _Target | None] = {}
    alike: dict[tuple[Layout, str], tuple[set[str], list[_Target]]] = {}

    def targets(dialect: Dialect, layout: Layout) -> list[_Target]:
        """The targets of some series that speak a dialect."""
        shown = []
        for labels, (begin, _) in zip(layout.labels, layout.spans, strict=True):
            place = dialect.name, *_place(labels)
            if place not in found:
                subject = selection.target(labels)
                found[place] = _Target(dialect, subject) if subject else None
            if target := found[place]:
                target.begin = min(target.begin, begin)
                shown.append(target)
        return shown

    for metric in metrics:
        for dialect, layout in _spoken(metric, [use for use in index.get(metric.name, ()) if use.dialect.core]):
            key = layout, dialect.name
            if key not in alike:
                alike[key] = set(), targets(dialect, layout)
            alike[key][0].add(metric.name)
    for names, shown in alike.values():
        for target in shown:
            target.names |= names
    return [target for target in found.values() if target]


def _place(labels: Mapping[str, str]) -> tuple[str, str]:
    """The scrape target that labels name."""
    return labels.get("job", ""), labels.get("instance") or first(labels, POD_LABELS)


def _spoken(metric: Metric, uses: Iterable[Use]) -> Iterator[tuple[Dialect, Layout]]:
    """The dialects that read series of a metric, and which these are.

    :param uses: readings of its name, by dialects with a core
    """
    by_dialect: dict[str, list[Use]] = {}
    for use in uses:
        by_dialect.setdefault(use.dialect.name, []).append(use)
    for some in by_dialect.values():
        if not all(use.entry.where for use in some):
            yield some[0].dialect, metric.layout
        elif series := [one for one in metric.series if any(matches(one.labels, use.entry) for use in some)]:
            yield some[0].dialect, Layout(series)


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

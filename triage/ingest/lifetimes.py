"""Metrics that end or change their name while their targets go on: events that no value can tell."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from triage.ingest.naming import Ways
from triage.model.dialect import Dialect, Entry
from triage.model.recording import Event, Window
from triage.model.vocabulary import Kind, Scope, catalogue

_LEAST_SILENCE = 180.0
"""A metric must be silent for this many seconds at the window's end to count as ended: scrapes fail now and then."""


@dataclass
class _Life:
    """When one spelling of a metric was seen."""

    name: str
    first: float
    last: float
    entry: Entry


@dataclass
class _Entry:
    """All spellings of one entry, by rank."""

    dialect: Dialect
    lives: dict[int, _Life] = field(default_factory=dict)


def metric_events(ways: Iterable[Ways], window: Window, step: float) -> tuple[Event, ...]:
    """Events of kind ``metric``: ``renamed`` (the old name ends, a newer one begins), ``gone`` (it ends, others of its source go on).

    Only sources that always show all their metrics are looked at: engines and cards. A gauge that exists only while something is
    the case (a state) ends by its nature.
    """
    entries = _entries(ways)
    end = max((life.last for entry in entries.values() for life in entry.lives.values()), default=window.end)
    end = min(end, window.end)
    silence = max(_LEAST_SILENCE, 6 * step)
    events: list[Event] = []
    for one in entries.values():
        if one.dialect.scope not in (Scope.REPLICA, Scope.GPU):
            continue
        events += _renamed(one, end, silence) or _gone(one, entries, end, silence)
    return tuple(
        sorted((e for e in events if e.time >= window.baseline_start), key=lambda e: (e.time, e.name, e.attrs["metric"]))
    )


def _entries(ways: Iterable[Ways]) -> dict[int, _Entry]:
    """First and last time of every spelling of every entry."""
    found: dict[int, _Entry] = {}
    for slots in ways:
        for group in slots.values():
            for use, one in group.parts:
                entry = found.setdefault(id(use.entry), _Entry(use.dialect))
                first, last = float(one.times[0]), float(one.times[-1])
                life = entry.lives.setdefault(use.rank, _Life(use.entry.names[use.rank], first, last, use.entry))
                life.first, life.last = min(life.first, first), max(life.last, last)
    return found


def _renamed(one: _Entry, end: float, silence: float) -> list[Event]:
    """The event of an old name that ended while a newer one of the same quantity began and goes on."""
    old = max(one.lives)
    new = min(one.lives)
    older, newer = one.lives[old], one.lives[new]
    if old == new or older.last > end - silence or newer.last < end - silence or newer.first < older.first + silence:
        return []
    attrs = {"metric": older.name, "successor": newer.name, "signal": older.entry.signal}
    text = f"{older.name} ended, {newer.name} began"
    return [Event(older.last, "metric", "renamed", attrs=attrs, text=text, source=one.dialect.name)]


def _gone(one: _Entry, entries: Mapping[int, _Entry], end: float, silence: float) -> list[Event]:
    """The event of a metric that ended while its source's other metrics go on."""
    last = max(life.last for life in one.lives.values())
    life = one.lives[min(one.lives)]
    if last > end - silence or not life.entry.signal or catalogue()[life.entry.signal].kind is Kind.STATE:
        return []
    siblings = [other for other in entries.values() if other.dialect is one.dialect and other is not one]
    going_on = sum(max(life.last for life in other.lives.values()) > end - silence for other in siblings)
    if going_on * 2 < len(siblings) or not siblings:
        return []
    attrs = {"metric": life.name, "signal": life.entry.signal}
    return [
        Event(
            last,
            "metric",
            "gone",
            attrs=attrs,
            text=f"{life.name} ended while others of {one.dialect.title} go on",
            source=one.dialect.name,
        )
    ]

"""Metrics that end or change their name while their targets go on: events that no value can tell."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import field

from triage.classes import dataclass
from triage.ingest.metrics.conditions import matches
from triage.ingest.metrics.naming import Column, Use
from triage.ingest.raw import RawSeries
from triage.model.recording import Event, Subject, Window
from triage.model.vocabulary import Kind, Scope, catalogue

_LEAST_SILENCE = 180.0
"""A metric must be silent for this many seconds at the window's end to count as ended: scrapes fail now and then."""

_EXPECTED = 10.0
"""A counter is missed only if it would have counted this much by now: a child of a counter is made when it first counts, so after
a restart one that counts errors is not there for a while."""


@dataclass
class _Life:
    """When something was seen.

    :param growth: how much a counter grew in that time
    """

    first: float
    last: float
    growth: float = 0.0

    def extend(self, first: float, last: float) -> None:
        """Takes note of a series."""
        self.first = min(self.first, first)
        self.last = max(self.last, last)


@dataclass
class _Metric:
    """All that was seen of one entry: the lives of its names, and of the whole at each subject."""

    use: Use
    names: dict[tuple[int, str], _Life] = field(default_factory=dict)
    subjects: dict[Subject, _Life] = field(default_factory=dict)

    @property
    def counts(self) -> bool:
        """Whether it is there only once it has counted something."""
        return self.use.entry.type in {"counter", "histogram"}

    @property
    def comes_and_goes(self) -> bool:
        """Whether it is there only while something is the case: a state, a list, or a gauge of one kind of things."""
        entry = self.use.entry
        of_a_kind = not self.counts and not matches({}, entry)
        return of_a_kind or bool(entry.items) or catalogue()[entry.signal].kind is Kind.STATE

    @property
    def name(self) -> str:
        """Its best name that was seen."""
        return min(self.names)[1]


Metrics = Collection[_Metric]


def metric_events(columns: Sequence[Column], window: Window, step: float) -> tuple[Event, ...]:
    """Events of kind ``metric``: ``renamed`` (the old name ends, a newer one goes on), ``gone`` (it ends, and its targets go on).

    Only sources that always show all their metrics are looked at: engines and cards. What is there only while something is the
    case ends by its nature.
    """
    by_dialect: dict[str, list[Column]] = {}
    for column in columns:
        if column.use.dialect.scope in (Scope.REPLICA, Scope.GPU):
            by_dialect.setdefault(column.use.dialect.name, []).append(column)
    lasts = [column.layout.span[1] for some in by_dialect.values() for column in some]
    end = min(max(lasts, default=window.end), window.end)
    silence = max(_LEAST_SILENCE, 6 * step)
    events: list[Event] = []
    for some in by_dialect.values():
        if not _has_ended(some, end - silence):
            continue
        family = _metrics(some)
        lives = _lives(family)
        for one in family:
            events += list(_renamed(one, end, silence)) or list(_gone(one, family, lives, end, silence))
    kept = (event for event in events if event.time >= window.baseline_start)
    return tuple(sorted(kept, key=lambda event: (event.time, event.name, event.attrs["metric"], event.attrs["signal"])))


def _has_ended(columns: Iterable[Column], since: float) -> bool:
    """Whether a name of a metric is silent since a moment; if none is, none was renamed and none is gone."""
    last: dict[tuple[int, int, str], float] = {}
    for column in columns:
        name = column.use.order, column.use.rank, _name(column)
        last[name] = max(last.get(name, column.layout.span[1]), column.layout.span[1])
    return any(moment <= since for moment in last.values())


def _metrics(columns: Iterable[Column]) -> list[_Metric]:
    """What was seen of every entry."""
    found: dict[int, _Metric] = {}
    for column in columns:
        use = column.use
        metric = found.get(use.order) or found.setdefault(use.order, _Metric(use))
        name = use.rank, _name(column)
        (metric.names.get(name) or metric.names.setdefault(name, _unseen())).extend(*column.layout.span)
        for one, (first, last), subject in zip(column.series, column.layout.spans, column.subjects, strict=True):
            whole = metric.subjects.get(subject) or metric.subjects.setdefault(subject, _unseen())
            whole.extend(first, last)
            if metric.counts and use.part in {"", "count"}:
                whole.growth += _growth(one)
    return [found[order] for order in sorted(found)]


def _name(column: Column) -> str:
    """The name that a column's entry means."""
    return column.use.metric or column.series[0].name


def _unseen() -> _Life:
    """The life of what was not seen yet."""
    return _Life(float("inf"), float("-inf"))


def _growth(one: RawSeries) -> float:
    """How much a counter grew, about."""
    if one.rate:
        return float(one.values.mean() * (one.times[-1] - one.times[0]))
    return max(0.0, float(one.values[-1] - one.values[0]))


def _lives(family: Metrics) -> dict[Subject, _Life]:
    """From when to when subjects show anything of a dialect."""
    lives: dict[Subject, _Life] = {}
    for metric in family:
        for subject, life in metric.subjects.items():
            whole = lives.setdefault(subject, _Life(life.first, life.last))
            whole.first, whole.last = min(whole.first, life.first), max(whole.last, life.last)
    return lives


def _renamed(one: _Metric, end: float, silence: float) -> Iterator[Event]:
    """The event of an old name that ended while a newer one of the same quantity, which began later, goes on."""
    (_, new), newer = min(one.names.items(), key=lambda item: item[0])
    (_, old), older = max(one.names.items(), key=lambda item: item[0])
    if old == new or older.last > end - silence or newer.last < end - silence or newer.first < older.first + silence:
        return
    attrs = {"metric": old, "successor": new, "signal": one.use.entry.signal}
    yield Event(older.last, "metric", "renamed", attrs=attrs, text=f"{old} ended, {new} began", source=one.use.dialect.name)


def _gone(one: _Metric, family: Metrics, lives: dict[Subject, _Life], end: float, silence: float) -> Iterator[Event]:
    """The event of a metric that ended everywhere, while targets of its source, which ought to show it, go on without it."""
    signal, since = one.use.entry.signal, end - silence
    last = max(life.last for life in one.subjects.values())
    if last > since or one.comes_and_goes:
        return
    left = [subject for subject, life in lives.items() if life.last >= since and _is_missed(one, subject, lives, end, silence)]
    alike = [other for other in family if other is not one and other.use.entry.signal == signal]
    if not left or any(_shows(other, left, since) for other in alike) or not _others_go_on(one, family, left, since):
        return
    title = one.use.dialect.title
    text = f"{one.name} ended while others of {title} go on"
    yield Event(last, "metric", "gone", attrs={"metric": one.name, "signal": signal}, text=text, source=one.use.dialect.name)


def _is_missed(one: _Metric, subject: Subject, lives: dict[Subject, _Life], end: float, silence: float) -> bool:
    """Whether a living subject ought to show a metric by now: it did so before, or it follows on others that always did."""
    own = one.subjects.get(subject)
    usual = own or max(one.subjects.values(), key=lambda other: other.last)
    begun = own.last if own else lives[subject].first
    if end - begun < silence or not (own or _always_shown(one, lives, begun - silence, silence)):
        return False
    rate = usual.growth / max(usual.last - usual.first, 1.0)
    return not one.counts or rate * (end - begun) >= _EXPECTED


def _always_shown(one: _Metric, lives: dict[Subject, _Life], before: float, silence: float) -> bool:
    """Whether every subject that began before a moment showed a metric all its life."""
    elders = {subject: life for subject, life in lives.items() if life.first <= before}
    shown = {subject: one.subjects[subject] for subject in elders if subject in one.subjects}
    whole = all(
        life.first <= elders[who].first + silence and life.last >= elders[who].last - silence for who, life in shown.items()
    )
    return bool(elders) and len(shown) == len(elders) and whole


def _shows(one: _Metric, subjects: Collection[Subject], since: float) -> bool:
    """Whether any of some subjects shows a metric until the end."""
    return any(one.subjects[subject].last >= since for subject in subjects if subject in one.subjects)


def _others_go_on(one: _Metric, family: Metrics, subjects: Collection[Subject], since: float) -> bool:
    """Whether most of the other metrics of its sort go on at these subjects."""
    others = [other for other in family if other is not one and other.counts == one.counts]
    going_on = sum(_shows(other, subjects, since) for other in others)
    return going_on * 2 > len(others)

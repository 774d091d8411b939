"""Signals out of the series that make them: rates, distributions, units, and what cannot be true."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate, compress
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from triage.classes import dataclass
from triage.ingest.metrics.finding import Finder, Made, metric_of
from triage.ingest.metrics.naming import Column, Group, Use, Ways
from triage.ingest.metrics.rates import (
    STALENESS_STEPS,
    Samples,
    bucket_rates,
    combined,
    goes_backwards,
    greatest,
    sample_step,
    since_absence,
    to_rates,
    within_buckets,
)
from triage.ingest.raw import Metric, RawSeries
from triage.model.arrays import distinct
from triage.model.dialect import Entry
from triage.model.recording import (
    Chosen,
    Event,
    Floats,
    Histogram,
    HistogramPanel,
    Origin,
    Panel,
    Series,
    SideBySide,
    Subject,
    gathered,
    gathered_histograms,
)
from triage.model.vocabulary import Combine, Kind, Scope, Signal, catalogue

_TOLERANCE = 0.02
"""A ratio may be this much above 1: exporters round, and rates of two counters are not taken at one instant."""

_OFF = -1.0
"""Where a ratio would stand, exporters print this while the feature is off: prefix caching, speculation, a card's sensor."""

_SLIPS = 0.1
"""Up to this share of a series' samples may be out of range by a slip; more of them, and all of it is mistaken."""

_REACH = 120.0
"""Two names that end within these seconds of each other reach equally far: targets are scraped at different moments."""

_MOST_BITS = 2.0**53
"""A bit mask above this has lost bits as a floating-point number."""

_NAMED = 3
"""So many subjects are named in a message."""

_MOST_DIGITS = 4
"""No engine holds so many adapters that their number has more; a longer one is a name."""

_PROGRAMS = (Scope.REPLICA, Scope.GATEWAY, Scope.CLIENT)
"""Dialects of these scopes are spoken by programs that count from their own start."""

_BY_SCRAPER = ("up", "scrape_")
"""Begin of the names of what the scraper says of a target, whether it was reached or not."""

_START, _CREATED = "process_start_time_seconds", "_created"
"""Gauges of when a process, or one of its metrics, began."""

_EARLIEST = 1e9
"""A start before this moment (2001) is no time."""

_Target = tuple[str, str]


class Assembler:
    """Turns groups of series into signals and keeps what was strange.

    :param metrics: all series of the source, of other services, too
    :param step: usual distance of samples, seconds
    """

    def __init__(self, metrics: Sequence[Metric], step: float) -> None:
        self._company, self._finder = _Company(metrics), Finder(metrics)
        self._done = Made()
        self._panels: list[Panel] = []
        self._subjects: dict[tuple[Subject, ...], tuple[Subject, ...]] = {}
        self._ordered: dict[tuple[Subject, ...], tuple[list[int], bool]] = {}
        self._lone: list[Series] = []
        self._spread: list[HistogramPanel] = []
        self._lone_histograms: list[Histogram] = []
        self._step = step
        self._faults: dict[tuple[str, str], dict[Subject, str]] = {}
        self._events: dict[tuple[str, Subject], tuple[float, str, str, str]] = {}

    def add(self, columns: Iterable[Column]) -> None:
        """Makes each signal of each subject; those of one entry that are made of alike series are made side by side."""
        by_signal: dict[str, list[Column]] = {}
        for column in columns:
            by_signal.setdefault(column.use.entry.signal, []).append(column)
        for some in by_signal.values():
            if len(some) == 1 and self._is_plain(some[0]):
                self._add_column(some[0])
            else:
                self._add_groups(_ways_of(some))

    def _is_plain(self, column: Column) -> bool:
        """Whether a column has one series of each subject, whose samples count."""
        entry = column.use.entry
        is_number = entry.type != "histogram" and not entry.items and not any(one.rate for one in column.series)
        return is_number and self._in_order(column.subjects)[1]

    def _in_order(self, subjects: tuple[Subject, ...]) -> tuple[list[int], bool]:
        """Places of subjects in their order, and whether each is there once."""
        if subjects not in self._ordered:
            order = sorted(range(len(subjects)), key=subjects.__getitem__)
            self._ordered[subjects] = order, len(set(subjects)) == len(subjects)
        return self._ordered[subjects]

    def _add_column(self, column: Column) -> None:
        """Signals of one series each."""
        order, _ = self._in_order(column.subjects)
        use = column.use
        for places in _alike([column.series[place].times for place in order]):
            rows = [(use, column.series[order[place]], column.subjects[order[place]]) for place in places]
            self._add_block(rows)

    def _add_groups(self, signals: Iterable[Ways]) -> None:
        """Signals of several series each, or to which there are several ways."""
        plain: dict[tuple[int, _Rows], list[Group]] = {}
        for ways in signals:
            group, rows = _only(ways), None
            if group is not None:
                rows = _rows_of(group)
            if group is None or rows is None:
                self._add(ways)
            else:
                plain.setdefault((id(group.use.entry), rows), []).append(group)
        for (_, rows), groups in plain.items():
            groups.sort(key=attrgetter("subject"))
            for places in _alike([group.parts[0][1].times for group in groups]):
                alike = [groups[place] for place in places]
                if rows:
                    self._add_distributions(alike, rows)
                else:
                    self._add_block([(*group.parts[0], group.subject) for group in alike])

    def _add_block(self, rows: "Sequence[_Row]") -> None:
        """Signals of one entry, each of one series, all read at the same moments; one in which anything is odd by itself."""
        use, first, _ = rows[0]
        times = first.times
        values = np.stack([one.values for _, one, _ in rows])
        odd = np.zeros(len(rows), dtype=bool)
        if use.entry.type == "counter":
            growth = np.diff(values)
            odd = np.array([len(times) < 2 or not self._goes_on([one], use) for _, one, _ in rows]) | (growth < 0).any(axis=1)
            times, values = times[1:], growth / np.diff(times)
        for none in _none_values(use):
            odd |= (values == none).any(axis=1)
        signal = catalogue()[use.entry.signal]
        values = _flags(values, use.entry) * use.entry.scale + use.entry.offset
        odd |= ((values < signal.low) | (values > signal.high)).any(axis=1)
        for row in compress(rows, odd.tolist()):
            self._add(_ways(_group_of(row)))
        plain = list(compress(rows, (~odd).tolist())) if odd.any() else rows
        if plain:
            read = partial(_chosen, values[~odd] if odd.any() else values)
            subjects = self._whom(tuple([subject for _, _, subject in plain]))
            origins = _Origins(self._finder, len(plain), partial(_group_at, plain))
            self._panels.append(Panel(signal.name, use.dialect.name, subjects, times, read, origins))

    def _add_distributions(self, groups: Sequence[Group], rows: "_Rows") -> None:
        """Distributions of one entry, all read at the same moments in the same buckets; one in which anything is odd alone.

        :param rows: part and bound of each of a group's series
        """
        use, times = groups[0].use, groups[0].parts[0][1].times
        growth = np.diff(np.array([[one.values for _, one in group.parts] for group in groups]))
        odd = np.array([not self._goes_on([one for _, one in group.parts], use) for group in groups])
        odd |= (growth < 0).any(axis=(1, 2))
        times, rates = times[1:], growth / np.diff(times)
        place = {row: number for number, row in enumerate(rows)}
        of_bound = {bound: number for (part, bound), number in place.items() if part == "bucket"}
        of_bound.setdefault(np.inf, place.get(("count", np.inf), -1))
        bounds = sorted(of_bound)
        inside, below_zero = within_buckets(times, rates[:, [of_bound[bound] for bound in bounds]])
        odd |= below_zero
        for group in compress(groups, odd.tolist()):
            self._add(_ways(group))
        plain = list(compress(groups, (~odd).tolist()))
        if plain:
            sums = place.get(("sum", np.inf))
            told = np.full((len(groups), len(times)), np.nan) if sums is None else rates[:, sums] * use.entry.scale
            subjects = self._whom(tuple([group.subject for group in plain]))
            read = partial(_both_chosen, inside[~odd], told[~odd])
            scaled = np.array(bounds) * use.entry.scale
            origins = _Origins(self._finder, len(plain), plain.__getitem__)
            self._spread.append(HistogramPanel(use.entry.signal, use.dialect.name, subjects, times, scaled, read, origins))

    def _whom(self, subjects: tuple[Subject, ...]) -> tuple[Subject, ...]:
        """Subjects; panels of the same ones share them as one object, so that these are placed once."""
        return self._subjects.setdefault(subjects, subjects)

    def _goes_on(self, series: Sequence[RawSeries], use: Use) -> bool:
        """Whether running totals, all at the same moments, are there from the first scrape on."""
        return use.dialect.scope not in _PROGRAMS or all(self._company.of_program(one) is None for one in series)

    def _add(self, ways: Ways) -> None:
        """Makes one signal of one subject of the best way that gives it.

        What the entry's other names say of the time before is put in front: a rename does not begin a signal anew.
        """
        for key, group in _by_merit(ways, max(_REACH, STALENESS_STEPS * self._step)):
            made = self._made(group)
            if made is None:
                continue
            elders = [other for (order, _), other in sorted(ways.items()) if order == key[0] and other is not group]
            for elder in elders:
                if _begin(elder) < made.times[0] and (before := self._made(elder)) is not None:
                    made = _continued(before, made)
                    made = replace(made, origin=replace(made.origin, plain=False))
            if isinstance(made, Series):
                self._lone.append(made)
            else:
                self._lone_histograms.append(made)
            return

    @property
    def series(self) -> SideBySide[Series]:
        """All signals that are no distributions, by signal and subject."""
        return gathered(self._panels, self._lone)

    @property
    def histograms(self) -> SideBySide[Histogram]:
        """All distributions, by signal and subject."""
        return gathered_histograms(self._spread, self._lone_histograms)

    @property
    def rejected(self) -> dict[str, str]:
        """Signals of which nothing is left because their readings are broken, with the reason."""
        found = (self._panels, self._lone, self._spread, self._lone_histograms)
        left = {one.signal for made in found for one in made}
        return {signal: _sentence(why, told) for (signal, why), told in sorted(self._faults.items()) if signal not in left}

    @property
    def faults(self) -> tuple[Event, ...]:
        """The same as events of kind ``metric``, for those who judge instruments: ``falls``, ``below-zero``, ``beyond-range``.

        Each is stamped with the first reading that cannot be.
        """
        return tuple(
            Event(when, "metric", name, subject, {"signal": signal}, f"{says}{why}", "metrics")
            for (signal, subject), (when, name, says, why) in sorted(self._events.items())
        )

    @property
    def problems(self) -> list[str]:
        """What was strange, one sentence for each kind, with the subjects that it was seen at."""
        return [_sentence(why, told) for (_, why), told in sorted(self._faults.items())]

    def _fault(self, group: Group, says: str, why: str, name: str, when: float) -> None:
        """Notes what is wrong with a signal of a subject: what it says, why that cannot be, and since when."""
        self._events.setdefault((group.use.entry.signal, group.subject), (when, name, says, why))
        self._faults.setdefault((group.use.entry.signal, why), {})[group.subject] = says

    def _made(self, group: Group) -> Series | Histogram | None:
        """The signal of one group; None if there is nothing, or nothing that can be true."""
        self._done = Made()
        if group.use.entry.type == "histogram":
            return self._histogram(group)
        return self._series(group)

    def _series(self, group: Group) -> Series | None:
        entry = group.use.entry
        times, values = self._items(group) if entry.items else self._values(group)
        if not len(times):
            return None
        times, values = self._in_range(group, times, values * entry.scale + entry.offset)
        origin = self._finder.origin(group, self._done)
        return Series(entry.signal, group.subject, times, values, origin) if len(times) else None

    def _values(self, group: Group) -> Samples:
        """Combined samples of the group in the source's unit."""
        entry = group.use.entry
        counter = entry.type == "counter"
        found = self._rates(group) if counter else [_Piece(use, one, one.times, one.values) for use, one in group.parts]
        measured = [_measured(piece) for piece in found]
        if any(one is not other for one, other in zip(measured, found, strict=True)):
            self._done = replace(self._done, plain=False)
        found = measured
        pieces = [replace(piece, values=_flags(piece.values, entry)) for piece in found if len(piece.times)]
        if not pieces:
            return np.empty(0), np.empty(0)
        how = entry.combine or catalogue()[entry.signal].combine
        return _together(pieces, how, entry.copies, rates=counter, staleness=self._staleness(group))

    def _staleness(self, group: Group) -> float:
        """Seconds for which a sample of the group speaks: some targets are scraped more seldom than others."""
        if len(group.parts) == 1:
            return STALENESS_STEPS * self._step
        _, longest = max(group.parts, key=lambda part: len(part[1].times))
        return STALENESS_STEPS * max(self._step, sample_step(longest.times))

    def _items(self, group: Group) -> Samples:
        """How many things the label of the newest series lists, at each time."""
        pieces = [_Piece(use, one, one.times, one.values) for use, one in group.parts]
        counts = np.array([_count_items(piece.one.labels.get(group.use.entry.items, "")) for piece in pieces], dtype=float)
        parts = [(piece.times, piece.values) for piece in pieces]
        times, index = greatest(parts, self._staleness(group), _scrapes(pieces))
        return times, counts[index]

    def _rates(self, group: Group) -> list["_Piece"]:
        """The group's running totals as rates; none if one of them is no running total."""
        steady = self._steady_rates(group)
        if steady is not None:
            return steady
        if any(not one.rate and goes_backwards(one.times, one.values, self._step) for _, one in group.parts):
            first = min(float(one.times[0]) for _, one in group.parts)
            says = f"{metric_of(group)} of {group.use.dialect.title} falls time and again without a restart"
            self._fault(group, says, ": it is no running total, or several processes answer in turn", "falls", first)
            return []
        return [_Piece(use, one, *self._rate(one, group)) for use, one in group.parts]

    def _steady_rates(self, group: Group) -> list["_Piece"] | None:
        """The same of running totals at the same moments that neither fall nor begin late, at once; None if these do not."""
        times = group.parts[0][1].times
        if len(times) < 2 or any(one.rate or not _same(one.times, times) for _, one in group.parts):
            return None
        growth = np.diff(np.stack([one.values for _, one in group.parts]))
        if (growth < 0).any() or not self._goes_on([one for _, one in group.parts], group.use):
            return None
        rates = growth / np.diff(times)
        return [_Piece(use, one, times[1:], own) for (use, one), own in zip(group.parts, rates, strict=True)]

    def _rate(self, one: RawSeries, group: Group) -> Samples:
        """One running total as rates, counted from 0 where its target shows that it was not there before.

        A distribution of a target that was scraped but once is that of its whole life: a mean and quantiles, if old ones. Running
        totals of such a target tell nothing of a rate now.
        """
        if one.rate:
            return one.times, one.values
        if group.use.entry.type == "histogram" and (begun := self._company.begun(one)):
            self._done = Made(plain=False)
            return one.times, one.values / (one.times - begun)
        company = self._company.of(one, group)
        times, totals = (one.times, one.values) if company is None else since_absence(one.times, one.values, company)
        falls = np.flatnonzero(one.values[1:] < one.values[:-1])
        if len(falls):
            self._done = replace(self._done, fell=max(self._done.fell, float(one.times[falls[-1] + 1])))
        if len(times) > len(one.times):
            plain = self._done.plain and not len(falls)
            self._done = replace(self._done, plain=plain, born=max(self._done.born, float(one.times[0])))
        return to_rates(times, totals)

    def _in_range(self, group: Group, times: Floats, values: Floats) -> Samples:
        """The samples that can be what the signal means; if some cannot, says so."""
        signal = catalogue()[group.use.entry.signal]
        if signal.kind is Kind.RATIO:
            values = np.where((values > signal.high) & (values <= signal.high + _TOLERANCE), signal.high, values)
        broken = (values < signal.low) | (values > signal.high)
        if not broken.any():
            return times, values
        name = "below-zero" if signal.low == 0 and values[broken][0] < 0 else "beyond-range"
        first = float(times[broken][0])
        self._fault(group, f"{group.use.dialect.title} says {values[broken][0]:g}", _why_not(signal, values[broken]), name, first)
        self._done = replace(self._done, plain=False)
        keep = ~broken if broken.mean() <= _SLIPS else np.zeros(len(values), dtype=bool)
        return times[keep], values[keep]

    def _histogram(self, group: Group) -> Histogram | None:
        """One distribution out of the buckets, sums and counts of the group; None of a count alone, which distributes nothing."""
        staleness = self._staleness(group)
        pieces: dict[tuple[str, float], list[_Piece]] = {}
        for piece in self._rates(group):
            bound = _bound(piece.one.labels.get("le", "")) if piece.use.part == "bucket" else np.inf
            if len(piece.times) and not np.isnan(bound):
                pieces.setdefault((piece.use.part, bound), []).append(piece)
        copies = group.use.entry.copies
        rows = {key: _together(found, Combine.SUM, copies, rates=True, staleness=staleness) for key, found in pieces.items()}
        total = rows.get(("bucket", np.inf)) or rows.get(("count", np.inf))
        sums = rows.get(("sum", np.inf))
        if total is None or (sums is None and not any(part == "bucket" for part, _ in rows)):
            return None
        bounds = {bound: row for (part, bound), row in rows.items() if part == "bucket"} | {np.inf: total}
        return _histogram(group, bounds, sums, self._finder.origin(group, self._done))


@dataclass(frozen=True, slots=True)
class _Piece:
    """One series of a group, as rates or plain values."""

    use: Use
    one: RawSeries
    times: Floats
    values: Floats

    def identity(self, copies: Iterable[str]) -> tuple[tuple[str, str], ...]:
        """What tells the series from others that are no copies of it."""
        labels = {label: value for label, value in self.one.labels.items() if label not in copies}
        return (("", self.one.name), *sorted(labels.items()))


def _by_merit(ways: Ways, reach: float) -> list[tuple[tuple[int, int], Group]]:
    """Ways to the same signal of a subject: those that reach furthest, of them the dialect's first and its newest name first.

    A name that ended early (a rename at an upgrade) must not win over the one that goes on.

    :param reach: ways that end within these seconds of each other reach equally far
    """
    if len(ways) == 1:
        return list(ways.items())
    ends = {key: max(float(one.times[-1]) for _, one in group.parts) for key, group in ways.items()}
    latest = max(ends.values())
    return sorted(ways.items(), key=lambda way: (0.0 if ends[way[0]] >= latest - reach else latest - ends[way[0]], way[0]))


_Rows = tuple[tuple[str, float], ...]
"""Part and bound of each series of a distribution; empty of what is one series."""


def _only(ways: Ways) -> Group | None:
    """The only way to a signal, if its samples count; None if there are more."""
    (group, *others) = ways.values()
    return None if others or group.use.entry.items or any(one.rate for _, one in group.parts) else group


def _rows_of(group: Group) -> _Rows | None:
    """What each series of a group is, of a distribution all of whose rows are there once, or of one series; None of others."""
    first = group.parts[0][1].times
    if group.use.entry.type != "histogram":
        return () if len(group.parts) == 1 else None
    rows = tuple((use.part, _bound(one.labels.get("le", "")) if use.part == "bucket" else np.inf) for use, one in group.parts)
    known = set(rows)
    whole = {("bucket", np.inf), ("count", np.inf)} & known and any(part != "count" for part, _ in rows)
    alike = len(first) > 1 and all(_same(one.times, first) for _, one in group.parts)
    return rows if whole and alike and len(known) == len(rows) and not any(np.isnan(bound) for _, bound in rows) else None


def _ways(group: Group) -> Ways:
    """A group as the only way to its signal."""
    return {(group.use.order, group.use.rank): group}


def _alike(read: Sequence[Floats]) -> Iterable[list[int]]:
    """Places of series that were read at the same moments.

    :param read: the moments of each
    """
    found: dict[bytes, list[int]] = {}
    written: dict[int, bytes] = {}
    for place, times in enumerate(read):
        moments = written.get(id(times)) or written.setdefault(id(times), times.tobytes())
        found.setdefault(moments, []).append(place)
    return found.values()


_Row = tuple[Use, RawSeries, Subject]
"""A signal of one series: how this is read, and whom it is about."""


class _Origins:
    """Where the signals of a panel come from; each is looked up when somebody asks for the first time.

    :param number: how many there are
    :param group: gives what makes one of them
    """

    def __init__(self, finder: Finder, number: int, group: Callable[[int], Group]) -> None:
        self._finder, self._number, self._group = finder, number, group
        self._told: dict[int, Origin] = {}

    def __call__(self, some: Chosen) -> list[Origin]:
        """The origins of some rows."""
        places = np.arange(self._number)[some].tolist()
        for place in places:
            if place not in self._told:
                self._told[place] = self._finder.origin(self._group(place), Made())
        return [self._told[place] for place in places]

    def __reduce__(self) -> tuple[type["_Told"], tuple[tuple[Origin, ...]]]:
        """What goes to another process or into a file are the origins alone, without what they were found in."""
        return _Told, (tuple(self(slice(None))),)


class _Told(NamedTuple):
    """Origins that were all looked up."""

    origins: tuple[Origin, ...]

    def __call__(self, some: Chosen) -> list[Origin]:
        """The origins of some rows."""
        return [self.origins[place] for place in np.arange(len(self.origins))[some].tolist()]


def _group_of(row: _Row) -> Group:
    """A signal of one series as a group."""
    use, one, subject = row
    return Group(use, subject, [(use, one)])


def _group_at(rows: Sequence[_Row], place: int) -> Group:
    return _group_of(rows[place])


def _ways_of(columns: Iterable[Column]) -> Iterable[Ways]:
    """The ways to one signal of each subject."""
    found: dict[Subject, Ways] = {}
    for column in columns:
        use = column.use
        key = use.order, use.rank
        for one, subject in zip(column.series, column.subjects, strict=True):
            ways = found.get(subject)
            if ways is None:
                ways = found[subject] = {}
            group = ways.get(key)
            if group is None:
                group = ways[key] = Group(use, subject)
            group.parts.append((use, one))
    return found.values()


def _chosen(rows: Floats, some: Chosen) -> Floats:
    return rows[some]


def _both_chosen(rates: Floats, sums: Floats, some: Chosen) -> tuple[Floats, Floats]:
    return rates[some], sums[some]


def _same(times: Floats, others: Floats) -> bool:
    """Whether series were read at the same moments."""
    return times is others or (len(times) == len(others) and bool((times == others).all()))


def _begin(group: Group) -> float:
    """When the first of a group's series begins, Unix seconds."""
    return min(float(one.times[0]) for _, one in group.parts)


def _continued(before: Series | Histogram, after: Series | Histogram) -> Series | Histogram:
    """A signal with what another name told of it before; a distribution only if the buckets are the same."""
    keep = before.times < after.times[0]
    times = np.concatenate((before.times[keep], after.times))
    if isinstance(before, Series) and isinstance(after, Series):
        return replace(after, times=times, values=np.concatenate((before.values[keep], after.values)))
    if isinstance(before, Histogram) and isinstance(after, Histogram) and np.array_equal(before.bounds, after.bounds):
        rates, sums = np.concatenate((before.rates[keep], after.rates)), np.concatenate((before.sums[keep], after.sums))
        return replace(after, times=times, rates=rates, sums=sums)
    return after


class _Company:
    """When the targets of counters were scraped, to see whether one that appears was not there before, or was not looked for.

    A program makes a child of a counter when it first counts, so an engine's, a gateway's or a client's counter that its target
    did not show before began at 0. What counts for longer than its exporter lives (a card's energy, a disk's bytes) did not.
    """

    def __init__(self, metrics: Sequence[Metric]) -> None:
        self._metrics = {metric.name: metric for metric in metrics}
        self._longest: dict[_Target, Floats] = {}
        self._starts: dict[_Target, float] = {}
        self._begun: dict[str, dict[_Target, tuple[list[float], list[float]]]] = {}
        for metric in metrics:
            if metric.name == _START or metric.name.endswith(_CREATED):
                for one in metric.series:
                    if len(one.times) == 1:
                        self._starts[_target(one)] = max(self._starts.get(_target(one), 0.0), float(one.values[0]))
        for layout in dict.fromkeys(metric.layout for metric in metrics if not metric.name.startswith(_BY_SCRAPER)):
            for labels, times in zip(layout.labels, layout.times, strict=True):
                target = _target_of(labels)
                if len(times) > len(self._longest.get(target, ())):
                    self._longest[target] = times

    def of(self, one: RawSeries, group: Group) -> Floats | None:
        """Times of scrapes that should have shown a counter; None if nothing says that it should have been there."""
        return self.of_program(one) if group.use.dialect.scope in _PROGRAMS else self._among_siblings(one, group)

    def of_program(self, one: RawSeries) -> Floats | None:
        """The same of a counter of a program that counts from its own start.

        Siblings that all ended before it began are the same counter under other labels. What one scrape shows has one time stamp:
        scrapes at other moments than the counter's are those of another exposition, which need not have shown it.
        """
        target = _target(one)
        scrapes = self._longest.get(target, one.times)
        place = int(np.searchsorted(scrapes, one.times[0]))
        if len(scrapes) <= len(one.times) or place == len(scrapes) or scrapes[place] != one.times[0]:
            return None
        firsts, lasts = self._lives(one.name)[target]
        elders = bisect_left(firsts, one.times[0])
        return None if elders and lasts[elders - 1] < one.times[0] else scrapes

    def begun(self, one: RawSeries) -> float | None:
        """When the process of a target that was scraped but once began, Unix seconds; None if nobody says."""
        target = _target(one)
        start = self._starts.get(target, 0.0)
        once = len(one.times) == 1 and len(self._longest.get(target, one.times)) == 1
        return start if once and _EARLIEST < start < one.times[0] else None

    def _among_siblings(self, one: RawSeries, group: Group) -> Floats | None:
        """The same from the other children of the counter that are about the same subject."""
        begin = one.times[0]
        elders = [other.times for _, other in group.parts if other.times[0] < begin <= other.times[-1] and other.name == one.name]
        return max(elders, key=len) if elders else None

    def _lives(self, name: str) -> dict[_Target, tuple[list[float], list[float]]]:
        """By target, when the children of a metric began, ascending, and until when any of those that began by then goes on."""
        if name not in self._begun:
            lives: dict[_Target, list[tuple[float, float]]] = {}
            layout = self._metrics[name].layout
            for labels, span in zip(layout.labels, layout.spans, strict=True):
                lives.setdefault(_target_of(labels), []).append(span)
            self._begun[name] = {
                target: ([first for first, _ in spans], list(accumulate((last for _, last in spans), max)))
                for target, spans in ((target, sorted(some)) for target, some in lives.items())
            }
        return self._begun[name]


def _target(one: RawSeries) -> "_Target":
    """What tells the scrape target of a series from others."""
    return _target_of(one.labels)


def _target_of(labels: Mapping[str, str]) -> "_Target":
    """The same of labels."""
    return labels.get("job", ""), labels.get("instance") or labels.get("pod", "")


def _scrapes(pieces: Sequence[_Piece]) -> list[Floats]:
    """For each piece the times at which its target shows any of them."""
    targets: dict[_Target, list[Floats]] = {}
    for piece in pieces:
        targets.setdefault(_target(piece.one), []).append(piece.times)
    scrapes = {target: distinct(np.concatenate(times)) for target, times in targets.items()}
    return [scrapes[_target(piece.one)] for piece in pieces]


def _together(pieces: Sequence[_Piece], how: Combine, copies: Sequence[str], *, rates: bool, staleness: float) -> Samples:
    """Several series as one; of series that are copies of each other the greatest counts."""
    if len(pieces) == 1:
        return pieces[0].times, pieces[0].values
    parts = [(piece.times, piece.values) for piece in pieces]
    scrapes = [] if rates else _scrapes(pieces)
    if copies:
        alike: dict[tuple[tuple[str, str], ...], list[int]] = {}
        for index, piece in enumerate(pieces):
            alike.setdefault(piece.identity(copies), []).append(index)
        originals = [indices[0] for indices in alike.values()]
        parts = [
            combined(
                [parts[index] for index in indices],
                Combine.MAX,
                rates=rates,
                staleness=staleness,
                scrapes=[scrapes[index] for index in indices if scrapes],
            )
            for indices in alike.values()
        ]
        scrapes = [scrapes[index] for index in originals if scrapes]
    return combined(parts, how, rates=rates, staleness=staleness, scrapes=scrapes)


def _histogram(group: Group, rows: dict[float, Samples], sums: Samples | None, origin: Origin) -> Histogram:
    """A distribution on the times of its total count.

    :param rows: cumulative rates by upper bound, +inf among them
    """
    entry = group.use.entry
    bounds = sorted(rows)
    times = rows[np.inf][0]
    cumulative = np.stack([_on(times, *rows[bound]) for bound in bounds])
    return Histogram(
        entry.signal,
        group.subject,
        times,
        np.array(bounds) * entry.scale,
        bucket_rates(times, cumulative),
        _on(times, *sums) * entry.scale if sums else np.full(len(times), np.nan),
        origin,
    )


def _on(times: Floats, own: Floats, values: Floats) -> Floats:
    """Values on other times: 0 where a bucket has no sample (it was not there yet)."""
    if len(own) == len(times) and (own == times).all():
        return values
    index = np.searchsorted(own, times).clip(0, len(own) - 1)
    return np.where(own[index] == times, values[index], 0.0)


def _bound(text: str) -> float:
    """A bucket's upper bound; NaN if the label is broken."""
    try:
        return float(text)
    except ValueError:
        return float("nan")


def _measured(piece: _Piece) -> _Piece:
    """A piece without the values that stand for none: those that its dialect names, and -1 for a ratio that is off."""
    off = _none_values(piece.use)
    if piece.use.entry.type == "counter" or not off or not (none := np.isin(piece.values, off)).any():
        return piece
    return replace(piece, times=piece.times[~none], values=piece.values[~none])


def _none_values(use: Use) -> tuple[float, ...]:
    """Values of a gauge that stand for none."""
    off = (*use.dialect.unknown, *use.entry.unknown)
    return (*off, _OFF) if catalogue()[use.entry.signal].kind is Kind.RATIO else off


def _flags(values: Floats, entry: Entry) -> Floats:
    """Values of a state as 1 and 0 where the entry asks for a number or a bit."""
    if entry.one_if is not None:
        return np.where(values == entry.one_if, 1.0, 0.0)
    if entry.bit is not None:
        return np.where((values.clip(0.0, _MOST_BITS).astype(np.int64) & entry.bit) != 0, 1.0, 0.0)
    return values


def _count_items(text: str) -> int:
    """How many names a list separated by commas has; a lone number tells by itself how many there are."""
    names = [name for name in text.split(",") if name.strip()]
    return int(names[0]) if len(names) == 1 and _is_number(names[0].strip()) else len(names)


def _is_number(text: str) -> bool:
    """Whether a name is a number of things rather than a thing."""
    return text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS


def _why_not(signal: Signal, broken: Floats) -> str:
    """Why readings cannot be what a signal means."""
    span = f"between {signal.low:g} and {signal.high:g}" if np.isfinite(signal.high) else f"at {signal.low:g} or above"
    why = "wrong unit or broken reading"
    if signal.kind is Kind.RATIO and broken.min() > signal.high and broken.max() <= 100.0 + _TOLERANCE:
        why = "it looks like a percentage"
    return f" where {signal.noun} lies {span}: {why}"


def _sentence(why: str, told: Mapping[Subject, str]) -> str:
    """A fault, as the first of its subjects shows it, and which subjects show it."""
    subjects = sorted(told)
    more = f" and {len(subjects) - _NAMED} more" if len(subjects) > _NAMED else ""
    return f"{told[subjects[0]]}{why} ({', '.join(map(str, subjects[:_NAMED]))}{more})"

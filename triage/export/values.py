"""PromQL of a signal: its value at a moment for each subject of a scope, and its statistics over a range.

A value at a moment is what a recording rule keeps; statistics are taken over what it kept. Where nothing is recorded the same
expression stands in a subquery: the two are the same by construction.
"""

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import cached_property
from math import ceil

from triage.classes import dataclass
from triage.engine.derived import DERIVATIONS
from triage.engine.derived.formula import Averaged, First, Formula, Greatest, Of, Quotient, Ratio, Rest, Told, Total
from triage.engine.statistics import AMOUNTS, MOMENT, QUANTILES
from triage.export.layout import Key, Layout, Source
from triage.model.dialect import Entry
from triage.model.rule import Stat
from triage.model.units import promql_duration
from triage.model.vocabulary import Combine, Kind, Scope, catalogue

_AGGREGATE = {Combine.SUM: "sum", Combine.MEAN: "avg", Combine.MAX: "max", Combine.MIN: "min"}

_MINUTE = 60.0
"""Seconds over which ratios of two rates are taken, as in derived signals (``_SMOOTHING`` of arithmetic.py)."""

_FINEST, _CELLS = 15.0, 100.0
"""A window is looked at in at most so many steps (``MOST_CELLS`` of frame.py), none finer than so many seconds."""

_PROGRAMS = frozenset({Scope.REPLICA, Scope.GATEWAY, Scope.CLIENT})
"""Dialects of programs whose counters begin at 0 when they first count (``_PROGRAMS`` of ingest/metrics/assemble.py)."""

_FROM_AFAR = frozenset({Scope.SERVICE, Scope.GATEWAY, Scope.CLIENT})
"""What belongs to everybody: it is taken as one value for the whole service."""

Level = Scope | None
"""Of whom an expression has one value each; None: it has one value for the whole service."""


@dataclass(frozen=True)
class Vector:
    """An expression with one value for each subject of a scope."""

    text: str
    level: Level


@dataclass(frozen=True)
class Times:
    """Spans that an alert looks at.

    :param window: seconds back from now that are judged
    :param baseline: seconds before those that tell what is usual
    :param step: seconds between two values
    """

    window: float = 1800.0
    baseline: float = 3600.0
    step: float = 30.0

    @property
    def cells(self) -> int:
        """Values in the window."""
        return max(1, round(self.window / self.step))


@dataclass(frozen=True)
class Span:
    """A range that ends now or earlier.

    :param offset: seconds by which it ends earlier
    :param fixed: it ends at the moment of the whole question, also inside a question that moves
    """

    length: float
    offset: float = 0.0
    fixed: bool = False

    @property
    def modifiers(self) -> str:
        """What stands behind a range."""
        return (" @ end()" if self.fixed else "") + (f" offset {promql_duration(self.offset)}" if self.offset else "")


@dataclass(frozen=True)
class Record:
    """What a recording rule keeps.

    :param signal: what it is of
    :param uses: how often the expressions so far ask for it
    """

    cell: Vector
    signal: str
    uses: int


class Values:
    """Writes the expressions of one service.

    :param recorded: the name of the series that a recording rule keeps of an expression; None writes the expression itself
    """

    def __init__(self, layout: Layout, times: Times, *, recorded: bool) -> None:
        self.layout = layout
        self.times = times
        self.recorded = recorded
        self.records: dict[str, Record] = {}
        """Recording rules that the expressions so far rest on, by name."""
        self._cells: dict[tuple[str, Level, Combine], Vector | None] = {}

    # Values at a moment

    def level_of(self, signal: str, scope: Scope) -> tuple[Level, bool]:
        """Of whom a signal has values where subjects of a scope are asked, and whether anybody can tell it."""
        if scope is Scope.SERVICE:
            return None, True
        own = catalogue()[signal].scope
        if own is scope or any(source.scope is scope for source, _ in self.layout.of(signal)):
            return scope, True
        if own in _FROM_AFAR:
            return None, True
        return scope, own is not Scope.TARGET

    def cell(self, signal: str, scope: Scope, across: Combine | None = None) -> Vector | None:
        """A signal's value of a step for subjects of a scope; None if no source tells it."""
        level, told = self.level_of(signal, scope)
        how = across or catalogue()[signal].combine
        if not told:
            return None
        key = (signal, level, how)
        if key not in self._cells:
            text = self.value(signal, level, self.times.step, how)
            self._cells[key] = None if text is None else Vector(text, level)
        return self._cells[key]

    def value(self, signal: str, level: Level, width: float, across: Combine | None = None) -> str | None:
        """The mean of a signal over some seconds, for each subject of a level; None if no source tells it."""
        how = across or catalogue()[signal].combine
        measured = self._measured(signal, level, width, how)
        if measured is not None and not (catalogue()[signal].derived and signal not in self.layout.seen):
            return measured
        worked_out = self._derived(signal, level, width, how)
        if worked_out is None or not _is_number(worked_out):
            return worked_out
        everybody = self.everybody(level)
        return None if everybody is None else f"({everybody} * 0 + {worked_out})"

    def everybody(self, level: Level) -> str | None:
        """1 for each subject of a level that any source tells something of; None if nobody knows."""
        if level is None:
            return "vector(1)"
        span = promql_duration(self.times.window)
        name = self.layout.key(level)
        for source in (one for one in self.layout.sources if one.scope is level and one.keys.get(level) == Key(name)):
            for entry in source.dialect.metrics:
                if entry.type == "gauge" and entry.signal in source.seen:
                    return f"group by ({name}) (last_over_time({source.selector(source.names(entry)[0], entry)}[{span}]))"
        return None

    def _measured(self, signal: str, level: Level, width: float, how: Combine) -> str | None:
        """The same of a signal that sources bring: of each subject by the first source that has it."""
        if catalogue()[signal].kind is Kind.DISTRIBUTION:
            return None
        told = self._tellers(signal, level)
        if level is None and len(told) > 1 and all(source.scope in source.keys for source, _ in told):
            apart = [self._of_source(source, entry, source.scope, width, how) for source, entry in told]
            return f"{_AGGREGATE[how]}({_or([text for text in apart if text is not None])})"
        own = [text for source, entry in told if (text := self._of_source(source, entry, level, width, how)) is not None]
        return _or(own) if own else None

    def _tellers(self, signal: str, level: Level) -> list[tuple[Source, Entry]]:
        """The sources of a signal: those that were seen to tell it, if any were; of subjects of the level itself, if any are."""
        told = self.layout.of(signal)
        told = [pair for pair in told if signal in pair[0].seen] or told
        return [pair for pair in told if pair[0].scope is level] or told

    def _of_source(self, source: Source, entry: Entry, level: Level, width: float, how: Combine) -> str | None:
        """One source's values."""
        combine = entry.combine or catalogue()[entry.signal].combine
        single = _joined([self._sampled(source, entry, name, width) for name in source.names(entry)], parts=entry.parts)
        if entry.copies:
            single = f"max without ({', '.join(sorted(entry.copies))}) ({single})"
        own = source.keys.get(source.scope)
        if level is None:
            if own is None or (combine is how and how is not Combine.MEAN):
                return _scaled(f"{_AGGREGATE[combine if own is None else how]}({single})", entry)
            inner = _scaled(f"{_AGGREGATE[combine]} by ({own.label}) ({single})", entry)
            return f"{_AGGREGATE[how]}({inner})"
        key = source.keys.get(level)
        if key is None:
            return None
        if source.scope is level or own is None:
            text = _scaled(f"{_AGGREGATE[combine]} by ({key.label}) ({single})", entry)
        else:
            inner = _scaled(f"{_AGGREGATE[combine]} by ({own.label}, {key.label}) ({single})", entry)
            text = f"{_AGGREGATE[how]} by ({key.label}) ({inner})"
        return self._named(text, key, level)

    def _named(self, text: str, key: Key, level: Scope) -> str:
        """An expression whose subjects are named by one label under the label that all sources share."""
        name = self.layout.key(level)
        return text if key == Key(name) else f"max by ({name}) ({_renamed(text, name, key)})"

    def _sampled(self, source: Source, entry: Entry, name: str, width: float) -> str:
        """The mean of one metric's series over some seconds."""
        selector = source.selector(name, entry)
        patience = source.patience
        if entry.type == "counter":
            return self._counted(source, selector, max(width, patience))
        kind = catalogue()[entry.signal].kind
        coarse = kind is Kind.STATE or source.interval > 0.95 * width or entry.unknown or source.dialect.unknown
        function, span = ("last_over_time", max(width, patience)) if coarse else ("avg_over_time", width)
        text = f"{function}({selector}[{promql_duration(span)}])"
        for unknown in (*source.dialect.unknown, *entry.unknown):
            text = f"({text} != {unknown:g})"
        if kind is Kind.RATIO and entry.scale > 0 and entry.one_if is None and entry.bit is None:
            text = f"({text} >= 0)"
        return _flagged(text, entry)

    def _counted(self, source: Source, selector: str, width: float) -> str:
        """Growth per second of running totals. One that was not there while its target was began at 0."""
        span = promql_duration(width)
        rate = f"rate({selector}[{span}])"
        if source.dialect.scope not in _PROGRAMS:
            return rate
        born = f"({selector} unless {selector} offset {span}) and on (instance, job) ({self._target(source)} offset {span})"
        return f"({born}) / {width:g} or {rate}"

    def _target(self, source: Source) -> str:
        """What shows that a target was there."""
        matchers = ",".join(f'{label}{operator}"{value}"' for label, operator, value in source.matchers)
        return f"up{{{matchers}}}" if matchers else "up"

    # Derived signals

    def _derived(self, signal: str, level: Level, width: float, how: Combine) -> str | None:
        derivation = DERIVATIONS.get(signal)
        if derivation is None or derivation.formula is None:
            return None
        scope = catalogue()[signal].scope
        if level is None and scope not in _FROM_AFAR:
            own = self._worked_out(derivation.formula, scope, width)
            return None if own is None else f"{_AGGREGATE[how]}({own})"
        if level is not None and scope is not level:
            return None
        return self._worked_out(derivation.formula, level, width)

    def _worked_out(self, formula: Formula, level: Level, width: float) -> str | None:
        """A formula for each subject of a level."""
        minute = max(_MINUTE, width)
        match formula:
            case Of():
                return self.value(formula.signal, level, width)
            case Told():
                fact = self.layout.facts.get(formula.fact)
                return f"{fact:g}" if isinstance(fact, int | float) else None
            case Averaged():
                pair = self.sums_and_counts(formula.signal, level, minute)
                return None if pair is None else f"({pair[0]} / ({pair[1]} > 0))"
            case Ratio():
                return self._divided(formula.part, formula.whole, level, minute, formula.most)
            case Quotient():
                return self._divided(formula.above, formula.below, level, width, formula.most)
            case Total():
                known = [text for part in self._seen(formula.parts) if (text := self._worked_out(part, level, width)) is not None]
                return _sum(known) if known else None
            case Rest():
                parts = [self._worked_out(one, level, width) for one in (formula.whole, *formula.parts)]
                texts = [part for part in parts if part is not None]
                return f"clamp_min({' - '.join(texts)}, 0)" if len(texts) == len(parts) else None
            case First():
                return self._first(formula.ways, level, width)
            case Greatest():
                views = [text for one in self._seen(formula.views) if (text := self._worked_out(one, level, width)) is not None]
                return _greatest(views)

    def _divided(self, above: Formula, below: Formula, level: Level, width: float, most: float | None) -> str | None:
        one, other = self._worked_out(above, level, width), self._worked_out(below, level, width)
        if one is None or other is None:
            return None
        text = f"{one} / {other if _is_number(other) else f'({other} > 0)'}"
        if _is_number(one) and _is_number(other):
            return f"{float(one) / float(other):g}" if float(other) > 0 else None
        return f"clamp_max({text}, {most:g})" if most is not None else f"({text})"

    def _first(self, ways: Iterable[Formula], level: Level, width: float) -> str | None:
        """The first way whose signals were all seen, else the first that any source can tell."""
        possible = [(way, text) for way in ways if (text := self._worked_out(way, level, width)) is not None]
        seen = [text for way, text in possible if follows(way, self._measurable)]
        return next(iter([*seen, *(text for _, text in possible)]), None)

    def _seen(self, some: tuple[Formula, ...]) -> tuple[Formula, ...]:
        """Those that the look has seen the signals of; all if it has of none."""
        return tuple(one for one in some if follows(one, self._measurable)) or some

    @cached_property
    def _measurable(self) -> frozenset[str]:
        """Signals that were seen, and those that follow from them."""
        found = set(self.layout.seen)
        for signal, derivation in DERIVATIONS.items():
            if derivation.formula is not None and follows(derivation.formula, found):
                found.add(signal)
        return frozenset(found)

    # Distributions

    def sums_and_counts(self, signal: str, level: Level, width: float) -> tuple[str, str] | None:
        """Sum and number of what was observed per second; None if nobody tells it."""
        tellers = self._tellers(signal, level)
        apart = level is None and len(tellers) > 1 and all(source.scope in source.keys for source, _ in tellers)
        told = [self._pair(source, entry, source.scope if apart else level, width) for source, entry in tellers]
        pairs = [pair for pair in told if pair is not None]
        if not pairs:
            return None
        sums, counts = _or([one for one, _ in pairs]), _or([one for _, one in pairs])
        return (f"sum({sums})", f"sum({counts})") if apart else (sums, counts)

    def _pair(self, source: Source, entry: Entry, level: Level, width: float) -> tuple[str, str] | None:
        span = promql_duration(max(width, source.patience))
        sums: list[str] = []
        counts: list[str] = []
        for one, other in self._sum_and_count_names(source, entry):
            for texts, name in ((sums, one), (counts, other)):
                text = self._gathered(source, f"rate({source.selector(name, entry)}[{span}])", level)
                if text is None:
                    return None
                texts.append(text)
        scaled = f"({_or(sums)} * {entry.scale:g})" if entry.scale != 1.0 else _or(sums)
        return scaled, _or(counts)

    def _sum_and_count_names(self, source: Source, entry: Entry) -> list[tuple[str, str]]:
        names = source.names(entry)
        if not entry.count:
            return [(f"{name}_sum", f"{name}_count") for name in names]
        seen = source.seen.get(entry.signal, ())
        return [(seen[0], seen[1])] if len(seen) > 1 else [(names[0], entry.count)]

    def _gathered(self, source: Source, single: str, level: Level, also: str = "") -> str | None:
        """Sums over the series of a source for each subject of a level."""
        if level is None:
            return f"sum{f' by ({also})' if also else ''} ({single})" if also else f"sum({single})"
        key = source.keys.get(level)
        if key is None:
            return None
        name = self.layout.key(level)
        labels = ", ".join(filter(None, (name, also)))
        return f"sum by ({labels}) ({single if key == Key(name) else _renamed(single, name, key)})"

    def buckets(self, signal: str, level: Level, width: float) -> str | None:
        """Observations per second by bucket; None if nobody tells them by bucket."""
        told = [
            text
            for source, entry in self._tellers(signal, level)
            if not entry.count
            for name in source.names(entry)
            if (
                text := self._gathered(
                    source, f"rate({source.selector(f'{name}_bucket', entry)}[{promql_duration(width)}])", level, "le"
                )
            )
        ]
        return _or(told) if told else None

    def scale_of(self, signal: str, level: Level) -> float:
        """Factor from the source's unit of a distribution to the base unit."""
        return next((entry.scale for _, entry in self._tellers(signal, level)), 1.0)

    # Statistics

    def ranged(self, cell: Vector, signal: str, how: str, span: Span) -> str:
        """A range of a signal's values, as functions over time take it."""
        length = promql_duration(span.length - 1.0 if span.length > 2.0 else span.length)
        if not self.recorded:
            return f"({cell.text})[{length}:{promql_duration(self.times.step)}]{span.modifiers}"
        return f"{self.record(cell, signal, how)}[{length}]{span.modifiers}"

    def record(self, cell: Vector, signal: str, how: str) -> str:
        """The series that keeps an expression."""
        level = cell.level.value if cell.level else "service"
        extra = "" if how == catalogue()[signal].combine.value else f":{how}"
        name = f"triage:{signal.replace('.', '_')}:{level}{extra}"
        uses = self.records[name].uses if name in self.records else 0
        self.records[name] = Record(cell, signal, uses + 1)
        return f'{name}{{service="{escaped(self.layout.service)}"}}'

    def statistic(self, signal: str, scope: Scope, stat: Stat, span: Span, across: Combine | None = None) -> Vector | None:
        """A statistic over a range; None if no source tells it, or PromQL has no word for it."""
        if catalogue()[signal].kind is Kind.DISTRIBUTION:
            return self._of_distribution(signal, scope, stat, span)
        cell = self.cell(signal, scope, across)
        if cell is None:
            return None
        text = self._over(cell, signal, (across or catalogue()[signal].combine).value, stat, span)
        return None if text is None else Vector(text, cell.level)

    def _over(self, cell: Vector, signal: str, how: str, stat: Stat, span: Span) -> str | None:
        ranged = self.ranged(cell, signal, how, span)
        if stat in ("peak", "trough"):
            return self._extreme(cell, signal, how, stat, span)
        if stat == "sum":
            text = f"sum_over_time({ranged}) * {self.times.step:g}"
            return f"round({text}, 0.1)" if catalogue()[signal].unit not in AMOUNTS else f"({text})"
        if stat == "first":
            begin = replace(span, length=2 * self.times.step, offset=span.offset + span.length - 2 * self.times.step)
            return f"last_over_time({self.ranged(cell, signal, how, begin)})"
        if stat in QUANTILES:
            return f"quantile_over_time({QUANTILES[stat]:g}, {ranged})"
        return f"{_FUNCTIONS[stat]}({ranged})"

    def _extreme(self, cell: Vector, signal: str, how: str, stat: Stat, span: Span) -> str:
        """The highest or lowest mean of five minutes in a row."""
        moment = self.moment(span)
        ranged = self.ranged(cell, signal, how, Span(moment))
        return self._moving(self._half_known(f"avg_over_time({ranged})", ranged, cell.level, moment), stat, moment, span)

    def _half_known(self, mean: str, ranged: str, level: Level, moment: float) -> str:
        """A mean over a moment of which at least half is known: of less it is no mean of that moment."""
        least = ceil(moment / self.times.step / 2.0)
        if least <= 1:
            return mean
        return f"{mean} and {self.on(level)} count_over_time({ranged}) >= {least}"

    def on(self, level: Level) -> str:
        """How two vectors of a level are matched: what is recorded bears the service's name, too."""
        return f"on ({self.layout.key(level)})" if level is not None else "on ()"

    def _moving(self, mean: str, stat: Stat, moment: float, span: Span) -> str:
        length = promql_duration(max(1.0, span.length - moment + 1.0))
        return f"{_EXTREMES[stat]}(({mean})[{length}:{promql_duration(self.times.step)}]{span.modifiers})"

    def moment(self, span: Span) -> float:
        """Seconds that make the moment of peaks and troughs."""
        cells = max(1, round(min(MOMENT, span.length / 3.0) / self.times.step))
        return cells * self.times.step

    def _of_distribution(self, signal: str, scope: Scope, stat: Stat, span: Span) -> Vector | None:
        level, told = self.level_of(signal, scope)
        if not told:
            return None
        offset = span.modifiers
        if stat in QUANTILES:
            return self._quantile(signal, level, QUANTILES[stat], span, "estimate")
        if stat in ("peak", "trough"):
            moment = self.moment(span)
            pair = self.sums_and_counts(signal, level, moment)
            if pair is None:
                return None
            now = self.sums_and_counts(signal, level, self.times.step)
            assert now is not None  # since there are those of a moment
            length, step = promql_duration(max(1.0, moment - 1.0)), promql_duration(self.times.step)
            mean = self._half_known(f"{pair[0]} / ({pair[1]} > 0)", f"({now[1]} > 0)[{length}:{step}]", level, moment)
            whole = replace(span, length=span.length - moment + 2.0)
            ranged = self.ranged(Vector(mean, level), signal, f"mean{promql_duration(moment)}", whole)
            return Vector(f"{_EXTREMES[stat]}({ranged})", level)
        pair = self.sums_and_counts(signal, level, span.length)
        if pair is None or stat not in ("mean", "sum"):
            return None
        sums, counts = (_at(text, offset) for text in pair)
        if stat == "sum":
            return Vector(f"round({counts} * {span.length:g}, 0.1)", level)
        return Vector(f"{sums} / ({counts} > 0)", level)

    def edge(self, signal: str, scope: Scope, stat: Stat, span: Span, *, upper: bool) -> Vector | None:
        """The upper or lower bound of the bucket that a quantile lies in."""
        level, told = self.level_of(signal, scope)
        return self._quantile(signal, level, QUANTILES[stat], span, "high" if upper else "low") if told else None

    def _quantile(self, signal: str, level: Level, share: float, span: Span, which: str) -> Vector | None:
        buckets = self.buckets(signal, level, span.length)
        if buckets is None:
            return None
        buckets = _at(buckets, span.modifiers)
        scale = self.scale_of(signal, level)
        if which != "estimate":
            by = f"({self.layout.key(level)})" if level is not None else "()"
            total = f"max by {by} ({buckets})"
            reached = f"({buckets} >= bool on {by} group_left () ({share:g} * {total} > 0))"
            buckets, share = reached, (1.0 if which == "high" else 1e-9)
        text = f"histogram_quantile({share:g}, {buckets})"
        return Vector(f"({text} * {scale:g})" if scale != 1.0 else text, level)


_EXTREMES: dict[Stat, str] = {"peak": "max_over_time", "trough": "min_over_time"}

_FUNCTIONS: dict[Stat, str] = {
    "mean": "avg_over_time", "min": "min_over_time", "max": "max_over_time", "last": "last_over_time",
    "slope": "deriv", "changes": "changes", "spread": "stddev_over_time",
}  # fmt: skip


def needs(formula: Formula) -> frozenset[str]:
    """The signals that a formula is worked out of."""
    match formula:
        case Of() | Averaged():
            return frozenset({formula.signal})
        case Told():
            return frozenset()
        case Ratio():
            return needs(formula.part) | needs(formula.whole)
        case Quotient():
            return needs(formula.above) | needs(formula.below)
        case Total():
            return frozenset().union(*map(needs, formula.parts))
        case Rest():
            return needs(formula.whole).union(*map(needs, formula.parts))
        case First():
            return frozenset().union(*map(needs, formula.ways))
        case Greatest():
            return frozenset().union(*map(needs, formula.views))


def follows(formula: Formula, known: AbstractSet[str]) -> bool:
    """Whether a formula can be worked out of known signals."""
    match formula:
        case First():
            return any(follows(way, known) for way in formula.ways)
        case Greatest():
            return any(follows(view, known) for view in formula.views)
        case Total():
            return any(follows(part, known) for part in formula.parts)
        case _:
            return needs(formula) <= known


def _is_number(text: str) -> bool:
    """Whether an expression is a number rather than a vector."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def escaped(value: str) -> str:
    """A value inside a PromQL string."""
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _or(texts: list[str]) -> str:
    return texts[0] if len(texts) == 1 else f"({' or '.join(dict.fromkeys(texts))})"


def _joined(texts: list[str], *, parts: bool) -> str:
    """Several metrics as one: alternatives of which the first counts, or parts that all count."""
    if not parts or len(texts) == 1:
        return _or([f"({text})" if len(texts) > 1 else text for text in texts])
    told = [f'label_replace({text}, "triage_part", "{place}", "", "")' for place, text in enumerate(texts)]
    return f"({' or '.join(told)})"


def _renamed(text: str, name: str, key: Key) -> str:
    """A vector whose subjects are named by another label."""
    return f'label_replace({text}, "{name}", "$1", "{key.label}", "{escaped(key.pattern)}")'


def _scaled(text: str, entry: Entry) -> str:
    """A value of the source in base units."""
    if entry.scale == -1.0 and entry.offset:
        return f"({entry.offset:g} - {text})"
    text = text if entry.scale == 1.0 else f"({text} * {entry.scale:g})"
    return f"({text} + {entry.offset:g})" if entry.offset else text


def _flagged(text: str, entry: Entry) -> str:
    """1 or 0 of a state, where the entry asks for a number or a bit."""
    if entry.one_if is not None:
        return f"({text} == bool {entry.one_if:g})"
    if entry.bit is None:
        return text
    bits = [1 << place for place in range(53) if entry.bit >> place & 1]
    odd = [f"floor({text} / {bit}) % 2" if bit > 1 else f"{text} % 2" for bit in bits]
    return f"({odd[0]})" if len(odd) == 1 else f"(({' + '.join(odd)}) > bool 0)"


def _sum(texts: list[str]) -> str:
    """Several vectors added up, each counting where it is known."""
    if len(texts) == 1:
        return texts[0]
    told = [f'label_replace({text}, "triage_part", "{place}", "", "")' for place, text in enumerate(texts)]
    return f"sum without (triage_part) ({' or '.join(told)})"


def _greatest(texts: list[str]) -> str | None:
    if len(texts) < 2:
        return next(iter(texts), None)
    told = [f'label_replace({text}, "triage_part", "{place}", "", "")' for place, text in enumerate(texts)]
    return f"max without (triage_part) ({' or '.join(told)})"


def _at(text: str, offset: str) -> str:
    """An expression of rates that looks earlier."""
    return text.replace("])", f"]{offset})") if offset else text

"""How to work out a value by hand: one query that gives it, or the queries of what it was derived from."""

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from triage.classes import dataclass
from triage.engine import served, statistics
from triage.engine.derived import DERIVATIONS
from triage.engine.frame import Frame
from triage.engine.promql import (
    Moment,
    Part,
    mean_observed,
    moment,
    parts_of,
    quantile,
    ranged,
    shared_selector,
    sum_and_count,
    together,
)
from triage.engine.served import Bounds
from triage.engine.statistics import QUANTILES, cells_of, moment_cells, statistic
from triage.model.arrays import quantile_of, usual_step
from triage.model.diagnosis import Input
from triage.model.recording import Floats, Origin, Series, Subject
from triage.model.rule import Stat
from triage.model.units import promql_duration
from triage.model.vocabulary import Combine, Kind, Scope, catalogue

_EXTREMES = ("peak", "trough")

_MINUTE = 60.0
"""Seconds over which ratios of two rates are taken (``_SMOOTHING`` of triage/engine/derived/arithmetic.py)."""

_PATIENCE = 2.5
"""Intervals of a source for which a sample speaks (``_PATIENCE_CELLS`` of triage/engine/frame.py)."""

_SLOWEST = 120.0
_TOLERANCE = 0.03
"""Values that differ by less are the same to a reader: three digits are shown, and scrapes do not fall on the ends of a span."""

_LEAST = 1e-9
"""Two values that are both nought but for the arithmetic of floats are the same."""

_MANY = 3.0
"""From so many samples in a span on a server's rate is as good as ours."""

_ONE = 0.67
"""Where samples are at least this part of a cell apart, a cell holds about one."""

_OVER_A_MINUTE = frozenset(
    {
        "service.error_ratio", "service.refused_ratio", "service.backlog_growth", "service.requests_lost",
        "service.requests_vanished", "service.outside_share", "gateway.engine_gap", "gateway.own_time", "token.time",
    }
)  # fmt: skip
"""Further derived signals that are taken over the last minute."""

_MOST_INPUTS = 4
"""Chosen: what a reader tries by hand; a value that is derived from more says so by its first ones."""

_SCRAPER = "prometheus"
"""Dialect of what is known of scrapes themselves: no exposition shows it."""

_LITTLE = 0.05
"""A mean over some seconds changes by little when it is taken this part of them earlier."""

RATIOS: dict[str, tuple[str, str]] = {
    "requests.attempt_ratio": ("requests.attempts", "requests.distinct"),
    "requests.failed_ratio": ("requests.failed", "requests.distinct"),
    "requests.timeout_ratio": ("requests.timeouts", "requests.attempts"),
    "service.abandoned_ratio": ("gateway.client_left", "gateway.requests"),
    "gateway.retry_ratio": ("gateway.retries", "gateway.requests"),
    "gateway.amplification": ("gateway.upstream_requests", "gateway.requests"),
    "prefix.hit_ratio": ("prefix.hits", "prefix.queries"),
    "offload.hit_ratio": ("offload.hits", "offload.queries"),
    "finished.length_ratio": ("finished.length", "finished"),
    "finished.abort_ratio": ("finished.abort", "finished"),
    "spec.accepted_length": ("spec.accepted_tokens", "spec.drafts"),
    "spec.acceptance": ("spec.accepted_tokens", "spec.draft_tokens"),
    "container.cpu_throttled": ("container.cpu_throttled_periods", "container.cpu_periods"),
}
"""Derived ratios of two rates, as part and whole: over the last minute the one divided by the other."""

QUOTIENTS: dict[str, tuple[str, str]] = {
    "gateway.fds_ratio": ("gateway.open_fds", "gateway.max_fds"),
    "batch.fill": ("batch.running", "batch.limit"),
    "process.fds_ratio": ("process.open_fds", "process.max_fds"),
    "node.disk_ratio": ("node.disk_available", "node.disk_size"),
    "node.memory_ratio": ("node.memory_available", "node.memory_total"),
    "node.inodes_ratio": ("node.inodes_free", "node.inodes"),
    "node.volume_ratio": ("node.volume_available", "node.volume_size"),
    "node.conntrack_ratio": ("node.conntrack", "node.conntrack_limit"),
    "node.files_ratio": ("node.files_open", "node.files_max"),
    "node.processes_ratio": ("node.processes", "node.processes_max"),
    "gpu.power_ratio": ("gpu.power", "gpu.power_limit"),
}
"""Derived quotients of two gauges."""

STATED: dict[str, str] = {"batch.limit": "max_num_seqs"}
"""Signals that are a fact of the replica where nobody measures them."""

SAME_AS: dict[str, tuple[str, ...]] = {
    "service.arrivals": ("requests.attempts", "gateway.requests", "backend.requests", "finished"),
    "service.demand": ("requests.distinct", "requests.attempts", "gateway.requests", "backend.requests", "finished"),
    "service.sent": ("gateway.upstream_requests", "backend.requests"),
    "service.goodput": ("gateway.2xx", "http.2xx"),
    "service.error_ratio": ("requests.failed_ratio",),
    "engine.time_per_step": ("engine.step_time",),
    "kv.fill": ("kv.usage",),
}
"""Derived signals that are, where that is so, one of these: which one, the cells tell."""


@dataclass(frozen=True)
class Reckoning:
    """How a value can be worked out again.

    :param query: PromQL that gives it, with the moment at which it is asked; empty if no single query does
    :param inputs: what it was derived from, then; empty too where no source speaks PromQL
    """

    query: str = ""
    inputs: tuple[Input, ...] = ()


@dataclass(frozen=True)
class Term:
    """A value over so many seconds before a moment, in PromQL and as a server would work it out.

    :param text: given the seconds and the moment
    :param value: given the seconds and moments, Unix seconds, the least and the most that it can be, shape (M,)
    """

    text: Callable[[float, Moment], str]
    value: Callable[[float, Floats], Bounds]


@dataclass(frozen=True)
class Said:
    """A signal of some subjects, taken as one, as a server can say it.

    :param means: ways to say its mean over any time, the usual one first; none if that is no single term
    :param cell: its value in a cell of the grid, which is ``width`` seconds long; None if a server cannot say it
    :param smooth: seconds over which a cell's value is a mean
    :param own: a series whose samples are about one in each cell, to which functions over time may be applied directly
    """

    means: tuple[Term, ...] = ()
    cell: Term | None = None
    width: float = 0.0
    smooth: float = 0.0
    own: tuple[Part, Series] | None = None


@dataclass(frozen=True)
class Tried:
    """PromQL, and what a server would answer.

    :param value: None if it answers nothing, or nobody can tell what
    :param answers: whether it answers at all
    """

    text: str
    value: float | None
    answers: bool = True


def reckoned(
    frame: Frame, signal: str, subjects: Sequence[Subject], stat: Stat, span: slice | None = None, across: Combine | None = None
) -> Reckoning:
    """How a statistic of a signal over a span of the grid can be worked out again. Asked again it is remembered.

    :param span: cells; the window if not given
    :param across: how the subjects make one value; the signal's own way if not given
    """
    span = span or frame.grid.window
    across = across or catalogue()[signal].combine
    key = ("reckoned", signal, tuple(subjects), stat, span.start, span.stop, across)
    return frame.remembered(key, lambda: _reckoned(frame, signal, subjects, stat, span, across))


def _reckoned(frame: Frame, signal: str, subjects: Sequence[Subject], stat: Stat, span: slice, across: Combine) -> Reckoning:
    """A query that a server would answer with the very value, or what the value was derived from."""
    if not subjects or span.start >= span.stop:
        return Reckoning()
    value = statistic(frame, signal, subjects, stat, span, across)
    if value is not None:
        for tried in _Asked(frame, span, across).tried(signal, subjects, stat):
            if _agree(tried.value, value.estimate):
                return Reckoning(tried.text)
    return Reckoning("", tuple(_inputs(frame, signal, subjects, span)))


def _agree(one: float | None, other: float) -> bool:
    """Whether two values are the same to a reader."""
    return one is not None and abs(one - other) <= _TOLERANCE * max(abs(one), abs(other)) + _LEAST


@dataclass(frozen=True)
class _Asked:
    """A span of a frame, and how several subjects make one value there."""

    frame: Frame
    span: slice
    across: Combine

    @property
    def _step(self) -> float:
        return self.frame.grid.step

    @property
    def end(self) -> float:
        """When it ends, Unix seconds."""
        return float(self.frame.grid.times[self.span.stop - 1])

    @property
    def _begin(self) -> float:
        return float(self.frame.grid.times[self.span.start]) - self._step

    @property
    def length(self) -> float:
        """Seconds of the span."""
        return self.end - self._begin

    def _aside(self, width: float) -> float:
        """Seconds by which the grid lies beside whole steps since 1970, at which servers evaluate subqueries.

        :param width: seconds over which each value is a mean: what is little beside them does not count
        """
        aside = self.end % self._step
        return 0.0 if min(aside, self._step - aside) < 0.02 * self._step or aside <= _LITTLE * width else aside

    @property
    def _spare(self) -> float:
        """Seconds by which a span is shortened or lengthened so that it holds its own moments, whichever of its ends counts."""
        return 1.0 if self._step >= 2.0 else self._step / 2.0

    def tried(self, signal: str, subjects: Sequence[Subject], stat: Stat) -> Iterator[Tried]:
        """PromQL of a statistic with what it gives, the shortest first."""
        if catalogue()[signal].kind is Kind.DISTRIBUTION:
            yield from _there(self._of_distribution(signal, subjects, stat))
        elif stat == "sum":
            yield from self.grown(signal, subjects)
        elif (said := self._said(signal, subjects)) is not None:
            yield from self._tried(said, signal, subjects, stat)

    def _tried(self, said: Said, signal: str, subjects: Sequence[Subject], stat: Stat) -> Iterator[Tried]:
        """The same of a signal that has a value in each cell."""
        if stat == "mean":
            yield from (self._at_end(mean, self.length) for mean in said.means)
        if stat in _EXTREMES:
            yield from self._extremes(said, stat)
        elif said.cell is not None and stat in ("last", "first"):
            yield from _there(self._at_cell(said.cell, said.width, signal, subjects, last=stat == "last"))
        elif said.cell is not None:
            lead, function = _FUNCTIONS.get(stat) or _quantile_over(QUANTILES[stat])
            length = self.length - self._spare
            if said.own is not None and stat != "mean":
                yield self._direct(said.own, lead, function, length)
            yield self._subquery(lead, function, said.cell, said.width, length, self._aside(said.smooth))

    def _direct(self, own: tuple[Part, Series], lead: str, function: Callable[[Floats], float | None], length: float) -> Tried:
        """A function over a series' own samples."""
        part, series = own
        ending = f"[{promql_duration(length)}]{Moment(self.end).text})"
        text = together((part,), self.across, lambda selector, _: f"{lead}{selector}{ending}")
        return Tried(text, served.over(series, length, self.end, function))

    def _at_end(self, term: Term, width: float) -> Tried:
        """A term at the end of the span."""
        return _tried(term.text(width, Moment(self.end)), term.value(width, np.array([self.end])))

    def _subquery(
        self, lead: str, function: Callable[[Floats], float | None], term: Term, width: float, length: float, aside: float
    ) -> Tried:
        """A function over what a term gave at each step."""
        end = self.end - aside
        inner = term.text(width, Moment(None, -aside))
        text = f"{lead}({inner})[{promql_duration(length)}:{promql_duration(self._step)}] @ {moment(end)})"
        return _tried(text, term.value(width, served.moments_of(end, length, self._step) + aside), function)

    def _extremes(self, said: Said, stat: Stat) -> Iterator[Tried]:
        """The highest or lowest of the means over a moment."""
        cells = self.span.stop - self.span.start
        moment_ = moment_cells(cells, self._step)
        width = moment_ * self._step
        ways = [(mean, width, width) for mean in said.means]
        if said.cell is not None and moment_ == 1:
            ways.append((said.cell, said.width, max(width, said.smooth)))
        elif said.cell is not None:
            ways.append((self._averaged(said.cell, said.width, width), width, max(width, said.smooth)))
        lead, function = _FUNCTIONS["max" if stat == "peak" else "min"]
        for term, over, smooth in ways:
            length = (cells - moment_) * self._step + self._spare
            yield self._subquery(lead, function, term, over, length, self._aside(smooth))

    def _averaged(self, cell: Term, cell_width: float, width: float) -> Term:
        """The mean of a cell's term over a moment."""
        length = width - self._spare

        def text(_width: float, at: Moment) -> str:
            return f"avg_over_time(({cell.text(cell_width, at)})[{promql_duration(length)}:{promql_duration(self._step)}])"

        def value(_width: float, moments: Floats) -> Bounds:
            asked = moments - np.arange(0.0, length, self._step)[:, None]  # most of them many times
            each, place = np.unique(asked, return_inverse=True)
            found = (values[place.reshape(asked.shape)] for values in cell.value(cell_width, each))
            means = [statistics.together(list(rows), Combine.MEAN) for rows in found]
            return means[0], means[1]

        return Term(text, value)

    def _at_cell(self, cell: Term, width: float, signal: str, subjects: Sequence[Subject], *, last: bool) -> Tried | None:
        """The value in the first or the last known cell."""
        cells = cells_of(self.frame, signal, subjects, self.across)
        known = np.flatnonzero(~np.isnan(cells[self.span])) if cells is not None else np.zeros(0, dtype=int)
        if not len(known):
            return None
        at = float(self.frame.grid.times[self.span.start + int(known[-1 if last else 0])])
        return _tried(cell.text(width, Moment(at)), cell.value(width, np.array([at])))

    def grown(self, signal: str, subjects: Sequence[Subject]) -> list[Tried]:
        """By how much a running total grew over the span, in each way to say it."""
        return [self._at_end(whole, self.length) for _, whole in self._growths(signal, subjects)]

    # Distributions

    def _of_distribution(self, signal: str, subjects: Sequence[Subject], stat: Stat) -> Tried | None:
        """A statistic of what was observed, of one set of names."""
        parts = self._parts(signal, subjects)
        held = [one for subject in subjects if (one := self.frame.histogram(signal, subject)) is not None and len(one.times)]
        if parts is None or len(parts) != 1 or len(held) != len(subjects):
            return None
        if any(origin.born > self._begin for origin in self.frame.origins.of(signal, subjects)):
            return None
        part, at, scale = parts[0], Moment(self.end), parts[0].origin.scale
        if stat in QUANTILES:
            if len(part.selectors) > 1:
                return None
            text = _times(quantile(QUANTILES[stat], part.selectors[0], self.length, at), scale)
            return Tried(text, served.observed_quantile(held, QUANTILES[stat], self.length, self.end))
        if stat == "sum":
            text = f"sum(increase({sum_and_count(part)[1]}[{promql_duration(self.length)}]{at.text}))"
            count = _answered(served.observed_count(held, self.length, np.array([self.end])))
            return Tried(text, None if count is None else count * self.length)
        mean = Term(
            lambda width, at: _times(mean_observed(part, width, at), scale),
            lambda width, moments: served.observed_mean(held, width, moments),
        )
        if stat == "mean":
            return self._at_end(mean, self.length)
        return next(self._extremes(Said(means=(mean,)), stat)) if stat in _EXTREMES else None

    def _parts(self, signal: str, subjects: Sequence[Subject]) -> tuple[Part, ...] | None:
        """The series of a measured signal of subjects; None if one of them is not measured, or cannot be said."""
        key = ("parts", signal, tuple(subjects), self.across)
        return self.frame.remembered(key, lambda: _parts_of(self.frame, signal, subjects, self.across))

    # Signals

    def _said(self, signal: str, subjects: Sequence[Subject]) -> Said | None:
        """A signal as a server can say it; None if it cannot."""
        if _are_measured(self.frame, signal, subjects):
            return self._rate(signal, subjects) if catalogue()[signal].kind is Kind.RATE else self._gauge(signal, subjects)
        if signal in RATIOS:
            return self._ratio(*RATIOS[signal], subjects, bounded=catalogue()[signal].kind is Kind.RATIO)
        if signal in QUOTIENTS:
            return self._quotient(*QUOTIENTS[signal], subjects)
        return self._same(signal, subjects)

    def _as(self, signal: str, subjects: Sequence[Subject]) -> Said | None:
        """Another signal, put together in its own way."""
        asked = _Asked(self.frame, self.span, catalogue()[signal].combine)
        return asked._said(signal, subjects)

    def _same(self, signal: str, subjects: Sequence[Subject]) -> Said | None:
        """A signal that is the same as another one, as its cells show."""
        own = cells_of(self.frame, signal, subjects, self.across)
        for name in SAME_AS.get(signal, ()):
            others = _having(self.frame, name, subjects)
            if not others or own is None or catalogue()[name].kind is Kind.DISTRIBUTION:
                continue
            cells = cells_of(self.frame, name, others, catalogue()[name].combine)
            if cells is not None and _are_same(own[self.span], cells[self.span]):
                return self._as(name, others)
        return None

    def _held(self, signal: str, subjects: Sequence[Subject]) -> list[Series] | None:
        """The measured series of all of the subjects; None if one has none."""
        return self.frame.remembered(("held", signal, tuple(subjects)), lambda: _held(self.frame, signal, subjects))

    def _rate(self, signal: str, subjects: Sequence[Subject]) -> Said | None:
        """What is counted per second."""
        ways = [rate for rate, _ in self._growths(signal, subjects)]
        held = self._held(signal, subjects) if ways else None
        if held is None:
            return None
        interval = _slowest(held) or self.frame.recording.step
        return Said(means=tuple(ways), cell=ways[0] if interval * _MANY <= self._step else None, width=self._step)

    def _growths(self, signal: str, subjects: Sequence[Subject]) -> list[tuple[Term, Term]]:
        """How much running totals of subjects grow, per second and in all: as a rate, and as what stands at both ends."""
        parts = self._parts(signal, subjects)
        held = self._held(signal, subjects) if parts is not None else None
        if parts is None or held is None or not parts[0].origin.counter:
            return []
        ways = []
        if not any(one.origin.born > self._begin for one in held):
            ways.append(self._by_rate(parts, held))
        if (between := self._between(parts, held)) is not None:
            ways.append(between)
        return ways

    def _by_rate(self, parts: Sequence[Part], held: Sequence[Series]) -> tuple[Term, Term]:
        """The same of totals that were there before the span."""
        across = self.across

        def value(width: float, moments: Floats) -> Bounds:
            return served.growth(held, width, moments, across)

        def text(width: float, at: Moment) -> str:
            return together(parts, across, ranged("rate", width, at))

        def whole(width: float, at: Moment) -> str:
            return together(parts, across, ranged("increase", width, at))

        return Term(text, value), Term(whole, lambda width, moments: _scaled(value(width, moments), width))

    def _between(self, parts: Sequence[Part], held: Sequence[Series]) -> tuple[Term, Term] | None:
        """The same of totals that do not fall, as the difference of two moments: what they began with counts, too."""
        first = parts[0]
        plain = len(parts) == len(first.selectors) == 1 and not first.by and not first.origin.copies
        if not plain or self.across is not Combine.SUM or first.origin.combine != "sum":
            return None
        if any(one.origin.fell > self._begin for one in held):
            return None

        def text(width: float, at: Moment) -> str:
            selector, before = first.selectors[0], Moment(at.end, at.offset + width)
            return _times(f"(sum({selector}{at.text}) - (sum({selector}{before.text}) or vector(0)))", first.origin.scale)

        def value(width: float, moments: Floats) -> Bounds:
            return served.grown(held, width, moments)

        rate = Term(
            lambda width, at: f"{text(width, at)} / {width:g}", lambda width, moments: _scaled(value(width, moments), 1.0 / width)
        )
        return rate, Term(text, value)

    def _gauge(self, signal: str, subjects: Sequence[Subject]) -> Said | None:
        """A level or a state."""
        parts = self._parts(signal, subjects)
        held = self._held(signal, subjects) if parts is not None else None
        if parts is None or held is None:
            return None
        across = self.across
        interval = _slowest(held) or self.frame.recording.step
        flagged = any(part.origin.flag for part in parts)
        is_last = interval > 1.05 * self._step or catalogue()[signal].kind is Kind.STATE
        patience = max(_PATIENCE * self.frame.recording.step, self._step, _PATIENCE * min(interval, _SLOWEST))
        function, values = ("last_over_time", served.lasts) if is_last else ("avg_over_time", served.averages)
        cell = Term(
            lambda width, at: together(parts, across, ranged(function, width, at)),
            lambda width, moments: _exact(statistics.together([values(one, width, moments) for one in held], across)),
        )
        mean = Term(
            lambda width, at: together(parts, across, ranged("avg_over_time", width, at)),
            lambda width, moments: _exact(statistics.together([served.averages(one, width, moments) for one in held], across)),
        )
        whole = all(one.origin.series == 1 for one in held)
        single = whole and len(held) == len(parts) == len(parts[0].selectors) == 1 and not parts[0].origin.copies
        own = (
            (parts[0], held[0])
            if single and interval >= 0.67 * self._step and not flagged and parts[0].origin.scale > 0
            else None
        )
        width = patience if is_last else self._apart(held)
        return Said((mean,) if whole and not flagged else (), cell if whole or not is_last else None, width, 0.0, own)

    def _apart(self, held: Sequence[Series]) -> float:
        """Length of a cell; a second less where samples lie on its edges, of which not every server leaves out the first."""
        phase = (self.end - held[0].times[-5:]) % self._step
        on_edge = bool((np.minimum(phase, self._step - phase) < 0.05).any())
        return self._step - self._spare if on_edge and self._step >= 2.0 else self._step

    def _ratio(self, part: str, whole: str, subjects: Sequence[Subject], *, bounded: bool) -> Said | None:
        """One rate by another, over the last minute."""
        pair = self._pair(part, whole, subjects)
        if pair is None or not pair[0].means or not pair[1].means:
            return None
        above, below = pair[0].means[0], pair[1].means[0]
        width = max(1, round(_MINUTE / self._step)) * self._step

        def value(width: float, moments: Floats) -> Bounds:
            return served.ratio(above.value(width, moments), below.value(width, moments))

        def text(width: float, at: Moment) -> str:
            return f"{above.text(width, at)} / ({below.text(width, at)} > 0)"

        _, shares = value(width, served.moments_of(self.end, self.length, self._step))
        greatest = float(np.max(shares[np.isfinite(shares)], initial=0.0))
        if not (bounded and greatest > 1.0):
            return Said(cell=Term(text, value), width=width, smooth=width)
        most = Term(
            lambda width, at: f"clamp_max({text(width, at)}, 1)", lambda width, moments: _at_most_one(value(width, moments))
        )
        return Said(cell=most, width=width, smooth=width)

    def _quotient(self, above: str, below: str, subjects: Sequence[Subject]) -> Said | None:
        """One level by another."""
        pair = self._pair(above, below, subjects)
        if pair is None:
            return self._by_fact(above, below, subjects)
        if pair[0].cell is None or pair[1].cell is None:
            return None
        (upper, lower), widths = (pair[0].cell, pair[1].cell), (pair[0].width, pair[1].width)

        def value(_width: float, moments: Floats) -> Bounds:
            return served.ratio(upper.value(widths[0], moments), lower.value(widths[1], moments))

        cell = Term(lambda _width, at: f"{upper.text(widths[0], at)} / {lower.text(widths[1], at)}", value)
        return Said(cell=cell, width=self._step)

    def _by_fact(self, above: str, below: str, subjects: Sequence[Subject]) -> Said | None:
        """A level by what is said of a replica."""
        fact = self.frame.recording.fact(STATED[below], subjects[0]) if below in STATED and len(subjects) == 1 else None
        said = self._as(above, subjects) if isinstance(fact, int | float) and fact > 0 else None
        if said is None:
            return None
        factor = 1.0 / float(fact or 1.0)

        def by(term: Term) -> Term:
            return Term(
                lambda width, at: f"{term.text(width, at)} / {fact:g}",
                lambda width, moments: _scaled(term.value(width, moments), factor),
            )

        cell = by(said.cell) if said.cell is not None else None
        return Said(tuple(map(by, said.means)), cell, said.width, said.smooth)

    def _pair(self, part: str, whole: str, subjects: Sequence[Subject]) -> tuple[Said, Said] | None:
        """Two signals of the same single subject, or of all that the service has."""
        if len(subjects) != 1:
            return None
        having = [_having(self.frame, name, subjects) for name in (part, whole)]
        said = [self._as(name, some) if some else None for name, some in zip((part, whole), having, strict=True)]
        return None if said[0] is None or said[1] is None else (said[0], said[1])


_FUNCTIONS: Mapping[str, tuple[str, Callable[[Floats], float | None]]] = {
    "mean": ("avg_over_time(", lambda values: float(np.mean(values))),
    "min": ("min_over_time(", lambda values: float(np.min(values))),
    "max": ("max_over_time(", lambda values: float(np.max(values))),
    "changes": ("changes(", lambda values: float(np.count_nonzero(np.diff(values)))),
    "spread": ("stddev_over_time(", lambda values: float(np.std(values))),
    "slope": ("deriv(", lambda _values: None),
}
"""Statistics over time as PromQL has them. A slope's moments count, too: it is derived."""


def _quantile_over(share: float) -> tuple[str, Callable[[Floats], float | None]]:
    """A quantile over time."""
    return f"quantile_over_time({share:g}, ", lambda values: float(quantile_of(values, share))


def _there(tried: Tried | None) -> Iterator[Tried]:
    if tried is not None:
        yield tried


def _only(values: Floats) -> float | None:
    return float(values[0])


def _answered(bounds: Bounds, function: Callable[[Floats], float | None] = _only) -> float | None:
    """What a function of all that a server answers gives; None if that is nothing, or nobody can tell what."""
    known = ~np.isnan(bounds[0])
    with np.errstate(invalid="ignore"):
        ends = [function(one[known]) for one in bounds] if known.any() else []
    if not ends or ends[0] is None or ends[1] is None:
        return None
    return served.sure(ends[0], ends[1])


def _tried(text: str, bounds: Bounds, function: Callable[[Floats], float | None] = _only) -> Tried:
    """PromQL with what a function of all that a server answers gives."""
    return Tried(text, _answered(bounds, function), bool(np.isfinite(bounds[0]).any()))


def _exact(values: Floats) -> Bounds:
    return values, values


def _scaled(bounds: Bounds, factor: float) -> Bounds:
    return bounds[0] * factor, bounds[1] * factor


def _at_most_one(shares: Bounds) -> Bounds:
    """Shares that are not above 1."""
    return np.minimum(shares[0], 1.0), np.minimum(shares[1], 1.0)


def _times(text: str, scale: float) -> str:
    """A value of the source in base units."""
    return text if scale == 1.0 else f"({text}) * {scale:g}"


def _series(frame: Frame, signal: str) -> Mapping[Subject, Series]:
    """Every measured series of a signal by its subject, as a server has it: without samples that say that there is no value."""
    return frame.remembered(
        ("series by subject", signal), lambda: {one.subject: _told(one) for one in frame.recording.by_signal.get(signal, ())}
    )


_FEW = 16
"""Chosen: of so few subjects the series are read one by one, and not those of everybody."""


def _series_of(frame: Frame, signal: str, subject: Subject) -> Series | None:
    """The measured series of one subject, as a server has it."""
    series = frame.recording.series_of(signal, subject)
    return None if series is None else _told(series)


def _told(one: Series) -> Series:
    """A series without its NaN."""
    told = ~np.isnan(one.values)
    return one if told.all() else replace(one, times=one.times[told], values=one.values[told])


def _held(frame: Frame, signal: str, subjects: Sequence[Subject]) -> list[Series] | None:
    """The measured series of all of some subjects; None if one has none."""
    every = _series(frame, signal) if len(subjects) > _FEW else {}
    told = (every.get(subject) if every else _series_of(frame, signal, subject) for subject in subjects)
    series = [one for one in told if one is not None and len(one.times)]
    return series if len(series) == len(subjects) else None


def _parts_of(frame: Frame, signal: str, subjects: Sequence[Subject], across: Combine) -> tuple[Part, ...] | None:
    """The series of a measured signal of subjects; None if one of them is not measured, or cannot be said."""
    origins = frame.origins.of(signal, subjects)
    if len(origins) < len(subjects) or not _are_measured(frame, signal, subjects):
        return None
    return parts_of(origins, across, catalogue()[signal].kind)


def _are_measured(frame: Frame, signal: str, subjects: Sequence[Subject]) -> bool:
    """Whether sources brought a signal of all of some subjects; asked again it is remembered."""
    key = ("measured", signal, tuple(subjects))
    return frame.remembered(key, lambda: all(_is_measured(frame, signal, one) for one in subjects))


def _is_measured(frame: Frame, signal: str, subject: Subject) -> bool:
    """Whether a source brought a signal, and it was not worked out of others."""
    if catalogue()[signal].kind is Kind.DISTRIBUTION:
        return frame.histogram(signal, subject) is not None
    return (signal, subject) in frame.origins and frame.measured(signal, subject) is not None


def _slowest(held: Sequence[Series]) -> float:
    """The longest of the usual distances of samples, seconds."""
    return max(map(interval_of, {id(one.times): one.times for one in held}.values()))


def interval_of(times: Floats) -> float:
    """Usual distance of samples, seconds; 0 if there is but one."""
    return usual_step(times) if len(times) > 1 else 0.0


def _interval_of(frame: Frame, times: Floats) -> float:
    """The same; asked again of the same moments it is remembered."""
    return frame.remembered(("interval", times.tobytes()), lambda: interval_of(times))


def _are_same(one: Floats, other: Floats) -> bool:
    """Whether two rows of cells are the same where both are known, which they mostly are."""
    known = ~np.isnan(one)
    both = known & ~np.isnan(other)
    return bool(both.sum() >= 0.9 * max(known.sum(), 1)) and bool(np.allclose(one[both], other[both], rtol=1e-6, atol=1e-12))


def _having(frame: Frame, signal: str, subjects: Sequence[Subject]) -> list[Subject]:
    """Those of the subjects that have a signal, or of the service all that have it."""
    having, asked = frame.subjects_of(signal), frozenset(subjects)
    own = [subject for subject in having if subject in asked]
    return own or (having if any(subject.scope is Scope.SERVICE for subject in subjects) else [])


def onset_width(frame: Frame, signal: str, subjects: Sequence[Subject]) -> float:
    """Seconds before it is seen at which a change of a signal may have come: a cell, a scrape, and what a ratio is taken over."""
    leaves = _leaves(frame, signal, subjects)
    told = (frame.spoken(name, subject) for name in leaves for subject in _related(frame, name, subjects))
    moments = {id(times): times for times in told if times is not None}
    scrape = min(max((_interval_of(frame, times) for times in moments.values()), default=frame.recording.step), _SLOWEST)
    over = _MINUTE if signal in RATIOS or signal in _OVER_A_MINUTE else 0.0
    return max(frame.grid.step, scrape, over)


# Inputs


def _inputs(frame: Frame, signal: str, subjects: Sequence[Subject], span: slice) -> Iterator[Input]:
    """What a value was worked out of, each with a query that shows it."""
    seen: dict[str, Input] = {}
    for name in _leaves(frame, signal, subjects):
        having = _related(frame, name, subjects)
        text = _to_look_at(frame, name, having, span)
        if text and text not in seen:
            seen[text] = Input(signal=name, subject=str(having[0] if len(having) == 1 else subjects[0]), query=text)
        for one in having if not text else ():
            if (text := _at_its_endpoint(frame.origins.get((name, one)))) and text not in seen:
                seen[text] = Input(signal=name, subject=str(one), query=text)
    yield from list(seen.values())[:_MOST_INPUTS]


def _leaves(frame: Frame, signal: str, subjects: Sequence[Subject]) -> dict[str, None]:
    """The measured signals that a signal follows from."""
    found: dict[str, None] = {}
    waiting, met = [signal], {signal}
    while waiting:
        name = waiting.pop(0)
        if any(_is_measured(frame, name, one) for one in _related(frame, name, subjects)):
            found[name] = None
        elif name in DERIVATIONS:
            new = [need for need in DERIVATIONS[name].needs if need not in met]
            met.update(new)
            waiting += new
    return found


def _related(frame: Frame, signal: str, subjects: Sequence[Subject]) -> list[Subject]:
    """Whose values of a signal a value of subjects can rest on."""
    having, asked = frame.subjects_of(signal), frozenset(subjects)
    if own := [one for one in having if one in asked]:
        return own
    near = {other for subject in subjects for other in frame.related(subject, catalogue()[signal].scope)}
    return [one for one in having if one in near] or having


def _at_its_endpoint(origin: Origin | None) -> str:
    """The command that shows what an endpoint says of a signal now; empty of what was read elsewhere."""
    if origin is None or not origin.shown_at:
        return ""
    if origin.dialect == _SCRAPER:
        return f"curl -s -o /dev/null -w '%{{http_code}} after %{{time_total}} s\\n' {shlex.quote(origin.shown_at)}"
    return f"curl -s {shlex.quote(origin.shown_at)} | grep {shlex.quote(f'^{origin.metric}')}"


def _to_look_at(frame: Frame, signal: str, subjects: Sequence[Subject], span: slice) -> str:
    """PromQL that shows a measured signal over a span: its mean, however its series are put together."""
    origins = [origin for origin in frame.origins.of(signal, subjects) if origin.selector]
    if not origins:
        return ""
    how = catalogue()[signal].combine
    asked = [_Asked(frame, part, how) for part in (span, frame.grid.window)]
    tried = [one for each in asked for one in each.tried(signal, subjects, "mean")]
    if tried:
        return next((one.text for one in tried if one.answers), "")
    times, step = frame.grid.times, frame.grid.step
    end, length = float(times[span.stop - 1]), (span.stop - span.start) * step
    at, window = Moment(end).text, promql_duration(length)
    selector = frame.remembered(("shared selector", signal, tuple(subjects)), lambda: shared_selector(origins))
    if catalogue()[signal].kind is Kind.DISTRIBUTION:
        sums, counts = sum_and_count(Part((selector, *origins[0].more), origins[0]))
        return f"sum(rate({sums}[{window}]{at})) / sum(rate({counts}[{window}]{at}))"
    if origins[0].counter:
        return f"sum(rate({selector}[{window}]{at}))"
    text = f"avg_over_time({selector}[{window}]{at})"
    return together(
        [Part((selector,), replace(origins[0], copies=(), flag="", scale=1.0, offset=0.0))], Combine.MAX, lambda *_: text
    )


def share_reckoned(
    frame: Frame, part: str, whole: str, subjects: Sequence[Subject], span: slice, value: float | None
) -> Reckoning:
    """How a share of what was counted over a span can be worked out again.

    :param subjects: whose counters they are: the service for all of them
    :param value: the share
    """
    asked = _Asked(frame, span, Combine.SUM)
    having = [_having(frame, name, subjects) for name in (part, whole)]
    ways = [asked.grown(name, some) if some else [] for name, some in zip((part, whole), having, strict=True)]
    for above, below in product(*ways):
        if value is not None and above.value is not None and below.value and _agree(above.value / below.value, value):
            return Reckoning(f"{above.text} / {below.text}")
    return looked_at(frame, (part, whole), subjects, span)


def looked_at(frame: Frame, signals: Sequence[str], subjects: Sequence[Subject], span: slice | None = None) -> Reckoning:
    """The queries of what a value was worked out of, where no single one gives it."""
    span = span or frame.grid.window
    found = {one.query: one for name in signals for one in _inputs(frame, name, subjects, span)}
    return Reckoning("", tuple(found.values())[:_MOST_INPUTS])

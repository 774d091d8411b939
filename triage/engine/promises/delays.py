"""Times that users wait, held against promises, the past, or what nobody puts up with."""

import re
from collections.abc import Iterator, Sequence
from functools import partial
from math import exp, inf

import numpy as np

from triage.classes import dataclass
from triage.engine.derived.arithmetic import total
from triage.engine.frame import Frame
from triage.engine.promises.entries import (
    BURN_OF_MOMENT,
    UNMEASURED,
    Entry,
    Span,
    began,
    ended,
    is_stale,
    open_vital,
    service_of,
    spans,
    surely_above,
)
from triage.engine.promises.table import DELAYS, HELD, Delay
from triage.engine.quantiles import Interval, add_to, observed_until, quantile, shared_bounds, side_by_side, stacked
from triage.engine.queries import reckoned
from triage.engine.sparks import spark_of
from triage.engine.statistics import cells_of, curve_cells, statistic, together
from triage.model.arrays import usual_step
from triage.model.diagnosis import Promised, Vital
from triage.model.recording import Floats, Histogram, Subject
from triage.model.rule import Stat
from triage.model.units import quantity
from triage.model.vocabulary import Combine, catalogue

_LEAST_BASELINE = 5.0
"""Requests before the window below which nothing is known of what is usual."""

_LEAST_REQUESTS = 20.0
"""Requests in a baseline or among the parts that are compared below which a 95th percentile is one request."""

_EXPECTED = 5.0
"""So many requests are expected to end and none does: by chance that happens once in 150 times (Poisson)."""

_LEAST_COUNT = 1e-6
"""Below this a count is zero but for rounding."""

_SCATTER = 0.7
"""Chosen: standard deviation of the logarithm of a time between tokens. Tokens of one batch come with its steps, and a step with
a chunk of somebody's prompt takes twice as long."""

_OF_TOKENS = frozenset(signal for delay in DELAYS if delay.base == "itl" for signal in delay.signals)

_SCATTER_OF_REQUESTS = 0.4
"""Chosen: the same of the mean time per token of a request, in which the steps of hundreds of tokens are evened out."""

_FEWEST_TOKENS = 5.0
"""Chosen: who counts one time for so many tokens counts requests."""

_LEAST_KNOWN = 0.5
"""A promise is kept only if at least half of the window was seen."""

_SAME = 1.5
"""Means that differ by less than this are the same: from one half hour to the next the mix of requests changes as much."""

_HARMLESS = 0.9
"""Harm of a broken promise whose value nobody would find too long: it is no incident."""

_AS_BEFORE = "the bucket is too wide to tell, and on average it takes as long as before"

_QUANTILES: dict[str, tuple[Stat, float]] = {"p50": ("p50", 0.5), "p95": ("p95", 0.95), "p99": ("p99", 0.99)}

_PROMISE = re.compile(r"([a-z0-9]+)_(p50|p95|p99)_s", re.ASCII)


@dataclass(frozen=True)
class Limit:
    """What a delay is held against.

    :param value: seconds
    :param quantile: share of the requests that must stay below it
    :param words: what it is, in words
    :param well: below this it is surely well, where that is not the same
    :param usual: mean before the window, if it is held against the past; then only a mean that is clearly worse counts
    :param floor: below this nothing is too slow
    """

    value: float
    quantile: float
    stat: Stat
    words: str
    well: float
    usual: float | None = None
    floor: float = 0.0

    @property
    def allowed(self) -> float:
        """Share of the requests that may take longer."""
        return 1.0 - self.quantile


@dataclass(frozen=True)
class Tally:
    """Requests of a span by what is known of them.

    :param whole: all
    :param beyond: those that surely took longer than the limit
    :param perhaps: those of which that cannot be excluded
    """

    whole: float
    beyond: float
    perhaps: float
    value: Interval | None
    mean: float | None = None


def delays(frame: Frame) -> Iterator[Entry]:
    """Every delay that users notice, then of the replicas that fare worse than the service."""
    for delay in (*DELAYS, HELD):
        names = sorted(name for name in frame.recording.objectives if _base(name) == delay.base)
        for name in names or ([] if _may_begin_late(delay, frame) else [delay.name]):
            entry = _service(delay, name, frame)
            if entry is not None:
                yield entry
                yield from _parts(delay, name, frame, entry)


def _may_begin_late(delay: Delay, frame: Frame) -> bool:
    """Whether whole answers are held to nothing: who lets the first token come that late waits."""
    promised = frame.recording.objectives
    return delay.base == "e2e" and any(_base(name) == "ttft" and promised[name] >= delay.well for name in promised)


def _base(name: str) -> str:
    """What a promise is about; empty if it is about no delay."""
    match = _PROMISE.fullmatch(name)
    return match[1] if match else ""


def _service(delay: Delay, name: str, frame: Frame) -> Entry | None:
    """One delay of the service, at the view nearest to the user that saw enough; None if nobody measures or promised it."""
    asked = {
        signal: count.estimate
        for signal in delay.signals
        if (subjects := frame.subjects_of(signal))
        and (count := statistic(frame, signal, subjects, "sum", frame.grid.window, Combine.SUM))
    }
    seen = [signal for signal, count in asked.items() if count >= _LEAST_REQUESTS and _saw_most(signal, frame)]
    if asked:
        signal = (seen or list(asked))[0]
        return _judged(delay, name, signal, tuple(frame.subjects_of(signal)), service_of(frame), frame)
    if (entry := _by_the_batch(delay, name, frame)) is not None:
        return entry
    promised = name in frame.recording.objectives
    known = any(frame.subjects_of(signal) for signal in delay.signals)
    rejected = [signal for signal in delay.signals if signal in frame.recording.rejected]
    if not (promised or known or rejected):
        return None
    reason = "its readings are broken" if rejected else "no request in the window" if known else UNMEASURED
    return Entry(open_vital(frame, name, _title(delay, name), reason, unit="seconds", limit=frame.recording.objectives.get(name)))


def _by_the_batch(delay: Delay, name: str, frame: Frame) -> Entry | None:
    """A promise about the time between tokens that nobody measures and that the mean time by Little's law lets no doubt about.

    The mean of the slowest replica must be so far below it that its quantile is not beyond, as times between tokens of a batch
    scatter. It can only be kept: in the batch are also those whose first token is still being made.
    """
    promise, rows = frame.recording.objectives.get(name), frame.of("token.time")
    if delay.base != "itl" or promise is None or not rows or is_stale(frame, ("batch.running", "tokens.generation")):
        return None
    times = together(list(rows.values()), Combine.MAX)[frame.grid.window]
    if np.isnan(times).mean() > _LEAST_KNOWN:
        return None
    match = _PROMISE.fullmatch(name)
    quantile_ = _QUANTILES[match[2] if match else "p95"][1]
    if _furthest(float(np.nanmean(times)), quantile_, _SCATTER) > promise:
        return None
    reason = f"by requests in the batch and tokens a second it takes {quantity(float(np.nanmean(times)), 'seconds')} on average"
    return Entry(
        Vital(
            name=name,
            title=_title(delay, name),
            subject=service_of(frame),
            state=Promised.KEPT,
            unit="seconds",
            limit=promise,
            limit_of=f"objective {name}",
            reason=reason,
        )
    )


def _scatter(signal: str, counted: float, span: Span, frame: Frame) -> float:
    """Standard deviation of the logarithm of such times, at most: between tokens, of their mean over a request, of anything."""
    if signal not in _OF_TOKENS:
        return inf
    tokens = total(frame, "tokens.generation")
    made = None if tokens is None else float(np.nansum(tokens[span.cells])) * frame.grid.step
    return _SCATTER_OF_REQUESTS if made is not None and counted < made / _FEWEST_TOKENS else _SCATTER


def _furthest(mean: float, share: float, scatter: float) -> float:
    """How far a quantile can lie beyond the mean in a log-normal distribution that scatters no more than that."""
    from statistics import NormalDist

    far = NormalDist().inv_cdf(share)
    most = min(scatter, far)  # with more scatter the mean moves out faster than the quantile
    return mean * exp(far * most - most**2 / 2)


def _title(delay: Delay, name: str) -> str:
    match = _PROMISE.fullmatch(name)
    return f"{delay.title} ({match[2] if match else 'p95'})"


def _parts(delay: Delay, name: str, frame: Frame, whole: Entry) -> Iterator[Entry]:
    """Replicas that break the promise while the service as a whole does not show it."""
    subjects = frame.subjects_of(delay.inner)
    if whole.vital.state is Promised.BROKEN or len(subjects) < 2:
        return
    counts = {one: statistic(frame, delay.inner, [one], "sum", frame.grid.window, Combine.SUM) for one in subjects}
    asked = sum(count.estimate for count in counts.values() if count is not None)
    asking = [one for one, count in counts.items() if count is not None and count.estimate >= _LEAST_REQUESTS]
    for one in _perhaps_broken(delay, name, asking, frame):
        count = counts[one]
        entry = _judged(delay, name, delay.inner, (one,), str(one), frame)
        if entry.vital.state is Promised.BROKEN and count is not None:
            yield Entry(
                entry.vital.model_copy(update={"harm": entry.vital.harm * count.estimate / asked}),
                entry.signal,
                entry.subjects,
                entry.stat,
            )


def _perhaps_broken(delay: Delay, name: str, subjects: Sequence[Subject], frame: Frame) -> list[Subject]:
    """Those of some replicas that may break a promise: in some span more requests took surely longer than may.

    All of them are looked at in one go, so that only the few that may are looked at one by one.
    """
    limits = [_limit(delay, name, delay.inner, (one,), frame) for one in subjects]
    parts = spans(frame, (delay.inner,))
    found: list[Subject] = []
    for rows, requests, bounds in _to_edges_by_each([frame.histograms(delay.inner)[one] for one in subjects], frame):
        lows = np.concatenate(([0.0], bounds[:-1]))
        allowed, beyond = (np.array([each(limits[row]) for row in rows]) for each in (_allowed, _least_beyond))
        longer = np.where(lows >= beyond[:, None], 1.0, 0.0)
        may = np.full(len(rows), len(bounds) < 2)
        for span in parts:
            counts = requests[..., span.cells.stop] - requests[..., span.cells.start]
            late = (counts * longer).sum(axis=1)
            may |= (late > 0) & (late >= _NEARLY * allowed * counts.sum(axis=1))
        found += [subjects[row] for row, one in zip(rows, may.tolist(), strict=True) if one]
    return sorted(found)


def _allowed(limit: Limit) -> float:
    return limit.allowed


def _least_beyond(limit: Limit) -> float:
    return limit.value


_NEARLY = 1 - 1e-6
"""Sums in another order differ by rounding."""


def _to_edges_by_each(histograms: Sequence[Histogram], frame: Frame) -> Iterator[tuple[list[int], Floats, Floats]]:
    """Requests in each bucket until each edge of the grid, of those that are alike in one go: shape (K, B, N + 1), and bounds."""
    edges = np.concatenate(([frame.grid.times[0] - frame.grid.step], frame.grid.times))
    begin = 0
    for several in side_by_side(histograms):
        rows = list(range(begin, begin + len(several)))
        begin += len(several)
        yield rows, _to_edges(several[0].times, stacked(several), edges), several[0].bounds


def _judged(delay: Delay, name: str, signal: str, subjects: tuple[Subject, ...], of: str, frame: Frame) -> Entry:
    """A delay of some subjects, put together."""
    limit = _limit(delay, name, signal, subjects, frame)
    tallies = [(span, _tally(signal, subjects, span, limit, frame)) for span in spans(frame, (signal,))]
    broken = [(span, tally) for span, tally in tallies if _is_broken(span, tally, limit, delay)]
    cells = cells_of(frame, signal, subjects, catalogue()[signal].combine)
    whole, lately = tallies[0][1], tallies[-1]
    state, reason = _state(tallies, broken, limit, signal, frame)
    if state is Promised.KEPT and limit.usual is not None and whole.value is not None and whole.value.low >= delay.bad:
        state, reason = Promised.OPEN, "it is as slow as it was before, and that is slower than anybody likes"
    is_over = bool(broken) and lately not in broken and lately[1].whole > 0
    shown = _shown(tallies, broken)
    value = shown[1].value
    by_hand = partial(reckoned, frame, signal, subjects, limit.stat, shown[0].cells)
    if state is Promised.KEPT and value is not None and value.high > limit.well:
        value, reason = (value, _AS_BEFORE) if limit.usual is not None else (_within(value, limit), _bounded_by_sum(limit))
    since = began(cells, frame, limit.value) if broken else None
    vital = Vital(
        name=name,
        title=_title(delay, name),
        subject=of,
        state=state,
        value=value.estimate if value else None,
        low=value.low if value and value.low != value.high else None,
        high=value.high if value and value.low != value.high and np.isfinite(value.high) else None,
        now=lately[1].value.estimate if lately[1].value else None,
        unit="seconds",
        limit=limit.value,
        limit_of=limit.words,
        baseline=_usual(signal, subjects, limit.stat, frame),
        since=since,
        until=ended(cells, frame, limit.value, lately[0].cells) if is_over else None,
        harm=_harm(broken, value, limit, delay, is_over=is_over),
        reason=reason,
        mean=whole.mean if value is None else None,
        spark=spark_of(curve_cells(frame, signal, subjects, limit.stat, shown[0].cells, Combine.SUM), frame.grid, since),
    )
    return Entry(vital.reckoned_by(by_hand), signal, subjects, limit.stat)


def _within(value: Interval, limit: Limit) -> Interval:
    """A quantile whose bucket reaches beyond the limit while the sum of all times leaves no room for so many that took longer."""
    return Interval(min(value.estimate, limit.well), min(value.low, limit.well), limit.well)


def _bounded_by_sum(limit: Limit) -> str:
    """Why a promise is kept although buckets alone do not say so."""
    return f"the sum of all times leaves no room for {quantity(limit.allowed, 'ratio')} beyond {quantity(limit.well, 'seconds')}"


def _harm(broken: Sequence[tuple[Span, Tally]], value: Interval | None, limit: Limit, delay: Delay, *, is_over: bool) -> float:
    """Requests that took too long as times of what is allowed, by how far. A trouble that is over counts by its share of all."""
    counted = [(span, tally) for span, tally in broken if not is_over or span.burn < BURN_OF_MOMENT]
    harms = [
        (tally.beyond if tally.value else tally.whole) / tally.whole / limit.allowed / span.burn * _far(tally, limit)
        for span, tally in counted
    ]
    harm = max(harms, default=_HARMLESS / 2 if broken else 0.0)
    return min(harm, _HARMLESS) if value is not None and value.estimate < delay.well else harm


def _far(tally: Tally, limit: Limit) -> float:
    """How far beyond the limit the quantile lies: barely counts half, twice as long and more counts twice."""
    times = (tally.value.estimate if tally.value else tally.mean or limit.value) / limit.value if limit.value > 0 else 2.0
    return min(max(times - 0.5, 0.5), 2.0)


def _shown(tallies: Sequence[tuple[Span, Tally]], broken: Sequence[tuple[Span, Tally]]) -> tuple[Span, Tally]:
    """The span to tell of: the window if the promise is broken over all of it, else now, else the worst five minutes."""
    if not broken or broken[0] is tallies[0]:
        return tallies[0]
    return broken[-1] if broken[-1] is tallies[-1] else max(broken, key=lambda one: one[1].beyond / one[1].whole)


def _limit(delay: Delay, name: str, signal: str, subjects: Sequence[Subject], frame: Frame) -> Limit:
    """What a delay is held against."""
    promise = frame.recording.objectives.get(name)
    match = _PROMISE.fullmatch(name)
    stat, share = _QUANTILES[match[2] if match else "p95"]
    if promise is not None:
        return Limit(promise, share, stat, f"objective {name}", promise)
    before = _mean(signal, subjects, frame.grid.baseline, frame) if frame.grid.usual else None
    if before is not None and _asked_before(signal, subjects, frame) >= _LEAST_BASELINE:
        usual = _usual(signal, subjects, stat, frame)
        least = delay.well if _other_is_promised(delay, frame) else delay.floor
        limit = max(delay.worse * (before if usual is None else usual), least)
        words = f"what anybody finds too long: {delay.why}" if limit == delay.well else f"{delay.worse:g} × baseline"
        return Limit(limit, share, stat, words, limit, before, least)
    return Limit(delay.bad, share, stat, f"what anybody finds too long: {delay.why}", delay.well)


def _other_is_promised(delay: Delay, frame: Frame) -> bool:
    """Whether people said what matters, and it was another delay: this one is well then as long as anybody would sign it."""
    return any(_base(name) not in ("", delay.base) for name in frame.recording.objectives)


def _asked_before(signal: str, subjects: Sequence[Subject], frame: Frame) -> float:
    """Requests before the window."""
    count = statistic(frame, signal, subjects, "sum", frame.grid.baseline, Combine.SUM) if frame.grid.usual else None
    return count.estimate if count else 0.0


def _usual(signal: str, subjects: Sequence[Subject], stat: Stat, frame: Frame) -> float | None:
    """The statistic before the window; None without enough requests there."""
    enough = _asked_before(signal, subjects, frame) >= _LEAST_BASELINE
    value = statistic(frame, signal, subjects, stat, frame.grid.baseline, Combine.SUM) if enough else None
    return value.estimate if value is not None and np.isfinite(value.estimate) else None


def _mean(signal: str, subjects: Sequence[Subject], span: slice, frame: Frame) -> float | None:
    value = statistic(frame, signal, subjects, "mean", span, Combine.SUM)
    return None if value is None else value.estimate


def _tally(signal: str, subjects: Sequence[Subject], span: Span, limit: Limit, frame: Frame) -> Tally:
    """The requests of a span, by buckets and by their sum.

    Buckets say of some requests that they took longer and of others that they did not. Of those in the bucket around the limit
    at most so many took longer as the sum of all times leaves room for.
    """
    counted = _counted(signal, tuple(subjects), frame)
    counts, bounds = counted.requests[span.cells.stop] - counted.requests[span.cells.start], counted.bounds
    if counts.sum() <= _LEAST_COUNT:
        return Tally(0.0, 0.0, 0.0, None)
    mean = counted.mean(span.cells)
    lows = np.concatenate(([0.0], bounds[:-1]))
    whole, beyond = float(counts.sum()), float(counts[lows >= limit.value].sum())
    around = (lows < limit.well) & (bounds > limit.well)
    unsure = float(counts[around].sum())
    if mean is not None and unsure > 0:
        room = mean * whole - float(counts @ lows)
        unsure = min(unsure, max(room, 0.0) / (limit.well - float(lows[around][0])))
    perhaps = float(counts[lows >= limit.well].sum()) + unsure
    scatter = _scatter(signal, whole, span, frame) if len(bounds) == 1 else None
    if mean is not None and scatter is not None and _furthest(mean, limit.quantile, scatter) <= limit.well:
        perhaps = 0.0  # only sum and count: times that scatter so have their quantile no further beyond their mean
    return Tally(whole, beyond, perhaps, quantile(counts, bounds, limit.quantile), mean)


@dataclass(frozen=True)
class Counted:
    """Requests from the beginning to each edge of the grid.

    :param requests: in each bucket, shape (N + 1, B)
    :param bounds: upper bounds of the buckets, those that all subjects have, shape (B,)
    :param seconds: sum of their times, shape (N + 1,)
    :param timed: requests whose time is in that sum, shape (N + 1,)
    """

    requests: Floats
    bounds: Floats
    seconds: Floats
    timed: Floats

    def mean(self, span: slice) -> float | None:
        """Mean time in a span; None if nobody told sums."""
        count = float(self.timed[span.stop] - self.timed[span.start])
        return float(self.seconds[span.stop] - self.seconds[span.start]) / count if count > _LEAST_COUNT else None


def _counted(signal: str, subjects: tuple[Subject, ...], frame: Frame) -> Counted:
    """The requests of some subjects together. Worked out once, since every span asks for it."""
    return frame.remembered(("counted", signal, subjects), lambda: _count(signal, subjects, frame))


def _count(signal: str, subjects: tuple[Subject, ...], frame: Frame) -> Counted:
    histograms = [h for one in subjects if (h := frame.histogram(signal, one)) is not None and len(h.bounds)]
    bounds = shared_bounds(histograms)
    edges = np.concatenate(([frame.grid.times[0] - frame.grid.step], frame.grid.times))
    requests, rest = np.zeros((len(bounds), len(edges))), np.zeros((2, len(edges)))
    for several in side_by_side(histograms):
        times, rates = several[0].times, stacked(several)
        sums = np.stack([one.sums for one in several])
        timed = np.where(np.isnan(sums), 0.0, rates.sum(axis=2))
        counted, both = (_to_edges(times, rows, edges) for rows in (rates, np.stack((sums, timed), axis=2)))
        for one, other in zip(counted, both, strict=True):
            add_to(requests, bounds, one, several[0].bounds)
            rest += other
    return Counted(requests.T, bounds, rest[0], rest[1])


def _to_edges(times: Floats, rates: Floats, edges: Floats) -> Floats:
    """What was counted until each edge, of several that were read at the same moments, shape (K, B, edges).

    :param rates: shape (K, T, B)
    """
    usual = usual_step(times) if len(times) > 1 else float(edges[-1] - edges[0])
    return observed_until(times, rates, edges, usual)


def _is_broken(span: Span, tally: Tally, limit: Limit, delay: Delay) -> bool:
    """Whether surely more requests took longer than may; against the past only where the mean, too, is clearly worse."""
    if limit.usual is not None and (tally.mean is None or tally.mean < max(delay.floor, delay.worse * limit.usual)):
        return False
    if tally.value is None and tally.mean is not None:
        return tally.mean >= limit.value and tally.whole >= _LEAST_REQUESTS
    return surely_above(tally.beyond, tally.whole, limit.allowed, span.doubt)


def _state(
    tallies: Sequence[tuple[Span, Tally]],
    broken: Sequence[tuple[Span, Tally]],
    limit: Limit,
    signal: str,
    frame: Frame,
) -> tuple[Promised, str]:
    """What became of the promise, and why if it is not plainly so."""
    if broken:
        worst = _shown(tallies, broken)
        if worst[1].value is None:
            return Promised.BROKEN, f"{worst[0].words} it takes {quantity(worst[1].mean or 0.0, 'seconds')} on average"
        share = worst[1].beyond / worst[1].whole
        longer = f"{quantity(share, 'ratio')} of the requests took longer than {quantity(limit.value, 'seconds')}"
        return Promised.BROKEN, f"{worst[0].words} {longer}"
    return _unbroken(tallies, limit, signal, frame)


def _unbroken(tallies: Sequence[tuple[Span, Tally]], limit: Limit, signal: str, frame: Frame) -> tuple[Promised, str]:
    """Whether a promise that is not surely broken is kept."""
    whole = tallies[0][1]
    if is_stale(frame, (signal,)):
        return Promised.OPEN, "its last values are older than a few scrapes"
    if _nothing_ends(tallies, frame):
        return Promised.OPEN, "requests are inside and none ends, so those that ended say nothing of the others"
    if _known_share(signal, frame) < _LEAST_KNOWN:
        return Promised.OPEN, "it was seen in less than half of the window"
    if limit.usual is not None and whole.mean is not None:
        if whole.mean <= max(_SAME * limit.usual, limit.floor):
            return Promised.KEPT, ""
        return Promised.OPEN, f"{whole.mean / limit.usual:.2g} times the usual on average: slower, and not clearly too slow"
    if whole.perhaps <= limit.allowed * whole.whole + 1e-9:
        return Promised.KEPT, ""
    return Promised.OPEN, _doubt(whole, limit)


def _doubt(whole: Tally, limit: Limit) -> str:
    """Why nobody can say whether a promise is kept."""
    if limit.well != limit.value:
        return "nobody promised anything, there is no past, and it is neither surely well nor surely too long"
    if whole.value is None and whole.mean is not None:
        return "only its mean is known, and that leaves it open"
    if whole.beyond <= limit.allowed * whole.whole:
        return f"the bucket around the limit of {quantity(limit.value, 'seconds')} is too wide to tell"
    return f"{round(whole.whole)} requests are too few to tell"


def _saw_most(signal: str, frame: Frame) -> bool:
    """Whether somebody counted in most of the window, up to its end: a view that ended says nothing of now."""
    return not is_stale(frame, (signal,)) and _known_share(signal, frame) >= _LEAST_KNOWN


def _known_share(signal: str, frame: Frame) -> float:
    """Share of the window in which anybody counted."""
    rows = [pair[1][frame.grid.window] for one in frame.subjects_of(signal) if (pair := frame.sum_and_count(signal, one))]
    return 1.0 - float(np.isnan(np.stack(rows)).all(axis=0).mean()) if rows else 0.0


def _nothing_ends(tallies: Sequence[tuple[Span, Tally]], frame: Frame) -> bool:
    """Whether requests are inside all the while and none ends now where several should."""
    whole, (span, lately) = tallies[0][1], tallies[-1]
    inside = total(frame, "batch.running", "queue.waiting")
    if inside is None or lately.whole > 0:
        return False
    expected = whole.whole * (span.cells.stop - span.cells.start) / (len(frame.grid.times) - frame.grid.first)
    held: Floats = inside[span.cells]
    return expected >= _EXPECTED and bool(np.nanmin(held, initial=np.inf) >= 1) and not np.isnan(held).all()

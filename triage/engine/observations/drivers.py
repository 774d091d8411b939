"""Drivers: which factor made the load grow, by arithmetic. Load = arrivals × work per request / (replicas × pace)."""

from collections.abc import Callable
from math import log

import numpy as np

from triage.classes import dataclass
from triage.engine.derived.arithmetic import first_measured, total
from triage.engine.frame import Frame
from triage.engine.observations.comparing import PER
from triage.engine.observations.curves import Bools, moment
from triage.engine.statistics import cells_of, together
from triage.model.arrays import median_of_known
from triage.model.observation import Judged, Observation, Seen
from triage.model.recording import Floats, Subject
from triage.model.units import number
from triage.model.vocabulary import Combine, Scope, catalogue

_GREW = 1.5
"""Requests inside grow by chance by less than this."""

_LEAST_GROWTH = 2.0
"""So many requests more inside are no growth yet."""

_FACTOR = 1.25
"""A factor below this drives nothing."""

_LEAST_CELLS = 4
"""With fewer known cells a level is a blip (as ``_LEAST_SAMPLES`` of shifts)."""

_AT_LIMIT = 0.95
"""As the limit of batch.fill in triage/engine/observations/comparing.py."""

_ROOM = 0.8
"""Chosen: with a fifth of the cache free it is not the cache that holds requests back."""

_LEAST_REQUESTS = 15.0
"""Chosen: a mean over fewer requests differs from the next by the factor that is asked for."""

_FLOWS = 0.5
_FEW_END = 0.5
"""If answers end at less than half their rate while tokens flow at more than half of theirs, those that ended say little of the
others."""


@dataclass(frozen=True)
class Spans:
    """The cells that are compared: those before, and those in the window in which the load is up."""

    before: Floats
    after: Floats

    def ratio(self, cells: Floats | None) -> float | None:
        """How many times as much it is after; None if too little is known of it."""
        if cells is None:
            return None
        old, new = cells[self.before > 0], cells[self.after > 0]
        if min((~np.isnan(old)).sum(), (~np.isnan(new)).sum()) < _LEAST_CELLS:
            return None
        usual = float(np.nanmean(old))
        return float(np.nanmean(new)) / usual if usual > 0 else None


def drivers(frame: Frame) -> Seen:
    """Factors by which the load grew; judged are those that could be worked out."""
    service = Subject(Scope.SERVICE, frame.recording.service)
    inside = _inside(frame)
    if inside is None or frame.grid.usual < _LEAST_CELLS:
        return Seen()
    spans, growth, began = _spans(inside, frame)
    if spans is None:
        return Seen()
    factors = {of: size for of, work in FACTORS.items() if (size := work(frame, spans)) is not None}
    judged: set[Judged] = {("driver", of, Scope.SERVICE) for of in factors}
    if growth < _GREW:
        return Seen((), frozenset(judged))
    at_work = {of: size for of, size in factors.items() if size >= _FACTOR}
    whole = sum(log(size) for of, size in at_work.items() if of != _BOTTLENECK)
    first = max((of for of in at_work if of != _BOTTLENECK), key=lambda of: (at_work[of], of), default="")
    odd = []
    for of, size in sorted(at_work.items()):
        share = log(size) / whole if of != _BOTTLENECK else 0.0 if first else 1.0
        attrs = {"share": f"{share:.2f}", "first": "yes" if of == (first or of) else "no", "growth": f"{growth:.2f}"}
        if of == "arrivals":
            attrs["counted"] = "distinct" if frame.has("requests.distinct") else "attempts"
        odd.append(
            Observation(
                sort="driver",
                of=of,
                subject=service,
                text=f"requests inside grew {number(growth, 2)} times; {_WORDS[of]} {number(size, 2)} times as before",
                onset=began,
                against="past",
                direction="worse",
                size=size,
                source="service",
                attrs=attrs,
            )
        )
    return Seen(tuple(odd), frozenset(judged))


_BOTTLENECK = "limit"
"""A limit makes what came grow into a queue; by itself it drives nothing unless nothing else changed."""

_WORDS = {
    "arrivals": "arrivals",
    "attempts": "attempts per request",
    "prompt-length": "prompt tokens per request",
    "answer-length": "answer tokens per request",
    "prefix-hits": "the part of the prompts that no cache held",
    "pace": "time per token at equal batch",
    "replicas": "requests per replica for want of replicas",
    "skew": "the busiest replica's part",
    "limit": "the batch is at its limit with room in the KV cache: what waits is",
}


def _inside(frame: Frame) -> Floats | None:
    """Requests that run or wait, shape (N,)."""
    rows = [cells for name in ("batch.running", "queue.waiting") if (cells := total(frame, name)) is not None]
    if rows:
        pending = total(frame, "gateway.pending")
        return together([*rows, *([] if pending is None else [pending])], Combine.SUM)
    return first_measured(total(frame, "gateway.active"), total(frame, "http.active"), total(frame, "backend.active"))


def _spans(inside: Floats, frame: Frame) -> tuple[Spans | None, float, tuple[float, float] | None]:
    """The cells before, those with the load up, by how much it is up, and between which moments it came up."""
    first, width = frame.grid.first, moment(frame)
    known = np.where(np.isnan(inside), 0.0, 1.0)
    kernel = np.ones(width)
    with np.errstate(invalid="ignore", divide="ignore"):
        smooth = np.convolve(np.nan_to_num(inside), kernel)[: len(inside)] / np.convolve(known, kernel)[: len(inside)]
    old, new = smooth[frame.grid.baseline], smooth[first:]
    if (~np.isnan(old)).sum() < _LEAST_CELLS or (~np.isnan(new)).sum() < _LEAST_CELLS:
        return None, 1.0, None
    usual, peak = median_of_known(old), float(np.nanmax(new))
    index = np.arange(len(inside))
    with np.errstate(invalid="ignore"):
        up = (smooth >= (usual + peak) / 2.0) & (index >= first)
    grown = peak >= usual + _LEAST_GROWTH
    growth = (peak + 1.0) / (usual + 1.0) if grown else 1.0
    if not grown or growth < _GREW:
        up = index >= first
    starts = np.flatnonzero(up)
    begun = int(starts[0])
    times = frame.grid.times
    began = (float(times[max(begun - width, 0)]), float(times[begun])) if growth >= _GREW else None
    early = np.array(index < frame.grid.usual, dtype=float)
    # what drives the load comes before it: the arrivals of the time in which it builds up count, too
    reach = np.array((index >= max(begun - width, first)) & (index <= starts[-1]), dtype=float)
    return Spans(early, reach), growth, began


def _all(frame: Frame, name: str) -> Floats | None:
    """A signal of all subjects together."""
    subjects = frame.subjects_of(name)
    return cells_of(frame, name, subjects, catalogue()[name].combine) if subjects else None


def _per_request(name: str, tokens: str) -> Callable[[Frame, Spans], float | None]:
    """Growth of a length: of finished requests, else of tokens per finished request."""

    def worked_out(frame: Frame, spans: Spans) -> float | None:
        pairs = [pair for one in frame.subjects_of(name) if (pair := frame.sum_and_count(name, one)) is not None]
        if pairs:
            above, below = (together([pair[part] for pair in pairs], Combine.SUM) for part in (0, 1))
        else:
            made, ended = total(frame, tokens), total(frame, "finished")
            if made is None or ended is None:
                return None
            above, below = made, ended
        return _mean_ratio(above, below, spans, frame.grid.step)

    return worked_out


def _answer_length(frame: Frame, spans: Spans) -> float | None:
    """Growth of the answers: of those that ended, or where few end and tokens flow on, at least of the tokens per ended one."""
    of_ended = _per_request("length.generation", "tokens.generation")(frame, spans)
    endings = total(frame, "finished")
    made, ended = spans.ratio(total(frame, "tokens.generation")), spans.ratio(endings)
    if endings is None or made is None or ended is None or made < _FLOWS or ended > _FEW_END:
        return of_ended
    counted = float(np.nansum(endings[spans.before > 0])) * frame.grid.step
    if counted < _LEAST_REQUESTS:
        return of_ended
    return max(of_ended or 0.0, made / max(ended, 1.0 / counted))


def _mean_ratio(above: Floats, below: Floats, spans: Spans, step: float) -> float | None:
    """Growth of a quotient of sums; None with too few in either span."""
    means = []
    for span in (spans.before, spans.after):
        chosen = (span > 0) & ~np.isnan(above) & ~np.isnan(below)
        count = float(below[chosen].sum())
        if count * step < _LEAST_REQUESTS:
            return None
        means.append(float(above[chosen].sum()) / count)
    return means[1] / means[0] if means[0] > 0 else None


def _arrivals(frame: Frame, spans: Spans) -> float | None:
    return spans.ratio(first_measured(_all(frame, "service.demand"), _all(frame, "http.requests")))


def _attempts(frame: Frame, spans: Spans) -> float | None:
    sent, wanted = _all(frame, "service.arrivals"), total(frame, "requests.distinct")
    if sent is not None and wanted is not None:
        return _mean_ratio(sent, wanted, spans, frame.grid.step)
    onward, received = total(frame, "gateway.upstream_requests"), total(frame, "gateway.requests")
    return None if onward is None or received is None else _mean_ratio(onward, received, spans, frame.grid.step)


def _prefix_hits(frame: Frame, spans: Spans) -> float | None:
    """Growth of the part of the prompts that has to be computed because no cache holds it."""
    found, asked = total(frame, "prefix.hits"), total(frame, "prefix.queries")
    if found is None or asked is None:
        found, asked = total(frame, "tokens.prompt_cached"), total(frame, "tokens.prompt")
    return None if found is None or asked is None else _mean_ratio(asked - found, asked, spans, frame.grid.step)


def _pace(frame: Frame, spans: Spans) -> float | None:
    """Growth of the time per token beyond what the larger batch explains."""
    slower, fuller = spans.ratio(_all(frame, "token.time")), spans.ratio(_mean_batch(frame))
    if slower is None:
        return None
    return float(slower / max(fuller or 1.0, 1.0) ** PER["token.time"][0].exponent)


def _mean_batch(frame: Frame) -> Floats | None:
    rows = list(frame.of("batch.running").values())
    return together(rows, Combine.MEAN) if rows else None


def _replicas(frame: Frame, spans: Spans) -> float | None:
    """By how much more each of the replicas that are left has to do."""
    grown = spans.ratio(first_measured(total(frame, "service.replicas_alive"), total(frame, "replicas.ready")))
    return None if grown is None else min(1.0 / max(grown, 0.05), 20.0)


def _skew(frame: Frame, spans: Spans) -> float | None:
    """Growth of the busiest replica's part, as a multiple of an equal part; who is lost has no part."""
    held = [
        together(
            [cells for name in ("batch.running", "queue.waiting") if (cells := frame.cells(name, one)) is not None], Combine.SUM
        )
        for one in frame.subjects_of("batch.running")
    ]
    if len(held) < 2:
        return None
    parts = []
    for span in (spans.before, spans.after):
        means = np.array([np.nanmean(row[span > 0]) if (~np.isnan(row[span > 0])).any() else np.nan for row in held])
        means = means[~_lost(frame, span)]
        if (~np.isnan(means)).sum() < 2:  # nobody to share with
            return None
        parts.append((float(np.nanmax(means)) + 1.0) / (float(np.nanmean(means)) + 1.0))
    return parts[1] / parts[0]


def _lost(frame: Frame, span: Floats) -> Bools:
    """Which of the replicas that hold requests are lost for most of a span."""
    rows = [frame.cells("replica.lost", one) for one in frame.subjects_of("batch.running")]
    return np.array([row is not None and float(np.nan_to_num(row[span > 0]).mean()) > 0.5 for row in rows])


def _limit(frame: Frame, spans: Spans) -> float | None:
    """Growth of what waits while the batch is at its limit and the KV cache has room."""
    fill, waiting, kv = _all(frame, "batch.fill"), total(frame, "queue.waiting"), _all(frame, "kv.fill")
    if fill is None or waiting is None:
        return None
    chosen = (spans.after > 0) & ~np.isnan(fill) & ~np.isnan(waiting)
    if chosen.sum() < _LEAST_CELLS:
        return None
    held = fill[chosen] >= _AT_LIMIT
    room = np.ones(len(held), dtype=bool) if kv is None else ~(kv[chosen] >= _ROOM)
    if (held & room & (waiting[chosen] >= 1)).mean() < 0.5:
        return 1.0
    early = waiting[spans.before > 0]
    return (float(waiting[chosen].mean()) + 1.0) / (float(np.nanmean(early)) + 1.0 if (~np.isnan(early)).any() else 1.0)


FACTORS: dict[str, Callable[[Frame, Spans], float | None]] = {
    "arrivals": _arrivals,
    "attempts": _attempts,
    "prompt-length": _per_request("length.prompt", "tokens.prompt"),
    "answer-length": _answer_length,
    "prefix-hits": _prefix_hits,
    "pace": _pace,
    "replicas": _replicas,
    "skew": _skew,
    "limit": _limit,
}

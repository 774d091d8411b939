"""Derived signals: what follows from measured ones by arithmetic. A derived signal is unknown where an input is.

Each is a function of a frame and a subject that returns the cells, shape (N,), or None if an input was never measured.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from triage.engine.derived import physical, traffic
from triage.engine.derived.arithmetic import first_measured, own_total, quotient, ratio, share, total
from triage.engine.derived.autoscaling import autoscaler_excess, autoscaler_share
from triage.engine.derived.drift import with_drift
from triage.engine.derived.fleet import age_order, restart_gain, version_slowdown
from triage.engine.derived.hosts import context_ratio, memory_per_request, memory_unowned, node_lost
from triage.engine.derived.lifecycle import ending, failures, failures_at_endings, sent_astray, starting, turns
from triage.engine.derived.occupancy import computed_again, idle, kv_fill, kv_needed, kv_stranded, pinned, token_time
from triage.engine.derived.releases import version_failures
from triage.engine.frame import Frame
from triage.engine.physics import latency
from triage.engine.statistics import together
from triage.model.recording import Floats, Origin, Subject
from triage.model.vocabulary import Combine, Scope, catalogue

Bools = npt.NDArray[np.bool_]
Derivation = Callable[[Frame, Subject], Floats | None]

_LEAST_BATCH = 2
"""A limit of one request at a time is a choice, no batch."""

_LATE_SCRAPES = 2
"""Chosen: cells by which the last scrape may come after the last sign of life."""

_SAME_START = 1.0
"""Seconds by which start times of one process differ: whole seconds and fractions."""

_REPLACED = 600.0
"""Seconds before the end of a replica within which its successor may have come up."""

_TAKEN_AWAY = 240.0
"""Seconds for which a pod may be listed after its process has ended on purpose."""

_NEAR_PEAK = 0.85
"""A full batch loses and takes in members all the time: scrapes see it a few requests below its limit."""


def derive(frame: Frame) -> None:
    """Adds all derived signals to a frame, in the order of their table (later ones may use earlier ones), and derived events.

    What a source measures itself is derived only for the subjects that it does not measure.
    """
    for signal, derivation in DERIVATIONS.items():
        scope = catalogue()[signal].scope
        for subject in _subjects(frame, scope):
            if not catalogue()[signal].derived and frame.cells(signal, subject) is not None:
                continue
            cells = derivation(frame, subject)
            if cells is not None:
                frame.put(signal, subject, cells, _origin(frame, signal, subject))
    frame.recording = with_drift(frame)


def _subjects(frame: Frame, scope: Scope) -> Sequence[Subject]:
    """Whom signals of a scope are derived for."""
    if scope is Scope.SERVICE:
        return [Subject(Scope.SERVICE, frame.recording.service)]
    return frame.recording.subjects[scope]


def _origin(frame: Frame, signal: str, subject: Subject) -> Origin | None:
    """Where to look at a derived signal by hand: at its first input."""
    source = _LOOK_AT.get(signal)
    return frame.origins.get((source, subject)) if source else None


_LOOK_AT = {
    "prefix.hit_ratio": "prefix.hits",
    "container.cpu_throttled": "container.cpu_throttled_periods",
    "engine.stalled": "batch.running",
}


# Replicas


def _prefix_hit_ratio(frame: Frame, replica: Subject) -> Floats | None:
    get = frame.cells
    return first_measured(
        share(get("prefix.hits", replica), get("prefix.queries", replica), frame),
        share(get("tokens.prompt_cached", replica), get("tokens.prompt", replica), frame),
        share(get("tokens.prompt_cached", replica), _all_prompt_tokens(frame, replica), frame),
        get("prefix.hit_ratio_reported", replica),
    )


def _all_prompt_tokens(frame: Frame, replica: Subject) -> Floats | None:
    """Prompt tokens, where only cached and computed ones are counted; None unless both are."""
    parts = [frame.cells(f"tokens.prompt_{part}", replica) for part in ("cached", "computed")]
    known = [part for part in parts if part is not None]
    return known[0] + known[1] if len(known) == len(parts) else None


def _prefill_per_request(frame: Frame, replica: Subject) -> Floats | None:
    computed = first_measured(frame.cells("tokens.prompt_computed", replica), frame.cells("tokens.prompt", replica))
    return ratio(computed, traffic.finished(frame, replica), frame)


def _share_of_finished(signal: str) -> Derivation:
    return lambda frame, replica: share(frame.cells(signal, replica), traffic.finished(frame, replica), frame)


def _share_of(part: str, whole: str) -> Derivation:
    return lambda frame, subject: share(frame.cells(part, subject), frame.cells(whole, subject), frame)


def _ratio_of(part: str, whole: str) -> Derivation:
    return lambda frame, subject: ratio(frame.cells(part, subject), frame.cells(whole, subject), frame)


def _quotient_of(above: str, below: str) -> Derivation:
    return lambda frame, subject: quotient(frame.cells(above, subject), frame.cells(below, subject))


def _batch_fill(frame: Frame, replica: Subject) -> Floats | None:
    running, limit = frame.cells("batch.running", replica), frame.cells("batch.limit", replica)
    if limit is None:
        fact = frame.recording.fact("max_num_seqs", replica)
        limit = np.full(len(frame.grid.times), float(fact)) if isinstance(fact, int | float) and fact > 0 else None
    return quotient(running, limit)


def _plateau(frame: Frame, replica: Subject) -> Floats | None:
    """1 where requests wait and no more run than ever: what a limit looks like that nobody tells."""
    running, waiting = frame.cells("batch.running", replica), frame.cells("queue.waiting", replica)
    if running is None or waiting is None or np.isnan(running).all():
        return None
    peak = float(np.nanmax(running))
    held = (waiting >= 1) & (running >= _NEAR_PEAK * peak) & (running >= _LEAST_BATCH)
    return np.where(np.isnan(running) | np.isnan(waiting), np.nan, held.astype(float))


def _time_per_step(frame: Frame, replica: Subject) -> Floats | None:
    steps, running = frame.cells("engine.steps", replica), frame.cells("batch.running", replica)
    if steps is None:
        return frame.cells("engine.step_time", replica)
    busy = steps > 0 if running is None else (steps > 0) & (running >= 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(busy, 1.0 / steps, np.nan)


_RATES_OF_LIFE = ("engine.steps", "kv.allocated", "tokens.generation", "tokens.prompt", "tokens.prompt_computed")

_COUNTED_AT_THE_END = frozenset({"trtllm", "tgi", "llamacpp"})
"""Dialects of engines that count tokens when a request ends: while long answers are written their counters stand still."""

_MOVES = 1e-6
"""A step time that changes by less than this share is the last one told again."""


def _stalled(frame: Frame, replica: Subject) -> Floats | None:
    """1 where requests are held while every heartbeat that is known stands still; unknown if none is that beats all the time.

    Where only those that run or only those that wait are counted, none of them is not none at all.
    """
    held = own_total(frame, replica, "batch.running", "queue.waiting")
    counts_all = all(frame.cells(name, replica) is not None for name in ("batch.running", "queue.waiting"))
    rates = {name: cells for name in _RATES_OF_LIFE if (cells := frame.cells(name, replica)) is not None}
    beats = [(cells > 0).astype(float) + 0 * cells for cells in rates.values()]
    told = frame.cells("engine.step_time", replica)
    if told is not None:
        beats.append(_changed(np.where(_sampled(frame, "engine.step_time", replica), told, np.nan)))
    steady = told is not None or any(_beats_all_the_time(frame, name, replica) for name in rates)
    if held is None or not steady:
        return None
    beat = together(beats, Combine.MAX)
    unknown = np.isnan(held) | np.isnan(beat) | ((held < 1) & (not counts_all) & (beat <= 0))
    return np.where(unknown, np.nan, ((held >= 1) & (beat <= 0)).astype(float))


def _beats_all_the_time(frame: Frame, signal: str, replica: Subject) -> bool:
    """Whether a counter moves while requests are worked on, and not only when they end."""
    origin = frame.origins.get((signal, replica))
    return not (signal.startswith("tokens.") and origin is not None and origin.dialect in _COUNTED_AT_THE_END)


def _sampled(frame: Frame, signal: str, replica: Subject) -> Bools:
    """Cells in which a sample of a gauge lies; in others its last value is held, which is no news."""
    edges = np.concatenate(([frame.grid.times[0] - frame.grid.step], frame.grid.times))
    times = next((one.times for one in frame.recording.by_signal.get(signal, ()) if one.subject == replica), np.zeros(0))
    return np.asarray(np.diff(np.searchsorted(times, edges, side="right")) > 0)


def _changed(cells: Floats) -> Floats:
    """1 where a value differs from the last known one, 0 where it is the same, NaN where it is unknown or the first."""
    known = np.flatnonzero(~np.isnan(cells))
    out = np.full(len(cells), np.nan)
    before, after = cells[known[:-1]], cells[known[1:]]
    out[known[1:]] = (np.abs(after - before) > _MOVES * np.abs(before)).astype(float)
    return out


_SIGNS_OF_LIFE = (
    "batch.running",
    "queue.waiting",
    "tokens.generation",
    "engine.steps",
    "finished",
    "kv.usage",
    "process.start_time",
)


def alive(frame: Frame, replica: Subject) -> Floats | None:
    """1 where the engine gives signs of life, 0 where it gave some before and its neighbours go on, NaN before its first.

    Where nobody has values any more, the silence says nothing of the engine: NaN.
    """
    rows = [cells for name in _SIGNS_OF_LIFE if (cells := frame.cells(name, replica)) is not None]
    if not rows:
        return None
    here = ~np.isnan(np.stack(rows)).all(axis=0)
    up = frame.cells("target.up", replica)
    if up is not None:
        here &= ~(up == 0)
    here = _bridged(np.asarray(here), frame.cells("process.start_time", replica))
    begun = np.maximum.accumulate(here)
    return np.where(begun & _somebody_measured(frame), here.astype(float), np.nan)


def _bridged(here: Bools, start: Floats | None) -> Bools:
    """Silences after which the same process goes on are gaps in the samples: it lived all the time."""
    out = here.copy()
    if start is None:
        return out
    told = np.flatnonzero(here & ~np.isnan(start))
    for before, after in pairwise(told):
        if abs(start[after] - start[before]) <= _SAME_START:
            out[before:after] = True
    return out


def _somebody_measured(frame: Frame) -> Bools:
    """Cells in which somebody who knows of replicas had values: engines, gateway, cluster. Hosts and cards do not know."""
    names = ("gateway.requests", "pod.ready", *_SIGNS_OF_LIFE)
    rows = [cells for name in names for cells in frame.of(name).values()]
    rows += [cells for subject, cells in frame.of("target.up").items() if subject.scope is Scope.REPLICA]
    return np.asarray(~np.isnan(np.stack(rows)).all(axis=0))


def _lost(frame: Frame, replica: Subject) -> Floats | None:
    """1 while a replica that was there gives no sign of life although its pod has not been taken away on purpose."""
    state = alive(frame, replica)
    if state is None:
        return None
    lost = np.where(np.isnan(state), np.nan, 1.0 - state)
    pod = frame.cells("pod.ready", replica)
    if pod is None or np.isnan(pod).all():
        return _unless_replaced(frame, replica, lost)
    listed = ~np.isnan(pod)
    lost = np.where((lost == 1) & ~listed & np.maximum.accumulate(listed), np.nan, lost)
    return _without_last_silence(lost, listed, round(_TAKEN_AWAY / frame.grid.step))


def _unless_replaced(frame: Frame, replica: Subject, lost: Floats) -> Floats:
    """Where nobody lists pods, one that goes for good while another comes, or with its target, may be taken away: unknown."""
    living = np.flatnonzero(lost == 0)
    if not len(living) or not (lost[living[-1] + 1 :] == 1).any():
        return lost
    end = int(living[-1]) + 1
    since = end - round(_REPLACED / frame.grid.step)
    others = (alive(frame, one) for one in frame.recording.subjects[Scope.REPLICA] if one != replica)
    begun = [int(np.flatnonzero(state == 1)[0]) for state in others if state is not None and (state == 1).any()]
    replaced = any(max(since, 1) <= first for first in begun) or _is_dropped(frame, replica, end)
    return np.where(np.arange(len(lost)) >= end, np.nan, lost) if replaced else lost


def _is_dropped(frame: Frame, replica: Subject, end: int) -> bool:
    """Whether nobody tries to scrape a replica from about its last sign of life on, while others are scraped.

    Discovery drops a target whose pod is deleted; one that crashed, or whose host died, is tried in vain.

    :param end: index after its last sign of life
    """
    up = frame.cells("target.up", replica)
    if up is None or (up[:end] > 0).sum() == 0 or (up[end:] == 0).any():
        return False
    later = max((int(np.flatnonzero(~np.isnan(cells))[-1]) for cells in frame.of("target.up").values()), default=0)
    return bool(np.isnan(up[end + _LATE_SCRAPES :]).all()) and later >= len(up) - _LATE_SCRAPES


def _without_last_silence(lost: Floats, listed: Bools, width: int) -> Floats:
    """A pod that is taken away is silent for a while before the cluster lists it no more: that is no loss."""
    end = int(np.flatnonzero(listed)[-1])
    if end >= len(listed) - 2:
        return lost
    living = np.flatnonzero(lost[: end + 1] == 0)
    start = int(living[-1]) + 1 if len(living) else 0
    return np.where(np.arange(len(lost)) >= start, np.nan, lost) if end + 1 - start <= width else lost


def _falsely_ready(frame: Frame, replica: Subject) -> Floats | None:
    """1 while a replica counts as ready although its engine answers nothing or stands still with requests in it."""
    says = [cells for name in ("pod.ready", "backend.healthy") if (cells := frame.cells(name, replica)) is not None]
    up, state, stalled = frame.cells("target.up", replica), alive(frame, replica), frame.cells("engine.stalled", replica)
    if not says or (up is None and state is None):
        return None
    works = np.full(len(frame.grid.times), np.nan) if state is None else state.copy()
    if up is not None:
        works = np.where(np.isnan(works) & (up == 0), 0.0, works)
    if stalled is not None:
        works = np.where(stalled == 1, 0.0, works)
    silent, pod = 1.0 - works, frame.cells("pod.ready", replica)
    if pod is not None and not np.isnan(pod).all():
        silent = _without_last_silence(silent, ~np.isnan(pod), round(_TAKEN_AWAY / frame.grid.step))
    ready = together(says, Combine.MAX)
    return np.where(np.isnan(ready) | np.isnan(silent), np.nan, ((ready >= 1) & (silent == 1)).astype(float))


def _uptime(frame: Frame, replica: Subject) -> Floats | None:
    start = frame.cells("process.start_time", replica)
    return None if start is None else np.clip(frame.grid.times - start, 0.0, None)


def _restarted(frame: Frame, replica: Subject) -> Floats | None:
    start = frame.cells("process.start_time", replica)
    if start is None:
        return None
    known = np.flatnonzero(~np.isnan(start))
    out = np.where(np.isnan(start), np.nan, 0.0)
    for before, after in pairwise(known):
        out[after] = float(start[after] > start[before] + _SAME_START) / frame.grid.step
    return out


# Cards and hosts


def _mem_ratio(frame: Frame, card: Subject) -> Floats | None:
    used, free, whole = (frame.cells(f"gpu.mem_{part}", card) for part in ("used", "free", "total"))
    if whole is None and used is not None and free is not None:
        whole = used + free
    return quotient(used, whole)


def _gpu_lost(frame: Frame, card: Subject) -> Floats | None:
    """1 while a card that was there has no values and another card of the same node has."""
    rows = frame.of("gpu.power") or frame.of("gpu.util") or frame.of("gpu.temp")
    own = rows.get(card)
    node = next((target for target in frame.recording.links.get(card, ()) if target.scope is Scope.NODE), None)
    neighbours = [cells for other, cells in rows.items() if other != card and node in frame.recording.links.get(other, ())]
    if own is None or not neighbours or node is None:
        return None
    here = ~np.isnan(own)
    seen = ~np.isnan(np.stack(neighbours)).all(axis=0)
    return np.where(np.maximum.accumulate(here) & seen, (~here).astype(float), np.nan)


# The service


def _error_ratio(frame: Frame, _service: Subject) -> Floats | None:
    """The worst view of it: by clients, by the gateway, else by what it gets back, or else by the engines' own front ends."""
    views = [
        share(total(frame, "requests.failed"), total(frame, "requests.distinct"), frame),
        share(total(frame, "gateway.5xx"), total(frame, "gateway.requests"), frame),
    ]
    if all(view is None for view in views):
        views = [
            share(total(frame, "backend.failures"), total(frame, "backend.requests"), frame),
            share(total(frame, "gateway.upstream_5xx"), total(frame, "gateway.upstream_requests"), frame),
        ]
    if all(view is None for view in views):
        views = [
            share(total(frame, "http.5xx"), total(frame, "http.requests"), frame),
            share(total(frame, "finished.error"), total(frame, "finished", "finished.error"), frame),
        ]
    rows = [view for view in views if view is not None]
    return together(rows, Combine.MAX) if rows else None


def _refused_ratio(frame: Frame, _service: Subject) -> Floats | None:
    return first_measured(
        share(total(frame, "gateway.4xx"), total(frame, "gateway.requests"), frame),
        share(total(frame, "http.4xx"), total(frame, "http.requests"), frame),
    )


def _share_of_totals(part: str, whole: str) -> Derivation:
    return lambda frame, _service: share(total(frame, part), total(frame, whole), frame)


def _ratio_of_totals(part: str, whole: str) -> Derivation:
    return lambda frame, _service: ratio(total(frame, part), total(frame, whole), frame)


def _amplification(frame: Frame, _service: Subject) -> Floats | None:
    """Requests sent to engines per request received, as one source counts both: access lines may be a sample of all."""
    sent, received = "gateway.upstream_requests", "gateway.requests"
    if _counted_by(frame, sent) != _counted_by(frame, received):
        return None
    return ratio(total(frame, sent), total(frame, received), frame)


def _counted_by(frame: Frame, signal: str) -> set[str]:
    """Dialects of those who measure a signal."""
    return {frame.origins[signal, subject].dialect for subject in frame.of(signal) if (signal, subject) in frame.origins}


def _replicas_alive(frame: Frame, _service: Subject) -> Floats | None:
    rows = [cells for replica in frame.recording.subjects[Scope.REPLICA] if (cells := alive(frame, replica)) is not None]
    return together(rows, Combine.SUM) if rows else None


def _load_per_replica(frame: Frame, service: Subject) -> Floats | None:
    return quotient(frame.cells("service.arrivals", service), frame.cells("service.replicas_alive", service))


def _outer_and_inner(frame: Frame) -> tuple[Floats, Floats] | None:
    """Mean latency at the gateway (or the client) and in the engine; None if one of them was never measured."""
    views = ("gateway.latency", "client.latency", "gateway.upstream_latency")
    outer = first_measured(*(_mean_over(frame, view) for view in views))
    inner = _mean_over(frame, "latency.e2e")
    return None if outer is None or inner is None else (outer, inner)


def _engine_gap(frame: Frame, _service: Subject) -> Floats | None:
    """Mean latency at the gateway (or the client) minus mean latency in the engine."""
    pair = _outer_and_inner(frame)
    return None if pair is None else latency.rest(*pair)


def _outside_share(frame: Frame, _service: Subject) -> Floats | None:
    """The same as a share of the latency at the gateway (or the client)."""
    pair = _outer_and_inner(frame)
    return None if pair is None else latency.share(latency.rest(*pair), pair[0])


def _accepted_length(frame: Frame, replica: Subject) -> Floats | None:
    """Draft tokens accepted per draft, by counters or by what the engine says (which counts its own token, too)."""
    told = frame.cells("spec.step_tokens", replica)
    counted = ratio(frame.cells("spec.accepted_tokens", replica), frame.cells("spec.drafts", replica), frame)
    return first_measured(counted, None if told is None else np.where(told >= 1, told - 1, np.nan))


def _own_time(frame: Frame, _service: Subject) -> Floats | None:
    """Mean time of a request at the gateway that it did not spend waiting for an engine."""
    whole, waited = _mean_over(frame, "gateway.latency"), _mean_over(frame, "gateway.upstream_latency")
    return None if whole is None or waited is None else np.clip(whole - waited, 0.0, None)


def _mean_over(frame: Frame, signal: str) -> Floats | None:
    """Mean of a distribution over all its subjects, over the last minute or more."""
    pairs = [pair for subject in frame.histograms(signal) if (pair := frame.sum_and_count(signal, subject)) is not None]
    if not pairs:
        return None
    return ratio(together([s for s, _ in pairs], Combine.SUM), together([c for _, c in pairs], Combine.SUM), frame)


def _cert_ttl(frame: Frame, gateway: Subject) -> Floats | None:
    """Seconds until the first certificate of a gateway ends, 0 once it has."""
    ends = frame.cells("gateway.cert_expiry", gateway)
    return None if ends is None else np.clip(ends - frame.grid.times, 0.0, None)


DERIVATIONS: dict[str, Derivation] = {
    "kv.capacity": physical.kv_capacity,
    "kv.usage": physical.kv_usage,
    "kv.evictable": physical.kv_evictable,
    "node.cpu_busy": _quotient_of("node.cpu_busy_cores", "node.cpu_cores"),
    "prefix.hit_ratio": _prefix_hit_ratio,
    "prefill.per_request": _prefill_per_request,
    "offload.hit_ratio": _share_of("offload.hits", "offload.queries"),
    "offload.load_speed": _ratio_of("offload.load_bytes", "offload.load_seconds"),
    "finished.length_ratio": _share_of_finished("finished.length"),
    "finished.abort_ratio": _share_of_finished("finished.abort"),
    "spec.accepted_length": _accepted_length,
    "spec.acceptance": _share_of("spec.accepted_tokens", "spec.draft_tokens"),
    "container.cpu_throttled": _share_of("container.cpu_throttled_periods", "container.cpu_periods"),
    "container.memory_ratio": physical.container_memory_ratio,
    "process.fds_ratio": _quotient_of("process.open_fds", "process.max_fds"),
    "batch.fill": _batch_fill,
    "batch.plateau": _plateau,
    "ttft.queue_share": physical.share_of_time("queue", "ttft"),
    "ttft.prefill_share": physical.share_of_time("prefill", "ttft"),
    "ttft.unaccounted": physical.unaccounted,
    "ttft.unaccounted_share": physical.unaccounted_share,
    "e2e.queue_share": physical.share_of_time("queue", "e2e"),
    "e2e.prefill_share": physical.share_of_time("prefill", "e2e"),
    "e2e.decode_share": physical.share_of_time("decode", "e2e"),
    "queue.growth": physical.queue_growth,
    "engine.held_ratio": physical.held_ratio,
    "batch.offered_load": physical.offered_load,
    "engine.bandwidth_ratio": physical.engine_bandwidth_ratio,
    "engine.compute_ratio": physical.engine_compute_ratio,
    "decode.floor": physical.decode_floor,
    "decode.floor_ratio": physical.decode_floor_ratio,
    "engine.time_per_step": _time_per_step,
    "token.time": token_time,
    "engine.stalled": _stalled,
    "engine.idle": idle,
    "kv.fill": kv_fill,
    "kv.needed": kv_needed,
    "kv.stranded": kv_stranded,
    "prefill.repeated": computed_again,
    "replica.lost": _lost,
    "memory.per_request": memory_per_request,
    "kv.context_ratio": context_ratio,
    "replica.falsely_ready": _falsely_ready,
    "replica.uptime": _uptime,
    "replica.restarted": _restarted,
    "pod.starting": starting,
    "backend.stale": sent_astray,
    "restart.gain": restart_gain,
    "age.order": age_order,
    "version.slowdown": version_slowdown,
    "version.failures": version_failures,
    "gpu.mem_ratio": _mem_ratio,
    "gpu.power_ratio": _quotient_of("gpu.power", "gpu.power_limit"),
    "gpu.mem_unowned": memory_unowned,
    "autoscaler.share": autoscaler_share,
    "autoscaler.excess": autoscaler_excess,
    "gpu.lost": _gpu_lost,
    "gpu.bandwidth_ratio": physical.gpu_bandwidth_ratio,
    "gpu.pcie_busy": physical.pcie_busy,
    "node.lost": node_lost,
    "node.disk_ratio": _quotient_of("node.disk_available", "node.disk_size"),
    "node.memory_ratio": _quotient_of("node.memory_available", "node.memory_total"),
    "node.inodes_ratio": _quotient_of("node.inodes_free", "node.inodes"),
    "node.volume_ratio": _quotient_of("node.volume_available", "node.volume_size"),
    "node.conntrack_ratio": _quotient_of("node.conntrack", "node.conntrack_limit"),
    "node.files_ratio": _quotient_of("node.files_open", "node.files_max"),
    "node.processes_ratio": _quotient_of("node.processes", "node.processes_max"),
    "node.retransmit_ratio": _quotient_of("node.tcp_retransmits", "node.tcp_segments"),
    "requests.attempt_ratio": _ratio_of_totals("requests.attempts", "requests.distinct"),
    "requests.failed_ratio": _share_of_totals("requests.failed", "requests.distinct"),
    "requests.timeout_ratio": _share_of_totals("requests.timeouts", "requests.attempts"),
    "service.arrivals": traffic.arrivals,
    "service.demand": traffic.demand,
    "service.goodput": traffic.goodput,
    "service.error_ratio": _error_ratio,
    "service.refused_ratio": _refused_ratio,
    "service.ending": ending,
    "service.failures": failures,
    "service.failures_at_endings": failures_at_endings,
    "replicas.turns": turns,
    "service.abandoned_ratio": _share_of_totals("gateway.client_left", "gateway.requests"),
    "service.replicas_alive": _replicas_alive,
    "service.load_per_replica": _load_per_replica,
    "service.pinned": pinned,
    "gateway.cert_ttl": _cert_ttl,
    "gateway.fds_ratio": lambda frame, _service: quotient(total(frame, "gateway.open_fds"), total(frame, "gateway.max_fds")),
    "gateway.retry_ratio": traffic.retry_ratio,
    "gateway.engine_gap": _engine_gap,
    "gateway.own_time": _own_time,
    "gateway.amplification": _amplification,
    "service.outside_share": _outside_share,
    "service.sent": traffic.sent,
    "service.backlog_growth": traffic.backlog_growth,
    "service.requests_lost": traffic.requests_lost,
    "service.requests_vanished": traffic.requests_vanished,
}

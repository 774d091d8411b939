"""Coincidences: failures, slow answers and queues that fall on a state, beyond their share outside it."""

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from triage.classes import dataclass
from triage.engine.derived.arithmetic import first_measured, total
from triage.engine.frame import Frame
from triage.engine.observations.curves import Bools
from triage.engine.statistics import mean_cells
from triage.model.arrays import median_of_known
from triage.model.observation import Judged, Observation, Seen
from triage.model.recording import CHANGE_KINDS, Floats, Subject
from triage.model.vocabulary import Scope, catalogue

_LIFT = 2.0
"""Chosen: at twice the rate inside a state it is worth telling; rules ask for three and more."""

_LEAST_EVENTS = 8.0
"""Of eight failures that fall by chance on a state that takes a third of the time, six do so once in fifty (binomial)."""

_LEAST_CELLS = 3
"""In fewer cells a state that was there is one scrape and its neighbours."""

_MOST_OF_TIME = 0.9
"""A state that is nearly always there coincides with everything."""

_AFTER_CHANGE = 300.0
"""Seconds for which a change takes hold: a rolling update of a replica, a cache that fills anew."""

_FRESH = 180.0
"""Seconds for which a replica is fresh (as ``_WARM`` of triage/engine/derived/fleet.py)."""

_THROTTLED = 0.1
"""Chosen: a tenth of the periods without CPU is felt."""

_FULL_BATCH = 0.95
"""As the limit of batch.fill in triage/engine/observations/comparing.py."""

_FULL_CACHE = 0.93
"""As the limit of kv.fill there: engines hold a little of the cache back."""

_SLOW = 2.0
"""Chosen: a moment twice as slow as the usual one."""


@dataclass(frozen=True)
class Harm:
    """What may coincide with states.

    :param events: how much of it in each cell, shape (N,)
    :param chances: of how much, shape (N,); cells if nobody counts
    """

    of: str
    events: Floats
    chances: Floats


def coincidences(frame: Frame) -> Seen:
    """Harm that falls on states."""
    harms = list(_harms(frame))
    odd: list[Observation] = []
    judged: set[Judged] = set()
    for state, find in STATES.items():
        holds = find(frame)
        if holds is None:
            continue
        told, is_in = ~np.isnan(holds), holds > 0
        for harm in harms:
            found = _lift(harm, told, is_in, frame)
            if found is None:
                continue
            judged.add(("coincides", harm.of, Scope.SERVICE))
            lift, share, count = found
            if lift >= _LIFT and count >= _LEAST_EVENTS and share >= 0.3:
                odd.append(_made(harm, state, lift, share, int(count), is_in, frame))
    return Seen(tuple(odd), frozenset(judged)) + _full_where_it_queues(frame)


def _harms(frame: Frame) -> Iterator[Harm]:
    """Failures, refusals, aborted requests and slow answers over time."""
    step = frame.grid.step
    service = Subject(Scope.SERVICE, frame.recording.service)
    asked = first_measured(frame.cells("service.arrivals", service), total(frame, "http.requests"), total(frame, "finished"))
    failed = {
        "failures": frame.cells("service.failures", service),
        "refusals": first_measured(total(frame, "gateway.429"), total(frame, "http.429"), total(frame, "gateway.4xx")),
        "aborts": first_measured(total(frame, "finished.abort"), total(frame, "gateway.client_left")),
        "timeouts": first_measured(total(frame, "gateway.timeouts"), total(frame, "requests.timeouts")),
    }
    for of, cells in failed.items():
        if cells is not None:
            chances = np.ones(len(cells)) if asked is None else np.maximum(np.nan_to_num(asked), np.nan_to_num(cells)) * step
            yield Harm(of, cells * step, chances)
    for name in ("latency.ttft", "latency.itl"):
        subjects = frame.subjects_of(name)
        means = mean_cells(frame, name, subjects) if subjects else None
        if means is not None and (~np.isnan(means)).sum() >= 4 * _LEAST_CELLS:
            slow = np.where(np.isnan(means), np.nan, (means >= _SLOW * median_of_known(means)).astype(float))
            yield Harm(name, slow, np.ones(len(slow)))


def _lift(harm: Harm, told: Bools, is_in: Bools, frame: Frame) -> tuple[float, float, float] | None:
    """How much more of a harm there is in a state than outside it, which share of it, and how much; None if nobody can say."""
    window = frame.grid.window
    known = told & ~np.isnan(harm.events)
    known[: window.start] = False
    inside, outside = known & is_in, known & ~is_in
    if inside.sum() < _LEAST_CELLS or outside.sum() < _LEAST_CELLS or inside.sum() > _MOST_OF_TIME * known.sum():
        return None
    hit, chances = float(harm.events[inside].sum()), float(harm.chances[inside].sum())
    missed, others = float(harm.events[outside].sum()), float(harm.chances[outside].sum())
    if chances <= 0 or others <= 0:
        return None
    rate = hit / chances
    usual = (missed + 1.0) / (others + 1.0)
    total_hits = hit + missed
    return rate / usual, hit / total_hits if total_hits > 0 else 0.0, hit


def _made(harm: Harm, state: str, lift: float, share: float, count: int, is_in: Bools, frame: Frame) -> Observation:
    """A coincidence as an observation."""
    grid = frame.grid
    cells = np.flatnonzero(is_in & (np.arange(len(is_in)) >= grid.first))
    begun = float(grid.times[cells[0]])
    part = len(cells) / max(len(grid.times) - grid.first, 1)
    return Observation(
        sort="coincides",
        of=harm.of,
        subject=Subject(Scope.SERVICE, frame.recording.service),
        text=f"{share:.0%} of the {_HARMS.get(harm.of, harm.of)} fall on the {part:.0%} of the time {_WHILE[state]}",
        onset=(begun - grid.step, begun),
        end=float(grid.times[cells[-1]]) if cells[-1] < len(grid.times) - 1 else None,
        direction="worse",
        size=lift,
        support=count,
        source="service",
        attrs={"state": state, "share": f"{share:.2f}", "time": f"{part:.2f}"},
    )


def _any(rows: Iterable[Floats]) -> Floats | None:
    """1 where any of several states holds, NaN where none is known."""
    known = list(rows)
    if not known:
        return None
    matrix = np.stack(known)
    unknown = np.isnan(matrix).all(axis=0)
    return np.where(unknown, np.nan, np.nan_to_num(matrix).max(axis=0))


def _above(frame: Frame, name: str, least: float) -> Iterator[Floats]:
    for cells in frame.of(name).values():
        yield np.where(np.isnan(cells), np.nan, (cells > least).astype(float))


def _starting(frame: Frame) -> Floats | None:
    """A replica is not ready yet, or its process is fresh."""
    fresh = [np.where(np.isnan(cells), np.nan, (cells < _FRESH).astype(float)) for cells in frame.of("replica.uptime").values()]
    waiting = [np.where(np.isnan(cells), 0.0, 1.0) for cells in frame.of("pod.starting").values()]
    return _any([*fresh, *waiting])


def _ending(frame: Frame) -> Floats | None:
    return _any(_above(frame, "service.ending", 0.0))


def _fewer(frame: Frame) -> Floats | None:
    """Fewer replicas live than usual."""
    alive = first_measured(total(frame, "service.replicas_alive"), total(frame, "replicas.ready"))
    if alive is None or np.isnan(alive).all():
        return None
    usual = (
        median_of_known(alive[frame.grid.baseline]) if (~np.isnan(alive[frame.grid.baseline])).any() else float(np.nanmax(alive))
    )
    return np.where(np.isnan(alive), np.nan, (alive < usual - 0.5).astype(float))


def _slowed(frame: Frame) -> Floats | None:
    """A card's clocks are held back."""
    names = ("gpu.throttle_thermal", "gpu.throttle_brake", "gpu.throttle_hw")
    return _any([row for name in names for row in _above(frame, name, 0.0)])


def _throttled(frame: Frame) -> Floats | None:
    """CPU is held back."""
    return _any(_above(frame, "container.cpu_throttled", _THROTTLED))


def _no_backend(frame: Frame) -> Floats | None:
    healthy = [
        np.where(np.isnan(cells), np.nan, (cells < 1).astype(float)) for cells in frame.of("gateway.backends_healthy").values()
    ]
    return _any([*healthy, *_above(frame, "gateway.no_backend", 0.0)])


def _put_aside(frame: Frame) -> Floats | None:
    """The gateway keeps a replica out: ejected, in cooldown, its circuit open."""
    names = ("gateway.ejections", "gateway.cooldowns", "gateway.circuit_open", "backend.circuit_open")
    return _any([row for name in names for row in _above(frame, name, 0.0)])


def _changing(frame: Frame) -> Floats | None:
    """A change was made a moment ago."""
    times = [event.time for event in frame.recording.events if event.kind in CHANGE_KINDS]
    if not times:
        return None
    ages = frame.grid.times[:, None] - np.array(times)[None, :]
    near: Bools = ((ages >= 0) & (ages <= _AFTER_CHANGE + frame.grid.step)).any(axis=1)
    return near.astype(float)


def _queue_full(frame: Frame) -> Floats | None:
    return _any(_above(frame, "batch.fill", _FULL_BATCH))


def _cache_full(frame: Frame) -> Floats | None:
    return _any(_above(frame, "kv.fill", _FULL_CACHE))


def _standstill(frame: Frame) -> Floats | None:
    """An engine holds requests and makes nothing."""
    return _any(_above(frame, "engine.stalled", 0.0))


def _falsely_ready(frame: Frame) -> Floats | None:
    return _any(_above(frame, "replica.falsely_ready", 0.0))


STATES: dict[str, Callable[[Frame], Floats | None]] = {
    "starting": _starting,
    "ending": _ending,
    "fewer-replicas": _fewer,
    "throttled": _throttled,
    "slowed": _slowed,
    "no-backend": _no_backend,
    "put-aside": _put_aside,
    "change-in-progress": _changing,
    "batch-full": _queue_full,
    "cache-full": _cache_full,
    "standstill": _standstill,
    "falsely-ready": _falsely_ready,
}


_HARMS = {"timeouts": "time-outs", "latency.ttft": "slow first tokens", "latency.itl": "slow tokens"}
"""What is called otherwise than by its name here."""

_WHILE = {
    "starting": "while a replica starts",
    "ending": "while a replica ends",
    "fewer-replicas": "with fewer replicas",
    "throttled": "while CPU is held back",
    "slowed": "while the clocks of a card are held back",
    "no-backend": "without an engine to send to",
    "put-aside": "while engines are put aside",
    "change-in-progress": "while a change goes on",
    "batch-full": "with a full batch",
    "cache-full": "with a full KV cache",
    "standstill": "while an engine stands still",
    "falsely-ready": "while a replica is ready without a working engine",
}
"""States in words."""


def _full_where_it_queues(frame: Frame) -> Seen:
    """Whether replicas have a full KV cache, a full batch, just there and then where requests wait."""
    odd: list[Observation] = []
    judged: set[Judged] = set()
    for name, state, least in (("kv.fill", "cache-full", _FULL_CACHE), ("batch.fill", "batch-full", _FULL_BATCH)):
        pairs = [(cells, frame.cells("queue.waiting", one), one) for one, cells in sorted(frame.of(name).items())]
        known = [(fill, waiting, one) for fill, waiting, one in pairs if waiting is not None]
        if not known:
            continue
        fill, waiting = (np.stack([pair[part] for pair in known])[:, frame.grid.first :] for part in (0, 1))
        told = ~np.isnan(fill) & ~np.isnan(waiting)
        with np.errstate(invalid="ignore"):
            full, queued = told & (fill >= least), told & (waiting >= 1)
        if told.sum() < _LEAST_CELLS:
            continue
        judged.add(("coincides", "queue", Scope.REPLICA))
        for row, (_, _, replica) in enumerate(known):
            both, waits = int((full[row] & queued[row]).sum()), int(queued[row].sum())
            if both < _LEAST_CELLS or both < 0.5 * waits:
                continue
            outside = int((full[row] & ~queued[row]).sum()) / max(int((told[row] & ~queued[row]).sum()), 1)
            places = np.flatnonzero(full[row] & queued[row]) + frame.grid.first
            begun = float(frame.grid.times[places[0]])
            odd.append(
                Observation(
                    sort="coincides",
                    of="queue",
                    subject=replica,
                    text=f"{both} of {waits} samples with requests waiting have {catalogue()[name].noun} at {least:.0%} or more",
                    onset=(begun - frame.grid.step, begun),
                    end=None,
                    direction="worse",
                    size=(both / waits) / max(outside, 0.05),
                    support=both,
                    source="engine metrics",
                    attrs={"state": state, "share": f"{both / waits:.2f}", "time": f"{waits / max(int(told[row].sum()), 1):.2f}"},
                )
            )
    return Seen(tuple(odd), frozenset(judged))

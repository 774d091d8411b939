"""Signs of life: whether an engine lives, works on what it holds, and is counted as ready all the same."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from triage.engine.derived.arithmetic import own_total
from triage.engine.derived.derivation import Derivation
from triage.engine.derived.scaling import was_surplus
from triage.engine.frame import Frame
from triage.engine.statistics import together
from triage.model.recording import LOG, Floats, Subject
from triage.model.vocabulary import Combine, Scope

Bools = npt.NDArray[np.bool_]

_LATE_SCRAPES = 2
"""Chosen: cells by which the last scrape may come after the last sign of life."""

SAME_START = 1.0
"""Seconds by which start times of one process differ: whole seconds and fractions."""

_REPLACED = 600.0
"""Seconds before the end of a replica within which its successor may have come up."""

_TAKEN_AWAY = 240.0
"""Seconds for which a pod may be listed after its process has ended on purpose."""

_RATES_OF_LIFE = ("engine.steps", "kv.allocated", "tokens.generation", "tokens.prompt", "tokens.prompt_computed")

_COUNTED_AT_THE_END = frozenset({"trtllm", "tgi", "llamacpp"})
"""Dialects of engines that count tokens when a request ends: while long answers are written their counters stand still."""

_SEVERAL = 4.0
"""Fewer requests may all be long ones."""

_LONGEST_PAUSE = 180.0
"""Chosen: seconds in which none of several requests ends; an answer of several thousand tokens takes a minute or two."""

_PAUSES = 10.0
"""… and so many of the pauses that are usual between two ends: by chance one is as long in one of twenty thousand."""

_MOVES = 1e-6
"""A step time that changes by less than this share is the last one told again."""

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

    Where nobody has values any more, where its values go on without its name, or where its target answers every scrape and only
    what is kept of the answer is gone, the silence says nothing of the engine: NaN. Asked again it is remembered.
    """
    return frame.remembered(("alive", replica), lambda: _alive(frame, replica))


def _alive(frame: Frame, replica: Subject) -> Floats | None:
    rows = [cells for name in _SIGNS_OF_LIFE if (cells := frame.cells(name, replica)) is not None]
    if not rows:
        return None
    here = ~np.isnan(np.stack(rows)).all(axis=0)
    up = frame.cells("target.up", replica)
    if up is not None:
        here &= ~(up == 0)
    here = _bridged(np.asarray(here), frame.cells("process.start_time", replica))
    begun = np.maximum.accumulate(here)
    told = frame.grid.times <= _unnamed_since(frame, replica)
    if _is_known_by_its_log(frame, replica):
        here, told = _between_lines(frame, replica, here, told)
    if up is not None:
        told &= ~(up == 1)
    return np.where(begun & _somebody_measured(frame) & (told | here), here.astype(float), np.nan)


def _unnamed_since(frame: Frame, replica: Subject) -> float:
    """When a replica's series went on without the labels that say whose they are; never: infinity."""
    lost = (event for event in frame.recording.events_of("metric") if event.name == "label-lost")
    return min((event.time for event in lost if replica.id in event.attrs.get("unnamed", "").split()), default=np.inf)


def _bridged(here: Bools, start: Floats | None) -> Bools:
    """Silences after which the same process goes on are gaps in the samples: it lived all the time."""
    out = here.copy()
    if start is None or here.all():
        return out
    told = np.flatnonzero(here & ~np.isnan(start))
    for before, after in pairwise(told):
        if abs(start[after] - start[before]) <= SAME_START:
            out[before:after] = True
    return out


def _is_known_by_its_log(frame: Frame, replica: Subject) -> bool:
    """Whether all that is known of an engine stands in its log, where idle engines write nothing."""
    return all(
        frame.origins.dialect_of(name, replica) == LOG for name in _SIGNS_OF_LIFE if frame.cells(name, replica) is not None
    )


def _between_lines(frame: Frame, replica: Subject, here: Bools, told: Bools) -> tuple[Bools, Bools]:
    """An engine whose log goes on lived in between, unless it began anew there; after its last line nobody knows."""
    starts = frame.remembered("starts in logs", lambda: _starts_in_logs(frame)).get(replica, [])
    alive = here.copy()
    spoke = np.flatnonzero(here)
    for before, after in pairwise(spoke):
        began = np.searchsorted(starts, frame.grid.times[[before, after]], side="right")
        alive[before:after] = here[before:after] | (began[0] == began[1])
    return alive, told & (np.arange(len(here)) <= spoke[-1])


def _starts_in_logs(frame: Frame) -> dict[Subject, list[float]]:
    """When each engine wrote what engines write as they begin, in order."""
    out: dict[Subject, list[float]] = {}
    for event in frame.recording.events:
        if event.subject is not None and (event.kind == "engine-args" or event.attrs.get("phase") == "starting"):
            out.setdefault(event.subject, []).append(event.time)
    return {subject: sorted(times) for subject, times in out.items()}


def _somebody_measured(frame: Frame) -> Bools:
    """Cells in which somebody who knows of replicas had values: engines, gateway, cluster. Hosts and cards do not know."""
    return frame.remembered("somebody measured", lambda: _measured_by_anybody(frame))


def _measured_by_anybody(frame: Frame) -> Bools:
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
    """Where nobody lists pods, one that goes for good may be taken away: unknown.

    So it is while another comes, with its target, and after whoever scales asked for fewer.
    """
    living = np.flatnonzero(lost == 0)
    if not len(living) or not (lost[living[-1] + 1 :] == 1).any():
        return lost
    end = int(living[-1]) + 1
    since = end - round(_REPLACED / frame.grid.step)
    others = (alive(frame, one) for one in frame.recording.subjects[Scope.REPLICA] if one != replica)
    begun = [int(np.flatnonzero(state == 1)[0]) for state in others if state is not None and (state == 1).any()]
    replaced = any(max(since, 1) <= first for first in begun) or _is_dropped(frame, replica, end)
    replaced = replaced or was_surplus(frame, replica, float(frame.grid.times[end]))
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
    if not says and state is not None and stalled is not None:  # who works is not falsely ready, whoever says that it is
        return np.where((state == 1) & (stalled == 0), 0.0, np.nan)
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


def _replicas_alive(frame: Frame, _service: Subject) -> Floats | None:
    rows = [cells for replica in frame.recording.subjects[Scope.REPLICA] if (cells := alive(frame, replica)) is not None]
    return together(rows, Combine.SUM) if rows else None


def _stalled(frame: Frame, replica: Subject) -> Floats | None:
    """1 where requests are held while every heartbeat that is known stands still; unknown if none is that beats all the time.

    Where all that is counted is counted when requests end, none of several must end for much longer than usual.

    An engine that was put to sleep stands still by order. Where only those that run or only those that wait are counted, none of
    them is not none at all.
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
        return None if held is None or not rates else _ends_nothing(frame, held, together(list(rates.values()), Combine.SUM))
    beat = together(beats, Combine.MAX)
    unknown = np.isnan(held) | np.isnan(beat) | ((held < 1) & (not counts_all) & (beat <= 0))
    asleep = frame.cells("engine.sleeping", replica)
    awake = np.full(len(beat), True) if asleep is None else ~(asleep >= 1)
    return np.where(unknown, np.nan, ((held >= 1) & (beat <= 0) & awake).astype(float))


def _ends_nothing(frame: Frame, held: Floats, ends: Floats) -> Floats | None:
    """The same where only the end of a request is a heartbeat: several are held, and none ends for many times as long as usual.

    :param ends: what is counted when requests end, per second
    """
    before = ends[frame.grid.baseline]
    known = before[~np.isnan(before)]
    moving = float((known > 0).mean()) if len(known) else 0.0
    if not moving:
        return None
    patience = max(_LONGEST_PAUSE, _PAUSES * frame.grid.step / moving)
    still = (held >= _SEVERAL) & (ends <= 0)
    out = np.where(np.isnan(held) | np.isnan(ends), np.nan, 0.0)
    for begin, end in _runs(still):
        if (end - begin) * frame.grid.step >= patience:
            out[begin:end] = 1.0
    return out


def _runs(flags: Bools) -> Iterator[tuple[int, int]]:
    """Begin and end of each row of cells in which something holds."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], flags.astype(int), [0]))))
    yield from zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)


def _beats_all_the_time(frame: Frame, signal: str, replica: Subject) -> bool:
    """Whether a counter moves while requests are worked on, and not only when they end."""
    return not (signal.startswith("tokens.") and frame.origins.dialect_of(signal, replica) in _COUNTED_AT_THE_END)


def _sampled(frame: Frame, signal: str, replica: Subject) -> Bools:
    """Cells in which a sample of a gauge lies; in others its last value is held, which is no news."""
    edges = np.concatenate(([frame.grid.times[0] - frame.grid.step], frame.grid.times))
    told = frame.recording.times_of(signal, replica)
    times = np.zeros(0) if told is None else told
    return np.asarray(np.diff(np.searchsorted(times, edges, side="right")) > 0)


def _changed(cells: Floats) -> Floats:
    """1 where a value differs from the last known one, 0 where it is the same, NaN where it is unknown or the first."""
    known = np.flatnonzero(~np.isnan(cells))
    out = np.full(len(cells), np.nan)
    before, after = cells[known[:-1]], cells[known[1:]]
    out[known[1:]] = (np.abs(after - before) > _MOVES * np.abs(before)).astype(float)
    return out


def _uptime(frame: Frame, replica: Subject) -> Floats | None:
    start = frame.cells("process.start_time", replica)
    return None if start is None else np.clip(frame.grid.times - start, 0.0, None)


def _restarted(frame: Frame, replica: Subject) -> Floats | None:
    """1 per cell length in the cell in which a process began anew: it loads for long before anybody can ask when it did."""
    start = frame.cells("process.start_time", replica)
    if start is None:
        return None
    known = np.flatnonzero(~np.isnan(start))
    out = np.where(np.isnan(start), np.nan, 0.0)
    for before, after in pairwise(known):
        if start[after] > start[before] + SAME_START:
            began = int(np.searchsorted(frame.grid.times, start[after])) if np.isfinite(start[after]) else after
            out[min(max(began, before + 1), after)] = 1.0 / frame.grid.step
    return out


_ALIVE_NEEDS = (*_SIGNS_OF_LIFE, "target.up", "gateway.requests", "pod.ready")

DERIVATIONS = (
    Derivation(
        "engine.stalled",
        ("batch.running", "queue.waiting", "engine.step_time", "engine.sleeping", *_RATES_OF_LIFE),
        _stalled,
    ),
    Derivation("replica.lost", _ALIVE_NEEDS, _lost),
    Derivation("replica.falsely_ready", (*_ALIVE_NEEDS, "backend.healthy", "engine.stalled"), _falsely_ready),
    Derivation("replica.uptime", ("process.start_time",), _uptime),
    Derivation("replica.restarted", ("process.start_time",), _restarted),
    Derivation("service.replicas_alive", _ALIVE_NEEDS, _replicas_alive),
)

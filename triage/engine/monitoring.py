"""Whether instruments can be believed: cards whose values stand still, logs that end, numbers that no replica shows."""

from collections.abc import Sequence
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from triage.engine.arithmetic import first_measured, quotient, total
from triage.engine.frame import Frame
from triage.engine.statistics import together
from triage.model.recording import Floats, Series, Subject
from triage.model.vocabulary import Combine, Scope, catalogue

Bools = npt.NDArray[np.bool_]

_RESTLESS = (
    "gpu.power",
    "gpu.temp",
    "gpu.mem_temp",
    "gpu.sm_clock",
    "gpu.mem_used",
    "gpu.util",
    "gpu.mem_util",
    "gpu.engine_active",
    "gpu.sm_active",
    "gpu.tensor_active",
    "gpu.dram_active",
    "gpu.energy",
    "gpu.nvlink_bytes",
    "gpu.pcie_rx",
    "gpu.pcie_tx",
)
"""Values of a card that work moves. Single ones may stand still (a full memory, a clock at its top), all of them never do."""

_NEVER_STILL = frozenset({"gpu.power", "gpu.energy", "gpu.sm_active", "gpu.dram_active", "gpu.pcie_rx", "gpu.pcie_tx"})
"""Of these at least one must be there: temperature and clocks of a card in steady work are whole numbers that can stay."""

_LEAST_SIGNALS = 3
_WORK = ("tokens.generation", "engine.steps", "tokens.prompt_computed", "finished")

_REGULAR = 0.8
"""A log is a regular one if it has lines in this share of the time in which its program worked before the window."""

_LEAST_HEARD = 180.0
"""A log must begin so many seconds of work before the window: an excerpt that somebody cut out of it ends where it was cut."""

_LEAST_VALUE = 0.01

_FOLLOWS: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (("cache", "kv", "token_usage", "token_util"), ("kv.fill",)),
    (("gpu", "dcgm", "sm_", "nvml", "accelerator"), ("gpu.util", "gpu.engine_active", "gpu.sm_active", "gpu.mem_ratio")),
)
"""Words in the name of an autoscaler's metric, and the ratios that such a metric is made of."""

_SHARE_WORDS = ("usage", "util", "perc", "ratio", "occupancy", "saturation", "fill")

_SERIES: WeakKeyDictionary[Frame, dict[Subject, list[Series]]] = WeakKeyDictionary()
"""Restless series by card, by frame: they are asked for once a card."""


def frozen(frame: Frame, card: Subject) -> Floats | None:
    """Seconds of work of a card's engine since any value of the card last changed by a bit; NaN where the card has no values.

    Looked at are the samples themselves, since means of equal samples need not be equal.
    """
    series = _restless(frame).get(card, [])
    names = {one.signal for one in series}
    if len(names) < _LEAST_SIGNALS or not names & _NEVER_STILL:
        return None
    working = _working(frame, card)
    if working is None:
        return None
    ends = frame.grid.times
    changed = np.max(np.stack([_last_change(one, ends) for one in series]), axis=0)
    worked = np.concatenate(([0.0], np.cumsum(working) * frame.grid.step))
    since = worked[np.searchsorted(ends, changed, side="left").clip(0, len(ends))]
    return np.where(_heard(frame, series), np.clip(worked[1:] - since, 0.0, None), np.nan)


def _restless(frame: Frame) -> dict[Subject, list[Series]]:
    """The series of each card that work moves."""
    if frame not in _SERIES:
        found: dict[Subject, list[Series]] = {}
        for name in _RESTLESS:
            for one in frame.recording.by_signal.get(name, ()):
                found.setdefault(one.subject, []).append(one)
        _SERIES[frame] = found
    return _SERIES[frame]


def _last_change(one: Series, ends: Floats) -> Floats:
    """When a series' value last changed before each moment; its first sample counts as a change."""
    turns = one.times[np.concatenate(([True], np.diff(one.values) != 0))]
    index = np.searchsorted(turns, ends, side="right") - 1
    return np.where(index >= 0, turns[index.clip(0)], -np.inf)


def _working(frame: Frame, card: Subject) -> Bools | None:
    """Cells in which the engine on a card makes progress; where nobody says which engine that is, any engine of the host's."""
    nodes = frame.related(card, Scope.NODE)
    replicas = frame.related(card, Scope.REPLICA) or [r for node in nodes for r in frame.related(node, Scope.REPLICA)]
    return _progress(frame, replicas or frame.recording.subjects[Scope.REPLICA])


def _progress(frame: Frame, replicas: Sequence[Subject]) -> Bools | None:
    """Cells in which any of some replicas computes."""
    beats = [cells for name in _WORK for replica in replicas if (cells := frame.cells(name, replica)) is not None]
    return np.asarray(together(beats, Combine.MAX) > 0) if beats else None


def _heard(frame: Frame, series: Sequence[Series]) -> Bools:
    """Cells in which a card has values, to be believed or not."""
    rows = [frame.on_grid(one.times, one.values, catalogue()[one.signal].kind) for one in series]
    return np.asarray(~np.isnan(np.stack(rows)).all(axis=0))


def log_silent(frame: Frame, replica: Subject) -> Floats | None:
    """Seconds of work of a replica since it last wrote to its log; unknown for a log that does not tell what is usual.

    Where all logs end at once, somebody stopped collecting them: what comes later is unknown.
    """
    silent = _silent(frame, frame.cells("log.lines", replica), _progress(frame, [replica]))
    last = _last_word(frame)
    return silent if silent is None or last is None else np.where(frame.grid.times <= last + _LEAST_HEARD, silent, np.nan)


def _last_word(frame: Frame) -> float | None:
    """When a gateway last wrote to its log, which tells how far logs were collected; None without such a log."""
    written = [np.flatnonzero(cells > 0) for cells in frame.of("gateway.log_lines").values()]
    ends = [float(frame.grid.times[where[-1]]) for where in written if len(where)]
    return max(ends) if ends else None


def gateway_log_silent(frame: Frame, gateway: Subject) -> Floats | None:
    """Seconds in which a gateway had traffic since it last wrote to its log."""
    served = first_measured(total(frame, "gateway.requests"), total(frame, "backend.requests"))
    return _silent(frame, frame.cells("gateway.log_lines", gateway), None if served is None else np.asarray(served > 0))


def _silent(frame: Frame, lines: Floats | None, working: Bools | None) -> Floats | None:
    if lines is None or working is None:
        return None
    written = lines > 0
    heard = np.flatnonzero(written)
    if not len(heard):
        return None
    usual = slice(int(heard[0]), frame.grid.first)
    at_work = working[usual]
    if at_work.sum() * frame.grid.step < _LEAST_HEARD or (written[usual] & at_work).sum() < _REGULAR * at_work.sum():
        return None
    worked = np.cumsum(working) * frame.grid.step
    last = np.maximum.accumulate(np.where(written, worked, 0.0))
    return np.where(np.isnan(lines), np.nan, worked - last)


def autoscaler_share(frame: Frame, service: Subject) -> Floats | None:
    """The value that the autoscaler follows as a ratio; None if its metric is no ratio, as far as one can tell."""
    value, target = frame.cells("autoscaler.value", service), frame.cells("autoscaler.target", service)
    if value is None:
        return None
    name = str(frame.recording.fact("autoscaler_metric", service) or "").lower()
    aim = np.nan if target is None or np.isnan(target).all() else float(np.nanmax(target))
    share = any(word in name for word in _SHARE_WORDS)
    if aim < 1 or (aim == 1 and share):
        return value
    return value / 100.0 if share and aim <= 100 else None


def autoscaler_excess(frame: Frame, service: Subject) -> Floats | None:
    """The ratio that the autoscaler follows as a multiple of the greatest that any replica shows."""
    share = frame.cells("autoscaler.share", service)
    if share is None:
        return None
    name = str(frame.recording.fact("autoscaler_metric", service) or "").lower()
    told = [signals for words, signals in _FOLLOWS if any(word in name for word in words)]
    signals = told[0] if told else tuple(signal for _, signals in _FOLLOWS for signal in signals)
    rows = [cells for signal in signals for cells in frame.of(signal).values()]
    if not rows:
        return None
    return quotient(share, np.clip(together(rows, Combine.MAX), _LEAST_VALUE, None))

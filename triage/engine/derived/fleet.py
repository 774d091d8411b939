"""Replicas side by side: what work they do, which version they run, how long they have been up."""

import numpy as np

from triage.engine.derived.arithmetic import rolled_mean
from triage.engine.derived.derivation import Derivation
from triage.engine.frame import Frame
from triage.model.arrays import median, median_of_known
from triage.model.recording import Floats, Subject
from triage.model.vocabulary import Scope

_VERSION_FACTS = ("image_id", "image", "engine_version")
"""What tells versions apart, most exact first."""

_LEAST_FINISHED = 5.0
"""Chosen: with fewer ended requests a mean length is that of one of them."""

_ONE_TOKEN = 1.5
"""An engine that ends its requests after about one token each does prefill for others."""

_OLDER = 1.2
_OLDER_BY = 600.0
"""One replica is older than another if it has been up for so many times as long and for so many seconds more."""

_SLOWER = 1.1
"""Replicas under random traffic differ by less than this."""

_PACE_OVER = 300.0
"""Seconds over which a pace is taken: in a minute a handful of requests make it."""

_AS_MUCH = 1.25
"""So many times as much to do is more to do."""

_LEAST_PAIRS = 3
"""Two replicas are in some order always; three are in one of six."""

_WARM = 180.0
"""A fresh process compiles, fills its caches and its batch for about this many seconds."""

_AS_BUSY = 0.6
"""Chosen: pace is compared before and after a restart only where the batch is at least this share of what it was."""

_BEGAN = ("process.start_time", "pod.created")
_SIGNS = ("batch.running", "tokens.generation", "target.up")
VERSIONS_NEED = (*_BEGAN, *_SIGNS)
"""Signals that tell which version came last."""

_ROLE_NEEDS = ("tokens.generation", "finished", "tokens.prompt_computed")


def own_fact(frame: Frame, subject: Subject, key: str) -> str | float | None:
    """A fact of this very subject; None if only the service's is known."""
    return frame.recording.facts_of.get(subject, {}).get(key)


_ROLE_FACTS = ("role", "disaggregation_mode")
"""What a label or an engine's own arguments say of its part of the work."""


def role_of(frame: Frame, replica: Subject) -> str:
    """What part of the work a replica does: as it says, or ``prefill``, ``decode``, ``whole`` by what it computes."""
    return frame.remembered(("role", replica), lambda: _role(frame, replica))


def _role(frame: Frame, replica: Subject) -> str:
    told = next((fact for key in _ROLE_FACTS if (fact := own_fact(frame, replica, key)) not in (None, "", "null", "none")), None)
    if told is not None:
        return str(told)
    made, ended = _increase(frame, "tokens.generation", replica), _increase(frame, "finished", replica)
    computed = _increase(frame, "tokens.prompt_computed", replica)
    if made is not None and ended is not None and ended >= _LEAST_FINISHED and made <= _ONE_TOKEN * ended:
        return "prefill"
    return "decode" if computed == 0 and made is not None and made > 0 else "whole"


def work_of(frame: Frame, subject: Subject) -> str:
    """What work a subject does: its scope, and of a replica its part of the work."""
    return f"{subject.scope}/{role_of(frame, subject)}" if subject.scope is Scope.REPLICA else str(subject.scope)


def alike(frame: Frame, one: Subject, other: Subject) -> bool:
    """Whether two subjects do the same work, so that one can be measured by the other."""
    return work_of(frame, one) == work_of(frame, other)


def _increase(frame: Frame, signal: str, replica: Subject) -> float | None:
    """How much a counter grew over the whole recording; None if it was never measured."""
    cells = frame.cells(signal, replica)
    return None if cells is None else float(np.nansum(cells) * frame.grid.step)


def version_of(frame: Frame, replica: Subject) -> str | None:
    """What a replica runs: its image by digest, by tag, or the version that the engine tells; None if nobody says."""
    found = (own_fact(frame, replica, key) for key in _VERSION_FACTS)
    return next((str(value) for value in found if value is not None), None)


def versions(frame: Frame) -> list[list[Subject]]:
    """Replicas by version, the version that came last at the end."""
    groups: dict[str, list[Subject]] = {}
    for replica in frame.recording.subjects[Scope.REPLICA]:
        version = version_of(frame, replica)
        if version is not None:
            groups.setdefault(version, []).append(replica)
    return sorted(groups.values(), key=lambda group: min(_started(frame, replica) for replica in group))


def _started(frame: Frame, replica: Subject) -> float:
    """When a replica began: its process, its pod, or its first sample."""
    for signal in _BEGAN:
        cells = frame.cells(signal, replica)
        if cells is not None and not np.isnan(cells).all():
            return float(np.nanmin(cells))
    rows = [cells for name in _SIGNS if (cells := frame.cells(name, replica)) is not None]
    known = np.flatnonzero(~np.isnan(np.stack(rows)).all(axis=0)) if rows else np.zeros(0, dtype=int)
    return float(frame.grid.times[known[0]]) if len(known) else 0.0


def version_slowdown(frame: Frame, _service: Subject) -> Floats | None:
    """Time per token on the replicas of the newest version as a multiple of what it is on the others."""
    groups = versions(frame)
    if len(groups) < 2:
        return None
    older = _token_times(frame, [replica for group in groups[:-1] for replica in group])
    newest = _token_times(frame, groups[-1])
    if not older or not newest or np.isnan(np.stack(older)).all():
        return None
    return _median(newest) / median_of_known(np.stack(older))


def _token_times(frame: Frame, replicas: list[Subject]) -> list[Floats]:
    return [cells for replica in replicas if (cells := frame.cells("token.time", replica)) is not None]


def _median(rows: list[Floats]) -> Floats:
    """Median over the rows in each cell, NaN where none is known."""
    matrix = np.stack(rows)
    known = ~np.isnan(matrix).all(axis=0)
    out = np.full(matrix.shape[1], np.nan)
    out[known] = np.nanmedian(matrix[:, known], axis=0)
    return out


def age_order(frame: Frame, _service: Subject) -> Floats | None:
    """Of pairs of equal replicas that clearly differ in pace, the share in which the one that has been up for longer is slower.

    Pairs of about the same pace are in no order (two young ones among old ones); fewer than three that differ tell nothing. Who
    is given clearly more to do may be slower for that.
    """
    width = max(1, round(_PACE_OVER / frame.grid.step))
    both = [
        (replica, uptime, rolled_mean(pace, width), _given(frame, replica, width))
        for replica in frame.recording.subjects[Scope.REPLICA]
        if (uptime := frame.cells("replica.uptime", replica)) is not None
        and (pace := frame.cells("token.time", replica)) is not None
    ]
    ordered, clear, pairs = np.zeros((3, len(frame.grid.times)))
    for same in _by_version_and_work(frame, [replica for replica, *_ in both]):
        uptime, pace, given = (np.array([both[row][part] for row in same]) for part in (1, 2, 3))
        longest, shortest = np.fmax.reduce(uptime, axis=1), np.fmin.reduce(uptime, axis=1)
        for old in range(len(same)):
            young = (longest[old] >= _OLDER * shortest) & (longest[old] - shortest >= _OLDER_BY)
            with np.errstate(invalid="ignore"):
                counts = (uptime[old] >= _OLDER * uptime[young]) & (uptime[old] - uptime[young] >= _OLDER_BY)
                counts &= ~np.isnan(pace[old]) & ~np.isnan(pace[young])
                slower = counts & (pace[old] >= _SLOWER * pace[young]) & ~(given[old] > _AS_MUCH * given[young])
                pairs += counts.sum(axis=0)
                ordered += slower.sum(axis=0)
                clear += (slower | (counts & (pace[young] >= _SLOWER * pace[old]))).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(pairs >= _LEAST_PAIRS, ordered / np.maximum(clear, _LEAST_PAIRS), np.nan)


def _by_version_and_work(frame: Frame, replicas: list[Subject]) -> list[list[int]]:
    """Places of replicas that run the same and do the same work."""
    groups: dict[tuple[str | None, str], list[int]] = {}
    for row, replica in enumerate(replicas):
        groups.setdefault((version_of(frame, replica), work_of(frame, replica)), []).append(row)
    return list(groups.values())


def _given(frame: Frame, replica: Subject, width: int) -> Floats:
    """What a replica is given to do, by the tokens that it makes; NaN if nobody counts them."""
    made = frame.cells("tokens.generation", replica)
    return np.full(len(frame.grid.times), np.nan) if made is None else rolled_mean(made, width)


def restart_gain(frame: Frame, replica: Subject) -> Floats | None:
    """Time per token before a process started anew as a multiple of that after, once it is warm and as busy as before."""
    start, pace = frame.cells("process.start_time", replica), frame.cells("token.time", replica)
    running = frame.cells("batch.running", replica)
    if start is None or pace is None or np.isnan(start).all():
        return None
    first, last = float(np.nanmin(start)), float(np.nanmax(start))
    before = start == first
    if last - first < _OLDER_BY or np.isnan(pace[before]).all():
        return None
    after = (start == last) & (frame.grid.times >= last + _WARM)
    if running is not None and not np.isnan(running[before]).all():
        after &= running >= _AS_BUSY * median_of_known(running[before])
    after &= ~np.isnan(pace)
    if not after.any():
        return None
    gain = median_of_known(pace[before]) / median(pace[after])
    return np.where(frame.grid.times >= last, gain, np.nan)


DERIVATIONS = (
    Derivation("restart.gain", ("process.start_time", "token.time", "batch.running"), restart_gain),
    Derivation("age.order", ("replica.uptime", "token.time", *_ROLE_NEEDS), age_order),
    Derivation("version.slowdown", ("token.time", *VERSIONS_NEED), version_slowdown),
)

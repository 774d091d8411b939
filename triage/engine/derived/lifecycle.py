"""Replicas that come and go: how long they take to start, when they end, and what fails or is sent astray as they do."""

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from triage.engine.derived.arithmetic import Bools, first_measured, known_to, near, total
from triage.engine.derived.derivation import Derivation
from triage.engine.frame import Frame
from triage.engine.statistics import together
from triage.model.recording import LOG, Floats, Subject, told_of
from triage.model.vocabulary import Combine, Scope

Indexes = npt.NDArray[np.int64]

_AROUND = 45.0
"""A request that an ending replica cuts is counted this many seconds before or after the scrape that misses the replica."""


def turns(frame: Frame, _service: Subject) -> Floats | None:
    """1 per cell length where the wanted number of replicas begins to fall after it rose, or to rise after it fell.

    What was asked for in the end counts: an autoscaler's own wish may turn with each look, and waits before it is asked for.
    """
    wanted = first_measured(total(frame, "replicas.desired"), total(frame, "autoscaler.desired"))
    if wanted is None:
        return None
    out = np.where(np.isnan(wanted), np.nan, 0.0)
    direction = 0.0
    for before, after in pairwise(np.flatnonzero(~np.isnan(wanted))):
        step = float(np.sign(wanted[after] - wanted[before]))
        if step and direction and step != direction:
            out[after] = 1.0 / frame.grid.step
        direction = step or direction
    return out


def starting(frame: Frame, replica: Subject) -> Floats | None:
    """Age of a pod that has never been ready yet, seconds; NaN once it was."""
    ready = frame.cells("pod.ready", replica)
    if ready is None or np.isnan(ready).all():
        return None
    first = int(np.flatnonzero(~np.isnan(ready))[0])
    made = frame.cells("pod.created", replica)
    begun = float(np.nanmin(made)) if made is not None and not np.isnan(made).all() else float(frame.grid.times[first])
    never = ~np.maximum.accumulate(ready == 1) & ~np.isnan(ready)
    return np.where(never, np.clip(frame.grid.times - begun, 0.0, None), np.nan)


def ending(frame: Frame, _service: Subject) -> Floats | None:
    """1 while a replica has just ended or is about to, 0 while all stay as they are."""
    rows = [row for replica in frame.recording.subjects[Scope.REPLICA] if (row := _ends(frame, replica)) is not None]
    if not rows:
        return None
    reach = max(1, round(_AROUND / frame.grid.step))
    ends = np.any(np.stack(rows), axis=0)
    return near(ends, reach).astype(float)


def _ends(frame: Frame, replica: Subject) -> Bools | None:
    """Cells in which a replica is no longer what it was in the cell before: ready, alive, the same process.

    One that vanishes was held to be there for some time after its last sample, so it ended before that.
    """
    ready, lost = frame.cells("pod.ready", replica), frame.cells("replica.lost", replica)
    up = ready if ready is not None else None if lost is None else 1.0 - lost
    again = frame.cells("replica.restarted", replica)
    if up is None and again is None:
        return None
    ends = np.zeros(len(frame.grid.times), dtype=bool)
    if up is not None:
        ends[1:] |= (up[:-1] == 1) & (up[1:] == 0)
        vanished = np.flatnonzero((up[:-1] == 1) & np.isnan(up[1:])) + 1
        seen = _last_seen(frame, replica, vanished)
        ends[seen[frame.grid.times[seen] < _others_until(frame, replica)]] = True
    if again is not None:
        ends |= again > 0
    return ends


def _others_until(frame: Frame, replica: Subject) -> float:
    """Until when anybody but a replica is measured: where all ends with it, the recording ends, and nobody knows of the replica.

    The log of a gateway tells no more of replicas than that requests come.
    """
    last = frame.remembered("last of each", lambda: _last_of_each(frame))
    return next((until for until, subject in last if subject != replica), -np.inf)


def _last_of_each(frame: Frame) -> list[tuple[float, Subject]]:
    """The last time of the two subjects that are measured for longest, the longer one first."""
    last: dict[Subject, float] = {}
    panels = [one for several in frame.recording.panels.values() for one in several]
    for is_log in (False, True):
        for subjects, _, until in told_of(one for one in panels if (one.dialect == LOG) == is_log):
            for subject in subjects:
                if subject.scope is Scope.REPLICA or not is_log:
                    last[subject] = max(last.get(subject, -np.inf), until)
    return sorted(((until, subject) for subject, until in last.items()), reverse=True)[:2]


def _last_seen(frame: Frame, replica: Subject, vanished: Indexes) -> Indexes:
    """Of each cell in which a replica has vanished the cell after its last sample."""
    signals = ("pod.ready", "batch.running", "tokens.generation", "process.start_time")
    spoken = (frame.recording.times_of(name, replica) for name in signals)
    times = next((one for one in spoken if one is not None), None)
    if times is None:
        return vanished
    last = times[(np.searchsorted(times, frame.grid.times[vanished], side="right") - 1).clip(0)]
    return np.asarray(np.minimum(np.searchsorted(frame.grid.times, last, side="right"), vanished), dtype=np.int64)


def failures(frame: Frame, _service: Subject) -> Floats | None:
    """Requests per second that ended in a server error or a broken connection, by whoever counts most of them."""
    gateway = [cells for name in ("gateway.5xx", "gateway.resets") if (cells := total(frame, name)) is not None]
    if gateway:
        return together(gateway, Combine.MAX)
    return first_measured(*(total(frame, name) for name in ("requests.failed", "gateway.upstream_5xx", "http.5xx")))


def failures_at_endings(frame: Frame, service: Subject) -> Floats | None:
    """Those of the failures that fall on the end of a replica."""
    failed, near = frame.cells("service.failures", service), frame.cells("service.ending", service)
    return None if failed is None or near is None else failed * near


def sent_to_gone(frame: Frame, replica: Subject) -> Floats | None:
    """Requests per second that the gateway sends to a replica that is gone, dead or not ready, for longer than one cell."""
    sent = first_measured(frame.cells("backend.requests", replica), frame.cells("backend.failures", replica))
    gone = _gone(frame, replica)
    if sent is None or gone is None:
        return None
    settled = gone.copy()
    settled[1:] &= gone[:-1]
    return np.where(np.isnan(sent), np.nan, np.where(settled, sent, 0.0))


def _gone(frame: Frame, replica: Subject) -> Bools | None:
    """Cells in which a replica that was there is taken away or not ready by the cluster's word, else gives no sign of life."""
    ready, lost = frame.cells("pod.ready", replica), frame.cells("replica.lost", replica)
    if ready is None:
        return None if lost is None else lost == 1
    listed = ~np.isnan(ready)
    seen = known_to(frame, "pod.ready") > (listed if frame.tells("pod.ready", replica) else 0)
    return np.maximum.accumulate(listed) & np.where(listed, ready == 0, seen)


DERIVATIONS = (
    Derivation("pod.starting", ("pod.ready", "pod.created"), starting),
    Derivation("backend.stale", ("backend.requests", "backend.failures", "pod.ready", "replica.lost"), sent_to_gone),
    Derivation("service.ending", ("pod.ready", "replica.lost", "replica.restarted"), ending),
    Derivation(
        "service.failures", ("gateway.5xx", "gateway.upstream_5xx", "gateway.resets", "requests.failed", "http.5xx"), failures
    ),
    Derivation("service.failures_at_endings", ("service.failures", "service.ending"), failures_at_endings),
    Derivation("replicas.turns", ("replicas.desired", "autoscaler.desired"), turns),
)

"""Values that cannot be: below nought, or beyond what the machine behind them is able to do."""

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from triage.classes import dataclass
from triage.engine.frame import Frame
from triage.engine.witnesses.voices import Voices
from triage.model.arrays import median
from triage.model.observation import Judged, Observation, Seen
from triage.model.recording import Floats, Subject
from triage.model.vocabulary import Scope, catalogue

Bools = npt.NDArray[np.bool_]

_LEAST_CELLS = 3
"""One scrape that comes late makes one rate too high."""


@dataclass(frozen=True)
class _Limit:
    """A pair of signals of one subject, of which the first cannot exceed the second.

    :param times: measuring errors that are usual: quotas are enforced per 100 ms, power is regulated in fractions of a second
    """

    signal: str
    limit: Callable[[Frame, Subject], Floats | None]
    times: float
    words: str


def _signal(name: str) -> Callable[[Frame, Subject], Floats | None]:
    return lambda frame, subject: frame.cells(name, subject)


def _host_cores(frame: Frame, subject: Subject) -> Floats | None:
    """Cores of the host that a replica is on."""
    hosts = frame.related(subject, Scope.NODE)
    return frame.cells("node.cpu_cores", hosts[0]) if len(hosts) == 1 else None


_LIMITS = (
    _Limit("container.cpu", _signal("container.cpu_limit"), 1.5, "uses more CPU than its quota allows"),
    _Limit("process.cpu", _host_cores, 1.1, "uses more cores than its host has"),
    _Limit("container.cpu", _host_cores, 1.1, "uses more cores than its host has"),
    _Limit("node.cpu_busy_cores", _signal("node.cpu_cores"), 1.1, "is busy on more cores than it has"),
    _Limit("gpu.mem_used", _signal("gpu.mem_total"), 1.01, "holds more memory than it has"),
    _Limit("gpu.power", _signal("gpu.power_limit"), 1.5, "draws far more power than its limit allows"),
    _Limit("node.memory_available", _signal("node.memory_total"), 1.01, "has more memory free than in all"),
    _Limit("batch.running", _signal("batch.limit"), 1.05, "runs more requests than it can at once"),
    _Limit("finished.error", _signal("finished"), 1.5, "fails more requests than end"),
    _Limit("prefix.hits", _signal("prefix.queries"), 1.2, "finds more in its prefix cache than it looks up"),
    _Limit("spec.accepted_tokens", _signal("spec.draft_tokens"), 1.2, "accepts more draft tokens than are proposed"),
)
"""Chosen: half as much again where a burst fits between two scrapes, a tenth and less where it does not; beyond it the unit or
the sum is wrong."""


def beyond_bounds(frame: Frame, _voices: Voices) -> Seen:
    """Values that contradict themselves, physics or a limit. They are forgotten."""
    odd: list[Observation] = list(_out_of_range(frame))
    judged: set[Judged] = set()
    for limit in _LIMITS:
        pairs = [
            (subject, cells, most)
            for subject, cells in sorted(frame.of(limit.signal).items())
            if (most := limit.limit(frame, subject)) is not None
        ]
        if not pairs:
            continue
        cells, most = (np.array([pair[part] for pair in pairs]) for part in (1, 2))
        told = ~np.isnan(cells + most).all(axis=1)
        judged |= {("instrument", "beyond-physics", pairs[row][0].scope) for row in np.flatnonzero(told).tolist()}
        beyond = (most > 0) & (cells > limit.times * most)
        for row in np.flatnonzero(told & (beyond.sum(axis=1) >= _LEAST_CELLS)).tolist():
            subject = pairs[row][0]
            odd.append(_observation(frame, limit, subject, beyond[row], cells[row], most[row]))
            for moment in frame.grid.times[beyond[row]]:
                frame.forget(limit.signal, subject, float(moment) - frame.grid.step / 2, float(moment))
    heard = {subject for panels in frame.recording.panels.values() for panel in panels for subject in panel.subjects}
    judged |= {("instrument", "below-zero", scope) for scope in {subject.scope for subject in heard}}
    return Seen(tuple(odd), frozenset(judged))


def _observation(frame: Frame, limit: _Limit, subject: Subject, beyond: Bools, cells: Floats, most: Floats) -> Observation:
    """A value beyond what can be."""
    index = np.flatnonzero(beyond)
    first, last = int(index[0]), int(index[-1])
    value, usual = median(cells[beyond]), median(most[beyond])
    return Observation(
        sort="instrument",
        of="beyond-physics",
        subject=subject,
        text=f"{subject} {limit.words}: {catalogue()[limit.signal].noun} says {value:g}, at most {usual:g} is possible",
        onset=(float(frame.grid.times[first] - frame.grid.step), float(frame.grid.times[first])),
        end=None if last >= len(cells) - 2 else float(frame.grid.times[last]),
        against="limit",
        size=value / usual,
        value=value,
        usual=usual,
        unit=catalogue()[limit.signal].unit,
        support=len(index),
        source="monitoring",
        attrs={"signal": limit.signal},
        salient=True,
    )


def _out_of_range(frame: Frame) -> Iterator[Observation]:
    """Readings that lie outside of what their unit allows, as whoever read them says."""
    for event in frame.recording.events_of("metric"):
        if event.name in ("below-zero", "beyond-range"):
            of = "below-zero" if event.name == "below-zero" else "beyond-physics"
            subject = event.subject or Subject(Scope.SERVICE, frame.recording.service)
            yield Observation(
                sort="instrument",
                of=of,
                subject=subject,
                text=event.text,
                onset=(event.time, event.time),
                against="limit",
                source="monitoring",
                attrs=dict(event.attrs),
                salient=True,
            )

"""Several processes behind one target: start times that go back, counters that fall without a newer start."""

from collections.abc import Iterator

import numpy as np

from triage.engine.frame import Frame
from triage.engine.witnesses.voices import LEAST_SAMPLES, Voices
from triage.model.arrays import usual_step
from triage.model.observation import Judged, Observation, Seen
from triage.model.recording import Series
from triage.model.vocabulary import Kind, catalogue

_STARTS = ("process.start_time", "gateway.start_time", "node.boot_time")
_SLACK = 5.0
"""A clock that is set moves what is computed from it by seconds (boot time, start time from an age)."""


def several_processes(frame: Frame, voices: Voices) -> Seen:
    """Targets behind which more than one process answers: what is counted there belongs to nobody."""
    odd: list[Observation] = []
    judged: set[Judged] = set()
    for signal in _STARTS:
        for one in frame.recording.by_signal.get(signal, ()):
            if len(one.times) >= LEAST_SAMPLES:
                judged.add(("instrument", "several-processes", one.subject.scope))
                odd.extend(_going_back(one))
    for found in odd:
        _forget_rates(frame, voices, found)
    odd += _falling(frame)
    return Seen(tuple(odd), frozenset(judged))


def _going_back(one: Series) -> Iterator[Observation]:
    """The observation of a start time that goes back."""
    steps = np.diff(one.values)
    back = np.flatnonzero(steps < -_SLACK)
    if not len(back):
        return
    turns = int(np.count_nonzero(np.abs(steps) > _SLACK))
    first = int(np.flatnonzero(np.abs(steps) > _SLACK)[0])
    again = turns > 1
    last = int(np.flatnonzero(np.abs(steps) > _SLACK)[-1]) + 1
    goes_on = float(one.times[-1] - one.times[last]) <= 10 * usual_step(one.times)
    yield Observation(
        sort="instrument",
        of="several-processes",
        subject=one.subject,
        text=f"the start time of {one.subject} goes back ({turns} turns): more than one process answers there",
        onset=(float(one.times[first]), float(one.times[first + 1])),
        end=None if goes_on or not again else float(one.times[last]),
        value=float(turns),
        support=turns,
        source="monitoring",
        attrs={"exporter": one.origin.dialect, "pattern": "alternates" if again else "back"},
        salient=True,
    )


def _falling(frame: Frame) -> Iterator[Observation]:
    """Running totals that fall time and again without a restart, as whoever read them says."""
    for event in frame.recording.events_of("metric"):
        if event.name == "falls" and event.subject is not None:
            yield Observation(
                sort="instrument",
                of="several-processes",
                subject=event.subject,
                text=event.text,
                onset=(event.time, event.time),
                source="monitoring",
                attrs={**event.attrs, "pattern": "falls"},
                salient=True,
            )


def _forget_rates(frame: Frame, voices: Voices, one: Observation) -> None:
    """Rates of counters that several processes count in turn are unknown."""
    if one.attrs["pattern"] != "alternates" or one.onset is None:
        return
    until = frame.recording.window.end if one.end is None else one.end
    for voice in voices.by_subject.get(one.subject, ()):
        if voice.dialect == one.attrs["exporter"]:
            for signal in sorted(set(voice.names)):
                if catalogue()[signal].kind in (Kind.RATE, Kind.DISTRIBUTION):
                    frame.forget(signal, one.subject, one.onset[0], until)

"""Sampling what is here and now: the beat, and the readings of one run as series."""

from collections.abc import Callable, Iterator
from dataclasses import field
from math import floor, isfinite
from threading import Event as StopSignal

import numpy as np

from triage.classes import dataclass
from triage.ingest.metrics.rates import STALENESS_STEPS, combined, to_rates
from triage.model.recording import Floats, Origin, Series, Subject
from triage.model.vocabulary import catalogue


def beats(end: float, step: float, clock: Callable[[], float], stop: StopSignal) -> Iterator[tuple[float, float]]:
    """The moments at which to sample: now, then evenly until the end, at least a step apart (5 % less is taken for a step).

    A beat that is over before the sampling of the one before it has returned is left out. A clock that jumps back does not
    prolong the run: no wait is longer than one beat.

    :param end: Unix seconds
    :param step: least distance, seconds
    :returns: the current time and how far the run is (0 to 1), at each beat
    """
    start = clock()
    count = max(0, floor((end - start) / step + 0.05)) if step > 0 else 0
    yield start, 0.0 if count else 1.0
    beat = (end - start) / count if count else 0.0
    for number in range(1, count + 1):
        ahead = start + number * beat - clock()
        if ahead < -beat / 2 and number < count:
            continue
        if stop.wait(min(max(ahead, 0.0), beat)):
            return
        yield clock(), number / count


@dataclass(frozen=True, slots=True)
class Reading:
    """One value as it was read.

    :param signal: name in the vocabulary
    :param value: base units; of a counter its running total
    :param metric: the file or function that was read
    :param counter: the value is a running total, to become a rate
    :param whole: running total of which the counter's growth is a share; the time that passed if not said
    :param part: the disk, interface or link whose share of the signal this is
    """

    signal: str
    value: float
    metric: str
    counter: bool = False
    whole: float | None = None
    part: str = ""


@dataclass(slots=True)
class _Track:
    """The readings of one part of one signal of one subject."""

    metric: str
    counter: bool
    times: list[float] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    wholes: list[float] = field(default_factory=list)

    def add(self, time: float, reading: Reading) -> None:
        """Adds a reading; one that is no number, or not later than the last one, says nothing."""
        if not isfinite(reading.value) or (self.times and time <= self.times[-1]):
            return
        self.times.append(time)
        self.values.append(reading.value)
        self.wholes.append(time if reading.whole is None else reading.whole)

    def samples(self) -> tuple[Floats, Floats]:
        """Times and values; of a counter the rate since the reading before."""
        times, values, wholes = (np.array(column, dtype=float) for column in (self.times, self.values, self.wholes))
        if not self.counter:
            return times, values
        if (np.diff(wholes) <= 0).any():
            moved = np.concatenate(([True], np.diff(wholes) > 0))
            times, values, wholes = times[moved], values[moved], wholes[moved]
        return times[1:], to_rates(wholes, values)[1]


class Samples:
    """The readings of one run."""

    def __init__(self) -> None:
        self._tracks: dict[tuple[str, Subject], dict[str, _Track]] = {}

    def add(self, time: float, subject: Subject, reading: Reading) -> None:
        """Adds what was read of a subject at a time (Unix seconds)."""
        parts = self._tracks.setdefault((reading.signal, subject), {})
        track = parts.get(reading.part)
        if track is None:
            track = parts[reading.part] = _Track(reading.metric, reading.counter)
        track.add(time, reading)

    def series(self, dialect: str, step: float) -> tuple[Series, ...]:
        """All series, sorted by signal and subject; several parts are combined in the signal's own way.

        :param dialect: name of the source, for the series' origin
        :param step: usual distance of samples, seconds
        """
        made = (self._series(key, dialect, step) for key in sorted(self._tracks))
        return tuple(one for one in made if one is not None)

    def _series(self, key: tuple[str, Subject], dialect: str, step: float) -> Series | None:
        signal, subject = key
        tracks = [track for _, track in sorted(self._tracks[key].items())]
        parts = [samples for track in tracks if len((samples := track.samples())[0])]
        if not parts:
            return None
        first = tracks[0]
        times, values = combined(parts, catalogue()[signal].combine, rates=first.counter, staleness=STALENESS_STEPS * step)
        return Series(signal, subject, times, values, Origin(dialect, first.metric, counter=first.counter))

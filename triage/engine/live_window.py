"""One recording that grows: what was known, continued by what the newest look brought."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from triage.model.recording import Event, Fact, Floats, Histogram, Recording, Series, Subject
from triage.model.vocabulary import Kind, catalogue

Indices = npt.NDArray[np.int64]

_Track = TypeVar("_Track", Series, Histogram)


def continued(history: Recording, latest: Recording, since: float) -> Recording:
    """The history with the newest look at its end. Where both know a time the newest look is right.

    Sources, problems, promises and the window are those of the newest look.

    :param since: Unix seconds; what is older is forgotten
    """
    return replace(
        latest,
        series=_joined(history.series, latest.series, since),
        histograms=_joined(history.histograms, latest.histograms, since),
        events=_events(history.events, latest.events, since),
        facts=_facts(history.facts, latest.facts),
        links=_links(history.links, latest.links),
        routes=_links(history.routes, latest.routes),
        step=max(history.step, latest.step),
    )


def still_told(history: Recording, latest: Recording) -> Recording:
    """The history without the signals that the newest look did not bring: what a source said before it died is no evidence now.

    A signal of which only some subjects fell silent stays whole, since that one of them ended may be the very trouble. So does
    all that a target said that was asked now and gave no answer: that it has nothing more to say is evidence.
    """
    alive = {one.signal for one in latest.series} | {one.signal for one in latest.histograms}
    asked = {one.subject for one in latest.series if one.signal == "target.up"}
    return replace(
        history,
        series=tuple(one for one in history.series if one.signal in alive or one.subject in asked),
        histograms=tuple(one for one in history.histograms if one.signal in alive or one.subject in asked),
    )


def thinned(recording: Recording, step: float) -> Recording:
    """The recording with at most one sample of each track in so many seconds.

    What was counted stays what it was: a rate becomes the mean over the time that its samples speak for. A state is its last
    value, anything else the mean. Spans begin at multiples of the step: what was thinned before is thinned to the same samples.

    :param step: seconds
    """
    return replace(
        recording,
        series=tuple(_thin_series(one, step) for one in recording.series),
        histograms=tuple(_thin_histogram(one, step) for one in recording.histograms),
        step=max(recording.step, step),
    )


def bounded(recording: Recording, longest: float, finest: float) -> Recording:
    """The recording, thinned where it is too long to be kept as it is: its samples never become more than those of ``longest``.

    :param longest: seconds of history that are kept as they came
    :param finest: seconds between two samples as they come
    """
    window = recording.window
    span = window.end - min([window.baseline_start, *(float(one.times[0]) for one in recording.series if len(one.times))])
    step = finest
    while span / step > longest / finest:
        step *= 2.0
    return recording if step <= finest else thinned(recording, step)


def _thin_series(one: Series, step: float) -> Series:
    starts, last = _spans(one.times, step)
    if len(starts) == len(one.times):
        return one
    kind = catalogue()[one.signal].kind
    if kind is Kind.STATE:
        values = one.values[last]
    elif kind is Kind.RATE:
        values = _mean_rates(one.times, one.values, starts)
    else:
        values = np.add.reduceat(one.values, starts) / np.diff(np.append(starts, len(one.times)))
    return replace(one, times=one.times[last], values=values)


def _thin_histogram(one: Histogram, step: float) -> Histogram:
    starts, last = _spans(one.times, step)
    if len(starts) == len(one.times):
        return one
    rates = np.stack([_mean_rates(one.times, column, starts) for column in one.rates.T], axis=1)
    return replace(one, times=one.times[last], rates=rates, sums=_mean_rates(one.times, one.sums, starts))


def _spans(times: Floats, step: float) -> tuple[Indices, Indices]:
    """The first and the last sample of each span in which there are any."""
    spans = np.floor(times / step)
    starts = np.flatnonzero(np.concatenate(([True], spans[1:] > spans[:-1])))
    return starts, np.append(starts[1:], len(times)) - 1


def _mean_rates(times: Floats, rates: Floats, starts: Indices) -> Floats:
    """Rates over spans: each sample speaks for the time since the one before it."""
    seconds = np.diff(times, prepend=times[0] - (times[1] - times[0] if len(times) > 1 else 1.0))
    return np.add.reduceat(rates * seconds, starts) / np.add.reduceat(seconds, starts)


def _joined(old: Iterable[_Track], new: Iterable[_Track], since: float) -> tuple[_Track, ...]:
    """Tracks of both, each continued where both have it."""
    tracks = {(one.signal, one.subject): one for one in old}
    for one in new:
        known = tracks.get((one.signal, one.subject))
        tracks[one.signal, one.subject] = one if known is None else _appended(known, one)
    trimmed = (_since(track, since) for track in tracks.values())
    return tuple(track for track in trimmed if len(track.times))


def _appended(old: _Track, new: _Track) -> _Track:
    """One track from the old samples before the first new one, and the new ones. A histogram with other buckets begins anew."""
    if not len(new.times):
        return old
    keep = int(np.searchsorted(old.times, new.times[0], side="left"))
    times = np.concatenate((old.times[:keep], new.times))
    if isinstance(old, Histogram) and isinstance(new, Histogram):
        if not np.array_equal(old.bounds, new.bounds):
            return new
        rates = np.concatenate((old.rates[:keep], new.rates))
        return replace(new, times=times, rates=rates, sums=np.concatenate((old.sums[:keep], new.sums)))
    assert isinstance(old, Series)
    assert isinstance(new, Series)
    return replace(new, times=times, values=np.concatenate((old.values[:keep], new.values)))


def _since(track: _Track, since: float) -> _Track:
    """The samples of a track from a moment on."""
    first = int(np.searchsorted(track.times, since, side="left"))
    if not first:
        return track
    if isinstance(track, Histogram):
        return replace(track, times=track.times[first:], rates=track.rates[first:], sums=track.sums[first:])
    return replace(track, times=track.times[first:], values=track.values[first:])


def _events(old: Iterable[Event], new: Iterable[Event], since: float) -> tuple[Event, ...]:
    """Events of both, each once, in order of time."""
    known = {(e.time, e.kind, e.name, e.subject, e.text, e.source): e for e in (*old, *new) if e.time >= since}
    return tuple(sorted(known.values(), key=lambda e: (e.time, e.kind, e.name, e.text)))


def _facts(old: Iterable[Fact], new: Iterable[Fact]) -> tuple[Fact, ...]:
    """Facts of both, the newest of each."""
    return tuple({(fact.subject, fact.key): fact for fact in (*old, *new)}.values())


def _links(
    old: Mapping[Subject, tuple[Subject, ...]], new: Mapping[Subject, tuple[Subject, ...]]
) -> dict[Subject, tuple[Subject, ...]]:
    """Links of both; of a subject that both know the newest."""
    return {**old, **new}

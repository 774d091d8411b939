"""One recording that grows: what was known, continued by what the newest look brought."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeVar

import numpy as np

from triage.model.recording import Event, Fact, Histogram, Recording, Series, Subject

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

"""A recording as it was at an earlier moment."""

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

import numpy as np

from triage.model.recording import Histogram, Recording, Series, Window

_LEAST_SHARE = 0.75
"""A window that reaches back further than this share of what was recorded before its end leaves too little to compare with."""

_Track = TypeVar("_Track", Series, Histogram)


def cut(recording: Recording, end: float) -> Recording:
    """The recording with nothing in it that came after a moment, and the window that a diagnosis would have had then.

    The window keeps its length. Where that would leave less before it than a quarter of what there is (or than the recording
    had in proportion, if that is even less), it begins later: without anything usual to compare with there is little to say.

    :param end: Unix seconds; at or after the end of the recording's window the recording itself is the answer
    """
    if end >= recording.window.end:
        return recording
    return replace(
        recording,
        window=_window(recording.window, end),
        series=tuple(_before(recording.series, end)),
        histograms=tuple(_before(recording.histograms, end)),
        events=tuple(event for event in recording.events if event.time <= end),
    )


def _window(window: Window, end: float) -> Window:
    """The window that ends at a moment."""
    length, recorded = window.end - window.start, window.end - window.baseline_start
    share = max(_LEAST_SHARE, length / recorded if recorded > 0 else 1.0)
    start = end - min(length, share * max(end - window.baseline_start, 0.0))
    return Window(start, end, min(window.baseline_start, start))


def _before(tracks: Iterable[_Track], end: float) -> Iterable[_Track]:
    """Each track up to a moment; one that had not begun by then is left out."""
    for track in tracks:
        count = int(np.searchsorted(track.times, end, side="right"))
        if count == len(track.times):
            yield track
        elif count:
            yield _first(track, count)


def _first(track: _Track, count: int) -> _Track:
    """The first samples of a track."""
    if isinstance(track, Histogram):
        return replace(track, times=track.times[:count], rates=track.rates[:count], sums=track.sums[:count])
    return replace(track, times=track.times[:count], values=track.values[:count])

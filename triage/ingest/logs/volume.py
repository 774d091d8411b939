"""How many lines an emitter writes, and whether it fell silent."""

from collections import Counter
from collections.abc import Iterator

import numpy as np

from triage.ingest.logs.emitters import Emitter
from triage.model.recording import Event, Origin, Series, Window
from triage.model.units import duration

VOLUME_GRID = 60.0
"""Distance of the samples of log volume, seconds: engines write their load every 10 s, so an empty minute is silence."""

SILENCE = 60.0
"""Shortest silence, in seconds, that can mean that a log has stopped: six of the intervals at which engines write their load."""

SILENCE_GAPS = 5.0
"""… and it must be longer than so many of the pauses that nine in ten stay below; a quiet engine pauses long."""

_MIN_LINES = 6
_MAX_GAPS = 10_000

_VOLUME_SIGNALS = {"engine": "log.lines", "gateway": "gateway.log_lines"}


class Volume:
    """How many lines an emitter writes, minute by minute, and whether it fell silent."""

    def __init__(self, emitter: Emitter, window: Window, source: str) -> None:
        self._emitter = emitter
        self._window = window
        self._source = source
        self._bins: Counter[int] = Counter()
        self.latest = 0.0
        """When the last line was written, Unix seconds; 0 before the first."""
        self._latest_load = 0.0
        self._gaps: list[float] = []

    def count(self, time: float) -> None:
        """Counts a line with a stamp."""
        if not self._window.baseline_start <= time <= self._window.end:
            return
        self._bins[int(time // VOLUME_GRID)] += 1
        self.latest = max(self.latest, time)

    def count_load(self, time: float) -> None:
        """Counts a line of load, which comes at regular intervals."""
        if not self._window.baseline_start <= time <= self._window.end:
            return
        if self._latest_load and time > self._latest_load and len(self._gaps) < _MAX_GAPS:
            self._gaps.append(time - self._latest_load)
        self._latest_load = max(self._latest_load, time)

    def series(self) -> Iterator[Series]:
        """Lines per second from the first line to the window's end; a log that ends early goes on with zeros."""
        signal = _VOLUME_SIGNALS.get(self._emitter.kind)
        if signal is None or not self._bins:
            return
        numbers = np.arange(min(self._bins), int(self._window.end // VOLUME_GRID) + 1)
        ends = np.minimum((numbers + 1) * VOLUME_GRID, self._window.end)
        lengths = ends - numbers * VOLUME_GRID
        keep = lengths > 0.5 * VOLUME_GRID
        values = np.array([self._bins[int(number)] for number in numbers]) / np.maximum(lengths, 1.0)
        yield Series(signal, self._emitter.subject, ends[keep], values[keep], Origin("log", self._source))

    def stopped(self, ending: str) -> Event | None:
        """``log-stopped`` if an engine wrote its load at regular intervals, and then nothing more until the window's end.

        :param ending: what the engine said at last
        """
        if len(self._gaps) < _MIN_LINES:
            return None
        gaps = sorted(self._gaps)
        usual = gaps[int(0.9 * (len(gaps) - 1))]
        silent = self._window.end - self.latest
        wrote_load_to_the_last = self.latest - self._latest_load <= max(3.0 * usual, 0.5 * SILENCE)
        if not wrote_load_to_the_last or silent < max(SILENCE, SILENCE_GAPS * usual, 1.5 * gaps[-1]):
            return None
        attrs = {
            "seconds": f"{silent:.0f}",
            "usual_gap": f"{usual:.0f}",
            "after": ending,
            "role": "info",
            "kinds": "log-gap engine-dead",
        }
        text = (
            f"{self._source} has no line in the last {duration(silent)} of the window, after one every {duration(usual)} or less"
        )
        return Event(
            self.latest,
            "log",
            "log-stopped",
            self._emitter.subject,
            attrs | {"emitter": "engine", "meaning": text},
            text,
            self._source,
        )

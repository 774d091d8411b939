"""A curve drawn with plotext: the value, what is usual, what it is held against, when the trouble began, and what was changed."""

from collections.abc import Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from typing import Any

from textual.color import Color
from textual.content import Content
from textual.style import Style
from textual_plotext.plot import Plot

from triage.classes import dataclass
from triage.model.units import clock, quantity
from triage.tui.curves import Curve, trimmed

_BASELINE, _THRESHOLD, _ONSET, _WINDOW, _CHANGE = "·", "╌", "│", "┊", "┆"
LEGEND = {
    "threshold": f"{_THRESHOLD}{_THRESHOLD}",
    "baseline": _BASELINE * 2,
    "onset": _ONSET,
    "window": _WINDOW,
    "change": _CHANGE,
}
"""What each mark looks like; they differ in shape as well as in colour."""

_DOTS_PER_CELL = 2
_HEADROOM = 0.08
_TICK_WIDTH = 12
_LONGEST_UNIT = 4
_LEAST_WIDTH, _LEAST_HEIGHT = 16, 4

Rgb = tuple[int, int, int]


@dataclass(frozen=True)
class Inks:
    """Colours of a theme."""

    value: Rgb
    threshold: Rgb
    baseline: Rgb
    onset: Rgb
    axis: Rgb


class Drawing:
    """Draws curves, each once for the size that it gets."""

    def __init__(self) -> None:
        self._plot = Plot()
        self._kept: tuple[object, Content] | None = None

    def of(self, curve: Curve, near: float, width: int, height: int, inks: Inks) -> Content:
        """The curve as text; nothing where there is too little room.

        :param near: Unix seconds of a moment whose date the reader knows
        """
        if width < _LEAST_WIDTH or height < _LEAST_HEIGHT:
            return Content("")
        key = (curve, near, width, height, inks)
        if self._kept is None or self._kept[0] != key:
            self._kept = (key, _drawn(self._plot, curve, near, width, height, inks))
        return self._kept[1]


def inks_of(colours: Mapping[str, str]) -> Inks:
    """Colours of a theme, by the names of its variables."""

    def rgb(name: str) -> Rgb:
        return Color.parse(colours[name]).rgb

    return Inks(rgb("primary"), rgb("warning"), rgb("secondary"), rgb("error"), rgb("foreground"))


def _drawn(plot: Plot, curve: Curve, near: float, width: int, height: int, inks: Inks) -> Content:
    """The drawing."""
    low, high = _range(curve)
    narrow = trimmed(curve, max(width * _DOTS_PER_CELL, 8))
    plot.clear_figure()
    plot.plotsize(width, height)
    plot._set_size(width, height)  # noqa: SLF001 - plotsize alone leaves the old size (textual-plotext does the same)
    plot.canvas_color("default")
    plot.axes_color("default")
    plot.ticks_color(inks.axis)
    plot.ylim(low, high)
    start = curve.times[0]
    span = max(curve.times[-1] - start, 1e-9)
    plot.xlim(0.0, span)
    _draw_levels(plot, curve, span, inks)
    _draw_moments(plot, curve, low, high, height, inks)
    for times, values in _runs(narrow):
        plot.plot([time - start for time in times], values, marker="braille", color=inks.value)
    plot.yticks(*_value_ticks(curve, low, high, height))
    plot.xticks(*_time_ticks(curve, near, width))
    plot.xaxes(True, False)
    plot.yaxes(True, False)
    return _in_colours(plot)


def _in_colours(plot: Any) -> Content:
    """What plotext has drawn, taken from its cells: written with ANSI codes, and read again, it would take twice as long."""
    plot._set_sizes()  # noqa: SLF001 - as its own ``build`` does
    plot._build_matrix()  # noqa: SLF001
    cells = plot.monitor.matrix
    pieces: list[str | tuple[str, Style]] = []
    for markers, inks in zip(reversed(cells.marker), reversed(cells.fullground), strict=True):
        for ink, run in groupby(zip(markers, inks, strict=True), key=itemgetter(1)):
            drawn = "".join(marker for marker, _ in run)
            pieces.append((drawn, Style(foreground=Color(*ink))) if isinstance(ink, tuple) else drawn)
        pieces.append("\n")
    return Content.assemble(*pieces[:-1])


def _range(curve: Curve) -> tuple[float, float]:
    """Lowest and highest value on the scale: all that must be seen, a little room, and zero where it is near."""
    known = [*curve.known, *(level for level in (curve.threshold, curve.baseline) if level is not None)] or [0.0]
    low, high = min(known), max(known)
    room = (high - low) * _HEADROOM or abs(high) * 0.5 or 1.0
    near_zero = 0.0 <= low <= (high - low) * 0.5
    return (0.0 if near_zero else low - room), high + room


def _draw_levels(plot: Plot, curve: Curve, span: float, inks: Inks) -> None:
    """Baseline and threshold from side to side."""
    for level, marker, ink in ((curve.baseline, _BASELINE, inks.baseline), (curve.threshold, _THRESHOLD, inks.threshold)):
        if level is not None:
            plot.plot([0.0, span], [level, level], marker=marker, color=ink)


def _draw_moments(plot: Plot, curve: Curve, low: float, high: float, height: int, inks: Inks) -> None:
    """The window's start, changes and the onset from top to bottom."""
    start = curve.times[0]
    moments = [(curve.window, _WINDOW, inks.axis), *((mark.time, _CHANGE, inks.threshold) for mark in curve.marks)]
    for moment, marker, ink in (*moments, (curve.onset, _ONSET, inks.onset)):
        if moment is not None:
            rows = [low + (high - low) * row / (2 * height) for row in range(2 * height + 1)]
            plot.scatter([moment - start] * len(rows), rows, marker=marker, color=ink)


def _runs(curve: Curve) -> Iterator[tuple[list[float], list[float]]]:
    """Each stretch of values without a gap; a gap stays a gap."""
    pairs = zip(curve.times, curve.values, strict=True)
    for known, run in groupby(pairs, key=lambda pair: pair[1] is not None):
        if known:
            stretch = [(time, value) for time, value in run if value is not None]
            yield [time for time, _ in stretch], [value for _, value in stretch]


def _value_ticks(curve: Curve, low: float, high: float, height: int) -> tuple[list[float], list[str]]:
    """Values named at the left: threshold, highest, baseline, lowest, as far as they stand apart."""
    known = curve.known
    wanted = [curve.threshold, *([max(known)] if known else []), curve.baseline, *([min(known)] if known else [])]
    apart = (high - low) / max(height - 2, 1) * 1.1
    chosen: list[float] = []
    for value in wanted:
        if value is not None and all(abs(value - other) >= apart for other in chosen):
            chosen.append(value)
    like = max(chosen, key=abs, default=0.0)
    return chosen, [_short(quantity(value, curve.unit, like=like)) for value in chosen]


def _short(told: str) -> str:
    """A value with its unit, if that is short: the legend names the others."""
    number, _, unit = told.partition(" ")
    return told if len(unit) <= _LONGEST_UNIT else number


def _time_ticks(curve: Curve, near: float, width: int) -> tuple[list[float], list[str]]:
    """Moments named below: both ends, the onset and the window's start, as far as they stand apart."""
    start, end = curve.times[0], curve.times[-1]
    apart = (end - start) / max(width, 1) * _TICK_WIDTH
    chosen: list[float] = []
    for moment in (start, end, curve.onset, curve.window):
        if moment is not None and all(abs(moment - other) >= apart for other in chosen):
            chosen.append(moment)
    return [moment - start for moment in chosen], [clock(moment, near) for moment in chosen]

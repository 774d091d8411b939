"""Charts as inline SVG: a curve with its baseline, threshold, window and onset, and in words for those who cannot see it."""

from collections.abc import Iterator
from itertools import groupby

from triage.model.diagnosis import Evidence, Spark
from triage.model.units import clock, quantity
from triage.render.safe import html
from triage.render.spark import bounds, is_drawn, pooled

_WIDTH, _HEIGHT = 640.0, 150.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 92.0, 64.0, 14.0, 22.0
_POINTS = 400
_LINE = 12.0
_HEADROOM = 0.06


class _Scales:
    """Where a moment and a value lie on the drawing."""

    def __init__(self, curve: Spark, low: float, high: float, points: int) -> None:
        room = (high - low) * _HEADROOM or abs(high) * _HEADROOM or 1.0
        self._low, self._high = (low if low == 0 else low - room), high + room
        self._start, self._span = curve.start, (curve.end - curve.start) or 1.0
        self._points = points

    def y(self, value: float) -> float:
        """Height of a value, from the top."""
        share = (value - self._low) / (self._high - self._low)
        return _HEIGHT - _BOTTOM - share * (_HEIGHT - _TOP - _BOTTOM)

    def at(self, index: float) -> float:
        """Place of the index-th of all points, counted in their middles."""
        return _LEFT + (index + 0.5) / self._points * (_WIDTH - _LEFT - _RIGHT)

    def x(self, moment: float) -> float:
        """Place of a moment, kept inside of the drawing."""
        share = min(max((moment - self._start) / self._span, 0.0), 1.0)
        return _LEFT + share * (_WIDTH - _LEFT - _RIGHT)


def chart(evidence: Evidence, name: str, near: float) -> str:
    """The curve of a piece of evidence as an SVG element; empty if there is no curve.

    :param name: what is drawn, in words
    :param near: Unix seconds of a moment whose date the reader knows
    """
    curve = evidence.spark
    if curve is None or not curve.values:
        return ""
    values = pooled(curve.values, min(len(curve.values), _POINTS))
    low, high = bounds(values, evidence.threshold, evidence.baseline)
    scales = _Scales(curve, low, high, len(values))
    began = _began(evidence, curve)
    parts = [
        f"<title>{html(name)}</title>",
        f"<desc>{html(_described(evidence, curve, began, near))}</desc>",
        *_window(curve, scales),
        *_levels(evidence, scales),
        *_curve(values, scales),
        *_onset(began, scales, near),
        *_values(low, high, evidence.unit, scales),
        *_times(curve, scales, near),
    ]
    return f'<svg class="chart" viewBox="0 0 {_WIDTH:.0f} {_HEIGHT:.0f}" role="img">{"".join(parts)}</svg>'


def _moment(curve: Spark, index: int) -> float:
    """When a value of the curve begins."""
    return curve.start + (curve.end - curve.start) * index / len(curve.values)


def _began(evidence: Evidence, curve: Spark) -> float | None:
    """When the trouble began, to the second where that is known, else to the point of the curve; None if not in the curve."""
    if curve.onset is None or not 0 <= curve.onset < len(curve.values):
        return None
    return evidence.since if evidence.since is not None else _moment(curve, curve.onset)


def _described(evidence: Evidence, curve: Spark, began: float | None, near: float) -> str:
    """The chart in words."""
    known = [value for value in curve.values if is_drawn(value)]
    if not known:
        return "No data in this time."
    said = [f"From {quantity(min(known), evidence.unit)} to {quantity(max(known), evidence.unit)}"]
    said.append(f"between {clock(curve.start, near)} and {clock(curve.end, near)} UTC")
    said.extend(f"{label} {quantity(value, evidence.unit)}" for label, value in _named_levels(evidence))
    if began is not None:
        said.append(f"onset at {clock(began, near)}")
    gaps = sum(value is None for value in curve.values)
    if gaps:
        said.append(f"{gaps} of {len(curve.values)} values missing")
    return ", ".join(said) + "."


def _window(curve: Spark, scales: _Scales) -> Iterator[str]:
    """A shade over the window that was judged."""
    if 0 < curve.window < len(curve.values):
        left = scales.x(_moment(curve, curve.window))
        yield _box("window", left, _WIDTH - _RIGHT - left)


def _levels(evidence: Evidence, scales: _Scales) -> Iterator[str]:
    """Baseline and threshold as level lines, their names at the right, kept apart."""
    levels = [(scales.y(value), label) for label, value in _named_levels(evidence)]
    free = 0.0
    for y, label in sorted(levels):
        right, place = _WIDTH - _RIGHT, max(y + 4, free)
        free = place + _LINE
        yield f'<line class="{label}" x1="{_LEFT:.1f}" x2="{right:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield f'<text class="{label}" x="{right + 5:.1f}" y="{place:.1f}">{label}</text>'


def _named_levels(evidence: Evidence) -> Iterator[tuple[str, float]]:
    """What the curve is held against."""
    for label, value in (("baseline", evidence.baseline), ("threshold", evidence.threshold)):
        if is_drawn(value):
            yield label, value


def _curve(values: list[float | None], scales: _Scales) -> Iterator[str]:
    """A line for each run of values, and nothing where values are missing; a value between two gaps is a dot."""
    for is_known, run in groupby(enumerate(values), key=lambda pair: pair[1] is not None):
        points = [(scales.at(index), scales.y(value)) for index, value in run if value is not None]
        if is_known and len(points) == 1:
            yield f'<circle class="curve" cx="{points[0][0]:.1f}" cy="{points[0][1]:.1f}" r="2"/>'
        elif is_known:
            yield f'<polyline class="curve" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}"/>'
        else:
            yield from ()


def _onset(began: float | None, scales: _Scales, near: float) -> Iterator[str]:
    """A line where the trouble began, with its time."""
    if began is None:
        return
    x = scales.x(began)
    yield f'<line class="onset" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP:.1f}" y2="{_HEIGHT - _BOTTOM:.1f}"/>'
    yield f'<text class="onset" x="{x:.1f}" y="{_TOP - 4:.1f}" text-anchor="middle">onset {clock(began, near)}</text>'


def _values(low: float, high: float, unit: str, scales: _Scales) -> Iterator[str]:
    """Least and greatest value at the left."""
    for value in dict.fromkeys((low, high)):
        text = html(quantity(value, unit, like=high))
        yield f'<text class="axis" x="{_LEFT - 6:.1f}" y="{scales.y(value) + 4:.1f}" text-anchor="end">{text}</text>'


def _times(curve: Spark, scales: _Scales, near: float) -> Iterator[str]:
    """When the curve and the window start, and when both end."""
    marks = [(curve.start, "start"), (curve.end, "end")]
    if 0 < curve.window < len(curve.values):
        marks.insert(1, (_moment(curve, curve.window), "middle"))
    for moment, anchor in marks:
        place = f'x="{scales.x(moment):.1f}" y="{_HEIGHT - 6:.1f}" text-anchor="{anchor}"'
        yield f'<text class="axis" {place}>{clock(moment, near)}</text>'


def _box(name: str, x: float, width: float) -> str:
    return f'<rect class="{name}" x="{x:.1f}" y="{_TOP:.1f}" width="{width:.1f}" height="{_HEIGHT - _TOP - _BOTTOM:.1f}"/>'

"""Series that add up ratios: recorded sums of what only a mean or a maximum makes sense of."""

import re
from collections.abc import Mapping, Sequence
from operator import attrgetter

import numpy as np

from triage.ingest.owners.places import POD_LABELS, first
from triage.ingest.raw import RawSeries
from triage.model.arrays import median_of_known
from triage.model.recording import Event, Floats, Panel, Series, Window
from triage.model.vocabulary import Kind, catalogue

_NAME = re.compile(r"usage|util|perc|ratio|occupancy|saturation|fill|cache|:sum")
"""Words of a ratio, or of a sum, in a metric's name."""

_CLOSE = 0.2
"""Half of the values must be this near to the sum: rules are evaluated between scrapes."""

_ABOVE = 1.5
"""… and this many times the greatest value that any subject shows, so that sum, mean and maximum are told apart."""

_SCALES = (1.0, 0.01)
"""As a ratio, or in per cent."""

_LEAST_SAMPLES = 5


def summed_ratios(
    series: Sequence[RawSeries], known: Mapping[str, object], made: Sequence[Panel], window: Window
) -> tuple[Event, ...]:
    """Events of kind ``metric``, name ``summed-ratio``, one for each series that no source exports and that is a sum of ratios.

    :param known: names that some dialect reads
    :param made: the signals that were made of the sources' series
    """
    candidates = [one for one in series if _is_candidate(one, known)]
    if not candidates:
        return ()
    ratios: dict[str, list[Series]] = {}
    for panel in made:
        if catalogue()[panel.signal].kind is Kind.RATIO:
            ratios.setdefault(panel.signal, []).extend(panel.rows())
    by_subject = attrgetter("subject")
    several = [(signal, sorted(parts, key=by_subject)) for signal, parts in sorted(ratios.items()) if len(parts) > 1]
    found = (_event(one, signal, parts, window) for one in candidates for signal, parts in several)
    events = {event.attrs["metric"]: event for event in found if event is not None}
    return tuple(sorted(events.values(), key=lambda event: (event.time, event.attrs["metric"])))


def may_add_up(name: str) -> bool:
    """Whether a name speaks of a ratio, or of a sum."""
    return _NAME.search(name.lower()) is not None


def _is_candidate(one: RawSeries, known: Mapping[str, object]) -> bool:
    """Whether a series may be a recorded one: nobody's own (no pod, no target), by a name that no dialect reads."""
    if one.name in known or one.labels.get("instance") or first(one.labels, POD_LABELS):
        return False
    return len(one.times) >= _LEAST_SAMPLES and may_add_up(one.name)


def _event(one: RawSeries, signal: str, parts: Sequence[Series], window: Window) -> Event | None:
    """The event of a series if it follows the sum of a ratio's series rather than their mean or maximum."""
    inside = one.times >= window.start
    if inside.sum() < _LEAST_SAMPLES:
        return None
    rows = np.stack([_at(one.times[inside], part) for part in parts])
    seen = ~np.isnan(rows).all(axis=0)
    if seen.sum() < _LEAST_SAMPLES:
        return None
    total, most = np.nansum(rows[:, seen], axis=0), np.nanmax(rows[:, seen], axis=0)
    values = one.values[inside][seen]
    scale = next((scale for scale in _SCALES if _follows(values * scale, total)), None)
    if scale is None or float(values.mean()) * scale < _ABOVE * float(most.mean()):
        return None
    fullest = float(most.mean()) / scale
    attrs = {"metric": one.name, "signal": signal, "value": f"{values.mean():.4g}", "fullest": f"{fullest:.4g}"}
    text = f"{one.name} stands at {values.mean():.3g}, the sum over {len(parts)}, of which the fullest shows {fullest:.3g}"
    return Event(max(float(one.times[0]), window.start), "metric", "summed-ratio", attrs=attrs, text=text, source="metrics")


def _follows(values: Floats, total: Floats) -> bool:
    """Whether values are about a sum most of the time."""
    with np.errstate(invalid="ignore", divide="ignore"):
        off = np.abs(values - total) / np.where(total > 0, total, np.nan)
    return bool(median_of_known(off) <= _CLOSE) if not np.isnan(off).all() else False


def _at(when: Floats, part: Series) -> Floats:
    """The last value of a series before each moment, NaN where it has none that is near."""
    index = np.searchsorted(part.times, when, side="right") - 1
    near = when - part.times[index.clip(0)] <= 120.0
    return np.where((index >= 0) & near, part.values[index.clip(0)], np.nan)

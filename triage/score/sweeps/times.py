"""Other times: a window that is cut or shifted, coarser scrapes, clocks that differ."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from triage.model.recording import Floats, Histogram, Recording, Series, Window
from triage.model.vocabulary import Kind, catalogue
from triage.score.sweeps.loss import dialects_of
from triage.score.sweeps.trial import Trial
from triage.score.sweeps.under import UnderChange

SKEW = 5.0
"""Seconds by which one source's clock is shifted against the others."""

INTERVALS = (60.0, 30.0, 15.0)
"""Scrape intervals to which cases are thinned out, the coarsest first, if they were recorded more finely."""

CUT = 0.2
"""Share of the window by which it is cut or shifted."""

_LEAST_SAMPLES = 10
"""A window with fewer scrapes than this cannot be judged by them, whatever one does."""


def window(case: UnderChange) -> Iterator[Trial]:
    """The window begins later, or ends earlier if the fault is there well before."""
    told = case.recording.window
    part = CUT * (told.end - told.start)
    yield case.harmless("window", "begins later", _judged(case.recording, told.start + part, told.end))
    onsets = [finding.onset for finding in case.diagnosis.findings if finding.onset is not None]
    if not onsets or max(onsets) < (told.start + told.end) / 2:
        yield case.harmless("window", "ends earlier", _judged(case.recording, told.start, told.end - part))


def _judged(recording: Recording, start: float, end: float) -> Recording:
    """The recording with another window; nothing is known of what comes after it."""
    return replace(
        recording,
        window=Window(start, end, min(start, recording.window.baseline_start)),
        series=tuple(_rows(one, one.times <= end) for one in recording.series),
        histograms=tuple(_cells(one, one.times <= end) for one in recording.histograms),
        events=tuple(event for event in recording.events if event.time <= end),
    )


def _rows(one: Series, keep: "np.ndarray[tuple[int], np.dtype[np.bool_]]") -> Series:
    return replace(one, times=one.times[keep], values=one.values[keep])


def _cells(one: Histogram, keep: "np.ndarray[tuple[int], np.dtype[np.bool_]]") -> Histogram:
    return replace(one, times=one.times[keep], rates=one.rates[keep], sums=one.sums[keep])


def interval(case: UnderChange) -> Iterator[Trial]:
    """Samples thinned out to the coarsest scrape interval that the window can be judged by."""
    told = case.recording.window
    for wanted in INTERVALS:
        every = round(wanted / case.recording.step)
        if every > 1 and (told.end - told.start) / wanted >= _LEAST_SAMPLES:
            yield case.harmless("interval", f"{wanted:g} s", thinned(case.recording, every))
            return


def thinned(recording: Recording, every: int) -> Recording:
    """A recording of which only so manieth scrape came; what was counted meanwhile is in the next one."""
    return replace(
        recording,
        step=recording.step * every,
        series=tuple(_thin_series(one, every) for one in recording.series),
        histograms=tuple(_thin_histogram(one, every) for one in recording.histograms),
    )


def _thin_series(one: Series, every: int) -> Series:
    keep = slice(every - 1, None, every)
    rates = catalogue()[one.signal].kind is Kind.RATE
    values = _over(one.times, one.values, every) if rates else one.values[keep]
    return replace(one, times=one.times[keep], values=values)


def _thin_histogram(one: Histogram, every: int) -> Histogram:
    rates = np.stack([_over(one.times, column, every) for column in one.rates.T], axis=1)
    return replace(one, times=one.times[every - 1 :: every], rates=rates, sums=_over(one.times, one.sums, every))


def _over(times: Floats, rates: Floats, every: int) -> Floats:
    """Rates since the scrape before as rates since several scrapes before, shape (T // every,)."""
    count = len(times) // every
    if not count:
        return rates[:0]
    lengths = np.diff(times, prepend=times[0] - (times[1] - times[0] if len(times) > 1 else 1.0))
    whole = count * every
    amount = (rates * lengths)[:whole].reshape(count, every).sum(axis=1)
    return np.asarray(amount / lengths[:whole].reshape(count, every).sum(axis=1))


def clocks(case: UnderChange) -> Iterator[Trial]:
    """The clocks of neighbouring sources of metrics apart from each other, and those of events from both."""
    dialects = sorted(dialects_of(case.recording))
    for seconds in (-SKEW, SKEW):
        skew = {dialect: seconds * (-1) ** number for number, dialect in enumerate(dialects)}
        yield case.harmless("clocks", f"{seconds:+g} s", _skewed(case.recording, skew, seconds))


def _skewed(recording: Recording, skew: Mapping[str, float], events: float) -> Recording:
    """The recording with other clocks.

    :param skew: seconds by dialect
    :param events: seconds of all events
    """
    return replace(
        recording,
        series=tuple(replace(one, times=one.times + skew[one.origin.dialect]) for one in recording.series),
        histograms=tuple(replace(one, times=one.times + skew[one.origin.dialect]) for one in recording.histograms),
        events=tuple(replace(event, time=event.time + events) for event in recording.events),
    )

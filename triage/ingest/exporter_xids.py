"""Xids that an exporter of cards reports as a gauge: each new code is an event, a code that was there all along is not."""

from collections.abc import Iterable, Iterator

import numpy as np

from triage.ingest.rates import PATIENCE_STEPS
from triage.ingest.signatures import xid_codes
from triage.model.recording import Event, Floats, Series, Subject, Window

_SIGNAL = "gpu.xid"


def exporter_xids(series: Iterable[Series], window: Window, step: float) -> tuple[Event, ...]:
    """Events of kind ``xid`` for the codes that cards came to report in the baseline or the window.

    The gauge holds the last code until the exporter restarts, so only a change tells that something happened. An exporter that
    leaves the gauge out until there is a code is known by the card's other series, which began earlier.

    :param step: usual distance between two samples, seconds
    """
    series = list(series)
    begun: dict[Subject, float] = {}
    for one in series:
        if one.signal.startswith("gpu.") and len(one.times):
            begun[one.subject] = min(begun.get(one.subject, np.inf), float(one.times[0]))
    return tuple(
        _event(one, time, code)
        for one in series
        if one.signal == _SIGNAL
        for time, code in _new_codes(one.times, one.values, begun[one.subject], PATIENCE_STEPS * step)
        if window.baseline_start <= time <= window.end
    )


def _new_codes(times: Floats, values: Floats, begun: float, patience: float) -> Iterator[tuple[float, int]]:
    """The moments at which another code than before is there, and the code."""
    before = 0 if times[0] - begun > patience else int(values[0])
    for time, value in zip(times, values, strict=True):
        code = int(value)
        if code and code != before:
            yield float(time), code
        before = code


def _event(one: Series, time: float, code: int) -> Event:
    """The event of one code."""
    known = xid_codes().get(str(code))
    attrs = {"emitter": "exporter"}
    if known is not None:
        attrs |= {"class": known.fault_class, "meaning": known.name, "scope": known.scope, "role": known.role}
        attrs |= {"kinds": " ".join(known.kinds), "action": known.action}
    name = f", {known.name}" if known is not None else ""
    return Event(time, "xid", str(code), one.subject, attrs, f"the exporter reports Xid {code}{name}", one.origin.dialect)

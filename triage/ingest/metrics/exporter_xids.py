"""Xids that an exporter of cards reports, as a gauge of the last code or counted by code: what is new is an event."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from triage.ingest.logs.signatures import XidCode
from triage.ingest.metrics.naming import Column
from triage.ingest.metrics.rates import STALENESS_STEPS
from triage.model.recording import Event, Floats, Panel, Subject, Window

_SIGNAL = "gpu.xid"

_DIGITS = 4
"""Xids have three digits at most; a label with more holds something else."""


def exporter_xids(
    panels: Sequence[Panel], columns: Iterable[Column], window: Window, step: float, codes: Mapping[str, XidCode]
) -> tuple[Event, ...]:
    """Events of kind ``xid`` for the codes that cards came to report in the baseline or the window.

    The gauge holds the last code until the exporter restarts, so only a change tells that something happened. An exporter that
    leaves the gauge out until there is a code is known by the card's other series, which began earlier. Where reports are counted
    by code each rise is an event, so a code that comes again is seen, too.

    :param columns: what signals are made of, to find the series that count by code
    :param step: usual distance between two samples, seconds
    :param codes: what each code means
    """
    begun = _begun([panel for panel in panels if panel.signal.startswith("gpu.") and len(panel.times)])
    staleness = STALENESS_STEPS * step
    last = (
        (subject, panel.dialect, time, code)
        for panel in panels
        if panel.signal == _SIGNAL
        for subject, values in zip(panel.subjects, panel.values, strict=True)
        if values.any()
        for time, code in _new_codes(panel.times, values, begun[subject], staleness)
    )
    found = {(subject, code, time): source for subject, source, time, code in [*_counted(columns, begun, staleness), *last]}
    return tuple(
        _event(subject, time, code, source, codes.get(str(code)))
        for (subject, code, time), source in sorted(found.items())
        if window.baseline_start <= time <= window.end
    )


def _begun(panels: Iterable[Panel]) -> dict[Subject, float]:
    """When something was first told of each subject; panels of the same subjects are looked at together."""
    firsts: dict[tuple[Subject, ...], float] = {}
    for panel in panels:
        subjects = tuple(panel.subjects)
        firsts[subjects] = min(firsts.get(subjects, np.inf), float(panel.times[0]))
    begun: dict[Subject, float] = {}
    for subjects, first in firsts.items():
        begun.update((subject, min(begun.get(subject, np.inf), first)) for subject in subjects)
    return begun


def _counted(
    columns: Iterable[Column], begun: Mapping[Subject, float], staleness: float
) -> Iterator[tuple[Subject, str, float, int]]:
    """Subject, source, time and code of each rise of a series that counts reports of one code."""
    for column in columns:
        use = column.use
        for one, subject in zip(column.series, column.subjects, strict=True) if use.entry.code else ():
            code = one.labels.get(use.entry.code, "")
            if not code.isdecimal() or len(code) > _DIGITS:
                continue
            since = begun.get(subject, np.inf)
            before = np.concatenate(([0.0 if one.times[0] - since > staleness else one.values[0]], one.values[:-1]))
            for time in one.times[one.values > before]:
                yield subject, use.dialect.name, float(time), int(code)


def _new_codes(times: Floats, values: Floats, begun: float, staleness: float) -> Iterator[tuple[float, int]]:
    """The moments at which another code than before is there, and the code."""
    before = 0 if times[0] - begun > staleness else int(values[0])
    for time, value in zip(times, values, strict=True):
        code = int(value)
        if code and code != before:
            yield float(time), code
        before = code


def _event(subject: Subject, time: float, code: int, source: str, known: XidCode | None) -> Event:
    """The event of one code."""
    attrs = {"emitter": "exporter"}
    if known is not None:
        attrs |= {"class": known.fault_class, "meaning": known.name, "scope": known.scope, "role": known.role}
        attrs |= {"kinds": " ".join(known.kinds), "action": known.action}
    name = f", {known.name}" if known is not None else ""
    return Event(time, "xid", str(code), subject, attrs, f"the exporter reports Xid {code}{name}", source)

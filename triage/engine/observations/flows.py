"""Flow that is not conserved: requests that are sent to engines, do not end there and are not inside."""

import numpy as np
import numpy.typing as npt

from triage.engine.derived.arithmetic import first_measured, rolled, total
from triage.engine.frame import Frame
from triage.model.observation import Judged, Observation, Seen
from triage.model.recording import Floats, Subject
from triage.model.vocabulary import Scope

Bools = npt.NDArray[np.bool_]

_SPAN = 300.0
"""Chosen: a balance over five minutes is not moved by what is inside at its ends."""

_LEAST_SHARE = 0.1
"""Chosen: a tenth of what arrived is lost; less is what is counted late."""

_LEAST_REQUESTS = 20.0
"""In five minutes: counters of two programs are read seconds apart, and what ends is counted late."""


_FAILED = ("gateway.5xx", "backend.failures", "gateway.upstream_5xx", "gateway.resets")
"""Who counts failures, the nearest to the user first."""


def flows(frame: Frame) -> Seen:
    """Requests that vanish between whoever sends them and the engines' own counts.

    They were refused before they were counted, wait where nothing counts, or a counter does not count: no harm by itself.
    """
    service = Subject(Scope.SERVICE, frame.recording.service)
    lost, sent = frame.cells("service.requests_lost", service), frame.cells("service.sent", service)
    if lost is None or sent is None or np.isnan(lost[frame.grid.window]).all():
        return Seen()
    judged: frozenset[Judged] = frozenset({("instrument", "not-conserved", Scope.SERVICE)})
    width = max(1, round(_SPAN / frame.grid.step))
    amount, whole = rolled(lost, width) * frame.grid.step, rolled(sent, width) * frame.grid.step
    odd = (amount >= _LEAST_REQUESTS) & (amount >= _LEAST_SHARE * whole)
    odd[: frame.grid.first] = False
    if not odd.any():
        return Seen((), judged)
    return Seen((_observation(frame, service, amount, whole, odd),), judged)


def _observation(frame: Frame, service: Subject, amount: Floats, whole: Floats, odd: Bools) -> Observation:
    """Since when and how many of them vanish."""
    index = np.flatnonzero(odd)
    worst = int(index[np.argmax(amount[index])])
    first, last = int(index[0]), int(index[-1])
    share = float(amount[worst] / whole[worst])
    failed = first_measured(*(total(frame, name) for name in _FAILED))
    span = slice(max(worst - round(_SPAN / frame.grid.step) + 1, 0), worst + 1)
    told = None if failed is None else float(np.nansum(failed[span]) * frame.grid.step) / float(amount[worst])
    attrs = {} if told is None else {"failed": f"{min(told, 1.0):.2f}"}
    begun = float(frame.grid.times[first])
    return Observation(
        sort="instrument",
        of="not-conserved",
        subject=service,
        text=f"{share:.0%} of the requests sent to engines ({amount[worst]:.0f} in five minutes) neither end nor are inside",
        onset=(begun - _SPAN, begun),
        end=None if last >= len(odd) - 2 else float(frame.grid.times[last]),
        size=share,
        value=float(amount[worst]),
        unit="requests",
        source="gateway metrics",
        attrs=attrs,
    )

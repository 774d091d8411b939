"""Requests on their way: how many come, are sent to engines, end, are answered, and are lost in between."""

import numpy as np

from triage.engine.derived.arithmetic import first_measured, own_total, rolled, rolled_mean, share, total
from triage.engine.derived.derivation import Derivation
from triage.engine.derived.formula import First, Of, Ratio, Rest, Total
from triage.engine.frame import Frame
from triage.engine.physics import queueing
from triage.engine.statistics import together
from triage.model.recording import Floats, Subject
from triage.model.vocabulary import Combine, Scope

_PART = 1 / 3
"""Who counts less than this of what reaches the engines sees a part of the traffic: an excerpt of a log, one way of several.

Chosen: repetitions behind a gateway make two or three attempts of one request; more of them would be the trouble itself.
"""

_MINUTE = 60.0
"""Chosen: seconds over which flows are held against each other; counters of two programs are read seconds apart."""


_MOMENT, _MORE, _FEW = 300.0, 1.05, 5.0
"""Chosen: seconds in which aborts are held against all that end; by which factor and how many they are surely more."""


FINISHED = ("finished", "finished.stop", "finished.length", "finished.abort", "finished.error")
_INTO_ENGINES = (*FINISHED, "batch.running", "queue.waiting")


ENDED = First((Of("finished"), Total(tuple(map(Of, FINISHED[1:])))))
"""Requests that ended, from the total or from its reasons."""


def finished(frame: Frame, replica: Subject) -> Floats | None:
    """Requests of a replica that ended, from the total or from its reasons."""
    whole = frame.cells("finished", replica)
    if whole is not None:
        return whole
    return own_total(frame, replica, "finished.stop", "finished.length", "finished.abort", "finished.error")


_WRONG = ("gateway.4xx", "gateway.429", "gateway.5xx")


def at_the_door(frame: Frame, gateway: Subject) -> Floats | None:
    """Requests at the only gateway where it tells of nothing but what goes wrong: that, and what the engines answered."""
    if len(frame.recording.subjects[Scope.GATEWAY]) != 1 or frame.has("gateway.2xx"):
        return None
    wrong, good = own_total(frame, gateway, *_WRONG), first_measured(total(frame, "http.2xx"), total(frame, "finished"))
    return None if wrong is None or good is None else wrong + np.nan_to_num(good)


def counted_in_full(frame: Frame, signal: str) -> Floats | None:
    """What somebody outside the engines counts, per second; None if nobody does or only of a part of the traffic."""
    return None if _is_part(frame, signal) else total(frame, signal)


def _is_part(frame: Frame, signal: str) -> bool:
    """Whether somebody counts far fewer requests than reach the engines."""
    counted, inner = total(frame, signal), _engine_arrivals(frame)
    if counted is None or inner is None:
        return False
    both = ~np.isnan(counted) & ~np.isnan(inner)
    return float(counted[both].sum()) < _PART * float(inner[both].sum())


def arrivals(frame: Frame, _service: Subject) -> Floats | None:
    """Requests per second that reach the service, at the outermost place where all of them are counted."""
    return first_measured(
        counted_in_full(frame, "requests.attempts"),
        counted_in_full(frame, "gateway.requests"),
        total(frame, "backend.requests"),
        _engine_arrivals(frame),
    )


def _engine_arrivals(frame: Frame) -> Floats | None:
    """Requests per second into the engines: those that ended, plus the growth of those inside."""
    ended = [cells for replica in frame.recording.subjects[Scope.REPLICA] if (cells := finished(frame, replica)) is not None]
    if not ended:
        return None
    inside = total(frame, "batch.running", "queue.waiting")
    growth = np.zeros(len(frame.grid.times)) if inside is None else np.diff(inside, prepend=inside[:1]) / frame.grid.step
    whole = together(ended, Combine.SUM)
    return np.clip(whole + _left_out(frame, whole) + np.nan_to_num(growth), 0.0, None)


def _left_out(frame: Frame, ended: Floats) -> Floats:
    """Aborted requests per second that the total of all that end does not hold: a part is never more than its whole.

    SGLang counts who is aborted while it waits only as aborted.
    """
    aborted = total(frame, "finished.abort")
    none = np.zeros(len(ended))
    if aborted is None:
        return none
    width = max(1, round(_MOMENT / frame.grid.step))
    more = rolled(aborted, width) > _MORE * rolled(np.where(np.isnan(aborted), np.nan, ended), width) + _FEW / frame.grid.step
    return np.nan_to_num(aborted) if more.any() else none


def demand(frame: Frame, service: Subject) -> Floats | None:
    """Distinct requests per second, or arrivals where nobody counts those."""
    return first_measured(counted_in_full(frame, "requests.distinct"), frame.cells("service.arrivals", service))


def goodput(frame: Frame, _service: Subject) -> Floats | None:
    """Requests per second that were answered in full."""
    wanted, failed = counted_in_full(frame, "requests.distinct"), total(frame, "requests.failed")
    if wanted is not None and failed is not None:
        return np.clip(wanted - failed, 0.0, None)
    answered = None if _is_part(frame, "gateway.requests") else total(frame, "gateway.2xx")
    return first_measured(answered, total(frame, "finished.stop", "finished.length"), total(frame, "http.2xx"))


def retry_ratio(frame: Frame, _service: Subject) -> Floats | None:
    """Repetitions by the gateway as a share of the requests that it gets."""
    return share(total(frame, "gateway.retries"), counted_in_full(frame, "gateway.requests"), frame)


def sent(frame: Frame, _service: Subject) -> Floats | None:
    """Requests per second that gateway or router sent to engines, each attempt by itself."""
    return first_measured(total(frame, "gateway.upstream_requests"), total(frame, "backend.requests"))


def backlog_growth(frame: Frame, service: Subject) -> Floats | None:
    """Requests per second that were sent to engines and did not end there, over a minute."""
    away, ended = frame.cells("service.sent", service), total(frame, "finished")
    if away is None or ended is None:
        return None
    return queueing.surplus(_over_a_minute(away, frame), _over_a_minute(ended, frame))


def requests_lost(frame: Frame, service: Subject) -> Floats | None:
    """Requests per second that were sent to engines, did not end there and are not inside, over a minute."""
    grown, more = total(frame, "queue.growth"), frame.cells("service.backlog_growth", service)
    return None if grown is None or more is None else more - grown


def requests_vanished(frame: Frame, service: Subject) -> Floats | None:
    """Those of the lost requests to which whoever asked got no answer, as far as anybody nearer to the user counts all of them.

    An attempt may be repeated, and an engine may not count what it refuses or does not finish: users lose what is not answered.
    """
    lost = frame.cells("service.requests_lost", service)
    unanswered = _unanswered(frame)
    if lost is None or unanswered is None:
        return lost
    return np.where(np.isnan(unanswered), lost, np.minimum(lost, unanswered))


def _unanswered(frame: Frame) -> Floats | None:
    """Requests per second that got no answer, over a minute, by clients or the gateway; None if neither counts them in full.

    Some gateways count a request when it ends: what is open there becomes more.
    """
    failed, asked = total(frame, "requests.failed"), counted_in_full(frame, "requests.distinct")
    if failed is not None and asked is not None:
        return np.clip(_over_a_minute(failed, frame), 0.0, None)
    asked, answered = counted_in_full(frame, "gateway.requests"), total(frame, "gateway.2xx")
    if asked is None or answered is None:
        return None
    left = _over_a_minute(asked, frame) - np.nan_to_num(_over_a_minute(answered, frame))
    opened = total(frame, "gateway.active")
    grown = np.zeros(len(left)) if opened is None else queueing.growth(opened, frame.grid.step, _cells_of_a_minute(frame))
    return np.clip(np.fmax(left, left + grown), 0.0, None)


def _over_a_minute(cells: Floats, frame: Frame) -> Floats:
    return rolled_mean(cells, _cells_of_a_minute(frame))


def _cells_of_a_minute(frame: Frame) -> int:
    return max(1, round(_MINUTE / frame.grid.step))


DERIVATIONS = (
    Derivation("gateway.requests", (*_WRONG, "gateway.2xx", "http.2xx", "finished"), at_the_door),
    Derivation(
        "service.arrivals",
        ("requests.attempts", "gateway.requests", "backend.requests", *_INTO_ENGINES),
        arrivals,
        First((Of("requests.attempts"), Of("gateway.requests"), Of("backend.requests"))),
    ),
    Derivation(
        "service.demand",
        ("requests.distinct", "service.arrivals", *_INTO_ENGINES),
        demand,
        First((Of("requests.distinct"), Of("service.arrivals"))),
    ),
    Derivation(
        "service.goodput",
        ("requests.distinct", "requests.failed", "gateway.requests", "gateway.2xx", "http.2xx", *_INTO_ENGINES),
        goodput,
        First(
            (
                Rest(Of("requests.distinct"), (Of("requests.failed"),)),
                Of("gateway.2xx"),
                Total((Of("finished.stop"), Of("finished.length"))),
                Of("http.2xx"),
            )
        ),
    ),
    Derivation(
        "gateway.retry_ratio",
        ("gateway.retries", "gateway.requests", *_INTO_ENGINES),
        retry_ratio,
        Ratio(Of("gateway.retries"), Of("gateway.requests"), 1.0),
    ),
    Derivation(
        "service.sent",
        ("gateway.upstream_requests", "backend.requests"),
        sent,
        First((Of("gateway.upstream_requests"), Of("backend.requests"))),
    ),
    Derivation("service.backlog_growth", ("service.sent", "finished"), backlog_growth),
    Derivation("service.requests_lost", ("queue.growth", "service.backlog_growth"), requests_lost),
    Derivation(
        "service.requests_vanished",
        (
            "service.requests_lost",
            "requests.failed",
            "requests.distinct",
            "gateway.requests",
            "gateway.2xx",
            "gateway.active",
            *_INTO_ENGINES,
        ),
        requests_vanished,
    ),
)

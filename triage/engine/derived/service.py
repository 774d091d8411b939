"""The service as a whole and its gateways: what fails, what is refused, what time passes outside of engines."""

import numpy as np

from triage.engine.derived.arithmetic import first_measured, quotient, ratio, share, total
from triage.engine.derived.derivation import (
    Derivation,
    quotient_of_totals,
    ratio_of_totals,
    share_of_totals,
)
from triage.engine.derived.formula import Averaged, First, Greatest, Of, Quotient, Ratio, Rest, Total
from triage.engine.frame import Frame
from triage.engine.physics import latency
from triage.engine.statistics import together
from triage.model.recording import Floats, Subject
from triage.model.vocabulary import Combine


def _error_ratio(frame: Frame, _service: Subject) -> Floats | None:
    """The worst view of it: by clients, by the gateway, else by what it gets back, or else by the engines' own front ends."""
    views = [
        share(total(frame, "requests.failed"), total(frame, "requests.distinct"), frame),
        share(total(frame, "gateway.5xx"), total(frame, "gateway.requests"), frame),
    ]
    if all(view is None for view in views):
        views = [
            share(total(frame, "backend.failures"), total(frame, "backend.requests"), frame),
            share(total(frame, "gateway.upstream_5xx"), total(frame, "gateway.upstream_requests"), frame),
        ]
    if all(view is None for view in views):
        views = [
            share(total(frame, "http.5xx"), total(frame, "http.requests"), frame),
            share(total(frame, "finished.error"), total(frame, "finished", "finished.error"), frame),
        ]
    rows = [view for view in views if view is not None]
    return together(rows, Combine.MAX) if rows else None


def _refused_ratio(frame: Frame, _service: Subject) -> Floats | None:
    return first_measured(
        share(total(frame, "gateway.4xx"), total(frame, "gateway.requests"), frame),
        share(total(frame, "http.4xx"), total(frame, "http.requests"), frame),
    )


def _amplification(frame: Frame, _service: Subject) -> Floats | None:
    """Requests sent to engines per request received, as one source counts both: access lines may be a sample of all."""
    sent, received = "gateway.upstream_requests", "gateway.requests"
    if _counted_by(frame, sent) != _counted_by(frame, received):
        return None
    return ratio(total(frame, sent), total(frame, received), frame)


def _counted_by(frame: Frame, signal: str) -> set[str]:
    """Dialects of those who measure a signal."""
    return {frame.origins.dialect_of(signal, subject) for subject in frame.of(signal)} - {""}


def _load_per_replica(frame: Frame, service: Subject) -> Floats | None:
    return quotient(frame.cells("service.arrivals", service), frame.cells("service.replicas_alive", service))


def _outer_and_inner(frame: Frame) -> tuple[Floats, Floats] | None:
    """Mean latency at the gateway (or the client) and in the engine; None if one of them was never measured."""
    views = ("gateway.latency", "client.latency", "gateway.upstream_latency")
    outer = first_measured(*(_mean_over(frame, view) for view in views))
    inner = _mean_over(frame, "latency.e2e")
    return None if outer is None or inner is None else (outer, inner)


def _engine_gap(frame: Frame, _service: Subject) -> Floats | None:
    """Mean latency at the gateway (or the client) minus mean latency in the engine."""
    pair = _outer_and_inner(frame)
    return None if pair is None else latency.rest(*pair)


def _outside_share(frame: Frame, _service: Subject) -> Floats | None:
    """The same as a share of the latency at the gateway (or the client)."""
    pair = _outer_and_inner(frame)
    return None if pair is None else latency.share(latency.rest(*pair), pair[0])


def _own_time(frame: Frame, _service: Subject) -> Floats | None:
    """Mean time of a request at the gateway that it did not spend waiting for an engine."""
    whole, waited = _mean_over(frame, "gateway.latency"), _mean_over(frame, "gateway.upstream_latency")
    return None if whole is None or waited is None else np.clip(whole - waited, 0.0, None)


def _mean_over(frame: Frame, signal: str) -> Floats | None:
    """Mean of a distribution over all its subjects, over the last minute or more."""
    pairs = [pair for subject in frame.histograms(signal) if (pair := frame.sum_and_count(signal, subject)) is not None]
    if not pairs:
        return None
    return ratio(together([s for s, _ in pairs], Combine.SUM), together([c for _, c in pairs], Combine.SUM), frame)


def _cert_ttl(frame: Frame, gateway: Subject) -> Floats | None:
    """Seconds until the first certificate of a gateway ends, 0 once it has."""
    ends = frame.cells("gateway.cert_expiry", gateway)
    return None if ends is None else np.clip(ends - frame.grid.times, 0.0, None)


def _part(part: str, whole: str) -> Ratio:
    return Ratio(Of(part), Of(whole), 1.0)


_OUTER_VIEWS = ("gateway.latency", "client.latency", "gateway.upstream_latency")

_OUTER = First(tuple(map(Averaged, _OUTER_VIEWS)))
_OUTSIDE = Rest(_OUTER, (Averaged("latency.e2e"),))

DERIVATIONS = (
    ratio_of_totals("requests.attempt_ratio", "requests.attempts", "requests.distinct"),
    share_of_totals("requests.failed_ratio", "requests.failed", "requests.distinct"),
    share_of_totals("requests.timeout_ratio", "requests.timeouts", "requests.attempts"),
    share_of_totals("service.abandoned_ratio", "gateway.client_left", "gateway.requests"),
    Derivation(
        "service.error_ratio",
        (
            "requests.failed",
            "requests.distinct",
            "gateway.5xx",
            "gateway.requests",
            "gateway.upstream_5xx",
            "gateway.upstream_requests",
            "backend.failures",
            "backend.requests",
            "http.5xx",
            "http.requests",
            "finished",
            "finished.error",
        ),
        _error_ratio,
        First(
            (
                Greatest((_part("requests.failed", "requests.distinct"), _part("gateway.5xx", "gateway.requests"))),
                Greatest(
                    (
                        _part("backend.failures", "backend.requests"),
                        _part("gateway.upstream_5xx", "gateway.upstream_requests"),
                    )
                ),
                Greatest(
                    (
                        _part("http.5xx", "http.requests"),
                        Ratio(Of("finished.error"), Total((Of("finished"), Of("finished.error"))), 1.0),
                    )
                ),
            )
        ),
    ),
    Derivation(
        "service.refused_ratio",
        ("gateway.4xx", "gateway.requests", "http.4xx", "http.requests"),
        _refused_ratio,
        First((_part("gateway.4xx", "gateway.requests"), _part("http.4xx", "http.requests"))),
    ),
    Derivation(
        "service.load_per_replica",
        ("service.arrivals", "service.replicas_alive"),
        _load_per_replica,
        Quotient(Of("service.arrivals"), Of("service.replicas_alive")),
    ),
    Derivation("service.outside_share", (*_OUTER_VIEWS, "latency.e2e"), _outside_share, Quotient(_OUTSIDE, _OUTER, 1.0)),
    Derivation("gateway.engine_gap", (*_OUTER_VIEWS, "latency.e2e"), _engine_gap, _OUTSIDE),
    Derivation(
        "gateway.own_time",
        ("gateway.latency", "gateway.upstream_latency"),
        _own_time,
        Rest(Averaged("gateway.latency"), (Averaged("gateway.upstream_latency"),)),
    ),
    Derivation(
        "gateway.amplification",
        ("gateway.upstream_requests", "gateway.requests"),
        _amplification,
        Ratio(Of("gateway.upstream_requests"), Of("gateway.requests")),
    ),
    Derivation("gateway.cert_ttl", ("gateway.cert_expiry",), _cert_ttl),
    quotient_of_totals("gateway.fds_ratio", "gateway.open_fds", "gateway.max_fds"),
)

"""What people look at first, of the service as a whole, as series that a server keeps."""

from triage.classes import dataclass
from triage.export.values import Span, Values
from triage.model.vocabulary import Combine, Kind, Scope, catalogue

_MOMENT = 300.0
"""Seconds over which quantiles are taken: the moment of peaks (``MOMENT`` of statistics.py)."""

_SIGNS: tuple[tuple[str, Combine | None], ...] = (
    ("latency.ttft", None),
    ("latency.itl", None),
    ("latency.e2e", None),
    ("service.error_ratio", None),
    ("service.demand", None),
    ("service.goodput", None),
    ("queue.waiting", Combine.SUM),
    ("kv.fill", Combine.MAX),
)
"""The ledger's promises in the order of a report, then what they rest on; how several subjects make one value."""


@dataclass(frozen=True)
class Sign:
    """One of them.

    :param query: the series that is kept of it
    """

    signal: str
    title: str
    query: str


def vital_signs(values: Values) -> list[Sign]:
    """The vital signs that a service's sources tell; each is recorded."""
    found = []
    for signal, across in _SIGNS:
        known = catalogue()[signal]
        if known.kind is Kind.DISTRIBUTION:
            cell = values.statistic(signal, Scope.SERVICE, "p95", Span(_MOMENT))
            title, how = f"{known.noun}, p95", "p95"
        else:
            cell = values.cell(signal, Scope.SERVICE, across)
            title, how = known.noun, (across or known.combine).value
        if cell is not None:
            found.append(Sign(signal, title, values.record(cell, signal, how)))
    return found

"""The ledger of promises: what users notice, each kept, broken or open, for the service and for the parts of it that fare worse.

A promise is judged in three spans: the whole window, the worst five minutes of it, and the last few scrapes. It is kept only if
what was seen excludes that it is broken; what cannot be told is open.
"""

from dataclasses import replace

from triage.engine.frame import Frame
from triage.engine.promises.answers import answers
from triage.engine.promises.delays import delays
from triage.engine.promises.entries import Entry
from triage.engine.promises.failures import failures
from triage.engine.promises.quality import quality
from triage.engine.promises.queues import queues
from triage.engine.statistics import statistic
from triage.model.diagnosis import Promised, Vital
from triage.model.vocabulary import Combine, Scope, catalogue

_WATCHERS = (answers, delays, failures, queues, quality)
"""What is looked at, in the order in which people should read it."""


def ledger(frame: Frame) -> tuple[Vital, ...]:
    """What became of each thing that users notice: first of the service, then of parts of it that fare worse."""
    return tuple(entry.vital for entry in entries(frame))


def users_are_well(frame: Frame) -> bool:
    """Whether some promise is known to be kept and none to be broken: what logs say then they also say in health."""
    states = {vital.state for vital in ledger(frame)}
    return Promised.KEPT in states and Promised.BROKEN not in states


_COUNTED = ("requests.distinct", "gateway.requests", "gateway.upstream_requests", "http.requests", "finished")
"""Who counts requests."""


def may_fail(frame: Frame) -> float:
    """How many requests of the window may fail while the promise about failures is kept; 0 where nobody counts them."""
    return frame.remembered("may fail", lambda: _count_that_may_fail(frame))


def _count_that_may_fail(frame: Frame) -> float:
    limits = [
        one.limit for one in ledger(frame) if one.name == "error_ratio" and one.state is Promised.KEPT and one.limit is not None
    ]
    counts = (statistic(frame, name, tuple(frame.of(name)), "sum", frame.grid.window, Combine.SUM) for name in _COUNTED)
    return min(limits, default=0.0) * max((count.low for count in counts if count is not None), default=0.0)


def signals_noticed(frame: Frame) -> frozenset[str]:
    """The signals that tell how users fare: those of the ledger, and what is counted of the service as a whole."""
    told = {entry.signal for entry in entries(frame) if entry.signal}
    return frozenset(
        told | {name for name, one in catalogue().items() if one.scope is Scope.SERVICE and name.startswith("service.")}
    )


def entries(frame: Frame) -> tuple[Entry, ...]:
    """The ledger with what it rests on. Asked again it is remembered."""
    return frame.remembered("ledger", lambda: _entries(frame))


def _entries(frame: Frame) -> tuple[Entry, ...]:
    found = [entry for watch in _WATCHERS for entry in watch(frame)]
    return tuple(sorted((_begun(entry, frame) for entry in found), key=lambda entry: entry.is_part))


def _begun(entry: Entry, frame: Frame) -> Entry:
    """A broken promise that has been broken since an earlier look said so."""
    vital = entry.vital
    if vital.state is not Promised.BROKEN or vital.until is not None:
        return entry
    since = frame.recording.onset(f"{vital.name} {vital.subject}", vital.since)
    return entry if since == vital.since else replace(entry, vital=vital.model_copy(update={"since": since}))

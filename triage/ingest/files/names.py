"""Whose a log is: those who wrote it and those who measured it may call one engine by two names."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import inf
from typing import TypeVar

import numpy as np

from triage.ingest.logs import LogReading
from triage.ingest.owners.subjects import owned_by
from triage.model.recording import Event, Fact, Histogram, Recording, Series, Subject
from triage.model.vocabulary import Scope
from triage.patterns import Pattern

_WORDS = Pattern(r"[A-Za-z0-9]+")

_Told = TypeVar("_Told", Event, Series, Histogram, Fact)


def under_one_name(reading: LogReading, metrics: Recording) -> LogReading:
    """Each log under the name by which its engine is measured.

    That is the only pod whose name has the log's in it (``vllm-decode.log`` of ``chat-decode-69bbb-45jwg``), the only replica
    there is, or the one whose numbers the log tells.
    """
    parts = (reading.events, reading.series, reading.histograms, reading.facts)
    said = {one.subject for part in parts for one in part if one.subject is not None and one.subject.scope is Scope.REPLICA}
    listed = {event.subject for event in reading.events if event.kind == "kube" and event.subject in said}
    pods = listed.union(metrics.subjects[Scope.REPLICA])
    fuller = {log: [pod for pod in pods if _is_part(log.id, pod.id)] for log in said - pods}
    names: dict[Subject | None, Subject] = {log: found[0] for log, found in fuller.items() if len(found) == 1}
    names = names or _only_one(said, metrics) or _by_their_numbers(reading, metrics)
    return _renamed(reading, names) if names else reading


def _is_part(name: str, whole: str) -> bool:
    """Whether the words of a name stand in another, side by side."""
    return f"-{'-'.join(_WORDS.findall(name))}-" in f"-{'-'.join(_WORDS.findall(whole))}-"


def _only_one(said: set[Subject], metrics: Recording) -> dict[Subject | None, Subject]:
    """The logs' only replica is the metrics' only one, unless both bear names of the service's pods: then they are two."""
    measured = metrics.subjects[Scope.REPLICA]
    if len(said) != 1 or len(measured) != 1 or said == set(measured):
        return {}
    (log,), (replica,) = said, measured
    return {} if owned_by(log.id, metrics.service) and owned_by(replica.id, metrics.service) else {log: replica}


_MADE = "tokens.generation"

_LEAST_LINES = 10
"""Chosen: over fewer lines two engines may do alike by chance."""

_NEARER = 0.6
"""In fourteen recordings of two real engines a log was nearer to its own by this much or left it open, and never to the other."""


def _by_their_numbers(reading: LogReading, metrics: Recording) -> dict[Subject | None, Subject]:
    """Logs called after pods, of engines that are scraped at addresses: each line tells how much the engine made since the last.

    A log is that of the address whose numbers it tells far more nearly than those of any other, if no other log tells them, too.
    """
    scraped = metrics.by_signal.get(_MADE, ())
    logs = [one for one in reading.series if one.signal == _MADE and one.subject not in metrics.subjects[Scope.REPLICA]]
    found = {log.subject: sorted((_apart(log, one), one.subject) for one in scraped) for log in logs}
    near = {log: its[0][1] for log, its in found.items() if len(its) > 1 and its[0][0] <= _NEARER * its[1][0] < inf}
    return {log: replica for log, replica in near.items() if list(near.values()).count(replica) == 1}


def _apart(log: Series, scraped: Series) -> float:
    """How far the numbers of lines are from the mean of what was measured since the line before; endless if that is not known."""
    begin, end = (np.searchsorted(scraped.times, edge, "right") for edge in (log.times[:-1], log.times[1:]))
    total = np.concatenate(([0.0], np.nancumsum(scraped.values)))
    known = np.concatenate(([0], np.cumsum(~np.isnan(scraped.values))))
    counts = known[end] - known[begin]
    told = (counts > 0) & ~np.isnan(log.values[1:])
    if np.count_nonzero(told) < _LEAST_LINES:
        return inf
    means = (total[end] - total[begin])[told] / counts[told]
    return float(np.abs(means - log.values[1:][told]).mean())


def _renamed(reading: LogReading, names: Mapping[Subject | None, Subject]) -> LogReading:
    """The same of subjects under other names."""

    def under(told: Iterable[_Told]) -> tuple[_Told, ...]:
        return tuple(replace(one, subject=names.get(one.subject, one.subject)) for one in told)

    return replace(
        reading,
        events=under(reading.events),
        series=under(reading.series),
        histograms=under(reading.histograms),
        facts=under(reading.facts),
    )

"""Symptoms: what a user of the service notices. A promise that is not kept, or without one a clear change for the worse."""

from dataclasses import dataclass

import numpy as np

from triage.engine.frame import Frame
from triage.engine.onset import onset_index
from triage.engine.quantiles import Interval
from triage.engine.queries import query_of
from triage.engine.sparks import spark_of
from triage.engine.statistics import cells_of, statistic
from triage.model.diagnosis import Evidence, Symptom, Verdict
from triage.model.recording import Subject
from triage.model.rule import Stat
from triage.model.vocabulary import Scope, catalogue


@dataclass(frozen=True)
class Watch:
    """One thing that users notice.

    :param objective: name of the promise in triage.toml
    :param signals: where to look, the view nearest to the user first
    :param stat: the statistic that the promise is about
    :param words: the thing in words
    :param worse: without a promise: times the baseline that count as clearly worse (of means, which are exact)
    :param floor: without a promise: values below this are never a symptom, base units
    """

    objective: str
    signals: tuple[str, ...]
    stat: Stat
    words: str
    worse: float
    floor: float


WATCHES = (
    Watch("ttft_p95_s", ("client.ttft", "gateway.ttft", "latency.ttft"), "p95", "time to first token (p95)", 2.0, 0.5),
    Watch("itl_p95_s", ("latency.itl",), "p95", "time between tokens (p95)", 1.6, 0.03),
    Watch("e2e_p95_s", ("client.latency", "gateway.latency", "latency.e2e"), "p95", "request time (p95)", 2.5, 5.0),
    Watch("error_ratio", ("service.error_ratio",), "mean", "share of failed requests", 3.0, 0.02),
)


def symptoms(frame: Frame) -> tuple[Symptom, ...]:
    """What users of the service notice in the window."""
    found = (_symptom(watch, frame) for watch in WATCHES)
    return tuple(symptom for symptom in found if symptom is not None)


def watched(frame: Frame) -> bool:
    """Whether anything that users notice was measured in the later half of the window."""
    late = slice((frame.grid.first + len(frame.grid.times)) // 2, len(frame.grid.times))
    for watch in WATCHES:
        for signal in watch.signals:
            subjects = frame.subjects_of(signal)
            if subjects and statistic(frame, signal, subjects, "mean", late, catalogue()[signal].combine) is not None:
                return True
    return False


def _symptom(watch: Watch, frame: Frame) -> Symptom | None:
    """The symptom of one watch, at the view nearest to the user that has values; None if all is well or nothing is known."""
    for signal in watch.signals:
        subjects = frame.subjects_of(signal)
        across = catalogue()[signal].combine
        value = statistic(frame, signal, subjects, watch.stat, frame.grid.window, across) if subjects else None
        if value is None:
            continue
        base = statistic(frame, signal, subjects, watch.stat, frame.grid.baseline, across) if frame.grid.first else None
        promise = frame.recording.objectives.get(watch.objective)
        if promise is not None:
            return (
                _made(watch, frame, signal, value, base, promise, f"objective {watch.objective}")
                if _broken(value, promise, watch)
                else None
            )
        usual = statistic(frame, signal, subjects, "mean", frame.grid.baseline, across) if frame.grid.first else None
        now = statistic(frame, signal, subjects, "mean", frame.grid.window, across)
        if usual is None or now is None or now.estimate < max(watch.floor, watch.worse * usual.estimate):
            return None
        limit = watch.worse * (base.estimate if base else usual.estimate)
        return _made(watch, frame, signal, value, base, limit, f"{watch.worse:g} × baseline")
    return None


def _broken(value: Interval, promise: float, watch: Watch) -> bool:
    """Whether a promise is surely broken: also the lower bound of the quantile's bucket lies beyond it."""
    return value.low >= promise if watch.stat != "mean" else value.estimate > promise


def _made(watch: Watch, frame: Frame, signal: str, value: Interval, base: Interval | None, limit: float, words: str) -> Symptom:
    """A symptom with its evidence and onset."""
    subjects = frame.subjects_of(signal)
    cells = cells_of(frame, signal, subjects, catalogue()[signal].combine)
    onset = None if cells is None else _onset(cells, frame)
    baseline = base.estimate if base is not None and np.isfinite(base.estimate) else None
    interval = value.low != value.high
    evidence = Evidence(
        signal=signal,
        subject=str(subjects[0] if len(subjects) == 1 else Subject(Scope.SERVICE, frame.recording.service)),
        stat=watch.stat,
        value=value.estimate,
        low=value.low if interval else None,
        high=value.high if interval and np.isfinite(value.high) else None,
        unit=catalogue()[signal].unit,
        op=">",
        threshold=limit,
        threshold_of=words,
        baseline=baseline,
        verdict=Verdict.PRESENT,
        since=onset,
        query=query_of(frame, signal, subjects, watch.stat),
        spark=spark_of(cells, frame.grid, onset),
    )
    return Symptom(
        name=watch.objective,
        summary=f"{watch.words} is beyond its {words}",
        value=value.estimate,
        unit=catalogue()[signal].unit,
        threshold=limit,
        baseline=baseline,
        onset=onset,
        evidence=evidence,
    )


def _onset(cells: "np.ndarray[tuple[int], np.dtype[np.float64]]", frame: Frame) -> float | None:
    """When the signal crossed half of the way from its usual level to its level in the window; None if before all data."""
    first = frame.grid.first
    before, inside = cells[:first], cells[first:]
    if np.isnan(before).all() or np.isnan(inside).all():
        return None
    low, high = float(np.nanmedian(before)), float(np.nanquantile(inside, 0.75))
    if high <= low:
        return None
    with np.errstate(invalid="ignore"):
        index = onset_index(cells > (low + high) / 2.0, ~np.isnan(cells), first)
    return None if index is None or index == 0 else float(frame.grid.times[index])

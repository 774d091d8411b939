"""A shift as an observation: its words, its direction, whether it has to be explained, and its evidence."""

import math
from collections.abc import Mapping
from functools import partial

import numpy as np

from triage.engine.frame import Frame
from triage.engine.queries import looked_at
from triage.engine.rules.families import family_of
from triage.engine.sparks import spark_of
from triage.engine.statistics import cells_of
from triage.model.diagnosis import Evidence, Verdict
from triage.model.observation import Observation
from triage.model.recording import Floats, Subject
from triage.model.units import quantity
from triage.model.vocabulary import Kind, Scope, Signal

_AGAINST = {"past": "before", "twins": "on its twins", "limit": "at most"}


def direction_of(signal: Signal, *, up: bool) -> str:
    """``worse`` or ``better`` by the signal's bad direction; ``up`` or ``down`` of what is neither."""
    if not signal.worse:
        return "up" if up else "down"
    return "worse" if up == (signal.worse == "up") else "better"


def size_of(value: Floats, usual: Floats, floor: Floats, bounded: Floats, *, up: bool) -> Floats:
    """How many times as much (or as little) it is; of what fills up, how many times as little is left.

    :param floor: both count as this much more, so that a ratio of two tiny numbers does not speak
    :param bounded: whether it fills up towards 1
    """
    high, low = (value, usual) if up else (usual, value)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        plain = (high + floor) / (np.maximum(low, 0.0) + floor)
        left = (1.0 - low + floor) / (1.0 - np.minimum(high, 1.0) + floor)
    return np.where(bounded > 0, left, plain)


def size_of_one(value: float, usual: float, floor: float, *, bounded: bool, up: bool) -> float:
    """The same of a single pair."""
    high, low = (value, usual) if up else (usual, value)
    above, below = (1.0 - low, 1.0 - min(high, 1.0)) if bounded else (high, max(low, 0.0))
    above, below = above + floor, below + floor
    if below == 0.0:
        return math.nan if above == 0.0 or math.isnan(above) else math.copysign(math.inf, above)
    return above / below


def shift(
    frame: Frame,
    signal: Signal,
    subject: Subject,
    *,
    against: str,
    up: bool,
    size: float,
    value: float,
    usual: float,
    onset: tuple[float, float] | None,
    end: float | None,
    support: int,
    salient: bool,
    attrs: Mapping[str, str],
) -> Observation:
    """One shift; evidence with query and curve is made only for what has to be explained."""
    name, unit = signal.name, f"{signal.unit}/s" if signal.kind is Kind.RATE and signal.unit != "ratio" else signal.unit
    text = f"{signal.noun} {quantity(value, unit)} against {quantity(usual, unit)} {_AGAINST[against]}"
    evidence = None
    if salient:
        subjects = frame.subjects_of(name) if subject.scope is Scope.SERVICE and signal.scope is not Scope.SERVICE else [subject]
        since = None if onset is None else onset[1]
        evidence = Evidence(
            signal=name,
            subject=str(subject),
            value=value,
            unit=unit,
            op=">" if up else "<",
            threshold=usual,
            threshold_of=_AGAINST[against],
            baseline=usual if against == "past" else None,
            verdict=Verdict.PRESENT,
            since=since,
            since_low=None if onset is None else onset[0],
            spark=spark_of(cells_of(frame, name, subjects, signal.combine), frame.grid, since),
            text=text,
        ).reckoned_by(partial(looked_at, frame, [name], subjects))
    return Observation(
        sort="shift",
        of=name,
        subject=subject,
        text=text,
        onset=onset,
        end=end,
        against=against,
        direction=direction_of(signal, up=up),
        size=size,
        value=value,
        usual=usual,
        unit=unit,
        support=support,
        source=family_of(name),
        attrs=attrs,
        evidence=evidence,
        salient=salient,
    )

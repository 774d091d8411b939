"""What only all cells of a recording can tell: fine curves, and subjects side by side. Done away from the screen."""

from collections.abc import Callable, Mapping, Sequence
from typing import cast, get_args

import numpy as np

from triage.classes import dataclass
from triage.engine.frame import Frame
from triage.engine.queries import reckoned
from triage.engine.rules.conditions import subjects_for
from triage.engine.sparks import spark_of
from triage.engine.statistics import cells_of, curve_cells, statistic
from triage.model.diagnosis import Evidence, Spark, Verdict
from triage.model.recording import Floats, Subject
from triage.model.rule import Stat
from triage.model.units import quantity
from triage.model.vocabulary import Combine, Kind, Scope, Signal, catalogue
from triage.render.reading import limit_in_words
from triage.render.safe import inert_text
from triage.tui.curves import Curve, curve_of
from triage.tui.sides import SCALES, Scale, Side, Sides
from triage.tui.snapshot import Snapshot

_MOST = 24
"""Subjects of a scope that are shown: more are no picture any more; the others are counted."""

_PEERS = 1.5
"""Chosen: so many times the median of its peers (or less than one part in it) stands out at a glance."""

_LEAST_PEERS = 3
"""Of two subjects that differ nobody can say which one is odd."""

_LONGEST = 4000
"""Characters of a query."""

_APART = "≠"
"""Of a signal that is bad in neither direction by itself: far from the others on either side."""

_SIGNS: dict[str, Callable[[float, float], bool]] = {
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
}


def fine(evidence: Evidence, snapshot: Snapshot, frame: Frame) -> Curve | None:
    """The curve with all cells of the recording; None where they do not add up to what the diagnosis kept."""
    cells = _cells(evidence, frame)
    if cells is None:
        return None
    times = tuple(float(time) - frame.grid.step / 2.0 for time in frame.grid.times)
    return curve_of(evidence, snapshot.diagnosis.window, snapshot.marks, times, [float(cell) for cell in cells])


def _cells(evidence: Evidence, frame: Frame) -> Floats | None:
    """The cells whose curve is the one that the evidence kept: of its subject, put together in one of the ways there are.

    Evidence without a curve (a signal that somebody only wants to see) is put together in the signal's own way.
    """
    if evidence.signal not in catalogue():
        return None
    scope, _, name = evidence.subject.partition("/")
    if scope not in set(Scope):
        return None
    subjects = subjects_for(frame, evidence.signal, Subject(Scope(scope), name))
    own = catalogue()[evidence.signal].combine
    stat = "mean" if evidence.lasting is not None else evidence.stat or "mean"
    for across in (own, *(way for way in Combine if way is not own)):
        for span in (frame.grid.window, frame.grid.baseline) if subjects else ():
            cells = curve_cells(frame, evidence.signal, subjects, stat, span, across)
            if cells is not None and (evidence.spark is None or _same(spark_of(cells, frame.grid, None, stat), evidence.spark)):
                return cells
    return None


def _same(one: Spark | None, other: Spark) -> bool:
    """Whether two curves have the same points."""
    return one is not None and one.values == other.values


# Side by side


@dataclass(frozen=True)
class _Yardstick:
    """What a subject is held against.

    :param op: how a value is compared
    :param bound: with what
    :param words: both in words
    """

    op: str
    bound: float
    words: str

    def verdict(self, value: float | None) -> Verdict:
        """Beyond it, within it, or not to be told."""
        if value is None:
            return Verdict.UNKNOWN
        if self.op == _APART:
            is_beyond = not self.bound / _PEERS <= value <= self.bound * _PEERS
        else:
            is_beyond = _SIGNS[self.op](value, self.bound)
        return Verdict.PRESENT if is_beyond else Verdict.ABSENT


def sides_of(evidence: Evidence, frame: Frame) -> Sides | None:
    """A signal over all subjects that have it, at each scale; None if nobody has it.

    A subject is held against the bound of the evidence where that speaks of one subject, else against its peers.
    """
    signal = catalogue().get(evidence.signal)
    having = frame.subjects_of(evidence.signal) if signal is not None else []
    if signal is None or not having:
        return None
    stat = cast("Stat", evidence.stat) if evidence.stat in get_args(Stat) else "mean"
    unit = evidence.unit or signal.unit
    scales: list[Scale] = []
    for scope in SCALES:
        groups = _groups(scope, signal, having, frame)
        values = {one: _value(frame, signal, members, stat) for one, members in groups.items()}
        if groups:
            scales.append(_scale(scope, groups, values, _yardstick(evidence, signal, scope, unit, values), signal, stat, frame))
    return Sides(evidence.signal, unit, stat, tuple(scales))


def _groups(scope: Scope, signal: Signal, having: Sequence[Subject], frame: Frame) -> dict[Subject, list[Subject]]:
    """The subjects of a scope with those whose series speak for each; what is measured of a whole says nothing of its parts."""
    if scope is Scope.SERVICE:
        return {Subject(scope, frame.recording.service): list(having)}
    own = [one for one in having if one.scope is scope]
    if own:
        return {one: [one] for one in own}
    if signal.scope not in SCALES or list(SCALES).index(scope) > list(SCALES).index(signal.scope):
        return {}
    known = {one: subjects_for(frame, signal.name, one) for one in frame.recording.subjects[scope]}
    return {one: members for one, members in known.items() if members}


def _value(frame: Frame, signal: Signal, members: Sequence[Subject], stat: Stat) -> float | None:
    """The statistic over the window."""
    value = statistic(frame, signal.name, members, stat, frame.grid.window, signal.combine)
    return value.estimate if value is not None and np.isfinite(value.estimate) else None


def _yardstick(
    evidence: Evidence, signal: Signal, scope: Scope, unit: str, values: Mapping[Subject, float | None]
) -> _Yardstick | None:
    """What the subjects of a scope are held against: the evidence's bound, unless that is one of another sum; else each other."""
    is_of_scope = evidence.subject.startswith(f"{scope.value}/")
    is_bounded = evidence.threshold is not None and evidence.op in _SIGNS and evidence.lasting is None
    if is_bounded and evidence.threshold is not None and (is_of_scope or signal.combine is not Combine.SUM):
        why = f" ({limit_in_words(evidence.threshold_of)})" if evidence.threshold_of else ""
        return _Yardstick(evidence.op, evidence.threshold, f"{evidence.op} {quantity(evidence.threshold, unit)}{why}")
    known = [value for value in values.values() if value is not None]
    if len(known) < _LEAST_PEERS or signal.kind is Kind.STATE:
        return None
    way = evidence.op[:1] if evidence.op in _SIGNS else {"up": ">", "down": "<"}.get(signal.worse, _APART)
    median = float(np.median(known))
    bound = {">": median * _PEERS, "<": median / _PEERS, _APART: median}[way]
    words = {">": f"over {_PEERS:g} × the median", "<": f"below the median ÷ {_PEERS:g}", _APART: f"{_PEERS:g} × off the median"}
    return _Yardstick(way, bound, f"{words[way]} ({quantity(median, unit)})")


def _scale(
    scope: Scope,
    groups: Mapping[Subject, Sequence[Subject]],
    values: Mapping[Subject, float | None],
    measure: _Yardstick | None,
    signal: Signal,
    stat: Stat,
    frame: Frame,
) -> Scale:
    """All subjects of a scope, the worst first."""
    verdicts = {one: measure.verdict(value) if measure is not None else Verdict.UNKNOWN for one, value in values.items()}
    falls = measure.op.startswith("<") if measure is not None else signal.worse == "down"

    def order(one: Subject) -> tuple[bool, bool, float, str]:
        value = values[one]
        far = abs((value or 0.0) - measure.bound) if measure is not None and measure.op == _APART else value or 0.0
        return (verdicts[one] is not Verdict.PRESENT, value is None, far if falls else -far, one.id)

    ordered = sorted(groups, key=order)
    left = [value for one in ordered[_MOST:] if (value := values[one]) is not None]
    beyond, within = (sum(verdict is wanted for verdict in verdicts.values()) for wanted in (Verdict.PRESENT, Verdict.ABSENT))
    return Scale(
        scope,
        tuple(_side(one, groups[one], values[one], verdicts[one], signal, stat, frame) for one in ordered[:_MOST]),
        measure.words if measure is not None else "",
        measure.bound if measure is not None else None,
        beyond,
        within,
        len(verdicts) - beyond - within,
        (min(left), max(left)) if left else None,
    )


def _side(
    one: Subject,
    members: Sequence[Subject],
    value: float | None,
    verdict: Verdict,
    signal: Signal,
    stat: Stat,
    frame: Frame,
) -> Side:
    """One subject with its curve."""
    cells = cells_of(frame, signal.name, members, signal.combine)
    query = inert_text(reckoned(frame, signal.name, members, stat).query, _LONGEST)
    links = tuple(inert_text(str(link)) for link in frame.recording.links.get(one, ()))
    return Side(inert_text(str(one)), value, verdict, spark_of(cells, frame.grid, None), query, links)

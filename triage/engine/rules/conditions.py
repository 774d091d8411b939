"""Conditions over a recording, in three-valued logic: what is missing makes a condition unknown, never false."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from triage.engine.frame import Frame
from triage.engine.onset import longest_run, onset_index
from triage.engine.quantiles import Interval
from triage.engine.queries import onset_width, reckoned
from triage.engine.rules.context import NEVER, Context, Joined, Look, Outcome, Span, Turned, Weighed
from triage.engine.rules.occurrences import counted, found, matches, occurred, seen
from triage.engine.rules.peers import peers_of
from triage.engine.sparks import spark_of
from triage.engine.statistics import AMOUNTS, cells_of, curve_cells, exact, known, moment_of, statistic
from triage.model.diagnosis import Evidence, Spark, Verdict
from triage.model.recording import Floats, Subject
from triage.model.rule import All, Any, Bound, Condition, Gone, Known, Leaf, Measure, Not, Observed, Occurrence, Operand, Stat
from triage.model.vocabulary import Combine, Kind, Scope, catalogue

PRESENT, ABSENT, UNKNOWN = Verdict.PRESENT, Verdict.ABSENT, Verdict.UNKNOWN

UNSEEN = 0.5
"""With more than this share of a span unknown nobody can say that something never happened in it."""


class Judge:
    """Judges conditions on one subject. What many rules ask is judged once: equal conditions are one object (triage/compiled.py).

    :param context: where they are asked
    """

    def __init__(self, context: Context) -> None:
        self.context = context
        self._judged: dict[int, tuple[Condition, Outcome]] = {}
        self._decided: dict[int, tuple[Leaf, Verdict]] = {}

    def __call__(self, condition: Condition) -> Outcome:
        """The verdict of a condition with what was looked at."""
        kept = self._judged.get(id(condition))
        if kept is None:
            kept = self._judged[id(condition)] = condition, self._worked_out(condition)
        return kept[1]

    def _worked_out(self, condition: Condition) -> Outcome:
        match condition:
            case Measure():
                return measured(condition, self.context)
            case Occurrence():
                return occurred(condition, self.context)
            case All():
                parts = self._all_of(condition)
                return Joined(both([part.verdict for part in parts]), parts, every=True)
            case Any():
                parts = [self(part) for part in condition.any]
                return Joined(either([part.verdict for part in parts]), parts, every=False)
            case Observed():
                return seen(condition, self.context)
            case Not():
                inner = self(condition.not_)
                return Turned(_OPPOSITE[inner.verdict], inner)
            case Known():
                return _known(condition, self.context)
            case Gone():
                return _gone(condition, self.context)

    def _all_of(self, condition: All) -> list[Outcome]:
        """The parts of a condition, as far as they have to be asked: one that does not hold decides, whatever the others say."""
        outcomes: list[Outcome] = []
        for part in condition.all:
            outcomes.append(self(part))
            if outcomes[-1].verdict is ABSENT:
                break
        return outcomes

    def holds(self, condition: Condition) -> bool:
        """Whether the verdict on a condition is that it holds, and nothing of what that rests on: no more is asked than decides.

        Of most rules nothing is ever asked but this and :meth:`fails`.
        """
        match condition:
            case All():
                return all(map(self.holds, condition.cheapest_first))
            case Any():
                return any(map(self.holds, condition.cheapest_first))
            case Not():
                return self.fails(condition.not_)
            case _:
                return self._verdict(condition) is PRESENT

    def fails(self, condition: Condition) -> bool:
        """Whether the verdict on a condition is that it does not hold, likewise."""
        match condition:
            case All():
                return any(map(self.fails, condition.cheapest_first))
            case Any():
                return all(map(self.fails, condition.cheapest_first))
            case Not():
                return self.holds(condition.not_)
            case _:
                return self._verdict(condition) is ABSENT

    def _verdict(self, leaf: Leaf) -> Verdict:
        """The verdict on a condition that is made of no others; asked again it is remembered."""
        kept = self._decided.get(id(leaf))
        if kept is None:
            kept = self._decided[id(leaf)] = leaf, self._decide(leaf)
        return kept[1]

    def _decide(self, leaf: Leaf) -> Verdict:
        match leaf:
            case Measure():
                return _measured(leaf, self.context)
            case Occurrence():
                return counted(leaf, self.context).verdict
            case Observed():
                return found(leaf, self.context).verdict
            case _:
                return self(leaf).verdict


def judge(condition: Condition, context: Context) -> Outcome:
    """The verdict of a single condition with what was looked at."""
    return Judge(context)(condition)


_OPPOSITE = {PRESENT: ABSENT, ABSENT: PRESENT, UNKNOWN: UNKNOWN}


def both(verdicts: Sequence[Verdict]) -> Verdict:
    """Kleene's and: false if any is false, unknown if none is false but some unknown."""
    if ABSENT in verdicts:
        return ABSENT
    return UNKNOWN if UNKNOWN in verdicts else PRESENT


def either(verdicts: Sequence[Verdict]) -> Verdict:
    """Kleene's or."""
    if PRESENT in verdicts:
        return PRESENT
    return UNKNOWN if UNKNOWN in verdicts else ABSENT


# Measures


def measured(measure: Measure, context: Context) -> Look:
    """A signal against its bound, for each subject or for all of them as one."""
    subjects = _speaking(measure.signal, context)
    if len(subjects) > 1 and measure.across in ("any", "all"):
        single = [_measure_one(measure, context, [subject]) for subject in subjects]
        join = either if measure.across == "any" else both
        verdict = join([look.verdict for look in single])
        return next((look for look in single if look.verdict is verdict), single[0])
    return _measure_one(measure, context, subjects)


def _measured(measure: Measure, context: Context) -> Verdict:
    """The verdict of :func:`measured` alone."""
    subjects = _speaking(measure.signal, context)
    if len(subjects) > 1 and measure.across in ("any", "all"):
        join = either if measure.across == "any" else both
        return join([_weighed_once(measure, context, [subject]).verdict for subject in subjects])
    return _weighed_once(measure, context, subjects).verdict


def _speaking(signal: str, context: Context) -> list[Subject]:
    """Whose series of a signal speak for the subject that is asked; they are remembered."""
    told = context.speaking.get(signal)
    if told is None:
        told = context.speaking[signal] = subjects_for(context.frame, signal, context.subject)
    return told


def subjects_for(frame: Frame, signal: str, subject: Subject) -> list[Subject]:
    """Whose series of a signal speak for a subject: its own, or those of the subjects that it is linked to."""
    if frame.tells(signal, subject):
        return [subject]
    having = frame.subjects_of(signal)
    scope = catalogue()[signal].scope
    if scope is Scope.TARGET:
        return having if subject.scope is Scope.SERVICE else []
    if subject.scope is Scope.SERVICE:
        return [one for one in having if one.scope is not Scope.TARGET]
    return [one for one in sorted(frame.related(subject, scope)) if frame.tells(signal, one)]


_UNMEASURED = Weighed(UNKNOWN)


def _measure_one(measure: Measure, context: Context, subjects: Sequence[Subject]) -> Look:
    """A signal of some subjects, taken as one, against its bound."""
    weighed = _weighed_once(measure, context, subjects)
    compared = weighed.value is None or weighed.threshold is not None
    return Look(
        weighed.verdict,
        measure.signal,
        measure.signal if compared else f"{measure.signal} ({weighed.text})",
        lambda: _when(measure, context, subjects, weighed),
        lambda span: _explained(measure, context, subjects, weighed, span),
        measure.as_name,
    )


def _weighed_once(measure: Measure, context: Context, subjects: Sequence[Subject]) -> Weighed:
    """The verdict on a signal of some subjects, taken as one; asked again it is remembered."""
    if not subjects:
        return _UNMEASURED
    key = id(measure), subjects[0] if len(subjects) == 1 else None
    kept = context.weighed.get(key)
    if kept is None:
        kept = context.weighed[key] = measure, _weighed(measure, context, subjects)
    return kept[1]


def _weighed(measure: Measure, context: Context, subjects: Sequence[Subject]) -> Weighed:
    """The verdict worked out."""
    frame, across = context.frame, measure.combine
    op, bound = measure.comparison
    value = statistic(frame, measure.signal, subjects, measure.stat, span_of(measure, frame), across)
    if value is None:
        return _UNMEASURED
    limit, words = _threshold(bound, measure, context, subjects)
    floor = _floor(bound) if limit is None else None
    threshold = limit or floor
    if threshold is None:
        return Weighed(UNKNOWN, value, None, words, text=f"nothing to compare with: {words}")
    verdict, held = _compared(value, op, threshold), None
    if measure.lasting is not None:
        verdict, held = _lasts(*_held_against(measure, context, subjects, threshold), op, measure, frame)
    if floor is not None and verdict is not (ABSENT if op[0] == ">" else PRESENT):
        return Weighed(UNKNOWN, value, None, words, text=f"nothing to compare with: {words}")
    if measure.lasting is None and could_turn(measure.stat, op, verdict):
        if is_too_coarse(measure, frame):
            return Weighed(UNKNOWN, value, threshold, words, held, "its values are too far apart to say so")
        if _is_mostly_unseen(measure, subjects, frame):
            return Weighed(UNKNOWN, value, threshold, words, held, "too little of the span was seen to say so")
    return Weighed(verdict, value, threshold, words, held)


def _when(measure: Measure, context: Context, subjects: Sequence[Subject], weighed: Weighed) -> Span:
    """Since when and until when a signal satisfies its bound, where the verdict is that it does."""
    if weighed.verdict is not PRESENT or weighed.threshold is None:
        return NEVER
    cells, threshold = _held_against(measure, context, subjects, weighed.threshold)
    if cells is None:
        return NEVER
    op = measure.comparison[0]
    return _since(cells, op, threshold, subjects, context.frame), _until(cells, op, threshold, context.frame)


def _held_against(
    measure: Measure, context: Context, subjects: Sequence[Subject], threshold: Interval
) -> tuple[Floats | None, float]:
    """The cells of a signal and their threshold; what must last beside another signal lies above or below that, cell by cell."""
    frame, bound = context.frame, measure.comparison[1]
    cells = cells_of(frame, measure.signal, subjects, measure.combine)
    if cells is None or measure.lasting is None or not isinstance(bound, Operand) or bound.signal is None:
        return cells, threshold.estimate
    others = _speaking(bound.signal, context)
    beside = cells_of(frame, bound.signal, others, catalogue()[bound.signal].combine) if others else None
    return (cells, threshold.estimate) if beside is None else (cells - limits_of(bound, beside), 0.0)


def limits_of(bound: Operand, cells: Floats) -> Floats:
    """What values are held against beside another signal's, cell by cell."""
    limits = cells * factor_of(bound) + bound.plus
    return limits if bound.at_least is None else np.fmax(limits, bound.at_least)


def _explained(measure: Measure, context: Context, subjects: Sequence[Subject], weighed: Weighed, span: Span) -> Evidence:
    """A verdict on a signal as a report shows it."""
    frame, value, threshold = context.frame, weighed.value, weighed.threshold
    base = _usual(measure, context, subjects) if subjects else None
    exactly = value is None or value.low == value.high
    looked = span_of(measure, frame)
    shown = Evidence(
        signal=measure.signal,
        subject=str(subjects[0] if len(subjects) == 1 else context.subject),
        stat=measure.stat,
        value=None if value is None else _whole(value.estimate, measure, weighed),
        low=None if value is None or exactly else value.low,
        high=None if value is None or exactly or not np.isfinite(value.high) else value.high,
        unit=_unit(measure),
        lasting=measure.lasting,
        held=weighed.held,
        op=measure.comparison[0],
        threshold=None if threshold is None else threshold.estimate,
        threshold_of=weighed.words,
        baseline=base.estimate if base and np.isfinite(base.estimate) else None,
        verdict=weighed.verdict,
        since=span[0],
        since_low=None if span[0] is None else span[0] - onset_width(frame, measure.signal, subjects),
        until=span[1],
        text=_why_missing(frame, measure.signal) if value is None else weighed.text,
        moment=moment_of(looked, frame.grid.step) if measure.stat in ("peak", "trough") else None,
        spark=None if threshold is None else _curve(frame, measure, subjects, span[0]),
    )
    return shown.reckoned_by(partial(reckoned, frame, measure.signal, subjects, measure.stat, looked, measure.combine))


def _whole(value: float, measure: Measure, weighed: Weighed) -> float:
    """A count as the whole number that it is, unless that would read as if another verdict followed from it.

    One that was read a little before and a little after the ends of a span comes out as no whole number.
    """
    signal, whole = catalogue()[measure.signal], float(round(value))
    if measure.stat != "sum" or signal.kind is not Kind.RATE or signal.unit in AMOUNTS or weighed.threshold is None:
        return value
    return whole if _compared(exact(whole), measure.comparison[0], weighed.threshold) is weighed.verdict else value


def _curve(frame: Frame, measure: Measure, subjects: Sequence[Subject], since: float | None) -> Spark | None:
    """The curve of the very statistic; many rules show the same one, so it is remembered.

    Of a condition that must last it is the curve of the values themselves.
    """
    signal, across, span = measure.signal, measure.combine, span_of(measure, frame)
    stat = "mean" if measure.lasting is not None else measure.stat
    key = ("curve", signal, tuple(subjects), stat, span.start, span.stop, across, since)
    return frame.remembered(
        key, lambda: spark_of(curve_cells(frame, signal, subjects, stat, span, across), frame.grid, since, stat)
    )


def _unit(measure: Measure) -> str:
    """Unit of the statistic."""
    signal = catalogue()[measure.signal]
    if measure.stat == "changes":
        return "changes"
    if signal.kind is Kind.RATE and measure.stat != "sum":
        return signal.unit if signal.unit in _RATES_BY_NAME else f"{signal.unit}/s"
    return f"{signal.unit}/s" if measure.stat == "slope" else signal.unit


_RATES_BY_NAME = frozenset({"ratio", "cores"})
"""Units that are per second by themselves: a share of time, and CPU seconds a second."""


def span_of(measure: Measure, frame: Frame) -> slice:
    """The cells that a measure looks at."""
    grid = frame.grid
    if measure.period == "baseline":
        return grid.baseline
    if measure.over is None:
        return grid.window
    cells = max(1, round(measure.over / grid.step))
    return slice(max(grid.first, len(grid.times) - cells), len(grid.times))


def _threshold(bound: Bound, measure: Measure, context: Context, subjects: Sequence[Subject]) -> tuple[Interval | None, str]:
    """The number that a value is held against, and in words what it is; None if it is unknown."""
    if not isinstance(bound, Operand):
        return exact(bound), ""
    base, words = _base(bound, measure, context, subjects)
    if base is None:
        return None, words
    low, middle, high = (value * factor_of(bound) + bound.plus for value in (base.low, base.estimate, base.high))
    limits = Interval(middle, min(low, high), max(low, high))
    if bound.at_least is None or middle >= bound.at_least:
        return limits, words
    return Interval(*(max(value, bound.at_least) for value in limits)), f"at least {bound.at_least:g}"


def _floor(bound: Bound) -> Interval | None:
    """What a threshold is never lower than, which may decide although nobody knows what it is."""
    return exact(bound.at_least) if isinstance(bound, Operand) and bound.at_least is not None else None


def factor_of(bound: Operand) -> float:
    """What the base of a bound is multiplied with."""
    if bound.baseline is not None:
        return bound.baseline
    return bound.peers if bound.peers is not None else bound.times


def _base(bound: Operand, measure: Measure, context: Context, subjects: Sequence[Subject]) -> tuple[Interval | None, str]:
    """The value that a bound is relative to, before any factor, and in words what the threshold is."""
    frame = context.frame
    times = "" if factor_of(bound) == 1.0 else f"{factor_of(bound):g} × "
    if bound.baseline is not None:
        return _usual(measure, context, subjects), f"{times}baseline"
    if bound.peers is not None:
        return _peers(measure, context, subjects), f"{times}median of its peers"
    if bound.objective is not None:
        wanted = frame.recording.objectives.get(bound.objective)
        return (None if wanted is None else exact(wanted)), f"{times}objective {bound.objective}"
    if bound.fact is not None:
        fact = frame.recording.fact(bound.fact, subjects[0] if len(subjects) == 1 else context.subject)
        return (exact(fact) if isinstance(fact, float | int) else None), f"{times}{bound.fact}"
    signal = bound.signal or ""
    others = _speaking(signal, context)
    combine = catalogue()[signal].combine
    value = statistic(frame, signal, others, measure.stat, span_of(measure, frame), combine) if others else None
    return value, f"{times}{catalogue()[signal].noun}"


def _usual(measure: Measure, context: Context, subjects: Sequence[Subject]) -> Interval | None:
    """The statistic before the window. Of a replica that was not there yet (a roll-out made it): of those that did its work."""
    frame, across = context.frame, measure.combine
    if not frame.grid.usual:
        return None
    own = statistic(frame, measure.signal, subjects, measure.stat, frame.grid.baseline, across)
    if len(subjects) != 1 or subjects[0].scope is not Scope.REPLICA or _was_there(frame, measure.signal, subjects[0], across):
        return own
    return _median_of_others(measure, context, subjects, frame.grid.baseline) or own


def _was_there(frame: Frame, signal: str, subject: Subject, across: Combine) -> bool:
    """Whether enough is known of a subject before the window to say what is usual for it."""
    cells = cells_of(frame, signal, [subject], across)
    return cells is not None and known(cells[frame.grid.baseline]) is not None


def _peers(measure: Measure, context: Context, subjects: Sequence[Subject]) -> Interval | None:
    """Median over the other subjects that do the same work; None if there are none."""
    return _median_of_others(measure, context, subjects, span_of(measure, context.frame))


def _median_of_others(measure: Measure, context: Context, subjects: Sequence[Subject], span: slice) -> Interval | None:
    """Median of a statistic over the subjects that do the same work as these; None if nothing is known of any."""
    peers = peers_of(context.frame, measure.signal, measure.stat, span)
    return exact(value) if np.isfinite(value := peers.without(subjects, context.frame)) else None


_SIGNS: dict[str, Callable[[float, float], bool]] = {
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
}


def _compared(value: Interval, op: str, threshold: Interval) -> Verdict:
    """Whether a value satisfies a bound; unknown if the intervals overlap so that it may or may not."""
    sign = _SIGNS[op]
    upward = op[0] == ">"
    surely = sign(value.low, threshold.high) if upward else sign(value.high, threshold.low)
    possibly = sign(value.high, threshold.low) if upward else sign(value.low, threshold.high)
    if surely:
        return PRESENT
    return UNKNOWN if possibly else ABSENT


_NEVER = {("max", ">"), ("sum", ">"), ("changes", ">"), ("min", "<")}
"""Statistics by the direction in which one more value could turn them over."""


def could_turn(stat: Stat, op: str, verdict: Verdict) -> bool:
    """Whether one more value could turn a verdict over: it says that something never happened."""
    upward = (op[0] == ">") == (verdict is ABSENT)
    return verdict is not UNKNOWN and (stat, ">" if upward else "<") in _NEVER


def _is_mostly_unseen(measure: Measure, subjects: Sequence[Subject], frame: Frame) -> bool:
    """Whether most of the span of a value was not seen, so that nobody can say that something never happened."""
    if catalogue()[measure.signal].kind is Kind.DISTRIBUTION:
        return False
    cells = cells_of(frame, measure.signal, subjects, measure.combine)
    return cells is not None and bool(unseen_share(cells[span_of(measure, frame)]) > UNSEEN)


def unseen_share(cells: Floats) -> Floats:
    """The share of cells that nobody knows, along the last axis; of a span without cells it is all."""
    number = cells.shape[-1]
    return np.asarray(np.count_nonzero(np.isnan(cells), axis=-1) / number if number else np.ones(cells.shape[:-1]))


def _lasts(cells: Floats | None, threshold: float, op: str, measure: Measure, frame: Frame) -> tuple[Verdict, float | None]:
    """Whether every value in a row satisfies the bound for long enough, and for how many seconds it does at most."""
    if cells is None:
        return UNKNOWN, None
    span = cells[span_of(measure, frame)]
    is_known = ~np.isnan(span)
    holds = _holds(span, op, threshold)
    need = cells_needed(measure, frame)
    run = longest_run(holds, is_known)[1]
    if run >= need:
        return PRESENT, run * frame.grid.step
    if is_too_coarse(measure, frame):
        return UNKNOWN, run * frame.grid.step
    possible = longest_run(holds | ~is_known, np.ones(len(span), dtype=bool))[1]
    return (ABSENT if possible < need else UNKNOWN), run * frame.grid.step


def cells_needed(measure: Measure, frame: Frame) -> int:
    """So many cells in a row must satisfy a bound that has to last: two, where one is far longer than that."""
    return 2 if is_too_coarse(measure, frame) else max(1, round((measure.lasting or 0.0) / frame.grid.step))


def is_too_coarse(measure: Measure, frame: Frame) -> bool:
    """Whether cells are too long to tell that something did not last so short a time, or how often it changed."""
    if measure.lasting is not None:
        return frame.grid.step > _CARRIED * measure.lasting
    return measure.stat == "changes" and frame.grid.step > _COARSE


_CARRIED = 4.0
"""Chosen: of what lasts a quarter of a cell its mean keeps a quarter, and its last value most often nothing."""

_COARSE = 120.0
"""Seconds; chosen: what changes and changes back between two values that are further apart is never seen."""


def _holds(cells: Floats, op: str, threshold: float) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    """In which cells a bound is satisfied; unknown ones do not satisfy it."""
    compare = {">": np.greater, ">=": np.greater_equal, "<": np.less, "<=": np.less_equal}[op]
    with np.errstate(invalid="ignore"):
        return np.asarray(compare(cells, threshold))


def _since(cells: Floats, op: str, threshold: float, subjects: Sequence[Subject], frame: Frame) -> float | None:
    """When the bound began to be satisfied; None if that was before all data of subjects that were there then."""
    index = onset_index(_holds(cells, op, threshold), ~np.isnan(cells), frame.grid.first)
    if index is None or index == 0:
        return None
    known_before = bool((~np.isnan(cells[:index])).any())
    return float(frame.grid.times[index]) if known_before or _began_later(subjects, index, frame) else None


_OF_EVERY_POD = ("pod.ready", "pod.pending")
"""What the cluster says of each pod for as long as there is such a pod."""


def _began_later(subjects: Sequence[Subject], index: int, frame: Frame) -> bool:
    """Whether the cluster told of other pods before a cell, and of none of these."""
    for signal in _OF_EVERY_POD:
        pods = frame.of(signal)
        told = {subject for subject, cells in pods.items() if (~np.isnan(cells[:index])).any()}
        if told and all(subject in pods for subject in subjects):
            return told.isdisjoint(subjects)
    return False


def _until(cells: Floats, op: str, threshold: float, frame: Frame) -> float | None:
    """When the bound ceased to be satisfied; None if it still is, or was till but one or two cells ago."""
    known_cells = np.flatnonzero(~np.isnan(cells))
    holds = _holds(cells, op, threshold)[known_cells]
    held = np.flatnonzero(holds)
    if not len(held) or (len(holds) - 1 - held[-1]) * frame.grid.step < max(_OVER * frame.grid.step, _OVER_SECONDS):
        return None
    return float(frame.grid.times[known_cells[held[-1]]])


_OVER = 3
_OVER_SECONDS = 60.0
"""So many known cells, and seconds, after the last one that satisfied a bound it is over: less is noise or a pause for breath."""


def _why_missing(frame: Frame, signal: str) -> str:
    """Why a signal has no value."""
    if signal in frame.rejected:
        return frame.rejected[signal]
    if frame.has(signal):
        return "no samples in the window"
    return "asked for in vain" if signal in frame.recording.unanswered else "not measured"


# Facts, and series that end


def _known(condition: Known, context: Context) -> Look:
    """A fact against the values that are asked for."""
    fact = context.frame.recording.fact(condition.fact, context.subject)
    verdict = UNKNOWN if fact is None else PRESENT if matches(condition.matches, _as_text(fact)) else ABSENT
    signal = f"fact:{condition.fact}"
    return Look(
        verdict,
        signal,
        signal,
        lambda: NEVER,
        lambda _: Evidence(
            signal=signal,
            subject=str(context.subject),
            op="=~",
            verdict=verdict,
            text="unknown" if fact is None else f"{_as_text(fact)} (asked for {condition.matches})",
        ),
    )


def _as_text(fact: str | float) -> str:
    """A fact as text; a whole number without its point."""
    return f"{fact:g}" if isinstance(fact, float) else str(fact)


def _gone(condition: Gone, context: Context) -> Look:
    """Whether a signal that was measured before has ended while its subject goes on."""
    frame = context.frame
    subjects = subjects_for(frame, condition.gone, context.subject)
    verdicts = [_ended(frame, condition.gone, subject) for subject in subjects]
    verdict = either(verdicts) if verdicts else UNKNOWN
    text = "" if verdicts else "never measured"
    return Look(
        verdict,
        condition.gone,
        condition.gone,
        lambda: NEVER,
        lambda _: Evidence(
            signal=condition.gone,
            subject=str(next((s for s, v in zip(subjects, verdicts, strict=True) if v is verdict), context.subject)),
            op="gone",
            verdict=verdict,
            text="measured before, not any more, while its target goes on" if verdict is PRESENT else text,
        ),
    )


def _ended(frame: Frame, signal: str, subject: Subject) -> Verdict:
    """Whether one subject's signal has ended while others of its signals go on."""
    late = slice(max(frame.grid.first, len(frame.grid.times) * 3 // 4), len(frame.grid.times))
    cells = cells_of(frame, signal, [subject], Combine.SUM)
    if cells is None or np.isnan(cells[: late.start]).all():
        return UNKNOWN
    if not np.isnan(cells[late]).all():
        return ABSENT
    others = (name for name in catalogue() if name != signal)
    alive = any((row := frame.measured(name, subject)) is not None and not np.isnan(row[late]).all() for name in others)
    return PRESENT if alive else UNKNOWN

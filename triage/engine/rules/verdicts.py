"""Verdicts of conditions on many subjects at once, as vectors.

They say on whom a rule is, and on whom one has to look closely; what is shown of somebody is worked out one by one
(:mod:`triage.engine.rules.conditions`), and the two agree on everybody.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from triage.classes import dataclass
from triage.engine.frame import Frame
from triage.engine.rules import conditions, occurrences
from triage.engine.rules.context import Context
from triage.engine.rules.peers import peers_of
from triage.engine.statistics import cells_of, column, enough_known, is_seen_at_once, of_rows, statistic, together_by
from triage.model.diagnosis import Verdict
from triage.model.recording import Event, Floats, Subject
from triage.model.rule import All, Any, Bound, Condition, Gone, Known, Measure, Not, Observed, Occurrence, Operand, Stat
from triage.model.vocabulary import Combine, Kind, Scope, catalogue

Codes = npt.NDArray[np.int8]
Bools = npt.NDArray[np.bool_]
Places = npt.NDArray[np.int64]

HOLDS, OPEN, FAILS = np.int8(1), np.int8(0), np.int8(-1)
CODES: dict[Verdict, np.int8] = {Verdict.PRESENT: HOLDS, Verdict.UNKNOWN: OPEN, Verdict.ABSENT: FAILS}

_Compare = Callable[[Floats, Floats], Bools]
_SIGNS: dict[str, _Compare] = {">": np.greater, ">=": np.greater_equal, "<": np.less, "<=": np.less_equal}


@dataclass(frozen=True, eq=False)
class Asked:
    """Whom something is asked of.

    :param onset: when the symptom began, as in :class:`Context`
    """

    frame: Frame
    subjects: tuple[Subject, ...]
    onset: float | None
    _speaking: dict[str, "Speakers"] = field(default_factory=dict)
    _concerned: dict[Subject | None, Bools] = field(default_factory=dict)
    _members: dict[tuple[Subject, ...], "Asked"] = field(default_factory=dict)

    @cached_property
    def singles(self) -> tuple[tuple[Subject, ...], ...]:
        """Each of them as a group of one."""
        return tuple((subject,) for subject in self.subjects)

    def context(self, row: int) -> Context:
        """Where one of them is asked."""
        return Context(self.frame, self.subjects[row], self.onset)

    def all(self, code: np.int8) -> Codes:
        """The same answer for everybody."""
        return np.full(len(self.subjects), code, dtype=np.int8)

    def speakers(self, signal: str) -> "Speakers":
        """Whose series of a signal speak for each of them."""
        if signal not in self._speaking:
            self._speaking[signal] = _speakers(self, signal)
        return self._speaking[signal]

    def members(self, speakers: "Speakers") -> "Asked":
        """Those who speak for them, asked themselves."""
        subjects = tuple(sorted({one for group in speakers.groups for one in group}))
        if subjects not in self._members:
            self._members[subjects] = Asked(self.frame, subjects, self.onset)
        return self._members[subjects]

    def concerned(self, about: Subject | None) -> Bools:
        """Whom of them something concerns that was seen on somebody, shape (S,)."""
        if about not in self._concerned:
            told = (occurrences.concerns(about, self.context(row)) for row in range(len(self.subjects)))
            self._concerned[about] = np.fromiter(told, dtype=bool, count=len(self.subjects))
        return self._concerned[about]


@dataclass(frozen=True, eq=False)
class Verdicts:
    """What becomes of a condition for each of those who are asked.

    :param codes: shape (S,)
    :param bare: for whom a value is open since there is nothing to compare it with, shape (S,)
    """

    condition: Condition
    codes: Codes
    parts: tuple["Verdicts", ...] = ()
    bare: Bools | None = None

    def looks(self, told: Bools) -> Iterator[tuple["Verdicts", Bools]]:
        """What was looked at, and for whom it tells something: of alternatives those that decide, as in one outcome.

        :param told: for whom the whole is told, shape (S,)
        """
        match self.condition:
            case All():
                undecided = told
                for part in self.parts:
                    fails = part.codes == FAILS
                    yield from part.looks(undecided & ((self.codes != FAILS) | fails))
                    undecided = undecided & ~fails
            case Any():
                for part in self.parts:
                    yield from part.looks(told & ((self.codes != HOLDS) | (part.codes == HOLDS)))
            case Not():
                yield from self.parts[0].looks(told)
            case _:
                yield self, told


def verdicts(condition: Condition, asked: Asked) -> Verdicts:
    """The verdicts of a condition on everybody who is asked."""
    match condition:
        case All():
            parts = _until_all_fail(condition, asked)
            return Verdicts(condition, np.minimum.reduce([part.codes for part in parts]), parts)
        case Any():
            parts = tuple(verdicts(part, asked) for part in condition.any)
            return Verdicts(condition, np.maximum.reduce([part.codes for part in parts]), parts)
        case Not():
            inner = verdicts(condition.not_, asked)
            return Verdicts(condition, -inner.codes, (inner,))
        case Measure():
            return _measured(condition, asked)
        case Occurrence():
            return Verdicts(condition, _occurred(condition, asked))
        case Observed():
            return Verdicts(condition, _seen(condition, asked))
        case Known() | Gone():
            codes = [CODES[conditions.judge(condition, asked.context(row)).verdict] for row in range(len(asked.subjects))]
            return Verdicts(condition, np.array(codes, dtype=np.int8))


def _until_all_fail(condition: All, asked: Asked) -> tuple[Verdicts, ...]:
    """The parts of a condition, as far as somebody has to be asked."""
    parts: list[Verdicts] = []
    failed = np.zeros(len(asked.subjects), dtype=bool)
    for part in condition.all:
        parts.append(verdicts(part, asked))
        failed |= parts[-1].codes == FAILS
        if failed.all():
            break
    return tuple(parts)


# Measures


@dataclass(frozen=True, eq=False)
class Speakers:
    """Whose series of a signal speak for whom.

    :param groups: each group once
    :param place: the group that speaks for each of those who are asked, -1 for none, shape (S,)
    :param rows: the row of each group that is one subject with a row of its own, else -1, shape (G,)
    """

    signal: str
    groups: tuple[tuple[Subject, ...], ...]
    place: Places
    rows: Places

    @property
    def alone(self) -> bool:
        """Whether each group is one subject with a row of its own."""
        return bool((self.rows >= 0).all())

    def cells(self, frame: Frame, across: Combine) -> Floats:
        """The signal of each group over time, NaN where unknown, shape (G, N)."""
        if self.alone and catalogue()[self.signal].kind is not Kind.DISTRIBUTION:
            block = frame.block(self.signal).cells
            return block if np.array_equal(self.rows, np.arange(len(block))) else np.asarray(block[self.rows])
        key = ("cells of groups", self.signal, self.groups, across)
        return frame.remembered(key, lambda: self._cells(frame, across))

    def _cells(self, frame: Frame, across: Combine) -> Floats:
        if catalogue()[self.signal].kind is not Kind.DISTRIBUTION:
            block = frame.block(self.signal)
            if all(one in block.place for group in self.groups for one in group):
                return together_by(block.cells, [[block.place[one] for one in group] for group in self.groups], across)
        blank = np.full(len(frame.grid.times), np.nan)
        rows = [cells_of(frame, self.signal, group, across) for group in self.groups]
        return np.array([blank if row is None else row for row in rows])

    def bounds(self, frame: Frame, stat: Stat, span: slice, across: Combine) -> Floats:
        """A statistic of each group: estimates, lower and upper bounds, NaN where unknown, shape (3, G)."""
        if self.alone:
            return np.asarray(column(frame, self.signal, stat, span).bounds[:, self.rows])
        key = ("statistics of groups", self.signal, self.groups, stat, span.start, span.stop, across)
        return frame.remembered(key, lambda: self._bounds(frame, stat, span, across))

    def _bounds(self, frame: Frame, stat: Stat, span: slice, across: Combine) -> Floats:
        if catalogue()[self.signal].kind is Kind.DISTRIBUTION:
            told = [statistic(frame, self.signal, group, stat, span, across) for group in self.groups]
            return np.array([(np.nan,) * 3 if one is None else (one.estimate, one.low, one.high) for one in told]).T
        values = of_rows(self.cells(frame, across)[:, span], stat, frame.grid.step, at_once=is_seen_at_once(frame, stat, span))
        return np.tile(values, (3, 1))


def _speakers(asked: Asked, signal: str) -> Speakers:
    frame = asked.frame
    if not frame.has(signal):
        return Speakers(signal, (), np.full(len(asked.subjects), -1), np.zeros(0, dtype=np.int64))
    own = frame.places(signal)
    if tuple(own) == asked.subjects:
        rows = np.arange(len(own))
        return Speakers(signal, asked.singles, rows, rows)
    groups: dict[tuple[Subject, ...], int] = {(): -1}
    place = []
    for row, subject in enumerate(asked.subjects):
        group = asked.singles[row] if subject in own else tuple(conditions.subjects_for(frame, signal, subject))
        place.append(groups.setdefault(group, len(groups) - 1))
    del groups[()]
    return Speakers(signal, tuple(groups), np.array(place), _rows(frame, signal, tuple(groups)))


def _rows(frame: Frame, signal: str, groups: Sequence[tuple[Subject, ...]]) -> Places:
    """The row of each group that is one subject with a row of its own, else -1."""
    own = frame.places(signal)
    return np.array([own.get(group[0], -1) if len(group) == 1 else -1 for group in groups], dtype=np.int64)


def _measured(measure: Measure, asked: Asked) -> Verdicts:
    """A signal against its bound, for each subject or for all of them as one."""
    speakers = asked.speakers(measure.signal)
    if not speakers.groups:
        return Verdicts(measure, asked.all(OPEN), bare=np.zeros(len(asked.subjects), dtype=bool))
    if measure.across in ("any", "all") and any(len(group) > 1 for group in speakers.groups):
        return _one_by_one(measure, asked, speakers)
    codes, bare = _weighed(measure, asked, speakers)
    return Verdicts(measure, codes, bare=bare)


def _one_by_one(measure: Measure, asked: Asked, speakers: Speakers) -> Verdicts:
    """Several subjects that speak for one, each held against the bound by itself."""
    members = asked.members(speakers)
    bound = measure.comparison[1]
    if isinstance(bound, Operand) and bound.signal is not None:  # what it is held against is whose it is, not a member's
        return _asked_one_by_one(measure, asked, speakers)
    each, lacks = _weighed(measure, members, members.speakers(measure.signal))
    place = {subject: row for row, subject in enumerate(members.subjects)}
    codes, bare = np.full(len(speakers.groups), OPEN), np.zeros(len(speakers.groups), dtype=bool)
    for number, group in enumerate(speakers.groups):
        rows = [place[one] for one in group]
        told = each[rows]
        codes[number] = told.max() if measure.across == "any" else told.min()
        bare[number] = codes[number] == OPEN and lacks[rows[int(np.argmax(told == OPEN))]]
    speaking = speakers.place >= 0
    return Verdicts(
        measure,
        np.where(speaking, codes[speakers.place], OPEN).astype(np.int8),
        bare=speaking & bare[speakers.place],
    )


def _asked_one_by_one(measure: Measure, asked: Asked, speakers: Speakers) -> Verdicts:
    """The same by the code that explains."""
    codes, bare = asked.all(OPEN), np.zeros(len(asked.subjects), dtype=bool)
    for row, place in enumerate(speakers.place.tolist()):
        if place >= 0:
            context = asked.context(row)
            look = conditions.measured(measure, context)
            codes[row], bare[row] = CODES[look.verdict], look.verdict is Verdict.UNKNOWN and look.lacks != measure.signal
    return Verdicts(measure, codes, bare=bare)


def _weighed(measure: Measure, asked: Asked, speakers: Speakers) -> tuple[Codes, Bools]:
    """A signal of some subjects, taken as one, against its bound: verdicts, and for whom there is nothing to compare with."""
    frame, across, span = asked.frame, measure.combine, conditions.span_of(measure, asked.frame)
    op, bound = measure.comparison
    place = speakers.place
    value = _of_each(speakers.bounds(frame, measure.stat, span, across), place)
    limit = _limits(bound, measure, asked, speakers)
    floored = np.isnan(limit[0])
    floor = bound.at_least if isinstance(bound, Operand) else None
    if floor is not None:
        limit = np.where(floored, floor, limit)
    codes = _compared(value, op, limit)
    kind = catalogue()[measure.signal].kind
    if measure.lasting is not None:
        cells = _of_each(speakers.cells(frame, across)[:, span].T, place).T
        codes = _lasting(cells, op, _beside(bound, limit[0], asked, span), conditions.cells_needed(measure, frame))
        if conditions.is_too_coarse(measure, frame):
            codes = np.where(codes == FAILS, OPEN, codes)
    elif kind is not Kind.DISTRIBUTION and (turned := _turned_by_one_more(measure.stat, op)):
        unseen = _of_each(conditions.unseen_share(speakers.cells(frame, across)[:, span]), place) > conditions.UNSEEN
        unseen |= conditions.is_too_coarse(measure, frame)
        codes = np.where(unseen & np.isin(codes, turned), OPEN, codes)
    known = ~np.isnan(value[0])
    bare = known & floored
    if floor is not None:
        bare &= codes != (FAILS if op[0] == ">" else HOLDS)
    return np.where(known & ~bare, codes, OPEN).astype(np.int8), bare


def _beside(bound: Bound, limit: Floats, asked: Asked, span: slice) -> Floats:
    """What the cells of each subject are held against, shape (S, T), or (S, 1) if that is the same in all."""
    others = asked.speakers(bound.signal) if isinstance(bound, Operand) and bound.signal is not None else None
    if others is None or not others.groups or not isinstance(bound, Operand) or bound.signal is None:
        return limit[:, None]
    cells = _of_each(others.cells(asked.frame, catalogue()[bound.signal].combine)[:, span].T, others.place).T
    return conditions.limits_of(bound, cells)


def _turned_by_one_more(stat: Stat, op: str) -> list[np.int8]:
    """Verdicts that one more value could turn over."""
    return [code for verdict, code in CODES.items() if conditions.could_turn(stat, op, verdict)]


def _of_each(values: Floats, place: Places) -> Floats:
    """What groups have for each of those they speak for, NaN where nobody does, along the last axis.

    :param values: shape (…, G)
    """
    return np.where(place >= 0, values[..., place.clip(0)], np.nan)


def _compared(value: Floats, op: str, limit: Floats) -> Codes:
    """Whether values satisfy bounds; open if the intervals overlap so that they may or may not, or where one is unknown.

    :param value: estimates, lower and upper bounds, shape (3, S); ``limit`` likewise
    """
    sign = _SIGNS[op]
    (_, low, high), (_, least, most) = value, limit
    surely, possibly = (sign(low, most), sign(high, least)) if op[0] == ">" else (sign(high, least), sign(low, most))
    return np.where(surely, HOLDS, np.where(possibly, OPEN, FAILS)).astype(np.int8)


def _lasting(cells: Floats, op: str, limit: Floats, need: int) -> Codes:
    """Whether every value in a row satisfies its bound for long enough.

    :param cells: shape (S, T)
    :param limit: shape (S, T), or (S, 1) if it is the same in all
    :param need: so many cells in a row
    """
    unknown = np.isnan(cells) | np.isnan(limit)
    holds = _SIGNS[op](cells, limit)
    run = _longest(holds, ~unknown)
    possible = _longest(holds | unknown, np.ones(cells.shape, dtype=bool))
    return np.where(run >= need, HOLDS, np.where(possible < need, FAILS, OPEN)).astype(np.int8)


def _longest(holds: Bools, known: Bools) -> Places:
    """Known cells of the longest row in which something holds, shape (S,). An unknown cell neither breaks nor adds."""
    if not holds.shape[1]:
        return np.zeros(len(holds), dtype=np.int64)
    counted = np.cumsum(holds & known, axis=1)
    broken = np.maximum.accumulate(np.where(known & ~holds, counted, 0), axis=1)
    return np.asarray((counted - broken).max(axis=1))


def _limits(bound: Bound, measure: Measure, asked: Asked, speakers: Speakers) -> Floats:
    """What each value is held against: estimates, lower and upper bounds, NaN where it is unknown, shape (3, S)."""
    if not isinstance(bound, Operand):
        return np.full((3, len(asked.subjects)), float(bound))
    middle, low, high = _base(bound, measure, asked, speakers) * conditions.factor_of(bound) + bound.plus
    limits = np.stack((middle, np.minimum(low, high), np.maximum(low, high)))
    return limits if bound.at_least is None else np.where(middle >= bound.at_least, limits, np.maximum(limits, bound.at_least))


def _base(bound: Operand, measure: Measure, asked: Asked, speakers: Speakers) -> Floats:
    """What bounds are relative to, shape (3, S)."""
    frame, stat, span = asked.frame, measure.stat, conditions.span_of(measure, asked.frame)
    if bound.baseline is not None:
        return _of_each(_usual(measure, frame, speakers), speakers.place)
    if bound.peers is not None:
        return _of_each(np.tile(_others(measure, frame, speakers, span), (3, 1)), speakers.place)
    if bound.objective is not None:
        return np.full((3, len(asked.subjects)), frame.recording.objectives.get(bound.objective, np.nan))
    if bound.fact is not None:
        return np.tile(_facts(bound.fact, asked, speakers), (3, 1))
    signal = bound.signal or ""
    others = asked.speakers(signal)
    if not others.groups:
        return np.full((3, len(asked.subjects)), np.nan)
    return _of_each(others.bounds(frame, stat, span, catalogue()[signal].combine), others.place)


def _usual(measure: Measure, frame: Frame, speakers: Speakers) -> Floats:
    """The statistic before the window of each group, shape (3, G). Of a replica that was not there yet: of its peers."""
    across, before = measure.combine, frame.grid.baseline
    if not frame.grid.usual:
        return np.full((3, len(speakers.groups)), np.nan)
    own = speakers.bounds(frame, measure.stat, before, across)
    single = np.array([len(group) == 1 and group[0].scope is Scope.REPLICA for group in speakers.groups])
    if not single.any():
        return own
    told = ~np.isnan(speakers.cells(frame, across)[:, before])
    fresh = single & ~enough_known(told)
    if not fresh.any():
        return own
    others = _others(measure, frame, speakers, before)
    return np.where(fresh & np.isfinite(others), others, own)


def _others(measure: Measure, frame: Frame, speakers: Speakers, span: slice) -> Floats:
    """The median over the other subjects that do the same work, for each group, shape (G,)."""
    peers = peers_of(frame, measure.signal, measure.stat, span)
    if speakers.alone:
        return np.asarray(peers.medians[speakers.rows])
    return np.array([peers.without(group, frame) for group in speakers.groups])


def _facts(key: str, asked: Asked, speakers: Speakers) -> Floats:
    """A fact of whoever speaks for each of them, NaN where nobody knows a number, shape (S,)."""
    groups, recording = speakers.groups, asked.frame.recording
    told = []
    for subject, place in zip(asked.subjects, speakers.place.tolist(), strict=True):
        own = groups[place][0] if place >= 0 and len(groups[place]) == 1 else subject
        fact = recording.fact(key, own)
        told.append(float(fact) if isinstance(fact, float | int) else np.nan)
    return np.array(told)


# Events and observations


def _occurred(occurrence: Occurrence, asked: Asked) -> Codes:
    """Events of a kind, counted for each of them."""
    found = occurrences.candidates(occurrence, asked.frame, asked.onset)
    number = _number(found, asked, anywhere=occurrence.anywhere, distinct=occurrence.distinct)
    least = occurrence.at_least
    holds = number >= least if least is not None else number <= (occurrence.at_most or 0)
    proven = holds if least is not None else ~holds
    codes = np.where(holds, HOLDS, FAILS)
    if not proven.all():
        codes = np.where(~proven & _unseen(occurrence, asked), OPEN, codes)
    return codes.astype(np.int8)


def _number(found: Sequence[Event], asked: Asked, *, anywhere: bool, distinct: bool) -> Places:
    """How many lines, or subjects, of events concern each of them, shape (S,)."""
    by_subject: dict[Subject | None, int] = {}
    for event in found:
        by_subject[event.subject] = 1 if distinct else by_subject.get(event.subject, 0) + occurrences.lines(event)
    number = np.zeros(len(asked.subjects), dtype=np.int64)
    for about, count in by_subject.items():
        number += count if anywhere else count * asked.concerned(about)
    return number


def _unseen(occurrence: Occurrence, asked: Asked) -> Bools:
    """For whom that nothing was seen proves nothing, shape (S,)."""
    if not occurrences.emitter_seen(occurrence, asked.frame):
        return np.ones(len(asked.subjects), dtype=bool)
    unread = occurrences.unread(occurrence, asked.frame)
    return np.asarray(_number(unread, asked, anywhere=False, distinct=False) > 0)


def _seen(condition: Observed, asked: Asked) -> Codes:
    """Observations of a class, counted for each of them."""
    found = occurrences.observations(condition, asked.frame, asked.onset)
    number = np.zeros(len(asked.subjects), dtype=np.int64)
    for one in found:
        number += 1 if condition.anywhere else asked.concerned(one.subject).astype(np.int64)
    most, least = condition.at_most, 1 if condition.at_least is None else condition.at_least
    holds = number <= most if most is not None else number >= least
    judged = asked.frame.seen.could_tell(condition.observed, condition.of, condition.at, condition.against)
    proven = holds if most is None else ~holds
    return np.where(proven | judged, np.where(holds, HOLDS, FAILS), OPEN).astype(np.int8)

"""Conditions in PromQL, in three-valued logic.

An expression gives a subject only where the condition is known to hold, or only where it is known not to. Of a value that no
server has there is neither, so what is missing never fires.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import ceil
from re import fullmatch

from triage.engine.rules.conditions import UNSEEN, could_turn, factor_of
from triage.export.values import Level, Span, Values, Vector
from triage.model.diagnosis import Verdict
from triage.model.rule import All, Any, Bound, Condition, Known, Measure, Not, Operand, Rule
from triage.model.units import promql_duration
from triage.model.vocabulary import Combine, Kind, Scope, catalogue

_OTHER_WAY = {">": "<=", ">=": "<", "<": ">=", "<=": ">"}

ALWAYS = Vector("vector(1)", None)


class Asked:
    """Writes the conditions of one rule for subjects of its scope."""

    def __init__(self, values: Values, scope: Scope) -> None:
        self.values = values
        self.scope = scope

    def known(self, condition: Condition, *, holds: bool) -> Vector | None:
        """Where a condition is known to hold, or known not to; None if it is nowhere."""
        match condition:
            case All():
                parts = [self.known(part, holds=holds) for part in condition.all]
                return self.every(parts) if holds else self.some(parts)
            case Any():
                parts = [self.known(part, holds=holds) for part in condition.any]
                return self.some(parts) if holds else self.every(parts)
            case Not():
                return self.known(condition.not_, holds=not holds)
            case Measure():
                return self._measure(condition, holds=holds)
            case Known():
                return self._fact(condition, holds=holds)
            case _:
                return None

    def every(self, parts: Sequence[Vector | None]) -> Vector | None:
        """Where all of several vectors have a value; the subjects of the first that names any."""
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        known = [part for part in known if part is not ALWAYS] or [ALWAYS]
        apart, together = [p for p in known if p.level is not None], [p for p in known if p.level is None]
        first, *rest = [*apart, *together]
        text = first.text
        for part in rest:
            text += f"\nand {self.values.on(part.level)}\n{part.text}"
        return Vector(f"({text})" if rest else text, first.level)

    def some(self, parts: Sequence[Vector | None]) -> Vector | None:
        """Where any of several vectors has a value. What holds for the whole service holds for each of its subjects."""
        known = [part for part in parts if part is not None]
        if not known:
            return None
        if any(part is ALWAYS for part in known):
            return ALWAYS
        levels = {part.level for part in known}
        if len(levels) == 1:
            return known[0] if len(known) == 1 else self._either(known, known[0].level)
        everybody = self.values.everybody(self.scope)
        if everybody is None:
            return None
        lifted = [
            part if part.level is not None else Vector(f"({everybody} and on () {part.text})", self.scope) for part in known
        ]
        return self._either(lifted, self.scope)

    def _either(self, parts: Sequence[Vector], level: Level) -> Vector:
        """Those of whom any of several vectors of a level has a value."""
        return Vector(f"({f'{chr(10)}or {self.values.on(level)}{chr(10)}'.join(part.text for part in parts)})", level)

    @property
    def key(self) -> str:
        """The label that names the subjects."""
        return self.values.layout.key(self.scope)

    def _fact(self, condition: Known, *, holds: bool) -> Vector | None:
        """A fact, which is known when the rules are written."""
        fact = self.values.layout.facts.get(condition.fact)
        if fact is None:
            return None
        text = f"{fact:g}" if isinstance(fact, float) else str(fact)
        return ALWAYS if (fullmatch(condition.matches, text) is not None) is holds else None

    # Measures

    def _measure(self, measure: Measure, *, holds: bool) -> Vector | None:
        if measure.across == "any":
            return self._of_any(measure, holds=holds)
        return self._compared(measure, self.scope, holds=holds)

    def _of_any(self, measure: Measure, *, holds: bool) -> Vector | None:
        """A measure that one of several subjects has to satisfy."""
        own = catalogue()[measure.signal].scope
        single = self._compared(measure, own, holds=True)
        if single is None or self.scope is not Scope.SERVICE:
            return None
        some = f"max({single.text})"
        if holds:
            return Vector(some, None)
        fails = self._compared(measure, own, holds=False)
        if fails is None:
            return None
        open_ = f"({self._statistic_of(measure, own)} unless {self.values.on(own)} {fails.text})"
        return Vector(f"(max({fails.text}) unless on () {open_})", None)

    def _statistic_of(self, measure: Measure, scope: Scope) -> str:
        value = self._value(measure, scope, self._span(measure))
        return value.text if value else "vector(1)"

    def _resolved(self, bound: Bound) -> Bound:
        """A bound with the number that it is, where objective or fact are known when the rules are written."""
        if not isinstance(bound, Operand):
            return bound
        layout = self.values.layout
        told = layout.objectives.get(bound.objective) if bound.objective is not None else None
        if bound.fact is not None and isinstance(fact := layout.facts.get(bound.fact), int | float):
            told = float(fact)
        if told is None:
            return bound
        limit = told * bound.times + bound.plus
        return limit if bound.at_least is None else max(limit, bound.at_least)

    def _compared(self, measure: Measure, scope: Scope, *, holds: bool) -> Vector | None:
        op, bound = measure.comparison
        bound = self._resolved(bound)
        if measure.lasting is not None:
            return self._lasting(measure, scope, op, bound, holds=holds)
        if catalogue()[measure.signal].kind is Kind.DISTRIBUTION and measure.stat in ("p50", "p95", "p99", "median"):
            return self._quantile(measure, scope, op, bound, holds=holds)
        span = self._span(measure)
        value = self._value(measure, scope, span)
        if value is None:
            return None
        vector = self._bounded(value, op, bound, measure, span, holds=holds)
        verdict = Verdict.PRESENT if holds else Verdict.ABSENT
        if vector is None or catalogue()[measure.signal].kind is Kind.DISTRIBUTION or not could_turn(measure.stat, op, verdict):
            return vector
        return self._seen_enough(vector, measure, scope, span)

    def _seen_enough(self, vector: Vector, measure: Measure, scope: Scope, span: Span) -> Vector:
        """That something never happened is known only where most of the span was seen."""
        cell = self.values.cell(measure.signal, scope, _across(measure))
        assert cell is not None  # there is a statistic of it
        ranged = self.values.ranged(cell, measure.signal, self._how(measure), span)
        least = ceil((1 - UNSEEN) * span.length / self.values.times.step)
        return self._joined(vector, f"count_over_time({ranged}) >= {least}", cell.level)

    def _joined(self, vector: Vector, text: str, level: Level) -> Vector:
        return Vector(f"({vector.text} and {self.values.on(level)} {text})", vector.level)

    def _how(self, measure: Measure) -> str:
        across = _across(measure)
        return (across or catalogue()[measure.signal].combine).value

    def _span(self, measure: Measure) -> Span:
        times = self.values.times
        if measure.period == "baseline":
            return Span(times.baseline, times.window)
        return Span(times.window if measure.over is None else max(times.step, min(measure.over, times.window + times.baseline)))

    def _value(self, measure: Measure, scope: Scope, span: Span) -> Vector | None:
        return self.values.statistic(measure.signal, scope, measure.stat, span, _across(measure))

    def _bounded(self, value: Vector, op: str, bound: Bound, measure: Measure, span: Span, *, holds: bool) -> Vector | None:
        """A value held against its bound."""
        sign = op if holds else _OTHER_WAY[op]
        if not isinstance(bound, Operand):
            return Vector(f"({value.text} {sign} {bound:g})", value.level)
        limit = self._limit(bound, measure, span, value.level)
        over = (
            None
            if limit is None
            else Vector(f"({value.text} {self._against(sign, value.level, limit.level)} {limit.text})", value.level)
        )
        if bound.at_least is None:
            return over
        floor = Vector(f"({value.text} {sign} {bound.at_least:g})", value.level)
        if sign[0] == ">":
            return None if over is None else Vector(f"({over.text} {sign} {bound.at_least:g})", value.level)
        return floor if over is None else Vector(f"({over.text} or {self.values.on(value.level)} {floor.text})", value.level)

    def _against(self, sign: str, level: Level, limit: Level) -> str:
        """A comparison of two vectors."""
        if level is None or limit is not None:
            return f"{sign} {self.values.on(level)}"
        return f"{sign} on () group_left ()"

    def _limit(self, bound: Operand, measure: Measure, span: Span, level: Level) -> Vector | None:
        """What a value is held against; None if it is unknown."""
        times = self.values.times
        base: Vector | None = None
        if bound.baseline is not None and times.baseline > 0:
            base = self._usual(measure, level, replace(span, length=times.baseline, offset=times.window))
        elif bound.signal is not None and measure.lasting is not None:
            base = self.values.cell(bound.signal, self.scope)
        elif bound.signal is not None:
            base = self.values.statistic(bound.signal, self.scope, measure.stat, span)
        if base is None:
            return None
        text, factor = base.text, factor_of(bound)
        text = text if factor == 1.0 else f"{text} * {factor:g}"
        text = text if bound.plus == 0.0 else f"{text} + {bound.plus:g}"
        return Vector(f"({text})" if text != base.text else text, base.level)

    def _usual(self, measure: Measure, level: Level, before: Span) -> Vector | None:
        """The statistic before the window; of a replica that was not there yet the median of those that were."""
        base = self._value(measure, level or Scope.SERVICE, before)
        everybody = self.values.everybody(level)
        if base is None or base.level is not Scope.REPLICA or not self.values.layout.alike or everybody is None:
            return base
        on = self.values.on(base.level)
        return Vector(f"({base.text} or {on} ({everybody} * 0 + on () group_left () quantile(0.5, {base.text})))", base.level)

    def _lasting(self, measure: Measure, scope: Scope, op: str, bound: Bound, *, holds: bool) -> Vector | None:
        """Every value in a row satisfies the bound for long enough, at any time of the window."""
        span, step = self._span(measure), self.values.times.step
        cell = self.values.cell(measure.signal, scope, _across(measure))
        if cell is None or measure.lasting is None:
            return None
        need = max(1, round(measure.lasting / step))
        length = Span(need * step)
        fixed = replace(span, fixed=True)
        now = self._bounded(Vector(self._now(cell, measure), cell.level), op, bound, measure, fixed, holds=holds)
        if now is None:
            return None
        run = f"count_over_time({now.text}[{promql_duration(max(1.0, length.length - 1.0))}:{promql_duration(step)}])"
        whole = f"[{promql_duration(max(1.0, span.length - length.length + 1.0))}:{promql_duration(step)}]{span.modifiers}"
        if holds:
            return Vector(f"(max_over_time(({run}){whole}) >= {need})", cell.level)
        moments = max(1, round((span.length - length.length) / step) + 1)
        return Vector(f"(count_over_time(({run}){whole}) >= {moments})", cell.level)

    def _now(self, cell: Vector, measure: Measure) -> str:
        return self.values.record(cell, measure.signal, self._how(measure)) if self.values.recorded else cell.text

    def _quantile(self, measure: Measure, scope: Scope, op: str, bound: Bound, *, holds: bool) -> Vector | None:
        """A quantile lies surely on one side of its bound only if all of its bucket does, and all of the bound's."""
        span = self._span(measure)
        sign = op if holds else _OTHER_WAY[op]
        upward = sign[0] == ">"
        value = self.values.edge(measure.signal, scope, measure.stat, span, upper=not upward)
        if value is None:
            return None
        if not isinstance(bound, Operand) or bound.baseline is None:
            return self._bounded(value, op, bound, measure, span, holds=holds)
        times = self.values.times
        before = Span(times.baseline, times.window)
        base = self.values.edge(measure.signal, scope, measure.stat, before, upper=upward)
        if base is None or times.baseline <= 0:
            return None
        limit = f"({base.text} * {bound.baseline:g}{f' + {bound.plus:g}' if bound.plus else ''})"
        over = f"({value.text} {self._against(sign, value.level, base.level)} {limit})"
        if bound.at_least is None:
            return Vector(over, value.level)
        if upward:
            return Vector(f"({over} {sign} {bound.at_least:g})", value.level)
        return Vector(f"({over} or {self.values.on(value.level)} ({value.text} {sign} {bound.at_least:g}))", value.level)


def _across(measure: Measure) -> Combine | None:
    return measure.across if isinstance(measure.across, Combine) else None


def expression(rule: Rule, values: Values) -> Vector | None:
    """Where a rule is known to be present; None if no source of the service can tell."""
    asked = Asked(values, rule.scope)
    ways: list[Vector | None] = []
    for way in rule.shows:
        parts = [asked.known(part, holds=True) for part in (way.condition, way.needs) if part is not None]
        whole = asked.every(parts)
        ways.append(_unless(whole, asked.known(way.refuted_by, holds=True) if way.refuted_by else None, asked))
    whole = asked.some([way for way in ways if way is not None])
    if whole is not None and rule.needs is not None:
        whole = asked.every([whole, asked.known(rule.needs, holds=True)])
    return _unless(whole, asked.known(rule.refuted_by, holds=True) if rule.refuted_by else None, asked)


def _unless(whole: Vector | None, against: Vector | None, asked: Asked) -> Vector | None:
    """A vector without those of whom another one has a value."""
    if whole is None or against is ALWAYS:
        return None
    if against is None:
        return whole
    on = asked.values.on(against.level if whole.level is not None else None)
    return Vector(f"({whole.text}\nunless {on}\n{against.text})", whole.level)

"""What of a rule a metrics server can judge by itself, and why not the rest.

What is exported never holds where the rule does not: of alternatives those that cannot be asked are left out, a conjunction with
one of them is left out whole, and a contradiction that cannot be asked in full counts as if it were there.
"""

from dataclasses import field

from triage.classes import dataclass
from triage.engine.derived import DERIVATIONS
from triage.model.dialect import Dialect
from triage.model.rule import (
    All,
    Alternative,
    Any,
    Condition,
    Gone,
    Measure,
    Not,
    Observed,
    Occurrence,
    Operand,
    Rule,
    leaves,
)
from triage.model.vocabulary import Scope, catalogue

_FROM_AFAR = frozenset({Scope.SERVICE, Scope.GATEWAY, Scope.CLIENT})


@dataclass(frozen=True)
class Portable:
    """The part of a rule that can be exported.

    :param rule: the rule with what can be exported alone; None if nothing can
    :param reasons: why the rest cannot, each once
    """

    rule: Rule | None
    reasons: tuple[str, ...] = ()


@dataclass
class _Sieve:
    """Takes out of conditions what a server cannot judge, and notes why."""

    scope: Scope
    told: frozenset[str]
    reasons: dict[str, None] = field(default_factory=dict)

    def under(self, condition: Condition) -> Condition | None:
        """A condition that holds only where this one does; None if there is none."""
        match condition:
            case All():
                parts = [self.under(part) for part in condition.all]
                kept = tuple(part for part in parts if part is not None)
                return All(all=kept) if len(kept) == len(parts) else None
            case Any():
                kept = tuple(part for one in condition.any if (part := self.under(one)) is not None)
                return Any(any=kept) if kept else None
            case Not():
                inner = self.over(condition.not_)
                return None if inner is None else Not(not_=inner)
            case _:
                return self._leaf(condition)

    def over(self, condition: Condition) -> Condition | None:
        """A condition that holds wherever this one does; None if there is none but one that always does."""
        match condition:
            case All():
                kept = tuple(part for one in condition.all if (part := self.over(one)) is not None)
                return All(all=kept) if kept else None
            case Any():
                parts = [self.over(part) for part in condition.any]
                kept = tuple(part for part in parts if part is not None)
                return Any(any=kept) if len(kept) == len(parts) else None
            case Not():
                inner = self.under(condition.not_)
                return None if inner is None else Not(not_=inner)
            case _:
                return self._leaf(condition)

    def _leaf(self, condition: Condition) -> Condition | None:
        why = self._why_not(condition)
        if why:
            self.reasons[why] = None
            return None
        return condition

    def _why_not(self, condition: Condition) -> str:
        """Why a server cannot judge a condition; empty if it can."""
        match condition:
            case Observed():
                return f"observation `{condition.observed}`"
            case Occurrence():
                return f"event `{condition.event}`"
            case Gone():
                return f"`{condition.gone}` that ends"
            case Measure():
                return self._measure(condition)
            case _:
                return ""

    def _measure(self, measure: Measure) -> str:
        bound = next(b for b in (measure.above, measure.at_least, measure.below, measure.at_most) if b is not None)
        signals = [measure.signal] + ([bound.signal] if isinstance(bound, Operand) and bound.signal else [])
        if isinstance(bound, Operand) and bound.peers is not None:
            return "held against the median of its twins without itself"
        if measure.across == "all":
            return "asked of each subject by itself"
        for signal in signals:
            if why := self._signal(signal):
                return why
        return ""

    def _signal(self, signal: str) -> str:
        """Why nobody can tell a signal in PromQL."""
        if signal in self.told:
            scope = catalogue()[signal].scope
            if self.scope is not Scope.SERVICE and scope not in (*_FROM_AFAR, self.scope) and DERIVATIONS.get(signal):
                return f"`{signal}` of another scope"
            return ""
        return f"`{signal}` is worked out" if signal in DERIVATIONS else f"`{signal}` is in no metric"


def told_by(dialects: tuple[Dialect, ...]) -> frozenset[str]:
    """Signals that a server can tell: those that a dialect measures, and those that follow from them by a formula."""
    from triage.export.layout import is_plain
    from triage.export.values import follows

    found = {entry.signal for dialect in dialects for entry in dialect.metrics if entry.signal and is_plain(entry)}
    for signal, derivation in DERIVATIONS.items():
        if derivation.formula is not None and follows(derivation.formula, found):
            found.add(signal)
        elif catalogue()[signal].derived:
            found.discard(signal)
    return frozenset(found)


def portable(rule: Rule, told: frozenset[str]) -> Portable:
    """What of a rule can be exported."""
    sieve = _Sieve(rule.scope, told)
    refuted = sieve.over(rule.refuted_by) if rule.refuted_by is not None else None
    if rule.refuted_by is not None and refuted is None:
        return Portable(None, ("what would rule it out: " + ", ".join(sieve.reasons),))
    needs = sieve.under(rule.needs) if rule.needs is not None else None
    if rule.needs is not None and needs is None:
        return Portable(None, ("what it needs: " + ", ".join(sieve.reasons),))
    ways = tuple(way for one in rule.shows if (way := _way(one, sieve)) is not None)
    reasons = tuple(sieve.reasons)
    if not ways:
        return Portable(None, reasons)
    whole = {name: getattr(rule, name) for name in Rule.model_names()}
    return Portable(Rule(**{**whole, "shows": ways, "needs": needs, "refuted_by": refuted, "expects": ()}), reasons)


def _way(way: Alternative, sieve: _Sieve) -> Alternative | None:
    """One alternative, as far as it can be exported."""
    condition = sieve.under(way.condition)
    needs = sieve.under(way.needs) if way.needs is not None else None
    refuted = sieve.over(way.refuted_by) if way.refuted_by is not None else None
    lacking = (way.needs is not None and needs is None) or (way.refuted_by is not None and refuted is None)
    if condition is None or lacking or not any(isinstance(leaf, Measure) for leaf in leaves(condition)):
        return None
    return Alternative(**{way.grade: condition, "needs": needs, "refuted_by": refuted})

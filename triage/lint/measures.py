"""Checks that a condition can be asked: its signal is within reach, its bound within range, its patterns sound."""

from collections.abc import Iterator

import re2

from triage.lint.problem import Problem
from triage.lint.ruleset import Checked, Place
from triage.model.rule import Bound, Known, Measure, Observed, Occurrence
from triage.model.vocabulary import Scope, catalogue

BOUNDS = ("above", "at_least", "below", "at_most")

_SILENT = re2.Options()
_SILENT.log_errors = False

_EVERYWHERE = frozenset({Scope.SERVICE, Scope.CLIENT, Scope.GATEWAY})
_LINKED = frozenset({Scope.REPLICA, Scope.GPU, Scope.NODE})
_SCRAPED = frozenset({Scope.SERVICE, Scope.REPLICA, Scope.TARGET})


def reachable(rule: Scope, signal: Scope) -> bool:
    """Whether signals of a scope can be found for a subject of a rule's scope.

    Service, clients and gateways belong to everything of the service; replicas, cards and nodes are linked to each other;
    what Prometheus knows of a scrape target is known of the service and of the replica that is the target.
    """
    if signal is Scope.TARGET:
        return rule in _SCRAPED
    return rule is signal or bool({rule, signal} & _EVERYWHERE) or {rule, signal} <= _LINKED


def out_of_reach(checked: Checked) -> Iterator[Problem]:
    """``scope``: there is a way from the rule's subject to the signal's."""
    scope = checked.rule.scope
    for place, measure in _measures(checked):
        signal = catalogue()[measure.signal]
        if not reachable(scope, signal.scope):
            summary = f"{signal.name} belongs to a {signal.scope}, and nothing links it to a {scope}"
            yield checked.error("scope", summary, (*place, "signal"), f"ask it of the service (scope: {Scope.SERVICE})")


def out_of_range(checked: Checked) -> Iterator[Problem]:
    """``range``: a fixed bound is a value that the signal can take: ratios go from 0 to 1, not to 100."""
    for place, measure in _measures(checked):
        signal = catalogue()[measure.signal]
        for key, number in numbers(measure):
            if measure.stat not in ("sum", "changes", "slope", "spread") and not signal.low <= number <= signal.high:
                summary = (
                    f"{signal.name} lies between {signal.low:g} and {signal.high:g}, so it is never compared well with {number:g}"
                )
                yield checked.error("range", summary, (*place, key))


def bad_patterns(checked: Checked) -> Iterator[Problem]:
    """``pattern``: a regular expression is one that can be matched in linear time."""
    for place, condition in checked.conditions():
        patterns: dict[Place, str] = {}
        if isinstance(condition, Known):
            patterns = {(*place, "matches"): condition.matches}
        if isinstance(condition, Occurrence | Observed):
            patterns = {(*place, "where", key): pattern for key, pattern in condition.where.items()}
        for where, pattern in patterns.items():
            try:
                re2.compile(pattern, _SILENT)
            except re2.error as error:
                yield checked.error("pattern", f"the regular expression is not understood: {_reason(error)}", where)


def _reason(error: Exception) -> str:
    """re2's own words."""
    told = error.args[0] if error.args else error
    return told.decode() if isinstance(told, bytes) else str(told)


def _measures(checked: Checked) -> Iterator[tuple[Place, Measure]]:
    """The measures of a rule with their places."""
    for place, condition in checked.conditions():
        if isinstance(condition, Measure):
            yield place, condition


def numbers(measure: Measure) -> Iterator[tuple[str, float]]:
    """The fixed bounds of a measure by their key."""
    for key in BOUNDS:
        bound: Bound | None = getattr(measure, key)
        if isinstance(bound, float | int):
            yield key, bound

"""Checks that a fixed number comes from somewhere: the table of levels, a source of the rule, or a comment beside it."""

import re
from collections.abc import Iterator
from functools import cache

from triage.lint.measures import numbers
from triage.lint.problem import Problem
from triage.lint.ruleset import Checked, Place
from triage.model.rule import Hold, Measure, Observed
from triage.model.vocabulary import Kind, Signal, catalogue

_HINT = "compare with baseline, peers or an objective, or say it in a comment at the line, in sources or in levels.toml"

_HOLD_HINT = "leave it out for the usual one, or say in sources or in a comment at the line what it outlasts"

_WHOLE = frozenset(["requests", "replicas", "backends", "nodes", "adapters", "cards", "units", "ranks"])
"""Units of things that come whole: one of them, or between none and one, speaks for itself."""


def bare_thresholds(checked: Checked) -> Iterator[Problem]:
    """``threshold``: a fixed number is explained; zero, states, counts and one whole thing speak for themselves."""
    for place, about, number in asked_numbers(checked):
        if number not in checked.among.levels.get(about, ()) and not _is_told(checked, place, number):
            summary = f"nothing says where {number:g} of {about} comes from"
            yield checked.warning("threshold", summary, place, _HINT)


def bare_holds(checked: Checked) -> Iterator[Problem]:
    """``hold``: a hold is another than the usual one for a reason, and one to raise is heeded by some alternative."""
    usual, hold = Hold(), checked.rule.hold
    for name, key in Hold.model_keys().items():
        seconds = getattr(hold, name)
        if seconds != getattr(usual, name) and not _is_told(checked, ("hold", key), seconds):
            yield checked.warning("hold", f"nothing says where the {seconds:g} s of {key} come from", ("hold", key), _HOLD_HINT)
    said = checked.place(("hold", "for")) != checked.place(("hold",))
    if hold.raise_after and said and all(way.grade == "proof" for way in checked.rule.shows):
        summary = "for has no effect: every alternative is a proof, and what is proven is raised at once"
        yield checked.warning("hold", summary, ("hold", "for"), "leave it out")


def asked_numbers(checked: Checked) -> Iterator[tuple[Place, str, float]]:
    """The fixed numbers with their places, and the signal or class of observation that each is about."""
    for place, condition in checked.conditions():
        if isinstance(condition, Measure) and not _is_counted(condition):
            signal = catalogue()[condition.signal]
            for key, number in numbers(condition):
                if number and not _is_whole(signal, number):
                    yield (*place, key), signal.name, number
        if isinstance(condition, Observed) and condition.size is not None:
            yield (*place, "size"), condition.observed, condition.size


def _is_counted(measure: Measure) -> bool:
    """Whether a measure asks for a state, or how often something happened."""
    return catalogue()[measure.signal].kind is Kind.STATE or measure.stat in ("sum", "changes")


def _is_whole(signal: Signal, number: float) -> bool:
    """Whether a number is one whole thing, or between none and one."""
    return signal.kind is Kind.GAUGE and signal.unit in _WHOLE and number in (0.5, 1.0)


def _is_told(checked: Checked, place: Place, number: float) -> bool:
    """Whether a source of the rule speaks of the number, or a comment stands at its line or in the line above."""
    if any(_spelling(number).search(source) for source in checked.rule.sources):
        return True
    line, _ = checked.place(place)
    own, above = checked.lines[line - 1], checked.lines[line - 2] if line > 1 else ""
    return " #" in own or above.lstrip().startswith("#")


@cache
def _spelling(number: float) -> re.Pattern[str]:
    """How people write a number: as it is, or as percent."""
    ways = (re.escape(f"{number:g}"), rf"{re.escape(f'{number * 100:g}')} ?%")
    return re.compile(rf"(?<![\w.])(?:{'|'.join(ways)})(?!\w|\.\d)")

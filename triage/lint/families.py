"""Checks that a kind can be shown by independent sources."""

from collections.abc import Iterable, Iterator

from triage.engine.rules.families import families_of
from triage.lint.problem import Problem
from triage.lint.ruleset import Checked
from triage.model.rule import All, Any, Condition

Families = frozenset[str]


def one_family(checked: Checked) -> Iterator[Problem]:
    """``family``: two ways to show the kind share no family of sources, or the rule says why there are none."""
    rule = checked.rule
    ways = _least(families for way in rule.shows for families in _ways(way.condition))
    apart = any(not one & other for index, one in enumerate(ways) for other in ways[index + 1 :])
    if not apart and not rule.one_family:
        names = "; ".join(" and ".join(sorted(families)) for families in ways)
        hint = "add an alternative from another source, or say in one_family why there is none"
        yield checked.warning("family", f"no two ways to show it are independent ({names})", ("shows",), hint)


def _ways(condition: Condition) -> tuple[Families, ...]:
    """The sets of families each of which is enough for a condition to hold."""
    match condition:
        case Any():
            return _least(families for part in condition.any for families in _ways(part))
        case All():
            ways: tuple[Families, ...] = (frozenset(),)
            for part in condition.all:
                ways = _least(one | other for one in ways for other in _ways(part))
            return ways
        case _:
            return (frozenset(families_of(condition)),)


def _least(sets: Iterable[Families]) -> tuple[Families, ...]:
    """The sets that hold no other of them, each once; the smaller ones first."""
    kept: list[Families] = []
    for families in sorted(set(sets), key=lambda one: (len(one), sorted(one))):
        if not any(one <= families for one in kept):
            kept.append(families)
    return tuple(kept)

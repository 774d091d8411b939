"""Checks of the causal graph as a whole: what leads to what makes no loop, unless a rule says that it feeds back."""

from collections.abc import Callable, Iterator, Mapping

from triage.lint.problem import Problem
from triage.lint.ruleset import Checked
from triage.model.rule import Rule


def loops(checked: Checked) -> Iterator[Problem]:
    """``loop``: no effect of the kind leads back to it. The shortest loop is told, once for each rule on it."""
    rule = checked.rule
    ways = [(name, way) for name in rule.leads_to if (way := _way(name, rule.id, checked.among.rules, _leads_to))]
    if ways:
        name, way = min(ways, key=lambda one: len(one[1]))
        words = " and back" if len(way) == 2 else f" and on to {', '.join(way[1:])}"
        hint = "where the loop is real, put the arrow that closes it under feeds_back; else drop the weakest"
        yield checked.warning("loop", f"{rule.id} leads to {name}{words}", ("leads_to", name), hint)


def no_way_back(checked: Checked) -> Iterator[Problem]:
    """``loop``: what a kind feeds back to is something that can lead to it."""
    rule = checked.rule
    for name in rule.feeds_back:
        if name in rule.leads_to:
            yield checked.warning("loop", f"{name} stands under leads_to as well", ("feeds_back", name), "keep one of them")
        elif name in checked.among.rules and not _way(name, rule.id, checked.among.rules, _effects):
            told = f"nothing leads from {name} to {rule.id}, so nothing is fed back"
            yield checked.warning("loop", told, ("feeds_back", name), "put it under leads_to")


def _leads_to(rule: Rule) -> Mapping[str, str]:
    return rule.leads_to


def _effects(rule: Rule) -> Mapping[str, str]:
    return rule.effects


def _way(start: str, end: str, rules: Mapping[str, Rule], follow: Callable[[Rule], Mapping[str, str]]) -> list[str]:
    """The shortest way from one kind to another, both included; empty if there is none."""
    before: dict[str, str] = {start: ""}
    todo = [start]
    for name in todo:
        if name == end:
            break
        effects = follow(rules[name]) if name in rules else {}
        for effect in effects:
            if effect not in before:
                before[effect] = name
                todo.append(effect)
    way = []
    at = end if end in before else ""
    while at:
        way.append(at)
        at = before[at]
    return way[::-1]

"""Checks that a rule was tried: on an incident in which it is the cause, and on one of a look-alike."""

from collections.abc import Iterator

from triage.lint.problem import Problem
from triage.lint.ruleset import Checked


def no_positive_case(checked: Checked) -> Iterator[Problem]:
    """``case``: some incident has this kind as its root cause."""
    cases = checked.among.cases
    if cases is not None and not any(checked.rule.id in case.roots for case in cases):
        yield checked.warning("case", f"no incident under tests/incidents has {checked.rule.id} as its root", ("id",))


def no_look_alike_case(checked: Checked) -> Iterator[Problem]:
    """``case``: some incident is of a look-alike, and finding this kind in it would be a mistake.

    One such look-alike is asked for: of many pairs the one truth allows the other, since each can cause it.
    """
    cases, rule = checked.among.cases, checked.rule
    if cases is None or not rule.look_alikes:
        return
    if not any(look.rule in case.roots and case.excludes(rule.id) for look in rule.look_alikes for case in cases):
        names = ", ".join(look.rule for look in rule.look_alikes)
        yield checked.warning("case", f"no incident of {names} shows that it is not taken for {rule.id}", ("look_alikes",))

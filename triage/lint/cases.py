"""Checks that a rule was tried: on an incident in which it is the cause, and on one of each look-alike."""

from collections.abc import Iterator

from triage.lint.problem import Problem
from triage.lint.ruleset import Checked


def no_positive_case(checked: Checked) -> Iterator[Problem]:
    """``case``: some incident has this kind as its root cause."""
    cases = checked.among.cases
    if cases is not None and not any(checked.rule.id in case.roots for case in cases):
        yield checked.warning("case", f"no incident under tests/incidents has {checked.rule.id} as its root", ("id",))


def no_look_alike_case(checked: Checked) -> Iterator[Problem]:
    """``case``: for each look-alike some incident is of that kind, and finding this one in it would be a mistake."""
    cases = checked.among.cases
    if cases is None:
        return
    for index, look in enumerate(checked.rule.look_alikes):
        if not any(look.rule in case.roots and case.excludes(checked.rule.id) for case in cases):
            summary = f"no incident of {look.rule} shows that it is not taken for {checked.rule.id}"
            yield checked.warning("case", summary, ("look_alikes", index, "rule"))

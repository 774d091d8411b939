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


def unearned_status(checked: Checked) -> Iterator[Problem]:
    """``status``: a stable rule has two independent families, and two cases that come out right, one of them lived through."""
    rule, cases = checked.rule, checked.among.cases
    if cases is None or rule.status != "stable":
        return
    own = [case for case in cases if case.roots[:1] == (rule.id,)]
    lacks = {
        "all its evidence comes from one family of sources": bool(rule.one_family),
        "there are fewer than two cases of it": len(own) < 2,
        "no case of it is recorded or built from a public report": not any(case.lived for case in own),
        "a case of it is known to come out wrong": any(case.wrong for case in own),
    }
    for summary in (summary for summary, holds in lacks.items() if holds):
        yield checked.warning("status", f"not stable: {summary}", ("status",), "call it experimental, or add what is missing")

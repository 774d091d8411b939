"""Checks that a kind can be shown by independent sources."""

from collections.abc import Iterator

from triage.engine.rules.families import families_of
from triage.lint.problem import Problem
from triage.lint.ruleset import Checked


def one_family(checked: Checked) -> Iterator[Problem]:
    """``family``: some two alternatives share no family of sources, or the rule says why there is but one."""
    rule = checked.rule
    families = [frozenset(families_of(way.condition)) for way in rule.shows]
    apart = any(not one & other for index, one in enumerate(families) for other in families[index + 1 :])
    if not apart and not rule.one_family:
        names = ", ".join(sorted(frozenset().union(*families)))
        help_text = "add an alternative from another source, or say in one_family why there is none"
        yield checked.warning("family", f"all its alternatives need one family of sources ({names})", ("shows",), help_text)

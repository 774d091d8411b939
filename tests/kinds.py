"""The kinds of failure that triage knows, read once."""

from collections.abc import Mapping
from functools import cache

from triage.engine.rules.loading import load_rules
from triage.model.rule import Rule


@cache
def kinds() -> Mapping[str, Rule]:
    """The shipped rules by their ids."""
    return {rule.id: rule for rule in load_rules()}

"""Checks that the sentence of a finding can be filled in."""

import string
from collections.abc import Iterator

from triage.lint.problem import Problem
from triage.lint.ruleset import Checked, Place
from triage.model.rule import Measure, Observed, Occurrence
from triage.validation import did_you_mean

_ALWAYS = ("subject", "onset")


def placeholders(checked: Checked) -> Iterator[Problem]:
    """``placeholder``: the sentence speaks only of {subject}, {onset} and values that ``shows`` names with ``as``."""
    given = {name: place for place, name in _names(checked) if _is_shown(place)}
    try:
        fields = [
            (name, spec, conversion)
            for _, name, spec, conversion in string.Formatter().parse(checked.rule.finding)
            if name is not None
        ]
    except ValueError as error:
        yield checked.error(
            "placeholder", f"the sentence cannot be filled in: {error}", ("finding",), "double a brace that is meant as such"
        )
        return
    for name, spec, conversion in fields:
        if spec or conversion:
            yield checked.error(
                "placeholder", f"{{{name}}} has a format", ("finding",), "write the name only; values come with their unit"
            )
        elif name not in given and name not in _ALWAYS:
            hint = did_you_mean(name, [*_ALWAYS, *given]) or f"known here: {', '.join([*_ALWAYS, *sorted(given)])}"
            yield checked.error("placeholder", f"the sentence speaks of {{{name}}}, which is not known", ("finding",), hint)


def unused_names(checked: Checked) -> Iterator[Problem]:
    """``unused``: a name that no sentence uses is a slip or a leftover."""
    for place, name in _names(checked):
        if not _is_shown(place):
            key = next(key for key in place if key in _UNSPOKEN)
            yield checked.warning("unused", f"{name!r} is named in {key!r}, which the sentence cannot speak of", place)
        elif f"{{{name}}}" not in checked.rule.finding:
            yield checked.warning("unused", f"the sentence does not use {name!r}", place)


_UNSPOKEN = ("needs", "refuted_by", "expects")


def _is_shown(place: Place) -> bool:
    """Whether a place is one of the evidence that the sentence can speak of."""
    return not any(key in _UNSPOKEN for key in place)


def _names(checked: Checked) -> Iterator[tuple[Place, str]]:
    """Names given with ``as``, and where."""
    for place, condition in checked.conditions():
        if isinstance(condition, Measure | Observed | Occurrence) and condition.as_name:
            yield (*place, "as"), condition.as_name

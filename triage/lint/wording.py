"""Checks that the sentence of a finding can be filled in, and reads as a sentence whatever it is filled with."""

import re
from collections.abc import Iterator

from triage.engine.explanation.sentence import bare_names
from triage.lint.problem import Problem
from triage.lint.ruleset import Checked, Place
from triage.model.rule import All, Any, Condition, Measure, Observed, Occurrence, Rule
from triage.model.sentence import LONGEST, filled, names_in, parts_of
from triage.model.vocabulary import Scope, catalogue
from triage.validation import did_you_mean

_ALWAYS = ("subject", "onset")

_A_NAME = 36
"""Letters of a usual name: ``GPU 3 on gpu-pool-7065b813-kmjb``, or a replica and how many more."""


def placeholders(checked: Checked) -> Iterator[Problem]:
    """``placeholder``: the sentence speaks only of {subject}, {onset} and values that ``shows`` names with ``as``."""
    given = {name for place, name in _names(checked) if _is_shown(place)}
    try:
        parts = parts_of(checked.rule.finding)
    except ValueError as error:
        hint = "names stand in {braces}, what may be left out in [brackets]"
        yield checked.error("placeholder", f"the sentence cannot be filled in: {error}", ("finding",), hint)
        return
    for name in dict.fromkeys(name for part in parts for name in names_in(part.text)):
        if not name.isidentifier():
            hint = "write the name only; values come with their unit"
            yield checked.error("placeholder", f"{{{name}}} is no name", ("finding",), hint)
        elif name not in given and name not in _ALWAYS:
            hint = did_you_mean(name, [*_ALWAYS, *given]) or f"known here: {', '.join([*_ALWAYS, *sorted(given)])}"
            yield checked.error("placeholder", f"the sentence speaks of {{{name}}}, which is not known", ("finding",), hint)


def sentences(checked: Checked) -> Iterator[Problem]:
    """``sentence``: what a person reads at night is one short sentence in plain words that claims only what was seen."""
    try:
        parts = parts_of(checked.rule.finding)
    except ValueError:
        return
    fixed = "".join(part.text for part in parts if not part.optional)
    whole = "".join(part.text for part in parts)
    for fault, hint in (*_too_long(fixed), *_not_one(whole), *_of_ids(whole, checked), *_of_number(whole, checked)):
        yield checked.warning("sentence", f"the sentence {fault}", ("finding",), hint)
    sure = bare_names(checked.rule) & _given_always(checked.rule)
    for name in names_in(fixed):
        if name not in _ALWAYS and name not in sure:
            fault = f"always speaks of {{{name}}}, which not every alternative gives as a figure of one unit"
            yield checked.warning("sentence", f"the sentence {fault}", ("finding",), f"put it into brackets: [ ({{{name}}})]")


_Fault = tuple[str, str]
"""What is wrong with a sentence, and what to do."""


def _too_long(fixed: str) -> Iterator[_Fault]:
    """That what is always told leaves no room for a name."""
    values = dict.fromkeys(names_in(fixed), "") | {"subject": "x" * _A_NAME, "onset": "00:00:00"}
    if len(filled(fixed, values, 2)) > LONGEST:
        yield f"has more than {LONGEST} letters with a name of {_A_NAME}", "say less, or put a part into [brackets]"


def _not_one(whole: str) -> Iterator[_Fault]:
    """That it is not one sentence."""
    if not whole.endswith(".") or ". " in whole or ".." in whole:
        yield "is not one sentence with one stop at its end", "one statement: what is wrong, with whom, since when"
    if ": " in whole or ";" in whole:
        yield "is a list behind a colon or a semicolon", "put the value in parentheses: [ ({name})]"
    if not re.match(r"[A-Z{]", whole):
        yield "does not begin with a capital", "begin with a word or with {subject}"


def _of_ids(whole: str, checked: Checked) -> Iterator[_Fault]:
    """That it speaks of signals or kinds by their names in rules."""
    words = set(re.findall(r"[a-z0-9_]+(?:[.-][a-z0-9_]+)+", whole))
    for word in sorted(words & (catalogue().keys() | {name for name in checked.among.rules if "-" in name})):
        yield f"holds the id {word!r}", "say it as people do"


def _of_number(whole: str, checked: Checked) -> Iterator[_Fault]:
    """That its verb fits one subject and not several; a service is always one."""
    found = re.match(r"\{subject\} (is|was|has|\w+s)\b", whole)
    if found is not None and checked.rule.scope is not Scope.SERVICE:
        yield f"says {found.group(1)!r} also of several", f"give both: {{subject}} {{{found.group(1)}|…}}"


def _given_always(rule: Rule) -> frozenset[str]:
    """Names that every alternative gives in a condition that must hold."""
    given = [_given(way.condition) for way in rule.shows]
    return frozenset.intersection(*given)


def _given(condition: Condition) -> frozenset[str]:
    """Names that a condition gives wherever it holds."""
    match condition:
        case All():
            return frozenset(name for part in condition.all for name in _given(part))
        case Any():
            return frozenset.intersection(*(_given(part) for part in condition.any))
        case Measure() | Observed() | Occurrence() if condition.as_name:
            return frozenset({condition.as_name})
        case _:
            return frozenset()


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

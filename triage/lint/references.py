"""Checks that everything a rule names exists: kinds, signals, playbook."""

from collections.abc import Iterator
from difflib import get_close_matches

from triage.lint.problem import Problem
from triage.lint.ruleset import Checked, Place
from triage.model.rule import Gone, Occurrence
from triage.model.vocabulary import catalogue
from triage.validation import did_you_mean

_ALIKE = 0.85
"""Likeness from which a name that nobody knows is a misspelling."""


def unknown_kinds(checked: Checked) -> Iterator[Problem]:
    """``reference``: leads_to, feeds_back and look_alikes name kinds that have a rule, and not the rule itself."""
    known, rule = checked.among.rules, checked.rule
    named: list[tuple[Place, str]] = [(("leads_to", name), name) for name in rule.leads_to]
    named += [(("feeds_back", name), name) for name in rule.feeds_back]
    named += [(("look_alikes", index, "rule"), look.rule) for index, look in enumerate(rule.look_alikes)]
    for place, name in named:
        if name == checked.rule.id:
            yield checked.error("reference", f"the rule names itself in {place[0]}", place)
        elif name not in known:
            yield checked.error("reference", f"no kind of failure is called {name!r}", place, did_you_mean(name, known))


def unknown_signals(checked: Checked) -> Iterator[Problem]:
    """``signal``: a signal that is said to be gone is one of the vocabulary."""
    for place, condition in checked.conditions():
        if isinstance(condition, Gone) and condition.gone not in catalogue():
            hint = did_you_mean(condition.gone, catalogue()) or "triage coverage --signals lists them"
            yield checked.error("signal", f"no signal is called {condition.gone}", (*place, "gone"), hint)


def unknown_events(checked: Checked) -> Iterator[Problem]:
    """``event``: an Xid is one that NVIDIA documents, and the name of a log event is no misspelling of a signature.

    Some events are computed from many lines and are no signatures, so a name that is far from all of them is taken as it is.
    """
    known = checked.among.signatures
    signatures, codes = {one.id for one in known.lines}, known.xids
    for place, condition in checked.conditions():
        if not isinstance(condition, Occurrence):
            continue
        for index, name in enumerate(condition.name):
            where = (*place, "name", index)
            if condition.event == "xid" and name not in codes:
                yield checked.error("event", f"there is no Xid {name}", where)
            elif condition.event == "log" and name not in signatures and (near := get_close_matches(name, signatures, 1, _ALIKE)):
                yield checked.error("event", f"no log signature is called {name!r}", where, f"did you mean {near[0]!r}?")


def missing_playbook(checked: Checked) -> Iterator[Problem]:
    """``playbook``: whoever gets the finding is told what to do."""
    if checked.rule.id not in checked.among.playbooks:
        yield checked.error(
            "playbook", f"there is no playbook {checked.rule.id}.md", ("id",), "write one, or name its folder with --playbooks"
        )


def unknown_incidents(checked: Checked) -> Iterator[Problem]:
    """``incident``: a public incident that the rule cites is in the catalogue."""
    known = checked.among.incidents
    for index, name in enumerate(checked.rule.incidents):
        if name not in known:
            hint = did_you_mean(name, known) or "give it a line in incidents.jsonl beside the rules"
            yield checked.error("incident", f"no incident of the catalogue is called {name!r}", ("incidents", index), hint)

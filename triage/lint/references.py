"""Checks that everything a rule names exists: kinds, signals, playbook; and that it agrees with the table of kinds."""

from collections.abc import Iterator
from difflib import get_close_matches

from triage.ingest.logs.signatures import signature_book, xid_codes
from triage.lint.problem import Problem
from triage.lint.ruleset import Checked, Place
from triage.model.kinds import kinds
from triage.model.rule import Gone, Occurrence
from triage.model.vocabulary import catalogue
from triage.validation import did_you_mean

_ALIKE = 0.85
"""Likeness from which a name that nobody knows is a misspelling."""


def unknown_kinds(checked: Checked) -> Iterator[Problem]:
    """``reference``: leads_to and look_alikes name kinds or rules that exist, and not the rule itself."""
    known = {*kinds(), *checked.among.rules}
    named: list[tuple[Place, str]] = [(("leads_to", index), name) for index, name in enumerate(checked.rule.leads_to)]
    named += [(("look_alikes", index, "rule"), look.rule) for index, look in enumerate(checked.rule.look_alikes)]
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
    signatures, codes = signature_book().by_id, xid_codes()
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


def disagreement(checked: Checked) -> Iterator[Problem]:
    """``kind``: layer and cause are those of the table of kinds."""
    kind = kinds().get(checked.rule.id)
    if kind is None:
        return
    if kind.layer is not checked.rule.layer:
        yield checked.warning("kind", f"the table of kinds puts {kind.id} in the layer {kind.layer}", ("layer",))
    if kind.cause is not checked.rule.cause:
        yield checked.warning("kind", f"the table of kinds calls {kind.id} a {kind.cause} cause", ("cause",))

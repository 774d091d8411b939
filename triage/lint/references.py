"""Checks that everything a rule names exists: kinds, signals, playbook; and that it agrees with the table of kinds."""

from collections.abc import Iterator

from triage.lint.problem import Problem
from triage.lint.ruleset import Checked, Place
from triage.model.kinds import kinds
from triage.model.rule import Gone
from triage.model.vocabulary import catalogue
from triage.validation import did_you_mean


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

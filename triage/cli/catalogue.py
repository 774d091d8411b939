"""``triage rules catalogue``: the page of all kinds, made of the rules."""

from collections.abc import Iterator, Mapping, Sequence

from triage.engine.rules.incidents import Incident
from triage.model.rule import Rule
from triage.model.vocabulary import Layer

_HEAD = """\
# Kinds of failure

Made of the rules by `triage rules catalogue`; what is wrong here is mended there. A kind is
[stable](rules.md#experimental-and-stable) once enough was seen of it. What leads to what is the whole
[causal graph](rules.md#the-causal-graph). `triage rules show ID` tells the conditions, and `triage playbook ID` what to do.
"""


def catalogue_page(rules: Sequence[Rule], incidents: Mapping[str, Incident]) -> str:
    """The page as Markdown: a table of all kinds by layer, then a section on each.

    :param incidents: the catalogue of public incidents by id
    """
    lines = [_HEAD, _counted(rules), ""]
    for layer in Layer:
        lines += _table(layer, [rule for rule in rules if rule.layer is layer])
    for rule in rules:
        lines += _section(rule, incidents)
    return "\n".join(lines)


def _counted(rules: Sequence[Rule]) -> str:
    """How many there are."""
    stable = sum(rule.status == "stable" for rule in rules)
    arrows, back = sum(len(rule.leads_to) for rule in rules), sum(len(rule.feeds_back) for rule in rules)
    return f"{len(rules)} kinds, {stable} of them stable, with {arrows + back} arrows between them, {back} of which close a loop."


def _table(layer: Layer, rules: Sequence[Rule]) -> Iterator[str]:
    """The kinds of one layer."""
    if rules:
        yield from (f"## In the layer {layer}", "", "| kind | what | cause | asked of each | state |", "|---|---|---|---|---|")
        yield from (f"| [{rule.id}](#{rule.id}) | {rule.title} | {rule.cause} | {rule.scope} | {rule.status} |" for rule in rules)
        yield ""


def _section(rule: Rule, incidents: Mapping[str, Incident]) -> Iterator[str]:
    """All that is worth knowing of a kind without its conditions."""
    yield from (f"## {rule.id}", "", f"**{rule.title}**: {rule.question}", "")
    for head, effects in (("Leads to", rule.leads_to), ("Feeds back to", rule.feeds_back)):
        yield from _listed(head, [f"[{kind}](#{kind}): {because}" for kind, because in effects.items()])
    yield from _listed("Not to be taken for", [f"[{look.rule}](#{look.rule}): {look.because}" for look in rule.look_alikes])
    yield from _listed("Public incidents", [_incident(name, incidents) for name in rule.incidents])


def _incident(name: str, incidents: Mapping[str, Incident]) -> str:
    """An incident with its address, if the catalogue has it."""
    known = incidents.get(name)
    return f"[{name}]({known.address}): {known.says}" if known else name


def _listed(head: str, items: Sequence[str]) -> Iterator[str]:
    """A list under a line of its own, or nothing if it is empty."""
    if items:
        yield from (f"{head}", "", *(f"- {item}" for item in items), "")

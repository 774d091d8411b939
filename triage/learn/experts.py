"""The expert's way through a drill: what they look at, from the platform down, to be sure of the cause."""

from collections.abc import Sequence
from typing import Literal

from triage.classes import dataclass
from triage.learn.cases import Case
from triage.learn.steps import ask_rule
from triage.model.diagnosis import Evidence, Finding, Verdict
from triage.model.recording import CHANGE_KINDS
from triage.model.vocabulary import Layer, catalogue
from triage.score.truth import Truth

Sort = Literal["signal", "log", "changes", "question"]

MINUTES: dict[Sort, int] = {"signal": 1, "changes": 1, "log": 2, "question": 4}
"""What each costs: a curve is at hand, lines must be fetched, a question is somebody else's judgement of all evidence."""

_MOST = 2
"""Pieces of evidence that an expert looks at for one finding."""


@dataclass(frozen=True)
class Seen:
    """One thing that an expert looks at.

    :param rule: the finding that it decides
    """

    rule: str
    sort: Sort
    evidence: Evidence

    @property
    def minutes(self) -> int:
        """How long it takes."""
        return MINUTES[self.sort]


def expert_path(case: Case, truth: Truth) -> tuple[str, ...]:
    """The findings that an expert passes: what the root led to, from the top layer down, then the root itself.

    In each layer above the root's one consequence is enough. Empty if no accepted cause is found present.
    """
    root = next((finding for finding in case.diagnosis.findings if finding.rule in truth.root), None)
    if root is None:
        return ()
    order = list(Layer)
    above: dict[Layer, Finding] = {}
    for finding in case.diagnosis.findings:
        if root.rule in finding.explained_by and order.index(finding.layer) < order.index(root.layer):
            above.setdefault(finding.layer, finding)
    return (*(above[layer].rule for layer in order if layer in above), root.rule)


def expert_looks(case: Case, path: Sequence[str]) -> list[Seen]:
    """What decides each finding of the path: its first pieces of evidence of different sorts, none twice."""
    looks: list[Seen] = []
    for rule in path:
        held = [one for one in ask_rule(case, rule).evidence if one.verdict is Verdict.PRESENT]
        found: dict[tuple[Sort, str], Seen] = {}
        for evidence in held:
            found.setdefault(_key(evidence), Seen(rule, _key(evidence)[0], evidence))
        known = {_key(one.evidence) for one in looks}
        looks += [seen for key, seen in found.items() if key not in known][:_MOST]
    return looks


def _key(evidence: Evidence) -> tuple[Sort, str]:
    """Of what sort a piece of evidence is, and what one has to look at to see it."""
    kind, _, name = evidence.signal.partition(":")
    if evidence.signal in catalogue():
        return "signal", evidence.signal
    if kind == "observed" and evidence.stat in catalogue():
        return "signal", evidence.stat
    if name in CHANGE_KINDS or name == "change":
        return "changes", ""
    return "log", evidence.text

"""The causal chain as a tree: each root cause, what follows from it, and where the consequences feed back."""

from collections.abc import Sequence

from triage.classes import dataclass
from triage.model.diagnosis import Finding

Edges = dict[str, tuple[str, ...]]

_LONGEST_BECAUSE = 100
"""Letters of a mechanism that is told in the tree. Chosen: with the tree's own margin that is one line, or a little more."""


@dataclass(frozen=True)
class Node:
    """A finding in the tree.

    :param because: how it follows from the finding above it; empty for a root, where no rule says so, or if it is long
    :param follows: what it leads to
    :param back: findings above it in the tree that it feeds again, which makes a loop
    :param also: findings drawn elsewhere in the tree that it leads to as well
    """

    finding: Finding
    because: str = ""
    follows: tuple["Node", ...] = ()
    back: tuple[Finding, ...] = ()
    also: tuple[Finding, ...] = ()


def trees(findings: Sequence[Finding]) -> tuple[Node, ...]:
    """One tree for each root cause in rank order, then one for each consequence that hangs on none of them.

    Every root and consequence is drawn exactly once; contributing findings are drawn only where a root leads to them.
    """
    known = {finding.rule: finding for finding in reversed(findings)}
    edges = _reduced(_edges(findings))
    drawn: set[str] = set()
    heads = [f for f in findings if f.role == "root"] + [f for f in findings if f.role == "consequence"]
    return tuple(_grown(head.rule, known, edges, drawn, ()) for head in heads if head.rule not in drawn)


def trigger(findings: Sequence[Finding], member: Finding) -> Finding:
    """What set off the loop that the finding is part of: its cause outside the loop, or the first member if there is none."""
    inside = {member.rule, *member.loop}
    members = [f for f in findings if f.rule in inside] or [member]
    outside = {rule for f in members for rule in f.explained_by} - inside
    causes = [f for f in findings if f.rule in outside or (f.rule not in inside and inside & set(f.leads_to))]
    return min(causes or members, key=_when)


def began_by(node: Node) -> float | None:
    """By when a finding had begun: when it was first seen, or when what follows from it was, as far as it may have begun by then.

    A cause often needs longer to show itself than its effect: a rate over a minute, a share of many requests.
    """
    finding = node.finding
    if finding.onset is None or finding.onset_low is None:
        return finding.onset
    after = [by for child in node.follows if (by := began_by(child)) is not None and by >= finding.onset_low]
    return min([finding.onset, *after])


def seen_late(node: Node) -> float:
    """Seconds by which a finding was first seen surely after something that follows from it; 0 where their times overlap."""
    finding = node.finding
    begun = finding.onset if finding.onset_low is None else finding.onset_low
    first = min((by for child in node.follows if (by := began_by(child)) is not None), default=None)
    return 0.0 if begun is None or first is None else max(begun - first, 0.0)


def _when(finding: Finding) -> tuple[bool, float]:
    """Order in time; an unknown onset may have been before all data, and is put last since it proves nothing."""
    return finding.onset is None, finding.onset or 0.0


def _edges(findings: Sequence[Finding]) -> Edges:
    """What each finding leads to, in order of onset, said by either end of the link."""
    ordered = sorted(findings, key=_when)
    return {
        cause.rule: tuple(
            dict.fromkeys(
                f.rule for f in ordered if f.rule != cause.rule and (f.rule in cause.leads_to or cause.rule in f.explained_by)
            )
        )
        for cause in findings
    }


def _reduced(edges: Edges) -> Edges:
    """Without the links that a longer way says as well: of A to B, B to C and A to C the last."""
    return {cause: tuple(f for f in follows if not _is_shortcut(cause, f, follows, edges)) for cause, follows in edges.items()}


def _is_shortcut(cause: str, effect: str, follows: tuple[str, ...], edges: Edges) -> bool:
    """Another effect of the cause leads to this one; of two that lead to each other the earlier one stays."""
    for other in follows:
        if other == effect or effect not in _reached(other, edges, cause):
            continue
        mutual = other in _reached(effect, edges, cause)
        if not mutual or follows.index(other) < follows.index(effect):
            return True
    return False


def _reached(start: str, edges: Edges, avoid: str) -> set[str]:
    """Everything that follows from a finding, on ways that do not pass another one."""
    reached: set[str] = set()
    waiting = [start]
    while waiting:
        for rule in edges.get(waiting.pop(), ()):
            if rule != avoid and rule not in reached:
                reached.add(rule)
                waiting.append(rule)
    return reached


def _mechanism(above: Finding, rule: str) -> str:
    """How a finding brings about another, in one line."""
    because = above.because.get(rule, "")
    return because if len(because) <= _LONGEST_BECAUSE else ""


def _grown(rule: str, known: dict[str, Finding], edges: Edges, drawn: set[str], above: tuple[str, ...]) -> Node:
    """The tree below a finding; ``drawn`` collects what has a place already."""
    drawn.add(rule)
    path = (*above, rule)
    follows: list[Node] = []
    also: list[Finding] = []
    for effect in edges.get(rule, ()):
        if effect not in drawn:
            follows.append(_grown(effect, known, edges, drawn, path))
        elif effect not in path:
            also.append(known[effect])
    back = tuple(known[effect] for effect in edges.get(rule, ()) if effect in path)
    because = _mechanism(known[above[-1]], rule) if above else ""
    return Node(known[rule], because, tuple(follows), back, tuple(also))

"""The causal tree: every finding once, loops as loops, shortcuts left out."""

from hypothesis import given
from hypothesis import strategies as st

from tests.render.fixtures import incident
from triage.model.diagnosis import Finding, Role
from triage.render.chain import Node, began_by, seen_late, trees, trigger

BASE = incident().findings[0]


def finding(rule: str, role: Role, leads_to: tuple[str, ...] = (), onset: float | None = 0.0, **more: tuple[str, ...]) -> Finding:
    """A finding that has only its links."""
    return BASE.model_copy(
        update={"rule": rule, "role": role, "leads_to": leads_to, "onset": onset, "explained_by": (), "loop": (), **more}
    )


def drawn(node: Node) -> list[str]:
    """All kinds of a tree from the top."""
    return [node.finding.rule, *(rule for child in node.follows for rule in drawn(child))]


def test_a_chain_with_a_loop_is_a_tree_that_says_where_it_feeds_back() -> None:
    """The incident: lost prefixes fill the KV cache, retries follow and feed it again."""
    first, second = trees(incident().findings)
    assert drawn(first) == ["prefix-cache-collapse", "kv-exhaustion-preemption", "retry-storm"]
    assert drawn(second) == ["thermal-throttle"]
    retry = first.follows[0].follows[0]
    assert [target.rule for target in retry.back] == ["kv-exhaustion-preemption"]
    assert trigger(incident().findings, retry.finding).rule == "prefix-cache-collapse"


def test_a_link_says_how_one_follows_from_the_other_where_that_is_short() -> None:
    """A mechanism of one line stands in the tree; a long one, and none at all, leave it as it is."""
    (first, _) = trees(incident().findings)
    assert (first.because, first.follows[0].because) == ("", "shared blocks are held once for each request")
    a, b = finding("a", "root", ("b",)), finding("b", "consequence")
    told = a.model_copy(update={"because": {"b": "so " * 50}})
    assert [trees([cause, b])[0].follows[0].because for cause in (a, told)] == ["", ""]


def test_a_link_that_a_longer_way_says_is_left_out() -> None:
    """Of a to b, b to c and a to c the last is no news."""
    a, b, c = finding("a", "root", ("b", "c")), finding("b", "consequence", ("c",)), finding("c", "consequence")
    (tree,) = trees([a, b, c])
    assert [child.finding.rule for child in tree.follows] == ["b"]
    assert [child.finding.rule for child in tree.follows[0].follows] == ["c"]


def test_a_consequence_of_two_roots_is_drawn_once_and_named_twice() -> None:
    """The second root says that it leads there as well."""
    a, b, c = finding("a", "root", ("c",)), finding("b", "root", ("c",)), finding("c", "consequence")
    first, second = trees([a, b, c])
    assert drawn(first) == ["a", "c"]
    assert [other.rule for other in second.also] == ["c"]


def test_a_loop_without_a_cause_outside_began_with_its_first_member() -> None:
    """The trigger of two kinds that feed each other is the earlier one."""
    a = finding("a", "root", ("b",), 20.0, loop=("b",))
    b = finding("b", "consequence", ("a",), 10.0, loop=("a",))
    assert trigger([a, b], a).rule == "b"


RULES = ("a", "b", "c", "d", "e")
LINKS = st.lists(st.lists(st.sampled_from(RULES), max_size=4).map(tuple), min_size=5, max_size=5)
ROLES = st.lists(st.sampled_from(["root", "consequence"]), min_size=5, max_size=5)


@given(LINKS, ROLES)
def test_every_root_and_consequence_is_drawn_exactly_once(links: list[tuple[str, ...]], roles: list[Role]) -> None:
    """Whatever the graph, with loops and without a root, nobody is lost or drawn twice."""
    findings = [finding(rule, role, leads) for rule, role, leads in zip(RULES, roles, links, strict=True)]
    assert sorted(rule for tree in trees(findings) for rule in drawn(tree)) == list(RULES)


def test_a_cause_had_begun_by_when_its_effect_was_seen() -> None:
    """Where it may have begun by then; a cause that surely shows itself later says by how much."""
    effect = finding("b", "consequence", onset=100.0)
    cause = finding("a", "root", ("b",), onset=130.0)
    (wide,) = trees([cause.model_copy(update={"onset_low": 70.0}), effect])
    assert (began_by(wide), seen_late(wide)) == (100.0, 0.0)
    (narrow,) = trees([cause.model_copy(update={"onset_low": 115.0}), effect])
    assert (began_by(narrow), seen_late(narrow)) == (130.0, 15.0)
    (exact,) = trees([cause, effect])
    assert (began_by(exact), seen_late(exact)) == (130.0, 30.0)
    (unknown,) = trees([finding("a", "root", ("b",), onset=None), effect])
    assert (began_by(unknown), seen_late(unknown)) == (None, 0.0)

"""Ranking: which finding is the cause of which, and in what order people read them."""

import random
from collections.abc import Mapping
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from triage.engine.explanation.rank import SLACK, Candidate, Place, rank
from triage.model.diagnosis import Severity


def kind(name: str, leads_to: str = "", onset: float | None = 0.0, severity: Severity = "warning", proof: int = 1) -> Candidate:
    """A present kind; what it leads to is set apart by spaces."""
    return Candidate(name, severity, proof, onset, frozenset(leads_to.split()))


def ranked(*candidates: Candidate, bridges: Mapping[str, str] | None = None) -> list[Place]:
    """Their places."""
    return rank(candidates, {name: frozenset(to.split()) for name, to in (bridges or {}).items()})


def roots(*candidates: Candidate, bridges: Mapping[str, str] | None = None) -> list[str]:
    """The roots in their order."""
    return [place.candidate.rule for place in ranked(*candidates, bridges=bridges) if place.root]


def test_a_chain_has_one_root() -> None:
    """The quiet cause is first, the loud symptom last, whatever their severities."""
    places = ranked(
        kind("storm", onset=300, severity="critical"), kind("cause", "middle", onset=0), kind("middle", "storm", onset=200)
    )
    assert [place.candidate.rule for place in places if place.root] == ["cause"]
    assert places[0].candidate.rule == "cause"
    by_name = {place.candidate.rule: place for place in places}
    assert (by_name["middle"].explained_by, by_name["middle"].explains) == (["cause"], ["storm"])


def test_two_independent_causes_are_two_roots() -> None:
    """Neither explains the other, so both are told; the graver one first."""
    assert roots(kind("a"), kind("b", severity="critical")) == ["b", "a"]


def test_a_bystander_stands_behind_what_users_may_suffer_from() -> None:
    """An instrument that surely fails is not why users wait, however weak the proof of the other; unless it explains it."""
    asleep = replace(kind("frozen", proof=2), bystander=True)
    full = kind("full", severity="critical", proof=0)
    assert roots(asleep, full) == ["full", "frozen"]
    assert roots(replace(asleep, leads_to=frozenset({"full"})), full) == ["frozen"]
    blind = replace(asleep, leads_to=frozenset({"misled"}))
    assert roots(blind, full, kind("misled")) == ["frozen", "full"]


def test_a_guess_does_not_settle_which_of_two_look_alikes_it_is() -> None:
    """Over an unseen kind one would explain the other; where one is known to lead to the other it does."""
    one, other = kind("long-prompts", "unseen"), kind("cache-full", onset=10)
    assert roots(one, other, bridges={"unseen": "cache-full"}) == ["long-prompts"]
    rivals = replace(one, rivals=frozenset({"cache-full"}))
    assert roots(rivals, other, bridges={"unseen": "cache-full"}) == ["long-prompts", "cache-full"]
    assert roots(replace(rivals, leads_to=frozenset({"cache-full"})), other) == ["long-prompts"]


def test_a_mere_note_takes_no_root_from_what_is_worth_a_warning() -> None:
    """Nobody is told of a change by which nobody is harmed; what it set off is told all the same, unless it is a mere effect."""
    note, failed = kind("change", "failed", severity="info"), kind("failed", proof=2)
    assert roots(note, failed) == ["failed", "change"]
    assert roots(note, replace(failed, effect=True)) == ["change"]
    assert roots(replace(note, severity="warning"), failed) == ["change"]


def test_what_is_only_possible_takes_no_root_from_what_is_proven() -> None:
    """A guess explains no proof away; a likely cause does, and a mere effect wants a cause however well it is proven."""
    shown = kind("shown", proof=2)
    assert roots(kind("guess", "shown", proof=0), shown) == ["shown", "guess"]
    assert roots(kind("likely", "shown"), shown) == ["likely"]
    assert roots(kind("guess", "shown", proof=0), replace(shown, effect=True)) == ["guess"]


def test_an_effect_that_is_only_possible_explains_nothing_likely_that_was_seen_before_it() -> None:
    effect = replace(kind("a", "b", onset=30.0, proof=0), effect=True)
    likely = kind("b", onset=0.0)
    assert roots(effect, likely) == ["b", "a"]
    assert roots(effect, replace(likely, onset=31.0)) == ["a"]
    assert roots(effect, replace(likely, onset=25.0)) == ["a"]
    assert roots(kind("c", "a", onset=20.0), effect, likely) == ["c"]


def test_an_effect_explains_nothing_likely_of_which_a_sign_is_as_old() -> None:
    """All were gone, which may be a death; all came back together, which is more."""
    effect = replace(kind("a", "b", onset=0.0, proof=0), effect=True)
    assert roots(effect, replace(kind("b", onset=1000.0), sign=0.0)) == ["b", "a"]
    assert roots(effect, replace(kind("b", onset=1000.0), sign=500.0)) == ["a"]
    assert roots(kind("c", "a", onset=0.0), effect, replace(kind("b", onset=1000.0), sign=0.0)) == ["c"]


def test_what_came_after_the_harm_and_went_before_it_stands_behind_its_equals() -> None:
    passing = replace(kind("a", severity="critical"), passing=True)
    assert roots(passing, kind("b")) == ["b", "a"]
    assert roots(passing, kind("b", proof=0)) == ["a", "b"]
    assert roots(replace(passing, sustains=True), kind("b")) == ["a", "b"]


def test_what_has_no_name_stands_behind_what_has_one() -> None:
    nameless = replace(kind("a"), otherwise=True)
    assert roots(nameless, kind("b", proof=0)) == ["b", "a"]
    assert roots(kind("a"), kind("b", proof=0)) == ["a", "b"]


def test_a_consequence_cannot_come_long_before_its_cause() -> None:
    """What began ten minutes earlier was not caused by it: both are roots."""
    assert roots(kind("late", "early", onset=600), kind("early", onset=0)) == ["early", "late"]


def test_scrapes_do_not_fall_together() -> None:
    """A symptom seen up to the slack before its cause is still its consequence; later it is not."""
    assert roots(kind("cause", "effect", onset=SLACK), kind("effect", onset=0)) == ["cause"]
    assert roots(kind("cause", "effect", onset=SLACK + 1), kind("effect", onset=0)) == ["effect", "cause"]


def test_an_unknown_onset_contradicts_nothing() -> None:
    """What was there before all data can be the cause of anything, and a consequence of unknown age of anything."""
    assert roots(kind("cause", "effect", onset=None), kind("effect", onset=0)) == ["cause"]
    assert roots(kind("cause", "effect", onset=900), kind("effect", onset=None)) == ["cause"]


def test_a_loop_has_the_trigger_that_was_first() -> None:
    """Queue and retries feed each other; the one that began clearly earlier is the root, the other names it in its loop."""
    places = ranked(kind("retries", "queue", onset=600), kind("queue", "retries", onset=0))
    assert [place.root for place in places] == [True, False]
    assert [place.candidate.rule for place in places] == ["queue", "retries"]
    assert [place.loop for place in places] == [["retries"], ["queue"]]


def test_a_loop_that_something_outside_explains_has_no_root_in_it() -> None:
    """A bad release starts the loop: it alone is the root."""
    loop = (kind("retries", "queue", onset=120), kind("queue", "retries", onset=60))
    assert roots(kind("release", "queue", onset=0), *loop) == ["release"]


def test_a_loop_that_feeds_itself_outlives_what_set_it_off() -> None:
    """The release was taken back and the retries go on: they are the root now. While it is there it explains them."""
    loop = (replace(kind("retries", "queue", onset=90), sustains=True), kind("queue", "retries", onset=60))
    over = replace(kind("release", "queue", onset=0), until=300.0)
    assert set(roots(over, *loop)) == {"release", "retries"}
    assert roots(replace(over, until=None), *loop) == ["release"]
    assert roots(over, *loop[1:]) == ["release"]


def test_of_a_simultaneous_loop_the_more_telling_evidence_is_the_trigger() -> None:
    """Onsets within the slack count as one; then what its evidence proves, then the name."""
    assert roots(kind("a", "b", onset=10, proof=0), kind("b", "a", onset=20, proof=2)) == ["b"]
    assert roots(kind("b", "a", onset=20), kind("a", "b", onset=10)) == ["a"]


def test_a_chain_may_pass_through_what_could_not_be_judged() -> None:
    """Between cause and effect lies a kind whose signals are missing; if it was ruled out the chain is broken."""
    cause, effect = kind("cause", "unseen"), kind("effect", onset=60)
    assert roots(cause, effect, bridges={"unseen": "effect"}) == ["cause"]
    assert sorted(roots(cause, effect)) == ["cause", "effect"]


def test_a_bridge_does_not_turn_a_known_arrow_round() -> None:
    """That b leads to a is known; that a leads to b over something unseen is a guess and gives way."""
    assert roots(kind("a", "unseen"), kind("b", "a"), bridges={"unseen": "b"}) == ["b"]


def test_order_among_roots() -> None:
    """By severity, then by what the evidence proves, then by how much each explains, then by onset, then by name."""
    assert roots(kind("a", severity="info"), kind("b", severity="critical"), kind("c")) == ["b", "c", "a"]
    assert roots(kind("a", proof=0), kind("b", proof=2)) == ["b", "a"]
    assert roots(kind("a"), kind("b", "c d"), kind("c", onset=9), kind("d", onset=9)) == ["b", "a"]
    assert roots(kind("a", onset=500), kind("b", onset=0)) == ["b", "a"]
    assert roots(kind("b"), kind("a")) == ["a", "b"]


def test_nothing_present_is_no_ranking() -> None:
    """No finding, no root."""
    assert ranked() == []


NAMES = "abcdef"
CANDIDATES = st.lists(
    st.builds(
        Candidate,
        st.sampled_from(NAMES),
        st.sampled_from(["info", "warning", "critical"]),
        st.integers(1, 3),
        st.none() | st.floats(0, 3000),
        st.frozensets(st.sampled_from(NAMES + "xy"), max_size=4),
    ),
    max_size=6,
    unique_by=lambda candidate: candidate.rule,
)
BRIDGES = st.dictionaries(st.sampled_from("xy"), st.frozensets(st.sampled_from(NAMES), max_size=3), max_size=2)


@given(CANDIDATES, BRIDGES, st.randoms(use_true_random=False))
def test_the_order_of_the_rules_does_not_matter(
    candidates: list[Candidate], bridges: dict[str, frozenset[str]], shuffler: random.Random
) -> None:
    """The same findings in another order get the same places."""
    shuffled = candidates.copy()
    shuffler.shuffle(shuffled)
    first = [(p.candidate.rule, p.root, sorted(p.explains), sorted(p.explained_by), p.loop) for p in rank(candidates, bridges)]
    second = [(p.candidate.rule, p.root, sorted(p.explains), sorted(p.explained_by), p.loop) for p in rank(shuffled, bridges)]
    assert first == second


@given(CANDIDATES, BRIDGES)
def test_there_is_always_a_root_and_every_other_finding_is_explained(
    candidates: list[Candidate], bridges: dict[str, frozenset[str]]
) -> None:
    """Roots come first, something is the root, and what is no root is explained by a finding or is in a loop."""
    places = rank(candidates, bridges)
    assert sorted(place.candidate.rule for place in places) == sorted(candidate.rule for candidate in candidates)
    assert not candidates or places[0].root
    is_root = [place.root for place in places]
    assert is_root == sorted(is_root, reverse=True)
    for place in places:
        assert place.root or place.explained_by
        assert not place.root or place.loop or not place.explained_by


def test_a_long_chain_is_no_trouble() -> None:
    """Users' rules may be many."""
    chain = [kind(f"k{i:03}", f"k{i + 1:03}", onset=float(i)) for i in range(200)]
    assert roots(*chain) == ["k000"]


def test_a_mechanism_is_told_before_the_change_that_set_it_off() -> None:
    """One story: what went wrong first, then who set it off; not a mechanism that is only possible or was there long before."""
    change = replace(kind("change", onset=100.0, proof=2), trigger=True)
    for proof, onset, expected in ((1, 130.0, ["leak", "change"]), (0, 130.0, ["change", "leak"]), (1, 0.0, ["change", "leak"])):
        leak = replace(kind("leak", onset=onset, proof=proof), mechanism=True)
        assert roots(change, leak) == expected


def test_a_trigger_explains_only_what_it_is_known_to_lead_to() -> None:
    """Over something unseen a change could explain everything: what went wrong stays a root beside it."""
    change, leak = kind("change", "unseen"), kind("leak", onset=60)
    assert roots(change, leak, bridges={"unseen": "leak"}) == ["change"]
    assert roots(replace(change, trigger=True), leak, bridges={"unseen": "leak"}) == ["change", "leak"]


def test_within_the_slack_what_is_mostly_the_cause_set_off_a_loop() -> None:
    """Times that close have no order: the arrow that only closes the loop does not make a trigger."""
    hit = kind("hit", "waits", onset=0.5, proof=2)
    waits = replace(kind("waits", "hit", onset=0, proof=2), feeds=frozenset({"hit"}))
    assert roots(hit, waits) == ["hit"]
    assert roots(replace(hit, onset=SLACK + 1), waits) == ["waits"]


def test_a_mechanism_is_told_before_the_change_that_leads_to_it() -> None:
    """Also where the change explains it and nothing else does; what a third thing explains is a consequence."""
    change = replace(kind("change", "cut"), trigger=True)
    cut = replace(kind("cut"), mechanism=True)
    assert roots(change, cut) == ["cut", "change"]
    assert roots(change, replace(cut, proof=0)) == ["change"]
    assert "cut" not in roots(change, cut, kind("third", "cut"))

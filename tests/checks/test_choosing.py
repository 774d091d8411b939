"""Which services a check is about."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.checks.choosing import INDEX, Shard, chosen, shard_of
from triage.errors import UsageError
from triage.model.service import Service

SERVICES = {
    name: Service(name=name, tags=tags, labels=labels)
    for name, tags, labels in (
        ("chat-eu", {"team": "web", "tier": "1"}, {"namespace": "eu"}),
        ("chat-us", {"team": "web"}, {"namespace": "us"}),
        ("search", {"team": "find"}, {}),
        ("a*b", {}, {}),
    )
}


def names(*words: str, labels: tuple[str, ...] = ()) -> list[str]:
    return [one.name for one in chosen(SERVICES, words, labels)]


def test_services_are_chosen_by_name_pattern_and_label() -> None:
    """In the order of their names, each once; a name that looks like a pattern is that name, too."""
    assert names() == ["a*b", "chat-eu", "chat-us", "search"]
    assert names("search", "chat-*", "chat-eu") == ["chat-eu", "chat-us", "search"]
    assert names("a*b") == ["a*b"]
    assert names("*[!b]") == ["chat-eu", "chat-us", "search"]
    assert names(labels=("team=web",)) == ["chat-eu", "chat-us"]
    assert names(labels=("team=web", "namespace=e?")) == ["chat-eu"]
    assert names("chat-us", labels=("team=*",)) == ["chat-us"]


@pytest.mark.parametrize(
    ("words", "labels", "told", "hint"),
    [
        (("chat-ue",), (), "no service is called 'chat-ue'", "did you mean"),
        (("chat-*", "nobody-*"), (), "no service is called 'nobody-*'", "known services: a*b, chat-eu, chat-us, search"),
        ((), ("team=nobody",), "no service bears team=nobody", "there are: team=find, team=web"),
        ((), ("owner=me",), "no service bears owner=me", "there are: namespace, team, tier"),
        (("search",), ("team=web", "tier=1"), "no service bears team=web and tier=1", "there are: team=find"),
        ((), ("web",), "'web' is no label", "write KEY=VALUE"),
    ],
)
def test_what_fits_none_is_refused(words: tuple[str, ...], labels: tuple[str, ...], told: str, hint: str) -> None:
    """With what there is instead; a check of nothing would be well for ever."""
    with pytest.raises(UsageError) as caught:
        chosen(SERVICES, words, labels)
    assert caught.value.message == told
    assert hint in caught.value.hint


@given(st.lists(st.text(), unique=True), st.integers(1, 20))
def test_shares_hold_each_service_once(services: list[str], count: int) -> None:
    """Whatever they are called."""
    shares = [{name for name in services if Shard(index, count).holds(name)} for index in range(count)]
    assert sum(map(len, shares)) == len(services)
    assert set[str]().union(*shares) == set(services)


def test_a_share_does_not_move() -> None:
    """Neither from run to run nor between machines, and shares are about even."""
    assert [Shard(index, 3).holds("llm-prod") for index in range(3)] == [False, True, False]
    sizes = [sum(Shard(index, 4).holds(f"service-{number}") for number in range(1000)) for index in range(4)]
    assert sum(sizes) == 1000
    assert min(sizes) > 200


def test_a_share_is_named_or_that_of_an_indexed_job() -> None:
    """What is named goes before what Kubernetes says."""
    assert shard_of("1/4", {}) == Shard(1, 4)
    assert shard_of("4", {INDEX: "3"}) == Shard(3, 4)
    assert shard_of("0/4", {INDEX: "3"}) == Shard(0, 4)


@pytest.mark.parametrize(
    ("text", "environ", "told"),
    [
        ("4/4", {}, "there is no share 4/4"),
        ("0/0", {}, "'0/0' is no share"),
        ("half", {}, "'half' is no share"),
        ("-1/4", {}, "'-1/4' is no share"),
        ("4", {}, "there is no $JOB_COMPLETION_INDEX"),
        ("4", {INDEX: "x"}, "$JOB_COMPLETION_INDEX is 'x'"),
        ("4", {INDEX: "4"}, "there is no share 4/4"),
    ],
)
def test_what_is_no_share_is_refused(text: str, environ: dict[str, str], told: str) -> None:
    with pytest.raises(UsageError) as caught:
        shard_of(text, environ)
    assert told in caught.value.message
    assert caught.value.hint

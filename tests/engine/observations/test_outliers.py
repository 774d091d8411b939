"""The one dimension that splits a symptom."""

from collections.abc import Mapping

from tests.engine.making import Shift, derived
from triage.engine.observations.outliers import outliers
from triage.model.observation import Observation
from triage.model.vocabulary import Scope


def split(
    failing: str, facts: Mapping[str, str | float] | None = None, names: str = "abcd", share: float = 0.4
) -> list[Observation]:
    signals: dict[str, object] = {f"backend.requests@replica/{name}": 1.0 for name in names}
    signals |= {f"backend.failures@replica/{name}": share if name in failing else 0.0 for name in names}
    return [one for one in outliers(derived(signals, facts=facts or {})).odd if one.of == "failures"]


def test_one_replica_that_fails_is_named() -> None:
    (one,) = split("b")
    assert (one.subject.id, one.attrs["dimension"], one.attrs["members"], one.attrs["share"]) == ("b", "replica", "1 of 4", "1")
    assert one.attrs["follows"] == "unknown"
    assert one.salient


def test_two_that_fail_on_one_node_are_told_by_the_node() -> None:
    facts = {f"node@replica/{name}": "n1" if name in "ab" else "n2" for name in "abcd"}
    facts |= {f"image@replica/{name}": "v2" if name in "ac" else "v1" for name in "abcd"}
    (one,) = split("ab", facts)
    assert (one.subject, one.attrs["dimension"], one.attrs["follows"]) == ((Scope.NODE, "n1"), "node", "yes")


def test_most_of_them_may_be_the_bad_ones() -> None:
    facts = {f"image@replica/{name}": "v1" if name == "d" else "v2" for name in "abcd"}
    (one,) = split("abc", facts)
    assert (one.attrs["dimension"], one.attrs["value"], one.subject.scope) == ("version", "v2", Scope.SERVICE)


def test_a_setting_that_only_the_bad_one_has_is_a_rival() -> None:
    facts = {f"max_num_seqs@replica/{name}": 8.0 if name == "b" else 256.0 for name in "abcd"}
    found = split("b", facts)
    assert [one.attrs["dimension"] for one in found] == ["replica", "setting:max_num_seqs"]
    assert found[0].attrs["rivals"] == "setting:max_num_seqs"


def test_another_version_is_one_difference_under_whatever_names() -> None:
    """Its image, its digest and its revision are no rivals of it."""
    facts = {f"image@replica/{name}": "v2" if name in "ab" else "v1" for name in "abcd"}
    for key in ("image_digest", "created_by_name", "engine_version"):
        facts |= {f"{key}@replica/{name}": f"{key}-new" if name in "ab" else f"{key}-old" for name in "abcd"}
    (one,) = split("ab", facts)
    assert (one.attrs["dimension"], one.attrs["rivals"]) == ("version", "")


def test_where_all_fail_nothing_splits_it_and_that_is_known() -> None:
    assert not split("abcd")
    signals: dict[str, object] = {f"backend.requests@replica/{name}": 1.0 for name in "ab"}
    seen = outliers(derived({**signals, "backend.failures@replica/a": 0.0}))
    assert seen.could_tell("outlier", ["failures"], Scope.REPLICA)
    assert not seen.could_tell("outlier", ["latency.ttft"], None)


def test_a_few_failures_of_many_requests_split_nothing() -> None:
    assert not split("b", share=0.005)


def test_a_replica_with_more_work_may_be_slower() -> None:
    alone: dict[str, object] = {f"batch.running@replica/{name}": 16.0 for name in "abc"}
    alone |= {f"tokens.generation@replica/{name}": 100.0 if name == "a" else 200.0 for name in "abc"}
    busy = alone | {"batch.running@replica/a": 64.0, "tokens.generation@replica/a": 400.0}
    assert [one.subject.id for one in outliers(derived(alone)).odd if one.of == "token.time"] == ["a"]
    assert not [one for one in outliers(derived(busy)).odd if one.of == "token.time"]


def test_nothing_is_said_of_too_few_requests() -> None:
    signals = {"backend.requests@replica/a": Shift(1.0, 0.001), "backend.requests@replica/b": Shift(1.0, 0.001)}
    assert not outliers(derived(signals)).judged

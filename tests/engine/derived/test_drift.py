"""Settings that did not arrive, images that differ under one name."""

import pytest

from tests.engine.making import BEGIN, at, derived
from triage.engine.frame import Frame
from triage.model.recording import Event

TWINS = {f"created_by_name@replica/{name}": "svc-1" for name in "abc"} | {
    f"image@replica/{name}": "reg/vllm:stable" for name in "abc"
}


def drifts(frame: Frame) -> list[Event]:
    """The events of drift."""
    return [event for event in frame.recording.events if event.kind == "drift"]


def test_a_declared_setting_that_did_not_arrive() -> None:
    """The fact of the replica differs from that of the service; what began in the recording is fresh."""
    frame = derived(
        {"process.start_time@replica/a": BEGIN + 500.0},
        facts={"max_num_seqs": 96.0, "max_num_seqs@replica/a": 16.0, "max_model_len": 8192.0, "max_model_len@replica/a": 8192.0},
    )
    (event,) = drifts(frame)
    assert (event.name, event.attrs["fresh"], event.attrs["declared"]) == ("max_num_seqs", "yes", "96")


def test_what_drifted_long_ago_is_not_fresh() -> None:
    """It still holds, but it is not what changed."""
    facts = {"max_num_seqs": 96.0, "max_num_seqs@replica/a": 16.0}
    (event,) = drifts(derived({"process.start_time@replica/a": BEGIN - 9000.0}, facts=facts))
    assert (event.attrs["fresh"], event.time) == ("no", BEGIN)


def test_a_setting_that_a_change_speaks_of_is_wanted() -> None:
    """Somebody raised it, and the declared facts are the old ones."""
    change = Event(BEGIN + 300.0, "config", "r2", None, {"service": "svc"}, "max_model_len 8192 -> 32768", "changes")
    facts = {"max_model_len": 8192.0, "max_model_len@replica/a": 32768.0}
    assert not drifts(derived({"kv.usage": 0.5}, facts=facts, events=[change]))


@pytest.mark.parametrize(
    ("declared", "found"), [("auto", "fp8"), (0.9, 0.9001), ("/models/m", "/mnt/models/m"), ("True", "true")]
)
def test_values_that_mean_the_same(declared: str | float, found: str | float) -> None:
    """Rounding, spelling, the folder of a model, and what is left to the engine."""
    assert not drifts(derived({"kv.usage": 0.5}, facts={"kv_cache_dtype": declared, "kv_cache_dtype@replica/a": found}))


def test_one_of_three_twins_differs() -> None:
    """The majority of those that the same hand made of the same image is what should be."""
    facts = TWINS | {f"gpu_memory_utilization@replica/{name}": value for name, value in zip("abc", (0.9, 0.9, 0.58), strict=True)}
    (event,) = drifts(derived({f"kv.usage@replica/{name}": 0.5 for name in "abc"}, facts=facts))
    assert event.subject is not None
    assert (event.name, event.subject.id, event.attrs["peers"]) == ("gpu_memory_utilization", "c", "0.9")


def test_twins_by_the_template_of_their_pods() -> None:
    """Where nobody tells who made them, pods of one template are to be equal; those of another are another version."""
    values = {f"max_num_seqs@replica/{name}": value for name, value in zip("abcd", (64.0, 64.0, 8.0, 16.0), strict=True)}
    facts = values | {f"release@replica/{name}": "7b9d5c6f8" for name in "abc"} | {"release@replica/d": "5c6f87b9d"}
    (event,) = drifts(derived({f"kv.usage@replica/{name}": 0.5 for name in "abcd"}, facts=facts))
    assert event.subject is not None
    assert (event.name, event.subject.id, event.attrs["peers"]) == ("max_num_seqs", "c", "64")


def test_one_tag_with_two_digests() -> None:
    """Only under one name and of one maker; versions of different names may differ."""
    digests = {f"image_id@replica/{name}": f"vllm@sha256:{value}" for name, value in zip("abc", ("11", "11", "22"), strict=True)}
    signals = {f"kv.usage@replica/{name}": 0.5 for name in "abc"}
    (event,) = drifts(derived(signals, facts=TWINS | digests))
    assert (event.name, event.text) == ("image_id", "c runs 22 and others 11 under the one name vllm:stable")
    assert not drifts(derived(signals, facts=TWINS | digests | {"image@replica/c": "reg/vllm:v2"}))
    assert not drifts(derived(signals, facts=TWINS | digests | {"created_by_name@replica/c": "svc-2"}))


def test_an_inventory_tells_digests_where_no_fact_does() -> None:
    """Pods of others in it do not count."""
    lines = at(
        10.0,
        "log",
        "image-inventory",
        text="tag=stable: a=aaaaaaaaaaaa b=aaaaaaaaaaaa c=bbbbbbbbbbbb x=cccccccccccc",
        tag="stable",
    )
    frame = derived({f"kv.usage@replica/{name}": 0.5 for name in "abc"}, events=[lines])
    assert [event.subject.id for event in drifts(frame) if event.subject] == ["c"]


@pytest.mark.parametrize(("sources", "found"), [(["changes"], ["max_num_seqs"]), ([], [])])
def test_a_restart_that_changed_a_setting_by_itself(sources: list[str], found: list[str]) -> None:
    """Only where changes are on record, and none of the service's is."""
    start = at(60.0, "engine-args", "/models/m", subject="replica/a", changed="max_num_seqs 96 -> 16, dtype auto -> default")
    frame = derived({"kv.usage": 0.5}, events=[start], sources=sources)
    assert [event.name for event in drifts(frame)] == found
    change = Event(BEGIN, "deploy", "v2", None, {"service": "svc"}, "", "changes")
    assert not drifts(derived({"kv.usage": 0.5}, events=[start, change], sources=sources))

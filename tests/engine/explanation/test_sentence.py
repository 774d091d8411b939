"""Findings in one sentence: figures, phrases, words by number, and what is left out."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.making import Buckets, Shift, answered, at, frame_of, make_recording, rule, who
from triage.engine.diagnose import diagnose
from triage.engine.explanation.called import Called
from triage.engine.explanation.sentence import clock, sentence
from triage.model.sentence import LONGEST, filled, parts_of


def told(finding: str, condition: Mapping[str, object], signals: Mapping[str, object], count: int = 1, **more: object) -> str:
    """A rule's sentence over a frame."""
    one = rule("x", condition, finding=finding)
    frame = frame_of(signals, **more)
    answer = answered(frame, one)
    subjects = [who("replica/a"), *(who(f"replica/{number}") for number in range(1, count))]
    return sentence(one, answer, subjects, None, Called(frame.recording))


@pytest.mark.parametrize(
    ("condition", "signals", "words"),
    [
        ({"signal": "kv.usage", "above": 0.5, "as": "it"}, {"kv.usage": 0.97}, "It is 97 %"),
        ({"signal": "kv.capacity", "above": 5, "as": "it"}, {"kv.capacity": 434560}, "It is 435k tokens"),
        ({"signal": "preemptions", "above": 0, "as": "it"}, {"preemptions": 0.5}, "It is 0.5 requests/s"),
        ({"signal": "kv.usage", "above": 0.5, "as": "it"}, {}, "It is an unknown value"),
        ({"signal": "kv.usage", "above": 0.5, "as": "it"}, {"kv.usage": 0.2}, "It is an unknown value"),
        ({"signal": "kv.usage", "above": 0.5}, {"kv.usage": 0.97}, "It is an unknown value"),
    ],
)
def test_values_have_units_a_person_thinks_in(condition: dict[str, object], signals: dict[str, object], words: str) -> None:
    """Ratios in per cent, rates per second; what nobody measured or named, and what does not hold, is not told."""
    assert told("it is {it}", condition, signals) == words


HELD = "KV cache in use above 50 % for 10 min"


@pytest.mark.parametrize(
    ("condition", "signals", "words"),
    [
        ({"signal": "kv.usage", "above": 0.5, "lasting": 60, "as": "it"}, {"kv.usage": 0.97}, HELD),
        ({"signal": "gpu.remap_pending", "stat": "max", "above": 0, "as": "it"}, {"gpu.remap_pending": 1}, "row remap pending"),
        ({"signal": "pod.ready", "stat": "max", "below": 1, "as": "it"}, {"pod.ready": 0}, "no pod ready"),
        ({"any": [{"signal": "kv.usage", "above": 0.5, "as": "it"}, {"event": "log", "at_least": 1, "as": "it"}]},
         {"kv.usage": Shift(0.4, 0.97)}, "KV cache in use 97 %, usually 40 %"),
    ],
)  # fmt: skip
def test_what_may_be_of_several_sorts_is_told_with_its_noun(condition: object, signals: dict[str, object], words: str) -> None:
    """A bare figure would not say what it counts."""
    assert told("full[ ({it})]", condition, signals) == f"Full ({words})"  # type: ignore[arg-type]


def test_a_quantile_beyond_the_last_bucket_reads_as_at_least() -> None:
    """Nobody knows more."""
    slow = {"latency.ttft": Buckets((1, 5), (0, 0, 3))}
    condition = {"signal": "latency.ttft", "stat": "p95", "above": 2, "as": "it"}
    assert told("{it}", condition, {}, histograms=slow) == "At least 5 s"


def test_a_line_is_told_by_what_it_means_and_the_values_taken_out_of_it() -> None:
    """Never as it was written."""
    log = {"event": "log", "at_least": 1, "as": "it"}
    attrs = {"meaning": "The card had no memory left for an allocation. More follows.", "requested": "2.4 GiB", "free": "1.1 GiB"}
    line = at(5, "log", "cuda-oom", text="[rank0]: torch.OutOfMemoryError: CUDA out of memory", **attrs)
    words = "the card had no memory left for an allocation, 2.4 GiB asked for, 1.1 GiB free"
    assert told("It ran out[ ({it})]", log, {}, events=[line]) == f"It ran out ({words})"
    long = f"It ran out of {'very ' * 10}much card memory while it served[ ({{it}})]"
    assert told(long, log, {}, events=[line]).endswith(" (2.4 GiB asked for)")


def test_an_xid_is_told_by_code_meaning_and_place() -> None:
    attrs = {"meaning": "off the bus", "pci": "PCI:0000:52:00"}
    xid = {"event": "xid", "at_least": 1, "as": "it"}
    assert told("gone[ ({it})]", xid, {}, events=[at(5, "xid", "79", **attrs)]) == "Gone (Xid 79, off the bus, PCI 0000:52:00)"


@pytest.mark.parametrize("value", ['Pod "x" {a: 1}', "3f1f0c52-7c1b-4c58-9a1d-52bb6f6f1a77", "\x1b[31m", "x" * 80])
def test_a_value_that_is_a_piece_of_a_line_or_an_id_is_not_told(value: str) -> None:
    """Braces, escapes and UUIDs read as noise, and may be hostile."""
    line = at(5, "log", "x", meaning="It failed.", address=value)
    assert told("off[ ({it})]", {"event": "log", "at_least": 1, "as": "it"}, {}, events=[line]) == "Off (it failed)"


@pytest.mark.parametrize(("count", "words"), [(1, "Replica a is full and waits"), (3, "Replica a and 2 more are full and wait")])
def test_words_follow_the_number_of_subjects(count: int, words: str) -> None:
    assert (
        told("{subject} {is|are} full and {waits|wait}", {"signal": "kv.usage", "above": 0.5}, {"kv.usage": 0.97}, count) == words
    )


def test_what_is_not_known_is_left_out() -> None:
    """The rest stands without it."""
    assert told("full[ ({it})], and slow", {"signal": "kv.usage", "above": 0.5}, {"kv.usage": 0.97}) == "Full, and slow"


@given(st.text(st.characters(codec="utf-8", exclude_characters="[]{}\n"), max_size=300))
def test_a_name_however_long_leaves_a_sentence_of_its_length(name: str) -> None:
    """The name loses its middle, and the sentence its figures."""
    one = rule(
        "x", {"signal": "kv.usage", "above": 0.5, "as": "it"}, finding="The KV cache of {subject} is full since {onset}[ ({it})]."
    )
    frame = frame_of({"kv.usage": 0.97})
    answer = answered(frame, one)
    text = sentence(one, answer, [who(f"replica/{name}")], 0.0, Called(frame.recording))
    assert len(text) <= LONGEST
    assert text.startswith("The KV cache of replica")


@pytest.mark.parametrize("template", ["a [b", "a ]", "{a", "a}", "[a [b] c]"])
def test_a_template_that_cannot_be_read_is_refused(template: str) -> None:
    with pytest.raises(ValueError, match="open or closed"):
        parts_of(template)


def test_a_template_falls_into_its_parts() -> None:
    assert [tuple(part) for part in parts_of("a {b}[ ({c})] d")] == [("a {b}", False), (" ({c})", True), (" d", False)]
    assert filled("{is|are} {n}", {"n": "3"}, 2) == "are 3"


def test_a_moment_is_told_in_utc() -> None:
    """An unknown one was before the recording."""
    assert clock(1_760_000_415.0) == "09:00:15"
    assert clock(None) == "before the recording"
    one = rule("x", {"signal": "kv.usage", "above": 0.5}, finding="{subject} ended at {onset}.")
    (finding,) = diagnose(make_recording({"kv.usage": 0.97}), [one]).findings
    assert finding.summary == "Replica a ended before the recording."


def test_numbers_of_sentences_come_from_the_window() -> None:
    """And not from the time before it."""
    condition = {"signal": "kv.usage", "above": {"baseline": 1.5}, "as": "it"}
    assert told("{it}", condition, {"kv.usage": Shift(0.4, 0.8)}) == "80 %"

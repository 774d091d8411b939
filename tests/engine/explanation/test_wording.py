"""Sentences, headlines and the lines to check by hand."""

from collections.abc import Mapping

import pytest

from tests.engine.making import Buckets, Shift, at, frame_of, make_recording, rule, who
from triage.engine.diagnose import diagnose
from triage.engine.explanation.wording import check_lines, clock, sentence
from triage.engine.rules.evaluate import answer_of
from triage.model.diagnosis import Evidence, Verdict


def told(finding: str, condition: Mapping[str, object], signals: Mapping[str, object], **more: object) -> str:
    """A rule's sentence over a frame."""
    one = rule("x", condition, finding=finding)
    answer = answer_of(frame_of(signals, **more), one, who("replica/a"), 0)
    return sentence(one, answer, None, 1)


@pytest.mark.parametrize(
    ("condition", "signals", "words"),
    [
        ({"signal": "kv.usage", "above": 0.5, "as": "it"}, {"kv.usage": 0.97}, "it is 97 %"),
        ({"signal": "kv.capacity", "above": 5, "as": "it"}, {"kv.capacity": 434560}, "it is 435k tokens"),
        ({"signal": "preemptions", "above": 0, "as": "it"}, {"preemptions": 0.5}, "it is 0.5 requests/s"),
        ({"signal": "kv.usage", "above": 0.5, "lasting": 60, "as": "it"}, {"kv.usage": 0.97}, "it is for 10 min"),
        ({"signal": "kv.usage", "above": 0.5, "as": "it"}, {}, "it is an unknown value"),
        ({"signal": "kv.usage", "above": 0.5}, {"kv.usage": 0.97}, "it is an unknown value"),
    ],
)
def test_values_have_units_a_person_thinks_in(condition: dict[str, object], signals: dict[str, object], words: str) -> None:
    """Ratios in per cent, rates per second, spans in minutes; what nobody measured or named reads as such."""
    assert told("it is {it}", condition, signals) == words


def test_a_quantile_beyond_the_last_bucket_reads_as_at_least() -> None:
    """Nobody knows more."""
    slow = {"latency.ttft": Buckets((1, 5), (0, 0, 3))}
    condition = {"signal": "latency.ttft", "stat": "p95", "above": 2, "as": "it"}
    assert told("{it}", condition, {}, histograms=slow) == "at least 5 s"


def test_an_event_reads_as_its_line_and_a_number_without_one() -> None:
    """A log line as it was written; a change with its kind; without text the count."""
    log = {"event": "log", "at_least": 1, "as": "it"}
    assert told("{it}", log, {}, events=[at(5, "log", "cuda-oom", text="CUDA out of memory")]) == "CUDA out of memory"
    change = {"event": "deploy", "at_least": 1, "as": "it"}
    assert told("{it}", change, {}, events=[at(5, "deploy", "v0.11.0", text="by release bot")]) == "deploy v0.11.0 by release bot"


def test_text_from_outside_is_not_read_as_a_sentence_with_gaps() -> None:
    """A log line with braces stays a log line."""
    log = {"event": "log", "at_least": 1, "as": "it"}
    assert told("{it}", log, {}, events=[at(5, "log", "x", text="{subject} {0} {it.real}")]) == "{subject} {0} {it.real}"


def test_a_moment_is_told_in_utc() -> None:
    """An unknown one was before the recording."""
    assert clock(1_760_000_415.0) == "09:00:15"
    assert clock(None) == "before the recording"


def test_the_headline_names_the_first_root_and_how_many_more() -> None:
    """Healthy, explained, unexplained: one sentence each."""
    full = rule("full", {"signal": "kv.usage", "above": 0.9}, title="The cache is full", finding="{subject} is full")
    other = rule("slow", {"signal": "queue.waiting", "above": 1}, title="It waits", finding="{subject} waits")
    fine = {"latency.ttft": Buckets((1, 5), (9, 0, 0))}
    both = make_recording({"kv.usage": 0.97, "queue.waiting": 5})
    assert diagnose(both, [full, other]).headline == "The cache is full (and 1 more): replica a is full"
    assert diagnose(make_recording({"kv.usage": 0.97}), [full]).headline == "The cache is full: replica a is full"
    assert diagnose(make_recording({}, histograms=fine), [full]).headline.startswith("All is well, nothing found: ")
    broken = make_recording({}, histograms={"latency.ttft": Buckets((1, 5), (0, 0, 9), (9, 0, 0))}, objectives={"ttft_p95_s": 1})
    assert diagnose(broken, [full]).headline.endswith("no rule explains it with the data at hand.")


def evidence(signal: str, subject: str, verdict: Verdict = Verdict.PRESENT, query: str = "") -> Evidence:
    """A piece of evidence."""
    return Evidence(signal=signal, subject=subject, verdict=verdict, query=query)


def test_lines_to_check_by_hand_name_card_pod_and_query() -> None:
    """The query of what holds, the tool of its layer, each once; what does not hold is not checked."""
    recording = make_recording({}, links={"gpu/GPU-1": ["replica/pod-1", "node/n1"]})
    pieces = [
        evidence("gpu.temp", "gpu/GPU-1", query="max(DCGM_FI_DEV_GPU_TEMP)"),
        evidence("gpu.temp", "gpu/GPU-1", query="max(DCGM_FI_DEV_GPU_TEMP)"),
        evidence("gpu.power", "gpu/GPU-1", Verdict.ABSENT, query="no"),
        evidence("event:xid", "gpu/GPU-1"),
        evidence("pod.ready", "replica/pod-1"),
    ]
    assert check_lines(pieces, who("gpu/GPU-1"), recording) == (
        "max(DCGM_FI_DEV_GPU_TEMP)",
        "nvidia-smi -q -d TEMPERATURE -i GPU-1",
        "dmesg -T | grep -i xid",
        "kubectl describe pod pod-1",
    )


def test_a_line_for_the_shell_is_harmless_whatever_the_name() -> None:
    """A name with a command in it is one quoted word."""
    (line,) = check_lines([evidence("pod.ready", "replica/x'; rm -rf / #")], who("replica/x'; rm -rf / #"), make_recording({}))
    assert line == "kubectl describe pod 'x'\\''; rm -rf / #'"


def test_a_line_whose_place_is_unknown_is_left_out() -> None:
    """No pod is known of a card without links."""
    assert check_lines([evidence("pod.ready", "service/svc")], who("service/svc"), make_recording({})) == ()


def test_numbers_of_sentences_come_from_the_window() -> None:
    """And not from the time before it."""
    condition = {"signal": "kv.usage", "above": {"baseline": 1.5}, "as": "it"}
    assert told("{it}", condition, {"kv.usage": Shift(0.4, 0.8)}) == "80 %"

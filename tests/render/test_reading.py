"""Evidence in words: each phrase is true whatever the verdict."""

import pytest

from tests.render.fixtures import START, incident, inconclusive
from triage.model.diagnosis import Evidence, Promised, SignalCoverage, SourceView, Verdict, Vital
from triage.render.reading import (
    facts,
    gaps,
    named,
    queries,
    reading,
    silent,
    those,
    unusable,
    vital_name,
    vital_reading,
    vitals_of,
    with_reasons,
)


def evidence(verdict: Verdict, **parts: object) -> Evidence:
    """Evidence on the KV cache."""
    known = {"signal": "kv.usage", "subject": "replica/a", "stat": "p95", "unit": "ratio", "op": ">", "threshold": 0.95}
    return Evidence.model_validate({**known, "verdict": verdict, **parts})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (evidence(Verdict.PRESENT, value=0.996), "99.6 % > 95 %"),
        (evidence(Verdict.ABSENT, value=0.61), "61 % not > 95 %"),
        (evidence(Verdict.ABSENT, value=0.61, threshold_of="0.9 × baseline"), "61 % not > 95 % (0.9 × baseline)"),
        (evidence(Verdict.UNKNOWN, value=0.96, low=0.9, high=1.0), "90–100 % may be > 95 %"),
        (evidence(Verdict.PRESENT, value=0.97, low=0.96), "≥ 96 % > 95 %"),
        (evidence(Verdict.UNKNOWN, text="not measured"), "no data > 95 %"),
        (evidence(Verdict.PRESENT, op=">=", value=0.95), "95 % ≥ 95 %"),
        (evidence(Verdict.PRESENT, lasting=60.0, value=0.97), "97 % overall, > 95 % for 1 min"),
        (evidence(Verdict.ABSENT, lasting=60.0, value=0.97), "97 % overall, not > 95 % for 1 min"),
        (evidence(Verdict.PRESENT, op="gone", threshold=None), "no longer measured"),
        (evidence(Verdict.ABSENT, op="gone", threshold=None), "still measured"),
        (evidence(Verdict.PRESENT, signal="event:xid", op=">=", threshold=1.0, value=2.0), "2 seen"),
        (evidence(Verdict.ABSENT, signal="event:xid", op=">=", threshold=3.0, value=2.0), "2 seen not ≥ 3"),
        (evidence(Verdict.ABSENT, signal="event:xid", op=">=", threshold=1.0, value=0.0), "none seen"),
        (evidence(Verdict.UNKNOWN, signal="event:xid", op=">=", threshold=1.0), "no data"),
        (evidence(Verdict.PRESENT, signal="fact:engine", op="=~", threshold=None, text="vllm"), ""),
    ],
)
def test_evidence_reads_true(given: Evidence, said: str) -> None:
    """Value, comparison and verdict make one phrase."""
    assert reading(given, START).compared == said


def test_an_event_is_at_a_moment_and_a_condition_since_one() -> None:
    """A deploy did not begin to hold."""
    assert reading(evidence(Verdict.PRESENT, since=START, signal="event:deploy"), START).when == "at 12:00:00"
    assert reading(evidence(Verdict.PRESENT, since=START), START).when == "since 12:00:00"
    assert reading(evidence(Verdict.PRESENT), START).when == ""


def test_subjects_are_named_as_people_say_them() -> None:
    """The scope becomes a word, and a hundred replicas three names."""
    assert named("replica/vllm-3") == "replica vllm-3"
    assert named("gpu/node-b/5") == "GPU node-b/5"
    assert named("gpu/GPU-88cd9907") == "GPU-88cd9907"
    assert named("service/llm-prod") == "the service"
    assert those(("replica/a", "replica/b"), 3) == "2 replicas: a, b"
    assert those(("replica/a", "node/b"), 3) == "replica a, node b"
    assert those(tuple(f"gpu/{n}" for n in range(100)), 3) == "100 GPUs: 0, 1, 2 and 97 more"


def test_names_of_promises_are_words_of_the_field() -> None:
    """Objectives carry their unit in the name; people do not."""
    assert vital_name("ttft_p95_s") == "TTFT p95"
    assert vital_name("e2e_p99_s") == "E2E latency p99"
    assert vital_name("error_ratio") == "error ratio"


def test_gaps_are_what_to_do_and_what_helps_most_comes_first() -> None:
    """One line for each thing to do; a kind that lacks several things stands at each of them."""
    known = inconclusive().not_evaluated
    found = gaps(known)
    assert [len(gap.rules) for gap in found] == [3, 2, 1, 1]
    both = known[0].model_copy(update={"how_to_get": "set a flag (A: --a; B: --b); run the exporter"})
    assert [gap.how for gap in gaps([both])] == ["set a flag (A: --a; B: --b)", "run the exporter"]
    nothing = known[0].model_copy(update={"how_to_get": ""})
    assert gaps([nothing])[0].how == "no way is known to get what is missing"


def test_signals_that_could_not_be_used_are_told_by_why() -> None:
    """A hundred that went silent together are one line."""
    stale = [
        SignalCoverage(signal=name, state="stale", subjects=1, reason="no sample") for name in ("kv.usage", "a.b", "c.d", "e.f")
    ]
    hot = SignalCoverage(signal="gpu.x", state="out_of_range", subjects=1, reason="it says 255")
    coverage = inconclusive().coverage.model_copy(update={"signals": (*stale, hot)})
    told = unusable(inconclusive().model_copy(update={"coverage": coverage}), 1)
    assert told == [
        "4 signals are stale and were not used: no sample (KV cache in use and 3 more)",
        "gpu.x is out of range and was not used: it says 255",
    ]


def test_a_reason_that_several_signs_share_is_told_once() -> None:
    """Below the last of them, with how many they are; what has no reason says none."""
    late = [vital(state=Promised.OPEN, name=name, reason="it is old") for name in ("ttft_p95_s", "itl_p95_s")]
    told = with_reasons([*late, vital(), vital(name="error_ratio")], START)
    assert [reason for _, reason in told] == ["", "all 2: it is old", "", ""]


def test_that_none_was_seen_says_in_how_much() -> None:
    """Lines and files of the logs that were read; without logs only the kinds."""
    logs = [SourceView(name=f"log:{kind}", state="ok", files=(f"{kind}.log",), lines=400) for kind in ("engine", "kernel")]
    told = "2 kinds more: none of their signs was seen where they would show"
    assert silent(2) == told
    assert silent(2, logs) == f"{told}, among them 800 lines of engine.log, kernel.log"
    assert silent(0, logs) == ""


def test_each_query_is_named_once() -> None:
    """A command that is the query of some evidence is not repeated."""
    kv = incident().findings[2]
    both = kv.model_copy(update={"check": (kv.evidence[0].query, "nvidia-smi")})
    assert [line for _, line in queries([both])] == [kv.evidence[0].query, kv.evidence[1].query, "nvidia-smi"]


def test_facts_say_what_the_service_is() -> None:
    """Engine with version, model and card."""
    assert facts(incident()) == "vllm 0.11.0, Llama-3.3-70B-Instruct, H100 80GB"
    assert facts(inconclusive()) == ""


def vital(**parts: object) -> Vital:
    """A vital sign of the service."""
    known = {"name": "ttft_p95_s", "title": "time to first token (p95)", "subject": "service/a", "unit": "seconds"}
    return Vital.model_validate({**known, "state": Promised.KEPT, "limit": 3.0, "limit_of": "objective ttft_p95_s", **parts})


@pytest.mark.parametrize(
    ("given", "value", "now", "limit", "when"),
    [
        (vital(value=0.412, now=0.5), "0.412 s", "0.5 s", "≤ 3 s", ""),
        (vital(value=8.0, low=7.5, high=10.0, state=Promised.BROKEN, since=START), "7.5–10 s", "", "≤ 3 s", "since 12:00:00"),
        (vital(value=0.285, now=0.3, limit=300.0), "0.285 s", "0.3 s", "≤ 300 s", ""),
        (vital(value=3.2, limit=0.15), "3200 ms", "", "≤ 150 ms", ""),
        (vital(value=32.0, limit=0.15), "32 s", "", "≤ 0.15 s", ""),
        (vital(name="cut_ratio", unit="ratio", value=1.0, limit=3.0), "100 %", "", "", ""),
        (vital(value=80.0, low=80.0, since=START, until=START + 60), "≥ 80 s", "", "≤ 3 s", ""),
        (vital(state=Promised.BROKEN, since=START, until=START + 60), "", "", "≤ 3 s", "12:00:00 to 12:01:00"),
        (vital(name="answers", unit="ratio", limit=0.5, value=1.01), "100 %", "", "≥ 50 %", ""),
        (vital(state=Promised.OPEN), "", "", "≤ 3 s", ""),
    ],
)  # fmt: skip
def test_a_vital_sign_has_one_unit_and_says_which_way_is_well(given: Vital, value: str, now: str, limit: str, when: str) -> None:
    """The unit is that of the limit; a share is at most the whole; an end is told."""
    read = vital_reading(given, START)
    assert (read.value, read.now, read.limit, read.when) == (value, now, limit, when)


def test_broken_promises_stand_first_and_kept_ones_last() -> None:
    """What is wrong is read first, what nobody can say second."""
    assert [one.name for one in vitals_of(incident())] == ["ttft_p95_s", "error_ratio", "queue_wait_s", "answers", "itl_p95_s"]

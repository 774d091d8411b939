"""Evidence in words: each phrase is true whatever the verdict."""

import pytest

from tests.render.fixtures import START, incident, inconclusive
from triage.model.diagnosis import Evidence, Verdict
from triage.render.reading import facts, gaps, named, queries, reading, symptom_name, those


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
    assert symptom_name("ttft_p95_s") == "TTFT p95"
    assert symptom_name("e2e_p99_s") == "E2E latency p99"
    assert symptom_name("error_ratio") == "error ratio"


def test_gaps_are_what_to_do_and_what_helps_most_comes_first() -> None:
    """One line for each thing to do; a kind that lacks several things stands at each of them."""
    known = inconclusive().not_evaluated
    found = gaps(known)
    assert [len(gap.rules) for gap in found] == [3, 2, 1, 1]
    both = known[0].model_copy(update={"how_to_get": "set a flag (A: --a; B: --b); run the exporter"})
    assert [gap.how for gap in gaps([both])] == ["set a flag (A: --a; B: --b)", "run the exporter"]
    nothing = known[0].model_copy(update={"how_to_get": ""})
    assert gaps([nothing])[0].how == "no way is known to get what is missing"


def test_each_query_is_named_once() -> None:
    """A command that is the query of some evidence is not repeated."""
    kv = incident().findings[2]
    both = kv.model_copy(update={"check": (kv.evidence[0].query, "nvidia-smi")})
    assert [line for _, line in queries([both])] == [kv.evidence[0].query, kv.evidence[1].query, "nvidia-smi"]


def test_facts_say_what_the_service_is() -> None:
    """Engine with version, model and card."""
    assert facts(incident()) == "vllm 0.11.0, Llama-3.3-70B-Instruct, H100 80GB"
    assert facts(inconclusive()) == ""

"""Tests of rules: the shipped ones hold, the documented one holds, and what does not hold is told so that one can mend it."""

import re
from pathlib import Path

import pytest

from triage.engine.rules.loading import load_rules
from triage.errors import DataError
from triage.ingest.language import load_language
from triage.model.diagnosis import Verdict
from triage.ruletest.files import files_in, read_tests
from triage.ruletest.run import Outcome, run

HERE = Path(__file__).parent
RULES = load_rules()
LANGUAGE = load_language()
TEXT = """\
tests:
  - name: a test
    window: 20m
    input_series:
      - {series: 'queue.waiting{replica="a"}', values: '3+0.01x240'}
    expect:
      - {eval_time: 60m, rule: kv-exhaustion-preemption, verdict: unknown}
"""


def outcomes(folder: Path, text: str) -> list[Outcome]:
    """The outcomes of a text."""
    path = folder / "some.yaml"
    path.write_text(text, encoding="utf-8")
    return list(run(read_tests(path), RULES, LANGUAGE))


@pytest.mark.parametrize("path", files_in([HERE / "shipped"]), ids=lambda path: path.stem)
def test_shipped_rules(path: Path) -> None:
    """Every test of a shipped rule holds."""
    told = list(run(read_tests(path), RULES, LANGUAGE))
    assert [(one.test.name, one.failures) for one in told if one.failures] == []


def test_shipped_tests_ask_for_what_is_there_and_what_is_not() -> None:
    """A dozen of them, so that the notation itself is tried."""
    tests = [test for path in files_in([HERE / "shipped"]) for test in read_tests(path).file.tests]
    assert len(tests) >= 12
    assert {one.verdict for test in tests for one in test.expect} >= {Verdict.PRESENT, Verdict.UNKNOWN}


def test_the_documented_example_holds(tmp_path: Path) -> None:
    """Rule and tests stand on the page; they are run as they stand there."""
    page = (HERE.parents[1] / "docs" / "rules.md").read_text(encoding="utf-8").partition("## Testing a rule")[2]
    rule, tests = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)[:2]
    (tmp_path / "my-rules").mkdir()
    (tmp_path / "my-rules" / "acme-queue-stuck.yaml").write_text(rule, encoding="utf-8")
    (tmp_path / "acme.yaml").write_text(tests, encoding="utf-8")
    told = list(run(read_tests(tmp_path / "acme.yaml"), load_rules([tmp_path / "my-rules"]), LANGUAGE))
    assert len(told) == 3
    assert [(one.test.name, one.failures) for one in told if one.failures] == []


def test_what_is_not_as_expected_is_told_with_what_was_seen(tmp_path: Path) -> None:
    """Another verdict, what it lacks, a finding on another subject that says something else, another state."""
    text = (HERE / "shipped" / "kv.yaml").read_text(encoding="utf-8")
    text = text.replace("verdict: unknown, missing: [gateway.pool_kv]", "verdict: absent", 1)
    text = text.replace(
        "replica/vllm-0, says: [vllm-0], confidence: likely", "replica/b, says: [no such word], confidence: possible", 1
    )
    text = text.replace("expect:\n", "expect:\n      - {eval_time: 60m, status: healthy}\n", 1)
    first = outcomes(tmp_path, text)[0].failures
    heads = [failure[0] for failure in first]
    assert heads == [
        "at 1 h: the service is expected to be healthy, and is incident",
        "at 40 min kv-exhaustion-preemption: expected absent, is unknown",
        "at 1 h kv-exhaustion-preemption: expected on replica/b",
        "at 1 h kv-exhaustion-preemption: expected to be possible",
        "at 1 h kv-exhaustion-preemption: the finding does not say 'no such word'",
    ]
    assert "gateway.pool_kv" in first[1][1]
    assert first[2][1] == "it is on replica/vllm-0"


def test_nothing_later_than_the_moment_is_known(tmp_path: Path) -> None:
    """An event of afterwards is not there yet."""
    text = TEXT.replace("    expect:", "    events: [{at: 50m, kind: xid, name: '79', subject: gpu/G}]\n    expect:")
    early = text.replace(
        "eval_time: 60m, rule: kv-exhaustion-preemption, verdict: unknown", "eval_time: 45m, rule: gpu-off-bus, verdict: unknown"
    )
    late = text.replace("rule: kv-exhaustion-preemption, verdict: unknown", "rule: gpu-off-bus, verdict: present, subject: gpu/G")
    assert outcomes(tmp_path, early)[0].failures == ()
    assert outcomes(tmp_path, late)[0].failures == ()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            ("kv-exhaustion-preemption", "kv-exhaustion"),
            ":7:32: no rule is called 'kv-exhaustion' (did you mean 'kv-exhaustion-preemption'?)",
        ),
        (("3+0.01x240", "3+0.01"), "'3+0.01' does not say how often"),
        (("queue.waiting{replica", "queue.waiting{relpica"), "the label relpica of queue.waiting is no scope"),
        (('{replica="a"}', ""), "nothing says whose queue.waiting is"),
        (('{replica="a"}', "{replica=a}"), "is no series"),
        (("verdict: unknown", "verdict: unknown, says: [x]"), "need verdict: present"),
        (("rule: kv-exhaustion-preemption, verdict: unknown", "missing: [x]"), "say what must come out"),
        (("window: 20m", "windw: 20m"), "the key 'windw' is not known here (did you mean 'window'?)"),
        (("window: 20m", "window: 20"), ""),
        (("eval_time: 60m", "eval_time: 60 parsec"), "is not a duration"),
        (("verdict: unknown", "verdict: unsure"), "must be one of present, absent, unknown"),
    ],
)
def test_what_is_wrong_with_a_file_is_told(tmp_path: Path, change: tuple[str, str], told: str) -> None:
    """With its place and what to write instead; a length of time without unit is in seconds."""
    assert change[0] in TEXT
    if not told:
        assert outcomes(tmp_path, TEXT.replace(*change))
        return
    with pytest.raises(DataError) as caught:
        outcomes(tmp_path, TEXT.replace(*change))
    assert told in f"{caught.value.message} {caught.value.hint}"

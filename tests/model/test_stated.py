"""Names of objectives and facts: all that is read can be stated, and what is misspelt is told."""

import re
from pathlib import Path

import pytest

from triage.engine.promises.table import DELAYS, LOSSES
from triage.engine.rules.loading import load_rules
from triage.model.playbook import PLACEHOLDERS
from triage.model.stated import FACTS, OBJECTIVES, is_objective
from triage.validation import strange_names

ROOT = Path(__file__).resolve().parents[2]


def test_the_objectives_are_those_that_something_is_held_against() -> None:
    """Every delay and loss can be promised, at every quantile that is looked for, and nothing else."""
    told = {one.name for one in (*DELAYS, *LOSSES)}
    assert told == set(OBJECTIVES)
    assert all(is_objective(f"{delay.base}_{quantile}_s") for delay in DELAYS for quantile in ("p50", "p95", "p99"))
    assert not is_objective("ttft_p90_s")


def test_every_fact_that_is_read_is_known() -> None:
    """Rules name facts, the arithmetic asks for them, playbooks fill them in."""
    rules = set(re.findall(r"\bfact: (\w+)", "".join(rule.read_text() for rule in (ROOT / "rules").rglob("*.yaml"))))
    code = {
        name
        for path in (ROOT / "triage" / "engine").rglob("*.py")
        for name in re.findall(r"\bfact\(\"(\w+)\"", path.read_text(encoding="utf-8"))
    }
    assert load_rules()
    assert rules | code | (set(PLACEHOLDERS) - {"service", "gpu", "pci"}) <= set(FACTS)


@pytest.mark.parametrize(
    ("objective", "hint"),
    [("ttf_p95_s", "did you mean 'ttft_p95_s'?"), ("eror_ratio", "did you mean 'error_ratio'?"), ("uptime", "known")],
)
def test_an_objective_that_nothing_is_held_against_is_told(objective: str, hint: str) -> None:
    """It would be missed in silence."""
    (complaint,) = strange_names([objective, "itl_p99_s"], [])
    assert objective in complaint.text
    assert complaint.hint.startswith(hint)


def test_a_misspelt_fact_is_told_and_an_own_one_is_not() -> None:
    """Nearly the name of a fact that is read is a slip; a name of one's own is for rules of one's own."""
    (complaint,) = strange_names([], ["max_num_seq", "max_num_seqs", "owner", "scrape_interval_s", "kv_offloading_size_gib"])
    assert "max_num_seq" in complaint.text
    assert "did you mean 'max_num_seqs'?" in complaint.hint

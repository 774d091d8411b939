"""What is found by walking the folders: the only place that lists it, so that nothing appears or vanishes unnoticed."""

from pathlib import Path

import pytest

from tests.kinds import kinds
from triage.bundle import bundled
from triage.cli import COMMANDS, main
from triage.cli.catalogue import catalogue_page
from triage.engine.rules.incidents import read_incidents
from triage.engine.rules.loading import load_rules
from triage.ingest.metrics.dialects import load_dialects
from triage.playbooks import list_playbooks
from triage.plugins import load_collectors

COLLECTORS = "changes endpoints host logs nvml prometheus"

DIALECTS = """
aibrix alertmanager amd_gpu apisix argo_cd argo_rollouts caddy cadvisor cadvisor_docker dcgm dynamo envoy envoy_ai_gateway
flux gaie haproxy istio keda kong kube_state_metrics kubelet litellm llamacpp lmcache lmdeploy nginx nginx_ingress nim
node_exporter nvidia_gpu_exporter otel_genai otel_http_client production_stack_router prometheus quality_probe ray_node
ray_serve sglang sglang_router tgi traefik triton trtllm trtllm_disagg vllm vllm_router
"""


def test_the_collectors() -> None:
    """One for each kind of source."""
    assert sorted(load_collectors()) == COLLECTORS.split()


def test_the_dialects() -> None:
    """One for each engine, exporter and gateway."""
    assert sorted(dialect.name for dialect in load_dialects()) == DIALECTS.split()


def test_the_kinds() -> None:
    """Each leads only to others of them."""
    assert {target for kind in kinds().values() for target in kind.effects} <= set(kinds())


def test_every_rule_has_a_playbook() -> None:
    """Whatever a rule can find, there is something to do about it."""
    assert sorted(list_playbooks()) == [rule.id for rule in load_rules()]


def test_the_catalogue_of_public_incidents() -> None:
    """No id twice, each of a kind that there is, and in the order of the ids, so that a new one has its place."""
    incidents = read_incidents(bundled("rules"))
    names = [one.id for one in incidents]
    assert names == sorted(set(names), key=str.lower)
    assert {one.kind for one in incidents} <= set(kinds())


def test_the_page_of_all_kinds_is_that_of_the_rules() -> None:
    """docs/kinds.md is made, not written: ``triage rules catalogue > docs/kinds.md``."""
    page = catalogue_page(load_rules(), {one.id: one for one in read_incidents(bundled("rules"))})
    assert (Path(__file__).parent.parent / "docs" / "kinds.md").read_text(encoding="utf-8") == page


def test_the_report_in_the_readme_is_what_the_command_prints(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It begins so at 96 columns, up to the dots: ``triage diagnose --service llm-prod --width 96`` in a checkout."""
    root = Path(__file__).parent.parent
    readme = (root / "README.md").read_text(encoding="utf-8")
    monkeypatch.chdir(root)
    monkeypatch.delenv("TRIAGE_CONFIG", raising=False)
    main(["diagnose", "--service", "llm-prod", "--width", "96"])
    report = readme.partition("```text\n")[2].partition("  …\n```")[0]
    assert report.count("\n") > 40
    assert capsys.readouterr().out[: len(report)] == report
    assert f"among {len(load_rules())} kinds of failure" in readme


def test_the_readme_names_every_command() -> None:
    """In its table, so that nobody has to guess what there is."""
    readme = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
    table = readme.partition("## Use it")[2].partition("\n## ")[0]
    assert [name for name in COMMANDS if f"`triage {name}" not in table] == []


def test_nothing_else_lies_in_the_folders() -> None:
    """A file that nobody would find there is a slip."""
    found = {path.suffix for kind in ("rules", "playbooks") for path in bundled(kind).rglob("*") if path.is_file()}
    found |= {path.suffix for path in bundled("collectors").rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    assert found == {".yaml", ".jsonl", ".toml", ".md", ".py"}

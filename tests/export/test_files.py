"""The files that are exported, held by the programs that read them."""

import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import Dashboard

from tests.export.agreement import asked, exportable, look, moved
from tests.servers import INCIDENTS, Stored, program, prometheus, prometheus_holding
from triage.cli import main
from triage.engine.rules.loading import load_rules
from triage.errors import ExitCode
from triage.export.grafana import dashboard
from triage.export.prometheus import alert_name, rules_file, severity_of
from triage.ingest.language import load_language
from triage.model.vocabulary import Layer

pytestmark = pytest.mark.slow

CASE = INCIDENTS / "thermal-throttle-a033"
FIRES = "thermal-throttle"
ASSUMED = ("vllm", "dcgm", "kube_state_metrics", "node_exporter", "envoy")


_WRITTEN: dict[tuple[str, ...], str] = {}


def written(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What the command writes; the same words are asked once."""
    if words not in _WRITTEN:
        _WRITTEN[words] = run(capsys, *words)
    return _WRITTEN[words]


def run(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What the command writes now."""
    assert main(["rules", "export", *words, "--quiet"]) == ExitCode.HEALTHY
    return capsys.readouterr().out


def assumed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """The rules of a service that nobody has looked at."""
    return written(capsys, "--service", "chat", *words, *(word for name in ASSUMED for word in ("--assume", name)))


def checked(tool: str, package: str, *words: str) -> str:
    """What a program of others says of a file; it must like it."""
    done = subprocess.run([program(tool, package), *words], capture_output=True, check=False, text=True)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


# Prometheus


def test_promtool_likes_the_rules(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of a recording, of a service that is replayed, and of one that nobody has looked at."""
    for number, words in enumerate(([str(CASE)], ["--service", "llm-prod", "--since", "1h"])):
        path = tmp_path / f"{number}.yml"
        path.write_text(written(capsys, *words), encoding="utf-8")
        assert "SUCCESS" in checked("promtool", "prometheus", "check", "rules", "--lint=all", "--lint-fatal", str(path))
    path.write_text(assumed(capsys), encoding="utf-8")
    assert "SUCCESS" in checked("promtool", "prometheus", "check", "rules", "--lint=all", "--lint-fatal", str(path))


def test_every_alert_says_what_it_is_what_to_do_and_how_to_ask_more(capsys: pytest.CaptureFixture[str]) -> None:
    """Labels to route by, annotations to read, and the holds of the rule."""
    rules = {rule.id: rule for rule in exportable()}
    alerts = [one for group in yaml.safe_load(assumed(capsys))["groups"] for one in group["rules"] if "alert" in one]
    assert len(alerts) > 30
    for alert in alerts:
        rule = rules[alert["labels"]["kind"]]
        assert alert["alert"] == alert_name(rule.id)
        assert alert["labels"] == {
            "kind": rule.id,
            "service": "chat",
            "layer": rule.layer,
            "cause": rule.cause,
            "severity": severity_of(rule),
        }
        assert {"summary", "finding", "first_step", "playbook", "diagnose"} <= set(alert["annotations"])
        assert "{" not in alert["annotations"]["finding"].replace("{{ $labels.", "").replace(" }}", "")
        assert alert["annotations"]["diagnose"].startswith("triage diagnose --service chat --at {{")
        assert alert["for"] in ("0s", "1m") or rule.hold.raise_after != 60.0
        assert alert["keep_firing_for"] == "2m" or rule.hold.clear_after != 120.0


def only(text: str, *queries: str) -> str:
    """A file of rules with the recording rules that some queries rest on alone, and the alerts among these queries."""
    document = yaml.safe_load(text)
    for group in document["groups"]:
        group["rules"] = [
            one
            for one in group["rules"]
            if one["expr"] in queries or any(f"{one.get('record', 'no record')}{{" in query for query in queries)
        ]
    return yaml.safe_dump(document)


def queries_of(board: str) -> list[str]:
    """What a dashboard asks."""
    return [target["expr"] for panel in json.loads(board)["panels"] for target in panel.get("targets", ())]


def alert_of(text: str, kind: str) -> dict[str, Any]:
    """The alert of a kind."""
    every = [one for group in yaml.safe_load(text)["groups"] for one in group["rules"]]
    return next(one for one in every if one.get("alert") == alert_name(kind))


def unit_test(rules: Path) -> dict[str, Any]:
    """A test for promtool: a card with a row that waits for its repair, on a series that is there, gone, and never was."""
    labels = 'pod="chat-0",UUID="GPU-1",Hostname="gpu-0",job="dcgm-exporter",instance="10.0.0.1:9400",gpu="0"'
    series = f"DCGM_FI_DEV_ROW_REMAP_PENDING{{{labels}}}"
    alert = alert_of(rules.read_text(), "row-remap")
    told = {
        name: text.replace("{{ $labels.UUID }}", "GPU-1").replace(text[text.find("{{ with") :], "3600") if "{{" in text else text
        for name, text in alert["annotations"].items()
    }
    told["diagnose"] = "triage diagnose --service chat --at 3600"
    told["finding"] = alert["annotations"]["finding"].replace("{{ $labels.UUID }}", "GPU-1")
    fires = {"exp_labels": {**alert["labels"], "UUID": "GPU-1"}, "exp_annotations": told}
    asked_at = {"eval_time": "60m", "alertname": alert["alert"]}
    return {
        "rule_files": [rules.name],
        "evaluation_interval": "30s",
        "tests": [
            {
                "interval": "30s",
                "input_series": [{"series": series, "values": "1x150"}],
                "alert_rule_test": [{**asked_at, "exp_alerts": [fires]}],
            },
            {
                "interval": "30s",
                "input_series": [{"series": series, "values": "0x150"}],
                "alert_rule_test": [{**asked_at, "exp_alerts": []}],
            },
            {"interval": "30s", "input_series": [], "alert_rule_test": [{**asked_at, "exp_alerts": []}]},
        ],
    }


def test_promtool_runs_the_alerts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What holds fires with its words; what does not, and what nobody measures, does not."""
    rules, test = tmp_path / "rules.yml", tmp_path / "test.yml"
    text = assumed(capsys)
    rules.write_text(only(text, alert_of(text, "row-remap")["expr"]), encoding="utf-8")
    test.write_text(yaml.safe_dump(unit_test(rules)), encoding="utf-8")
    assert "SUCCESS" in checked("promtool", "prometheus", "test", "rules", str(test))


@dataclass(frozen=True)
class Kept:
    """A Prometheus with a recording and what promtool made of its recording rules.

    :param end: end of the recording's window, Unix seconds
    :param alert: the alert that fires there
    :param board: queries of the dashboard
    """

    server: Stored
    end: float
    alert: str
    board: tuple[str, ...]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kept]:
    """As a server is after it has evaluated the file for a while."""
    folder = tmp_path_factory.mktemp("kept")
    looked = look(CASE, folder)
    times, end, dialects = looked.times, looked.end + looked.moved, load_language().dialects
    text = rules_file(load_rules(), looked.layout, times, dialects)
    alert, board = alert_of(text, FIRES)["expr"], queries_of(dashboard(load_rules(), looked.layout, times, dialects))
    rules = folder / "rules.yml"
    rules.write_text(only(text, alert, *board), encoding="utf-8")
    with prometheus_holding([moved(CASE, looked.moved)], folder / "server") as server:
        span = [f"--start={end - times.window - times.baseline:.0f}", f"--end={end:.0f}", f"--eval-interval={times.step:.0f}s"]
        where = [f"--url={server.address}", f"--output-dir={folder / 'made'}"]
        checked("promtool", "prometheus", "tsdb", "create-blocks-from", "rules", *where, *span, str(rules))
    for block in (folder / "made").glob("*/meta.json"):
        block.parent.rename(folder / "server" / "data" / block.parent.name)
    with prometheus(folder / "server", f"--storage.tsdb.path={folder / 'server' / 'data'}") as address:
        yield Kept(Stored(address), end, alert, tuple(board))


def test_an_alert_over_recorded_series_fires_as_that_over_expressions(kept: Kept) -> None:
    """Recording rules keep what else stands in subqueries."""
    assert "triage:" in kept.alert
    assert len(asked(kept.server, kept.alert, kept.end)) == 1


def test_the_queries_of_the_dashboard_are_answered(kept: Kept) -> None:
    """By what the recording rules keep, under the name that is chosen; but for what this service's sources have not shown."""
    answers = {query: asked(kept.server, query.replace("$service", "llm-prod"), kept.end) for query in kept.board}
    without = [query for query, told in answers.items() if not told and not query.startswith("max by (kind) (ALERTS")]
    assert len(kept.board) > 20
    assert len(without) < 0.3 * len(kept.board), without
    assert not any(asked(kept.server, query.replace("$service", "nobody"), kept.end) for query in kept.board)


# Grafana and Alertmanager


def test_the_dashboard_is_one_of_grafanas(capsys: pytest.CaptureFixture[str]) -> None:
    """Its own model of a dashboard reads every key and writes the same again; a row for each layer, below the vital signs."""
    text = written(capsys, str(CASE), "--format", "grafana")
    told = json.loads(text)
    again = json.loads(json.dumps(Dashboard.from_json(json.loads(text)), cls=JSONEncoder))
    assert lacking(told, again) == []
    rows = [panel["title"] for panel in told["panels"] if panel["type"] == "row"]
    assert rows == ["Vital signs", *(f"Layer: {layer}" for layer in Layer)]
    assert [one["name"] for one in told["templating"]["list"]] == ["datasource", "service"]
    places = [(p["gridPos"]["x"], p["gridPos"]["y"]) for p in told["panels"]]
    assert len(places) == len(set(places))
    assert len({panel["id"] for panel in told["panels"]}) == len(told["panels"])


def lacking(told: Any, again: Any, where: str = "") -> list[str]:
    """What one document says and another does not."""
    if isinstance(told, dict) and isinstance(again, dict):
        return [
            line
            for key, value in told.items()
            for line in ([f"{where}.{key}"] if key not in again else lacking(value, again[key], f"{where}.{key}"))
        ]
    if isinstance(told, list) and isinstance(again, list):
        pairs = zip(told, again, strict=True)
        return [line for number, pair in enumerate(pairs) for line in lacking(*pair, f"{where}[{number}]")]
    return [] if told == again else [f"{where}: {told!r} is {again!r}"]


def test_amtool_likes_the_route(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And sends an alert of ours on."""
    path = tmp_path / "alertmanager.yml"
    path.write_text(written(capsys, str(CASE), "--format", "alertmanager"), encoding="utf-8")
    assert "SUCCESS" in checked("amtool", "prometheus-alertmanager", "check-config", str(path))
    ours = ["alertname=TriageKvLeak", "service=llm-prod"]
    told = checked("amtool", "prometheus-alertmanager", "config", "routes", "test", f"--config.file={path}", *ours)
    assert told.splitlines()[0] == "on-call"


# The list, and what is refused


def test_the_page_lists_what_can_be_exported(capsys: pytest.CaptureFixture[str]) -> None:
    """docs/export.md holds what ``triage rules export --format list`` writes."""
    page = (Path(__file__).parents[2] / "docs" / "export.md").read_text(encoding="utf-8")
    told = written(capsys, "--format", "list")
    assert told in page
    assert f"### Exported: {len(exportable())} of {len(load_rules())}" in told


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "nothing says which service to write for"),
        (("--assume", "vllm"), "--assume writes for a service unseen"),
        (("--assume", "vlm", "--service", "chat"), "no dialect is called 'vlm'"),
        ((str(CASE), "--prometheus", "http://p:9090"), "--prometheus has no effect"),
        (("--service", "nobody"), "no service is called 'nobody'"),
        (("/nowhere",), "/nowhere does not exist"),
        ((str(CASE), "--since", "30"), "has no unit"),
    ],
)
def test_what_cannot_be_written_is_said(words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    """In a sentence, before anything is asked."""
    assert main(["rules", "export", *words]) >= ExitCode.USAGE
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err


def test_the_same_look_gives_the_same_bytes(capsys: pytest.CaptureFixture[str]) -> None:
    """No order of sets or clocks gets into a file that is kept under version control."""
    for form in ("grafana", "alertmanager"):
        assert run(capsys, str(CASE), "--format", form) == written(capsys, str(CASE), "--format", form)
    assert run(capsys, str(CASE)) == written(capsys, str(CASE))

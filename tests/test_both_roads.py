"""The same by both roads: what a real Prometheus is asked for gives the diagnosis that replay of the same samples gives.

Of the recorded cases a sample by a hash of their names is asked for, each in a server of its own, with all that its folder knows;
``TRIAGE_ALL_CASES=1`` asks for twenty, and for fleets with every fault.
"""

import json
import os
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from time import time
from typing import Any

import pytest

from bench.fleet import FAULTS, HOUR, OBJECTIVES, SERVICE, Fleet, write_folder
from bench.misbehaving import source
from tests.servers import INCIDENTS, Stored, prometheus_with, recorded, settings
from triage.cli import main
from triage.collect import collect
from triage.engine.diagnose import diagnose
from triage.engine.rules.loading import load_rules
from triage.ingest.files.incident import read_incident
from triage.model.diagnosis import Diagnosis, Status
from triage.model.service import Service
from triage.sdk import Request

pytestmark = pytest.mark.slow

REAL = ("overload", "kv-exhaustion", "engine-hang", "long-prefill", "retry-storm", "bad-release", "replica-crash")
"""Recorded from real engines within one day, one after the other, under the same names: one server holds them all."""

ALWAYS = ("metric-misread-a046",)
"""What it tells of is a recorded series, which no exporter has."""


ALL = bool(os.environ.get("TRIAGE_ALL_CASES"))


def sample() -> list[str]:
    """Names of cases with metrics, in the order of a hash of their names."""
    names = sorted(
        {path.parent.name for path in INCIDENTS.glob("*/metrics.om*")} - {*ALWAYS, *REAL},
        key=lambda name: sha256(name.encode()).hexdigest(),
    )
    return [*ALWAYS, *names[: 20 if ALL else 1]]


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stored]:
    """A Prometheus with all the real incidents in it."""
    metrics = b"".join(recorded(case).replace(b"# EOF\n", b"") for case in REAL) + b"# EOF\n"
    with prometheus_with(metrics, tmp_path_factory.mktemp("prometheus")) as server:
        yield server


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """The JSON that a command prints."""
    main([*arguments, "--format", "json"])
    out, err = capsys.readouterr()
    assert out, err
    found: dict[str, Any] = json.loads(out)
    return found


def first(diagnosis: dict[str, Any]) -> str:
    """The first root cause."""
    return next((str(finding["rule"]) for finding in diagnosis["findings"] if finding["role"] == "root"), "")


def both(name: str, server: Stored, folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """A case live and replayed. Logs and changes are given to both; only the metrics come by another road."""
    case = INCIDENTS / name
    window = read_incident(case).window
    asked = ["diagnose", "--service", "llm-prod", "--prometheus", server.address, "--config", str(settings(case, folder))]
    asked += ["--from", str(window.start), "--to", str(window.end), "--baseline", f"{window.start - window.baseline_start:.0f}s"]
    asked += ["--timeout", "60"]
    if (case / "logs").exists():
        asked += ["--logs", str(case / "logs")]
    if (case / "changes.jsonl").exists():
        asked += ["--changes", str(case / "changes.jsonl")]
    return answer(capsys, *asked), answer(capsys, "replay", str(case))


@pytest.mark.parametrize("name", REAL)
def test_a_server_gives_the_same_first_finding_as_replay(
    name: str, stored: Stored, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also where it holds other incidents of the same service, from before and after."""
    live, replayed = both(name, stored, tmp_path, capsys)
    assert first(live) == first(replayed) != ""
    assert live["status"] == replayed["status"] == "incident"


@pytest.mark.parametrize("name", sample())
def test_a_case_seen_live_is_the_case_that_is_replayed(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """State, first cause and all findings."""
    with prometheus_with(recorded(name), tmp_path) as server:
        live, replayed = both(name, server, tmp_path, capsys)
    assert live["status"] == replayed["status"]
    assert first(live) == first(replayed)
    assert {one["rule"] for one in live["findings"]} == {one["rule"] for one in replayed["findings"]}


@pytest.mark.parametrize("fault", FAULTS if ALL else ("healthy", "card"))
def test_thinned_samples_give_the_diagnosis_of_all(fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The guilty replica, card or node; of a healthy fleet nobody. `python -m bench.prometheus` asks for fleets of 100."""
    fleet = Fleet(2, fault, step=20.0, window=HOUR / 2, aligned=False)
    write_folder(fleet, tmp_path)
    with prometheus_with((tmp_path / "metrics.om").read_bytes(), tmp_path / "server") as server:
        whole = said(server, fleet)
        monkeypatch.setattr("triage.ingest.prometheus.questions.MOST_RAW", 1000)
        thinned = said(server, fleet)
    assert thinned.status == whole.status
    assert [(one.rule, one.subjects) for one in thinned.findings] == [(one.rule, one.subjects) for one in whole.findings]
    if fleet.expected is None:
        assert whole.status is Status.HEALTHY
    else:
        assert (whole.findings[0].rule, whole.findings[0].subject) == (fleet.expected[0], str(fleet.expected[1]))


def said(server: Stored, fleet: Fleet) -> Diagnosis:
    """What is said of a fleet in a server."""
    collector, dialects = source()
    service = Service(name=SERVICE, prometheus=server.address, objectives=dict(OBJECTIVES))
    request = Request(service, fleet.span(), 15.0, 60.0, dialects, time)
    return diagnose(collect(request, [collector]), load_rules())

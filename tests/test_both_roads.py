"""The recorded incidents asked from a real Prometheus give the same first finding as replay of their folders."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.servers import INCIDENTS, Stored, prometheus_with, recorded, settings
from triage.cli import main
from triage.ingest.files.incident import read_incident

pytestmark = pytest.mark.slow

REAL = ("overload", "kv-exhaustion", "engine-hang", "long-prefill", "retry-storm", "bad-release", "replica-crash")
"""Recorded from real engines within one day, one after the other, under the same names: one server holds them all."""


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


@pytest.mark.parametrize("name", REAL)
def test_a_server_gives_the_same_first_finding_as_replay(
    name: str, stored: Stored, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Logs and changes are given to both; only the metrics come by another road."""
    case = INCIDENTS / name
    window = read_incident(case).window
    asked = ["diagnose", "--service", "llm-prod", "--prometheus", stored.address, "--config", str(settings(case, tmp_path))]
    asked += ["--from", str(window.start), "--to", str(window.end), "--baseline", f"{window.start - window.baseline_start:.0f}s"]
    asked += ["--logs", str(case / "logs")]
    if (case / "changes.jsonl").exists():
        asked += ["--changes", str(case / "changes.jsonl")]
    live, replayed = answer(capsys, *asked), answer(capsys, "replay", str(case))
    assert first(live) == first(replayed) != ""
    assert live["status"] == replayed["status"] == "incident"

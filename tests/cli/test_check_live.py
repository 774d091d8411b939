"""A check of services at a real Prometheus: one run at a time; what became different is kept, and diagnosed again."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest

from tests.servers import INCIDENTS, Front, Reply, prometheus_with, recorded, serving, settings
from triage.archive import archive_of
from triage.checks.lock import held
from triage.cli import checking, main
from triage.errors import ExitCode
from triage.ingest.files.incident import read_incident
from triage.settings import read_settings

pytestmark = pytest.mark.slow

CASE = "retry-storm"
STATE = "state/history.sqlite"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Two services at one Prometheus, of which it knows one, checked as the incident went on."""
    made = tmp_path_factory.mktemp("live")
    with prometheus_with(recorded(CASE), tmp_path_factory.mktemp("server")) as stored, pytest.MonkeyPatch.context() as patch:
        patch.chdir(made)
        patch.setenv("HOME", str(made))
        for name in ("XDG_STATE_HOME", "TRIAGE_CONFIG", "XDG_CONFIG_HOME"):
            patch.delenv(name, raising=False)
        told = settings(INCIDENTS / CASE, made)
        head = f'[defaults]\nprometheus = "{stored.address}"\n'
        told.write_text(f"{head}{told.read_text(encoding='utf-8')}\n[service.nobody]\n", encoding="utf-8")
        yield made


def check(*words: str, state: str = f"--state={STATE}") -> int:
    """One check at the end of the incident."""
    window = read_incident(INCIDENTS / CASE).window
    span = ["--from", str(window.start), "--to", str(window.end), "--baseline", f"{window.start - window.baseline_start:.0f}s"]
    return main(["check", state, *span, *words])


def test_what_became_different_is_kept_and_diagnosed_again(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """From the check to the history, and from there to the same report, until the file is gone."""
    assert check() == ExitCode.INCIDENT
    out, err = capsys.readouterr()
    assert err == ""
    assert [line.split(" - ")[0] for line in out.splitlines()] == ["LLM-PROD CRITICAL", "NOBODY UNKNOWN"]
    assert main(["history", "llm-prod", "--state", STATE]) == ExitCode.HEALTHY
    told = capsys.readouterr().out
    assert "retry-storm" in told
    assert "triage history llm-prod --diagnose 1 diagnoses again what was kept then" in told

    for which in ("1", "last", "retry-storm"):
        assert main(["history", "llm-prod", "--state", STATE, "--diagnose", which, "--format", "json"]) == ExitCode.INCIDENT
        out, err = capsys.readouterr()
        again = json.loads(out)
        assert next(one["rule"] for one in again["findings"] if one["role"] == "root") == "retry-storm"
        assert again["service"] == "llm-prod"
        assert "was judged then by" in err
        assert err.endswith("now the same\n")

    assert check() == ExitCode.INCIDENT  # nothing became different
    capsys.readouterr()
    archive = archive_of(folder / STATE, 0)
    (kept,) = archive.store.kept("llm-prod")
    shutil.rmtree(archive.folder)
    assert main(["history", "llm-prod", "--state", STATE, "--diagnose", str(kept.id)]) == ExitCode.NO_INPUT
    assert "is gone: " in capsys.readouterr().err
    assert main(["history", "llm-prod", "--state", STATE]) == ExitCode.HEALTHY
    assert "gone: 1 (made room for newer ones, or removed)" in capsys.readouterr().out
    assert main(["history", "llm-prod", "--state", STATE, "--diagnose", "thermal-throttle"]) == ExitCode.USAGE
    assert "numbers: 1; kinds: " in capsys.readouterr().err


def test_a_second_run_of_the_same_services_leaves(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With an exit code of its own and who is at it; a run of others, or one without memory, goes by its own lock."""
    found = read_settings(folder / "triage.toml").services
    path = checking._lock_path(Path(STATE), [found["llm-prod"], found["nobody"]])
    with held(path, "a check", 1_777_636_800.0):
        assert check() == ExitCode.BUSY
        out, err = capsys.readouterr()
        assert out == ""
        assert "triage: another check of these services runs at this moment: process " in err
        assert check("nobody") == ExitCode.INCONCLUSIVE
    assert check("nobody", "llm-prod") == ExitCode.INCIDENT


def test_a_server_that_says_nothing_takes_no_more_than_its_time(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its service is unknown, which says so; the others are judged meanwhile, and none is taken for well."""
    silent = Event()
    with serving(Front(own=lambda ask: Reply(503, b"") if silent.wait(60.0) else None)) as front:
        try:
            text = (folder / "triage.toml").read_text(encoding="utf-8")
            path = folder / "silent.toml"
            path.write_text(f'{text}\n[service.silent]\nprometheus = "{front.address}"\n', encoding="utf-8")
            assert check("--config", str(path), "--each", "20", "silent", "llm-prod") == ExitCode.INCIDENT
        finally:
            silent.set()
    found, silent_one = capsys.readouterr().out.splitlines()
    assert found.startswith("LLM-PROD CRITICAL - ")
    assert silent_one.startswith("SILENT UNKNOWN - ")
    assert "gave no whole answer within" in silent_one or "not done within its time" in silent_one


def test_a_check_without_memory_keeps_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No history, no recording."""
    before = remembered(folder)
    assert check("llm-prod", state="--no-state") == ExitCode.INCIDENT
    assert remembered(folder) == before


def remembered(folder: Path) -> dict[Path, bytes]:
    """All that is kept of looks."""
    found = [*folder.rglob("*.sqlite*"), *folder.rglob("*.parquet")]
    return {path: path.read_bytes() for path in found}

"""Nothing is lost: what cannot be written is told after the answer, and a log tells of the time before it was read."""

import io
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from triage.cli import keeping, main, score
from triage.errors import DataError, ExitCode, TriageError, UsageError
from triage.ingest.files import parquet
from triage.model.recording import Recording

from .dumps import FULL, dump


def refusing(_recording: Recording, path: Path) -> None:
    """A disk that is full by the time of writing."""
    raise UsageError(f"cannot write {path}: No space left on device")


@pytest.fixture
def case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with settings that name a service whose incident was kept."""
    folder = tmp_path / "case"
    folder.mkdir()
    (folder / "case.toml").write_text('name = "full"\nservice = "llm"\n')
    (folder / "truth.toml").write_text('[truth]\nroot = ["kv-exhaustion-preemption"]\nstatus = "incident"\n')
    (folder / "metrics.prom").write_text(dump(FULL))
    (tmp_path / "triage.toml").write_text('[service.last-week]\nincident = "case"\n')
    monkeypatch.chdir(tmp_path)
    return folder


def test_a_report_is_printed_though_its_recording_cannot_be_kept(
    case: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The answer took the sampling; that the disk is full is told as well, and is the exit code."""
    monkeypatch.setattr(parquet, "write_recording", refusing)
    assert main(["diagnose", "--service", "last-week", "--save", "kept.parquet"]) == ExitCode.USAGE
    out, err = capsys.readouterr()
    assert "kv-exhaustion-preemption" in out
    assert "triage: cannot write kept.parquet: No space left on device" in err


def test_a_record_says_what_was_seen_though_it_cannot_be_kept(
    case: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What each source brought is told all the same."""
    monkeypatch.setattr(parquet, "write_recording", refusing)
    assert main(["record", "--service", "last-week", "-o", "kept.parquet"]) == ExitCode.USAGE
    err = capsys.readouterr().err
    assert "metrics: ok" in err
    assert "No space left on device" in err


def test_a_score_is_printed_though_it_cannot_be_kept(
    case: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The cases were diagnosed, so their score is shown."""
    from triage.score import saved

    def full(*_: object) -> None:
        raise DataError("kept.json cannot be written")

    monkeypatch.setattr(saved, "save", full)
    assert main(["score", str(case.parent), "--save", "kept.json", "--jobs", "1"]) == ExitCode.DATA
    out, err = capsys.readouterr()
    assert "1" in out
    assert "kept.json cannot be written" in err
    assert score.__name__.endswith("score")


@pytest.mark.parametrize(("name", "part"), [("no/x.parquet", "there is no folder"), ("folder", "it is a folder")])
def test_a_file_that_cannot_be_written_is_refused(tmp_path: Path, name: str, part: str) -> None:
    """A folder that is not there, or a folder in the file's place."""
    (tmp_path / "folder").mkdir()
    with pytest.raises(TriageError, match=part):
        keeping.refuse_unwritable(tmp_path / name)
    keeping.refuse_unwritable(tmp_path / "folder" / "x.parquet")
    keeping.refuse_unwritable(None)
    assert list((tmp_path / "folder").iterdir()) == []


def stamped(ago: float, text: str) -> str:
    """A line as ``journalctl -k -o short-iso`` writes it."""
    return f"{datetime.fromtimestamp(time.time() - ago, UTC):%Y-%m-%dT%H:%M:%S+0000} node-1 kernel: {text}\n"


KERNEL = (
    stamped(1500, "NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."),
    stamped(20, "usb 1-1: new high-speed USB device number 4 using xhci_hcd"),
)


@pytest.mark.parametrize(
    "words", [[], ["--since", "30m", "--for", "1"], ["--from", "40m ago", "--to", "1s ago"], ["--baseline", "2h"]]
)
def test_a_kernel_log_on_stdin_tells_what_was_twenty_five_minutes_ago(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A log has a history: naming it makes the window, with or without a word on the time."""

    class Stdin:
        buffer = io.BytesIO("".join(KERNEL).encode())

    monkeypatch.setattr(sys, "stdin", Stdin())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert main(["diagnose", "--logs", "-", *words]) == ExitCode.INCIDENT
    assert "gpu-off-bus" in capsys.readouterr().out

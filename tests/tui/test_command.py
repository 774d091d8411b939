"""The command: what it refuses, and a walk in a real terminal."""

import os
import sys
from pathlib import Path
from subprocess import run

import pytest

from tests.terminals import on_terminal
from triage.cli import main, parser
from triage.cli.effective import settings_of
from triage.cli.walk import SAMPLE, _recordings
from triage.errors import ExitCode
from triage.tui.recordings import Replay
from triage.watch.live import Live

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent.parent


def test_it_needs_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """In a pipe there is nobody to walk."""
    assert main(["walk", "tests/incidents/retry-storm"]) == ExitCode.USAGE
    assert "the walk needs a terminal" in capsys.readouterr().err


@pytest.mark.parametrize("flags", [["--prometheus", "http://p"], ["--since", "1h"], ["--for", "5"], ["--every", "5"]])
def test_a_recording_takes_no_live_flags(flags: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """A flag that cannot be heeded is refused, not ignored."""
    assert main(["walk", "x.parquet", *flags]) == ExitCode.USAGE
    assert f"{flags[0]} has no effect: a recording is what it is" in capsys.readouterr().err


def test_the_keyboard_is_not_a_log(capsys: pytest.CaptureFixture[str]) -> None:
    """Logs from stdin cannot be read while the keys come from there."""
    assert main(["walk", "--logs", "-"]) == ExitCode.USAGE
    assert "cannot read logs from stdin" in capsys.readouterr().err


def recordings(tmp_path: Path, *words: str) -> Live | Replay:
    """Where the recordings of a command line come from."""
    empty = tmp_path / "triage.toml"
    empty.touch()
    args = parser().parse_args(["walk", *words, "--config", str(empty)])
    made = _recordings(args, settings_of(args))
    assert isinstance(made, Live | Replay)
    return made


def test_the_demo_is_walked_without_a_path(tmp_path: Path) -> None:
    """The incident that comes with the program is a recording like any other."""
    demo = recordings(tmp_path, "--demo")
    assert (demo.name, demo.live) == ("retry-storm", False)


def test_a_service_is_watched_and_a_fixed_time_is_not(tmp_path: Path) -> None:
    """A server is asked at every pause; what can only be sampled has no pause; a time that is over is asked for once."""
    server = recordings(tmp_path, "--service", "llm", "--prometheus", "http://127.0.0.1:9", "--every", "5")
    assert (server.name, server.live, server.pause) == ("llm", True, 5.0)
    sampled = recordings(tmp_path, "--endpoint", "127.0.0.1:9")
    assert (sampled.live, sampled.pause) == (True, 0.0)
    over = recordings(tmp_path, "--service", "llm", "--prometheus", "http://127.0.0.1:9", "--from", "1h ago", "--to", "50m ago")
    assert not over.live
    assert SAMPLE == 10.0


def test_what_draws_imports_nothing_that_diagnoses() -> None:
    """The engine, readers and collectors are of the process behind the screen: the screen does not wait for them."""
    words = "import sys, triage.tui.app, triage.tui.worker, triage.tui.feed; print(*sys.modules, sep='\\n')"
    done = run([sys.executable, "-c", words], cwd=ROOT, capture_output=True, text=True, check=True)
    heavy = ("triage.engine", "triage.ingest", "triage.collect", "pyarrow", "requests")
    assert [name for name in done.stdout.split() if name.startswith(heavy)] == []


def test_what_stands_first_needs_next_to_nothing() -> None:
    """Up to the first picture neither Textual nor numpy nor pydantic is imported."""
    words = "import sys, triage.cli, triage.cli.walk, triage.cli.curtain; triage.cli.parser(); print(*sys.modules, sep='\\n')"
    done = run([sys.executable, "-c", words], cwd=ROOT, capture_output=True, text=True, check=True)
    assert [name for name in done.stdout.split() if name.partition(".")[0] in {"textual", "rich", "numpy", "pydantic"}] == []


def test_a_walk_in_a_real_terminal(tmp_path: Path) -> None:
    """Behind a pseudo-terminal the walk shows the incident, follows keys, leaves with q, and prints what was copied."""
    environ = {**os.environ, "TERM": "xterm-256color", "HOME": str(tmp_path)}
    with on_terminal([sys.executable, "-m", "triage", "walk", "tests/incidents/retry-storm"], ROOT, environ) as terminal:
        begun = terminal.until(b"INCIDENT")
        assert b"INCIDENT" in begun
        assert begun.index(b"triage walk is starting") < begun.index(b"\x1b[?1000h")  # the curtain goes before Textual
        terminal.press(b"n")
        assert "›".encode() in terminal.until("›".encode())
        terminal.press(b"y")
        assert b"printed again" in terminal.until(b"printed again")
        terminal.press(b"q")
        assert b"http_client_request_duration_seconds_count" in terminal.until(b"http_client_request_duration_seconds_count")
        assert terminal.code() == ExitCode.HEALTHY

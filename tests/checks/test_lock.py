"""One run at a time."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from triage.checks.lock import held
from triage.errors import BusyError, ExitCode

NOW = 1_777_636_800.0

HOLDER = """
import sys, time
from pathlib import Path
from triage.checks.lock import held
with held(Path(sys.argv[1]), "a check runs", 1777636800.0):
    print("holds", flush=True)
    time.sleep(60.0)
"""


def holder(path: Path) -> "subprocess.Popen[str]":
    """Another process, once it holds the lock."""
    process = subprocess.Popen([sys.executable, "-c", HOLDER, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "holds\n"
    return process


def test_a_second_run_says_who_is_at_it(tmp_path: Path) -> None:
    """Process, machine and since when; and that is an exit code of its own."""
    path = tmp_path / "deep" / "lock"
    with holder(path) as process:
        try:
            with (
                pytest.raises(
                    BusyError, match=rf"a check runs at this moment: process {process.pid} on .*, since .*12:00:00"
                ) as caught,
                held(path, "a check runs", NOW),
            ):
                pytest.fail("two hold it")
            assert caught.value.exit_code is ExitCode.BUSY
            assert "nothing was checked" in caught.value.hint
        finally:
            process.kill()


def test_the_lock_of_a_process_that_was_killed_is_free(tmp_path: Path) -> None:
    """Though its file is still there and names it."""
    path = tmp_path / "lock"
    with holder(path) as process:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert str(process.pid) in path.read_text(encoding="utf-8")
    with held(path, "a check runs", NOW):
        assert f"process {os.getpid()} " in path.read_text(encoding="utf-8")


def test_a_lock_is_free_after_its_block(tmp_path: Path) -> None:
    """Also if the block fails."""
    path = tmp_path / "lock"
    with pytest.raises(ZeroDivisionError), held(path, "a check runs", NOW):
        raise ZeroDivisionError
    with held(path, "a check runs", time.time()):
        assert path.stat().st_mode & 0o077 == 0


def test_where_no_lock_can_be_made_that_is_no_lock(tmp_path: Path) -> None:
    """It is for the caller to say so."""
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    with pytest.raises(OSError, match="file"), held(tmp_path / "file" / "lock", "a check runs", NOW):
        pytest.fail("a lock in a file")

"""A first word after two scrapes of a real endpoint, refined in place; an interrupt reports on what was sampled."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from tests.collectors.test_endpoints import moved
from tests.servers import Ask, Front, Reply, ended, serving
from tests.terminals import interruptible, on_terminal
from triage.errors import ExitCode

ROOT = Path(__file__).parents[2]
FULL = {"vllm:num_requests_waiting{": "240", "vllm:kv_cache_usage_perc{": "1.0"}
"""An engine whose cache is full while requests wait."""

pytestmark = pytest.mark.slow


def exposition(number: int) -> bytes:
    """What the engine shows at one scrape."""
    lines = []
    for line in moved(number).splitlines():
        value = next((value for name, value in FULL.items() if line.startswith(name)), None)
        lines.append(line if value is None else f"{line.rpartition(' ')[0]} {value}")
    return "\n".join([*lines, ""]).encode()


def rests_on(screen: bytes) -> set[bytes]:
    """How long it was sampled, by each word on a screen."""
    return set(re.findall(rb"so far, ([^;]+) of 2 min sampled", screen))


@pytest.fixture
def engine() -> Iterator[Front]:
    """An engine's endpoint."""
    numbers = count()

    def answer(ask: Ask) -> Reply:
        return Reply(200, exposition(next(numbers)), {"Content-Type": "text/plain; version=0.0.4"})

    with serving(Front(own=answer)) as front:
        yield front


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """Nobody's settings, on a terminal with colours."""
    own = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "LINES", "TRIAGE_CONFIG")}
    return {**own, "PYTHONPATH": str(ROOT), "HOME": str(tmp_path), "TERM": "xterm-256color", "PYTHONUTF8": "1"}


def command(engine: Front, *words: str) -> list[str]:
    """A diagnosis that samples longer than anybody waits."""
    return [sys.executable, "-m", "triage", "diagnose", "--endpoint", engine.address, "--for", "120", *words]


def test_the_first_word_comes_while_it_is_sampled(engine: Front, environ: dict[str, str], tmp_path: Path) -> None:
    """On a terminal: the five lines so far, then again on more; Ctrl+C wipes them away and gives the whole report."""
    with on_terminal(command(engine), tmp_path, environ) as terminal:
        first = terminal.until(b"see more")
        scraped = len(engine.asked)
        refined = b""
        while len(rests_on(first + refined)) < 2:
            refined += terminal.until(b"sampled")
        terminal.interrupt()
        report = terminal.until(b"Layers")
        code = terminal.code()
    assert len(rests_on(first)) == 1
    assert b"INCIDENT" in first
    assert b"Layers" not in first + refined
    assert scraped >= 2
    assert b"so far" not in report.rpartition(b"\x1b[2K")[2]
    assert code == ExitCode.INCIDENT


def test_a_pipe_gets_the_answer_alone(engine: Front, environ: dict[str, str], tmp_path: Path) -> None:
    """With JSON into a pipe the word stands on the terminal of stderr, and one whole document comes out of the pipe."""
    with on_terminal(command(engine, "--format", "json"), tmp_path, environ, piped=True) as terminal:
        assert b"so far" in terminal.until(b"see more")
        terminal.interrupt()
        answer = json.loads(terminal.output())
        assert terminal.code() == ExitCode.INCIDENT
    assert answer["status"] == "incident"
    assert answer["window"]["end"] - answer["window"]["start"] < 120


def test_where_nobody_watches_nothing_is_said(engine: Front, environ: dict[str, str], tmp_path: Path) -> None:
    """Without a terminal there is no word; an interrupt gives the report of what was sampled all the same."""
    with interruptible():
        started = subprocess.Popen(
            command(engine, "--brief"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path, env=environ, text=True
        )
    with ended(started) as process:
        is_sampled = was_asked(engine, process, 4)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    assert is_sampled
    assert err == ""
    assert out.startswith("\u2716 INCIDENT")
    assert "so far" not in out
    assert process.returncode == ExitCode.INCIDENT


def was_asked(engine: Front, process: "subprocess.Popen[str]", times: int) -> bool:
    """Waits until an engine was asked so often; false if who asks has ended."""
    while len(engine.asked) < times:
        try:
            process.wait(0.05)
        except subprocess.TimeoutExpired:
            continue
        return False
    return True

"""Runs the command line as people do: each .txt file here is a session with the streams and exit codes that must come of it.

A script begins with a sentence. ``$ triage …`` runs a command in an empty folder that holds the script's own files, which
stand at its end as ``-- NAME --`` and text. After a command come the expected exit code (``= 64``; 0 if not said) and lines that
its streams must contain, in this order: ``out: …``, ``err: …``. A stream of which nothing is said must be empty; ``out: …`` alone
stands for anything. ``{data}`` holds dumps of metrics and cases made by dumps.py.
"""

import gzip
import shlex
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from triage.cli import main

from .dumps import FULL, HEALTHY, dump

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
ANYTHING = "…"
ENVIRONMENT = {"COLUMNS": "100", "NO_COLOR": "1", "TRIAGE_CONFIG": "", "XDG_CONFIG_HOME": ""}


@dataclass
class Step:
    """One command with what must come of it."""

    words: list[str]
    code: int = 0
    streams: dict[str, list[str]] = field(default_factory=lambda: {"out": [], "err": []})


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with dumps and cases: an engine in good health, and one with a full KV cache."""
    folder = tmp_path_factory.mktemp("data")
    for name, load, root, status in (
        ("healthy", HEALTHY, "", "healthy"),
        ("full", FULL, '"kv-exhaustion-preemption"', "incident"),
    ):
        text = dump(load)
        (folder / f"{name}.prom").write_text(text)
        (folder / f"{name}.om.gz").write_bytes(gzip.compress(text.encode()))
        case = folder / "cases" / name
        case.mkdir(parents=True)
        (case / "case.toml").write_text(f'name = "{name}"\nservice = "llm"\n')
        (case / "truth.toml").write_text(f'[truth]\nroot = [{root}]\nstatus = "{status}"\n')
        (case / "metrics.prom").write_text(text)
    return folder


def parsed(text: str, data: Path) -> tuple[list[Step], dict[str, str]]:
    """The steps of a script and its files."""
    text = text.replace("{data}", str(data))
    session, *blocks = text.split("\n-- ")
    steps: list[Step] = []
    for line in session.splitlines()[1:]:
        kind, _, rest = line.partition(" ")
        if kind == "$":
            steps.append(Step(shlex.split(rest)))
        elif kind == "=":
            steps[-1].code = int(rest)
        elif kind.removesuffix(":") in ("out", "err"):
            steps[-1].streams[kind.removesuffix(":")].append(rest)
        else:
            assert not line.strip(), f"what is {line!r}?"
    return steps, {name: body.removeprefix("\n") for block in blocks for name, _, body in [block.partition(" --")]}


def assert_holds(stream: str, lines: list[str]) -> None:
    """A stream contains the lines in their order, or is empty where none are expected."""
    if not lines:
        assert stream == ""
    position = 0
    for line in lines:
        if line != ANYTHING:
            assert line in stream[position:]
            position = stream.index(line, position) + len(line)


def run(words: list[str]) -> int:
    """The exit code of a command."""
    try:
        return main(words)
    except SystemExit as stop:
        return int(stop.code or 0)


@pytest.mark.parametrize("script", sorted(HERE.glob("*.txt")), ids=lambda path: path.stem)
def test_session(
    script: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every command of the script ends and speaks as it says."""
    steps, files = parsed(script.read_text(encoding="utf-8"), data)
    for name, body in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(body, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert steps
    for step in steps:
        program, *words = step.words
        code = run(words)
        out, err = capsys.readouterr()
        assert (program, words, step.code) == ("triage", words, code), err
        assert_holds(out, step.streams["out"])
        assert_holds(err, step.streams["err"])

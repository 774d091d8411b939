"""The border of the program: whatever happens inside, the caller gets a sentence and a code."""

import argparse
import io
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.terminals import interruptible
from triage.cli import BROKEN_PIPE, COMMANDS, INTERRUPTED, main, rules
from triage.cli.flags import add_source_flags
from triage.cli.progress import progress
from triage.cli.sources import service_of, span_of, window_of
from triage.errors import DataError, ExitCode
from triage.model.vocabulary import Cause, Layer
from triage.settings import Defaults, Settings, read_settings

ROOT = Path(__file__).parent.parent.parent
NOW = 1_800_000_000.0


def failing(error: BaseException) -> object:
    """A command that ends in an exception."""

    def run(_args: argparse.Namespace) -> ExitCode:
        raise error

    return run


def test_an_expected_error_is_one_sentence_and_a_hint(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the user can mend is told with what to do, and with the code of its kind."""
    monkeypatch.setattr(rules, "run", failing(DataError("x.om is damaged", "record it again")))
    assert main(["rules", "list"]) == ExitCode.DATA
    assert capsys.readouterr() == ("", "triage: x.om is damaged\n  record it again\n")


def test_a_defect_is_one_sentence_without_traceback(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A bug of ours is called one, and says how to get the traceback."""
    monkeypatch.setattr(rules, "run", failing(ZeroDivisionError("division by zero")))
    assert main(["rules", "list"]) == ExitCode.INTERNAL
    out, err = capsys.readouterr()
    assert (out, err) == ("", "triage: a defect in triage: ZeroDivisionError: division by zero\n  run it again with --debug\n")


@pytest.mark.parametrize("words", [["--debug", "rules", "list"], ["rules", "--debug", "list"], ["rules", "list", "--debug"]])
def test_debug_shows_the_traceback(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    """With --debug, wherever it stands, the traceback comes before the sentence."""
    monkeypatch.setattr(rules, "run", failing(DataError("x.om is damaged")))
    assert main(words) == ExitCode.DATA
    err = capsys.readouterr().err
    assert "Traceback" in err
    assert err.endswith("triage: x.om is damaged\n")


def test_an_interrupt_is_quiet(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Ctrl-C ends the program as shells expect, with nothing said."""
    monkeypatch.setattr(rules, "run", failing(KeyboardInterrupt()))
    assert main(["rules", "list"]) == INTERRUPTED
    assert capsys.readouterr() == ("", "")


def test_messages_cannot_paint_the_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """An error may quote a hostile file name or a server's answer."""
    monkeypatch.setattr(rules, "run", failing(DataError("\x1b[2J\u202eevil", "\x07 hint")))
    main(["rules", "list"])
    assert capsys.readouterr().err == "triage: \ufffd[2J\ufffdevil\n  \ufffd hint\n"


def test_a_closed_pipe_is_quiet() -> None:
    """``triage … | head -1`` ends without complaint."""
    command = [sys.executable, "-m", "triage", "coverage", "--signals"]
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, cwd=ROOT, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (BROKEN_PIPE, b"")


@pytest.mark.slow
def test_a_terminal_that_knows_only_ascii_is_no_defect() -> None:
    """What cannot be encoded becomes a question mark."""
    command = [sys.executable, "-c", "from triage.cli import main\nmain(['replay', '\u00e9'])\nprint('\u2265')"]
    done = subprocess.run(
        command, capture_output=True, cwd=ROOT, check=True, env={**os.environ, "PYTHONIOENCODING": "ascii:strict"}
    )
    assert done.stdout == b"?\n"
    assert done.stderr.startswith(b"triage: ? does not exist")


@pytest.mark.slow
def test_a_signal_ends_sampling(tmp_path: Path) -> None:
    """An interrupt before anything was sampled twice ends the program at once: it is sent when the engine is asked first."""
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(tmp_path)}
    with socket.create_server(("127.0.0.1", 0)) as engine:
        engine.settimeout(60)
        where = f"127.0.0.1:{engine.getsockname()[1]}"
        command = [sys.executable, "-m", "triage", "diagnose", "--endpoint", where, "--for", "300"]
        with interruptible():
            process = subprocess.Popen(command, stderr=subprocess.PIPE, cwd=tmp_path, env=environ, text=True)
        try:
            engine.accept()[0].close()
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=60)
        finally:
            process.kill()
            process.communicate()
    assert (process.returncode, err) == (INTERRUPTED, "")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each command says what it does and which flags it takes."""
    with pytest.raises(SystemExit) as stop:
        main([name, "--help"])
    assert stop.value.code == 0
    assert f"usage: triage {name}" in capsys.readouterr().out


def test_every_command_is_documented() -> None:
    """docs/commands.md has a section for each command."""
    text = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    assert [name for name in COMMANDS if f"\n## {name}\n" not in text] == []


def test_the_choices_of_a_new_kind_are_those_of_the_vocabulary() -> None:
    """They are written out, so that help does not load the vocabulary."""
    assert (tuple(Cause), tuple(Layer)) == (rules.CAUSES, rules.LAYERS)


def test_every_exit_code_is_documented() -> None:
    """docs/commands.md says what each exit code means."""
    text = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    assert [code for code in ExitCode if f"| {code.value} |" not in text] == []


def test_progress_is_silent_where_nobody_watches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Into a file or a pipe nothing is drawn."""
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with progress(quiet=False) as tell:
        tell("prometheus", "asking", 0.5)
    assert stream.getvalue() == ""


def test_progress_is_drawn_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal each source has a bar, and markup in what it says is only text."""

    class Screen(io.StringIO):
        def isatty(self) -> bool:
            return True

    stream = Screen()
    monkeypatch.setattr(sys, "stderr", stream)
    with progress(quiet=False) as tell:
        tell("prometheus", "[red]asking[/red]", 0.5)
    assert "prometheus" in stream.getvalue()
    assert "[red]asking[/red]" in stream.getvalue()
    quiet = Screen()
    monkeypatch.setattr(sys, "stderr", quiet)
    with progress(quiet=True) as tell:
        tell("prometheus", "asking", 0.5)
    assert quiet.getvalue() == ""


def flags(*words: str) -> argparse.Namespace:
    """Source flags as a command gets them."""
    parser = argparse.ArgumentParser()
    add_source_flags(parser)
    return parser.parse_args(words)


def settings(folder: Path) -> Settings:
    """Settings with one service that has everything."""
    path = folder / "triage.toml"
    path.write_text(
        '[service.llm]\nprometheus = "http://p:9090"\nlogs = ["a.log"]\nincident = "kept"\nobjectives = {ttft_p95_s = 2.0}\n'
    )
    return read_settings(path)


def test_flags_replace_the_sources_of_a_service(tmp_path: Path) -> None:
    """A flag that says where to look replaces server, endpoints and incident; what was promised stays."""
    service = service_of(
        flags("--service", "llm", "--endpoint", "a:1", "--endpoint", "b:2", "--logs", "x.log"), settings(tmp_path)
    )
    assert (service.prometheus, service.endpoints, service.incident) == (None, ("a:1", "b:2"), None)
    assert service.logs == (Path("x.log"),)
    assert service.objectives == {"ttft_p95_s": 2.0}


def test_a_service_that_the_settings_do_not_know_needs_a_source(tmp_path: Path) -> None:
    """With --prometheus any name is good, since the server may know it."""
    service = service_of(flags("--service", "other", "--prometheus", "http://q:9090"), settings(tmp_path))
    assert (service.name, service.prometheus) == ("other", "http://q:9090")


def test_with_nothing_named_this_machine_is_meant() -> None:
    """No service, no server: what runs here."""
    service = service_of(flags(), Settings(defaults=Defaults(prometheus="http://p:9090")))
    assert (service.name, service.prometheus, service.endpoints) == ("this-machine", None, ())


def test_a_server_is_asked_about_the_past(tmp_path: Path) -> None:
    """With a Prometheus the window ends now."""
    args = flags("--service", "llm", "--prometheus", "http://q:9090", "--since", "15m", "--baseline", "2h")
    window = window_of(span_of(args, Defaults(), NOW), service_of(args, settings(tmp_path)), NOW)
    assert (window.start, window.end, window.baseline_start) == (NOW - 900, NOW, NOW - 900 - 7200)


def test_a_short_window_has_a_short_baseline() -> None:
    """What is fetched is spread over both, so a baseline that nobody asked for does not blur a short window."""
    args = flags("--service", "llm", "--prometheus", "http://q:9090", "--from", "2m ago")
    window = window_of(span_of(args, Defaults(), NOW), service_of(args, Settings()), NOW)
    assert window.start - window.baseline_start == 360


def test_live_sources_are_sampled_from_now_on() -> None:
    """Without a server the window is the time of sampling."""
    args = flags("--endpoint", "a:1", "--for", "20")
    window = window_of(span_of(args, Defaults(), NOW), service_of(args, Settings()), NOW)
    assert (window.start, window.end) == (NOW, NOW + 20)


def test_a_server_and_endpoints_share_one_window() -> None:
    """With both, history counts and sampling goes on beside it."""
    args = flags("--service", "llm", "--prometheus", "http://q:9090", "--endpoint", "a:1")
    window = window_of(span_of(args, Defaults(), NOW), service_of(args, Settings()), NOW)
    assert (window.start, window.end) == (NOW + 30 - 1800, NOW + 30)


def test_a_window_in_the_past_is_not_sampled() -> None:
    """With --from and --to nothing is waited for."""
    args = flags("--from", "2h ago", "--to", "1h ago")
    window = window_of(span_of(args, Defaults(), NOW), service_of(args, Settings()), NOW)
    assert (window.start, window.end) == (NOW - 7200, NOW - 3600)


def test_every_schema_of_an_answer_is_documented() -> None:
    """docs/commands.md and docs/json.md name the schema of each document that a command writes."""
    text = "".join((ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("commands.md", "json.md"))
    code = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "triage" / "cli").glob("*.py"))
    kinds = {*re.findall(r'answered\("(\w+)"', code), *re.findall(r'"schema": "triage\.(\w+)/', code)}
    assert len(kinds) > 6
    assert {kind for kind in kinds if f"triage.{kind}/1" not in text} == set()

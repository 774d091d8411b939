"""Every flag of every command is heeded or refused, for every kind of source; docs/commands.md shows the table."""

import argparse
import itertools
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from triage.cli import COMMANDS, main, parser
from triage.cli.flags import add_source_flags
from triage.cli.heeding import HEEDED, ROWS, SOURCE_FLAGS, Looked, looked_at, refuse_idle, refuse_idle_sources
from triage.cli.sources import service_of, span_of, window_of
from triage.errors import ExitCode, UsageError
from triage.model.service import Service
from triage.settings import Defaults, Settings

ROOT = Path(__file__).resolve().parents[2]
NOW = 1_800_000_000.0

VALUES = {
    "--logs": "a.log",
    "--changes": "c.jsonl",
    "--since": "10m",
    "--from": "20m ago",
    "--to": "5m ago",
    "--baseline": "2h",
    "--for": "7",
    "--timeout": "3",
    "--collectors": "more",
    "--every": "9",
}

SERVICES = {
    Looked.RECORDING: ([], {"incident": "kept"}),
    Looked.SERVER: ([], {"prometheus": "http://p:9090"}),
    Looked.BOTH: ([], {"prometheus": "http://p:9090", "endpoints": ["a:1"]}),
    Looked.HISTORY: (["--since", "10m"], {"logs": (Path("a.log"),)}),
    Looked.PAST: (["--to", "5m ago"], {"logs": (Path("a.log"),)}),
    Looked.LOGS: ([], {"logs": (Path("a.log"),)}),
    Looked.PRESENT: ([], {}),
}
"""For each kind of source flags and settings that make it."""


def subparsers(
    one: argparse.ArgumentParser, words: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], argparse.ArgumentParser]]:
    """All commands and ways that take no further word, with their parsers."""
    below = [action for action in one._actions if isinstance(action, argparse._SubParsersAction)]
    if not below:
        yield words, one
    for action in below:
        for name, child in action.choices.items():
            yield from subparsers(child, (*words, name))


LEAVES = dict(subparsers(parser()))


def flags_of(one: argparse.ArgumentParser) -> set[str]:
    """The long names of a parser's flags, without help."""
    return {option for option in one._option_string_actions if option.startswith("--")} - {"--help"}


def arguments(*words: str) -> argparse.Namespace:
    """Source flags as a command gets them."""
    made = argparse.ArgumentParser()
    add_source_flags(made)
    return made.parse_args(words)


@pytest.mark.parametrize("kind", Looked)
@pytest.mark.parametrize("flag", sorted(set(SOURCE_FLAGS) - {"--every"}))
def test_a_source_heeds_a_flag_or_it_is_refused(kind: Looked, flag: str) -> None:
    """With a flag added the kind of source is the same or one that heeds it; else the flag is refused by its name."""
    words, fields = SERVICES[kind]
    args = arguments(*words, *([] if flag in words else [flag, VALUES[flag]]))
    service = Service(name="llm", **fields)  # type: ignore[arg-type]
    if args.logs or args.changes:
        service = service.model_copy(update={"logs": service.logs or tuple(map(Path, args.logs)), "changes": args.changes})
    if flag in HEEDED[looked_at(args, service)]:
        refuse_idle_sources(args, [service])
    else:
        with pytest.raises(UsageError, match=f"{flag} has no effect"):
            refuse_idle_sources(args, [service])


@pytest.mark.parametrize("kind", Looked)
def test_a_flag_on_time_that_is_heeded_changes_what_is_asked(kind: Looked) -> None:
    """What the table calls heeded makes another window or another wait; it is not just let through."""
    words, fields = SERVICES[kind]
    service = Service(name="llm", **fields)  # type: ignore[arg-type]
    for flag in sorted(HEEDED[kind] & {"--since", "--from", "--to", "--baseline", "--for", "--timeout"} - set(words)):
        if (flag, kind) == ("--from", Looked.HISTORY):
            continue  # this kind is made by --since here, which --from excludes
        plain, told = (span_of(arguments(*given), Defaults(), NOW) for given in (words, [*words, flag, VALUES[flag]]))
        before, after = (window_of(span, service, NOW) for span in (plain, told))
        assert (before, plain.timeout) != (after, told.timeout), flag


@pytest.mark.parametrize(("many", "flag"), [(True, "--since"), (False, "--for")])
def test_a_flag_counts_if_one_of_several_services_heeds_it(many: bool, flag: str) -> None:
    """A check of all services takes what any of them heeds."""
    server, lab = Service(name="a", prometheus="http://p:9090"), Service(name="b", endpoints=("a:1",))
    refuse_idle_sources(arguments(flag, VALUES[flag]), [server, lab])
    with pytest.raises(UsageError):
        refuse_idle_sources(arguments(flag, VALUES[flag]), [lab if many else server])


def test_the_walk_grows_its_window_where_only_the_present_is_seen() -> None:
    """There --since is the longest window, and --baseline what is kept before it."""
    args = parser().parse_args(["walk", "--endpoint", "a:1", "--since", "10m", "--baseline", "1h"])
    refuse_idle_sources(args, [Service(name="b", endpoints=("a:1",))])


def rows() -> Iterator[tuple[str, str]]:
    """Every command with every flag that it may refuse."""
    for command, table in ROWS.items():
        for row in table:
            yield from itertools.product([command], row.flags)


@pytest.mark.parametrize(("command", "flag"), sorted(set(rows())))
def test_the_table_names_flags_that_there_are(command: str, flag: str) -> None:
    """A row about a flag that a command does not have would never hold."""
    if flag == "--every" and command != "walk":
        return
    assert any(flag in flags_of(one) for words, one in LEAVES.items() if words[0] == command)


IDLE = [
    ("walk x.parquet --since 1h", "--since"),
    ("walk x.parquet --collectors d", "--collectors"),
    ("walk --demo --endpoint a:1", "--endpoint"),
    ("walk x.parquet --demo", "--demo"),
    ("walk --port 80", "--port"),
    ("walk --host 0.0.0.0", "--host"),
    ("walk --service x --prometheus http://p --from '1h ago' --every 5", "--every"),
    ("coverage --signals --service x", "--service"),
    ("coverage --signals x.parquet", "--signals"),
    ("coverage x.parquet --logs a.log", "--logs"),
    ("diagnose --endpoint a:1 --to '5m ago'", "--endpoint"),
    ("diagnose --logs a.log --to '5m ago' --for 5", "--for"),
    ("diagnose --format json --width 80", "--width"),
    ("diagnose --alert a.json --at '5m ago'", "--to"),
    ("diagnose --alert a.json --endpoint a:1", "--endpoint"),
    ("diagnose --alert - --logs -", "--logs"),
    ("replay x --format html --verbose", "--verbose"),
    ("record -o x.parquet --since 1h", "--since"),
    ("check --logs a.log", "--logs"),
    ("playbook --service x", "--service"),
    ("rules lint --dialects d --playbooks p", "--playbooks"),
    ("score d --sweep loss --coverage", "--coverage"),
    ("score d --sweep loss --save x", "--save"),
    ("score d --coverage --figures", "--figures"),
    ("score d --least-survival 0.5", "--least-survival"),
    ("score d --coverage --format markdown", "--format"),
    ("demo --walk --verbose", "--verbose"),
    ("demo --walk --format json", "--format"),
]


@pytest.mark.parametrize(("line", "flag"), IDLE)
def test_a_command_refuses_what_it_cannot_heed(
    line: str, flag: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The whole program says which flag it was, before anything is looked at."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert main(shlex.split(line)) == ExitCode.USAGE
    out, err = capsys.readouterr()
    assert out == ""
    assert f"triage: {flag} has no effect: " in err
    assert list(tmp_path.iterdir()) == []


def test_flags_of_time_and_sources_are_in_the_table() -> None:
    """Who adds a flag to the shared ones says which sources heed it."""
    made = argparse.ArgumentParser()
    add_source_flags(made)
    free = {"--service", "--prometheus", "--endpoint"}
    assert arguments("--at", "x") == arguments("--to", "x")
    assert flags_of(made) - free - {"--at"} == set(SOURCE_FLAGS) - {"--every"}
    assert set(HEEDED) == set(Looked)


def test_no_command_has_a_flag_that_its_code_does_not_read() -> None:
    """What a command's modules never name, no run of it can heed."""
    for words, one in LEAVES.items():
        text = "".join(sorted(code_of(words[0])))
        for action in one._actions:
            if action.dest not in ("help", "version") and not action.dest.startswith(
                "most_"
            ):  # score asks for its bars in a loop
                assert re.search(rf'\bargs\.{action.dest}\b|vars\(args\)\.get\("{action.dest}"', text), (words, action.dest)


def code_of(command: str) -> set[str]:
    """The text of a command's module and of those of the command line that it imports, near and far."""
    found: dict[str, str] = {}
    todo = [command]
    while todo:
        name = todo.pop()
        path = ROOT / "triage" / "cli" / f"{name}.py"
        if name not in found and path.is_file():
            found[name] = path.read_text(encoding="utf-8")
            todo += re.findall(r"from triage\.cli\.(\w+) import", found[name])
    return set(found.values())


def test_every_example_of_help_is_understood() -> None:
    """What help shows can be typed: each example is parsed, and no flag of it is refused."""
    seen = 0
    for name in COMMANDS:
        command = next(one for words, one in _commands() if words == name)
        assert command.epilog, name
        assert command.epilog.startswith("examples:\n"), name
        for line in command.epilog.splitlines()[1:]:
            words = shlex.split(line.rpartition("| ")[2].partition(" > ")[0])
            assert words[:2] == ["triage", name], line
            refuse_idle(parser().parse_args(words[1:]), name)
            seen += 1
    assert seen > len(COMMANDS)


def _commands() -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """The commands with their parsers."""
    for action in parser()._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.items()


def test_the_docs_show_the_table() -> None:
    """docs/commands.md has a row for each flag and a column for each kind of source, filled as the program does it."""
    text = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    assert f"| flag | {' | '.join(Looked)} |" in text
    for flag in SOURCE_FLAGS:
        cells = ["yes" if flag in HEEDED[kind] else "–" for kind in Looked]
        assert f"| `{flag}` | {' | '.join(cells)} |" in text


def test_a_service_of_the_settings_is_classified_with_the_flags_beside_it() -> None:
    """Logs that a flag names beside nothing else are logs alone, and a word on the time adds what is sampled."""
    alone = arguments("--logs", "a.log")
    assert looked_at(alone, service_of(alone, Settings())) is Looked.LOGS
    later = arguments("--logs", "a.log", "--since", "1h")
    assert looked_at(later, service_of(later, Settings())) is Looked.HISTORY


def shown_commands() -> Iterator[tuple[str, str]]:
    """Every command line that a page shows in a block of its own, without what explains it; with page and line."""
    for page in sorted([*(ROOT / "docs").glob("*.md"), ROOT / "README.md"]):
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), start=1):
            found = re.match(r"    (?:\S+ .* \| )?triage ([a-z].*)", line)
            if found and "COMMAND" not in line:
                yield f"{page.name}:{number}", re.split(r" {2,}| > | \|\| ", found[1])[0]


@pytest.mark.parametrize(("place", "line"), shown_commands())
def test_what_the_pages_show_can_be_typed(place: str, line: str) -> None:
    """Flags that a page shows are there, and count beside each other; brackets and dots stand for what may be left out."""
    words = shlex.split(re.sub(r"\[[^\]]*\]|…", "", line))
    if words[0] != "help":
        refuse_idle(parser().parse_args(words), words[0])
        return
    with pytest.raises(SystemExit) as stop:
        parser().parse_args([*words[1:], "--help"])
    assert stop.value.code == 0, place

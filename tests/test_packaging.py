"""What is shipped: the sdist, the wheel made from it, and an installation of that wheel, far from the checkout."""

import os
import re
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import pytest

from tests.terminals import on_terminal
from triage.learn.lesson import load_lessons

ROOT = Path(__file__).resolve().parent.parent
MAPPED = ("rules", "signatures", "collectors", "playbooks")
CASES = tuple(min(ROOT.glob(f"tests/*/{lesson.incident}")) for lesson in load_lessons().values())
"""The recordings that lessons walk."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (ROOT / "pyproject.toml").exists(), reason="needs a checkout"),
]


def run(*words: object, folder: Path, codes: tuple[int, ...] = (0,)) -> str:
    """The stdout of a program that ends with one of the codes that are fine."""
    done = subprocess.run([str(word) for word in words], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode in codes, done.stdout + done.stderr
    return done.stdout


def files_below(folder: Path) -> Iterator[PurePosixPath]:
    """What a folder of the checkout holds, but for what Python leaves there."""
    for path in folder.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            yield PurePosixPath(path.relative_to(ROOT).as_posix())


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the sdist as a release is."""
    out = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, ROOT, folder=out)
    assert len(list(out.glob("*.tar.gz"))) == 1
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new virtual environment with the wheel in it; libraries are those of the tests, so no network is needed."""
    home = tmp_path_factory.mktemp("installed")
    run(sys.executable, "-m", "venv", "--without-pip", home, folder=home)
    python = home / "bin" / "python"
    (site,) = home.glob("lib/python*/site-packages")
    (site / "libraries.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    run(sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-deps", "--no-index", wheel, folder=home)
    return home


def test_the_wheel_holds_exactly_the_package_and_its_metadata(wheel: Path) -> None:
    """Every file of the checkout that belongs in is in, and nothing else is: no top-level package but ours."""
    names = {PurePosixPath(name) for name in zipfile.ZipFile(wheel).namelist()}
    metadata = {name for name in names if name.parts[0].endswith(".dist-info")}
    expected = {*files_below(ROOT / "triage"), *("triage" / name for kind in MAPPED for name in files_below(ROOT / kind))}
    cases = {PurePosixPath("triage", "cases", *name.parts[2:]) for case in CASES for name in files_below(case)}
    compiled = {PurePosixPath("triage", "compiled_data", f"{name}.json") for name in ("rules", "dialects", "signatures")}
    assert names - metadata == expected | cases | compiled
    assert {name.name for name in metadata} >= {"METADATA", "RECORD", "entry_points.txt", "LICENSE"}


def test_nothing_shipped_is_read_and_checked_at_a_start(installed: Path, tmp_path: Path) -> None:
    """An installation takes rules, dialects and signatures as the wheel has them compiled, and writes no cache of its own."""
    python = installed / "bin" / "python"
    program = """
import triage.yamltext
triage.yamltext.load = None
from triage.engine.rules.loading import load_rules
from triage.ingest.language import load_language
print(len(load_rules()), len(load_language().dialects))
"""
    told = run("env", f"XDG_CACHE_HOME={tmp_path / 'cache'}", python, "-c", program, folder=tmp_path)
    rules, dialects = (len(list((ROOT / name).rglob("*.yaml"))) for name in ("rules", "collectors/dialects"))
    assert told.split() == [str(rules), str(dialects)]
    assert not (tmp_path / "cache").exists()


def test_the_index_page_links_nothing_that_it_does_not_have(wheel: Path) -> None:
    """An index shows the README alone: no picture and no link of it may lead into the repository."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        page = archive.read(name).decode()
    assert "# triage" in page
    assert re.findall(r"\]\((?!https?://)[^)]*\)", page) == []


@pytest.mark.parametrize(
    ("kind", "pattern"),
    [
        ("rules", "*.yaml"),
        ("signatures", "*.yaml"),
        ("collectors", "*.py"),
        ("collectors", "dialects/*.yaml"),
        ("playbooks", "*.md"),
    ],
)
def test_the_wheel_holds_every_plug_in(wheel: Path, kind: str, pattern: str) -> None:
    """As many rules, collectors, dialects and playbooks as in the checkout."""
    shipped = [name for name in zipfile.ZipFile(wheel).namelist() if PurePosixPath(name).match(f"triage/{kind}/**/{pattern}")]
    shipped += [name for name in zipfile.ZipFile(wheel).namelist() if PurePosixPath(name).match(f"triage/{kind}/{pattern}")]
    assert len(set(shipped)) == len(list((ROOT / kind).rglob(pattern))) > 0


def test_the_installed_program_lists_all_rules(installed: Path, tmp_path: Path) -> None:
    """Far from the checkout the rules are found inside the package."""
    listed = run(installed / "bin" / "triage", "rules", "list", folder=tmp_path).splitlines()[1:]
    assert [line.split()[0] for line in listed] == sorted(path.stem for path in (ROOT / "rules").rglob("*.yaml"))


def test_the_installed_program_lists_all_playbooks(installed: Path, tmp_path: Path) -> None:
    """Far from the checkout the playbooks are found inside the package."""
    listed = run(installed / "bin" / "triage", "playbook", "list", folder=tmp_path).split()
    assert sorted(listed) == sorted(path.stem for path in (ROOT / "playbooks").glob("*.md"))


def test_the_installed_program_replays_a_case(installed: Path, tmp_path: Path) -> None:
    """An incident is diagnosed, which takes dialects, rules, playbooks and the engine."""
    case = min(path.parent for path in (ROOT / "tests" / "incidents").rglob("case.toml"))
    report = run(installed / "bin" / "triage", "replay", case, "--format", "json", folder=tmp_path, codes=(0, 1, 2, 3))
    assert '"schema": "triage.diagnosis/2"' in report


def test_the_installed_program_loads_all_collectors(installed: Path, tmp_path: Path) -> None:
    """Collectors are found and loaded from inside the package."""
    code = "from triage.plugins import load_collectors; print(*sorted(load_collectors()))"
    loaded = run(installed / "bin" / "python", "-c", code, folder=tmp_path).split()
    assert loaded == sorted(path.stem for path in (ROOT / "collectors").glob("*.py"))


def test_the_wheel_stays_small(wheel: Path) -> None:
    """Recordings are half of it; more of them belong into the repository."""
    assert wheel.stat().st_size < 5 * 2**20


def test_the_installed_program_has_its_demo(installed: Path, tmp_path: Path) -> None:
    """Without a clone a real incident is seen at once."""
    assert "retry-storm" in run(installed / "bin" / "triage", "demo", folder=tmp_path)


@pytest.mark.parametrize(("lang", "words"), [("en", "INCIDENT"), ("zh", "故障")])
def test_the_installed_program_walks_its_demo(installed: Path, tmp_path: Path, lang: str, words: str) -> None:
    """In an empty folder, on a terminal, a real incident is walked at once; Ctrl+C leaves."""
    environ = {**os.environ, "TERM": "xterm-256color", "HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")}
    command = [str(installed / "bin" / "triage"), "walk", "--demo", "--lang", lang]
    with on_terminal(command, tmp_path, environ) as terminal:
        assert words.encode() in terminal.until(words.encode())
        terminal.press(b"\x03")
        assert terminal.code() == 0


def test_the_installed_program_teaches(installed: Path, tmp_path: Path) -> None:
    """Every lesson finds its recording, and a drill can be done, in an empty folder."""
    triage = installed / "bin" / "triage"
    lessons = run(triage, "learn", "list", folder=tmp_path)
    assert all(lesson in lessons for lesson in load_lessons())
    assert "retry-storm" in run(triage, "learn", "lesson", "retries-make-it-worse", folder=tmp_path)
    (tmp_path / "answers").write_text("quit\n")
    assert "1" in run(triage, "learn", "drill", "--answers", "answers", folder=tmp_path)
    code = "from triage.learn.cases import drill_cases, find_case; from triage.learn.lesson import load_lessons\n"
    code += "[find_case(one.incident) for one in load_lessons().values()]; print(len(drill_cases()))"
    assert int(run(installed / "bin" / "python", "-c", code, folder=tmp_path)) >= 8


def test_the_installed_program_runs_every_lesson_in_both_languages(installed: Path, tmp_path: Path) -> None:
    """In an empty folder, to its end, and the demo's report is Chinese, too."""
    code = (
        "from triage.engine.rules.loading import load_rules; from triage.learn.cases import Case, find_case\n"
        "from triage.learn.lesson import load_lessons; from triage.learn.screen import Screen\n"
        "from triage.learn.show import show_lesson\n"
        "for lesson in load_lessons().values():\n"
        "    case = Case(find_case(lesson.incident), load_rules())\n"
        "    [show_lesson(Screen({}), lesson, case, lang) for lang in ('en', 'zh')]\n"
    )
    told = run(installed / "bin" / "python", "-c", code, folder=tmp_path)
    assert told.count("Done. 'triage learn list'") == told.count("完成。用 “triage learn list”") == len(load_lessons())
    assert "重试让过载持续" in run(installed / "bin" / "triage", "demo", "--lang", "zh", folder=tmp_path)


@pytest.mark.parametrize("name", MAPPED)
def test_no_other_top_level_name_is_installed(installed: Path, tmp_path: Path, name: str) -> None:
    """Nobody's own ``rules`` or ``collectors`` is shadowed by an installation of triage."""
    code = f"import triage, importlib.util; print(importlib.util.find_spec({name!r}))"
    assert run(installed / "bin" / "python", "-c", code, folder=tmp_path) == "None\n"

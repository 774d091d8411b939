"""Imports point one way. The contracts in pyproject.toml say it of the code; this says it of what is really loaded."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

import triage
from triage.bundle import Kind, bundled, demo_case

PACKAGE = Path(triage.__file__).parent

SLOW = (
    "numpy",
    "pyarrow",
    "pydantic",
    "textual",
    "rich",
    "yaml",
    "re2",
    "requests",
    "urllib3",
    "pandas",
    "pynvml",
    "psutil",
    "prometheus_api_client",
    "json",
    "logging",
    "concurrent",
)
"""What may not be loaded to show help."""

COLLECTORS_ONLY = {"pynvml", "psutil", "requests", "prometheus_api_client", "urllib3"}
"""Drivers, the host and the network."""

HTTP_CLIENT = PACKAGE / "ingest" / "http"
"""The one client by which collectors ask over the network."""

DIAGNOSIS = """
from triage.engine.diagnose import diagnose
from triage.engine.rules.loading import load_rules
from triage.model.recording import Recording, Window
from triage.render import FORMATS, render
diagnosis = diagnose(Recording("llm", Window(1000.0, 1600.0, 400.0)), load_rules())
for form in FORMATS:
    assert "llm" in render(diagnosis, form)
"""


def loaded_after(code: str) -> set[str]:
    """Top names of the modules that a fresh interpreter has loaded after running some code."""
    listing = "print(); print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    program = f"import sys\n{code}\nsys.stdout = sys.__stdout__\n{listing}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=PACKAGE.parent)
    return set(done.stdout.splitlines()[-1].split())


def imports_of(path: Path) -> Iterator[str]:
    """Full names of the modules that a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield f"{'.' * node.level}{node.module or ''}"


NEEDLESS = {
    *("asyncio", "concurrent", "html", "http", "logging", "markdown_it", "multiprocessing", "nvidia", "prometheus_api_client"),
    *("psutil", "pyarrow", "pydantic", "pydantic_core", "pygments", "pynvml", "requests", "sqlite3", "ssl", "statistics"),
    *("subprocess", "textual", "traceback", "unittest", "urllib3", "xml", "yaml"),
}
"""What a replay of a folder that is not large has no use for."""


UNREAD = """
from triage.engine.rules import loading as rules
from triage.ingest.logs import loading as signatures
from triage.ingest.metrics import dialects
rules.checked = dialects.checked = signatures.checked = None
"""
"""Nothing can read and check rules, dialects and signatures any more."""


def test_a_plain_replay_loads_only_what_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second replay checks no rules, dialects and signatures, and loads nothing that asks, draws or plots.

    Readers of pasted output are loaded when a line may begin some: here none does.
    """
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    code = f"from triage.cli import main\nassert main(['replay', {str(demo_case())!r}]) < 4"
    loaded_after(code)
    unasked = "assert 'triage.ingest.logs.shown.known' not in sys.modules"
    assert not loaded_after(f"{UNREAD}{code}\n{unasked}") & NEEDLESS


@pytest.mark.parametrize(
    "words", [["--help"], ["diagnose", "--help"], ["rules", "lint", "--help"], ["fits", "--help"], ["--version"]]
)
def test_help_loads_nothing_slow(words: list[str]) -> None:
    """Help is instant, because nothing that takes time is imported for it."""
    code = f"from triage.cli import main\ntry:\n    main({words!r})\nexcept SystemExit as stop:\n    assert not stop.code"
    assert not loaded_after(code) & set(SLOW)


def test_a_report_does_not_load_the_tui() -> None:
    """Diagnosing and rendering in every format needs no Textual, and no source."""
    assert not loaded_after(DIAGNOSIS) & ({"textual"} | COLLECTORS_ONLY)


def test_only_the_tui_imports_textual() -> None:
    """Whoever reads another part of the program needs to know nothing of Textual."""
    touching = {path for path in PACKAGE.rglob("*.py") if any(name.partition(".")[0] == "textual" for name in imports_of(path))}
    assert all(path.is_relative_to(PACKAGE / "tui") for path in touching)


def test_only_collectors_touch_drivers_host_and_network() -> None:
    """The program itself reads nothing but files; collectors ask over the network by one client."""
    touching = {
        path for path in PACKAGE.rglob("*.py") if any(name.partition(".")[0] in COLLECTORS_ONLY for name in imports_of(path))
    }
    inside = PACKAGE / "collectors"
    assert all(path.is_relative_to(inside) or path.is_relative_to(HTTP_CLIENT) for path in touching)


@pytest.mark.parametrize("path", sorted(bundled("collectors").glob("*.py")), ids=lambda path: path.stem)
def test_a_collector_imports_of_ours_only_the_sdk(path: Path) -> None:
    """Collectors are loaded by path, so no static contract sees them: their imports are read here."""
    names = list(imports_of(path))
    assert [name for name in names if name.partition(".")[0] == "triage" and name not in ("triage.sdk", "triage.sdk.parts")] == []
    assert [name for name in names if name.startswith(".")] == []


def test_no_collector_hides_a_library() -> None:
    """A collector is named after what it sees, never like a library that it or another one imports."""
    imported = {name.partition(".")[0] for path in bundled("collectors").glob("*.py") for name in imports_of(path)}
    assert not imported & {path.stem for path in bundled("collectors").glob("*.py")}


def test_the_folders_beside_the_package_are_no_packages() -> None:
    """No rules, collectors or playbooks package may ever be importable from an installation."""
    assert [path for kind in get_args(Kind) for path in [bundled(kind) / "__init__.py"] if path.exists()] == []

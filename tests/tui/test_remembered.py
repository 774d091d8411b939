"""What the walk remembers, and that nothing in that file can keep it from starting."""

import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tui import case
from triage.tui.app import WalkApp
from triage.tui.remembered import Layout, Remembered, read_remembered, remembered_file, write_remembered


def test_it_comes_back_as_it_was_kept(tmp_path: Path) -> None:
    """Colours, shares and that somebody has walked survive."""
    path = tmp_path / "deep" / "walk.json"
    kept = Remembered(theme="triage-light", language="zh", layout=Layout(columns=40, rows=60), walked=True)
    write_remembered(path, kept)
    assert read_remembered(path) == kept
    assert [one.name for one in path.parent.iterdir()] == ["walk.json"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no json",
        "[]",
        "null",
        '{"theme": 7}',
        '{"theme": "\\u001b[31m"}',
        '{"layout": {"columns": 1}}',
        '{"layout": {"rows": "50"}}',
        '{"layout": {"columns": 1e999}}',
        '{"walked": "yes"}',
        '{"language": "tlh"}',
        '{"theme": "' + "x" * 10_000 + '"}',
        "[" * 3000,
    ],
)
def test_what_is_not_ours_counts_as_nothing(tmp_path: Path, text: str) -> None:
    """A damaged, foreign or hostile file is as good as none."""
    path = tmp_path / "walk.json"
    path.write_text(text, encoding="utf-8")
    assert read_remembered(path) == Remembered()


@given(st.binary(max_size=200))
def test_no_bytes_keep_the_walk_from_starting(data: bytes) -> None:
    """Whatever stands in the file, reading it gives an answer."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "walk.json"
        path.write_bytes(data)
        assert isinstance(read_remembered(path), Remembered)


def test_what_is_no_file_is_not_read(tmp_path: Path) -> None:
    """A folder, a pipe that nobody fills, a place that does not exist: nothing is remembered, and nobody waits."""
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for name in ("folder", "pipe", "missing"):
        assert read_remembered(tmp_path / name) == Remembered()
    assert read_remembered(None) == Remembered()


def test_what_cannot_be_kept_is_lost_without_a_word(tmp_path: Path) -> None:
    """A place that cannot be written to is no reason to fail."""
    (tmp_path / "file").write_text("", encoding="utf-8")
    write_remembered(tmp_path / "file" / "walk.json", Remembered(walked=True))
    write_remembered(None, Remembered(walked=True))
    assert (tmp_path / "file").read_text(encoding="utf-8") == ""


def test_where_it_is_kept() -> None:
    """Below the folder for state; a relative one is no folder for state; without a home nothing is kept."""
    assert remembered_file({"XDG_STATE_HOME": "/s", "HOME": "/h"}) == Path("/s/triage/walk.json")
    assert remembered_file({"XDG_STATE_HOME": "s", "HOME": "/h"}) == Path("/h/.local/state/triage/walk.json")
    assert remembered_file({}) is None


def test_a_theme_that_is_gone_is_the_dark_one() -> None:
    """A name that no theme has any more does not matter; a flag goes before what is remembered."""
    light = Remembered(theme="triage-light")
    assert WalkApp(case.session(), case.playbook, remembered=Remembered(theme="gone")).theme == "triage-dark"
    assert WalkApp(case.session(), case.playbook, remembered=light).theme == "triage-light"
    assert WalkApp(case.session(), case.playbook, "dark", remembered=light).theme == "triage-dark"


def test_shares_stay_where_both_panes_can_be_read() -> None:
    """However often a key is pressed, both panes keep a part."""
    layout = Layout()
    for _ in range(20):
        layout = layout.moved(1, wide=True)
    assert layout == Layout(columns=80)
    for _ in range(20):
        layout = layout.moved(-1, wide=True)
    assert json.loads(layout.model_dump_json()) == {"columns": 20, "rows": None}

"""The pictures of the documentation are drawn by a script."""

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent.parent
PICTURES = ROOT / "docs" / "pictures"
LARGEST = 64 * 1024


def test_the_script_draws_the_pictures(tmp_path: Path) -> None:
    """It draws those that are kept, small, and with nothing in them that would be fetched or run."""
    subprocess.run([sys.executable, ROOT / "scripts" / "pictures", tmp_path], check=True, capture_output=True)
    drawn = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert set(drawn) == {path.name for path in PICTURES.iterdir()}
    for data in drawn.values():
        tags = {element.tag.rpartition("}")[2] for element in ET.fromstring(data).iter()}
        assert tags == {"svg", "style", "rect", "text"}
        assert data.count(b"http") == 1 + data.count(b"http_")  # the namespace, and names of metrics
        assert len(data) < LARGEST


def test_every_picture_is_shown() -> None:
    """A picture that no page shows is not kept."""
    pages = "".join(path.read_text(encoding="utf-8") for path in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
    assert [path.name for path in PICTURES.iterdir() if path.name not in pages] == []

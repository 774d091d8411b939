"""The HTML report in a real browser. Needs Chromium: apt-get install chromium (Debian package ``chromium``)."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.render.fixtures import incident
from triage.render.html import to_html

pytestmark = pytest.mark.slow

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1100,2000",
)


def browser() -> str:
    """The path of Chromium; the test fails with what to install where it is missing."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        pytest.fail("this test opens the HTML report in Chromium, which is not here: install the Debian package chromium")
    return found


def test_a_browser_draws_the_report_as_we_wrote_it(tmp_path: Path) -> None:
    """The document as the browser understood it has all charts and findings, and its policy let no script or address through."""
    page = tmp_path / "report.html"
    page.write_text(to_html(incident()), encoding="utf-8")
    done = subprocess.run(
        [browser(), *FLAGS, f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", page.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    curves = sum(e.spark is not None for f in incident().findings for e in f.evidence) + sum(
        v.spark is not None for v in incident().vitals
    )
    assert done.stdout.count('<svg class="chart"') == curves
    assert done.stdout.count("<article ") == len(incident().findings)
    assert "Refused to" not in done.stderr

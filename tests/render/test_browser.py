"""The HTML report in a real browser. Needs Chromium: apt-get install chromium (Debian package ``chromium``)."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.render.fixtures import incident
from triage.engine.diagnose import diagnose
from triage.engine.rules.loading import load_rules
from triage.ingest.files.incident import read_incident
from triage.playbooks import advice, fitted, load_playbook
from triage.render.html import to_html

pytestmark = pytest.mark.slow

MOST_PAGES = 5

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
    """The document as the browser understood it has all charts and findings, and a button beside every command."""
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
    assert done.stdout.count('<button type="button">copy</button>') == done.stdout.count('<div class="command">') > 0
    assert "Refused to" not in done.stderr


@pytest.mark.parametrize("case", ["retry-storm", "pcie-degraded-a050"])
def test_a_print_has_a_few_pages(case: str, tmp_path: Path) -> None:
    """The answer, the playbook and the proof; what is folded away on the screen stays so on paper."""
    recording = read_incident(Path(__file__).parents[1] / "incidents" / case)
    diagnosis = diagnose(recording, load_rules(), advice)
    first = diagnosis.findings[0]
    book = fitted(load_playbook(first.playbook), first.names, diagnosis.coverage.dialects)
    page, paper = tmp_path / "report.html", tmp_path / "report.pdf"
    page.write_text(to_html(diagnosis, playbooks={book.id: book}), encoding="utf-8")
    flags = [*FLAGS, f"--user-data-dir={tmp_path / 'profile'}", f"--print-to-pdf={paper}"]
    subprocess.run([browser(), *flags, page.as_uri()], capture_output=True, timeout=120, check=True)
    assert 1 <= len(re.findall(rb"/Type\s*/Page\b", paper.read_bytes())) <= MOST_PAGES

"""The text report: what a person sees at 3 a.m., at any width, on any terminal."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.cells import cell_len

from tests.render.fixtures import ALL, degraded, fleet, healthy, incident, inconclusive
from triage.model.diagnosis import Diagnosis
from triage.render.html import to_html
from triage.render.markdown import to_markdown
from triage.render.text import to_text

GOLDEN = Path(__file__).with_name("golden")
GUIDE = Path(__file__).parents[2] / "docs" / "reading-a-report.md"
EVERY = pytest.mark.parametrize("make", ALL.values(), ids=ALL.keys())
COMMANDS = {line for make in ALL.values() for f in make().findings for line in (*f.check, *(e.query for e in f.evidence))}


def plain(diagnosis: Diagnosis, width: int = 80, *, verbose: bool = False, utf8: bool = True) -> str:
    """The report without colours."""
    return to_text(diagnosis, width=width, colour=False, verbose=verbose, utf8=utf8)


def test_the_guide_shows_the_report_as_it_is() -> None:
    """docs/reading-a-report.md explains the very report that the incident gives at 80 columns."""
    assert f"```text\n{plain(incident())}```" in GUIDE.read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "make", "width"), [("inconclusive", inconclusive, 80), ("degraded-wide", degraded, 160)])
def test_reports_look_as_agreed(name: str, make: Callable[[], Diagnosis], width: int) -> None:
    """The whole page of an inconclusive report, and of one with a line for each piece of evidence."""
    assert plain(make(), width) == (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")


def test_the_answer_comes_first_and_last() -> None:
    """Status, service, cause and time stand on top, and again where a terminal stops scrolling."""
    lines = plain(incident()).splitlines()
    assert lines[0] == "✖ INCIDENT  llm-prod"
    assert "12:01:30" in " ".join(lines[1:3])
    assert "triage playbook prefix-cache-collapse" in lines[-1]


def test_sections_keep_their_order() -> None:
    """Symptoms, layers, roots, what follows, contributing, what it is not, what could not be seen."""
    titles = re.findall(r"^── (.*?) ─", plain(incident()), re.MULTILINE)
    assert titles == [
        "Symptoms",
        "Layers",
        "Root cause 1 of 2",
        "Root cause 2 of 2",
        "What follows from what",
        "Contributing",
        "What it is not",
        "What could not be looked at",
    ]


def test_an_inconclusive_report_says_first_what_is_missing() -> None:
    """With nothing to judge, what to do about it is the answer."""
    titles = re.findall(r"^── (.*?) ─", plain(inconclusive()), re.MULTILINE)
    assert titles == ["What is missing for an answer", "Layers"]
    assert "connection refused" in plain(inconclusive())


def test_a_healthy_report_is_short() -> None:
    """Nobody reads a page about nothing, and what was not judged is said all the same."""
    text = plain(healthy())
    assert len(text.splitlines()) <= 16
    assert "84 of 101 kinds of failure judged" in text


@EVERY
@pytest.mark.parametrize("width", [40, 60, 80, 120, 160, 200])
@pytest.mark.parametrize("verbose", [False, True])
def test_no_line_is_wider_than_the_terminal(make: Callable[[], Diagnosis], width: int, verbose: bool) -> None:
    """Commands are left in one piece to be copied; everything else fits, and no line ends in spaces."""
    for line in plain(make(), width, verbose=verbose).splitlines():
        assert line == line.rstrip()
        assert cell_len(line) <= width or line.strip() in COMMANDS


@EVERY
def test_without_colour_there_is_no_escape(make: Callable[[], Diagnosis]) -> None:
    """A pipe, a file and NO_COLOR get plain text; a terminal gets the same words."""
    assert "\x1b" not in plain(make())
    coloured = to_text(make(), width=80, colour=True)
    assert "\x1b[" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain(make())


@EVERY
def test_an_ascii_terminal_gets_ascii(make: Callable[[], Diagnosis]) -> None:
    """Shapes, curves, units and tree have stand-ins."""
    text = plain(make(), utf8=False, verbose=True)
    assert text.isascii()
    assert make().status.value.upper() in text.splitlines()[0]


def test_a_hundred_replicas_are_three_names_and_a_number() -> None:
    """The list does not bury the report, and is whole where it is asked for."""
    assert "on 100 replicas: vllm-llama-70b-7c9f8d6b5-00000" in plain(fleet())
    assert "and 97 more" in " ".join(plain(fleet()).split())
    assert plain(fleet(), verbose=True).count("vllm-llama-70b-7c9f8d6b5-0") >= 100


def test_verbose_holds_back_nothing() -> None:
    """Every ruled-out kind, every fact, every consequence in full, and what each signal means."""
    text = plain(incident(), verbose=True)
    assert all(one.rule in text for one in incident().ruled_out)
    assert "Share of the KV cache in use." in text
    assert "triage playbook retry-storm" in text
    assert "replicas 6" in text
    assert "3 more ruled out" in plain(incident())


def test_look_alikes_that_stay_possible_are_named() -> None:
    """A cause that cannot be told from another says so."""
    assert "Could also be power-cap" in plain(degraded())


@pytest.mark.parametrize("show", [plain, to_markdown, to_html])
def test_trouble_without_a_known_cause_says_so(show: Callable[[Diagnosis], str]) -> None:
    """Symptoms that nothing explains are not left without a word, and what was not judged may be the cause."""
    text = show(degraded().model_copy(update={"findings": ()}))
    assert "None found with the data at hand. 1 kind of failure could not be judged and may be it" in " ".join(text.split())


def test_without_a_cause_the_end_says_what_to_get() -> None:
    """The next step is the one that lets most kinds be judged."""
    text = plain(degraded().model_copy(update={"findings": ()}))
    assert text.endswith("no root cause found\n  next: let the DCGM exporter report DCGM_FI_DEV_CLOCKS_EVENT_REASONS\n")


def test_a_report_without_any_details_is_still_a_report() -> None:
    """No layers, evidence, onset, subjects or curves: what there is is shown."""
    bare = (
        incident()
        .findings[0]
        .model_copy(update={"evidence": (), "subjects": (), "onset": None, "check": (), "leads_to": (), "summary": ""})
    )
    text = plain(incident().model_copy(update={"findings": (bare,), "symptoms": (), "layers": (), "ruled_out": (), "facts": {}}))
    assert "on replica vllm-3, since an unknown time" in text

"""The text report: what a person sees at 3 a.m., at any width, on any terminal."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.render.fixtures import ALL, degraded, fleet, healthy, incident, inconclusive
from triage.model.diagnosis import CauseState, CauseView, Diagnosis, Promised
from triage.render.brief import STATUS_SIGNS, brief_text
from triage.render.html import to_html
from triage.render.markdown import to_markdown
from triage.render.page import Page
from triage.render.reading import vital_name
from triage.render.text import to_first_word, to_text

GOLDEN = Path(__file__).with_name("golden")
GUIDE = Path(__file__).parents[2] / "docs" / "reading-a-report.md"
EVERY = pytest.mark.parametrize("make", ALL.values(), ids=ALL.keys())
COMMANDS = {
    line
    for make in ALL.values()
    for f in make().findings
    for line in (*f.check, *(e.query for e in f.evidence), f"triage playbook {f.playbook}")
}


def plain(diagnosis: Diagnosis, width: int = 80, *, verbose: bool = False, utf8: bool = True, height: int = 24) -> str:
    """The report without colours."""
    return to_text(diagnosis, width=width, colour=False, verbose=verbose, utf8=utf8, height=height)


def test_the_guide_shows_the_report_as_it_is() -> None:
    """docs/reading-a-report.md explains the very report that the incident gives at 80 columns."""
    assert f"```text\n{plain(incident())}```" in GUIDE.read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "make", "width"), [("inconclusive", inconclusive, 80), ("degraded-wide", degraded, 160)])
def test_reports_look_as_agreed(name: str, make: Callable[[], Diagnosis], width: int) -> None:
    """The whole page of an inconclusive report, and of one with a line for each piece of evidence."""
    assert plain(make(), width) == (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")


def test_the_answer_comes_first_and_last() -> None:
    """Status, service, cause and time stand on top, and again where a terminal stops scrolling."""
    text = plain(incident())
    five = brief_text(incident(), width=80, colour=False)
    assert text.startswith(five)
    assert text.endswith(f"{'─' * 66}\n{five}")
    assert plain(incident(), height=1000).count("do not  ") == text.count("do not  ") - 1


@EVERY
@pytest.mark.parametrize("width", [40, 80, 120])
def test_five_lines_suffice(make: Callable[[], Diagnosis], width: int) -> None:
    """What; since when, where and how sure; what to do first; what not to do; how to see more. They fit the least terminal."""
    lines = brief_text(make(), width=width, colour=False).splitlines()
    labels = re.findall(r"^  (when|do first|do not|see more)(?:  |$)", "\n".join(lines), re.MULTILINE)
    assert labels == ["when", "do first", "do not", "see more"]
    assert lines[0].startswith(f"{STATUS_SIGNS[make().status][0]} {make().status.value.upper()}  llm-prod  ")
    assert len(lines) <= 24


def test_five_lines_name_what_is_asked_next() -> None:
    """The command that shows more knows the incident."""
    text = brief_text(incident(), width=80, colour=False, flags="--incident kept.parquet")
    assert text.endswith("see more  triage playbook prefix-cache-collapse --incident kept.parquet\n")


def test_sections_keep_their_order() -> None:
    """Vital signs, layers, roots, what follows, contributing, what it is not, what could not be seen."""
    titles = re.findall(r"^── (.*?) ─", plain(incident()), re.MULTILINE)
    assert titles == [
        "Vital signs",
        "Layers",
        "Root cause",
        "Also found",
        "What follows from what",
        "Contributing",
        "Not understood by any rule",
        "Odd, and explained by nothing",
        "What it is not",
        "What could not be looked at",
        "Check by hand",
        "In short",
    ]


def test_an_inconclusive_report_says_first_what_is_missing() -> None:
    """With nothing to judge, what to do about it is the answer."""
    titles = re.findall(r"^── (.*?) ─", plain(inconclusive()), re.MULTILINE)
    assert titles == ["What is missing for an answer", "Layers"]
    assert "connection refused" in plain(inconclusive())


def test_a_healthy_report_is_short() -> None:
    """Nobody reads a page about nothing, and what was not judged is said all the same."""
    text = plain(healthy(), height=30)
    assert len(text.splitlines()) <= 26
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


@EVERY
@pytest.mark.parametrize("width", [80, 160])
def test_a_first_word_is_short_and_says_what_it_rests_on(make: Callable[[], Diagnosis], width: int) -> None:
    """Trouble in the five lines; where there is none what users notice, which is never called health so early."""
    diagnosis = make()
    text = to_first_word(diagnosis, 2.2, 30.0, width=width, colour=False)
    first, *others = text.splitlines()
    assert "2 s of 30 s sampled" in " ".join(text.split())
    assert max(map(cell_len, text.splitlines())) <= width
    if diagnosis.status in {"healthy", "inconclusive"}:
        assert first.startswith("? no trouble seen so far" if diagnosis.status == "healthy" else "? inconclusive so far")
        assert "HEALTHY" not in text
        told = " ".join(text.split())
        assert [one.name for one in diagnosis.vitals if vital_name(one.name) not in told] == []
    else:
        assert first.startswith("so far")
        assert text.endswith(brief_text(diagnosis, width=width, colour=False))
        assert others


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
    assert "1 more ruled out by what was measured" in plain(incident())


def test_a_narrowed_cause_says_among_what_and_what_decides() -> None:
    """The kinds that it may be stand on top, with what would tell."""
    text = " ".join(plain(degraded()).split())
    assert "one of thermal-throttle, power-cap" in text.partition("──")[0]
    assert "what decides: let the DCGM exporter report DCGM_FI_DEV_CLOCKS_EVENT_REASONS" in text
    assert "── Possible cause ─" in plain(degraded())


def unsolved() -> Diagnosis:
    """The incident without any finding."""
    cause = CauseView(state=CauseState.OPEN, text="No kind of failure could be named with what was seen.")
    return incident().model_copy(update={"findings": (), "cause": cause})


@pytest.mark.parametrize("show", [plain, to_markdown, to_html])
def test_an_open_cause_shows_at_once_what_nobody_understands(show: Callable[[Diagnosis], str]) -> None:
    """Lines that no rule reads and odd things that nothing explains stand before everything else, not behind what to install."""
    text = " ".join(show(unsolved()).split())
    order = ["4 kinds could not be ruled out", "ring rebuilt with 3 of 6 members", "NVLink"]
    places = [text.index(word) for word in [*order, "Vital signs"]]
    assert places == sorted(places)
    assert "214 × router.log" in text


def test_an_open_cause_sends_to_what_nobody_understands() -> None:
    """The first step is to read the line that no rule reads; the mistake would be to destroy more of them."""
    text = " ".join(brief_text(unsolved(), width=80, colour=False).split())
    assert "do first read what no rule understands: 214 × router.log" in text
    assert "do not restart or drain what still answers before its log is saved" in text


def test_what_speaks_against_a_finding_is_told() -> None:
    """An effect that was measured and is missing."""
    assert "Speaks against it: ITL is 31 ms not > 45 ms" in " ".join(plain(degraded()).split())


@EVERY
def test_vital_signs_are_always_told(make: Callable[[], Diagnosis]) -> None:
    """Also what is well, and why what is open is open."""
    text = plain(make(), 120)
    for vital in make().vitals:
        assert vital_name(vital.name) in text
        assert vital.state is not Promised.OPEN or vital.reason in text


def test_a_kind_is_ruled_out_by_a_value_and_silence_is_only_counted() -> None:
    """No line says of a kind that none was seen."""
    part = plain(incident()).partition("── What it is not")[2].partition("── What could")[0]
    assert "none seen" not in part
    assert "2 kinds more: none of their signs was seen" in part


def test_a_report_without_any_details_is_still_a_report() -> None:
    """No layers, evidence, onset, subjects or curves: what there is is shown."""
    bare = (
        incident()
        .findings[0]
        .model_copy(update={"evidence": (), "subjects": (), "onset": None, "check": (), "leads_to": (), "summary": ""})
    )
    text = plain(
        incident().model_copy(
            update={"findings": (bare,), "vitals": (), "symptoms": (), "layers": (), "ruled_out": (), "facts": {}}
        )
    )
    assert "on replica vllm-3, since an unknown time" in text


@given(st.lists(st.text(st.characters(exclude_categories=["C", "Zl", "Zp"]) | st.just("\t"))))
def test_colour_changes_no_character(lines: list[str]) -> None:
    """A page without colours has the characters of one with them, tabs and wide ones too."""

    def printed(*, colour: bool) -> str:
        page = Page(60)
        for line in lines:
            page.verbatim((line, "command"), indent=2)
        return page.printed(colour=colour)

    assert re.sub("\x1b\\[[0-9;]*m", "", printed(colour=True)) == printed(colour=False)

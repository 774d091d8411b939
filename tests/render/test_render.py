"""The door to all formats."""

import io
import subprocess
import sys

import pytest

from tests.render.fixtures import ALL, incident
from triage.errors import UsageError
from triage.render import FORMATS, one_line, render
from triage.render.terminal import columns, terminal


class Screen(io.StringIO):
    """A stream that says it is a terminal."""

    encoding = "UTF-8"

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("name", ALL)
def test_every_format_is_deterministic_and_ends_in_one_newline(name: str) -> None:
    """The same diagnosis gives the same bytes, and a file made of it ends as files do."""
    for name_of_format in FORMATS:
        document = render(ALL[name](), name_of_format, width=80)
        assert document == render(ALL[name](), name_of_format, width=80)
        assert document.endswith("\n")
        assert not document.endswith("\n\n")


def test_an_unknown_format_is_refused_with_the_list() -> None:
    """The message says what there is."""
    with pytest.raises(UsageError, match="no format is called pdf") as caught:
        render(incident(), "pdf")  # type: ignore[arg-type]
    assert "markdown" in caught.value.hint


def test_text_takes_the_width_of_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a width the terminal's own is taken."""
    monkeypatch.setenv("COLUMNS", "120")
    assert columns() == 120
    assert render(incident(), "text") == render(incident(), "text", width=120)


def test_colours_are_for_terminals_that_want_them() -> None:
    """A pipe, NO_COLOR and a dumb terminal get none; an empty NO_COLOR is none."""
    assert terminal(Screen(), {"TERM": "xterm"}).colour
    assert terminal(Screen(), {"TERM": "xterm", "NO_COLOR": ""}).colour
    assert not terminal(Screen(), {"TERM": "xterm", "NO_COLOR": "1"}).colour
    assert not terminal(Screen(), {"TERM": "dumb"}).colour
    assert not terminal(io.StringIO(), {"TERM": "xterm"}).colour


def test_the_encoding_decides_on_the_characters() -> None:
    """A stream in another encoding gets ASCII."""
    assert terminal(Screen(), {}).utf8
    assert not terminal(io.TextIOWrapper(io.BytesIO(), encoding="iso8859-1"), {}).utf8


@pytest.mark.parametrize(
    ("name", "line"),
    [
        (
            "incident",
            (
                "LLM-PROD CRITICAL - Prefix reuse is lost on replica vllm-3 and 2 more since 12:01:30; a full KV"
                " cache and a retry storm follow from it; users notice it since 12:04:00 UTC; engine layer, 3"
                " replicas: vllm-3, vllm-1, vllm-0; proven: prefix-cache-collapse | findings=5 evaluated=84;;;0;101"
                " answers=0.96;0.5: ttft_p95_s=8.2s;2 itl_p95_s=0.031s;0.06 error_ratio=0.041;0.01"
            ),
        ),
        (
            "degraded",
            (
                "LLM-PROD WARNING - GPU node-b/5 is throttled by heat since 12:11:00; users notice it since 12:11:30"
                " UTC; hardware layer, GPU node-b/5; one of thermal-throttle, power-cap | findings=1"
                " evaluated=91;;;0;101 answers=0.96;0.5: ttft_p95_s=0.44s;2 itl_p95_s=0.062s;0.06"
                " error_ratio=0.0002;0.01"
            ),
        ),
        (
            "healthy",
            (
                "LLM-PROD OK - All is well, nothing found; 84 of 101 kinds of failure could be judged | findings=0"
                " evaluated=84;;;0;101 answers=0.96;0.5: ttft_p95_s=0.44s;2 itl_p95_s=0.031s;0.06"
                " error_ratio=0.0002;0.01"
            ),
        ),
        (
            "inconclusive",
            (
                "LLM-PROD UNKNOWN - Nothing can be said: no source brought engine metrics; nothing could be judged"
                " | findings=0 evaluated=0;;;0;101"
            ),
        ),
    ],
)
def test_a_check_says_state_cause_and_figures_in_one_line(name: str, line: str) -> None:
    """What a monitoring system shows and graphs."""
    assert one_line(ALL[name]()) == line


def test_the_door_opens_without_the_slow_libraries() -> None:
    """The command line imports this module to know the formats, and must start at once."""
    code = "import sys, triage.render; print([m for m in ('pydantic', 'rich', 'numpy') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

"""Views in Chinese: text, Markdown and HTML of a recorded incident, with data and commands as they were."""

import re
from collections.abc import Iterator
from functools import cache

import pytest

from triage.engine.diagnose import diagnose
from triage.engine.rules.loading import load_rules
from triage.ingest.files.incident import read_any
from triage.language.speaking import said, speak
from triage.learn.cases import find_case
from triage.learn.words import book
from triage.model.diagnosis import Diagnosis
from triage.playbooks import advice
from triage.render import Format, render

pytestmark = pytest.mark.slow

ENGLISH = re.compile(
    r"\b(Vital signs|Layers|Root cause|Evidence|implicated|not evaluated|since|do first|do not|because|holds|layer)\b"
)


@pytest.fixture(autouse=True)
def _chinese() -> Iterator[None]:
    """Chinese is spoken in these tests alone."""
    speak(book())
    yield
    speak(None)


@cache
def diagnosis() -> Diagnosis:
    """A card that fell off the bus."""
    return diagnose(read_any(find_case("gpu-off-bus-a054")), load_rules(), advice)


def without_data(text: str) -> str:
    """A report without code, attributes and quoted lines."""
    text = re.sub(r"<(code|pre|style|script)\b.*?</\1>|<[^>]*>|`[^`]*`", " ", text, flags=re.DOTALL)
    return "\n".join(line for line in text.splitlines() if "NVRM" not in line and "nvidia" not in line)


@pytest.mark.parametrize("format_", ["text", "markdown", "html"])
def test_a_report_is_chinese(format_: Format) -> None:
    """Headings, states, findings and steps; no word of the form is left in English."""
    told = render(diagnosis(), format_, width=120)
    assert "GPU 从总线上掉线" in told
    assert "生命体征" in told
    assert "封锁节点，保存内核日志" in told
    assert ENGLISH.findall(without_data(told)) == []


def test_commands_and_lines_stay() -> None:
    """What is to be copied, and what was quoted, is the same in every language."""
    chinese = render(diagnosis(), "text", width=200, verbose=True)
    speak(None)
    english = render(diagnosis(), "text", width=200, verbose=True)
    for line in english.splitlines():
        if "kubectl" in line or "nvidia-smi" in line or "rate(" in line:
            assert line in chinese, line
    assert "GPU has fallen off the bus" in chinese


def test_json_is_the_same_in_every_language() -> None:
    """Programs read it."""
    chinese = render(diagnosis(), "json")
    speak(None)
    assert chinese == render(diagnosis(), "json")


def test_columns_keep_their_width() -> None:
    """What was filled up with spaces is filled up to the same column, and one space stays one."""
    assert said("do first  ") == "先做      "
    assert said(" since 12:00:00") == " 自 12:00:00 起"
    assert said("   ") == "   "

"""Text from outside is inert in every format."""

import json
from unicodedata import category

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tests.render.fixtures import incident
from triage.model.diagnosis import Status
from triage.render.safe import ascii_only, code, fenced, html, inert, inert_text, json_escaped, markdown

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "\ufffdred\ufffd"),
        ("\x9b2Jgone", "\ufffdgone"),
        ("\x1b]0;title\x07after", "\ufffdafter"),
        ("\x1b]52;c;cm0gLXJm\x1b\\after", "\ufffdafter"),
        ("a\nb\tc\r\nd", "a b c  d"),
        ("safe\u202egnp.exe", "safe\ufffdgnp.exe"),
        ("zero\u200bwidth", "zero\ufffdwidth"),
        ("null\x00byte\x7f", "null\ufffdbyte\ufffd"),
        ("e" + "\u0301" * 50, "e\u0301\u0301"),
        ("line\u2028separator", "line separator"),
        ("[bold red]as it is[/]", "[bold red]as it is[/]"),
    ],
)
def test_nothing_that_a_terminal_obeys_survives(hostile: str, shown: str) -> None:
    """Escape sequences, control and format characters leave a visible sign; plain markup stays as text."""
    assert inert_text(hostile) == shown


@given(st.text())
def test_cleaned_text_is_printable_on_one_line_and_stays_so(text: str) -> None:
    """Whatever comes in, no control, format, surrogate or unassigned character comes out, and cleaning again changes nothing."""
    cleaned = inert_text(text)
    assert all(not category(char).startswith("C") and category(char) not in {"Zl", "Zp"} for char in cleaned)
    assert inert_text(cleaned) == cleaned


def test_endless_text_is_cut() -> None:
    """A label of a megabyte becomes a short one that says that it was cut."""
    cut = inert_text("x" * 1_000_000, 100)
    assert len(cut) == 100
    assert cut.endswith("…")


def test_every_string_of_a_diagnosis_is_cleaned_and_nothing_else_changes() -> None:
    """A clean diagnosis comes back as it is, and an evil string far down is cleaned."""
    diagnosis = incident()
    assert inert(diagnosis) is diagnosis
    evil = diagnosis.model_copy(update={"service": "a\x1b[2Jb", "facts": {"k\x07": "v\x1b[1m", "n": 3.0}})
    assert inert(evil).service == "a\ufffdb"
    assert inert(evil).facts == {"k\ufffd": "v\ufffd", "n": 3.0}
    assert inert(evil).status is Status.INCIDENT


def test_ascii_spells_signs_out() -> None:
    """A terminal that knows only ASCII still gets the meaning."""
    assert ascii_only("≥ 0.3–0.5 µs × 2 … café 北") == ">= 0.3-0.5 us x 2 ... cafe ?"


@pytest.mark.parametrize(
    "hostile",
    [
        "[click](https://evil.example)",
        "![x](https://evil.example/pixel.png)",
        "https://evil.example and www.evil.example and mailto:a@evil.example",
        "<script>alert(1)</script><img src=x onerror=alert(1)>",
        "<https://evil.example>",
        "`code` and ``more``",
        "**bold** _it_ ~~gone~~",
        "# heading",
        "- item",
        "1. item",
        "> quote",
        "| a | b |",
        "&lt;b&gt; &amp;",
        "[ref]: https://evil.example",
        "    indented",
        "---",
    ],
)
def test_markdown_shows_hostile_text_as_it_is(hostile: str) -> None:
    """No link, picture, HTML, emphasis, code or block comes out of text from outside; a reader sees the same characters."""
    tokens = [token for block in PARSER.parse(markdown(hostile)) for token in (block, *(block.children or ()))]
    assert {token.type for token in tokens} <= {"paragraph_open", "paragraph_close", "inline", "text", "text_special"}
    shown = "".join(token.content for token in tokens if token.type.startswith("text"))
    assert shown.replace("\u200b", "") == hostile.strip()


def test_markdown_pings_nobody() -> None:
    """A mention or an issue number is broken by a character that is not seen."""
    assert "@everyone" not in markdown("ping @everyone, see #12")
    assert "#12" not in markdown("ping @everyone, see #12")


@given(st.text().map(inert_text))
def test_a_code_span_is_one_cell_of_a_table(text: str) -> None:
    """Whatever the text, a row keeps its two cells and no HTML or link appears."""
    rendered = PARSER.parse(f"| a | b |\n| --- | --- |\n| {code(text)} | end |")
    cells = [token for token in rendered if token.type == "td_open"]
    inline = {child.type for token in rendered for child in token.children or ()}
    assert len(cells) == 2
    assert not inline & {"html_inline", "link_open", "image"}


@given(st.lists(st.text().map(inert_text), min_size=1, max_size=3))
def test_a_fence_holds_any_line(lines: list[str]) -> None:
    """Backticks in a query do not end its block."""
    tokens = PARSER.parse(fenced(lines))
    assert [token.type for token in tokens] == ["fence"]
    assert tokens[0].content == "\n".join(lines) + "\n"


def test_html_is_escaped_in_text_and_attributes() -> None:
    """Angle brackets, ampersands and both quotes are harmless."""
    assert html('<b a="\'">&') == "&lt;b a=&quot;&#x27;&quot;&gt;&amp;"


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_json_keeps_every_string_without_showing_dangerous_characters(text: str) -> None:
    """What a terminal would obey is written as an escape that parses to the same string."""
    document = json_escaped(json.dumps({"key": text}, ensure_ascii=False))
    assert json.loads(document) == {"key": text}
    assert not any(
        "\x7f" <= char <= "\x9f" or category(char) in {"Zl", "Zp"} or "\u202a" <= char <= "\u202e" for char in document
    )

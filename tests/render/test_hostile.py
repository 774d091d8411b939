"""A diagnosis whose every string is hostile does no harm in any format."""

import re
from enum import Enum
from html.parser import HTMLParser
from unicodedata import category

import pytest
from markdown_it import MarkdownIt

from tests.render.fixtures import incident
from triage.model.checked import Checked
from triage.model.diagnosis import Diagnosis
from triage.render import one_line
from triage.render.html import to_html
from triage.render.json import to_json
from triage.render.markdown import to_markdown
from triage.render.text import to_text

LITERALS = {"confidence", "role", "severity", "state", "schema_"}
"""Fields that hold one of few fixed words, which nobody outside can choose."""

PAYLOADS = {
    "escapes": "\x1b[31m\x1b]0;owned\x07\x9b2J\x1bc ",
    "controls": "\x00\r\n\t\x08\x7f ",
    "bidi": "\u202e\u2066evil\u2069 \u200b\ufeff",
    "rich markup": "[bold red]MARK[/bold red] [link=https://evil.example]x[/link] :smile: ",
    "html": "<script>alert(1)</script><img src=x onerror='alert(1)'>\"'&lt; ",
    "svg": "</title></svg><a href=javascript:alert(1)>x</a></style> ",
    "markdown": "[a](https://evil.example) ![b](https://evil.example/c.png) **MARK** `x` | y | @everyone #1 ",
    "fence": "``` ~~~ </code></pre> ",
    "long": "x" * 5_000,
    "wide": "漢" * 300,
    "marks": "a" + "\u0301" * 300,
    "braces": "{0} {service} %s %(x)s $x \\n ",
}
EVERY = pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS.keys())


def poisoned(value: object, payload: str) -> object:
    """The same diagnosis with the payload in every string of it: before it, or after it if it would push the rest out."""
    if isinstance(value, Enum):
        return value
    if isinstance(value, Checked):
        names = value.model_names()
        return value.model_copy(update={n: poisoned(getattr(value, n), payload) for n in names if n not in LITERALS})
    if isinstance(value, tuple):
        return tuple(poisoned(one, payload) for one in value)
    if isinstance(value, dict):
        return {payload + key: poisoned(one, payload) for key, one in value.items()}
    if isinstance(value, str):
        return value + payload if len(payload) > 1000 else payload + value
    return value


def hostile(payload: str) -> Diagnosis:
    """The incident, poisoned."""
    diagnosis = poisoned(incident(), payload)
    assert isinstance(diagnosis, Diagnosis)
    return diagnosis


def dangerous(text: str) -> set[str]:
    """Characters that a terminal, an editor or a reader's eye would obey."""
    return {char for char in text if category(char) in {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"} and char != "\n"}


@pytest.mark.slow
@EVERY
@pytest.mark.parametrize(("width", "utf8"), [(40, True), (80, False), (200, True)])
def test_text_is_inert(payload: str, width: int, utf8: bool) -> None:
    """No control character arrives, colours are ours alone, and the status is still the first word."""
    plain = to_text(hostile(payload), width=width, colour=False, verbose=True, utf8=utf8)
    assert not dangerous(plain)
    assert plain.splitlines()[0].split()[1] == "INCIDENT"
    coloured = to_text(hostile(payload), width=width, colour=True, verbose=True, utf8=utf8)
    assert not dangerous(re.sub(r"\x1b\[[0-9;]*m", "", coloured))


def test_markup_of_the_terminal_library_is_text() -> None:
    """Square brackets appear as they are."""
    assert "[bold red]MARK[/bold red]" in to_text(hostile(PAYLOADS["rich markup"]), width=200, colour=False)


class Page(HTMLParser):
    """Collects the tags and attributes of a document, and whether its tags are balanced."""

    VOID = frozenset({"meta", "br"})

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.links: set[str] = set()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)
        self.links.update(value or "" for name, value in attrs if name in {"href", "src"})
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@EVERY
def test_html_is_inert(payload: str) -> None:
    """Only our own tags, no script but ours, no handler, no address but our own anchors, and every tag closed in order."""
    document = to_html(hostile(payload))
    (ours,) = re.findall(r"<script>.*?</script>", to_html(incident()), re.DOTALL)
    page = Page()
    page.feed(document.replace(ours, "", 1))
    page.close()
    assert page.open == []
    assert not page.tags & {"script", "img", "iframe", "object", "embed", "link", "base", "form"}
    assert not {name for name in page.attributes if name.startswith("on")}
    assert all(link.startswith("#finding-") for link in page.links)
    assert not dangerous(document)


@EVERY
def test_markdown_is_inert(payload: str) -> None:
    """No link, picture or HTML appears, nobody is mentioned, and the tables keep their shape."""
    document = to_markdown(hostile(payload), verbose=True)
    expected = to_markdown(hostile("plain " * (200 if len(payload) > 1000 else 1)), verbose=True)
    parser = MarkdownIt("commonmark").enable("table")
    tokens = [token for block in parser.parse(document) for token in (block, *(block.children or ()))]
    assert not {token.type for token in tokens} & {"html_inline", "html_block", "link_open", "image"}
    blocks = [token.type for token in parser.parse(document) if token.type in {"tr_open", "td_open", "fence", "heading_open"}]
    assert blocks == [token.type for token in parser.parse(expected) if token.type in set(blocks)]
    prose = "".join(token.content for token in tokens if token.type == "text")
    assert not re.search(r"@\w", prose)
    assert not dangerous(document) - {"\u200b"}


@EVERY
def test_json_is_lossless_and_inert(payload: str) -> None:
    """The same strings come back, and none of them reaches a terminal raw."""
    document = to_json(hostile(payload))
    assert Diagnosis.model_validate_json(document) == hostile(payload)
    assert not dangerous(document)


@EVERY
def test_the_line_of_a_check_stays_one_line(payload: str) -> None:
    """One line of ASCII with one bar, whatever the names."""
    line = one_line(hostile(payload))
    assert line.isascii()
    assert line.isprintable()
    assert line.count("|") == 1

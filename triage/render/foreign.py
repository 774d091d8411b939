"""A report in another language: what its form wrote in English, said in the language that is spoken."""

import re
from html import escape, unescape

from triage.language.speaking import is_foreign, said

_TEXT = re.compile(r"(<(?:code|pre|style|script)\b.*?</(?:code|pre|style|script)>)|>([^<>]+)<", re.DOTALL)
"""An element of data, which stays as it is, or the text between two tags."""
_CODE = re.compile(r"(`+[^`\n]*`+)")


def in_html(page: str) -> str:
    """A page of HTML; code stays as it is."""
    if not is_foreign():
        return page
    return _TEXT.sub(lambda found: found[1] or f">{_in_element(found[2])}<", page).replace('lang="en"', 'lang="zh"')


def _in_element(text: str) -> str:
    """The text of an element, its entities kept."""
    plain = unescape(text)
    told = said(plain)
    return text if told == plain else escape(told, quote=True)


def in_markdown(document: str) -> str:
    """A Markdown document; fences, code and rows of dashes stay as they are."""
    if not is_foreign():
        return document
    lines, is_code = [], False
    for line in document.split("\n"):
        is_code ^= line.startswith("```")
        lines.append(line if is_code or line.startswith(("```", "    ")) else _in_line(line))
    return "\n".join(lines)


def _in_line(line: str) -> str:
    """A line, or the cells of a table's row."""
    if line.startswith("|"):
        return "|".join(f" {_in_words(cell.strip())} " if cell.strip() else cell for cell in line.split("|"))
    return _in_words(line)


def _in_words(text: str) -> str:
    """Words around spans of code; what is bold by itself."""
    whole = said(text)
    if whole != text or not _CODE.search(text):
        return whole if whole != text else "".join(said(part) for part in re.split(r"(\*\*[^*]+\*\*)", text))
    return "".join(part if part.startswith("`") else said(part) for part in _CODE.split(text))

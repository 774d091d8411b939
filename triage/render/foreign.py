"""A report in another language: what its form wrote in English, said in the language that is spoken."""

import re

from triage.language.speaking import is_foreign, said

_TEXT = re.compile(r"(<(?:code|pre|style|script)\b.*?</(?:code|pre|style|script)>)|(?<=>)([^<>]+)(?=<)", re.DOTALL)
"""An element of data, which stays as it is, or the text between two tags."""
_MARKUP = re.compile(r"(`+[^`\n]*`+|\*\*)")
"""What divides the words of a line: spans of code, and the marks of what is bold."""
_BEGIN = re.compile(r"\s*(?:(?:[-*+]|\d+\.|#+|>)\s+)?")
"""The mark of a list or a heading."""


def in_html(page: str) -> str:
    """A page of HTML; code stays as it is."""
    if not is_foreign():
        return page
    return _TEXT.sub(lambda found: found[1] or _in_element(found[2]), page).replace('lang="en"', 'lang="zh"')


def _in_element(text: str) -> str:
    """The text of an element, its entities kept."""
    from html import escape, unescape

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
        lines.append(line if is_code or line.startswith("```") else _in_line(line))
    return "\n".join(lines)


def _in_line(line: str) -> str:
    """A line, or the cells of a table's row."""
    if line.startswith("|"):
        return "|".join(f" {_in_words(cell.strip())} " if cell.strip() else cell for cell in line.split("|"))
    begin = _BEGIN.match(line)
    lead = begin[0] if begin is not None else ""
    return lead + _in_words(line[len(lead) :])


def _in_words(text: str) -> str:
    """Words between spans of code and the marks of what is bold."""
    return "".join(part if _MARKUP.fullmatch(part) else _escaped(part) for part in _MARKUP.split(text))


def _escaped(text: str) -> str:
    """Words whose signs of comparison are written as entities."""
    return said(text.replace("&gt;", ">").replace("&lt;", "<")).replace(">", "&gt;").replace("<", "&lt;")

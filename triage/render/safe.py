r"""Makes text from outside inert: label values, log lines and change notes may try to move the cursor, hide or pose as markup.

Two steps. :func:`inert` takes every string of a diagnosis through :func:`inert_text`; then each format escapes
what means something in it (:func:`markdown`, :func:`code`, :func:`fenced`, :func:`html`). Text for the terminal goes into objects
that read no markup.
JSON is lossless: :func:`json_escaped` writes what is dangerous as ``\uXXXX`` instead of taking it out.

Two other things are done elsewhere: what may not be kept, secrets above all, is taken out of log lines when they are read
(``ingest/logs/redaction.py``, ``redacted``), and what a message quotes becomes printable (``errors.py``, ``quoted``).
"""

import re
from operator import is_not
from types import NoneType
from typing import TypeVar
from unicodedata import category, normalize

from triage.model.checked import Checked
from triage.model.diagnosis import Later

REPLACEMENT = "\ufffd"
"""Stands where something was taken out, so that a reader sees that the text was not plain."""

_LONG_FIELDS = {"query": 4000, "check": 4000, "how_to_get": 4000, "decides": 4000}
_LONGEST = 600
_MOST_MARKS = 2
_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"  # CSI: colours, cursor, erase
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"  # OSC, DCS, PM, APC: title, clipboard
    r"|\x1b[ -/]*[0-~]?"  # the rest: resets, character sets
)
_DANGEROUS = re.compile(
    "[\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
_FOLDS = str.maketrans(
    {
        "µ": "u",
        "°": "",
        "≥": ">=",
        "≤": "<=",
        "–": "-",
        "—": "-",
        "−": "-",
        "×": "x",
        "∞": "inf",
        "…": "...",
        "·": ".",
        "→": "->",
        "’": "'",
        "‘": "'",
        "“": '"',
        "”": '"',
        REPLACEMENT: "?",
    }
)
_MARKDOWN = re.compile(r"[\\`*_\[\]|~$]")
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
_MENTION = re.compile(r"@(?=\w)|(?<!\w)#(?=\d)")
_LINK = re.compile(r"://|(?i:\bwww\.|\bmailto:)")
_BLOCK = re.compile(r"^(?:[-+=#]+|\d{1,9}[.)])(?=\s|$)")

Model = TypeVar("Model", bound=Checked)


def inert_text(text: str, longest: int = _LONGEST) -> str:
    """One line of printable text: no escape sequences, control or format characters, piles of marks, or endless text."""
    if len(text) <= longest and text.isascii() and text.isprintable():
        return text
    text = _ESCAPES.sub(REPLACEMENT, text[: longest * 8])
    kept: list[str] = []
    marks = 0
    for char in text:
        kind = category(char)
        marks = marks + 1 if kind in {"Mn", "Me"} else 0
        if marks <= _MOST_MARKS:
            kept.append(_inert(char, kind))
        if len(kept) > longest:
            break
    return "".join(kept) if len(kept) <= longest else "".join(kept[: longest - 1]) + "…"


def inert(model: Model) -> Model:
    """The same model with every string in it cleaned, names of fields and enumerations apart; itself if all were clean.

    What nobody has asked for yet is cleaned when somebody does.
    """
    known = vars(model).items()  # what nobody has asked for yet is not there
    changed = {name: clean for name, value in known if (clean := _inert_field(name, value)) is not value}
    whole = model.model_copy(update=changed) if changed else model
    return whole.told_as(_inert_field) if isinstance(whole, Later) else whole


def _inert_field(name: str, value: object) -> object:
    """The value of a field, cleaned; itself if it was clean."""
    return _inert_value(value, _LONG_FIELDS.get(name, _LONGEST))


def ascii_only(text: str) -> str:
    """The text for a terminal that knows nothing but ASCII: signs are spelled out, accents dropped, the rest becomes ``?``."""
    folded = normalize("NFKD", text.translate(_FOLDS))
    return "".join(char if char.isascii() else "?" for char in folded if category(char) != "Mn")


def markdown(text: str) -> str:
    """Cleaned text as Markdown prose or a table cell: no markup, HTML, link, mention, or start of a block."""
    escaped = _MARKDOWN.sub(r"\\\g<0>", text.strip().translate(_ENTITIES))
    escaped = _MENTION.sub("\\g<0>\u200b", _LINK.sub(_unlinked, escaped))
    return _BLOCK.sub(_unblocked, escaped)


def code(text: str) -> str:
    """Cleaned text as a Markdown code span that is safe in a table cell too; text that would break out of one becomes prose."""
    if not text or "|" in text or "`" in text or text != text.strip():
        return markdown(text)
    return f"`{text}`"


def fenced(lines: list[str]) -> str:
    """Cleaned lines as a fenced block of Markdown, its fence longer than any in the text."""
    runs = re.findall(r"`+", "\n".join(lines))
    fence = "`" * max(3, *(len(run) + 1 for run in runs), 3)
    return "\n".join([fence, *lines, fence])


def html(text: str) -> str:
    """Cleaned text as HTML, in an element or in a quoted attribute."""
    from html import escape

    return escape(text, quote=True)


def json_escaped(document: str) -> str:
    r"""A JSON document without characters that a terminal or an editor would obey; it parses to the same values.

    Such characters can stand only inside of strings, where ``\uXXXX`` means the same.
    """
    return _DANGEROUS.sub(lambda match: _utf16_escape(match.group()), document)


def _inert(char: str, kind: str) -> str:
    """The character, a space for one that parts words, or the sign that something was taken out."""
    if char.isspace() or kind in {"Zl", "Zp"}:
        return " "
    return REPLACEMENT if kind.startswith("C") else char


_NO_TEXT = frozenset({float, int, bool, NoneType})


def _inert_value(value: object, longest: int) -> object:
    """A field's value, cleaned all the way down; itself if it was clean."""
    if type(value) in _NO_TEXT:
        return value
    if isinstance(value, str):
        text = inert_text(value, longest)
        return value if text == value else text
    if isinstance(value, Checked):
        return inert(value)
    if isinstance(value, tuple):
        clean = [_inert_value(one, longest) for one in value]
        return tuple(clean) if any(map(is_not, clean, value)) else value
    if isinstance(value, dict):
        mapping = {inert_text(str(key)): _inert_value(one, longest) for key, one in value.items()}
        return value if mapping == value else mapping
    return value


def _unlinked(match: re.Match[str]) -> str:
    """The start of an address that no Markdown reader takes for one."""
    found = match.group()
    return ":\\//" if found == "://" else f"{found[:-1]}\\{found[-1]}"


def _unblocked(match: re.Match[str]) -> str:
    """The start of a list or heading as plain text."""
    found = match.group()
    return f"{found[:-1]}\\{found[-1]}"


def _utf16_escape(char: str) -> str:
    r"""A character as one or two ``\uXXXX``."""
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i] << 8 | units[i + 1]:04x}" for i in range(0, len(units), 2))

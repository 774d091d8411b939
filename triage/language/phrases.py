"""A book of phrases: an English text that the program wrote, said in Chinese.

A phrase is a text with gaps. What stands in a gap is said in Chinese, too, if the book knows it, and stays as it is if not:
names, lines of logs and numbers are the same in every language. The phrase with the most words of its own wins.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import re2

from triage.classes import dataclass
from triage.patterns import Pattern

LONGEST = 2000
"""Characters of a text that is looked up; what is longer holds data and stays as it is."""

_GAP = Pattern(r"\{([a-z_]+)\}")
_ANY = "(.+?)"
_NAME = "((?:[^:;]|[:;][^ ])+?)"
_KINDS = {
    "n": r"([\d.,]+[kMGT]?)",
    "s": r"(\S+)",
    "w": "((?:[^:;,]|[:;,][^ ])+?)",
    "p": "([^()]+)",
    "t": r"(≤ ?[\d:]+|[\d-]+ [\d:]+|[\d:]+)",
    "d": r"(\d[\d.]* ?(?:d|h|min|s|ms)(?: \d+ (?:h|min|s))?)",
}
"""What may stand in a gap of one or two letters, by its first: a number, one word, one thing, what has no brackets, a moment, a
length of time."""
_NAMING = frozenset({"subject", "onset"})
"""Gaps of findings that name one thing."""

_LEAD = Pattern(r"[^\pL\pN\s({\[<\"'/$-]+\s+")
"""A sign before a text: a mark of a list, of a state, of a comment."""
_VALUE = Pattern(r" (?:[≥≤<>] ?)?[-−]?\d")
"""Where a value may begin after a name."""
_TAILS = {",": "，", ";": "；", ":": "："}
_BETWEEN = " · "
"""Between things that are told side by side."""
_LISTS = (("; ", "；"), (", ", "，"))

_DEEPEST = 8
_MOST_KNOWN = 20_000


@dataclass(frozen=True)
class Phrase:
    """One phrase in both languages.

    :param english: with gaps in braces
    :param chinese: with the same gaps, in any order
    """

    english: str
    chinese: str

    @cached_property
    def gaps(self) -> tuple[str, ...]:
        """The names of the gaps in the order of the English text."""
        return tuple(_GAP.findall(self.english))

    @cached_property
    def words(self) -> tuple[str, ...]:
        """What stands between the gaps."""
        return tuple(part for part in _GAP.split(self.english)[::2] if part)

    @cached_property
    def has_words(self) -> bool:
        """Whether it is more than punctuation, so that it tells what a text is about."""
        return any(char.isalpha() for word in self.words for char in word)

    @cached_property
    def pattern(self) -> Any:
        """What finds it: a whole text."""
        parts = _GAP.split(self.english)
        return re2.compile("".join(_held(part) if place % 2 else re2.escape(part) for place, part in enumerate(parts)))

    def read(self, text: str) -> Mapping[str, str] | None:
        """What stands in its gaps in a text; None if it is another text."""
        if not all(word in text for word in self.words):
            return None
        found = self.pattern.fullmatch(text)
        return None if found is None else dict(zip(self.gaps, found.groups(), strict=True))

    def filled(self, parts: Mapping[str, str]) -> str:
        """The Chinese text with its gaps filled."""
        return spaced("".join(parts[part] if place % 2 else part for place, part in enumerate(_GAP.split(self.chinese))))


class Book:
    """All phrases of a language.

    :param amount: says a value with its unit; None if a text is no such value
    """

    def __init__(self, phrases: Iterable[Phrase], amount: Callable[[str], str | None]) -> None:
        every = list(phrases)
        self._whole = {one.english: one.chinese for one in every if not one.gaps}
        self._gapped: Sequence[Phrase] = sorted((one for one in every if one.gaps), key=lambda one: -sum(map(len, one.words)))
        self._amount = amount
        self._known: dict[str, str] = {}

    def say(self, text: str, depth: int = 0) -> str:
        """A text in Chinese, as far as the book knows it."""
        if not text or len(text) > LONGEST or depth > _DEEPEST:
            return text
        if text not in self._known:
            if len(self._known) > _MOST_KNOWN:
                self._known.clear()
            self._known[text] = self._said(text, depth)
        return self._known[text]

    def _said(self, text: str, depth: int) -> str:
        whole = self._whole.get(text) or self._amount(text)
        if whole is not None:
            return whole
        if _BETWEEN in text:
            return _BETWEEN.join(self.say(part, depth + 1) for part in text.split(_BETWEEN))
        lead = _LEAD.match(text)
        if lead is not None:
            return f"{lead[0]}{self.say(text[lead.end() :], depth + 1)}"
        for phrase in self._gapped:
            parts = phrase.read(text)
            if parts is not None:
                held = {name: self.say(part, depth + 1) for name, part in parts.items()}
                if phrase.has_words or held != parts:
                    return phrase.filled(held)
        told = self._tailed(text, depth) or self._introduced(text, depth) or self._measured(text, depth)
        return told or self._listed(text, depth)

    def _tailed(self, text: str, depth: int) -> str:
        """A text that is known, with a comma or colon at its end; empty if it is something else."""
        words = text[:-1]
        told = self.say(words, depth + 1) if text[-1] in _TAILS else words
        return f"{told}{_TAILS[text[-1]]}" if told != words else ""

    def _measured(self, text: str, depth: int) -> str:
        """A name that is known and the value after it; empty if it is something else."""
        for found in _VALUE.finditer(text):
            name, value = text[: found.start()], text[found.start() + 1 :]
            said = self.say(name, depth + 1) if ", " not in name else name
            if said != name:
                return f"{said} {self.say(value, depth + 1)}"
        return ""

    def _introduced(self, text: str, depth: int) -> str:
        """Something that is known and what is said of it; empty if it is something else."""
        head, _, rest = text.partition(": ")
        said = self.say(head, depth + 1) if rest else head
        return f"{said}：{self.say(rest, depth + 1)}" if said != head else ""

    def _listed(self, text: str, depth: int) -> str:
        """A list, each part by itself; a text that nobody knows as it is."""
        for english, chinese in _LISTS:
            parts = text.split(english)
            told = [self.say(part, depth + 1) for part in parts] if len(parts) > 1 else parts
            if told != parts:
                return chinese.join(told)
        return text


def spaced(text: str) -> str:
    """A text with a space between Chinese and Latin, and none between two Chinese characters."""
    text = re.sub(r"(?<=[\u4e00-\u9fff]) (?=[\u4e00-\u9fff])", "", text)
    text = re.sub(r"(?<=[\u4e00-\u9fff])(?=[A-Za-z0-9])", " ", text)
    return re.sub(r"(?<=[A-Za-z0-9%])(?=[\u4e00-\u9fff])", " ", text)


def _held(gap: str) -> str:
    """What may stand in a gap."""
    if gap in _NAMING:
        return _NAME
    return _KINDS.get(gap[0], _ANY) if len(gap) <= 2 else _ANY

"""A book of phrases: an English text that the program wrote, said in Chinese.

A phrase is a text with gaps. What stands in a gap is said in Chinese, too, if the book knows it, and stays as it is if not:
names, lines of logs and numbers are the same in every language. The phrase with the most words of its own wins.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import re2

LONGEST = 2000
"""Characters of a text that is looked up; what is longer holds data and stays as it is."""

_GAP = re2.compile(r"\{([a-z_]+)\}")
_DEEPEST = 6


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
    def pattern(self) -> Any:
        """What finds it: a whole text."""
        parts = _GAP.split(self.english)
        return re2.compile("".join("(.+?)" if place % 2 else re2.escape(part) for place, part in enumerate(parts)))

    def read(self, text: str) -> Mapping[str, str] | None:
        """What stands in its gaps in a text; None if it is another text."""
        if not all(word in text for word in self.words):
            return None
        found = self.pattern.fullmatch(text)
        return None if found is None else dict(zip(self.gaps, found.groups(), strict=True))

    def filled(self, parts: Mapping[str, str]) -> str:
        """The Chinese text with its gaps filled."""
        return "".join(parts[part] if place % 2 else part for place, part in enumerate(_GAP.split(self.chinese)))


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
            if len(self._known) > 20_000:
                self._known.clear()
            self._known[text] = self._said(text, depth)
        return self._known[text]

    def _said(self, text: str, depth: int) -> str:
        whole = self._whole.get(text) or self._amount(text)
        if whole is not None:
            return whole
        for phrase in self._gapped:
            parts = phrase.read(text)
            if parts is not None:
                return phrase.filled({name: self.say(part, depth + 1) for name, part in parts.items()})
        return self._in_parts(text, depth)

    def _in_parts(self, text: str, depth: int) -> str:
        """A list of texts, each said by itself; a text that nobody knows as it is."""
        for english, chinese in (("; ", "；"), (", ", "，")):
            parts = text.split(english)
            said = [self.say(part, depth + 1) for part in parts]
            if len(parts) > 1 and said != parts:
                return chinese.join(said)
        return text

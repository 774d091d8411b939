"""Texts in two languages, as the learning material holds them."""

import re
from collections.abc import Iterator, Mapping
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator

from triage.language.lang import Lang

_WIDE = r"[\u2018-\u201d\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]"
_FOLDED = re.compile(f"(?<={_WIDE}) (?={_WIDE})")
"""Where a line of YAML ended between two Chinese characters."""

_GAP = re.compile(r"\{([a-z][a-z0-9_]*)\}")


class Both(BaseModel):
    """A text in both languages."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    en: str = Field(min_length=1)
    zh: str = Field(min_length=1)

    @field_validator("zh")
    @classmethod
    def _unfolded(cls, text: str) -> str:
        """Chinese has no spaces where a line ends."""
        return _FOLDED.sub("", text)

    def of(self, lang: Lang) -> str:
        """The text in one language."""
        return self.zh if lang == "zh" else self.en


def _both(value: object) -> object:
    """A plain text stands for itself in both languages."""
    return {"en": value, "zh": value} if isinstance(value, str) else value


Text = Annotated[Both, BeforeValidator(_both)]
"""``{en: …, zh: …}``, or a plain text that is shown in either language."""


def gaps(text: Both) -> Iterator[str]:
    """The names in braces of both languages."""
    for words in (text.en, text.zh):
        yield from _GAP.findall(words)


def filled(text: str, values: Mapping[str, str]) -> str:
    """A text with the values in place of their names."""
    return _GAP.sub(lambda gap: values[gap[1]], text)

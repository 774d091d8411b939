"""What the program wrote in English, in the language that a learner reads."""

from functools import cache

from triage.engine.rules.loading import load_rules
from triage.language.chinese import book as chinese_book
from triage.language.lang import Lang
from triage.language.phrases import Book
from triage.playbooks import advice


@cache
def book() -> Book:
    """Everything that is known in Chinese of what is shipped."""
    return chinese_book(load_rules(), advice)


def said(text: str, lang: Lang) -> str:
    """A text in a language."""
    return text if lang == "en" else book().say(text)

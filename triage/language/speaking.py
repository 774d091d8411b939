"""The language that views speak now: English, unless a command was asked for another."""

from contextvars import ContextVar

from rich.cells import cell_len

from triage.language.phrases import Book

_book: ContextVar[Book | None] = ContextVar("triage_book", default=None)


def speak(book: Book | None) -> None:
    """Say everything by a book from now on; in English if it is None."""
    _book.set(book)


def is_foreign() -> bool:
    """Whether another language than English is spoken."""
    return _book.get() is not None


def said(text: str) -> str:
    """What the program wrote in English, in the language that is spoken.

    Spaces around it stay; what was filled up to a column with two or more is filled up to the same column.
    """
    book = _book.get()
    words = text.strip()
    if book is None or not words:
        return text
    told = book.say(words)
    before, _, after = text.partition(words)
    missing = len(words) + len(after) - cell_len(told)
    return f"{before}{told}{' ' * max(missing, 1) if len(after) > 1 and not after.strip(' ') else after}"

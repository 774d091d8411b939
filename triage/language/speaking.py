"""The language that views speak now: English, unless a command was asked for another."""

from contextvars import ContextVar

from triage.language.phrases import Book

_book: ContextVar[Book | None] = ContextVar("triage_book", default=None)


def speak(book: Book | None) -> None:
    """Say everything by a book from now on; in English if it is None."""
    _book.set(book)


def is_foreign() -> bool:
    """Whether another language than English is spoken."""
    return _book.get() is not None


def said(text: str) -> str:
    """What the program wrote in English, in the language that is spoken; spaces around it stay."""
    book = _book.get()
    if book is None:
        return text
    words = text.strip()
    return text.replace(words, book.say(words), 1) if words else text

"""Patterns of RE2 that are compiled when they are first asked: a run asks few of the hundreds that stand in modules."""

from typing import Any

import re2

_ASKED = ("search", "match", "fullmatch", "findall", "finditer", "split", "sub", "subn")


class Pattern:
    """A pattern with the methods of what :func:`re2.compile` makes, which are its own from the first question on.

    :param text: RE2, as text or bytes; what is wrong with it is said when it is first asked
    """

    def __init__(self, text: str | bytes) -> None:
        self._text = text

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what copies and pickles ask for has nothing to do with patterns
            raise AttributeError(name)
        made = re2.compile(self._text)
        for one in _ASKED:
            setattr(self, one, getattr(made, one))
        return getattr(made, name)

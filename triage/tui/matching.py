"""How well a name fits the words that somebody types: what is called exactly so comes first."""

from collections.abc import Iterable, Sequence

EXACT, BEGINS, NAMED, TOLD = range(4)
"""Ranks of a fit: a name is exactly the words, begins with them, holds them all; or they stand in what is told of it."""


def rank(typed: str, names: Iterable[str], told: str = "") -> int | None:
    """How well something fits; the lower the better, None if it does not.

    :param typed: words; every one must occur
    :param names: what it is called: its id, its title
    :param told: what else it can be found by
    """
    words = typed.lower().split()
    wanted = " ".join(words)
    lowered = [name.lower() for name in names]
    if not wanted:
        return TOLD
    if wanted in lowered:
        return EXACT
    if any(name.startswith(wanted) for name in lowered):
        return BEGINS
    if any(all(word in name for word in words) for name in lowered):
        return NAMED
    whole = " ".join((*lowered, told.lower()))
    return TOLD if all(word in whole for word in words) else None


def holds(told: str, words: Sequence[str]) -> bool:
    """Whether every word, in lower case, occurs in a text."""
    low = told.lower()
    return all(word in low for word in words)

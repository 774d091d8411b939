"""Patterns that are compiled late are right all the same."""

import copy
import importlib
import pickle
import pkgutil
from collections.abc import Iterator

import pytest
import re2

import triage
from triage.patterns import Pattern


def patterns() -> Iterator[tuple[str, Pattern]]:
    """Every pattern that stands by itself in a module, by its name."""
    for module in pkgutil.walk_packages(triage.__path__, "triage."):
        if not module.name.endswith("__main__"):
            told = vars(importlib.import_module(module.name))
            yield from ((f"{module.name}.{name}", value) for name, value in told.items() if isinstance(value, Pattern))


def test_every_pattern_can_be_compiled() -> None:
    """A slip would else be seen by the first user whose line is looked at with it."""
    found = dict(patterns())
    assert len(found) > 200
    for pattern in found.values():
        assert pattern.groups >= 0


def test_it_answers_as_what_is_compiled() -> None:
    """From the first question on, with its very methods."""
    made = Pattern(r"(\w+)=(\d+)")
    assert made.search("a=1 b=22").groups() == ("a", "1")
    assert made.findall("a=1 b=22") == [("a", "1"), ("b", "22")]
    assert made.groups == 2


def test_what_is_wrong_is_said_when_it_is_asked() -> None:
    """As RE2 says it."""
    with pytest.raises(re2.error):
        Pattern(r"(").search("")


def test_it_can_be_copied_and_sent_to_another_process() -> None:
    """Before it was ever asked."""
    for again in (copy.copy(Pattern("a+")), pickle.loads(pickle.dumps(Pattern("a+")))):
        assert again.fullmatch("aa")

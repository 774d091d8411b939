"""Our data classes are the standard library's in all that one can see of them."""

import copy
import dataclasses
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, field
from functools import cached_property
from typing import Any

import pytest

from triage import classes

Decorate = Callable[..., Any]


def declared(dataclass: Decorate, **how: bool) -> list[type[Any]]:
    """Classes of several shapes, each the standard library's or ours."""

    @dataclass(**how)
    class Plain:
        """With values that are usual, and such that are made for each."""

        name: str
        size: float = 1.0
        parts: list[int] = field(default_factory=list)
        hidden: str = field(default="", repr=False, compare=False)

    @dataclass(**how)
    class Longer(Plain):
        """One that has more fields than the one it is made of."""

        more: int = 3

        def __repr__(self) -> str:
            return f"<{self.more}>"

    @dataclass(**how)
    class Empty:
        pass

    return [Plain, Longer, Empty]


SHAPES: list[dict[str, bool]] = [
    {},
    {"frozen": True},
    {"frozen": True, "eq": False},
    {"frozen": True, "slots": True},
    {"slots": True},
    {"kw_only": True},
]


@pytest.mark.parametrize("how", SHAPES, ids=str)
def test_they_behave_as_the_library_s(how: dict[str, bool]) -> None:
    """What is made, shown, compared, replaced and refused."""
    for theirs, ours in zip(declared(dataclasses.dataclass, **how), declared(classes.dataclass, **how), strict=True):
        assert (ours.__match_args__, ours.__doc__ is None) == (theirs.__match_args__, theirs.__doc__ is None)
        assert [one.name for one in dataclasses.fields(ours)] == [one.name for one in dataclasses.fields(theirs)]
        told = {"name": "a"} if dataclasses.fields(ours) else {}
        first, second, their = ours(**told), ours(**told), theirs(**told)
        assert repr(first) == repr(their)
        assert (first == second) is (their == theirs(**told))
        assert first != their
        assert (ours.__hash__ is None) is (theirs.__hash__ is None)
        assert dataclasses.asdict(first) == dataclasses.asdict(their)
        if told:
            assert first.parts is not second.parts
            assert repr(dataclasses.replace(first, size=2.0)) == repr(dataclasses.replace(their, size=2.0))
            with pytest.raises(TypeError, match="name"):
                ours()


def test_what_cannot_change_refuses_to() -> None:
    """Setting and deleting, of a field and of anything else, with and without slots."""
    for how in ({"frozen": True}, {"frozen": True, "slots": True}):
        one = declared(classes.dataclass, **how)[0]("a")
        for name in ("name", "new"):
            with pytest.raises(FrozenInstanceError, match="cannot assign"):
                setattr(one, name, "b")
        with pytest.raises(FrozenInstanceError, match="cannot delete"):
            del one.name


@classes.dataclass(frozen=True, slots=True)
class Key:
    """What can be a key, and goes to other processes."""

    name: str
    of: tuple[int, ...] = ()


@classes.dataclass(frozen=True)
class Reckoned:
    """With a field that is worked out of the others, and a property that is kept."""

    name: str
    length: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", len(self.name))

    @cached_property
    def twice(self) -> str:
        """The name, twice."""
        return self.name * 2


def test_a_copy_is_equal() -> None:
    """Also by way of bytes, of a class with slots whose fields cannot be set."""
    for one in (Key("a", (1,)), Reckoned("abc")):
        for other in (copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
            assert other == one
            assert hash(other) == hash(one)
    assert len({Key("a"), Key("a", ()), Key("b")}) == 2


def test_what_is_worked_out_of_other_fields() -> None:
    """A field that nobody gives is set after the others."""
    one = Reckoned("abc")
    assert (one.length, one.twice) == (3, "abcabc")
    with pytest.raises(TypeError):
        Reckoned("abc", 3)  # type: ignore[call-arg]


def test_parts_are_matched_by_their_place() -> None:
    """As ``match`` takes them."""
    match Key("a", (1,)):
        case Key(name, of):
            assert (name, of) == ("a", (1,))
        case _:
            pytest.fail("it matches")

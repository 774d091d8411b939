"""What comes from outside becomes what pydantic makes of it, whether or not it had to be asked."""

from collections.abc import Callable
from dataclasses import field
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from triage.classes import dataclass
from triage.model import checked
from triage.model.checked import Before, Checked, Such, adapter, spelt


def _halved(value: object) -> object:
    """Half of a number that is written as ``half of 3``."""
    return float(value.removeprefix("half of ")) / 2 if isinstance(value, str) and value.startswith("half of ") else value


@dataclass(frozen=True, kw_only=True)
class Part(Checked):
    """Something in something else."""

    size: float
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Whole(Checked):
    """With a field of each sort that is read without pydantic where it can be."""

    __pydantic_config__ = spelt(from_="from")

    name: str
    from_: str | None = None
    number: int = 0
    is_so: bool = False
    sort: Literal["one", "other"] = "one"
    share: Annotated[float, Before(_halved)] = 0.0
    short: Annotated[str, Such(max_length=3)] = ""
    told: dict[str, str | float] = field(default_factory=dict)
    places: tuple[Path, ...] = ()
    parts: tuple[Part, ...] = ()

    def __post_init__(self) -> None:
        if self.number < 0:
            raise ValueError("number must not be negative")


WORDS = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.floats(), st.sampled_from(["", "one", "abcd", "half of 3", "half of x", "2"])
)
PARTS = st.fixed_dictionaries({}, optional={"size": WORDS, "note": WORDS, "other": WORDS})
VALUES = st.fixed_dictionaries(
    {},
    optional={
        "name": st.text(max_size=3) | WORDS,
        "from": WORDS,
        "from_": WORDS,
        "number": st.integers(-1, 5) | WORDS,
        "is_so": WORDS,
        "sort": WORDS,
        "share": WORDS,
        "short": WORDS,
        "told": st.dictionaries(st.text(max_size=2), WORDS, max_size=2) | WORDS,
        "places": st.lists(WORDS, max_size=2) | WORDS,
        "parts": st.lists(PARTS, max_size=2) | st.lists(WORDS, max_size=2),
        "strange": WORDS,
    },
)


@given(VALUES)
def test_what_is_plain_is_what_pydantic_makes_of_it(value: dict[str, Any]) -> None:
    """The same object to its last type, or the same complaint."""
    assert outcome(Whole.model_validate, value) == outcome(adapter(Whole).validate_python, value)


def outcome(read: Callable[[Any], Whole], value: dict[str, Any]) -> str:
    """What is read, or all that is wrong."""
    try:
        return repr(read(value))
    except ValidationError as error:
        return repr(error.errors(include_url=False, include_context=False))


def test_what_is_plain_needs_no_pydantic(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not even looked at."""
    monkeypatch.delattr(checked, "adapter")
    value = {"name": "a", "from": "b", "number": 1, "told": {"x": 1, "y": "z"}, "places": ["/a"], "parts": [{"size": 2}]}
    told = Whole.model_validate(value)
    assert told == Whole(name="a", from_="b", number=1, told={"x": 1.0, "y": "z"}, places=(Path("/a"),), parts=(Part(size=2.0),))
    assert repr(told.parts) == "(Part(size=2.0, note=''),)"


def test_it_is_written_as_it_is_read() -> None:
    """JSON has the keys of a file, and gives the same back."""
    told = Whole(name="a", from_="b", parts=(Part(size=1.0),))
    assert '"from":"b"' in told.model_dump_json()
    assert Whole.model_validate_json(told.model_dump_json()) == told
    assert told.model_dump(exclude_defaults=True) == {"name": "a", "from": "b", "parts": ({"size": 1.0},)}


def test_a_copy_has_no_more_than_its_fields() -> None:
    """What was worked out of the old one is not the new one's."""
    told = Whole(name="a")
    told.__dict__["worked out"] = 1
    assert vars(told.model_copy(update={"name": "b"})) == vars(Whole(name="b"))

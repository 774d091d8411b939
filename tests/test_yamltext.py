"""Strict YAML: what is refused, and where."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.yamltext import LARGEST, Marked, YamlError, load

TEXT = """\
id: x
present:
  all:
    - {signal: kv.usage, above: 0.9}
    - signal: queue.waiting
"""


def test_plain_yaml_is_read() -> None:
    """Mappings, lists, numbers and text come out as Python values."""
    assert load(b"a: [1, two, 0.5]\nb: {c: null}\n") == {"a": [1, "two", 0.5], "b": {"c": None}}


@pytest.mark.parametrize(
    ("data", "place", "word"),
    [
        (b"a: 1\nb: 2\na: 3\n", (3, 1), "'a' stands here twice"),
        (b"a: {b: 1, b: 2}\n", (1, 11), "'b' stands here twice"),
        (b"a: &x [1]\nb: *x\n", (1, 4), "aliases"),
        (b"a: [1,\n", (2, 1), "not YAML"),
        (b"a: 1\nb: \xff\n", (2, 1), "not UTF-8"),
        (b"? [1, 2]\n: x\n", (1, 3), "plain word"),
        (b"a: !!python/object/apply:os.system [ls]\n", (1, 4), "not YAML"),
        (b"a: \x07\n", (1, 1), "control characters"),
    ],
)
def test_bad_yaml_is_refused_with_its_place(data: bytes, place: tuple[int, int], word: str) -> None:
    """Every refusal says what is wrong and at which line and column."""
    with pytest.raises(YamlError, match=word) as caught:
        load(data)
    assert (caught.value.line, caught.value.column) == place


def test_deep_nesting_is_refused() -> None:
    """By libyaml's own limit, or for not ending; never by the depth of the interpreter's stack."""
    with pytest.raises(YamlError):
        load(b"[" * 5000)


def test_a_huge_file_is_not_read() -> None:
    """A file beyond the limit is refused before anything parses it."""
    with pytest.raises(YamlError, match="at most"):
        load(b"#" * (LARGEST + 1))


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    """Nothing but a refusal can come from hostile bytes."""
    try:
        load(data)
    except YamlError as error:
        assert error.line >= 1, error.text  # noqa: PT017 - both outcomes are right


def test_values_and_keys_are_found_by_their_path() -> None:
    """A path of keys and indexes leads to line and column."""
    marked = Marked(TEXT)
    assert marked.place(("present", "all", 0, "above")) == (4, 33)
    assert marked.place(("present", "all", 0, "above"), key=True) == (4, 26)
    assert marked.place(("present", "all", 1)) == (5, 7)


def test_a_path_that_ends_early_gives_the_nearest_value_around_it() -> None:
    """A missing key is shown where it should have been."""
    assert Marked(TEXT).place(("present", "all", 1, "above")) == (5, 7)

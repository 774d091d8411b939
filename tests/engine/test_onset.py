"""When something began, and how long it held."""

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.engine.onset import longest_run, onset_index

Bools = npt.NDArray[np.bool_]


def bits(text: str) -> tuple[Bools, Bools]:
    """Which cells hold and which are known: ``#`` holds, ``.`` does not, ``?`` is unknown."""
    return np.array([c == "#" for c in text]), np.array([c != "?" for c in text])


@pytest.mark.parametrize(
    ("text", "first", "onset"),
    [
        ("..........####", 10, 10),
        ("........######", 10, 8),
        ("..#.......####", 10, 10),
        ("..........#...", 10, 10),
        ("....#.....#..#", 10, 13),
        (".....#####.###", 10, 5),
        ("..............", 10, None),
        ("####..........", 10, None),
        ("..........?###", 10, 11),
        ("??????????????", 10, None),
        ("##############", 10, 0),
        ("..........##.#", 10, 10),
    ],
)
def test_the_moment_at_which_a_condition_began_to_hold_for_good(text: str, first: int, onset: int | None) -> None:
    """Blips before are not the beginning; what held on into the window began before it."""
    assert onset_index(*bits(text), first) == onset


@given(st.text(".#?", min_size=1, max_size=60), st.integers(0, 59))
def test_an_onset_is_a_cell_that_holds(text: str, first: int) -> None:
    """It is None exactly if no known cell of the window holds."""
    holds, known = bits(text)
    index = onset_index(holds, known, first)
    assert (index is None) == (not (holds & known)[first:].any())
    assert index is None or (holds[index] and known[index])


@pytest.mark.parametrize(
    ("text", "run"),
    [("..###.##", (2, 3)), ("..#?##..", (2, 3)), ("........", (0, 0)), ("????", (0, 0)), ("##.####", (3, 4)), ("", (0, 0))],
)
def test_the_longest_row_bridges_unknown_cells_and_does_not_count_them(text: str, run: tuple[int, int]) -> None:
    """A missed scrape neither breaks nor lengthens what holds."""
    assert longest_run(*bits(text)) == run


@given(st.text(".#?", max_size=40))
def test_a_row_is_as_long_as_the_longest_of_hashes_without_question_marks(text: str) -> None:
    """The same by plain text."""
    rows = [len(row) for row in text.replace("?", "").split(".")]
    assert longest_run(*bits(text))[1] == max(rows)

"""Curves one line high are honest about gaps, zero and scale."""

from hypothesis import given
from hypothesis import strategies as st

from triage.model.diagnosis import Spark
from triage.render.spark import pooled, spark

VALUES = st.lists(st.one_of(st.none(), st.floats()), min_size=1, max_size=200)


def drawn(values: list[float | None], width: int = 80, *, utf8: bool = True, **marks: int) -> str:
    """The curve as a string."""
    curve = Spark(start=0.0, end=60.0, values=tuple(values), **marks)
    return "".join(piece.text for piece in spark(curve, width, utf8=utf8))


def test_a_rise_shows_with_the_window_and_the_onset() -> None:
    """Levels go up, the window's start and the onset stand before their values."""
    assert drawn([0.0, 0.0, 0.0, 4.0, 8.0], window=2, onset=3) == "▁▁│▁▼▅█"


def test_missing_data_is_a_gap_and_not_zero() -> None:
    """Nothing measured looks different from zero measured."""
    assert drawn([0.0, None, None, 8.0]) == "▁··█"


def test_ascii_terminals_get_the_same_curve() -> None:
    """The shape survives without block characters."""
    assert drawn([0.0, None, 4.0, 8.0], utf8=False, window=2, onset=3) == "_?|~!#"


def test_a_flat_curve_is_drawn_flat() -> None:
    """A wiggle of a thousandth is no drama, and zero stays at the bottom."""
    assert drawn([100.0, 100.1, 99.9]) == "▄▄▄"
    assert drawn([0.0, 0.0]) == "▁▁"


def test_the_threshold_belongs_to_the_scale() -> None:
    """A curve far below its threshold looks low even where it moves."""
    curve = Spark(start=0.0, end=3.0, values=(1.0, 2.0, 1.0))
    assert "".join(piece.text for piece in spark(curve, 20, utf8=True, threshold=100.0)) == "▁▁▁"


def test_many_values_are_averaged_and_a_gap_must_be_empty() -> None:
    """Neighbours share a character; one with some data is no gap."""
    assert pooled([1.0, 3.0, None, 5.0, None, None], 3) == [2.0, 5.0, None]


@given(VALUES, st.integers(3, 120), st.integers(-1, 210), st.one_of(st.none(), st.integers(-1, 210)))
def test_no_curve_breaks_or_is_wider_than_its_place(
    values: list[float | None], width: int, window: int, onset: int | None
) -> None:
    """Not-a-number, infinities, huge values and marks outside of the curve are drawn or left out."""
    curve = Spark(start=0.0, end=1.0, values=tuple(values), window=window, onset=onset)
    text = "".join(piece.text for piece in spark(curve, width, utf8=True))
    assert 1 <= len(text) <= width

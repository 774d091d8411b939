"""Pieces of text: what a value would be otherwise, and rows that fit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.content import Content

from tests.tui import case
from triage.model.diagnosis import Verdict
from triage.tui.words import first_lines, fitted, hanging, here_and_otherwise, otherwise, short, spread

PRESENT, ABSENT, UNKNOWN = Verdict.PRESENT, Verdict.ABSENT, Verdict.UNKNOWN
TEXTS = st.text(st.characters(blacklist_categories=("C", "Z")) | st.just(" "), max_size=60)


@pytest.mark.parametrize(
    ("verdict", "more", "told"),
    [
        (PRESENT, {"op": ">", "value": 5.0, "threshold": 2.0}, "≤ 2"),
        (ABSENT, {"op": ">", "value": 1.0, "threshold": 2.0}, "> 2"),
        (PRESENT, {"op": "<=", "value": 1.0, "threshold": 2.0, "threshold_of": "2 × baseline"}, "> 2 (2 × baseline)"),
        (ABSENT, {"op": ">=", "value": 0.5, "threshold": 0.9, "unit": "ratio", "lasting": 60.0}, "≥ 90 % for 1 min"),
        (PRESENT, {"op": ">=", "value": 0.95, "threshold": 0.9, "unit": "ratio", "lasting": 60.0}, "not ≥ 90 % for 1 min"),
        (UNKNOWN, {"op": ">", "threshold": 2.0}, ""),
        (PRESENT, {"op": "gone"}, "still measured"),
        (ABSENT, {"op": "gone"}, "no longer measured"),
        (ABSENT, {"op": "=~", "text": "8 (asked for 1)"}, ""),
    ],
)
def test_what_a_value_would_be_otherwise(verdict: Verdict, more: dict[str, object], told: str) -> None:
    """The other answer is told with the same number, whichever answer it is."""
    assert otherwise(case.evidence("queue.waiting", verdict, **more)) == told


@pytest.mark.parametrize(
    ("verdict", "op", "threshold", "told"),
    [
        (PRESENT, ">=", 1.0, "none"),
        (PRESENT, ">=", 3.0, "fewer than 3"),
        (ABSENT, ">=", 1.0, "at least one"),
        (ABSENT, ">=", 3.0, "at least 3"),
        (PRESENT, "<=", 0.0, "some"),
        (PRESENT, "<=", 2.0, "more than 2"),
        (ABSENT, "<=", 0.0, "none"),
    ],
)
def test_how_many_events_there_would_be_otherwise(verdict: Verdict, op: str, threshold: float, told: str) -> None:
    """Events are counted: none or some, fewer or more."""
    assert otherwise(case.evidence("event:log", verdict, op=op, threshold=threshold, value=1.0)) == told


def test_the_value_here_and_otherwise() -> None:
    """A question's deciding value in one line."""
    question = case.snapshot().question("true-overload")
    assert question is not None
    assert here_and_otherwise(question, case.START).plain == (
        "demand in distinct requests (mean) 3 requests/s; otherwise > 4.5 requests/s (1.5 × baseline)"
    )


def test_long_lists_of_names_are_shortened() -> None:
    """Three names tell what is meant."""
    assert short("event:xid (1, 2, 3, 4, 5)") == "event:xid (1, 2, 3, +2)"
    assert short("event:xid (1, 2, 3)") == "event:xid (1, 2, 3)"
    assert short("kv.usage max") == "kv.usage max"


@given(TEXTS, st.integers(1, 50))
def test_a_fitted_text_takes_exactly_its_width(text: str, width: int) -> None:
    """Cut or filled, wide characters or not."""
    assert fitted(Content(text), width).cell_length == width


@given(TEXTS, TEXTS, st.integers(12, 90))
def test_no_line_is_wider_than_the_screen(left: str, right: str, width: int) -> None:
    """Text that hangs, or stands at both ends, stays within its width if a word does."""
    hung = hanging(Content("  "), Content(left), width)
    assert all(line.cell_length <= max(width, 12) for line in hung.split("\n"))
    assert spread(Content(left), Content(right[: width // 3]), width).cell_length <= width


def test_text_is_never_markup() -> None:
    """Brackets stay brackets."""
    assert hanging(Content("[b]"), Content("[red]x[/red] y"), 40).plain == "[b][red]x[/red] y"


def test_the_first_lines() -> None:
    """What is cut off is marked."""
    assert first_lines(Content("a\nb\nc"), 2, 10).plain == "a\nb…"
    assert first_lines(Content("a\nb"), 2, 10).plain == "a\nb"

"""How hard a server is asked."""

from threading import Event, Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.ingest.http.pace import MOST_IN_A_ROW, Pace, retry_after


def stopped(most: int = 8) -> Pace:
    """A pace at which nobody waits."""
    stop = Event()
    stop.set()
    return Pace(most, stop)


@given(st.lists(st.booleans(), max_size=60), st.integers(1, 16))
def test_failures_slow_down_and_answers_speed_up(outcomes: list[bool], most: int) -> None:
    """There is always one question under way and never more than allowed; only failures in a row end it."""
    pace = stopped(most)
    row = 0
    for well in outcomes:
        before = pace.workers
        if well:
            pace.went_well()
        else:
            pace.went_wrong()
        row = 0 if well else row + 1
        assert 1 <= pace.workers <= most
        assert pace.workers >= before if well else pace.workers <= before
        assert pace.is_hopeless == (row >= MOST_IN_A_ROW)
    assert pace.heard == any(outcomes)


def test_one_question_at_a_time_after_trouble() -> None:
    """The second one waits until the first is answered."""
    pace = Pace(2, Event())
    pace.went_wrong()
    second = Event()

    def ask() -> None:
        with pace.turn():
            second.set()

    with pace.turn():
        thread = Thread(target=ask, daemon=True)
        thread.start()
        assert not second.wait(0.3)
    assert second.wait(10)
    thread.join()


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("3", 3.0), ("Wed, 21 Oct 2015 07:28:30 GMT", 30.0), ("-3", 0.0), ("soon", 0.0), ("", 0.0), ("9" * 400, float("inf"))],
)
def test_a_wish_to_be_left_alone_is_seconds_or_a_date(text: str, seconds: float) -> None:
    """Whatever else stands there is none."""
    assert retry_after(text, 1445412480.0) == seconds

"""What was wrong over time, as lines below one another."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from tests.memory.test_memory import RETRIES, blind, ill, remembered, well
from triage.cli.historylines import _CELLS, _LABEL, Stretch, stretches, timeline
from triage.memory.looks import Look
from triage.memory.memory import Memory


def lines(memory: Memory, since: float) -> list[str]:
    assert memory.time is not None
    return list(timeline(memory.runs, memory.turns, memory, since, memory.time))


def found(memory: Memory, since: float) -> list[Stretch]:
    assert memory.time is not None
    return stretches([one for one in memory.turns if one.time >= since], memory, since, memory.time)


def history(*looks: Look) -> Memory:
    return remembered(*looks)


def test_what_was_there_has_a_line_on_the_time_of_the_states() -> None:
    """From its onset to its end; what goes on reaches the last look."""
    memory = history(
        *(well(float(at)) for at in range(0, 600, 60)),
        *(ill(float(at), since=590.0) for at in range(600, 1200, 60)),
        *(well(float(at)) for at in range(1200, 2400, 60)),
        *(ill(float(at), since=2390.0, cause=RETRIES) for at in range(2400, 3060, 60)),
    )
    times, state, *rows, legend = lines(memory, 0.0)
    assert times.split() == ["00:00:00", "00:50:00"]
    assert state[_LABEL + 2 :] == "▁" * 11 + "█" * 13 + "▁" * 23 + "█" * 13
    by_name = {row[:_LABEL].strip(): row[_LABEL + 2 :] for row in rows}
    assert by_name["overload (true-overload)"] == " " * 11 + "█" * 14 + " " * 22 + "█" * 13
    assert by_name["retries (retry-storm)"] == " " * 47 + "█" * 13
    assert legend.startswith("▁ healthy")


def test_what_began_before_the_time_that_is_shown_begins_with_it() -> None:
    """And what ended before it has no line."""
    memory = history(*(ill(float(at), since=None) for at in (1000, 1060)), *(well(float(at)) for at in range(1120, 4000, 60)))
    assert next((one.what, one.start, one.end) for one in found(memory, 1100.0)) == ("overload (true-overload)", 1100.0, 1120.0)
    assert found(memory, 2000.0) == []


def test_one_look_has_no_line() -> None:
    """There is no time between it and itself."""
    assert lines(history(ill(1000.0)), 0.0) == []


LOOKS = st.lists(st.tuples(st.integers(1, 600), st.sampled_from([well, ill, blind])), min_size=2, max_size=60)


@given(LOOKS, st.floats(0.0, 0.99))
def test_every_line_fits_whatever_was_seen(looks: Sequence[tuple[int, "type"]], share: float) -> None:
    """No line is longer than the time that it is on, and no stretch ends before it begins."""
    time, made = 1000.0, []
    for gap, look in looks:
        time += gap
        made.append(look(time))
    memory = history(*made)
    since = 1000.0 + share * (time - 1000.0)
    for line in lines(memory, since)[:-1]:
        assert len(line) <= _LABEL + 2 + _CELLS
    for one in found(memory, since):
        assert since <= one.end <= time
        assert one.start <= one.end

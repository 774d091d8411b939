"""When a log counts as a regular one, and what a hole in one says: each bound from both sides."""

from math import nan

import numpy as np
import pytest

from tests.engine.making import BEGIN, STEP, frame_of
from triage.engine.witnesses.lines import _gaps, _is_regular, _is_whole, line_gaps
from triage.model.observation import Observation
from triage.model.recording import Subject
from triage.model.vocabulary import Scope

GATEWAY, REPLICA = Subject(Scope.GATEWAY, "gw"), Subject(Scope.REPLICA, "a")
CELLS = 100


def cells(*numbers: int) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    """True in these cells."""
    told = np.zeros(CELLS, dtype=bool)
    told[list(numbers)] = True
    return told


@pytest.mark.parametrize(
    ("work", "lines", "regular"),
    [
        (12, 12, True),
        (11, 11, False),
        (20, 16, True),
        (20, 15, False),
        (100, 80, True),
        (100, 79, False),
        (0, 0, False),
    ],
)
def test_a_regular_log_has_lines_in_four_fifths_of_three_minutes_of_work(work: int, lines: int, regular: bool) -> None:
    """Cells are fifteen seconds; lines written while nothing is to do count for nothing."""
    frame = frame_of({"batch.running": 1})
    working, written = cells(*range(work)), cells(*range(lines))
    assert frame.grid.step == STEP
    assert _is_regular(frame, written, working) is regular
    assert _is_regular(frame, written | ~working, working) is regular


def test_runs_without_lines() -> None:
    """From the first line on, each with its first and last cell."""
    written = np.array([0, 1, 1, 0, 0, 1, 0, 1, 0, 0], dtype=bool)
    assert list(_gaps(written, 1)) == [(3, 4), (6, 6), (8, 9)]
    assert list(_gaps(written, 5)) == [(6, 6), (8, 9)]
    assert list(_gaps(np.ones(4, dtype=bool), 0)) == []


@pytest.mark.parametrize(("lines", "whole"), [(5.0, True), (2.5, True), (2.4, False), (0.0, False)])
def test_an_access_log_of_half_the_requests_is_whole(lines: float, whole: bool) -> None:
    """What has fewer is an excerpt; and without requests or lines nobody knows."""
    frame = frame_of({"gateway.log_lines": lines, "gateway.requests": 5.0})
    assert _is_whole(frame, GATEWAY, slice(0, 40)) is whole
    assert not _is_whole(frame_of({"gateway.requests": 5.0}), GATEWAY, slice(0, 40))
    assert not _is_whole(frame_of({"gateway.log_lines": lines}), GATEWAY, slice(0, 40))


def test_an_engines_log_is_whole_if_it_began_long_before_the_window() -> None:
    """Three minutes before, to the cell."""
    frame = frame_of({"log.lines": 1.0})
    first = frame.grid.first
    assert _is_whole(frame, REPLICA, slice(first - 12, first))
    assert not _is_whole(frame, REPLICA, slice(first - 11, first))


def seen(begin: float, end: float, *, work: object = 0.5, other: object = None, inside: float = 900.0) -> list[Observation]:
    """What is odd about a log without lines from one moment to another; the window begins at 0."""
    signals: dict[str, object] = {
        "tokens.generation@replica/a": work,
        "log.lines@replica/a": lambda time: 0.0 if begin < time <= end else 0.2,
    }
    if other is not None:
        signals["log.lines@replica/b"] = other
    return list(line_gaps(frame_of(signals, inside=inside), None).odd)  # type: ignore[arg-type]


@pytest.mark.parametrize(("length", "found"), [(225.0, False), (240.0, True), (255.0, True)])
def test_four_minutes_of_work_without_a_line_are_a_hole(length: float, found: bool) -> None:
    """With lines on both sides; it has its length and its moments."""
    told = seen(150.0, 150.0 + length)
    assert bool(told) is found
    if found:
        (hole,) = told
        assert (hole.of, hole.value, hole.unit, hole.salient) == ("log-hole", length, "seconds", True)
        window = BEGIN + 600.0
        assert hole.onset == (window + 150.0, window + 165.0)
        assert hole.end == window + 150.0 + length
        assert "ends with that" not in hole.text


@pytest.mark.parametrize(("worked", "found"), [(240.0, True), (225.0, False)])
def test_only_work_counts(worked: float, found: bool) -> None:
    """Ten minutes without a line in which less than four were worked are no hole."""
    told = seen(0.0, 600.0, work=lambda time: 0.5 if time <= worked or time > 600.0 else 0.0)
    assert bool(told) is found


def test_what_was_over_before_the_window_is_nobodys_business() -> None:
    """A hole in the baseline is not told; one that reaches into the window is."""
    assert seen(-400.0, 0.0) == []
    assert [one.of for one in seen(-300.0, 15.0)] == ["log-hole"]


@pytest.mark.parametrize(("other", "salient", "heard"), [(None, False, "none"), (0.2, True, "go-on"), ("ends", False, "end")])
def test_a_log_that_ends_is_news_only_if_others_go_on(other: object, salient: bool, heard: str) -> None:
    """Where all end at once somebody may have collected no further."""
    beside = (lambda time: 0.0 if time > 150.0 else 0.2) if other == "ends" else other
    (end,) = (one for one in seen(150.0, 9999.0, other=beside) if one.subject == REPLICA)
    assert (end.of, end.end, end.salient, end.attrs["others"]) == ("log-ends", None, salient, heard)
    assert end.text.endswith("and ends with that")


def test_a_log_that_was_never_regular_has_no_holes() -> None:
    """Lines in half the time in which it worked."""
    signals = {
        "tokens.generation@replica/a": 0.5,
        "log.lines@replica/a": lambda time: 0.2 if (time // 15) % 2 and not 150 < time <= 600 else 0.0,
    }
    told = line_gaps(frame_of(signals, inside=900.0), None)  # type: ignore[arg-type]
    assert told.odd == ()
    assert told.judged == frozenset()


def test_a_log_of_a_program_that_nobody_counts_is_not_judged() -> None:
    """Without its work nobody knows whether it had something to write; an unmeasured cell is no work."""
    quiet = {"log.lines@replica/a": lambda time: 0.0 if 150 < time <= 600 else 0.2}
    assert line_gaps(frame_of(quiet, inside=900.0), None).judged == frozenset()  # type: ignore[arg-type]
    unmeasured = quiet | {"tokens.generation@replica/a": lambda time: nan if 150 < time <= 600 else 0.5}
    assert line_gaps(frame_of(unmeasured, inside=900.0), None).odd == ()  # type: ignore[arg-type]

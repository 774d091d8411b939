"""Curves of evidence: the few points that a diagnosis keeps, all cells, and both in words."""

import dataclasses

import pytest

from tests.tui import case
from triage.engine.derived import derive
from triage.engine.frame import Frame
from triage.model.diagnosis import Evidence, Verdict
from triage.tui.cells import fine
from triage.tui.curves import coarse, description, events_of, numbers, of_events, trimmed


def frame() -> Frame:
    """The frame of the case."""
    made = Frame(case.recording())
    derive(made)
    return made


def test_the_kept_curve_with_its_levels_and_moments() -> None:
    """Points lie in the middles of their cells; window, onset and changes are where they belong."""
    curve = coarse(case.queue(case.recording()), case.snapshot())
    assert curve is not None
    assert len(curve.times) == len(curve.values) == 60
    assert (curve.threshold, curve.baseline, curve.onset, curve.window) == (8.0, 4.0, case.ONSET, case.START)
    assert [mark.label for mark in curve.marks] == ["deploy v43"]
    assert curve.values[0] == 4.0


def test_all_cells_are_those_of_the_kept_curve() -> None:
    """The finer curve tells the same, with more points."""
    evidence, snapshot = case.queue(case.recording()), case.snapshot()
    curve = fine(evidence, snapshot, frame())
    assert curve is not None
    assert len(curve.times) == 120
    assert curve.known[-1] == pytest.approx(148.0)


def test_a_curve_that_does_not_add_up_is_not_shown() -> None:
    """Where the cells at hand are not those that the diagnosis saw, the kept curve stays."""
    held = case.recording()
    evidence = case.queue(held)
    assert evidence.spark is not None
    other = evidence.model_copy(update={"spark": evidence.spark.model_copy(update={"values": (1.0,) * 60})})
    assert fine(other, case.snapshot(), frame()) is None
    assert fine(case.TIMEOUTS, case.snapshot(), frame()) is None


def test_a_signal_without_a_kept_curve_has_its_cells() -> None:
    """What somebody only wants to see is put together in its own way."""
    asked = Evidence(signal="queue.waiting", subject=case.SERVICE, verdict=Verdict.UNKNOWN)
    curve = fine(asked, case.snapshot(), frame())
    assert curve is not None
    assert curve.known[0] == 4.0


def test_events_are_counted_over_time() -> None:
    """Only the events that the evidence names."""
    snapshot = case.snapshot()
    assert [event.name for event in events_of(case.TIMEOUTS, snapshot)] == ["proxy-timeouts"] * 2
    assert [event.kind for event in events_of(case.evidence("event:change", Verdict.PRESENT), snapshot)] == ["deploy"]
    assert coarse(case.TIMEOUTS, snapshot) is None
    curve = of_events(events_of(case.TIMEOUTS, snapshot), snapshot)
    assert curve is not None
    assert sum(curve.known) == 2.0
    assert coarse(case.XID, snapshot) is None


def test_a_curve_in_words() -> None:
    """A sentence tells range, time, levels, onset, changes and gaps."""
    curve = coarse(case.queue(case.recording()), case.snapshot())
    assert curve is not None
    holed = dataclasses.replace(curve, values=(None, *curve.values[1:]))
    assert description(holed, case.START) == (
        "From 4 requests to 146 requests, between 07:50:10 and 08:09:50 UTC, last 146 requests, baseline 4 requests, threshold "
        "8 requests, onset at 08:02:00, deploy v43 at 08:01:00, 1 of 60 values missing."
    )
    assert description(dataclasses.replace(curve, values=(None,) * 60), case.START) == "No data in this time."


def test_the_figures_before_and_in_the_window() -> None:
    """Means and ranges, apart for both spans."""
    curve = coarse(case.queue(case.recording()), case.snapshot())
    assert curve is not None
    assert dict(numbers(curve, case.START))["before"] == "mean 4 requests, 4 requests to 4 requests, 30 values"


@pytest.mark.parametrize("most", [1, 7, 59, 60, 200])
def test_a_narrow_screen_gets_fewer_points(most: int) -> None:
    """Neighbours are averaged, and time goes on."""
    curve = coarse(case.queue(case.recording()), case.snapshot())
    assert curve is not None
    narrow = trimmed(curve, most)
    assert len(narrow.times) == len(narrow.values) == min(most, 60)
    assert list(narrow.times) == sorted(narrow.times)


def test_broken_readings_are_not_drawn() -> None:
    """What no scale can show is a gap."""
    evidence = case.queue(case.recording())
    assert evidence.spark is not None
    wild = evidence.spark.model_copy(update={"values": (1e300, *evidence.spark.values[1:])})
    curve = coarse(evidence.model_copy(update={"spark": wild, "threshold": float("inf")}), case.snapshot())
    assert curve is not None
    assert (curve.values[0], curve.threshold) == (None, None)

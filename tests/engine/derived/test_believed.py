"""Nothing exceeds its peak for long: what does, by how much, and how often before an input is called broken."""

import numpy as np
import pytest

from tests.engine.making import frame_of, who
from triage.engine.derived.physical import _believed, _of_peak
from triage.engine.physics.roofline import TOLERANCE
from triage.model.recording import Floats
from triage.model.vocabulary import catalogue

CELLS = 200
SIGNAL = "engine.bandwidth_ratio"


def shares(high: float, count: int, *, missing: int = 0) -> Floats:
    """Shares of a half, some of them as high as said, some missing."""
    cells = np.full(CELLS, 0.5)
    cells[:count] = high
    if missing:
        cells[-missing:] = np.nan
    return cells


def believed(share: Floats) -> tuple[Floats | None, str]:
    """What is left of shares, and what is said of their signal."""
    frame = frame_of({"batch.running": 1})
    return _believed(frame, SIGNAL, who("replica/a"), share, "why"), frame.rejected.get(SIGNAL, "")


def test_the_tolerance_is_five_per_cent() -> None:
    """Counters are read a little apart, clocks are boosted: docs/physics.md says so."""
    assert pytest.approx(0.05) == TOLERANCE


@pytest.mark.parametrize(
    ("high", "kept"), [(1.0, True), (1.04, True), (1.05, True), (1.0501, False), (1.06, False), (3.0, False)]
)
def test_what_is_above_by_more_than_the_tolerance_is_unknown(high: float, kept: bool) -> None:
    """A few such cells only: they are left out, the others stay to the last digit, and nothing is said."""
    left, told = believed(shares(high, 3))
    assert left is not None
    assert (not np.isnan(left[0])) is kept
    assert (left[3:] == 0.5).all()
    assert told == ""


@pytest.mark.parametrize(("count", "broken"), [(0, False), (1, False), (10, False), (11, True), (200, True)])
def test_more_than_one_in_twenty_is_a_broken_input(count: int, broken: bool) -> None:
    """Then none is believed, and it is said with the middle of what was too high."""
    left, told = believed(shares(2.0, count))
    assert (left is None) is broken
    assert (f"{catalogue()[SIGNAL].noun} of replica/a comes out at 2, and nothing exceeds its peak: why" == told) is broken


@pytest.mark.parametrize("high", [0.96, 1.0, 1.0 + TOLERANCE])
def test_many_within_the_tolerance_are_no_fault(high: float) -> None:
    """A card that works at its peak all the time is believed."""
    left, told = believed(shares(high, CELLS))
    assert left is not None
    assert (left == high).all()
    assert told == ""


def test_cells_without_a_value_count_for_nothing() -> None:
    """Six of a hundred measured ones are many, though they are few of all; and none at all is no fault."""
    left, _ = believed(shares(2.0, 6, missing=100))
    assert left is None
    left, _ = believed(shares(2.0, 5, missing=100))
    assert left is not None
    left, told = believed(np.full(CELLS, np.nan))
    assert left is not None
    assert np.isnan(left).all()
    assert told == ""


def test_of_what_is_too_high_the_middle_is_told() -> None:
    """Not what is believable, nor the highest."""
    cells = shares(1.5, 150)
    cells[:10] = 9.0
    assert "comes out at 1.5," in believed(cells)[1]


def test_what_is_said_first_stays() -> None:
    """A signal is rejected once, with the first subject's reason."""
    frame = frame_of({"batch.running": 1})
    for name in ("a", "b"):
        assert _believed(frame, SIGNAL, who(f"replica/{name}"), shares(2.0, 50), "why") is None
    assert "replica/a" in frame.rejected[SIGNAL]


@pytest.mark.parametrize("peak", [None, 0.0])
def test_without_a_peak_there_is_no_share(peak: float | None) -> None:
    """Nor without anything done."""
    frame = frame_of({"batch.running": 1})
    assert _of_peak(frame, SIGNAL, who("replica/a"), np.full(CELLS, 5.0), peak) is None
    assert _of_peak(frame, SIGNAL, who("replica/a"), None, 10.0) is None
    share = _of_peak(frame, SIGNAL, who("replica/a"), np.full(CELLS, 5.0), 10.0)
    assert share is not None
    assert (share == 0.5).all()

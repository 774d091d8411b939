"""Queues, latency and links: laws that hold whatever the traffic."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.engine.physics.accelerators import TABLE
from triage.engine.physics.latency import rest, share
from triage.engine.physics.links import LINKS, Link, memory_of, pcie_speed, transfer_time
from triage.engine.physics.queueing import growth, held_ratio, lost, offered_load, surplus
from triage.model.vocabulary import Scale

POSITIVE = st.floats(1e-3, 1e6)


def array(*values: float) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """Cells."""
    return np.array(values, dtype=float)


@given(st.lists(st.tuples(st.floats(0, 900), st.floats(0.1, 60)), min_size=5, max_size=60))
def test_littles_law_holds_for_any_arrivals(requests: list[tuple[float, float]]) -> None:
    """Requests inside, averaged over the whole time, are exactly throughput × time inside: no order or distribution needed."""
    span = 1000.0
    inside = sum(length for _, length in requests) / span
    throughput = len(requests) / span
    residence = float(np.mean([length for _, length in requests]))
    assert held_ratio(array(inside), array(throughput), array(residence))[0] == pytest.approx(1.0)


def test_work_that_never_leaves_shows() -> None:
    """Ten inside while one a second leaves after two seconds is five times what completions account for."""
    assert held_ratio(array(10), array(1), array(2))[0] == 5
    assert np.isnan(held_ratio(array(10, 10), array(0, np.nan), array(2, 2))).all()


@given(st.lists(st.floats(0, 1e6), min_size=2, max_size=50), st.integers(1, 10), st.floats(1, 60))
def test_growth_adds_up_to_the_change(held: list[float], width: int, step: float) -> None:
    """Over any span, growth × time is what the stock changed by; before the first span it is unknown."""
    cells = growth(array(*held), step, width)
    assert np.isnan(cells[: min(width, len(held))]).all()
    for index in range(width, len(held)):
        assert cells[index] * width * step == pytest.approx(held[index] - held[index - width], abs=1e-6)


@given(POSITIVE, POSITIVE, POSITIVE)
def test_requests_are_conserved(arrivals: float, completions: float, leak: float) -> None:
    """What comes, less what leaves, less what stays, is what was lost on the way."""
    grown = arrivals - completions - leak
    assert surplus(array(arrivals), array(completions))[0] == arrivals - completions
    assert lost(array(arrivals), array(completions), array(grown))[0] == pytest.approx(leak, abs=1e-6)


def test_offered_load_above_one_is_more_than_the_places_can() -> None:
    """Four a second for three seconds each need twelve places; ten are not enough. Without places it is unknown."""
    assert offered_load(array(4), array(3), array(10))[0] == pytest.approx(1.2)
    assert np.isnan(offered_load(array(4, np.nan), array(3, 3), array(0, 10))).all()


@given(POSITIVE, POSITIVE, POSITIVE)
def test_shares_of_parts_and_rest_are_the_whole(queue: float, prefill: float, other: float) -> None:
    """Queue, prefill and what neither accounts for make up the time to first token."""
    whole = array(queue + prefill + other)
    left = rest(whole, array(queue), array(prefill))
    total = share(array(queue), whole) + share(array(prefill), whole) + share(left, whole)
    assert total[0] == pytest.approx(1.0)


def test_a_part_larger_than_its_whole_is_cut() -> None:
    """Two histograms are not filled at the same moment; an empty whole and an unknown part stay unknown."""
    assert share(array(3), array(2))[0] == 1
    assert rest(array(2), array(3))[0] == 0
    assert np.isnan(share(array(1, np.nan), array(0, 1))).all()
    assert np.isnan(rest(array(1), array(np.nan)))[0]


def test_each_scale_is_slower_than_the_one_inside_it() -> None:
    """Memory of the fastest cards beats NVLink, NVLink beats every network; each link has a source."""
    links = (*map(memory_of, TABLE), *LINKS)
    fastest = {scale: max(link.speed for link in links if link.scale is scale) for scale in Scale}
    assert fastest[Scale.CARD] > fastest[Scale.MACHINE] > fastest[Scale.CLUSTER]
    assert all(link.source and link.speed > 0 for link in links)


@pytest.mark.parametrize(
    ("generation", "lanes", "gigabytes"), [(3, 16, 15.75), (4, 16, 31.51), (5, 16, 63.02), (5, 8, 31.51), (1, 16, 4.0)]
)
def test_speed_of_pcie_in_one_direction(generation: float, lanes: float, gigabytes: float) -> None:
    """The figures that everybody knows; half of the lanes are half of the speed."""
    assert pcie_speed(generation, lanes) == pytest.approx(gigabytes * 1e9, rel=1e-3)


@pytest.mark.parametrize(("generation", "lanes"), [(0, 16), (3.5, 16), (9, 16), (float("nan"), 16), (4, 0), (4, float("nan"))])
def test_a_link_that_there_is_not_has_no_speed(generation: float, lanes: float) -> None:
    """Unknown generation or width gives no number."""
    assert pcie_speed(generation, lanes) is None


def test_moving_a_cache_over_a_slow_link_takes_longer() -> None:
    """128 KiB × 8192 tokens take 24 ms over 400 Gb/s and 2.4 ms over NVLink 4."""
    speeds = {link.name: link for link in LINKS}
    size = 131072.0 * 8192
    slow: Link = speeds["Ethernet 400G"]
    assert transfer_time(size, slow) == pytest.approx(21.5e-3, rel=0.01)
    assert transfer_time(size, speeds["NVLink 4 (H100, H200)"]) == pytest.approx(2.39e-3, rel=0.01)

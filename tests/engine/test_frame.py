"""The grid: what becomes of samples, what stays unknown, who belongs to whom."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.making import BEGIN, ORIGIN, STEP, Buckets, cells, frame_of, make_recording, who
from triage.engine.frame import MOST_CELLS, Frame, grid_of
from triage.model.recording import Floats, Recording, Series, Subject, Window
from triage.model.vocabulary import Kind, Scope

REPLICA = who("replica/a")


def gaps(frame: Frame, key: str) -> list[int]:
    """Indices of unknown cells."""
    return [int(index) for index in np.flatnonzero(np.isnan(cells(frame, key)))]


def with_samples(times: Floats, values: Floats, signal: str = "tokens.generation", step: float = STEP) -> Frame:
    """A frame of one series with these samples, seconds after the beginning."""
    empty = make_recording(step=step)
    return Frame(replace(empty, series=(Series(signal, REPLICA, BEGIN + times, values, ORIGIN),)))


def test_the_grid_ends_with_the_window_and_begins_with_the_data() -> None:
    """Forty cells of 15 s before the window, forty in it; the last one ends at the window's end."""
    grid = grid_of(make_recording({"kv.usage": 0.5}))
    assert (grid.step, grid.first, len(grid.times)) == (15, 40, 80)
    assert grid.times[-1] == BEGIN + 1200
    assert grid.times[grid.first] == BEGIN + 600 + 15


@pytest.mark.parametrize(
    ("inside", "step", "cell"), [(600, 2, 10), (600, 15, 15), (3600, 15, 60), (86400, 15, 900), (600, 7, 10), (60, 1, 1)]
)
def test_cells_are_round_and_not_too_many(inside: float, step: float, cell: float) -> None:
    """As fine as the samples, but no finer than a hundred cells a window, and of a length that people use."""
    grid = grid_of(make_recording({"kv.usage": 0.5}, step=step, inside=inside))
    assert grid.step == cell
    assert len(grid.times) - grid.first <= MOST_CELLS


def test_a_baseline_of_two_cells_is_none() -> None:
    """What is usual cannot be told from a moment."""
    assert grid_of(make_recording({"kv.usage": 0.5}, before=30)).first == 0
    assert grid_of(make_recording({"kv.usage": 0.5}, before=60)).first == 4


def test_a_baseline_without_samples_is_none() -> None:
    """Asked for an hour before, but the data begin with the window: there is nothing to compare with."""
    times = BEGIN + np.arange(615, 1201, 15.0)
    empty = make_recording()
    frame = Frame(replace(empty, series=(Series("kv.usage", REPLICA, times, np.full(len(times), 0.5), ORIGIN),)))
    assert frame.grid.first == 0


TIMES = st.lists(st.floats(0.5, 30), min_size=2, max_size=80)
RATES = st.floats(0, 1e6)


@given(TIMES, st.data())
def test_what_was_counted_stays_counted(distances: list[float], data: st.DataObject) -> None:
    """However irregular the samples, rate × time over the known cells is the counter's growth in the time they cover."""
    times = np.cumsum(distances)
    times = times[times <= 1200]
    rates = np.array(data.draw(st.lists(RATES, min_size=len(times), max_size=len(times))))
    if len(times) < 2:
        return
    frame = with_samples(times, rates)
    before = np.concatenate(([times[0] - float(np.median(np.diff(times)))], times[:-1]))
    earliest = frame.grid.times[0] - frame.grid.step - BEGIN
    grown = float((rates * (times - np.maximum(before, earliest)).clip(0)).sum())
    held = cells(frame, "tokens.generation")
    seconds = _covered(frame, times, before)
    assert float(np.nansum(held * seconds)) == pytest.approx(grown, rel=1e-6, abs=1e-3)


def _covered(frame: Frame, times: Floats, before: Floats) -> Floats:
    """Seconds of each cell that lie between two samples."""
    ends = frame.grid.times - BEGIN
    starts = ends - frame.grid.step
    overlap = np.minimum.outer(ends, times) - np.maximum.outer(starts, before)
    return np.asarray(overlap.clip(0).sum(axis=1))


def test_a_rate_does_not_reach_over_a_gap() -> None:
    """After five minutes without a scrape a counter tells of the last moments before its sample, and of no more."""
    times = np.concatenate((np.arange(15, 600, 15.0), np.arange(900, 1201, 15.0)))
    frame = with_samples(times, np.full(len(times), 4.0))
    unknown = gaps(frame, "tokens.generation")
    assert 15 <= len(unknown) <= 19
    assert np.nanmax(cells(frame, "tokens.generation")) == pytest.approx(4.0)


def test_a_gauge_is_held_for_two_scrapes_and_a_half() -> None:
    """One missed scrape is bridged; after two the value is unknown."""
    values = [0.5] * 80
    values[50] = np.nan
    values[60:66] = [np.nan] * 6
    frame = frame_of({"kv.usage": values})
    assert 50 not in gaps(frame, "kv.usage")
    assert gaps(frame, "kv.usage") == [62, 63, 64, 65]


def test_a_state_is_its_last_value_and_a_gauge_its_mean() -> None:
    """In a cell of a minute with four samples 0, 0, 0, 1 a state is 1 and a gauge a quarter."""
    values = [0.0, 0.0, 0.0, 1.0] * 60
    frame = frame_of({"kv.usage": values, "pod.ready": values}, inside=3000)
    assert frame.grid.step == 30
    last = cells(frame_of({"kv.usage": values, "pod.ready": values}, inside=3000), "pod.ready")[-4:]
    assert last.tolist() == [0.0, 1.0, 0.0, 1.0]
    assert cells(frame, "kv.usage")[-4:].tolist() == [0.0, 0.5, 0.0, 0.5]


@pytest.mark.parametrize("kind", [Kind.RATE, Kind.GAUGE, Kind.STATE])
def test_a_sample_that_tells_nothing_spoils_no_other(kind: Kind) -> None:
    """NaN in the middle of a series makes its own moment unknown at most."""
    frame = frame_of({"kv.usage": 0.5})
    times = frame.grid.times
    values = np.full(len(times), 3.0)
    values[20] = np.nan
    held = frame.on_grid(times, values, kind)
    assert held[19] == held[21] == 3.0
    assert np.isnan(frame.on_grid(times, np.full(len(times), np.nan), kind)).all()
    assert np.isnan(frame.on_grid(np.zeros(0), np.zeros(0), kind)).all()


@given(st.lists(st.floats(0, 1e12), min_size=80, max_size=80))
def test_a_gauge_stays_within_its_values(values: list[float]) -> None:
    """A mean is never outside what was measured, whatever the sizes."""
    held = cells(frame_of({"kv.usage": values}), "kv.usage")
    assert np.nanmin(held) >= min(values) * (1 - 1e-9)
    assert np.nanmax(held) <= max(values) * (1 + 1e-9)


def test_sums_and_counts_of_a_distribution() -> None:
    """Two observations a second of half a second each: one second of sum."""
    frame = frame_of(histograms={"latency.ttft": Buckets((0.25, 0.75), (0, 2, 0))})
    pair = frame.sum_and_count("latency.ttft", REPLICA)
    assert pair is not None
    assert pair[0][-1] == pytest.approx(1.0)
    assert pair[1][-1] == pytest.approx(2.0)
    assert frame.sum_and_count("latency.itl", REPLICA) is None


def test_derived_values_are_told_from_measured_ones() -> None:
    """What was put in later is there, but no source measured it; nothing unknown is put in."""
    frame = frame_of({"kv.usage": 0.5})
    frame.put("kv.capacity", REPLICA, np.full(80, 1000.0))
    frame.put("kv.evictable", REPLICA, np.full(80, np.nan))
    assert frame.has("kv.capacity")
    assert not frame.has("kv.evictable")
    assert frame.measured("kv.capacity", REPLICA) is None
    assert frame.measured("kv.usage", REPLICA) is not None


LINKS = {
    "gpu/g0": ["replica/a", "node/n1"],
    "gpu/g1": ["replica/b", "node/n1"],
    "replica/a": ["node/n1"],
    "replica/b": ["node/n1"],
}


def test_subjects_are_found_over_their_links() -> None:
    """A card by its replica and a replica by its card; of the service everything; of a gateway everything."""
    frame = frame_of({"kv.usage@replica/a": 0.5, "kv.usage@replica/b": 0.5, "gateway.requests": 1.0}, links=LINKS)
    assert frame.related(who("replica/a"), Scope.GPU) == [who("gpu/g0")]
    assert frame.related(who("gpu/g1"), Scope.REPLICA) == [who("replica/b")]
    assert frame.related(who("node/n1"), Scope.GPU) == [who("gpu/g0"), who("gpu/g1")]
    assert frame.related(who("service/svc"), Scope.REPLICA) == [who("replica/a"), who("replica/b")]
    assert frame.related(who("gateway/gw"), Scope.REPLICA) == [who("replica/a"), who("replica/b")]
    assert frame.related(who("replica/a"), Scope.SERVICE) == [Subject(Scope.SERVICE, "svc")]
    assert frame.related(who("replica/a"), Scope.REPLICA) == [who("replica/a")]


def test_the_only_host_is_meant_where_nothing_is_linked() -> None:
    """On one machine nobody writes links; with two hosts, or with links of others, nothing is guessed."""
    one = frame_of({"kv.usage": 0.5, "node.load1": 1.0})
    assert one.related(who("replica/a"), Scope.NODE) == [who("node/n1")]
    two = frame_of({"kv.usage": 0.5, "node.load1@node/n1": 1.0, "node.load1@node/n2": 1.0})
    assert two.related(who("replica/a"), Scope.NODE) == []
    other = frame_of({"kv.usage@replica/a": 0.5, "node.load1": 1.0}, links={"replica/b": ["node/n1"]})
    assert other.related(who("replica/a"), Scope.NODE) == []


def test_an_empty_recording_has_a_grid() -> None:
    """Nothing measured is not an error: every signal is unknown."""
    frame = Frame(Recording("svc", Window(BEGIN, BEGIN + 600, BEGIN)))
    assert len(frame.grid.times) == 40
    assert not frame.has("kv.usage")
    assert frame.subjects_of("kv.usage") == []


def test_a_distribution_of_which_nothing_is_believed_was_never_measured() -> None:
    """Where a witness failed all the time nobody has to think of a distribution without samples."""
    frame = frame_of(histograms={"latency.ttft@replica/a": Buckets((0.1, 1.0), (1.0, 2.0, 3.0))})
    assert frame.histogram("latency.ttft", REPLICA) is not None
    frame.forget("latency.ttft", REPLICA, -np.inf, np.inf)
    assert frame.histogram("latency.ttft", REPLICA) is None
    assert frame.subjects_of("latency.ttft") == []

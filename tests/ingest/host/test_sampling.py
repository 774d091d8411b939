"""The beat, readings as series, and calls that may never return."""

from collections.abc import Iterator
from threading import Event, current_thread

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.background import in_background
from triage.ingest.host.sampling import Reading, Samples, beats
from triage.model.recording import Subject
from triage.model.vocabulary import Scope

NODE = Subject(Scope.NODE, "n1")


class SimulatedTime(Event):
    """Waits take no time but move a clock on, by a factor of what was asked for."""

    def __init__(self, pace: float = 1.0) -> None:
        super().__init__()
        self.now, self.pace, self.waits = 100.0, pace, list[float]()

    def wait(self, timeout: float | None = None) -> bool:
        self.waits.append(timeout or 0.0)
        self.now += self.pace * (timeout or 0.0)
        return self.is_set()

    def clock(self) -> float:
        return self.now


@given(span=st.floats(0.0, 500.0), step=st.floats(0.5, 60.0))
def test_beats_reach_from_now_to_the_end(span: float, step: float) -> None:
    """Beats are even, about a step or more apart, begin now and end with the window; progress ends at 1."""
    time = SimulatedTime()
    told = list(beats(100.0 + span, step, time.clock, time))
    moments = np.array([moment for moment, _ in told])
    assert moments[0] == 100.0
    assert told[-1][1] == 1.0
    if len(moments) > 1:
        assert moments[-1] == pytest.approx(100.0 + span)
        assert np.diff(moments).min() >= 0.949 * step
        assert np.diff(moments).max() <= 2.001 * step
        assert np.ptp(np.diff(moments)) == pytest.approx(0.0, abs=1e-6)
    else:
        assert span < step


def test_beat_that_is_over_is_left_out() -> None:
    """Work that takes longer than a beat makes the next beats fall out instead of crowding them."""
    time = SimulatedTime()
    moments = []
    for moment, _ in beats(110.0, 1.0, time.clock, time):
        moments.append(moment)
        if moment == 102.0:
            time.now += 3.7
    assert moments == pytest.approx([100, 101, 102, 106, 107, 108, 109, 110])


def test_clock_that_jumps_back_does_not_prolong_the_run() -> None:
    """The number of beats and the longest wait are bounded whatever the clock does."""
    time = SimulatedTime()

    def run() -> Iterator[float]:
        for moment, _ in beats(110.0, 1.0, time.clock, time):
            yield moment
            if moment == 105.0:
                time.now -= 3600.0

    assert len(list(run())) <= 11
    assert max(time.waits) <= 1.0


def test_stop_ends_the_beat() -> None:
    """Once the user has had enough there is no further beat."""
    time = SimulatedTime()
    moments = []
    for moment, _ in beats(110.0, 1.0, time.clock, time):
        moments.append(moment)
        if moment == 102.0:
            time.set()
    assert moments == [100, 101, 102]


def test_background_hands_over_result_and_error() -> None:
    """A call in the background gives what it returned or raised, and runs in a thread that holds nothing up."""
    assert in_background(lambda: current_thread().daemon).result(timeout=10) is True
    with pytest.raises(ZeroDivisionError):
        in_background(lambda: 1 // 0).result(timeout=10)


def test_background_does_not_wait_for_what_never_returns() -> None:
    """Whoever asked can go on while a call hangs."""
    release = Event()
    pending = in_background(release.wait)
    with pytest.raises(TimeoutError):
        pending.result(timeout=0.01)
    release.set()
    assert pending.result(timeout=10) is True


@given(st.lists(st.floats(0, 1e6), min_size=2, max_size=30))
def test_counter_becomes_rate_that_gives_the_growth_back(steps: list[float]) -> None:
    """The rates times the distances are the growth of the total."""
    samples = Samples()
    totals = np.cumsum(steps)
    for second, total in enumerate(totals):
        samples.add(2.0 * second, NODE, Reading("node.swap_in", float(total), "vmstat", counter=True))
    made = samples.series("test", 2.0)[0]
    assert (made.values * 2.0).sum() == pytest.approx(totals[-1] - totals[0])
    assert made.times.tolist() == [2.0 * second for second in range(1, len(steps))]
    assert made.origin.counter


def test_share_of_a_total() -> None:
    """Where a counter is a share of another total, that total's growth is what it is divided by, not time."""
    samples = Samples()
    for second, (busy, whole) in enumerate([(10, 100), (40, 200), (40, 200), (140, 300)]):
        samples.add(float(second), NODE, Reading("node.cpu_busy", busy, "stat", counter=True, whole=whole))
    made = samples.series("test", 1.0)[0]
    assert made.values.tolist() == pytest.approx([0.3, 1.0])
    assert made.times.tolist() == [1.0, 3.0]


def test_parts_are_combined_in_the_signals_own_way() -> None:
    """Bytes of all disks are summed, of busy disks the busiest counts; a disk that is taken away takes nothing with it."""
    samples = Samples()
    for second in range(6):
        for part, pace in (("sda", 0.25), ("sdb", 0.5)):
            if part == "sda" or second < 3:
                for signal, scale in (("node.disk_busy", 1.0), ("node.disk_read", 100.0)):
                    reading = Reading(signal, scale * pace * second, "diskstats", counter=True, part=part)
                    samples.add(float(second), NODE, reading)
    busy, read = samples.series("test", 1.0)
    assert busy.values.tolist() == [0.5, 0.5, 0.25, 0.25, 0.25]
    assert read.values.tolist() == [75, 75, 25, 25, 25]


def test_readings_that_say_nothing_are_left_out() -> None:
    """No number, and a second reading at one moment, are no samples; a subject with nothing else has no series."""
    samples = Samples()
    samples.add(1.0, NODE, Reading("node.load1", float("nan"), "loadavg"))
    assert samples.series("test", 1.0) == ()
    for moment, value in ((2.0, 1.0), (2.0, 9.0), (1.5, 9.0), (3.0, 4.0)):
        samples.add(moment, NODE, Reading("node.load1", value, "loadavg"))
    made = samples.series("test", 1.0)[0]
    assert (made.times.tolist(), made.values.tolist()) == ([2.0, 3.0], [1.0, 4.0])


def test_one_reading_of_a_counter_is_no_rate() -> None:
    """A counter that was read once tells nothing of its pace."""
    samples = Samples()
    samples.add(1.0, NODE, Reading("node.swap_in", 5.0, "vmstat", counter=True))
    assert samples.series("test", 1.0) == ()


def test_counter_that_falls_counts_from_zero() -> None:
    """A counter that began anew gives what it shows now."""
    samples = Samples()
    for second, total in enumerate([100.0, 160.0, 30.0]):
        samples.add(float(second), NODE, Reading("node.swap_in", total, "vmstat", counter=True))
    assert samples.series("test", 1.0)[0].values.tolist() == [60.0, 30.0]

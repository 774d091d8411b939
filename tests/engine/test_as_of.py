"""A recording as of an earlier moment, and one that grows."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.engine.as_of import cut
from triage.engine.frame import grid_of
from triage.engine.live_window import bounded, continued, still_told, thinned
from triage.model.recording import Event, Fact, Histogram, Origin, Recording, Series, Source, SourceState, Subject, Window
from triage.model.vocabulary import Scope

SERVICE = Subject(Scope.SERVICE, "llm")
VLLM_0, VLLM_1 = Subject(Scope.REPLICA, "vllm-0"), Subject(Scope.REPLICA, "vllm-1")
ORIGIN = Origin("vllm", "m")


def series(subject: Subject, *times: float, signal: str = "queue.waiting", values: float = 1.0) -> Series:
    """A series with one value at some times."""
    return Series(signal, subject, np.array(times), np.full(len(times), values), ORIGIN)


def histogram(*times: float, bounds: tuple[float, ...] = (1.0, np.inf)) -> Histogram:
    """A distribution with one observation a second at some times."""
    rates = np.ones((len(times), len(bounds)))
    return Histogram("latency.ttft", VLLM_0, np.array(times), np.array(bounds), rates, np.ones(len(times)), ORIGIN)


def recording(*tracks: Series | Histogram, start: float = 100.0, end: float = 200.0, begin: float = 0.0) -> Recording:
    """A recording of some tracks."""
    return Recording(
        "llm",
        Window(start, end, begin),
        series=[track for track in tracks if isinstance(track, Series)],
        histograms=[track for track in tracks if isinstance(track, Histogram)],
        events=(Event(50.0, "deploy", "v1"), Event(150.0, "deploy", "v2")),
    )


def test_nothing_that_came_later_is_left() -> None:
    """Samples, distributions and events after the moment are gone; what had not begun is left out."""
    held = recording(series(VLLM_0, 10, 50, 90, 130), series(VLLM_1, 130, 170), histogram(10, 50, 130))
    early = cut(held, 100.0)
    assert [one.times.tolist() for one in early.series] == [[10, 50, 90]]
    assert [one.subject for one in early.series] == [VLLM_0]
    assert [(one.times.tolist(), one.rates.shape, one.sums.shape) for one in early.histograms] == [([10, 50], (2, 2), (2,))]
    assert [event.name for event in early.events] == ["v1"]


def test_the_window_keeps_its_length_while_enough_is_left_to_compare_with() -> None:
    """Of a recording with a long baseline the window moves as it is."""
    held = recording(start=3600.0, end=5400.0)
    assert cut(held, 4800.0).window == Window(3000.0, 4800.0, 0.0)
    assert cut(held, 2400.0).window == Window(600.0, 2400.0, 0.0)
    assert cut(held, 1200.0).window == Window(300.0, 1200.0, 0.0)


def test_a_short_baseline_keeps_its_share() -> None:
    """Where the window is most of the recording it shrinks in proportion, rather than swallow what there is to compare with."""
    held = recording(start=40.0, end=200.0)
    assert cut(held, 100.0).window == Window(20.0, 100.0, 0.0)


def test_at_its_end_a_recording_is_itself() -> None:
    """Nothing is cut at or after the end."""
    held = recording(series(VLLM_0, 10, 50))
    assert cut(held, 200.0) is held
    assert cut(held, 1e9) is held


@given(end=st.floats(1.0, 199.0), start=st.floats(0.0, 190.0))
def test_every_cut_has_a_grid(end: float, start: float) -> None:
    """Wherever it is cut, the window lies between the first and the last moment, and the engine can lay its grid."""
    early = cut(recording(series(VLLM_0, *range(1, 200, 5)), start=start), end)
    assert 0.0 <= early.window.baseline_start <= early.window.start < early.window.end == end
    assert len(grid_of(early).times)


def test_a_history_is_continued() -> None:
    """Where both know a time the newest look is right; what is older than wanted is forgotten."""
    old = recording(series(VLLM_0, 10, 20, 30), series(VLLM_1, 10, 20, 30), histogram(10, 20))
    new = recording(series(VLLM_0, 30, 40, values=2.0), histogram(30, 40), start=200.0, end=300.0)
    whole = continued(old, new, since=15.0)
    assert {one.subject: (one.times.tolist(), one.values.tolist()) for one in whole.series} == {
        VLLM_0: ([20, 30, 40], [1, 2, 2]),
        VLLM_1: ([20, 30], [1, 1]),
    }
    assert whole.histograms[0].times.tolist() == [20, 30, 40]
    assert whole.histograms[0].rates.shape == (3, 2)
    assert whole.window == new.window
    assert [event.name for event in whole.events] == ["v1", "v2"]


def test_other_buckets_begin_a_distribution_anew() -> None:
    """Distributions with different bounds cannot be joined; the newest one counts."""
    whole = continued(recording(histogram(10, 20)), recording(histogram(30, bounds=(2.0, np.inf))), since=0.0)
    assert whole.histograms[0].times.tolist() == [30]


def test_facts_links_and_sources_are_the_newest() -> None:
    """What holds now replaces what held; what became of the sources is told by the newest look alone."""
    old = Recording(
        "llm",
        Window(0, 1, 0),
        facts=(Fact(SERVICE, "model", "a"), Fact(SERVICE, "engine", "vllm")),
        links={VLLM_0: (SERVICE,)},
        sources=(Source("nvml", SourceState.OK),),
    )
    new = Recording(
        "llm", Window(1, 2, 0), facts=(Fact(SERVICE, "model", "b"),), sources=(Source("nvml", SourceState.FAILED, "x"),)
    )
    whole = continued(old, new, since=0.0)
    assert {fact.key: fact.value for fact in whole.facts} == {"model": "b", "engine": "vllm"}
    assert whole.links == {VLLM_0: (SERVICE,)}
    assert [source.state for source in whole.sources] == [SourceState.FAILED]


def test_a_signal_that_nobody_tells_any_more_is_no_evidence() -> None:
    """Signals that the newest look lacks are left out; one that only a single replica stopped telling stays."""
    old = recording(series(VLLM_0, 10), series(VLLM_1, 10), series(VLLM_0, 10, signal="kv.usage"), histogram(10))
    new = recording(series(VLLM_1, 20))
    left = still_told(continued(old, new, since=0.0), new)
    assert sorted((one.signal, one.subject.id) for one in left.series) == [
        ("queue.waiting", "vllm-0"),
        ("queue.waiting", "vllm-1"),
    ]
    assert list(left.histograms) == []


def test_a_target_that_was_asked_and_gave_no_answer_keeps_what_it_said() -> None:
    """That it has nothing more to say is evidence: of a source that nobody asked it would be none."""
    old = recording(
        series(VLLM_0, 10), series(VLLM_0, 10, signal="kv.usage"), series(VLLM_1, 10, signal="gpu.power"), histogram(10)
    )
    new = recording(series(VLLM_0, 20, signal="target.up", values=0.0))
    left = still_told(continued(old, new, since=0.0), new)
    assert sorted((one.signal, one.subject.id) for one in left.series) == [
        ("kv.usage", "vllm-0"),
        ("queue.waiting", "vllm-0"),
        ("target.up", "vllm-0"),
    ]
    assert [one.subject for one in left.histograms] == [VLLM_0]


def rates(times: list[float], values: list[float]) -> Series:
    """A rate over time."""
    return Series("tokens.generation", VLLM_0, np.array(times), np.array(values), ORIGIN)


def counted(one: Series) -> float:
    """What a rate adds up to, from its second sample on."""
    return float((one.values[1:] * np.diff(one.times)).sum())


@given(
    st.lists(st.tuples(st.floats(0.1, 20.0), st.floats(0.0, 100.0)), min_size=2, max_size=60),
    st.sampled_from((1.0, 2.0, 8.0, 32.0)),
)
def test_what_was_counted_stays_when_it_is_thinned(samples: list[tuple[float, float]], step: float) -> None:
    """One sample a span, the last moment is kept, and rates add up to what they did; thinned again it is the same."""
    times = np.cumsum([pause for pause, _ in samples]).tolist()
    whole = rates(times, [value for _, value in samples])
    (thin,) = thinned(recording(whole), step).series
    assert len(thin.times) == len({time // step for time in times})
    assert thin.times[-1] == times[-1]
    first = float(thin.times[0])
    later = replace(whole, times=whole.times[whole.times >= first], values=whole.values[whole.times >= first])
    assert counted(thin) == pytest.approx(counted(later), rel=1e-6, abs=1e-6)
    (again,) = thinned(recording(thin), step).series
    assert np.array_equal(again.times, thin.times)


def test_a_state_is_its_last_value_and_a_gauge_its_mean() -> None:
    """A distribution's observations are spread over the span."""
    held = recording(
        Series("target.up", VLLM_0, np.array([0.0, 1, 2, 3]), np.array([1.0, 1, 1, 0]), ORIGIN),
        Series("queue.waiting", VLLM_0, np.array([0.0, 1, 2, 3]), np.array([1.0, 2, 3, 6]), ORIGIN),
        histogram(0, 1, 2, 3),
    )
    thin = thinned(held, 4.0)
    assert [one.values.tolist() for one in thin.series] == [[0], [3]]
    assert (thin.histograms[0].times.tolist(), thin.histograms[0].rates.tolist(), thin.step) == ([3], [[1, 1]], 15.0)


def test_history_has_a_bound() -> None:
    """However long trouble lasts: twice as long it is half as fine; what is short stays as it came."""
    short = recording(series(VLLM_0, *range(1000)), end=1000.0)
    assert bounded(short, 1000.0, 1.0) is short
    long = recording(series(VLLM_0, *range(5000)), end=5000.0)
    assert len(bounded(long, 1000.0, 1.0).series[0].times) == 625

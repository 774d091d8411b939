"""Requests that go astray are told by two labels of one counter."""

import numpy as np

from triage.ingest.misrouting import Homes
from triage.ingest.raw import RawSeries

TIMES = np.arange(0.0, 600.0, 60.0)


def counter(asked: str, served: str, before: float, after: float) -> RawSeries:
    """A counter that grows by ``before`` a minute in the first five minutes, then by ``after``."""
    steps = np.where(TIMES <= 300.0, before, after)
    return RawSeries("routed_total", {"asked": asked, "served": served}, TIMES, np.cumsum(steps))


def homes(*series: RawSeries) -> Homes:
    return Homes(series, "asked", "served", 300.0)


def test_an_answer_by_another_groups_model_is_astray() -> None:
    """What used to answer others and now answers these counts; what always answered them does not."""
    own, others = counter("chat", "small", 60, 50), counter("long", "large", 5, 5)
    stray = counter("chat", "large", 0, 10)
    known = homes(own, others, stray)
    assert known.misrouted(stray) is stray
    assert not known.misrouted(own).values.any()
    assert not known.misrouted(others).values.any()


def test_two_models_of_one_group_are_both_at_home() -> None:
    """A group that is spread over two models sends nobody astray."""
    first, second = counter("chat", "east", 30, 10), counter("chat", "west", 30, 50)
    known = homes(first, second)
    assert not known.misrouted(first).values.any()
    assert not known.misrouted(second).values.any()


def test_an_alias_without_a_model_of_its_own_is_not_astray() -> None:
    """A second name for the same model is a setting, not a mistake."""
    known = homes(counter("chat", "small", 60, 60), counter("default", "small", 6, 6))
    assert not known.misrouted(counter("default", "small", 6, 6)).values.any()


def test_without_a_past_the_whole_time_tells_what_is_usual() -> None:
    """Where nothing was counted before, whoever asked most is at home."""
    own, others = counter("chat", "small", 0, 60), counter("long", "large", 0, 50)
    stray = counter("chat", "large", 0, 10)
    assert homes(own, others, stray).misrouted(stray) is stray


def test_a_series_without_the_labels_counts_nothing() -> None:
    """A request of which nobody says what was asked for is not astray."""
    bare = RawSeries("routed_total", {}, TIMES, TIMES)
    assert not homes(counter("chat", "small", 1, 1)).misrouted(bare).values.any()

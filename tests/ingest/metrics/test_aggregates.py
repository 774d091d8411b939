"""Recorded series that add up a ratio, told from means, maxima and numbers that are no ratio."""

import numpy as np
import pytest

from triage.ingest.metrics.dialects import load_dialects
from triage.ingest.metrics.translate import translate
from triage.ingest.raw import RawSeries
from triage.model.recording import Event, Floats, Window
from triage.model.service import Service

TIMES = np.arange(0.0, 3601.0, 30.0)
WINDOW = Window(1800.0, 3600.0, 0.0)
FILLS = [0.3 + 0.1 * np.sin(TIMES / 200.0 + phase) for phase in (0.0, 1.0, 2.0)]
"""Fill of the caches of three replicas."""


def sums(name: str, values: Floats, **labels: str) -> list[Event]:
    """Events that a series beside the replicas makes."""
    engines = [
        RawSeries("vllm:kv_cache_usage_perc", {"pod": f"svc-{i}", "service": "svc", "instance": f"10.0.0.{i}:8000"}, TIMES, fill)
        for i, fill in enumerate(FILLS)
    ]
    recording = translate([*engines, RawSeries(name, labels, TIMES, values)], load_dialects(), Service(name="svc"), WINDOW)
    return [event for event in recording.events if event.name == "summed-ratio"]


def test_a_recorded_sum() -> None:
    """It follows the sum, and stands far above each replica."""
    (event,) = sums("service:kv_cache_usage:sum", np.sum(FILLS, axis=0), service="svc")
    assert (event.kind, event.attrs["signal"], event.time) == ("metric", "kv.usage", WINDOW.start)
    assert float(event.attrs["value"]) > 2 * float(event.attrs["fullest"])


def test_a_sum_in_per_cent() -> None:
    """Whoever records it may have scaled it."""
    assert len(sums("service:kv_cache_usage_percent:sum", 100.0 * np.sum(FILLS, axis=0))) == 1


@pytest.mark.parametrize("how", [np.mean, np.max, np.median])
def test_means_and_maxima_are_right(how: object) -> None:
    """They lie between what the replicas show."""
    assert sums("service:kv_cache_usage:agg", how(FILLS, axis=0)) == []  # type: ignore[operator]


def test_numbers_that_follow_nothing() -> None:
    """A ratio's name alone proves nothing."""
    assert sums("service:error_ratio:rate5m", np.linspace(0.0, 1.0, len(TIMES))) == []


def test_a_targets_own_series_is_not_recorded() -> None:
    """Who has an address or a pod exports it."""
    assert sums("cache_usage_total_ratio", np.sum(FILLS, axis=0), instance="10.0.0.9:9000") == []

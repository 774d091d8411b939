"""What the autoscaler follows, against what its replicas show."""

import pytest

from tests.engine.making import derived, tail, unknown
from triage.engine.frame import Frame


def autoscaler(value: float, target: float, metric: str, fill: float = 0.2) -> Frame:
    """An autoscaler that follows a value, and a replica's cache."""
    told = {"autoscaler.value": value, "autoscaler.target": target, "kv.usage": fill}
    return derived(told, facts={"autoscaler_metric": metric})


def test_a_sum_of_ratios_exceeds_what_any_replica_shows() -> None:
    """As a ratio or in per cent, by the metric's name."""
    assert tail(autoscaler(1.2, 0.8, "llm_kv_usage"), "autoscaler.excess") == pytest.approx(6.0)
    assert tail(autoscaler(120.0, 80.0, "vllm:kv_cache_usage_perc"), "autoscaler.excess") == pytest.approx(6.0)


def test_a_number_of_requests_is_no_ratio() -> None:
    """Its target is above 1, and nothing in its name says that it is a share."""
    assert unknown(autoscaler(33.0, 16.0, "requests_outstanding"), "autoscaler.share")
    assert unknown(autoscaler(3.0, 1.0, "vllm:num_requests_waiting"), "autoscaler.share")

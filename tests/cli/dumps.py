"""Dumps of one vLLM engine over fifteen minutes, small enough to read: in good health, and with a full KV cache."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

START = 1_777_636_800
"""2026-05-01T12:00:00Z."""

STEP = 15
_SAMPLES = 60
_TROUBLE = 40
"""Sample at which the trouble begins: the last third, which is what a bare dump is judged by."""

_BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True)
class Load:
    """How the engine is in one interval: requests and tokens per second, latencies in seconds."""

    running: int = 8
    waiting: int = 0
    kv: float = 0.4
    preempted: float = 0.0
    finished: float = 2.0
    tokens: float = 300.0
    ttft: float = 0.2
    itl: float = 0.02


HEALTHY = Load()
FULL = Load(running=30, waiting=40, kv=0.99, preempted=3.0, finished=1.0, tokens=150.0, ttft=7.0, itl=0.2)


def dump(trouble: Load) -> str:
    """Prometheus text with times: health for ten minutes, then five minutes as told."""
    return "".join(
        f"{name}{{{labels}}} {value:g} {START + number * STEP}000\n" for name, labels, number, value in _samples(trouble)
    )


def _unsteady(load: Load, number: int) -> Load:
    """The load as it is in one interval: nothing real stands still."""
    sway = (0.96, 1.03, 0.99, 1.05, 0.97)[number % 5]
    return replace(
        load,
        running=load.running + number % 3,
        waiting=load.waiting + (number % 4 if load.waiting else 0),
        kv=round(min(1.0, load.kv + 0.002 * (number % 5)), 4),
        preempted=load.preempted * sway,
        finished=load.finished * sway,
        tokens=load.tokens * sway,
    )


def _samples(trouble: Load) -> Iterator[tuple[str, str, int, float]]:
    """Name, labels, number of the sample and value, series by series."""
    loads = [_unsteady(HEALTHY if number < _TROUBLE else trouble, number) for number in range(_SAMPLES)]
    base = 'job="vllm",instance="10.0.0.1:8000",model_name="llama",service="llm"'
    gauges = {
        "vllm:num_requests_running": [float(load.running) for load in loads],
        "vllm:num_requests_waiting": [float(load.waiting) for load in loads],
        "vllm:kv_cache_usage_perc": [load.kv for load in loads],
        "process_start_time_seconds": [START - 86400.0] * _SAMPLES,
        "up": [1.0] * _SAMPLES,
    }
    counters = {
        "vllm:num_preemptions_total": [load.preempted for load in loads],
        "vllm:generation_tokens_total": [load.tokens for load in loads],
        "vllm:prompt_tokens_total": [load.tokens / 2 for load in loads],
        "vllm:iteration_tokens_total_count": [1.0 / load.itl for load in loads],
    }
    for name, values in gauges.items():
        yield from ((name, base, number, value) for number, value in enumerate(values))
    for name, rates in counters.items():
        yield from ((name, base, number, value) for number, value in enumerate(_running_total(rates)))
    for reason, share in (("stop", 1.0), ("length", 0.0), ("abort", 0.0)):
        totals = _running_total([load.finished * share for load in loads])
        yield from (
            ("vllm:request_success_total", f'{base},finished_reason="{reason}"', n, value) for n, value in enumerate(totals)
        )
    yield from _histogram("vllm:time_to_first_token_seconds", base, [(load.ttft, load.finished) for load in loads])
    yield from _histogram("vllm:inter_token_latency_seconds", base, [(load.itl, load.tokens) for load in loads])


def _running_total(rates: list[float]) -> list[float]:
    """A counter that grows by these rates per second."""
    totals, total = [], 1000.0
    for rate in rates:
        total += rate * STEP
        totals.append(total)
    return totals


def _histogram(name: str, labels: str, observed: list[tuple[float, float]]) -> Iterator[tuple[str, str, int, float]]:
    """A histogram whose observations all have one value in each interval."""
    for bound in (*_BUCKETS, float("inf")):
        totals = _running_total([rate if value <= bound else 0.0 for value, rate in observed])
        edge = "+Inf" if bound == float("inf") else f"{bound:g}"
        yield from ((f"{name}_bucket", f'{labels},le="{edge}"', number, total) for number, total in enumerate(totals))
    sums = _running_total([value * rate for value, rate in observed])
    counts = _running_total([rate for _, rate in observed])
    yield from ((f"{name}_sum", labels, number, total) for number, total in enumerate(sums))
    yield from ((f"{name}_count", labels, number, total) for number, total in enumerate(counts))

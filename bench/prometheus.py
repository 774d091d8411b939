"""What one diagnosis costs a Prometheus and the way to it: questions, bytes, seconds.

Run by hand: ``python bench/prometheus.py`` asks for a recorded incident, ``python bench/prometheus.py REPLICAS [CARDS]`` for a
made-up fleet of so many replicas with so many cards each, among as many of another service. Both are held by a real Prometheus
that is started for it. Bytes are counted unpacked; on the way they are gzip, about a tenth.
"""

import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.servers import INCIDENTS, prometheus_with, recorded
from triage.bundle import bundled
from triage.ingest.files.incident import read_incident
from triage.ingest.http import Answer, Client
from triage.ingest.metrics.dialects import load_dialects
from triage.model.recording import Window
from triage.model.service import Service
from triage.plugins import load_collector
from triage.sdk import Request

CASE = "retry-storm-a032"
END = 1_700_000_000.0
SPAN = 1800.0
INTERVAL = 30.0
BOUNDS = [*(f"{2.0**power:g}" for power in range(-8, 14)), "+Inf"]
GAUGES = ("num_requests_running", "num_requests_waiting", "kv_cache_usage_perc")
COUNTERS = ("num_preemptions_total", "prompt_tokens_total", "generation_tokens_total")
HISTOGRAMS = ("time_to_first_token_seconds", "inter_token_latency_seconds", "e2e_request_latency_seconds")
CARD = ("GPU_UTIL", "GPU_TEMP", "POWER_USAGE", "SM_CLOCK", "FB_USED", "FB_FREE")


def replica(service: str, number: int, cards: int) -> Iterator[tuple[str, float]]:
    """Series of one replica and its cards, each with its growth per scrape."""
    pod, node = f"{service}-5b59c84684-b{number:04d}", f"{service}-node-{number}"
    target = f'job="vllm",instance="{service}-{number}:8000",pod="{pod}",namespace="llm",model_name="llama"'
    for name in GAUGES:
        yield f"vllm:{name}{{{target}}}", 0.0
    for name in COUNTERS:
        yield f"vllm:{name}{{{target}}}", 100.0
    for name in HISTOGRAMS:
        for bound in BOUNDS:
            yield f'vllm:{name}_bucket{{{target},le="{bound}"}}', 7.0
        yield f"vllm:{name}_sum{{{target}}}", 3.5
        yield f"vllm:{name}_count{{{target}}}", 7.0
    yield f'kube_pod_info{{job="ksm",instance="ksm:8080",pod="{pod}",node="{node}",namespace="llm"}}', 0.0
    yield f'up{{job="vllm",instance="{service}-{number}:8000",pod="{pod}"}}', 0.0
    for card in range(cards):
        place = (
            f'job="dcgm",instance="{node}:9400",Hostname="{node}",gpu="{card}",UUID="GPU-{service}-{number}-{card}",pod="{pod}"'
        )
        for name in CARD:
            yield f"DCGM_FI_DEV_{name}{{{place}}}", 0.0


def fleet(replicas: int, cards: int) -> bytes:
    """Half an hour of two services."""
    scrapes = [END - SPAN + step * INTERVAL for step in range(int(SPAN / INTERVAL) + 1)]
    lines: list[str] = []
    for service in ("chat", "other"):
        for number in range(replicas):
            for series, growth in replica(service, number, cards):
                lines += [f"{series} {1 + growth * step:g} {moment:.0f}" for step, moment in enumerate(scrapes)]
    return "\n".join([*lines, "# EOF", ""]).encode()


def measure(address: str, service: Service, window: Window) -> None:
    """One collection, and what it cost."""
    collector = load_collector(bundled("collectors") / "prometheus.py")
    answers: list[Answer] = []
    ask = Client.ask

    def counted(*words: Any, **named: Any) -> Answer:
        """Asks, and remembers what was answered."""
        answers.append(ask(*words, **named))
        return answers[-1]

    Client.ask = counted  # type: ignore[method-assign]
    request = Request(service.model_copy(update={"prometheus": address}), window, 15.0, 30.0, load_dialects(), time.time)
    for _ in range(3):
        answers.clear()
        began = time.perf_counter()
        recording = collector.collect(request)
        seconds = time.perf_counter() - began
    found = f"{len(recording.series)} series, {len(recording.histograms)} distributions"
    received = sum(len(answer.body) for answer in answers) / 2**20
    print(f"{len(answers)} questions, {received:.2f} MiB, {seconds:.2f} s: {found}")
    Client.ask = ask  # type: ignore[method-assign]
    print(*(f"{one.name} {one.state}: {one.reason}".rstrip(": ") for one in recording.sources), *recording.problems, sep="\n")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        if len(sys.argv) == 1:
            replayed = read_incident(INCIDENTS / CASE)
            with prometheus_with(recorded(CASE), Path(folder)) as stored:
                measure(stored.address, Service(name=replayed.service), replayed.window)
            return
        replicas, cards = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 8
        metrics = fleet(replicas, cards)
        print(
            f"{replicas} replicas with {cards} cards each and as many of another service: {len(metrics) / 2**20:.0f} MiB of text"
        )
        with prometheus_with(metrics, Path(folder)) as stored:
            measure(stored.address, Service(name="chat"), Window(END - SPAN / 3, END, END - SPAN))


if __name__ == "__main__":
    main()

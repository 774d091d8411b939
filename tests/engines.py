"""An engine that says what vLLM says of itself, and can be overloaded: something for a real Prometheus to scrape."""

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import time

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, start_http_server

_TTFT = (0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80)
_ITL = (0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5)
_E2E = (0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120)
_LABELS = {"model_name": "m", "engine": "0"}
_ANSWER = 200
_RATE = 8.0
"""Requests a second that end; each has 200 tokens."""


class FakeEngine:
    """The numbers of an engine that serves eight requests a second, or gets twice as many as it can serve.

    :param speed: seconds of the engine's life in one of ours
    """

    def __init__(self, speed: float = 1.0) -> None:
        self.overloaded = False
        self.registry = CollectorRegistry()
        self._speed = speed
        self._waiting = 0.0
        self._chance = random.Random(7)
        self._gauges = {name: self._made(Gauge, name) for name in ("num_requests_running", "num_requests_waiting")}
        self._kv = self._made(Gauge, "kv_cache_usage_perc")
        self._counts = {name: self._made(Counter, name) for name in ("prompt_tokens", "generation_tokens", "num_preemptions")}
        self._done = Counter("vllm:request_success", "-", [*_LABELS, "finished_reason"], registry=self.registry).labels(
            **_LABELS, finished_reason="stop"
        )
        spans = {
            "time_to_first_token_seconds": _TTFT,
            "inter_token_latency_seconds": _ITL,
            "e2e_request_latency_seconds": _E2E,
            "request_queue_time_seconds": _E2E,
        }
        self._spans = {
            name: Histogram(f"vllm:{name}", "-", _LABELS, registry=self.registry, buckets=buckets).labels(**_LABELS)
            for name, buckets in spans.items()
        }
        Gauge("process_start_time_seconds", "-", registry=self.registry).set(time())

    def _made(self, sort: type, name: str) -> "Gauge":
        made: Gauge = sort(f"vllm:{name}", "-", _LABELS, registry=self.registry).labels(**_LABELS)
        return made

    def live(self, seconds: float) -> None:
        """Some seconds of work."""
        seconds *= self._speed
        self._waiting = max(0.0, self._waiting + (_RATE if self.overloaded else -4.0 * _RATE) * seconds)
        wait = self._waiting / _RATE
        for _ in range(max(1, round(_RATE * seconds))):
            first = wait + 0.05 * self._chance.uniform(0.8, 1.5)
            step = 0.02 * self._chance.uniform(0.9, 1.2) * (1.3 if self.overloaded else 1.0)
            self._spans["request_queue_time_seconds"].observe(wait)
            self._spans["time_to_first_token_seconds"].observe(first)
            for _ in range(20):
                self._spans["inter_token_latency_seconds"].observe(step)
            self._spans["e2e_request_latency_seconds"].observe(first + step * _ANSWER)
            self._done.inc()
            self._counts["prompt_tokens"].inc(400)
            self._counts["generation_tokens"].inc(_ANSWER)
        self._gauges["num_requests_waiting"].set(round(self._waiting))
        self._gauges["num_requests_running"].set(32 if self.overloaded else self._chance.randint(20, 26))
        self._kv.set(0.85 if self.overloaded else self._chance.uniform(0.4, 0.5))


@contextmanager
def engine_at(port: int, speed: float = 1.0) -> Iterator[FakeEngine]:
    """An engine that works and can be scraped."""
    made, stopped = FakeEngine(speed), threading.Event()

    def work() -> None:
        while not stopped.wait(0.25):
            made.live(0.25)

    made.live(1.0)
    server, thread = start_http_server(port, "127.0.0.1", made.registry)
    worker = threading.Thread(target=work, daemon=True)
    worker.start()
    try:
        yield made
    finally:
        stopped.set()
        server.shutdown()
        server.server_close()
        thread.join()
        worker.join()

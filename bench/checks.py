"""What a check of many services costs one Prometheus and this machine: time, CPU of both, questions, how many at a time.

Run by hand: ``python -m bench.checks [SERVICES] [--jobs N] [--threads]``. A real Prometheus holds half an hour of made-up
services of one replica and two cards each; ``triage check`` asks it for all of them. With ``--threads`` they are checked in
threads instead of processes, to see what that would cost.
"""

import argparse
import re
import resource
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from threading import Event, Thread
from unittest import mock

from tests.servers import get, prometheus_with
from triage.checks import workers
from triage.checks.workers import Limits, Result
from triage.cli import checking, main

END = 1_700_000_000.0
SPAN = 1800.0
INTERVAL = 30.0
BOUNDS = [*(f"{4.0**power:g}" for power in range(-4, 6)), "+Inf"]
GAUGES = ("num_requests_running", "num_requests_waiting", "kv_cache_usage_perc")
COUNTERS = ("num_preemptions_total", "prompt_tokens_total", "generation_tokens_total")
HISTOGRAMS = ("time_to_first_token_seconds", "inter_token_latency_seconds", "e2e_request_latency_seconds")
CARD = ("GPU_UTIL", "GPU_TEMP", "POWER_USAGE", "SM_CLOCK", "FB_USED", "FB_FREE")
CARDS = 2
LINE = re.compile(r'^(\w+)(?:{(?:handler="(/api[^"]*)"|[^}]*)})? ([0-9.e+-]+)$', re.MULTILINE)


def replica(service: str) -> Iterator[tuple[str, float]]:
    """Series of a replica and its cards, each with its growth per scrape."""
    pod, node = f"{service}-5b59c84684-b0000", f"{service}-node"
    target = f'job="vllm",instance="{service}:8000",pod="{pod}",namespace="llm",model_name="llama"'
    yield from ((f"vllm:{name}{{{target}}}", 0.0) for name in GAUGES)
    yield from ((f"vllm:{name}{{{target}}}", 100.0) for name in COUNTERS)
    for name in HISTOGRAMS:
        yield from ((f'vllm:{name}_bucket{{{target},le="{bound}"}}', 7.0) for bound in BOUNDS)
        yield f"vllm:{name}_sum{{{target}}}", 3.5
        yield f"vllm:{name}_count{{{target}}}", 7.0
    yield f'kube_pod_info{{job="ksm",instance="ksm:8080",pod="{pod}",node="{node}",namespace="llm"}}', 0.0
    yield f'up{{job="vllm",instance="{service}:8000",pod="{pod}"}}', 0.0
    for card in range(CARDS):
        place = f'job="dcgm",instance="{node}:9400",Hostname="{node}",gpu="{card}",UUID="GPU-{service}-{card}",pod="{pod}"'
        yield from ((f"DCGM_FI_DEV_{name}{{{place}}}", 0.0) for name in CARD)


def metrics(services: int) -> bytes:
    """Half an hour of services with one replica and two cards each."""
    scrapes = [END - SPAN + step * INTERVAL for step in range(int(SPAN / INTERVAL) + 1)]
    lines: list[str] = []
    for service in range(services):
        for series, growth in replica(name(service)):
            lines += [f"{series} {value(series, growth, step):g} {moment:.0f}" for step, moment in enumerate(scrapes)]
    return "\n".join([*lines, "# EOF", ""]).encode()


def value(series: str, growth: float, step: int) -> float:
    """Counters grow, and what is measured moves a little."""
    if growth or series.startswith(("up", "kube")):
        return 1 + growth * step
    return 0.3 + 0.01 * (step * step * 31 % 17)


def name(number: int) -> str:
    """No name begins another one."""
    return f"llm-{number:04d}"


def sums(address: str) -> dict[str, float]:
    """The server's own metrics, all series of a name together."""
    found: dict[str, float] = {}
    for metric, handler, value in LINE.findall(get(f"{address}/metrics")[1].decode()):
        for key in {metric, f"{metric} {handler}".strip()}:
            found[key] = found.get(key, 0.0) + float(value)
    return found


@contextmanager
def watched(address: str) -> Iterator[list[float]]:
    """The most queries at the same time, looked at ten times a second."""
    most, end = [0.0], Event()

    def watch() -> None:
        while not end.wait(0.1):
            with suppress(OSError):
                most[0] = max(most[0], sums(address)["prometheus_engine_queries"])

    thread = Thread(target=watch)
    thread.start()
    try:
        yield most
    finally:
        end.set()
        thread.join()


def in_threads(servers: list[str], work: workers.Work[object], limits: Limits, _: object) -> list[Result[object]]:
    """As :func:`worked`, in threads."""
    desk = mock.Mock()
    with ThreadPoolExecutor(limits.jobs) as pool:
        done = pool.map(lambda piece: work(piece, time.monotonic() + limits.each, desk), range(len(servers)))
        return [Result(value, None, 0.0) for value in done]


def cpu() -> float:
    """Seconds of CPU of this process and those that it ended."""
    return sum(one.ru_utime + one.ru_stime for one in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


def measure(address: str, words: list[str], services: int) -> None:
    """One check, and what it cost."""
    before, spent, began = sums(address), cpu(), time.perf_counter()
    with watched(address) as most:
        code = main(["check", *words])
    seconds, after, ours = time.perf_counter() - began, sums(address), cpu() - spent
    answered = "prometheus_http_request_duration_seconds_count /api"
    asked = sum(value - before.get(key, 0.0) for key, value in after.items() if key.startswith(answered))
    theirs = after["process_cpu_seconds_total"] - before["process_cpu_seconds_total"]
    print(
        f"{services} services, exit code {code}: {seconds:.1f} s, CPU {ours:.1f} s here and {theirs:.1f} s there "
        f"({1000 * theirs / services:.0f} ms a service), about {asked / services:.0f} questions a service, "
        f"at most {most[0]:.0f} queries at a time"
    )


def run() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("services", nargs="?", type=int, default=500)
    parser.add_argument("--jobs", default="8")
    parser.add_argument("--threads", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, prometheus_with(metrics(args.services), Path(folder)) as stored:
        settings = Path(folder) / "triage.toml"
        tables = "".join(f"[service.{name(number)}]\n" for number in range(args.services))
        settings.write_text(f'[defaults]\nprometheus = "{stored.address}"\n{tables}', encoding="utf-8")
        words = ["--config", str(settings), "--from", f"{END - 600:.0f}", "--to", f"{END:.0f}", "--baseline", "20m"]
        words += [
            "--jobs",
            args.jobs,
            "--state",
            f"{folder}/state.sqlite",
            "--format",
            "openmetrics",
            "--output",
            f"{folder}/all.prom",
        ]
        with mock.patch.object(checking, "worked", in_threads) if args.threads else nullcontext():
            measure(stored.address, words, args.services)
        print(
            (Path(folder) / "all.prom").stat().st_size,
            "bytes of metrics",
            (Path(folder) / "state.sqlite").stat().st_size,
            "of history",
        )


if __name__ == "__main__":
    run()

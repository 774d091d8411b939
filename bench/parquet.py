"""How long a large recording takes to write and read, and how much room it takes.

Run by hand: ``python bench/parquet.py [replicas] [minutes]``. The recording is made up: gauges that wander, counters that are
noisy, sparse latency histograms, all replicas sampled every 15 s.
"""

import resource
import sys
import tempfile
import time
from math import inf
from pathlib import Path

import numpy as np

from triage.ingest.files.parquet import read_recording, write_recording
from triage.model.recording import Histogram, Origin, Recording, Series, Subject, Window
from triage.model.vocabulary import Kind, Scope, catalogue

STEP = 15.0
START = 1_700_000_000.0
BOUNDS = np.array([*np.geomspace(0.001, 640.0, 20), inf])


def synthetic(replicas: int, minutes: float) -> Recording:
    """Every replica signal of the vocabulary for each replica, and four GPUs each, over a window and as long a baseline."""
    times = START + np.arange(0.0, 2 * minutes * 60, STEP)
    chance = np.random.default_rng(1)
    subjects = [Subject(Scope.REPLICA, f"chat-{i:03d}") for i in range(replicas)]
    gpus = [Subject(Scope.GPU, f"node-{i:03d}/{card}") for i in range(replicas) for card in range(4)]
    series: list[Series] = []
    histograms: list[Histogram] = []
    for name, signal in catalogue().items():
        if signal.derived or signal.scope not in (Scope.REPLICA, Scope.GPU):
            continue
        for i, subject in enumerate(gpus if signal.scope is Scope.GPU else subjects):
            mine = times + (i % 15) + 0.001 * i  # each target is scraped at its own moment
            origin = Origin("vllm", f"vllm:{name}", f'vllm:{name}{{pod="{subject.id}",namespace="prod",job="chat"}}')
            if signal.kind is Kind.DISTRIBUTION:
                rates = chance.poisson(2.0 * np.exp(-((np.arange(len(BOUNDS)) - 8) ** 2) / 4), (len(times), len(BOUNDS))) / STEP
                histograms.append(Histogram(name, subject, mine, BOUNDS, rates, rates.sum(axis=1) * 0.3, origin))
            else:
                values = np.abs(np.cumsum(chance.normal(0, 1, len(times)))).round(3)
                series.append(Series(name, subject, mine, values, origin))
    window = Window(times[len(times) // 2], times[-1], times[0])
    return Recording("chat", window, tuple(series), tuple(histograms), step=STEP)


def main() -> None:
    replicas = int(sys.argv[1]) if len(sys.argv) > 1 else 16
    minutes = float(sys.argv[2]) if len(sys.argv) > 2 else 60.0
    recording = synthetic(replicas, minutes)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bench.parquet"
        began = time.perf_counter()
        write_recording(recording, path)
        wrote = time.perf_counter()
        back = read_recording(path)
        read = time.perf_counter()
        size = path.stat().st_size
    assert len(back.series) == len(recording.series)
    rows = sum(len(s.times) for s in back.series) + sum(h.rates.size + h.sums.size for h in back.histograms)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{replicas} replicas, {minutes:g} min: {len(back.series)} series, {len(back.histograms)} distributions, {rows} rows")
    print(f"write {wrote - began:.2f} s, read {read - wrote:.2f} s, {size / 2**20:.1f} MiB, {size / rows:.2f} bytes a row")
    print(f"peak memory of this process {peak:.0f} MiB")


if __name__ == "__main__":
    main()

"""How long an exposition takes to become a recording, and whether that grows with the data and not faster.

Run by hand: ``python bench/ingest.py [replicas] [cards] [minutes]``. A fleet is made of captured expositions (an engine's and a
card exporter's, ``tests/dialects``), every target scraped every 15 s; it is measured at one, two and four times its size, so
the last column is what to look at: twice the data should take twice the time. Seconds are CPU time.

Then the parsers alone, the median of five pairs: an exposition against ``prometheus_client``, and the same samples as an answer
of the Prometheus API against a reader of JSON and one number at a time.
"""

import json
import re
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
from prometheus_client.parser import text_string_to_metric_families

from triage.ingest.metrics.dialects import load_dialects
from triage.ingest.metrics.openmetrics import parse
from triage.ingest.metrics.translate import translate
from triage.ingest.prometheus.columns import loads
from triage.ingest.prometheus.promql import read_matrix
from triage.model.recording import Window
from triage.model.service import Service

PAYLOADS = Path(__file__).parent.parent / "tests" / "dialects"
START, STEP = 1_700_000_000, 15
_TIMED = re.compile(r"^(\S+?)(?:\{(.*)\})? (\S+)(?: \d+)?$", re.MULTILINE)


def template(path: Path, drop: str = "") -> list[tuple[str, str, float]]:
    """Name, labels and value of each series of a captured exposition, without labels that the fleet sets itself."""
    found: dict[tuple[str, str], float] = {}
    for name, labels, value in _TIMED.findall("\n".join(line for line in path.read_text().splitlines() if line[:1] != "#")):
        kept = [one for one in re.findall(r'\w+="[^"]*"', labels) if one.partition("=")[0] not in drop.split()]
        found[name, ",".join(kept)] = float(value)
    return [(name, labels, value) for (name, labels), value in found.items()]


def fleet(replicas: int, cards: int, scrapes: int) -> bytes:
    """The exposition of a fleet: all samples of a series together, as Prometheus dumps them."""
    engine = template(PAYLOADS / "payloads" / "vllm-0.32.0.txt")
    card = template(PAYLOADS / "payloads_infra" / "dcgm.om", "UUID gpu Hostname hostname pod exported_pod instance job service")
    parts: list[str] = []
    for number in range(replicas):
        pod, node = f"llm-prod-5b59c84684-{number:05d}", f"gpu-{number:03d}"
        target = f'job="vllm",instance="10.0.{number // 250}.{number % 250}:8000",service="llm-prod",pod="{pod}"'
        parts += [_series(name, f"{target},{labels}" if labels else target, value, scrapes) for name, labels, value in engine]
        for index in range(cards):
            own = f'job="dcgm",instance="{node}:9400",Hostname="{node}",UUID="GPU-{number:03d}-{index}",gpu="{index}",pod="{pod}"'
            parts += [_series(name, f"{own},{labels}" if labels else own, value, scrapes) for name, labels, value in card]
    return "".join(parts).encode()


def _series(name: str, labels: str, value: float, scrapes: int) -> str:
    """Samples of one series that grow a little, as a counter's or a busy gauge's do."""
    values = value * (1.0 + 0.001 * np.arange(scrapes))
    head = f"{name}{{{labels}}}"
    return "".join(f"{head} {one:.6g} {START + STEP * number}\n" for number, one in enumerate(values))


def _seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def compare(data: bytes) -> None:
    """Prints how the parsers stand to those that everybody has."""
    few = data[: data.index(b"\n", len(data) // 20) + 1]  # the reference is slow
    lines = data.count(b"\n")
    share = few.count(b"\n") / lines
    text = few.decode()
    series = parse(data).series
    values = [
        {
            "metric": dict(one.labels),
            "values": [[t, repr(v)] for t, v in zip(one.times.tolist(), one.values.tolist(), strict=True)],
        }
        for one in series
    ]
    answer = json.dumps({"status": "success", "data": {"resultType": "matrix", "result": values}}, separators=(",", ":")).encode()

    def one_by_one() -> list[object]:
        result = json.loads(answer)["data"]["result"]
        return [np.array([(float(t), float(v)) for t, v in one["values"]]) for one in result]

    pairs: dict[str, tuple[Callable[[], object], Callable[[], object], float]] = {
        "exposition / prometheus_client": (lambda: parse(data), lambda: list(text_string_to_metric_families(text)), share),
        "answer / json and float": (lambda: read_matrix("m", loads(answer)["data"]["result"], rate=False), one_by_one, 1.0),
    }
    for name, (ours, theirs, part) in pairs.items():
        told = [(_seconds(ours), _seconds(theirs) / part) for _ in range(5)]
        mine, other = (median(one) for one in zip(*told, strict=True))
        ratio = median(slow / fast for fast, slow in told)
        print(f"{name}: {lines} samples, {mine:.3f} s to {other:.3f} s, {ratio:.1f} times as fast")


def main() -> None:
    replicas, cards, minutes = (int(text) for text in (*sys.argv[1:], *("4", "2", "30")[len(sys.argv) - 1 :]))
    scrapes = minutes * 60 // STEP
    dialects, service = load_dialects(), Service(name="llm-prod")
    window = Window(START + scrapes * STEP * 2 / 3, START + scrapes * STEP, START)
    first = 0.0
    for copies in (1, 2, 4):
        data = fleet(replicas * copies, cards, scrapes)
        began = time.process_time()
        series = parse(data).series
        parsed = time.process_time()
        recording = translate(series, dialects, service, window)
        done = time.process_time()
        samples = sum(len(one.times) for one in series)
        first = first or done - began
        print(
            f"{copies} x {replicas} replicas of {cards} cards: {samples:8d} samples of {len(series):6d} series, "
            f"parse {parsed - began:6.3f} s ({samples / (parsed - began):8.0f}/s), translate {done - parsed:6.3f} s "
            f"({samples / (done - parsed):8.0f}/s), together {(done - began) / first:5.2f} times the first"
        )
        assert recording.subjects
    compare(fleet(replicas, cards, scrapes))
    print(f"peak memory of this process {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")


if __name__ == "__main__":
    main()

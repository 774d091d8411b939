"""How soon the walk answers a key, in a real terminal, over a recording of a large fleet.

Run by hand: ``python bench/walk.py [replicas] [cards a replica] [columns] [rows]``. The recording is made up: every replica and
card has the signals that engines and dcgm-exporter show, and in the last third queues grow and cards are throttled. The walk runs
as a user runs it, behind a pseudo-terminal. A key is answered when the first bytes of the next picture come, and settled when no
more come for a while.
"""

import os
import pty
import select
import sys
import tempfile
import time
from fcntl import ioctl
from pathlib import Path
from statistics import median
from struct import pack
from subprocess import Popen
from termios import TIOCSWINSZ

import numpy as np

from triage.ingest.files.parquet import write_recording
from triage.model.recording import Floats, Histogram, Origin, Recording, Series, Source, SourceState, Subject, Window
from triage.model.vocabulary import Kind, Scope, catalogue

STEP = 15.0
START = 1_700_000_000.0
BOUNDS = np.array([0.1, 0.3, 1.0, 3.0, 10.0, 30.0, np.inf])
STACK = b"the stack"
QUIET = 0.2
"""Seconds without output after which a picture counts as settled."""

PREFIXES = {
    Scope.REPLICA: ("queue.", "batch.", "kv.", "tokens.", "latency.", "finished", "preemptions", "engine.steps", "pod."),
    Scope.GPU: ("gpu.",),
    Scope.NODE: ("node.cpu", "node.memory", "node.load"),
}


def fleet(replicas: int, cards: int, minutes: float = 30.0) -> Recording:
    """A fleet over a window and as long a baseline."""
    times = START + np.arange(0.0, 2 * minutes * 60, STEP)
    chance = np.random.default_rng(1)
    names = [f"llm-{i:03d}" for i in range(replicas)]
    subjects = {
        Scope.REPLICA: [Subject(Scope.REPLICA, name) for name in names],
        Scope.GPU: [Subject(Scope.GPU, f"GPU-{i:03d}-{card}") for i in range(replicas) for card in range(cards)],
        Scope.NODE: [Subject(Scope.NODE, f"node-{i:03d}") for i in range(replicas)],
    }
    series: list[Series] = []
    histograms: list[Histogram] = []
    for name, signal in catalogue().items():
        if signal.derived or not name.startswith(PREFIXES.get(signal.scope, ("-",))):
            continue
        for subject in subjects[signal.scope]:
            origin = Origin("vllm", name, f'{name.replace(".", "_")}{{pod="{subject.id}",service="llm"}}')
            if signal.kind is Kind.DISTRIBUTION:
                rates = chance.poisson(2.0, (len(times), len(BOUNDS))) / STEP
                histograms.append(Histogram(name, subject, times, BOUNDS, rates, rates.sum(axis=1) * 0.3, origin))
            else:
                series.append(Series(name, subject, times, _values(name, signal.kind, len(times), chance), origin))
    links: dict[Subject, tuple[Subject, ...]] = {
        s: (Subject(Scope.NODE, f"node-{i:03d}"),) for i, s in enumerate(subjects[Scope.REPLICA])
    }
    for i, card in enumerate(subjects[Scope.GPU]):
        links[card] = (subjects[Scope.REPLICA][i // cards], subjects[Scope.NODE][i // cards])
    window = Window(float(times[len(times) // 2]), float(times[-1]), float(times[0]))
    sources = (Source("prometheus", SourceState.OK),)
    objectives = {"ttft_p95_s": 3.0}
    return Recording(
        "llm", window, tuple(series), tuple(histograms), links=links, objectives=objectives, sources=sources, step=STEP
    )


def _values(name: str, kind: Kind, count: int, chance: np.random.Generator) -> Floats:
    """A signal that is steady, and of queues and throttling one that grows in the last third."""
    steady = 0.5 + 0.05 * chance.standard_normal(count)
    if kind is Kind.STATE:
        return np.ones(count)
    if "waiting" in name or "throttle" in name:
        steady[-count // 3 :] += np.linspace(0.0, 0.5 if kind is Kind.RATIO else 50.0, len(steady[-count // 3 :]))
    return np.clip(steady, 0.0, 1.0 if kind is Kind.RATIO else None)


class Walk:
    """A walk behind a pseudo-terminal."""

    def __init__(self, path: Path, columns: int, rows: int) -> None:
        self._master, slave = pty.openpty()
        ioctl(slave, TIOCSWINSZ, pack("HHHH", rows, columns, 0, 0))
        environ = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
        self._process = Popen(
            [sys.executable, "-m", "triage", "walk", str(path)], stdin=slave, stdout=slave, stderr=slave, env=environ
        )
        os.close(slave)

    def read(self, staleness: float) -> bytes:
        """What comes within some seconds; empty if nothing does."""
        ready, _, _ = select.select([self._master], [], [], staleness)
        try:
            return os.read(self._master, 1 << 16) if ready else b""
        except OSError:  # the other side has closed
            return b""

    def until(self, words: bytes, staleness: float = 300.0) -> float:
        """Seconds until words are on the screen."""
        began, seen = time.perf_counter(), b""
        while words not in seen:
            seen = (seen + self.read(1.0))[-100_000:]
            if time.perf_counter() - began > staleness or self._process.poll() is not None:
                raise SystemExit(f"{words!r} did not come: {seen[-2000:]!r}")
        return time.perf_counter() - began

    def settle(self) -> None:
        """Wait until nothing comes any more."""
        while self.read(QUIET):
            pass

    def press(self, key: bytes) -> tuple[float, float] | None:
        """Milliseconds until the first bytes of the answer, and until the last; None if there is nothing to answer."""
        began = time.perf_counter()
        os.write(self._master, key)
        first = last = 0.0
        while self.read(QUIET if first else 1.0):
            last = time.perf_counter()
            first = first or last
        if not first:
            return None
        return (first - began) * 1e3, (last - began) * 1e3

    def close(self) -> None:
        """End it, wherever it is."""
        self._process.terminate()
        while self._process.poll() is None:
            self.read(0.1)


SCRIPT = (
    ("move in the stack", b"j", 4),
    ("a layer", b"\r", 1),
    ("move in questions", b"j", 12),
    ("a question", b"\r", 1),
    ("move in evidence", b"j", 4),
    ("up", b"h", 1),
    ("next finding", b"n", 4),
    ("why not", b"w", 1),
    ("move in why not", b"j", 12),
    ("not evaluated", b"m", 1),
    ("chain", b"c", 1),
    ("search", b"/", 1),
    ("type", b"k", 3),
    ("leave search", b"\x1b", 1),
    ("back in time", b"[", 4),
    ("move while it is diagnosed", b"j", 4),
)


def main() -> None:
    replicas, cards, columns, rows = (int(word) for word in (*sys.argv[1:], *("100", "8", "200", "50")[len(sys.argv) - 1 :]))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fleet.parquet"
        recording = fleet(replicas, cards)
        write_recording(recording, path)
        tracks = len(recording.series) + len(recording.histograms)
        print(f"{replicas} replicas, {replicas * cards} cards, {tracks} series, {columns}x{rows}")
        walk = Walk(path, columns, rows)
        try:
            measure(walk)
        finally:
            walk.close()


def measure(walk: Walk) -> None:
    """Press the keys of the script and print how soon they are answered."""
    print(f"{'first picture of the stack':28} {walk.until(STACK):8.1f} s")
    walk.settle()
    for name, key, times in SCRIPT:
        answers = [answer for answer in (walk.press(key) for _ in range(times)) if answer is not None]
        if not answers:
            print(f"{name:28} nothing to do")
            continue
        first, settled = ([pair[i] for pair in answers] for i in (0, 1))
        print(f"{name:28} answered {median(first):6.0f} ms (worst {max(first):4.0f}), settled {median(settled):6.0f} ms")


if __name__ == "__main__":
    main()

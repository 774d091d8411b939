"""What the walk costs over a recording of a large fleet, in a real terminal: until something true is seen, and for each key.

    python -m bench.walk [--sizes 1 100] [--against OTHER_CHECKOUT]

Recordings of synthetic fleets (bench/fleet.py) are written to a folder once. The walk runs as a user runs it, behind a
pseudo-terminal. CPU time is that of its own process, the app, and apart from it that of the process that reads and
diagnoses. A key is done with when nothing more is written and both processes stand still: the picture of what had to be worked
out is in its figure, too.
"""

import argparse
import os
import pty
import select
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fcntl import ioctl
from pathlib import Path
from statistics import median
from struct import pack
from subprocess import Popen
from termios import TIOCSWINSZ

from bench.fleet import CARDS, FAULTS, Fleet
from bench.scale import HERE, environment, recorded

QUIET = 0.3
"""Seconds without output, and without work of either process, after which a key is done with."""

STILL = 0.003
"""CPU seconds that count as none: timers, and threads that wait."""


def cpu_of(pid: int) -> float:
    """CPU seconds that a process has used so far, by the clock that Linux keeps for each."""
    return time.clock_gettime((~pid << 3) | 2)


@dataclass(frozen=True)
class Spent:
    """What went by until something was on the screen.

    :param app: CPU seconds of the app
    :param room: CPU seconds of the process that reads and diagnoses
    :param passed: seconds until the first bytes of the answer
    """

    app: float
    room: float
    passed: float


class Walk:
    """A walk behind a pseudo-terminal, with the code of a checkout."""

    def __init__(self, checkout: Path, path: Path, columns: int, rows: int) -> None:
        self._master, slave = pty.openpty()
        ioctl(slave, TIOCSWINSZ, pack("HHHH", rows, columns, 0, 0))
        environ = {**environment(checkout), "TERM": "xterm-256color", "COLORTERM": "truecolor"}
        self._begun = time.perf_counter()
        command = [sys.executable, "-m", "triage", "walk", str(path)]
        self._process = Popen(command, stdin=slave, stdout=slave, stderr=slave, env=environ, cwd=checkout)
        os.close(slave)

    def _room(self) -> float:
        """CPU seconds of the processes that the app has started."""
        children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children").read_text().split()
        return sum(cpu_of(int(child)) for child in children)

    def _used(self) -> float:
        """CPU seconds of all of them."""
        return cpu_of(self._process.pid) + self._room()

    def _read(self, patience: float) -> bytes:
        """What comes within some seconds; empty if nothing does."""
        ready, _, _ = select.select([self._master], [], [], patience)
        try:
            return os.read(self._master, 1 << 16) if ready else b""
        except OSError:  # the other side has closed
            return b""

    def until(self, words: bytes, patience: float = 300.0) -> Spent:
        """What went by, from the start on, until words are on the screen."""
        seen = b""
        while words not in seen:
            seen = (seen + self._read(0.05))[-100_000:]
            if time.perf_counter() - self._begun > patience or self._process.poll() is not None:
                raise SystemExit(f"{words!r} did not come: {seen[-2000:]!r}")
        return Spent(cpu_of(self._process.pid), self._room(), time.perf_counter() - self._begun)

    def settle(self) -> float:
        """Wait until nothing comes and nothing is worked out any more; the moment of the first bytes, 0 if none came."""
        first, busy = 0.0, self._used()
        while True:
            came = self._read(QUIET)
            first = first or (time.perf_counter() if came else 0.0)
            before, busy = busy, self._used()
            if not came and busy - before < STILL:
                return first

    def press(self, key: bytes) -> Spent:
        """What a key takes."""
        app, room, began = cpu_of(self._process.pid), self._room(), time.perf_counter()
        os.write(self._master, key)
        first = self.settle()
        return Spent(cpu_of(self._process.pid) - app, self._room() - room, max(first - began, 0.0))

    def rest(self, seconds: float) -> float:
        """CPU seconds of the app while nothing is asked of it."""
        before, end = cpu_of(self._process.pid), time.perf_counter() + seconds
        while time.perf_counter() < end:
            self._read(0.1)
        return cpu_of(self._process.pid) - before

    def close(self) -> None:
        """End it, wherever it is."""
        self._process.terminate()
        while self._process.poll() is None:
            self._read(0.1)


PICTURES = (("the walk begins", b"is starting"), ("what is being read", b"reading"), ("the diagnosis", b"the stack"))
"""Words of the first pictures."""

SCRIPT = (
    ("down, in the stack", b"j", 4),
    ("up, in the stack", b"k", 4),
    ("n: first finding", b"n", 1),
    ("n: next finding", b"n", 6),
    ("Esc: back to the stack", b"\x1b", 1),
    ("n: that finding again", b"n", 1),
    ("down, in evidence", b"j", 3),
    ("Tab", b"\t", 4),
    ("Enter: a piece of evidence", b"\r", 1),
    ("b: all subjects side by side", b"b", 1),
    ("down, in subjects", b"j", 12),
    ("f: filter", b"f", 1),
    ("type in the filter", b"0", 4),
    ("Esc: all rows again", b"\x1b", 1),
    ("Esc: up", b"\x1b", 3),
    ("Enter: a layer", b"\r", 1),
    ("down, in questions", b"j", 12),
    ("Enter: a question", b"\r", 1),
    ("w: why not", b"w", 1),
    ("down, in why not", b"j", 12),
    ("f: filter", b"f", 1),
    ("type in the filter", b"k", 3),
    ("Esc: all rows again", b"\x1b", 1),
    ("m: not evaluated", b"m", 1),
    ("c: chain", b"c", 1),
    ("v: what happened", b"v", 1),
    ("o: sources and signals", b"o", 1),
    ("down, in sources and signals", b"j", 12),
    ("/: search", b"/", 1),
    ("type in search", b"k", 3),
    ("Esc: leave search", b"\x1b", 1),
    ("[: back in time", b"[", 3),
    ("]: forth in time", b"]", 3),
)
"""Keys one after the other: what they do, the key, how often it is pressed."""


def walked(checkout: Path, path: Path, columns: int, rows: int) -> Iterator[tuple[str, list[Spent]]]:
    """What each picture and each key of the script took, and a second in which nothing is asked."""
    walk = Walk(checkout, path, columns, rows)
    try:
        for name, words in PICTURES:
            yield f"until {name}", [walk.until(words)]
        walk.settle()
        yield "at rest, a second", [Spent(walk.rest(5.0) / 5.0, 0.0, 0.0)]
        for name, key, times in SCRIPT:
            yield name, [walk.press(key) for _ in range(times)]
    finally:
        walk.close()


def row(head: str, name: str, runs: Sequence[list[Spent]]) -> str:
    """One line of the table, of one checkout or of two beside each other."""
    figures = []
    for costs in runs:
        app = [cost.app * 1e3 for cost in costs]
        figures.append(f"{median(app):.0f}" + (f" ({max(app):.0f})" if len(app) > 1 else ""))
    last = runs[-1]
    figures += [f"{median(getattr(cost, what) * 1e3 for cost in last):.0f}" for what in ("room", "passed")]
    return f"| {head} | {name} | {len(last)} | {' | '.join(figures)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description="What the walk costs over a recording of a large fleet.")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1, 100])
    parser.add_argument("--fault", choices=FAULTS, default="card")
    parser.add_argument("--against", type=Path, help="another checkout that is measured beside this one")
    parser.add_argument("--columns", type=int, default=200)
    parser.add_argument("--rows", type=int, default=50)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "triage-fleets")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    checkouts = [HERE] if given.against is None else [given.against.resolve(), HERE]
    app = ["app CPU ms (worst)"] if len(checkouts) == 1 else ["app CPU ms before (worst)", "after"]
    print(f"| replicas / cards | | times | {' | '.join(app)} | other process CPU ms | ms until the first bytes |")
    print(f"|---|---|{'---|' * (len(app) + 3)}", flush=True)
    for size in given.sizes:
        fleet = Fleet(size, given.fault)
        walks = [walked(checkout, recorded(fleet, given.folder), given.columns, given.rows) for checkout in checkouts]
        for beside in zip(*walks, strict=True):
            print(row(f"{size} / {size * CARDS}", beside[0][0], [costs for _, costs in beside]), flush=True)


if __name__ == "__main__":
    main()

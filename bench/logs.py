"""How many lines of log are read in a second of CPU time, and how much memory that takes.

Run by hand: ``python bench/logs.py [lines]``. The logs are made up: an engine's load and requests, an engine that repeats one
error, a gateway's access log, a kernel's log and lines that nothing is known of.
"""

import resource
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from triage.ingest.logs import read_logs
from triage.model.recording import Window

START = 1_790_000_000.0
SPAN = 3600.0


def stamp(number: int, lines: int) -> datetime:
    return datetime.fromtimestamp(START + SPAN * number / lines, UTC)


def engine(number: int, lines: int) -> str:
    when = stamp(number, lines).strftime("%m-%d %H:%M:%S")
    if number % 4:
        return f'INFO:     10.0.0.{number % 250}:4{number % 1000:03d} - "POST /v1/chat/completions HTTP/1.1" 200 OK'
    return (
        f"(APIServer pid=1) INFO {when} [loggers.py:335] Engine 000: Avg prompt throughput: {number % 3000}.0 tokens/s, "
        f"Avg generation throughput: {number % 900}.0 tokens/s, Running: {number % 48} reqs, Waiting: 0 reqs, "
        f"GPU KV cache usage: {number % 100}.0%, Prefix cache hit rate: 31.0%"
    )


def failing(number: int, lines: int) -> str:
    when = stamp(number, lines).strftime("%m-%d %H:%M:%S")
    return f"(EngineCore pid=9) ERROR {when} [core.py:1] RuntimeError: CUDA error: an illegal memory access was encountered"


def gateway(number: int, lines: int) -> str:
    when = stamp(number, lines).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    status, flags, millis = ("503 UC", "", 2) if number % 50 == 0 else ("200 -", "", 900 + number % 20000)
    return (
        f'[{when}] "POST /v1/chat/completions HTTP/1.1" {status}{flags} 4285 39100 {millis} {millis} "10.1.1.{number % 9}:8000" '
        f'"OpenAI/Python 1.109.1" "{number:08x}-48ac"'
    )


def kernel(number: int, lines: int) -> str:
    when = stamp(number, lines).strftime("%b %d %H:%M:%S")
    return f"{when} gpu-node-01 kernel: [{number}.123456] IPv6: ADDRCONF(NETDEV_CHANGE): cali{number:08x}: link becomes ready"


def unknown(number: int, lines: int) -> str:
    when = stamp(number, lines).strftime("%Y-%m-%dT%H:%M:%SZ")
    return f"{when} worker={number % 7} job {number} took {number % 100} ms and everything about it was as it should be"


LOGS: dict[str, Callable[[int, int], str]] = {
    "engine-chat-0": engine,
    "engine-chat-1": failing,
    "gateway": gateway,
    "kernel-gpu-node-01": kernel,
    "jobs": unknown,
}


def main() -> None:
    lines = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
    window = Window(START + SPAN / 2, START + SPAN, START)
    with tempfile.TemporaryDirectory() as folder:
        for name, line in LOGS.items():
            path = Path(folder) / f"{name}.log"
            with path.open("w") as stream:
                stream.writelines(line(number, lines) + "\n" for number in range(lines))
            began = time.process_time()
            reading = read_logs([path], window, "chat")
            seconds = time.process_time() - began
            size = path.stat().st_size / 2**20
            kept = f"{len(reading.events)} events, {len(reading.series)} series"
            print(f"{name:20} {lines / seconds:10,.0f} lines/s {size / seconds:7.1f} MiB/s   {kept}")
            path.unlink()
    print(f"peak memory of this process {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")


if __name__ == "__main__":
    main()

"""What a live diagnosis costs: questions, bytes, CPU of the server and of triage, beside a plain fetch of the same answers.

    python -m bench.prometheus [--sizes 1 10 100] [--fault replica] [--server prometheus] [--against CHECKOUT]
        [--with COMMAND] [--now]

A synthetic fleet (bench/fleet.py) is put into a real server, a few replicas at a time, so that no size is held whole. CPU seconds
are user and system time of whole processes, the median of the runs; with ``--against`` the two checkouts take turns. A plain
fetch asks the very same questions once more, eight at a time, and throws the answers away. ``--with`` measures another program
on the same server; ``{url}`` in its command is the server's address.
"""

import argparse
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from urllib.parse import urlsplit

import bench.fleet
from bench.fleet import CARDS, FAULTS, OBJECTIVES, SERVICE, Fleet, parts
from bench.scale import environment
from tests.servers import Ask, Front, Reply, imported, program, prometheus, serving, victoria_metrics
from triage.ingest.raw import RawSeries

HERE = Path(__file__).resolve().parents[1]
AT_ONCE = 10
"""Replicas whose samples are written at the same time: about 300 MiB of text."""

_FETCH = """
import json, sys
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
host, port, *_ = sys.argv[1:]
def ask(question):
    connection = HTTPConnection(host, int(port), timeout=120)
    method, target, body = question
    connection.request(method, target, body, {"Content-Type": "application/x-www-form-urlencoded", "Accept-Encoding": "gzip"})
    return len(connection.getresponse().read())
with ThreadPoolExecutor(8) as pool:
    print(sum(pool.map(ask, json.load(sys.stdin))))
"""


@dataclass(frozen=True)
class Server:
    """A server with a fleet in it.

    :param pid: its process
    """

    address: str
    pid: int

    @property
    def cpu(self) -> float:
        """CPU seconds that it has used so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Cost:
    """What one run of a program took.

    :param cpu: seconds
    :param memory: MiB, the most that was resident
    :param server: CPU seconds of the server meanwhile
    """

    cpu: float
    memory: float
    server: float
    out: bytes


def lines(some: Iterable[RawSeries]) -> Iterator[str]:
    """Samples as OpenMetrics."""
    for one in some:
        labels = ",".join(f'{name}="{value}"' for name, value in sorted(one.labels.items()))
        head = f"{one.name}{{{labels}}}"
        yield from (f"{head} {value!r} {time:.3f}\n" for value, time in zip(one.values.tolist(), one.times.tolist(), strict=True))


@contextmanager
def prometheus_of(fleet: Fleet, folder: Path) -> Iterator[Server]:
    """A Prometheus that holds a fleet; each few replicas make blocks of their own, which queries read side by side."""
    data, text = folder / "data", folder / "part.om"
    left = parts(fleet)
    while some := list(islice(left, AT_ONCE)):
        with text.open("w") as file:
            file.writelines(lines(chain.from_iterable(some)))
            file.write("# EOF\n")
        made = [program("promtool", "prometheus"), "tsdb", "create-blocks-from", "openmetrics", "-q", str(text), str(data)]
        subprocess.run(made, check=True, stdout=subprocess.DEVNULL)
    text.unlink()
    (folder / "prometheus.yml").touch()
    with prometheus(folder, f"--storage.tsdb.path={data}") as address:
        yield Server(address, _pid_of(urlsplit(address).netloc))


@contextmanager
def victoria_metrics_of(fleet: Fleet, folder: Path) -> Iterator[Server]:
    """A VictoriaMetrics that holds a fleet."""
    with victoria_metrics(folder) as address:
        for part in parts(fleet):
            rows = (f"{series} {round(float(moment) * 1000)}\n" for series, _, moment in (x.rpartition(" ") for x in lines(part)))
            imported(address, "".join(rows))
        yield Server(address, _pid_of(urlsplit(address).netloc))


def _pid_of(address: str) -> int:
    """The process that listens at an address."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if address.encode() in path.read_bytes():
                return int(path.parent.name)
        except OSError:
            continue
    raise SystemExit(f"no process listens at {address}")


SERVERS = {"prometheus": prometheus_of, "victoria-metrics": victoria_metrics_of}


def cost(command: Sequence[str], server: Server, checkout: Path = HERE, given: bytes = b"") -> Cost:
    """One run of a program; its byte code is on disk from the run before it, as that of an installed one is."""
    before = server.cpu
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as entered:
        entered.write(given)
        entered.seek(0)
        process = subprocess.Popen(command, cwd=checkout, stdin=entered, stdout=out, stderr=out, env=environment(checkout))
        _, _, used = os.wait4(process.pid, 0)
        out.seek(0)
        return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, server.cpu - before, out.read())


def diagnosis(server: Server, fleet: Fleet, settings: Path, address: str = "") -> list[str]:
    """The command that a person types."""
    window = fleet.span()
    return [
        sys.executable, "-m", "triage", "diagnose", "--service", SERVICE, "--prometheus", address or server.address,
        "--from", str(window.start), "--to", str(window.end), "--baseline", f"{window.start - window.baseline_start:.0f}s",
        "--config", str(settings), "--timeout", "60", "--format", "json",
    ]  # fmt: skip


@dataclass(frozen=True)
class Asked:
    """The questions of one diagnosis, and the size of their answers, bytes unpacked."""

    questions: list[tuple[str, str, str]]
    size: int


def asked(server: Server, fleet: Fleet, settings: Path, checkout: Path) -> Asked:
    """What a diagnosis asks."""
    questions: list[tuple[str, str, str]] = []
    sizes: list[int] = []

    class Counting(Front):
        """A front that keeps each question."""

        def answer(self, ask: Ask, target: str, body: bytes) -> Reply:
            questions.append((ask.method, target, body.decode()))
            return super().answer(ask, target, body)

    def counted(_ask: Ask, body: bytes) -> bytes:
        sizes.append(len(body))
        return body

    front = Counting(server.address, change=counted)
    with serving(front):
        cost(diagnosis(server, fleet, settings, front.address), server, checkout)
    return Asked(questions, sum(sizes))


def fetched(server: Server, questions: Sequence[tuple[str, str, str]]) -> Cost:
    """The same questions asked by a program that does nothing else."""
    parts_ = urlsplit(server.address)
    return cost(
        [sys.executable, "-c", _FETCH, str(parts_.hostname), str(parts_.port)], server, given=json.dumps(questions).encode()
    )


def told(out: bytes) -> str:
    """The first cause and whom it is about, or the state."""
    try:
        answer = json.loads(out)
    except ValueError:
        return out.decode(errors="replace")[-60:].strip()
    roots = [finding for finding in answer["findings"] if finding["role"] == "root"]
    return f"{roots[0]['rule']} {roots[0]['subject']}" if roots else str(answer["status"])


def is_right(fleet: Fleet, out: bytes) -> bool:
    """Whether the guilty one is named, or nobody of a healthy fleet."""
    if fleet.expected is None:
        return told(out) == "healthy"
    kind, subject = fleet.expected
    return told(out) == f"{kind} {subject}"


def median(costs: Sequence[Cost], what: str) -> float:
    """The median of one figure."""
    return float(statistics.median(getattr(one, what) for one in costs))


def measure(server: Server, fleet: Fleet, folder: Path, given: argparse.Namespace) -> None:
    """The lines of the table for one fleet."""
    settings = folder / "triage.toml"
    promised = "\n".join(f"{name} = {value}" for name, value in OBJECTIVES.items())
    settings.write_text(f"[service.{SERVICE}.objectives]\n{promised}\n")
    checkouts = {"now": HERE} | ({"before": given.against} if given.against else {})
    runs: dict[str, list[Cost]] = {name: [] for name in checkouts}
    for checkout in checkouts.values():
        cost(diagnosis(server, fleet, settings), server, checkout)  # writes its byte code
    for _ in range(given.runs):
        for name, checkout in checkouts.items():
            runs[name].append(cost(diagnosis(server, fleet, settings), server, checkout))
    head = f"{fleet.replicas} / {fleet.replicas * CARDS}"
    for name, checkout in checkouts.items():
        seen, costs = asked(server, fleet, settings, checkout), runs[name]
        plain = [fetched(server, seen.questions) for _ in range(given.runs)]
        answer = "right" if is_right(fleet, costs[0].out) else told(costs[0].out)
        row(head, name, len(seen.questions), f"{seen.size / 2**20:.1f}", costs, f"{median(plain, 'cpu'):.2f}", answer)
    for command in given.beside:
        words = shlex.split(command.format(url=server.address))
        row(head, Path(words[0]).name, "", "", [cost(words, server) for _ in range(given.runs)], "", "")


def row(head: str, name: str, questions: object, size: str, costs: Sequence[Cost], plain: str, answer: str) -> None:
    """One line of the table."""
    figures = (f"{median(costs, 'server'):.2f}", f"{median(costs, 'cpu'):.2f}", plain, f"{median(costs, 'memory'):.0f}")
    print("| " + " | ".join(map(str, (head, name, questions, size, *figures, answer))) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="What a live diagnosis of a fleet costs.")
    parser.add_argument("--sizes", nargs="+", type=int, default=[1, 10, 100])
    parser.add_argument("--fault", choices=FAULTS, default="replica")
    parser.add_argument("--server", choices=SERVERS, default="prometheus")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--against", type=Path, help="another checkout, which takes turns")
    parser.add_argument("--with", dest="beside", action="append", default=[], metavar="COMMAND", help="another program")
    parser.add_argument("--now", action="store_true", help="the last sample is of now, for programs that look at no other time")
    given = parser.parse_args()
    if given.now:
        bench.fleet.END = float(int(time.time()) // 30 * 30)
    print("| replicas / cards | | questions | MiB | server CPU s | CPU s | plain fetch CPU s | MiB resident | answer |")
    print("|---|---|---|---|---|---|---|---|---|", flush=True)
    for size in given.sizes:
        fleet = Fleet(size, given.fault, aligned=False)
        with tempfile.TemporaryDirectory() as folder, SERVERS[given.server](fleet, Path(folder)) as server:
            measure(server, fleet, Path(folder), given)


if __name__ == "__main__":
    main()

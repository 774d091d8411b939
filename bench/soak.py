"""Runs ``triage watch`` for real: at a Prometheus and an Alertmanager, with an engine that is overloaded for a while.

    python -m bench.soak                  a fault comes, stays and goes; in its middle Prometheus is stopped: a quarter of an hour
    python -m bench.soak kill [TIMES]     the watch is killed at random moments (100), its file looked into each time: 20 minutes
    python -m bench.soak rest [MINUTES]   a service at rest: CPU and memory (30)

It needs Debian's packages prometheus and prometheus-alertmanager. What is wrong in the end is said, and makes the exit code 1.
"""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from tests.engines import FakeEngine, engine_at
from tests.notify.files import damage, standing, unpaired
from tests.servers import alertmanager, free_port, get, heard, hooked, prometheus

SCRAPE = 5


class Bench:
    """A watch at real servers.

    :param folder: where everything is kept
    :param engine: that is watched
    """

    def __init__(self, folder: Path, stack: ExitStack, every: float) -> None:
        self.folder, self.every = folder, every
        port = free_port()
        self.engine: FakeEngine = stack.enter_context(engine_at(port))
        (folder / "prometheus").mkdir()
        config = {
            "global": {"scrape_interval": f"{SCRAPE}s"},
            "scrape_configs": [
                {
                    "job_name": "vllm",
                    "static_configs": [
                        {"targets": [f"127.0.0.1:{port}"], "labels": {"service": "llm-prod", "replica": "llm-prod-0"}}
                    ],
                }
            ],
        }
        (folder / "prometheus" / "prometheus.yml").write_text(json.dumps(config), encoding="utf-8")
        self.server = ExitStack()
        stack.callback(self.server.close)
        self.address = ""
        self.start_server()
        hook, self.chat = stack.enter_context(hooked())
        self.manager_hook, self.told = stack.enter_context(hooked())
        self.manager = stack.enter_context(alertmanager(folder / "alertmanager", self.manager_hook))
        self.state = folder / "history.sqlite"
        self.metrics = f"127.0.0.1:{free_port()}"
        self.hook = hook
        self.process: subprocess.Popen[bytes] | None = None
        stack.callback(self.kill)

    def start_server(self) -> None:
        """Prometheus, at the same address as before."""
        folder = self.folder / "prometheus"
        port = self.address or f"127.0.0.1:{free_port()}"
        self.server.enter_context(prometheus(folder, f"--storage.tsdb.path={folder / 'data'}", at=port))
        self.address = port

    def watch(self, *more: str) -> None:
        """Start the watch."""
        command = [sys.executable, "-m", "triage", "watch", "--service", "llm-prod", "--prometheus", f"http://{self.address}"]
        command += ["--alertmanager", self.manager, "--webhook", self.hook, "--state", str(self.state)]
        command += ["--every", str(self.every), "--listen", self.metrics, *more]
        with (self.folder / "watch.log").open("ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log)

    def kill(self) -> None:
        """End the watch as a machine does that loses its power."""
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
            self.process = None

    def answers(self) -> bool:
        """Whether the watch is at work."""
        try:
            return get(f"http://{self.metrics}/healthz")[0] == 200
        except OSError:
            return False

    def values(self, *names: str) -> dict[str, float]:
        """Metrics of the watch: the sum of each over its labels."""
        text = get(f"http://{self.metrics}/metrics")[1].decode()
        found = dict.fromkeys(names, 0.0)
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                if sample.name in found:
                    found[sample.name] += sample.value
        return found


@contextmanager
def bench(every: float) -> Iterator[Bench]:
    """All servers at work."""
    with tempfile.TemporaryDirectory(prefix="triage-soak-") as folder, ExitStack() as stack:
        yield Bench(Path(folder), stack, every)


def say(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)


def until(holds: Callable[[], bool], seconds: float) -> bool:
    """Whether something came true in time."""
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.2)
    return holds()


def trouble(one: Bench) -> list[str]:
    """What the Alertmanager told of trouble."""
    return [state for name, state in heard(one.told) if name == "TriageTrouble"]


def notices(one: Bench) -> list[tuple[str, str, str]]:
    """What the webhook was sent, each message once: topic, changes and cause."""
    told = {notice["id"]: notice for notice in one.chat}
    return [(notice["topic"], "+".join(notice["changes"]), notice["rule"] or "") for notice in told.values()]


def left_firing(one: Bench) -> list[str]:
    """What an Alertmanager still holds to stand, and what it told to stand and never to be resolved; empty if all has ended."""
    held = [alert["labels"] for alert in json.loads(get(f"{one.manager}/api/v2/alerts")[1])]
    last = {json.dumps(alert["labels"], sort_keys=True): alert["status"] for body in one.told for alert in body["alerts"]}
    told = [labels for labels, state in last.items() if state != "resolved"]
    return [f"Alertmanager holds {labels}" for labels in held] + [f"told last that it fires: {labels}" for labels in told]


def soak() -> list[str]:
    """A fault that comes, stays and goes; gives what is wrong."""
    wrong = []
    with bench(15.0) as one:
        say("a service that is well: long enough to know what is usual")
        time.sleep(200.0)
        one.watch("--since", "2m")
        time.sleep(60.0)
        say("the engine is overloaded")
        one.engine.overloaded = True
        if not until(lambda: trouble(one) == ["firing"], 300.0):
            wrong.append(f"the fault was not told: {heard(one.told)}")
        say(f"told: {heard(one.told)}")
        time.sleep(15.0)
        say("Prometheus is stopped")
        one.server.close()
        time.sleep(165.0)
        say(f"told meanwhile: {heard(one.told)[1:]}")
        one.start_server()
        say("Prometheus is there again; the engine is still overloaded")
        time.sleep(45.0)
        if trouble(one) != ["firing"]:
            wrong.append(f"told more than once, or a false all-clear: {heard(one.told)}")
        one.engine.overloaded = False
        say("the engine recovers")
        if not until(lambda: trouble(one) == ["firing", "resolved"], 900.0):
            wrong.append(f"the end was not told: {heard(one.told)}")
        time.sleep(15.0)
        say(f"Alertmanager told: {heard(one.told)}")
        say(f"the webhook was sent: {notices(one)}")
        if heard(one.told) != [
            ("TriageTrouble", "firing"), ("TriageBlind", "firing"), ("TriageBlind", "resolved"), ("TriageTrouble", "resolved"),
        ]:  # fmt: skip
            wrong.append("not one of each")
        wrong += left_firing(one)
        figures = one.values("triage_watch_looks_total", "process_cpu_seconds_total", "process_resident_memory_bytes")
        say(f"looks, CPU, memory: {figures}")
    return wrong


def kill(times: int) -> list[str]:
    """The watch is killed at random moments, while the engine is overloaded and recovers; gives what is wrong."""
    wrong, chance = [], random.Random(11)
    with bench(2.0) as one:
        time.sleep(150.0)
        for number in range(times):
            one.engine.overloaded = 10 <= number % 60 < 40
            one.watch("--since", "1m")
            until(one.answers, 60.0)
            time.sleep(chance.uniform(0.0, 5.0))
            one.kill()
            wrong += [f"after {number + 1} kills: {told}" for told in damage(one.state)]
            if number % 10 == 9:
                say(f"{number + 1} kills; told: {notices(one)}")
        one.engine.overloaded = False
        one.watch("--since", "1m")
        until(lambda: not standing(one.state), 900.0)
        time.sleep(30.0)
        say(f"Alertmanager told: {heard(one.told)}")
        say(f"the webhook was sent: {notices(one)}; {len(one.chat)} requests")
        wrong += [f"left standing: {standing(one.state)}"] if standing(one.state) else []
        wrong += unpaired(one.chat) + left_firing(one)
        if not trouble(one):
            wrong.append("Alertmanager told of no trouble at all")
    return wrong


def rest(minutes: float) -> list[str]:
    """A service at rest; gives what is wrong."""
    wanted = ("triage_watch_looks_total", "process_cpu_seconds_total", "process_resident_memory_bytes")
    with bench(60.0) as one:
        time.sleep(120.0)
        one.watch()
        time.sleep(120.0)
        first = one.values(*wanted)
        begin = time.monotonic()
        for _ in range(round(minutes)):
            time.sleep(60.0)
            say(str(one.values(*wanted)))
        last = one.values(*wanted)
        share = (last["process_cpu_seconds_total"] - first["process_cpu_seconds_total"]) / (time.monotonic() - begin)
        say(f"{share:.2%} of a core")
        return [] if share < 0.01 else [f"{share:.2%} of a core at rest"]


def main() -> int:
    """Run what was asked for."""
    os.chdir(Path(__file__).parents[1])
    words = sys.argv[1:]
    match words[:1]:
        case []:
            wrong = soak()
        case ["kill"]:
            wrong = kill(int(words[1]) if words[1:] else 100)
        case ["rest"]:
            wrong = rest(float(words[1]) if words[1:] else 30.0)
        case _:
            print(__doc__)
            return 64
    for one in wrong:
        say(f"WRONG: {one}")
    say("ended" if wrong else "ended; nothing is wrong")
    return int(bool(wrong))


if __name__ == "__main__":
    raise SystemExit(main())

"""What is said of a fault in a real Prometheus behind a proxy that misbehaves.

    python -m bench.misbehaving [--runs 20] [--faults late cut …] [--every 2 5 8] [--case CASE]

Each run asks anew through the proxy, which begins to misbehave at another answer; all faults at every second, fifth and eighth
answer. Nothing but "never healthy" must be seen, and the cause must be named wherever the answers that carry it came through.
"""

import argparse
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from tests.misbehaving import FAULTS, Misbehaving
from tests.servers import INCIDENTS, prometheus_with, recorded, serving
from triage.bundle import bundled
from triage.collect import collect
from triage.engine.diagnose import diagnose
from triage.engine.rules.loading import load_rules
from triage.ingest.files.incident import read_incident
from triage.ingest.metrics.dialects import load_dialects
from triage.model.diagnosis import Diagnosis, Status
from triage.model.recording import Recording
from triage.model.rule import Rule
from triage.model.service import Service
from triage.plugins import load_collector
from triage.sdk import Collector, Dialect, Request

CASE = "kv-exhaustion-preemption-a141"
EVERY = (2, 5, 8)
TIMEOUT = 2.0
"""Seconds for an answer; a late one takes half as long again."""

AT_ONCE = 6
"""Runs at the same time: they mostly wait."""


@dataclass(frozen=True)
class Run:
    """One diagnosis through the proxy.

    :param missed: the cause was not named although nothing that its evidence rests on was lost
    """

    status: Status
    named: bool
    missed: bool
    lost: int
    questions: int
    seconds: float


@cache
def source() -> tuple[Collector, tuple[Dialect, ...]]:
    """The collector, and how names are read."""
    return load_collector(bundled("collectors") / "prometheus.py"), load_dialects()


def asked(address: str, case: Recording, rules: Sequence[Rule], timeout: float = TIMEOUT) -> tuple[Recording, Diagnosis]:
    """What is brought and said of a case's service at an address."""
    collector, dialects = source()
    service = Service(name=case.service, prometheus=address, objectives=dict(case.objectives))
    found = collect(Request(service, case.window, 15.0, timeout, dialects, time.time), [collector])
    return found, diagnose(found, rules)


def first(diagnosis: Diagnosis) -> str:
    """The first root cause; empty if none is named."""
    return next((finding.rule for finding in diagnosis.findings if finding.role == "root"), "")


def judged(proxy: Misbehaving, case: Recording, rules: Sequence[Rule], plain: Diagnosis) -> Run:
    """One run through a proxy, against the undisturbed answer."""
    began = time.monotonic()
    with serving(proxy):
        found, said = asked(proxy.address, case, rules)
        proxy.end()
    evidence = {one.signal for finding in plain.findings for one in finding.evidence}
    named = first(said) == first(plain)
    came = bool(found.series) and not evidence & found.unanswered.keys()
    return Run(said.status, named, came and not named, len(found.unanswered), len(proxy.asked), time.monotonic() - began)


def main() -> None:
    parser = argparse.ArgumentParser(description="What is said of a fault behind a proxy that misbehaves.")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--faults", nargs="+", choices=FAULTS, default=list(FAULTS))
    parser.add_argument("--every", nargs="+", type=int, default=list(EVERY))
    parser.add_argument("--case", default=CASE)
    given = parser.parse_args()
    case, rules = read_incident(INCIDENTS / given.case), load_rules()
    with tempfile.TemporaryDirectory() as folder, prometheus_with(recorded(given.case), Path(folder)) as stored:
        _, plain = asked(stored.address, case, rules)
        print(f"undisturbed: {plain.status}, {first(plain) or 'no cause'}\n")
        print("| " + " | ".join(_COLUMNS) + " |\n" + "|---" * len(_COLUMNS) + "|")
        for fault in given.faults:
            for every in given.every:
                proxies = [
                    Misbehaving(stored.address, fault=fault, every=every, begin=number, late=1.5 * TIMEOUT)
                    for number in range(given.runs)
                ]
                with ThreadPoolExecutor(AT_ONCE) as pool:
                    row(fault, every, list(pool.map(partial(judged, case=case, rules=rules, plain=plain), proxies)))


_COLUMNS = ("fault", "every", "named", "with some lost", "inconclusive", "healthy", "missed", "questions", "seconds")


def row(fault: str, every: int, runs: Sequence[Run]) -> None:
    """One line of the table."""
    states = Counter(run.status for run in runs)
    named, partly = sum(run.named for run in runs), sum(run.named and run.lost > 0 for run in runs)
    missed = sum(run.missed for run in runs)
    questions, seconds = (statistics.median(values) for values in zip(*((r.questions, r.seconds) for r in runs), strict=True))
    cells = (fault, every, f"{named} of {len(runs)}", partly, states[Status.INCONCLUSIVE], states[Status.HEALTHY], missed)
    print("| " + " | ".join(map(str, (*cells, f"{questions:g}", f"{seconds:.1f}"))) + " |", flush=True)


if __name__ == "__main__":
    main()

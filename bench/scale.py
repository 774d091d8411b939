"""What a diagnosis costs as the fleet grows: CPU and memory of a replay, where the time goes, whether the guilty part is named.

    python -m bench.scale [--sizes 1 10 100] [--against OTHER_CHECKOUT] [--costliest]

Recordings of synthetic fleets (bench/fleet.py) are written to a folder once. CPU seconds are user and system time of the whole
process, the median of the runs; with ``--against`` the two checkouts take turns, so that what else the machine does meets both.
"""

import argparse
import cProfile
import json
import os
import pstats
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from math import log
from pathlib import Path
from typing import Any

from bench.fleet import CARDS, FAULTS, Fleet, recording_of
from triage.engine.diagnose import diagnose
from triage.engine.rules.loading import load_rules
from triage.ingest.files.incident import read_any
from triage.ingest.files.parquet import write_recording
from triage.model.diagnosis import Diagnosis, Evidence

HERE = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Cost:
    """What one replay took.

    :param cpu: seconds
    :param memory: MiB, the most that was resident
    """

    cpu: float
    memory: float
    answer: dict[str, object]


def environment(checkout: Path) -> dict[str, str]:
    """What a program of a checkout finds around it: its byte code is on disk from its last run, as an installed one's is."""
    kept = Path(tempfile.gettempdir()) / "triage-byte-code" / checkout.name
    more = {"PYTHONPATH": str(checkout), "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(kept)}
    return {**os.environ, **more}


def replayed(checkout: Path, recording: Path) -> Cost:
    """One replay by the command line, with the code of a checkout."""
    run = [sys.executable, "-m", "triage", "replay", str(recording), "--format", "json"]
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(run, cwd=checkout, stdout=out, env=environment(checkout))
        _, _, used = os.wait4(process.pid, 0)
        out.seek(0)
        return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, json.loads(out.read()))


def recorded(fleet: Fleet, folder: Path) -> Path:
    """The recording of a fleet, written if it is not there."""
    path = folder / f"{fleet.replicas}-{fleet.fault}.parquet"
    if not path.exists():
        write_recording(recording_of(fleet), path)
    return path


def is_right(fleet: Fleet, answer: dict[str, object]) -> bool:
    """Whether the guilty part is named first, or nothing is found in a healthy fleet."""
    findings = answer["findings"]
    assert isinstance(findings, list)
    if fleet.expected is None:
        return answer["status"] == "healthy" and not findings
    kind, guilty = fleet.expected
    return bool(findings) and (findings[0]["rule"], findings[0]["subject"]) == (kind, str(guilty))


def table(sizes: list[int], checkouts: list[Path], runs: int, folder: Path) -> Iterator[str]:
    """Rows of the table."""
    words = ["CPU s", "MiB"] if len(checkouts) == 1 else ["CPU s before", "after", "ratio", "MiB before", "after"]
    yield f"| replicas / cards | {' | '.join(words)} | growth | guilty part named |"
    yield f"|---|{'---|' * (len(words) + 2)}"
    last: tuple[int, float] | None = None
    for size in sizes:
        path = recorded(Fleet(size, "replica"), folder)
        costs = [[replayed(checkout, path) for checkout in checkouts] for _ in range(runs)]
        cpu = [statistics.median(each[place].cpu for each in costs) for place in range(len(checkouts))]
        memory = [max(each[place].memory for each in costs) for place in range(len(checkouts))]
        figures = [f"{value:.2f}" for value in cpu]
        if len(checkouts) > 1:
            figures.append(f"{statistics.median(each[0].cpu / each[1].cpu for each in costs):.1f}")
        figures += [f"{value:.0f}" for value in memory]
        growth = "" if last is None else f"n^{log(cpu[-1] / last[1]) / log(size / last[0]):.2f}"
        fleets = [Fleet(size, fault) for fault in FAULTS]
        right = [fleet.fault for fleet in fleets if is_right(fleet, replayed(checkouts[-1], recorded(fleet, folder)).answer)]
        yield f"| {size} / {size * CARDS} | {' | '.join(figures)} | {growth} | {', '.join(right)} |"
        last = size, cpu[-1]


def costliest(size: int, folder: Path) -> Iterator[str]:
    """The twenty functions that take most of a diagnosis, reading included, and how much evidence was made of what is shown."""
    path, rules = recorded(Fleet(size, "replica"), folder), load_rules()
    made, make = [0], Evidence.__init__

    def counted(self: Evidence, **told: Any) -> None:
        made[0] += 1
        make(self, **told)

    Evidence.__init__ = counted  # type: ignore[method-assign]
    profile = cProfile.Profile(timer=time.process_time)
    profile.enable()
    found = diagnose(read_any(path), rules)
    profile.disable()
    Evidence.__init__ = make  # type: ignore[method-assign]
    stats = pstats.Stats(profile)
    whole = stats.total_tt  # type: ignore[attr-defined]
    yield f"{size} replicas: {whole:.2f} s under the profiler; {made[0]} pieces of evidence made, {shown(found)} shown"
    rows = sorted(stats.stats.items(), key=lambda one: -one[1][2])[:20]  # type: ignore[attr-defined]
    for (file, line, name), (_, calls, own, together, _) in rows:
        place = f"{Path(file).parent.name}/{Path(file).name}:{line}" if line else "built in"
        yield f"  {100 * own / whole:5.1f} %  {own:7.3f} s  {together:7.3f} s with callees  {calls:8d} ×  {place} {name}"


def shown(found: Diagnosis) -> int:
    """How many pieces of evidence a diagnosis holds."""
    parts = [one.evidence for one in found.findings] + [one.contradicts for one in found.findings]
    return sum(map(len, parts)) + sum(len(one.evidence) for one in found.ruled_out) + len(found.symptoms)


def main() -> None:
    parser = argparse.ArgumentParser(description="What a diagnosis costs as the fleet grows.")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1, 10, 100])
    parser.add_argument("--against", type=Path, help="another checkout that is measured beside this one")
    parser.add_argument("--costliest", action="store_true", help="the twenty costliest functions of each size instead")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "triage-fleets")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    checkouts = [HERE] if given.against is None else [given.against.resolve(), HERE]
    told = (line for size in given.sizes for line in costliest(size, given.folder))
    for line in told if given.costliest else table(given.sizes, checkouts, given.runs, given.folder):
        print(line, flush=True)


if __name__ == "__main__":
    main()

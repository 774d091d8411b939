"""What a hundred rules cost against twenty-five: the whole command, and the diagnosis alone, in one run.

python bench/rules.py [INCIDENT]
"""

import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from triage.bundle import bundled
from triage.engine.diagnose import diagnose
from triage.engine.rules.loading import load_rules
from triage.ingest.files.incident import read_incident

RUNS = 7
FEW = 25


def median(action: Callable[[], object]) -> float:
    """Median time of several runs, seconds."""
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def command(checkout: Path, incident: Path) -> None:
    """One replay by the command line, with the rules of a checkout."""
    run = [sys.executable, "-m", "triage", "replay", str(incident), "--format", "json"]
    subprocess.run(run, cwd=checkout, check=False, stdout=subprocess.DEVNULL)


def main() -> None:
    root = bundled("rules").parent
    incident = Path(sys.argv[1] if len(sys.argv) > 1 else "tests/incidents/true-overload-a042").resolve()
    recording, rules = read_incident(incident), load_rules()
    few = rules[:: max(1, len(rules) // FEW)][:FEW]
    all_rules, some = median(lambda: diagnose(recording, rules)), median(lambda: diagnose(recording, few))
    print(f"diagnosis alone: {len(rules)} rules {all_rules:.3f} s, {len(few)} rules {some:.3f} s, ratio {all_rules / some:.2f}")
    with tempfile.TemporaryDirectory() as folder:
        small = Path(folder)
        for name in ("triage", "collectors", "playbooks"):
            shutil.copytree(root / name, small / name)
        kept = {rule.id for rule in few}
        for path in (root / "rules").rglob("*.yaml"):
            if path.stem in kept:
                target = small / path.relative_to(root)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, target)
        whole, part = median(lambda: command(root, incident)), median(lambda: command(small, incident))
    print(f"whole command:   {len(rules)} rules {whole:.3f} s, {len(few)} rules {part:.3f} s, ratio {whole / part:.2f}")


if __name__ == "__main__":
    main()

"""Whether two checkouts say the same, byte for byte, of recorded cases.

    python -m bench.same OTHER_CHECKOUT [FOLDER…] [--every N]

What is meant to make things only faster must say nothing here. The JSON report of each case is made by the code of both,
side by side; without folders the cases of this repository are taken. Exit 1 where something differs.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
_CASES = (HERE / "tests" / "incidents", HERE / "tests" / "quiet")

_SAY = """
import json, sys
from pathlib import Path
from triage.engine.diagnose import diagnose
from triage.engine.rules.loading import load_rules
from triage.ingest.files.incident import read_any
from triage.render.json import to_json
rules = load_rules()
for line in sys.stdin:
    try:
        said = to_json(diagnose(read_any(Path(line.rstrip())), rules))
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
    print(json.dumps(said), flush=True)
"""
"""Reads a path a line, writes its report as a JSON string a line: the same words in both checkouts."""


def cases_below(folders: list[Path]) -> list[Path]:
    """Incident folders, which hold a truth or a case.toml, in the order of their names."""
    marked = {path.parent for folder in folders for name in ("truth.toml", "case.toml") for path in folder.rglob(name)}
    return sorted(path.resolve() for path in marked)


def speaker(checkout: Path) -> "subprocess.Popen[str]":
    """A process that reports with a checkout's code."""
    env = {**os.environ, "PYTHONPATH": str(checkout)}
    return subprocess.Popen(
        [sys.executable, "-c", _SAY], cwd=checkout, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def asked(speakers: list["subprocess.Popen[str]"], case: Path) -> list[str]:
    """What each says of a case; both work at the same time."""
    for one in speakers:
        assert one.stdin is not None
        one.stdin.write(f"{case}\n")
        one.stdin.flush()
    answers = []
    for one in speakers:
        assert one.stdout is not None
        answers.append(json.loads(one.stdout.readline()))
    return answers


def first_difference(one: str, other: str) -> str:
    """The first line in which two reports differ."""
    pairs = zip([*one.splitlines(), ""], [*other.splitlines(), ""], strict=False)
    return next((f"{before.strip()!r} → {after.strip()!r}" for before, after in pairs if before != after), "one ends early")


def main() -> int:
    parser = argparse.ArgumentParser(description="Whether two checkouts say the same of recorded cases.")
    parser.add_argument("other", type=Path, metavar="OTHER_CHECKOUT")
    parser.add_argument("folders", type=Path, nargs="*", default=_CASES)
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only each N-th case")
    given = parser.parse_args()
    cases = cases_below(given.folders)[:: given.every]
    speakers = [speaker(given.other.resolve()), speaker(HERE)]
    differ = 0
    for case in cases:
        before, after = asked(speakers, case)
        if before != after:
            differ += 1
            print(f"{case}: {first_difference(before, after)}", flush=True)
    print(f"{len(cases)} cases, {differ} differ")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())

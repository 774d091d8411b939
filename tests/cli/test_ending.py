"""The end of the program: its exit code is the answer's, whatever still runs in the background."""

import subprocess
import sys

from triage.playbooks import list_playbooks

SEARCHING = """
import sys
import re2
from triage.background import in_background
from triage.cli import program

pattern, text = re2.compile("b+c"), "b" * 1_000_000


def searching() -> None:
    while True:
        pattern.search(text)


in_background(searching)
sys.argv = ["triage", "playbook"]
program()
"""


def test_a_call_that_is_inside_a_library_of_c_plus_plus_does_not_crash_the_end() -> None:
    """The interpreter ends such a thread by force, which aborts the process: a check over its budget looked like a crash."""
    done = subprocess.run([sys.executable, "-c", SEARCHING], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == list(list_playbooks())

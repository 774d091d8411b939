"""A grep that a person runs finds the lines that a signature means."""

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from triage.ingest.logs.loading import load_signatures
from triage.ingest.logs.searching import KERNEL_XID, STDIN, counting, grep_of, in_journal, in_pod
from triage.ingest.logs.signatures import Signature

BOOK = load_signatures()
TOLD = [one for one in BOOK.lines if one.example and not one.made_from]


def pattern(name: str) -> str:
    """The expression of a signature's command."""
    return shlex.split(grep_of([name], ["x.log"], BOOK))[2].replace("(?i)", "")  # Python knows that at the begin only


@pytest.mark.parametrize("signature", TOLD, ids=lambda one: one.id)
def test_every_example_is_found_and_nothing_that_only_looks_alike(signature: Signature) -> None:
    """The command says the same as the signature."""
    found = re.compile(pattern(signature.id), re.IGNORECASE)
    assert all(found.search(line) for line in signature.example)
    assert not any(found.search(line) for line in signature.unlike)


def test_a_real_grep_counts_the_lines(tmp_path: Path) -> None:
    """PCRE of the grep that people have, the file quoted for a shell."""
    if shutil.which("grep") is None:
        pytest.fail("grep is not here: install the Debian package grep")
    some = [one for one in TOLD if len(one.example) == 1][:8]
    log = tmp_path / "an engine's.log"
    log.write_text("\n".join(["all is well", *(one.example[0] for one in some)]) + "\n", encoding="utf-8")
    for one in some:
        done = subprocess.run(grep_of([one.id], [str(log)], BOOK), shell=True, capture_output=True, text=True, check=False)
        assert done.stderr == ""
        assert int(done.stdout) >= 1, one.id
    done = subprocess.run(counting(KERNEL_XID, [str(log)]), shell=True, capture_output=True, text=True, check=False)
    assert done.stdout == "0\n"


def test_what_is_packed_or_piped_is_looked_at_all_the_same() -> None:
    """Zgrep for rotated logs; standard input names no file; of no signature there is no command."""
    assert counting("Xid", ["a.log", "b.log.gz"]) == "zgrep -ciP Xid a.log b.log.gz"
    assert counting("Xid", [STDIN]) == "grep -ciP Xid"
    assert grep_of(["nobody-knows"], ["a.log"], BOOK) == ""


def test_the_same_count_where_lines_are_kept(tmp_path: Path) -> None:
    """The journal of a kernel and the log of a pod are handed to the same expression, in the span that was judged."""
    log = tmp_path / "kernel.log"
    log.write_text("NVRM: Xid (PCI:0000:52:00): 79\nall is well\n", encoding="utf-8")
    counted = counting(KERNEL_XID, [str(log)])
    journal, pod = in_journal(counted, 1787250600.4, 1787252399.5), in_pod(counted, "llm", "llm-prod-0", 1787250600.4)
    assert journal.startswith("journalctl -k --since '2026-08-20 18:30:00 UTC' --until '2026-08-20 19:00:00 UTC' | grep ")
    assert pod.startswith("kubectl -n llm logs llm-prod-0 --since-time=2026-08-20T18:30:00Z | grep ")
    for command in (journal, pod):
        read = f"cat {shlex.quote(str(log))} | {command.partition(' | ')[2]}"
        done = subprocess.run(read, shell=True, capture_output=True, text=True, check=False)
        assert (done.stdout, done.stderr) == ("1\n", "")

"""How a person looks for the lines of a signature by hand: one ``grep`` that says the same, in a file or where lines are kept.

RE2 of concepts is nearly PCRE, which ``grep -P`` speaks: groups that must all occur, in any order, become look-aheads.
"""

import shlex
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from math import ceil, floor

from triage.ingest.logs.loading import Signatures
from triage.ingest.logs.signatures import GAP, Concepts, group_of

KERNEL_XID = r"NVRM: Xid"
"""How every Xid begins in a kernel's log, whatever its code."""

STDIN = "-"

_GAP = r"[\W_]{0,3}"
"""Shorter than :data:`GAP`, and the same within a line."""


def grep_of(names: Iterable[str], files: Sequence[str], signatures: Signatures) -> str:
    """The command that counts lines of some signatures in some files; empty if none of them is told by its words alone.

    :param names: ids of signatures
    :param files: as they were given; ``-`` is standard input
    """
    known = {one.id: one for one in signatures.lines}
    patterns = [pattern for name in names if name in known and (pattern := _pattern(known[name], signatures))]
    return counting(f"^(?:{'|'.join(patterns)})", files) if patterns else ""


def counting(pattern: str, files: Sequence[str]) -> str:
    """The command that counts lines that match."""
    named = [file for file in files if file != STDIN]
    packed = any(file.endswith(".gz") for file in named)
    return shlex.join(["zgrep" if packed else "grep", "-ciP", pattern, *named])


def in_journal(command: str, start: float, end: float) -> str:
    """The same count out of the journal of a node's kernel, in a span of Unix seconds.

    :param command: of :func:`counting`
    """
    since, until = (datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC") for at in (floor(start), ceil(end)))
    return f"{shlex.join(['journalctl', '-k', '--since', since, '--until', until])} | {_without_files(command)}"


def in_pod(command: str, namespace: str, pod: str, start: float) -> str:
    """The same count out of what Kubernetes keeps of a pod, from a moment on, Unix seconds.

    :param command: of :func:`counting`
    """
    since = datetime.fromtimestamp(floor(start), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return f"{shlex.join(['kubectl', '-n', namespace, 'logs', pod, f'--since-time={since}'])} | {_without_files(command)}"


def _without_files(command: str) -> str:
    """A count that reads what is handed to it."""
    return shlex.join(["grep", *shlex.split(command)[1:3]])


def _pattern(said: Concepts, signatures: Signatures) -> str:
    """A line that a signature means, from its begin, as PCRE without regard to case."""
    ways = ["".join(_ahead(_group(group.strip(), signatures)) for group in way.split(" & ")) for way in said.says]
    ways += [_ahead(said.pattern)] if said.pattern else []
    unlike = f"(?!.*(?:{_group(said.not_, signatures)}))" if said.not_ else ""
    return f"{unlike}(?:{'|'.join(ways)})" if ways else ""


def _ahead(group: str) -> str:
    return f"(?=.*(?:{group}))"


def _group(words: str, signatures: Signatures) -> str:
    """A group of concepts, its gaps in fewer letters."""
    return group_of(words, signatures.lexicon).replace(GAP, _GAP)

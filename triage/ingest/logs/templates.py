"""Templates of log lines: what stays of a line when everything that differs from one occurrence to the next is masked."""

import hashlib

from triage.patterns import Pattern

_MASKED = Pattern(
    r"(?:\"[^\"\n]{0,400}\"|'[^'\n]{0,400}'|`[^`\n]{0,400}`)"
    r"|(?:https?|dyn|tcp|grpc|ws|s3|gs|file|ipc)://[^\s\"',;)\]}]+"
    r"|(?:/[\w.@:+-]+){2,}/?"
    r"|\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b"
    r"|\b[a-z][a-z0-9]*(?:-[a-z0-9]+)*-[0-9a-f]{6,10}-[a-z0-9]{5}\b"
    r"|\b0x[0-9a-fA-F]+\b|\b[0-9a-fA-F]*\d[0-9a-fA-F]{5,}[0-9a-fA-F]*\b"
    r"|\b[A-Za-z_-]*\d[\w.:,+-]*"
)
"""Quoted values, addresses, paths, UUIDs, names of pods, hashes, and every word or number with a digit in it (so times, too)."""

_MASKS = Pattern(r"#(?:[ ,;]*#)+")

MASK = "#"
MAX_TEMPLATE = 160
"""Longest template, in characters; two lines that differ only behind that are one sort."""


def template_of(text: str) -> str:
    """The line with all that varies masked by ``#``, in lower case, blanks and rows of masks as one."""
    masked: str = _MASKED.sub(MASK, text[: 3 * MAX_TEMPLATE])
    short: str = _MASKS.sub(MASK, " ".join(masked.split()))
    return short.lower()[:MAX_TEMPLATE]


def name_of(template: str) -> str:
    """A short name of a template, the same in every run."""
    return hashlib.blake2b(template.encode("utf-8", "replace"), digest_size=5).hexdigest()

"""A digest of all that decides an answer beside the recording: rules, dialects, signatures. The same digest: the same answer."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

from triage.bundle import bundled

_DIGITS = 12
"""Hexadecimal digits that are shown: 48 bits, enough that nobody meets two rule sets of one digest."""


def digest(rules: Iterable[Path] = (), dialects: Iterable[Path] = (), signatures: Iterable[Path] = ()) -> str:
    """The digest of the shipped rule set together with the user's folders, in the order in which they count.

    Names count as they are below their folder, so a wheel and a checkout of the same files have the same digest.
    """
    told = hashlib.sha256()
    kinds = (
        ("rules", (bundled("rules"), *rules)),
        ("dialects", (bundled("collectors") / "dialects", *dialects)),
        ("signatures", (bundled("signatures"), *signatures)),
    )
    for kind, folders in kinds:
        for folder in folders:
            for path in sorted(path for path in folder.rglob("*") if path.suffix in {".yaml", ".toml"} and path.is_file()):
                told.update(f"{kind}/{path.relative_to(folder)}\0{path.stat().st_size}\0".encode())
                told.update(path.read_bytes())
    return told.hexdigest()[:_DIGITS]

"""A digest of all that decides an answer beside the recording: rules, dialects, signatures. The same digest: the same answer."""

import hashlib
import os
from collections.abc import Iterable, Iterator
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
            for name, text in _files(str(folder)):
                told.update(f"{kind}/{name}\0{len(text)}\0".encode())
                told.update(text)
    return told.hexdigest()[:_DIGITS]


def _files(folder: str) -> Iterator[tuple[str, bytes]]:
    """Every file that decides something, by its name below the folder, in the order of these: two hundred at each start."""
    found = [f"{at}/{name}" for at, _, names in os.walk(folder) for name in names if name.endswith((".yaml", ".toml"))]
    for path in sorted(found, key=lambda path: path.split("/")):
        with open(path, "rb") as file:  # noqa: PTH123
            yield path[len(folder) + 1 :], file.read()

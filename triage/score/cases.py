"""The cases below some folders: where each comes from, and whether anybody looked at it."""

import hashlib
import re
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Literal

from triage.classes import dataclass
from triage.errors import DataError, InputMissingError
from triage.score.truth import Origin, Truth, read_truth

Part = Literal["looked-at", "blind"]
"""Cases that people looked at while they wrote rules, and cases that nobody opened."""

BLIND_THIRD = "third"
"""Word that chooses a third of the cases by a hash of their names."""

_FOLDERS: tuple[tuple[str, Origin], ...] = (
    ("real", "real"), ("public", "public"), ("exam", "simulated"), ("simulated", "simulated"),
)  # fmt: skip
"""How a folder's name begins, and where its cases come from."""

_SIMULATED_NAME = re.compile(r"(?:.+-)?[a-z]\d{3}")

_Test = Callable[[Path], bool]


@dataclass(frozen=True)
class Case:
    """One incident folder with its truth."""

    path: Path
    origin: Origin
    part: Part
    truth: Truth

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.path.name


def cases_in(folders: Sequence[Path], blind: Sequence[str] = ()) -> list[Case]:
    """All folders below some folders that hold a truth.

    :param blind: which of them nobody looked at: glob patterns of their paths or names, ``third``, or files with a name a line
    :raises InputMissingError: there are none
    """
    tests = [_blind_test(rule) for rule in blind]
    found: dict[Path, Case] = {}
    for folder in folders:
        paths = sorted(path.parent for path in folder.rglob("truth.toml"))
        if not paths:
            raise InputMissingError(f"{folder} holds no case with a truth.toml", "name a folder of incident folders")
        for path in paths:
            truth = read_truth(path / "truth.toml")
            part: Part = "blind" if any(test(path) for test in tests) else "looked-at"
            found.setdefault(path.resolve(), Case(path, truth.origin or _origin(path), part, truth))
    return list(found.values())


def _origin(path: Path) -> Origin:
    """Where a case comes from: by the nearest folder above it whose name tells, else by its own name; else it is real."""
    for folder in (parent.name for parent in path.resolve().parents):
        for start, origin in _FOLDERS:
            if folder.startswith(start):
                return origin
    return "simulated" if _SIMULATED_NAME.fullmatch(path.name) else "real"


def _blind_test(rule: str) -> _Test:
    """What tells whether a case is blind.

    :raises DataError: a file of names cannot be read
    """
    if rule == BLIND_THIRD:
        return is_of_blind_third
    if Path(rule).is_file():
        try:
            names = frozenset(Path(rule).read_text(encoding="utf-8").split())
        except (OSError, UnicodeDecodeError) as error:
            raise DataError(f"{rule} is no list of cases: {error}") from error
        return lambda path: path.name in names
    return partial(_matches, rule)


def _matches(pattern: str, path: Path) -> bool:
    """Whether a pattern is that of a case's name or path."""
    return fnmatchcase(path.name, pattern) or fnmatchcase(str(path), pattern)


def is_of_blind_third(path: Path) -> bool:
    """Whether a case is of the third that a hash of the names chooses: nobody picks, and a new case falls in by itself."""
    return int(hashlib.sha256(path.name.encode()).hexdigest()[:8], 16) % 3 == 0

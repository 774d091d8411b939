"""What checked files say, kept as plain data, so that a start need not read and check all of them again.

The shipped files are compiled when a wheel is built; those of a user, and all of a checkout, into the cache folder. What is kept
counts only for the very bytes that it was made of and the very code that made it. It is JSON of plain values: nothing in it is
run, and it becomes nothing but objects of the classes that its reader names. A file in the cache that another account owns or
may write counts as none.
"""

import json
import os
import stat
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, replace
from enum import Enum
from functools import cache
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from triage import __version__
from triage.classes import dataclass

SHIPPED = Path(__file__).resolve().parent / "compiled_data"
"""Where a wheel has what was compiled as it was built."""

_LARGEST = 64 * 2**20
"""Bytes; all that is shipped takes a fiftieth of it."""

_CLASS, _VALUE = "", "="
"""Keys of a JSON object that stands for more than a mapping: its class, and what an enumeration or a mapping holds."""

_AGAIN = "again"
"""What stands instead of a class where an object is the same as one before: its value is the number of that one."""


@dataclass(frozen=True)
class Compiled:
    """How one sort of files is kept.

    :param name: what it is called among the others
    :param classes: what it may be made of
    :param made_by: modules whose text decides what becomes of a file
    :param shared: classes of which equal objects become one, so that what was found out of one counts for the others
    """

    name: str
    classes: tuple[type, ...]
    made_by: tuple[str, ...]
    shared: frozenset[type] = frozenset()

    def load(self, folders: Sequence[Path], make: Callable[[Sequence[Path]], Any]) -> Any:
        """What was made of all files of some folders before; it is made and kept if it is not there.

        :param make: reads and checks the files; what it raises is not kept
        """
        digest = self._digest(folders)
        cached = _cache_folder(os.environ)
        for path in (SHIPPED / f"{self.name}.json", *([cached / f"{self.name}-{digest[:16]}.json"] if cached else ())):
            with suppress(OSError, ValueError, LookupError, TypeError, RecursionError):
                return self._kept(path, digest)
        made = make(folders)
        if cached:
            with suppress(OSError, TypeError, RecursionError):
                _forget(cached, self.name)
                _write(cached / f"{self.name}-{digest[:16]}.json", self._text(digest, made))
        return made

    def ship(self, folders: Sequence[Path], make: Callable[[Sequence[Path]], Any], into: Path) -> None:
        """Keeps what is made of some folders where a wheel has it."""
        (into / f"{self.name}.json").write_bytes(self._text(self._digest(folders), make(folders)))

    def _digest(self, folders: Iterable[Path]) -> str:
        """Of all bytes that decide what is made: of the files, of the code, and of how it is kept."""
        told = blake2b(f"{__version__} {sys.version_info[:2]}".encode(), digest_size=32)
        for module in (__name__, *self.made_by):
            source = find_spec(module)
            told.update(Path(source.origin).read_bytes() if source is not None and source.origin else b"")
        for folder in folders:
            told.update(folder.name.encode())
            for name in sorted(_files(str(folder))):
                with open(name, "rb") as file:  # noqa: PTH123 - two hundred files at each start
                    text = file.read()
                told.update(b"\0%b\0%d\0" % (os.fsencode(name[len(str(folder)) :]), len(text)))
                told.update(text)
        return told.hexdigest()

    def _kept(self, path: Path, digest: str) -> Any:
        """What a file keeps.

        :raises OSError: it is not there, or not to be trusted
        :raises ValueError: it is damaged, or of other files
        """
        text = _trusted(path)
        head, _, body = text.partition(b"\n")
        if head.decode() != digest:
            raise ValueError("it was made of other files")
        thaw = _Thawed(self)
        return _tuples(json.loads(body, object_hook=thaw))

    def _text(self, digest: str, made: object) -> bytes:
        """What is written: the digest, and the values.

        :raises TypeError: something has no plain form
        """
        return f"{digest}\n{json.dumps(_Plain(self)(made), separators=(',', ':'))}".encode()


def _files(folder: str) -> list[str]:
    """Every file of YAML at or below a folder; none if there is no folder."""
    found: list[str] = []
    for at, _, names in os.walk(folder):
        found += [f"{at}/{name}" for name in names if name.endswith((".yaml", ".yml"))]
    return found


def _cache_folder(environ: Mapping[str, str]) -> Path | None:
    """Where the user's account keeps what can be made again; None where there is no home."""
    cache_home, home = (environ.get(key, "") for key in ("XDG_CACHE_HOME", "HOME"))
    if cache_home.startswith("/"):
        return Path(cache_home) / "triage"
    return Path(home) / ".cache" / "triage" if home.startswith("/") else None


def _trusted(path: Path) -> bytes:
    """What is in a file that nobody else can have written.

    :raises OSError: there is none, it is too large, or another account owns it or may write it
    """
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as file:  # noqa: PTH123 - a file by its number
        about = os.fstat(file.fileno())
        own = about.st_uid in (os.geteuid(), *((0,) if path.parent == SHIPPED else ()))
        if not (stat.S_ISREG(about.st_mode) and about.st_size <= _LARGEST):
            raise OSError("it is no file of ours")
        if path.parent != SHIPPED and (not own or about.st_mode & (stat.S_IWGRP | stat.S_IWOTH)):
            raise OSError("somebody else may have written it")
        return file.read()


def _write(path: Path, text: bytes) -> None:
    """Writes a file that appears whole and that its owner alone may read or write."""
    from tempfile import NamedTemporaryFile

    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with NamedTemporaryFile(dir=path.parent, prefix=".", delete=False) as file:
        try:
            file.write(text)
            file.close()
            Path(file.name).replace(path)
        except OSError:
            Path(file.name).unlink()
            raise


_MOST_KEPT = 8


def _forget(folder: Path, name: str) -> None:
    """Removes what was kept longest, so that only a few are."""
    kept = sorted(folder.glob(f"{name}-*.json"), key=lambda path: path.stat().st_mtime_ns)
    for path in kept[: max(0, len(kept) + 1 - _MOST_KEPT)]:
        path.unlink()


# Values as JSON: a tuple is a list, an object of a class is a mapping that names it, and whatever else is plain stays as it is.


class _Plain:
    """Writes values as what JSON can hold.

    :param numbers: of the shared objects that came before, by how each is written alone
    """

    def __init__(self, about: Compiled) -> None:
        self._about = about
        self._numbers: dict[str, int] = {}

    def __call__(self, value: object) -> object:
        """A value as what JSON can hold.

        :raises TypeError: it has no such form
        """
        if value is None or type(value) in (str, int, float, bool):
            return value
        if isinstance(value, tuple):
            return [self(one) for one in value]
        if isinstance(value, Mapping):
            if all(type(key) is str and key != _CLASS for key in value):
                return {key: self(one) for key, one in value.items()}
            return {_CLASS: "dict", _VALUE: [[self(key), self(one)] for key, one in value.items()]}
        if type(value) not in self._about.classes:
            raise TypeError(f"{type(value).__name__} has no plain form")
        if isinstance(value, Enum):
            return {_CLASS: type(value).__name__, _VALUE: value.value}
        return self._shared(value) if type(value) in self._about.shared else self._of_class(value)

    def _of_class(self, value: object) -> dict[str, object]:
        kind: Any = type(value)
        about, own = _about(kind), vars(value)
        usual = about.usual
        told = [name for name in about.names if name not in usual or not _alike(own[name], usual[name])]
        return {_CLASS: type(value).__name__, **{name: self(own[name]) for name in told}}

    def _shared(self, value: object) -> dict[str, object]:
        """An object as it is, or the number of an equal one that came before."""
        alone = json.dumps(_Plain(replace(self._about, shared=frozenset()))(value))
        if alone in self._numbers:
            return {_CLASS: _AGAIN, _VALUE: self._numbers[alone]}
        told = self._of_class(value)
        self._numbers[alone] = len(self._numbers)
        return told


def _alike(value: object, other: object) -> bool:
    """Whether two values are the same, to their type: a number is no truth value, and 1 is not 1.0."""
    return type(value) is type(other) and value == other


class _About:
    """How objects of a class are made.

    ``names`` are those of its fields in their order, ``usual`` what some are if nobody says, ``needed`` those that must be said.
    """

    def __init__(self, one: Any) -> None:
        self.of = one
        self.is_enum = issubclass(one, Enum)
        told: Mapping[str, Any] = {} if self.is_enum else one.__dataclass_fields__
        self.names = dict.fromkeys(told)
        self.usual: dict[str, object] = {}
        for name, field in told.items():
            if field.default_factory is not MISSING:
                self.usual[name] = field.default_factory()
            elif field.default is not MISSING:
                self.usual[name] = field.default
        self.needed = self.names.keys() - self.usual.keys()


_about = cache(_About)


class _Thawed:
    """Makes of JSON objects what they stand for, in the order in which they were written."""

    def __init__(self, about: Compiled) -> None:
        self._classes: Mapping[str, Any] = {one.__name__: one for one in about.classes}
        self._shared = about.shared
        self._made: list[object] = []

    def __call__(self, told: dict[str, Any]) -> object:
        """What a JSON object stands for.

        :raises ValueError: it is nothing that was written
        """
        for name, value in told.items():
            if type(value) is list:
                told[name] = _tuples(value)
        if _CLASS not in told:
            return told
        kind = told.pop(_CLASS)
        if kind == "dict":
            return dict(told[_VALUE])
        if kind == _AGAIN:
            return self._made[told[_VALUE]]
        about = _about(self._classes[kind])
        if about.is_enum:
            return about.of(told[_VALUE])
        if not about.needed <= told.keys() <= about.names.keys():
            raise ValueError(f"{kind} has other fields")
        made = _built(about, told)
        if about.of in self._shared:
            self._made.append(made)
        return made


def _built(about: _About, told: dict[str, object]) -> object:
    """An object of values that were checked when they were kept."""
    made: object = about.of.__new__(about.of)
    made.__dict__.update(about.usual)
    made.__dict__.update(told)
    return made


def _tuples(value: Any) -> Any:
    """A value with tuples for lists."""
    return tuple(_tuples(one) for one in value) if type(value) is list else value

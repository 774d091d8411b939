"""Loads the dialects: every YAML file of ``collectors/dialects`` and of the folders that the user named, checked as a whole."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import re2

from triage.bundle import bundled
from triage.classes import dataclass
from triage.compiled import Compiled
from triage.errors import ConfigError, InputMissingError
from triage.model.dialect import Dialect, Entry
from triage.model.vocabulary import Combine, Scope, catalogue
from triage.validation import Complaint, Fault, complaints, did_you_mean, faults_of

COMPILED = Compiled(
    "dialects",
    (Dialect, Entry, Scope, Combine),
    ("triage.model.dialect", "triage.model.vocabulary", "triage.yamltext", __name__),
)
_KEYS = frozenset((*Dialect.model_names(), *Entry.model_names()))
_UNKNOWN_SIGNAL = "no signal is called "
_QUIETLY = re2.Options()
_QUIETLY.log_errors = False


def load_dialects(folders: Iterable[Path] = ()) -> tuple[Dialect, ...]:
    """All shipped dialects, then those of the user's folders; a later one replaces one of the same name.

    Files are read once in the life of the program.

    :raises TriageError: a folder is missing, or files are faulty; all faults of all files are told at once
    """
    return _loaded((bundled("collectors") / "dialects", *folders))


@cache
def _loaded(folders: tuple[Path, ...]) -> tuple[Dialect, ...]:
    found: tuple[Dialect, ...] = COMPILED.load(folders, checked)
    return found


def checked(folders: Sequence[Path]) -> tuple[Dialect, ...]:
    """The dialects of all folders, read from their files.

    :raises TriageError: a folder is missing, or files are faulty
    """
    files = [file for folder in folders for file in read_folder(folder)]
    found = {file.dialect.name: file.dialect for file in files if file.dialect}
    faults = [fault for file in files for fault in file.faults]
    if faults:
        count = "1 fault" if len(faults) == 1 else f"{len(faults)} faults"
        told = "\n  ".join(map(str, faults))
        raise ConfigError(f"the dialects have {count}\n  {told}", "triage rules lint --dialects DIR shows the places")
    return tuple(found.values())


@dataclass(frozen=True, slots=True)
class DialectFile:
    """What one file holds: a dialect, or what is wrong with it."""

    path: Path
    data: bytes
    dialect: Dialect | None
    faults: tuple[Fault, ...] = ()


def read_folder(folder: Path) -> list[DialectFile]:
    """Every dialect of a folder, in order of the paths, sound or not.

    :raises TriageError: the folder is missing, or no dialect is in it
    """
    if not folder.is_dir():
        raise InputMissingError(f"{folder} is not a folder of dialects")
    paths = sorted(folder.glob("*.yaml"))
    if not paths:
        raise ConfigError(f"no dialect is in {folder}", "dialects are files that end in .yaml")
    return [read_dialect(path) for path in paths]


def read_dialect(path: Path) -> DialectFile:
    """The dialect of one file, or what is wrong with it."""
    from triage import yamltext

    try:
        data = path.read_bytes()
    except OSError as error:
        return DialectFile(path, b"", None, (Fault(path, 1, 1, f"the file cannot be read: {error.strerror}"),))
    try:
        value = yamltext.load(data)
    except yamltext.YamlError as error:
        return DialectFile(path, data, None, (Fault(path, error.line, error.column, error.text),))
    wrong = [*_misnamed(value, path), *_bad_patterns(value)]
    try:
        dialect = Dialect.model_validate(value)
    except ValueError as error:
        return DialectFile(path, data, None, _told(path, data, [*complaints(error, value, _KEYS), *wrong]))
    return DialectFile(path, data, None, _told(path, data, wrong)) if wrong else DialectFile(path, data, dialect)


def _misnamed(value: object, path: Path) -> Iterator[Complaint]:
    """A dialect is called what its file is called: that is how people find it."""
    name = value.get("name") if isinstance(value, dict) else None
    if isinstance(name, str) and name != path.stem:
        yield Complaint(("name",), f"the name is {name!r}, but the file is called {path.stem!r}")


def _bad_patterns(value: object) -> Iterator[Complaint]:
    """Patterns that are not RE2: PromQL could not repeat them, and they might take for ever on a hostile label."""
    for place, pattern in _patterns(value):
        try:
            re2.compile(pattern, _QUIETLY)
        except re2.error as error:
            reason = error.args[0].decode() if isinstance(error.args[0], bytes) else error.args[0]
            yield Complaint(place, f"{pattern!r} is not a regular expression that RE2 takes: {reason}")


def _patterns(value: object) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Each regular expression in a file, sound or not, with its place."""
    if not isinstance(value, dict):
        return
    if isinstance(jobs := value.get("jobs"), str):
        yield ("jobs",), jobs
    metrics = value.get("metrics")
    for index, entry in enumerate(metrics if isinstance(metrics, list) else ()):
        where = entry.get("where") if isinstance(entry, dict) else None
        for label, text in where.items() if isinstance(where, dict) else ():
            if isinstance(text, str):
                yield ("metrics", index, "where", label), text.removeprefix("!")


def _told(path: Path, data: bytes, wrong: Iterable[Complaint]) -> tuple[Fault, ...]:
    """Complaints as faults that name the keys to their place, in the order of their places."""
    named = (
        replace(one, text=f"{'.'.join(map(str, one.path))}: {one.text}" if one.path else one.text, hint=_hint(one))
        for one in wrong
    )
    return faults_of(path, data, named)


def _hint(complaint: Complaint) -> str:
    """What to write instead: the nearest signal for an unknown one."""
    _, _, unknown = complaint.text.partition(_UNKNOWN_SIGNAL)
    return did_you_mean(unknown, catalogue()) if unknown else complaint.hint

"""Loads the rules: every YAML file of the shipped folders and of the folders that the user named, checked as a whole."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import get_args

from triage.bundle import bundled
from triage.classes import dataclass
from triage.compiled import Compiled
from triage.errors import ConfigError, InputMissingError
from triage.model import rule as model
from triage.model.checked import Checked
from triage.model.rule import All, Any, Leaf, Not, Rule
from triage.model.vocabulary import Cause, catalogue
from triage.validation import Complaint, Fault, complaints, did_you_mean, faults_of

COMPILED = Compiled(
    "rules",
    tuple(one for one in vars(model).values() if isinstance(one, type)),
    ("triage.model.rule", "triage.model.vocabulary", "triage.model.observation", "triage.yamltext", __name__),
    shared=frozenset((*get_args(Leaf), All, Any, Not)),
)
_UNKNOWN_SIGNAL = re.compile(r"no signal is called (\S+)")


@dataclass(frozen=True, slots=True)
class RuleFile:
    """What one file holds: a rule, or what is wrong with it."""

    path: Path
    data: bytes
    rule: Rule | None
    faults: tuple[Fault, ...] = ()


def load_rules(folders: Iterable[Path] = ()) -> tuple[Rule, ...]:
    """All shipped rules and those of the user's folders, in order of their ids; a user's rule replaces a shipped one of its id.

    :raises TriageError: a folder is missing or empty, or files are faulty; all faults of all files are told at once
    """
    every = (bundled("rules"), *folders)
    found: tuple[Rule, ...] = COMPILED.load(every, checked)
    return found


def checked(folders: Sequence[Path]) -> tuple[Rule, ...]:
    """The rules of all folders, read from their files.

    :raises TriageError: a folder is missing or empty, or files are faulty
    """
    found: dict[str, Rule] = {}
    faults: list[Fault] = []
    for folder in folders:
        files = read_folder(folder)
        faults += [fault for file in files for fault in file.faults]
        found.update((file.rule.id, file.rule) for file in files if file.rule)
    if faults:
        told = "\n  ".join(str(fault) for fault in faults)
        count = "1 fault" if len(faults) == 1 else f"{len(faults)} faults"
        raise ConfigError(f"the rules have {count}\n  {told}", "triage rules lint shows the places")
    return tuple(found[name] for name in sorted(found))


def read_folder(folder: Path) -> list[RuleFile]:
    """Every rule file under a folder, in order of the paths, sound or not; two rules of one id are a fault of the second.

    :raises TriageError: the folder is missing, or no rule is in it
    """
    if not folder.is_dir():
        raise InputMissingError(f"{folder} is not a folder of rules")
    paths = sorted(path for path in folder.rglob("*.y*ml") if path.is_file())
    if not paths and folder != bundled("rules"):
        raise ConfigError(f"no rule is in {folder}", "rules are files that end in .yaml")
    first: dict[str, Path] = {}
    return [_unique(_in_its_place(read_rule(path), folder), first) for path in paths]


def read_rule(path: Path) -> RuleFile:
    """The rule in one file, or its faults with their places."""
    from triage import yamltext

    try:
        data = path.read_bytes()
    except OSError as error:
        return RuleFile(path, b"", None, (Fault(path, 1, 1, f"the file cannot be read: {error.strerror}"),))
    try:
        value = yamltext.load(data)
    except yamltext.YamlError as error:
        return RuleFile(path, data, None, (Fault(path, error.line, error.column, error.text),))
    try:
        return RuleFile(path, data, Rule.model_validate(value))
    except ValueError as error:
        return RuleFile(path, data, None, faults_of(path, data, map(_hinted, complaints(error, value, keys()))))
    except RecursionError:
        return RuleFile(path, data, None, (Fault(path, 1, 1, "the conditions are nested too deeply"),))


@cache
def keys() -> frozenset[str]:
    """All keys that may stand in a rule file."""
    parts = [one for one in COMPILED.classes if issubclass(one, Checked) and one is not Checked]
    return frozenset(key for one in parts for key in one.model_keys().values())


def _hinted(complaint: Complaint) -> Complaint:
    """The complaint with the nearest signal for an unknown one."""
    unknown = _UNKNOWN_SIGNAL.search(complaint.text)
    return replace(complaint, hint=did_you_mean(unknown[1], catalogue())) if unknown else complaint


def _in_its_place(file: RuleFile, folder: Path) -> RuleFile:
    """The file with a fault for each way in which its name and folder contradict its rule."""
    faults = list(file.faults)
    if file.path.suffix != ".yaml":
        faults.append(Fault(file.path, 1, 1, "the name of a rule file ends in .yaml", f"rename it to {file.path.stem}.yaml"))
    if file.rule and file.rule.id != file.path.stem:
        faults.append(_at(file, "id", f"the id is {file.rule.id!r}, but the file is called {file.path.stem!r}"))
    parent = file.path.parent
    if file.rule and (folder == bundled("rules") or parent.name in set(Cause)) and parent.name != file.rule.cause:
        faults.append(_at(file, "cause", f"the cause is {file.rule.cause.value!r}, but the folder is called {parent.name!r}"))
    return RuleFile(file.path, file.data, file.rule, tuple(faults))


def _unique(file: RuleFile, first: dict[str, Path]) -> RuleFile:
    """The file with a fault if an earlier file of the same folder has a rule of its id."""
    if file.rule is None or first.setdefault(file.rule.id, file.path) == file.path:
        return file
    fault = _at(file, "id", f"the id {file.rule.id!r} is taken by {first[file.rule.id]}")
    return RuleFile(file.path, file.data, file.rule, (*file.faults, fault))


def _at(file: RuleFile, key: str, text: str) -> Fault:
    """A fault at the value of a top key."""
    from triage import yamltext

    line, column = yamltext.Marked(file.data.decode()).place((key,))
    return Fault(file.path, line, column, text)

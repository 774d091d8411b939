"""Where the recordings of lessons and drills are, and what is worked out of one."""

from collections.abc import Sequence
from functools import cache, cached_property
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from triage.bundle import recorded_cases
from triage.engine.diagnose import diagnose, looked_at
from triage.engine.frame import Frame
from triage.errors import InputMissingError
from triage.ingest.files.incident import read_any
from triage.ingest.language import Language
from triage.learn.files import read
from triage.model.diagnosis import Diagnosis
from triage.model.recording import Recording
from triage.model.rule import Rule

_HINT = "more recordings are in tests/incidents and tests/quiet of the source repository: name such a folder with --cases DIR"


class Case:
    """One recording with its diagnosis and its signals, each worked out when it is first asked for.

    :raises TriageError: the recording cannot be read
    """

    def __init__(self, path: Path, rules: Sequence[Rule], language: Language | None = None) -> None:
        self.name = path.name
        self.path = path
        self.rules = {rule.id: rule for rule in rules}
        self.recording: Recording = read_any(path, language=language)

    @cached_property
    def diagnosis(self) -> Diagnosis:
        """What triage makes of it."""
        return diagnose(self.recording, tuple(self.rules.values()))

    @cached_property
    def frame(self) -> Frame:
        """Its signals, derived ones too."""
        return looked_at(self.recording)


def find_case(name: str, folders: Sequence[Path] = ()) -> Path:
    """The folder of a case.

    :param folders: folders that the user named, looked at first
    :raises InputMissingError: it is in none of them
    """
    for folder in (*_there(folders), *recorded_cases()):
        if (folder / name / "case.toml").is_file():
            return folder / name
    raise InputMissingError(f"there is no recording {name!r}", _HINT)


def drill_cases(folders: Sequence[Path] = ()) -> tuple[Path, ...]:
    """Folders of the cases with a known cause, the easy ones first; of the shipped ones if the user named no folder.

    :raises InputMissingError: there is none
    """
    from triage.score.truth import read_truth

    paths = [path.parent for folder in _there(folders) or recorded_cases() for path in sorted(folder.glob("*/truth.toml"))]
    found = [path for path in paths if (path / "case.toml").is_file() and read_truth(path / "truth.toml").root]
    if not found:
        raise InputMissingError("there is no case with a known cause to drill on", _HINT)
    return tuple(sorted(found, key=_shuffled))


class Levels(BaseModel):
    """Names of cases that are easier or harder as drills than most."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    easy: frozenset[str]
    hard: frozenset[str]


@cache
def levels() -> Levels:
    """The levels of the recorded cases.

    Easy: the cause is likely at least, and all that is found. Hard: another finding stands beside it that nothing explains, its
    consequences lie in two layers above it or are many, it is only possible, or the program does not find it at all.
    """
    return read(Path(__file__).parent / "drills.yaml", Levels)


def level_of(case: Path) -> int:
    """How hard a drill is: 1 easy, 2, 3 hard."""
    return 1 if case.name in levels().easy else 3 if case.name in levels().hard else 2


def _there(folders: Sequence[Path]) -> Sequence[Path]:
    """The folders that the user named.

    :raises InputMissingError: one is no folder
    """
    for folder in folders:
        if not folder.is_dir():
            raise InputMissingError(f"{folder} is not a folder of recordings")
    return folders


def _shuffled(path: Path) -> tuple[int, str, str]:
    """A key for an order by level that looks random and stays the same: a drill's number tells nothing of its cause."""
    from hashlib import sha256

    return level_of(path), sha256(path.name.encode()).hexdigest(), path.name

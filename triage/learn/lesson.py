"""Lessons: data that walks one recording step by step. What a step shows is worked out from the recording itself."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from triage.errors import ConfigError, InputMissingError, UsageError
from triage.learn.files import HINT, read
from triage.model.rule import Stat
from triage.model.vocabulary import catalogue
from triage.validation import did_you_mean

FOLDER = Path(__file__).parent / "lessons"

Expect = Literal["present", "absent", "unknown", "rises", "falls", "steady", "no data"]
"""What the text counts on: a verdict of a rule, or how a signal moved."""

_OF_RULES = {"present", "absent", "unknown"}
_FORM = ConfigDict(extra="forbid", frozen=True)


class Look(BaseModel):
    """A question answered from the recording: a rule's verdict, or a signal before and in the window.

    :param rule: id of the rule to ask
    :param signal: signal to show
    :param subject: show only this subject (``replica/vllm-0``)
    :param stat: statistic of the signal
    :param expect: what the text counts on; where the recording answers otherwise, the reader is told
    """

    model_config = _FORM

    rule: str = ""
    signal: str = ""
    subject: str = ""
    stat: Stat = "mean"
    expect: Expect | None = None

    @model_validator(mode="after")
    def _asks_one_thing(self) -> "Look":
        if bool(self.rule) == bool(self.signal):
            raise ValueError("look at exactly one of rule and signal")
        if self.signal and self.signal not in catalogue():
            raise ValueError(f"no signal is called {self.signal}")
        if self.expect is not None and (self.expect in _OF_RULES) != bool(self.rule):
            raise ValueError(f"{self.rule or self.signal} can never be {self.expect}")
        return self


class Check(BaseModel):
    """A question to the reader, and its answer."""

    model_config = _FORM
    question: str = Field(min_length=1)
    answer: str = Field(min_length=1)


class Step(BaseModel):
    """One step: what to think, where to look, what to answer."""

    model_config = _FORM
    text: str = Field(min_length=1)
    look: tuple[Look, ...] = ()
    check: Check | None = None


class Lesson(BaseModel):
    """One lesson.

    :param id: the file's stem
    :param goal: what the reader can do afterwards
    :param incident: name of the folder of its recording
    """

    model_config = _FORM

    id: str
    title: str
    goal: str
    incident: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    steps: tuple[Step, ...] = Field(min_length=1)


def load_lessons(folders: Sequence[Path] = ()) -> dict[str, Lesson]:
    """All lessons by id, sorted. One in a later folder replaces one of the same id in an earlier.

    :param folders: further folders that the user named
    :raises TriageError: one is no folder, or a file is wrong
    """
    found: dict[str, Lesson] = {}
    for folder in (FOLDER, *folders):
        if not folder.is_dir():
            raise InputMissingError(f"{folder} is not a folder of lessons")
        for path in sorted(folder.glob("*.yaml")):
            found[path.stem] = _lesson(path)
    return dict(sorted(found.items()))


def pick(lessons: dict[str, Lesson], lesson_id: str) -> Lesson:
    """The lesson of an id.

    :raises UsageError: there is none
    """
    if lesson_id not in lessons:
        raise UsageError(f"no lesson is called {lesson_id!r}", did_you_mean(lesson_id, lessons) or "triage learn list shows all")
    return lessons[lesson_id]


def _lesson(path: Path) -> Lesson:
    """The lesson in a file."""
    lesson = read(path, Lesson)
    if lesson.id != path.stem:
        raise ConfigError(f"{path} has the id {lesson.id!r}, which must equal the file's name", HINT)
    return lesson

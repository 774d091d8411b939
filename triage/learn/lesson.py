"""Lessons: data that walks one recording step by step. What a step shows is worked out from the recording itself."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from triage.errors import ConfigError, InputMissingError, UsageError
from triage.learn.files import HINT, read
from triage.learn.texts import Both, Text, gaps
from triage.model.rule import Stat
from triage.model.vocabulary import Combine, catalogue
from triage.validation import did_you_mean

FOLDER = Path(__file__).parent / "lessons"

Expect = Literal["present", "absent", "unknown", "rises", "falls", "steady", "no data", "seen", "none seen"]
"""What the text counts on: a verdict of a rule, how a signal moved, or whether a log has such a line."""

_EXPECTED = {
    "rule": {"present", "absent", "unknown"},
    "signal": {"rises", "falls", "steady", "no data"},
    "log": {"seen", "none seen"},
    "changes": {"seen", "none seen"},
}
_FORM = ConfigDict(extra="forbid", frozen=True)


class Look(BaseModel):
    """A question answered from the recording: a rule's verdict, a signal before and in the window, lines of logs, changes.

    :param rule: id of the rule to ask
    :param signal: signal to show
    :param subject: show only this subject (``replica/vllm-0``)
    :param stat: statistic of the signal
    :param log: show the lines of the logs that hold this text, whatever its case
    :param changes: show the changes to the service
    :param expect: what the text counts on; where the recording answers otherwise, the reader is told
    """

    model_config = _FORM

    rule: str = ""
    signal: str = ""
    subject: str = ""
    stat: Stat = "mean"
    log: str = ""
    changes: bool = False
    expect: Expect | None = None

    @model_validator(mode="after")
    def _asks_one_thing(self) -> "Look":
        asked = [name for name in _EXPECTED if getattr(self, name)]
        if len(asked) != 1:
            raise ValueError("look at exactly one of rule, signal, log and changes")
        if self.signal and self.signal not in catalogue():
            raise ValueError(f"no signal is called {self.signal}")
        if self.expect is not None and self.expect not in _EXPECTED[asked[0]]:
            raise ValueError(f"{self.rule or self.signal or asked[0]} can never be {self.expect}")
        return self


class Value(BaseModel):
    """A number that texts speak of by its name in braces. Exactly one of the first six says where it comes from.

    :param signal: a signal of the recording; of all its subjects together if ``subject`` is not said
    :param fact: a fact of the recording, of anybody
    :param number: a constant: of a data sheet, say
    :param product: values, or numbers, multiplied
    :param quotient: the first divided by each of the others
    :param difference: the first less each of the others
    :param span: ``baseline``: before the window
    :param over: seconds at the end of the span to look at; the whole span if not said
    :param between: seconds after the span's begin, from which to which to look
    :param scale: factor of the unit, which the arithmetic does not show (0.001 for kB out of bytes)
    :param unit: of what is no signal, as the text should have it
    :param label: what it is, where the arithmetic is shown
    """

    model_config = _FORM

    signal: str = ""
    fact: str = ""
    number: float | None = None
    product: tuple[str | float, ...] = ()
    quotient: tuple[str | float, ...] = ()
    difference: tuple[str | float, ...] = ()
    subject: str = ""
    stat: Stat = "mean"
    across: Combine | None = None
    span: Literal["window", "baseline"] = "window"
    over: float | None = Field(default=None, gt=0)
    between: tuple[float, float] | None = None
    scale: float = 1.0
    unit: Text | None = None
    label: Text | None = None

    @model_validator(mode="after")
    def _has_one_source(self) -> "Value":
        given = [self.signal, self.fact, self.number is not None, self.product, self.quotient, self.difference]
        if sum(map(bool, given)) != 1:
            raise ValueError("a value is exactly one of signal, fact, number, product, quotient, difference")
        if self.signal and self.signal not in catalogue():
            raise ValueError(f"no signal is called {self.signal}")
        return self

    @property
    def parts(self) -> tuple[str | float, ...]:
        """What it is worked out from, if it is."""
        return self.product or self.quotient or self.difference


class Claim(BaseModel):
    """What a sentence says of a value: how it compares with a number, or with another value.

    :param value: name of the value
    """

    model_config = _FORM

    value: str
    above: str | float | None = None
    at_least: str | float | None = None
    below: str | float | None = None
    at_most: str | float | None = None

    @model_validator(mode="after")
    def _has_one_bound(self) -> "Claim":
        if sum(one is not None for one in (self.above, self.at_least, self.below, self.at_most)) != 1:
            raise ValueError(f"{self.value}: give exactly one of above, at_least, below, at_most")
        return self

    @property
    def bound(self) -> str | float:
        """What it is held against."""
        return next(one for one in (self.above, self.at_least, self.below, self.at_most) if one is not None)


class Check(BaseModel):
    """A question to the reader, and its answer."""

    model_config = _FORM
    question: Text
    answer: Text


class Step(BaseModel):
    """One step: what to think, where to look, what to work out, what to answer.

    :param work: values whose arithmetic is shown, line by line
    :param claims: what text and answer say of values; where the recording says otherwise, the reader is told
    """

    model_config = _FORM
    text: Text
    look: tuple[Look, ...] = ()
    work: tuple[str, ...] = ()
    claims: tuple[Claim, ...] = ()
    check: Check | None = None

    def texts(self) -> Iterator[Both]:
        """Everything that is read."""
        yield self.text
        if self.check is not None:
            yield from (self.check.question, self.check.answer)


class Lesson(BaseModel):
    """One lesson.

    :param id: the file's stem
    :param level: 0 for the one to begin with, up to 3
    :param goal: what the reader can do afterwards
    :param incident: name of the folder of its recording
    :param values: numbers that the texts speak of, by name; one may be worked out from those before it
    """

    model_config = _FORM

    id: str
    level: int = Field(default=2, ge=0, le=3)
    title: Text
    goal: Text
    incident: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    values: dict[str, Value] = Field(default_factory=dict)
    steps: tuple[Step, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _knows_its_values(self) -> "Lesson":
        known: set[str] = set()
        for name, value in self.values.items():
            _refuse_unknown([part for part in value.parts if isinstance(part, str)], known, f"the value {name}")
            known.add(name)
        for number, step in enumerate(self.steps, start=1):
            bounds = [claim.bound for claim in step.claims]
            named = [*step.work, *(claim.value for claim in step.claims), *(one for one in bounds if isinstance(one, str))]
            _refuse_unknown([*named, *(gap for text in step.texts() for gap in gaps(text))], known, f"step {number}")
        return self


def _refuse_unknown(names: Sequence[str], known: set[str], where: str) -> None:
    """Say which name of a value is not there."""
    for name in names:
        if name not in known:
            raise ValueError(f"{where} speaks of {{{name}}}, which is no value before it")


def load_lessons(folders: Sequence[Path] = ()) -> dict[str, Lesson]:
    """All lessons by id, the easy ones first. One in a later folder replaces one of the same id in an earlier.

    :param folders: further folders that the user named
    :raises TriageError: one is no folder, or a file is wrong
    """
    found: dict[str, Lesson] = {}
    for folder in (FOLDER, *folders):
        if not folder.is_dir():
            raise InputMissingError(f"{folder} is not a folder of lessons")
        for path in sorted(folder.glob("*.yaml")):
            found[path.stem] = _lesson(path)
    return dict(sorted(found.items(), key=lambda pair: (pair[1].level, pair[0])))


def pick(lessons: dict[str, Lesson], lesson_id: str) -> Lesson:
    """The lesson of an id, or of its number in the list.

    :raises UsageError: there is none
    """
    if lesson_id.isdecimal() and int(lesson_id) < len(lessons):
        return list(lessons.values())[int(lesson_id)]
    if lesson_id not in lessons:
        raise UsageError(f"no lesson is called {lesson_id!r}", did_you_mean(lesson_id, lessons) or "triage learn list shows all")
    return lessons[lesson_id]


def _lesson(path: Path) -> Lesson:
    """The lesson in a file."""
    lesson = read(path, Lesson)
    if lesson.id != path.stem:
        raise ConfigError(f"{path} has the id {lesson.id!r}, which must equal the file's name", HINT)
    return lesson

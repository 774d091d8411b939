"""Files of tests: their form, and how one is read."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator, model_validator

from triage import yamltext
from triage.classes import dataclass
from triage.errors import DataError, InputMissingError
from triage.model.diagnosis import Confidence, Status, Verdict
from triage.model.recording import Subject
from triage.model.vocabulary import Scope
from triage.ruletest.notation import values_of
from triage.validation import Fault, Seconds, complaints, did_you_mean, faults_of


def _at_start(value: object) -> object:
    """The start needs no unit, though no duration is empty."""
    return 0.0 if value in ("0", "0s", "0m") else value


Offset = Annotated[Seconds, BeforeValidator(_at_start)]
"""Seconds since the start."""


def subject_of(text: str) -> Subject:
    """The subject that ``scope/id`` names.

    :raises ValueError: there is no such scope
    """
    scope, slash, name = text.partition("/")
    if not slash or scope not in set(Scope):
        raise ValueError(f"{text!r} is no subject: write scope/name, with a scope of {', '.join(Scope)}")
    return Subject(Scope(scope), name)


class _Part(BaseModel):
    """Base of all parts."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Input(_Part):
    """A series.

    :param series: a signal of the vocabulary with labels named after scopes (``kv.usage{replica="a"}``), or a metric of a source
        with its labels
    :param values: in promtool's notation, one at each interval from 0 on
    :param per_second: of a distribution that is given as a signal: how many observations of each value come a second
    """

    series: str
    values: str
    per_second: float = Field(default=1.0, gt=0.0)

    @field_validator("values")
    @classmethod
    def _is_read(cls, value: str) -> str:
        values_of(value)
        return value


class Happening(_Part):
    """An event.

    :param at: when, from the start
    :param kind: ``xid``, ``kube``, ``log`` …
    :param name: code, reason, id of the signature
    :param subject: ``scope/name``; the service if not said
    """

    at: Offset
    kind: str
    name: str = ""
    subject: str = ""
    attrs: dict[str, str] = Field(default_factory=dict)
    text: str = ""
    source: str = ""

    @field_validator("subject")
    @classmethod
    def _is_one(cls, value: str) -> str:
        if value:
            subject_of(value)
        return value


class Altered(BaseModel):
    """A change, as a line of ``changes.jsonl`` tells it, but for ``at`` instead of ``time``."""

    model_config = ConfigDict(extra="allow", frozen=True)

    at: Offset
    kind: str


class Expected(_Part):
    """What must come out.

    :param eval_time: moment from the start at which the window ends
    :param subject: of a kind that is present: a subject that has it
    :param says: parts of the finding's sentence
    :param missing: of an unknown kind: parts of what is missing
    :param status: what the service must be called; with or without a rule
    """

    eval_time: Offset
    rule: str = ""
    verdict: Verdict | None = None
    subject: str = ""
    says: tuple[str, ...] = ()
    confidence: Confidence | None = None
    missing: tuple[str, ...] = ()
    status: Status | None = None

    @model_validator(mode="after")
    def _asks_something(self) -> "Expected":
        if bool(self.rule) != bool(self.verdict):
            raise ValueError("rule and verdict go together")
        if not self.rule and self.status is None:
            raise ValueError("say what must come out: rule and verdict, or status")
        if (self.subject or self.says or self.confidence) and self.verdict is not Verdict.PRESENT:
            raise ValueError("subject, says and confidence are of a finding: they need verdict: present")
        if self.missing and self.verdict is not Verdict.UNKNOWN:
            raise ValueError("missing needs verdict: unknown")
        if self.subject:
            subject_of(self.subject)
        return self


class Test(_Part):
    """One recording and what must come of it.

    :param window: length of the window to judge; what is before it is the baseline
    :param logs: text of a log by its file's name; lines are stamped from 2026-01-01T00:00:00Z on, which is the start
    :param sources: sources that were there and brought nothing (``log:kernel``, ``changes``): without them silence proves nothing
    :param facts: of the service; ``facts_of`` those of others, by ``scope/name``
    """

    name: str
    service: str = "svc"
    interval: Seconds | None = None
    window: Seconds = 1800.0
    input_series: tuple[Input, ...] = ()
    events: tuple[Happening, ...] = ()
    changes: tuple[Altered, ...] = ()
    logs: dict[str, str] = Field(default_factory=dict)
    sources: tuple[str, ...] = ()
    facts: dict[str, str | float] = Field(default_factory=dict)
    facts_of: dict[str, dict[str, str | float]] = Field(default_factory=dict)
    objectives: dict[str, float] = Field(default_factory=dict)
    signals: dict[str, str] = Field(default_factory=dict)
    expect: tuple[Expected, ...] = Field(min_length=1)

    @field_validator("facts_of")
    @classmethod
    def _are_of_somebody(cls, value: dict[str, dict[str, str | float]]) -> dict[str, dict[str, str | float]]:
        for name in value:
            subject_of(name)
        return value


class TestFile(_Part):
    """A file of tests.

    :param rules: folders of rules, relative to the file, beside those of flags and settings; likewise dialects and signatures
    :param interval: distance of the values of series
    """

    rules: tuple[Path, ...] = ()
    dialects: tuple[Path, ...] = ()
    signatures: tuple[Path, ...] = ()
    interval: Seconds = 15.0
    tests: tuple[Test, ...] = Field(min_length=1)


_MODELS: tuple[type[BaseModel], ...] = (TestFile, Test, Input, Happening, Expected, Altered)
_KEYS = frozenset(name for model in _MODELS for name in model.model_fields)


@dataclass(frozen=True)
class Read:
    """A file that was read."""

    path: Path
    data: bytes
    file: TestFile

    def known(self, rules: Iterable[str]) -> None:
        """Refuses a test of a rule that is not there: it would be unknown for ever.

        :raises DataError: there is one
        """
        rules = frozenset(rules)
        marked = yamltext.Marked(self.data.decode())
        faults = [
            Fault(self.path, *marked.place(("tests", number, "expect", place, "rule")), f"no rule is called {one.rule!r}",
                  did_you_mean(one.rule, rules))
            for number, test in enumerate(self.file.tests)
            for place, one in enumerate(test.expect)
            if one.rule and one.rule not in rules
        ]  # fmt: skip
        _refuse(faults)


def files_in(paths: Sequence[Path]) -> list[Path]:
    """The files of tests that paths name: themselves, and all YAML files below a folder.

    :raises InputMissingError: one is not there, or holds none
    """
    found: list[Path] = []
    for path in paths:
        if not path.exists():
            raise InputMissingError(f"{path} does not exist", "name a file of tests or a folder of such files")
        here = sorted(path.rglob("*.yaml")) if path.is_dir() else [path]
        if not here:
            raise InputMissingError(f"no test is in {path}", "tests are files that end in .yaml; docs/rules.md has an example")
        found += here
    return found


def read_tests(path: Path) -> Read:
    """The tests in a file.

    :raises InputMissingError: it cannot be read
    :raises DataError: it is of another form; every fault is told with its place
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputMissingError(f"{path} cannot be read: {error.strerror}") from error
    try:
        value = yamltext.load(data)
    except yamltext.YamlError as error:
        raise _refused([Fault(path, error.line, error.column, error.text)]) from error
    try:
        return Read(path, data, TestFile.model_validate(value))
    except ValidationError as error:
        raise _refused(faults_of(path, data, complaints(error, value, _KEYS))) from error


def _refuse(faults: Sequence[Fault]) -> None:
    if faults:
        raise _refused(faults)


def _refused(faults: Sequence[Fault]) -> DataError:
    """All faults of a file as one error."""
    count = "1 fault" if len(faults) == 1 else f"{len(faults)} faults"
    told = "\n  ".join(map(str, faults))
    return DataError(
        f"the tests have {count}\n  {told}", "docs/rules.md has a whole example; triage rules schema tests is for editors"
    )

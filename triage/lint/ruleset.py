"""What the checks look at: the files, the conditions in them with their places, and what exists beside them."""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from functools import cached_property
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from triage.classes import dataclass
from triage.engine.rules.loading import RuleFile
from triage.errors import ConfigError
from triage.ingest.logs.loading import Signatures, load_signatures
from triage.lint.problem import Problem, Severity
from triage.model.rule import All, Any, Condition, Not, Rule
from triage.score.truth import read_truth
from triage.yamltext import Marked

_EDGES = ("leads_to", "feeds_back")
"""Keys whose keys are what is wrong, not their values."""

_MADE = re.compile(r"(?:.+-)?[a-z]\d{3}|.+-made-.+")
"""Names of cases that were simulated, or made of a few lines (docs/cases.md)."""

Place = tuple[str | int, ...]
"""Keys and indexes from the root of a rule file."""


@dataclass(frozen=True, slots=True)
class Case:
    """An incident with its truth.

    :param roots: ids that are accepted as its root cause, the best first; none where the service is healthy
    :param also: ids that may be found besides
    :param path: its folder
    :param lived: it was recorded from a real service or built from a public report, not simulated or made
    :param wrong: it is known to come out wrong
    """

    roots: tuple[str, ...]
    also: frozenset[str] = frozenset()
    path: Path = Path()
    lived: bool = False
    wrong: bool = False

    def excludes(self, kind: str) -> bool:
        """Whether finding a kind in it is a mistake."""
        return kind not in {*self.roots, *self.also}


@dataclass(frozen=True)
class Ruleset:
    """Everything that a check may ask about.

    :param files: the files to check
    :param rules: all sound rules by their ids, shipped ones included; of two of one id that of the files
    :param incidents: ids of the catalogue of public incidents
    :param playbooks: the folder of each playbook by its id
    :param levels: fixed numbers that are explained, by the signal or the class of observation that they are about
    :param cases: incidents with truth; None where there are none to look at (an installed wheel, a user's folder)
    :param signatures: what lines mean
    """

    files: tuple[RuleFile, ...]
    rules: Mapping[str, Rule]
    playbooks: Mapping[str, Path]
    incidents: frozenset[str]
    levels: Mapping[str, frozenset[float]] = field(default_factory=dict)
    cases: tuple[Case, ...] | None = None
    signatures: Signatures = field(default_factory=load_signatures)


@dataclass(frozen=True)
class Checked:
    """A sound rule with the places of its parts."""

    file: RuleFile
    rule: Rule
    among: Ruleset = field(repr=False)

    @cached_property
    def _marked(self) -> Marked:
        return Marked(self.file.data.decode())

    def conditions(self) -> Iterator[tuple[Place, Condition]]:
        """Every condition that is no mere combination of others, with its place."""
        rule = self.rule
        for index, way in enumerate(rule.shows):
            yield from _walk(("shows", index, way.grade), way.condition)
            yield from _parts(("shows", index), needs=way.needs, refuted_by=way.refuted_by)
        yield from _parts((), needs=rule.needs, refuted_by=rule.refuted_by)
        for index, effect in enumerate(rule.expects):
            yield from _walk(("expects", index), effect)

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the file."""
        return self.file.data.decode().splitlines()

    def place(self, place: Place) -> tuple[int, int]:
        """Line and column of a part, from 1."""
        return self._marked.place(place, key=len(place) > 1 and place[0] in _EDGES)

    def error(self, check: str, summary: str, place: Place, hint: str = "") -> Problem:
        """A problem that makes the rule wrong."""
        return self._problem(Severity.ERROR, check, summary, place, hint)

    def warning(self, check: str, summary: str, place: Place, hint: str = "") -> Problem:
        """A problem that makes the rule less good than it should be."""
        return self._problem(Severity.WARNING, check, summary, place, hint)

    def _problem(self, severity: Severity, check: str, summary: str, place: Place, hint: str) -> Problem:
        line, column = self.place(place)
        return Problem(check, severity, summary, self.file.path, line, column, hint)


def _parts(place: Place, **parts: Condition | None) -> Iterator[tuple[Place, Condition]]:
    """The leaves of some keys of a mapping, where they are given."""
    for key, condition in parts.items():
        if condition is not None:
            yield from _walk((*place, key), condition)


def _walk(place: Place, condition: Condition) -> Iterator[tuple[Place, Condition]]:
    """The leaves of a condition with their places."""
    match condition:
        case All(all=parts):
            for index, part in enumerate(parts):
                yield from _walk((*place, "all", index), part)
        case Any(any=parts):
            for index, part in enumerate(parts):
                yield from _walk((*place, "any", index), part)
        case Not(not_=part):
            yield from _walk((*place, "not"), part)
        case _:
            yield place, condition


class _Level(BaseModel):
    """Numbers that conditions may hold one signal, or one class of observation, against, and what they stand on."""

    model_config = ConfigDict(extra="forbid")

    signal: str = ""
    observed: str = ""
    at: tuple[float, ...] = Field(min_length=1)
    because: str = Field(min_length=1)


class _Levels(BaseModel):
    """The table of levels."""

    model_config = ConfigDict(extra="forbid")

    level: tuple[_Level, ...]


def read_levels(folders: Iterable[Path]) -> Mapping[str, frozenset[float]]:
    """The explained numbers of the tables (``levels.toml``) in some folders of rules.

    :raises ConfigError: a table is not sound
    """
    found: dict[str, frozenset[float]] = {}
    for path in (folder / "levels.toml" for folder in folders):
        if not path.is_file():
            continue
        try:
            levels = _Levels.model_validate(tomllib.loads(path.read_text(encoding="utf-8"))).level
        except (ValueError, OSError) as error:
            raise ConfigError(f"{path} is no table of levels: {error}", "docs/rules.md shows one") from None
        for level in levels:
            about = level.signal or level.observed
            found[about] = found.get(about, frozenset()) | set(level.at)
    return found


def read_cases(folder: Path) -> tuple[Case, ...]:
    """The truths of all incidents under a folder."""
    truths = [(path.parent, read_truth(path)) for path in sorted(folder.rglob("truth.toml"))]
    return tuple(
        Case(truth.root, frozenset(truth.also), path, lived=not _MADE.fullmatch(path.name), wrong=bool(truth.known_wrong))
        for path, truth in truths
    )

"""What the learning screens show: lessons, drills, and their recordings."""

import os
from functools import cache
from pathlib import Path

from triage.classes import dataclass
from triage.engine.rules.loading import load_rules
from triage.language.lang import Lang
from triage.learn.cases import Case, drill_cases, find_case, level_of
from triage.learn.lesson import Lesson, load_lessons
from triage.learn.progress import progress_file, read_progress, write_progress
from triage.score.truth import Truth, read_truth


@dataclass(frozen=True)
class Task:
    """A drill that can be chosen.

    :param number: what it is called by
    :param best: the best score so far; None if it was never finished
    """

    path: Path
    number: int
    level: int
    best: int | None

    @property
    def truth(self) -> Truth:
        """What people found out."""
        return read_truth(self.path / "truth.toml")


@cache
def lessons() -> dict[str, Lesson]:
    """All shipped lessons by id."""
    return load_lessons()


def tasks() -> list[Task]:
    """All drills with what was reached in them."""
    reached = read_progress(progress_file(os.environ)).drills
    return [
        Task(path, number, level_of(path), reached[path.name].best if path.name in reached else None)
        for number, path in enumerate(drill_cases(), start=1)
    ]


def read_case(path: Path) -> Case:
    """A recording with its diagnosis, which takes a moment."""
    case = Case(path, load_rules())
    _ = case.diagnosis, case.frame
    return case


def case_of(lesson: Lesson) -> Case:
    """The recording of a lesson."""
    return read_case(find_case(lesson.incident))


def keep_score(task: Task, score: int) -> None:
    """Remember how a drill ended."""
    place = progress_file(os.environ)
    write_progress(place, read_progress(place).after(task.path.name, score))


def language(*, foreign: bool) -> Lang:
    """The language of the walk."""
    return "zh" if foreign else "en"

"""A problem of a rule file as a value, and how a person is shown it: under its source line, as a compiler does."""

import re
from enum import StrEnum
from pathlib import Path

from triage.classes import dataclass
from triage.errors import printable

_WORD = re.compile(r"'[^']*'|\"[^\"]*\"|[^\s,:{}\[\]]+|.")
_LONGEST_LINE = 200


class Severity(StrEnum):
    """Whether a problem makes a rule wrong, or only less good than it should be."""

    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing to mend in a rule file.

    :param check: id of the check that found it; docs/rules.md explains each
    :param summary: what is wrong, without a final stop
    :param line: from 1
    :param column: from 1
    :param help: what to do, or empty
    """

    check: str
    severity: Severity
    summary: str
    path: Path
    line: int
    column: int
    help: str = ""


def shown(problem: Problem, text: str) -> str:
    """The problem with the source line that it is about and a mark under the guilty word.

    :param text: the whole file
    """
    head = f"{_near(problem.path)}:{problem.line}:{problem.column}: {problem.severity}: {problem.summary} [{problem.check}]"
    lines = text.splitlines()
    parts = [head]
    if 0 < problem.line <= len(lines):
        source = printable(lines[problem.line - 1])[:_LONGEST_LINE]
        margin = " " * len(str(problem.line))
        marks = " " * (problem.column - 1) + "^" * _width(source, problem.column)
        parts += [f"  {problem.line} | {source}", f"  {margin} | {marks}"]
    if problem.help:
        parts.append(f"  help: {problem.help}")
    return "\n".join(parts)


def text_of(path: Path) -> str:
    """A file as text, whatever its bytes are."""
    return path.read_bytes().decode(errors="replace")


def _near(path: Path) -> Path:
    """The path as seen from the current folder, if it lies below it."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def _width(source: str, column: int) -> int:
    """Length of the word that begins at a column."""
    word = _WORD.match(source, column - 1)
    return len(word.group()) if word else 1

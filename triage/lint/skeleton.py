"""Checks that the three files of a kind are filled in and tell the same: its rule, its playbook, its cases."""

from collections.abc import Iterator
from pathlib import Path

from triage.errors import TriageError
from triage.lint.problem import Problem, Severity, text_of
from triage.lint.ruleset import Checked
from triage.playbooks import load_playbook

_MARK = "TODO"

LONGEST_WARNING = 110
"""Characters of ``do_not``: one and a half lines of a narrow terminal, read at a glance."""


def left_over(checked: Checked) -> Iterator[Problem]:
    """``todo``: nothing of what ``triage rules new`` wrote is left to fill in, in the rule, its playbook and its cases."""
    for path in _files(checked):
        for number, line in enumerate(text_of(path).splitlines(), 1):
            if _MARK in line:
                yield Problem("todo", Severity.ERROR, "this is still to be filled in", path, number, line.index(_MARK) + 1)


def _files(checked: Checked) -> Iterator[Path]:
    """The files of a kind that people write by hand."""
    name = checked.rule.id
    yield checked.file.path
    if name in checked.among.playbooks:
        yield checked.among.playbooks[name] / f"{name}.md"
    for case in checked.among.cases or ():
        if case.roots[:1] == (name,):
            yield from (path for path in (case.path / "case.toml", case.path / "truth.toml") if path.is_file())


def playbook_disagrees(checked: Checked) -> Iterator[Problem]:
    """``playbook``: it can be read, and calls the kind what the rule calls it."""
    rule = checked.rule
    folder = checked.among.playbooks.get(rule.id)
    if folder is None:
        return
    try:
        book = load_playbook(rule.id, [folder])
    except TriageError as error:
        yield checked.error("playbook", f"its playbook cannot be used: {error.message}", ("id",), error.hint)
        return
    for key in ("title", "layer", "cause"):
        told, said = getattr(rule, key), getattr(book, key)
        if told != said:
            yield checked.error("playbook", f"its playbook has the {key} {str(said)!r}", (key,), "let both say the same")
    yield from _warns_badly(checked, book.do_not)


def _warns_badly(checked: Checked, warning: str) -> Iterator[Problem]:
    """Whoever gets the finding is told in one short sentence what goes wrong most often."""
    hint = f'front matter has do_not: one sentence of at most {LONGEST_WARNING} characters, as it reads after "do not"'
    if not warning:
        yield checked.warning("playbook", "its playbook does not say what not to do", ("id",), hint)
    elif len(warning) > LONGEST_WARNING:
        yield checked.warning("playbook", f"do_not of its playbook has {len(warning)} characters", ("id",), hint)

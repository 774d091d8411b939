"""Numbers that the engine is tuned by say where they come from."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ENGINE = Path(__file__).parents[2] / "triage" / "engine"


def bare(module: ast.Module) -> Iterator[str]:
    """Names of the module's constants with a number that neither they nor the group that they stand in explain."""
    body = module.body
    for index, statement in enumerate(body):
        name = constant(statement)
        after = body[index + 1 :]
        last = statement
        while after and constant(after[0]) and after[0].lineno == (last.end_lineno or 0) + 1:
            last = after.pop(0)
        if name and not (after and isinstance(after[0], ast.Expr)):
            yield name


def constant(statement: ast.stmt) -> str:
    """The name of a constant that holds a number that somebody chose: no table of data, no zero, no name of a number."""
    if not isinstance(statement, ast.Assign | ast.AnnAssign) or statement.value is None:
        return ""
    target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
    value = statement.value
    name = target.id if isinstance(target, ast.Name) else ""
    is_number = isinstance(value, ast.Constant) and isinstance(value.value, int | float) and not isinstance(value.value, bool)
    return name if name.isupper() and is_number else ""


@pytest.mark.parametrize("path", sorted(ENGINE.rglob("*.py")), ids=lambda path: str(path.relative_to(ENGINE)))
def test_a_number_says_where_it_comes_from(path: Path) -> None:
    """A sentence below it, or below the group of numbers that belong together; where no source sets it: ``Chosen: …``."""
    assert set(bare(ast.parse(path.read_text(encoding="utf-8")))) <= {"_DAY"}


def test_a_bare_number_is_noticed() -> None:
    """One with a sentence, a group with one, and two without."""
    text = 'A = 1.0\n"""Told."""\n\nB = 2\nC = 3\n"""Both."""\n\nD = 4\n\nE = 5\nF = "no number"\n'
    assert list(bare(ast.parse(text))) == ["D", "E"]

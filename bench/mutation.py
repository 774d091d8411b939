"""How many small faults of the judging the tests notice: each target function is changed in one place at a time.

    python -m bench.mutation [NAME…] [--shown]

A mutant that no test of its target notices has survived: a test is missing, or the place means nothing. What is mutated and by
which tests it is judged stands in TARGETS; it is run by hand, since each mutant takes a second or two.
"""

import argparse
import ast
import copy
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from types import FunctionType, ModuleType

import hypothesis  # noqa: F401 - what is slow to import is imported once, before the mutants are forked
import numpy as np  # noqa: F401
import pydantic  # noqa: F401
import pytest

ROOT = Path(__file__).resolve().parent.parent
PATIENCE = 300
"""Seconds after which a mutant is taken for one that never ends, which is noticed."""


@dataclass(frozen=True)
class Target:
    """What is mutated, and by which tests it is judged.

    :param names: functions, methods and constants of the module
    """

    module: str
    names: tuple[str, ...]
    tests: tuple[str, ...]


TARGETS = {
    "cleared": Target("triage.engine.coverage", ("layer_view",), ("tests/engine/test_coverage.py",)),
    "confidence": Target(
        "triage.engine.explanation.findings", ("confidence_of", "severity_of"), ("tests/engine/explanation/test_findings.py",)
    ),
    "grade": Target(
        "triage.engine.rules.evaluate",
        ("grade", "doubtful", "usual", "holding", "_way"),
        ("tests/engine/explanation/test_findings.py", "tests/engine/rules/test_evaluate.py"),
    ),
    "tolerance": Target(
        "triage.engine.derived.physical", ("_believed", "_of_peak", "_OFTEN"), ("tests/engine/derived/test_believed.py",)
    ),
    "regularity": Target(
        "triage.engine.witnesses.lines",
        ("_is_regular", "_is_whole", "_gaps", "_REGULAR", "_LEAST_HEARD", "_WHOLE", "_LEAST_HOLE"),
        ("tests/engine/witnesses/test_lines.py",),
    ),
}
"""By name; tests that read no recording, so that a mutant takes a second."""

_COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
_COUNTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
    ast.FloorDiv: ast.Mult,
}  # fmt: skip
_CALLED = {"any": "all", "all": "any", "min": "max", "max": "min"}


@dataclass(frozen=True)
class Mutant:
    """A module with one place changed."""

    line: int
    what: str
    tree: ast.Module


def mutants(source: str, names: Sequence[str]) -> Iterator[Mutant]:
    """Every change of one place in the functions and constants of these names."""
    tree = ast.parse(source)
    for number, node in enumerate(ast.walk(tree)):
        if not _is_within(node, tree, names):
            continue
        for what, change in _changes(node):
            changed = copy.deepcopy(tree)
            twin = next(other for place, other in enumerate(ast.walk(changed)) if place == number)
            change(twin)
            ast.fix_missing_locations(changed)
            yield Mutant(getattr(node, "lineno", 0), what, changed)


def _is_within(node: ast.AST, tree: ast.Module, names: Sequence[str]) -> bool:
    """Whether a node belongs to the code of a target: no docstring, no annotation."""
    for owner in ast.walk(tree):
        if isinstance(owner, ast.FunctionDef) and owner.name in names:
            body = (
                owner.body[1:]
                if isinstance(owner.body[0], ast.Expr) and isinstance(owner.body[0].value, ast.Constant)
                else owner.body
            )
            notes = {
                part
                for each in body
                for one in ast.walk(each)
                if isinstance(one, ast.AnnAssign)
                for part in ast.walk(one.annotation)
            }
            if any(node is part for each in body for part in ast.walk(each)) and node not in notes:
                return True
    constants = [one for one in tree.body if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name)]
    return any(node is one.value for one in constants if one.targets[0].id in names)  # type: ignore[attr-defined]


_Change = tuple[str, Callable[[ast.AST], None]]


def _changes(node: ast.AST) -> Iterator[_Change]:
    """The ways in which a node is changed."""
    yield from _of_operators(node)
    yield from _of_values(node)


def _of_operators(node: ast.AST) -> Iterator[_Change]:
    """Another comparison, connective or arithmetic; a condition the other way round."""
    match node:
        case ast.Compare(ops=ops):
            for place, op in enumerate(ops):
                other = _COMPARED[type(op)]
                yield f"{type(op).__name__} → {other.__name__}", partial(_put, field="ops", value=other(), place=place)
        case ast.BoolOp(op=op):
            swapped = ast.Or if isinstance(op, ast.And) else ast.And
            yield f"{type(op).__name__} → {swapped.__name__}", partial(_put, field="op", value=swapped())
        case ast.BinOp(op=op) if type(op) in _COUNTED:
            counted = _COUNTED[type(op)]
            yield f"{type(op).__name__} → {counted.__name__}", partial(_put, field="op", value=counted())
        case ast.IfExp() | ast.If():
            yield "if → if not", lambda twin: _put(twin, "test", ast.UnaryOp(ast.Not(), twin.test))  # type: ignore[attr-defined]


def _of_values(node: ast.AST) -> Iterator[_Change]:
    """Another truth, number or function; a negation dropped."""
    match node:
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            yield "not → nothing", partial(_put, field="operand", value=ast.UnaryOp(ast.Not(), inner))
        case ast.Constant(value=bool() as truth):
            yield f"{truth} → {not truth}", partial(_put, field="value", value=not truth)
        case ast.Constant(value=int() | float() as number):
            for other in (number + 1,) if isinstance(number, int) else (number * 1.1, number * 0.9):
                yield f"{number} → {other:g}", partial(_put, field="value", value=other)
        case ast.Call(func=ast.Name(id=name)) if name in _CALLED:
            yield f"{name} → {_CALLED[name]}", partial(_put, field="func", value=ast.Name(_CALLED[name], ast.Load()))


def _put(twin: ast.AST, field: str, value: object, place: int | None = None) -> None:
    """Changes a node, or one of a list in it."""
    if place is None:
        setattr(twin, field, value)
    else:
        getattr(twin, field)[place] = value


def _put_in(module: ModuleType, mutant: ast.Module, names: Sequence[str]) -> None:
    """Gives the functions, methods and constants of these names what they are in the mutant, wherever they were imported to."""
    made: dict[str, object] = {"__name__": module.__name__, "__file__": module.__file__}
    exec(compile(mutant, str(module.__file__), "exec"), made)  # our own source, with one place changed
    owners = [(vars(module), made)]
    owners += [(vars(one), vars(made[name])) for name, one in vars(module).items() if _is_own(one, module) and name in made]
    for there, here in owners:
        for name in names:
            if name in there and name in here:
                if isinstance(there[name], (FunctionType, property)):
                    _function(there[name]).__code__ = _function(here[name]).__code__
                else:
                    there[name] = here[name]


def _is_own(one: object, module: ModuleType) -> bool:
    return isinstance(one, type) and one.__module__ == module.__name__


def _function(one: object) -> FunctionType:
    """A function, or that of a property."""
    found = one.fget if isinstance(one, property) else one
    assert isinstance(found, FunctionType)
    return found


def survives(target: Target, mutant: ast.Module | None) -> bool:
    """Whether all tests of a target pass with a mutant; in a process of its own."""
    module = import_module(target.module)
    child = os.fork()
    if not child:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        if mutant is not None:
            _put_in(module, mutant, target.names)
        os._exit(int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--assert=plain", *target.tests])))
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status == 0
        time.sleep(0.02)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def main() -> None:
    """Mutate, and say what survived."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[*TARGETS, []], help="targets (all)")
    names = parser.parse_args().names or list(TARGETS)
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT))
    import_module("triage.engine.diagnose")
    import_module("triage.ingest.files.incident")
    for name in names:
        target = TARGETS[name]
        path = ROOT / f"{target.module.replace('.', '/')}.py"
        if not survives(target, None):
            print(f"{name}: its tests do not pass as it is")
            continue
        every = list(mutants(path.read_text(encoding="utf-8"), target.names))
        left = [one for one in every if survives(target, one.tree)]
        print(f"{name}: {len(every) - len(left)} of {len(every)} noticed", flush=True)
        for one in left:
            print(f"  survived  {path.relative_to(ROOT)}:{one.line}: {one.what}", flush=True)


if __name__ == "__main__":
    main()

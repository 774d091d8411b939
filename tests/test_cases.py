"""Recorded cases: quiet ones stay quiet, real ones are solved, simulated ones come out as the table says."""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.kinds import kinds
from triage.engine.rules.loading import load_rules
from triage.score.board import Bench, score_case
from triage.score.cases import cases_in
from triage.score.result import Result

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
TABLE = HERE / "expected.tsv"
HEADER = """\
# How the simulated cases come out: case, first root cause (- for none), status, whether that is right.
# It is what is, not what should be: a change of rules or engine that moves a line is looked at, and then written down with
#     python -m tests.test_cases > tests/expected.tsv
"""
SIMULATED = re.compile(r"(?P<kind>.+)-[a-z]\d{3}")


def kind_of(case: Path) -> str | None:
    """What a simulated case is a case of; None for a real one."""
    found = SIMULATED.fullmatch(case.name)
    return found["kind"] if found else None


def cases(folder: str) -> list[Path]:
    """The cases below a folder of tests."""
    return sorted(path.parent for path in (HERE / folder).glob("*/truth.toml"))


QUIET = cases("quiet")
REAL = [case for case in cases("incidents") if kind_of(case) is None]
ALL_SIMULATED = [case for case in cases("incidents") if kind_of(case) is not None]


def one_of_each_kind(folders: Iterable[Path]) -> Iterator[Path]:
    """The first case of each kind: all of them would take minutes, and ``triage score`` is there for that."""
    seen: set[str | None] = set()
    for case in folders:
        if kind_of(case) not in seen:
            seen.add(kind_of(case))
            yield case


@cache
def bench() -> Bench:
    """The shipped rules."""
    return Bench(load_rules())


@cache
def result(case: Path) -> Result:
    """How a case comes out with them."""
    return score_case(cases_in([case])[0], bench())


def line(case: Path) -> str:
    """A case as the table has it."""
    one = result(case)
    return "\t".join((one.case, one.first or "-", one.status, "right" if one.right else "wrong"))


def expected() -> dict[str, str]:
    """The lines of the table by case."""
    text = TABLE.read_text(encoding="utf-8")
    assert text.startswith(HEADER)
    return {told.split("\t")[0]: told for told in text.removeprefix(HEADER).splitlines()}


@pytest.mark.parametrize("case", QUIET, ids=lambda case: case.name)
def test_a_quiet_case_stays_quiet(case: Path) -> None:
    """Nothing above info, and a status that its truth accepts."""
    one = result(case)
    assert one.error == ""
    assert one.roots == ()
    assert one.right, one


@pytest.mark.parametrize("case", REAL, ids=lambda case: case.name)
def test_a_real_incident_is_solved(case: Path) -> None:
    """The first root cause is an accepted one, and nothing that must not be found is."""
    one = result(case)
    assert one.first in one.wanted
    assert one.forbidden == ()


@pytest.mark.parametrize("case", one_of_each_kind(ALL_SIMULATED), ids=lambda case: case.name)
def test_a_simulated_incident_comes_out_as_written_down(case: Path) -> None:
    """The first of each kind, against the table."""
    assert line(case) == expected()[case.name]


def test_the_table_is_whole() -> None:
    """It has every simulated case once, in order, and every kind that is simulated is a kind that there is."""
    assert list(expected()) == [case.name for case in ALL_SIMULATED]
    assert {kind_of(case) for case in ALL_SIMULATED} - {"unknowable"} <= kinds().keys()


def test_where_nobody_can_know_nobody_says_so() -> None:
    """Cases with too little in them name no cause for certain, wherever else the table may be wrong."""
    unknowable = [told.split("\t") for name, told in expected().items() if name.startswith("unknowable")]
    assert unknowable
    assert all(right == "right" for *_, right in unknowable)


if __name__ == "__main__":
    print(HEADER, end="")
    for folder in ALL_SIMULATED:
        print(line(folder), flush=True)

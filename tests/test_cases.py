"""Every recorded case of this repository is compared with its truth."""

import re
from functools import cache
from pathlib import Path

import pytest

from tests.kinds import kinds
from triage.engine.rules.loading import load_rules
from triage.score.board import Bench, score_case
from triage.score.cases import cases_in
from triage.score.result import Result
from triage.score.truth import read_truth

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
SIMULATED = re.compile(r"(?P<kind>.+)-[a-z]\d{3}")
MOST_KNOWN_WRONG = 0.05
"""Share of the cases that may be marked as known to come out wrong: more, and the mark hides what is broken."""


def cases(folder: str) -> list[Path]:
    """The cases below a folder of tests."""
    return sorted(path.parent for path in (HERE / folder).glob("*/truth.toml"))


QUIET, INCIDENTS = cases("quiet"), cases("incidents")


@cache
def bench() -> Bench:
    """The shipped rules."""
    return Bench(load_rules())


def result(case: Path) -> Result:
    """How a case comes out with them."""
    return score_case(cases_in([case])[0], bench())


@pytest.mark.parametrize("case", [*QUIET, *INCIDENTS], ids=lambda case: case.name)
def test_a_case_comes_out_as_its_truth_says(case: Path) -> None:
    """A quiet one stays quiet, a fault has an accepted kind first and none that must not be, what nobody can know is not named.

    Where that is known not to be so, the truth says why (``known_wrong``); once it is so, the mark has to go.
    """
    one = result(case)
    assert one.error == ""
    if one.known_wrong:
        assert not one.agrees, f"it comes out right: take known_wrong out of {case}/truth.toml"
    else:
        assert one.agrees, one


def test_no_quiet_case_is_known_to_be_blamed() -> None:
    """False alarms are never accepted; and few faults are known to come out wrong."""
    marked = [case for case in [*QUIET, *INCIDENTS] if read_truth(case / "truth.toml").known_wrong]
    assert not set(marked) & set(QUIET)
    assert len(marked) <= MOST_KNOWN_WRONG * len(INCIDENTS)


def test_simulated_cases_are_of_kinds_that_there_are() -> None:
    """Their names say of which."""
    found = {match["kind"] for case in INCIDENTS if (match := SIMULATED.fullmatch(case.name))}
    assert found - {"unknowable"} <= kinds().keys()

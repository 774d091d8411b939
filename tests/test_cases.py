"""Every recorded case of this repository is compared with its truth."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from rich.cells import cell_len

from tests.kinds import kinds
from triage.engine.diagnose import diagnose
from triage.engine.rules.loading import load_rules
from triage.errors import TriageError
from triage.model.diagnosis import Diagnosis
from triage.playbooks import advice
from triage.render.answer import five_lines
from triage.render.brief import brief_text
from triage.render.reading import reading
from triage.score.board import Bench
from triage.score.cases import cases_in
from triage.score.result import Result, compared, unread
from triage.score.truth import read_truth

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
SIMULATED = re.compile(r"(?P<kind>.+)-[a-z]\d{3}")
FIVE_LINES_TAKE = 18
"""Lines of 80 columns at most: the least terminal has 24, and the prompt and the command that was typed are on it, too."""

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


@dataclass(frozen=True)
class Judged:
    """A case as it comes out.

    :param diagnosis: what a person is shown; None if the case could not be read
    """

    path: Path
    result: Result
    diagnosis: Diagnosis | None

    @property
    def shown(self) -> Diagnosis:
        """The diagnosis of a case that can be read."""
        assert self.diagnosis is not None, self.result.error
        return self.diagnosis


@pytest.fixture(scope="module", params=[*QUIET, *INCIDENTS], ids=lambda case: case.name)
def judged(request: pytest.FixtureRequest) -> Judged:
    """Each case, read and diagnosed once for all tests of this file, which run case by case."""
    (case,) = cases_in([request.param])
    try:
        recording = bench().load(case).recording
    except TriageError as error:
        return Judged(request.param, unread(case, error.message), None)
    diagnosis = diagnose(recording, bench().rules, advice)
    return Judged(request.param, compared(case, diagnosis, bench().ruled), diagnosis)


def test_a_case_comes_out_as_its_truth_says(judged: Judged) -> None:
    """A quiet one stays quiet, a fault has an accepted kind first and none that must not be, what nobody can know is not named.

    Where that is known not to be so, the truth says why (``known_wrong``); once it is so, the mark has to go.
    """
    one = judged.result
    assert one.error == ""
    if one.known_wrong:
        assert not one.agrees, f"it comes out right: take known_wrong out of {judged.path}/truth.toml"
    else:
        assert one.agrees, one


def test_five_lines_suffice(judged: Judged) -> None:
    """They fit the least terminal, each says something, and a finding says what to do and what not to do."""
    lines = brief_text(judged.shown, width=80, colour=False).splitlines()
    assert len(lines) <= FIVE_LINES_TAKE
    assert max(cell_len(line) for line in lines[:-1]) <= 80
    for told in five_lines(judged.shown):
        assert told.text.strip(" .;:"), told
        assert ".." not in told.text.replace("...", ""), told
    for finding in judged.shown.findings:
        assert finding.first_step, finding.rule
        assert finding.do_not, finding.rule


def test_no_evidence_is_told_twice(judged: Judged) -> None:
    """What a finding rests on has one row for each statistic of each subject, or for each event."""
    for finding in judged.shown.findings:
        told = [(one, reading(one, judged.shown.window.end)) for one in finding.evidence]
        rows = [(read.what, read.subject, read.value, read.note, one.verdict, one.lasting) for one, read in told]
        assert len(rows) == len(set(rows)), rows


def test_no_quiet_case_is_known_to_be_blamed() -> None:
    """False alarms are never accepted; and few faults are known to come out wrong."""
    marked = [case for case in [*QUIET, *INCIDENTS] if read_truth(case / "truth.toml").known_wrong]
    assert not set(marked) & set(QUIET)
    assert len(marked) <= MOST_KNOWN_WRONG * len(INCIDENTS)


def test_simulated_cases_are_of_kinds_that_there_are() -> None:
    """Their names say of which."""
    found = {match["kind"] for case in INCIDENTS if (match := SIMULATED.fullmatch(case.name))}
    assert found - {"unknowable"} <= kinds().keys()

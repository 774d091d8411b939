"""Every recorded case of this repository is compared with its truth."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from rich.cells import cell_len

from tests.kinds import kinds
from tests.sentences import faults, slips
from triage.engine.diagnose import diagnose
from triage.engine.rules import evaluate
from triage.engine.rules.evaluate import Asking, Ruling
from triage.engine.rules.loading import load_rules
from triage.engine.rules.survey import survey
from triage.engine.rules.verdicts import CODES
from triage.errors import TriageError
from triage.language.speaking import speak
from triage.learn.words import book
from triage.model.diagnosis import Diagnosis
from triage.model.rule import Rule
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
    :param disagreeing: rules of which the verdicts on everybody at once are not those one by one
    """

    path: Path
    result: Result
    diagnosis: Diagnosis | None
    disagreeing: tuple[str, ...] = ()

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
    with pytest.MonkeyPatch.context() as patch:
        disagreeing = asked_both_ways(patch)
        diagnosis = diagnose(recording, bench().rules, advice)
    return Judged(request.param, compared(case, diagnosis, bench().ruled), diagnosis, tuple(disagreeing))


def asked_both_ways(patch: pytest.MonkeyPatch) -> list[str]:
    """Has every rule asked of everybody at once, one by one, and for the verdict alone; the list tells which disagree."""
    odd: list[str] = []
    asked_as_ever = evaluate.ruling_of

    def ruling_of(rule: Rule, asking: Asking) -> Ruling:
        ruling = asked_as_ever(rule, asking)
        subjects = tuple(ruling.subjects)
        at_once = Ruling(rule, subjects, ruling.answer, survey(rule, asking.together(subjects)))
        one_by_one = Ruling(rule, subjects, ruling.answer)
        if at_once.codes.tolist() != one_by_one.codes.tolist():
            odd.append(f"{rule.id}: at once {at_once.codes.tolist()}, one by one {one_by_one.codes.tolist()}")
        alone = [int(CODES[evaluate.verdict_of(rule, asking.alone(subject))]) for subject in subjects]
        if alone != one_by_one.codes.tolist():
            odd.append(f"{rule.id}: the verdict alone {alone}, with what it rests on {one_by_one.codes.tolist()}")
        if at_once.nearest is not one_by_one.nearest or at_once.missing != one_by_one.missing:
            odd.append(f"{rule.id}: at once nearest to {at_once.nearest.subject} and without {at_once.missing}")
        return ruling

    patch.setattr(evaluate, "ruling_of", ruling_of)
    return odd


def test_verdicts_on_everybody_at_once_are_those_one_by_one(judged: Judged) -> None:
    """What vectors say of all subjects, and what is said of each alone, is what the explaining code says, rule by rule."""
    assert not judged.disagreeing


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


def test_the_answer_is_chinese_on_demand(judged: Judged) -> None:
    """Every title, sentence, reason and step of every finding is said in Chinese; what is found is data, and stays."""
    chinese = re.compile(r"[\u4e00-\u9fff]")
    for finding in judged.shown.findings:
        for english in (finding.title, finding.summary, finding.first_step, finding.do_not):
            assert chinese.search(book().say(english)), english
    speak(book())
    try:
        told = brief_text(judged.shown, width=80, colour=False)
    finally:
        speak(None)
    assert not re.search(r"\b(do first|since|users noticed?|layer|likely|proven)\b", told), told


def test_no_evidence_is_told_twice(judged: Judged) -> None:
    """What a finding rests on has one row for each statistic of each subject, or for each event."""
    for finding in judged.shown.findings:
        told = [(one, reading(one, judged.shown.window.end)) for one in finding.evidence]
        rows = [(read.what, read.subject, read.value, read.note, one.verdict, one.lasting, one.held) for one, read in told]
        assert len(rows) == len(set(rows)), rows


def test_every_finding_is_one_plain_sentence(judged: Judged) -> None:
    """And the headline is: 140 letters at most, in words, figures and extracted values, without ids, UUIDs and raw lines."""
    shown = judged.shown
    told = [shown.headline, *(finding.summary for finding in shown.findings)]
    assert {one: wrong for one in told if (wrong := faults(one, shown.service))} == {}


def test_everything_odd_is_told_in_words(judged: Judged) -> None:
    """What was seen without a rule, and what evidence rests on, has a phrase of words: no ids, no UUIDs, no raw lines."""
    shown = judged.shown
    told = [one.phrase for one in shown.observations]
    told += [e.phrase for finding in shown.findings for e in finding.evidence if e.phrase]
    assert {one: wrong for one in told if (wrong := slips(one))} == {}


def test_no_quiet_case_is_known_to_be_blamed() -> None:
    """False alarms are never accepted; and few faults are known to come out wrong."""
    marked = [case for case in [*QUIET, *INCIDENTS] if read_truth(case / "truth.toml").known_wrong]
    assert not set(marked) & set(QUIET)
    assert len(marked) <= MOST_KNOWN_WRONG * len(INCIDENTS)


def test_simulated_cases_are_of_kinds_that_there_are() -> None:
    """Their names say of which."""
    found = {match["kind"] for case in INCIDENTS if (match := SIMULATED.fullmatch(case.name))}
    assert found - {"unknowable"} <= kinds().keys()

"""Judges what tests describe and compares with what they expect."""

from collections.abc import Iterator, Sequence

from triage.classes import dataclass
from triage.engine.diagnose import diagnose
from triage.ingest.language import Language
from triage.model.diagnosis import Diagnosis, Evidence, Finding, Verdict
from triage.model.rule import Rule
from triage.model.units import duration
from triage.render.reading import reading
from triage.ruletest.files import Expected, Read, Test
from triage.ruletest.making import recording_of

_MOST = 5
"""Pieces of evidence that a failure shows."""


@dataclass(frozen=True)
class Outcome:
    """How one test came out.

    :param failures: a few lines for each expectation that is not met
    """

    test: Test
    failures: tuple[tuple[str, ...], ...]


def run(read: Read, rules: Sequence[Rule], language: Language) -> Iterator[Outcome]:
    """The outcome of each test of a file.

    :raises DataError: a test asks for a rule that is not there, or has a series that cannot be read
    """
    read.known(rule.id for rule in rules)
    for test in read.file.tests:
        seen: dict[float, Diagnosis] = {}
        interval = read.file.interval if test.interval is None else test.interval
        failures: list[tuple[str, ...]] = []
        for one in test.expect:
            if one.eval_time not in seen:
                seen[one.eval_time] = diagnose(recording_of(test, interval, one.eval_time, language), rules)
            failures += _failures(one, seen[one.eval_time])
        yield Outcome(test, tuple(failures))


def _failures(one: Expected, diagnosis: Diagnosis) -> Iterator[tuple[str, ...]]:
    """What of an expectation is not met, and what was seen instead."""
    when = f"at {duration(one.eval_time)}"
    if one.status is not None and one.status is not diagnosis.status:
        yield f"{when}: the service is expected to be {one.status}, and is {diagnosis.status}", diagnosis.headline
    if not one.rule:
        return
    verdict, evidence, missing = _verdict(one.rule, diagnosis)
    if verdict is not one.verdict:
        lacks = (f"missing: {', '.join(missing)}",) if missing else ()
        yield f"{when} {one.rule}: expected {one.verdict}, is {verdict}", *lacks, *_told(evidence, diagnosis)
        return
    found = next((finding for finding in diagnosis.findings if finding.rule == one.rule), None)
    if found is not None:
        yield from _of_finding(one, found, when)
    for part in one.missing:
        if not any(part in name for name in missing):
            yield f"{when} {one.rule}: {part!r} is expected to be missing", f"missing: {', '.join(missing) or 'nothing'}"


def _of_finding(one: Expected, found: Finding, when: str) -> Iterator[tuple[str, ...]]:
    """What of a finding is not as expected."""
    if one.subject and one.subject not in found.subjects:
        yield f"{when} {one.rule}: expected on {one.subject}", f"it is on {', '.join(found.subjects)}"
    if one.confidence and one.confidence != found.confidence:
        yield f"{when} {one.rule}: expected to be {one.confidence}", f"it is {found.confidence}"
    for part in one.says:
        if part not in found.summary:
            yield f"{when} {one.rule}: the finding does not say {part!r}", f"it says: {found.summary}"


def _verdict(rule: str, diagnosis: Diagnosis) -> tuple[Verdict, tuple[Evidence, ...], tuple[str, ...]]:
    """A rule's verdict, what it rests on, and what is missing."""
    for finding in diagnosis.findings:
        if finding.rule == rule:
            return Verdict.PRESENT, finding.evidence, ()
    for out in (*diagnosis.ruled_out, *diagnosis.unseen):
        if out.rule == rule:
            return Verdict.ABSENT, out.evidence, ()
    lacks = next((one.missing for one in diagnosis.not_evaluated if one.rule == rule), ())
    return Verdict.UNKNOWN, (), lacks


def _told(evidence: Sequence[Evidence], diagnosis: Diagnosis) -> Iterator[str]:
    """The evidence in words."""
    for each in evidence[:_MOST]:
        read = reading(each, diagnosis.window.end)
        yield f"{read.what} of {read.subject}: {read.compared} {read.note}".rstrip(" :")

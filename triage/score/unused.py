"""Conditions of rules that no case ever answers: what no recording shows is not tested by any."""

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from triage.engine.diagnose import looked_at
from triage.engine.rules.conditions import judge
from triage.engine.rules.context import Context
from triage.engine.rules.evaluate import subjects_of
from triage.engine.symptoms import symptoms
from triage.errors import TriageError
from triage.model.diagnosis import Verdict
from triage.model.rule import Condition, Rule
from triage.score.board import Bench, Progress, over
from triage.score.cases import Case

_Seen = dict[tuple[str, int], frozenset[Verdict]]
"""Verdicts of each condition of each rule, by the rule's id and the condition's number in it."""


class Unanswered(BaseModel):
    """A condition that no case makes hold.

    :param condition: as it stands in the rule, without what is not said
    :param unknown: no case answered it at all: what it speaks of was never there
    """

    model_config = ConfigDict(frozen=True)

    rule: str
    condition: str
    unknown: bool


def unanswered(
    cases: Sequence[Case], bench: Bench, jobs: int = 1, progress: Progress = lambda _case, _done: None
) -> tuple[Unanswered, ...]:
    """The conditions that hold in no case, by rule and in the order of its file."""
    seen: dict[tuple[str, int], set[Verdict]] = {}
    for told in over(_verdicts, cases, bench, jobs, progress):
        for key, verdicts in told.items():
            seen.setdefault(key, set()).update(verdicts)
    return tuple(
        Unanswered(rule=rule.id, condition=_text(leaf), unknown=seen.get((rule.id, number), set()) <= {Verdict.UNKNOWN})
        for rule in sorted(bench.rules, key=lambda rule: rule.id)
        for number, leaf in enumerate(rule.leaves)
        if Verdict.PRESENT not in seen.get((rule.id, number), set())
    )


def _verdicts(case: Case, bench: Bench) -> _Seen:
    """The verdicts of one case; none of one that cannot be read."""
    try:
        frame = looked_at(bench.load(case).recording)
    except TriageError:
        return {}
    noticed = symptoms(frame)
    onset = (
        min((one.onset for one in noticed if one.onset is not None), default=frame.recording.window.start) if noticed else None
    )
    return {
        (rule.id, number): frozenset(judge(leaf, Context(frame, subject, onset)).verdict for subject in subjects_of(frame, rule))
        for rule in bench.rules
        for number, leaf in enumerate(rule.leaves)
    }


def _text(condition: Condition) -> str:
    """A condition on one line."""
    told = condition.model_dump(exclude_defaults=True, mode="json")
    return ", ".join(f"{key}: {value}" for key, value in told.items())


def text(told: Sequence[Unanswered], rules: Sequence[Rule]) -> str:
    """The conditions by rule: never true, and those never even known."""
    whole = sum(len(rule.leaves) for rule in rules)
    unknown = sum(one.unknown for one in told)
    lines = [f"of {whole} conditions {len(told)} hold in no case, of them {unknown} were never anything but unknown"]
    rule = ""
    for one in told:
        lines += [one.rule] if one.rule != rule else []
        rule = one.rule
        lines.append(f"  {'never known' if one.unknown else 'never true '}  {one.condition}")
    return "\n".join(lines)

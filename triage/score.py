"""Scores diagnoses of recorded cases against their truth: the honest figure behind the claim."""

import tomllib
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from triage.engine.diagnose import diagnose
from triage.errors import DataError, InputMissingError, TriageError
from triage.ingest.incident import read_incident
from triage.model.diagnosis import Diagnosis
from triage.model.recording import Recording
from triage.model.rule import Rule
from triage.model.vocabulary import Cause, Layer

Sort = Literal["fault", "healthy", "unknowable"]


class Truth(BaseModel):
    """``[truth]`` of a case: what people found out.

    :param root: ids accepted as the first-ranked root cause; empty if there is none, or none that can be known
    :param also: ids that may be present besides
    :param not_: ids that must not be reported
    :param status: what the service may be called; anything if empty
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    root: tuple[str, ...] = ()
    cause: str = ""
    layer: str = ""
    also: tuple[str, ...] = ()
    not_: tuple[str, ...] = Field(default=(), alias="not")
    status: tuple[str, ...] = ()
    note: str = ""

    @field_validator("status", mode="before")
    @classmethod
    def _one_is_a_list(cls, value: object) -> object:
        return (value,) if isinstance(value, str) else value

    @property
    def sort(self) -> Sort:
        """A fault that can be found, a healthy service, or a case in which nobody can know."""
        if self.root:
            return "fault"
        return "healthy" if self.status == ("healthy",) or not self.status else "unknowable"


class Result(BaseModel):
    """How one case came out.

    :param first: the first-ranked root cause that was reported, empty if none
    :param right: a fault's first root cause is accepted; a healthy case has nothing above info; an unknowable one is left open
    :param silent: no root cause was reported
    :param ruled: some accepted id has a rule
    :param layer: the true layer of a fault; ``layer_found`` is that of the first root. An accepted root of another layer counts
        as the true one, since several roots of several layers can be accepted
    :param cause: likewise the cause
    :param forbidden: reported ids that must not be
    :param extra: reported roots that are neither accepted nor allowed besides
    """

    model_config = ConfigDict(frozen=True)

    case: str
    sort: Sort
    wanted: tuple[str, ...]
    first: str
    status: str
    right: bool
    status_right: bool
    silent: bool
    ruled: bool
    layer: str
    layer_found: str
    cause: str
    cause_found: str
    found: tuple[str, ...]
    roots: tuple[str, ...]
    forbidden: tuple[str, ...]
    extra: tuple[str, ...]
    error: str = ""


class Score(BaseModel):
    """How all cases came out."""

    model_config = ConfigDict(frozen=True)

    results: tuple[Result, ...]

    def of(self, sort: Sort) -> tuple[Result, ...]:
        """The cases of one sort."""
        return tuple(result for result in self.results if result.sort == sort)

    @property
    def top1(self) -> float:
        """Share of the faults whose first-ranked root cause is an accepted one."""
        return _share([result.right for result in self.of("fault")])

    @property
    def root_precision(self) -> float:
        """Of all roots reported in faults, the share that is accepted or allowed besides."""
        roots = [(root, result) for result in self.of("fault") for root in result.roots]
        return _share([root not in result.extra for root, result in roots])

    @property
    def root_recall(self) -> float:
        """Share of the faults in which an accepted id is among the reported roots, at any rank."""
        return _share([bool(set(result.roots) & set(result.wanted)) for result in self.of("fault")])

    @property
    def false_alarms(self) -> tuple[Result, ...]:
        """Healthy cases in which something above info was reported."""
        return tuple(result for result in self.of("healthy") if not result.right)

    @property
    def confusions(self) -> list[tuple[str, str, int]]:
        """Accepted kind, reported kind and how often, for faults with another kind put first; silence is not confusion."""
        wrong = Counter((result.wanted[0], result.first) for result in self.of("fault") if not result.right and result.first)
        return [(wanted, first, count) for (wanted, first), count in sorted(wrong.items())]


def _share(values: Sequence[bool]) -> float:
    """Share of the true ones; 1 of nothing."""
    return sum(values) / len(values) if values else 1.0


def cases_in(folder: Path) -> list[Path]:
    """All folders below a folder that hold a truth.

    :raises InputMissingError: there are none
    """
    cases = sorted(path.parent for path in folder.rglob("truth.toml"))
    if not cases:
        raise InputMissingError(f"{folder} holds no case with a truth.toml", "name a folder of incident folders")
    return cases


def score(folder: Path, rules: Sequence[Rule], progress: Callable[[str, float], None] = lambda _what, _done: None) -> Score:
    """Diagnoses every case below a folder and compares with its truth."""
    cases = cases_in(folder)
    results = []
    for number, case in enumerate(cases):
        progress(case.name, number / len(cases))
        results.append(score_case(case, rules))
    return Score(results=tuple(results))


def score_case(case: Path, rules: Sequence[Rule]) -> Result:
    """One case; a case that cannot be read counts as wrong, with the reason."""
    truth = read_truth(case / "truth.toml")
    try:
        diagnosis = diagnose(read_incident(case), rules)
    except TriageError as error:
        return _compared(case.name, truth, None, rules, error.message)
    return _compared(case.name, truth, diagnosis, rules)


def judged(case: str, recording: Recording, truth: Truth, rules: Sequence[Rule]) -> Result:
    """A recording against a truth."""
    return _compared(case, truth, diagnose(recording, rules), rules)


def read_truth(path: Path) -> Truth:
    """The truth of a case.

    :raises DataError: it is not of the form that docs/cases.md describes
    """
    try:
        told = tomllib.loads(path.read_text(encoding="utf-8"))
        return Truth.model_validate(told.get("truth", told))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, ValidationError) as error:
        raise DataError(f"{path} is no truth: {error}") from error


def _compared(case: str, truth: Truth, diagnosis: Diagnosis | None, rules: Sequence[Rule], error: str = "") -> Result:
    """A diagnosis against a truth."""
    findings = diagnosis.findings if diagnosis else ()
    status = diagnosis.status.value if diagnosis else "error"
    roots = tuple(f.rule for f in findings if f.role == "root")
    first = next((f for f in findings if f.role == "root"), None)
    accepted = first is not None and first.rule in truth.root
    loud = [f for f in findings if f.severity != "info"]
    status_right = not truth.status or status in truth.status
    rights: dict[Sort, bool] = {
        "fault": accepted,
        "healthy": not loud and diagnosis is not None and status_right,
        "unknowable": status_right and not (set(roots) - set(truth.also)),
    }
    return Result(
        case=case,
        sort=truth.sort,
        wanted=truth.root,
        first=first.rule if first else "",
        status=status,
        right=rights[truth.sort],
        status_right=status_right,
        silent=not roots,
        ruled=bool(set(truth.root) & {rule.id for rule in rules}),
        layer=truth.layer,
        layer_found=(accepted and truth.layer) or (first.layer.value if first else ""),
        cause=truth.cause,
        cause_found=(accepted and truth.cause) or (first.cause.value if first else ""),
        found=tuple(f.rule for f in findings),
        roots=roots,
        forbidden=tuple(f.rule for f in loud if f.rule in truth.not_),
        extra=tuple(root for root in roots if root not in truth.root and root not in truth.also),
        error=error,
    )


def text(result: Score) -> str:
    """The score as a table of cases and a summary, plain text."""
    lines = [f"{'case':<20} {'wanted':<34} {'first':<28} {'status':<13} right"]
    for one in result.results:
        mark = "yes" if one.right else "silent" if one.silent and one.sort == "fault" else "NO"
        wanted = "|".join(one.wanted[:2]) or one.sort
        lines.append(f"{one.case:<20} {wanted:<34.34} {one.first or '-':<28} {one.status:<13} {mark}{_remarks(one)}")
    tables = [line for of in ("layer", "cause") for line in ("", *matrix(result, of))]
    return "\n".join([*lines, "", *summary(result), *_confused(result), *tables])


def _confused(result: Score) -> list[str]:
    """Kinds for which another kind was put first."""
    pairs = [
        f"  {wanted} taken for {first}" + (f" ({count} times)" if count > 1 else "") for wanted, first, count in result.confusions
    ]
    return ["taken for another kind:", *pairs] if pairs else []


def _hit(one: Result, of: str) -> bool:
    """Whether a fault's layer or cause was found."""
    found = getattr(one, f"{of}_found")
    return bool(found) and found == (getattr(one, of) or found)


def matrix(result: Score, of: Literal["layer", "cause"]) -> list[str]:
    """How often each true layer or cause of the faults was reported as which: rows are true, columns reported."""
    names = [entry.value for entry in (Layer if of == "layer" else Cause)]
    counts = Counter((getattr(one, of), getattr(one, f"{of}_found")) for one in result.of("fault"))
    if not any(counts[name, column] for name in names for column in (*names, "")):
        return []
    head = f"{of + ' (true | reported)':<26}" + "".join(f"{name:>15}" for name in (*names, "silent"))
    return [head, *(f"{name:<26}" + "".join(f"{counts[name, column]:>15}" for column in (*names, "")) for name in names)]


def _remarks(one: Result) -> str:
    """What is notable about a result besides its first cause."""
    notes = [f"error: {one.error}"] if one.error else []
    notes += [f"forbidden: {', '.join(one.forbidden)}"] if one.forbidden else []
    notes += [f"extra: {', '.join(one.extra)}"] if one.extra else []
    notes += ["status"] if not one.status_right else []
    return f"  ({'; '.join(notes)})" if notes else ""


def summary(result: Score) -> list[str]:
    """The figures of a score, a line each."""
    faults, healthy, unknowable = result.of("fault"), result.of("healthy"), result.of("unknowable")
    right = sum(one.right for one in faults)
    forbidden = sum(len(one.forbidden) for one in result.results)
    lines = [
        f"faults: {len(faults)}, first cause right in {right} ({result.top1:.1%})",
        f"silent: {sum(o.silent for o in faults)}; another kind first: {len(faults) - right - sum(o.silent for o in faults)}",
        (
            f"layer right: {_share([_hit(one, 'layer') for one in faults]):.1%}; "
            f"cause right: {_share([_hit(one, 'cause') for one in faults]):.1%}"
        ),
        f"roots: precision {result.root_precision:.1%}, recall {result.root_recall:.1%}",
        f"healthy: {len(healthy)}, false alarms {len(result.false_alarms)}",
        f"unknowable: {len(unknowable)}, answered honestly {sum(o.right for o in unknowable)}",
        f"forbidden findings: {forbidden}; status not accepted: {sum(not o.status_right for o in result.results)}",
    ]
    ruled = [one for one in faults if one.ruled]
    if len(ruled) < len(faults):
        known = sum(one.right for one in ruled)
        lines.insert(1, f"of the {len(ruled)} whose kind has a rule: {known} ({_share([o.right for o in ruled]):.1%})")
    return lines

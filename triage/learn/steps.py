"""What a step of a lesson or a question of a drill shows: verdicts with their evidence, signals with their curves."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isinf
from typing import NamedTuple

from triage.engine.quantiles import Interval
from triage.engine.sources import how_to_get
from triage.engine.sparks import spark_of
from triage.engine.statistics import cells_of, statistic
from triage.learn.cases import Case
from triage.learn.chrome import Lang, say
from triage.learn.lesson import Look
from triage.learn.screen import Screen
from triage.model.diagnosis import Evidence, Finding, Verdict
from triage.model.recording import Subject
from triage.model.units import interval, quantity
from triage.model.vocabulary import Kind, catalogue
from triage.render.reading import named, reading
from triage.render.spark import spark

_MOST_SUBJECTS = 6
_MOST_EVIDENCE = 6
_CURVE = 48
_MOVED = 1.2
"""A signal rises or falls if it changes by more than this factor, as in most rules."""

_RATES_BY_NAME = frozenset({"ratio", "cores"})
"""Units that are per second by themselves: a share of time, and CPU seconds a second."""

_STYLES = {Verdict.PRESENT: "bold red", Verdict.ABSENT: "green", Verdict.UNKNOWN: "yellow"}


@dataclass(frozen=True)
class Told:
    """A rule's answer about a recording.

    :param evidence: what it rests on, the deciding parts first
    :param missing: what keeps it open
    :param how: how to get that
    :param finding: the finding, if it is present
    """

    verdict: Verdict
    evidence: tuple[Evidence, ...] = ()
    missing: tuple[str, ...] = ()
    how: str = ""
    finding: Finding | None = None

    @property
    def by_hand(self) -> bool:
        """Whether it rests on lines of a log, which somebody has to fetch."""
        return any(one.signal == "event:log" and one.verdict is Verdict.PRESENT for one in self.evidence)


def ask_rule(case: Case, rule_id: str) -> Told:
    """What a rule says of a recording.

    :raises KeyError: there is no such rule
    """
    diagnosis = case.diagnosis
    for finding in diagnosis.findings:
        if finding.rule == rule_id:
            return Told(Verdict.PRESENT, finding.evidence, finding=finding)
    for out in diagnosis.ruled_out:
        if out.rule == rule_id:
            return Told(Verdict.ABSENT, out.evidence)
    for left in diagnosis.not_evaluated:
        if left.rule == rule_id:
            return Told(Verdict.UNKNOWN, missing=left.missing, how=left.how_to_get)
    raise KeyError(rule_id)


def show_told(screen: Screen, case: Case, told: Told, lang: Lang) -> None:
    """A rule's answer with its evidence."""
    screen.line(f"{say('verdict', lang)}: {say(told.verdict.value, lang)}", style=_STYLES[told.verdict], indent=4)
    for evidence in told.evidence[:_MOST_EVIDENCE]:
        _show_evidence(screen, case, evidence, lang)
    if told.missing:
        screen.line(f"{say('missing', lang)}: {', '.join(told.missing[:_MOST_EVIDENCE])}", indent=6)
        screen.line(f"{say('to get it', lang)}: {told.how}", indent=6)


def _show_evidence(screen: Screen, case: Case, evidence: Evidence, lang: Lang) -> None:
    """One piece of evidence, with its curve."""
    read = reading(evidence, case.recording.window.end)
    mark = {Verdict.PRESENT: "+", Verdict.ABSENT: "-", Verdict.UNKNOWN: "?"}[evidence.verdict]
    usual = f"{say('before', lang)} {read.usual}" if read.usual else ""
    parts = [f"{mark} {read.what}, {read.subject}: {read.compared}", usual, read.when, read.note]
    screen.line("; ".join(part for part in parts if part), indent=6, hang=2)
    if evidence.spark is not None:
        pieces = spark(evidence.spark, _CURVE, utf8=screen.utf8, threshold=evidence.threshold)
        screen.line("".join(piece.text for piece in pieces), style="cyan", indent=8)


def show_look(screen: Screen, case: Case, look: Look, lang: Lang) -> None:
    """The answer to a question of a lesson, and a word if it is not the one that the text counts on."""
    found = _show_rule(screen, case, look, lang) if look.rule else _show_signal(screen, case, look, lang)
    if look.expect is not None and found != look.expect:
        words = {"expected": say(look.expect, lang), "found": say(found, lang)}
        screen.line(say("differs", lang, **words), style="yellow", indent=4)


def found_by(case: Case, look: Look) -> str:
    """What the recording answers, in the words of ``expect``."""
    if look.rule:
        return ask_rule(case, look.rule).verdict.value
    rows = list(_rows(case, look))
    return _course(rows[0]) if rows else "no data"


def _show_rule(screen: Screen, case: Case, look: Look, lang: Lang) -> str:
    """A rule's question and answer, and what part the finding plays."""
    rule, told = case.rules[look.rule], ask_rule(case, look.rule)
    screen.line(f"> {rule.question} ({rule.id})", style="bold", indent=2)
    show_told(screen, case, told, lang)
    if told.finding is not None:
        screen.line(say(told.finding.role, lang, by=", ".join(told.finding.explained_by)), style="bold", indent=6)
    return told.verdict.value


class _Row(NamedTuple):
    """A signal of one subject: before and in the window."""

    subject: Subject
    before: Interval | None
    window: Interval | None


def _show_signal(screen: Screen, case: Case, look: Look, lang: Lang) -> str:
    """A signal of each of its subjects; the first one, who has moved most, says how it moved."""
    signal = catalogue()[look.signal]
    screen.line(f"> {look.signal}, {look.stat}: {signal.meaning}", style="bold", indent=2)
    rows, unit = list(_rows(case, look)), _unit(look)
    for row in rows[:_MOST_SUBJECTS]:
        before, window = (_value(one, unit, lang) for one in (row.before, row.window))
        screen.line(f"{named(str(row.subject))}: {say('before', lang)} {before}, {say('window', lang)} {window}", indent=4)
        _show_curve(screen, case, look.signal, row.subject)
    if len(rows) > _MOST_SUBJECTS:
        screen.line(say("more subjects", lang, count=len(rows) - _MOST_SUBJECTS), indent=4)
    if not rows:
        screen.line(say("no data", lang), style="yellow", indent=4)
        screen.line(f"{say('to get it', lang)}: {how_to_get((look.signal,))}", indent=4)
        return "no data"
    return _course(rows[0])


def _unit(look: Look) -> str:
    """Unit of the statistic: what is counted comes as a rate per second."""
    signal = catalogue()[look.signal]
    if look.stat == "changes":
        return "changes"
    is_rate = signal.kind is Kind.RATE and look.stat != "sum" and signal.unit not in _RATES_BY_NAME
    return f"{signal.unit}/s" if is_rate or look.stat == "slope" else signal.unit


def _show_curve(screen: Screen, case: Case, signal: str, subject: Subject) -> None:
    """The values over baseline and window."""
    frame = case.frame
    curve = spark_of(cells_of(frame, signal, [subject], catalogue()[signal].combine), frame.grid, None)
    if curve is not None:
        screen.line("".join(piece.text for piece in spark(curve, _CURVE, utf8=screen.utf8)), style="cyan", indent=6)


def _rows(case: Case, look: Look) -> Iterator[_Row]:
    """The signal of every subject that has it, whoever moved most first."""
    frame = case.frame
    subjects = [one for one in frame.subjects_of(look.signal) if look.subject in ("", str(one), one.id)]
    across = catalogue()[look.signal].combine
    rows = [
        _Row(
            one,
            *(statistic(frame, look.signal, [one], look.stat, span, across) for span in (frame.grid.baseline, frame.grid.window)),
        )
        for one in subjects
    ]
    yield from sorted(rows, key=lambda row: (-_moved(row), row.subject))


def _moved(row: _Row) -> float:
    """By what factor a signal changed, up or down; infinite if it came up from zero or is gone, 0 without a before."""
    if row.before is None:
        return 0.0
    if row.window is None:
        return float("inf")
    low, high = sorted((abs(row.before.estimate), abs(row.window.estimate)))
    if low == 0:
        return float("inf") if high else 1.0
    return high / low


def _course(row: _Row) -> str:
    """How a signal moved, in the words of ``expect``."""
    if row.window is None:
        return "no data"
    if row.before is None or _moved(row) <= _MOVED:
        return "steady"
    return "rises" if row.window.estimate > row.before.estimate else "falls"


def _value(value: Interval | None, unit: str, lang: Lang) -> str:
    """A statistic in words; of a quantile the bounds of its bucket, too."""
    if value is None:
        return say("no data", lang)
    if value.low == value.high:
        return quantity(value.estimate, unit)
    bounds = interval(value.low, None if isinf(value.high) else value.high, unit)
    return bounds if isinf(value.high) else f"{quantity(value.estimate, unit)} ({bounds})"


def cost_of(told: Told) -> int:
    """Minutes that a question takes: three if somebody had to fetch logs for the answer, else one."""
    return 3 if told.by_hand else 1


def total_cost(answers: Sequence[Told]) -> int:
    """Minutes that several questions take."""
    return sum(map(cost_of, answers))

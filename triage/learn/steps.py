"""What a step of a lesson or a question of a drill shows: verdicts with their evidence, signals with their curves."""

from collections.abc import Sequence
from math import isinf

from triage.classes import dataclass
from triage.engine.quantiles import Interval
from triage.engine.sources import how_to_get
from triage.language.lang import Lang
from triage.learn.cases import Case
from triage.learn.chrome import colon, comma, entry, say
from triage.learn.lesson import Look
from triage.learn.logs import found_lines
from triage.learn.looking import changes_of, curve_of, rows_of, unit_of
from triage.learn.screen import Paper
from triage.learn.words import said
from triage.model.diagnosis import Evidence, Finding, Spark, Verdict
from triage.model.rule import Stat
from triage.model.units import clock, interval, quantity
from triage.model.vocabulary import catalogue
from triage.render.reading import named, reading
from triage.render.spark import spark

_MOST_SUBJECTS = 4
_MOST_EVIDENCE = 6
_CURVE = 48
_MOST_LINES = 4

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
    for out in (*diagnosis.ruled_out, *diagnosis.unseen):
        if out.rule == rule_id:
            return Told(Verdict.ABSENT, out.evidence)
    for left in diagnosis.not_evaluated:
        if left.rule == rule_id:
            return Told(Verdict.UNKNOWN, missing=left.missing, how=left.how_to_get)
    raise KeyError(rule_id)


def show_told(screen: Paper, case: Case, told: Told, lang: Lang) -> None:
    """A rule's answer with its evidence."""
    screen.line(entry("verdict", lang, say(told.verdict.value, lang)), style=_STYLES[told.verdict], indent=4)
    for evidence in told.evidence[:_MOST_EVIDENCE]:
        _show_evidence(screen, case, evidence, lang)
    if told.missing:
        screen.line(entry("missing", lang, said(", ".join(told.missing[:_MOST_EVIDENCE]), lang)), indent=6)
        screen.line(entry("to get it", lang, said(told.how, lang)), indent=6)


def _show_evidence(screen: Paper, case: Case, evidence: Evidence, lang: Lang) -> None:
    """One piece of evidence, with its curve."""
    read = reading(evidence, case.recording.window.end)
    mark = {Verdict.PRESENT: "+", Verdict.ABSENT: "-", Verdict.UNKNOWN: "?"}[evidence.verdict]
    usual = f"{say('before', lang)} {said(read.usual, lang)}" if read.usual else ""
    what = f"{said(read.what, lang)}{comma(lang)}{said(read.subject, lang)}"
    parts = [f"{mark} {what}{colon(lang)}{said(read.compared, lang)}", usual, said(read.when, lang), said(read.note, lang)]
    screen.line(("；" if lang == "zh" else "; ").join(part for part in parts if part), indent=6, hang=2)
    if evidence.spark is not None:
        _show_curve(screen, evidence.spark, 8, evidence.threshold)


def show_look(screen: Paper, case: Case, look: Look, lang: Lang) -> None:
    """The answer to a question of a lesson, and a word if it is not the one that the text counts on."""
    if look.rule:
        found = _show_rule(screen, case, look.rule, lang)
    elif look.signal:
        found = show_signal(screen, case, look.signal, lang, stat=look.stat, subject=look.subject)
    else:
        found = show_lines(screen, case, look.log, lang) if look.log else show_changes(screen, case, lang)
    if look.expect is not None and found != look.expect:
        words = {"expected": say(look.expect, lang), "found": say(found, lang)}
        screen.line(say("differs", lang, **words), style="yellow", indent=4)


def found_by(case: Case, look: Look) -> str:
    """What the recording answers, in the words of ``expect``."""
    if look.rule:
        return ask_rule(case, look.rule).verdict.value
    if look.signal:
        rows = rows_of(case, look.signal, look.stat, look.subject)
        return rows[0].course if rows else "no data"
    return _seen(bool(found_lines(case.path, look.log, 1)) if look.log else any(changes_of(case)))


def _seen(there: object) -> str:
    """Whether something was seen, in the words of ``expect``."""
    return "seen" if there else "none seen"


def _show_rule(screen: Paper, case: Case, rule_id: str, lang: Lang) -> str:
    """A rule's question and answer, and what part the finding plays."""
    rule, told = case.rules[rule_id], ask_rule(case, rule_id)
    screen.line(f"> {said(rule.question, lang)} ({rule.id})", style="bold", indent=2)
    show_told(screen, case, told, lang)
    if told.finding is not None:
        screen.line(say(told.finding.role, lang, by=", ".join(told.finding.explained_by)), style="bold", indent=6)
    return told.verdict.value


def show_signal(
    screen: Paper, case: Case, name: str, lang: Lang, *, stat: Stat = "mean", subject: str = "", most: int = _MOST_SUBJECTS
) -> str:
    """A signal of each of its subjects; the first one, who has moved most, says how it moved."""
    screen.line(f"> {signal_told(name, lang, stat)}", style="bold", indent=2)
    rows, unit = rows_of(case, name, stat, subject), unit_of(name, stat)
    for row in rows[:most]:
        before, window = (_value(one, unit, lang) for one in (row.before, row.window))
        values = f"{say('before', lang)} {before}{comma(lang)}{say('window', lang)} {window}"
        screen.line(f"{said(named(str(row.subject)), lang)}{colon(lang)}{values}", indent=4)
        curve = curve_of(case, name, row.subject)
        if curve is not None:
            _show_curve(screen, curve, 6)
    if len(rows) > most:
        screen.line(say("more subjects", lang, count=len(rows) - most), indent=4)
    if not rows:
        screen.line(say("no data", lang), style="yellow", indent=4)
        screen.line(entry("to get it", lang, said(how_to_get((name,)), lang)), indent=4)
        return "no data"
    return rows[0].course


def show_lines(screen: Paper, case: Case, text: str, lang: Lang, *, log: str = "", most: int = _MOST_LINES) -> str:
    """The lines of the logs that hold a text, under the names of their logs."""
    shown = found_lines(case.path, text, most, log)
    screen.line(f"> {say('lines with', lang, text=text)}" if text else f"> {say('lines', lang)}", style="bold", indent=2)
    for one in shown:
        screen.line(f"{one.name} ({say('line count', lang, count=one.count)})", indent=4)
        for line in one.lines:
            screen.line(line, style="cyan", indent=6, hang=2)
        if one.count > len(one.lines):
            screen.line("…", indent=6)
    if not shown:
        screen.line(say("none seen", lang), style="yellow", indent=4)
    return _seen(shown)


def show_changes(screen: Paper, case: Case, lang: Lang) -> str:
    """The changes to the service with their times."""
    screen.line(f"> {say('changes', lang)}", style="bold", indent=2)
    changes = list(changes_of(case))
    for event in changes:
        words = event.text or f"{event.kind} {event.name}"
        screen.line(f"{clock(event.time, case.recording.window.end)}  {words}", indent=4, hang=10)
    if not changes:
        screen.line(say("none seen", lang), style="yellow", indent=4)
    return _seen(changes)


def _show_curve(screen: Paper, curve: Spark, indent: int, threshold: float | None = None) -> None:
    """A curve in one line."""
    pieces = spark(curve, _CURVE, utf8=screen.utf8, threshold=threshold)
    screen.line("".join(piece.text for piece in pieces), style="cyan", indent=indent)


def _value(value: Interval | None, unit: str, lang: Lang) -> str:
    """A statistic in words; of a quantile the bounds of its bucket, too."""
    if value is None:
        return say("no data", lang)
    whole = said(quantity(value.estimate, unit), lang)
    if value.low == value.high:
        return whole
    bounds = said(interval(value.low, None if isinf(value.high) else value.high, unit), lang)
    return bounds if isinf(value.high) else f"{whole} ({bounds})"


def signal_told(name: str, lang: Lang, stat: str = "") -> str:
    """A signal with what it means, and a statistic of it."""
    signal = catalogue()[name]
    what = f"{name}{comma(lang)}{said(stat, lang)}" if stat else name
    return f"{what}{colon(lang)}{signal.meaning if lang == 'en' else signal.noun_zh}"


def cost_of(told: Told) -> int:
    """Minutes that a question takes: three if somebody had to fetch logs for the answer, else one."""
    return 3 if told.by_hand else 1


def total_cost(answers: Sequence[Told]) -> int:
    """Minutes that several questions take."""
    return sum(map(cost_of, answers))

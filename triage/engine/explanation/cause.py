"""What may be said of the cause: named, narrowed to a few kinds, or open."""

from collections.abc import Collection, Mapping, Sequence

from triage.engine.explanation.findings import is_effect, present_answers
from triage.engine.explanation.rank import SLACK
from triage.engine.explanation.wording import noun
from triage.engine.rules.context import Look
from triage.engine.rules.evaluate import Answer, Ruling
from triage.engine.sources import how_to_get
from triage.model.diagnosis import CauseState, CauseView, Finding, Rival, Status, Verdict
from triage.model.recording import CHANGE_KINDS
from triage.model.vocabulary import catalogue

_MOST_RIVALS = 5
"""Chosen: a list that a person can check."""

_HALF = 0.5
"""Chosen, and held by the cases in which nobody can know: a kind of which less than half shows is no rival."""

PACE = frozenset(
    name
    for name in catalogue()
    if name.startswith("latency.") or name in ("token.time", "engine.time_per_step", "gateway.latency")
)
"""Signals of how slow something is: what any mechanism brings about, and none by itself."""


_CHANGED = frozenset({"observed:change", *(f"event:{kind}" for kind in ("change", *CHANGE_KINDS))})
"""That somebody changed something: a circumstance of every kind that a change may set off, and a sign of none."""


_LIVES_NAMES = """
start-failed crash-loop engine-crashed ended-without-a-word start-unfinished BackOff CrashLoopBackOff
engine-started engine-ready weights-loading weights-loaded engine-shutdown drain-waits image-pulled surplus-removed
gone-when-asked Scheduled Placed Pulling Pulled Created Started Killing SuccessfulCreate SuccessfulDelete
"""
_LIVES = frozenset(_LIVES_NAMES.split())
"""That an engine or its start ended, which has to be explained, and what every start and every wanted end brings along: it speaks
for none of what may have brought it about."""


def cause_of(
    status: Status, findings: Sequence[Finding], rulings: Sequence[Ruling], noticed: Collection[str], *, harmed: bool = False
) -> CauseView:
    """What is known of the cause.

    It is named where a root is proven or likely and no other is as good; where it is narrowed to several mechanisms, the change
    that is likely to have set them off is one of them, and so is what is surer than a merely possible root. A mere effect without
    what brought it about leaves the cause open among the kinds that lead to it and could not be ruled out. A mechanism and the
    change that set it off are one story. What nobody suffers from by itself is no cause of an incident, if it explains nothing of
    it.

    :param harmed: users suffer
    :param noticed: signals of what users notice: that has to be explained, and speaks for no kind by itself
    """
    by_id = {ruling.rule.id: ruling for ruling in rulings}
    roots = [finding for finding in findings if finding.role == "root"]
    first = next(iter(roots), None)
    aside = first is not None and by_id[first.rule].rule.bystander and not first.leads_to
    if first is None or (aside and harmed and status is Status.INCIDENT):
        return _without_root(status, findings, by_id, noticed)
    if is_effect(by_id[first.rule]):
        explained = {*noticed, *_told_by(by_id[first.rule])}
        surer = _surer_effects(first, findings, by_id)
        rivals = tuple(_of_finding(one, by_id) for one in surer) + _among(
            [r for r in rulings if first.rule in r.rule.effects], explained, least=1.0
        )
        text = f"{first.title} is an effect; what brought it about could not be seen."
        return CauseView(state=CauseState.NARROWED if rivals else CauseState.OPEN, rules=_ids(rivals), rivals=rivals, text=text)
    told = [one for one in findings if one.role != "consequence" and one.severity != "info" and one is not first]
    triggers = [one for one in told if by_id[one.rule].rule.trigger]
    equals = [one for one in roots[1:] if one not in triggers and _is_as_good(one, first)]
    if first.confidence == "possible" or equals:
        sure = [one for one in triggers if one.confidence != "possible"]
        sure += _surer_effects(first, findings, by_id)
        rivals = tuple(_of_finding(one, by_id) for one in [first, *equals, *sure]) + _among(
            _look_alikes(by_id[first.rule], rulings), noticed
        )
        rivals = rivals[:_MOST_RIVALS]
        return CauseView(state=CauseState.NARROWED, rules=_ids(rivals), rivals=rivals, text=f"One of: {_titles(rivals)}.")
    story = f"{first.summary} Set off by: {triggers[0].summary}" if triggers else first.summary
    return CauseView(state=CauseState.NAMED, rules=(first.rule,), text=story)


def _told_by(effect: Ruling) -> set[str]:
    """What an effect shows itself by: that has to be explained, too, and speaks for none of what may have brought it about."""
    return {look.signal for answer in present_answers(effect) for way in answer.ways for look in way.outcome.looks}


def _without_root(
    status: Status, findings: Sequence[Finding], rulings: Mapping[str, Ruling], noticed: Collection[str]
) -> CauseView:
    """No finding is why users suffer: nothing has to be explained, or the cause is open among what half shows itself.

    What surely happened comes first, and what is likely to have harmed somebody.
    """
    if status is Status.HEALTHY:
        return CauseView(state=CauseState.NONE)
    happened = [one for one in findings if _happened(one) and not rulings[one.rule].rule.bystander]
    rivals = tuple(_of_finding(one, rulings) for one in happened if one.role != "consequence")
    rivals = (*rivals, *_among([*rulings.values()], noticed))[:_MOST_RIVALS]
    if rivals:
        return CauseView(state=CauseState.NARROWED, rules=_ids(rivals), rivals=rivals, text=f"Perhaps: {_titles(rivals)}.")
    return CauseView(state=CauseState.OPEN, text="No kind of failure could be named with what was seen.")


def _happened(one: Finding) -> bool:
    """Whether something surely happened, or is likely to have harmed somebody."""
    return one.confidence == "proven" or (one.confidence == "likely" and one.severity != "info")


def _is_as_good(one: Finding, first: Finding) -> bool:
    """Whether another root is as sure as the first and explains as much, so that nothing tells which it is.

    What was over while the first went on explains less of the time.
    """
    shorter = one.until is not None and (first.until is None or one.until + SLACK < first.until)
    as_sure = first.confidence != "proven" and one.confidence == first.confidence
    return as_sure and not shorter and len(one.leads_to) >= len(first.leads_to)


def _surer_effects(first: Finding, findings: Sequence[Finding], by_id: Mapping[str, Ruling]) -> list[Finding]:
    """Consequences that are surer than a root that is merely possible: without that root they are what has to be told."""
    if first.confidence != "possible":
        return []
    told = [one for one in findings if one.role == "consequence" and one.confidence != "possible" and one.severity != "info"]
    return [one for one in told if not by_id[one.rule].rule.bystander]


def _look_alikes(ruling: Ruling, rulings: Sequence[Ruling]) -> list[Ruling]:
    """The kinds that a rule must not be confused with."""
    near = {look.rule for look in ruling.rule.look_alikes}
    return [one for one in rulings if one.rule.id in near]


def _among(rulings: Sequence[Ruling], noticed: Collection[str], least: float = _HALF) -> tuple[Rival, ...]:
    """Open kinds of which at least a share of what tells shows itself, those of which most does first."""
    silent = {*noticed, *PACE}
    half = [
        (_shown(answer, noticed), ruling, answer)
        for ruling in rulings
        if ruling.verdict is Verdict.UNKNOWN
        and (answer := ruling.most_shown(lambda one: _shown(one, noticed), silent, least)) is not None
    ]
    half.sort(key=lambda one: (-one[0], one[1].rule.id))
    return tuple(_rival(ruling, answer) for _, ruling, answer in half[:_MOST_RIVALS])


def _shown(answer: Answer, noticed: Collection[str]) -> float:
    """Of the alternative of which most holds, the share of what tells that does; 0 where nothing of it tells.

    What has held since before all data is a circumstance and tells of none, one curve alone fits many kinds; that users
    suffer, or that steps take longer, fits every kind. Several statistics of one signal are one curve.
    """
    return max((_share(way.outcome.looks, noticed) for way in answer.ways if way.verdict is Verdict.UNKNOWN), default=0.0)


def _share(looks: Sequence[Look], noticed: Collection[str]) -> float:
    silent = {*noticed, *PACE, *_CHANGED}
    telling = [look for look in looks if look.signal not in silent and not _is_common(look, silent)]
    held = [look for look in telling if look.verdict is Verdict.PRESENT and look.span[0] is not None]
    said = any(look.signal.startswith("event:") for look in held)
    return len(held) / len(telling) if said or len({look.signal for look in held}) > 1 else 0.0


def _is_common(look: Look, silent: Collection[str]) -> bool:
    """Whether what was looked at is something odd about such signals alone, or what happens at any end or start."""
    common = {"observed:shift": silent, "event:log": _LIVES, "event:kube": _LIVES}.get(look.signal)
    if common is None:
        return False
    of = look.seen or {*look.evidence.stat.split(", ")} - {""}
    return bool(of) and all(name in common for name in of)


def _rival(ruling: Ruling, answer: Answer) -> Rival:
    """An open kind as a rival."""
    rule = ruling.rule
    seen = [noun(e) for e in answer.held]
    return Rival(
        rule=rule.id,
        title=rule.title,
        layer=rule.layer,
        cause=rule.cause,
        why=f"what was seen of it would fit: {', '.join(dict.fromkeys(seen))}" if seen else "it could not be ruled out",
        decides=how_to_get(answer.missing),
    )


def _of_finding(finding: Finding, by_id: Mapping[str, Ruling]) -> Rival:
    """A finding as a rival of another; what would prove it is what could not be looked at."""
    missing = [e.signal for e in finding.evidence if e.verdict is Verdict.UNKNOWN]
    open_ = [name for answer in by_id[finding.rule].present for name in answer.missing]
    decides = how_to_get(tuple(dict.fromkeys([*missing, *open_])))
    return Rival(
        rule=finding.rule,
        title=finding.title,
        layer=finding.layer,
        cause=finding.cause,
        why=finding.summary,
        decides=decides,
    )


def _ids(rivals: Sequence[Rival]) -> tuple[str, ...]:
    return tuple(rival.rule for rival in rivals)


def _titles(rivals: Sequence[Rival]) -> str:
    return ", ".join(rival.title.lower() for rival in rivals)

"""Which of the findings is the cause of which: roots, consequences, loops."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field

from triage.classes import dataclass
from triage.model.diagnosis import Severity

SLACK = 90.0
"""Seconds by which an effect may be seen before its cause: scrapes of different sources do not fall together."""

_CLOCKS = 10.0
"""Seconds by which clocks may differ: what is closer has no order. Chosen: those of the sweep of clocks."""

_LIKELY = 1
"""Proof of a finding that is neither only possible nor proven."""

_SEVERITY: dict[Severity, int] = {"critical": 0, "warning": 1, "info": 2}


@dataclass(frozen=True)
class Candidate:
    """A finding before it has its place.

    :param proof: how much its evidence proves, 0 least
    :param onset: Unix seconds; None if it was there before all data or nobody can say
    :param sign: when the first of its signs began, of which the onset is when all were there, Unix seconds; None if not known
    :param feeds: those of ``leads_to`` of which it is mostly the effect: the arrows that close a loop
    :param rivals: kinds that it must not be taken for
    :param until: when it was over, Unix seconds; None if it goes on, or nobody can say
    :param passing: users suffered before it began, and after it was over: at most a part of it is its doing
    :param effect: it is never a cause by itself
    :param standing: it was there all along, so it explains what began before it was seen
    :param sustains: it feeds itself: once its trigger is over, that explains it no longer
    :param trigger: it sets off a mechanism
    :param mechanism: how something went wrong, as against who did what: told before the trigger that set it off
    :param bystander: users suffer, and by itself it is not what they suffer from
    :param otherwise: it stands for what has no name of its own, and nothing proves that it has none
    """

    rule: str
    severity: Severity
    proof: int
    onset: float | None
    leads_to: frozenset[str]
    feeds: frozenset[str] = frozenset()
    rivals: frozenset[str] = frozenset()
    sign: float | None = None
    until: float | None = None
    passing: bool = False
    effect: bool = False
    standing: bool = False
    sustains: bool = False
    bystander: bool = False
    trigger: bool = False
    mechanism: bool = False
    otherwise: bool = False


@dataclass
class Place:
    """A finding's place among the others.

    :param explained_by: present kinds that explain it
    :param explains: present kinds that it explains
    :param loop: the other kinds of the loop that it is part of: they feed each other now, whichever began it
    :param root: it is a root, or the trigger of a loop that nothing else explains
    """

    candidate: Candidate
    explained_by: list[str] = field(default_factory=list)
    explains: list[str] = field(default_factory=list)
    loop: list[str] = field(default_factory=list)
    root: bool = False


def rank(candidates: Sequence[Candidate], bridges: Mapping[str, frozenset[str]]) -> list[Place]:
    """Findings in the order in which a person should read them: roots first, most telling first, then what follows from them.

    :param bridges: kinds that were not judged (and so may be there) with what they lead to: a chain may pass through one of them
    """
    places = {candidate.rule: Place(candidate) for candidate in candidates}
    _link(places, bridges)
    _forget_unlikely(places)
    for group in _loops({name: place.candidate.leads_to & places.keys() for name, place in places.items()}):
        _close(places, group)
    for group in _loops({name: place.explains for name, place in places.items()}):
        _settle(places, group)
    return sorted(places.values(), key=lambda place: _merit(place, places))


def _link(places: Mapping[str, Place], bridges: Mapping[str, frozenset[str]]) -> None:
    """Notes which finding explains which.

    A chain over an unseen kind does not count against the arrow that is known, nor between two that are taken for each other:
    which of them it is must not be settled by a guess.
    """
    for cause in places.values():
        reach = _reach(cause.candidate, bridges)
        for effect in places.values():
            if effect is cause or effect.candidate.rule not in reach or not _can_explain(cause.candidate, effect.candidate):
                continue
            direct = effect.candidate.rule in cause.candidate.leads_to
            if not direct and (cause.candidate.rule in effect.candidate.leads_to or _are_rivals(cause, effect)):
                continue
            cause.explains.append(effect.candidate.rule)
            effect.explained_by.append(cause.candidate.rule)


def _are_rivals(one: Place, other: Place) -> bool:
    """Whether one of two findings must not be taken for the other."""
    return one.candidate.rule in other.candidate.rivals or other.candidate.rule in one.candidate.rivals


def _forget_unlikely(places: Mapping[str, Place]) -> None:
    """A mere effect that is possible, and that nothing likely brought about, explains no likely cause that was seen before it.

    Nor one of whose own signs the first is as old: that all were gone is where both a death and a common restart begin.
    """
    for place in places.values():
        one = place.candidate
        behind = any(places[name].candidate.proof >= _LIKELY for name in place.explained_by)
        if not one.effect or one.proof >= _LIKELY or behind:
            continue
        for name in [name for name in place.explains if _is_likely_before(places[name].candidate, one)]:
            place.explains.remove(name)
            places[name].explained_by.remove(one.rule)


def _is_likely_before(candidate: Candidate, effect: Candidate) -> bool:
    likely = candidate.proof >= _LIKELY and not (candidate.effect or candidate.sustains)
    of_old = (
        candidate.sign is not None and candidate.sign <= _begin(effect) + _CLOCKS and candidate.sign + SLACK < _begin(candidate)
    )
    return likely and (of_old or _begin(candidate) + _CLOCKS < _begin(effect))


def _reach(cause: Candidate, bridges: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """Kinds that a finding can lead to, directly or over one kind that could not be judged.

    A trigger explains only what it is known to lead to: over something unseen a change could explain everything. So does a
    bystander, by which nobody suffers.
    """
    if cause.trigger or cause.bystander:
        return cause.leads_to
    return cause.leads_to.union(*(bridges[kind] for kind in cause.leads_to if kind in bridges))


def _can_explain(cause: Candidate, effect: Candidate) -> bool:
    """Whether a finding can be what brings about another, by their times; what is only possible explains no proof away.

    Nor does what nobody would be told of, by itself, explain away what somebody would.
    """
    if cause.severity == "info" and effect.severity != "info" and not effect.effect:
        return False
    if cause.proof < _LIKELY and effect.proof > _LIKELY and not effect.effect:
        return False
    outlived = effect.sustains and effect.until is None and cause.until is not None
    return not outlived and _in_time(cause, effect)


def _in_time(cause: Candidate, effect: Candidate) -> bool:
    """Whether a cause began before its effect, or so little later that clocks and scrapes explain it."""
    return cause.standing or cause.onset is None or effect.onset is None or cause.onset <= effect.onset + SLACK


def _loops(arrows: Mapping[str, Collection[str]]) -> list[list[str]]:
    """Groups of findings that lead to each other (strongly connected), single ones included, causes before effects (Tarjan)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    groups: list[list[str]] = []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in sorted(arrows[name]):
            if other not in index:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], index[other])
        if low[name] == index[name]:
            at = stack.index(name)
            groups.append(sorted(stack[at:]))
            del stack[at:]

    for name in sorted(arrows):
        if name not in index:
            visit(name)
    return groups[::-1]


def _settle(places: Mapping[str, Place], group: Sequence[str]) -> None:
    """Finds the root of a group that nothing outside explains: the single finding, or the trigger of the loop.

    A change that set off a mechanism is no reason not to tell the mechanism: both are one story. Nor is what is over, of a loop
    with a member that feeds itself and goes on.
    """
    inside = set(group)
    outlives = len(group) > 1 and any(one.sustains and one.until is None for one in (places[name].candidate for name in group))
    behind = (
        (places[other].candidate, places[name]) for name in group for other in places[name].explained_by if other not in inside
    )
    if any(not _sets_off(cause, place.candidate) and not (outlives and cause.until is not None) for cause, place in behind):
        return
    trigger = places[_trigger([places[name].candidate for name in group]).rule]
    trigger.root = True
    _forget_guesses(trigger, places, inside)
    if trigger.explained_by and not trigger.loop:
        _close(places, group)


def _close(places: Mapping[str, Place], group: Sequence[str]) -> None:
    """Notes that the findings of a group feed each other."""
    for name in group:
        places[name].loop = [other for other in group if other != name]


def _forget_guesses(root: Place, places: Mapping[str, Place], inside: Collection[str]) -> None:
    """A trigger is not explained by what only a chain over an unseen kind would lead back to it."""
    guessed = {
        name for name in root.explained_by if name in inside and root.candidate.rule not in places[name].candidate.leads_to
    }
    root.explained_by = [name for name in root.explained_by if name not in guessed]
    for name in guessed:
        places[name].explains.remove(root.candidate.rule)


def _trigger(candidates: Sequence[Candidate]) -> Candidate:
    """What set off a loop: the earliest.

    Of those that began within the slack of it the one whose evidence proves most, and of equal ones what feeds itself: it is
    the loop, the others are its way round. Else what is mostly the cause: within the slack times have no order. What was there
    all along is the cause of its load and not its effect.
    """
    first = min(_begin(candidate) for candidate in candidates)
    early = [candidate for candidate in candidates if _begin(candidate) <= first + SLACK]
    mostly_led_to = frozenset(rule for candidate in early for rule in candidate.leads_to - candidate.feeds)
    return min(
        early,
        key=lambda candidate: (
            candidate.effect,
            -candidate.proof,
            not candidate.sustains,
            candidate.rule in mostly_led_to and not candidate.standing,
            _begin(candidate),
            candidate.rule,
        ),
    )


def _begin(candidate: Candidate) -> float:
    """Onset for comparing: what was there before all data is the earliest."""
    return 0.0 if candidate.onset is None else candidate.onset


def _merit(
    place: Place, places: Mapping[str, Place]
) -> tuple[bool, bool, bool, bool, bool, bool, int, bool, int, int, float, str]:
    """Order among the findings: roots first; causes before bystanders, effects and the nameless, the proven before the loud."""
    candidate = place.candidate
    explained = len(_consequences(candidate.rule, places)) if place.root else 0
    return (
        not place.root,
        candidate.severity == "info",
        candidate.effect,
        candidate.bystander and not explained,
        candidate.otherwise,
        any(has_set_off(candidate, other) for other in places.values()),
        -candidate.proof,
        candidate.passing and not candidate.sustains,
        _SEVERITY[candidate.severity],
        -explained,
        _begin(candidate),
        candidate.rule,
    )


def has_set_off(trigger: Candidate, place: Place) -> bool:
    """Whether another root is the mechanism that a trigger set off: at least likely, grave, and begun with it or after.

    One that is a trigger itself (a version that is slower) counts before another trigger only if it is known as well.
    """
    return place.root and _sets_off(trigger, place.candidate)


def _sets_off(trigger: Candidate, other: Candidate) -> bool:
    if other.rule == trigger.rule or (other.trigger and other.proof < trigger.proof):
        return False
    grave = other.mechanism and not other.effect and other.severity != "info"
    return trigger.trigger and grave and other.proof > 0 and _begin(other) + SLACK >= _begin(trigger)


def _consequences(rule: str, places: Mapping[str, Place]) -> set[str]:
    """All findings that follow from one, over any number of steps."""
    seen: set[str] = set()
    todo: list[str] = [rule]
    while todo:
        for other in places[todo.pop()].explains:
            if other not in seen and other != rule:
                seen.add(other)
                todo.append(other)
    return seen

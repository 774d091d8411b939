"""What became different, in words."""

from triage.memory.life import Turn
from triage.memory.looks import is_promise, rule_of, trouble_of
from triage.memory.memory import CAUSE, STATE, Transition
from triage.model.units import clock, duration
from triage.model.vocabulary import Scope


def told(one: Transition, near: float) -> str:
    """A transition as one line, without its time.

    :param near: a moment whose date the reader knows, Unix seconds
    """
    if one.key == STATE:
        return f"{one.now}, was {one.before}" if one.before else one.now
    if one.key == CAUSE:
        return f"cause: {one.title} ({one.now})" + (f", was {one.before}" if one.before else "")
    return f"{name(one)}: {_turned(one, near)}"


def name(one: Transition) -> str:
    """What a transition is about."""
    if not is_promise(one.key):
        return f"{one.title} ({rule_of(one.key)})"
    subject = trouble_of(one.key).partition(" ")[2]
    part = "" if subject.startswith(f"{Scope.SERVICE.value}/") else f" of {subject.replace('/', ' ', 1)}"
    return f"{one.title}{part}"


def _turned(one: Transition, near: float) -> str:
    """What became of a kind or a promise."""
    promise = is_promise(one.key)
    since = f" since {clock(one.since, near)}" if one.since is not None else ""
    match one.turn:
        case Turn.NEW:
            return f"broken{since}" if promise else f"found, {one.severity}{since}"
        case Turn.CHANGED:
            return f"now {one.severity}"
        case Turn.CLEARED:
            return f"{'kept again' if promise else 'over'}{_end(one, near)}"
        case Turn.FLAPPING:
            return f"comes and goes{since}"
        case Turn.STEADY:
            return "stays now"
        case Turn.LOST:
            return f"let go: nobody could judge it any more since {clock(one.until, near)}"


def _end(one: Transition, near: float) -> str:
    """When something ended, and how long it was there."""
    if one.until is None:
        return ""
    lasted = f", after {duration(one.until - one.since)}" if one.since is not None and one.until > one.since else ""
    return f" since {clock(one.until, near)}{lasted}"

"""Evidence as it is shown: no value twice."""

from collections.abc import Iterable

from triage.model.diagnosis import Evidence, Limit

_Value = tuple[object, ...]


def once_each(evidence: Iterable[Evidence]) -> tuple[Evidence, ...]:
    """Each value of a statistic of a subject once, with all the limits that it was held against with the same verdict."""
    found: dict[_Value, list[Evidence]] = {}
    for one in evidence:
        found.setdefault(_value(one), []).append(one)
    return tuple(_merged(alike) for alike in found.values())


def _value(one: Evidence) -> _Value:
    """What makes two pieces of evidence the same value; without a value or a limit each is its own, by its text.

    The same event is the same whatever names of events it was asked for under.
    """
    if one.phrase:
        return one.subject, one.phrase, one.text, one.verdict
    rest = one.text if one.value is None or one.threshold is None else ""
    return (one.signal, one.subject, one.stat, one.value, one.low, one.high, one.lasting, one.held, one.verdict, rest)


def _merged(alike: list[Evidence]) -> Evidence:
    """One of those that say the same: the first, which held last of all of them together, with the others' limits."""
    first = alike[0]
    if len(alike) == 1:
        return first
    if first.phrase:
        return max(alike, key=lambda one: one.value or 0.0)
    limits = dict.fromkeys(
        Limit(op=one.op, threshold=one.threshold, threshold_of=one.threshold_of) for one in alike if one.threshold is not None
    )
    own = Limit(op=first.op, threshold=first.threshold, threshold_of=first.threshold_of) if first.threshold is not None else None
    since = None if any(one.since is None for one in alike) else max(one.since for one in alike if one.since is not None)
    return first.model_copy(update={"also": tuple(limit for limit in limits if limit != own), "since": since})

"""Any one name taken away: a signal, an event, a fact; and any one source or log.

All names are covered. Those that a finding rests on are taken away one by one, the others several at a time; only where that
makes a difference are they tried singly.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from triage.model.diagnosis import Verdict
from triage.model.recording import CHANGE_KINDS, LOG, Event, Origin, Recording, Source, SourceState
from triage.model.rule import Gone, Known, Leaf, Measure, Occurrence
from triage.score.sweeps.trial import Trial, holds
from triage.score.sweeps.under import UnderChange

NEAR = 4
"""Names that the found rule asks for, and that its finding does not rest on, are taken away so many at a time."""

FAR = 24
"""All other names are taken away so many at a time."""

_CHANGES = "changes"


@dataclass(frozen=True, order=True)
class Lost:
    """What is taken away.

    :param kind: kind of an event
    :param name: the signal, event, key, dialect or file
    """

    sort: Literal["signal", "event", "fact", "source", "log"]
    name: str
    kind: str = ""

    def __str__(self) -> str:
        return f"{self.sort} {self.kind + ' ' if self.kind else ''}{self.name}"


def loss(case: UnderChange) -> Iterator[Trial]:
    """Each name taken away, then each source, then each log."""
    names = names_of(case.recording)
    used = [one for one in names if one in _evidence(case)]
    for one in used:
        yield _trial(case, [one])
    asked = _conditions(case)
    others = sorted(set(names) - set(used), key=lambda one: (one.sort, hashlib.sha256(str(one).encode()).hexdigest()))
    near = [one for one in others if one in asked or replace(one, name="") in asked]
    for few, at_once in ((near, NEAR), ([one for one in others if one not in near], FAR)):
        for sort in ("signal", "event", "fact"):
            same = [one for one in few if one.sort == sort]
            for first in range(0, len(same), at_once):
                yield from _at_once(case, same[first : first + at_once])
    for source in sources_of(case.recording):
        yield _trial(case, [source])
    for path in case.logs():
        after = case.after(case.reread(lambda name, text, gone=path.name: None if name == gone else text))  # type: ignore[misc]
        yield case.trial("loss", f"log {path.name}", after, held=holds(case.before, after), sort="log")


def names_of(recording: Recording) -> list[Lost]:
    """All names in a recording that can be lost one by one."""
    signals = {one.signal for one in recording.series} | {one.signal for one in recording.histograms}
    events = {(one.kind, one.name if one.source != _CHANGES else "") for one in recording.events}
    return sorted(
        [*(Lost("signal", name) for name in signals), *(Lost("event", name, kind) for kind, name in events)]
        + [Lost("fact", key) for key in {fact.key for fact in recording.facts}]
    )


def sources_of(recording: Recording) -> list[Lost]:
    """The sources of a recording but its logs, of which each is a file: the dialects of its metrics, and the changes."""
    told = [Lost("source", name) for name in sorted(dialects_of(recording) - {LOG})]
    return [*told, Lost("source", _CHANGES)] if any(one.source == _CHANGES for one in recording.events) else told


def dialects_of(recording: Recording) -> set[str]:
    """Who understood the series of a recording."""
    return {one.origin.dialect for one in recording.series} | {one.origin.dialect for one in recording.histograms}


def without(recording: Recording, lost: Sequence[Lost]) -> Recording:
    """The recording without some names or sources."""
    signals = {one.name for one in lost if one.sort == "signal"}
    events = {(one.kind, one.name) for one in lost if one.sort == "event"}
    facts = {one.name for one in lost if one.sort == "fact"}
    gone = {one.name for one in lost if one.sort == "source"}
    return replace(
        recording,
        series=tuple(one for one in recording.series if one.signal not in signals and not _is_of(one.origin, gone)),
        histograms=tuple(one for one in recording.histograms if one.signal not in signals and not _is_of(one.origin, gone)),
        events=tuple(one for one in recording.events if not _is_named(one, events) and one.source not in gone),
        facts=tuple(one for one in recording.facts if one.key not in facts and (not one.origin or one.origin not in gone)),
        sources=tuple(_absent(one) if one.name in gone else one for one in recording.sources),
    )


def _is_of(origin: Origin, dialects: set[str]) -> bool:
    return origin.dialect in dialects


def _is_named(event: Event, names: set[tuple[str, str]]) -> bool:
    """Whether an event is lost; of changes each has a name of its own, so their kind is the name."""
    return (event.kind, event.name if event.source != _CHANGES else "") in names


def _absent(source: Source) -> Source:
    return Source(source.name, SourceState.ABSENT, "taken away")


def _at_once(case: UnderChange, names: Sequence[Lost]) -> Iterator[Trial]:
    """Names that nothing found rests on, all at once; one by one if that makes a difference."""
    trial = _trial(case, names)
    if len(names) == 1 or (trial.held and trial.survived is not False):
        yield trial
    else:
        yield from (_trial(case, [one]) for one in names)


def _trial(case: UnderChange, lost: Sequence[Lost]) -> Trial:
    after = case.after(without(case.recording, lost))
    change = str(lost[0]) if len(lost) == 1 else f"{len(lost)} {lost[0].sort}s at once"
    return case.trial("loss", change, after, held=holds(case.before, after), sort=lost[0].sort, names=len(lost))


def _evidence(case: UnderChange) -> set[Lost]:
    """The names that the first finding rests on."""
    there = {(one.kind, one.name) for one in names_of(case.recording) if one.sort == "event"}
    found = next((one for one in case.diagnosis.findings if one.rule == case.before.first), None)
    told: set[Lost] = set()
    for one in (e for e in found.evidence if e.verdict is Verdict.PRESENT) if found else ():
        kind, colon, name = one.signal.partition(":")
        if kind == "event" and colon:
            asked = {*one.stat.split(", ")} - {""}
            told |= {Lost("event", event, of) for of, event in there if _is_kind(of, name) and (not asked or event in asked)}
        elif kind == "fact" and colon:
            told.add(Lost("fact", name))
        else:
            told.add(Lost("signal", one.signal))
    return told


def _is_kind(kind: str, asked: str) -> bool:
    """Whether events of a kind are asked for; ``change`` stands for any change."""
    return kind == asked or (asked == "change" and kind in CHANGE_KINDS)


def _conditions(case: UnderChange) -> set[Lost]:
    """The names that the rule of the first finding asks for."""
    rule = next((rule for rule in case.bench.rules if rule.id == case.before.first), None)
    return {name for leaf in (rule.leaves if rule else ()) for name in _asked(leaf)}


def _asked(leaf: Leaf) -> Iterator[Lost]:
    match leaf:
        case Measure():
            yield Lost("signal", leaf.signal)
        case Gone():
            yield Lost("signal", leaf.gone)
        case Known():
            yield Lost("fact", leaf.fact)
        case Occurrence():
            yield from (Lost("event", name, leaf.event) for name in leaf.name or ("",))
        case _:
            return

"""Whether anything moved since the last look: a short look at what users notice, which can only say that a whole one is needed.

A survey clears nothing and is not remembered. Whatever it cannot tell counts as moved.
"""

from collections.abc import Iterator
from typing import Protocol

from triage.model.diagnosis import Diagnosis, Promised, Status, Vital
from triage.model.recording import Recording, Window

SPAN = 300.0
"""Seconds that a survey looks at: ``peak`` and ``trough`` of rules are means of as many, and Prometheus looks so far back for a
sample (``--query.lookback-delta``)."""

_MOVED = 0.5
"""Chosen: a value that is half as large again as it was, or half of it, has moved: quantiles of five minutes of an even load
differ by less."""

_ROOM = 0.05
"""Chosen: unless that is less than this part of its limit; of tiny numbers chance makes multiples."""


class Survey(Protocol):
    """Short looks at a service."""

    def taken(self) -> Diagnosis:
        """What users notice now.

        :raises TriageError: nobody can be asked
        """
        ...

    def of(self, recording: Recording) -> Diagnosis:
        """What a survey would have said at the end of a whole look."""
        ...


def shortened(window: Window) -> Window:
    """The part of a window that a survey looks at."""
    start = max(window.end - SPAN, window.start)
    return Window(start, window.end, max(start - SPAN, window.baseline_start))


def moved(whole: Diagnosis, before: Diagnosis, now: Diagnosis) -> str:
    """Why a whole look is needed, in a few words; empty if all is as the last whole look saw it.

    :param whole: the last whole look
    :param before: what a survey would have said at its end
    :param now: a survey
    """
    return next(_reasons(whole, before, now), "")


def is_at_rest(diagnosis: Diagnosis) -> bool:
    """Whether a whole look leaves nothing that has to be looked at soon: all is well, and nothing is found."""
    return diagnosis.status is Status.HEALTHY and not any(one.until is None and not one.muted for one in diagnosis.findings)


def _reasons(whole: Diagnosis, before: Diagnosis, now: Diagnosis) -> Iterator[str]:
    yield from _sources(before, now)
    vitals = {(one.name, one.subject): one for one in now.vitals}
    told = {(one.name, one.subject): one for one in before.vitals}
    for one in whole.vitals:
        if one.noticed and one.state is Promised.KEPT:
            key = (one.name, one.subject)
            yield from _vital(told.get(key, one), vitals.get(key))
    yield from (f"{one.name} is broken" for one in now.vitals if one.state is Promised.BROKEN)
    yield from (
        f"odd: {one.sort} {one.of}" for one in now.observations if one.salient and not _is_known(one.sort, one.of, before)
    )
    yield from (
        f"unread lines of {one.emitter}" for one in now.unread if one.template not in {old.template for old in before.unread}
    )


def _sources(before: Diagnosis, now: Diagnosis) -> Iterator[str]:
    """Sources and signals that are no longer what they were."""
    states = {one.name: one.state for one in now.coverage.sources}
    for source in before.coverage.sources:
        if source.state in ("ok", "partial") and states.get(source.name) != source.state:
            yield f"source {source.name} is {states.get(source.name, 'gone')}"
    present = {one.signal: one.subjects for one in now.coverage.signals if one.state == "present"}
    for signal in before.coverage.signals:
        if signal.state == "present" and present.get(signal.signal, 0) != signal.subjects:
            yield f"{signal.signal} is of {present.get(signal.signal, 0)}, was of {signal.subjects}"


def _vital(was: Vital, now: Vital | None) -> Iterator[str]:
    """A promise that was kept and is not as it was."""
    if now is None or now.state is not Promised.KEPT:
        yield f"{was.name} is {now.state.value if now is not None else 'gone'}"
        return
    old, new = was.value, now.value
    if old is None or new is None:
        if old is not new:
            yield f"{was.name} is not measured any more" if new is None else f"{was.name} is measured now"
        return
    if abs(new - old) > max(_MOVED * abs(old), _ROOM * abs(was.limit or 0.0)):
        yield f"{was.name} moved"


def _is_known(sort: str, of: str, before: Diagnosis) -> bool:
    return any((one.sort, one.of) == (sort, of) for one in before.observations)

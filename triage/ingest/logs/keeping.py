"""Keeps little of much: a bounded number of events of each sort."""

from collections.abc import Callable, Iterator
from dataclasses import field, replace
from typing import NamedTuple

from triage.classes import dataclass
from triage.model.recording import Event, Subject, Window

KEEP = 50
"""Events that are kept per signature, subject and period: the first ones and the last."""

MAX_SORTS = 5000
"""Sorts of events that are kept per log; a log that names more pods than this is made up."""


class Key(NamedTuple):
    """What events of one sort have in common.

    :param apart: values that make sorts of their own (the card of an Xid, the object of a cluster event)
    """

    kind: str
    name: str
    subject: Subject | None
    apart: tuple[str, ...] = ()


@dataclass
class _Group:
    """Events of one sort: the first ones, how many lines each of them stands for, how to make the last, how many there were."""

    first: list[Event] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    last: Callable[[], Event] | None = None
    count: int = 0


class Kept:
    """Keeps a bounded number of events per sort and period (baseline and window).

    :param keep: events of one sort that are kept: the first ones and the last
    :param sorts: sorts that are kept
    """

    def __init__(self, window: Window, *, keep: int = KEEP, sorts: int = MAX_SORTS) -> None:
        self._window = window
        self._keep = keep
        self._sorts = sorts
        self._groups: dict[tuple[Key, bool], _Group] = {}

    def add(self, key: Key, time: float, make: Callable[[], Event], count: int = 1) -> None:
        """Takes an event, which is made only if it is kept; one from outside baseline and window is dropped."""
        if not self._window.baseline_start <= time <= self._window.end:
            return
        group = self._groups.get((key, time >= self._window.start))
        if group is None:
            if len(self._groups) >= self._sorts:
                return
            group = self._groups[key, time >= self._window.start] = _Group()
        group.count += max(count, 1)
        if len(group.first) < self._keep - 1:
            group.first.append(make())
            group.counts.append(max(count, 1))
        else:
            group.last = make

    def events(self) -> Iterator[Event]:
        """What was kept; attribute ``count`` is how many lines an event stands for: the last one for all that were not kept."""
        for group in self._groups.values():
            for event, count in zip(group.first, group.counts, strict=True):
                yield replace(event, attrs={**event.attrs, "count": str(count)})
            if group.last is not None:
                last = group.last()
                yield replace(last, attrs={**last.attrs, "count": str(group.count - sum(group.counts))})

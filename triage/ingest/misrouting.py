"""Requests that go astray: answered by what usually answers those who ask for something else."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from triage.ingest.raw import RawSeries

_MOST = 2 / 3
"""Chosen: what answers two who ask for different things about as often is shared by them, and nobody's own."""


class Homes:
    """Who usually asks for what answers, as a counter with two labels tells it.

    :param series: all series of the counter, of other services, too
    :param asked: label of what was asked for
    :param served: label of what answered
    :param until: Unix seconds; what was counted up to then is usual, or all of it if nothing was
    """

    def __init__(self, series: Iterable[RawSeries], asked: str, served: str, until: float) -> None:
        self._asked, self._served = asked, served
        counted = [one for one in series if one.labels.get(asked) and one.labels.get(served) and len(one.times)]
        amounts = self._sums(counted, until) or self._sums(counted, np.inf)
        self._home: dict[str, str] = {}
        for what in sorted({served for _, served in amounts}):
            callers = {who: amount for (who, served), amount in sorted(amounts.items()) if served == what}
            most = max(callers, key=callers.__getitem__)
            if callers[most] >= _MOST * sum(callers.values()):
                self._home[what] = most
        self._housed = frozenset(self._home.values())

    def _sums(self, series: Sequence[RawSeries], until: float) -> dict[tuple[str, str], float]:
        """How much was counted up to a time by (asked, served), where anything was."""
        sums: dict[tuple[str, str], float] = defaultdict(float)
        for one in series:
            values = one.values[one.times <= until]
            grown = float(np.nansum(values)) if one.rate else float(np.clip(np.diff(values), 0.0, None).sum())
            sums[one.labels[self._asked], one.labels[self._served]] += grown
        return {pair: amount for pair, amount in sums.items() if amount > 0}

    def misrouted(self, one: RawSeries) -> RawSeries:
        """The series itself if its requests went astray, else one that counts nothing."""
        who, what = one.labels.get(self._asked, ""), one.labels.get(self._served, "")
        elsewhere = who in self._housed and self._home.get(what, who) != who
        return one if elsewhere else replace(one, values=np.zeros(len(one.values)))

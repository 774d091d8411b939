"""Subjects side by side: how each replica, card and machine does in one signal, as plain data."""

from functools import cached_property

from triage.classes import dataclass
from triage.model.diagnosis import Spark, Verdict
from triage.model.vocabulary import Scope
from triage.render.spark import is_drawn

SCALES = {Scope.SERVICE: "cluster", Scope.NODE: "machine", Scope.REPLICA: "replica", Scope.GPU: "card"}
"""Scopes in the order of their size, with the scale that each stands for."""


@dataclass(frozen=True)
class Side:
    """One subject.

    :param subject: ``scope/id``
    :param value: the statistic over the window, base units; None if too little is known
    :param verdict: present: it is beyond what it is held against; absent: within; unknown: it cannot be told
    :param spark: its values over time
    :param query: how to look at it by hand, empty where there is none
    :param part_of: the machine or the replica that it belongs to, empty if nobody knows
    """

    subject: str
    value: float | None
    verdict: Verdict
    spark: Spark | None
    query: str = ""
    part_of: tuple[str, ...] = ()


@dataclass(frozen=True)
class Scale:
    """All subjects of a scope, the worst first.

    :param sides: as many as are shown
    :param rule: what a subject is held against, in words; empty if it is held against nothing
    :param bound: the same as a number
    :param beyond: how many of all are beyond it
    :param within: how many are within it
    :param open: of how many it cannot be told
    :param rest: lowest and highest value of those that are not shown; None if all are
    """

    scope: Scope
    sides: tuple[Side, ...]
    rule: str
    bound: float | None
    beyond: int
    within: int
    open: int
    rest: tuple[float, float] | None = None

    @property
    def total(self) -> int:
        """How many there are."""
        return self.beyond + self.within + self.open

    @cached_property
    def extent(self) -> tuple[float, float]:
        """Lowest and highest value of all that are shown, and of zero, from which all are measured."""
        known = [value for side in self.sides if side.spark for value in side.spark.values if is_drawn(value)]
        return min([*known, 0.0]), max([*known, self.bound or 0.0, 0.0])


@dataclass(frozen=True)
class Sides:
    """One signal over all subjects that have it.

    :param stat: the statistic that is compared
    :param scales: from the largest to the smallest
    """

    signal: str
    unit: str
    stat: str
    scales: tuple[Scale, ...]

    def side(self, subject: str) -> Side | None:
        """One subject that is shown."""
        return next((side for scale in self.scales for side in scale.sides if side.subject == subject), None)

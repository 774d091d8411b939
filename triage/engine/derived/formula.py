"""A derived signal as data: what it is worked out of, in a form that NumPy and PromQL can both follow.

Each form is elementwise: a value at a moment follows from values at that moment, or from means of the minute before it.
Signals of other subjects are put together first: for the service they are totals over all that have them.
"""

from triage.classes import dataclass


@dataclass(frozen=True)
class Of:
    """A signal itself; for the service its total."""

    signal: str


@dataclass(frozen=True)
class Told:
    """A number that a fact tells, the same for everybody."""

    fact: str


@dataclass(frozen=True)
class Averaged:
    """Mean of a distribution over the last minute: its sum by its count."""

    signal: str


@dataclass(frozen=True)
class Ratio:
    """One rate by another, both over the last minute; unknown where the whole is nothing.

    :param most: a greater value is this much: counters that are read one after the other make a share a little more than 1
    """

    part: "Formula"
    whole: "Formula"
    most: float | None = None


@dataclass(frozen=True)
class Quotient:
    """One level by another at the same moment; unknown where the divisor is 0."""

    above: "Formula"
    below: "Formula"
    most: float | None = None


@dataclass(frozen=True)
class Total:
    """Several added up, counting those that are known."""

    parts: tuple["Formula", ...]


@dataclass(frozen=True)
class Rest:
    """What is left of the first when the others are taken away, at least 0; unknown where one of them is."""

    whole: "Formula"
    parts: tuple["Formula", ...]


@dataclass(frozen=True)
class First:
    """The first of several ways to the same value that was measured at all."""

    ways: tuple["Formula", ...]


@dataclass(frozen=True)
class Greatest:
    """The greatest of several views of the same thing, of those that were measured."""

    views: tuple["Formula", ...]


Formula = Of | Told | Averaged | Ratio | Quotient | Total | Rest | First | Greatest

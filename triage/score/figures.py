"""Figures of results: real, public and simulated cases apart, on what was looked at and on what nobody opened."""

from collections import Counter
from collections.abc import Iterable, Sequence

from pydantic import BaseModel, ConfigDict

from triage.score.result import Result
from triage.score.truth import Sort


class Figures(BaseModel):
    """What a group of results comes to.

    :param group: ``real, looked-at`` …; ``all``
    :param faults: cases with a cause that can be found
    :param named: faults whose accepted cause is named first
    :param first: faults with an accepted kind in the first place, named or only likeliest
    :param among: faults with an accepted kind among those named or narrowed to
    :param layer: faults whose layer was found; ``cause`` likewise
    :param silent: faults without any root cause; ``other`` those with another kind named first
    :param unread_shown: silent faults for which at least the lines that nothing understands were shown
    :param called_healthy: faults called healthy, which must not be
    :param refuted: faults whose true kind was ruled out
    :param alarms: healthy services with anything above info; ``not_called_healthy`` those called anything else
    :param honest: cases in which nobody can know, told so; ``decided`` those in which a cause was named all the same
    :param forbidden: findings that must not be
    :param known_wrong: cases that are known to come out wrong, and do
    """

    model_config = ConfigDict(frozen=True)

    group: str
    faults: int
    named: int
    first: int
    among: int
    layer: int
    cause: int
    silent: int
    other: int
    unread_shown: int
    called_healthy: int
    refuted: int
    healthy: int
    alarms: int
    not_called_healthy: int
    unknowable: int
    honest: int
    decided: int
    forbidden: int
    known_wrong: int
    errors: int


class Score(BaseModel):
    """How all cases came out."""

    model_config = ConfigDict(frozen=True)

    results: tuple[Result, ...]

    def of(self, sort: Sort) -> tuple[Result, ...]:
        """The cases of one sort."""
        return tuple(result for result in self.results if result.sort == sort)

    @property
    def groups(self) -> tuple[Figures, ...]:
        """Figures by where cases come from and whether anybody looked at them, and of all together."""
        keys = sorted({(one.origin, one.part) for one in self.results}, key=_place)
        apart = [
            figures_of(f"{origin}, {part}", [one for one in self.results if (one.origin, one.part) == (origin, part)])
            for origin, part in keys
        ]
        return (*apart, figures_of("all", self.results)) if len(apart) > 1 else (figures_of("all", self.results),)

    @property
    def looked_at(self) -> tuple[Result, ...]:
        """Results that may be shown by name."""
        return tuple(one for one in self.results if one.part != "blind")

    @property
    def top1(self) -> float:
        """Share of the faults with an accepted kind in the first place."""
        return share(one.first_right for one in self.of("fault"))

    @property
    def root_precision(self) -> float:
        """Of all roots reported in faults, the share that is accepted or allowed besides."""
        return share(root not in one.extra for one in self.of("fault") for root in one.roots)

    @property
    def fresh(self) -> tuple[Result, ...]:
        """All but the cases that are known to come out wrong: what bars are held against."""
        return tuple(one for one in self.results if not one.is_known_wrong)

    @property
    def confusion(self) -> list[tuple[str, str, int]]:
        """The confusion matrix of kinds without its zeros: true kind, what came first (``-`` if nothing did), how often.

        Of several accepted kinds the true one is that which came first, else the best.
        """
        faults = [one for one in self.looked_at if one.sort == "fault"]
        cells = Counter((one.first if one.first_right else one.wanted[0], one.first or "-") for one in faults)
        return [(wanted, first, count) for (wanted, first), count in sorted(cells.items())]

    @property
    def confusions(self) -> list[tuple[str, str, int]]:
        """Accepted kind, reported kind and how often, for faults with another kind named first; silence is not confusion."""
        wrong = Counter((one.wanted[0], one.first) for one in self.looked_at if one.sort == "fault" and one.outcome == "wrong")
        return [(wanted, first, count) for (wanted, first), count in sorted(wrong.items())]


def _place(key: tuple[str, str]) -> tuple[int, int]:
    return ("real", "public", "simulated").index(key[0]), ("looked-at", "blind").index(key[1])


def share(values: Iterable[bool]) -> float:
    """Share of the true ones; 1 of nothing."""
    told = list(values)
    return sum(told) / len(told) if told else 1.0


def figures_of(group: str, results: Sequence[Result]) -> Figures:
    """The figures of a group of results."""
    faults = [one for one in results if one.sort == "fault"]
    healthy = [one for one in results if one.sort == "healthy"]
    unknowable = [one for one in results if one.sort == "unknowable"]
    return Figures(
        group=group,
        faults=len(faults),
        named=sum(one.right for one in faults),
        first=sum(one.first_right for one in faults),
        among=sum(one.among for one in faults),
        layer=sum(is_hit(one.layer, one.layer_found) for one in faults),
        cause=sum(is_hit(one.cause, one.cause_found) for one in faults),
        silent=sum(one.silent for one in faults),
        other=sum(one.outcome == "wrong" for one in faults),
        unread_shown=sum(one.silent and one.unread > 0 for one in faults),
        called_healthy=sum(one.outcome == "healthy" for one in faults),
        refuted=sum(bool(one.refuted) for one in faults),
        healthy=len(healthy),
        alarms=sum(bool(one.alarms) for one in healthy),
        not_called_healthy=sum(one.status != "healthy" for one in healthy),
        unknowable=len(unknowable),
        honest=sum(one.right for one in unknowable),
        decided=sum(one.told == "named" and not one.right for one in unknowable),
        forbidden=sum(len(one.forbidden) for one in results),
        known_wrong=sum(one.is_known_wrong for one in results),
        errors=sum(bool(one.error) for one in results),
    )


def is_hit(wanted: str, found: str) -> bool:
    """Whether a layer or cause was found; where the truth names none, any will do."""
    return bool(found) and found == (wanted or found)

"""An observation: one thing that is odd, where, since when and until when. Rule-free: it says what is seen, not what it means."""

from collections.abc import Iterable, Mapping
from dataclasses import field
from functools import cache, cached_property
from typing import Literal, get_args

from triage.classes import dataclass
from triage.model.diagnosis import Evidence
from triage.model.recording import Subject
from triage.model.vocabulary import Scope

Sort = Literal["promise", "shift", "life", "said", "identity", "instrument", "change", "driver", "coincides", "outlier"]
"""Classes of observations; docs/observations.md explains each."""

SORTS: tuple[Sort, ...] = get_args(Sort)


@dataclass(frozen=True, slots=True)
class Observation:
    """One thing that is odd.

    :param of: what it is about: a signal, a promise, a class of statements, a setting, an instrument's fault, a kind of change …
    :param subject: whom it was seen on
    :param onset: between which two moments it began, Unix seconds; None if it was there before all data or nobody can say
    :param end: when it ended; None if it is still so
    :param against: what it was held against: ``past``, ``twins``, ``limit``, ``declared``; empty where nothing is compared
    :param direction: ``worse``, ``better``, ``up``, ``down``; empty where there is none
    :param size: how many times as bad as what it was held against; of a share or a count the number itself
    :param value: what was measured, base units; ``usual`` is what it was held against
    :param support: independent samples or lines that it rests on
    :param source: family of sources that saw it (triage/engine/rules/families.py)
    :param attrs: what else is known, as text (actor, relation, dimension …)
    :param salient: it has to be explained: a person would ask about it
    """

    sort: Sort
    of: str
    subject: Subject
    text: str
    onset: tuple[float, float] | None = None
    end: float | None = None
    against: str = ""
    direction: str = ""
    size: float | None = None
    value: float | None = None
    usual: float | None = None
    unit: str = ""
    support: int = 1
    source: str = ""
    attrs: Mapping[str, str] = field(default_factory=dict)
    evidence: Evidence | None = None
    salient: bool = False

    @property
    def since(self) -> float | None:
        """When it had surely begun."""
        return None if self.onset is None else self.onset[1]


Judged = tuple[Sort, str, Scope] | tuple[Sort, str, Scope, str]
"""What an observer looked at: a class, what it is about, the scope of its subjects and, where it compares, against what."""


@dataclass(frozen=True)
class Seen:
    """What observers saw, and what they could judge: where nothing odd was seen of what was judged, nothing odd is there.

    :param judged: what was looked at well enough to say that it is not odd, had nothing been found
    """

    odd: tuple[Observation, ...] = ()
    judged: frozenset[Judged] = frozenset()

    def __add__(self, other: "Seen") -> "Seen":
        return Seen(self.odd + other.odd, self.judged | other.judged)

    @cached_property
    def _by_sort(self) -> dict[Sort, list[Observation]]:
        grouped: dict[Sort, list[Observation]] = {}
        for one in self.odd:
            grouped.setdefault(one.sort, []).append(one)
        return grouped

    def of_sort(self, sort: Sort, of: tuple[str, ...] = ()) -> list[Observation]:
        """The observations of one class, in the order in which they were seen.

        :param of: what they are about, anything if empty; a name that ends in ``*`` stands for all that begin so
        """
        found = self._by_sort.get(sort, [])
        if not of or not found:
            return found
        if (sort, of) not in self._about:
            plain, begin = _apart(of)
            self._about[sort, of] = [one for one in found if one.of in plain or one.of.startswith(begin)]
        return self._about[sort, of]

    @cached_property
    def _about(self) -> dict[tuple[Sort, tuple[str, ...]], list[Observation]]:
        """Those that somebody asked for by what they are about."""
        return {}

    @cached_property
    def _judged_by_sort(self) -> dict[Sort, dict[str, list[Judged]]]:
        grouped: dict[Sort, dict[str, list[Judged]]] = {}
        for judged in self.judged:
            grouped.setdefault(judged[0], {}).setdefault(judged[1], []).append(judged)
        return grouped

    def could_tell(self, sort: Sort, of: Iterable[str], scope: Scope | None, against: str = "") -> bool:
        """Whether anything of this was judged, so that not having seen it means something.

        :param of: names, any if empty; a name that ends in ``*`` stands for all that begin so
        :param against: what it is held against, anything if empty
        """
        wanted, by_name = tuple(of), self._judged_by_sort.get(sort, {})
        plain = bool(wanted) and not _apart(wanted)[1]
        names = wanted if plain else [name for name in by_name if not wanted or named(name, wanted)]
        return any(
            (scope is None or judged[2] is scope) and (not against or judged[3:] == (against,))
            for name in names
            for judged in by_name.get(name, ())
        )


def named(name: str, wanted: Iterable[str]) -> bool:
    """Whether a name is one of those that are asked for; ``latency.*`` stands for all that begin with ``latency.``."""
    plain, begin = _apart(tuple(wanted))
    return name in plain or name.startswith(begin)


@cache
def _apart(wanted: tuple[str, ...]) -> tuple[frozenset[str], tuple[str, ...]]:
    """Names that are asked for, and what names that are asked for begin with."""
    return frozenset(wanted), tuple(one[:-1] for one in wanted if one.endswith("*"))

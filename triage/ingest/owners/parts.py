"""Several engines behind one target: each is a replica of its own, and what is told of the process speaks for all of them."""

from collections.abc import Iterable, Mapping

from triage.model.recording import Subject

Labels = Mapping[str, str]

_TOGETHER = 2
"""Values of a label must be there together at this many moments: one that follows another is the same engine, started anew."""


class Engines:
    """Which engines there are behind each replica's target.

    Every engine's series are noted first, then :meth:`part` tells whose a series is.
    """

    def __init__(self) -> None:
        self._seen: dict[tuple[Subject, str], dict[str, tuple[float, float]]] = {}
        self._apart: dict[tuple[Subject, str], bool] = {}
        self.parts: dict[Subject, Subject] = {}
        """Engine -> the replica that it is a part of."""

    def note(self, replica: Subject, names: Iterable[str], labels: Labels, span: tuple[float, float]) -> None:
        """Takes note of a series.

        :param names: labels that tell engines apart
        :param span: first and last sample, Unix seconds
        """
        for name in names:
            if value := labels.get(name):
                spans = self._seen.setdefault((replica, name), {})
                begin, end = spans.get(value, span)
                spans[value] = min(begin, span[0]), max(end, span[1])

    def part(self, replica: Subject, names: Iterable[str], labels: Labels, step: float) -> Subject:
        """The engine that a series is about, or the replica itself if it has but one or the series does not say.

        :param step: usual distance of samples, seconds
        """
        telling = [(name, labels[name]) for name in names if labels.get(name) and self._tells(replica, name, step)]
        if not telling:
            return replica
        engine = Subject(replica.scope, "/".join([replica.id, *(f"{name}-{value}" for name, value in telling)]))
        self.parts[engine] = replica
        return engine

    def _tells(self, replica: Subject, name: str, step: float) -> bool:
        """Whether a label has several values at the same time."""
        key = replica, name
        if key not in self._apart:
            spans = sorted(self._seen.get(key, {}).values())
            latest = float("-inf")
            self._apart[key] = False
            for begin, end in spans:
                self._apart[key] = self._apart[key] or min(latest, end) - begin >= (_TOGETHER - 1) * step
                latest = max(latest, end)
        return self._apart[key]

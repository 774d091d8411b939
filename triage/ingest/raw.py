"""What a source says before a dialect has read it: samples by name and labels."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from triage.classes import dataclass
from triage.model.recording import Floats


@dataclass(frozen=True, slots=True)
class RawSeries:
    """One series of a source.

    :param name: the source's own name, ``_bucket``, ``_sum``, ``_count`` and ``_total`` included
    :param labels: all labels, scrape labels (job, instance) included
    :param times: Unix seconds, ascending, shape (T,)
    :param values: shape (T,)
    :param added: labels that whoever collected it put on: no server knows them
    :param shown_at: URL of the exposition that it was read from; empty where a server was asked
    :param rate: values are already per second (a server computed them) instead of a running total
    """

    name: str
    labels: Mapping[str, str]
    times: Floats
    values: Floats
    rate: bool = False
    added: frozenset[str] = frozenset()
    shown_at: str = ""


class Layout:
    """Labels and moments of some series.

    Most metrics of a program have those of its other metrics, and what these two alone tell is found out once for all of them.
    """

    def __init__(self, series: Sequence[RawSeries]) -> None:
        self.labels = [one.labels for one in series]
        self.times = [one.times for one in series]

    @cached_property
    def spans(self) -> list[tuple[float, float]]:
        """First and last moment of each, Unix seconds; (0, 0) of one without any."""
        known: dict[int, tuple[float, float]] = {}
        for times in self.times:
            if id(times) not in known:
                known[id(times)] = (float(times[0]), float(times[-1])) if len(times) else (0.0, 0.0)
        return [known[id(times)] for times in self.times]

    @cached_property
    def span(self) -> tuple[float, float]:
        """First and last moment of all."""
        whole = set(self.spans)
        return min(begin for begin, _ in whole), max(end for _, end in whole)


class Layouts:
    """The layout of some series, the same object for the same labels and moments (which series share as objects)."""

    def __init__(self) -> None:
        self._known: dict[tuple[tuple[int, ...], tuple[int, ...]], Layout] = {}

    def of(self, series: Sequence[RawSeries]) -> Layout:
        """The layout of some series."""
        key = tuple([id(one.labels) for one in series]), tuple([id(one.times) for one in series])
        return self._known.get(key) or self._known.setdefault(key, Layout(series))


@dataclass(frozen=True, slots=True)
class Metric:
    """All series of one name."""

    name: str
    series: Sequence[RawSeries]
    layout: Layout


def metrics_of(series: Iterable[RawSeries], layouts: Layouts) -> list[Metric]:
    """Series by name, in the order of their first ones."""
    by_name: dict[str, list[RawSeries]] = {}
    for one in series:
        by_name.setdefault(one.name, []).append(one)
    return [Metric(name, some, layouts.of(some)) for name, some in by_name.items()]


def labelled(series: Iterable[RawSeries], labels: Mapping[str, str]) -> list[RawSeries]:
    """Series with the labels that a scraper would have put on them; what they say themselves stays."""
    return [replace(one, labels={**labels, **one.labels}, added=frozenset(labels.keys() - one.labels.keys())) for one in series]


def gathered(parts: Iterable[Iterable[RawSeries]]) -> list[RawSeries]:
    """The series of several files: what has the same name and labels is one, in order of time."""
    found: dict[tuple[str, frozenset[tuple[str, str]]], list[RawSeries]] = {}
    for part in parts:
        for one in part:
            found.setdefault((one.name, frozenset(one.labels.items())), []).append(one)
    return [_one(pieces) for pieces in found.values()]


def _one(pieces: list[RawSeries]) -> RawSeries:
    """Pieces of one series as one; of several samples of one moment the last file's counts."""
    if len(pieces) == 1:
        return pieces[0]
    times: Floats = np.concatenate([piece.times for piece in reversed(pieces)])
    values: Floats = np.concatenate([piece.values for piece in reversed(pieces)])
    kept, index = np.unique(times, return_index=True)
    return replace(pieces[0], times=kept, values=values[index])

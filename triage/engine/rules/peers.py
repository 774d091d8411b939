"""What others that do the same work show: medians of a statistic over all but oneself."""

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from triage.classes import dataclass
from triage.engine.derived.fleet import work_of
from triage.engine.frame import Frame
from triage.engine.statistics import Column, column
from triage.model.recording import Floats, Subject
from triage.model.rule import Stat

Places = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Peers:
    """A statistic of all subjects, sorted once among those that do the same work.

    :param told: the statistic
    :param work: what work each subject does
    :param ordered: rows of those that do the same work and of which the statistic is known, the least value first
    """

    told: Column
    work: Sequence[str]
    ordered: Mapping[str, Places]

    def without(self, subjects: Sequence[Subject], frame: Frame) -> float:
        """Median over the others that do the work of the first of these subjects; NaN if nothing is known of any."""
        if len(subjects) == 1 and (row := self.told.place.get(subjects[0])) is not None:
            return float(self.medians[row])
        work = work_of(frame, subjects[0])
        if work not in self.ordered:
            return np.nan
        places = self._places[work]
        own = sorted(places[row] for one in subjects if (row := self.told.place.get(one)) in places)
        return _middle_without(self.told.bounds[0][self.ordered[work]], own)

    @cached_property
    def _places(self) -> Mapping[str, Mapping[int | None, int]]:
        """Where each row stands among those that do the same work."""
        return {work: {row: place for place, row in enumerate(rows.tolist())} for work, rows in self.ordered.items()}

    @cached_property
    def medians(self) -> Floats:
        """Of each subject the median over the others that do the same work, shape (S,); NaN if nothing is known of any."""
        out = np.full(len(self.work), np.nan)
        for work, rows in self.ordered.items():
            values = self.told.bounds[0][rows]
            out[[row for row, one in enumerate(self.work) if one == work]] = _middle(values)
            out[rows] = _without_each(values)
        return out


def peers_of(frame: Frame, signal: str, stat: Stat, span: slice) -> Peers:
    """The statistic of all subjects that have a signal; asked again it is remembered."""
    return frame.remembered(("peers", signal, stat, span.start, span.stop), lambda: _peers(frame, signal, stat, span))


def _peers(frame: Frame, signal: str, stat: Stat, span: slice) -> Peers:
    told = column(frame, signal, stat, span)
    work = [work_of(frame, subject) for subject in told.place]
    values = told.bounds[0]
    alike: dict[str, list[int]] = {}
    for row in np.argsort(values, kind="stable").tolist():
        if np.isfinite(values[row]):
            alike.setdefault(work[row], []).append(row)
    return Peers(told, work, {one: np.array(rows) for one, rows in alike.items()})


def _middle(values: Floats) -> float:
    """Median of sorted values; NaN of none."""
    return float(values[(len(values) - 1) // 2] + values[len(values) // 2]) / 2.0 if len(values) else np.nan


def _middle_without(values: Floats, left_out: Sequence[int]) -> float:
    """Median of sorted values but for some; NaN of none.

    :param left_out: their places, ascending
    """
    count = len(values) - len(left_out)
    if not count:
        return np.nan
    low, high = (count - 1) // 2, count // 2
    for place in left_out:
        low, high = low + (place <= low), high + (place <= high)
    return float(values[low] + values[high]) / 2.0


def _without_each(values: Floats) -> Floats:
    """Of sorted values the median of all but each; NaN of a single one."""
    left = len(values) - 1
    if not left:
        return np.full(1, np.nan)
    place = np.arange(len(values))
    low, high = (left - 1) // 2, left // 2
    return np.asarray((values[low + (place <= low)] + values[high + (place <= high)]) / 2.0)

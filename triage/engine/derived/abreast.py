"""Subjects side by side: what is worked out of cells alone is worked out of all of them at once."""

from collections.abc import Mapping, Sequence
from itertools import repeat

import numpy as np

from triage.engine.frame import Frame
from triage.model.recording import Floats, Subject


class Abreast(Frame):
    """A frame that shows several subjects, of whom the same signals were measured, as if they were one.

    Cells have a row of each, shape (S, N), whichever of the subjects is asked for. All else is the frame's own.
    """

    def __init__(self, frame: Frame, subjects: Sequence[Subject]) -> None:
        vars(self).update(vars(frame))
        self._abreast = tuple(subjects)

    def cells(self, signal: str, subject: Subject) -> Floats | None:
        """A signal of all of the subjects, shape (S, N); None if it was never measured."""
        if super().cells(signal, subject) is None:
            return None
        block = self.block(signal)
        if block.subjects == self._abreast:
            return block.cells
        return np.array([super(Abreast, self).cells(signal, one) for one in self._abreast])

    def row(self, rows: Floats, place: Mapping[Subject, int], _subject: Subject) -> Floats:
        """The rows of all of the subjects, shape (S, N)."""
        return np.asarray(rows[[place[one] for one in self._abreast]])


def alike(frame: Frame, subjects: Sequence[Subject], signals: Sequence[str]) -> list[list[Subject]]:
    """Subjects in groups of whom the same of some signals were measured."""
    groups: dict[tuple[bool, ...], list[Subject]] = {}
    told = [measured for name in signals if any(measured := _measured(frame, name, subjects))]
    for subject, its in zip(subjects, zip(*told, strict=True) if told else repeat(()), strict=bool(told)):
        groups.setdefault(its, []).append(subject)
    return list(groups.values())


def _measured(frame: Frame, signal: str, subjects: Sequence[Subject]) -> list[bool]:
    """Of which subjects a signal was measured."""
    if not frame.has(signal):
        return []
    own, spread = frame.of(signal), frame.histograms(signal)
    return [one in own or one in spread or frame.cells(signal, one) is not None for one in subjects]

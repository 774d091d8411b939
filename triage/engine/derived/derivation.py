"""One derived signal: what it is worked out of, and how."""

from collections.abc import Callable, Mapping, Sequence

from triage.classes import dataclass
from triage.engine.derived.abreast import Abreast, alike
from triage.engine.derived.arithmetic import quotient, ratio, share, total
from triage.engine.derived.formula import Formula, Of, Quotient, Ratio
from triage.engine.frame import Frame
from triage.model.recording import Floats, Subject

Cells = Callable[[Frame, Subject], Floats | None]
"""The cells of a subject, shape (N,), NaN where they are unknown; None if an input was never measured."""


@dataclass(frozen=True)
class Derivation:
    """How one signal follows from others.

    :param signal: its name in the vocabulary
    :param needs: signals that are looked at, all of them: what is derived itself is derived before (facts need no order)
    :param formula: the same as data, for those who work it out elsewhere (PromQL); None if it is no elementwise formula
    :param abreast: it rests on cells alone, so that it may be worked out of several subjects at once (:class:`Abreast`)
    """

    signal: str
    needs: tuple[str, ...]
    cells: Cells
    formula: Formula | None = None
    abreast: bool = False

    def of_all(self, frame: Frame, subjects: Sequence[Subject]) -> Mapping[Subject, Floats]:
        """The cells of those of some subjects of whom every input was measured."""
        if not self.abreast:
            return {subject: cells for subject in subjects if (cells := self.cells(frame, subject)) is not None}
        found: dict[Subject, Floats] = {}
        for group in alike(frame, subjects, self.needs):
            rows = self.cells(Abreast(frame, group), group[0])
            if rows is not None:
                found.update(zip(group, rows, strict=True))
        return {subject: found[subject] for subject in subjects if subject in found}


Pairing = Callable[[Floats, Floats, Frame], Floats | None]
"""What two signals make, cell by cell, shape (…, N)."""


def _of_pair(signal: str, one: str, other: str, pairing: Pairing, formula: Formula) -> Derivation:
    """What two signals of one subject make."""

    def cells(frame: Frame, subject: Subject) -> Floats | None:
        first, second = frame.cells(one, subject), frame.cells(other, subject)
        return None if first is None or second is None else pairing(first, second, frame)

    return Derivation(signal, (one, other), cells, formula, abreast=True)


def share_of(signal: str, part: str, whole: str) -> Derivation:
    """A part of a whole, both rates of one subject."""
    return _of_pair(signal, part, whole, share, Ratio(Of(part), Of(whole), 1.0))


def ratio_of(signal: str, part: str, whole: str) -> Derivation:
    """One rate by another of one subject."""
    return _of_pair(signal, part, whole, ratio, Ratio(Of(part), Of(whole)))


def quotient_of(signal: str, above: str, below: str) -> Derivation:
    """One gauge by another of one subject."""
    formula = Quotient(Of(above), Of(below))
    return _of_pair(signal, above, below, lambda one, other, _frame: quotient(one, other), formula)


def share_of_totals(signal: str, part: str, whole: str) -> Derivation:
    """A part of a whole, both rates, over all subjects."""
    return Derivation(
        signal,
        (part, whole),
        lambda frame, _service: share(total(frame, part), total(frame, whole), frame),
        Ratio(Of(part), Of(whole), 1.0),
    )


def ratio_of_totals(signal: str, part: str, whole: str) -> Derivation:
    """One rate by another over all subjects."""
    return Derivation(
        signal,
        (part, whole),
        lambda frame, _service: ratio(total(frame, part), total(frame, whole), frame),
        Ratio(Of(part), Of(whole)),
    )


def quotient_of_totals(signal: str, above: str, below: str) -> Derivation:
    """One gauge by another over all subjects."""
    return Derivation(
        signal,
        (above, below),
        lambda frame, _service: quotient(total(frame, above), total(frame, below)),
        Quotient(Of(above), Of(below)),
    )

"""One derived signal: what it is worked out of, and how."""

from collections.abc import Callable
from dataclasses import dataclass

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
    """

    signal: str
    needs: tuple[str, ...]
    cells: Cells
    formula: Formula | None = None


def share_of(signal: str, part: str, whole: str) -> Derivation:
    """A part of a whole, both rates of one subject."""
    return Derivation(
        signal,
        (part, whole),
        lambda frame, subject: share(frame.cells(part, subject), frame.cells(whole, subject), frame),
        Ratio(Of(part), Of(whole), 1.0),
    )


def ratio_of(signal: str, part: str, whole: str) -> Derivation:
    """One rate by another of one subject."""
    return Derivation(
        signal,
        (part, whole),
        lambda frame, one: ratio(frame.cells(part, one), frame.cells(whole, one), frame),
        Ratio(Of(part), Of(whole)),
    )


def quotient_of(signal: str, above: str, below: str) -> Derivation:
    """One gauge by another of one subject."""
    return Derivation(
        signal,
        (above, below),
        lambda frame, one: quotient(frame.cells(above, one), frame.cells(below, one)),
        Quotient(Of(above), Of(below)),
    )


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

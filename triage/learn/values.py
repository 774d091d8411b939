"""Numbers that the texts of a lesson speak of: taken from its recording, or worked out from such, never written down."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from math import prod

from triage.engine.frame import Grid
from triage.engine.statistics import statistic
from triage.language.lang import Lang
from triage.learn.cases import Case
from triage.learn.chrome import colon
from triage.learn.lesson import Claim, Lesson, Value
from triage.learn.looking import subjects_like, unit_of
from triage.learn.texts import Both, filled
from triage.learn.words import said
from triage.model.units import NO_DATA, quantity
from triage.model.vocabulary import catalogue

Known = float | str | None
"""A number in the value's unit, the text of a fact, or nothing."""


class Values:
    """The values of a lesson over one recording."""

    def __init__(self, lesson: Lesson, case: Case) -> None:
        self._values = lesson.values
        self._case = case

    @cached_property
    def known(self) -> Mapping[str, Known]:
        """Every value by its name; None where the recording does not tell it."""
        known: dict[str, Known] = {}
        for name, value in self._values.items():
            known[name] = self._found(value, known)
        return known

    @cached_property
    def _english(self) -> Mapping[str, str]:
        return {name: self._shown(name, "en") for name in self._values}

    @cached_property
    def _chinese(self) -> Mapping[str, str]:
        return {name: self._shown(name, "zh") for name in self._values}

    def shown(self, lang: Lang) -> Mapping[str, str]:
        """Every value as a person reads it."""
        return self._chinese if lang == "zh" else self._english

    def fill(self, text: Both, lang: Lang) -> str:
        """A text with its values."""
        return filled(text.of(lang), self.shown(lang))

    def working(self, name: str, lang: Lang) -> str:
        """The arithmetic of a value in one line: ``weights: 7 B × 2 bytes = 14 GB``."""
        value = self._values[name]
        label = value.label.of(lang) if value.label is not None else name
        sign = " × " if value.product else " ÷ " if value.quotient else " − "
        shown = self.shown(lang)
        parts = [shown[part] if isinstance(part, str) else f"{part:g}" for part in value.parts]
        return f"{label}{colon(lang)}{sign.join(parts)} = {shown[name]}" if parts else f"{label}{colon(lang)}{shown[name]}"

    def holds(self, claim: Claim) -> bool:
        """Whether a claim is true of the recording; what nobody knows is not."""
        value, bound = self._number(claim.value), self._number(claim.bound)
        if value is None or bound is None:
            return False
        if claim.above is not None:
            return value > bound
        if claim.at_least is not None:
            return value >= bound
        return value < bound if claim.below is not None else value <= bound

    def told(self, claim: Claim, lang: Lang = "en") -> str:
        """A claim with its values, as it would have to be."""
        signs = {"above": ">", "at_least": "≥", "below": "<", "at_most": "≤"}
        sign = next(sign for name, sign in signs.items() if getattr(claim, name) is not None)
        shown = self.shown(lang)
        bound = f"{claim.bound} ({shown[claim.bound]})" if isinstance(claim.bound, str) else f"{claim.bound:g}"
        return f"{claim.value} ({shown[claim.value]}) {sign} {bound}"

    def _number(self, what: str | float) -> float | None:
        value = self.known[what] if isinstance(what, str) else what
        return None if isinstance(value, str) else value

    def _found(self, value: Value, known: Mapping[str, Known]) -> Known:
        """One value, from those before it."""
        if value.signal:
            return self._measured(value)
        if value.fact:
            return next((fact.value for fact in self._case.recording.facts if fact.key == value.fact), None)
        worked = value.number if value.number is not None else _worked_out(value, known)
        return None if worked is None else worked * value.scale

    def _measured(self, value: Value) -> float | None:
        """A statistic of a signal."""
        frame = self._case.frame
        span = _part(frame.grid.window if value.span == "window" else frame.grid.baseline, value, frame.grid)
        across = value.across or catalogue()[value.signal].combine
        subjects = subjects_like(frame, value.signal, value.subject)
        found = statistic(frame, value.signal, subjects, value.stat, span, across) if subjects else None
        return None if found is None else found.estimate

    def _shown(self, name: str, lang: Lang) -> str:
        value, known = self._values[name], self.known[name]
        if known is None:
            return said(NO_DATA, lang)
        if isinstance(known, str):
            return known
        if value.unit is not None:
            unit = value.unit.of(lang)
            return said(quantity(known, unit), lang)
        return said(quantity(known, unit_of(value.signal, value.stat) if value.signal else ""), lang)


def _part(span: slice, value: Value, grid: Grid) -> slice:
    """The part of a span that a value is about."""
    first, last = span.start or 0, len(grid.times) if span.stop is None else span.stop
    if value.between is not None:
        begin, end = (first + round(seconds / grid.step) for seconds in value.between)
        return slice(begin, min(end, last))
    return slice(max(first, last - round(value.over / grid.step)), last) if value.over else slice(first, last)


def _worked_out(value: Value, known: Mapping[str, Known]) -> float | None:
    """The product, quotient or difference of values; None if one is unknown or the divisor zero."""
    parts = [known[part] if isinstance(part, str) else part for part in value.parts]
    numbers = [part for part in parts if isinstance(part, float | int)]
    if len(numbers) < len(parts):
        return None
    if value.product:
        return prod(numbers)
    return _divided(numbers) if value.quotient else numbers[0] - sum(numbers[1:])


def _divided(numbers: Sequence[float]) -> float | None:
    """The first divided by each of the others."""
    divisor = prod(numbers[1:])
    return numbers[0] / divisor if divisor else None

"""The formula of a derived signal gives what its numeric form gives: one place holds both, and they must not drift apart."""

from pathlib import Path

import numpy as np
import pytest

from triage.engine.derived import DERIVATIONS
from triage.engine.derived.arithmetic import constant, first_measured, mean_latency, quotient, ratio, total
from triage.engine.derived.formula import Averaged, First, Formula, Greatest, Of, Quotient, Ratio, Rest, Told, Total
from triage.engine.frame import Frame
from triage.engine.statistics import together
from triage.export.looking import measured
from triage.ingest.files.incident import read_incident
from triage.model.recording import Floats, Subject
from triage.model.vocabulary import Combine, Scope, catalogue

INCIDENTS = Path(__file__).parents[2] / "incidents"

CASES = ("prefix-cache-collapse-a068", "thermal-throttle-a033", "host-oom-kill-a142")

SAME = 0.95
"""Share of the cells that must agree: a numeric form may leave out what is no good sample (an idle moment)."""

BESIDE = {
    "service.arrivals",
    "service.demand",
    "service.goodput",
    "service.load_per_replica",
    "gateway.retry_ratio",
    "token.time",
}
"""Signals whose numeric form also asks who counts the whole traffic, or who is busy: where they differ, that is why."""


def worked_out(formula: Formula, frame: Frame, subject: Subject) -> Floats | None:
    """A formula over the cells of a frame."""
    match formula:
        case Of():
            return total(frame, formula.signal) if subject.scope is Scope.SERVICE else frame.cells(formula.signal, subject)
        case Told():
            fact = frame.recording.fact(formula.fact, subject)
            return constant(frame, float(fact)) if isinstance(fact, int | float) else None
        case Averaged():
            return averaged(formula.signal, frame, subject)
        case Ratio():
            value = ratio(worked_out(formula.part, frame, subject), worked_out(formula.whole, frame, subject), frame)
            return value if value is None or formula.most is None else np.clip(value, 0.0, formula.most)
        case Quotient():
            value = quotient(worked_out(formula.above, frame, subject), worked_out(formula.below, frame, subject))
            return value if value is None or formula.most is None else np.clip(value, 0.0, formula.most)
        case Total():
            rows = [row for part in formula.parts if (row := worked_out(part, frame, subject)) is not None]
            return together(rows, Combine.SUM) if rows else None
        case Rest():
            rows = [row for one in (formula.whole, *formula.parts) if (row := worked_out(one, frame, subject)) is not None]
            return np.clip(rows[0] - np.sum(rows[1:], axis=0), 0.0, None) if len(rows) == 1 + len(formula.parts) else None
        case First():
            return first_measured(*(worked_out(way, frame, subject) for way in formula.ways))
        case Greatest():
            rows = [row for view in formula.views if (row := worked_out(view, frame, subject)) is not None]
            return together(rows, Combine.MAX) if rows else None


def averaged(signal: str, frame: Frame, subject: Subject) -> Floats | None:
    """Mean of a distribution of one subject, or of all."""
    if subject.scope is not Scope.SERVICE:
        return mean_latency(frame, signal, subject)
    pairs = [pair for one in frame.histograms(signal) if (pair := frame.sum_and_count(signal, one)) is not None]
    if not pairs:
        return None
    sums, counts = (together([pair[place] for pair in pairs], Combine.SUM) for place in (0, 1))
    return ratio(sums, counts, frame)


@pytest.mark.parametrize("case", CASES)
def test_a_formula_gives_what_the_numeric_form_gives(case: str) -> None:
    """Of every subject that a recording derives the signal for."""
    frame = measured(read_incident(INCIDENTS / case))
    compared = 0
    for signal, derivation in DERIVATIONS.items():
        scope = catalogue()[signal].scope
        subjects = [Subject(scope, frame.recording.service)] if scope is Scope.SERVICE else frame.recording.subjects[scope]
        for subject in subjects if derivation.formula is not None and signal not in BESIDE else ():
            numeric = derivation.cells(frame, subject)
            if numeric is None or np.isnan(numeric).all():
                continue
            value = worked_out(derivation.formula, frame, subject) if derivation.formula is not None else None
            assert value is not None, signal
            both = ~np.isnan(numeric) & ~np.isnan(value)
            assert both.sum() >= SAME * max((~np.isnan(numeric)).sum(), 1), signal
            assert np.isclose(numeric[both], value[both], rtol=1e-6, atol=1e-12).mean() >= SAME, signal
            compared += 1
    assert compared > 5


def test_a_formula_rests_on_nothing_that_the_derivation_does_not_need() -> None:
    """What is looked at is said once more, and must be the same."""
    from triage.export.values import needs

    for signal, derivation in DERIVATIONS.items():
        if derivation.formula is not None:
            assert needs(derivation.formula) <= {*derivation.needs, *extra(derivation.needs)}, signal


def extra(needs: tuple[str, ...]) -> set[str]:
    """What those rest on in turn."""
    return {other for name in needs if name in DERIVATIONS for other in DERIVATIONS[name].needs}

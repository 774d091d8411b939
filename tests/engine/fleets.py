"""Small fleets of replicas for tests: series by signal and replica on a grid of 30 s, facts, a window after a baseline."""

from collections.abc import Mapping, Sequence

import numpy as np

from triage.engine.derived import derive
from triage.engine.frame import Frame
from triage.model.recording import Event, Fact, Floats, Histogram, Origin, Recording, Series, Source, Subject, Window
from triage.model.vocabulary import Scope

STEP = 30.0
BASELINE = 40
WINDOW = 40
START = 1_000_000.0
SERVICE = Subject(Scope.SERVICE, "llm")
ORIGIN = Origin("test", "test")

Row = float | Sequence[float]


def replica(name: str) -> Subject:
    """A replica of that name."""
    return Subject(Scope.REPLICA, name)


def times() -> Floats:
    """Ends of the cells, Unix seconds, shape (80,)."""
    return START + STEP * np.arange(1 - BASELINE, WINDOW + 1, dtype=float)


def before_and_after(before: float, after: float) -> list[float]:
    """A value that changes where the window begins."""
    return [before] * BASELINE + [after] * WINDOW


def frame_of(
    rows: Mapping[str, Mapping[str, Row]],
    facts: Mapping[str, Mapping[str, str | float]] | None = None,
    means: Mapping[str, Mapping[str, float]] | None = None,
    events: Sequence[Event] = (),
    sources: Sequence[Source] = (),
    origin: Origin = ORIGIN,
) -> Frame:
    """A frame with its derived signals.

    :param rows: signal -> replica -> value, or values per cell (NaN where there is no sample)
    :param facts: replica, or ``""`` for the service -> fact -> value
    :param means: distribution -> replica -> mean of one observation a second
    :param origin: where all series come from
    """
    series = [_series(signal, name, row, origin) for signal, of in rows.items() for name, row in of.items()]
    told = [
        Fact(replica(name) if name else SERVICE, key, value) for name, of in (facts or {}).items() for key, value in of.items()
    ]
    histograms = [_histogram(signal, name, mean) for signal, of in (means or {}).items() for name, mean in of.items()]
    window = Window(START, START + WINDOW * STEP, START - BASELINE * STEP)
    frame = Frame(
        Recording("llm", window, series=series, histograms=histograms, facts=told, events=events, sources=sources, step=STEP)
    )
    derive(frame)
    return frame


def _series(signal: str, name: str, row: Row, origin: Origin) -> Series:
    values = np.broadcast_to(np.array(row, dtype=float), times().shape)
    known = ~np.isnan(values)
    return Series(signal, replica(name), times()[known], values[known], origin)


def _histogram(signal: str, name: str, mean: float) -> Histogram:
    rates = np.ones((len(times()), 1))
    return Histogram(signal, replica(name), times(), np.array([np.inf]), rates, np.full(len(times()), mean), ORIGIN)

"""The curve beside a value is that of the very statistic."""

import pytest

from tests.engine.making import Buckets, Shift, context, frame_of, make_recording
from triage.engine.frame import Frame
from triage.engine.rules.conditions import judge
from triage.model.diagnosis import Evidence, Spark
from triage.model.rule import Measure, Stat


def shown(frame: Frame, signal: str, stat: Stat) -> tuple[Evidence, Spark]:
    """The evidence of a measure and its curve."""
    measure = Measure(signal=signal, stat=stat, above=-1.0)
    evidence = judge(measure, context(frame)).looks[0].evidence
    assert evidence.spark is not None
    return evidence, evidence.spark


def inside(spark: Spark) -> list[float]:
    """The points in the window."""
    return [value for value in spark.values[spark.window :] if value is not None]


@pytest.mark.parametrize(("stat", "extreme"), [("peak", max), ("max", max), ("trough", min), ("min", min)])
def test_the_extreme_is_the_extreme_of_the_curve(stat: Stat, extreme: object) -> None:
    """Nobody sees a curve that stays below the peak that stands beside it."""
    frame = frame_of({"queue.waiting": lambda time: 10.0 if 100 < time < 160 else (time % 45) / 45})
    evidence, spark = shown(frame, "queue.waiting", stat)
    assert callable(extreme)
    assert extreme(inside(spark)) == pytest.approx(evidence.value, rel=1e-4)


def test_a_quantile_has_the_curve_of_quantiles() -> None:
    """Not of means: nine in ten requests are fast, and the tenth is what is promised."""
    recording = make_recording({}, histograms={"latency.ttft": Buckets((1, 10), (9, 1, 0), value=Shift(0.9, 0.9))})
    evidence, spark = shown(Frame(recording), "latency.ttft", "p95")
    assert evidence.value == pytest.approx(5.5)
    assert inside(spark) == pytest.approx([5.5] * len(inside(spark)))

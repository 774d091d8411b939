"""The vital signs that are always told, whether anybody measures them or not."""

from dataclasses import replace

import pytest

from tests.engine.making import Buckets, Shift, make_recording
from triage.engine.diagnose import diagnose
from triage.model.diagnosis import NOT_MEASURED, Diagnosis, Promised, Status, Vital

ALWAYS = {"ttft_p95_s", "itl_p95_s", "e2e_p95_s", "error_ratio", "queue_wait_s", "kv_cache"}


def told(**parts: object) -> Diagnosis:
    """The diagnosis of a small recording by no rule."""
    return diagnose(make_recording(**parts), ())  # type: ignore[arg-type]


def sign(diagnosis: Diagnosis, name: str) -> Vital:
    """The only sign of a name."""
    (one,) = [vital for vital in diagnosis.vitals if vital.name == name]
    return one


def test_what_nobody_measures_is_said_once_for_each_sign() -> None:
    """Of a service of which only a host is seen."""
    diagnosis = told(signals={"node.cpu_busy": 0.2})
    unseen = [vital for vital in diagnosis.vitals if vital.reason == NOT_MEASURED]
    assert {vital.name for vital in unseen} == ALWAYS
    assert len(unseen) == len(ALWAYS)
    assert {(vital.state, vital.noticed) for vital in unseen} == {(Promised.OPEN, False)}


def test_a_sign_that_is_measured_is_not_told_again() -> None:
    """Also under the name of the quantile that was promised."""
    diagnosis = told(histograms={"latency.ttft": Buckets((1, 5), (9, 0, 0))}, objectives={"ttft_p99_s": 2.0})
    assert [vital.name for vital in diagnosis.vitals if vital.name.startswith("ttft")] == ["ttft_p99_s"]


def test_what_is_only_told_does_not_change_the_state() -> None:
    """A delay that nobody measures is no reason for doubt where enough else was seen; a full cache alone is no incident."""
    seen = {"gateway.requests": 10, "gateway.2xx": 10, "target.up": 1}
    well = told(signals=seen, histograms={"gateway.ttft": Buckets((1, 5), (10, 0, 0))})
    full = told(signals={**seen, "kv.usage": 1.0}, histograms={"gateway.ttft": Buckets((1, 5), (10, 0, 0))})
    assert well.status is full.status is Status.HEALTHY
    assert sign(full, "kv_cache").state is Promised.OPEN


@pytest.mark.parametrize(
    ("promise", "whole", "state"),
    [
        ("itl_p95_s", "gateway.latency", Status.HEALTHY),
        ("itl_p95_s", "gateway.ttft", Status.INCONCLUSIVE),
        ("ttft_p95_s", "gateway.latency", Status.INCONCLUSIVE),
    ],
)
def test_time_between_tokens_is_nearly_all_of_a_request(promise: str, whole: str, state: Status) -> None:
    """Nobody measures what was promised: whole requests in time tell of tokens; first tokens do not, nor the other way."""
    seen = {"gateway.requests": 10, "gateway.2xx": 10, "target.up": 1}
    one = told(signals=seen, histograms={whole: Buckets((1, 5), (10, 0, 0))}, objectives={promise: 0.1, "error_ratio": 0.01})
    assert one.status is state


@pytest.mark.parametrize(
    ("usage", "thrown", "state"),
    [
        (0.6, None, Promised.KEPT),
        (0.6, 0.5, Promised.KEPT),
        (0.97, None, Promised.OPEN),
        (0.97, 0.0, Promised.KEPT),
        (1.0, 0.0, Promised.KEPT),
        (1.0, 0.5, Promised.BROKEN),
    ],
)
def test_a_cache_is_ill_when_it_throws_out_what_runs(usage: float, thrown: float | None, state: Promised) -> None:
    """92 % may be fine and 99 % four times slower: what is thrown out decides, and nobody knows where that is not counted."""
    signals = {"kv.usage": usage, **({} if thrown is None else {"preemptions": thrown})}
    one = sign(told(signals=signals), "kv_cache")
    assert (one.state, one.value, one.now) == (state, usage, usage)
    assert (one.reason == "") == (state is Promised.KEPT)
    assert one.spark is not None


def test_what_is_usual_of_the_cache_stands_still_while_trouble_lasts() -> None:
    """Cells between the end of what is usual and the window are trouble of before; they are neither."""
    recording = make_recording(signals={"kv.usage": lambda t: 0.2 if t <= -300 else 0.95})
    window = recording.window
    frozen = replace(recording, window=replace(window, baseline_end=window.start - 300))
    assert [sign(diagnose(one, ()), "kv_cache").baseline for one in (recording, frozen)] == [0.95, 0.2]


def test_a_short_queue_has_a_wait_and_a_curve_in_seconds() -> None:
    """Nobody waits: no time; two wait and four a second end: half a second."""
    empty = sign(told(signals={"queue.waiting": 0, "finished": 4}), "queue_wait_s")
    short = sign(told(signals={"queue.waiting": Shift(0, 2), "finished": 4}), "queue_wait_s")
    assert (empty.value, empty.now) == (0.0, 0.0)
    assert short.value == pytest.approx(0.5)
    assert short.spark is not None
    assert short.spark.values[-1] == pytest.approx(0.5)
    assert sign(told(signals={"queue.waiting": 2}), "queue_wait_s").value is None


def test_a_delay_without_buckets_has_its_mean() -> None:
    """Sum and count alone tell no quantile."""
    one = sign(told(histograms={"latency.ttft": Buckets((), (9,), (), Shift(0.3, 0.3))}), "ttft_p95_s")
    assert one.value is None
    assert one.mean == pytest.approx(0.3)

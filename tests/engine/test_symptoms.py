"""What users notice: broken promises, and without one a clear change for the worse."""

from tests.engine.making import Buckets, Shift, derived, frame_of
from triage.engine.symptoms import symptoms

FAST, SLOW = (0, 9, 1, 0, 0), (0, 0, 0, 9, 1)
BOUNDS = (0.1, 0.5, 1, 5)


def ttft(inside: tuple[int, ...], before: tuple[int, ...] = FAST) -> dict[str, Buckets]:
    """Time to first token before the window and in it."""
    return {"latency.ttft": Buckets(BOUNDS, inside, before)}


def names(histograms: dict[str, Buckets], **told: float) -> list[str]:
    """The symptoms with these promises."""
    return [symptom.name for symptom in symptoms(frame_of(histograms=histograms, objectives=told))]


def test_a_promise_is_broken_if_the_quantile_surely_lies_beyond_it() -> None:
    """Beyond the last bound of 5 s a promise of 1 s is broken; in the bucket from 1 to 5 s one of 2 s is not surely."""
    assert names(ttft(SLOW), ttft_p95_s=1) == ["ttft_p95_s"]
    assert names(ttft((0, 0, 0, 9, 0)), ttft_p95_s=2) == []
    assert names(ttft(FAST), ttft_p95_s=1) == []


def test_without_a_promise_only_a_clear_change_counts() -> None:
    """Twice the usual mean and beyond half a second; a service that was always slow has no symptom, nor one without a past."""
    assert names(ttft(SLOW)) == ["ttft_p95_s"]
    assert names(ttft(SLOW, SLOW)) == []
    assert symptoms(frame_of(histograms=ttft(SLOW), before=0)) == ()


def test_a_change_among_tiny_values_is_none() -> None:
    """From 5 to 20 milliseconds to the first token: nobody notices."""
    tiny = {"latency.ttft": Buckets((0.01, 0.03, 1), (0, 9, 0, 0), (9, 0, 0, 0))}
    assert names(tiny) == []


def test_the_view_nearest_to_the_user_speaks() -> None:
    """Where clients measure themselves, what the engine says is not asked."""
    both = {"client.ttft": Buckets(BOUNDS, FAST, FAST), **ttft(SLOW)}
    assert names(both, ttft_p95_s=1) == []
    assert names({"gateway.ttft": Buckets(BOUNDS, SLOW, FAST), **ttft(FAST)}, ttft_p95_s=1) == ["ttft_p95_s"]


def test_failed_requests() -> None:
    """A mean share above the promise, or three times the usual and two in a hundred."""
    failing = {"gateway.requests": 10, "gateway.5xx": Shift(0.01, 1)}
    (symptom,) = symptoms(derived(failing))
    assert (symptom.name, round(symptom.value, 2)) == ("error_ratio", 0.1)
    assert symptoms(derived(failing, objectives={"error_ratio": 0.2})) == ()
    assert symptoms(derived({"gateway.requests": 10, "gateway.5xx": Shift(0.001, 0.1)})) == ()


def test_a_symptom_carries_its_evidence_and_its_onset() -> None:
    """Value with bounds, threshold, what it usually was, and when it crossed half of the way."""
    errors = {"gateway.requests": 10, "gateway.5xx": lambda t: 2.0 if t > 300 else 0.0}
    frame = derived(errors, objectives={"error_ratio": 0.05})
    (symptom,) = symptoms(frame)
    assert (symptom.threshold, symptom.baseline, symptom.evidence.op) == (0.05, 0, ">")
    start = frame.recording.window.start
    assert symptom.onset is not None
    assert start + 300 <= symptom.onset <= start + 345
    (slow,) = symptoms(frame_of(histograms=ttft(SLOW), objectives={"ttft_p95_s": 1}))
    assert (slow.evidence.low, slow.evidence.high) == (5, None), "a tenth lies beyond the last bound"


def test_nothing_measured_is_no_symptom() -> None:
    """An empty recording says nothing."""
    assert symptoms(frame_of({})) == ()

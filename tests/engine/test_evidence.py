"""No value of a statistic is shown twice."""

from triage.engine.evidence import once_each
from triage.model.diagnosis import Evidence, Limit, Verdict

QUEUE = Evidence(signal="queue.waiting", subject="service/s", stat="peak", value=1500.0, op=">", threshold=15.6,
                 threshold_of="batch.running", verdict=Verdict.PRESENT, since=11.0)  # fmt: skip


def test_one_value_with_both_its_limits() -> None:
    """Two conditions on one value are one row, which holds from when both did."""
    other = QUEUE.model_copy(update={"threshold": 3.0, "threshold_of": "at least 3", "since": 9.0})
    (one,) = once_each([QUEUE, other])
    assert (one.threshold, one.also) == (15.6, (Limit(op=">", threshold=3.0, threshold_of="at least 3"),))
    assert one.since == 11.0
    assert once_each([QUEUE, QUEUE]) == (QUEUE,)


def test_what_differs_stays_apart() -> None:
    """Another statistic, subject, value or verdict; and what has no value, by what is said of it."""
    for change in ({"stat": "mean"}, {"subject": "replica/a"}, {"value": 2.0}, {"verdict": Verdict.ABSENT}, {"held": 2.0}):
        assert len(once_each([QUEUE, QUEUE.model_copy(update=change)])) == 2
    facts = [QUEUE.model_copy(update={"value": None, "text": text}) for text in ("a", "b")]
    assert once_each(facts) == tuple(facts)

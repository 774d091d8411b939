"""Which factor made the load grow."""

import pytest

from tests.engine.making import Buckets, Shift, derived
from triage.engine.frame import Frame
from triage.engine.observations.drivers import drivers
from triage.model.observation import Observation
from triage.model.vocabulary import Scope

GROWN = {"batch.running": Shift(8.0, 40.0)}


def driven(frame: Frame) -> dict[str, Observation]:
    return {one.of: one for one in drivers(frame).odd}


def test_more_arrivals_drive_the_load() -> None:
    found = driven(derived({**GROWN, "gateway.requests": Shift(2.0, 6.0)}))
    assert list(found) == ["arrivals"]
    assert found["arrivals"].size == pytest.approx(3.0, rel=0.2)
    told = found["arrivals"].attrs
    assert (told["share"], told["first"], told["counted"]) == ("1.00", "yes", "attempts")


def test_retries_are_told_from_demand() -> None:
    found = driven(derived({**GROWN, "requests.distinct": 2.0, "requests.attempts": Shift(2.0, 8.0)}))
    assert found["attempts"].size == pytest.approx(4.0, rel=0.2)
    assert "arrivals" not in found


def test_longer_answers_drive_the_load() -> None:
    lengths = Buckets((100.0, 10000.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0), value=Shift(80.0, 400.0))
    found = driven(derived(GROWN, histograms={"length.generation": lengths}))
    assert found["answer-length"].size == pytest.approx(5.0, rel=0.2)


def test_answers_that_do_not_end_are_long_though_none_of_them_is_counted() -> None:
    rows = {**GROWN, "tokens.generation": 400.0, "finished": Shift(2.0, 0.0)}
    lengths = Buckets((1000.0,), (0.0, 0.0), (2.0, 0.0), value=Shift(200.0, 200.0))
    size = driven(derived(rows, histograms={"length.generation": lengths}))["answer-length"].size
    assert size is not None
    assert size > 10


def test_a_limit_is_a_bottleneck_and_drives_only_alone() -> None:
    capped = {"batch.running": 8.0, "batch.limit": 8.0, "queue.waiting": Shift(0.0, 40.0), "kv.usage": 0.2}
    assert driven(derived(capped))["limit"].attrs["first"] == "yes"
    both = driven(derived({**capped, "gateway.requests": Shift(2.0, 6.0)}))
    assert (both["limit"].attrs["first"], both["arrivals"].attrs["first"]) == ("no", "yes")


def test_shares_add_up() -> None:
    lengths = Buckets((100.0, 10000.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0), value=Shift(80.0, 400.0))
    frame = derived({**GROWN, "gateway.requests": Shift(2.0, 6.0)}, histograms={"length.generation": lengths})
    assert sum(float(one.attrs["share"]) for one in drivers(frame).odd) == pytest.approx(1.0, abs=0.02)


def test_where_no_load_grew_nothing_drives_it_and_that_is_known() -> None:
    seen = drivers(derived({"batch.running": 8.0, "gateway.requests": Shift(2.0, 6.0)}))
    assert not seen.odd
    assert seen.could_tell("driver", ["arrivals"], Scope.SERVICE)
    assert not seen.could_tell("driver", ["answer-length"], None)


def test_without_anything_inside_nobody_can_say() -> None:
    assert not drivers(derived({"gateway.requests": Shift(2.0, 6.0)})).judged

"""Instruments that cannot be believed: cards that stand still, logs that end, numbers of autoscalers."""

import numpy as np
import pytest

from tests.engine.making import Shift, cells, derived, tail, unknown
from triage.engine.frame import Frame

LINKS = {"gpu/g0": ["replica/a"]}


def wave(offset: float) -> float:
    """A value that never stays."""
    return 300.0 + 20.0 * float(np.sin(offset / 7.0))


def still_from(moment: float) -> dict[str, object]:
    """A card whose values stand still from a moment on, seconds after the window's start."""

    def frozen(offset: float) -> float:
        return wave(min(offset, moment))

    return {"gpu.power": frozen, "gpu.temp": 60.0, "gpu.sm_clock": 1.98e9, "gpu.util": lambda t: frozen(t) / 1000.0}


def test_a_card_that_stands_still_while_tokens_flow_is_frozen() -> None:
    """What counts are seconds of work since the last value that changed."""
    frame = derived({**still_from(120.0), "tokens.generation": 500.0}, links=LINKS)
    assert tail(frame, "gpu.frozen") == pytest.approx(480.0, abs=30.0)


def test_a_card_that_moves_in_any_value_is_not_frozen() -> None:
    """Temperature and clocks may well stay; power does not."""
    frame = derived({**still_from(9999.0), "tokens.generation": 500.0}, links=LINKS)
    assert float(np.nanmax(cells(frame, "gpu.frozen"))) <= 15.0


def test_a_card_without_work_may_stand_still() -> None:
    """An idle card draws the same power for long."""
    frame = derived({**still_from(120.0), "tokens.generation": Shift(500.0, 0.0)}, links=LINKS)
    assert float(np.nanmax(cells(frame, "gpu.frozen"))) <= 15.0


def test_a_card_that_nobody_owns_by_label_is_judged_by_the_engines_of_its_host() -> None:
    """An exporter without pod labels knows the host only."""
    links = {"gpu/g0": ["node/n1"], "replica/a": ["node/n1"]}
    frame = derived({**still_from(0.0), "tokens.generation": 500.0}, links=links)
    assert tail(frame, "gpu.frozen") > 500.0


def test_few_or_coarse_values_prove_nothing() -> None:
    """Temperature, clocks and memory of a card in steady work are whole numbers that stay."""
    coarse = {"gpu.temp": 60.0, "gpu.sm_clock": 1.98e9, "gpu.mem_used": 7e10}
    assert unknown(derived({**coarse, "tokens.generation": 500.0}, links=LINKS), "gpu.frozen")
    assert unknown(derived({"gpu.power": 300.0, "gpu.temp": 60.0, "tokens.generation": 500.0}, links=LINKS), "gpu.frozen")


def logs(lines: object, *, work: object = 500.0, gateway: object = None) -> Frame:
    """A replica with a log, and perhaps a gateway with one."""
    told: dict[str, object] = {"log.lines": lines, "tokens.generation": work}
    if gateway is not None:
        told |= {"gateway.log_lines": gateway, "gateway.requests": 3.0}
    return derived(told)


def test_a_log_that_ends_while_its_engine_works_is_silent() -> None:
    """Ten minutes of work without a line."""
    assert tail(logs(Shift(0.2, 0.0)), "log.silent") == pytest.approx(600.0, abs=30.0)


def test_a_log_is_not_silent_without_work() -> None:
    """Engines write their load only while they have some."""
    assert tail(logs(Shift(0.2, 0.0), work=Shift(500.0, 0.0)), "log.silent") == pytest.approx(0.0, abs=30.0)


@pytest.mark.parametrize("lines", [lambda t: 0.2 if 0 < t < 200 else 0.0, lambda t: 0.2 if t % 240 < 15 else 0.0])
def test_an_excerpt_and_a_rare_log_tell_nothing(lines: object) -> None:
    """A log must be regular before the window."""
    assert unknown(logs(lines), "log.silent")


def test_logs_that_end_together_were_not_collected_any_longer() -> None:
    """A gateway's log goes on as long as logs are collected."""
    assert unknown_late(logs(Shift(0.2, 0.0), gateway=Shift(1.0, 0.0)))
    assert tail(logs(Shift(0.2, 0.0), gateway=1.0), "log.silent") > 500.0


def unknown_late(frame: Frame) -> bool:
    """Whether the end of the window is unknown."""
    return bool(np.isnan(cells(frame, "log.silent")[-10:]).all())


def autoscaler(value: float, target: float, metric: str, fill: float = 0.2) -> Frame:
    """An autoscaler that follows a value, and a replica's cache."""
    told = {"autoscaler.value": value, "autoscaler.target": target, "kv.usage": fill}
    return derived(told, facts={"autoscaler_metric": metric})


def test_a_sum_of_ratios_exceeds_what_any_replica_shows() -> None:
    """As a ratio or in per cent, by the metric's name."""
    assert tail(autoscaler(1.2, 0.8, "llm_kv_usage"), "autoscaler.excess") == pytest.approx(6.0)
    assert tail(autoscaler(120.0, 80.0, "vllm:kv_cache_usage_perc"), "autoscaler.excess") == pytest.approx(6.0)


def test_a_number_of_requests_is_no_ratio() -> None:
    """Its target is above 1, and nothing in its name says that it is a share."""
    assert unknown(autoscaler(33.0, 16.0, "requests_outstanding"), "autoscaler.share")
    assert unknown(autoscaler(3.0, 1.0, "vllm:num_requests_waiting"), "autoscaler.share")

"""The headline: one sentence that says the most important thing first."""

from collections.abc import Callable
from dataclasses import replace
from math import nan

import pytest

from tests.engine.making import Buckets, Shift, at, make_recording, rule
from triage.engine.diagnose import diagnose
from triage.engine.promises.table import DELAYS, HELD, LOSSES
from triage.model.diagnosis import Status
from triage.model.recording import Recording, Source, SourceState
from triage.model.vocabulary import NOTICED, catalogue

FULL = rule("full", {"signal": "kv.usage", "above": 0.9}, title="The cache is full", finding="{subject} is full")
WELL = {"gateway.requests": 10, "gateway.2xx": 10, "gateway.5xx": 0}


def head(recording: Recording) -> str:
    """The headline of a recording."""
    return diagnose(recording, [FULL]).headline


def failed(recording: Recording, name: str, reason: str) -> Recording:
    """A recording with a source that failed."""
    return replace(recording, sources=(Source(name, SourceState.FAILED, reason),))


def test_a_source_that_is_refused_is_the_answer() -> None:
    """Nothing else is known, so nothing else is said; what to do about it stands below."""
    told = diagnose(failed(make_recording(), "prometheus", "http://metrics:9090 refuses connections; is the port right?"), [FULL])
    assert told.headline == "Prometheus at http://metrics:9090 refuses connections; nothing is known of svc."
    assert told.status is Status.INCONCLUSIVE


def test_a_server_that_knows_nobody_of_that_name_says_whom_it_knows() -> None:
    """A misspelt name is seen at once; that no Prometheus was named is no reason."""
    asked = "http://metrics:9090 has nothing that is called svc; engines on this server go by chat"
    absent = replace(make_recording(), sources=(Source("prometheus", SourceState.ABSENT, asked),))
    assert head(absent) == f"Nobody can tell how svc is, since Prometheus at {asked}."
    unnamed = replace(make_recording(), sources=(Source("prometheus", SourceState.ABSENT, "no Prometheus is named"),))
    assert "Prometheus" not in head(unnamed)


def test_an_engine_that_refuses_is_an_incident() -> None:
    """The user named it as an engine, and nothing listens there."""
    refused = make_recording({"target.up@replica/127.0.0.1:8000": 0}, before=0, inside=30, step=5)
    told = diagnose(failed(refused, "endpoints", "127.0.0.1:8000 refuses the connection: nothing listens there"), [FULL])
    assert told.headline.startswith("127.0.0.1:8000 refuses the connection, nothing listens there; nobody gets an answer")
    assert told.status is Status.INCIDENT


def test_healthy_says_what_was_measured() -> None:
    """Figures, and how many kinds could be judged."""
    fine = make_recording(WELL, histograms={"latency.ttft": Buckets((1, 5), (9, 0, 0))})
    told = "Healthy for users (TTFT p95 950 ms, errors 0 %)"
    assert head(fine) == f"{told}; 0 of 1 kinds of failure could be judged."


def test_trouble_that_is_over_is_said_to_be_over() -> None:
    """The cache was full and requests failed for five minutes; the state is that of the window."""
    failing = {**WELL, "gateway.5xx": lambda t: 2.0 if 0 < t <= 300 else 0.0, "kv.usage": Shift(0.3, 0.97)}
    assert head(make_recording(failing, inside=1800)).endswith("; over since 09:15:00.")


def test_what_is_open_is_said() -> None:
    """All first tokens lie in one bucket around the promise."""
    open_ = make_recording(WELL, histograms={"latency.ttft": Buckets((1, 10), (0, 9, 0))}, objectives={"ttft_p95_s": 3})
    assert head(open_).startswith(
        "Nobody can tell how svc is, since time to first token (p95), the bucket around the limit of 3 s"
    )


def test_what_was_asked_for_in_vain_leaves_open_that_all_is_well() -> None:
    """Which of the signals that promises are read from, and why; what else was lost does not matter for that."""
    fine = make_recording(WELL, histograms={"latency.ttft": Buckets((1, 5), (9, 0, 0))})
    reason = "vllm:kv_cache_usage_perc: http://metrics:9090 asks for fewer questions (429)"
    told = diagnose(replace(fine, unanswered={"kv.usage": reason}), [FULL])
    assert told.status is Status.INCONCLUSIVE
    assert "was asked for in vain, vllm:kv_cache_usage_perc, http://metrics:9090 asks for fewer questions (429)" in told.headline
    (kv,) = (one for one in told.coverage.signals if one.signal == "kv.usage")
    assert kv.reason == reason
    assert diagnose(replace(fine, unanswered={"gpu.temp": reason}), [FULL]).status is Status.HEALTHY


def test_all_that_promises_are_read_from_is_asked_for_first() -> None:
    """The list of these signals is that of the tables, as far as sources bring them."""
    views = [view for loss in LOSSES for group in loss.views for view in group]
    read = {signal for delay in (*DELAYS, HELD) for signal in delay.signals}
    read |= {signal for view in views for signal in (view.asked, *view.lost, *view.well)}
    assert {signal for signal in read if not catalogue()[signal].derived} <= NOTICED
    assert catalogue().keys() >= NOTICED


def test_who_could_judge_nothing_does_not_say_that_all_is_well() -> None:
    """Users are well by what a gateway counts, and no engine, log or card was seen: nobody knows of any kind."""
    fine = make_recording(WELL, histograms={"latency.ttft": Buckets((1, 5), (9, 0, 0))})
    blind = [rule(f"blind-{number}", {"signal": "kv.usage", "above": 0.9}) for number in range(30)]
    told = diagnose(fine, blind)
    assert told.coverage.rules_evaluated == 0
    assert told.status is Status.INCONCLUSIVE
    assert told.headline.endswith("sers are well, but none of 30 kinds of failure could be judged.")
    assert diagnose(fine, [*blind, rule("seen", {"signal": "gateway.requests", "below": 1})]).status is Status.HEALTHY
    engines = make_recording(WELL | {"batch.running": 3}, histograms={"latency.ttft": Buckets((1, 5), (9, 0, 0))})
    assert diagnose(engines, blind).status is Status.HEALTHY


@pytest.mark.parametrize(
    ("inside", "drained", "status"),
    [(1.0, True, Status.HEALTHY), (1.0, False, Status.INCONCLUSIVE), (900.0, True, Status.INCONCLUSIVE)],
    ids=["drained", "nobody drained it", "more inside than may fail"],
)
def test_a_drained_replica_that_came_back_leaves_no_doubt(inside: float, *, drained: bool, status: Status) -> None:
    """Its last sample shows a request inside; had it failed, the promise about failures would be kept all the same."""

    def here(value: float) -> Callable[[float], float]:
        return lambda since: nan if 300 < since < 420 else value

    recording = make_recording(
        {
            "batch.running@replica/a": here(inside),
            "batch.running@replica/b": 8.0,
            "target.up@replica/a": lambda since: float(not 300 < since < 420),
            "target.up@replica/b": 1.0,
            "finished@replica/b": 5.0,
            "finished.error@replica/b": 0.0,
            "queue.waiting@replica/b": 0.0,
        },
        histograms={f"{name}@replica/b": Buckets((0.05, 1, 5), (9, 0, 0, 0)) for name in ("latency.ttft", "latency.itl")},
        events=[at(250, "drain", "", subject="replica/a", service="a")] if drained else [],
        objectives={"error_ratio": 0.02},
    )
    assert diagnose(recording, [rule("seen", {"signal": "batch.running", "below": 0})]).status is status

"""The ledger of promises: kept only if what was seen excludes that it is broken; what cannot be told is open."""

from dataclasses import replace
from math import nan
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from tests.engine.making import BEGIN, Buckets, Shift, derived, frame_of, who
from triage.engine.diagnose import diagnose
from triage.engine.explanation.state import Harm, harm_of, is_busier, state_of
from triage.engine.frame import Frame
from triage.engine.observations.flows import flows
from triage.engine.observations.promises import promises
from triage.engine.promises import entries, ledger
from triage.engine.promises.entries import surely_above
from triage.engine.promises.signs import signs
from triage.ingest.files.incident import read_incident
from triage.model.diagnosis import Promised, Status, Vital
from triage.model.observation import Observation, Seen, Sort
from triage.model.recording import Event, Histogram, Recording, Series
from triage.model.vocabulary import Scope

BOUNDS = (0.1, 0.5, 1, 5)
FAST, SLOW = (0, 9, 1, 0, 0), (0, 0, 0, 9, 1)
KEPT, BROKEN, OPEN = Promised.KEPT, Promised.BROKEN, Promised.OPEN
WELL = {"gateway.requests": 10, "gateway.2xx": 10, "gateway.5xx": 0, "batch.running": 8, "queue.waiting": 0, "finished": 10}


def vital(frame: Frame, name: str, subject: str = "service/svc") -> Vital:
    """One line of the ledger."""
    return next(one for one in ledger(frame) if one.name == name and one.subject == subject)


def ttft(inside: tuple[int, ...], *, value: float | None = None, before: float = 0, **told: float) -> Vital:
    """What becomes of a promise about the time to first token."""
    mean = None if value is None else Shift(value, value)
    histograms = {"latency.ttft": Buckets(BOUNDS, inside, value=mean)}
    return vital(frame_of(histograms=histograms, objectives=told, before=before), "ttft_p95_s")


def status(frame: Frame) -> Status:
    """The state of a service of which no rule says anything."""
    return state_of(ledger(frame), (), frame)


def well(*, objectives: dict[str, float] | None = None, before: float = 600, **signals: object) -> Frame:
    """A service that does well, but for these signals."""
    return derived(
        {**WELL, **signals},
        histograms={"latency.ttft": Buckets(BOUNDS, FAST)},
        objectives=objectives or {"ttft_p95_s": 2.0, "error_ratio": 0.01},
        before=before,
    )


@pytest.mark.parametrize(
    ("inside", "promise", "state"),
    [
        (FAST, 1.0, KEPT),
        (SLOW, 1.0, BROKEN),
        ((0, 0, 0, 10, 0), 2.0, OPEN),
        ((0, 90, 0, 10, 0), 2.0, OPEN),
        ((0, 97, 0, 3, 0), 2.0, KEPT),
    ],
    ids=["below", "beyond", "all in the bucket around it", "a tenth in the bucket around it", "too few to matter"],
)
def test_a_quantile_whose_bucket_straddles_the_promise_is_open(inside: tuple[int, ...], promise: float, state: Promised) -> None:
    """Where the bucket does not tell and the sum of all times leaves room for both, nobody can say."""
    assert ttft(inside, value=2.0 if state is OPEN else None, ttft_p95_s=promise).state is state


def test_the_sum_of_all_times_says_how_many_can_be_beyond() -> None:
    """A tenth lies between 1 and 5 seconds, but together they took so little that few of them can be beyond 2."""
    assert ttft((0, 90, 0, 10, 0), value=0.23, ttft_p95_s=2.0).state is KEPT


@given(
    counts=some.lists(some.integers(0, 40), min_size=5, max_size=5).filter(lambda counts: sum(counts) > 0),
    promise=some.floats(0.05, 6.0),
    places=some.lists(
        some.floats(0.001, 0.999), min_size=5, max_size=5
    ),  # its upper bound belongs to a bucket, its lower does not
)
def test_the_ledger_never_contradicts_the_requests_behind_the_buckets(
    counts: list[int], promise: float, places: list[float]
) -> None:
    """Wherever in their buckets the requests really were: kept means at most a twentieth beyond, broken means more."""
    lows, highs = np.array([0.0, *BOUNDS]), np.array([*BOUNDS, 10.0])
    true = lows + (highs - lows) * np.array(places)
    mean = float(np.array(counts) @ true) / sum(counts)
    told = ttft(tuple(counts), value=mean, ttft_p95_s=promise)
    beyond = sum(count for count, time in zip(counts, true, strict=True) if time > promise) / sum(counts)
    assert told.state is not KEPT or beyond <= 0.05 + 1e-6
    assert told.state is not BROKEN or beyond > 0.05


@given(whole=some.floats(1, 1e6), share=some.floats(0.001, 1), allowed=some.floats(0.001, 0.5), doubt=some.floats(1, 4))
def test_what_lies_surely_above_lies_above(whole: float, share: float, allowed: float, doubt: float) -> None:
    """The lower bound of a share is no more than the share, and more doubt never makes surer."""
    if surely_above(share * whole, whole, allowed, doubt):
        assert share > allowed
        assert surely_above(share * whole, whole, allowed, doubt / 2)


@pytest.mark.parametrize(
    ("inside", "state"),
    [((5, 5, 0, 0, 0), KEPT), ((0, 0, 5, 5, 0), OPEN), ((0, 0, 0, 0, 9), BROKEN)],
    ids=["well", "between", "too long for anybody"],
)
def test_without_promise_and_past_there_are_defaults(inside: tuple[int, ...], state: Promised) -> None:
    """Below two seconds to the first token it is well, beyond ten it is not, between them it depends on who waits."""
    bounds = (0.5, 1.0, 5.0, 20.0)
    told = frame_of(histograms={"latency.ttft": Buckets(bounds, inside)}, before=0)
    assert vital(told, "ttft_p95_s").state is state


@pytest.mark.parametrize(
    ("signal", "mean", "tokens", "state"),
    [
        ("latency.itl", 0.021, 50.0, KEPT),
        ("latency.itl", 0.033, 50.0, OPEN),
        ("latency.itl", 0.033, 50_000.0, KEPT),
        ("latency.ttft", 0.021, 50.0, OPEN),
    ],
)
def test_of_a_mean_alone_as_far_as_such_times_scatter(signal: str, mean: float, tokens: float, state: Promised) -> None:
    """Tokens of a batch come with its steps, and the mean over a request evens them out; first tokens may scatter as they like.

    :param tokens: tokens per second, of 50 times that are counted
    """
    told = Buckets((), (50.0,), value=Shift(mean, mean))
    name = f"{signal.removeprefix('latency.')}_p95_s"
    frame = frame_of({"tokens.generation@replica/a": tokens}, histograms={signal: told}, objectives={name: 0.06})
    assert vital(frame, name).state is state


def test_a_service_that_does_well_is_healthy_and_harms_nobody() -> None:
    """Every promise is known to be kept."""
    frame = well()
    assert {one.state for one in ledger(frame)} == {KEPT}
    assert harm_of(ledger(frame)) == Harm(users=False, inside=False)
    assert status(frame) is Status.HEALTHY


def test_five_bad_minutes_of_an_hour_count_and_say_when_they_ended() -> None:
    """A tenth of the requests of five minutes fail, half an hour ago: the promise is broken, and it is over."""
    failing = {"gateway.requests": 10, "gateway.2xx": 9, "gateway.5xx": lambda t: 1.0 if 1500 < t <= 1800 else 0.0}
    frame = derived({**WELL, **failing}, objectives={"error_ratio": 0.01}, inside=3600.0)
    told = vital(frame, "error_ratio")
    assert (told.state, told.reason[:25]) == (BROKEN, "in the worst five minutes")
    assert told.until == frame.recording.window.start + 1800
    assert told.now == 0


def test_both_replicas_dead_in_the_last_minute_of_an_hour_is_an_incident() -> None:
    """Two scrapes that fail, all of them, decide; the hour of health before does not."""

    def up(t: float) -> float:
        return 1.0 if t < 3600 - 30 else 0.0

    def seen(value: float) -> object:
        return lambda t: value if t < 3600 - 30 else nan

    signals = {f"target.up@replica/{one}": up for one in "ab"} | {f"batch.running@replica/{one}": seen(4) for one in "ab"}
    frame = derived(signals, inside=3600.0)
    told = vital(frame, "answers")
    assert (told.state, told.since) == (BROKEN, frame.recording.window.end - 30)
    assert status(frame) is Status.INCIDENT


def test_a_gateway_whose_last_requests_all_fail_is_an_incident() -> None:
    """Half a minute in which nobody gets an answer, at the end of an hour."""
    frame = derived(
        {
            "gateway.requests": 10,
            "gateway.2xx": lambda t: 10.0 if t < 3570 else 0.0,
            "gateway.5xx": lambda t: 0.0 if t < 3570 else 10.0,
        },
        inside=3600.0,
    )
    assert vital(frame, "error_ratio").state is BROKEN
    assert status(frame) is Status.INCIDENT


def test_where_a_request_comes_now_and_then_the_last_minutes_are_looked_at() -> None:
    """A request each half minute, the last one half a minute ago: somebody gets answers."""
    seldom = lambda t: 1 / 15 if t % 30 < 15 else 0.0  # noqa: E731 - a rate over time
    assert vital(derived({"gateway.requests": seldom, "gateway.2xx": seldom, "gateway.5xx": 0}), "answers").state is KEPT
    assert vital(derived({"gateway.requests": seldom, "gateway.2xx": 0, "gateway.5xx": seldom}), "answers").state is BROKEN


@pytest.mark.parametrize(("failed", "state"), [("0", KEPT), ("9", OPEN)])
def test_requests_at_unknown_times_are_well_only_if_hardly_any_failed(failed: str, state: Promised) -> None:
    """When those failed is not known, so that nothing is said of now."""
    told = Event(BEGIN + 900.0, "log", "undated-requests", attrs={"requests": "60", "failed": failed})
    frame = frame_of({}, events=[told], objectives={"error_ratio": 0.01})
    assert vital(frame, "error_ratio").state is state


def test_one_silent_replica_is_open_while_everybody_outside_gets_an_answer() -> None:
    """It may be dead, or only out of the monitoring's sight; where requests fail it is dead."""
    silent = {"target.up@replica/a": lambda t: 1.0 if t < 300 else 0.0, "target.up@replica/b": 1, "gateway.requests": 10}
    assert vital(derived({**silent, "gateway.2xx": 10}), "answers", "replica/a").state is OPEN
    assert vital(derived({**silent, "gateway.2xx": 7}), "answers", "replica/a").state is BROKEN


@pytest.mark.parametrize(("inside", "told"), [(0.0, False), (8.0, True)], ids=["drained", "busy"])
def test_a_replica_that_was_empty_when_it_went_owes_no_answer(inside: float, *, told: bool) -> None:
    """It came back; of what was inside nobody knows what became of it."""

    def running(since: float) -> float:
        return nan if 300 < since < 420 else inside if 200 < since < 420 else 8.0

    frame = derived(
        {
            "batch.running@replica/a": running,
            "batch.running@replica/b": 8.0,
            "target.up@replica/a": lambda since: float(not 300 < since < 420),
            "target.up@replica/b": 1.0,
            "finished@replica/b": 5.0,
        },
        histograms={"latency.ttft@replica/b": Buckets(BOUNDS, FAST)},
    )
    assert any(one.subject == "replica/a" and one.name == "answers" and one.state is OPEN for one in ledger(frame)) is told


def test_a_replica_that_nobody_wants_any_more_is_no_loss() -> None:
    """After a scale-in as many work as are wanted; while one more is wanted, the silent one is missed."""
    silent = {"target.up@replica/a": lambda t: 1.0 if t < 300 else 0.0, "target.up@replica/b": 1, "batch.running@replica/b": 3}
    fewer = derived({**silent, "replicas.desired@service/svc": lambda t: 2 if t < 290 else 1})
    assert not any(one.subject == "replica/a" for one in ledger(fewer) if one.name == "answers")
    missed = derived({**silent, "replicas.desired@service/svc": 2})
    assert vital(missed, "answers", "replica/a").state is BROKEN


def test_a_state_rests_on_no_old_values() -> None:
    """Everything ends four minutes before the window does: open, and inconclusive."""

    def old(value: float) -> object:
        return lambda t: value if t < 360 else nan

    frame = derived({"gateway.requests": old(10), "gateway.2xx": old(10), "gateway.5xx": old(0)})
    assert [vital(frame, name).state for name in ("answers", "error_ratio")] == [OPEN, OPEN]
    assert status(frame) is Status.INCONCLUSIVE


@pytest.mark.parametrize(
    ("aborted", "promise", "expected"),
    [(0, 0.01, Status.HEALTHY), (0, None, Status.HEALTHY), (None, 0.01, Status.INCONCLUSIVE), (5, 0.01, Status.DEGRADED)],
)
def test_a_promise_of_failures_that_an_engine_does_not_count(
    aborted: float | None, promise: float | None, expected: Status
) -> None:
    """That somebody promised a share takes no health away where the engine counts what it gives up, and that is nothing."""
    signals: dict[str, object] = {name: WELL[name] for name in ("batch.running", "queue.waiting", "finished")}
    given_up: dict[str, object] = {} if aborted is None else {"finished.abort": Shift(0, aborted)}
    objectives = {"ttft_p95_s": 2.0} | ({} if promise is None else {"error_ratio": promise})
    frame = derived(signals | given_up, histograms={"latency.ttft": Buckets(BOUNDS, FAST)}, objectives=objectives)
    assert status(frame) in (expected, Status.INCIDENT if aborted else expected)


def test_one_bad_replica_of_eight_is_not_lost_in_the_mean() -> None:
    """The service keeps its promise; the replica does not."""
    rows = {f"latency.ttft@replica/{one}": Buckets(BOUNDS, SLOW if one == "a" else (0, 90, 10, 0, 0)) for one in "abcdefgh"}
    frame = frame_of(histograms=rows, objectives={"ttft_p95_s": 1.0})
    assert vital(frame, "ttft_p95_s").state is not BROKEN
    assert vital(frame, "ttft_p95_s", "replica/a").state is BROKEN


def test_an_overloaded_engine_without_a_past_is_an_incident() -> None:
    """402 requests wait behind 16 that run, and less than one a second ends."""
    signals = {"queue.waiting": 402, "batch.running": 16, "finished": 0.8, "engine.steps": 20, "target.up@replica/a": 1}
    frame = derived(signals, inside=30.0, before=0.0, step=1.0)
    told = vital(frame, "queue_wait_s")
    assert (told.state, round(told.value or 0)) == (BROKEN, 502)
    assert status(frame) is Status.INCIDENT


@pytest.mark.parametrize(("promised", "state"), [({}, BROKEN), ({"e2e_p95_s": 900.0}, KEPT), ({"e2e_p95_s": 60.0}, BROKEN)])
def test_who_promises_whole_answers_lets_requests_wait_for_as_long(promised: dict[str, float], state: Promised) -> None:
    """A batch that keeps hundreds in flight waits on purpose; 400 wait and two a second end."""
    signals = {"queue.waiting": 400, "batch.running": 64, "finished": 2, "engine.steps": 20, "target.up@replica/a": 1}
    assert vital(derived(signals, objectives=promised), "queue_wait_s").state is state


def test_a_full_cache_that_throws_out_is_noticed_without_a_past() -> None:
    """The cache is full and as many requests are thrown out as end."""
    signals = {"kv.usage": 1.0, "preemptions": 1.0, "finished": 1.0, "batch.running": 9, "queue.waiting": 0}
    frame = derived(signals, inside=30.0, before=0.0, step=1.0)
    assert vital(frame, "preempted_ratio").state is BROKEN
    assert status(frame) is Status.DEGRADED


def test_where_nothing_ends_those_that_ended_say_nothing() -> None:
    """Ten a second end until nothing does, with requests inside: the delay of those that ended is open, not kept."""
    frame = derived(
        {"batch.running": 20, "queue.waiting": 0},
        histograms={"latency.ttft": Buckets(BOUNDS, FAST)},
        objectives={"ttft_p95_s": 2.0},
    )
    histogram = frame.histograms("latency.ttft")
    (one,) = histogram.values()
    one.rates[one.times > frame.recording.window.end - 120] = 0.0
    assert vital(Frame(frame.recording), "ttft_p95_s").state is OPEN


LOST = {"gateway.upstream_requests": 10, "batch.running": 8, "queue.waiting": 0, "finished": Shift(10, 6)}
"""Of ten a second that the gateway sends on four never end and are in no engine."""


@pytest.mark.parametrize(
    "outside",
    [
        {},
        {"gateway.requests": 10, "gateway.2xx": Shift(10, 6)},
        {"requests.distinct": 10, "requests.failed": Shift(0, 4)},
        {"gateway.requests": 0.1, "gateway.2xx": 0.1},
        {"gateway.requests": Shift(10, 6), "gateway.2xx": Shift(10, 6), "gateway.active": lambda t: 20 + 4 * max(0.0, t)},
    ],
    ids=["nobody", "gateway", "client", "excerpt", "still open"],
)
def test_requests_that_come_in_and_are_never_seen_again_are_missed(outside: dict[str, object]) -> None:
    """Where nobody nearer to the user says that they were answered, or says that they were not."""
    assert vital(derived({**LOST, **outside}), "vanished_ratio").state is BROKEN


@pytest.mark.parametrize(
    "outside",
    [{"gateway.requests": 10, "gateway.2xx": 10}, {"requests.distinct": 8, "requests.failed": 0}],
    ids=["gateway", "client"],
)
def test_what_is_answered_outside_has_not_vanished(outside: dict[str, object]) -> None:
    """Two counters that disagree are a doubt about one of them, no harm."""
    frame = derived({**LOST, **outside})
    assert vital(frame, "vanished_ratio").state is KEPT
    assert [(one.of, one.salient) for one in flows(frame).odd] == [("not-conserved", False)]


def test_the_pace_that_a_gateway_measures_is_that_of_users() -> None:
    """An engine need not time its tokens itself where the gateway in front of it does."""
    frame = derived(WELL, histograms={"gateway.itl": Buckets((0.01, 0.1), (0, 9, 0), (0, 9, 0))}, objectives={"itl_p95_s": 0.2})
    assert vital(frame, "itl_p95_s").state is KEPT


def test_beside_an_excerpt_the_next_view_counts() -> None:
    """A few lines of an access log, all of them good, clear nobody whose requests fail further in."""
    few = {"gateway.requests": 0.1, "gateway.2xx": 0.1, "gateway.5xx": 0}
    frame = derived({**few, "backend.requests": 10, "backend.failures": Shift(0, 2), "finished": 10})
    assert vital(frame, "error_ratio").state is BROKEN


def test_a_kept_promise_that_users_must_notice_is_not_harmless() -> None:
    """From a tenth of a second to just below the promised two: nobody may call that no harm."""
    histograms = {"latency.ttft": Buckets((0.1, 1.0, 2.0), (0, 0, 9, 0), (9, 0, 0, 0))}
    frame = derived(WELL, histograms=histograms, objectives={"ttft_p95_s": 2.0, "error_ratio": 0.01})
    assert vital(frame, "ttft_p95_s").state is KEPT
    assert harm_of(ledger(frame)).users is None


@pytest.mark.parametrize(("asked", "users"), [(Shift(10, 10), None), (Shift(10, 25), False)])
def test_with_more_to_do_a_promise_that_is_kept_is_no_harm(asked: Shift, users: bool | None) -> None:
    """The wait has grown, as much as somebody of the service allows, and so have the requests."""
    histograms = {"latency.ttft": Buckets((0.1, 1.0, 2.0), (0, 0, 9, 0), (9, 0, 0, 0))}
    signals = {**WELL, "gateway.requests": asked, "gateway.2xx": asked, "finished": asked}
    frame = derived(signals, histograms=histograms, objectives={"ttft_p95_s": 2.0, "error_ratio": 0.01})
    assert harm_of(ledger(frame), busier=is_busier(frame)).users is users


def test_who_lets_answers_begin_late_waits_for_all_of_them() -> None:
    """A batch whose first tokens may come after a quarter of an hour is held to no minute for whole answers."""
    histograms = {"latency.e2e": Buckets((60.0, 300.0), (0, 9, 0), (9, 0, 0))}
    late, soon = (
        derived(WELL, histograms=histograms, objectives={"ttft_p95_s": limit, "error_ratio": 0.01}) for limit in (900.0, 2.0)
    )
    assert [one.name for one in ledger(late) if one.name.startswith("e2e")] == []
    assert vital(soon, "e2e_p95_s").state is not KEPT
    assert [one.name for one in signs(late, ledger(late)) if one.name.startswith("e2e")] == []


def test_refusals_that_step_up_are_noticed() -> None:
    """A tenth of the requests is refused from the window's start on, though nothing fails."""
    frame = derived({**WELL, "gateway.2xx": 9, "gateway.4xx": Shift(0.0, 1.0)})
    assert [vital(frame, name).state for name in ("error_ratio", "refused_ratio")] == [KEPT, BROKEN]


@pytest.mark.parametrize(("refused", "state"), [(0.8, KEPT), (3.0, OPEN), (12.0, BROKEN)])
def test_refusals_without_a_past_may_have_been_so_always(refused: float, state: Promised) -> None:
    """Who refuses one in ten may be in the right; a quarter leaves it open; a half is too much."""
    frame = derived({**WELL, "gateway.requests": 9.0 + refused, "gateway.2xx": 9, "gateway.4xx": refused}, before=0)
    assert vital(frame, "refused_ratio").state is state


def test_answers_that_are_worse_are_noticed() -> None:
    """A probe's score falls from 0.9 to 0.6."""
    told = vital(derived({"quality.score": Shift(0.9, 0.6)}), "quality")
    assert told.state is BROKEN
    assert told.harm >= 1


def test_a_broken_promise_is_an_observation() -> None:
    """Rules may speak of it, and of those that are known not to be broken."""
    frame = well(objectives={"ttft_p95_s": 0.2, "error_ratio": 0.01})
    seen = promises(frame)
    assert [(one.of, one.salient) for one in seen.odd] == [("ttft_p95_s", True)]
    assert seen.could_tell("promise", ["error_ratio"], Scope.SERVICE)
    assert not seen.could_tell("promise", ["quality"], Scope.SERVICE)


def odd(sort: Sort, of: str, *, subject: str = "replica/a", since: float | None = 60.0, **attrs: str) -> Observation:
    """Something odd that has to be explained, so many seconds after the window's start."""
    onset = None if since is None else (BEGIN + 600.0 + since, BEGIN + 600.0 + since)
    return Observation(sort, of, who(subject), f"{of} of {subject}", onset, attrs=attrs, salient=True)


def unread(*, subject: str = "replica/a", count: int = 1, new: str = "yes", **attrs: str) -> Observation:
    """A line that nobody understands and that does not ask for a reason by itself."""
    line = odd("said", "residue", subject=subject, new=new)
    return replace(line, salient=False, support=count, attrs={**line.attrs, **attrs})


@pytest.mark.parametrize(
    ("seen", "state"),
    [
        (odd("shift", "finished.length_ratio", since=None), Status.DEGRADED),
        (odd("instrument", "gap"), Status.HEALTHY),
        (odd("change", "scale", subject="service/svc"), Status.HEALTHY),
        (odd("life", "ended"), Status.DEGRADED),
        (unread(level="error"), Status.HEALTHY),
        (odd("said", "residue", level="error"), Status.HEALTHY),
        (unread(level="error", emitter="other"), Status.INCONCLUSIVE),
        (unread(level="error", emitter="other", new="no"), Status.HEALTHY),
        (unread(level="error", emitter="other", new="unknown"), Status.INCONCLUSIVE),
        (unread(level="warn", emitter="other"), Status.HEALTHY),
        (unread(level="warn", emitter="other", count=9), Status.INCONCLUSIVE),
        (unread(level="warn", emitter="other", new="unknown", count=9), Status.HEALTHY),
        (unread(level="error", emitter="other", elsewhere="yes"), Status.HEALTHY),
        (unread(emitter="other", subject="node/n1"), Status.HEALTHY),
        (odd("said", "registry-slow", severity="warning"), Status.HEALTHY),
        (odd("said", "toolchain-missing", severity="critical"), Status.DEGRADED),
    ],
    ids=[
        "odd",
        "an instrument that changed",
        "somebody's work",
        "an end that nobody planned",
        "an engine's error",
        "an engine's error that asks for a reason",
        "an error of a desk",
        "an error of a desk of every day",
        "an error of a desk of which nobody knows",
        "a warning of a desk",
        "a warning of a desk that it gives again and again",
        "a warning of a desk of which nobody knows",
        "an error elsewhere",
        "a program of a host",
        "a complaint while users are well",
        "something grave while users are well",
    ],
)
def test_what_nothing_explains_forbids_healthy(seen: Observation, state: Status) -> None:
    """Every promise is kept, and there is more to say."""
    frame = well()
    frame.seen = Seen((seen,))
    assert status(frame) is state


@pytest.mark.parametrize(("back", "state"), [(60.0, Status.HEALTHY), (-3000.0, Status.DEGRADED)])
def test_a_roll_out_that_was_taken_back_makes_no_progress_any_more(back: float, state: Status) -> None:
    """It is told as degraded until somebody tries again: that is no riddle. One that was taken back an hour ago is another."""
    frame = well()
    taken = odd("change", "rollback", subject="service/svc", since=back, relation="own")
    frame.seen = Seen((odd("shift", "rollout.stuck", subject="service/svc", since=120.0), replace(taken, salient=False)))
    assert status(frame) is state


@pytest.mark.parametrize(
    ("seen", "state"),
    [
        ([odd("said", "toolchain-missing", severity="critical")], Status.INCIDENT),
        ([odd("said", "weights-slow", severity="warning")], Status.DEGRADED),
        ([odd("life", "killed", subject="node/n1")], Status.INCONCLUSIVE),
        ([odd("life", "killed", stranger="yes")], Status.INCONCLUSIVE),
        ([odd("life", "killed"), odd("life", "ready", since=120)], Status.INCONCLUSIVE),
    ],
    ids=["a cause that ends a start", "a slow start", "a host", "a stranger", "ready again"],
)
def test_where_nobody_measures_users_the_word_of_the_own_programs_decides(seen: list[Observation], state: Status) -> None:
    """A log that ends with a failed start is no riddle: nobody is served."""
    frame = derived({})
    frame.seen = Seen(tuple(seen))
    assert status(frame) is state


def cut_off(recording: Recording, seconds: float) -> Recording:
    """A recording whose engines do not answer for its last seconds: their samples end, and each scrape of them fails."""
    end = recording.window.end - seconds

    def cut(one: Series) -> Series:
        if one.signal == "target.up":
            return replace(one, values=np.where(one.times > end, 0.0, one.values))
        return replace(one, times=one.times[one.times <= end], values=one.values[one.times <= end])

    engines = [one for one in recording.series if one.subject.scope is Scope.REPLICA]
    shortened = [
        replace(one, times=one.times[one.times <= end], rates=one.rates[one.times <= end], sums=one.sums[one.times <= end])
        for one in recording.histograms
    ]
    return replace(recording, series=[cut(one) for one in engines], histograms=shortened)


@pytest.mark.slow
@pytest.mark.parametrize(("seconds", "state"), [(0.0, Status.HEALTHY), (5.0, Status.INCIDENT), (20.0, Status.INCIDENT)])
def test_a_recorded_service_whose_engines_all_die_at_its_end(seconds: float, state: Status) -> None:
    """Scraped every two seconds: two or three failed scrapes decide."""
    recording = read_incident(Path(__file__).parents[1] / "quiet" / "healthy")
    assert diagnose(cut_off(recording, seconds), ()).status is state


def test_where_all_that_was_asked_is_counted_as_answered_nothing_failed() -> None:
    """A counter by status has no series of failures until the first; where a part is not accounted for, nobody knows."""
    objectives = {"error_ratio": 0.01}
    assert vital(frame_of({"gateway.requests": 10, "gateway.2xx": 10}, objectives=objectives), "error_ratio").state is KEPT
    assert vital(frame_of({"gateway.requests": 10, "gateway.2xx": 9.5}, objectives=objectives), "error_ratio").state is OPEN
    refused = {"gateway.requests": 10, "gateway.2xx": 9.5, "gateway.4xx": 0.5}
    assert vital(frame_of(refused, objectives=objectives), "error_ratio").state is KEPT


def test_answers_are_those_of_whoever_counts_the_requests() -> None:
    """A log of a few lines beside a gateway that counts all requests and no answers."""
    told = {"gateway.requests@gateway/a": 30, "gateway.requests@gateway/log": 0.05, "gateway.2xx@gateway/log": 0.05}
    assert vital(derived({**told, "batch.running": 8.0}), "answers").state is KEPT


def test_replicas_that_nobody_hears_while_a_proxy_gets_its_answers_from_them() -> None:
    """Only the side towards the engines is kept of the proxy."""
    heard = {"gateway.upstream_requests": 10, "gateway.upstream_2xx": 9.99}
    silent = {"batch.running": lambda t: 8.0 if t < 2400 else nan, "finished": lambda t: 10.0 if t < 2400 else nan}
    assert vital(derived({**heard, **silent}), "answers").state is KEPT
    assert vital(derived({**heard, **silent, "gateway.upstream_2xx": 3}), "answers").state is BROKEN


def test_a_view_that_ended_leaves_the_word_to_the_next() -> None:
    """The client's exporter went away in the middle; the engine goes on to time the same requests."""
    histograms = {"client.ttft": Buckets(BOUNDS, FAST), "latency.ttft": Buckets(BOUNDS, FAST)}
    frame = derived(histograms=histograms, objectives={"ttft_p95_s": 2.0})
    assert timed_by(frame) == "client.ttft"
    ended = Frame(replace(frame.recording, histograms=tuple(map(cut, frame.recording.histograms))))
    assert timed_by(ended) == "latency.ttft"
    assert vital(ended, "ttft_p95_s").state is KEPT


def cut(one: Histogram) -> Histogram:
    """What a client's exporter said before it went away."""
    until = len(one.times) * 2 // 3 if one.signal == "client.ttft" else len(one.times)
    return replace(one, times=one.times[:until], rates=one.rates[:until], sums=one.sums[:until])


def timed_by(frame: Frame) -> str:
    """The signal that the promise about the first token rests on."""
    return next(one.signal for one in entries(frame) if one.vital.name == "ttft_p95_s")


@pytest.mark.parametrize(("left", "state"), [(0.01, KEPT), (1.0, BROKEN)], ids=["a few", "a third"])
def test_losses_alone_are_held_against_what_others_count(left: float, state: Promised) -> None:
    """A log of nothing but failures says how many there were; the engines say of how many."""
    assert vital(derived({"gateway.client_left": Shift(0.0, left), "finished": 2.0}), "abandoned_ratio").state is state

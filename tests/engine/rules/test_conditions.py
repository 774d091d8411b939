"""Conditions: three answers, and the evidence behind each."""

from collections.abc import Callable
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from tests.engine.making import Buckets, Shift, at, context, frame_of, who
from triage.engine.frame import Frame
from triage.engine.rules.conditions import both, either, judge, subjects_for
from triage.engine.rules.context import Outcome
from triage.engine.witnesses import question
from triage.errors import ConfigError
from triage.model.diagnosis import Evidence, Verdict
from triage.model.recording import CHANGE_KINDS, LOG, Source, SourceState
from triage.model.rule import Condition

PRESENT, ABSENT, UNKNOWN = Verdict.PRESENT, Verdict.ABSENT, Verdict.UNKNOWN
nan = float("nan")

CONDITION: TypeAdapter[Condition] = TypeAdapter(Condition)


def asked(condition: object, frame: Frame, subject: str = "replica/a", onset: float | None = None) -> Outcome:
    """What becomes of a condition as a rule file writes it."""
    return judge(CONDITION.validate_python(condition), context(frame, subject, onset))


def verdict(condition: object, frame: Frame, subject: str = "replica/a", onset: float | None = None) -> Verdict:
    """Only its answer."""
    return asked(condition, frame, subject, onset).verdict


def evidence(condition: object, frame: Frame, subject: str = "replica/a", onset: float | None = None) -> Evidence:
    """Its one piece of evidence."""
    (one,) = [look.evidence for look in asked(condition, frame, subject, onset).looks]
    return one


# Three answers

TRUE = {"signal": "kv.usage", "above": 0.5}
FALSE = {"signal": "kv.usage", "below": 0.5}
OPEN = {"signal": "preemptions", "above": 0}
ANSWERS = [(TRUE, PRESENT), (FALSE, ABSENT), (OPEN, UNKNOWN)]
KNOWN = frame_of({"kv.usage": 0.9})


@pytest.mark.parametrize(("one", "other"), list(product(ANSWERS, repeat=2)))
def test_all_and_any_are_kleenes(one: tuple[dict[str, object], Verdict], other: tuple[dict[str, object], Verdict]) -> None:
    """All nine pairs: false beats unknown in ``all``, true beats unknown in ``any``."""
    (first, a), (second, b) = one, other
    order = [ABSENT, UNKNOWN, PRESENT]
    assert verdict({"all": [first, second]}, KNOWN) is min(a, b, key=order.index)
    assert verdict({"any": [first, second]}, KNOWN) is max(a, b, key=order.index)


@pytest.mark.parametrize(("condition", "answer"), ANSWERS)
def test_not_leaves_unknown_as_it_is(condition: dict[str, object], answer: Verdict) -> None:
    """The opposite of nothing known is nothing known, and two nots are none."""
    turned = {PRESENT: ABSENT, ABSENT: PRESENT, UNKNOWN: UNKNOWN}
    assert verdict({"not": condition}, KNOWN) is turned[answer]
    assert verdict({"not": {"not": condition}}, KNOWN) is answer


VERDICTS = st.lists(st.sampled_from([PRESENT, ABSENT, UNKNOWN]), min_size=1, max_size=6)


@given(VERDICTS)
def test_order_and_repetition_do_not_matter(verdicts: list[Verdict]) -> None:
    """``all`` and ``any`` over any number of parts are the same in any order (and De Morgan holds by how they are made)."""
    assert both(verdicts) is both(sorted(verdicts) * 2)
    assert either(verdicts) is either(sorted(verdicts, reverse=True) * 2)


@given(VERDICTS, st.integers(0, 5), st.sampled_from([PRESENT, ABSENT]))
def test_learning_more_never_turns_an_answer_round(verdicts: list[Verdict], place: int, learned: Verdict) -> None:
    """Where an answer was given in spite of something unknown, knowing it does not change the answer."""
    place %= len(verdicts)
    before = [*verdicts[:place], UNKNOWN, *verdicts[place + 1 :]]
    after = [*verdicts[:place], learned, *verdicts[place + 1 :]]
    for join in (both, either):
        assert join(before) in (UNKNOWN, join(after))


def test_only_what_decides_is_evidence() -> None:
    """Of alternatives the ones that hold, of requirements the ones that fail; else all of them."""
    assert [look.verdict for look in asked({"any": [FALSE, TRUE, OPEN]}, KNOWN).looks] == [PRESENT]
    assert [look.verdict for look in asked({"all": [FALSE, TRUE, OPEN]}, KNOWN).looks] == [ABSENT]
    assert [look.verdict for look in asked({"all": [TRUE, OPEN]}, KNOWN).looks] == [PRESENT, UNKNOWN]


# Missing data

MEASURES = [
    {"signal": "kv.usage", "stat": "max", "below": 0.9},
    {"signal": "kv.usage", "stat": "mean", "at_least": 0.9},
    {"signal": "kv.usage", "above": 0.5, "lasting": 60},
    {"signal": "kv.usage", "above": {"baseline": 1.5}},
    {"signal": "kv.usage", "above": {"peers": 1.5}},
    {"signal": "kv.usage", "above": {"signal": "batch.fill"}},
    {"signal": "kv.usage", "above": {"signal": "batch.fill"}, "lasting": 60},
    {"signal": "kv.usage", "across": "all", "above": 0.5},
    {"signal": "latency.ttft", "stat": "p95", "above": 1},
    {"gone": "kv.usage"},
    {"fact": "engine", "matches": "vllm"},
    {"event": "log", "name": ["cuda-oom"], "emitter": "engine", "at_least": 1},
    {"event": "log", "name": ["cuda-oom"], "emitter": "engine", "at_most": 0},
    {"event": "deploy", "within": 600, "at_least": 1},
    {"event": "xid", "at_most": 0},
]


@pytest.mark.parametrize("condition", MEASURES, ids=str)
def test_nothing_measured_is_unknown_either_way(condition: dict[str, object]) -> None:
    """No condition over an empty recording holds or fails, and neither does its opposite."""
    empty = frame_of({})
    assert verdict(condition, empty) is UNKNOWN
    assert verdict({"not": condition}, empty) is UNKNOWN


def test_a_signal_that_ended_before_the_window_is_unknown() -> None:
    """What was measured in the baseline only says nothing of the window, and the evidence says so."""
    frame = frame_of({"kv.usage": Shift(0.9, nan)})
    found = evidence({"signal": "kv.usage", "stat": "max", "below": 0.95}, frame)
    assert (found.verdict, found.text, found.value) == (UNKNOWN, "no samples in the window", None)


def test_a_rejected_signal_says_why() -> None:
    """A reading out of its unit's range is as good as none."""
    frame = frame_of({}, rejected={"kv.usage": "vLLM says 97 where kv.usage lies between 0 and 1"})
    assert evidence({"signal": "kv.usage", "above": 0.5}, frame).text.startswith("vLLM says 97")


@pytest.mark.parametrize(
    ("condition", "answer"),
    [
        ({"stat": "max", "below": 0.9}, UNKNOWN),
        ({"stat": "max", "at_least": 0.9}, UNKNOWN),
        ({"stat": "max", "at_least": 0.4}, PRESENT),
        ({"stat": "min", "at_least": 0.4}, UNKNOWN),
        ({"stat": "min", "below": 0.6}, PRESENT),
        ({"stat": "changes", "at_most": 0}, UNKNOWN),
        ({"stat": "mean", "below": 0.9}, PRESENT),
    ],
)
def test_that_something_never_happened_needs_most_of_the_span(condition: dict[str, object], answer: Verdict) -> None:
    """A quarter of the window seen proves what happened in it, and does not prove what did not happen in the rest."""
    frame = frame_of({"kv.usage": lambda t: 0.5 if t <= 150 else nan})
    assert verdict({"signal": "kv.usage", **condition}, frame) is answer


def test_no_increase_in_what_was_seen_is_not_none() -> None:
    """A counter seen for two minutes of ten did not stand still for ten."""
    frame = frame_of({"preemptions": lambda t: 0.0 if t <= 120 else nan})
    assert verdict({"signal": "preemptions", "stat": "sum", "at_most": 0}, frame) is UNKNOWN
    assert verdict({"signal": "preemptions", "stat": "sum", "at_most": 0}, frame_of({"preemptions": 0.0})) is PRESENT


# Comparisons


@pytest.mark.parametrize(
    ("bound", "answers"),
    [
        ("above", "ABSENT ABSENT PRESENT"),
        ("at_least", "ABSENT PRESENT PRESENT"),
        ("below", "PRESENT ABSENT ABSENT"),
        ("at_most", "PRESENT PRESENT ABSENT"),
    ],
)
def test_bounds_at_below_and_above_a_value(bound: str, answers: str) -> None:
    """Each of the four comparisons on both sides of its threshold and on it."""
    found = [verdict({"signal": "kv.usage", bound: 0.5}, frame_of({"kv.usage": value})) for value in (0.25, 0.5, 0.75)]
    assert " ".join(one.name for one in found) == answers


LATENCY = frame_of(histograms={"latency.ttft": Buckets((1, 2, 5), (10, 80, 10, 0))})


@pytest.mark.parametrize(
    ("bound", "answer"),
    [
        ({"above": 0.5}, PRESENT),
        ({"above": 1.5}, UNKNOWN),
        ({"below": 1.5}, UNKNOWN),
        ({"above": 5}, ABSENT),
        ({"below": 5.1}, PRESENT),
        ({"at_most": 0.9}, ABSENT),
    ],
)
def test_a_quantile_inside_its_bucket_is_unknown(bound: dict[str, float], answer: Verdict) -> None:
    """The median lies somewhere between 1 and 2: what is beyond the bucket is sure, what is in it is not."""
    assert verdict({"signal": "latency.ttft", "stat": "p50", **bound}, LATENCY) is answer


def test_a_quantile_beyond_the_last_bound_is_at_least_that() -> None:
    """All observations in the last bucket: surely above its bound, never surely below anything."""
    frame = frame_of(histograms={"latency.ttft": Buckets((1, 2), (0, 0, 5))})
    assert verdict({"signal": "latency.ttft", "stat": "p95", "at_least": 2}, frame) is PRESENT
    assert verdict({"signal": "latency.ttft", "stat": "p95", "below": 1000}, frame) is UNKNOWN
    found = evidence({"signal": "latency.ttft", "stat": "p95", "above": 3}, frame)
    assert (found.verdict, found.low, found.high) == (UNKNOWN, 2, None)


def test_against_its_own_past() -> None:
    """Twice the baseline, but never less than a floor; without a baseline unknown."""
    frame = frame_of({"queue.waiting": Shift(2, 5)})
    assert verdict({"signal": "queue.waiting", "above": {"baseline": 2}}, frame) is PRESENT
    assert verdict({"signal": "queue.waiting", "above": {"baseline": 3}}, frame) is ABSENT
    assert verdict({"signal": "queue.waiting", "above": {"baseline": 2, "at_least": 6}}, frame) is ABSENT
    assert verdict({"signal": "queue.waiting", "above": {"baseline": 2, "plus": 1.5}}, frame) is ABSENT
    found = evidence({"signal": "queue.waiting", "above": {"baseline": 2}}, frame)
    assert (found.value, found.threshold, found.threshold_of, found.baseline) == (5, 4, "2 × baseline", 2)
    alone = frame_of({"queue.waiting": 5}, before=0)
    assert verdict({"signal": "queue.waiting", "above": {"baseline": 2}}, alone) is UNKNOWN
    assert "nothing to compare with" in evidence({"signal": "queue.waiting", "above": {"baseline": 2}}, alone).text


def test_a_floor_decides_where_there_is_no_baseline() -> None:
    """What does not reach the floor of a threshold is not above it, whatever is usual; what does may or may not be."""
    alone = frame_of({"queue.waiting": 5}, before=0)
    assert verdict({"signal": "queue.waiting", "above": {"baseline": 2, "at_least": 6}}, alone) is ABSENT
    assert verdict({"signal": "queue.waiting", "above": {"baseline": 2, "at_least": 4}}, alone) is UNKNOWN
    assert verdict({"signal": "queue.waiting", "at_most": {"baseline": 2, "at_least": 6}}, alone) is PRESENT
    assert verdict({"signal": "queue.waiting", "at_most": {"baseline": 2, "at_least": 4}}, alone) is UNKNOWN
    assert verdict({"signal": "queue.waiting", "above": {"baseline": 2, "at_least": 6}, "lasting": 60}, alone) is ABSENT


def test_a_baseline_in_a_coarse_bucket_leaves_the_comparison_open() -> None:
    """The usual median lies between 1 and 2, so twice of it is anything up to 4; a floor does not take that doubt away."""
    frame = frame_of(histograms={"latency.ttft": Buckets((1, 2, 3, 5, 9), (0, 0, 0, 9, 0, 0), (0, 9, 0, 0, 0, 0))})
    assert verdict({"signal": "latency.ttft", "stat": "p50", "above": {"baseline": 1.4}}, frame) is PRESENT
    assert verdict({"signal": "latency.ttft", "stat": "p50", "above": {"baseline": 2}}, frame) is UNKNOWN
    assert verdict({"signal": "latency.ttft", "stat": "p50", "above": {"baseline": 2, "at_least": 3}}, frame) is UNKNOWN


def test_against_its_peers() -> None:
    """The median of the others: one slow replica of three shows, and alone it has nothing to be compared with."""
    signals = {"batch.running@replica/a": 9, "batch.running@replica/b": 2, "batch.running@replica/c": 4}
    frame = frame_of(signals)
    assert verdict({"signal": "batch.running", "above": {"peers": 2}}, frame) is PRESENT
    assert verdict({"signal": "batch.running", "above": {"peers": 2}}, frame, "replica/b") is ABSENT
    assert verdict({"signal": "batch.running", "above": {"peers": 2}}, frame_of({"batch.running": 9})) is UNKNOWN


def test_against_objectives_facts_and_other_signals() -> None:
    """What is promised, what is set, what else is measured; unknown where it is not."""
    frame = frame_of(
        {"batch.running": 30, "batch.limit": 32, "gpu.power": 400},
        histograms={"latency.itl": Buckets((0.05, 0.1), (0, 9, 0))},
        objectives={"itl_p95_s": 0.04},
        facts={"max_num_seqs": 32.0, "engine": "vllm"},
    )
    assert verdict({"signal": "latency.itl", "stat": "p95", "above": {"objective": "itl_p95_s"}}, frame) is PRESENT
    assert verdict({"signal": "latency.itl", "stat": "p95", "above": {"objective": "itl_p95_s", "times": 3}}, frame) is ABSENT
    assert verdict({"signal": "latency.itl", "stat": "p95", "above": {"objective": "ttft_p95_s"}}, frame) is UNKNOWN
    assert verdict({"signal": "batch.running", "at_least": {"fact": "max_num_seqs", "times": 0.9}}, frame) is PRESENT
    assert verdict({"signal": "batch.running", "at_least": {"fact": "engine"}}, frame) is UNKNOWN
    assert verdict({"signal": "batch.running", "at_least": {"signal": "batch.limit", "times": 0.95}}, frame) is ABSENT
    assert verdict({"signal": "batch.running", "at_least": {"signal": "queue.waiting"}}, frame) is UNKNOWN


def test_a_fact_of_the_replica_goes_before_that_of_the_service() -> None:
    """One replica was started with another limit."""
    frame = frame_of({"batch.running": 30}, facts={"max_num_seqs": 64.0, "max_num_seqs@replica/a": 32.0})
    assert verdict({"signal": "batch.running", "at_least": {"fact": "max_num_seqs", "times": 0.9}}, frame) is PRESENT


# Spans and time


@pytest.mark.parametrize(
    ("cells", "seconds", "answer"),
    [
        ("##....", 30, PRESENT),
        ("#.#.#.", 30, ABSENT),
        ("##????", 45, UNKNOWN),
        ("#??#..", 30, PRESENT),
        ("#..?..", 45, ABSENT),
        ("??????", 30, UNKNOWN),
    ],
)
def test_lasting_needs_every_value_in_a_row(cells: str, seconds: float, answer: Verdict) -> None:
    """A gap neither breaks nor proves; where what is unknown could make the row long enough, the answer is open."""
    values = {"#": 1.0, ".": 0.0, "?": nan}
    frame = frame_of({"gpu.throttle_thermal": 0.0})
    frame.put("gpu.throttle_thermal", who("gpu/g0"), np.array([0.0] * 40 + [values[cell] for cell in cells] + [0.0] * 34))
    assert verdict({"signal": "gpu.throttle_thermal", "at_least": 1, "lasting": seconds}, frame, "gpu/g0") is answer


def test_how_long_it_held_is_told() -> None:
    """The longest row, in seconds, whether it is enough or not."""
    frame = frame_of({"gpu.throttle_thermal": lambda t: 1.0 if 150 < t <= 330 else 0.0})
    assert evidence({"signal": "gpu.throttle_thermal", "at_least": 1, "lasting": 60}, frame, "gpu/g0").held == 180
    assert evidence({"signal": "gpu.throttle_thermal", "at_least": 1, "lasting": 300}, frame, "gpu/g0").held == 180


def test_the_end_of_the_window_and_the_time_before_it() -> None:
    """``over`` looks at the last seconds only, ``period`` at the baseline."""
    frame = frame_of({"kv.usage": lambda t: 0.2 if t <= 0 else 0.4 if t <= 450 else 0.9})
    assert verdict({"signal": "kv.usage", "above": 0.8}, frame) is ABSENT
    assert verdict({"signal": "kv.usage", "above": 0.8, "over": 120}, frame) is PRESENT
    assert verdict({"signal": "kv.usage", "below": 0.3, "period": "baseline"}, frame) is PRESENT


def test_since_when_it_holds() -> None:
    """The first cell of what held on; None if it held before all data."""
    frame = frame_of({"kv.usage": lambda t: 0.9 if t > 300 else 0.2})
    found = evidence({"signal": "kv.usage", "stat": "max", "above": 0.8}, frame)
    assert found.since == frame.recording.window.start + 300 + 15
    always = evidence({"signal": "kv.usage", "above": 0.8}, frame_of({"kv.usage": 0.9}))
    assert always.since is None


# Several subjects

CARDS = {"gpu.throttle_thermal@gpu/g0": 0, "gpu.throttle_thermal@gpu/g1": 1}
LINKS = {"gpu/g0": ["replica/a"], "gpu/g1": ["replica/a"], "gpu/g2": ["replica/b"]}


def _hole(begin: float, end: float) -> Callable[[float], float]:
    """A value that moves, without samples between two moments."""
    return lambda offset: np.nan if begin < offset < end else 0.5 + 0.2 * float(np.sin(offset / 7.0))


@pytest.mark.parametrize(
    ("told", "holds", "over"),
    [
        (_hole(100.0, 300.0), Verdict.PRESENT, 300.0),
        (_hole(100.0, 900.0), Verdict.PRESENT, None),
        (_hole(900.0, 900.0), Verdict.ABSENT, None),
    ],
    ids=["samples came back", "none came back", "none was missing"],
)
def test_what_an_instrument_missed_is_over_when_it_speaks_again(
    told: Callable[[float], float], holds: Verdict, over: float | None
) -> None:
    """What an observer says of the end of a hole is the condition's end, in its evidence as well; what goes on has none."""
    signals: dict[str, object] = {"tokens.generation": told, "gpu.power": told, "log.lines": 0.2}
    frame = frame_of(signals, dialects={"gpu.power": "dcgm", "log.lines": LOG})
    frame.seen = question(frame)
    condition = {"observed": "instrument", "of": ["collector-gap"], "anywhere": True}
    outcome, start = asked(condition, frame), frame.recording.window.start
    assert outcome.verdict is holds
    assert outcome.until == (None if over is None else pytest.approx(start + over, abs=15.0))
    assert evidence(condition, frame).until == outcome.until


def test_any_and_all_ask_each_subject() -> None:
    """One of two cards is hot: any is, all are not, and the evidence names the card that decides."""
    frame = frame_of(CARDS, links=LINKS)
    hot = {"signal": "gpu.throttle_thermal", "at_least": 1}
    assert evidence({**hot, "across": "any"}, frame).subject == "gpu/g1"
    assert verdict({**hot, "across": "any"}, frame) is PRESENT
    assert evidence({**hot, "across": "all"}, frame).subject == "gpu/g0"
    assert verdict({**hot, "across": "all"}, frame) is ABSENT
    assert verdict({**hot, "across": "mean"}, frame) is ABSENT
    assert verdict({"signal": "gpu.throttle_thermal", "at_least": 0.5, "across": "mean"}, frame) is PRESENT


def test_an_unknown_subject_keeps_any_and_all_open() -> None:
    """A card without samples may be hot."""
    frame = frame_of({"gpu.throttle_thermal@gpu/g0": 0, "gpu.throttle_thermal@gpu/g1": Shift(0, nan)}, links=LINKS)
    assert verdict({"signal": "gpu.throttle_thermal", "at_least": 1, "across": "any"}, frame) is UNKNOWN
    assert verdict({"signal": "gpu.throttle_thermal", "at_most": 0, "across": "all"}, frame) is UNKNOWN


def test_whose_series_speak_for_a_subject() -> None:
    """Its own, those linked to it, all of them for the service, and never those of somebody else's."""
    frame = frame_of({**CARDS, "gpu.throttle_thermal@gpu/g2": 0, "target.up": 1}, links=LINKS)
    assert subjects_for(frame, "gpu.throttle_thermal", who("replica/a")) == [who("gpu/g0"), who("gpu/g1")]
    assert subjects_for(frame, "gpu.throttle_thermal", who("gpu/g2")) == [who("gpu/g2")]
    assert len(subjects_for(frame, "gpu.throttle_thermal", who("service/svc"))) == 3
    assert subjects_for(frame, "target.up", who("replica/a")) == []
    assert subjects_for(frame, "target.up", who("service/svc")) == [who("target/t")]


def test_named_values_come_from_what_holds_first() -> None:
    """Two alternatives give one name: the finding's sentence speaks of the one that holds."""
    outcome = asked({"any": [{**FALSE, "as": "it"}, {"signal": "kv.usage", "stat": "max", "above": 0.5, "as": "it"}]}, KNOWN)
    name, first = outcome.named[0]
    assert (name, first.verdict, first.evidence.stat) == ("it", PRESENT, "max")


# Events

OOM = {"event": "log", "name": ["cuda-oom"], "emitter": "engine", "at_least": 1}
NO_OOM = {"event": "log", "name": ["cuda-oom"], "emitter": "engine", "at_most": 0}


def test_a_line_proves_itself() -> None:
    """What was seen was seen, whether or not its emitter is listed among the sources."""
    frame = frame_of({}, events=[at(60, "log", "cuda-oom", text="CUDA out of memory")])
    found = evidence(OOM, frame)
    assert (found.verdict, found.value, found.text, found.since) == (
        PRESENT,
        1,
        "CUDA out of memory",
        frame.recording.window.start + 60,
    )
    assert verdict(NO_OOM, frame) is ABSENT


def test_that_no_line_was_seen_proves_something_only_with_the_log_at_hand() -> None:
    """Without the engine's log the answer is open; the gateway's log does not help."""
    assert verdict(OOM, frame_of({}, sources=["log:engine"])) is ABSENT
    assert verdict(NO_OOM, frame_of({}, sources=["log:engine"])) is PRESENT
    assert verdict(OOM, frame_of({}, sources=["log:gateway"])) is UNKNOWN
    assert evidence(NO_OOM, frame_of({}, sources=["log:gateway"])).text == "no engine source to look at"


@pytest.mark.parametrize(("event", "source"), [("deploy", "changes"), ("xid", "log:kernel"), ("change", "changes")])
def test_each_kind_of_event_has_its_source(event: str, source: str) -> None:
    """Changes come from the file of changes, Xids from the kernel log."""
    assert verdict({"event": event, "at_most": 0}, frame_of({}, sources=[source])) is PRESENT
    assert verdict({"event": event, "at_most": 0}, frame_of({}, sources=["log:engine"])) is UNKNOWN


def test_a_failed_source_is_no_source() -> None:
    """A log that could not be read proves nothing."""
    recording = frame_of({}, sources=["log:engine"]).recording

    failed = Frame(replace(recording, sources=(Source("log:engine", SourceState.FAILED, "no permission"),)))
    assert verdict(NO_OOM, failed) is UNKNOWN


def test_lines_that_stand_for_many_count_as_many() -> None:
    """A line told fifty times is fifty; a count that is no number is one, however long it is."""
    for told, number in [("50", 50), ("0", 0), ("x", 1), ("9" * 5000, 1), ("²", 1), ("-3", 1)]:
        frame = frame_of({}, events=[at(60, "log", "cuda-oom", count=told)], sources=["log:engine"])
        assert evidence(OOM, frame).value == number


def test_events_can_be_counted_by_whom_they_happened_to() -> None:
    """Three lines about two nodes are two."""
    lines = [at(offset, "log", "repair-action", subject=f"node/{node}") for offset, node in ((10, "n1"), (20, "n1"), (30, "n2"))]
    frame = frame_of({}, events=lines, sources=["log:automation"])
    asked = {"event": "log", "name": ["repair-action"], "distinct": True, "at_least": 3}
    assert evidence(asked, frame, "service/svc").value == 2
    assert verdict(asked, frame, "service/svc") is ABSENT


def test_drift_is_known_where_facts_of_replicas_are() -> None:
    """Without any fact of a replica nothing can be compared."""
    none = {"event": "drift", "at_most": 0}
    assert verdict(none, frame_of({}, facts={"image@replica/a": "v1"})) is PRESENT
    assert verdict(none, frame_of({}, facts={"image": "v1"}, sources=["log:engine"])) is UNKNOWN


def test_any_change_and_its_kinds() -> None:
    """``change`` is any of the kinds that somebody causes; a log line is none."""
    for kind in sorted(CHANGE_KINDS):
        assert verdict({"event": "change", "at_least": 1}, frame_of({}, events=[at(10, kind)])) is PRESENT
    assert verdict({"event": "change", "at_least": 1}, frame_of({}, events=[at(10, "log")], sources=["changes"])) is ABSENT


def test_changes_of_the_service_and_of_others() -> None:
    """A change names its service; one that names none, or a part of this one, is its own."""
    other, own = at(10, "deploy", service="billing"), at(10, "deploy", service="svc")
    nobody, replica = at(10, "deploy"), at(10, "deploy", subject="replica/a")
    neighbour = at(10, "deploy", subject="service/billing")
    for event, is_own in [(other, False), (own, True), (nobody, True), (replica, True), (neighbour, False)]:
        frame = frame_of({}, events=[event], sources=["changes"])
        assert verdict({"event": "deploy", "own": True, "at_least": 1}, frame) is (PRESENT if is_own else ABSENT)
        assert verdict({"event": "deploy", "own": False, "at_least": 1}, frame) is (ABSENT if is_own else PRESENT)


@pytest.mark.parametrize(
    ("offset", "answer"), [(-700, ABSENT), (-500, PRESENT), (0, PRESENT), (130, PRESENT), (170, ABSENT), (400, ABSENT)]
)
def test_within_is_before_the_onset_and_a_grace_after_it(offset: float, answer: Verdict) -> None:
    """Ten minutes before the symptom's onset (here 100 s into the window) to a minute after it."""
    frame = frame_of({}, events=[at(offset, "deploy")], sources=["changes"], before=1200)
    moved = frame_of({}, events=[at(offset + 600, "deploy")], sources=["changes"], before=1200)
    assert frame.recording.window.start - frame.recording.window.baseline_start == 1200
    assert verdict({"event": "deploy", "within": 650, "at_least": 1}, moved, onset=100) is answer


@pytest.mark.parametrize(("offset", "answer"), [(-650, ABSENT), (-550, PRESENT), (599, PRESENT), (601, ABSENT)])
def test_without_within_the_window_and_ten_minutes_before(offset: float, answer: Verdict) -> None:
    """What lies outside the window is of another incident."""
    frame = frame_of({}, events=[at(offset + 600, "deploy")], sources=["changes"], before=1200)
    assert verdict({"event": "deploy", "at_least": 1}, frame) is answer


def test_attributes_are_matched_as_a_whole() -> None:
    """A pattern must match all of the value; a missing attribute is empty; a hostile one costs linear time."""
    frame = frame_of({}, events=[at(10, "log", "request", path="/v1/chat" + "a" * 100_000)], sources=["log:gateway"])
    assert verdict({"event": "log", "at_least": 1, "where": {"path": "/v1/chata+"}}, frame) is PRESENT
    assert verdict({"event": "log", "at_least": 1, "where": {"path": "/v1/chat"}}, frame) is ABSENT
    assert verdict({"event": "log", "at_least": 1, "where": {"path": "(a+)+b"}}, frame) is ABSENT
    assert verdict({"event": "log", "at_least": 1, "where": {"code": ""}}, frame) is PRESENT


def test_a_pattern_that_is_none_is_the_rules_fault() -> None:
    """One sentence, and no traceback."""
    frame = frame_of({}, events=[at(10, "log", path="x")])
    with pytest.raises(ConfigError, match="no regular expression"):
        verdict({"event": "log", "at_least": 1, "where": {"path": "(["}}, frame)


def test_whom_an_event_concerns() -> None:
    """Its own subject, a part of it and what it is part of; nobody's event concerns everybody."""
    links = {"replica/a": ["node/n1"], "replica/b": ["node/n2"], "gpu/g0": ["replica/a", "node/n1"]}
    for subject, concerned in [
        ("replica/a", True),
        ("replica/b", False),
        ("node/n1", True),
        ("node/n2", False),
        ("gpu/g0", True),
        ("", True),
    ]:
        frame = frame_of(
            {"kv.usage@replica/b": 1, "kv.usage": 1},
            events=[at(10, "xid", "79", subject=subject)],
            links=links,
            sources=["log:kernel"],
        )
        assert verdict({"event": "xid", "at_least": 1}, frame) is (PRESENT if concerned else ABSENT), subject


# Facts, and series that end


@pytest.mark.parametrize(("pattern", "answer"), [("vllm", PRESENT), ("v.*", PRESENT), ("llm", ABSENT), ("sglang|trtllm", ABSENT)])
def test_facts_are_matched_as_a_whole(pattern: str, answer: Verdict) -> None:
    """Part of a value is not the value."""
    assert verdict({"fact": "engine", "matches": pattern}, frame_of({}, facts={"engine": "vllm"})) is answer


def test_a_whole_number_is_written_without_its_point() -> None:
    """``32`` and not ``32.0``."""
    assert verdict({"fact": "max_num_seqs", "matches": "32"}, frame_of({}, facts={"max_num_seqs": 32.0})) is PRESENT


def test_a_signal_that_ends_while_its_subject_goes_on() -> None:
    """A renamed metric: the engine still answers, the old name does not."""
    ends = lambda t: 0.5 if t <= 100 else nan  # noqa: E731
    renamed = frame_of({"kv.usage": ends, "batch.running": 3})
    assert verdict({"gone": "kv.usage"}, renamed) is PRESENT
    assert verdict({"gone": "batch.running"}, renamed) is ABSENT
    dead = frame_of({"kv.usage": ends, "batch.running": ends})
    assert verdict({"gone": "kv.usage"}, dead) is UNKNOWN
    assert verdict({"gone": "preemptions"}, renamed) is UNKNOWN


def test_a_derived_value_is_no_sign_that_a_subject_goes_on() -> None:
    """The cache's size is told once at start and holds for ever, also of an engine that is dead."""
    frame = frame_of({"kv.usage": lambda t: 0.5 if t <= 100 else nan})
    frame.put("kv.capacity", who("replica/a"), np.full(80, 1000.0))
    assert verdict({"gone": "kv.usage"}, frame) is UNKNOWN


HOSTILE = ["\x1b[31m", "a" * 100_000, "\u202e", "\ud800", "'; rm -rf /", "{}", "%s", "\x00", "]]>"]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_names_break_nothing(text: str) -> None:
    """Subjects, facts, attributes and lines of any content are data."""
    frame = frame_of(
        {f"kv.usage@replica/{text}": 0.9},
        facts={"engine": text},
        events=[at(10, "log", text, subject=f"replica/{text}", text=text, path=text, count=text)],
        sources=["log:engine"],
    )
    assert verdict({"signal": "kv.usage", "above": 0.5}, frame, f"replica/{text}") is PRESENT
    assert verdict({"fact": "engine", "matches": "vllm"}, frame) is ABSENT
    assert verdict({"event": "log", "name": [text], "at_least": 1}, frame, f"replica/{text}") is PRESENT

"""Sweeps: what is taken away is gone, what must stay stays, and what must hold is told apart from what need not."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.engine.rules.loading import load_rules
from triage.model.recording import Event, Fact, Floats, Origin, Recording, Series, Subject, Window
from triage.model.vocabulary import Scope
from triage.score.board import Bench, over, score_case
from triage.score.cases import Case, cases_in
from triage.score.result import Outcome, Result
from triage.score.store import load
from triage.score.sweeps.loss import Lost, names_of, sources_of, without
from triage.score.sweeps.order import renamed
from triage.score.sweeps.paraphrase import WAYS, wrapped
from triage.score.sweeps.run import as_json, sweep, text
from triage.score.sweeps.times import thinned
from triage.score.sweeps.trial import Sweep, Trial, holds
from triage.score.sweeps.values import weakened

pytestmark = pytest.mark.slow

INCIDENTS = Path(__file__).parent.parent / "incidents"
POD = Subject(Scope.REPLICA, "llm-0")


def recording() -> Recording:
    """A signal, an event, a change and a fact over two minutes, a scrape each 10 s."""
    times: Floats = np.array([1000.0 + 10.0 * number for number in range(12)])
    origin = Origin("vllm", "m")
    return Recording(
        "llm",
        Window(1060.0, 1110.0, 1000.0),
        series=(
            Series("queue.waiting", POD, times, np.where(times < 1060.0, 2.0, 10.0), origin),
            Series("preemptions", POD, times, np.arange(12.0), origin),
        ),
        events=(
            Event(1070.0, "log", "cuda-oom", POD, text="llm-0 ran out", source="llm-0.log"),
            Event(1050.0, "deploy", "v2", source="changes"),
        ),
        facts=(Fact(POD, "node", "n1", "vllm"),),
        step=10.0,
    )


def result(outcome: Outcome, **other: object) -> Result:
    """A fault's result."""
    first = {"right": "kv-leak", "wrong": "true-overload", "misled": "true-overload"}.get(outcome, "")
    told = {"first": first, "status": "healthy" if outcome == "healthy" else "incident", **other}
    return Result.model_validate(
        {"case": "a", "origin": "real", "part": "looked-at", "sort": "fault", "wanted": ("kv-leak",), "outcome": outcome, **told}
    )


def case_of(name: str) -> Case:
    """A case of this repository."""
    return cases_in([INCIDENTS / name])[0]


def test_each_name_can_be_taken_away() -> None:
    """And nothing else goes with it."""
    told = recording()
    names = names_of(told)
    assert {(one.sort, one.name, one.kind) for one in names} == {
        ("signal", "queue.waiting", ""),
        ("signal", "preemptions", ""),
        ("event", "cuda-oom", "log"),
        ("event", "", "deploy"),
        ("fact", "node", ""),
    }
    for name in names:
        assert set(names_of(without(told, [name]))) == set(names) - {name}


def test_a_source_goes_with_all_that_it_brought() -> None:
    """Its series and facts; the changes are a source, too."""
    told = recording()
    assert sources_of(told) == [Lost("source", "vllm"), Lost("source", "changes")]
    assert names_of(without(told, [Lost("source", "vllm")])) == [Lost("event", "", "deploy"), Lost("event", "cuda-oom", "log")]


@pytest.mark.parametrize(
    ("before", "after", "held"),
    [
        ("right", "narrowed", True),
        ("right", "open", True),
        ("right", "wrong", False),
        ("right", "misled", False),
        ("right", "healthy", False),
        ("wrong", "misled", True),
        ("open", "healthy", False),
        ("healthy", "healthy", True),
    ],
)
def test_less_may_be_known_but_nothing_false_be_said(before: Outcome, after: Outcome, held: bool) -> None:
    """Another kind, healthy and ruled out are false."""
    assert holds(result(before), result(after)) is held


def test_a_true_kind_must_not_become_ruled_out() -> None:
    """Unless it was before."""
    assert not holds(result("right"), result("open", refuted=("kv-leak",)))
    assert holds(result("open", refuted=("kv-leak",)), result("open", refuted=("kv-leak",)))


def test_half_a_fault_may_be_none() -> None:
    """Then a service may be called healthy, but another kind still not be named."""
    assert holds(result("right"), result("healthy", refuted=("kv-leak",)), may_be_well=True)
    assert not holds(result("right"), result("wrong"), may_be_well=True)


def test_weaker_values_lie_between_what_was_and_what_is() -> None:
    """Before the window nothing changes."""
    (waiting, _) = weakened(recording(), 0.25).series
    assert waiting.values.tolist() == [2.0] * 6 + [8.0] * 6


@pytest.mark.parametrize(
    ("before", "after", "weaker"),
    [
        ([4.0] * 6, [0.0] * 3 + [8.0] * 3, [0.0] * 3 + [6.0] * 3),
        ([4.0] * 6, [0.03] * 6, [0.03] * 6),
        ([4.0, 0.0, 4.0, 4.0, 4.0, 4.0], [0.0, 0.0, 8.0, 0.0, 0.0, 0.0], [2.0, 2.0, 6.0, 0.0, 0.0, 0.0]),
    ],
    ids=["stands still", "hardly anything is left", "it rests now and then"],
)
def test_there_is_no_half_of_a_standstill(before: list[float], after: list[float], weaker: list[float]) -> None:
    """An engine that makes half of its tokens does not hang; what seldom happens anyway is no standstill."""
    told = recording()
    one = replace(told.series[0], values=np.array(before + after))
    assert weakened(replace(told, series=(one,)), 0.5).series[0].values.tolist() == before + weaker


def test_a_thinner_recording_counts_the_same() -> None:
    """A gauge is what it was at the scrape; a counter's increase is kept."""
    told, thin = recording(), thinned(recording(), 3)
    assert thin.step == 30.0
    assert thin.series[0].times.tolist() == told.series[0].times[2::3].tolist()
    assert thin.series[0].values.tolist() == told.series[0].values[2::3].tolist()
    assert (thin.series[1].values * 30.0).sum() == pytest.approx((told.series[1].values * 10.0).sum())


def test_machines_are_renamed_wherever_they_stand() -> None:
    """Subjects, texts and files."""
    told = renamed(recording(), {"llm-0": "other-0"})
    assert {one.subject.id for one in told.series} == {"other-0"}
    assert told.events[0].text == "other-0 ran out"
    assert told.events[0].source == "other-0.log"


LINE = "2026-10-03T15:46:21Z ERROR failed to connect to peer host=n1 port=80"


def test_a_line_is_said_otherwise() -> None:
    """Its stamp and its values stay."""
    assert WAYS["lower case"](LINE).endswith("error failed to connect to peer host=n1 port=80")
    assert "could not connect" in WAYS["other words"](LINE)
    assert WAYS["other order"](LINE).endswith("port=80 host=n1")
    assert json.loads(WAYS["as JSON"](LINE))["msg"].startswith("ERROR failed to connect")
    assert WAYS["other prefix"](LINE).startswith("2026-10-03T15:46:21Z [worker-3]")


@pytest.mark.parametrize(
    ("line", "time"),
    [
        ("[2026-09-01 17:26:24] Load weight begin", "2026-09-01 17:26:24"),
        ("[2026-09-01 17:26:24 TP0] Load weight begin", "2026-09-01 17:26:24"),
        ("(EngineCore pid=4) ERROR 09-01 17:26:24 [core.py:3] engine failed", "09-01 17:26:24"),
    ],
)
def test_a_structured_logger_writes_the_bare_time(line: str, time: str) -> None:
    """Without the brackets, the level and the process that a line had before it."""
    assert json.loads(WAYS["as JSON"](line))["ts"] == time


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "line",
    [
        "Oct 15 13:19:15 n1 kernel: [19.1] NVRM: Xid (PCI:0000:43:00): 48, failed",
        "2026-09-12T05:38:19Z Warning Failed llm/pod/llm-0 failed to pull",
        '10.1.9.17 - - [06/Oct/2026:15:04:35 +0000] "POST /v1 HTTP/1.1" 499 0',
        "",
    ],
)
def test_what_has_the_form_of_an_interface_is_left_alone(way: str, line: str) -> None:
    """Kernel reports, cluster events and access lines."""
    assert WAYS[way](line) == line


@given(st.text())
def test_any_line_can_be_said_otherwise(line: str) -> None:
    """Nothing breaks on it, and it stays one line."""
    for way in WAYS.values():
        assert len(way(line).split("\n")) <= len(line.split("\n"))


def test_lines_are_wrapped_as_runtimes_do() -> None:
    """A log without times, and cluster events, are left alone by those that write times."""
    assert wrapped(LINE.encode(), "cri", "llm-0") == f"2026-10-03T15:46:21Z stdout F {LINE}".encode()
    assert json.loads(wrapped(LINE.encode(), "docker", "llm-0"))["log"] == f"{LINE}\n"
    assert wrapped(LINE.encode(), "compose", "llm-0") == f"llm-0  | {LINE}".encode()
    assert wrapped(b"no time", "cri", "llm-0") == b"no time"


def test_survival_is_that_of_all_losses_of_a_case() -> None:
    """One name that an answer does not survive is enough."""

    def trial(case: str, survived: bool | None) -> Trial:
        return Trial(
            sweep="loss", case=case, origin="real", part="looked-at", change="x", sort="signal", held=True, survived=survived
        )

    told = Sweep(
        trials=(trial("a", survived=True), trial("a", survived=False), trial("b", survived=True), trial("c", survived=None))
    )
    assert told.surviving(["signal"]) == (1, 2)
    assert told.surviving(["log"]) == (0, 0)


def test_what_fails_shows_unless_it_is_blind() -> None:
    """Then only how many."""
    failed = {"sweep": "wrap", "origin": "real", "change": "cri", "held": False, "told": "open"}
    told = Sweep(trials=(Trial(case="seen", part="looked-at", **failed), Trial(case="hidden", part="blind", **failed)))
    assert "held 0 of 2" in text(told)
    assert "seen" in text(told)
    assert "hidden" not in text(told) + str(as_json(told))


def test_a_real_incident_under_every_change() -> None:
    """Each sweep tries something, and a case in another order and time zone gives the same bytes."""
    told = sweep([case_of("replica-crash")], Bench(load_rules()))
    assert {trial.sweep for trial in told.trials} >= {"loss", "paraphrase", "wrap", "weaken", "window", "clocks", "strangers"}
    assert all(trial.held for trial in (*told.of("order"), *told.of("repeat"), *told.of("strangers")))
    assert sum(trial.names for trial in told.of("loss") if trial.sort == "signal") >= 20


def test_a_kept_recording_gives_the_same_result(tmp_path: Path) -> None:
    """The second time nothing is read but what was kept."""
    case = case_of("replica-crash")
    first, kept = load(case, tmp_path), load(case, tmp_path)
    assert len(list(tmp_path.iterdir())) == 1
    assert [e.text for e in first.recording.events] == [e.text for e in kept.recording.events]
    bench = Bench(load_rules(), tmp_path)
    assert score_case(case, bench) == score_case(case, Bench(load_rules()))


def test_processes_give_results_in_the_order_of_the_cases() -> None:
    """However many there are."""
    cases = [case_of("replica-crash")] * 9
    assert list(over(name_of, cases, Bench(()), jobs=2)) == ["replica-crash"] * 9


def name_of(case: Case, _bench: Bench) -> str:
    """Work that another process can do."""
    return case.name

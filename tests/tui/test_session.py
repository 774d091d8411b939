"""What is done away from the screen: recordings one after the other, snapshots as of a moment, and the process that does it."""

import os
import signal
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from tests.tui import case
from triage.cli import parser
from triage.cli.walk import made_session
from triage.errors import InputMissingError, TriageError
from triage.ingest.files.incident import read_any
from triage.memory.reference import Pace
from triage.model.diagnosis import Diagnosis
from triage.model.recording import Origin, Recording, Series, Source, SourceState, Subject, Window
from triage.model.vocabulary import Scope
from triage.tui.recordings import Replay
from triage.tui.session import LocalSession
from triage.tui.worker import WorkerProcess
from triage.watch.live import Live

pytestmark = pytest.mark.slow

INCIDENT = Path(__file__).parent.parent / "incidents" / "retry-storm"


def silent(_source: str, _text: str, _done: float) -> None:
    """Progress that nobody watches."""


def told(at: float, *signals: str) -> Recording:
    """What a service said in ten seconds up to a moment."""
    times = np.arange(at - 9.0, at + 0.5)
    series = [Series(name, Subject(Scope.REPLICA, "a"), times, np.ones(10), Origin("vllm", name)) for name in signals]
    state = SourceState.OK if signals else SourceState.FAILED
    sources = (Source("endpoints", state, "" if signals else "connection refused"),)
    return Recording("llm", Window(at - 10.0, at, at - 10.0), series=series, sources=sources)


def live(*rounds: Recording, sampled: bool = True) -> Live:
    """A service that is asked so many times."""
    left = iter(rounds)
    return Live(
        "llm", lambda _tell, _earlier: next(left), pause=0.0, pace=Pace(shortest=10.0, longest=20.0, keep=60.0, sampled=sampled)
    )


def test_a_watched_service_has_a_history() -> None:
    """Each round is added to what was known; the window is at its end, and what is too old is forgotten."""
    recordings = live(*(told(at, "queue.waiting") for at in range(10, 110, 10)))
    taken = [recordings.take(silent) for _ in range(10)]
    assert [one.number for one in taken] == list(range(1, 11))
    assert [(one.history.window.baseline_start, one.history.window.start, one.history.window.end) for one in taken[::3]] == [
        (0.0, 0.0, 10.0),
        (0.0, 30.0, 40.0),
        (10.0, 55.0, 70.0),
        (40.0, 85.0, 100.0),
    ]
    assert [len(one.history.series[0].times) for one in taken] == [10, 20, 30, 40, 50, 60, 61, 61, 61, 61]


def test_a_server_of_metrics_says_its_own_window() -> None:
    """Where a round brings a whole window that is the one to judge."""
    recordings = live(told(10, "queue.waiting"), told(20, "queue.waiting"), sampled=False)
    recordings.take(silent)
    assert recordings.take(silent).history.window == Window(10.0, 20.0, 10.0)


def test_a_source_that_dies_leaves_the_history_and_not_the_evidence() -> None:
    """Verdicts rest on what is still told; the recording to save keeps all of it; a source that comes back counts again."""
    recordings = live(told(10, "queue.waiting"), told(20), told(30, "queue.waiting"))
    recordings.take(silent)
    dead = recordings.take(silent)
    assert [len(dead.history.series), len(dead.judged.series)] == [1, 0]
    assert dead.judged.sources[0].reason == "connection refused"
    back = recordings.take(silent)
    assert len(back.judged.series[0].times) == 20


def counting() -> tuple[LocalSession, list[float]]:
    """A session with the case on it, and the ends of the recordings that it diagnosed."""
    diagnosed: list[float] = []

    def diagnose(held: Recording) -> Diagnosis:
        diagnosed.append(held.window.end)
        return case.diagnosis(held)

    made = LocalSession(Replay("llm", lambda _tell: case.recording()), tuple(case.RULES.values()), diagnose, case.write)
    made.take(silent)
    return made, diagnosed


def test_a_snapshot_is_diagnosed_once() -> None:
    """Going back to a moment is instant; each moment is diagnosed on what was known then."""
    session, diagnosed = counting()
    early = session.snapshot(case.START + 60.0)
    assert early.diagnosis.findings == ()
    assert session.snapshot(None).diagnosis.findings
    assert session.snapshot(case.START + 60.0) is early
    assert diagnosed == [case.START + 60.0, case.START + case.LENGTH]
    assert (early.as_of, session.snapshot(None).as_of) == (case.START + 60.0, None)


def test_the_curve_of_a_moment_ends_there() -> None:
    """All cells are those that were known then."""
    session, _ = counting()
    moment = case.START + 300.0
    (evidence, *_) = session.snapshot(moment).diagnosis.findings[0].evidence
    curve = session.curve(moment, evidence)
    assert curve is not None
    assert curve.times[-1] < moment


def room(path: Path) -> WorkerProcess:
    """A back room as the command line makes it."""
    args = parser().parse_args(["walk", str(path)])
    given = {name: value for name, value in vars(args).items() if name != "command"}
    return WorkerProcess(Replay(path.name, lambda _tell: read_any(path, None)), partial(made_session, given))


def test_the_back_room_does_what_a_session_does(tmp_path: Path) -> None:
    """Another process reads, diagnoses, draws and saves; how far it is comes over, too."""
    heard: list[tuple[str, float]] = []
    session = room(INCIDENT)
    try:
        state = session.take(lambda source, _text, done: heard.append((source, done)))
        assert (state.number, state.service) == (1, "llm-prod")
        assert heard == [("retry-storm", 0.0), ("retry-storm", 1.0)]
        snapshot = session.snapshot(None)
        assert snapshot.diagnosis.service == "llm-prod"
        evidence = next(e for finding in snapshot.diagnosis.findings for e in finding.evidence if e.spark is not None)
        assert session.curve(None, evidence) is not None
        session.save(tmp_path / "kept.parquet")
        assert read_any(tmp_path / "kept.parquet", None).service == "llm-prod"
        with pytest.raises(TriageError):
            session.save(tmp_path)
    finally:
        session.close()


def test_errors_come_over_whole() -> None:
    """What the user can mend arrives with its kind and its hint, and where it happened as a note."""
    session = room(Path("/nonexistent"))
    try:
        with pytest.raises(InputMissingError) as caught:
            session.take(silent)
        assert caught.value.hint
        assert "Traceback" in caught.value.__notes__[0]
    finally:
        session.close()


def test_a_process_that_is_killed_is_no_riddle() -> None:
    """Whoever waits for the back room is told when it is gone, and whoever asks later, too."""
    session = room(INCIDENT)
    try:
        session.take(silent)
        assert session._process.pid is not None
        os.kill(session._process.pid, signal.SIGKILL)
        for _ in range(2):
            with pytest.raises(TriageError, match="has ended unexpectedly"):
                session.snapshot(None)
    finally:
        session.close()

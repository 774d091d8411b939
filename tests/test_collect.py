"""Asking collectors: whatever one of them does, the others' answers count."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from signal import SIGINT, pthread_kill
from threading import Event, main_thread

import numpy as np
import pytest

from tests.terminals import interruptible
from triage.collect import SoFar, collect
from triage.errors import InputMissingError
from triage.model.recording import LOG, Origin, Recording, Series, Source, SourceState, Subject, Window
from triage.model.service import Service
from triage.model.vocabulary import Scope
from triage.sdk import Collector, Request

NOW = 1_800_000_000.0
SERVICE = Service(name="llm", facts={"engine": "vllm"}, objectives={"ttft_p95_s": 2.0})


@dataclass
class Part:
    """A collector made of two functions."""

    name: str
    answer: Callable[[Request], Recording]
    refusal: str = ""
    sees: str = "what the test says"
    asked: list[str] = field(default_factory=list)

    def wanted(self, request: Request) -> str:
        """Say why not, if there is a reason."""
        return self.refusal

    def collect(self, request: Request) -> Recording:
        """Answer as the test wants."""
        self.asked.append(request.service.name)
        request.progress("reading", 0.5)
        return self.answer(request)


def request(end: float = NOW) -> Request:
    """A request whose window ends then."""
    return Request(SERVICE, Window(end - 600, end, end - 3600), 5.0, 1.0, (), lambda: NOW)


def one_series(signal: str) -> Callable[[Request], Recording]:
    """A collector's answer with one series."""

    def answer(asked: Request) -> Recording:
        series = Series(signal, Subject(Scope.REPLICA, "r0"), np.array([NOW]), np.array([1.0]), Origin("test", signal))
        return Recording("llm", asked.window, series=(series,))

    return answer


def failing(error: Exception) -> Callable[[Request], Recording]:
    """A collector's answer that is an exception."""

    def answer(asked: Request) -> Recording:
        raise error

    return answer


def states(recording: Recording) -> dict[str, tuple[SourceState, str]]:
    """Source -> state and reason."""
    return {source.name: (source.state, source.reason) for source in recording.sources}


def test_parts_become_one_recording_of_the_service() -> None:
    """Series of all collectors and what the settings tell are in the result."""
    parts: list[Collector] = [Part("a", one_series("kv.usage")), Part("b", one_series("queue.waiting"))]
    recording = collect(request(), parts)
    assert sorted(recording.by_signal) == ["kv.usage", "queue.waiting"]
    assert recording.objectives == {"ttft_p95_s": 2.0}
    assert recording.fact("engine") == "vllm"
    assert states(recording) == {"a": (SourceState.OK, ""), "b": (SourceState.OK, "")}


def test_a_source_that_is_not_wanted_is_absent_with_the_reason() -> None:
    """A collector that cannot be asked is not asked, and the reason is kept."""
    part = Part("nvml", one_series("gpu.util"), refusal="no card on this machine")
    recording = collect(request(), [part])
    assert states(recording) == {"nvml": (SourceState.ABSENT, "no card on this machine")}
    assert part.asked == []


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ValueError("odd answer"), "ValueError: odd answer"),
        (InputMissingError("no such host", "check the address"), "no such host; check the address"),
    ],
)
def test_a_failure_is_a_failed_source_and_the_rest_goes_on(error: Exception, reason: str) -> None:
    """One broken source does not take the diagnosis down."""
    recording = collect(request(), [Part("bad", failing(error)), Part("good", one_series("kv.usage"))])
    assert states(recording) == {"bad": (SourceState.FAILED, reason), "good": (SourceState.OK, "")}
    assert list(recording.by_signal) == ["kv.usage"]


def test_a_refusal_that_raises_is_a_failure_too() -> None:
    """Asking whether a source is wanted may fail like asking the source itself."""

    class Odd(Part):
        def wanted(self, request: Request) -> str:
            raise OSError("driver is gone")

    assert states(collect(request(), [Odd("odd", one_series("kv.usage"))])) == {
        "odd": (SourceState.FAILED, "OSError: driver is gone")
    }


def test_a_collector_that_hangs_is_left_behind() -> None:
    """A source that never answers is reported, and the others' data is used."""
    never = Event()

    def hang(asked: Request) -> Recording:
        never.wait()
        return Recording("llm", asked.window)

    recording = collect(request(), [Part("stuck", hang), Part("good", one_series("kv.usage"))], patience=0.05)
    never.set()
    state, reason = states(recording)["stuck"]
    assert state is SourceState.FAILED
    assert "no answer within" in reason
    assert list(recording.by_signal) == ["kv.usage"]


def test_a_collector_that_is_told_to_stop_may_hand_over_what_it_has() -> None:
    """Half an answer at the deadline is better than none."""

    def until_stopped(asked: Request) -> Recording:
        asked.stop.wait()
        return Recording("llm", asked.window, sources=(Source("slow", SourceState.PARTIAL, "cut short"),))

    recording = collect(request(), [Part("slow", until_stopped)], patience=0.05)
    assert states(recording) == {"slow": (SourceState.PARTIAL, "cut short")}


def test_the_step_is_that_of_what_was_measured() -> None:
    """Neither what was asked for nor what log lines were given makes samples of every two seconds coarser."""

    def measured(asked: Request) -> Recording:
        return replace(one_series("kv.usage")(asked), step=2.0)

    def logged(asked: Request) -> Recording:
        one = Series("queue.waiting", Subject(Scope.REPLICA, "r0"), np.array([NOW]), np.array([1.0]), Origin(LOG, "lines"))
        return Recording("llm", asked.window, series=(one,), step=5.0)

    assert collect(request(), [Part("prometheus", measured), Part("logs", logged)]).step == 2.0
    assert collect(request(), [Part("logs", logged)]).step == 5.0


def test_what_takes_long_to_hand_over_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading thousands of answers takes longer than saying that it is done; nothing of it is thrown away."""
    monkeypatch.setattr("triage.collect._GRACE", 0.3)
    pause = Event()

    def slow_to_hand_over(asked: Request) -> Recording:
        asked.stop.wait()
        asked.progress("reading what was answered", 1.0)
        pause.wait(0.9)
        return one_series("kv.usage")(asked)

    recording = collect(request(), [Part("slow", slow_to_hand_over)], patience=0.05)
    assert list(recording.by_signal) == ["kv.usage"]


def test_progress_names_the_source() -> None:
    """Whoever watches sees which source reads and which is done."""
    seen: list[tuple[str, str, float]] = []
    collect(request(), [Part("a", one_series("kv.usage"))], lambda *step: seen.append(step))
    assert seen == [("a", "reading", 0.5), ("a", "done", 1.0)]


@dataclass
class Sampler:
    """Shows what it has at each second until it is told to stop, or has shown it so often."""

    shown: int = 10_000

    def __call__(self, asked: Request) -> Recording:
        """All of its samples."""
        for number in range(2, self.shown + 2):
            asked.so_far(partial(self.so_far, asked, number))
            if asked.stop.wait(0.001):
                return self.so_far(asked, number)
        return self.so_far(asked, self.shown + 2)

    @staticmethod
    def so_far(asked: Request, number: int) -> Recording:
        """The first samples."""
        samples = np.arange(number, dtype=float)
        series = Series("kv.usage", Subject(Scope.REPLICA, "r0"), NOW + samples, samples / 10_000, Origin("test", "kv"))
        return Recording("llm", asked.window, series=(series,))


def sampling() -> Request:
    """A request for ten minutes of samples; each look at the clock finds it a second later."""
    seconds = count()
    window = Window(NOW, NOW + 600, NOW)
    return replace(request(), window=window, clock=lambda: NOW + next(seconds))


def test_what_is_known_so_far_is_told_while_it_is_sampled() -> None:
    """Each word rests on more than the one before it, ends where it was sampled to, and holds what others have brought."""
    told: list[tuple[Recording, float]] = []
    enough = Event()

    def hear(recording: Recording, seconds: float) -> None:
        told.append((recording, seconds))
        enough.set() if len(told) == 3 else None

    def until_told(asked: Request) -> Recording:
        while not enough.is_set():
            Sampler(1)(asked)
        return Sampler(1)(asked)

    parts: list[Collector] = [Part("logs", one_series("queue.waiting")), Part("endpoints", until_told)]
    whole = collect(sampling(), parts, so_far=hear)
    assert [seconds for _, seconds in told] == sorted({seconds for _, seconds in told})
    assert all(recording.window.end == NOW + seconds for recording, seconds in told)
    assert all(sorted(recording.by_signal) == ["kv.usage", "queue.waiting"] for recording, _ in told)
    assert all(recording.objectives == {"ttft_p95_s": 2.0} for recording, _ in told)
    assert whole.window == Window(NOW, NOW + 600, NOW)
    assert states(whole) == {"logs": (SourceState.OK, ""), "endpoints": (SourceState.OK, "")}


def test_a_word_that_fails_costs_no_answer() -> None:
    """Neither what a sampler cannot make so early, nor what cannot be judged of so little."""
    heard = Event()

    def fails(recording: Recording, seconds: float) -> None:
        heard.set()
        raise ZeroDivisionError

    def makes_nothing(asked: Request) -> Recording:
        asked.so_far(partial(failing(ValueError("too early")), asked))
        while not heard.is_set():
            Sampler(1)(asked)
        return Sampler(1)(asked)

    recording = collect(sampling(), [Part("endpoints", makes_nothing)], so_far=fails)
    assert states(recording) == {"endpoints": (SourceState.OK, "")}
    assert sorted(recording.by_signal) == ["kv.usage"]


def interrupted(_recording: Recording, _seconds: float) -> None:
    """An interrupt while a word is told."""
    raise KeyboardInterrupt


def test_an_interrupt_ends_the_sampling_and_keeps_it() -> None:
    """What was sampled is the answer, of the time until then; a source that is slow to stop is waited for if it says so."""
    recording = collect(sampling(), [Part("endpoints", Sampler())], so_far=interrupted, is_kept=True)
    assert sorted(recording.by_signal) == ["kv.usage"]
    assert NOW < recording.window.end < NOW + 600
    assert states(recording) == {"endpoints": (SourceState.OK, "")}


@pytest.mark.parametrize(("so_far", "is_kept"), [(interrupted, False), (None, True)], ids=["not-wanted", "nothing-yet"])
def test_an_interrupt_is_raised(so_far: SoFar | None, is_kept: bool) -> None:
    """Where nobody wants what was sampled, and where nothing was sampled twice."""

    def interrupts(asked: Request) -> Recording:
        pthread_kill(main_thread().ident or 0, SIGINT)
        asked.stop.wait()
        return Sampler(1)(asked)

    answer = interrupts if so_far is None else Sampler()
    with interruptible(), pytest.raises(KeyboardInterrupt):
        collect(sampling(), [Part("endpoints", answer)], so_far=so_far, is_kept=is_kept)

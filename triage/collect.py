"""Asks every wanted collector at the same time and makes one recording of what they bring."""

import logging
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, wait
from dataclasses import replace
from functools import partial
from threading import Event as Signal
from time import monotonic

from triage.background import in_background
from triage.errors import TriageError
from triage.model.recording import Fact, Recording, Source, SourceState, Subject, merged
from triage.model.vocabulary import Scope
from triage.sdk import Collector, Request, StopSignal

Progress = Callable[[str, str, float], None]
"""Is told the source, what happens there, and how far it is (0 to 1)."""

SoFar = Callable[[Recording, float], None]
"""Is given what is known so far, and for how many seconds it was sampled."""

PATIENCE = 120.0
"""Seconds that a collector may need beyond the end of the window: thousands of series over a slow link fit into it."""

_GRACE = 2.0
"""Seconds in which a collector that was told to stop must say that it hands over what there is, or be done with it."""

_HANDING_OVER = 600.0
"""Seconds for that: it asks nobody any more, and reading what a hundred replicas said took three minutes on a machine that had
forty other things to do. Whoever was left behind would have fetched all of it for nothing."""

_SETTLING = 1.0
"""Seconds in which the other samplers bring theirs of the same beat: the shortest time between two beats of one endpoint."""

_LONGER = 1.25
"""It is worth another word when it was sampled for so many times as long: often at first, and a dozen times in half a minute."""

_Answers = Sequence[tuple[str, "Future[Recording]"]]
"""Each collector's name with its answer."""

_log = logging.getLogger(__name__)


def _unwatched(source: str, message: str, done: float) -> None:
    """Progress that nobody watches."""


def collect(
    request: Request,
    collectors: Iterable[Collector],
    progress: Progress = _unwatched,
    patience: float = PATIENCE,
    *,
    so_far: SoFar | None = None,
    is_kept: bool = False,
) -> Recording:
    """One recording of what all collectors bring. A collector that is not wanted, fails or hangs is named with the reason.

    :param patience: seconds after the end of the window (or after now, if that is later) until a collector is told to stop;
        one that brings nothing then is left behind
    :param so_far: is called while samplers are at it, from their second beat on, in the thread of the caller
    :param is_kept: an interrupt ends the sampling, and what was sampled until then is what is given; a second one is raised, and
        so is one that comes before anything was sampled twice
    """
    asked = list(collectors)
    samplers = _Samplers(request, so_far)
    told = [_Told(one.name, progress, request.stop, samplers) for one in asked]
    pending = [
        in_background(partial(_ask, one, replace(request, progress=its, so_far=its.so_far)))
        for one, its in zip(asked, told, strict=True)
    ]
    answers = [(one.name, answer) for one, answer in zip(asked, pending, strict=True)]
    allowed = max(0.0, request.window.end - request.clock()) + patience
    window = request.window
    try:
        samplers.follow(answers, allowed)
    except KeyboardInterrupt:
        if not (is_kept and samplers.have_some):
            raise
        window = replace(window, end=min(window.end, request.clock()))
        allowed = max(0.0, window.end - samplers.begun)
    finally:
        request.stop.set()
    wait(pending, timeout=_GRACE)
    wait([answer for answer, its in zip(pending, told, strict=True) if its.hands_over], timeout=_HANDING_OVER)
    brought = [_brought(request, name, answer, allowed) for name, answer in answers]
    return replace(merged([_known(request), *brought]), window=window)


class _Samplers:
    """What samplers have so far, and when it is worth a word."""

    def __init__(self, request: Request, so_far: SoFar | None) -> None:
        self._request, self._so_far = request, so_far
        self.begun = request.clock()
        self.have_some = False
        """Whether one of them has sampled twice."""
        self._due = self._until = self.begun
        self._parts: dict[str, Recording] = {}
        self._fresh: set[str] = set()
        self._news = Signal()

    def offer(self, name: str, make: Callable[[], Recording]) -> None:
        """Take what a sampler has, if it is time for a word; called in its thread. Its answer does not depend on it."""
        self.have_some = True
        now = self._request.clock()
        if self._so_far is None or now < self._due:
            return
        try:
            self._parts[name] = make()
        except Exception as error:  # noqa: BLE001 - of a plug-in; what it has at the end may still be good
            _log.debug("collector %s has nothing to show so far", name, exc_info=error)
            return
        self._until = max(self._until, now)
        self._fresh.add(name)
        self._news.set()

    def follow(self, answers: "_Answers", allowed: float) -> None:
        """Wait for all answers, not longer than allowed (seconds), and say meanwhile what is known."""
        if self._so_far is None:
            wait([answer for _, answer in answers], timeout=allowed)
            return
        for _, answer in answers:
            answer.add_done_callback(lambda _: self._news.set())
        end = monotonic() + allowed
        while self._wait(answers, lambda: bool(self._fresh), end):
            self._wait(answers, lambda: self._is_complete(answers), min(end, monotonic() + _SETTLING))
            if not _is_over(answers):
                self._say(self._so_far, answers)

    def _wait(self, answers: "_Answers", enough: Callable[[], bool], end: float) -> bool:
        """Wait until there is enough, all have answered, or a moment (monotonic seconds); whether there is enough."""
        while not _is_over(answers):
            if enough():
                return True
            left = end - monotonic()
            if left <= 0:
                return False
            self._news.wait(left)
            self._news.clear()
        return False

    def _is_complete(self, answers: "_Answers") -> bool:
        """Whether all who are still at it have brought something since the last word."""
        return all(answer.done() or name in self._fresh for name, answer in answers)

    def _say(self, so_far: SoFar, answers: "_Answers") -> None:
        """Tell what is known now. What goes wrong with it is no reason to lose the answer."""
        request, until = self._request, self._until
        self._due = self.begun + _LONGER * (request.clock() - self.begun)
        self._fresh.clear()
        done = {name: _brought(request, name, answer, 0.0) for name, answer in answers if answer.done()}
        try:
            known = merged([_known(request), *{**self._parts, **done}.values()])
            so_far(replace(known, window=replace(request.window, end=until)), until - self.begun)
        except Exception as error:  # noqa: BLE001 - little was sampled; the answer to all of it may be sound
            _log.debug("no word on what was sampled so far", exc_info=error)


def _is_over(answers: "_Answers") -> bool:
    """Whether all have answered."""
    return all(answer.done() for _, answer in answers)


class _Told:
    """What one collector says of how far it is, passed on."""

    def __init__(self, name: str, progress: Progress, stop: StopSignal, samplers: _Samplers) -> None:
        self._name, self._progress, self._stop = name, progress, stop
        self.so_far = partial(samplers.offer, name)
        self.hands_over = False
        """Whether it has said something since it was told to stop: then it heard, and is worth waiting for."""

    def __call__(self, message: str, done: float) -> None:
        self.hands_over = self.hands_over or self._stop.is_set()
        self._progress(self._name, message, done)


def _known(request: Request) -> Recording:
    """What the settings tell of the service."""
    service = request.service
    owner = Subject(Scope.SERVICE, service.name)
    facts = tuple(Fact(owner, key, value, "settings") for key, value in service.facts.items())
    return Recording(service.name, request.window, facts=facts, objectives=dict(service.objectives), step=request.step)


def _ask(collector: Collector, request: Request) -> Recording:
    """What a collector brings, or why it is not asked."""
    reason = collector.wanted(request)
    if reason:
        return _nothing(request, Source(collector.name, SourceState.ABSENT, reason))
    recording = collector.collect(request)
    request.progress("done", 1.0)
    if recording.sources:
        return recording
    return replace(recording, sources=(Source(collector.name, SourceState.OK),))


def _brought(request: Request, name: str, answer: "Future[Recording]", allowed: float) -> Recording:
    """A collector's answer; that it failed or did not come back is an answer, too."""
    if not answer.done():
        reason = f"no answer within {allowed + _GRACE:.0f} s; it was left behind"
        return _nothing(request, Source(name, SourceState.FAILED, reason))
    try:
        return answer.result()
    except TriageError as error:
        reason = f"{error.message}; {error.hint}" if error.hint else error.message
    except Exception as error:  # noqa: BLE001 - a plug-in may fail in any way; the diagnosis goes on with what is there
        _log.debug("collector %s failed", name, exc_info=error)
        reason = f"{type(error).__name__}: {error}"
    return _nothing(request, Source(name, SourceState.FAILED, reason))


def _nothing(request: Request, source: Source) -> Recording:
    """A recording that holds nothing but what became of a source."""
    return Recording(request.service.name, request.window, sources=(source,), step=request.step)

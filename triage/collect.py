"""Asks every wanted collector at the same time and makes one recording of what they bring."""

import logging
from collections.abc import Callable, Iterable
from concurrent.futures import Future, wait
from dataclasses import replace
from functools import partial

from triage.background import in_background
from triage.errors import TriageError
from triage.model.recording import Fact, Recording, Source, SourceState, Subject, merged
from triage.model.vocabulary import Scope
from triage.sdk import Collector, Request, StopSignal

Progress = Callable[[str, str, float], None]
"""Is told the source, what happens there, and how far it is (0 to 1)."""

PATIENCE = 120.0
"""Seconds that a collector may need beyond the end of the window: thousands of series over a slow link fit into it."""

_GRACE = 2.0
"""Seconds in which a collector that was told to stop must say that it hands over what there is, or be done with it."""

_HANDING_OVER = 600.0
"""Seconds for that: it asks nobody any more, and reading what a hundred replicas said took three minutes on a machine that had
forty other things to do. Whoever was left behind would have fetched all of it for nothing."""

_log = logging.getLogger(__name__)


def _unwatched(source: str, message: str, done: float) -> None:
    """Progress that nobody watches."""


def collect(
    request: Request, collectors: Iterable[Collector], progress: Progress = _unwatched, patience: float = PATIENCE
) -> Recording:
    """One recording of what all collectors bring. A collector that is not wanted, fails or hangs is named with the reason.

    :param patience: seconds after the end of the window (or after now, if that is later) until a collector is told to stop;
        one that brings nothing then is left behind
    """
    asked = list(collectors)
    told = [_Told(one.name, progress, request.stop) for one in asked]
    pending = [in_background(partial(_ask, one, replace(request, progress=its))) for one, its in zip(asked, told, strict=True)]
    allowed = max(0.0, request.window.end - request.clock()) + patience
    try:
        wait(pending, timeout=allowed)
    finally:
        request.stop.set()
    wait(pending, timeout=_GRACE)
    wait([answer for answer, its in zip(pending, told, strict=True) if its.hands_over], timeout=_HANDING_OVER)
    answers = zip(asked, pending, strict=True)
    return merged([_known(request), *(_brought(request, one.name, answer, allowed) for one, answer in answers)])


class _Told:
    """What one collector says of how far it is, passed on."""

    def __init__(self, name: str, progress: Progress, stop: StopSignal) -> None:
        self._name, self._progress, self._stop = name, progress, stop
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

"""Signs of life of somebody who is silent: from itself, before and after, and from others meanwhile."""

from typing import Literal

import numpy as np
import numpy.typing as npt

from triage.engine.derived.arithmetic import first_measured, total
from triage.engine.frame import Frame
from triage.engine.statistics import together
from triage.engine.witnesses.voices import Voice, Voices
from triage.model.arrays import median, quantile_of
from triage.model.recording import Floats, Series, Subject
from triage.model.vocabulary import Combine, Scope

Bools = npt.NDArray[np.bool_]

Life = Literal["goes-on", "new-start", "works", "unknown"]
"""The same process answers before and after, another one does, others see it work meanwhile, or nobody can say."""

_SAME_START = 1.5
"""Start times are told in whole seconds by some and in fractions by others."""

_MOST = 0.6
"""It must be seen to work in this share of a silence."""

_FAILS = 0.05
"""Where more of what is sent to it fails, it may as well be dead."""

_LEAST_HOLES = 3
"""One hole through which work goes on may be luck."""

_HALF = 0.5
"""Chosen: after a hole work goes on at half of its usual pace at least."""

_FEW = 0.1
"""In one hole of ten there may have been little to do."""

_WORK = ("tokens.generation", "engine.steps", "tokens.prompt_computed", "finished")
_STARTS = {Scope.REPLICA: "process.start_time", Scope.GATEWAY: "gateway.start_time", Scope.NODE: "node.boot_time"}


def life(frame: Frame, voices: Voices, subject: Subject, since: float, until: float) -> Life:
    """Whether somebody lived while one of its sources was silent."""
    told = _same_process(frame, subject, since, until)
    if told is not None:
        return told
    return "works" if works(frame, voices, subject, since, until) else "unknown"


def _same_process(frame: Frame, subject: Subject, since: float, until: float) -> Life | None:
    """What the start times before and after say; None if one of them is not known."""
    signal = _STARTS.get(subject.scope)
    for one in frame.recording.by_signal.get(signal or "", ()):
        if one.subject == subject:
            before, after = one.values[one.times <= since + 1.0], one.values[one.times >= until]
            if len(before) and len(after):
                return "goes-on" if abs(after[0] - before[-1]) <= _SAME_START else "new-start"
    return None


def works_on(frame: Frame, replica: Subject, missed: Floats) -> bool:
    """Whether an engine's own counters grew through scrapes that failed about as in those that did not.

    A process that had died in between would have begun to count anew, and would have to load its model first.

    :param missed: times of the scrapes that failed
    """
    return any(
        _grows_through(one, missed) for name in _WORK for one in frame.recording.by_signal.get(name, ()) if one.subject == replica
    )


def _grows_through(work: Series, missed: Floats) -> bool:
    """Whether the growth over each of several holes is like that between samples in a row."""
    if len(work.times) < _LEAST_HOLES:
        return False
    over = np.diff(np.searchsorted(missed, work.times)) > 0
    after, usual = work.values[1:][over], work.values[1:][~over]
    if len(after) < _LEAST_HOLES or not len(usual) or median(usual) <= 0:
        return False
    return float(quantile_of(after, _FEW)) >= _HALF * median(usual)


def works(frame: Frame, voices: Voices, subject: Subject, since: float, until: float) -> bool:
    """Whether others see somebody work between two moments."""
    inside = (frame.grid.times - frame.grid.step >= since - 1.0) & (frame.grid.times <= until)
    if not inside.any():
        return False
    match subject.scope:
        case Scope.REPLICA:
            return _is_served(frame, subject, inside) or _all_serve(frame, inside)
        case Scope.GPU | Scope.GATEWAY:
            replicas = frame.related(subject, Scope.REPLICA) or frame.recording.subjects[Scope.REPLICA]
            asked = subject.scope is Scope.GPU and (_is_asked(frame, inside) or _all_serve(frame, inside))
            return asked or computes(frame, replicas, inside)
        case Scope.NODE:
            carried = {one for scope in (Scope.REPLICA, Scope.GPU) for one in frame.related(subject, scope)}
            return any(
                voice.spoke_throughout(since, until)
                for one in carried
                for voice in voices.by_subject.get(one, ())
                if _is_its_own(voice)
            )
        case _:
            return any(voice.spoke_throughout(since, until) for voice in voices.all if not voice.is_scraper)


def _is_its_own(voice: Voice) -> bool:
    """Whether a voice runs where its subject does: an engine's, a card's. The cluster speaks of what is gone, too."""
    return voice.subject.scope is Scope.GPU or any(name in (*_WORK, "process.start_time") for name in voice.names)


def computes(frame: Frame, replicas: list[Subject], inside: Bools) -> bool:
    """Whether any of some engines makes progress in most of some cells."""
    beats = [cells for name in _WORK for replica in replicas if (cells := frame.cells(name, replica)) is not None]
    return bool(beats) and _mostly(together(beats, Combine.MAX)[inside])


def _is_asked(frame: Frame, inside: Bools) -> bool:
    """Whether requests come all the time where no engine says what it does with them."""
    if any(frame.of(name) for name in _WORK):
        return False
    arrivals = first_measured(
        total(frame, "backend.requests"), total(frame, "gateway.requests"), total(frame, "requests.attempts")
    )
    return arrivals is not None and _mostly(arrivals[inside])


def _all_serve(frame: Frame, inside: Bools) -> bool:
    """Whether a gateway gets as many answers as before while all replicas are heard and not one is seen to work.

    Somebody gives them.
    """
    replicas, declared = frame.recording.subjects[Scope.REPLICA], frame.recording.fact("replicas")
    answers = first_measured(total(frame, "gateway.2xx"), total(frame, "gateway.upstream_2xx"))
    if answers is None or not isinstance(declared, float | int) or len(replicas) < declared:
        return False
    if computes(frame, replicas, inside) or not all(_is_heard(frame, one, inside) for one in replicas):
        return False
    usual = answers[: int(np.argmax(inside))]
    if not len(usual) or np.isnan(usual).all() or not _mostly(answers[inside]):
        return False
    return float(np.nanmean(answers[inside])) >= _HALF * float(np.nanmean(usual)) > 0


def _is_heard(frame: Frame, replica: Subject, inside: Bools) -> bool:
    """Whether an engine tells all the time how much it does."""
    beats = [cells[inside] for name in _WORK if (cells := frame.cells(name, replica)) is not None]
    return bool(beats) and float((~np.isnan(np.stack(beats)).all(axis=0)).mean()) >= _MOST


def _is_served(frame: Frame, replica: Subject, inside: Bools) -> bool:
    """Whether a gateway sends requests to a replica and they do not fail."""
    sent, failed = frame.cells("backend.requests", replica), frame.cells("backend.failures", replica)
    if sent is None or not _mostly(sent[inside]):
        return False
    bad = failed if failed is not None else next(iter(frame.of("gateway.5xx").values()), None)
    if bad is None:
        return False
    return float(np.nansum(bad[inside])) <= _FAILS * float(np.nansum(sent[inside]))


def _mostly(cells: Floats) -> bool:
    """Whether something is known to move in most cells."""
    return bool(len(cells)) and float((np.nan_to_num(cells) > 0).mean()) >= _MOST

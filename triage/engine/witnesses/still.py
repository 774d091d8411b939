"""Sources that are frozen: every value that never rests stands still to the last digit, and work goes on elsewhere."""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from triage.engine.frame import Frame
from triage.engine.witnesses.signs import computes, works
from triage.engine.witnesses.voices import LEAST_SAMPLES, Voice, Voices
from triage.model.observation import Judged, Observation, Seen
from triage.model.recording import Floats, Series, Subject
from triage.model.units import duration
from triage.model.vocabulary import Kind, Scope, catalogue

Bools = npt.NDArray[np.bool_]

_LEAST_SECONDS = 300.0
"""Exporters of cards collect at most every 30 s: five minutes are ten equal readings."""

_RESTLESS = 0.8
"""A value never rests if it changes in this share of its samples, at its subject or at a twin."""

_LEAST_SIGNALS = 3
"""Single values may stand still (a full memory, a clock at its top); so many that never rest do not do it together."""

_MOVED_BY_WORK = frozenset(
    {
        "gpu.power",
        "gpu.energy",
        "gpu.sm_active",
        "gpu.dram_active",
        "gpu.tensor_active",
        "gpu.pcie_rx",
        "gpu.pcie_tx",
        "gpu.nvlink_bytes",
    }
)
"""Of a card that is at work these never rest, to the digits that exporters give, even if it was never seen to move."""

_ALSO_MOVED = frozenset(
    {"gpu.temp", "gpu.mem_temp", "gpu.sm_clock", "gpu.util", "gpu.mem_util", "gpu.engine_active", "gpu.mem_used"}
)
"""Of a card at work these may rest one by one."""

_SELF_MOVED = frozenset({"process.cpu", "gateway.cpu", "container.cpu"})
"""What a scrape itself moves: a process that answers uses some CPU time, whatever its engine does."""


def frozen_voices(frame: Frame, voices: Voices) -> Seen:
    """Voices that go on to speak and say nothing new. What they say then is forgotten."""
    odd: list[Observation] = []
    judged: set[Judged] = set()
    never = _never_resting(voices)
    for voice in voices.all:
        if voice.is_scraper or voice.subject.scope not in (Scope.REPLICA, Scope.GPU, Scope.NODE, Scope.GATEWAY):
            continue
        restless = _restless(voice, never)
        if len(restless) < _LEAST_SIGNALS or not _is_fine_enough(voice):
            continue
        judged.add(("instrument", "frozen", voice.subject.scope))
        for since, until in _stillness(voice, restless):
            if until > frame.recording.window.start and _works_meanwhile(frame, voices, voice, restless, since, until):
                odd.append(_observation(frame, voice, restless, since, until))
    for one in odd:
        _forget(frame, voices, one)
    return Seen(tuple(odd), frozenset(judged))


def _is_fine_enough(voice: Voice) -> bool:
    """Whether a voice speaks often enough that standing still for long can be told from two equal samples."""
    return len(voice.times) >= 2 * LEAST_SAMPLES and 0 < voice.step <= _LEAST_SECONDS / 4


def _never_resting(voices: Voices) -> frozenset[tuple[str, str]]:
    """Dialects and signals that never rest at one subject at least."""
    return frozenset((voice.dialect, one.signal) for voice in voices.all for one in voice.series if _never_rests(one))


def _restless(voice: Voice, never: frozenset[tuple[str, str]]) -> list[Series]:
    """The series of a voice that never rest, by their own past, by their twins', or because work moves them."""
    of_work = any(one.signal in _MOVED_BY_WORK for one in voice.series)
    named = _MOVED_BY_WORK | (_ALSO_MOVED if of_work else frozenset())
    return [one for one in voice.series if one.signal in named or (voice.dialect, one.signal) in never]


def _never_rests(one: Series) -> bool:
    """Whether a value changes nearly all the time, up to the last time that it changes."""
    changes = np.flatnonzero(_moves(one))
    if not len(changes):
        return False
    last = int(changes[-1]) + 1
    return last >= LEAST_SAMPLES and len(changes) >= _RESTLESS * last


def _moves(one: Series) -> Bools:
    """Which samples are news: a rate that is not nought, any other value that is not the one before; shape (T - 1,)."""
    news = one.values[1:] if catalogue()[one.signal].kind is Kind.RATE else np.diff(one.values)
    return np.asarray((news != 0) & ~np.isnan(news))


def _stillness(voice: Voice, restless: Sequence[Series]) -> Iterator[tuple[float, float]]:
    """Times in which a voice speaks and none of its restless values moves."""
    moved = np.unique(np.concatenate([one.times[1:][_moves(one)] for one in restless]))
    begin, end = float(voice.times[0]), float(voice.times[-1])
    corners: Floats = np.concatenate(([begin], moved, [end]))
    least = max(_LEAST_SECONDS, LEAST_SAMPLES * voice.step)
    for gap in np.flatnonzero(np.diff(corners) >= least).tolist():
        since, until = corners[gap], corners[gap + 1]
        spoken = int(np.count_nonzero((voice.times > since) & (voice.times <= until)))
        if spoken >= LEAST_SAMPLES and spoken * voice.step >= 0.5 * (until - since):
            yield float(since), float(until)


def _works_meanwhile(frame: Frame, voices: Voices, voice: Voice, restless: Sequence[Series], since: float, until: float) -> bool:
    """Whether what stands still ought to move: its host or process runs, or others see it work.

    An engine that hangs has still counters, too, but the process that answers the scrape goes on to use the CPU.
    """
    names = {one.signal for one in restless}
    subject = voice.subject
    match subject.scope:
        case Scope.NODE:
            return any(one.startswith(("node.cpu", "node.load", "node.memory_available", "node.net")) for one in names)
        case Scope.REPLICA:
            inside = (frame.grid.times - frame.grid.step >= since) & (frame.grid.times <= until)
            is_engine = "tokens.generation" in names or "engine.steps" in names
            if names & _SELF_MOVED:
                return is_engine or computes(frame, [subject], inside)
            return works(frame, voices, subject, since, until) if is_engine else computes(frame, [subject], inside)
        case Scope.GPU if _rests(voice, since, until) and not frame.related(subject, Scope.REPLICA):
            return False
        case _:
            return works(frame, voices, subject, since, until)


def _rests(voice: Voice, since: float, until: float) -> bool:
    """Whether a card is told to be unused all the time: one that nobody computes on says the same for hours."""
    used = [one.values[(one.times >= since) & (one.times <= until)] for one in voice.series if one.signal == "gpu.util"]
    return bool(used) and not any(np.any(values) for values in used)


def _observation(frame: Frame, voice: Voice, restless: Sequence[Series], since: float, until: float) -> Observation:
    """A voice that is frozen."""
    names = ", ".join(catalogue()[name].noun for name in sorted({one.signal for one in restless})[:4])
    still = until >= voice.times[-1]
    return Observation(
        sort="instrument",
        of="frozen",
        subject=voice.subject,
        text=f"{voice.dialect} says the same of {voice.subject} to the last digit for {duration(until - since)} ({names})",
        onset=(since, min(until, since + voice.step)),
        end=None if still else until,
        value=until - since,
        unit="seconds",
        support=int((until - since) / voice.step),
        source="monitoring",
        attrs={"exporter": voice.dialect, "signals": str(len(restless)), "model": _model(frame, voice.subject)},
        salient=True,
    )


def _model(frame: Frame, subject: Subject) -> str:
    """What kind of card it is; empty if it is none or nobody says."""
    return str(frame.recording.fact("gpu_model", subject) or "") if subject.scope is Scope.GPU else ""


def _forget(frame: Frame, voices: Voices, one: Observation) -> None:
    """Makes unknown what a frozen voice says."""
    assert one.onset is not None  # every one of them has begun
    until = frame.recording.window.end if one.end is None else one.end
    for voice in voices.by_subject[one.subject]:
        if voice.dialect == one.attrs["exporter"]:
            for signal in sorted(set(voice.signals)):
                frame.forget(signal, one.subject, one.onset[1], until)

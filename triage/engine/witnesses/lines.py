"""Logs that have a hole, or end, while the program that writes them works."""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from triage.engine.derived.arithmetic import first_measured, total
from triage.engine.frame import Frame
from triage.engine.statistics import together
from triage.engine.witnesses.voices import Voices
from triage.model.observation import Judged, Observation, Seen
from triage.model.recording import Subject
from triage.model.units import duration
from triage.model.vocabulary import Combine, Scope

Bools = npt.NDArray[np.bool_]

_WORK = ("tokens.generation", "engine.steps", "tokens.prompt_computed", "finished")
_REGULAR = 0.8
"""A log is a regular one if it has lines in this share of the time in which its program worked."""

_LEAST_HEARD = 180.0
"""It must have been heard for so many seconds of work: an excerpt that somebody cut out tells nothing of what lies outside."""

_WHOLE = 0.5
"""An access log has a line for each request; what has far fewer is an excerpt that somebody cut out."""

_LEAST_HOLE = 240.0
"""Engines write their load every ten seconds while they work: four minutes are two dozen lines."""


def line_gaps(frame: Frame, _voices: Voices) -> Seen:
    """Holes with lines on both sides, and logs that end, while requests go on."""
    odd: list[Observation] = []
    judged: set[Judged] = set()
    logs = [(subject, lines > 0) for name in _LINES for subject, lines in sorted(frame.of(name).items())]
    for subject, written in logs:
        working = _working(frame, subject)
        heard = np.flatnonzero(written)
        if working is None or not len(heard):
            continue
        for first, last in _gaps(written, int(heard[0])):
            ends = last == len(written) - 1
            if ends and not _is_whole(frame, subject, slice(int(heard[0]), first)):
                continue
            if _is_regular(frame, written[heard[0] : first], working[heard[0] : first]):
                judged |= {("instrument", name, subject.scope) for name in ("log-hole", "log-ends")}
                others = [other for whose, other in logs if whose != subject]
                odd.extend(_gap(frame, subject, working, others, first, last))
        if _is_regular(frame, written[heard[0] :], working[heard[0] :]):
            judged |= {("instrument", name, subject.scope) for name in ("log-hole", "log-ends")}
    return Seen(tuple(odd), frozenset(judged))


_LINES = ("log.lines", "gateway.log_lines")


def _working(frame: Frame, subject: Subject) -> Bools | None:
    """Cells in which whoever writes a log has something to do; None if nobody says."""
    if subject.scope is Scope.GATEWAY:
        served = first_measured(total(frame, "gateway.requests"), total(frame, "backend.requests"))
        return None if served is None else np.asarray(served > 0)
    beats = [cells for name in _WORK if (cells := frame.cells(name, subject)) is not None]
    return np.asarray(together(beats, Combine.MAX) > 0) if beats else None


def _gaps(written: Bools, begin: int) -> Iterator[tuple[int, int]]:
    """First and last cell of each run without lines after the first line."""
    silent = np.concatenate(([False], ~written[begin:], [False]))
    edges = np.flatnonzero(np.diff(silent.astype(int)) != 0)
    for first, end in zip(edges[::2], edges[1::2], strict=True):
        yield begin + int(first), begin + int(end) - 1


def _is_regular(frame: Frame, written: Bools, working: Bools) -> bool:
    """Whether a log had lines nearly all the time in which its program worked."""
    at_work = int(working.sum())
    return at_work * frame.grid.step >= _LEAST_HEARD and int((written & working).sum()) >= _REGULAR * at_work


def _is_whole(frame: Frame, subject: Subject, span: slice) -> bool:
    """Whether a log has about a line for each request, or may be an excerpt. An engine's tells its load anyway."""
    if subject.scope is not Scope.GATEWAY:
        return bool(span.start <= frame.grid.first - round(_LEAST_HEARD / frame.grid.step))
    lines, asked = frame.cells("gateway.log_lines", subject), total(frame, "gateway.requests")
    if lines is None or asked is None:
        return False
    return float(np.nansum(lines[span])) >= _WHOLE * float(np.nansum(asked[span]))


def _gap(frame: Frame, subject: Subject, working: Bools, others: Sequence[Bools], first: int, last: int) -> Iterator[Observation]:
    """The observation of a time without lines, if its program worked for long in it."""
    worked = float(working[first : last + 1].sum() * frame.grid.step)
    times = frame.grid.times
    if worked < _LEAST_HOLE or times[last] <= frame.recording.window.start:
        return
    ends = last < len(times) - 1
    heard = _heard_later(others, first + round(_LEAST_HOLE / frame.grid.step))
    yield Observation(
        sort="instrument",
        of="log-hole" if ends else "log-ends",
        subject=subject,
        text=f"the log of {subject} has no line for {duration(worked)} of work" + ("" if ends else ", and ends with that"),
        onset=(float(times[first] - frame.grid.step), float(times[first])),
        end=float(times[last]) if ends else None,
        value=worked,
        unit="seconds",
        source="logs",
        attrs={"others": heard},
        salient=ends or heard == "go-on",
    )


def _heard_later(others: Sequence[Bools], cell: int) -> str:
    """Whether other logs have lines from a cell on: if all end at once, somebody may just have collected no further."""
    if not others:
        return "none"
    return "go-on" if any(other[cell:].any() for other in others) else "end"

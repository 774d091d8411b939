"""Whether anybody answers at all: now, and for which part of the service not."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from triage.classes import dataclass
from triage.engine.derived.arithmetic import first_measured, total
from triage.engine.frame import Frame
from triage.engine.promises.entries import Entry, began, is_stale, last_seen, now, open_vital, service_of
from triage.engine.promises.table import DELAYS
from triage.engine.statistics import MOMENT, together
from triage.model.diagnosis import Promised, Vital
from triage.model.recording import Floats, Subject
from triage.model.vocabulary import Combine, Scope

NAME = "answers"
_TITLE = "answers at all"

_LOW = 0.5
"""With fewer of the requests answered than this the service is as good as gone."""

_ALL = 0.98
"""From so many answered requests on nobody outside misses a replica: a lost one of fifty would take two in a hundred."""

_AROUND = 180.0
"""Chosen: seconds before and after the end of a replica in which those that were inside fail; longer answers are few."""

_SCRAPES = 2
"""One scrape that fails is an accident, two in a row are not: half a minute at the usual interval."""

_LEAST_REQUESTS = 3.0
"""One or two requests that go astray are an accident."""

_STANDS = 20.0
"""An engine that holds requests and makes no step for so long hangs: the longest prefill or graph capture while serving is
shorter (vLLM and SGLang end a process whose step takes minutes; clients notice ten seconds)."""

_HALF_GONE = 0.5
"""A replica that is gone or stands still hurts as much as half of an incident, times its share of the service: others may
take its part, but those that were inside are lost."""

_GATEWAY = ("gateway.requests", "gateway.2xx")
_OUTSIDE = (
    ("requests.distinct", "", "requests.failed"),
    ("gateway.requests", "gateway.2xx", "gateway.5xx"),
    ("gateway.upstream_requests", "gateway.upstream_2xx", ""),
)
"""Who counts requests, those that are answered, and those that are not, the nearest to the user first."""

_ENGINE = ("batch.running", "queue.waiting", "finished", "tokens.generation", "engine.steps")


@dataclass(frozen=True)
class Replica:
    """How one replica is now.

    :param works: whether it gives answers, or could if it were asked; None if nobody can say
    :param why: what is wrong with it, after its name
    :param since: since when, Unix seconds
    :param is_silent: nothing is known of it but that it is not heard
    """

    subject: Subject
    works: bool | None
    why: str = ""
    since: float | None = None
    is_silent: bool = False


def answers(frame: Frame) -> Iterator[Entry]:
    """Whether requests are answered now, of the service, and the replicas that answer nothing."""
    replicas = _without_surplus([_replica(one, frame) for one in _expected(frame)], frame)
    asked = _answered_outside(frame)
    yield Entry(_service(frame, replicas, asked))
    dead = [one for one in replicas if one.works is False]
    if len(dead) < len(replicas):
        for one in dead:
            yield Entry(_part(one, len(replicas), asked))
    yield from (Entry(vital) for one in replicas if one.works and (vital := _ended(one.subject, asked, frame)) is not None)


def _expected(frame: Frame) -> list[Subject]:
    """Replicas that should answer now: those whose engine or target is known."""
    known = [one for name in (*_ENGINE, "target.up", "replica.lost", "pod.ready") for one in frame.subjects_of(name)]
    return sorted({one for one in known if one.scope is Scope.REPLICA})


def _without_surplus(replicas: list[Replica], frame: Frame) -> list[Replica]:
    """Replicas of which nobody hears any more were taken away or replaced where as many work as the cluster wants."""
    wanted = total(frame, "replicas.desired")
    works = sum(one.works is True for one in replicas)
    if wanted is None or np.isnan(wanted[-1]) or works < max(wanted[-1], 1.0):
        return replicas
    return [replace(one, works=None) if one.is_silent else one for one in replicas]


def _replica(one: Subject, frame: Frame) -> Replica:
    """What the last scrapes tell of one replica."""
    up, lost = _failed_scrapes(one, frame), frame.cells("replica.lost", one)
    ready, stalled = frame.cells("pod.ready", one), frame.cells("engine.stalled", one)
    taken_away = ready is not None and not np.isnan(ready).all() and bool(np.isnan(ready[-1]))
    if taken_away:
        return Replica(one, None)
    if len(up) >= _SCRAPES:
        return Replica(one, False, "does not answer the scrape", float(up[0]), is_silent=True)
    if lost is not None and _holds(lost == 1, 1):
        return Replica(one, False, "gives no sign of life", _since(lost == 1, frame), is_silent=True)
    if stalled is not None and _seconds(stalled == 1, frame) >= _STANDS:
        return Replica(one, False, "holds requests and makes no step", _since(stalled == 1, frame))
    if ready is not None and _holds(ready == 0, 2) and not frame.of("target.up").get(one, np.zeros(0)).any():
        return Replica(one, False, "is not ready", _since(ready == 0, frame))
    here = [cells for name in _ENGINE if (cells := frame.cells(name, one)) is not None and not np.isnan(cells[-1])]
    return Replica(one, True if here or (ready is not None and ready[-1] == 1) else None)


def _failed_scrapes(one: Subject, frame: Frame) -> Floats:
    """Times of the last scrapes in a row that failed, the first of them first; none if the last one succeeded or is old.

    They are counted by themselves: in a long window a cell of the grid is longer than a few scrapes.
    """
    series = frame.recording.series_of("target.up", one)
    if series is None or is_stale(frame, ("target.up",)):
        return np.zeros(0)
    until = int(np.searchsorted(series.times, frame.recording.window.end, side="right"))
    answered = np.flatnonzero(series.values[:until] != 0)
    return series.times[int(answered[-1]) + 1 if len(answered) else 0 : until]


def _holds(flags: "np.ndarray[tuple[int], np.dtype[np.bool_]]", scrapes: int) -> bool:
    """Whether something holds in each of the last cells."""
    return len(flags) >= 1 and bool(flags[-scrapes:].all())


def _run(flags: "np.ndarray[tuple[int], np.dtype[np.bool_]]") -> int:
    """Length of the last row of cells in which something holds."""
    broken = np.flatnonzero(~flags)
    return len(flags) - (int(broken[-1]) + 1 if len(broken) else 0)


def _seconds(flags: "np.ndarray[tuple[int], np.dtype[np.bool_]]", frame: Frame) -> float:
    return _run(flags) * frame.grid.step


def _since(flags: "np.ndarray[tuple[int], np.dtype[np.bool_]]", frame: Frame) -> float | None:
    """When what holds now began; None if before all data."""
    length = _run(flags)
    return float(frame.grid.times[len(flags) - length]) if length < len(flags) else None


def _part(one: Replica, count: int, outside: "Outside | None") -> Vital:
    """A replica that answers nothing while others do.

    Where it is only silent and everybody outside gets an answer, it may as well be the monitoring that does not reach it.
    """
    hidden = one.is_silent and outside is not None and outside.share >= _ALL
    return Vital(
        name=NAME,
        title=_TITLE,
        subject=str(one.subject),
        state=Promised.OPEN if hidden else Promised.BROKEN,
        value=None if hidden else 0.0,
        now=None if hidden else 0.0,
        unit="ratio",
        limit=_LOW,
        limit_of="replicas that answer",
        since=one.since,
        harm=0.0 if hidden else _HALF_GONE * min(1.0, 2.0 / count),
        reason=f"{one.subject} {one.why}" + (", yet every request that is counted outside gets an answer" if hidden else ""),
    )


def _ended(one: Subject, outside: "Outside | None", frame: Frame) -> Vital | None:
    """A replica that works now and ended in the window: what was inside may have got no answer.

    Unless others count them all, or nothing was inside any more: it had been drained.
    """
    lost, again = frame.cells("replica.lost", one), frame.cells("pod.restarts", one)
    rows = [cells[frame.grid.window] > 0 for cells in (lost, again) if cells is not None]
    gone = np.flatnonzero(np.any(np.stack(rows), axis=0)) if rows else np.zeros(0, dtype=int)
    if not len(gone) or (outside is not None and _all_answered(outside, frame.grid.first + gone, frame)):
        return None
    if gone[-1] - gone[0] + 1 == len(gone) and _was_empty(one, frame.grid.first + int(gone[0]), frame):
        return None
    first, last = (float(frame.grid.times[frame.grid.first + int(index)]) for index in (gone[0], gone[-1]))
    return Vital(
        name=NAME,
        title=_TITLE,
        subject=str(one),
        state=Promised.OPEN,
        unit="ratio",
        since=first,
        until=last,
        reason=f"{one} was gone for a while and came back; whether what was inside it was answered is not known",
    )


def _was_empty(one: Subject, gone: int, frame: Frame) -> bool:
    """Whether a replica held no request in its last two known cells: one alone may fall between two requests.

    :param gone: the cell in which it ended
    """
    running, waiting = frame.cells("batch.running", one), frame.cells("queue.waiting", one)
    if running is None:
        return False
    inside = (running if waiting is None else running + waiting)[: gone + 1]
    known = inside[~np.isnan(inside)]
    return len(known) >= _LAST and not known[-_LAST:].any()


_LAST = 2
"""Chosen: cells."""


def _all_answered(outside: "Outside", cells: "np.ndarray[tuple[int], np.dtype[np.int64]]", frame: Frame) -> bool:
    """Whether nearly every request was answered from a while before some cells to a while after them."""
    width = max(1, round(_AROUND / frame.grid.step))
    around = outside.cells[max(int(cells[0]) - width, 0) : int(cells[-1]) + width + 1]
    return not np.isnan(around).all() and float(np.nanmin(around)) >= _ALL


@dataclass(frozen=True)
class Outside:
    """What those in front of the engines count now.

    :param share: of the requests that got an answer
    """

    share: float
    asked: float
    cells: Floats


def _answered_outside(frame: Frame) -> Outside | None:
    """Share of the requests that get an answer now, by clients or the gateway; None if nobody asks or nobody counts."""
    for whole, good, bad in _OUTSIDE:
        who = [one for one in frame.of(whole) if any(one in frame.of(name) for name in (good, bad) if name)]
        asked = _sum(frame, whole, who)
        if asked is None or is_stale(frame, (whole,)):
            continue
        ok, lost = (_sum(frame, name, who) if name else None for name in (good, bad))
        given = ok if ok is not None else None if lost is None else asked - np.nan_to_num(lost)
        if given is None:
            continue
        span = _enough(asked, now(frame, (whole,)), frame.grid.step)
        known = ~np.isnan(asked[span])
        count = float(asked[span][known].sum()) * frame.grid.step
        if count >= _LEAST_REQUESTS:
            with np.errstate(invalid="ignore", divide="ignore"):
                cells = np.where(asked > 0, np.clip(np.nan_to_num(given) / asked, 0.0, 1.0), np.nan)
            share = float(np.nan_to_num(given[span])[known].sum()) * frame.grid.step / count
            return Outside(min(max(share, 0.0), 1.0), count, cells)  # what ends now may have come before
    return None


def _sum(frame: Frame, signal: str, who: list[Subject]) -> Floats | None:
    """What those count together who count both requests and what becomes of them: another one's answers are of other requests."""
    rows = [cells for one in who if (cells := frame.cells(signal, one)) is not None]
    return together(rows, Combine.SUM) if rows else None


def _enough(asked: Floats, span: slice, step: float) -> slice:
    """The last cells, and before them as many of the last five minutes as it takes to see a few requests where few come."""
    starts = range(span.start, max(0, span.stop - round(MOMENT / step)) - 1, -1)
    return next(
        (slice(at, span.stop) for at in starts if float(np.nansum(asked[at : span.stop])) * step >= _LEAST_REQUESTS), span
    )


def _service(frame: Frame, replicas: list[Replica], outside: Outside | None) -> Vital:
    """Whether the service answers now."""
    known = [one for one in replicas if one.works is not None]
    dead = [one for one in known if one.works is False]
    told = {"unit": "ratio", "limit": _LOW, "limit_of": "requests or replicas that answer"}
    if outside is not None and outside.share < _LOW:
        since = began(1.0 - outside.cells, frame, _LOW)
        return _broken(frame, outside.share, since, f"of {outside.asked:.0f} requests now {outside.share:.0%} get an answer")
    if known and len(dead) == len(known) and (outside is None or outside.share < _LOW):
        why = f"{dead[0].subject} {dead[0].why}" if len(dead) == 1 else f"each of {len(dead)} replicas: the first {dead[0].why}"
        times = [one.since for one in dead if one.since is not None]
        return _broken(frame, 0.0, max(times) if len(times) == len(dead) else None, why)
    if _none_ready(frame):
        return _broken(frame, 0.0, None, "no replica is ready and some are wanted")
    if outside is None and not known and not _served(frame):
        seen = last_seen(frame, (*_GATEWAY, *_ENGINE))
        old = seen is not None
        reason = "its last values are older than a few scrapes" if old else "nobody counts answers, and no engine is seen"
        return open_vital(frame, NAME, _TITLE, reason, **told)
    if outside is None and _vanished(frame):
        return open_vital(frame, NAME, _TITLE, "nobody asks any more, and whether that is their wish is not known", **told)
    share = outside.share if outside is not None else 1.0 - len(dead) / len(known) if known else None
    return Vital(name=NAME, title=_TITLE, subject=service_of(frame), state=Promised.KEPT, value=share, now=share, unit="ratio",
                 limit=_LOW, limit_of="requests or replicas that answer")  # fmt: skip


def _served(frame: Frame) -> bool:
    """Whether any answer was timed now."""
    for signal in {name for delay in DELAYS for name in delay.signals}:
        pairs = [frame.sum_and_count(signal, one) for one in frame.histograms(signal)]
        span = now(frame, (signal,))
        if any(pair is not None and float(np.nansum(pair[1][span])) > 0 for pair in pairs):
            return True
    return False


def _broken(frame: Frame, share: float, since: float | None, reason: str) -> Vital:
    """Most requests get no answer now."""
    return Vital(
        name=NAME,
        title=_TITLE,
        subject=service_of(frame),
        state=Promised.BROKEN,
        value=share,
        now=share,
        unit="ratio",
        limit=_LOW,
        limit_of="requests or replicas that answer",
        since=since,
        harm=2.0 * (1.0 - share),
        reason=reason,
    )


def _none_ready(frame: Frame) -> bool:
    """Whether the cluster wants replicas and has none that is ready, now."""
    wanted, ready = total(frame, "replicas.desired"), total(frame, "replicas.ready")
    return wanted is not None and ready is not None and bool(wanted[-1] >= 1 and ready[-1] == 0)


def _vanished(frame: Frame) -> bool:
    """Whether requests came all the time and none comes now."""
    arrivals = first_measured(total(frame, "service.arrivals"))
    if arrivals is None:
        return False
    span = now(frame, ("gateway.requests", *_ENGINE))
    before = arrivals[: span.start]
    usual = float(np.nanmean(before)) if len(before) and not np.isnan(before).all() else 0.0
    lately = float(np.nansum(arrivals[span]))
    steady = bool(np.nanmean(before > 0) > 0.8) if len(before) else False
    return steady and lately <= 0 and usual * frame.grid.step * (span.stop - span.start) >= 2 * _LEAST_REQUESTS

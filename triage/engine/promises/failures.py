"""Requests that did not get their answer: failed, refused, given up. Told apart by who did not want or could not."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from triage.classes import dataclass
from triage.engine.derived.arithmetic import total
from triage.engine.frame import Frame, running
from triage.engine.promises.entries import (
    BURN_OF_MOMENT,
    UNCOUNTED,
    Entry,
    Span,
    began,
    ended,
    is_stale,
    open_vital,
    service_of,
    spans,
    surely_above,
)
from triage.engine.promises.table import LOSSES, Loss, View
from triage.engine.queries import Reckoning, looked_at, share_reckoned
from triage.engine.sparks import spark_of
from triage.engine.statistics import together
from triage.model.diagnosis import Promised, Vital
from triage.model.recording import Floats, Subject
from triage.model.units import quantity
from triage.model.vocabulary import Combine, Scope, catalogue

_LEAST_REQUESTS = 20.0
"""Requests before the window, or of a replica, below which a share says nothing."""

_LEAST_LOST = 3.0
"""One or two requests that fail are an accident, whatever their share."""

_NEARLY = 1 - 1e-6
"""Sums in another order differ by rounding."""

_PART = 1 / 3
"""Who counts less than this of what is counted further in sees a part of the traffic."""

_ALL = 0.9999
"""Two sums over the same series differ by rounding only."""

_MOST_BURN = 20.0
"""Times what is allowed beyond which more does not count: a promise of one in a hundred thousand is easily broken."""

_ROUNDING = 0.005
"""Two counts that differ by less are the same."""

_LITTLE = 0.1
"""Chosen: a broken promise whose harm cannot be measured is not nothing."""


@dataclass(frozen=True)
class Count:
    """Requests counted by one view: asked and lost per second in each cell, shape (N,)."""

    view: View
    asked: Floats
    lost: Floats
    subjects: tuple[Subject, ...]

    def within(self, span: slice, step: float) -> tuple[float, float]:
        """Requests lost and asked in a span. A counter of losses may begin with the first, so silence is none lost."""
        known = ~np.isnan(self.asked[span])
        asked = float(self.asked[span][known].sum()) * step
        lost = self.lost[span][known]
        return min(max(float(np.where(np.isnan(lost), 0.0, lost).sum()) * step, 0.0), asked), asked


@dataclass(frozen=True)
class Limit:
    """The share that may be lost.

    :param well: up to here it is well
    :param allowed: what more than that is measured by
    """

    value: float
    well: float
    allowed: float
    words: str


def failures(frame: Frame) -> Iterator[Entry]:
    """Every way in which requests do not get their answer, of the service and then of replicas that fare worse."""
    for loss in LOSSES:
        counts = _counts(loss, frame) if _can_be_told(loss, frame) else []
        entries = [_judged(loss, count, service_of(frame), frame) for count in counts]
        if entries:
            worst = max(entries, key=_badness)
            yield worst
            yield from _parts(loss, worst, frame)
        elif loss.name == "error_ratio" and (entry := _undated(loss, frame)) is not None:
            yield entry
        elif loss.name in frame.recording.objectives:
            limit = frame.recording.objectives[loss.name]
            yield Entry(open_vital(frame, loss.name, loss.title, UNCOUNTED, unit="ratio", limit=limit))


def _undated(loss: Loss, frame: Frame) -> Entry | None:
    """Requests of logs without times, where nobody else counts: that few of many failed tells that few failed at any time.

    More than a few of them failed at times that nobody knows, so that then nothing is said.
    """
    told = [event for event in frame.recording.events_of("log") if event.name == "undated-requests"]
    asked, lost = (sum(float(event.attrs[name]) for event in told) for name in ("requests", "failed"))
    promised = frame.recording.objectives.get(loss.name)
    well = loss.allowed if promised is None else promised
    if asked < _LEAST_REQUESTS or lost > well * asked:
        return None
    return Entry(
        Vital(
            name=loss.name,
            title=loss.title,
            subject=service_of(frame),
            state=Promised.KEPT,
            value=lost / asked,
            unit="ratio",
            limit=well,
            limit_of="what nobody minds" if promised is None else f"objective {loss.name}",
            reason=f"of {asked:.0f} requests in logs without times {lost:.0f} failed",
        )
    )


def _can_be_told(loss: Loss, frame: Frame) -> bool:
    """Whether there is anything to hold a loss against."""
    return not loss.any_is_usual or frame.grid.usual > 0 or loss.name in frame.recording.objectives


def _badness(entry: Entry) -> tuple[int, float]:
    order = (Promised.KEPT, Promised.OPEN, Promised.BROKEN)
    return order.index(entry.vital.state), entry.vital.harm


def _counts(loss: Loss, frame: Frame) -> list[Count]:
    """What the views nearest to the user count; beside an excerpt (of a log, one client of many) the next group, too."""
    found: list[Count] = []
    for group in loss.views:
        seen = max((_asked(count, frame) for count in found), default=0.0)
        counts = [count for view in group if (count := _count(view, frame)) is not None]
        found += [count for count in counts if seen < _PART * _asked(count, frame)]
    return found


def _asked(count: Count, frame: Frame) -> float:
    """Requests in the window; one at least, so that what was asked nothing is no excerpt of nothing."""
    return max(count.within(frame.grid.window, frame.grid.step)[1], 1.0)


def _count(view: View, frame: Frame, subject: Subject | None = None) -> Count | None:
    """What one view counts, of everybody or of one replica; None unless it counts both requests and what became of them.

    Where a view tells of losses alone (an excerpt of a log), those that others saw were asked besides.
    """
    subjects = tuple(frame.subjects_of(view.asked) if subject is None else [subject])
    asked = total(frame, view.asked) if subject is None else frame.cells(view.asked, subject)
    if asked is None or np.isnan(asked[frame.grid.window]).all():
        return _beside_others(view, frame) if subject is None else None
    if not any(frame.of(name) for name in view.lost) and not _all_ended_well(view, frame):
        return None
    rows = [total(frame, name) if subject is None else frame.cells(name, subject) for name in view.lost]
    lost = [row for row in rows if row is not None]
    return Count(view, asked, together(lost, Combine.MAX) if lost else np.zeros_like(asked), subjects)


def _beside_others(view: View, frame: Frame) -> Count | None:
    """Losses that a view tells of without telling how many it was asked, while it tells any; None if nobody else tells that."""
    rows = [row for name in view.lost if (row := total(frame, name)) is not None]
    others = frame.cells("service.arrivals", Subject(Scope.SERVICE, frame.recording.service))
    if not rows or others is None:
        return None
    lost = together(rows, Combine.MAX)
    return Count(view, others + lost, lost, tuple(frame.subjects_of(view.lost[0])))


def _all_ended_well(view: View, frame: Frame) -> bool:
    """Whether the view counts those that end well apart, and they are all that it counts."""
    asked, well = total(frame, view.asked), total(frame, *view.well)
    return asked is not None and well is not None and float(np.nansum(well)) >= _ALL * float(np.nansum(asked)) > 0


def _parts(loss: Loss, whole: Entry, frame: Frame) -> Iterator[Entry]:
    """Replicas that lose more than is allowed while the service as a whole does not show it."""
    if whole.vital.state is Promised.BROKEN:
        return
    views = [view for group in loss.views for view in group if any(s.scope is Scope.REPLICA for s in frame.of(view.asked))]
    for view in views[:1]:
        counts = {one: count for one in frame.subjects_of(view.asked) if (count := _count(view, frame, one)) is not None}
        asked = {one: count.within(frame.grid.window, frame.grid.step)[1] for one, count in counts.items()}
        for one in _perhaps_broken(loss, counts, frame) if len(counts) > 1 else ():
            entry = _judged(loss, counts[one], str(one), frame)
            if entry.vital.state is Promised.BROKEN and asked[one] >= _LEAST_REQUESTS:
                harm = entry.vital.harm * asked[one] / sum(asked.values())
                yield Entry(entry.vital.model_copy(update={"harm": harm}), entry.signal, entry.subjects)


def _perhaps_broken(loss: Loss, counts: Mapping[Subject, Count], frame: Frame) -> list[Subject]:
    """Those that lost enough in the window, and in some span a greater share than may be lost.

    All of them are looked at in one go, so that only the few that may are looked at one by one.
    """
    step = frame.grid.step
    losing = [one for one, count in counts.items() if count.within(frame.grid.window, step)[0] >= _NEARLY * _LEAST_LOST]
    if not losing:
        return []
    views = spans(frame, (counts[losing[0]].view.asked,))
    limits = np.array([_limit(loss, counts[one], frame).value for one in losing])
    asked, lost = (np.stack([getattr(counts[one], name) for one in losing]) for name in ("asked", "lost"))
    asked, lost = (np.where(np.isnan(asked) | np.isnan(rows), 0.0, rows) for rows in (asked, lost))
    edges = [[span.cells.start for span in views], [span.cells.stop for span in views]]
    asked, lost = (running(rows)[:, edges[1]] - running(rows)[:, edges[0]] for rows in (asked, lost))
    with np.errstate(invalid="ignore", divide="ignore"):
        may = (lost * step >= _NEARLY * _LEAST_LOST) & (lost > _NEARLY * limits[:, None] * asked)
    return [one for one, told in zip(losing, np.any(may, axis=1).tolist(), strict=True) if told]


def _judged(loss: Loss, count: Count, of: str, frame: Frame) -> Entry:
    """One way of losing requests, as one view counts it."""
    step = frame.grid.step
    limit = _limit(loss, count, frame)
    signals = (count.view.asked, *count.view.lost)
    tallies = [(span, count.within(span.cells, step)) for span in spans(frame, (count.view.asked,))]
    broken = [(span, tally) for span, tally in tallies if _is_broken(span, tally, limit)]
    lately = tallies[-1]
    state, reason = _state(loss, tallies, broken, limit, frame, count)
    with np.errstate(invalid="ignore", divide="ignore"):
        cells = np.where(count.asked > 0, np.clip(np.nan_to_num(count.lost) / count.asked, 0.0, 1.0), np.nan)
    part, shown = _shown(tallies, broken) if broken else tallies[0]
    by_hand = partial(_by_hand, count, part.cells, of, frame)
    value = shown[0] / shown[1] if shown[1] > 0 else None
    is_over = bool(broken) and lately not in broken and lately[1][1] > 0
    since = began(cells, frame, limit.value) if broken else None
    usual = count.within(frame.grid.baseline, step) if frame.grid.usual else (0.0, 0.0)
    signal = _loudest(count, frame)
    vital = Vital(
        name=loss.name,
        title=loss.title,
        subject=of,
        state=state,
        value=value,
        now=lately[1][0] / lately[1][1] if lately[1][1] > 0 else None,
        unit="ratio",
        limit=limit.value,
        limit_of=limit.words,
        baseline=usual[0] / usual[1] if usual[1] >= _LEAST_REQUESTS else None,
        since=since,
        until=ended(cells, frame, limit.value, lately[0].cells) if is_over else None,
        harm=_harm(broken, limit, is_over=is_over),
        reason=reason,
        spark=spark_of(cells, frame.grid, since),
    )
    return Entry(vital.reckoned_by(by_hand), signal if any(frame.of(name) for name in signals) else "", count.subjects)


def _by_hand(count: Count, span: slice, of: str, frame: Frame) -> Reckoning:
    """How the share can be worked out again: by one counter of losses, unless several tell of it in turn."""
    subjects = [Subject(Scope.SERVICE, frame.recording.service)] if of == service_of(frame) else list(count.subjects)
    signal, step = _loudest(count, frame), frame.grid.step
    row = total(frame, signal) if of == service_of(frame) else frame.cells(signal, subjects[0])
    asked = total(frame, count.view.asked) if of == service_of(frame) else count.asked
    lost, whole = count.within(span, step)
    alone = row is not None and abs(float(np.nansum(row[span])) * step - lost) <= _ROUNDING * max(lost, 1.0)
    counted = asked is not None and abs(float(np.nansum(asked[span])) * step - whole) <= _ROUNDING * max(whole, 1.0)
    if not (alone and counted) or signal == count.view.asked:
        return looked_at(frame, (*count.view.lost, count.view.asked), subjects, span)
    return share_reckoned(frame, signal, count.view.asked, subjects, span, lost / whole if whole > 0 else None)


def _why_not_counted(loss: Loss, share: float, limit: Limit) -> str:
    """Why a share that nobody would call small is no broken promise; empty if it is small."""
    if share <= loss.allowed:
        return ""
    if limit.value >= 1.0:
        return "it was so before, too: no share would be more than usual"
    return (
        "usual here"
        if "baseline" in limit.words
        else "within what was promised"
        if "objective" in limit.words
        else "too few to tell"
    )


def _loudest(count: Count, frame: Frame) -> str:
    """The counter that tells of most of what was lost."""
    sums = {name: float(np.nansum(row[frame.grid.window])) for name in count.view.lost if (row := total(frame, name)) is not None}
    return max(sums, key=sums.__getitem__) if sums else count.view.asked


def _limit(loss: Loss, count: Count, frame: Frame) -> Limit:
    """What may be lost: as was promised, or as was usual, or what nobody minds."""
    promise = frame.recording.objectives.get(loss.name)
    if promise is not None:
        return Limit(promise, promise, max(promise, 1e-4), f"objective {loss.name}")
    lost, asked = count.within(frame.grid.baseline, frame.grid.step) if frame.grid.usual else (0.0, 0.0)
    if asked >= _LEAST_REQUESTS:
        times, points = loss.step
        limit = max(times * lost / asked, lost / asked + points)
        return Limit(limit, limit, loss.allowed, f"{times:g} × baseline and {quantity(points, 'ratio')} more")
    return Limit(loss.bad, max(loss.allowed, loss.alike), loss.allowed, "what anybody finds too many")


def _is_broken(span: Span, tally: tuple[float, float], limit: Limit) -> bool:
    lost, asked = tally
    return lost >= _LEAST_LOST and surely_above(lost, asked, limit.value, span.doubt)


def _harm(broken: Sequence[tuple[Span, tuple[float, float]]], limit: Limit, *, is_over: bool) -> float:
    """Lost requests as times of what is allowed; half of all lost now is an incident whatever was promised.

    A trouble that is over counts by its share of all requests of the window.
    """
    harms = [0.0]
    for span, (lost, asked) in broken:
        if not is_over or span.burn < BURN_OF_MOMENT:
            harms.append(min(lost / asked / limit.allowed, _MOST_BURN) / span.burn)
        if not is_over:
            harms.append(2.0 * lost / asked)
    return max(harms) or (_LITTLE if broken else 0.0)


def _shown(
    tallies: Sequence[tuple[Span, tuple[float, float]]], broken: Sequence[tuple[Span, tuple[float, float]]]
) -> tuple[Span, tuple[float, float]]:
    """The span to tell of: the window if the promise is broken over all of it, else now, else the worst five minutes."""
    if broken[0] is tallies[0] or broken[-1] is tallies[-1]:
        return broken[0] if broken[0] is tallies[0] else broken[-1]
    return max(broken, key=lambda one: one[1][0] / one[1][1])


def _state(
    loss: Loss,
    tallies: Sequence[tuple[Span, tuple[float, float]]],
    broken: Sequence[tuple[Span, tuple[float, float]]],
    limit: Limit,
    frame: Frame,
    count: Count,
) -> tuple[Promised, str]:
    """What became of the promise, and why if it is not plainly so."""
    lost, asked = tallies[0][1]
    if broken:
        span, (bad, all_) = _shown(tallies, broken)
        words = loss.title.removeprefix("share of ")
        counted = catalogue()[_loudest(count, frame)].noun
        return Promised.BROKEN, f"{span.words} {quantity(bad / all_, 'ratio')} {words}, counted as {counted}"
    if is_stale(frame, (count.view.asked,)):
        return Promised.OPEN, "its last values are older than a few scrapes"
    if lost <= limit.well * asked or lost < _LEAST_LOST or (loss.any_is_usual and "baseline" not in limit.words):
        return Promised.KEPT, _why_not_counted(loss, lost / asked if asked > 0 else 0.0, limit)
    return Promised.OPEN, "neither surely well nor surely too many"

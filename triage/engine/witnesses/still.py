"""Sources that are frozen: every value that never rests stands still to the last digit, and work goes on elsewhere."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

import numpy as np
import numpy.typing as npt

from triage.engine.frame import Frame, news
from triage.engine.witnesses.signs import computes, works
from triage.engine.witnesses.voices import LEAST_SAMPLES, Voice, Voices
from triage.model.arrays import distinct
from triage.model.observation import Judged, Observation, Seen
from triage.model.recording import Floats, Panel, Series, Subject
from triage.model.units import duration
from triage.model.vocabulary import Scope, catalogue

Bools = npt.NDArray[np.bool_]
Places = npt.NDArray[np.int64]

_LEAST_SECONDS = 300.0
"""Exporters of cards collect at most every 30 s: five minutes are ten equal readings."""

_RESTLESS = 0.8
"""A value never rests if it changes in this share of its samples, at its subject or at a twin."""

_SLOWEST_PACE = 4
"""Chosen: who is scraped four times as often as he has news; beyond that a value that moves now and then seems restless."""

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
    for dialect, several in sorted(voices.by_dialect.items()):
        asked = [voice for voice in several if not voice.is_scraper and voice.subject.scope in _SCOPES]
        motion = _Motion(dialect, asked, voices)
        for row, voice in enumerate(asked):
            if motion.number[row] < _LEAST_SIGNALS or not _is_fine_enough(voice, motion.pace):
                continue
            judged.add(("instrument", "frozen", voice.subject.scope))
            least = _least(voice, motion.pace)
            if not motion.may_stand_still(row, least):
                continue
            restless = [one for one in voice.series if motion.is_restless(row, one.signal)]
            for since, until in _stillness(voice, restless, least):
                if until > frame.recording.window.start and _works_meanwhile(frame, voices, voice, restless, since, until):
                    odd.append(_observation(frame, voice, restless, since, until))
    for one in odd:
        _forget(frame, voices, one)
    return Seen(tuple(odd), frozenset(judged))


_SCOPES = frozenset({Scope.REPLICA, Scope.GPU, Scope.NODE, Scope.GATEWAY})


class _Motion:
    """What moves of what several voices of one source say, all of them at once.

    A series is restless by its own past, by its twins', or because work moves it.

    :param asked: the voices

    ``number`` tells how many series of each voice are restless, shape (V,); ``pace`` at which of its samples the source has news.
    """

    def __init__(self, dialect: str, asked: Sequence[Voice], voices: Voices) -> None:
        self._row = {voice.subject: row for row, voice in enumerate(asked)}
        self._rows: dict[int, tuple[Places, Places]] = {}
        self._cells: dict[tuple[int, int], Places | slice] = {}
        told = [(panel, voices.news_of(panel)) for panel in voices.panels if panel.dialect == dialect]
        self.pace, self._never = _pace([(panel, moves[voices.heard_of(panel)]) for panel, moves in told])
        self._of_work = np.zeros(len(asked), dtype=bool)
        for panel, _ in told:
            if panel.signal in _MOVED_BY_WORK:
                self._of_work[self._whose(panel)[1]] = True
        self.number = np.zeros(len(asked), dtype=np.int64)
        self._longest = np.full(len(asked), np.inf)
        groups: dict[int, list[int]] = {}
        for row, voice in enumerate(asked):
            groups.setdefault(id(voice.times), []).append(row)
        moved = {
            alike: (asked[rows[0]].times, np.zeros((len(rows), len(asked[rows[0]].times)), dtype=bool))
            for alike, rows in groups.items()
        }
        self._place = np.zeros((len(asked), 2), dtype=np.int64)
        for alike, rows in groups.items():
            self._place[rows] = np.stack((np.full(len(rows), alike), np.arange(len(rows))), axis=1)
        for panel, moves in told:
            self._add(panel, moves, moved)
        for alike, rows in groups.items():
            self._longest[rows] = _longest_rest(*moved[alike])

    def _whose(self, panel: Panel) -> tuple[Places, Places]:
        """Rows of a panel whose voices are asked, and which voices these are; of the same subjects it is remembered."""
        if (known := self._rows.get(id(panel.subjects))) is not None:
            return known
        pairs = [(row, self._row[subject]) for row, subject in enumerate(panel.subjects) if subject in self._row]
        both = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        found = self._rows[id(panel.subjects)] = both[:, 0], both[:, 1]
        return found

    def _add(self, panel: Panel, moves: Bools, moved: Mapping[int, tuple[Floats, Bools]]) -> None:
        """Takes in a panel.

        :param moved: moments at which voices spoke that did so together, and at which of them each said something new
        """
        rows, whose = self._restless(panel)
        if not len(rows):
            return
        self.number[whose] += 1
        for alike in sorted(set(self._place[whose, 0].tolist())):
            these = self._place[whose, 0] == alike
            times, told = moved[alike]
            cells = self._cells_of(alike, times, panel)
            place = self._place[whose[these], 1]
            if isinstance(cells, slice):
                told[place, cells] |= moves[rows[these]]
            else:
                told[place[:, None], cells] |= moves[rows[these]]

    def _cells_of(self, alike: int, times: Floats, panel: Panel) -> Places | slice:
        """At which of the moments of some voices a panel was read, but for its first; many panels were read at the same ones.

        A slice, which costs a third, where the voices speak when the panel does.
        """
        key = alike, id(panel.times)
        if (known := self._cells.get(key)) is None:
            cells = np.searchsorted(times, panel.times[1:]).clip(0, len(times) - 1)
            in_a_row = len(cells) and (np.diff(cells) == 1).all()
            known = self._cells[key] = slice(int(cells[0]), int(cells[-1]) + 1) if in_a_row else cells
        return known

    def _restless(self, panel: Panel) -> tuple[Places, Places]:
        """Rows of a panel that never rest, and whose they are."""
        rows, whose = self._whose(panel)
        told = self._is_restless(panel.signal)[whose]
        return rows[told], whose[told]

    def _is_restless(self, signal: str) -> Bools:
        """Of which voices a signal never rests, shape (V,)."""
        if signal in self._never or signal in _MOVED_BY_WORK:
            return np.ones(len(self._of_work), dtype=bool)
        return self._of_work if signal in _ALSO_MOVED else np.zeros(len(self._of_work), dtype=bool)

    def is_restless(self, row: int, signal: str) -> bool:
        """Whether a signal of a voice never rests."""
        return bool(self._is_restless(signal)[row])

    def may_stand_still(self, row: int, least: float) -> bool:
        """Whether a voice says nothing new for so many seconds."""
        return bool(self._longest[row] >= least)


def _longest_rest(times: Floats, moved: Bools) -> Floats:
    """Longest time in which nothing moves, of each row, shape (V,).

    :param moved: shape (V, T)
    """
    last = np.maximum.accumulate(np.where(moved, times, times[0]), axis=1)
    return np.asarray(np.maximum((last[:, 1:] - last[:, :-1]).max(axis=1, initial=0.0), times[-1] - last[:, -1]))


def _is_fine_enough(voice: Voice, pace: int) -> bool:
    """Whether a voice speaks often enough that standing still for long can be told from two equal samples."""
    return len(voice.times) >= 2 * LEAST_SAMPLES and 0 < pace * voice.step <= _LEAST_SECONDS / 4


def _pace(told: Sequence[tuple[Panel, Bools]]) -> tuple[int, set[str]]:
    """At every how many samples a source has news, and the signals that never rest at that.

    What is pushed each minute, or collected twice a minute, and scraped more often tells the same several times.
    """
    lots = _lots(told)
    first: set[str] | None = None
    for pace in range(1, _SLOWEST_PACE + 1):
        never = {signal for signals, moves in lots for signal in _of_rows(signals, _never_rests(_within(moves, pace)))}
        if len(never) >= _LEAST_SIGNALS:
            return pace, never
        first = never if first is None else first
    return 1, first or set()


Lot = tuple[Sequence[tuple[str, int]], Bools]
"""Signals, each with how many rows it has, and which samples of them are news, shape (R, T - 1)."""

_SMALL = 64
"""Rows of a panel that are copied beside those of others."""


def _lots(told: Sequence[tuple[Panel, Bools]]) -> list[Lot]:
    """Panels of as many samples side by side; a large one stays alone."""
    together: dict[tuple[int, int], list[tuple[Panel, Bools]]] = {}
    for place, (panel, moves) in enumerate(told):
        alone = place if len(moves) > _SMALL else -1
        together.setdefault((moves.shape[1], alone), []).append((panel, moves))
    return [
        (
            [(panel.signal, len(moves)) for panel, moves in several],
            several[0][1] if len(several) == 1 else np.concatenate([moves for _, moves in several]),
        )
        for several in together.values()
    ]


def _of_rows(signals: Sequence[tuple[str, int]], holds: Bools) -> Iterator[str]:
    """The signals of which something holds in any row."""
    rows = iter(holds.tolist())
    return (signal for signal, number in signals if True in [*islice(rows, number)])


def _within(moves: Bools, samples: int) -> Bools:
    """Whether something moved at each sample or at one of those before it."""
    out = moves.copy()
    for back in range(1, samples):
        out[:, back:] |= moves[:, :-back]
    return out


def _never_rests(moves: Bools) -> Bools:
    """Which values change nearly all the time, up to the last time that they change, shape (S,).

    :param moves: shape (S, T - 1)
    """
    if not moves.shape[1]:
        return np.zeros(len(moves), dtype=bool)
    last = np.where(moves.any(axis=1), moves.shape[1] - np.argmax(moves[:, ::-1], axis=1), 0)
    return np.asarray((last >= LEAST_SAMPLES) & (moves.sum(axis=1) >= _RESTLESS * last))


def _least(voice: Voice, pace: int) -> float:
    """For how many seconds a voice must say the same."""
    return max(_LEAST_SECONDS, LEAST_SAMPLES * pace * voice.step)


def _stillness(voice: Voice, restless: Sequence[Series], least: float) -> Iterator[tuple[float, float]]:
    """Times in which a voice speaks and none of its restless values moves."""
    moved = distinct(np.concatenate([one.times[1:][news(one.values, catalogue()[one.signal].kind)] for one in restless]))
    begin, end = float(voice.times[0]), float(voice.times[-1])
    corners: Floats = np.concatenate(([begin], moved, [end]))
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
            for signal in sorted(set(voice.names)):
                frame.forget(signal, one.subject, one.onset[1], until)

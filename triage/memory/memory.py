"""The memory of a service: a look goes in, the memory after it comes out, with what became different. No clock, no files."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace

from triage.classes import dataclass
from triage.memory.life import Holds, Life, Turn, gone, is_graver, there, unknown
from triage.memory.looks import Look, is_promise, rule_of, trouble_of
from triage.model.diagnosis import Severity, Status

_MOST_TURNS = 500
_MOST_RUNS = 2000
"""Chosen: bounds of what is kept in memory; a store keeps more."""

_BAD = {Status.HEALTHY: 0, Status.INCONCLUSIVE: 0, Status.DEGRADED: 1, Status.INCIDENT: 2}
STATE, CAUSE = "state", "cause"
_WORST = (Status.INCIDENT, Status.DEGRADED, Status.INCONCLUSIVE, Status.HEALTHY)


@dataclass(frozen=True, slots=True)
class Transition:
    """Something that became different.

    :param time: of the look at which it did, Unix seconds
    :param key: what it is about: ``state``, ``cause``, or the key of a kind or a promise
    :param title: what that is called
    :param now: the state or the kind that it is now, of state and cause
    :param before: the state or the kind that it was
    :param since: when what is told began; of something cleared when it had begun
    :param until: when it ended, of something cleared
    """

    time: float
    turn: Turn
    key: str
    title: str = ""
    now: str = ""
    before: str = ""
    severity: Severity = "info"
    since: float | None = None
    until: float | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """Looks in a row with the same state.

    :param start: first of them, Unix seconds; ``end`` is the last one
    """

    status: Status
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Held:
    """A word that stays until another one has been said for long enough.

    :param since: when it began to hold
    :param other: what is said instead, since ``other_since``, by so many looks
    """

    word: str
    since: float
    other: str = ""
    other_since: float = 0.0
    looks: int = 0


@dataclass(frozen=True)
class Memory:
    """What is remembered.

    :param time: of the last look; None before the first
    :param lives: what is or was wrong, by its key
    :param told: the state that the last look told, no better than what is left allows
    :param state: the state that several looks agreed on; its word is a :class:`Status`
    :param cause: key of the kind that is taken for the cause; its word is empty while nothing is wrong
    :param runs: states that looks told, in order of time
    :param turns: what became different, in order of time
    :param latest: how many of them came with the last look
    """

    time: float | None = None
    lives: Mapping[str, Life] = field(default_factory=dict)
    told: Status = Status.INCONCLUSIVE
    state: Held = Held(Status.INCONCLUSIVE.value, 0.0)
    cause: Held = Held("", 0.0)
    runs: tuple[Run, ...] = ()
    turns: tuple[Transition, ...] = ()
    latest: int = 0

    @property
    def status(self) -> Status:
        """The state of the service: what the last look told, if that counts at once, else the one that is remembered."""
        was = Status(self.state.word)
        return self.told if is_shown_at_once(was, self.told, self.lives) else was

    @property
    def blind_since(self) -> float | None:
        """The last look that could tell how the service is, where the state is still that one and later looks cannot tell."""
        if len(self.runs) < 2 or self.runs[-1].status is not Status.INCONCLUSIVE or self.status is Status.INCONCLUSIVE:
            return None
        return self.runs[-2].end

    @property
    def news(self) -> tuple[Transition, ...]:
        """What became different with the last look."""
        return self.turns[len(self.turns) - self.latest :]

    def up(self) -> Iterator[tuple[str, Life]]:
        """What counts as there."""
        yield from ((key, life) for key, life in self.lives.items() if life.is_up)


def after(memory: Memory, look: Look, holds: Holds = Holds()) -> Memory:  # noqa: B008 - frozen
    """The memory after one more look. A look that is not later than the last one changes nothing."""
    if memory.time is not None and look.time <= memory.time:
        return memory
    lives: dict[str, Life] = {}
    turns: list[Transition] = []
    for key in sorted({*memory.lives, *look.there}):
        life, turn = _lived(memory.lives.get(key), key, look, holds)
        if turn is not None:
            turns.append(_turned(key, life, turn, look.time))
        if not _is_forgotten(life, look.time, holds):
            lives[key] = life
    told = _with_what_is_left(look.status, lives)
    state, told_state = _state(memory, told, look.time, lives, holds)
    cause, told_cause = _cause(memory, look, lives, holds)
    news = [*told_state, *told_cause, *turns]
    return Memory(
        time=look.time,
        lives=lives,
        told=told,
        state=state,
        cause=cause,
        runs=_runs(memory.runs, look),
        turns=(*memory.turns, *news)[-_MOST_TURNS:],
        latest=min(len(news), _MOST_TURNS),
    )


def _lived(life: Life | None, key: str, look: Look, holds: Holds) -> tuple[Life, Turn | None]:
    """One life after a look."""
    told = look.there.get(key)
    holds = holds.of(rule_of(key), proven=told is not None and told.proven)
    if told is not None:
        return there(life, told, look.time, holds)
    assert life is not None
    if key in look.gone:
        return gone(life, look.gone[key], look.time, holds.near() if key in look.near else holds)
    return unknown(life, look.time, holds, well=look.status is Status.HEALTHY)


def _is_forgotten(life: Life, time: float, holds: Holds) -> bool:
    """Whether nobody needs a life any more: it is over, and too long ago for its return to be flapping."""
    return life.is_over and time - max(life.turned, life.seen) >= holds.flap_span


def _turned(key: str, life: Life, turn: Turn, time: float) -> Transition:
    """What became different about one thing."""
    until = life.gone if life.is_over else None
    return Transition(time, turn, key, life.title, severity=life.severity, since=life.since, until=until)


def _state(memory: Memory, told: Status, time: float, lives: Mapping[str, Life], holds: Holds) -> tuple[Held, list[Transition]]:
    """The state after a look: worse when looks in a row say so, better only after the hold and with nothing grave left."""
    held = memory.state
    was = Status(held.word)
    if told is was:
        return Held(held.word, held.since), []
    first, looks = (held.other_since, held.looks + 1) if held.other and _agree(Status(held.other), told, was) else (time, 1)
    is_better = not is_shown_at_once(was, told, lives)
    hold = holds.clear_after if is_better else 0.0
    ready = looks >= holds.raise_looks and time - first >= hold and (held.other == told or not is_better)
    if ready and not (is_better and _is_ending(lives)):
        return Held(told.value, first), [_became(STATE, held.word if held.since else "", told.value, time)]
    return Held(held.word, held.since, told.value, first, looks), []


def _agree(before: Status, told: Status, was: Status) -> bool:
    """Whether two looks in a row contradict what was with one voice: that it is worse, or that it is no worse than that."""
    return (_BAD[before] > _BAD[was]) == (_BAD[told] > _BAD[was])


def is_shown_at_once(was: Status, told: Status, lives: Mapping[str, Life]) -> bool:
    """Whether a state takes the place of another without delay: it is worse, all was well, or nothing was known before.

    What one look alone says does so too; it is remembered only if the next one agrees.
    """
    blank = was is Status.INCONCLUSIVE and not any(life.is_up and life.severity != "info" for life in lives.values())
    return _BAD[told] > _BAD[was] or was is Status.HEALTHY or blank


def _with_what_is_left(status: Status, lives: Mapping[str, Life]) -> Status:
    """The state that a look tells, no better than what is remembered allows: what nobody can judge now is not gone."""
    left = any(life.is_up and life.gone is None and life.severity != "info" for life in lives.values())
    return Status.DEGRADED if status is Status.HEALTHY and left else status


def _is_ending(lives: Mapping[str, Life]) -> bool:
    """Whether something grave may come back yet."""
    return any(life.is_up and life.gone is not None and life.severity != "info" for life in lives.values())


def _cause(memory: Memory, look: Look, lives: Mapping[str, Life], holds: Holds) -> tuple[Held, list[Transition]]:
    """The cause after a look: it stays while it is there, unless a graver one is named, or another is first for long."""
    held, named = memory.cause, look.cause
    kept = lives.get(held.word)
    if named in ("", held.word) or not lives[named].is_up:
        if held.word and (kept is None or not kept.is_up):
            return Held("", look.time), []
        return held if named not in ("", held.word) else Held(held.word, held.since), []
    if kept is None or not kept.is_up or is_graver(lives[named], kept):
        return Held(named, look.time), [_became(CAUSE, held.word, named, look.time, lives[named].title)]
    least, most = holds.cause_after
    stood = (held.other_since if held.looks else look.time) - held.since
    waited, turned = _waited(held, named, look.time, min(max(stood, least), most))
    return waited, [_became(CAUSE, held.word, named, look.time, lives[named].title)] if turned else []


def _waited(held: Held, told: str, time: float, hold: float) -> tuple[Held, bool]:
    """A word that is contradicted, and whether the other one took its place: two looks say it, over the hold."""
    first = held.other_since if held.looks else time
    looks = held.looks + 1
    if looks >= 2 and time - first >= hold and held.other == told:
        return Held(told, first), True
    return Held(held.word, held.since, told, first, looks), False


def _became(key: str, before: str, now: str, time: float, title: str = "") -> Transition:
    """A state or a cause that became another."""
    turn = Turn.CHANGED if before else Turn.NEW
    return Transition(time, turn, key, title, rule_of(now) or now, rule_of(before) or before, since=time)


def _runs(runs: tuple[Run, ...], look: Look) -> tuple[Run, ...]:
    """The states that looks told, with one more."""
    if runs and runs[-1].status is look.status:
        return (*runs[:-1], replace(runs[-1], end=look.time))
    return (*runs, Run(look.status, look.time, look.time))[-_MOST_RUNS:]


def broken(memory: Memory) -> list[Life]:
    """The promises that count as broken."""
    return [life for key, life in memory.up() if is_promise(key)]


def begun(memory: Memory) -> dict[str, float]:
    """When trouble began that still goes on, as a recording knows it (``Recording.begun``)."""
    return {trouble_of(key): life.since for key, life in memory.up() if life.since is not None}


def found(memory: Memory) -> list[Life]:
    """The kinds that count as there and are worth a warning."""
    return [life for key, life in memory.up() if rule_of(key) and life.severity != "info"]


def states(runs: Sequence[Run], begin: float, end: float, cells: int) -> list[Status | None]:
    """The worst state that looks told in each cell; None before the first look. A state holds until the next look.

    :param begin: of the first cell, Unix seconds; ``end`` is that of the last one
    """
    starts = [run.start for run in runs]
    width = (end - begin) / cells
    found: list[Status | None] = []
    for cell in range(cells):
        low, high = begin + cell * width, begin + (cell + 1) * width
        first, last = bisect_right(starts, low) - 1, bisect_right(starts, high)
        here = {run.status for run in runs[max(first, 0) : last]}
        found.append(next((status for status in _WORST if status in here), None))
    return found

"""The life of one thing that is wrong: new, going on, ending, ended, or coming and going so often that it flaps."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from enum import StrEnum

from triage.classes import dataclass
from triage.memory.looks import Told
from triage.model.diagnosis import Severity
from triage.model.rule import Hold, Rule

_WEIGHTS: dict[Severity, int] = {"info": 0, "warning": 1, "critical": 2}


@dataclass(frozen=True, slots=True)
class Holds:
    """How long something must be told before it counts. Chosen so that one odd look changes nothing that was known.

    :param raise_looks: looks in a row that must see it before it is raised: the windows of single looks are short
    :param raise_after: seconds for which it must be there before it is raised; a promise is broken over a window already
    :param clear_after: seconds for which it must be gone, in two looks at least, before it is cleared: two minutes outlast a
        scrape that is lost and a pause between two bursts (Prometheus's ``keep_firing_for`` is for the same)
    :param near_after: the same of a promise that is kept again and hovers near its limit
    :param kinds: what rules say of both, by their id
    :param cause_after: least and greatest number of seconds for which another cause must be named first before it takes the place
        of the one that was named; in between as long as that one has stood: what was seen for long is not given up for a moment
    :param flaps: raised so many times within ``flap_span`` seconds it flaps
    :param calm: seconds without any turn after which it flaps no more
    :param forget: seconds after which something that nobody can judge any more is let go while users are known to be well;
        ``forget_grave`` of what is critical
    """

    raise_looks: int = 2
    raise_after: float = 0.0
    clear_after: float = 120.0
    near_after: float = 300.0
    cause_after: tuple[float, float] = (60.0, 300.0)
    flaps: int = 3
    flap_span: float = 3600.0
    calm: float = 900.0
    forget: float = 300.0
    forget_grave: float = 900.0
    kinds: Mapping[str, Hold] = field(default_factory=dict)

    def by(self, rules: Iterable[Rule]) -> "Holds":
        """With what rules say."""
        return replace(self, kinds={rule.id: rule.hold for rule in rules})

    def near(self) -> "Holds":
        """The holds of what is gone and may come back."""
        return replace(self, clear_after=max(self.clear_after, self.near_after))

    def of(self, rule: str, *, proven: bool) -> "Holds":
        """The holds of one kind; what is proven is raised at once.

        :param rule: its id; empty of what is no kind
        """
        hold = self.kinds.get(rule)
        if hold is None:
            return self
        return replace(self, raise_after=0.0 if proven else hold.raise_after, clear_after=hold.clear_after)


class Phase(StrEnum):
    """Where in its life something is."""

    PENDING = "pending"
    ONGOING = "ongoing"
    ENDING = "ending"
    FLAPPING = "flapping"
    ENDED = "ended"


class Turn(StrEnum):
    """What became different."""

    NEW = "new"
    CHANGED = "changed"
    CLEARED = "cleared"
    FLAPPING = "flapping"
    STEADY = "steady"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Life:
    """What is remembered of one thing. All times are Unix seconds.

    :param since: when it began; it only ever moves back. None: before all that is known
    :param raised: the look that raised it
    :param seen: the last look that saw it
    :param told: the last look that could say whether it is there
    :param turned: the last look at which its answer became another
    :param gone: when it ended, of one that is ending or ended
    :param raises: looks that raised it, of the last ``flap_span`` seconds
    :param after: when it had ended the time before: it cannot have begun again earlier
    :param looks: how many looks in a row have seen it, of one that is pending
    """

    title: str
    severity: Severity
    since: float | None
    raised: float
    seen: float
    told: float
    turned: float
    phase: Phase
    gone: float | None = None
    raises: tuple[float, ...] = ()
    after: float | None = None
    looks: int = 1

    @property
    def is_up(self) -> bool:
        """Whether it counts as there."""
        return self.phase in (Phase.ONGOING, Phase.ENDING, Phase.FLAPPING)

    @property
    def is_over(self) -> bool:
        """Whether nothing of it is left but the memory."""
        return self.phase is Phase.ENDED


Lived = tuple[Life, Turn | None]
"""A life after a look, and what became different."""


def there(life: Life | None, told: Told, time: float, holds: Holds) -> Lived:
    """A life after a look that saw it."""
    if life is None or life.phase in (Phase.ENDED, Phase.PENDING):
        return _risen(life, told, time, holds)
    seen = replace(
        life,
        title=told.title,
        severity=max(life.severity, told.severity, key=_WEIGHTS.__getitem__),
        since=_earlier(life.since, _not_before(told.since, life.after)),
        seen=time,
        told=time,
        turned=time if life.gone is not None else life.turned,
        gone=None,
    )
    if life.phase is Phase.FLAPPING:
        if life.gone is not None:
            return replace(seen, raises=(*_recent(life.raises, time, holds), time)), None
        calm = time - life.turned >= holds.calm
        return (replace(seen, phase=Phase.ONGOING, raises=()), Turn.STEADY) if calm else (seen, None)
    return replace(seen, phase=Phase.ONGOING), Turn.CHANGED if seen.severity != life.severity else None


def is_graver(one: Life, other: Life) -> bool:
    """Whether a life is worse than another."""
    return _WEIGHTS[one.severity] > _WEIGHTS[other.severity]


def gone(life: Life, until: float | None, time: float, holds: Holds) -> Lived:
    """A life after a look that knows it is not there.

    :param until: when it ended, if that is told
    """
    if life.phase is Phase.ENDED:
        return life, None
    if life.phase is Phase.PENDING:
        return replace(life, phase=Phase.ENDED, gone=life.after, told=time), None
    if life.gone is None:
        ended = time if until is None else min(max(until, life.since or until), time)
        phase = Phase.FLAPPING if life.phase is Phase.FLAPPING else Phase.ENDING
        return replace(life, phase=phase, gone=ended, told=time, turned=time), None
    hold = holds.calm if life.phase is Phase.FLAPPING else holds.clear_after
    if time - life.turned >= hold:
        return replace(life, phase=Phase.ENDED, told=time), Turn.CLEARED
    return replace(life, told=time), None


def unknown(life: Life, time: float, holds: Holds, *, well: bool) -> Lived:
    """A life after a look that cannot say: it stays as it was, unless it was known to be over, or users are well for long.

    :param well: the look says that users are well
    """
    if life.phase is Phase.ENDING and well and time - life.turned >= holds.clear_after:
        return replace(life, phase=Phase.ENDED), Turn.CLEARED
    if life.is_up and well and time - life.told >= (holds.forget_grave if life.severity == "critical" else holds.forget):
        return replace(life, phase=Phase.ENDED, gone=life.seen), Turn.LOST
    return life, None


def _risen(life: Life | None, told: Told, time: float, holds: Holds) -> Lived:
    """A life that begins, or begins again."""
    after = None if life is None else life.gone if life.phase is Phase.ENDED else life.after
    since = _not_before(told.since, after)
    first, looks = time, 1
    if life is not None and life.phase is Phase.PENDING:
        first, looks, since = life.turned, life.looks + 1, _earlier(life.since, since)
    raises = _recent(life.raises if life is not None else (), time, holds)
    up = Life(told.title, told.severity, since, time, time, time, first, Phase.PENDING, None, raises, after, looks)
    if looks < holds.raise_looks or time - _held(life, since, first) < holds.raise_after:
        return up, None
    raises = (*raises, time)
    if len(raises) >= holds.flaps:
        return replace(up, phase=Phase.FLAPPING, raises=raises, since=_earlier(since, raises[0]), turned=first), Turn.FLAPPING
    return replace(up, phase=Phase.ONGOING, raises=raises), Turn.NEW


def _held(life: Life | None, since: float | None, first: float) -> float:
    """From when on it was there: its onset, if no later look saw it gone. What was there before all data is held long enough."""
    seen_gone = life.told if life is not None and life.phase is Phase.ENDED else -math.inf
    return min(first, max(-math.inf if since is None else since, seen_gone))


def _recent(raises: tuple[float, ...], time: float, holds: Holds) -> tuple[float, ...]:
    """Those of the last span, so many at most as tell whether it flaps."""
    return tuple(one for one in raises if time - one < holds.flap_span)[-holds.flaps :]


def _not_before(since: float | None, after: float | None) -> float | None:
    """A beginning that is no earlier than a moment, if there is one."""
    return max(since, after) if since is not None and after is not None else since


def _earlier(known: float | None, told: float | None) -> float | None:
    """The earlier of two beginnings; before all data is the earliest, and a look that cannot say changes nothing."""
    if known is None or told is None:
        return known
    return min(known, told)

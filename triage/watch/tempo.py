"""When a service is looked at next."""

from triage.classes import dataclass
from triage.memory.life import Phase
from triage.memory.memory import Memory
from triage.model.diagnosis import Status
from triage.notify.alerts import SETTLES

SHARE = 0.01
"""The part of a core that a service may take while it is at rest."""

_JITTER = 0.1
"""By how much of itself a pause is longer or shorter by chance: services that began together drift apart."""

_SOONER = 4.0
"""What one look alone saw is looked at again so many times sooner: two looks must agree before anybody is told."""

_SOONEST = 5.0


@dataclass(frozen=True, slots=True)
class Tempo:
    """How often a service is looked at.

    :param every: seconds between two looks
    :param whole: seconds after which a service at rest is looked at as a whole, though no survey saw anything move
    """

    every: float = 60.0
    whole: float = 300.0

    def pause(self, memory: Memory, cost: float, chance: float, *, rests: bool) -> float:
        """Seconds from the begin of a look to that of the next.

        :param cost: CPU seconds of the last look; what costs much is looked at less often while it is at rest
        :param chance: from 0 to 1
        :param rests: nothing is wrong or unsure
        """
        pause = self.every
        if is_unsure(memory):
            pause = max(self.every / _SOONER, min(self.every, _SOONEST))
        elif rests:
            pause = min(max(self.every, cost / SHARE), max(self.every, self.whole))
        return pause * (1.0 + _JITTER * (2.0 * chance - 1.0))


def is_unsure(memory: Memory) -> bool:
    """Whether the last look saw something new that another one has to confirm."""
    is_new = any(one.phase is Phase.PENDING and one.seen == memory.time and one.looks == 1 for one in memory.lives.values())
    return is_new or memory.status.value != memory.state.word or _settles(memory)


def _settles(memory: Memory) -> bool:
    """Whether people will be told as soon as the cause is known."""
    is_bad = memory.state.word in (Status.DEGRADED, Status.INCIDENT)
    return is_bad and not memory.cause.word and (memory.time or 0.0) - memory.state.since < SETTLES


def is_calm(memory: Memory) -> bool:
    """Whether nothing is remembered that is wrong, may be wrong or has just ended."""
    return not is_unsure(memory) and not memory.state.other and not any(life.is_up for life in memory.lives.values())

"""One case under one change: what must hold, and whether it did."""

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict

from triage.score.cases import Part
from triage.score.result import Result
from triage.score.truth import Origin

Name = Literal[
    "loss", "paraphrase", "wrap", "weaken", "window", "interval", "clocks", "rename", "strangers", "order", "repeat"
]  # fmt: skip
NAMES: tuple[Name, ...] = (
    "loss", "paraphrase", "wrap", "weaken", "window", "interval", "clocks", "rename", "strangers", "order", "repeat",
)  # fmt: skip

MUST: dict[Name, str] = {
    "loss": "a signal, an event, a fact, a source or a log taken away: perhaps open, never another kind, healthy or ruled out",
    "paraphrase": "log lines said in other words and forms: likewise",
    "wrap": "log lines as container runtimes wrap them: the same first cause and status",
    "weaken": "values nearer to what was before: perhaps open, never another kind or ruled out; by a quarter not healthy, either",
    "window": "the window cut or shifted: perhaps open, never another kind, healthy or ruled out",
    "interval": "scraped more coarsely: likewise",
    "clocks": "clocks of sources ten seconds apart: likewise",
    "rename": "replicas, nodes and gateways under other names: the same first cause and status",
    "strangers": "other people's trouble in the same cluster: the same first cause and status",
    "order": "all shuffled: the same bytes",
    "repeat": "logs read again in another time zone: the same bytes",
}
"""What each sweep does, and what must hold."""


class Trial(BaseModel):
    """One case under one change.

    :param change: what was changed, e.g. the metric that was taken away
    :param sort: class of what was taken away: signal, event, fact, source, log
    :param names: how many names it stands for: of those that nothing found rests on several are taken away at once, and each
        counts as survived if all of them together are
    :param held: what must hold did hold
    :param survived: an answer whose first cause was right is still right; None if it was not right before
    :param told: what came out, if it is not what came out before
    """

    model_config = ConfigDict(frozen=True)

    sweep: Name
    case: str
    origin: Origin
    part: Part
    change: str
    sort: str = ""
    names: int = 1
    held: bool
    survived: bool | None = None
    told: str = ""


class Sweep(BaseModel):
    """All trials."""

    model_config = ConfigDict(frozen=True)

    trials: tuple[Trial, ...]

    def of(self, name: Name) -> tuple[Trial, ...]:
        """The trials of one sweep."""
        return tuple(trial for trial in self.trials if trial.sweep == name)

    def surviving(self, sorts: Sequence[str]) -> tuple[int, int]:
        """In how many cases a right answer survives the loss of any one name of these classes, and of how many."""
        alive: dict[str, bool] = {}
        for trial in self.of("loss"):
            if trial.survived is not None and trial.sort in sorts:
                alive[trial.case] = alive.get(trial.case, True) and trial.survived
        return sum(alive.values()), len(alive)


def holds(before: Result, after: Result, *, may_be_well: bool = False) -> bool:
    """Whether a change that takes knowledge away did no harm: less may be known then, but nothing false be said.

    :param may_be_well: the fault is so weak that a service may be called healthy
    """
    match after.sort:
        case "healthy":
            return not after.alarms or bool(before.alarms)
        case "unknowable":
            return after.outcome != "wrong" or before.outcome == "wrong"
        case "fault":
            if after.outcome == "healthy" and not may_be_well and before.outcome != "healthy":
                return False
            if after.refuted and not before.refuted and not (may_be_well and after.outcome == "healthy"):
                return False
            return not before.first_right or after.outcome not in ("wrong", "misled")


def survives(before: Result, after: Result) -> bool | None:
    """Whether a right first cause is still right; None if it was not."""
    return after.first_right if before.sort == "fault" and before.first_right else None


def is_same(before: Result, after: Result) -> bool:
    """Whether the first cause and the status are the same."""
    return (before.first, before.status) == (after.first, after.status)


def words(before: Result, after: Result) -> str:
    """What came out, if it is not what came out before."""
    if is_same(before, after) and before.refuted == after.refuted:
        return ""
    refuted = f", ruled out {', '.join(after.refuted)}" if after.refuted else ""
    return f"{after.outcome}: {after.first or '-'} ({after.status}{refuted}), before {before.first or '-'} ({before.status})"

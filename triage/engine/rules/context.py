"""Where a condition is asked, and what became of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from triage.engine.frame import Frame
from triage.model.diagnosis import Evidence, Verdict
from triage.model.recording import Subject

Span = tuple[float | None, float | None]
"""When something began to hold, and when that was over, Unix seconds; None if before all data, if it goes on, or unknown."""


@dataclass(frozen=True)
class Context:
    """Where a condition is asked.

    :param frame: the signals
    :param subject: whom the rule is asked about
    :param onset: when the symptom began, Unix seconds; None if nothing is noticed of which it could be told
    """

    frame: Frame
    subject: Subject
    onset: float | None


@dataclass(frozen=True, eq=False)
class Look:
    """One thing that was looked at: the verdict at once, all else when somebody asks. Of a hundred looks one is shown.

    :param signal: what was looked at, as its evidence names it
    :param lacks: what is missing where the verdict is unknown
    :param when: works out since when and until when it holds
    :param explain: makes the evidence, given these two moments
    """

    verdict: Verdict
    signal: str
    lacks: str
    when: Callable[[], Span]
    explain: Callable[[Span], Evidence]

    @cached_property
    def span(self) -> Span:
        """Since when and until when it holds."""
        return self.when()

    @cached_property
    def evidence(self) -> Evidence:
        """What was seen, as a report shows it."""
        return self.explain(self.span)


NEVER: Span = (None, None)


@dataclass(frozen=True, eq=False)
class Outcome:
    """What became of a condition.

    :param looks: what was looked at, in the order of the rule
    :param named: values that the finding's sentence can speak of
    :param when: works out since when all that holds has held together, and until when
    """

    verdict: Verdict
    looks: Sequence[Look]
    named: Sequence[tuple[str, Look]] = ()
    when: Callable[[], Span] = lambda: NEVER

    @cached_property
    def span(self) -> Span:
        """Since when all that holds has held together, and until when."""
        return self.when()

    @property
    def since(self) -> float | None:
        """When all that holds began to hold together; None if before all data or unknown."""
        return self.span[0]

    @property
    def until(self) -> float | None:
        """When that was over; None if it goes on or nobody can say."""
        return self.span[1]

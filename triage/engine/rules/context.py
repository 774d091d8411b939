"""Where a condition is asked, and what became of it."""

from collections.abc import Callable, Sequence
from dataclasses import field
from functools import cached_property

from triage.classes import dataclass
from triage.engine.frame import Frame
from triage.engine.quantiles import Interval
from triage.model.diagnosis import Evidence, Verdict
from triage.model.recording import Subject
from triage.model.rule import Measure

Span = tuple[float | None, float | None]
"""When something began to hold, and when that was over, Unix seconds; None if before all data, if it goes on, or unknown."""


@dataclass(slots=True)
class Weighed:
    """A value held against its bound. It is never changed.

    :param value: None if it is unknown
    :param threshold: None if it is unknown
    :param words: what the threshold is
    :param held: of a condition that must last the longest time for which it did hold, seconds
    :param text: why the verdict is unknown
    """

    verdict: Verdict
    value: Interval | None = None
    threshold: Interval | None = None
    words: str = ""
    held: float | None = None
    text: str = ""


@dataclass(frozen=True)
class Context:
    """Where a condition is asked.

    :param frame: the signals
    :param subject: whom the rule is asked about
    :param onset: when the symptom began, Unix seconds; None if nothing is noticed of which it could be told
    :param speaking: whose series of a signal speak for the subject, as far as somebody asked
    :param weighed: what became of a measure, for one of several who speak or for all, as far as somebody asked
    :param unseen: why that no event of a kind and an emitter was seen proves nothing, as far as somebody asked
    """

    frame: Frame
    subject: Subject
    onset: float | None
    speaking: dict[str, list[Subject]] = field(default_factory=dict, compare=False, repr=False)
    weighed: dict[tuple[int, Subject | None], tuple[Measure, Weighed]] = field(default_factory=dict, compare=False, repr=False)
    unseen: dict[tuple[str, str], str] = field(default_factory=dict, compare=False, repr=False)


NEVER: Span = (None, None)


class Outcome:
    """What became of a condition: the verdict at once, all else when somebody asks. Of a hundred looks one is shown.

    What is made of it is not frozen, though it never changes: thousands are made for each diagnosis, and that takes three
    times as long.
    """

    verdict: Verdict

    @property
    def looks(self) -> Sequence["Look"]:
        """What was looked at, in the order of the rule."""
        raise NotImplementedError

    @property
    def named(self) -> Sequence[tuple[str, "Look"]]:
        """Values that the finding's sentence can speak of."""
        raise NotImplementedError

    @property
    def span(self) -> Span:
        """Since when it has held, and until when; several conditions, together."""
        raise NotImplementedError

    @property
    def since(self) -> float | None:
        """When it began to hold; None if before all data or unknown."""
        return self.span[0]

    @property
    def until(self) -> float | None:
        """When that was over; None if it goes on or nobody can say."""
        return self.span[1]


@dataclass(eq=False)
class Look(Outcome):
    """What became of a condition that is made of no others: one thing that was looked at.

    :param signal: what was looked at, as its evidence names it
    :param lacks: what is missing where the verdict is unknown
    :param when: works out since when and until when it holds
    :param explain: makes the evidence, given these two moments
    :param name: under which the finding's sentence can speak of it; empty if it cannot
    :param seen: names of the events that were found, of all that were asked for
    """

    verdict: Verdict
    signal: str
    lacks: str
    when: Callable[[], Span]
    explain: Callable[[Span], Evidence]
    name: str = ""
    seen: frozenset[str] = frozenset()

    @property
    def looks(self) -> Sequence["Look"]:
        """Itself."""
        return (self,)

    @property
    def named(self) -> Sequence[tuple[str, "Look"]]:
        """Itself by its name, if it has one."""
        return ((self.name, self),) if self.name else ()

    @cached_property
    def span(self) -> Span:
        """Since when and until when it holds."""
        return self.when()

    @cached_property
    def evidence(self) -> Evidence:
        """What was seen, as a report shows it."""
        return self.explain(self.span)


@dataclass(eq=False)
class Turned(Outcome):
    """What became of a condition that must not hold."""

    verdict: Verdict
    inner: Outcome

    @property
    def looks(self) -> Sequence[Look]:
        """As of the condition."""
        return self.inner.looks

    @property
    def named(self) -> Sequence[tuple[str, Look]]:
        """As of the condition."""
        return self.inner.named

    @property
    def span(self) -> Span:
        """As of the condition."""
        return self.inner.span


@dataclass(eq=False)
class Joined(Outcome):
    """What became of several conditions as one.

    :param every: all of them must hold; else one is enough
    """

    verdict: Verdict
    parts: Sequence[Outcome]
    every: bool

    @property
    def _telling(self) -> Sequence[Outcome]:
        """The parts that are evidence: of alternatives those that hold, if any does; of what must hold together what does not."""
        if self.verdict is (Verdict.ABSENT if self.every else Verdict.PRESENT):
            return [part for part in self.parts if part.verdict is self.verdict]
        return self.parts

    @cached_property
    def looks(self) -> Sequence[Look]:
        """What was looked at, in the order of the rule."""
        return [look for part in self._telling for look in part.looks]

    @property
    def named(self) -> Sequence[tuple[str, Look]]:
        """Values that the finding's sentence can speak of, those of what holds first."""
        speaking = sorted(self.parts, key=lambda part: part.verdict is not Verdict.PRESENT)
        return [pair for part in speaking for pair in part.named]

    @cached_property
    def span(self) -> Span:
        """Together from the last beginning to the first end; of alternatives one is enough, from the first to the last."""
        holding = [part for part in self._telling if part.verdict is Verdict.PRESENT]
        begun = [part.since for part in holding if part.since is not None]
        ended = [part.until for part in holding if part.until is not None]
        if self.every:
            since, until = max(begun, default=None), min(ended, default=None)
            return since, None if since is not None and until is not None and until <= since else until
        over = max(ended, default=None) if len(ended) == len(holding) else None
        return (min(begun) if len(begun) == len(holding) and begun else None), over

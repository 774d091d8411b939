"""A rule: one failure kind as typed data. No code, and no expression is ever read out of text."""

from collections.abc import Iterator
from dataclasses import field
from functools import cached_property
from typing import Annotated, Literal

from triage.classes import dataclass
from triage.model.checked import Checked, OneOf, Such, spelt
from triage.model.observation import Sort
from triage.model.vocabulary import Cause, Combine, Kind, Layer, Scale, Scope, catalogue

Stat = Literal[
    "mean", "min", "max", "last", "first", "sum", "median", "p50", "p95", "p99", "peak", "trough", "slope", "changes", "spread"
]
"""A statistic over the window.

``sum`` of a rate is the increase of its counter; ``peak`` and ``trough`` are the highest and the lowest mean of any five minutes
(of a third of the span, if that is less), so that trouble in a part of the window counts in full and noise does not; ``slope``
is the change per second of a straight line through the values; ``changes`` counts how often the value changed; ``spread`` is
the standard deviation. ``p50`` … of a distribution are taken over all its observations in the window and carry the bounds of
their bucket; of another signal they are quantiles over time.
"""


@dataclass(frozen=True, kw_only=True)
class Operand(Checked):
    """What a value is compared with, where it is not a plain number. Exactly one of the first five.

    :param baseline: this many times the same statistic of the same subject before the window; of a replica that did not exist
        then, the median over those that did
    :param peers: this many times the median of the same statistic over the other subjects of its scope that do the same work
    :param objective: the service's objective of that name
    :param fact: the fact of that key
    :param signal: another signal of the same subject, by the same statistic
    :param times: factor on objective, fact or signal
    :param plus: added at the end
    :param at_least: the threshold is never lower than this (keeps a ratio of two tiny numbers from speaking)
    """

    baseline: float | None = None
    peers: float | None = None
    objective: str | None = None
    fact: str | None = None
    signal: str | None = None
    times: float = 1.0
    plus: float = 0.0
    at_least: float | None = None

    def __post_init__(self) -> None:
        given = [name for name in ("baseline", "peers", "objective", "fact", "signal") if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError("compare with exactly one of baseline, peers, objective, fact, signal")
        if self.signal is not None and self.signal not in catalogue():
            raise ValueError(f"no signal is called {self.signal}")


Bound = float | Operand


@dataclass(frozen=True, kw_only=True)
class Measure(Checked):
    """A signal's statistic against a bound.

    :param signal: name in the vocabulary
    :param stat: statistic over the window; with ``lasting`` it is not used
    :param over: seconds at the end of the window to look at; the whole window if not said
    :param period: ``window``, or ``baseline`` for the time before it
    :param across: how several subjects make one value when the signal's subjects are finer than the rule's;
        ``any`` and ``all`` ask each of them
    :param above: holds if the value is greater (``at_least``, ``below``, ``at_most`` likewise)
    :param lasting: seconds for which every value in a row must satisfy the bound
    :param as_name: name under which the finding's sentence can speak of the value
    """

    __pydantic_config__ = spelt(as_name="as")

    signal: str
    stat: Stat = "mean"
    over: float | None = None
    period: Literal["window", "baseline"] = "window"
    across: Combine | Literal["any", "all"] | None = None
    above: Bound | None = None
    at_least: Bound | None = None
    below: Bound | None = None
    at_most: Bound | None = None
    lasting: float | None = None
    as_name: str = ""

    def __post_init__(self) -> None:
        if self.signal not in catalogue():
            raise ValueError(f"no signal is called {self.signal}")
        bounds = [b for b in (self.above, self.at_least, self.below, self.at_most) if b is not None]
        if len(bounds) != 1:
            raise ValueError(f"{self.signal}: give exactly one of above, at_least, below, at_most")
        if self.lasting is not None and catalogue()[self.signal].kind is Kind.DISTRIBUTION:
            raise ValueError(
                f"{self.signal}: lasting needs a value at each moment; a distribution has a quantile per window only"
            )

    @cached_property
    def comparison(self) -> tuple[str, Bound]:
        """How it is compared: the sign, and the bound."""
        return next((sign, bound) for name, sign in _SIGNS if (bound := getattr(self, name)) is not None)

    @cached_property
    def combine(self) -> Combine:
        """How several subjects make one value."""
        return self.across if isinstance(self.across, Combine) else catalogue()[self.signal].combine


_SIGNS = (("above", ">"), ("at_least", ">="), ("below", "<"), ("at_most", "<="))


@dataclass(frozen=True, kw_only=True)
class Occurrence(Checked):
    """Events of a kind in the window or near its onset.

    :param event: kind of the event: ``log``, ``xid``, ``deploy``, ``config``, ``change`` (any change) …
    :param name: names that count; any if empty
    :param own: only events of the service itself (a change to it), or only of others
    :param within: seconds: the event must lie between this long before the onset of the symptom and the onset (plus a grace
        of one step); without it anywhere from the baseline's last ten minutes to the window's end
    :param at_least: how many there must be
    :param at_most: how many there may be (0: none)
    :param at: scope of whom they happened to; any if not said
    :param distinct: count whom they happened to (replicas, nodes, cards) instead of the events
    :param anywhere: events count whoever they happened to; a gateway's, say, for a rule about replicas
    :param where: attribute -> regular expression that the whole value must match
    :param emitter: kind of log that would show the event (``engine``, ``kernel``, ``gateway``, ``kube-events`` …);
        with no such log at hand, that nothing was seen proves nothing
    """

    __pydantic_config__ = spelt(as_name="as")

    event: str
    name: tuple[str, ...] = ()
    own: bool | None = None
    at: Scope | None = None
    within: float | None = None
    at_least: int | None = None
    at_most: int | None = None
    distinct: bool = False
    anywhere: bool = False
    where: dict[str, str] = field(default_factory=dict)
    emitter: str = ""
    as_name: str = ""

    def __post_init__(self) -> None:
        if (self.at_least is None) == (self.at_most is None):
            raise ValueError(f"{self.event}: give exactly one of at_least and at_most")


@dataclass(frozen=True, kw_only=True)
class Known(Checked):
    """A fact has one of these values (regular expressions that match as a whole)."""

    fact: str
    matches: str


@dataclass(frozen=True, kw_only=True)
class Gone(Checked):
    """A signal that was measured before the window is no longer measured in it, while its target still answers."""

    gone: str


@dataclass(frozen=True, kw_only=True)
class Observed(Checked):
    """Observations of a class: something odd that was seen without any rule (docs/observations.md).

    :param observed: the class
    :param of: what it is about (a signal, a promise, a class of statements …); any if empty; ``latency.*`` stands for all
        that begin so
    :param at: scope of whom it was seen on; any if not said
    :param against: what it was held against; any if empty
    :param direction: ``worse``, ``better``, ``up``, ``down``; any if empty
    :param size: it must be at least this large
    :param still: only what goes on at the window's end, or only what has ended
    :param within: seconds: it must have begun between this long before the onset of the symptom and the onset
    :param where: attribute -> regular expression that the whole value must match
    :param anywhere: it counts whoever it was seen on; otherwise it must be the rule's subject or what belongs to it
    :param at_least: how many there must be
    :param at_most: how many there may be (0: none)
    """

    __pydantic_config__ = spelt(as_name="as")

    observed: Sort
    of: tuple[str, ...] = ()
    at: Scope | None = None
    against: Literal["", "past", "twins", "limit", "declared"] = ""
    direction: Literal["", "worse", "better", "up", "down"] = ""
    size: float | None = None
    still: bool | None = None
    within: float | None = None
    where: dict[str, str] = field(default_factory=dict)
    anywhere: bool = False
    at_least: int | None = None
    at_most: int | None = None
    as_name: str = ""

    def __post_init__(self) -> None:
        if self.at_least is not None and self.at_most is not None:
            raise ValueError(f"{self.observed}: give at_least or at_most, not both")


@dataclass(frozen=True, kw_only=True)
class All(Checked):
    """Every part holds."""

    all: Annotated[tuple["Condition", ...], Such(min_length=1)]

    @cached_property
    def cheapest_first(self) -> tuple["Condition", ...]:
        """Its parts, those first that need no statistic."""
        return tuple(sorted(self.all, key=_statistics))


@dataclass(frozen=True, kw_only=True)
class Any(Checked):
    """Some part holds."""

    any: Annotated[tuple["Condition", ...], Such(min_length=1)]

    @cached_property
    def cheapest_first(self) -> tuple["Condition", ...]:
        """Its parts, those first that need no statistic."""
        return tuple(sorted(self.any, key=_statistics))


@dataclass(frozen=True, kw_only=True)
class Not(Checked):
    """The part does not hold."""

    __pydantic_config__ = spelt(not_="not")
    not_: "Condition"


def _shape(value: object) -> str | None:
    """Which sort of condition this is, told by its one telling key."""
    keys = value.keys() if isinstance(value, dict) else value.model_keys().values() if isinstance(value, Checked) else ()
    return next((key for key in _SORTS if key in keys), None)


Leaf = Measure | Occurrence | Known | Gone | Observed
"""A condition that is made of no others."""

_SORTS = {
    "all": All,
    "any": Any,
    "not": Not,
    "signal": Measure,
    "event": Occurrence,
    "fact": Known,
    "gone": Gone,
    "observed": Observed,
}
"""Sorts of conditions, each by the key that tells it."""

Condition = Annotated[
    All | Any | Not | Leaf, OneOf(_SORTS, _shape, "condition", f"a condition has one of the keys {', '.join(_SORTS)}")
]


Because = Annotated[str, Such(min_length=1)]
"""A reason in one short sentence, without a final stop."""


@dataclass(frozen=True, kw_only=True)
class LookAlike(Checked):
    """A kind that this one must not be taken for, and what tells them apart."""

    rule: str
    because: str


Grade = Literal["proof", "strong", "weak"]
"""What evidence proves by itself.

``proof`` names this very fault (an Xid, an error text), ``strong`` is a pattern that only this kind makes, ``weak`` fits this
kind and others, too.
"""

GRADES: tuple[Grade, ...] = ("proof", "strong", "weak")
"""Grades, the one that proves most first."""


@dataclass(frozen=True, kw_only=True)
class Alternative(Checked):
    """One way in which a kind shows itself. Exactly one of the three grades holds its condition.

    :param needs: what must be known and true for this claim at all (two twins that can be compared, a sign of life after the
        gap); where it is not, this alternative says nothing
    :param refuted_by: a measured contradiction of this alternative; never silence, a circumstance or the kind's own consequence
    """

    proof: Condition | None = None
    strong: Condition | None = None
    weak: Condition | None = None
    needs: Condition | None = None
    refuted_by: Condition | None = None

    def __post_init__(self) -> None:
        if len([name for name in GRADES if getattr(self, name) is not None]) != 1:
            raise ValueError("give exactly one of proof, strong, weak")

    @cached_property
    def grade(self) -> Grade:
        """What it proves where it holds."""
        return next(name for name in GRADES if getattr(self, name) is not None)

    @cached_property
    def condition(self) -> Condition:
        """What must hold."""
        given: Condition | None = self.proof or self.strong or self.weak
        assert given is not None  # _one_grade has seen to it
        return given


USUAL_FOR, USUAL_KEEP = 60.0, 120.0
"""Seconds of a hold that a rule does not set, in units of a minute: Prometheus's own interval of scraping and of evaluating
(``global.scrape_interval``, ``evaluation_interval``).

To raise, one: two evaluations have seen it, so that one odd scrape is no alert. Conditions hold over a window or ``lasting``
already, and longer durations delay, and are reset by a moment's rest (Google, The Site Reliability Workbook, chapter 5).
To clear, two: one lost scrape, or a pause between two bursts, ends nothing.
"""


@dataclass(frozen=True, kw_only=True)
class Hold(Checked):
    """How long a kind must be there before it is raised, and gone before it is over. The keys are those of Prometheus's alerts.

    :param raise_after: ``for``: seconds for which a pattern must be there before it is raised; what is proven is raised at once:
        a line that names the fault does not become untrue
    :param clear_after: ``keep_firing_for``: seconds for which it must be gone before it is over
    """

    __pydantic_config__ = spelt(raise_after="for", clear_after="keep_firing_for")

    raise_after: Annotated[float, Such(ge=0.0, le=3600.0)] = USUAL_FOR
    clear_after: Annotated[float, Such(ge=0.0, le=86400.0)] = USUAL_KEEP


@dataclass(frozen=True, kw_only=True)
class Rule(Checked):
    """One failure kind.

    :param id: the file's stem
    :param question: what is asked of the data, as a person would ask it
    :param scope: whose question it is; it is asked of each such subject, and signals of other scopes are found by its links
    :param severity: how bad it is where users suffer from it
    :param unharmed: how bad it is where they surely do not; by default a proof is a warning then, and a pattern only info
    :param shows: the ways in which it shows itself, from independent families of sources; one that holds is enough
    :param needs: what must be known and true for the claim at all; where it is not, the kind stays open
    :param refuted_by: a measured contradiction of the kind, however it shows itself
    :param expects: what it brings about; measured and missing speaks against it, and is shown so
    :param effect: it is never a cause by itself, unless an alternative better than weak says what brought it about
    :param standing: it was there all along and showed only under load, so it explains what began later
    :param sustains: it feeds itself and outlives its trigger
    :param trigger: it sets off a mechanism; where one is found that has a name of its own, that is told first
    :param otherwise: it stands for what has no name of its own, and is no mechanism that would be told before a trigger
    :param bystander: nobody suffers from it by itself: where users do, it stands behind whatever else may be the cause
    :param one_family: why all its evidence comes from one family of sources; empty if it does not
    :param hold: how long it must be there to be raised, and gone to be over, where a service is watched
    :param finding: the sentence of the finding; may use {subject}, {onset} and names given with ``as``
    :param leads_to: kinds that this one can cause, each with the mechanism; over all rules these make no loop
    :param feeds_back: kinds that this one can cause although they can have caused it: the arrows that close a loop
    :param incidents: ids of public incidents in the catalogue (rules/incidents.jsonl)
    :param sources: where thresholds come from, besides the incidents
    """

    id: str
    title: str
    question: str
    cause: Cause
    layer: Layer
    scale: Scale
    scope: Scope
    severity: Literal["info", "warning", "critical"]
    unharmed: Literal["info", "warning", "critical"] | None = None
    shows: Annotated[tuple[Alternative, ...], Such(min_length=1)]
    needs: Condition | None = None
    refuted_by: Condition | None = None
    expects: tuple[Condition, ...] = ()
    effect: bool = False
    standing: bool = False
    sustains: bool = False
    trigger: bool = False
    otherwise: bool = False
    bystander: bool = False
    one_family: str = ""
    hold: Hold = field(default_factory=Hold)
    finding: str
    leads_to: dict[str, Because] = field(default_factory=dict)
    feeds_back: dict[str, Because] = field(default_factory=dict)
    look_alikes: tuple[LookAlike, ...] = ()
    false_positives: tuple[str, ...] = ()
    incidents: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    status: Literal["experimental", "stable"] = "experimental"

    @property
    def effects(self) -> dict[str, str]:
        """Every kind that this one can cause, with the mechanism."""
        return {**self.leads_to, **self.feeds_back}

    @cached_property
    def conditions(self) -> tuple[Condition, ...]:
        """All its conditions: of the alternatives, of what they need and what refutes them, of the whole, and what it expects."""
        own = [part for way in self.shows for part in (way.condition, way.needs, way.refuted_by)]
        return tuple(part for part in (*own, self.needs, self.refuted_by, *self.expects) if part is not None)

    @cached_property
    def leaves(self) -> tuple[Leaf, ...]:
        """All of them that are made of no others."""
        return tuple(leaf for part in self.conditions for leaf in leaves(part))

    @cached_property
    def signals(self) -> tuple[str, ...]:
        """All signals that it speaks of."""
        return tuple(dict.fromkeys(name for leaf in self.leaves if (name := _signal_of(leaf))))


def leaves(condition: Condition) -> Iterator[Leaf]:
    """The conditions that a condition is made of, and that are made of no others."""
    match condition:
        case All():
            for part in condition.all:
                yield from leaves(part)
        case Any():
            for part in condition.any:
                yield from leaves(part)
        case Not():
            yield from leaves(condition.not_)
        case _:
            yield condition


def _statistics(condition: Condition) -> int:
    """How many statistics a condition may need."""
    return sum(isinstance(leaf, Measure) for leaf in leaves(condition))


def _signal_of(leaf: Leaf) -> str:
    """The signal that a condition asks; empty if it asks none."""
    match leaf:
        case Measure():
            return leaf.signal
        case Gone():
            return leaf.gone
        case _:
            return ""

"""A diagnosis: what triage answers. This is the JSON contract; docs/json.md explains it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, Self

from triage.classes import dataclass
from triage.model.checked import Checked, spelt
from triage.model.vocabulary import Cause, Layer, Scale

SCHEMA: Literal["triage.diagnosis/2"] = "triage.diagnosis/2"


class Verdict(StrEnum):
    """A rule's or a condition's answer. Missing data is ``unknown``, never ``absent``."""

    PRESENT = "present"
    ABSENT = "absent"
    UNKNOWN = "unknown"


class Status(StrEnum):
    """The state of the service as a whole."""

    HEALTHY = "healthy"
    DEGRADED = "degraded"
    INCIDENT = "incident"
    INCONCLUSIVE = "inconclusive"


class LayerState(StrEnum):
    """What is known of a layer: something is wrong there, all its kinds are ruled out, some are, or none could be judged."""

    IMPLICATED = "implicated"
    CLEARED = "cleared"
    PARTLY = "partly"
    NOT_EVALUATED = "not_evaluated"


class CauseState(StrEnum):
    """What is known of the cause: one kind, a few of which one it is, or nothing; none where nothing has to be explained."""

    NAMED = "named"
    NARROWED = "narrowed"
    OPEN = "open"
    NONE = "none"


class Promised(StrEnum):
    """What became of a promise: kept, broken, or nobody can say."""

    KEPT = "kept"
    BROKEN = "broken"
    OPEN = "open"


Role = Literal["root", "consequence", "contributing"]
Severity = Literal["info", "warning", "critical"]
Confidence = Literal["proven", "likely", "possible"]
"""How sure a finding is: evidence names this very fault, is a pattern that only this kind makes, or fits it and others."""


@dataclass(frozen=True, kw_only=True)
class Limit(Checked):
    """A further limit that one value was held against, with the same verdict.

    :param op: ``>``, ``>=``, ``<``, ``<=``
    :param threshold: what the value was held against
    :param threshold_of: what the threshold is, in words
    """

    op: str
    threshold: float
    threshold_of: str = ""


@dataclass(frozen=True, kw_only=True)
class Input(Checked):
    """A measured signal that a derived value was worked out of.

    :param signal: of the vocabulary
    :param subject: ``scope/id``
    :param query: PromQL that shows its mean over the same span, with the moment at which it is asked; of what was read at an
        endpoint the ``curl`` that shows what it says now
    """

    signal: str
    subject: str
    query: str


class ByHand(Protocol):
    """How a value can be worked out again."""

    @property
    def query(self) -> str:
        """As ``query`` of evidence."""

    @property
    def inputs(self) -> tuple[Input, ...]:
        """As its ``derived_from``."""


class Later(Checked):
    """What has fields that are worked out when somebody asks: most of them are never shown."""

    LATE: ClassVar[tuple[str, ...]] = ()
    """Their names. Such a field is made for each object (``default_factory``), so that it is missed where nobody knows it yet."""

    _work_out: Callable[[], Mapping[str, object]] | None = None
    """What gives their values; of an object, in its dictionary, until somebody has asked."""

    def told_by(self, work_out: Callable[[], Mapping[str, object]]) -> Self:
        """The same, of which somebody who asks learns the late fields then.

        :param work_out: gives the value of each
        """
        one = self._rest_of_it()
        one.__dict__["_work_out"] = work_out
        return one

    def model_copy(self, *, update: Mapping[str, object] | None = None) -> Self:
        """The same object with some fields changed; what nobody has asked for yet is still to be worked out."""
        one = super().model_copy(update=update)
        if self._work_out is not None:
            one.__dict__.setdefault("_work_out", self._work_out)
        return one

    def _rest_of_it(self) -> Self:
        """The same without late fields."""
        one = object.__new__(type(self))
        one.__dict__.update(self._rest())
        return one

    @property
    def unasked(self) -> Sequence[str]:
        """The late fields, if nobody has asked for them yet."""
        return self.LATE if self._work_out is not None else ()

    def told_as(self, change: Callable[[str, object], object]) -> Self:
        """The same; what nobody has asked for yet is changed when somebody does.

        :param change: gives a field's value of its name and value
        """
        work_out = self._work_out
        if work_out is None:
            return self
        return self.told_by(lambda: {name: change(name, value) for name, value in work_out().items()})

    def settle(self) -> None:
        """Works out what nobody has asked for yet."""
        if self._work_out is not None:
            told = {**self.__dict__, **self._work_out()}
            self.__dict__.clear()
            self.__dict__.update({name: told[name] for name in self.model_names()})

    if not TYPE_CHECKING:  # what is there by annotation must stay an error for a type checker where it is not

        def __getattr__(self, name: str) -> object:
            if name in type(self).LATE and self._work_out is not None:
                self.settle()
                return self.__dict__[name]
            raise AttributeError(f"{type(self).__name__} has no {name}")

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Later) or self.__class__ is not other.__class__ or self._rest() != other._rest():
            return False
        if self._work_out is not None and self._work_out is other._work_out:
            return True
        return all(getattr(self, name) == getattr(other, name) for name in self.LATE)

    def _rest(self) -> dict[str, Any]:
        """All that need not be worked out first."""
        late = (*self.LATE, "_work_out")
        return {name: value for name, value in self.__dict__.items() if name not in late}

    def __hash__(self) -> int:
        return hash(tuple(getattr(self, name) for name in self.model_names()))

    def __getstate__(self) -> dict[str, Any]:
        self.settle()
        return self.__dict__


@dataclass(frozen=True, kw_only=True, eq=False)
class Spark(Later):
    """A small curve for the eye: evenly spaced values from ``start`` to ``end``, null where nothing was measured.

    :param onset: index of the value at which the trouble began, if it lies in the curve
    :param window: index of the first value inside the window
    """

    LATE = ("values",)

    start: float
    end: float
    values: tuple[float | None, ...] = field(default_factory=tuple)
    window: int = 0
    onset: int | None = None


class Reckoned(Later):
    """What has ``query`` and ``derived_from``: how its value can be worked out again."""

    LATE = ("query", "derived_from")

    def reckoned_by(self, work_out: Callable[[], ByHand]) -> Self:
        """The same, of which somebody who asks can learn how its value can be worked out again."""

        def told() -> Mapping[str, object]:
            found = work_out()
            return {"query": found.query, "derived_from": found.inputs}

        return self.told_by(told)

    def reckoned_as(self, other: "Reckoned") -> Self:
        """The same, with a value that can be worked out again as another's."""
        return self.told_by(lambda: {name: getattr(other, name) for name in self.LATE})


@dataclass(frozen=True, kw_only=True, eq=False)
class Evidence(Reckoned):
    """One measured (or missing) thing that a verdict rests on.

    :param signal: signal of the vocabulary, or ``event:<kind>``, ``fact:<key>``
    :param subject: ``scope/id``
    :param stat: statistic over the window
    :param value: the value in base units; null if it is missing
    :param low: lower bound of the value where it is known only as an interval (a quantile within its bucket)
    :param high: upper bound, null if it has none
    :param lasting: seconds for which every value in a row must satisfy the bound; null if the statistic itself is compared
    :param held: of such a condition the longest time for which it did hold, seconds
    :param op: ``>``, ``>=``, ``<``, ``<=``, ``=~``, ``gone``
    :param threshold: what the value was held against
    :param threshold_of: what the threshold is, in words (``1.5 x baseline``, ``objective itl_p95_s``)
    :param also: further limits that the same value was held against, each with the same verdict
    :param baseline: the same statistic before the window
    :param verdict: whether this condition holds: present, absent (it does not), unknown
    :param since: when the condition was first seen to hold, Unix seconds; null if unknown or before all data
    :param since_low: after which moment it began to hold: the last one that was looked at before; null where since is exact
    :param until: when it ceased to hold; null if it still does, or nobody can say
    :param text: what the event or fact says as it was written, or why the value is missing
    :param phrase: what an event or something odd says, in words for people; empty of what is measured
    :param fields: the values that were taken out of the line or event: Xid, PCI address, limit, address, exception …
    :param who: what people call the subject (``GPU 3 on gpu-node-01``); empty where that is its id
    :param query: PromQL that gives this very value, with the moment at which it is asked, or the ``grep`` that counts lines;
        empty where nothing gives it
    :param at_source: the same count of lines where they are kept: ``journalctl`` of a kernel, ``kubectl logs`` of a pod whose
        namespace is known; empty of anything else
    :param derived_from: what the value was worked out of, where no single query gives it and somebody can be asked
    :param moment: of ``peak`` and ``trough`` the seconds over which each mean is taken
    :param spark: the values over time
    """

    signal: str
    subject: str
    stat: str = ""
    moment: float | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    unit: str = ""
    lasting: float | None = None
    held: float | None = None
    op: str = ""
    threshold: float | None = None
    threshold_of: str = ""
    also: tuple[Limit, ...] = ()
    baseline: float | None = None
    verdict: Verdict
    since: float | None = None
    since_low: float | None = None
    until: float | None = None
    text: str = ""
    phrase: str = ""
    fields: dict[str, str] = field(default_factory=dict)
    who: str = ""
    query: str = field(default_factory=str)
    at_source: str = ""
    derived_from: tuple[Input, ...] = field(default_factory=tuple)
    spark: Spark | None = None

    def __hash__(self) -> int:
        """Of what tells pieces apart at once."""
        return hash((self.signal, self.subject, self.stat, self.value, self.threshold, self.verdict, self.since, self.text))


@dataclass(frozen=True, kw_only=True, eq=False)
class Finding(Later):
    """A present verdict as shown to a person.

    :param summary: one sentence with the subject, the number and the time
    :param subjects: every subject it was found on, worst first
    :param subject: the worst of them
    :param who: what people call the subjects, in the same order
    :param onset: when it was first seen, Unix seconds; null if before all data or unknown
    :param onset_low: after which moment it began: a scrape, or what a ratio is taken over, before; null where onset is exact
    :param confidence: what its evidence proves, a step less where something contradicts it or could not be looked at
    :param until: when it was over; null if it goes on, or nobody can say
    :param leads_to: kinds found present that this one explains
    :param because: the mechanism of each kind in ``leads_to``; one that is reached over an unseen kind has none
    :param explained_by: kinds found present that explain this one
    :param loop: kinds that feed each other with this one, if it is part of a loop
    :param muted: a person has muted the kind; it does not raise the state by itself
    :param contradicts: what it should have brought about, was measured, and is not there
    :param check: commands that look at the deciding evidence by hand
    :param names: what its playbook has placeholders for, as far as it is known: pod, node, version …
    :param first_step: what to do first; ``do_not`` is what goes wrong most often, as it reads after "do not"
    """

    LATE = ("check",)

    rule: str
    title: str
    summary: str
    cause: Cause
    layer: Layer
    scale: Scale
    subject: str
    subjects: tuple[str, ...]
    who: tuple[str, ...] = ()
    severity: Severity
    role: Role
    onset: float | None
    onset_low: float | None = None
    until: float | None = None
    confidence: Confidence
    evidence: tuple[Evidence, ...]
    leads_to: tuple[str, ...] = ()
    because: dict[str, str] = field(default_factory=dict)
    explained_by: tuple[str, ...] = ()
    loop: tuple[str, ...] = ()
    contradicts: tuple[Evidence, ...] = ()
    check: tuple[str, ...] = field(default_factory=tuple)
    playbook: str
    first_step: str
    do_not: str = ""
    names: dict[str, str | float] = field(default_factory=dict)
    muted: bool = False


@dataclass(frozen=True, kw_only=True)
class RuledOut(Checked):
    """A kind that is not there, or of which no sign was seen, and the evidence for that."""

    rule: str
    title: str
    layer: Layer
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, kw_only=True)
class NotEvaluated(Checked):
    """A kind that could not be judged, what is missing, and how to get it."""

    rule: str
    title: str
    layer: Layer
    missing: tuple[str, ...]
    how_to_get: str


@dataclass(frozen=True, kw_only=True)
class Symptom(Checked):
    """What a user of the service notices: a promise that is not kept, or a clear change for the worse.

    :param name: ``ttft_p95_s``, ``error_ratio``, ``replicas`` …
    :param summary: one sentence
    """

    name: str
    summary: str
    value: float
    unit: str
    threshold: float
    baseline: float | None
    onset: float | None
    evidence: Evidence


NOT_MEASURED = "not measured"
"""Reason of a vital sign that nobody measures."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Vital(Reckoned):
    """One thing that users notice, whether it is well or not: the ledger of promises.

    :param name: ``ttft_p95_s``, ``error_ratio``, ``answers`` …
    :param title: what it is, as a noun phrase
    :param subject: ``scope/id``: the service, or the part of it for which it differs (a replica, a version, a route)
    :param who: what people call it; empty where that is its id
    :param value: over the window, base units; null if unknown
    :param low: lower bound where it is known only as an interval; ``high`` is the upper one
    :param now: over the last few scrapes; null if nothing came
    :param limit: what it is held against; ``limit_of`` says in words what that is (an objective, a default, the past)
    :param since: when it was first broken, Unix seconds; ``until`` is when that ended, null while it goes on
    :param harm: how far beyond it is × whose share × how long, of a broken one: from 1 on it is an incident
    :param reason: why it is open, or what broke it, one sentence
    :param mean: over the window, of a delay of which no quantile is known
    :param noticed: whether the state of the service rests on it; not on what is only told (that nobody measures it, the KV cache)
    :param query: PromQL that gives this very value; ``derived_from`` where no single query does
    """

    name: str
    title: str
    subject: str
    who: str = ""
    state: Promised
    value: float | None = None
    low: float | None = None
    high: float | None = None
    now: float | None = None
    unit: str = ""
    limit: float | None = None
    limit_of: str = ""
    baseline: float | None = None
    since: float | None = None
    until: float | None = None
    harm: float = 0.0
    reason: str = ""
    mean: float | None = None
    noticed: bool = True
    query: str = field(default_factory=str)
    derived_from: tuple[Input, ...] = field(default_factory=tuple)
    spark: Spark | None = None


@dataclass(frozen=True, kw_only=True)
class Rival(Checked):
    """A kind that the cause may be, and what would decide.

    :param why: why it is possible
    :param decides: what to look at to tell, and how to get it
    """

    rule: str
    title: str
    layer: Layer
    cause: Cause
    why: str
    decides: str = ""


@dataclass(frozen=True, kw_only=True)
class CauseView(Checked):
    """What is known of the cause: the second axis of the answer, beside the state of the service.

    :param rules: the kinds that it is, or may be, likeliest first; empty if it is open
    :param text: the same as one sentence
    """

    state: CauseState
    rules: tuple[str, ...] = ()
    rivals: tuple[Rival, ...] = ()
    text: str = ""


@dataclass(frozen=True, kw_only=True)
class Odd(Checked):
    """Something odd that was seen without any rule.

    :param sort: class of the observation; docs/observations.md explains each
    :param of: what it is about
    :param text: what was seen, with the line as it was written where it was read from one
    :param phrase: the same in words for people
    :param who: what people call the subject; empty where that is its id
    :param since: when it had surely begun, Unix seconds; ``until`` is null while it goes on
    :param explained_by: findings that explain it; empty: nothing does
    """

    sort: str
    of: str
    subject: str
    text: str
    phrase: str = ""
    who: str = ""
    since: float | None = None
    until: float | None = None
    size: float | None = None
    salient: bool = False
    explained_by: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Unread(Checked):
    """An error-like line that nothing understands, new in the window.

    :param template: the line with its numbers, ids and addresses masked; ``text`` is one as it was written
    :param count: how many such lines there were
    :param subject: whom it is about, ``scope/id``; empty if nobody knows
    """

    text: str
    template: str
    count: int
    emitter: str
    subject: str
    source: str
    first: float
    last: float


@dataclass(frozen=True, kw_only=True)
class Muted(Checked):
    """A kind of failure that a person has muted for this service.

    :param until: Unix seconds of the end of the mute
    :param state: whether it holds at the window's end, or has expired and is not heeded
    :param found: the kind was found
    """

    rule: str
    reason: str
    until: float
    state: Literal["heeded", "expired"]
    found: bool


@dataclass(frozen=True, kw_only=True)
class RuleSet(Checked):
    """What an answer was judged with.

    :param version: of triage
    :param digest: of all files of rules, dialects and signatures in force; the same digest: the same answer
    :param own: rules, dialects and signatures of the user's that are not shipped, each as ``rule my-rule``
    :param replaced: shipped ones that the user's replace
    """

    version: str
    digest: str
    own: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class LayerView(Checked):
    """One layer on the way down."""

    layer: Layer
    state: LayerState
    findings: tuple[str, ...]
    ruled_out: int
    not_evaluated: int


@dataclass(frozen=True, kw_only=True)
class SignalCoverage(Checked):
    """Whether a signal could be used."""

    signal: str
    state: Literal["present", "stale", "missing", "out_of_range"]
    subjects: int
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class SourceView(Checked):
    """What became of a source.

    :param files: names of the files that were read, of a log; ``lines`` is how many lines they hold
    """

    name: str
    state: Literal["ok", "partial", "failed", "absent"]
    reason: str = ""
    files: tuple[str, ...] = ()
    lines: int = 0


@dataclass(frozen=True, kw_only=True)
class Coverage(Checked):
    """What the diagnosis could and could not look at.

    :param dialects: engines, gateways and exporters whose metrics were understood, sorted
    """

    sources: tuple[SourceView, ...]
    signals: tuple[SignalCoverage, ...]
    rules_evaluated: int
    rules_total: int
    problems: tuple[str, ...] = ()
    dialects: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Span(Checked):
    """The window that was judged and the one that was compared with, Unix seconds.

    :param baseline_end: where the time that was compared with ends; null: where the window begins
    """

    start: float
    end: float
    baseline_start: float
    baseline_end: float | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Diagnosis(Later):
    """The whole answer. What could be looked at, and why kinds are not there, is told when somebody asks.

    :param headline: one sentence: what is wrong and since when, or what could not be seen
    :param cause: what is known of the cause
    :param vitals: what users notice, kept, broken or open
    :param ruled_out: kinds that something speaks against that was measured or happened
    :param unseen: kinds of which no sign was seen in the places where it would show; they are not ruled out
    :param observations: what is odd, those first that nothing explains
    :param unread: error-like lines that nothing understands
    :param muted: kinds that are muted for this service, also those whose mute has expired
    :param ruleset: what it was judged with; null where nobody says
    :param facts: what is known of the service (engine, model, limits), for the reader and for filling playbooks
    """

    __pydantic_config__ = spelt(schema_="schema")

    LATE = ("ruled_out", "unseen", "not_evaluated", "coverage")

    schema_: Literal["triage.diagnosis/2"] = SCHEMA
    service: str
    window: Span
    status: Status
    cause: CauseView = field(default_factory=lambda: CauseView(state=CauseState.NONE))
    headline: str
    vitals: tuple[Vital, ...] = ()
    symptoms: tuple[Symptom, ...]
    findings: tuple[Finding, ...]
    ruled_out: tuple[RuledOut, ...]
    unseen: tuple[RuledOut, ...] = field(default_factory=tuple)
    not_evaluated: tuple[NotEvaluated, ...]
    layers: tuple[LayerView, ...]
    observations: tuple[Odd, ...] = ()
    unread: tuple[Unread, ...] = ()
    muted: tuple[Muted, ...] = ()
    coverage: Coverage
    ruleset: RuleSet | None = None
    facts: dict[str, str | float] = field(default_factory=dict)

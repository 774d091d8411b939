"""What the screens show at one moment: a diagnosis, the questions behind it, and what happened meanwhile. Plain data."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace

from triage.classes import dataclass
from triage.memory.life import Turn
from triage.memory.looks import rule_of
from triage.memory.memory import Memory
from triage.memory.words import told
from triage.model.diagnosis import Diagnosis, Evidence, Finding, LayerView, Spark, Verdict, Vital
from triage.model.recording import CHANGE_KINDS, Event, Histogram, Recording, Series
from triage.model.rule import LookAlike, Rule
from triage.model.units import clock
from triage.model.vocabulary import Layer
from triage.render.safe import inert, inert_text
from triage.tui.remembered import Layout

_ORDER = {Verdict.PRESENT: 0, Verdict.ABSENT: 1, Verdict.UNKNOWN: 2}
_GONE = {Verdict.ABSENT: "ruled out now", Verdict.UNKNOWN: "can't tell any more"}
_REST = {
    Verdict.ABSENT: "ruled out now, could not be judged before: {}",
    Verdict.UNKNOWN: "can't be judged any more, was ruled out: {}",
}
_MOST_EVENTS = 5000
"""Events that are kept for looking at; a log storm has more, and nobody reads them all."""


@dataclass(frozen=True)
class Question:
    """One thing that is asked in a layer, with its answer.

    :param rule: id of the failure kind
    :param text: the question as a person asks it
    :param evidence: what the answer rests on, the deciding one first; empty if nothing could be measured
    :param finding: the finding, if the answer is yes
    :param missing: signals, events and facts that keep the answer open
    :param how_to_get: what to do to have them
    """

    rule: str
    title: str
    text: str
    layer: Layer
    verdict: Verdict
    evidence: tuple[Evidence, ...] = ()
    finding: Finding | None = None
    missing: tuple[str, ...] = ()
    how_to_get: str = ""
    look_alikes: tuple[LookAlike, ...] = ()


@dataclass(frozen=True)
class Mark:
    """A moment worth a look: a change, a restart, an onset.

    :param time: Unix seconds
    """

    time: float
    label: str


@dataclass(frozen=True)
class Snapshot:
    """One snapshot at a service.

    :param diagnosis: the answer, every text in it inert
    :param questions: all that was asked, layer by layer, what is there first
    :param events: log lines, Xids and changes in order of time, inert
    :param begin: time of the first thing that is known, Unix seconds
    :param end: time of the last thing that is known
    :param as_of: the moment in the past that this snapshot is about; None for the newest
    :param live: more snapshots will follow
    :param before: verdicts of the snapshot before this one, of those rules whose verdict is another now
    :param number: counts the recordings; two snapshots of one number and moment are the same
    :param memory: what is remembered of the looks so far; None where there is but one
    :param stale: findings and promises that are shown as they were seen last, by their keys in the memory, with when that was
    :param spoken: for a screen reader: words instead of signs and curves
    """

    diagnosis: Diagnosis
    questions: tuple[Question, ...]
    events: tuple[Event, ...] = ()
    begin: float = 0.0
    end: float = 0.0
    as_of: float | None = None
    live: bool = False
    before: Mapping[str, Verdict] = field(default_factory=dict)
    number: int = 0
    spoken: bool = False
    memory: Memory | None = None
    stale: Mapping[str, float] = field(default_factory=dict)

    @property
    def near(self) -> float:
        """A moment whose date the reader knows."""
        return self.diagnosis.window.end

    @property
    def marks(self) -> tuple[Mark, ...]:
        """Changes in order of time."""
        return tuple(
            Mark(event.time, f"{event.kind} {event.name}".strip()) for event in self.events if event.kind in CHANGE_KINDS
        )

    @property
    def curve(self) -> Spark | None:
        """The curve that tells the story in one line: of the first symptom, else of the first finding."""
        told = [*(s.evidence for s in self.diagnosis.symptoms), *(e for f in self.diagnosis.findings for e in f.evidence)]
        return next((evidence.spark for evidence in told if evidence.spark is not None), None)

    @property
    def onset(self) -> float | None:
        """When the trouble began: the first symptom's onset, else the first finding's."""
        times = [s.onset for s in self.diagnosis.symptoms] or [f.onset for f in self.diagnosis.findings[:1]]
        return min((time for time in times if time is not None), default=None)

    def question(self, rule: str) -> Question | None:
        """The question of a rule."""
        return next((one for one in self.questions if one.rule == rule), None)

    def vital(self, name: str) -> Vital | None:
        """A vital sign by its name and subject, as :func:`vital_id` joins them."""
        return next((one for one in self.diagnosis.vitals if vital_id(one) == name), None)

    def subjects_of(self, signal: str) -> int:
        """How many subjects have a signal."""
        return next((one.subjects for one in self.diagnosis.coverage.signals if one.signal == signal), 0)

    def of_layer(self, layer: Layer) -> tuple[Question, ...]:
        """What is asked in a layer."""
        return tuple(one for one in self.questions if one.layer is layer)

    def layer(self, layer: Layer) -> LayerView:
        """The state of a layer."""
        return next(view for view in self.diagnosis.layers if view.layer is layer)

    @property
    def first_finding(self) -> Finding | None:
        """The finding that a person should see first: the first root cause, else the first of all."""
        findings = self.diagnosis.findings
        return next((finding for finding in findings if finding.role == "root"), findings[0] if findings else None)


@dataclass(frozen=True)
class Scene:
    """What a screen is given.

    :param snapshot: the snapshot to show
    :param newest: the newest snapshot, which tells how far the time goes; the same unless an earlier moment is looked at
    :param moment: the moment that is wanted; ``snapshot`` may still be of another one while the wanted one is being diagnosed
    :param activity: what goes on meanwhile, in a few words; empty if nothing does
    :param news: what became different while watching, newest first
    :param layout: how the panes share the room
    :param is_first_time: nobody has walked here before
    :param pin: the subject that all charts show, as far as it has what they show; empty: the whole
    :param is_framed: all cells of the snapshot are at hand: a curve of them is there in milliseconds
    """

    snapshot: Snapshot
    newest: Snapshot
    moment: float | None = None
    activity: str = ""
    news: tuple[str, ...] = ()
    layout: Layout = field(default_factory=Layout)
    is_first_time: bool = False
    pin: str = ""
    is_framed: bool = False

    def tells_as(self, other: "Scene") -> bool:
        """Whether a screen says the same of both, but for the time and what goes on."""
        own, others = ((one.news, one.is_first_time, one.pin) for one in (self, other))
        return self.snapshot is other.snapshot and own == others


def vital_id(vital: Vital) -> str:
    """What tells a vital sign from all others: its name, and whose it is."""
    return f"{vital.name} {vital.subject}"


def snapshot_of(diagnosis: Diagnosis, rules: Iterable[Rule], recording: Recording) -> Snapshot:
    """A snapshot made of a diagnosis, the rules that were asked and the recording that they were asked of."""
    safe = inert(diagnosis)
    begin, end = _extent(recording)
    return Snapshot(safe, _questions(safe, rules), _events(recording.events), begin, end)


def compared(snapshot: Snapshot, previous: Snapshot | None) -> Snapshot:
    """The snapshot with what became different since the one before it."""
    if previous is None:
        return snapshot
    was = {question.rule: question.verdict for question in previous.questions}
    moved = {q.rule: was[q.rule] for q in snapshot.questions if q.rule in was and was[q.rule] is not q.verdict}
    return replace(snapshot, before=moved)


def news_of(snapshot: Snapshot) -> list[str]:
    """What became different since the snapshot before, a line each: as it is remembered, else what this look alone says."""
    when = clock(snapshot.end, snapshot.near)
    if snapshot.memory is not None:
        return [f"{when} {inert_text(told(one, snapshot.near))}" for one in snapshot.memory.news]
    moved = [(question, snapshot.before[question.rule]) for question in snapshot.questions if question.rule in snapshot.before]
    found = [f"{when} {q.title} ({q.rule}): found now" for q, _ in moved if q.verdict is Verdict.PRESENT]
    gone = [f"{when} {q.title} ({q.rule}): {_GONE[q.verdict]}" for q, was in moved if was is Verdict.PRESENT]
    rest = Counter(q.verdict for q, was in moved if q.verdict is not Verdict.PRESENT and was is not Verdict.PRESENT)
    return [*found, *gone, *(f"{when} {_REST[verdict].format(count)}" for verdict, count in sorted(rest.items()))]


def found_now(snapshot: Snapshot) -> list[str]:
    """Titles of the kinds that are found since this snapshot."""
    if snapshot.memory is not None:
        new = [one for one in snapshot.memory.news if one.turn is Turn.NEW and rule_of(one.key) and one.severity != "info"]
        return [one.title for one in new]
    return [q.title for q in snapshot.questions if q.rule in snapshot.before and q.finding is not None]


def _questions(diagnosis: Diagnosis, rules: Iterable[Rule]) -> tuple[Question, ...]:
    """Every rule as a question with its answer, ordered by layer, then what is there in rank order, then by title."""
    known = {rule.id: rule for rule in rules}
    asked = [
        *(_found(finding, known.get(finding.rule)) for finding in diagnosis.findings),
        *(
            _asked(out.rule, out.title, out.layer, Verdict.ABSENT, known.get(out.rule), evidence=out.evidence)
            for out in sorted((*diagnosis.ruled_out, *diagnosis.unseen), key=lambda one: one.title)
        ),
        *(
            _asked(gap.rule, gap.title, gap.layer, Verdict.UNKNOWN, known.get(gap.rule), gap.missing, gap.how_to_get)
            for gap in sorted(diagnosis.not_evaluated, key=lambda one: one.title)
        ),
    ]
    layers = list(Layer)
    return tuple(sorted(asked, key=lambda one: (layers.index(one.layer), _ORDER[one.verdict])))


def _found(finding: Finding, rule: Rule | None) -> Question:
    """A question that is answered with yes."""
    question = _asked(finding.rule, finding.title, finding.layer, Verdict.PRESENT, rule, evidence=finding.evidence)
    return replace(question, finding=finding)


def _asked(
    rule_id: str,
    title: str,
    layer: Layer,
    verdict: Verdict,
    rule: Rule | None,
    missing: tuple[str, ...] = (),
    how_to_get: str = "",
    evidence: tuple[Evidence, ...] = (),
) -> Question:
    """A question in the rule's own words."""
    text = inert_text(rule.question) if rule else title
    alike = tuple(LookAlike(rule=one.rule, because=inert_text(one.because)) for one in rule.look_alikes) if rule else ()
    told = tuple(sorted(evidence, key=lambda one: one.verdict is Verdict.UNKNOWN))
    return Question(rule_id, title, text, layer, verdict, told, None, missing, how_to_get, alike)


def _extent(recording: Recording) -> tuple[float, float]:
    """First and last moment of which anything is known, at least the window."""
    window = recording.window
    tracks: tuple[Series | Histogram, ...] = (*recording.series, *recording.histograms)
    firsts = [float(track.times[0]) for track in tracks if len(track.times)]
    begin = min([window.start, *firsts])
    return max(begin, window.baseline_start) if window.baseline_start < window.start else begin, window.end


def _events(events: Sequence[Event]) -> tuple[Event, ...]:
    """Events in order of time, every text in them inert; of too many the changes and Xids first."""
    kept = sorted(events, key=lambda event: (event.kind == "log", event.time))[:_MOST_EVENTS]
    return tuple(_inert(event) for event in sorted(kept, key=lambda event: (event.time, event.kind, event.name)))


def _inert(event: Event) -> Event:
    """The event with nothing in its texts that a terminal would obey."""
    return replace(
        event,
        kind=inert_text(event.kind),
        name=inert_text(event.name),
        attrs={},
        text=inert_text(event.text),
        source=inert_text(event.source),
    )

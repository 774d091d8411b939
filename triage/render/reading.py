"""A diagnosis in words, the same in every format: what each piece of evidence says, who is meant, what is missing."""

import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from math import inf

from triage.classes import dataclass
from triage.model.diagnosis import (
    NOT_MEASURED,
    Diagnosis,
    Evidence,
    Finding,
    Input,
    LayerState,
    LayerView,
    Limit,
    Muted,
    NotEvaluated,
    Promised,
    RuledOut,
    SourceView,
    Verdict,
    Vital,
)
from triage.model.units import NO_DATA, alike, clock, compared, duration, interval, number, quantity
from triage.model.vocabulary import catalogue

LAYER_WORDS = {
    LayerState.CLEARED: "cleared",
    LayerState.IMPLICATED: "implicated",
    LayerState.PARTLY: "partly looked at",
    LayerState.NOT_EVALUATED: "not evaluated",
}

_OBJECTIVE = re.compile(r"\bobjective [a-z0-9_]+")

_OPS = {">=": "≥", "<=": "≤"}
_NAMES = {"ttft": "TTFT", "itl": "ITL", "tpot": "TPOT", "e2e": "E2E latency", "kv": "KV"}
_SCOPES = {"gpu": "GPU"}
_TOLD = ("event:", "observed:")
"""Evidence that is told by how often it was seen, not by a value."""

_MOMENTS = frozenset({"observed:change", "observed:life", "observed:said"})
"""Odd things that are at a moment."""

FLOORS = frozenset({"answers", "quality"})
"""Vital signs of which more is better."""

_EXTREMES = {"peak": "highest", "trough": "lowest"}
_QUANTILES = frozenset({"median", "p50", "p95", "p99"})
"""Statistics that stand behind a name as they are: ``TTFT p95``."""

_FILES = 3
_LONG = 10.0
"""A time from which on nobody counts milliseconds."""

_ORDER = (Promised.BROKEN, Promised.OPEN, Promised.KEPT)
_VERDICTS = {Promised.BROKEN: Verdict.PRESENT, Promised.KEPT: Verdict.ABSENT, Promised.OPEN: Verdict.UNKNOWN}


@dataclass(frozen=True, slots=True)
class Reading:
    """One piece of evidence as a person reads it; parts that there is nothing to say of are empty.

    :param what: what was measured, as people call it, and its statistic
    :param value: what was measured, or that nothing was
    :param test: what it was held against, with ``not`` where that does not hold and ``may be`` where it cannot be told
    :param why: what the threshold is
    :param also: further limits that the same value was held against
    :param usual: the same before the window
    :param since: when it began to hold
    :param is_event: since is a moment rather than a beginning
    :param is_told: it was seen, not measured
    :param note: what the event or fact says, or why there is no value
    """

    what: str
    subject: str
    value: str
    test: str
    why: str
    usual: str
    since: str
    note: str
    verdict: Verdict
    is_event: bool = False
    also: str = ""
    is_told: bool = False

    @property
    def held_against(self) -> str:
        """The test and what its threshold is."""
        own = f"{self.test} ({self.why})".lstrip() if self.why else self.test
        return f"{own}, {self.also}" if self.also else own

    @property
    def headed(self) -> str:
        """What was measured and on whom; what was seen stands behind whom it happened to."""
        if not self.is_told:
            return f"{self.what} of {self.subject}"
        return self.what if self.subject == "the service" else f"{self.subject}: {self.what}"

    @property
    def compared(self) -> str:
        """Value and test in one phrase."""
        return f"{self.value} {self.held_against}".strip()

    @property
    def when(self) -> str:
        """Since when, or at what moment."""
        return f"{'at' if self.is_event else 'since'} {self.since}" if self.since else ""


def reading(evidence: Evidence, near: float) -> Reading:
    """The evidence in words.

    :param near: Unix seconds of a moment whose date the reader knows
    """
    value, test = _measured(evidence)
    return Reading(
        what=_what(evidence),
        subject=evidence.who or named(evidence.subject),
        value=value,
        test=test,
        why=limit_in_words(evidence.threshold_of),
        usual="" if evidence.baseline is None else quantity(evidence.baseline, evidence.unit, like=evidence.value),
        since="" if evidence.since is None else clock(evidence.since, near),
        note="" if evidence.text in (value, "nothing odd seen") or _says_no_more(evidence) else evidence.text,
        verdict=evidence.verdict,
        is_event=evidence.signal.startswith("event:") or evidence.signal in _MOMENTS,
        also=", ".join(_limit(one, evidence) for one in evidence.also),
        is_told=is_told(evidence),
    )


def limit_in_words(limit_of: str) -> str:
    """What a threshold is; an objective without the name of its setting, since its row names what is promised."""
    return _OBJECTIVE.sub("objective", limit_of)


def meaning(evidence: Evidence) -> str:
    """What the signal of the evidence measures, for readers who do not know it, and its name; empty for events and facts."""
    signal = catalogue().get(evidence.signal)
    return f"{signal.meaning} ({signal.name})" if signal else ""


def values_in(evidence: Evidence) -> str:
    """The values that were taken out of a line or an event by their names, for details; empty if there are none."""
    return ", ".join(f"{key} {value}" for key, value in sorted(evidence.fields.items()))


def named(subject: str) -> str:
    """A subject as a person says it: ``replica vllm-3`` for ``replica/vllm-3``."""
    scope, slash, name = subject.partition("/")
    if scope == "service":
        return "the service"
    if scope == "gpu" and name.startswith("GPU-"):
        return name
    return f"{_SCOPES.get(scope, scope)} {name}" if slash else subject


def those(subjects: Sequence[str], most: int) -> str:
    """Several subjects, worst first: ``6 replicas: vllm-3, vllm-1 and 4 more``."""
    scopes = {subject.partition("/")[0] for subject in subjects}
    alike = len(scopes) == 1 and len(subjects) > 1 and all("/" in subject for subject in subjects)
    names = [subject.partition("/")[2] if alike else named(subject) for subject in subjects]
    start = f"{len(names)} {_SCOPES.get(scope := scopes.pop(), scope)}s: " if alike else ""
    return start + listed(names, most)


def whom(finding: Finding, most: int) -> str:
    """Those that a finding is on, worst first, as people call them."""
    subjects = finding.subjects or (finding.subject,)
    if len(finding.who) != len(subjects):
        return those(subjects, most)
    first = {who.partition(" ")[0] for who in finding.who}
    alike = len(first) == 1 and len(subjects) > 1 and all(" " in who for who in finding.who)
    names = [who.partition(" ")[2] if alike else who for who in finding.who]
    start = f"{len(names)} {first.pop()}s: " if alike else ""
    return start + listed(names if not subjects[0].startswith("service/") else ["the service"], most)


def listed(names: Sequence[str], most: int) -> str:
    """Some names and how many more there are."""
    if len(names) <= most + 1:
        return ", ".join(names)
    return f"{', '.join(names[:most])} and {len(names) - most} more"


def vital_name(name: str) -> str:
    """What a person calls the promise: ``TTFT p95`` for ``ttft_p95_s``."""
    words = name.removesuffix("_s").split("_")
    return " ".join(_NAMES.get(word, word) for word in words)


@dataclass(frozen=True, slots=True)
class VitalReading:
    """A vital sign as a person reads it, all its values in one unit; parts that there is nothing to say of are empty.

    :param name: what people call it
    :param part: of which part it is, if not of the service
    :param value: over the window, as bounds where only those are known
    :param now: over the last few scrapes
    :param limit: what it should be
    :param whose: whose limit that is: an objective, the past, what anybody finds too much
    :param usual: the same before the window
    :param when: since when it is broken, or from when to when it was
    :param reason: why it is open, or what broke it
    """

    name: str
    part: str
    value: str
    now: str
    limit: str
    whose: str
    usual: str
    when: str
    reason: str


def vital_reading(vital: Vital, near: float) -> VitalReading:
    """A vital sign in words."""
    unit, like = vital.unit, _like(vital)
    whole = inf if vital.unit != "ratio" else 1.0
    can_break = vital.limit is not None and (vital.limit < whole or vital.name in FLOORS)
    return VitalReading(
        name=vital_name(vital.name),
        part="" if vital.subject.startswith("service/") else vital.who or named(vital.subject),
        value=_vital_value(vital, like, whole),
        now="" if vital.now is None else alike(min(vital.now, whole), unit, like),
        limit=f"{'≥' if vital.name in FLOORS else '≤'} {alike(vital.limit, unit, like)}" if can_break else "",
        whose=_whose(vital.limit_of) if can_break else "",
        usual="" if vital.baseline is None else alike(vital.baseline, unit, like),
        when=lasted(vital.since, vital.until, near) if vital.state is Promised.BROKEN else "",
        reason="" if vital.reason == NOT_MEASURED else limit_in_words(vital.reason.replace(vital.subject, "it")),
    )


def vital_in_short(vital: Vital, near: float) -> str:
    """Name, part and value of a vital sign."""
    read = vital_reading(vital, near)
    part = f" of {read.part}" if read.part else ""
    return f"{read.name}{part} {read.value}".rstrip()


def _like(vital: Vital) -> float:
    """The value whose unit the row takes: times in seconds, or in milliseconds where both the limit and the values are short."""
    like = vital.limit if vital.limit is not None else vital.value or 0.0
    if vital.unit != "seconds":
        return like
    longest = max(like, vital.value or 0.0, vital.now or 0.0)
    return 1.0 if like >= 1.0 or longest >= _LONG else like


def _vital_value(vital: Vital, like: float, whole: float) -> str:
    """The value, or its bounds; else its mean, or that nobody measures it.

    A share is at most the whole: what two counters disagree on is no news.
    """
    if vital.value is None and vital.low is None and vital.high is None and vital.mean is not None:
        return f"mean {alike(vital.mean, vital.unit, like)}"
    if vital.reason == NOT_MEASURED:
        return NOT_MEASURED
    if vital.low is None and vital.high is None:
        return "" if vital.value is None else alike(min(vital.value, whole), vital.unit, like)
    if vital.high is None:
        return f"≥ {alike(vital.low, vital.unit, like)}"
    if vital.low is None or vital.low == vital.high:
        return alike(vital.high, vital.unit, like)
    high = alike(vital.high, vital.unit, like)
    low = alike(vital.low, vital.unit, like)
    return f"{low.partition(' ')[0]}–{high}"


def _whose(limit_of: str) -> str:
    """Whose limit it is; the name of an objective is that of the row."""
    return "objective" if limit_of.startswith("objective") else limit_of.partition(":")[0]


def in_a_word(whose: str) -> str:
    """Whose limit it is where there is little room: an objective, the usual, or what holds where nobody said anything."""
    if not whose or whose == "objective":
        return whose
    return "usual" if "baseline" in whose or "past" in whose else "default"


def vitals_of(diagnosis: Diagnosis) -> list[Vital]:
    """The vital signs as a person asks for them: the broken first, the worst of them on top, the unmeasured last."""
    return sorted(diagnosis.vitals, key=lambda vital: (vital.reason == NOT_MEASURED, _ORDER.index(vital.state), -vital.harm))


def with_reasons(vitals: Sequence[Vital], near: float) -> list[tuple[Vital, str]]:
    """Vital signs with their reasons; one that several in a row share stands once, below the last of them."""
    told: list[tuple[Vital, str]] = []
    for _, group in groupby(vitals, key=lambda vital: (vital.state, vital_reading(vital, near).reason)):
        alike = list(group)
        reason = vital_reading(alike[-1], near).reason
        told += [(vital, "") for vital in alike[:-1]]
        told.append((alike[-1], f"all {len(alike)}: {reason}" if reason and len(alike) > 1 else reason))
    return told


def vital_evidence(vital: Vital, diagnosis: Diagnosis) -> Evidence:
    """A vital sign as a piece of evidence, for what draws curves; a broken one has the signal that it was read from."""
    symptom = next((one for one in diagnosis.symptoms if (one.name, one.evidence.subject) == (vital.name, vital.subject)), None)
    return Evidence(
        signal=symptom.evidence.signal if symptom else vital.name,
        subject=vital.subject,
        stat=symptom.evidence.stat if symptom else "",
        value=vital.value,
        low=vital.low,
        high=vital.high,
        unit=vital.unit,
        op="<" if vital.name in FLOORS else ">",
        threshold=vital.limit,
        threshold_of=vital.limit_of,
        baseline=vital.baseline,
        verdict=_VERDICTS[vital.state],
        since=vital.since,
        until=vital.until,
        text=vital.reason if vital.state is Promised.OPEN else "",
        query=vital.query,
        derived_from=vital.derived_from,
        spark=vital.spark,
    )


def lasted(since: float | None, until: float | None, near: float) -> str:
    """Since when, from when to when, or at what moment; empty if nobody knows."""
    if until is None:
        return "" if since is None else f"since {clock(since, near)}"
    if since is not None and until - since < 1.0:
        return f"at {clock(since, near)}"
    return f"until {clock(until, near)}" if since is None else f"{clock(since, near)} to {clock(until, near)}"


def shortened(text: str, most: int) -> str:
    """A text of no more than so many characters, cut between words where that is possible."""
    if len(text) <= most:
        return text
    cut = text[: most - 1]
    space = cut.rfind(" ")
    return f"{cut[: space if space > most * 3 // 4 else most - 1].rstrip()}…"


def layer_told(view: LayerView) -> str:
    """What is known of a layer, with how many of its kinds could be judged where that is not all of them."""
    known = view.ruled_out + len(view.findings)
    total = known + view.not_evaluated
    if view.state is LayerState.PARTLY:
        return f"{LAYER_WORDS[view.state]} ({known} of {total})"
    if view.state is LayerState.CLEARED:
        return f"{LAYER_WORDS[view.state]} (all {total})" if total else LAYER_WORDS[view.state]
    return LAYER_WORDS[view.state]


def against(finding: Finding, near: float) -> str:
    """What a finding should have brought about, was measured and is not there, as one sentence; empty if nothing."""
    told = "; ".join(f"{noun_of(e)} is {read.compared}" for e in finding.contradicts for read in [reading(e, near)])
    return f"Speaks against it: {told}." if told else ""


def is_told(evidence: Evidence) -> bool:
    """Whether it is an event or something odd, which is counted, not measured."""
    return evidence.signal.startswith(_TOLD)


def noun_of(evidence: Evidence) -> str:
    """What was measured as a noun phrase; what an event or something odd says, or what was asked of it."""
    signal = catalogue().get(evidence.signal)
    return signal.noun if signal is not None else evidence.phrase or _asked(evidence)


_SOURCES = {
    "event:log": "log line",
    "event:said": "log line",
    "event:residue": "log line that no rule understands",
    "event:xid": "Xid",
    "event:kube": "cluster event",
    "event:metric": "metric",
    "event:drift": "setting other than meant",
    "event:engine-args": "arguments of a start",
    "observed:promise": "broken promise",
    "observed:shift": "shift",
    "observed:life": "turn of a life",
    "observed:said": "log line",
    "observed:identity": "difference in what runs",
    "observed:instrument": "failing instrument",
    "observed:change": "change",
    "observed:driver": "driver of the load",
    "observed:coincides": "coincidence",
    "observed:outlier": "part that stands out",
}
"""What an event or an observation is called where none was seen."""


def _asked(evidence: Evidence) -> str:
    """What was looked for and not seen, or what a fact is about."""
    name = _SOURCES.get(evidence.signal) or evidence.signal.partition(":")[2].replace("_", " ").replace("-", " ")
    asked = [catalogue()[one].noun if one in catalogue() else one.replace("-", " ") for one in evidence.stat.split(", ") if one]
    return f"{name} ({', '.join(asked)})" if asked else name


def _says_no_more(evidence: Evidence) -> bool:
    """Whether the text of something odd says what its phrase says, in the words of rules."""
    return bool(evidence.phrase) and evidence.signal in _OUR_WORDS


_OUR_WORDS = frozenset({"observed:driver", "observed:coincides", "observed:outlier", "observed:instrument", "observed:shift"})
"""Observations whose text is no line that somebody wrote."""


def place(finding: Finding) -> str:
    """Cause, layer and scale in one phrase."""
    return f"{finding.cause.value} cause, {finding.layer.value} layer, {finding.scale.value} scale"


def began(finding: Finding, near: float) -> str:
    """When the finding began, and when it was over."""
    return lasted(finding.onset, finding.until, near) or "since an unknown time"


def no_later(by: float | None, finding: Finding, near: float) -> str:
    """By when a finding had begun; with ``≤`` where it began between two looks. Empty if nobody knows."""
    if by is None:
        return ""
    return clock(by, near) if finding.onset_low is None else f"≤ {clock(by, near)}"


def late_words(late: float) -> str:
    """Why a cause stands at a later time than what follows from it."""
    return f"shows itself {duration(late)} later than what follows from it"


def window(diagnosis: Diagnosis) -> str:
    """The window that was judged, and the time it was compared with."""
    span = diagnosis.window
    text = f"{clock(span.start)} to {clock(span.end, span.start)} UTC ({duration(span.end - span.start)})"
    kept = span.baseline_end
    before = (span.start if kept is None else kept) - span.baseline_start
    if before <= 0:
        return f"{text}, nothing before it to compare with"
    until = "" if kept is None or kept >= span.start else f" {clock(kept, span.start)}, when all was well"
    return f"{text}, compared with {duration(before)} before{until}"


def counted(count: int, noun: str) -> str:
    """``1 rule``, ``2 rules``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def queries(findings: Iterable[Finding]) -> list[tuple[str, str]]:
    """Ways to look at the evidence by hand, each once: what it shows (empty for a command) and the line to run.

    A query gives the very value that stands beside it; where no single one does, what the value was derived from is looked at.
    """
    lines: dict[str, str] = {}
    for finding in findings:
        for evidence in finding.evidence:
            what = f"{_what(evidence)} of {evidence.who or named(evidence.subject)}: {_measured(evidence)[0]}"
            if evidence.query:
                lines.setdefault(evidence.query, what)
            lead = f"{what}, derived; "
            for one in inputs_of(evidence):
                lines.setdefault(one.query, f"{lead}input: {catalogue()[one.signal].noun} of {named(one.subject)} (mean)")
                lead = ""
        for command in finding.check:
            lines.setdefault(command, "")
    return [(what, line) for line, what in lines.items()]


def inputs_of(evidence: Evidence) -> tuple[Input, ...]:
    """What a value that no single query gives was derived from."""
    return () if evidence.query else evidence.derived_from


@dataclass(frozen=True, slots=True)
class Gap:
    """Something to do, and the kinds that could be judged better then.

    :param how: what to do
    :param rules: the kinds, in the order of the diagnosis
    """

    how: str
    rules: tuple[NotEvaluated, ...]


def is_refused(diagnosis: Diagnosis) -> bool:
    """Whether a source that was named failed and nothing that users notice is known: that is to be mended, the rest can wait."""
    failed = any(source.state == "failed" for source in diagnosis.coverage.sources)
    return failed and not any(vital.state is Promised.KEPT and vital.noticed for vital in diagnosis.vitals)


def poor_source(diagnosis: Diagnosis) -> SourceView | None:
    """The source that was named and failed, or brought what nobody understands, where nothing that users notice is known."""
    if any(vital.state is Promised.KEPT and vital.noticed for vital in diagnosis.vitals):
        return None
    told = [source for source in diagnosis.coverage.sources if source.state in ("failed", "partial") and source.reason]
    return min(told, key=lambda source: source.state != "failed", default=None)


def gaps(not_evaluated: Sequence[NotEvaluated]) -> list[Gap]:
    """What to do so that more kinds can be judged; what helps most of them comes first."""
    groups: dict[str, list[NotEvaluated]] = {}
    for one in not_evaluated:
        for how in _ways(one.how_to_get) or ["no way is known to get what is missing"]:
            groups.setdefault(how, []).append(one)
    return sorted((Gap(how, tuple(group)) for how, group in groups.items()), key=lambda gap: -len(gap.rules))


_PARENTHESES = re.compile(r"[()]")


def _ways(text: str) -> list[str]:
    """The parts of a text between semicolons that stand in no parentheses."""
    parts: list[str] = []
    depth = 0
    for piece in text.split(";"):
        if depth:
            parts[-1] += f";{piece}"
        else:
            parts.append(piece)
        for sign in _PARENTHESES.findall(piece):
            depth = max(depth + (1 if sign == "(" else -1), 0)
    return list(dict.fromkeys(part.strip() for part in parts if part.strip()))


def decider(ruled_out: RuledOut, near: float) -> Reading | None:
    """The measured value that decides that a kind is not there; None if there is none, only silence."""
    known = [one for one in ruled_out.evidence if one.verdict is not Verdict.UNKNOWN and one.value is not None]
    seen = [one for one in known if not is_told(one) or one.value]
    return reading(seen[0], near) if seen else None


def unusable(diagnosis: Diagnosis, most: int) -> list[str]:
    """Signals whose data could not be trusted, by why: ``12 signals are stale and were not used: why (which)``."""
    groups: dict[tuple[str, str], list[str]] = {}
    for one in diagnosis.coverage.signals:
        if one.state in ("stale", "out_of_range"):
            known = catalogue().get(one.signal)
            groups.setdefault((one.state.replace("_", " "), one.reason), []).append(known.noun if known else one.signal)
    return [_unused(names, state, reason, most) for (state, reason), names in groups.items()]


def _unused(names: Sequence[str], state: str, reason: str, most: int) -> str:
    """Signals that share the reason for which they were not used."""
    why = f": {reason}" if reason else ""
    if len(names) == 1:
        return f"{names[0]} is {state} and was not used{why}"
    return f"{len(names)} signals are {state} and were not used{why} ({listed(names, most)})"


def silent(count: int, sources: Sequence[SourceView] = ()) -> str:
    """Of how many kinds no sign was seen, and in how much; empty if there are none."""
    if not count:
        return ""
    files = [name for source in sources for name in source.files]
    lines = sum(source.lines for source in sources)
    seen = f", among them {counted(lines, 'line')} of {listed(files, _FILES)}" if files else ""
    return f"{counted(count, 'kind')} more: none of their signs was seen where they would show{seen}"


def greps(one: RuledOut) -> list[str]:
    """Commands that look by hand for the lines of which none was seen, each once: in the files, and where lines are kept."""
    told = [evidence for evidence in one.evidence if is_told(evidence)]
    return list(dict.fromkeys(line for each in told for line in (each.query, each.at_source) if line))


def first_way(text: str) -> str:
    """The first of several things to do."""
    return next(iter(_ways(text)), "")


def facts(diagnosis: Diagnosis) -> str:
    """What the service is: engine and version, model, card; empty if nobody said."""
    known = {key: _told(value) for key, value in diagnosis.facts.items()}
    engine = f"{known.get('engine', '')} {known.get('engine_version', '')}".strip()
    return ", ".join(part for part in (engine, known.get("model", ""), known.get("gpu_model", "")) if part)


def all_facts(diagnosis: Diagnosis) -> list[tuple[str, str]]:
    """Every fact of the service, by key."""
    return sorted((key, _told(value)) for key, value in diagnosis.facts.items())


def _told(value: str | float) -> str:
    """A fact's value as text."""
    return value if isinstance(value, str) else number(value)


def _what(evidence: Evidence) -> str:
    """What was measured, with its statistic; of events the names that count."""
    name = noun_of(evidence)
    if not evidence.stat or evidence.lasting is not None or is_told(evidence):
        return name
    return f"{name} {evidence.stat}" if evidence.stat in _QUANTILES else f"{name} ({stat_of(evidence)})"


def stat_of(evidence: Evidence) -> str:
    """The statistic as what it is: ``highest 47 s mean`` for a peak."""
    word = _EXTREMES.get(evidence.stat)
    return evidence.stat if word is None or evidence.moment is None else f"{word} {duration(evidence.moment)} mean"


def id_of(evidence: Evidence) -> str:
    """Name in the vocabulary and statistic, as rules and JSON have them: for details, and to be searched for."""
    return f"{evidence.signal} {evidence.stat}".rstrip() if not is_told(evidence) else evidence.signal


def _measured(evidence: Evidence) -> tuple[str, str]:
    """What was measured and what it was held against."""
    if evidence.op == "gone":
        return ("no longer measured" if evidence.verdict is Verdict.PRESENT else "still measured", "")
    if evidence.signal.startswith("fact:") or evidence.op == "=~":
        return ("" if evidence.value is None else quantity(evidence.value, evidence.unit), "")
    if is_told(evidence):
        return _seen(evidence)
    value, threshold = compared(evidence.value, evidence.threshold, evidence.unit)
    if evidence.low is not None or evidence.high is not None:
        value = interval(evidence.low, evidence.high, evidence.unit)
    if evidence.lasting is not None:
        held = "" if evidence.held is None else f" (held for {duration(evidence.held)})"
        return f"{value} overall,", f"{_test(evidence, threshold)} for {duration(evidence.lasting)}{held}"
    return value, _test(evidence, threshold)


def _limit(one: Limit, evidence: Evidence) -> str:
    """A further limit of the same value, in the value's unit."""
    threshold = quantity(one.threshold, "" if is_told(evidence) else evidence.unit, like=evidence.value)
    why = f" ({limit_in_words(one.threshold_of)})" if one.threshold_of else ""
    return f"{_OPS.get(one.op, one.op)} {threshold}{why}"


def _seen(evidence: Evidence) -> tuple[str, str]:
    """How many events there were, and the bound if it is more than whether there were any."""
    if evidence.value is None:
        return NO_DATA, ""
    seen = "none seen" if evidence.value == 0 else f"{quantity(evidence.value, '')} seen"
    if evidence.value == 1 and evidence.phrase and evidence.verdict is Verdict.PRESENT:
        seen = ""
    plain = evidence.threshold in (None, 0.0, 1.0)
    return seen, "" if plain else _test(evidence, quantity(evidence.threshold, ""))


def _test(evidence: Evidence, threshold: str) -> str:
    """The comparison in words, so that it reads true whatever the verdict."""
    if not evidence.op or evidence.threshold is None:
        return ""
    text = f"{_OPS.get(evidence.op, evidence.op)} {threshold}"
    if evidence.verdict is Verdict.ABSENT:
        return f"not {text}"
    undecided = evidence.verdict is Verdict.UNKNOWN and evidence.value is not None
    return f"may be {text}" if undecided else text


def muted_line(one: Muted) -> str:
    """Why and until when a kind is muted, whether it was found, and that a mute that has expired is not heeded."""
    until = f"{clock(one.until)} UTC"
    found = "it was found" if one.found else "it was not found"
    if one.state == "expired":
        return f"{one.rule}: the mute ended at {until} and is not heeded ({one.reason}); {found}"
    return f"{one.rule} is muted until {until}: {one.reason}; {found}"


def judged_with(diagnosis: Diagnosis) -> str:
    """Version and rule set of an answer, and what of it is the user's own; empty if nobody says."""
    told = diagnosis.ruleset
    if told is None:
        return ""
    own = f"; your own: {', '.join(told.own)}" if told.own else ""
    replaced = f"; yours instead of shipped ones: {', '.join(told.replaced)}" if told.replaced else ""
    return f"triage {told.version}, rule set {told.digest}{own}{replaced}"

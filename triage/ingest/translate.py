"""From a source's samples to signals: finds the dialect of each metric, the subject of each series, and does the arithmetic."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from triage.ingest.aggregates import summed_ratios
from triage.ingest.exporter_xids import exporter_xids
from triage.ingest.identity import lost_labels
from triage.ingest.lifetimes import metric_events
from triage.ingest.naming import GENERIC, Group, Index, Use, Ways, index_names, is_engine_name
from triage.ingest.rates import bucket_rates, combined, sample_step, to_rates
from triage.ingest.raw import RawSeries
from triage.ingest.strays import Homes
from triage.ingest.subjects import NODE_LABELS, POD_LABELS, Selection, first, select
from triage.model.dialect import Dialect, Entry
from triage.model.recording import Fact, Floats, Histogram, Origin, Recording, Series, Source, SourceState, Subject, Window
from triage.model.service import Service
from triage.model.vocabulary import Combine, Kind, Scope, catalogue

_TOLERANCE = 0.02
"""A ratio may be this much above 1: exporters round, and rates of two counters are not taken at one instant."""

PATIENCE_STEPS = 2.5
"""A sample speaks for this many scrape intervals: one missed scrape is bridged, two are a gap."""


def translate(series: Iterable[RawSeries], dialects: Sequence[Dialect], service: Service, window: Window) -> Recording:
    """The recording that a source's samples make of one service.

    Series of other services are left out; a metric that no dialect knows is left out, too. Values out of their unit's range
    are left out and said so.
    """
    dialects = [own_dialect(service), *dialects] if service.signals else list(dialects)
    series = [one for one in series if len(one.times)]
    index = index_names(dialects)
    selection = select(series, service, lambda name: is_engine_name(index, name))
    step = _usual_step(series)
    slots, facts = _grouped(series, index, selection, window.start)
    maker = _Maker(window, step)
    for ways in slots.values():
        maker.make(_best(ways))
    problems = [] if selection.named else [f"nothing in the data says which series belong to {service.name}"]
    return Recording(
        service=service.name,
        window=window,
        series=tuple(sorted(maker.series, key=lambda s: (s.signal, s.subject))),
        histograms=tuple(sorted(maker.histograms, key=lambda h: (h.signal, h.subject))),
        events=(
            *metric_events(slots.values(), window, step),
            *lost_labels(series, selection, window, step),
            *summed_ratios(series, index, maker.series, window),
            *exporter_xids(maker.series, window, step),
        ),
        facts=tuple(facts + [Fact(Subject(Scope.SERVICE, service.name), key, value) for key, value in service.facts.items()]),
        links=_links(series, selection),
        objectives=dict(service.objectives),
        problems=tuple(problems + maker.problems),
        rejected=maker.rejected,
        step=step,
    )


def own_dialect(service: Service) -> Dialect:
    """The service's own metric names as a dialect."""
    kinds = {Kind.RATE: "counter", Kind.DISTRIBUTION: "histogram"}
    entries = [
        {"names": [metric], "type": kinds.get(catalogue()[signal].kind, "gauge"), "signal": signal}
        for signal, metric in service.signals.items()
    ]
    return Dialect.model_validate({"name": "service", "title": service.name, "scope": "client", "metrics": entries})


def _usual_step(series: Sequence[RawSeries]) -> float:
    """The scrape interval, seconds: the median over a sample of the series; 15 if nothing can be learnt."""
    steps = [step for one in series[:: max(1, len(series) // 200)] if (step := sample_step(one.times)) > 0]
    return float(np.median(steps)) if steps else 15.0


def _grouped(
    series: Sequence[RawSeries], index: Index, selection: Selection, until: float
) -> tuple[dict[tuple[str, Subject], Ways], list[Fact]]:
    """Series by signal and subject, and the facts that labels hold.

    :param until: Unix seconds up to which things are as usual
    """
    homes: dict[int, Homes] = {}
    targets = _target_dialects(series, index)
    groups: dict[tuple[str, Subject], Ways] = {}
    facts: dict[tuple[Subject, str], tuple[float, Fact]] = {}
    order: dict[int, int] = {}
    for one in series:
        for use in _uses(one, index, targets):
            subject = _subject(one.labels, use, selection)
            if subject is None or not _matches(one.labels, use.entry):
                continue
            if use.entry.facts or use.entry.value_fact:
                _note_facts(one, use, subject, facts)
            if use.entry.signal:
                entry_order = order.setdefault(id(use.entry), len(order))
                slots = groups.setdefault((use.entry.signal, subject), {})
                group = slots.setdefault((entry_order, use.rank), Group(use, subject))
                group.parts.append((use, _counting(one, use.entry, series, index, homes, until)))
    return groups, [fact for _, fact in facts.values()]


def _counting(
    one: RawSeries, entry: Entry, series: Sequence[RawSeries], index: Index, homes: dict[int, Homes], until: float
) -> RawSeries:
    """A series as its entry counts it: where only strays count, any other one counts nothing."""
    if not entry.asked:
        return one
    if id(entry) not in homes:
        same = [other for other in series if any(use.entry is entry for use in index.get(other.name, ()))]
        homes[id(entry)] = Homes((other for other in same if _matches(other.labels, entry)), entry.asked, entry.served, until)
    return homes[id(entry)].strays(one)


def _best(ways: Ways) -> Group:
    """Of several ways to the same signal of a subject the one that reaches furthest, then the dialect's first, the newest name.

    A name that ended early (a rename at an upgrade) must not win over the one that goes on.
    """

    def merit(key: tuple[int, int]) -> tuple[float, int, int]:
        newest = max(float(one.times[-1]) for _, one in ways[key].parts)
        return (-round(newest / 120.0), key[0], key[1])

    return ways[min(ways, key=merit)]


def _target_dialects(series: Sequence[RawSeries], index: Index) -> dict[tuple[str, str], str]:
    """(job, instance) -> the dialect that most of the target's own metrics speak."""
    votes: dict[tuple[str, str], Counter[str]] = {}
    for one in series:
        uses = index.get(one.name, ())
        names = {use.dialect.name for use in uses}
        if len(names) == 1 and not GENERIC.match(one.name):
            target = (one.labels.get("job", ""), one.labels.get("instance", ""))
            votes.setdefault(target, Counter())[next(iter(names))] += 1
    return {target: min(counts, key=lambda name: (-counts[name], name)) for target, counts in votes.items()}


def _uses(one: RawSeries, index: Index, targets: Mapping[tuple[str, str], str]) -> list[Use]:
    """The readings of a series that apply: of several dialects, or of a generic name, the one of its own target."""
    uses = index.get(one.name, ())
    if not uses:
        return []
    claimed = {use.dialect.name for use in uses}
    if "service" in claimed:
        return [use for use in uses if use.dialect.name == "service"] + [use for use in uses if use.dialect.name != "service"]
    if len(claimed) == 1 and not GENERIC.match(one.name):
        return list(uses)
    job = one.labels.get("job", "")
    speaks = targets.get((job, one.labels.get("instance", "")))
    spoken = [use for use in uses if use.dialect.name == speaks]
    if spoken:
        return spoken
    by_job = [use for use in uses if use.dialect.jobs and _pattern(use.dialect.jobs).fullmatch(job)]
    if by_job:
        return by_job
    return [use for use in uses if not use.dialect.jobs and use.dialect.scope is not Scope.REPLICA] if speaks is None else []


@lru_cache(maxsize=4096)
def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text)


def _matches(labels: Mapping[str, str], entry: Entry) -> bool:
    """Whether a series passes the entry's label conditions."""
    for label, wanted in entry.where.items():
        negated = wanted.startswith("!")
        if bool(_pattern(wanted.removeprefix("!")).fullmatch(labels.get(label, ""))) == negated:
            return False
    return True


def _subject(labels: Mapping[str, str], use: Use, selection: Selection) -> Subject | None:
    """Whom a series is about; None if it is none of the service's business."""
    scope = use.entry.scope or (catalogue()[use.entry.signal].scope if use.entry.signal else use.dialect.scope)
    identity = use.dialect.identity.get(scope, ())
    match scope:
        case Scope.REPLICA:
            return selection.replica(labels, identity if use.dialect.scope is not Scope.REPLICA else ())
        case Scope.GPU:
            return selection.gpu(labels)
        case Scope.NODE:
            return selection.node(labels)
        case Scope.GATEWAY:
            return selection.gateway(labels, identity)
        case Scope.CLIENT:
            return selection.client(labels)
        case Scope.SERVICE:
            return selection.owned(labels)
        case Scope.TARGET:
            return selection.target(labels)


def _note_facts(one: RawSeries, use: Use, subject: Subject, facts: dict[tuple[Subject, str], tuple[float, Fact]]) -> None:
    """Keeps the facts of an info metric. A restart with other settings begins a new series: the one that was seen last holds."""
    for label, key in use.entry.facts.items():
        value = one.labels.get(label)
        if value and value != "None":
            _note(facts, one, Fact(subject, key, _number(value), use.dialect.name))
    if use.entry.value_fact:
        value_now = float(one.values[-1]) * use.entry.scale + use.entry.offset
        _note(facts, one, Fact(subject, use.entry.value_fact, value_now, use.dialect.name))


def _note(facts: dict[tuple[Subject, str], tuple[float, Fact]], one: RawSeries, fact: Fact) -> None:
    """Keeps a fact unless a later sample says otherwise."""
    key, time = (fact.subject, fact.key), float(one.times[-1])
    known = facts.get(key)
    if known is None or (known[0], str(known[1].value)) <= (time, str(fact.value)):
        facts[key] = time, fact


def _number(text: str) -> str | float:
    """A number if the text is one, else the text."""
    try:
        return float(text)
    except ValueError:
        return text


def _links(series: Sequence[RawSeries], selection: Selection) -> dict[Subject, tuple[Subject, ...]]:
    """Which replica runs on which node, which card belongs to which replica and node."""
    links: dict[Subject, set[Subject]] = {}
    for pod in selection.pods:
        if node := selection.node_of.get(pod):
            links.setdefault(Subject(Scope.REPLICA, pod), set()).add(Subject(Scope.NODE, node))
    for one in series:
        if not ("UUID" in one.labels or "gpu_uuid" in one.labels or "uuid" in one.labels):
            continue
        card = selection.gpu(one.labels)
        if card is None or card in links:
            continue
        pod, node = first(one.labels, POD_LABELS[:4]), first(one.labels, NODE_LABELS)
        places = links.setdefault(card, set())
        if pod in selection.pods:
            places.add(Subject(Scope.REPLICA, pod))
        if node:
            places.add(Subject(Scope.NODE, node))
    return {subject: tuple(sorted(places)) for subject, places in links.items() if places}


class _Maker:
    """Turns groups of series into signals and keeps what was strange."""

    def __init__(self, window: Window, step: float) -> None:
        self.window = window
        self.patience = PATIENCE_STEPS * step
        self.series: list[Series] = []
        self.histograms: list[Histogram] = []
        self.problems: list[str] = []
        self.rejected: dict[str, str] = {}

    def make(self, group: Group) -> None:
        """Adds the series or histogram of one group."""
        if group.use.entry.type == "histogram":
            histogram = self._histogram(group)
            if histogram is not None:
                self.histograms.append(histogram)
            return
        times, values = self._values(group)
        if not len(times):
            return
        entry = group.use.entry
        values = values * entry.scale + entry.offset
        if self._in_range(group, values):
            self.series.append(Series(entry.signal, group.subject, times, values, _origin(group)))

    def _values(self, group: Group) -> tuple[Floats, Floats]:
        """Combined samples of the group in the source's unit."""
        entry = group.use.entry
        counter = entry.type == "counter"
        parts = [self._rates(one, group) if counter and not one.rate else (one.times, one.values) for _, one in group.parts]
        parts = [(times, _flags(values, entry)) for times, values in parts if len(times)]
        if not parts:
            return np.empty(0), np.empty(0)
        how = entry.combine or catalogue()[entry.signal].combine
        return combined(parts, how, rates=counter, patience=self.patience)

    def _rates(self, one: RawSeries, group: Group) -> tuple[Floats, Floats]:
        """Rates of one counter, counted from 0 if it appeared later than its siblings, which live on beside it."""
        start = min(float(other.times[0]) for _, other in group.parts)
        end = max(float(other.times[-1]) for _, other in group.parts if other is not one) if len(group.parts) > 1 else 0.0
        born_later = one.times[0] - start > self.patience and end > one.times[0] + self.patience
        if born_later:
            born = one.times[0] - self.patience / PATIENCE_STEPS
            return to_rates(np.concatenate(([born], one.times)), np.concatenate(([0.0], one.values)))
        return to_rates(one.times, one.values)

    def _in_range(self, group: Group, values: Floats) -> bool:
        """Whether the values can be what the signal means; if not, says so."""
        signal = catalogue()[group.use.entry.signal]
        if signal.kind is Kind.RATIO:
            np.minimum(values, signal.high, out=values, where=values <= signal.high + _TOLERANCE)
        broken = (values < signal.low) | (values > signal.high)
        if not broken.any():
            return True
        worst = float(values[broken][0])
        span = f"between {signal.low:g} and {signal.high:g} {signal.unit}".rstrip()
        self.rejected[signal.name] = (
            f"{group.use.dialect.title} says {worst:g} where {signal.name} lies {span}: wrong unit or broken reading"
        )
        self.problems.append(self.rejected[signal.name])
        return False

    def _histogram(self, group: Group) -> Histogram | None:
        """One distribution out of the buckets, sums and counts of the group."""
        by_bound: dict[float, list[tuple[Floats, Floats]]] = {}
        sums: list[tuple[Floats, Floats]] = []
        counts: list[tuple[Floats, Floats]] = []
        for use, one in group.parts:
            samples = (one.times, one.values) if one.rate else to_rates(one.times, one.values)
            if not len(samples[0]):
                continue
            if use.part == "bucket":
                by_bound.setdefault(_bound(one.labels.get("le", "")), []).append(samples)
            elif use.part == "sum":
                sums.append(samples)
            elif use.part == "count":
                counts.append(samples)
        by_bound.pop(float("nan"), None)
        if np.inf not in by_bound and counts:
            by_bound[np.inf] = counts
        if np.inf not in by_bound:
            return None
        return self._from_buckets(group, by_bound, sums)

    def _from_buckets(
        self, group: Group, by_bound: dict[float, list[tuple[Floats, Floats]]], sums: list[tuple[Floats, Floats]]
    ) -> Histogram:
        """A histogram on the times of its total count."""
        entry = group.use.entry
        bounds = sorted(by_bound)
        rows = {bound: combined(by_bound[bound], Combine.SUM, rates=True, patience=self.patience) for bound in bounds}
        times = rows[np.inf][0]
        cumulative = np.stack([_on(times, *rows[bound]) for bound in bounds])
        total = (
            _on(times, *combined(sums, Combine.SUM, rates=True, patience=self.patience)) if sums else np.full(len(times), np.nan)
        )
        return Histogram(
            entry.signal,
            group.subject,
            times,
            np.array(bounds) * entry.scale,
            bucket_rates(np.maximum.accumulate(cumulative, axis=0)),
            total * entry.scale,
            _origin(group),
        )


def _bound(text: str) -> float:
    """A bucket's upper bound; NaN if the label is broken."""
    try:
        return float(text)
    except ValueError:
        return float("nan")


def _on(times: Floats, own: Floats, values: Floats) -> Floats:
    """Values on other times: 0 where a bucket has no sample (it was not there yet)."""
    if len(own) == len(times) and (own == times).all():
        return values
    index = np.searchsorted(own, times).clip(0, max(len(own) - 1, 0))
    return np.where(own[index] == times, values[index], 0.0)


def _flags(values: Floats, entry: Entry) -> Floats:
    """Values of a state as 1 and 0 where the entry asks for a number or a bit."""
    if entry.one_if is not None:
        return np.where(values == entry.one_if, 1.0, 0.0)
    if entry.bit is not None:
        return np.where((values.astype(np.int64) & entry.bit) != 0, 1.0, 0.0)
    return values


def _origin(group: Group) -> Origin:
    """Where the group's series came from, with a selector that finds them again."""
    entry = group.use.entry
    sample = group.parts[0][1]
    name = sample.name
    if entry.type == "histogram":
        name = name.removesuffix("_" + group.parts[0][0].part)
    return Origin(group.use.dialect.name, name, _selector(name, group), entry.type == "counter", entry.scale)


def _selector(name: str, group: Group) -> str:
    """PromQL selector of a group: the labels that all its series share."""
    shared = dict(group.parts[0][1].labels)
    for _, one in group.parts[1:]:
        shared = {label: value for label, value in shared.items() if one.labels.get(label) == value}
    telling = (
        "service",
        "pod",
        "replica",
        "instance",
        "job",
        "node",
        "Hostname",
        "UUID",
        "gpu",
        "deployment",
        "envoy_cluster_name",
    )
    keep = {label: value for label, value in shared.items() if label in telling or label in group.use.entry.where}
    if "pod" in keep or "replica" in keep:
        keep.pop("instance", None)
    inner = ",".join(f'{label}="{_escaped(value)}"' for label, value in sorted(keep.items()))
    return f"{name}{{{inner}}}" if inner else name


def _escaped(value: str) -> str:
    """A label value inside a PromQL string."""
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def with_source(recording: Recording, name: str) -> Recording:
    """The recording, saying that a source brought it, or that it brought nothing."""
    found = bool(recording.series or recording.histograms)
    reason = "" if found else f"no metric that triage knows belongs to {recording.service}"
    source = Source(name, SourceState.OK if found else SourceState.ABSENT, reason)
    return replace(recording, sources=(*recording.sources, source))

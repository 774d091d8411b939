"""From a source's samples to signals: finds the dialect of each metric, the subject of each series, and does the arithmetic."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import compress
from math import isfinite
from typing import cast

from triage.ingest.logs.engine_facts import ARGUMENTS
from triage.ingest.logs.loading import Signatures, load_signatures
from triage.ingest.metrics.aggregates import summed_ratios
from triage.ingest.metrics.assemble import Assembler
from triage.ingest.metrics.conditions import fits, matches
from triage.ingest.metrics.cores import missing_cores
from triage.ingest.metrics.exporter_xids import exporter_xids
from triage.ingest.metrics.lifetimes import metric_events
from triage.ingest.metrics.naming import GENERIC, OWN, Column, Index, Use, index_names, speaker
from triage.ingest.metrics.rates import sample_step
from triage.ingest.misrouting import Homes
from triage.ingest.owners.identity import lost_labels
from triage.ingest.owners.parts import Engines
from triage.ingest.owners.places import first, host, own_target
from triage.ingest.owners.subjects import Selection, select
from triage.ingest.owners.traits import replica_traits
from triage.ingest.raw import Layout, Layouts, Metric, RawSeries, metrics_of
from triage.model.arrays import median
from triage.model.dialect import Dialect, Entry, Type
from triage.model.recording import Fact, Panel, Recording, Source, SourceState, Subject, Window
from triage.model.service import Service
from triage.model.vocabulary import Kind, Scope, catalogue


def translate(
    series: Iterable[RawSeries],
    dialects: Sequence[Dialect],
    service: Service,
    window: Window,
    signatures: Signatures | None = None,
) -> Recording:
    """The recording that a source's samples make of one service.

    Series of other services are left out; a metric that no dialect knows is left out, too. Values out of their unit's range
    are left out and said so.

    :param signatures: what Xids mean; the shipped ones if not given
    """
    dialects = [own_dialect(service), *dialects] if service.signals else list(dialects)
    series = _in_order(one for one in series if len(one.times))
    index = index_names(dialects)
    speakers = {name: speaker(index, name) for name in {one.name for one in series}}
    selection = select(series, service, speakers.__getitem__)
    step = _usual_step(series)
    metrics = metrics_of(series, Layouts())
    found = _Reading(metrics, index, selection, window.start, step)
    made = Assembler(metrics, step)
    made.add(found.columns)
    signals = made.series
    panels = [cast("Panel", panel) for panel in signals.panels]
    traits = replica_traits(series, selection, speakers.__getitem__, found.facts)
    problems = [] if selection.named else [f"nothing in the data says which series belong to {service.name}"]
    return Recording(
        service=service.name,
        window=window,
        series=signals,
        histograms=made.histograms,
        events=(
            *metric_events(found.columns, window, step),
            *lost_labels(series, selection, window, step),
            *summed_ratios(series, index, panels, window),
            *exporter_xids(panels, found.columns, window, step, (signatures or load_signatures()).xids),
            *missing_cores(metrics, index, selection, window),
            *made.faults,
        ),
        facts=(
            *found.facts,
            *found.languages,
            *traits,
            *(Fact(Subject(Scope.SERVICE, service.name), key, value) for key, value in declared(service).items()),
        ),
        links=found.links,
        routes=found.routes,
        strangers=_strangers(selection, found.gateways),
        objectives=dict(service.objectives),
        problems=(*problems, *selection.places.problems, *made.problems),
        rejected=made.rejected,
        step=step,
    )


_ANY = ".*"
"""Names of jobs of a dialect that programs of any name speak."""

_MOST_STRANGERS = 2000
"""More names of others than this are not kept."""


def _strangers(selection: Selection, gateways: Collection[str]) -> tuple[str, ...]:
    """Names of services and pods that are neither the service's nor in front of it nor exporters."""
    known = selection.places.pods | selection.rivals | selection.others
    ours = selection.pods | selection.places.exporters | {selection.service.name, *gateways}
    return tuple(sorted(known - ours)[:_MOST_STRANGERS]) if selection.named else ()


def declared(service: Service) -> dict[str, str | float]:
    """What is said of a service, with each engine's own name of a setting (``max_running_requests``) also as the common one."""
    common = {ARGUMENTS[key]: value for key, value in service.facts.items() if key in ARGUMENTS and key != "model"}
    return {**common, **service.facts}


def own_dialect(service: Service) -> Dialect:
    """The service's own metric names as a dialect."""
    kinds: dict[Kind, Type] = {Kind.RATE: "counter", Kind.DISTRIBUTION: "histogram"}
    entries = [
        Entry(names=(metric,), type=kinds.get(catalogue()[signal].kind, "gauge"), signal=signal)
        for signal, metric in service.signals.items()
    ]
    return Dialect(name=OWN, title=service.name, scope=Scope.CLIENT, metrics=tuple(entries))


def _in_order(series: Iterable[RawSeries]) -> list[RawSeries]:
    """Series by name and labels, however they came: sums of floating-point numbers depend on it.

    Series of the same labels share them as one object, so that what labels tell is found out once. Those of a server are put
    under the target that they came from. What an endpoint says of its own address is not believed.
    """
    read = list(series)
    shared: dict[tuple[tuple[str, str], ...], Mapping[str, str]] = {}
    told: dict[tuple[int, bool], Mapping[str, str]] = {}
    for which, one in {(id(one.labels), bool(one.added)): one for one in read}.items():
        labels = one.labels if one.added else own_target(one.labels)
        told[which] = shared.setdefault(tuple(sorted(labels.items())), labels)
    places = {id(shared[key]): place for place, key in enumerate(sorted(shared))}
    under = [told[id(one.labels), bool(one.added)] for one in read]
    order = sorted((one.name, places[id(labels)], number) for number, (one, labels) in enumerate(zip(read, under, strict=True)))
    return [
        read[number] if read[number].labels is under[number] else replace(read[number], labels=under[number])
        for _, _, number in order
    ]


def _usual_step(series: Sequence[RawSeries]) -> float:
    """The scrape interval, seconds: the median over a sample of the series; 15 if nothing can be learnt."""
    steps = [step for one in series[:: max(1, len(series) // 200)] if (step := sample_step(one.times)) > 0]
    return median(steps) if steps else 15.0


class _Reading:
    """What a source's series say of a service, before any arithmetic: whom each is about, facts, and what belongs to what.

    :param until: Unix seconds up to which things are as usual
    :param step: usual distance of samples, seconds
    """

    def __init__(self, metrics: Sequence[Metric], index: Index, selection: Selection, until: float, step: float) -> None:
        self._metrics, self._index, self._selection, self._until, self._step = metrics, index, selection, until, step
        self._facts: dict[tuple[Subject, str], tuple[float, Fact]] = {}
        self._homes: dict[int, Homes] = {}
        self._places: dict[tuple[Subject, Scope], tuple[float, frozenset[str]]] = {}
        self._routes: dict[Subject, set[Subject]] = {}
        self._engines = Engines()
        self.gateways: set[str] = set()
        self._targets = _target_dialects(metrics, index)
        about = _About(selection, self._engines, step)
        layouts = Layouts()
        read = [one for metric in metrics for one in about.columns(_read(metric, index, self._targets, layouts), layouts)]
        parts = [about.of_engines(column) for column in read]
        for column, of_engines in zip(read, parts, strict=True):
            self._note_labels(column, of_engines)
        self._note_all_places(read)
        measured = _without_wholes([column for column in parts if column.use.entry.signal], self._engines)
        self.columns = [self._counting(column) for column in measured]
        """What signals are made of, by name of the metric."""

    def _counting(self, column: Column) -> Column:
        """A column as its entry counts it: where only strays count, any other series counts nothing."""
        entry = column.use.entry
        if not entry.asked:
            return column
        if id(entry) not in self._homes:
            named = [metric for metric in self._metrics if any(use.entry is entry for use in self._index.get(metric.name, ()))]
            counted = [one for metric in named for one in metric.series if matches(one.labels, entry)]
            self._homes[id(entry)] = Homes(counted, entry.asked, entry.served, self._until)
        return replace(column, series=[self._homes[id(entry)].misrouted(one) for one in column.series])

    def _note_labels(self, column: Column, parts: Column) -> None:
        """Keeps what labels and limits tell: facts of a replica, and, if it is one of several, of the engine.

        :param parts: the same series, by engines
        """
        use = column.use
        if use.entry.facts or use.entry.value_fact:
            for one, whole, part in zip(column.series, column.subjects, parts.subjects, strict=True):
                self._note_facts(one, use, part)
                if use.entry.facts and whole.scope is Scope.REPLICA:
                    self._note_facts(one, use, whole)
        if use.dialect.scope is Scope.GATEWAY:
            for labels in column.layout.labels:
                self._note_route(labels, use)

    def _note_all_places(self, columns: Iterable[Column]) -> None:
        """Keeps where cards are, once for columns that tell the same."""
        told = {(column.layout, id(column.subjects)): column for column in columns if column.subjects[0].scope is Scope.GPU}
        for column in told.values():
            for labels, (_, said), card in zip(column.layout.labels, column.layout.spans, column.subjects, strict=True):
                self._note_places(labels, said, card)

    def _note_facts(self, one: RawSeries, use: Use, subject: Subject) -> None:
        """Keeps the facts of an info metric. A restart with other settings begins a new series: the last one holds."""
        for label, key in use.entry.facts.items():
            value = one.labels.get(label)
            if value and value != "None":
                self._note(one, Fact(subject, key, _typed(key, value), use.dialect.name))
        if use.entry.value_fact and one.values[-1] not in (*use.dialect.unknown, *use.entry.unknown):
            value_now = float(one.values[-1]) * use.entry.scale + use.entry.offset
            self._note(one, Fact(subject, use.entry.value_fact, value_now, use.dialect.name))

    def _note(self, one: RawSeries, fact: Fact) -> None:
        """Keeps a fact unless a later sample says otherwise."""
        key, time = (fact.subject, fact.key), float(one.times[-1])
        known = self._facts.get(key)
        if known is None or (known[0], str(known[1].value)) <= (time, str(fact.value)):
            self._facts[key] = time, fact

    def _note_places(self, labels: Mapping[str, str], said: float, card: Subject) -> None:
        """Keeps where a card is: the pods and the node that were said last."""
        places = self._selection.places
        pod, node = places.pod(labels), places.known_node(labels)
        for scope, place in ((Scope.REPLICA, pod if pod in self._selection.pods else ""), (Scope.NODE, node)):
            if place:
                latest, known = self._places.get((card, scope), (said, frozenset()))
                if said >= latest:
                    self._places[card, scope] = said, known | {place} if said == latest else frozenset({place})

    def _note_route(self, labels: Mapping[str, str], use: Use) -> None:
        """Keeps which gateways there are and to which replicas each says that it sends."""
        self.gateways.update({labels.get("pod", ""), labels.get("service", "")} - {""})
        gateway = self._selection.gateway(labels, use.dialect.identity.get(Scope.GATEWAY, ()))
        replica = self._selection.replica_at(first(labels, use.dialect.identity.get(Scope.REPLICA, ())))
        if gateway is not None and replica:
            self._routes.setdefault(gateway, set()).add(Subject(Scope.REPLICA, replica))

    @property
    def routes(self) -> dict[Subject, tuple[Subject, ...]]:
        """Which replicas each gateway sends to."""
        return {gateway: tuple(sorted(self._routes[gateway])) for gateway in sorted(self._routes)}

    @property
    def facts(self) -> list[Fact]:
        """The facts that labels and limits hold."""
        return [fact for _, fact in self._facts.values()]

    @property
    def languages(self) -> list[Fact]:
        """Which dialect each target speaks that is neither a replica nor another service's; empty if nothing is read of it."""
        jobs = sorted({(use.dialect.name, use.dialect.jobs) for uses in self._index.values() for use in uses if use.dialect.jobs})
        told = {}
        columns = [column for column in self.columns if _scope(column.use) is Scope.TARGET]
        for subject in (subject for column in columns for subject in column.subjects):
            if subject.scope is Scope.TARGET:
                job, _, instance = subject.id.rpartition("/")
                by_job = (name for name, pattern in jobs if pattern != _ANY and fits(pattern, job))
                told[subject] = self._targets.get((job, instance)) or next(by_job, "")
        return [Fact(subject, "dialect", name, "labels") for subject, name in sorted(told.items())]

    @property
    def links(self) -> dict[Subject, tuple[Subject, ...]]:
        """Which replica runs on which node and is a part of which, which card belongs to which replica and node."""
        links: dict[Subject, set[Subject]] = {}
        for replica, node in self._selection.node_of.items():
            links.setdefault(Subject(Scope.REPLICA, replica), set()).add(Subject(Scope.NODE, node))
        for (card, scope), (_, places) in self._places.items():
            links.setdefault(card, set()).update(Subject(scope, place) for place in places)
        for engine, whole in self._engines.parts.items():
            links[engine] = {whole, *links.get(whole, set())}
        for card in {card for card, _ in self._places if (card, Scope.NODE) not in self._places}:
            nodes = {node for owner in links[card] for node in links.get(owner, ())}
            links[card] |= nodes if len(nodes) == 1 else set()
        for card, owner in self._cards_of_lone_engines().items():
            links[card].add(owner)
        return {subject: tuple(sorted(links[subject])) for subject in sorted(links)}

    def _cards_of_lone_engines(self) -> dict[Subject, Subject]:
        """On hosts without pods: the cards of a host with one engine, if it has just as many as the engine takes.

        Nobody says there whose a card is, and nobody else is there to have it.
        """
        selection = self._selection
        engines: dict[str, set[str]] = {}
        for replica, node in selection.node_of.items():
            engines.setdefault(node, set()).add(replica)
        cards: dict[str, list[Subject]] = {}
        for (card, scope), (_, places) in self._places.items():
            if scope is Scope.NODE and len(places) == 1:
                cards.setdefault(next(iter(places)), []).append(card)
        foreign = {selection.places.node_at.get(host(target)) for target in selection.targets}
        takes = selection.service.facts.get("gpus_per_replica", 1)
        return {
            card: Subject(Scope.REPLICA, next(iter(engines[node])))
            for node, here in sorted(cards.items())
            if len(engines.get(node, ())) == 1 and node not in foreign and len(here) == takes
            if not any((one, Scope.REPLICA) in self._places for one in here)
            for card in here
        }


class _About:
    """Whom series are about, found out once for those of the same labels.

    :param step: usual distance of samples, seconds
    """

    def __init__(self, selection: Selection, engines: Engines, step: float) -> None:
        self._selection, self._engines, self._step = selection, engines, step
        self._scopes: dict[int, Scope] = {}
        self._known: dict[tuple[int, int, Scope], Subject | None] = {}
        self._ours: dict[tuple[Layout, int, Scope], tuple[list[bool], Layout, tuple[Subject, ...]]] = {}
        self._parts: dict[tuple[Layout, int], tuple[Subject, ...]] = {}
        self._noted: set[tuple[Layout, int]] = set()

    def columns(self, read: "Iterable[_Read]", layouts: Layouts) -> Iterator[Column]:
        """What is the service's business of each way of reading."""
        for use, series, layout in read:
            scope = self._scopes.get(id(use)) or self._scopes.setdefault(id(use), _scope(use))
            key = layout, id(use.dialect), scope
            if key not in self._ours:
                told = [self._of(labels, use, scope) for labels in layout.labels]
                ours = [subject is not None for subject in told]
                left = layout if all(ours) else layouts.of(list(compress(series, ours)))
                self._ours[key] = ours, left, tuple(subject for subject in told if subject is not None)
            ours, left, subjects = self._ours[key]
            if subjects:
                column = Column(use, series if left is layout else list(compress(series, ours)), left, subjects)
                self._note(column)
                yield column

    def _of(self, labels: Mapping[str, str], use: Use, scope: Scope) -> Subject | None:
        """Whom labels are about; None if it is none of the service's business."""
        key = id(labels), id(use.dialect), scope
        if key not in self._known:
            self._known[key] = _subject(labels, use, scope, self._selection)
        return self._known[key]

    def _note(self, column: Column) -> None:
        """Takes note of the engines behind the targets of replicas."""
        dialect, layout = column.use.dialect, column.layout
        if not dialect.engines or (layout, id(column.subjects)) in self._noted:
            return
        self._noted.add((layout, id(column.subjects)))
        for labels, span, subject in zip(layout.labels, layout.spans, column.subjects, strict=True):
            if subject.scope is Scope.REPLICA:
                self._engines.note(subject, dialect.engines, labels, span)

    def of_engines(self, column: Column) -> Column:
        """The same by engines, where several are behind a replica's target; all columns must have been seen."""
        dialect = column.use.dialect
        if not dialect.engines:
            return column
        key = column.layout, id(column.subjects)
        if key not in self._parts:
            told = zip(column.subjects, column.layout.labels, strict=True)
            parts = tuple([self._part(subject, dialect, labels) for subject, labels in told])
            self._parts[key] = column.subjects if parts == column.subjects else parts
        return replace(column, subjects=self._parts[key])

    def _part(self, subject: Subject, dialect: Dialect, labels: Mapping[str, str]) -> Subject:
        """The engine that labels are about, or the subject if it is no replica or has but one."""
        is_replica = subject.scope is Scope.REPLICA
        return self._engines.part(subject, dialect.engines, labels, self._step) if is_replica else subject


def _without_wholes(columns: list[Column], engines: Engines) -> list[Column]:
    """The columns without what is told of a replica as a whole where its engines tell it."""
    if not engines.parts:
        return columns
    told = {(column.use.entry.signal, subject) for column in columns for subject in column.subjects}
    wholes = {(signal, engines.parts[subject]) for signal, subject in told if subject in engines.parts}
    left = []
    for column in columns:
        kept = [(column.use.entry.signal, subject) not in wholes for subject in column.subjects]
        if all(kept):
            left.append(column)
        elif any(kept):
            series = list(compress(column.series, kept))
            left.append(Column(column.use, series, Layout(series), tuple(compress(column.subjects, kept))))
    return left


def _target_dialects(metrics: Sequence[Metric], index: Index) -> dict[tuple[str, str], str]:
    """(job, instance) -> the dialect that most of the target's own metrics speak.

    What the scraper says of a target, and what the service says is its own, tells nothing of the target's language.
    """
    votes: dict[tuple[str, str], Counter[str]] = {}
    alike: Counter[tuple[Layout, str]] = Counter()
    for metric in metrics:
        uses = [use for use in index.get(metric.name, ()) if use.dialect.name != OWN]
        if not uses or GENERIC.match(metric.name):
            continue
        if not any(use.entry.where for use in uses):
            alike.update((metric.layout, name) for name in _only_speaker(uses))
            continue
        for one in metric.series:
            for name in _only_speaker([use for use in uses if matches(one.labels, use.entry)]):
                votes.setdefault(_target(one.labels), Counter())[name] += 1
    for (layout, name), number in alike.items():
        for labels in layout.labels:
            votes.setdefault(_target(labels), Counter())[name] += number
    return {target: min(counts, key=lambda name: (-counts[name], name)) for target, counts in votes.items()}


def _only_speaker(uses: Iterable[Use]) -> list[str]:
    """The name of the only dialect that reads a series, unless it tells of targets of any kind."""
    dialects = {use.dialect.name: use.dialect for use in uses}
    return [name for name, dialect in dialects.items() if len(dialects) == 1 and dialect.scope is not Scope.TARGET]


def _target(labels: Mapping[str, str]) -> tuple[str, str]:
    return labels.get("job", ""), labels.get("instance", "")


_Read = tuple[Use, Sequence[RawSeries], Layout]
"""A way to read a metric, with the series that are read so."""


def _read(metric: Metric, index: Index, targets: Mapping[tuple[str, str], str], layouts: Layouts) -> Iterator[_Read]:
    """The ways to read a metric that apply: those of the service's own, and of one language."""
    known = index.get(metric.name, ())
    own = [use for use in known if use.dialect.name == OWN]
    others = [use for use in known if use.dialect.name != OWN]
    if len(known) == 1 and others and not others[0].entry.where and not GENERIC.match(metric.name):
        yield others[0], metric.series, metric.layout
        return
    found: dict[int, tuple[Use, list[RawSeries]]] = {}
    for one in metric.series if known else ():
        applying = [use for use in own if matches(one.labels, use.entry)]
        applying += _of_one_language(one, [use for use in others if matches(one.labels, use.entry)], targets)
        for use in applying:
            found.setdefault(id(use), (use, []))[1].append(one)
    yield from ((use, series, layouts.of(series)) for use, series in found.values())


def _of_one_language(one: RawSeries, uses: list[Use], targets: Mapping[tuple[str, str], str]) -> list[Use]:
    """Of the readings by several dialects, or of a generic name, those of the language that the series' target speaks."""
    if (len(uses) <= 1 or len({use.dialect.name for use in uses}) <= 1) and not GENERIC.match(one.name):
        return uses
    job = one.labels.get("job", "")
    speaks = targets.get((job, one.labels.get("instance", "")))
    spoken = [use for use in uses if use.dialect.name == speaks]
    by_job = [use for use in uses if use.dialect.jobs and fits(use.dialect.jobs, job)]
    others = [use for use in uses if not use.dialect.jobs and use.dialect.scope is not Scope.REPLICA and speaks is None]
    return spoken or by_job or others


def _scope(use: Use) -> Scope:
    """What a reading's series are about."""
    return use.entry.scope or (catalogue()[use.entry.signal].scope if use.entry.signal else use.dialect.scope)


def _subject(labels: Mapping[str, str], use: Use, scope: Scope, selection: Selection) -> Subject | None:
    """Whom a series is about; None if it is none of the service's business."""
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


def _typed(key: str, text: str) -> str | float:
    """A number if the text is one, else the text; versions are none, even if they look alike."""
    try:
        number = float(text)
    except ValueError:
        return text
    return text if key.endswith("_version") or not isfinite(number) else number


def with_source(recording: Recording, name: str) -> Recording:
    """The recording, saying that a source brought it, or that it brought nothing."""
    found = bool(recording.series or recording.histograms)
    reason = "" if found else f"no metric that triage knows belongs to {recording.service}"
    source = Source(name, SourceState.OK if found else SourceState.ABSENT, reason)
    return replace(recording, sources=(*recording.sources, source))

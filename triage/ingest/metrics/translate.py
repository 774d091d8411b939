"""From a source's samples to signals: finds the dialect of each metric, the subject of each series, and does the arithmetic."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
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
from triage.ingest.metrics.naming import GENERIC, OWN, Group, Index, Use, Ways, index_names, speaker
from triage.ingest.metrics.rates import sample_step
from triage.ingest.misrouting import Homes
from triage.ingest.owners.identity import lost_labels
from triage.ingest.owners.parts import Engines
from triage.ingest.owners.places import first, host, own_target
from triage.ingest.owners.subjects import Selection, select
from triage.ingest.owners.traits import replica_traits
from triage.ingest.raw import RawSeries
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
    found = _Reading(series, index, selection, window.start, step)
    made = Assembler(series, step)
    made.add(found.groups.values())
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
            *metric_events(found.groups.values(), window, step),
            *lost_labels(series, selection, window, step),
            *summed_ratios(series, index, panels, window),
            *exporter_xids(panels, found.groups.values(), window, step, (signatures or load_signatures()).xids),
            *missing_cores(series, index, selection, window),
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
    shared: dict[tuple[tuple[str, str], ...], Mapping[str, str]] = {}
    told: dict[tuple[int, bool], Mapping[str, str]] = {}
    read = []
    for one in series:
        which = id(one.labels), bool(one.added)
        if which not in told:
            labels = one.labels if one.added else own_target(one.labels)
            told[which] = shared.setdefault(tuple(sorted(labels.items())), labels)
        read.append((one, told[which]))
    places = {id(shared[key]): place for place, key in enumerate(sorted(shared))}
    read.sort(key=lambda item: (item[0].name, places[id(item[1])]))
    return [one if one.labels is labels else replace(one, labels=labels) for one, labels in read]


def _usual_step(series: Sequence[RawSeries]) -> float:
    """The scrape interval, seconds: the median over a sample of the series; 15 if nothing can be learnt."""
    steps = [step for one in series[:: max(1, len(series) // 200)] if (step := sample_step(one.times)) > 0]
    return median(steps) if steps else 15.0


class _Reading:
    """What a source's series say of a service, before any arithmetic: groups that make a signal, facts, and what belongs to what.

    :param until: Unix seconds up to which things are as usual
    :param step: usual distance of samples, seconds
    """

    def __init__(self, series: Sequence[RawSeries], index: Index, selection: Selection, until: float, step: float) -> None:
        self.groups: dict[tuple[str, Subject], Ways] = {}
        self._series, self._index, self._selection, self._until = series, index, selection, until
        self._facts: dict[tuple[Subject, str], tuple[float, Fact]] = {}
        self._homes: dict[int, Homes] = {}
        self._places: dict[tuple[Subject, Scope], tuple[float, frozenset[str]]] = {}
        self._routes: dict[Subject, set[Subject]] = {}
        self._engines = Engines()
        self.gateways: set[str] = set()
        self._noted: set[tuple[int, Subject, float]] = set()
        targets = _target_dialects(series, index)
        self._targets = targets
        about = list(_about(_read(series, index, targets), selection))
        for one, use, subject in about:
            if subject.scope is Scope.REPLICA:
                self._engines.note(subject, use.dialect.engines, one.labels, (float(one.times[0]), float(one.times[-1])))
        for one, use, subject in about:
            self._add(one, use, self._engine(one, use, subject, step))
            if use.entry.facts and subject.scope is Scope.REPLICA:
                self._note_facts(one, use, subject)
        for engine, whole in self._engines.parts.items():
            for signal in [signal for signal, subject in self.groups if subject == engine]:
                self.groups.pop((signal, whole), None)

    def _engine(self, one: RawSeries, use: Use, subject: Subject, step: float) -> Subject:
        """The engine that a series of a replica is about, where several are behind the replica's target."""
        if subject.scope is not Scope.REPLICA or not use.dialect.engines:
            return subject
        return self._engines.part(subject, use.dialect.engines, one.labels, step)

    def _add(self, one: RawSeries, use: Use, subject: Subject) -> None:
        """Takes one reading of a series."""
        if use.entry.facts or use.entry.value_fact:
            self._note_facts(one, use, subject)
        if use.entry.signal:
            ways = self.groups.setdefault((use.entry.signal, subject), {})
            group = ways.get((use.order, use.rank)) or ways.setdefault((use.order, use.rank), Group(use, subject))
            group.parts.append((use, self._counting(one, use.entry)))
        if subject.scope is Scope.GPU:
            self._note_places(one, subject)
        if use.dialect.scope is Scope.GATEWAY:
            self._note_route(one, use)

    def _counting(self, one: RawSeries, entry: Entry) -> RawSeries:
        """A series as its entry counts it: where only strays count, any other one counts nothing."""
        if not entry.asked:
            return one
        if id(entry) not in self._homes:
            same = [other for other in self._series if any(use.entry is entry for use in self._index.get(other.name, ()))]
            counted = [other for other in same if matches(other.labels, entry)]
            self._homes[id(entry)] = Homes(counted, entry.asked, entry.served, self._until)
        return self._homes[id(entry)].misrouted(one)

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

    def _note_places(self, one: RawSeries, card: Subject) -> None:
        """Keeps where a card is: the pods and the node that were said last."""
        places, said = self._selection.places, float(one.times[-1])
        if (id(one.labels), card, said) in self._noted:
            return
        self._noted.add((id(one.labels), card, said))
        pod, node = places.pod(one.labels), places.known_node(one.labels)
        for scope, place in ((Scope.REPLICA, pod if pod in self._selection.pods else ""), (Scope.NODE, node)):
            if place:
                latest, known = self._places.get((card, scope), (said, frozenset()))
                if said >= latest:
                    self._places[card, scope] = said, known | {place} if said == latest else frozenset({place})

    def _note_route(self, one: RawSeries, use: Use) -> None:
        """Keeps which gateways there are and to which replicas each says that it sends."""
        self.gateways.update({one.labels.get("pod", ""), one.labels.get("service", "")} - {""})
        gateway = self._selection.gateway(one.labels, use.dialect.identity.get(Scope.GATEWAY, ()))
        replica = self._selection.replica_at(first(one.labels, use.dialect.identity.get(Scope.REPLICA, ())))
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
        for _, subject in self.groups:
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


def _target_dialects(series: Sequence[RawSeries], index: Index) -> dict[tuple[str, str], str]:
    """(job, instance) -> the dialect that most of the target's own metrics speak.

    What the scraper says of a target, and what the service says is its own, tells nothing of the target's language.
    """
    votes: dict[tuple[str, str], Counter[str]] = {}
    own: dict[int, Counter[str]] = {}
    for metric, same in groupby(series, key=_name):
        uses = [use for use in index.get(metric, ()) if use.dialect.name != OWN]
        if not uses or GENERIC.match(metric):
            continue
        is_plain = not any(use.entry.where for use in uses)
        speakers = {use.dialect.name: use.dialect for use in uses}
        for one in same:
            if not is_plain:
                speakers = {use.dialect.name: use.dialect for use in uses if matches(one.labels, use.entry)}
            if len(speakers) == 1 and next(iter(speakers.values())).scope is not Scope.TARGET:
                counts = own.get(id(one.labels))
                if counts is None:
                    target = one.labels.get("job", ""), one.labels.get("instance", "")
                    counts = own[id(one.labels)] = votes.setdefault(target, Counter())
                counts[next(iter(speakers))] += 1
    return {target: min(counts, key=lambda name: (-counts[name], name)) for target, counts in votes.items()}


def _name(one: RawSeries) -> str:
    return one.name


def _read(series: Sequence[RawSeries], index: Index, targets: Mapping[tuple[str, str], str]) -> Iterator[tuple[RawSeries, Use]]:
    """Each series with the readings that apply: those of the service's own, and of one language."""
    for metric, same in groupby(series, key=_name):
        known = index.get(metric, ())
        own = [use for use in known if use.dialect.name == OWN]
        others = [use for use in known if use.dialect.name != OWN]
        is_plain = len(known) == 1 and len(others) == 1 and not others[0].entry.where and not GENERIC.match(metric)
        for one in same if known else ():
            if is_plain:
                yield one, others[0]
                continue
            yield from ((one, use) for use in own if matches(one.labels, use.entry))
            applying = [use for use in others if matches(one.labels, use.entry)]
            yield from ((one, use) for use in _of_one_language(one, applying, targets))


def _about(read: Iterable[tuple[RawSeries, Use]], selection: Selection) -> Iterator[tuple[RawSeries, Use, Subject]]:
    """Readings of what is the service's business, with whom each is about; looked up once for each set of labels."""
    scopes: dict[int, Scope] = {}
    known: dict[tuple[int, int, Scope], Subject | None] = {}
    for one, use in read:
        scope = scopes.get(id(use)) or scopes.setdefault(id(use), _scope(use))
        key = id(one.labels), id(use.dialect), scope
        if key not in known:
            known[key] = _subject(one.labels, use, scope, selection)
        if (subject := known[key]) is not None:
            yield one, use, subject


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

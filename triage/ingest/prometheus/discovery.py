"""Finds a service on a server that many services share, with few and cheap questions, and plans the queries for it.

The questions are selectors of series; who asks them is not known here. What belongs to the service is decided by
:mod:`triage.ingest.owners.subjects`, the same as in a replay; this module only makes sure that little else is fetched.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

import numpy as np

from triage.classes import dataclass
from triage.ingest.metrics.aggregates import may_add_up
from triage.ingest.metrics.conditions import matches
from triage.ingest.metrics.naming import Index, Use, index_names, is_engine_name, speaker
from triage.ingest.metrics.translate import own_dialect
from triage.ingest.owners.places import NODE_LABELS, POD_INFO, POD_LABELS, Labels, authority, first, host
from triage.ingest.owners.subjects import OWNER_LABELS, SERVICE_LABELS, select
from triage.ingest.owners.traits import TRAITS
from triage.ingest.prometheus.promql import (
    ROUTE_LABELS,
    Matcher,
    Matchers,
    Query,
    any_pattern,
    literal,
    one_of,
    query_for,
    scope_of,
    selector,
)
from triage.ingest.raw import RawSeries
from triage.model.dialect import Dialect
from triage.model.recording import Window
from triage.model.service import Service
from triage.model.vocabulary import Scope

Family = tuple[str, Scope]
"""The series of one dialect that are about subjects of one scope: they share their labels."""

_TARGET_LABELS = ("service", "app", "app_kubernetes_io_name", "app_kubernetes_io_instance", "job")
"""Labels that name a service and are put on by the scraper, so that every series of a target has them."""

_TELLING = {
    Scope.REPLICA: (*POD_LABELS, "instance"),
    Scope.GPU: (*POD_LABELS[:-1], *NODE_LABELS, "instance"),
    Scope.NODE: (*NODE_LABELS, "instance"),
    Scope.SERVICE: (*OWNER_LABELS, *POD_LABELS[:2], *SERVICE_LABELS),
    Scope.GATEWAY: ("instance", "pod", "job"),
    Scope.CLIENT: ("server_address", "instance", "job"),
}
"""Labels that pick a family's series out of all, best first."""

_BY_METRIC = frozenset({Scope.SERVICE, Scope.TARGET})
"""Scopes whose series are picked metric by metric; those of the others are picked alike in all metrics of a family."""

_IDENTIFIERS = 3
"""Metrics of a family that are asked for: a replica may lack one of them (another version, a switch that is off)."""

_RECORDED = 200
"""Most recorded names that are asked for: a server of many teams may have thousands, of which few are this service's."""

_FEW_NODES = 16
"""If nobody says on which nodes the service runs, this many are still taken to be its own."""


@dataclass(frozen=True)
class Inventory:
    """What of the known metrics a server has.

    :param names_seen: how many metrics the server has
    :param index: metric name -> its readings, whether the server has it or not
    :param uses: the same of the server's metrics, in the order of the dialects; of a native histogram under its bare name
    :param dialects: family -> its dialect
    :param identifiers: family -> metrics whose labels show who its subjects are, best first; a name that several dialects
        share (``process_…``) is none, unless they are of one kind and tell by its other labels whose it is
    :param recorded: names of series that the server's own rules made (``level:metric:operations``) and that may add ratios up
    """

    names_seen: int
    index: Index
    uses: Mapping[str, tuple[Use, ...]]
    dialects: Mapping[Family, Dialect]
    identifiers: Mapping[Family, tuple[str, ...]]
    recorded: tuple[str, ...]

    def is_engine(self, name: str) -> bool:
        """Whether only engines have this metric."""
        return is_engine_name(self.index, name)

    def names(self, wanted: Callable[[Family, Dialect], bool]) -> list[str]:
        """Identifying metrics of the families wanted, each once."""
        chosen = [names for family, names in self.identifiers.items() if wanted(family, self.dialects[family])]
        return sorted({name for names in chosen for name in names})

    @property
    def engine_names(self) -> list[str]:
        """Identifying metrics that only engines have."""
        return [name for name in self.names(lambda _, dialect: dialect.scope is Scope.REPLICA) if self.is_engine(name)]


def inventory(dialects: Sequence[Dialect], names: Iterable[str]) -> Inventory:
    """The known ones among all metric names of a server."""
    index, names = index_names(dialects), set(names)
    uses = {name: readings for name, readings in index.items() if name in names}
    native = {name: f"{name}_bucket" for name in sorted(names - set(uses))}
    uses.update({name: index[buckets] for name, buckets in native.items() if buckets in index and buckets not in names})
    if POD_INFO in names:
        uses.setdefault(POD_INFO, ())
    families: dict[Family, Dialect] = {}
    ranked: dict[Family, list[tuple[tuple[int, int], str]]] = {}
    for name, readings in uses.items():
        telling = not _is_shared(readings) or _is_told_by_labels(readings)
        for use in readings:
            family = use.dialect.name, scope_of(use)
            families[family] = use.dialect
            ranked.setdefault(family, []).extend([(_cost(use), name)] if telling else [])
    identifiers = {family: tuple(dict.fromkeys(name for _, name in sorted(found))) for family, found in ranked.items()}
    chosen = {family: found[: _most(family)] for family, found in sorted(identifiers.items())}
    exporters = {prefix for dialect in dialects for prefix in dialect.prefixes}
    recorded = sorted(name for name in names - set(index) if _is_recorded(name, exporters))
    return Inventory(len(names), index, uses, families, chosen, tuple(recorded[:_RECORDED]))


def _is_recorded(name: str, exporters: Collection[str]) -> bool:
    """Whether a name is a recording rule's, by the colon that exporters are told to leave to them, and worth a look."""
    return ":" in name and not name.startswith(tuple(exporters)) and may_add_up(name)


def _is_shared(readings: Iterable[Use]) -> bool:
    """Whether several dialects read a metric of this name."""
    return len({use.dialect.name for use in readings}) > 1


def _is_told_by_labels(readings: Collection[Use]) -> bool:
    """Whether the dialects that share a name are of one kind and each sets conditions on labels."""
    return len({use.dialect.scope for use in readings}) == 1 and all(use.entry.where for use in readings)


def _cost(use: Use) -> tuple[int, int]:
    """What it costs to look at a metric's series; the cheapest is the dialect's first plain number, the dearest are buckets."""
    bulk = {"gauge": 0, "counter": 0, "histogram": 1, "info": 3}[use.entry.type] + (use.part == "bucket")
    return bulk, use.dialect.metrics.index(use.entry)


def _most(family: Family) -> int | None:
    """How many identifying metrics a family needs: workloads, autoscalers and roll-outs are named by labels of their own."""
    return None if family[1] is Scope.SERVICE else _IDENTIFIERS


class Survey:
    """What a server has of one service, learnt step by step.

    Answer the selectors of each of :attr:`steps`, in their order, with :meth:`add`; then :meth:`plan`.

    :param names: all metric names that the server has
    """

    def __init__(self, service: Service, dialects: Sequence[Dialect], names: Iterable[str]) -> None:
        own = [own_dialect(service)] if service.signals else []
        self.service = service
        self.known = inventory([*own, *dialects], names)
        self._series: dict[str, dict[tuple[tuple[str, str], ...], Labels]] = {}
        self._shared: dict[tuple[tuple[str, str], ...], Labels] = {}
        self._asked_for_others = False
        self.add(())

    @property
    def steps(self) -> tuple[Callable[[], list[str]], ...]:
        """Each gives selectors of series to ask for; it builds on the answers to those before."""
        return self.by_name, self.by_engine, self.by_place, self.by_exclusion

    def add(self, series: Iterable[Mapping[str, str]]) -> None:
        """Takes note of series, given by their labels and ``__name__``."""
        for one in series:
            key = tuple(sorted((label, value) for label, value in one.items() if label != "__name__"))
            labels = self._shared.get(key) or self._shared.setdefault(key, dict(key))
            self._series.setdefault(one.get("__name__", ""), {})[key] = labels
        nothing = np.empty(0)
        raw = [RawSeries(name, labels, nothing, nothing) for name, sets in self._series.items() for labels in sets.values()]
        self.selection = select(raw, self.service, lambda name: speaker(self.known.index, name))
        self.engines = [one for one in self._labels(self.known.engine_names) if self.selection.replica(one)]
        self.accepted = {family: list(self._accept(family)) for family in self.known.identifiers}

    def _labels(self, names: Iterable[str]) -> list[Labels]:
        """The label sets that were found of some metrics."""
        return [labels for name in names for labels in self._series.get(name, {}).values()]

    def by_name(self) -> list[str]:
        """Everything whose labels name the service."""
        name = literal(self.service.name)
        owned = f"{name}(-.*)?"
        every = self.known.names(lambda _family, _dialect: True) + [POD_INFO] * (POD_INFO in self.known.uses)
        workloads = self.known.names(lambda family, _: family[1] is Scope.SERVICE)
        gateways = self.known.names(lambda _, dialect: dialect.scope is Scope.GATEWAY)
        own = self.known.names(lambda family, _: family[0] == "service")
        unclaimed = tuple(Matcher(label, "=~", f"|{name}") for label in ("service", "server_address"))
        if not every:
            return []
        return [
            *(_of([*every, *self.known.recorded], matchers) for matchers in self._naming()),
            *(_of(every, [Matcher(label, "=~", owned)]) for label in POD_LABELS),
            *(_of(workloads, [Matcher(label, "=~", f"(.*-)?{owned}")]) for label in OWNER_LABELS if workloads),
            *(_of(gateways, [Matcher(label, "=~", f".*{name}.*")]) for label in ROUTE_LABELS if gateways),
            *(_of(own, unclaimed) for _ in range(1) if own),
        ]

    def _naming(self) -> list[list[Matcher]]:
        """Conditions under which labels say outright that a series is the service's."""
        if self.service.labels:
            return [[Matcher(label, "=", value) for label, value in sorted(self.service.labels.items())]]
        return [[Matcher(label, "=", self.service.name)] for label in SERVICE_LABELS]

    def by_engine(self) -> list[str]:
        """All engines if none bears the name, and what is said of pods whose name does not begin with the service's."""
        if not self.engines:
            return [_of(names, [])] if (names := self.known.engine_names) else []
        pods = {pod for pod in self.selection.pods if not pod.startswith(self.service.name)}
        around = self.known.names(
            lambda family, dialect: family[1] in {Scope.REPLICA, Scope.GPU} and dialect.scope is not Scope.REPLICA
        )
        around += [POD_INFO] * (POD_INFO in self.known.uses)
        return [_of(around, [one_of(label, pods)]) for label in POD_LABELS[:-1] if pods and around]

    def by_place(self) -> list[str]:
        """Nodes and cards where the service runs, and gateways that say nothing of any service."""
        if not self.found:
            return []
        gateways = self.known.names(lambda _, dialect: dialect.scope is Scope.GATEWAY)
        unlabelled = [Matcher(label, "=", "") for label in ("service", *ROUTE_LABELS)]
        return [*self._places(), *(_of(gateways, unlabelled) for _ in range(1) if gateways)]

    def _places(self) -> list[str]:
        """Nodes and cards of the service's nodes; all of them if nobody says which nodes these are."""
        machines = self.known.names(lambda family, _: family[1] in {Scope.NODE, Scope.GPU})
        nodes = set(self.selection.nodes)
        if not machines:
            return []
        if not nodes:
            return [_of(machines, [])]
        addresses = [f"{literal(address)}(:[0-9]+)?" for address in nodes | self._addresses_of(nodes)]
        by_label = [_of(machines, [one_of(label, nodes)]) for label in NODE_LABELS]
        return [*by_label, _of(machines, [any_pattern("instance", addresses)])]

    def _addresses_of(self, nodes: Collection[str]) -> set[str]:
        """Addresses of these nodes."""
        return {address for address, node in self.selection.places.node_at.items() if node in nodes}

    def by_exclusion(self) -> list[str]:
        """Engines of others, asked for only if that decides whose an unlabelled gateway is."""
        addresses = [one.get("instance", "") for one in self.engines]
        if not all(addresses) or not addresses or not any(self._doubtful_gateways()):
            return []
        self._asked_for_others = True
        ours = one_of("instance", addresses)
        return [_of(self.known.engine_names, [Matcher("instance", "!=" if ours.op == "=" else "!~", ours.value)])]

    def _spoken(self, name: str, family: Family) -> list[Labels]:
        """The label sets of a metric that a family reads: all of them, unless other dialects share its name."""
        uses = [use for use in self.known.uses[name] if (use.dialect.name, scope_of(use)) == family]
        if not _is_shared(self.known.uses[name]):
            return self._labels([name])
        return [one for one in self._labels([name]) if any(matches(one, use.entry) for use in uses)]

    def _accept(self, family: Family) -> Iterator[Labels]:
        """The label sets of a family that belong to the service."""
        dialect, scope = self.known.dialects[family], family[1]
        sets = [one for name in self.known.identifiers[family] for one in self._spoken(name, family)]
        if dialect.scope is Scope.GATEWAY:
            return (one for one in sets if self._is_our_gateway(one, dialect))
        if scope in {Scope.NODE, Scope.GPU}:
            return iter(self._near(scope, sets))
        belongs: dict[Scope, Callable[[Labels], object]] = {
            Scope.REPLICA: lambda one: self.selection.replica(one, self._addresses(dialect)),
            Scope.CLIENT: self.selection.client,
            Scope.SERVICE: self.selection.owned,
            Scope.TARGET: lambda one: self.selection.names_service(one) or self.selection.places.pod(one) in self.selection.pods,
        }
        return (one for one in sets if belongs[scope](one))

    def _addresses(self, dialect: Dialect) -> tuple[str, ...]:
        """Labels by which another program's series name a replica by its address; an engine's own series need none."""
        return () if dialect.scope is Scope.REPLICA else dialect.identity.get(Scope.REPLICA, ())

    def _near(self, scope: Scope, sets: list[Labels]) -> list[Labels]:
        """Nodes or cards of the service; where nobody says which these are, those on its engines' hosts, or the few there are."""
        subject_of = self.selection.gpu if scope is Scope.GPU else self.selection.node
        near_us = {id(one) for one in _distinct(sets) if subject_of(one) is not None}
        ours = [one for one in sets if id(one) in near_us]
        if self.selection.nodes:
            return ours
        hosts = {host(one.get("instance", "")) for one in self.engines}
        near = [one for one in ours if hosts & {host(one.get("instance", "")), *(one.get(label) for label in NODE_LABELS)}]
        few = len({self.selection.places.node(one) for one in ours}) <= _FEW_NODES
        return near or (ours if few else [])

    def _is_our_gateway(self, labels: Labels, dialect: Dialect) -> bool:
        """Whether a gateway's series is about the service."""
        sure = self._gateway_verdict(labels, dialect)
        return self._only_our_engines if sure is None else sure

    def _gateway_verdict(self, labels: Labels, dialect: Dialect) -> bool | None:
        """The same, from the series alone; None if it says nothing of any service."""
        if self.selection.gateway(labels, dialect.identity.get(Scope.GATEWAY, ())) is None:
            return False
        if self.selection.names_service(labels) or first(labels, ROUTE_LABELS):
            return True
        address = first(labels, self._addresses(dialect))
        if self.selection.replicas.get(authority(address)) or self.selection.replicas.get(host(address)):
            return True
        if any(self.service.name in labels.get(label, "") for label in (*POD_LABELS, *_TARGET_LABELS, "instance")):
            return True
        namespaces = {one.get("namespace") for one in self.engines} - {None, ""}
        return True if labels.get("namespace") in namespaces else None

    def _doubtful_gateways(self) -> Iterator[bool]:
        """True for each series of a gateway that says nothing of any service."""
        for family, dialect in self.known.dialects.items():
            if dialect.scope is Scope.GATEWAY:
                yield from (self._gateway_verdict(one, dialect) is None for one in self._labels(self.known.identifiers[family]))

    @property
    def _only_our_engines(self) -> bool:
        """Whether the server is known to have no other service's engines."""
        return self._asked_for_others and len(self.engines) == len(self._labels(self.known.engine_names))

    @property
    def found(self) -> bool:
        """Whether anything on the server belongs to the service."""
        own = {Scope.REPLICA, Scope.SERVICE, Scope.CLIENT, Scope.GATEWAY}
        return self.selection.named or any(sets for (_, scope), sets in self.accepted.items() if scope in own)

    @property
    def others(self) -> list[str]:
        """Names that the engines on the server go by, for a person who mistyped one."""
        labels = (*SERVICE_LABELS[:-1], *POD_LABELS, "job", "instance")
        return sorted({first(one, labels) for one in self._labels(self.known.engine_names)} - {""})

    def absence(self) -> str:
        """Why nothing was found, as the end of a sentence that begins with the server."""
        if not self.known.names_seen:
            return "has no metrics at all of this time: is the window right, does the server keep them for so long?"
        if not self.known.uses:
            return f"has metrics ({self.known.names_seen} names), but none that triage knows"
        looked = ", ".join(self.service.labels or (*SERVICE_LABELS[:4], "pod"))
        return f"has nothing that is called {self.service.name} (by the labels {looked} and others){_among(self.others)}"

    @property
    def problems(self) -> list[str]:
        """What could not be told apart, one sentence each."""
        told = []
        if self.found and not self.engines:
            told.append(f"no engine's metrics belong to {self.service.name}{_among(self.others)}")
        for (dialect, scope), sets in self.accepted.items():
            seen = self._labels(self.known.identifiers[dialect, scope])
            if scope in {Scope.NODE, Scope.GPU} and seen and not sets and not self.selection.nodes:
                told.append(
                    f"nothing says on which nodes {self.service.name} runs ({POD_INFO} or a label node would), "
                    f"so the {dialect} metrics of {len({self.selection.places.node(one) for one in seen})} nodes were left out"
                )
        return told

    def samples_of_targets(self) -> str:
        """Selector of ``up`` for one target of each scrape job of the service; empty if there is none."""
        chosen: dict[str, str] = {}
        for one in (one for sets in self.accepted.values() for one in sets):
            if one.get("job") and one.get("instance"):
                chosen[one["job"]] = max(chosen.get(one["job"], ""), one["instance"])
        return selector("up", (one_of("job", chosen), one_of("instance", chosen.values()))) if chosen else ""

    def plan(self, window: Window, intervals: Mapping[str, float], usual: float) -> list[Query]:
        """The queries, in the order of the dialects.

        :param intervals: scrape interval by job, seconds
        :param usual: interval of jobs that are not in it
        """
        queries: list[Query] = []
        covers: dict[object, list[tuple[Matchers, float, int]]] = {}
        traits = sorted({label for one in self.engines for label in one if label in TRAITS})
        for name, uses in self.known.uses.items():
            if uses and all(use.part == "count" for use in uses) and f"{name.removesuffix('_count')}_bucket" in self.known.uses:
                continue
            families = tuple(sorted({(use.dialect.name, scope_of(use)) for use in uses}))
            same = families if uses and not _BY_METRIC & {scope for _, scope in families} else name
            if same not in covers:
                covers[same] = [
                    (matchers, max((intervals.get(one.get("job", ""), usual) for one in sets), default=usual), len(sets))
                    for matchers, sets in ((matchers, _distinct(sets)) for matchers, sets in self._covers(name, families).items())
                ]
            for matchers, interval, subjects in covers[same]:
                queries.append(query_for(name, uses, matchers, window, interval=interval, subjects=subjects, also=traits))
        for name in self.known.recorded:
            ours = [one for one in self._labels([name]) if self.selection.names_service(one)]
            if ours and (matchers := self._matchers(ours, Scope.SERVICE)):
                queries.append(query_for(name, (), matchers, window, interval=usual, subjects=len(ours)))
        return queries

    def _covers(self, name: str, families: Sequence[Family]) -> dict[Matchers, list[Labels]]:
        """Conditions that pick the service's series of a metric, each with known label sets of the families that it is for."""
        covers: dict[Matchers, list[Labels]] = {}
        if name == POD_INFO and not families:
            pods = sorted(self.selection.pods)
            return {(one_of("pod", pods),): [{"pod": pod} for pod in pods]} if pods else {}
        for family in families:
            matchers = self._cover(name, family)
            if matchers is not None:
                covers.setdefault(matchers, []).extend(self.accepted[family])
        return covers

    def _cover(self, name: str, family: Family) -> Matchers | None:
        """Conditions that pick the service's series of one metric of a family; None if it has none."""
        dialect, scope = self.known.dialects[family], family[1]
        if scope is Scope.TARGET:
            return self._cover_targets(name)
        sets = self.accepted[family]
        if dialect.scope is Scope.GATEWAY:
            scope, sets = Scope.GATEWAY, [one for other, sets in self.accepted.items() if other[0] == family[0] for one in sets]
        elif scope is Scope.SERVICE:
            sets = [one for one in self._labels([name]) if self.selection.owned(one)]
        return self._matchers(sets, scope) if sets else None

    def _matchers(self, sets: Sequence[Labels], scope: Scope) -> Matchers:
        """Conditions that hold for all of these label sets and for few others."""
        by_name: list[Mapping[str, str]] = [self.service.labels] if self.service.labels else []
        by_name += [{label: self.service.name} for label in _TARGET_LABELS]
        for wanted in by_name:
            if all(one.get(label) == value for one in sets for label, value in wanted.items()):
                return tuple(Matcher(label, "=", value) for label, value in sorted(wanted.items()))
        for label in _TELLING[scope]:
            if all(one.get(label) for one in sets):
                return (one_of(label, (one[label] for one in sets)), *self._routes(sets, scope))
        return ()

    def _routes(self, sets: Sequence[Labels], scope: Scope) -> list[Matcher]:
        """Conditions that leave out the traffic of other services at a gateway that says whose traffic it counts."""
        if scope is not Scope.GATEWAY:
            return []
        known = (self.service.name, self.service.facts.get("model"), *sorted(self.selection.aliases))
        names = "|".join(literal(str(name)) for name in dict.fromkeys(known) if name)
        return [Matcher(label, "=~", f"(.*({names}).*)?") for label in ROUTE_LABELS if any(one.get(label) for one in sets)]

    def _cover_targets(self, name: str) -> Matchers | None:
        """Targets of anything that belongs to the service; of Prometheus' own metrics all there are."""
        if name != "up" and not name.startswith("scrape_"):
            return ()
        targets = [one for sets in self.accepted.values() for one in sets if one.get("job") and one.get("instance")]
        if not targets:
            return None
        return one_of("job", (one["job"] for one in targets)), one_of("instance", (one["instance"] for one in targets))


def _distinct(sets: Iterable[Labels]) -> list[Labels]:
    """Label sets, each once: series of the same labels share them."""
    return list({id(one): one for one in sets}.values())


def _of(names: Collection[str], matchers: Iterable[Matcher]) -> str:
    """A selector of series of several metrics."""
    return selector("", (one_of("__name__", names), *matchers))


def _among(names: Sequence[str]) -> str:
    """Some of the names that there are instead."""
    shown = ", ".join(names[:8])
    return f"; engines on this server go by {shown}{' …' if len(names) > 8 else ''}" if names else ""

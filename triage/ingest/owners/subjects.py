"""Which series belong to the service, and whom each of them is about."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import lru_cache
from math import ceil
from typing import Any

import re2

from triage.classes import dataclass
from triage.ingest.owners.places import POD_INFO, POD_LABELS, Census, Labels, Places, Span, authority, first, host, record_kind
from triage.ingest.raw import Layout, Layouts, RawSeries, metrics_of
from triage.model.recording import Subject
from triage.model.service import Service
from triage.model.vocabulary import Scope
from triage.patterns import Pattern

SERVICE_LABELS = (
    "service", "service_name", "app", "app_kubernetes_io_name", "app_kubernetes_io_instance", "model_name", "served_model_name",
    "model", "deployment", "statefulset", "k8s_deployment_name", "k8s_statefulset_name", "inferenceservice",
    "destination_service_name", "destination_workload", "envoy_cluster_name", "server_address", "requested_model", "ingress",
    "exported_service", "application", "job",
)  # fmt: skip
"""Labels that can name the service itself, most telling first.

A scraper that puts its own ``service`` on a target calls the one of which the target speaks ``exported_service``: of the
services that stand behind a proxy.
"""

OWNER_LABELS = (
    "deployment",
    "statefulset",
    "replicaset",
    "horizontalpodautoscaler",
    "hpa",
    "scaledObject",
    "name",
    "inferenceservice",
)
_NAMING = (
    "service", "app", "app_kubernetes_io_name", "app_kubernetes_io_instance", "deployment", "inferenceservice", "application",
)  # fmt: skip
"""Labels whose values are services of their own, even if they begin with our name."""

_MODELS = ("model_name", "served_model_name", "model", "gen_ai_request_model", "gen_ai_response_model")
"""Labels that name what an engine serves, or what a client asks for."""

_HOSTS = ("host", "exported_host", "authority", "server_name")
"""Labels in which a gateway says under which name it was asked."""

_ROUTES = ("envoy_cluster_name", "destination_service_name", "ingress", "requested_model", "litellm_model_name")
_IDENTITY = (*SERVICE_LABELS[:-1], *POD_LABELS)
_OF_TARGETS = frozenset({"job", "instance", "service", "app", "pod", "container", "endpoint", "node"})
"""Labels that a scraper puts on a target: on an exporter's series they are the exporter's own."""

_KINDS = (
    "predictor|engine|decode|prefill|vllm|sglang|trtllm|triton|tgi|server|serve|deployment|default|worker|workers|leader|head|hpa"
    "|(?:vllm|sglang|trtllm|tensorrtllm|llm|gpu|model|prefill|decode|encode)+(?:worker|engine|server|runner)s?"
)
"""Parts of a service that serve together, and the objects that belong to it; operators write several words as one."""

_CARDS_OF_A_NODE = 8
"""The most cards that machines in use have, but for a few; a replica with more stands on several."""

_SERVING_IMAGE = Pattern(r"(?i)\b(?:vllm|sglang|tensorrt|trtllm|triton|tgi|text-generation|llama|ollama|lmdeploy|dynamo)")
"""Images of engines, by the engine's name: another container on the same host is a database or an exporter."""

_BARE_NAME = Pattern(r"[A-Za-z][\w-]*")
"""A host's name without a domain; no address is one."""

_ID = "[bcdfghjklmnpqrstvwxz2456789]"
"""What Kubernetes makes names of: no vowels, so no words."""


@dataclass(frozen=True)
class Selection:
    """What belongs to a service.

    :param named: some series names the service (or it was said that everything here is its)
    :param pods: its pods
    :param places: who is where, whosever it is
    :param nodes: the nodes that its engines run on; empty if nobody says so
    :param node_of: replica -> node
    :param replicas: address of an engine (``host:port``, pod IP) -> id of its replica
    :param everything: nothing here names any service, and there is but one engine, or as many as were declared: all of it is the
        service's
    :param others: names that are not the service's although they begin with its name
    :param rivals: names that other services' engines go by
    :param targets: addresses of other services' engines
    :param adopted: addresses of engines that are the service's because they serve its model and nothing names another owner
    :param workloads: names of what made the pods of those engines
    :param hosts: names under which gateways are asked for the service
    :param aliases: names under which the service's engines, and no others, serve their model
    :param marks: id that a runtime gave to a worker -> the replica whose engine's series bear it, and no other's
    :param routing: scrape jobs of gateways, each with the label in which they name to whom they send, the service among them
    :param only_routes: whatever they are called, the only ones of their gateways, where no engine is another service's
    """

    service: Service
    named: bool
    pods: frozenset[str]
    places: Places
    nodes: frozenset[str]
    node_of: Mapping[str, str]
    replicas: Mapping[str, str] = field(default_factory=dict)
    everything: bool = False
    others: frozenset[str] = frozenset()
    rivals: frozenset[str] = frozenset()
    targets: frozenset[str] = frozenset()
    adopted: frozenset[str] = frozenset()
    workloads: frozenset[str] = frozenset()
    hosts: frozenset[str] = frozenset()
    aliases: frozenset[str] = frozenset()
    marks: Mapping[str, str] = field(default_factory=dict)
    routing: frozenset[tuple[str, str]] = frozenset()
    only_routes: frozenset[str] = frozenset()

    def names_service(self, labels: Labels) -> bool:
        """Whether a label says outright that a series is the service's."""
        return names_service(labels, self.service)

    def replica(self, labels: Labels, identity: Iterable[str] = ()) -> Subject | None:
        """The replica that an engine's or a pod's series is about; None if it is not one of the service's.

        :param identity: labels by which another program names a replica, by its address or its pod
        """
        address = first(labels, identity)
        if address:
            known = self.replica_at(address) or self._bearing(labels) or self._of_its_image(labels)
            return Subject(Scope.REPLICA, known or authority(address)) if known or self.names_service(labels) else None
        pod = self.places.pod(labels)
        if pod:
            ours = pod in self.pods and not _elsewhere(labels, self.service)
            return Subject(Scope.REPLICA, pod) if ours or self.everything else None
        instance = labels.get("instance", "")
        known = self.places.pod_at.get(host(instance), "") if instance not in self.targets else ""
        if known in self.pods:
            return Subject(Scope.REPLICA, known)
        if instance in self.adopted and (_may_serve(labels, self.service) or first(labels, _MODELS) in self.aliases):
            return Subject(Scope.REPLICA, self.replicas[instance])
        if self.names_service(labels) or self.everything:
            return Subject(Scope.REPLICA, instance or labels.get("job") or self.service.name)
        return None

    def replica_at(self, address: str) -> str:
        """The id of the replica with that address, pod (with or without its namespace) or name in the cluster's DNS."""
        pods = (address, address.rpartition("/")[2], host(address).partition(".")[0])
        known = self.replicas.get(authority(address)) or self.replicas.get(host(address))
        return known or next((pod for pod in pods if pod in self.pods), "") or self._in_container(address)

    def _bearing(self, labels: Labels) -> str:
        """The id of the replica whose engine's own series bear an id of this series (its worker, its actor)."""
        return next((self.marks[value] for label, value in labels.items() if value in self.marks and _is_mark(label)), "")

    def _of_its_image(self, labels: Labels) -> str:
        """The id of the only engine on the host of an exporter that tells of a container with an engine's image."""
        if not _SERVING_IMAGE.search(labels.get("image", "")):
            return ""
        here = host(labels.get("instance", ""))
        found = {one for address, one in self.replicas.items() if here and host(address) == here}
        return next(iter(found)) if len(found) == 1 else ""

    def _in_container(self, name: str) -> str:
        """The id of the only replica that is scraped at a name without a domain, as containers of one host have them."""
        found = {one for instance, one in self.replicas.items() if host(instance) == name} if _BARE_NAME.fullmatch(name) else ()
        return next(iter(found)) if len(found) == 1 else ""

    def gpu(self, labels: Labels) -> Subject | None:
        """The card; None if it belongs to another service's pod or to a node without engines of ours."""
        pod, node = self.places.pod(labels), self.places.node(labels)
        if pod and not self.everything and (pod not in self.pods or _elsewhere(labels, self.service)):
            return None
        if not pod and self.nodes and node not in self.nodes:
            return None
        return Subject(Scope.GPU, self.places.card(labels))

    def node(self, labels: Labels) -> Subject | None:
        """The node; None if no engine of ours runs there."""
        name = self.places.node(labels)
        if not name or (self.nodes and name not in self.nodes):
            return None
        return Subject(Scope.NODE, name)

    def owned(self, labels: Labels) -> Subject | None:
        """The service, for series of a deployment, an autoscaler, a roll-out; None if they are another service's."""
        owner = first(labels, OWNER_LABELS)
        ours = self.names_service(labels) or self.everything or self.places.pod(labels) in self.pods
        ours = ours or (self._owns(owner) and not _elsewhere(labels, self.service))
        return Subject(Scope.SERVICE, self.service.name) if ours else None

    def _owns(self, workload: str) -> bool:
        """Whether a workload is the service's, by its name or because it made the pods of its engines."""
        return workload in self.workloads or owned_by(workload, self.service.name, self.others)

    def gateway(self, labels: Labels, identity: Iterable[str] = ()) -> Subject | None:
        """The gateway; None if the series is about traffic of another service."""
        route = first(labels, _ROUTES)
        only = route in self.only_routes and _may_serve(labels, self.service)
        ours = only or self._routes_here(route) or self._serves_its_model(labels) if route else not self._of_another(labels)
        if not ours and not self.names_service(labels):
            return None
        return Subject(Scope.GATEWAY, first(labels, (*identity, "pod", "instance", "job")) or "gateway")

    def _routes_here(self, route: str) -> bool:
        """Whether a route, cluster or model name speaks of the service."""
        names = (self.service.name, str(self.service.facts.get("model", "")), *sorted(self.aliases))
        return any(speaks_of(route, name, self.others) for name in names)

    def _serves_its_model(self, labels: Labels) -> bool:
        """Whether a gateway sends what is asked for under names of its own (``doc-text``) to the model of our engines alone.

        Where one of its routes has the service's name, the others are for others.
        """
        if any(job == labels.get("job", "") for job, _ in self.routing):
            return False
        served = first(labels, _MODELS)
        return bool(served) and any(speaks_of(served, name, self.others) for name in self.aliases)

    def _of_another(self, labels: Labels) -> bool:
        """Whether the program that a series is from serves or asks another service, by its own name.

        Beside the engines of one service a program of any name (``litellm``) works for that service.
        """
        name = labels.get("service", "")
        label = _routing_label(labels)
        if (labels.get("job", ""), label) in self.routing and not self._routes_here(labels.get(label, "")):
            return True
        if not name or name.startswith(f"{self.service.name}-"):
            return name in self.rivals
        return bool(self.rivals or self.targets) and not self.names_service(labels)

    def client(self, labels: Labels) -> Subject | None:
        """The client program; None if it talks to another service."""
        asked = labels.get("server_address", "")
        ours = self._asks_us(asked, labels) if asked else not self._of_another(labels)
        if not ours and not self.names_service(labels):
            return None
        return Subject(Scope.CLIENT, first(labels, ("job", "instance")) or "client")

    def _asks_us(self, address: str, labels: Labels) -> bool:
        """Whether a client's address is the service's: ``llm-prod``, ``llm-prod.default.svc:8000``, a replica's own.

        Or one under which a gateway is asked for the service, or from which its model is asked for.
        """
        name = host(address)
        known = name.partition(".")[0] == self.service.name or name in self.hosts or bool(self.replica_at(address))
        return known or serves_model(labels, self.service) or first(labels, _MODELS) in self.aliases

    def target(self, labels: Labels) -> Subject | None:
        """The scrape target: the replica if it is an engine of the service, else just the target.

        None if it is another's, or on a host where none of the service's engines runs.
        """
        pod, instance = first(labels, ("pod", *POD_LABELS)), labels.get("instance", "")
        if pod in self.pods:
            return Subject(Scope.REPLICA, pod)
        if instance in self.replicas:
            return Subject(Scope.REPLICA, self.replicas[instance])
        node = self.places.known_node(labels)
        if instance in self.targets or labels.get("service") in self.rivals or (self.nodes and node and node not in self.nodes):
            return None
        return Subject(Scope.TARGET, f"{labels.get('job', '')}/{instance}")


def names_service(labels: Labels, service: Service) -> bool:
    """Whether labels say outright that a series is the service's: all that were set for it, or else one of the usual ones."""
    if service.labels:
        return all(labels.get(name) == value for name, value in service.labels.items())
    return service.name in labels.values() and any(labels.get(name) == service.name for name in SERVICE_LABELS)


def serves_model(labels: Labels, service: Service) -> bool:
    """Whether labels name the model that was declared for the service, with or without who made it (``Qwen/``)."""
    model, told = _bare_model(str(service.facts.get("model", ""))), first(labels, _MODELS)
    return bool(model) and _bare_model(told) == model


def _may_serve(labels: Labels, service: Service) -> bool:
    """Whether labels name the declared model, or none."""
    return not first(labels, _MODELS) or serves_model(labels, service)


def _bare_model(name: str) -> str:
    return name.rstrip("/").rpartition("/")[2].lower()


def _elsewhere(labels: Labels, service: Service) -> bool:
    """Whether a label that was set for the service (its namespace, its cluster) has another value here."""
    for name, value in service.labels.items():
        has = labels.get(f"exported_{name}") or labels.get(name)
        if name not in _OF_TARGETS and has and has != value:
            return True
    return False


def owned_by(name: str, service: str, others: Collection[str] = ()) -> bool:
    """Whether a workload's or pod's name is the service's: ``llm-prod``, ``llm-prod-0``, ``llm-prod-5b59c84684-2mchc``.

    What is made for a roll-out (Argo's analyses) bears its revision and step behind: ``llm-prod-5b59c84684-2-1``.

    :param others: names of other services, which may begin with this one's: what begins with them is theirs
    """
    if not name.startswith((service, "keda-hpa-")) or not _owned_pattern(service).fullmatch(_plain(name)):
        return False
    return not any(name == other or name.startswith(f"{other}-") for other in others if other.startswith(service))


@lru_cache(maxsize=64)
def _owned_pattern(service: str) -> Any:
    short = rf"-(?:\d{_ID}{{2,3}}|{_ID}\d{_ID}{{1,2}})-{_ID}{{5}}"  # a template's hash is a number, seldom a small one
    replica = rf"-\d+(-worker|-\d+)*|-{_ID}{{5,10}}(-[a-z0-9]{{5}})?|{short}"
    name = re2.escape(_plain(service))
    part = rf"-({_KINDS})|-\d{{5}}"
    cut = rf"({part})+-[a-z]*\d[a-z0-9]{{2,8}}"  # people shorten hashes when they show them; what is before tells enough
    return re2.compile(rf"(keda-hpa-)?{name}(({part})*({replica})?(-({_KINDS}))?(-\d+){{0,2}}|{cut})")


def _plain(text: str) -> str:
    """Text that has a UTF-8 form: JSON can hold half of a surrogate pair."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _routing_label(labels: Labels) -> str:
    """The label in which a gateway may name to whom it sends; where a scraper has one of that name, its own was put aside."""
    return next((label for label in ("exported_service", "service") if label in labels), "")


def speaks_of(text: str, name: str, others: Collection[str] = ()) -> bool:
    """Whether a route, a cluster's or a model's name holds a name, and not just the beginning or end of a longer one.

    Before it may stand a namespace or vendor (``default-llm-prod``, ``openai/llm-prod``), behind it a domain, a port, a number or
    the part of the service that is meant (``llm-prod-8000``, ``llm-prod-predictor.default``).
    """
    if not name or any(name in other and other in text for other in others):
        return False
    return bool(_spoken_pattern(name).search(_plain(text)))


@lru_cache(maxsize=64)
def _spoken_pattern(name: str) -> Any:
    return re2.compile(rf"(^|[^a-zA-Z0-9]){re2.escape(_plain(name))}([-_]({_KINDS}|\d+))*(\.[a-zA-Z]|[^-_.a-zA-Z0-9]|$)")


def select(series: Iterable[RawSeries], service: Service, speaker: Callable[[str], Scope | None]) -> Selection:
    """Finds out what belongs to a service.

    Series of the same labels, whatever their bucket, whose programs tell of the same things say the same, and are heard once.

    :param speaker: metric name -> whose series the programs that export it tell; None if that is not known
    """
    evidence = _Evidence(service)
    heard: set[tuple[Layout, Scope | None, str]] = set()
    alike: dict[tuple[object, Scope | None, str], tuple[str, Labels, Span]] = {}
    for metric in metrics_of(series, Layouts()):
        told = speaker(metric.name), record_kind(metric.name)
        if (metric.layout, *told) in heard:
            continue
        heard.add((metric.layout, *told))
        for labels, (begin, end) in zip(metric.layout.labels, metric.layout.spans, strict=True):
            key = _said(labels) if "le" in labels else id(labels), *told
            name, _, known = alike.get(key) or (metric.name, labels, (begin, end))
            alike[key] = name, labels, (min(known[0], begin), max(known[1], end))
    for (_, scope, _), (name, labels, span) in alike.items():
        evidence.add(name, labels, scope, span)
    return evidence.selection()


def models_of(series: Iterable[RawSeries], speaker: Callable[[str], Scope | None]) -> frozenset[str]:
    """The models that the series of engines say that they serve."""
    engines = (one.labels for one in series if speaker(one.name) is Scope.REPLICA)
    return frozenset(model for labels in engines if (model := first(labels, _MODELS)))


def _said(labels: Labels) -> object:
    """What labels of a bucket say besides its bound: as much as those of the other buckets."""
    return tuple([told for told in labels.items() if told[0] != "le"])


@dataclass
class _Engine:
    """An engine's target: its address, its pod if a label names one, and whether one of its labels names the service.

    :param tied: a label says whose it is
    :param names: names of services that its labels say it is
    :param serves: it serves the model that was declared for the service
    :param namespace: where it runs
    :param models: names under which it serves: one program can have several, as an ensemble has its steps
    :param job: its scrape job
    :param marks: ids that a runtime gave to its worker
    """

    instance: str
    pod: str
    ours: bool
    tied: bool
    names: frozenset[str]
    serves: bool = False
    namespace: str = ""
    models: frozenset[str] = frozenset()
    job: str = ""
    marks: frozenset[str] = frozenset()


class _Evidence:
    """What the labels of all series say, gathered in one pass and judged at its end: who comes first must not matter."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self._tying = tuple(label for label in _IDENTITY if label not in _MODELS)
        self.named = False
        self.census = Census()
        self.owners: dict[str, set[tuple[str, str]]] = {}
        self.engines: dict[tuple[str, str, str], _Engine] = {}
        self.begins_alike: set[str] = set()
        self.hosts: set[str] = set()
        self.routing: set[tuple[str, str]] = set()
        self.routes: dict[str, set[str]] = {}

    def add(self, name: str, labels: Labels, speaker: Scope | None, span: tuple[float, float]) -> None:
        """Takes note of one series."""
        elsewhere = bool(self.service.labels) and _elsewhere(labels, self.service)
        ours = names_service(labels, self.service)
        self.named = self.named or ours
        self.census.hear(name, labels, speaker, elsewhere=elsewhere, span=span)
        if speaker is Scope.REPLICA:
            self._add_engine(labels, ours=ours, elsewhere=elsewhere)
        if speaker is Scope.GATEWAY:
            self._add_gateway(labels, ours=ours)
        if not elsewhere:
            for label in POD_LABELS:
                if pod := labels.get(label):
                    self.owners.setdefault(pod, set())
            if name == POD_INFO and (pod := first(labels, POD_LABELS)):
                self.owners[pod].add((labels.get("created_by_kind", "ReplicaSet"), labels.get("created_by_name", "")))
        if speaker is Scope.REPLICA or labels.get("deployment"):
            self.begins_alike.update(value for label in _NAMING if (value := labels.get(label, "")).startswith(self.service.name))

    def _add_gateway(self, labels: Labels, *, ours: bool) -> None:
        """Takes note of the names under which a gateway is asked for the service, and of how it names to whom it sends."""
        route = next((label for label in _ROUTES if labels.get(label)), "")
        if route:
            self.routes.setdefault(labels.get("job", ""), set()).add(labels[route])
        named = speaks_of(labels.get(route, ""), self.service.name)
        if ours or named:
            self.hosts |= {name for label in _HOSTS if "." in (name := labels.get(label, ""))}
        if named:
            self.routing.add((labels.get("job", ""), route))
        if speaks_of(labels.get(_routing_label(labels), ""), self.service.name):
            self.routing.add((labels.get("job", ""), _routing_label(labels)))

    def _add_engine(self, labels: Labels, *, ours: bool, elsewhere: bool) -> None:
        """Takes note of an engine's target. ``replica`` is its pod only if the census finds that it tells engines apart."""
        key = labels.get("instance", ""), first(labels, POD_LABELS[:-1]), labels.get("replica", "")
        engine = self.engines.setdefault(key, _Engine(key[0], key[1], ours=False, tied=False, names=frozenset()))
        engine.ours = engine.ours or ours
        engine.tied = engine.tied or bool(first(labels, self._tying))
        engine.namespace = engine.namespace or labels.get("namespace", "")
        if model := first(labels, _MODELS):
            engine.models |= {model}
        engine.job = engine.job or labels.get("job", "")
        engine.serves = engine.serves or (not elsewhere and serves_model(labels, self.service))
        engine.marks |= {mark for label, value in labels.items() if _is_mark(label) for mark in _short(value)}
        if name := first(labels, _NAMING):
            engine.names |= {name}

    def selection(self) -> Selection:
        """The verdict."""
        others = frozenset(name for name in self.begins_alike if _is_another(name, self.service.name))
        places = self.census.places()
        engines = self._placed_engines(places)
        strangers = places.exporters | places.marks
        pods = {pod for pod, owners in self.owners.items() if pod not in strangers and self._is_owned(pod, owners, others)}
        pods -= set(places.names)
        named = self.named or bool(pods)
        pods |= {engine.pod for engine in engines if engine.pod and engine.ours}
        adopted = [] if any(engine.ours or engine.pod in pods for engine in engines) else _adopted(engines, self.service)
        workloads = frozenset(maker for engine in adopted for maker in _makers(self.owners.get(engine.pod, ())))
        pods |= {engine.pod for engine in adopted if engine.pod}
        pods |= {pod for pod, owners in self.owners.items() if workloads & _makers(owners)} - strangers
        named = named or bool(adopted)
        everything = not named and self._is_alone(engines)
        ours = [engine for engine in engines if engine.ours or engine.pod in pods or engine in adopted or everything]
        foreign = [engine for engine in engines if engine not in ours] if named else []
        replicas = {ip: pod for pod, ip in sorted(places.ip_of.items()) if pod in pods and places.pod_at.get(ip, pod) == pod}
        replicas |= {one.instance: one.pod or one.instance for one in sorted(ours, key=_by_address) if one.instance}
        node_of = {pod: places.node_of[pod] for pod in sorted(pods) if pod in places.node_of}
        node_of |= {
            one.instance: places.node_at[host(one.instance)]
            for one in sorted(ours, key=_by_address)
            if not one.pod and host(one.instance) in places.node_at
        }
        return Selection(
            service=self.service,
            named=named or everything,
            pods=frozenset(pods),
            places=places,
            nodes=frozenset(node_of.values()) | self._nodes_of_members(node_of, foreign, places),
            node_of=node_of,
            replicas=replicas,
            everything=everything,
            others=others,
            rivals=frozenset(name for engine in foreign for name in engine.names),
            targets=frozenset(engine.instance for engine in foreign if engine.instance) - set(replicas),
            adopted=frozenset(engine.instance for engine in adopted if engine.instance),
            workloads=workloads,
            hosts=frozenset(self.hosts),
            routing=frozenset(self.routing),
            only_routes=frozenset() if foreign or not ours else self._only_routes(),
            aliases=_aliases(ours, self.service) - {model for engine in foreign for model in engine.models},
            marks=_marks(engines, replicas),
        )

    def _nodes_of_members(self, node_of: Mapping[str, str], foreign: Iterable[_Engine], places: Places) -> frozenset[str]:
        """Nodes on which the rest of a replica runs that is larger than a machine: its one address is on the first of them.

        They are known where no more nodes without an engine are told of than such replicas need.
        """
        cards = self.service.facts.get("gpus_per_replica")
        if not isinstance(cards, (int, float)) or cards <= _CARDS_OF_A_NODE:
            return frozenset()
        lead = set(node_of.values())
        others = {node for one in foreign if (node := places.node_of.get(one.pod) or places.node_at.get(host(one.instance), ""))}
        rest = frozenset(places.names.values()) - lead - others
        return rest if len(rest) <= (ceil(cards / _CARDS_OF_A_NODE) - 1) * len(lead) else frozenset()

    def _only_routes(self) -> frozenset[str]:
        """Routes beside which their gateway has no other: people name them as they like."""
        return frozenset(name for names in self.routes.values() if len(names) == 1 for name in names)

    def _placed_engines(self, places: Places) -> list[_Engine]:
        """The engines with their pods, also where only the address tells which pod it is."""
        placed = []
        for (instance, pod, replica), engine in sorted(self.engines.items()):
            mark = replica if replica not in places.marks else ""
            placed.append(replace(engine, pod=pod or places.pod_at.get(host(instance), "") or mark))
        return placed

    def _is_owned(self, pod: str, owners: Collection[tuple[str, str]], others: Collection[str]) -> bool:
        """Whether a pod is the service's: by who made it if the cluster says so, else by its name."""
        makers = _makers(owners)
        return any(owned_by(maker, self.service.name, others) for maker in makers or (pod,))

    def _is_alone(self, engines: Collection[_Engine]) -> bool:
        """Whether there is one engine, or as many as were declared for the service, and nothing that says whose they are.

        A model is served under any name. Where that of the service was declared, another name in a label says nothing.
        """
        declared = self.service.facts.get("replicas", 1)
        untold = not any(engine.tied or (engine.models and not self.service.facts.get("model")) for engine in engines)
        return untold and len({engine.instance for engine in engines}) in (1, declared)


def _aliases(ours: Sequence[_Engine], service: Service) -> frozenset[str]:
    """Names under which the service's engines serve; beside that of the declared model another is another model."""
    models = frozenset(model for engine in ours for model in engine.models)
    return frozenset(model for model in models if serves_model({"model": model}, service)) or models


def _is_mark(label: str) -> bool:
    """Whether a label is for ids: ``ReplicaId``, ``WorkerId``, ``actor_id``, and ``replica`` itself."""
    return label.endswith(("Id", "_id")) or label == "replica"


def _short(mark: str) -> tuple[str, ...]:
    """An id, and without what it lies in: Ray's ``app#Deployment#2169c619``."""
    return (mark, mark.rpartition("#")[2]) if "#" in mark else (mark,)


def _marks(engines: Iterable[_Engine], replicas: Mapping[str, str]) -> dict[str, str]:
    """The replica of each id that the series of one engine alone bear."""
    bearers: dict[str, set[str]] = {}
    for engine in engines:
        for mark in engine.marks:
            bearers.setdefault(mark, set()).add(replicas.get(engine.instance, ""))
    return {mark: bearer for mark, found in sorted(bearers.items()) if len(found) == 1 and (bearer := next(iter(found)))}


def _makers(owners: Collection[tuple[str, str]]) -> frozenset[str]:
    """Names of the workloads that made a pod.

    :param owners: kind and name of what the cluster says made it
    """
    known = {(kind, owner) for kind, owner in owners if owner and owner != "<none>"}
    return frozenset(_TEMPLATE.sub("", owner) if kind == "ReplicaSet" else owner for kind, owner in known)


_TEMPLATE = Pattern(rf"-{_ID}{{5,10}}$")
"""Hash of a pod template, with which a deployment names its replica sets; one that somebody made by hand has none."""


def _adopted(engines: Sequence[_Engine], service: Service) -> list[_Engine]:
    """Engines of the declared model where nobody's name is the service's: ``app: vllm`` says little of whose it is.

    Else those of the only workload there is (a pool ``llama-pool`` of ``llama-0``). Where they go by several names or are in
    several namespaces, several services have the same model, and nobody can say which of them is meant.
    """
    serving = [engine for engine in engines if engine.serves] or _of_the_only_workload(engines, service)
    names = {engine.names for engine in serving if engine.names}
    return serving if len(names) <= 1 and len({engine.namespace for engine in serving if engine.namespace}) <= 1 else []


def _of_the_only_workload(engines: Sequence[_Engine], service: Service) -> list[_Engine]:
    """All engines there are, if no label names another service and they are of one workload (or nobody says of which).

    That the service's name begins with the workload's makes them its; so does that they are as many as were declared for it. A
    roll-out shows more, one after the other: as many of one generation, or engines of one scrape job that have addresses alone.
    """
    found = {_POD.sub("", engine.pod) for engine in engines}
    if len(found) != 1:
        return []
    workload = next(iter(found))
    alike = bool(workload) and service.name.startswith(f"{workload}-")
    number, declared = len({engine.pod or engine.instance for engine in engines}), service.facts.get("replicas")
    one_job = not workload and bool(engines[0].job) and len({engine.job for engine in engines}) == 1
    counted = number == declared or (one_job and isinstance(declared, float | int) and number > declared)
    counted = counted or (bool(workload) and declared in _sizes_of_generations(engines))
    unnamed = all(engine.names <= {workload} for engine in engines)
    return list(engines) if unnamed and (alike or (counted and all(engine.pod or not engine.tied for engine in engines))) else []


def _sizes_of_generations(engines: Sequence[_Engine]) -> frozenset[int]:
    """How many pods each replica set of a roll-out has, the old one and the new one; nothing if there is but one."""
    sets = Counter(found.group(1) for engine in engines if (found := _OF_SET.search(engine.pod)) is not None)
    return frozenset(sets.values()) if len(sets) > 1 else frozenset()


_OF_SET = Pattern(rf"^(.+-{_ID}{{5,10}})-[a-z0-9]{{5}}$")
"""A pod of a replica set that a deployment made."""

_POD = Pattern(rf"-(?:\d{{1,4}}|{_ID}{{5,10}}-[a-z0-9]{{5}}|[a-z0-9]{{5}})$")
"""What makes a workload's name that of one of its pods."""


def _by_address(engine: _Engine) -> tuple[str, str]:
    return engine.instance, engine.pod


def _is_another(name: str, service: str) -> bool:
    """Whether a name that begins with the service's is another service's, and not that of one of its parts."""
    return name != service and not _part_pattern(service).fullmatch(_plain(name))


@lru_cache(maxsize=64)
def _part_pattern(service: str) -> Any:
    return re2.compile(rf"{re2.escape(_plain(service))}(-({_KINDS})|-\d{{5}})*")
